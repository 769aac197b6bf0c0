"""Rule namespace-not-managed."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("workload", move="platform", outlook="fix", phases=("unmanaged", "no-workload"), needs=())
def namespace_not_managed(facts: Facts) -> Found | None:
    """Namespace not managed.

    When:
        the namespace is outside managedJobsNamespaceSelector or the webhooks, as read
    Why it blocks:
    What to do:
    """
    del facts
    return None
