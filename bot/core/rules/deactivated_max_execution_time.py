"""Rule deactivated-max-execution-time."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import lasting
from bot.core.names import named, subject
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=("Workload",))
def deactivated_max_execution_time(facts: Facts) -> Found | None:
    """The Workload ran longer than it may.

    When:
        The Workload's `spec.active` is false, and the eviction (or the deactivation) carries the cause
        MaximumExecutionTimeExceeded.
    Why it blocks:
        The label `kueue.x-k8s.io/max-exec-time-seconds` limits how long a Workload may run, all its runs together. When
        the time is used up, Kueue stops it and sets `spec.active` to false.
    What to do:
        Raise or remove the label and submit the job again, or raise `spec.maximumExecutionTimeSeconds` and activate the
        Workload. The time it used so far stays on the account.
    """
    workload = facts.identity.want()
    if facts.history.deactivated_by != "MaximumExecutionTimeExceeded":
        return None
    about = subject("Workload", workload.name, workload.namespace)
    limit, status = workload.spec.maximum_execution_time_seconds, workload.status
    used = status.accumulated_past_execution_time_seconds or status.accumulated_past_exexcution_time_seconds
    evidence = [Evidence(about, "spec.active", "false")]
    evicted = facts.history.evicted
    if evicted is not None:
        evidence.append(Evidence(about, "status.conditions[Evicted].reason", evicted.reason, "kueue"))
    if limit is not None:
        evidence.append(Evidence(about, "spec.maximumExecutionTimeSeconds", str(limit)))
    allowed = f" than the {lasting(limit)} it may" if limit is not None else " than it may"
    sentence = f"Workload {named('Workload', workload.name, workload.namespace)} is deactivated: it ran longer{allowed}"
    if used:
        evidence.append(Evidence(about, "status.accumulatedPastExecutionTimeSeconds", str(used)))
        sentence += f" (all its runs together took {lasting(used)})"
    return Found(
        sentence + ".",
        tuple(evidence),
        (
            Step(
                "asker",
                "Raise or remove the label kueue.x-k8s.io/max-exec-time-seconds and submit the job again; the time used so "
                "far stays on this Workload.",
            ),
        ),
        (about,),
    )
