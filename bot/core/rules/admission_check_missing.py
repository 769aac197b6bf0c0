"""Rule admission-check-missing."""

from bot.core import objects as o
from bot.core.closeness import closest
from bot.core.diagnosis import Certainty, Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import young
from bot.core.names import named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "queue",
    move="queue-admin",
    outlook="fix",
    phases=("waiting",),
    needs=("Workload", "ClusterQueue", "AdmissionCheck"),
)
def admission_check_missing(facts: Facts) -> Found | None:
    """The ClusterQueue names an AdmissionCheck that does not exist.

    When:
        A check in the ClusterQueue's `spec.admissionChecksStrategy` (or `spec.admissionChecks`) has no AdmissionCheck of that
        name. Where AdmissionChecks cannot be read, the ClusterQueue's own condition says so.
    Why it blocks:
        One missing AdmissionCheck makes the whole ClusterQueue inactive.
    What to do:
        Create the AdmissionCheck, or take its name out of the ClusterQueue.
        The finding's data: `suggestions`, the existing checks with names that come close.
    """
    queue = facts.queue.cluster_queue
    if queue is None:
        return None
    certainty: Certainty = "certain"
    try:
        missing = facts.queue.missing_checks
    except Unknown:
        missing, certainty = facts.queue.said_names("check-missing"), "reported"
        if not missing:
            raise
    if not missing:
        return None
    existing = [item.name for item in facts.snapshot.all_of(o.AdmissionCheck, read="seen")]
    suggestions = list(dict.fromkeys(other for name in missing for other in closest(name, existing)))
    about = subject("ClusterQueue", queue.name)
    evidence = [Evidence(about, "spec.admissionChecksStrategy.admissionChecks[].name", ", ".join(missing))]
    if certainty == "certain":
        evidence += [Evidence(subject("AdmissionCheck", name), "metadata.name", "absent") for name in missing]
    else:
        words = facts.queue.active.message if facts.queue.active is not None else ""
        evidence.append(Evidence(about, "status.conditions[Active].message", quoted(words), "kueue"))
    offered = ""
    if suggestions:
        offered = "; what exists and comes close: " + ", ".join(named("AdmissionCheck", name) for name in suggestions)
    many = len(missing) > 1
    return Found(
        f"ClusterQueue {queue.name} is inactive: it names AdmissionCheck{'s' if many else ''} "
        f"{', '.join(named('AdmissionCheck', name) for name in missing)}, which {'do' if many else 'does'} not exist{offered}."
        + young(facts.age(queue.metadata.creation_timestamp), facts.thresholds.young),
        tuple(evidence),
        (
            Step(
                "queue-admin",
                f"Create the AdmissionCheck{'s' if many else ''}, or take the name out of the ClusterQueue.",
            ),
        ),
        (about, *(subject("AdmissionCheck", name) for name in missing)),
        certainty,
        data={"suggestions": suggestions},
    )
