"""Rule workload-not-created."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.marks import QUEUE_LABEL, queue_name
from bot.core.names import named, quoted, subject
from bot.core.objects import Namespace
from bot.core.rule import rule


@rule("workload", move="platform", outlook="fix", phases=("no-workload",), needs=("Workload",), last=True)
def workload_not_created(facts: Facts) -> Found | None:
    """Kueue has made no Workload of it.

    When:
        The job asks for Kueue and is held (suspended, or its pods carry Kueue's gate), and there is no Workload, and none of the
        more particular reasons above was seen. What could not be excluded is named.
    Why it blocks:
        Kueue starts a job only by way of its Workload. Without one it is in no queue.
    What to do:
        See whether Kueue's controller manager runs and whether its logs name this job. If Kueue was down when the job was
        created, it makes the Workload when it is back. `kubectl describe` of the job shows Kueue's events about it, `kubectl
        -n kueue-system logs deployment/kueue-controller-manager` its logs.
    """
    identity = facts.identity
    item, group = identity.root, identity.group
    if identity.unread_owner is not None and (item is None or queue_name(item) is None):
        return None
    if item is not None:
        what, about, meta = titled(item), subject_of(item), item.metadata
    elif group is not None:
        what = f"Pod group {named('PodGroup', group.name, group.namespace)}"
        about, meta = subject_of(group.pods[0]), group.pods[0].metadata
    else:
        return None
    held = "suspended" if facts.membership.suspend_path else "held by Kueue's gate"
    age = facts.age(meta.creation_timestamp)
    since = (
        f" for {age:.0f} s"
        if age is not None and age < 120
        else f" for {age // 60:.0f} minutes"
        if age is not None
        else ""
    )
    young = " This may pass by itself." if age is not None and age < facts.thresholds.young else ""
    going = ""
    if meta.deletion_timestamp is not None:
        holds = ", ".join(quoted(name, 80) for name in meta.finalizers)
        going = f" It is being deleted{f' and held by {holds}' if holds else ''}, and Kueue makes none of such."
    listed = "; ".join(f"{what} ({quoted(reason, 80)})" for what, reason in facts.membership.not_excluded)
    unknown = f" Not excluded: {listed}." if listed else ""
    place = facts.snapshot.look_of(Namespace, facts.ref.namespace)
    if not going and place is not None and place.metadata.deletion_timestamp is not None:
        going = " Its namespace is being deleted, and nothing new is made in it."
    step = Step(
        "platform",
        "See whether Kueue's controller manager runs and what its logs say of this job.",
        f"kubectl -n {min(facts.controller.namespaces)} get deployments,pods",
    )
    label = queue_name(item) if item is not None else queue_name(group.pods[0]) if group is not None else None
    return Found(
        f"{what} has been {held}{since} and Kueue has made no Workload of it.{going}{young}{unknown}",
        (
            Evidence(subject("Workload", "*", facts.ref.namespace), "objects of this job", "none"),
            Evidence(about, f"metadata.labels[{QUEUE_LABEL}]", quoted(label) if label is not None else "not set"),
        ),
        (Step("asker", "Let the deletion end, then create it again."),) if going else (step,),
        (about,),
        certainty="certain",
        move="asker" if going else None,
    )
