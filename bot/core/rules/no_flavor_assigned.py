"""Rule no-flavor-assigned."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("admitted",), needs=("Workload", "Pod"), context=True)
def no_flavor_assigned(facts: Facts) -> Found | None:
    """The pod set got no flavor, so none of its labels and tolerations.

    When:
        The job is admitted and pods wait for the scheduler, but the assignment of their pod set holds no flavor: it
        requests nothing that the ClusterQueue covers.
    Why it blocks:
        Flavors are assigned per requested resource. Without a flavor Kueue injects neither its node labels nor its
        tolerations, so the pod is refused by the very nodes that the queue stands for, or lands elsewhere.
    What to do:
        State requests for a resource that the queue covers in the pod template and submit again; or the queue's admin
        covers the resource `pods`, so that every pod gets a flavor.
    """
    for pod in facts.pods.unscheduled:
        place = facts.pods.pod_set_of(pod)
        if place is None:
            continue
        workload, _, assignment = place
        if assignment is None or assignment.flavors:
            continue
        queue = workload.status.admission.cluster_queue if workload.status.admission is not None else ""
        return Found(
            f"Pod set {names.quoted(assignment.name)} has no requests that ClusterQueue {queue} covers, so it got no flavor "
            "and none of a flavor's node labels or tolerations.",
            (
                Evidence(
                    names.subject("Workload", workload.name, workload.namespace),
                    f"status.admission.podSetAssignments[{assignment.name}].flavors",
                    "empty",
                ),
            ),
            (
                Step("asker", "State requests for a covered resource in the pod template, and submit again."),
                Step("queue-admin", "Or cover the resource pods, so that every pod gets a flavor."),
            ),
            (names.subject("Workload", workload.name, workload.namespace),),
        )
    return None
