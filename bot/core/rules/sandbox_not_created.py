"""Rule sandbox-not-created."""

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import lasting
from bot.core.objects import condition
from bot.core.rule import rule

_REASONS = ("FailedCreatePodSandBox", "NetworkNotReady", "FailedPodSandBoxStatus")


@rule("start", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def sandbox_not_created(facts: Facts) -> Found | None:
    """The node cannot make the pod's sandbox.

    When:
        A pod is on its node, none of its containers has started, and the kubelet says that it cannot create the pod's
        sandbox or that the network is not ready: no pod addresses left, a network plugin or container runtime that fails.
        Also when the kubelet has said nothing at all about it yet, with what is known of the node.
    Why it blocks:
        The scheduler has done its part; the node cannot start any container of the pod.
    What to do:
        Look at the network plugin and runtime on that node. Meanwhile cordon the node and delete the pod, so that it is
        made elsewhere.
    """
    stuck = [
        (pod, event) for pod in facts.pods.creating if (event := facts.pods.sure_event(pod, *_REASONS)) is not None
    ]
    if not stuck:
        return _silent(facts)
    pod, event = stuck[0]
    pods = [entry for entry, _ in stuck]
    subject = names.subject("Pod", pod.name, pod.namespace)
    times = f" ({event.times} times)" if event.times > 1 else ""
    return Found(
        facts.pods.close(
            f"{facts.pods.naming(pods)} cannot be started on node {names.named('Node', pod.spec.node_name)}{times}: "
            f"{names.quoted(event.message)}"
        ),
        (Evidence(subject, f"events[{event.reason}].message", names.quoted(event.message)),),
        (Step("platform", "Look at the network plugin and the runtime on this node.", facts.pods.describe(pod)),),
        (*facts.pods.subjects(pods), names.subject("Node", pod.spec.node_name)),
        "reported",
    )


def _silent(facts: Facts) -> Found | None:
    """A pod on a node of which nobody has said anything since: the node is lost, or has only just been given the pod."""
    for pod in facts.pods.creating:
        said = {event.reason for event in facts.pods.events_about(pod)} - {"Scheduled"}
        sandbox = condition(pod.status.conditions, "PodReadyToStartContainers")
        if said or (sandbox is not None and sandbox.status == "True"):
            continue
        node = facts.snapshot.look_of(o.Node, pod.spec.node_name)
        ready = condition(node.status.conditions, "Ready") if node is not None else None
        lost = ready is not None and ready.status != "True"
        bound = condition(pod.status.conditions, "PodScheduled")
        age = facts.age(bound.last_transition_time) if bound is not None else None
        since = f" for {lasting(age)}" if age is not None else ""
        gone = node is None and facts.snapshot.covers("Node", "", pod.spec.node_name)
        subject, shown = names.subject("Pod", pod.name, pod.namespace), names.named("Node", pod.spec.node_name)
        evidence = [Evidence(subject, "spec.nodeName", shown)]
        is_on = f"{'has been' if since else 'is'} on node {shown}{since}"
        text = f"{facts.pods.naming((pod,))} {is_on}, and the node has not begun with it"
        if gone:
            text += ": the node is gone"
            evidence.append(Evidence(names.subject("Node", pod.spec.node_name), "metadata.name", "absent"))
        if ready is not None and lost:
            text += f": the node is not ready ({names.quoted(ready.reason or ready.status)})"
            evidence.append(
                Evidence(names.subject("Node", pod.spec.node_name), "status.conditions[Ready].status", ready.status)
            )
        young = not lost and not gone and age is not None and age < facts.thresholds.long
        passing = " It was placed not long ago, so this may pass by itself." if young else ""
        return Found(
            facts.pods.close(f"{text}.{passing}"),
            tuple(evidence),
            (Step("platform", "Look at the kubelet of this node.", facts.pods.describe(pod)),),
            (subject, names.subject("Node", pod.spec.node_name)),
            "certain" if lost else "likely",
            outlook="in-progress" if young else "fix",
        )
    return None
