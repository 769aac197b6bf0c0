"""Rule job-still-suspended."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.names import quoted
from bot.core.objects import is_true
from bot.core.rule import rule
from bot.core.workloads import since


@rule("pods", move="platform", outlook="fix", phases=("admitted",), needs=("Workload",))
def job_still_suspended(facts: Facts) -> Found | None:
    """It is admitted, and the job is still suspended.

    When:
        The Workload is admitted and not evicted, the job's suspend field is true, no worker cluster has it, and it is left to no
        other controller.
    Why it blocks:
        Kueue resumes a job right after admission. Here that fails or is undone: a webhook refuses the change (with partial
        admission, when fewer pods were admitted than the job wants), a controller suspends it again, or Kueue does not act.
    What to do:
        Look at the job's events and at Kueue's logs for "Unsuspending job"; see which webhook refuses to change this job.
        `kubectl describe` of the job shows who stopped it. Do not resume it by hand: Kueue suspends again what it has not
        started itself.
    """
    identity = facts.identity
    item, workload = identity.root, identity.want()
    if not isinstance(item, o.Job) or not facts.membership.suspended or is_true(workload.status.conditions, "Evicted"):
        return None
    if facts.progress.remote is not None or facts.progress.foreign_manager is not None:
        return None
    age = facts.age(since(workload, "Admitted"))
    when = "" if age is None else f" {age:.0f} s ago" if age < 120 else f" {age // 60:.0f} minutes ago"
    young = " This may pass by itself." if age is not None and age < facts.thresholds.young else ""
    partial = facts.progress.partial
    fewer = f" {partial[0]} of {partial[1]} pods were admitted." if partial is not None else ""
    stopped = [event for event in facts.kin.events(item) if event.reason == "Stopped"]
    times = stopped[-1].times if stopped else 0
    often = "once" if times == 1 else f"{times} times"
    again = f" Kueue stopped it {often}: {quoted(stopped[-1].message, 120)}." if stopped else ""
    evidence = [
        Evidence(subject_of(workload), "status.conditions[Admitted].status", "True", "kueue"),
        Evidence(subject_of(item), facts.membership.suspend_path, "true"),
    ]
    if partial is not None:
        evidence.append(
            Evidence(
                subject_of(workload),
                "status.admission.podSetAssignments[].count",
                f"{partial[0]} of {partial[1]}",
                "kueue",
            )
        )
    return Found(
        f"{titled(item)} was admitted{when} and is still suspended.{fewer}{again}{young}",
        tuple(evidence),
        (
            Step(
                "platform",
                "See why Kueue cannot resume it: the job's events, and Kueue's logs.",
                f"kubectl describe {item.kind.lower()} {item.name} -n {item.namespace}",
            ),
        ),
        (subject_of(item), subject_of(workload)),
    )
