"""Rule job-not-found."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule(
    "lookup",
    move="asker",
    outlook="fix",
    phases=(),
    needs=("Job", "Pod", "Workload", "Deployment", "StatefulSet", "CronJob", "Event"),
)
def job_not_found(facts: Facts) -> Found | None:
    """There is no such job.

    When:
        The namespace has nothing of that name: no object of any kind that Kueue integrates, no Workload and no pod group.
        Of an object of another kind (an Argo Workflow, say) that owns pods or jobs, those are offered.
        Kinds that were not read are listed as not checked. What events say of the missing object is quoted: often the API
        refused to create it. Close names are offered, and other namespaces that have the name.
    Why it blocks:
        What does not exist cannot run. It was never created, was deleted (after it finished, for example by
        `ttlSecondsAfterFinished`), or has another name.
    What to do:
        Ask again with one of the names that are offered. If an event says that its creation was refused, fix what the event
        names and create it again. The finding's data: `suggestions`, the names that come close.
    """
    absence = facts.missing.absence
    if absence is None:
        return None
    ref = facts.ref
    what = f"{ref.kind} named" if ref.kind else "job, Workload or pod group named"
    sentence = f"There is no {what} {named(ref.kind or 'Job', ref.name, ref.namespace)}."
    if absence.owner:
        count = len(absence.suggestions)
        sentence = (
            f"{quoted(absence.owner, 60)} {named(absence.owner, ref.name, ref.namespace)} is of no kind that Kueue integrates; "
            f"what it owns may wait by itself: {count} {'object' if count == 1 else 'objects'}."
        )
    evidence = [Evidence(subject(ref.kind or "Job", ref.name, ref.namespace), "metadata.name", "no such object")]
    steps = []
    for event in absence.events[:2]:
        about = subject(event.involved_object.kind, ref.name, ref.namespace)
        evidence.append(Evidence(about, f"event {event.reason}", quoted(event.message)))
    if absence.events:
        event = absence.events[0]
        kind = event.involved_object.kind
        sentence += (
            f" An event says of {quoted(kind)} {named(kind, ref.name, ref.namespace)}: {quoted(event.message, 300)}"
        )
        if event.type == "Warning":
            steps.append(Step("asker", "Fix what the event names, then create it again."))
    for workload in absence.leftovers[:1]:
        evidence.append(Evidence(subject_of(workload), "metadata.ownerReferences", f"{ref.name}, which is gone"))
        sentence += f" Its Workload {named('Workload', workload.name, workload.namespace)} is still there."
    if "queue-name" in sentence and absence.queues:
        queues = ", ".join(absence.queues[:5])
        steps.append(Step("asker", f"LocalQueues of this namespace for the label kueue.x-k8s.io/queue-name: {queues}."))
    if absence.suggestions:
        closest = " or ".join(absence.suggestions[:3])
        sentence += f" Ask about {closest}." if absence.owner else f" Did you mean {closest}?"
        steps.append(Step("asker", f"Ask about {absence.suggestions[0]} instead."))
    steps.append(
        Step(
            "asker",
            "Look at what the namespace has.",
            f"kubectl get jobs,workloads.kueue.x-k8s.io,pods -n {ref.namespace}",
        )
    )
    return Found(
        sentence,
        tuple(evidence),
        tuple(steps),
        (subject(ref.kind or "Job", ref.name, ref.namespace),),
        data={"suggestions": list(absence.suggestions)},
        unread=absence.unread,
    )
