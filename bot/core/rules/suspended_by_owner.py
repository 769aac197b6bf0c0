"""Rule suspended-by-owner."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import kind_of, subject_of, titled
from bot.core.marks import QUEUE_LABEL, queue_name
from bot.core.objects import KubeObject
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule("workload", move="asker", outlook="fix", phases=("unmanaged",), needs=("Workload",))
def suspended_by_owner(facts: Facts) -> Found | None:
    """It is suspended, and Kueue does not manage it.

    When:
        The job is suspended (`spec.suspend: true`), has no label `kueue.x-k8s.io/queue-name` and no Workload. Or a CronJob is
        suspended and has no Job that waits.
    Why it blocks:
        Kueue resumes only what it manages. Whoever created the job suspended has to resume it: nobody else will.
    What to do:
        To queue it, set the label `kueue.x-k8s.io/queue-name` to a LocalQueue of the namespace. To run it without Kueue, set
        `spec.suspend` to false.
    """
    identity = facts.identity
    item, path = identity.root, facts.membership.suspend_path
    if item is None or not path or not facts.membership.suspended:
        return None
    cron = kind_of(item) == "CronJob"
    if (queue_name(item) is not None or _gave_up(facts, item)) and not cron:
        return None
    if identity.unread_owner is not None and not cron:
        owner = identity.unread_owner
        raise Unknown(facts.snapshot.why_not(owner.kind, item.namespace, owner.name))
    target = f"{item.kind.lower()}/{item.name}"
    if cron:
        sentence = f"{titled(item)} is suspended: it creates no Jobs until somebody resumes it."
    else:
        sentence = f"{titled(item)} is suspended and has no label {QUEUE_LABEL}: Kueue does not manage it, nobody will start it."
    steps = [Step("asker", f"Or run it without Kueue: set {path} to false.")]
    if not cron:
        queues = facts.membership.queues
        label = f"{QUEUE_LABEL}={queues[0] if len(queues) == 1 else 'QUEUE'}"
        steps.insert(
            0,
            Step(
                "asker", "Name a LocalQueue of this namespace.", f"kubectl label -n {item.namespace} {target} {label}"
            ),
        )
    evidence = [Evidence(subject_of(item), path, "true")]
    if not cron:
        evidence.append(Evidence(subject_of(item), f"metadata.labels[{QUEUE_LABEL}]", "not set"))
    return Found(sentence, tuple(evidence), tuple(steps), (subject_of(item),))


def _gave_up(facts: Facts, item: KubeObject) -> bool:
    """Whether Kueue says that it could not find the job above this one: then somebody else does decide for it."""
    return any(event.reason == "JobNestingTooDeep" for event in facts.kin.events(item))
