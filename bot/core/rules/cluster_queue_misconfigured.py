"""Rule cluster-queue-misconfigured."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.queue import Misconfiguration
from bot.core.names import cited, named, quoted, subject
from bot.core.objects import ClusterQueue, ResourceFlavor
from bot.core.rule import rule
from bot.core.texts import QueueBlocker


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=("Workload", "ClusterQueue"))
def cluster_queue_misconfigured(facts: Facts) -> Found | None:
    """The ClusterQueue is not active for a reason of its own.

    When:
        The ClusterQueue combines what Kueue refuses to combine: several MultiKueue checks, a MultiKueue check for single flavors
        only, MultiKueue with provisioning, topology-aware flavors with what its version does not support. Or it says that it is
        not active for a reason that none of the rules before this one names, or for a ring of cohorts that is no longer there.
        Or it is Active, and Kueue's scheduler has just called it inactive: it has topology-aware flavors whose nodes Kueue has
        not read since its start.
    Why it blocks:
        A ClusterQueue that is not active admits nothing, however much quota is free.
    What to do:
        Change the ClusterQueue as the sentence says. For a reason that is only quoted, read Kueue's log of that moment. Its
        condition Active has Kueue's own words: `kubectl describe clusterqueues.kueue.x-k8s.io NAME`.
    """
    queue = facts.queue.cluster_queue
    found = facts.queue.misconfigurations
    if queue is None:
        return None
    if not found:
        return _not_synced(facts, queue)
    about = subject("ClusterQueue", queue.name)
    evidence = []
    words = next((entry.words for entry in found if entry.words), "")
    if words and facts.queue.active is not None:
        said = f"{facts.queue.active.reason}: {words}"
        evidence.append(Evidence(about, "status.conditions[Active]", quoted(said), "kueue"))
    evidence += [
        Evidence(about, "spec.admissionChecksStrategy.admissionChecks", quoted(", ".join(entry.names)))
        for entry in found
        if entry.names
    ]
    if not evidence:
        evidence.append(Evidence(about, "spec", "see the sentence"))
    return Found(
        f"ClusterQueue {queue.name} is inactive: {'; '.join(_why(entry) for entry in found)}.",
        tuple(evidence),
        tuple(
            Step("platform" if entry.what in {"not-synced", "lagging"} else "queue-admin", _do(entry))
            for entry in found
        ),
        (about, *(subject("AdmissionCheck", name) for entry in found for name in entry.names if entry.confirmed)),
        "certain" if all(entry.confirmed for entry in found) else "reported",
        move="platform" if {entry.what for entry in found} <= {"not-synced", "lagging"} else None,
    )


def _not_synced(facts: Facts, queue: ClusterQueue) -> Found | None:
    """Kueue's scheduler just called it inactive though its condition says otherwise: it has not read yet what runs on its nodes.

    The Workload controller writes the same words with the reason Inadmissible, and leaves them standing once the queue is
    mended.
    """
    history = facts.history
    inactive = history.said == QueueBlocker("ClusterQueue", queue.name, "inactive")
    active = facts.queue.active
    if (
        not inactive
        or history.reason == "Inadmissible"
        or active is None
        or active.status != "True"
        or facts.queue.ring
    ):
        return None
    flavors = [facts.snapshot.look_of(ResourceFlavor, name) for name in facts.queue.flavor_names]
    refusal = history.refusal
    looks = [refusal.last_transition_time if refusal is not None else None, history.last_look]
    ages = [age for age in map(facts.age, looks) if age is not None]
    if not any(flavor is not None and flavor.spec.topology_name for flavor in flavors) or not ages:
        return None
    if min(ages) > facts.thresholds.long:
        return None
    about = subject("ClusterQueue", queue.name)
    workload = facts.identity.want()
    me = subject("Workload", workload.name, workload.namespace)
    return Found(
        f"Kueue's scheduler does not use ClusterQueue {queue.name} yet, though it is Active: after a start it first has to read "
        "what runs on the nodes of its topology. This may pass by itself.",
        (
            Evidence(me, "status.conditions[QuotaReserved].message", quoted(history.text), "kueue"),
            Evidence(about, "status.conditions[Active]", f"True, {quoted(active.reason)}"),
        ),
        (
            Step(
                "platform",
                "If it lasts, see whether Kueue's controller runs and what its logs say of this ClusterQueue.",
            ),
        ),
        (about,),
        "reported",
        move="platform",
    )


def _why(entry: Misconfiguration) -> str:
    checks = ", ".join(named("AdmissionCheck", name) for name in entry.names)
    these = f" ({checks})" if checks else ""
    match entry.what:
        case "several-multikueue":
            return f"it has more than one MultiKueue check{these}, and only one is allowed"
        case "multikueue-per-flavor":
            return f"its MultiKueue check{these} is bound to single flavors, and it has to apply to all of them"
        case "multikueue-with-provisioning":
            return f"it combines MultiKueue and provisioning checks{these}, which Kueue refuses"
        case "topology-unsupported":
            return f"it uses topology-aware flavors with what this Kueue does not support: {cited(entry.words, 300)}"
        case "not-synced":
            return "Kueue says that it does not know this ClusterQueue yet"
        case "lagging":
            return f"it still says {cited(entry.words, 300)}, which is mended since; Kueue has not noticed it yet"
    return f"Kueue gives no reason that is known: {cited(entry.words, 300)}"


def _do(entry: Misconfiguration) -> str:
    match entry.what:
        case "several-multikueue":
            return "Keep one MultiKueue check in the ClusterQueue."
        case "multikueue-per-flavor":
            return "Take onFlavors away from the MultiKueue check."
        case "multikueue-with-provisioning":
            return "Take either the MultiKueue check or the provisioning check out of the ClusterQueue."
        case "topology-unsupported":
            return "Take out of the ClusterQueue what topology-aware flavors do not go with, or upgrade Kueue."
        case "not-synced":
            return "See whether Kueue's controller runs and has caught up."
        case "lagging":
            return "Change any field of the ClusterQueue, so that Kueue looks again; if it stays so, see whether Kueue runs."
    return "Read Kueue's log about this ClusterQueue."
