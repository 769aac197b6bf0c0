"""Rule kueue-gate-remains."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.order import duration
from bot.core.facts.topology import gates_of
from bot.core.jobs import is_over
from bot.core.marks import ELASTIC, TOPOLOGY_GATE
from bot.core.names import named, subject
from bot.core.rule import rule
from bot.core.workloads import since


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod",))
def kueue_gate_remains(facts: Facts) -> Found | None:
    """Kueue has not lifted its own gate.

    When:
        The Workload is admitted, and a pod of it still carries one of Kueue's scheduling gates (`kueue.x-k8s.io/…`).
    Why it blocks:
        The scheduler does not look at a pod with a gate. Kueue lifts its gate after admission, and for the topology gate
        once it knows the pod's domain.
    What to do:
        Right after admission this passes by itself. If it does not, the platform team looks into Kueue's log; for the
        topology gate also whether the pods carry the labels that tell Kueue their pod set and rank. `kubectl -n kueue-system
        logs deployment/kueue-controller-manager`; do not remove the gate by hand, the pod would run past Kueue.
    """
    if facts.progress.phase == "admitted" and facts.identity.want().status.cluster_name:
        return None
    gated = sorted(
        (pod for pod in facts.pods.all if gates_of(pod) and not pod.spec.node_name
         and pod.metadata.deletion_timestamp is None and not is_over(pod)),
        key=lambda pod: pod.name,
    )  # fmt: skip
    if not gated:
        return None
    pod = gated[0]
    gate = gates_of(pod)[0]
    name = named("Pod", pod.name, pod.namespace)
    workload = facts.identity.workload
    age = facts.age(since(workload, "Admitted")) if workload is not None else None
    when = f"{duration(age)} after admission" if age is not None else "although Kueue does not manage it"
    young = age is not None and age <= facts.thresholds.young
    more = f" and {len(gated) - 1} more still carry" if len(gated) > 1 else " still carries"
    passing = "; this may pass by itself" if young else ""
    steps = [Step("platform", "Look into Kueue's log for this pod and Workload.")]
    if gate == TOPOLOGY_GATE:
        steps.insert(0, Step("platform", "Check that the pod carries Kueue's pod set label and its rank."))
    if gate == ELASTIC:
        steps.insert(0, Step("platform", "Check whether the newest Workload slice covers this pod."))
    if young:
        steps.insert(0, Step("nobody", "Wait a moment."))
    return Found(
        f"Pod {name}{more} Kueue's own scheduling gate {gate}, {when}{passing}.",
        (Evidence(subject("Pod", pod.name, pod.namespace), "spec.schedulingGates", ", ".join(gates_of(pod))),),
        tuple(steps),
        (subject("Pod", pod.name, pod.namespace),),
        data={"pods": len(gated)},
    )
