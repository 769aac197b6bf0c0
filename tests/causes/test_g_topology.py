"""Topology-aware scheduling before admission: causes G01 to G16 and G25 to G28. The others are among the pods' cases."""

from typing import Any

import pytest

from tests.causes.asked import Asked
from tests.small import GROUP, READ, flavor, holder, pod_set, queue, small, thing, waiting

GPU, RACK, HOST = "nvidia.com/gpu", "cloud/rack", "kubernetes.io/hostname"
NEVER, WAIT = "never-as-written", "wait"
ROOM = {"tas": {"cpu": 100, GPU: 32}}
UNREAD = [entry for entry in READ if entry != "v1/nodes"]
MAINTENANCE = {"key": "maint", "value": "y", "effect": "NoSchedule"}
SHORT = "insufficient unused quota for nvidia.com/gpu in flavor tas, 2 more needed"


def said(*parts: str) -> str:
    return f"couldn't assign flavors to pod set main: {', '.join(parts)}"


def node(name: str, rack: str, gpu: int = 4, pool: str = "tas", *, ready: bool = True, **spec: Any) -> dict[str, Any]:
    labels = {"pool": pool, HOST: name} | ({RACK: rack} if rack else {})
    allocatable = {"cpu": "16", "memory": "64Gi", "pods": "110", GPU: str(gpu)}
    ready_now = {"type": "Ready", "status": "True" if ready else "False"}
    return thing(
        "v1", "Node", name, labels=labels, spec=spec, status={"allocatable": allocatable, "conditions": [ready_now]}
    )


def runs(on: str, gpu: int, namespace: str = "serve") -> dict[str, Any]:
    """A pod of somebody else, not under Kueue."""
    containers = [{"name": "m", "resources": {"requests": {GPU: str(gpu), "cpu": "1"}}}]
    return thing(
        "v1", "Pod", f"on-{on}", namespace, spec={"nodeName": on, "containers": containers}, status={"phase": "Running"}
    )


def tas(name: str = "tas", pool: str = "tas") -> dict[str, Any]:
    return flavor(name, nodeLabels={"pool": pool}, topologyName="racks")


def pods(count: int = 1, spec: dict[str, Any] | None = None, *, gpu: int = 1, **request: Any) -> dict[str, Any]:
    return pod_set("main", count, spec, nvidia_com__gpu=gpu) | ({"topologyRequest": request} if request else {})


def ask(*objects: Any, text: str = said("x"), wants: dict[str, Any], read: list[str] | None = None) -> Any:
    topology = thing(
        f"{GROUP}/v1beta2", "Topology", "racks", spec={"levels": [{"nodeLabel": RACK}, {"nodeLabel": HOST}]}
    )
    return small(*objects, topology, waiting("train", wants, text=text), read=read)


NODES = (node("n1", "r1"), node("n2", "r1"), node("n3", "r2"), node("n4", "r2"))
ANY = queue("ml-cq", ROOM)
BUSY = tuple(runs(f"n{i}", 3) for i in (1, 2, 3, 4))

