"""Rule scaled-to-zero."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import kind_of, subject_of, titled
from bot.core.rule import rule

_REPLICAS = {"StatefulSet": "replicas", "LeaderWorkerSet": "replicas", "Deployment": "replicas", "ReplicaSet": "replicas",
             "Job": "parallelism"}  # fmt: skip


@rule(
    "workload",
    move="asker",
    outlook="fix",
    phases=("unmanaged", "no-workload", "waiting", "reserved", "admitted"),
)
def scaled_to_zero(facts: Facts) -> Found | None:
    """It is scaled to zero.

    When:
        `spec.replicas` of the StatefulSet, LeaderWorkerSet, Deployment or ReplicaSet is 0, or `spec.parallelism` of the Job.
    Why it blocks:
        It wants no pods, so there is nothing to queue. Kueue puts the Workload of such a StatefulSet on hold.
    What to do:
        Scale it up.
    """
    item = facts.identity.root
    field = _REPLICAS.get(kind_of(item)) if item is not None else None
    if not isinstance(item, o.Job) or field is None:
        return None
    value = item.spec.get(field)
    if value != 0 or isinstance(value, bool):
        return None
    scale = (
        f"kubectl scale -n {item.namespace} {item.kind.lower()}/{item.name} --replicas=1"
        if field == "replicas"
        else None
    )
    return Found(
        f"{titled(item)} is scaled to zero: spec.{field} is 0, so no pods are wanted.",
        (Evidence(subject_of(item), f"spec.{field}", "0"),),
        (Step("asker", "Scale it up.", scale),),
        (subject_of(item),),
    )
