"""Rule child-job-suspended."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.names import named, quoted
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Workload", "Job"))
def child_job_suspended(facts: Facts) -> Found | None:
    """A job below it is suspended although it is not.

    When:
        The job is not suspended and is admitted (or Kueue does not manage it), and a job that it owns is suspended. Not where a
        JobSet starts its Jobs in order and waits for an earlier one.
    Why it blocks:
        Kueue has suspended the child by itself, though the parent has the quota, or though neither is Kueue's: nobody
        resumes it. Where the child was queued by itself, it waits for quota that its parent holds.
    What to do:
        Keep Kueue away from the child: upgrade Kueue, turn off `manageJobsWithoutQueueName` for this namespace, and do not copy
        the label `kueue.x-k8s.io/queue-name` to what the operator creates.
    """
    identity = facts.identity
    item, children = identity.root, facts.progress.suspended_children
    if item is None or not children:
        return None
    child = children[0]
    own = facts.matching.workloads_of(child)
    state = "is not managed by Kueue" if identity.workload is None else "is admitted"
    more = f" and {len(children) - 1} more" if len(children) > 1 else ""
    flips = [event for event in facts.kin.events(*children) if event.reason in {"Suspended", "Resumed", "Stopped"}]
    times = max((event.times for event in flips), default=0)
    often = f" It was suspended or resumed {times} times." if times > 2 else ""
    queued = f" It is queued by its own Workload {named('Workload', own[0].name, own[0].namespace)}." if own else ""
    age = facts.age(child.metadata.creation_timestamp)
    young = " This may pass by itself." if age is not None and age < facts.thresholds.young else ""
    last = {event.reason: event for event in flips}
    return Found(
        f"{titled(child)}{more} is suspended, although {titled(item)} above it is not and {state}."
        f"{queued}{often}{young}",
        (
            *(Evidence(subject_of(entry), "spec.suspend", "true") for entry in children[:5]),
            *(
                Evidence(subject_of(child), f"event {event.reason}{_often(event.times)}", quoted(event.message))
                for _, event in sorted(last.items())
            ),
        ),
        (Step("platform", "Keep Kueue from managing the child: upgrade it, or exclude this namespace."),),
        (subject_of(child), subject_of(item)),
        certainty="likely" if identity.workload is None else "certain",
    )


def _often(times: int) -> str:
    return f", {times} times" if times > 1 else ""