CASES = {
    "G01": Asked(
        ask(
            queue("ml-cq", {"plain": {GPU: 32}}),
            *NODES,
            wants=pods(2, required=RACK),
            text=said('Flavor "plain" does not support TopologyAwareScheduling'),
        ),
        "topology-not-supported",
        NEVER,
        ("flavor plain has no topology",),
        move="asker",
    ),
    "G01 beside a full flavor that supports it": Asked(
        ask(
            queue("ml-cq", {"tas": {GPU: 4}, "plain": {GPU: 8}}),
            tas(),
            *NODES,
            holder("x", "ml-cq", {GPU: ("tas", 4)}),
            wants=pods(2, required=RACK),
        ),
        "quota-in-use",
        WAIT,
        ("Flavor plain is excluded",),
    ),
    "G02": Asked(
        ask(ANY, tas(), *NODES, wants=pods(2, required=RACK)).drop("Topology"),
        "topology-missing",
        "fix",
        ("racks",),
        stage="queue",
    ),
    "G03 G10": Asked(
        ask(ANY, tas(), *NODES, wants=pods(2, required="cloud/block")),
        "topology-not-supported",
        NEVER,
        ("no level cloud/block",),
    ),
    "G04": Asked(
        ask(queue("ml-cq", {"tas": {GPU: 8}, "plain": {GPU: 0}}), tas(), *NODES, wants=pods(2)),
        "topology-not-supported",
        NEVER,
        ("for topology-aware scheduling only",),
    ),
    "G04 beside a full flavor": Asked(
        ask(
            queue("ml-cq", {"tas": {GPU: 8}, "plain": {GPU: 4}}),
            tas(),
            *NODES,
            holder("x", "ml-cq", {GPU: ("plain", 4)}),
            wants=pods(2),
        ),
        "quota-in-use",
        WAIT,
        ("flavor plain",),
    ),
    "G05 G26": Asked(
        ask(ANY, tas(), *NODES, wants=pods(2, gpu=5, required=RACK)),
        "topology-does-not-fit",
        NEVER,
        ("has room for 0",),
    ),
    "G06": Asked(
        ask(ANY, tas(), *NODES, runs("n1", 2), runs("n3", 2), wants=pods(8, required=RACK)),
        "topology-does-not-fit",
        WAIT,
        ("room for 6", "emptied it would hold 8"),
    ),
    "G06 preferred": Asked(
        ask(ANY, tas(), *NODES, runs("n1", 2), runs("n3", 2), wants=pods(14, preferred=RACK)),
        "topology-does-not-fit",
        WAIT,
        ("room for 14 pods", "have room for 12"),
    ),
    "G07": Asked(
        ask(
            ANY,
            tas(),
            node("n1", "r1", taints=[MAINTENANCE]),
            node("n2", "r1", unschedulable=True),
            node("n3", "r2"),
            node("n4", "r2", ready=False),
            runs("n3", 3),
            wants=pods(2, required=RACK),
        ),
        "topology-does-not-fit",
        WAIT,
        ("room for 1", "1 cordoned", "1 not ready", "1 taint maint=y:NoSchedule"),
    ),
    "G07 nodes unread": Asked(
        ask(
            ANY,
            tas(),
            wants=pods(4, required=RACK),
            read=UNREAD,
            text=said(
                'topology "racks" allows to fit only 2 out of 4 pod(s). Total nodes: 4; excluded: resource "nvidia.com/gpu": 2'
            ),
        ),
        "topology-does-not-fit",
        WAIT,
        ("room for 2 of 4 pods",),
    ),
    "G08": Asked(
        ask(
            ANY,
            tas(),
            wants=pods(4, required=RACK),
            read=UNREAD,
            text=said('topology "racks" doesn\'t allow to fit; 1/2 slice(s) fit on level cloud/rack'),
        ),
        "topology-does-not-fit",
        WAIT,
        ("1 of 2 slices",),
    ),
    "G09": Asked(
        ask(ANY, tas(), node("n1", ""), node("n2", ""), wants=pods(2, required=RACK)),
        "topology-does-not-fit",
        NEVER,
        ("2 of 2 nodes of flavor tas lack the label cloud/rack",),
        move="platform",
    ),
    "G09 no nodes": Asked(
        ask(ANY, tas(pool="none"), *NODES, wants=pods(2, required=RACK)),
        "topology-does-not-fit",
        NEVER,
        ("no node carries the labels of flavor tas",),
        move="platform",
    ),
    "G11": Asked(
        ask(ANY, tas(), *NODES, wants=pods(2, required=HOST, podSetSliceRequiredTopology=RACK, podSetSliceSize=2)),
        "topology-not-supported",
        NEVER,
        ("above the level",),
    ),
    "G12": Asked(
        ask(
            ANY,
            tas(),
            *NODES,
            wants=pods(2, required=RACK),
            text="failed to assign flavors to pod set main: invalid node selectors: unable to parse requirement",
        ),
        "topology-not-supported",
        NEVER,
        ("invalid node selectors",),
    ),
    "G14": Asked(
        small(
            queue("ml-cq", [{"d": {"cpu": 10}}, {"tas": {GPU: 8}}]),
            tas(),
            *NODES,
            thing(f"{GROUP}/v1beta2", "Topology", "racks", spec={"levels": [{"nodeLabel": HOST}]}),
            waiting(
                "train",
                pod_set(cpu=1) | {"topologyRequest": {"required": HOST}},
                text="failed to assign flavors to pod set main: no TAS flavor assigned",
            ),
        ),
        "topology-not-supported",
        NEVER,
        ("flavor d has no topology",),
    ),
    "G15": Asked(
        small(
            queue("ml-cq", [{"tas2": {"cpu": 10}}, {"tas": {GPU: 8}}]),
            tas(),
            tas("tas2"),
            *NODES,
            thing(f"{GROUP}/v1beta2", "Topology", "racks", spec={"levels": [{"nodeLabel": HOST}]}),
            waiting(
                "train",
                pod_set(cpu=1, nvidia_com__gpu=1) | {"topologyRequest": {"required": HOST}},
                text="failed to assign flavors to pod set main: more than one TAS flavor assigned: tas, tas2",
            ),
        ),
        "topology-not-supported",
        NEVER,
        ("tas, tas2",),
    ),
    "G16": Asked(
        ask(
            ANY,
            tas(),
            *NODES,
            wants=pods(1, required=RACK),
            text="failed to assign flavors to pod set main: required topology is not "
            "supported with ElasticJobsViaWorkloadSlices",
        ),
        "topology-not-supported",
        NEVER,
        ("elastic job",),
    ),
    "G25": Asked(
        ask(ANY, tas(), *NODES, *BUSY, wants=pods(4, required=RACK)), "topology-does-not-fit", WAIT, ("room for 2",)
    ),
    "G27": Asked(
        ask(ANY, tas(), *NODES, *BUSY, wants=pods(5)), "topology-does-not-fit", WAIT, ("room for 5 pods", "room for 4")
    ),
    "G28": Asked(
        ask(ANY, tas(), node("n1", "r1", unschedulable=True), wants=pods(1)),
        "topology-does-not-fit",
        NEVER,
        ("1 cordoned",),
    ),
    "a stale text": Asked(
        ask(
            ANY,
            tas(),
            *NODES,
            wants=pods(4, required=RACK),
            text=said('topology "racks" allows to fit only 2 out of 4 pod(s)'),
        ),
        "fits-but-not-admitted",
        "fix",
    ),
    "quota comes first": Asked(
        ask(
            queue("ml-cq", {"tas": {GPU: 4}}),
            tas(),
            *NODES,
            holder("x", "ml-cq", {GPU: ("tas", 4)}),
            wants=pods(8, required=HOST),
        ),
        "exceeds-queue-capacity",
        NEVER,
    ),
    "the smallest size has quota and no place": Asked(
        ask(queue("ml-cq", {"tas": {GPU: 9}}), tas(), *NODES, *BUSY, wants=pods(10, required=RACK) | {"minCount": 4}),
        "topology-does-not-fit",
        WAIT,
        ("All 4 pods",),
    ),
    "another flavor has the place and no quota": Asked(
        ask(
            queue("ml-cq", {"tas": {GPU: 4}, "tb": {GPU: 8}}),
            tas(),
            tas("tb", "tb"),
            *NODES,
            node("m1", "r9", 1, "tb"),
            holder("x", "ml-cq", {GPU: ("tas", 4)}),
            wants=pods(2, required=HOST),
            text=said(SHORT),
        ),
        "topology-does-not-fit",
        WAIT,
        ("Flavor tas has no quota left now", "Wait for quota in flavor tas"),
    ),
    "the pods' own selector": Asked(
        ask(ANY, tas(), *NODES, wants=pods(1, {"nodeSelector": {"disk": "ssd"}}, required=RACK)),
        "topology-does-not-fit",
        NEVER,
        ("4 node selector disk=ssd",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    CASES[case].check()
