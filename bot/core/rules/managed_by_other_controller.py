"""Rule managed-by-other-controller."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.marks import MULTIKUEUE
from bot.core.names import quoted
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Workload",))
def managed_by_other_controller(facts: Facts) -> Found | None:
    """Another controller is told to run it.

    When:
        `spec.managedBy` (or `spec.runPolicy.managedBy`) names somebody other than the kind's own controller, no worker
        cluster has the job, and no pods of it are there.
    Why it blocks:
        The kind's own controller leaves such a job alone. With `kueue.x-k8s.io/multikueue` only MultiKueue acts on it, and
        only if the ClusterQueue has a MultiKueue admission check.
    What to do:
        Create the job again without the field, or have the admission check added to the ClusterQueue.
    """
    other, item = facts.progress.foreign_manager, facts.identity.root
    if other is None or item is None or facts.progress.remote is not None or facts.progress.has_pods:
        return None
    path, value = other
    multikueue = value == MULTIKUEUE
    why = "and its Workload has no MultiKueue check" if multikueue else "and no pods of it are there"
    steps = [Step("asker", f"Create it again without {path}.")]
    if multikueue:
        steps.append(Step("queue-admin", "Or add a MultiKueue admission check to the ClusterQueue."))
    return Found(
        f"{titled(item)} is left to another controller: {path} is {quoted(value)}, {why}.",
        (Evidence(subject_of(item), path, quoted(value)),),
        tuple(steps),
        (subject_of(item),),
    )
