"""Rule resource-not-advertised."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def resource_not_advertised(facts: Facts) -> Found | None:
    """Resource not advertised.

    When:
        some node passes labels, cordons and taints, and none of those advertises the resource at all (absent or
        0): a device plugin, a name, or nodes that do not exist yet; not load
    Why it blocks:
    What to do:
    """
    del facts
    return None
