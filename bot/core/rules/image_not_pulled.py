"""Rule image-not-pulled."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("start", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def image_not_pulled(facts: Facts) -> Found | None:
    """Image not pulled.

    When:
        ErrImagePull, ImagePullBackOff, InvalidImageName …; image and registry answer
    Why it blocks:
    What to do:
    """
    del facts
    return None
