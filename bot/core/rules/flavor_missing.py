"""Rule flavor-missing."""

from bot.core import objects as o
from bot.core.closeness import closest
from bot.core.diagnosis import Certainty, Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import young
from bot.core.names import named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "queue",
    move="queue-admin",
    outlook="fix",
    phases=("waiting",),
    needs=("Workload", "ClusterQueue", "ResourceFlavor"),
)
def flavor_missing(facts: Facts) -> Found | None:
    """The ClusterQueue names a ResourceFlavor that does not exist.

    When:
        A flavor in the ClusterQueue's `spec.resourceGroups` has no ResourceFlavor of that name. Where ResourceFlavors cannot be
        read, the ClusterQueue's own condition says so.
    Why it blocks:
        One missing ResourceFlavor makes the whole ClusterQueue inactive, whichever flavor the job would use.
    What to do:
        Create the ResourceFlavor, or put the right name into the ClusterQueue.
        The finding's data: `suggestions`, the existing flavors with names that come close.
    """
    queue = facts.queue.cluster_queue
    if queue is None:
        return None
    certainty: Certainty = "certain"
    try:
        missing = facts.queue.missing_flavors
    except Unknown:
        missing, certainty = facts.queue.said_names("flavor-missing"), "reported"
        if not missing:
            raise
    if not missing:
        return None
    existing = [item.name for item in facts.snapshot.all_of(o.ResourceFlavor, read="seen")]
    suggestions = list(dict.fromkeys(other for name in missing for other in closest(name, existing)))
    about = subject("ClusterQueue", queue.name)
    evidence = [Evidence(about, "spec.resourceGroups[].flavors[].name", ", ".join(missing))]
    if certainty == "certain":
        evidence += [Evidence(subject("ResourceFlavor", name), "metadata.name", "absent") for name in missing]
    else:
        words = facts.queue.active.message if facts.queue.active is not None else ""
        evidence.append(Evidence(about, "status.conditions[Active].message", quoted(words), "kueue"))
    offered = ""
    if suggestions:
        offered = "; what exists and comes close: " + ", ".join(named("ResourceFlavor", name) for name in suggestions)
    many = len(missing) > 1
    return Found(
        f"ClusterQueue {queue.name} is inactive: it names ResourceFlavor{'s' if many else ''} "
        f"{', '.join(named('ResourceFlavor', name) for name in missing)}, which {'do' if many else 'does'} not exist{offered}."
        + young(facts.age(queue.metadata.creation_timestamp), facts.thresholds.young),
        tuple(evidence),
        (
            Step(
                "queue-admin",
                f"Create the ResourceFlavor{'s' if many else ''}, or correct the name in the ClusterQueue.",
            ),
        ),
        (about, *(subject("ResourceFlavor", name) for name in missing)),
        certainty,
        data={"suggestions": suggestions},
    )
