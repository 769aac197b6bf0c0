"""Rule was-preempted."""

from bot.core.diagnosis import Evidence, Found
from bot.core.facts import Facts
from bot.core.moments import lasting
from bot.core.names import named, quoted, subject
from bot.core.rule import rule

_RULES = {
    "InClusterQueue": "it has priority in the same ClusterQueue",
    "InCohortReclamation": "its ClusterQueue took back quota that was lent",
    "InCohortFairSharing": "fair sharing in the cohort",
    "InCohortReclaimWhileBorrowing": "its ClusterQueue took back quota while it borrowed itself",
    "InCohort": "its ClusterQueue took back quota in the cohort",
}


@rule(
    "quota",
    move="nobody",
    outlook="unknown",
    phases=("waiting", "reserved", "admitted"),
    needs=("Workload",),
    context=True,
)
def was_preempted(facts: Facts) -> Found | None:
    """The Workload had to make room for another one.

    When:
        The last eviction was a preemption, and the Workload has not got quota since.
    Why it blocks:
        It does not by itself: the Workload is back in its queue, and waits like others. Its place was taken by the
        Workload named.
    What to do:
        Nothing, or ask for a higher priority. Preemption within a ClusterQueue follows priority; in a cohort it takes
        back borrowed quota.
    """
    workload = facts.identity.want()
    preempted = facts.history.preempted
    if preempted is None:
        return None
    about = subject("Workload", workload.name, workload.namespace)
    age = facts.age(preempted.at)
    ago = f" {lasting(age)} ago" if age is not None else ""
    why = _RULES.get(preempted.rule, "")
    if not why and preempted.said is not None:
        why = quoted(preempted.said.why)
    subjects, evidence = [about], [Evidence(about, "status.conditions[Preempted]", quoted(preempted.text), "kueue")]
    if preempted.job is not None:
        kind, namespace, name = preempted.job
        by = f"{kind} {named(kind, name, namespace)}"
        subjects.append(subject(kind, name, namespace))
        if preempted.by is not None and preempted.by.spec.priority is not None and workload.spec.priority is not None:
            evidence.append(
                Evidence(
                    subject("Workload", preempted.by.name, preempted.by.namespace),
                    "spec.priority",
                    f"{preempted.by.spec.priority}, against {workload.spec.priority}",
                )
            )
    else:
        by = "a Workload that is gone or could not be read"
        if preempted.said is not None and preempted.said.preemptor_path:
            by += f" (of ClusterQueue {named('ClusterQueue', preempted.said.preemptor_path.rpartition('/')[2])})"
    return Found(
        f"Workload {named('Workload', workload.name, workload.namespace)} was preempted{ago} by {by}"
        + (f": {why}." if why else "."),
        tuple(evidence),
        (),
        tuple(subjects),
    )
