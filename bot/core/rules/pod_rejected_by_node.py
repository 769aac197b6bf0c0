"""Rule pod-rejected-by-node."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=())
def pod_rejected_by_node(facts: Facts) -> Found | None:
    """Pod rejected by node.

    When:
        the kubelet refused the pod after binding
    Why it blocks:
    What to do:
    """
    del facts
    return None
