"""Rule topology-not-supported."""

from bot.core import texts
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.assignment import worst
from bot.core.facts.topology import Mismatch, Wish
from bot.core.names import named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown

_TOLD = {
    "bad-request": "Kueue cannot use what pod set {pod_set} asks of the topology",
    "no-flavor": "Pod set {pod_set} gets no flavor with a topology",
    "several-flavors": "The resources of pod set {pod_set} get several flavors with a topology",
    "not-with-elastic": "An elastic job cannot ask for required or preferred topology",
}


@rule(
    "quota", move="asker", outlook="never-as-written", phases=("waiting",),
    needs=("ClusterQueue", "ResourceFlavor", "Topology"),
)  # fmt: skip
def topology_not_supported(facts: Facts) -> Found | None:
    """No flavor goes with the topology that it asks for.

    When:
        A pod set asks for topology-aware scheduling, or does not, and no flavor of its resource group that has room goes
        with that: the flavor has no topology, its Topology lacks the level that is named, or the flavor is for
        topology-aware scheduling alone.
    Why it blocks:
        Kueue passes over a flavor whose topology does not go with the request, however much quota it has.
    What to do:
        Name a level that the Topology has in the pod template's annotation, add or remove the annotation
        (`kueue.x-k8s.io/podset-unconstrained-topology: "true"` asks for no particular placement), or use a queue whose
        flavors fit.
    """
    for wish in facts.topology.wishes:
        for flavors, with_room in _groups(facts, wish):
            out = {name: found for name in flavors if (found := facts.topology.mismatch(wish, name)) is not None}
            if any(name in out for name in with_room) and all(name in out for name in with_room):
                first = next(out[name] for name in with_room if name in out)
                return _found(facts, wish, first, out)
    return _told(facts)


def _groups(facts: Facts, wish: Wish) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Per resource group that the pod set uses: its flavors, and those with room, topology aside; all where not known."""
    try:
        groups = facts.quota.groups
    except Unknown:
        return [(flavors, flavors) for flavors in facts.topology.covering(wish)]
    found = []
    for group in groups:
        flavors = [flavor for flavor in group.flavors if wish.pod_set in flavor.pod_sets]
        with_room = [
            flavor.flavor
            for flavor in flavors
            if (flavor.exclusion is None or flavor.exclusion.cause == "topology")
            and worst(figure.verdict for figure in flavor.figures) in {"fits", "wait"}
        ]
        found.append((tuple(flavor.flavor for flavor in flavors), tuple(with_room)))
    return found


def _told(facts: Facts) -> Found | None:
    """What Kueue itself says of the request, where quota is there and the levels look right."""
    if not facts.history.is_verdict or facts.quota.verdict != "fits":
        return None
    said = texts.assignment(facts.history.text)
    for part in said.pod_sets if said is not None else ():
        for reason in part.reasons:
            if isinstance(reason, texts.TopologyReason) and reason.what in _TOLD:
                own = facts.identity.want()
                me = subject("Workload", own.name, own.namespace)
                sentence = _TOLD[reason.what].format(pod_set=quoted(part.pod_set, 80))
                return Found(
                    f'{sentence}: "{quoted(facts.history.text, 240)}".',
                    (Evidence(me, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"),),
                    (Step("asker", "Correct the topology annotations of the pod template."),),
                    (me,),
                    "reported",
                )
    return None


def _found(facts: Facts, wish: Wish, first: Mismatch, out: dict[str, Mismatch]) -> Found:
    own = facts.identity.want()
    me = subject("Workload", own.name, own.namespace)
    flavor = facts.queue.flavor(first.flavor)
    topology = flavor.spec.topology_name if flavor is not None else None
    queue = facts.queue.cluster_queue_name
    asks = f"asks for {wish.mode} topology" + (f" at level {', '.join(wish.keys)}" if wish.keys else "")
    if first.cause == "topology-only":
        sentence = (
            f"Pod set {wish.pod_set} asks for no topology, and {first.text} in ClusterQueue"
            f" {named('ClusterQueue', queue)}."
        )
        step = Step(
            "asker", 'Add the annotation kueue.x-k8s.io/podset-unconstrained-topology: "true" to the pod template.'
        )
    else:
        sentence = f"Pod set {wish.pod_set} {asks}, but {first.text}."
        levels = facts.topology.levels(first.flavor)
        what = f"Name one of the levels {', '.join(levels)}" if levels else "Use a queue whose flavor has a topology"
        step = Step("asker", f"{what}, or drop the topology annotation from the pod template.")
    evidence = [Evidence(me, f"spec.podSets[{wish.pod_set}].topologyRequest", asks if wish.explicit else "none")]
    evidence += [
        Evidence(subject("ResourceFlavor", name), "spec.topologyName", m.text) for name, m in sorted(out.items())
    ]
    if topology and facts.topology.levels(first.flavor):
        listed = ", ".join(facts.topology.levels(first.flavor))
        evidence.append(Evidence(subject("Topology", topology), "spec.levels[].nodeLabel", quoted(listed)))
    return Found(sentence, tuple(evidence), (step,), (me, subject("ResourceFlavor", first.flavor)))
