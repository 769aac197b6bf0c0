"""Rule admission-check-rejected."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=("Workload",))
def admission_check_rejected(facts: Facts) -> Found | None:
    """An admission check said no, for good.

    When:
        A check in the Workload's `status.admissionChecks` is Rejected, or Kueue has deactivated the Workload for that reason.
        Kueue resets the check to Pending when it deactivates; then the eviction's text and the events keep what it said.
    Why it blocks:
        A rejected check is final: Kueue takes the quota back, sets `spec.active` to false and does not try again.
    What to do:
        Read what the check said, settle that with whoever runs the check, then set `spec.active` to true.
    """
    workload = facts.identity.want()
    rejections = facts.history.rejections
    if not rejections:
        if facts.history.deactivated_by != "AdmissionCheck":
            return None
        rejections = (("", "", "status.conditions[Evicted].reason"),)
    about = subject("Workload", workload.name, workload.namespace)
    parts = []
    for name, words, _ in rejections:
        parts.append(
            (f"AdmissionCheck {named('AdmissionCheck', name)} rejected it" if name else "An AdmissionCheck rejected it")
            + (f": {cited(words, 300)}" if words else " without a word that is still there")
        )
    inactive = workload.spec.active is False
    evidence = [Evidence(about, where, quoted(words) or "AdmissionCheck", "kueue") for _, words, where in rejections]
    if inactive:
        evidence.append(Evidence(about, "spec.active", "false"))
    return Found(
        f"{'; '.join(parts)}. "
        + ("Kueue deactivated the Workload." if inactive else "Kueue is about to deactivate the Workload."),
        tuple(evidence),
        (
            *_managed_by(facts, rejections),
            Step("queue-admin", "Settle what the check objects to with whoever runs it."),
            Step(
                "asker",
                "Then activate the Workload again.",
                f"kubectl -n {workload.namespace} patch workloads.kueue.x-k8s.io {workload.name} --type=merge "
                """-p '{"spec":{"active":true}}'""",
            ),
        ),
        (about, *(subject("AdmissionCheck", name) for name, _, _ in rejections if name)),
    )


def _managed_by(facts: Facts, rejections: tuple[tuple[str, str, str], ...]) -> tuple[Step, ...]:
    """MultiKueue refuses a job that does not leave itself to it; only the one who submitted it can change that."""
    item = facts.identity.root
    if item is None or not any("not managed by Kueue" in words for _, words, _ in rejections):
        return ()
    return (Step("asker", f"Create the {item.kind} again with spec.managedBy: kueue.x-k8s.io/multikueue."),)
