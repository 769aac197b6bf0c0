"""Rule provisioning-contradicts-nodes."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.topology import allocatable, lacking, refusal, unusable
from bot.core.names import quoted, subject
from bot.core.objects import condition, is_true
from bot.core.quantity import human
from bot.core.rule import rule
from bot.core.scheduling import pod_requests
from bot.core.snapshot import Unknown


@rule(
    "checks", move="platform", outlook="unknown", phases=("waiting", "reserved"),
    needs=("ProvisioningRequest", "Node", "Pod"), context=True,
)  # fmt: skip
def provisioning_contradicts_nodes(facts: Facts) -> Found | None:
    """The autoscaler finds no room, and nodes have it.

    When:
        A ProvisioningRequest of the Workload says that it failed or that capacity was not found, while the nodes that
        carry the flavors' labels have room for all of its pods as they are.
    Why it blocks:
        The admission check waits for the autoscaler's word, whatever the nodes hold.
    What to do:
        Do not wait for capacity: have the platform team look at the autoscaler, which judges wrongly or by other rules.
    """
    own = facts.identity.want()
    refused = _refused(facts, own)
    if refused is None:
        return None
    request, verdict = refused
    facts.snapshot.require("Node")
    if not facts.topology.pods_read:
        reason = "pods: not read in full, so the room on the nodes is not known"
        raise Unknown(reason)
    flavors = _flavors(facts, own)
    free = {node.name: facts.topology.free_on(node) for node in facts.snapshot.all_of(o.Node)}
    used: set[str] = set()
    asked: dict[str, int] = {}
    for pod_set in own.spec.pod_sets:
        each = {**pod_requests(pod_set.template.spec), "pods": 1}
        nodes = _nodes(facts, pod_set, flavors.get(pod_set.name, ()))
        left = pod_set.count
        for name in nodes:
            while left > 0 and lacking(free[name], each) is None:
                free[name] = {key: value - each.get(key, 0) for key, value in free[name].items()}
                used.add(name)
                left -= 1
        if left > 0 or pod_set.count <= 0:
            return None
        for key, value in each.items():
            if key != "pods":
                asked[key] = asked.get(key, 0) + value * pod_set.count
    scarce = [key for key in sorted(asked) if key not in {"cpu", "memory", "ephemeral-storage"}] or sorted(asked)
    if not scarce:
        return None
    resource = scarce[0]
    names = sorted({name for ps in own.spec.pod_sets for name in _nodes(facts, ps, flavors.get(ps.name, ()))})
    total = sum(
        max(facts.topology.free_on(node).get(resource, 0), 0)
        for node in facts.snapshot.all_of(o.Node)
        if node.name in names
    )
    who = subject("ProvisioningRequest", request.name, request.namespace)
    where = f"{len(names)} nodes of its flavor have" if len(names) != 1 else "1 node of its flavor has"
    said = quoted(verdict.message or verdict.reason, 160)
    return Found(
        f"{where} {human(resource, total)} {resource} free and room for all its pods, although the autoscaler says"
        f' "{said}".',
        (
            Evidence(who, f"status.conditions[{verdict.type}]", quoted(f"{verdict.status} {verdict.reason}", 120)),
            *(
                Evidence(
                    subject("Node", name), f"free {resource}", human(resource, _free(facts, name, resource)), "computed"
                )
                for name in names[:5]
            ),
        ),
        (Step("platform", "Take this to whoever runs the autoscaler: its verdict contradicts the nodes."),),
        (who,),
    )


def _free(facts: Facts, node: str, resource: str) -> int:
    found = facts.snapshot.look_of(o.Node, node)
    return max(facts.topology.free_on(found).get(resource, 0), 0) if found is not None else 0


def _refused(facts: Facts, own: o.Workload) -> tuple[o.ConditionedLoose, o.Condition] | None:
    """The newest ProvisioningRequest of the Workload that carries a no, with the condition that says it."""
    found = []
    for item in facts.snapshot.seen("ProvisioningRequest", own.namespace):
        owned = any(
            ref.uid == own.metadata.uid if ref.uid else ref.name == own.name for ref in item.metadata.owner_references
        )
        if isinstance(item, o.ConditionedLoose) and (owned or item.name.startswith(f"{own.name}-")):
            found.append(item)
    found.sort(key=lambda item: (str(item.metadata.creation_timestamp or ""), item.name))
    for item in reversed(found):
        conditions = item.status.conditions
        if is_true(conditions, "Provisioned"):
            return None
        failed = condition(conditions, "Failed")
        if failed is not None and failed.status == "True":
            return item, failed
        provisioned = condition(conditions, "Provisioned")
        if provisioned is not None and provisioned.status == "False" and (provisioned.message or provisioned.reason):
            return item, provisioned
    return None


def _flavors(facts: Facts, own: o.Workload) -> dict[str, tuple[str, ...]]:
    """The flavors that each pod set was given, or could be given where it holds none."""
    if own.status.admission is not None:
        parts = own.status.admission.pod_set_assignments
        return {part.name: tuple(sorted(set(part.flavors.values()))) for part in parts}
    return {pod_set.name: facts.queue.flavor_names[:1] for pod_set in own.spec.pod_sets}


def _nodes(facts: Facts, pod_set: o.PodSet, flavors: tuple[str, ...]) -> tuple[str, ...]:
    """The usable nodes that carry the labels of a pod set's flavors and that the pods accept, by name."""
    found = [facts.queue.flavor(name) for name in flavors]
    labels = {key: value for flavor in found if flavor is not None for key, value in flavor.spec.node_labels.items()}
    extra = tuple(toleration for flavor in found if flavor is not None for toleration in flavor.spec.tolerations)
    return tuple(
        node.name
        for node in sorted(facts.snapshot.all_of(o.Node), key=lambda node: node.name)
        if unusable(node) is None
        and all(node.metadata.labels.get(key) == value for key, value in labels.items())
        and refusal(node, pod_set.template.spec, extra) is None
        and allocatable(node)
    )
