"""Rule kueue-not-installed."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import suspended
from bot.core.names import subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown

_KUEUE = ("Workload", "LocalQueue", "ClusterQueue", "ResourceFlavor")
_CRD = "workloads.kueue.x-k8s.io"


@rule("lookup", move="platform", outlook="fix", phases=(), needs=())
def kueue_not_installed(facts: Facts) -> Found | None:
    """Kueue is not installed.

    When:
        The API server serves no Workloads of the group kueue.x-k8s.io: neither by discovery nor as a CustomResourceDefinition.
        Beside a job that nobody holds (it is not suspended, its pods are not gated) or that has finished it is only also true.
    Why it blocks:
        Nobody takes up a job that waits to be queued: a suspended job stays suspended, a gated pod stays gated.
    What to do:
        Install Kueue on this cluster, or ask about the cluster on which it is. A job that does not need Kueue has to be resumed
        by hand (`spec.suspend: false`).
    """
    snapshot = facts.snapshot
    if any(snapshot.seen(kind) for kind in _KUEUE):
        return None
    if snapshot.served is not None:
        if snapshot.is_served("Workload"):
            return None
        evidence = Evidence(subject("APIService", "kueue.x-k8s.io"), "discovery", "not served")
    elif snapshot.covers("Workload") or snapshot.covers("Workload", facts.ref.namespace):
        return None
    elif snapshot.covers("CustomResourceDefinition") or snapshot.covers("CustomResourceDefinition", "", _CRD):
        if snapshot.look_of(o.CustomResourceDefinition, _CRD) is not None:
            return None
        evidence = Evidence(subject("CustomResourceDefinition", _CRD), "metadata.name", "no such object")
    else:
        reason = "whether kueue.x-k8s.io is served: not read"
        raise Unknown(reason)
    return Found(
        "Kueue is not installed on this cluster: the group kueue.x-k8s.io is not served.",
        (evidence,),
        (Step("platform", "Install Kueue, or ask about the cluster that has it."),),
        beside=not _held(facts),
    )


def _held(facts: Facts) -> bool:
    """Whether somebody would have to release the job, or that is not known."""
    try:
        phase, item = facts.progress.phase, facts.identity.root
    except Unknown:
        return True
    return phase != "finished" and (phase != "unmanaged" or (item is not None and suspended(item) is True))
