"""Rule pod-rejected-by-node."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod",))
def pod_rejected_by_node(facts: Facts) -> Found | None:
    """The node refused the pod after the scheduler had bound it.

    When:
        Pods of the job failed with a reason of the kubelet's own admission (`OutOfcpu`, `UnexpectedAdmissionError`,
        `NodeAffinity`, `TopologyAffinityError` …), and no running pod has taken their place.
    Why it blocks:
        Scheduler and node disagree about what the node has: a device went away, the node restarted, static pods use it,
        or its CPUs and devices cannot be lined up as its policy demands.
    What to do:
        Look at the node that the message names. The failed pods can be deleted; a controller makes new ones.
    """
    rejected = facts.pods.rejected
    if not rejected or facts.pods.ready >= facts.pods.needed:
        return None
    again = len(rejected) > 1 and (facts.age(rejected[-1].metadata.creation_timestamp) or 0) < facts.thresholds.long
    if facts.pods.missing == 0 and not again:
        return None
    pod = rejected[-1]
    node = f"Node {names.named('Node', pod.spec.node_name)}" if pod.spec.node_name else "The node"
    more = f" ({len(rejected)} pods so far)" if len(rejected) > 1 else ""
    subject = names.subject("Pod", pod.name, pod.namespace)
    words = names.quoted(pod.status.message) or "no message"
    return Found(
        facts.pods.close(
            f"{node} refused {facts.pods.naming((pod,), inside=True)}{more}: {names.quoted(pod.status.reason)}: {words}"
        ),
        (
            Evidence(subject, "status.reason", names.quoted(pod.status.reason)),
            Evidence(subject, "status.message", words),
        ),
        (Step("platform", "Look at this node's devices and pods.", facts.pods.describe(pod)),),
        (subject, *((names.subject("Node", pod.spec.node_name),) if pod.spec.node_name else ())),
    )
