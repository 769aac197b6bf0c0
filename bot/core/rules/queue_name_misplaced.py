"""Rule queue-name-misplaced."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.marks import QUEUE_LABEL
from bot.core.names import quoted
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("unmanaged", "no-workload"), needs=("Workload",))
def queue_name_misplaced(facts: Facts) -> Found | None:
    """The queue name stands where Kueue does not look.

    When:
        The job has no label `kueue.x-k8s.io/queue-name`, but something close to it: the same key misspelt (`queue`,
        `queue_name`), the key as an annotation, or the label on the pod template (or on the CronJob) alone.
    Why it blocks:
        Kueue reads the queue from exactly this label in the job's own metadata.labels. Without it the job is not Kueue's, and one
        that was created suspended stays so.
    What to do:
        Set the label on the job itself; of a CronJob in `spec.jobTemplate.metadata.labels`. A Job that already runs has to be
        created again.
    """
    placed = facts.membership.misplaced
    item = facts.identity.root
    if item is None or not placed:
        return None
    first = placed[0]
    wrong = first.key if first.key != QUEUE_LABEL else "the right key"
    sentence = (
        f"{titled(item)} names its queue {quoted(first.value) or '(empty)'} where Kueue does not look: {first.place} "
        f"{'has ' + quoted(wrong) + ' instead of ' + QUEUE_LABEL if first.key != QUEUE_LABEL else 'has ' + QUEUE_LABEL}"
        f"{'' if first.key != QUEUE_LABEL else ', the job itself has no such label'}."
    )
    command = None
    if first.labels_itself:
        target = f"{item.kind.lower()}/{item.name}"
        command = f"kubectl label -n {item.namespace} {target} {QUEUE_LABEL}={quoted(first.value)}"
    return Found(
        sentence,
        tuple(
            Evidence(subject_of(item), f"{entry.field}[{quoted(entry.key)}]", quoted(entry.value)) for entry in placed
        ),
        (Step("asker", f"Put the label {QUEUE_LABEL} into {first.wanted}.", command),),
        (subject_of(item),),
        beside=facts.progress.runs,
    )
