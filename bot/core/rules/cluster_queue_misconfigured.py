"""Rule cluster-queue-misconfigured."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.queue import Misconfiguration
from bot.core.names import named, quoted, subject
from bot.core.rule import rule
from bot.core.texts import cited


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=("Workload", "ClusterQueue"))
def cluster_queue_misconfigured(facts: Facts) -> Found | None:
    """The ClusterQueue is not active for a reason of its own.

    When:
        The ClusterQueue combines what Kueue refuses to combine: several MultiKueue checks, a MultiKueue check for single flavors
        only, MultiKueue with provisioning, topology-aware flavors with what its version does not support. Or it says that it is
        not active for a reason that none of the rules before this one names.
    Why it blocks:
        A ClusterQueue that is not active admits nothing, however much quota is free.
    What to do:
        Change the ClusterQueue as the sentence says. For a reason that is only quoted, read Kueue's log of that moment.
    """
    queue = facts.queue.cluster_queue
    found = facts.queue.misconfigurations
    if queue is None or not found:
        return None
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
        tuple(Step("queue-admin" if entry.what != "not-synced" else "platform", _do(entry)) for entry in found),
        (about, *(subject("AdmissionCheck", name) for entry in found for name in entry.names if entry.confirmed)),
        "certain" if all(entry.confirmed for entry in found) else "reported",
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
    return "Read Kueue's log about this ClusterQueue."
