"""Rule container-config-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("start", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def container_config_missing(facts: Facts) -> Found | None:
    """Container config missing.

    When:
        CreateContainerConfigError: Secret or ConfigMap (names only, never contents)
    Why it blocks:
    What to do:
    """
    del facts
    return None
