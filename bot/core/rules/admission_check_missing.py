"""Rule admission-check-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.facts.references import absent
from bot.core.rule import rule


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
    return absent(
        facts,
        "AdmissionCheck",
        lambda: facts.queue.missing_checks,
        said="check-missing",
        field="spec.admissionChecksStrategy.admissionChecks[].name",
        otherwise="take the name out of the ClusterQueue",
    )
