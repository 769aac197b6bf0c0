"""Rule pod-sets-compete."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts import shortage as words
from bot.core.facts.assignment import splits
from bot.core.facts.quota import NEEDS
from bot.core.names import quoted, subject
from bot.core.rule import rule


@rule("quota", move="asker", outlook="unknown", phases=("waiting",), needs=NEEDS, context=True)
def pod_sets_compete(facts: Facts) -> Found | None:
    """Its own pod sets take the same flavor from each other.

    When:
        A pod set would come further in a flavor if the pod sets before it had not taken of that flavor.
    Why it blocks:
        Kueue gives flavors pod set by pod set, each the first flavor with room. Of other splits it tries few: the next time
        it begins behind the flavors that were taken, in some versions.
    What to do:
        Hold the earlier pod set to another flavor by a node selector, or reorder the flavors; or ask for less.
    """
    if facts.identity.workload is None or facts.quota.queue is None:
        return None
    placement = facts.quota.deciding
    if not placement.competing or placement.verdict == "fits":
        return None
    first = placement.competing[0]
    split = next(iter(splits(facts.quota.offer, facts.quota.requests)), None)
    other = ""
    if split is not None:
        other = (
            " It would fit with "
            + words.listing(f"{quoted(name)} in flavor {quoted(flavor)}" for name, flavor in split)
            + "."
        )
    takers = words.listing(map(quoted, first.earlier))
    sentence = (
        f"Pod sets are placed one after another: {takers} take{'s' if len(first.earlier) == 1 else ''} flavor"
        f" {quoted(first.flavor)} first, and there is not enough left of it for {quoted(first.pod_set)}.{other}"
    )
    workload = facts.identity.want()
    mine = subject("Workload", workload.name, workload.namespace)
    proof = tuple(
        Evidence(
            mine,
            f"verdict of pod set {quoted(entry.pod_set)} in flavor {quoted(entry.flavor)}",
            f"{entry.together} after {', '.join(map(quoted, entry.earlier))}, {entry.alone} alone",
            "computed",
        )
        for entry in placement.competing
    )
    step = Step(
        "asker", f"Hold {takers} to another flavor by a node selector, if one fits, or make the pod sets smaller."
    )
    return Found(sentence, proof, (step,), (mine, subject("ResourceFlavor", first.flavor)))
