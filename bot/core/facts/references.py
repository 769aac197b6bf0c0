"""What a ClusterQueue names and does not exist: one answer for ResourceFlavors and AdmissionChecks."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from bot.core.closeness import closest
from bot.core.diagnosis import Certainty, Evidence, Found, Step
from bot.core.moments import young
from bot.core.names import named, quoted, subject
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts


def absent(
    facts: "Facts",
    kind: str,
    missing: Callable[[], tuple[str, ...]],
    *,
    said: Literal["flavor-missing", "check-missing"],
    field: str,
    otherwise: str,
) -> Found | None:
    """Give the finding that the ClusterQueue names objects of a kind that do not exist; None when all exist.

    `missing` gives their names from the objects and may raise Unknown; then what Kueue said as `said` stands in, as
    reported. `field` is where the ClusterQueue names them, `otherwise` what can be done instead of creating them.
    Raises Unknown when neither tells.
    """
    queue = facts.queue.cluster_queue
    if queue is None:
        return None
    certainty: Certainty = "certain"
    try:
        names = missing()
    except Unknown:
        names, certainty = facts.queue.said_names(said), "reported"
        if not names:
            raise
    if not names:
        return None
    existing = [item.name for item in facts.snapshot.seen(kind)]
    suggestions = list(dict.fromkeys(other for name in names for other in closest(name, existing)))
    about = subject("ClusterQueue", queue.name)
    evidence = [Evidence(about, field, ", ".join(names))]
    if certainty == "certain":
        evidence += [Evidence(subject(kind, name), "metadata.name", "absent") for name in names]
    else:
        words = facts.queue.active.message if facts.queue.active is not None else ""
        evidence.append(Evidence(about, "status.conditions[Active].message", quoted(words), "kueue"))
    offered = ""
    if suggestions:
        offered = "; what exists and comes close: " + ", ".join(named(kind, name) for name in suggestions)
    plural, do = ("s", "do") if len(names) > 1 else ("", "does")
    return Found(
        f"ClusterQueue {queue.name} is inactive: it names {kind}{plural} "
        f"{', '.join(named(kind, name) for name in names)}, which {do} not exist{offered}."
        + young(facts.age(queue.metadata.creation_timestamp), facts.thresholds.young),
        tuple(evidence),
        (Step("queue-admin", f"Create the {kind}{plural}, or {otherwise}."),),
        (about, *(subject(kind, name) for name in names)),
        certainty,
        data={"suggestions": suggestions},
    )
