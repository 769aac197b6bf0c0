"""Rule flavor-missing."""

from bot.core.diagnosis import Found
from bot.core.facts import Facts
from bot.core.facts.references import absent
from bot.core.rule import rule


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
    return absent(
        facts,
        "ResourceFlavor",
        lambda: facts.queue.missing_flavors,
        said="flavor-missing",
        field="spec.resourceGroups[].flavors[].name",
        otherwise="correct the name in the ClusterQueue",
    )
