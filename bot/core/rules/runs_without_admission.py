"""Rule runs-without-admission."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, suspended, titled
from bot.core.names import subject
from bot.core.rule import rule
from bot.core.workloads import phase_of


@rule("pods", move="platform", outlook="fix", phases=("waiting",), needs=("Workload", "Pod"), context=True)
def runs_without_admission(facts: Facts) -> Found | None:
    """Pods of it run although Kueue has not admitted it.

    When:
        The Workload waits for quota, no other Workload of the job holds any, and pods of the job run all the same: somebody
        started the job past Kueue, or Kueue left a Workload behind of a job that it does not stop.
    Why it blocks:
        It does not: the pods use nodes that no quota accounts for, and Kueue stops them as soon as its controller acts on
        the job. What the headline says holds for the Workload, not for these pods.
    What to do:
        Leave `spec.suspend` to Kueue. If the pods go on, see whether Kueue manages the job's kind and namespace and whether
        its controller runs.
    """
    workload = facts.identity.want()
    root = facts.identity.root
    if root is None or any(phase_of(other) in {"reserved", "admitted"} for other in facts.identity.workloads):
        return None
    counts = facts.pods.counts
    if counts is None or counts.running == 0:
        return None
    many = f"{counts.running} pods of it run" if counts.running > 1 else "1 pod of it runs"
    loose = f": {titled(root)} is not suspended" if suspended(root) is False else ""
    return Found(
        f"{many} although its Workload is not admitted{loose}. Kueue stops what it has not admitted.",
        (
            Evidence(subject_of(root), "pods that run", str(counts.running), "computed"),
            Evidence(subject("Workload", workload.name, workload.namespace), "status.conditions[Admitted]", "not True"),
        ),
        (
            Step(
                "platform", "If the pods go on, see whether Kueue manages this kind and namespace and whether it runs."
            ),
        ),
        (subject_of(root),),
    )
