"""Rule prebuilt-workload-missing."""

from bot.core import objects as o
from bot.core.closeness import closest
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.marks import PREBUILT, prebuilt_name
from bot.core.names import named, quoted
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("no-workload",), needs=("Workload",))
def prebuilt_workload_missing(facts: Facts) -> Found | None:
    """The prebuilt Workload that it names is not there.

    When:
        The job names a Workload in `kueue.x-k8s.io/prebuilt-workload-name`, and the namespace has none of that name, or that one
        belongs to another job.
    Why it blocks:
        Kueue makes no Workload of its own for such a job: it waits for the one that is named.
    What to do:
        Create the Workload (whoever creates the job usually does), correct the name, or remove the label. The finding's data:
        `suggestions`, the Workloads that come close.
    """
    item = facts.identity.root
    name = prebuilt_name(item) if item is not None else ""
    if item is None or not name or isinstance(item, o.Pod):
        return None
    workload = facts.snapshot.one_of(o.Workload, name, item.namespace)
    place = named("Workload", name, item.namespace)
    evidence = [Evidence(subject_of(item), f"metadata.labels[{PREBUILT}]", quoted(name))]
    near: tuple[str, ...] = ()
    if workload is None:
        near = closest(name, (other.name for other in facts.snapshot.seen("Workload", item.namespace)))
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        sentence = f"{titled(item)} waits for its prebuilt Workload {place}, which does not exist.{hint}"
    else:
        owners = workload.metadata.owner_references
        other = f"{owners[0].kind} {named(owners[0].kind, owners[0].name, item.namespace)}" if owners else "another job"
        sentence = f"{titled(item)} names the prebuilt Workload {place}, which belongs to {other}."
        held = f"{owners[0].kind}/{owners[0].name}" if owners else "another job's UID"
        evidence.append(Evidence(subject_of(workload), "metadata.ownerReferences", quoted(held)))
    return Found(
        sentence,
        tuple(evidence),
        (Step("asker", "Create that Workload, or correct the label kueue.x-k8s.io/prebuilt-workload-name."),),
        (subject_of(item),),
        data={"suggestions": list(near)},
    )
