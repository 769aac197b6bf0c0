"""Rule sandbox-not-created."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule

_REASONS = ("FailedCreatePodSandBox", "NetworkNotReady", "FailedPodSandBoxStatus")


@rule("start", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def sandbox_not_created(facts: Facts) -> Found | None:
    """The node cannot make the pod's sandbox.

    When:
        A pod is on its node, none of its containers has started, and the kubelet says that it cannot create the pod's
        sandbox or that the network is not ready: no pod addresses left, a network plugin or container runtime that fails.
    Why it blocks:
        The scheduler has done its part; the node cannot start any container of the pod.
    What to do:
        Look at the network plugin and runtime on that node. Meanwhile cordon the node and delete the pod, so that it is
        made elsewhere.
    """
    stuck = [
        (pod, event) for pod in facts.pods.creating if (event := facts.pods.last_event(pod, *_REASONS)) is not None
    ]
    if not stuck:
        return None
    pod, event = stuck[0]
    pods = [entry for entry, _ in stuck]
    subject = names.subject("Pod", pod.name, pod.namespace)
    times = f" ({event.times} times)" if event.times > 1 else ""
    return Found(
        f"{facts.pods.naming(pods)} cannot be started on node {names.named('Node', pod.spec.node_name)}{times}: "
        f"{names.quoted(event.message)}{facts.pods.progress}",
        (Evidence(subject, f"events[{event.reason}].message", names.quoted(event.message)),),
        (Step("platform", "Look at the network plugin and the runtime on this node.", facts.pods.describe(pod)),),
        (*facts.pods.subjects(pods), names.subject("Node", pod.spec.node_name)),
        "reported",
    )
