"""Admitted, and pods are missing or on no node: N01, N02, N10, G17 to G24 and the table of the pods, with hostile neighbours."""

from typing import Any

import pytest

from tests.causes.admitted import (
    DAEMON,
    GPU,
    HOST,
    READ,
    STATIC,
    Object,
    admitted,
    container,
    event,
    node,
    other,
    pod,
    refused,
    thing,
)
from tests.causes.asked import Asked, condition
from tests.clusters import merge

FIX, WAIT, NEVER = "fix", "wait", "never-as-written"
ZONE, LABELS = "topology.kubernetes.io/zone", "node(s) didn't match Pod's node affinity/selector."
LACKS, ANTI = "node-resources-insufficient", "pod-affinity-unsatisfied"
UNREAD = [entry for entry in READ if entry != "v1/nodes"]


def of(nodes: int, text: str) -> str:
    return f"0/{nodes} nodes are available: {text}"


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> tuple[Object, ...]:
    return ({"key": key, "value": value, "effect": effect},)


def apart(**term: Any) -> Object:
    rule = {"topologyKey": HOST, **term}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [rule]}}}


def port(number: int) -> Object:
    ports = [{"containerPort": number, "hostPort": number}]
    return {"containers": [{"name": "main", "ports": ports, "resources": {"requests": {"cpu": "1"}}}]}


def claim(phase: str = "Pending", volume: str = "") -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", **({"volumeName": volume} if volume else {})}
    return thing("v1", "PersistentVolumeClaim", "data", "team-a", spec=spec, status={"phase": phase})


def volume(zone: str) -> Object:
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
    return thing(
        "v1",
        "PersistentVolume",
        "pv1",
        spec={"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
        status={"phase": "Bound"},
    )


def storage(mode: str = "Immediate") -> Object:
    return thing("storage.k8s.io/v1", "StorageClass", "fast", provisioner="csi.example.com", volumeBindingMode=mode)


def gated(name: str, pod_name: str = "train-0") -> Object:
    held = {"conditions": [condition("PodScheduled", "False", "SchedulingGated")]}
    return pod(pod_name, spec={"schedulingGates": [{"name": name}]}, status=held)


def asked(
    rule: str, outlook: str, *objects: Object, says: tuple[str, ...] = (), also: tuple[str, ...] = (), **more: Any
) -> Asked:
    return Asked(admitted(*objects, **more), rule, outlook, says, also, stage="pods")


DATA = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}
WIDE = {"nodeSelector": {"disk": "ssd"}}
POOL, PIN = {"nodeSelector": {"pool": "a"}}, {"nodeSelector": {HOST: "n1"}}
EPHEMERAL = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1", "ephemeral-storage": "200Gi"}}}]}
SMALL = tuple(node(f"n{i}", 4) for i in (1, 2, 3))
FULL = tuple(other(f"o{i}", f"n{i}", cpu=3) for i in (1, 2, 3))
SPREAD = {
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"job-name": "train"}},
        }
    ]
}
NEAR = {
    "affinity": {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": HOST}
            ]
        }
    }
}
JOBS = {"labelSelector": {"matchExpressions": [{"key": "job-name", "operator": "Exists"}]}}
QUOTA = thing(
    "v1",
    "ResourceQuota",
    "compute",
    "team-a",
    spec={"hard": {"requests.cpu": "4"}},
    status={"hard": {"requests.cpu": "4"}, "used": {"requests.cpu": "3"}},
)
SCOPED = thing(
    "v1",
    "ResourceQuota",
    "best-effort",
    "team-a",
    spec={"hard": {"pods": "1"}, "scopes": ["BestEffort"]},
    status={"hard": {"pods": "1"}, "used": {"pods": "1"}},
)
USED_UP = (
    'pods "x" is forbidden: exceeded quota: compute, requested: requests.cpu=2, used: requests.cpu=3, '
    "limited: requests.cpu=4"
)
IDLE = {"status": {"active": 0}}
TOO_BIG = pod(said=of(3, "3 Insufficient cpu."), cpu=8)
HOSTS = thing("kueue.x-k8s.io/v1beta2", "Topology", "hosts", spec={"levels": [{"nodeLabel": HOST}]})
TAS: Object = {"flavor": {"topologyName": "hosts"}, "place": "n1"}
CLAIMS = {"resourceClaims": [{"name": "g", "resourceClaimName": "gpu"}]}
DEVICE = thing(
    "resource.k8s.io/v1", "ResourceClaim", "gpu", "team-a", spec={"devices": {"requests": [{"name": "g"}]}}, status={}
)

CASES = {
    "too big": asked(
        LACKS,
        NEVER,
        *SMALL,
        TOO_BIG,
        says=("8 CPUs", "largest node has 4", "at most 4 CPUs per pod"),
        also=("quota-exceeds-nodes",),
    ),
    "in use": asked(
        LACKS,
        WAIT,
        *SMALL,
        *FULL,
        pod(said=of(3, "3 Insufficient cpu.")),
        says=("largest free is 1", "3 CPUs are free, but scattered"),
    ),
    "DaemonSets take their part": asked(
        LACKS,
        NEVER,
        *SMALL,
        *(other(f"d{i}", f"n{i}", DAEMON, cpu=3) for i in (1, 2, 3)),
        pod(said=of(3, "3 Insufficient cpu.")),
        says=("for its DaemonSets and static pods take their part", "at most 1 CPU per pod"),
    ),
    "static pods": asked(
        LACKS,
        NEVER,
        node("n1", 4),
        other("etcd-n1", "n1", STATIC, cpu=3),
        pod(said=of(1, "1 Insufficient cpu.")),
        says=("at most 1 CPU per pod",),
    ),
    "too many pods": asked(
        LACKS,
        WAIT,
        node("n1", room={"pods": "1"}),
        other("o", "n1"),
        pod(said=of(1, "1 Too many pods.")),
        says=("runs 1 of at most 1",),
    ),
    "two resources": asked(
        LACKS,
        NEVER,
        node("n1", 1),
        pod(said=of(1, "1 Insufficient cpu."), cpu=2, memory="100Gi"),
        says=("at most 1 CPU and 64Gi memory per pod",),
    ),
    "ephemeral storage": asked(LACKS, NEVER, *SMALL, pod(said=of(3, "x"), cpu=1, spec=EPHEMERAL), says=("200Gi",)),
    "init containers count": asked(
        LACKS,
        NEVER,
        node("n1", 4),
        pod(
            said=of(1, "1 Insufficient cpu."),
            spec={"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "6"}}}]},
        ),
        says=("6 CPUs",),
    ),
    "a neighbour that goes still counts": asked(
        LACKS,
        WAIT,
        node("n1", 4),
        merge(other("o", "n1", cpu=4), {"metadata": {"deletionTimestamp": "2026-01-01T12:00:20Z"}}),
        pod(said=of(1, "1 Insufficient cpu.")),
    ),
    "a neighbour that ended does not": asked(
        "scheduler-not-responding",
        FIX,
        node("n1", 4),
        merge(other("o", "n1", cpu=4), {"status": {"phase": "Succeeded"}}),
        pod(said=of(1, "1 Insufficient cpu.")),
        says=("would now fit on node n1",),
    ),
    "extended, in use": asked(
        LACKS,
        WAIT,
        node("g1", gpu=8),
        node("c1"),
        other("o", "g1", cpu=1, nvidia_com__gpu=8),
        pod(said=of(2, "2 Insufficient nvidia.com/gpu."), cpu=1, nvidia_com__gpu=2),
        says=(f"2 {GPU}", "largest node has 8"),
    ),
    "extended, nowhere": asked(
        "resource-not-advertised",
        FIX,
        *SMALL,
        pod(said=of(3, "x"), cpu=1, example_com__fpga=1),
        says=("example.com/fpga",),
    ),
    "extended, behind a taint": asked(
        "node-taint-not-tolerated",
        FIX,
        node("c1"),
        node("g1", gpu=8, taints=taint(GPU, "present")),
        pod(said=of(2, "x"), cpu=1, nvidia_com__gpu=1),
        says=("nvidia.com/gpu=present:NoSchedule",),
        also=(LACKS,),
    ),
    "a full pool and a free one": asked(
        LACKS,
        WAIT,
        node("a1", 4, pool="a"),
        other("o", "a1", cpu=4),
        node("b1", pool="b"),
        pod(said=of(2, f"1 Insufficient cpu, 1 {LABELS}"), spec=POOL),
        flavor={"nodeLabels": {"pool": "a"}},
        says=("1 carries the labels",),
    ),
    "N02": asked(
        "node-labels-not-matched",
        FIX,
        *SMALL,
        pod(said=of(3, f"3 {LABELS}"), spec=POOL),
        flavor={"nodeLabels": {"pool": "a"}},
        says=("injected from ResourceFlavor std",),
    ),
    "own labels": asked(
        "node-labels-not-matched",
        FIX,
        *SMALL,
        pod(said=of(3, f"3 {LABELS}"), spec=WIDE),
        template=WIDE,
        says=("disk=ssd",),
    ),
    "labels before taints": asked(
        "node-labels-not-matched",
        FIX,
        node("n1", taints=taint("a")),
        pod(said=of(1, "x"), spec=WIDE),
        template=WIDE,
        also=("node-taint-not-tolerated",),
    ),
    "cordoned": asked(
        "nodes-cordoned",
        FIX,
        node("n1", cordoned=True),
        node("n2", cordoned=True),
        pod(said=of(2, "2 node(s) were unschedulable.")),
        says=("Nodes n1, n2 are cordoned",),
    ),
    "each node by another filter": asked(
        "nodes-cordoned",
        FIX,
        node("n1", cordoned=True),
        node("n2", taints=taint("a")),
        node("n3", 1),
        pod(said=of(3, "x")),
        says=("n1",),
        also=("node-taint-not-tolerated", LACKS),
    ),
    "one filter alone in the way": asked(
        LACKS,
        NEVER,
        node("n1", 1, cordoned=True),
        node("n2", 1, taints=taint("a")),
        node("n3", 1),
        pod(said=of(3, "x")),
    ),
    "being removed by Karpenter": asked(
        "node-taint-not-tolerated",
        FIX,
        node("n1", taints=taint("karpenter.sh/disrupted")),
        pod(said=of(1, "x")),
        says=("being removed by Karpenter",),
    ),
    "being removed by the autoscaler": asked(
        "node-taint-not-tolerated",
        FIX,
        node("n1", taints=taint("ToBeDeletedByClusterAutoscaler", "1")),
        pod(said=of(1, "x")),
        says=("being removed by the cluster autoscaler",),
    ),
    "not ready": asked(
        "node-taint-not-tolerated",
        FIX,
        node("n1", ready="False"),
        node("n2", ready="Unknown"),
        pod(said=of(2, "x")),
        says=("not ready or unreachable",),
    ),
    "preferred taints do not count": asked(
        LACKS, NEVER, node("n1", 1, taints=taint("a", effect="PreferNoSchedule")), pod(said=of(1, "x"))
    ),
    "host port": asked(
        "host-port-taken",
        FIX,
        node("n1"),
        other("o", "n1", spec=port(8080)),
        pod(said=of(1, "x"), spec=port(8080)),
        says=("8080", "team-b/o"),
    ),
    "own anti-affinity": asked(
        ANTI,
        FIX,
        node("n1"),
        pod(on="n1", phase="Running", spec=apart(labelSelector={"matchLabels": {"job-name": "train"}})),
        pod("train-1", of(1, "x"), spec=apart(labelSelector={"matchLabels": {"job-name": "train"}})),
        count=2,
        says=("its own anti-affinity",),
    ),
    "anti-affinity to another namespace": asked(
        ANTI,
        FIX,
        node("n1"),
        other("lone", "n1", labels={"app": "x"}),
        pod(said=of(1, "x"), spec=apart(labelSelector={"matchLabels": {"app": "x"}}, namespaces=["team-b"])),
        says=("team-b/lone",),
    ),
    "a neighbour's anti-affinity": asked(
        ANTI,
        FIX,
        node("n1"),
        other("lone", "n1", spec=apart(namespaceSelector={}, **JOBS)),
        pod(said=of(1, "x")),
        says=("the anti-affinity of a pod that runs there", "team-b/lone"),
    ),
    "a neighbour's anti-affinity for its own namespace": asked(
        "scheduler-not-responding", FIX, node("n1"), other("lone", "n1", spec=apart(**JOBS)), pod()
    ),
    "affinity": asked(
        ANTI, FIX, node("n1"), node("n2"), pod(said=of(2, "x"), spec=NEAR), says=("no pod that it wants beside it",)
    ),
    "spread": asked(
        "topology-spread-unsatisfied",
        FIX,
        node("n1", zone="a"),
        node("n2", 1, zone="b"),
        pod(on="n1", phase="Running", spec=SPREAD),
        pod("train-1", of(2, "x"), spec=SPREAD),
        count=2,
        says=("maxSkew 1",),
        also=(LACKS,),
    ),
    "no nodes": asked("no-nodes", FIX, pod(said="no nodes available to schedule pods")),
    "no claim": asked(
        "volume-claim-missing",
        FIX,
        *SMALL,
        pod(said=of(3, 'persistentvolumeclaim "data" not found.'), spec=DATA),
        says=("team-a/data",),
    ),
    "no volume": asked(
        "volume-not-bound",
        FIX,
        *SMALL,
        claim(),
        storage(),
        pod(said="pod has unbound immediate PersistentVolumeClaims", spec=DATA),
    ),
    "waits for the first pod": asked(
        LACKS, NEVER, node("n1", 1), claim(), storage("WaitForFirstConsumer"), pod(said=of(1, "x"), spec=DATA)
    ),
    "another zone": asked(
        "volume-zone-conflict",
        FIX,
        node("n1", topology_kubernetes_io__zone="a"),
        claim("Bound", "pv1"),
        storage(),
        volume("c"),
        pod(said=of(1, "1 node(s) had volume node affinity conflict."), spec=DATA),
        says=("In c",),
    ),
    "a full zone and a free one": asked(
        "volume-zone-conflict",
        FIX,
        node("n1", 1, topology_kubernetes_io__zone="a"),
        node("n2", topology_kubernetes_io__zone="b"),
        claim("Bound", "pv1"),
        storage(),
        volume("a"),
        pod(said=of(2, "x"), spec=DATA),
        also=(LACKS,),
    ),
    "a full zone and a full one": asked(
        LACKS,
        NEVER,
        node("n1", 1, topology_kubernetes_io__zone="a"),
        node("n2", 1, topology_kubernetes_io__zone="b"),
        claim("Bound", "pv1"),
        storage(),
        volume("a"),
        pod(said=of(2, "x"), spec=DATA),
    ),
    "N04": asked("scheduling-gated", FIX, *SMALL, gated("example.com/wait"), says=("example.com/wait",)),
    "N05 G23": asked(
        "kueue-gate-remains",
        FIX,
        node("n1"),
        HOSTS,
        gated("kueue.x-k8s.io/topology"),
        says=("kueue.x-k8s.io/topology",),
        **TAS,
    ),
    "another scheduler": asked(
        "scheduler-not-responding", FIX, *SMALL, pod(spec={"schedulerName": "volcano"}), says=("volcano",)
    ),
    "autoscaler at its limit": asked(
        LACKS,
        NEVER,
        *SMALL,
        TOO_BIG,
        event(
            TOO_BIG,
            "NotTriggerScaleUp",
            "pod didn't trigger scale-up: 2 max node group size reached",
            "cluster-autoscaler",
        ),
        also=("autoscaler-cannot-help",),
    ),
    "autoscaler adds a node": asked(
        LACKS,
        WAIT,
        *SMALL,
        TOO_BIG,
        event(
            TOO_BIG,
            "TriggeredScaleUp",
            "pod triggered scale-up: [{group 1->2 (max: 5)}]",
            "cluster-autoscaler",
            "Normal",
        ),
        says=("began to add nodes for it 2 minutes ago", "Wait for the new node"),
    ),
    "Karpenter finds no type": asked(
        LACKS,
        NEVER,
        *SMALL,
        TOO_BIG,
        event(
            TOO_BIG,
            "FailedScheduling",
            'incompatible with nodepool "default", no instance type satisfied resources',
            "karpenter",
        ),
        also=("autoscaler-cannot-help",),
    ),
    "two kinds of pods": asked(
        "node-labels-not-matched", FIX, *SMALL, TOO_BIG, pod("train-1", of(3, "x"), spec=WIDE), count=2, also=(LACKS,)
    ),
    "a gate and a full node": asked(
        "scheduling-gated",
        FIX,
        node("n1", 1),
        gated("x.example.com/y"),
        pod("train-1", of(1, "x")),
        count=2,
        also=(LACKS,),
    ),
    "nodes unread": asked(
        LACKS,
        FIX,
        pod(said=of(3, "3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found.")),
        read=UNREAD,
        says=("The scheduler says of 3 nodes",),
    ),
    "N10 quota": asked(
        "pod-creation-forbidden-quota",
        FIX,
        *SMALL,
        QUOTA,
        SCOPED,
        refused(USED_UP),
        job=IDLE,
        says=("3 of 4 used", "team-a/compute"),
    ),
    "N10 quota freed since": asked(
        "pods-not-created",
        FIX,
        *SMALL,
        merge(QUOTA, {"status": {"used": {"requests.cpu": "0"}}}),
        refused(USED_UP),
        job=IDLE,
    ),
    "N10 pod security": asked(
        "pod-creation-forbidden-policy",
        FIX,
        *SMALL,
        refused('pods "x" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false'),
        job=IDLE,
        says=("restricted:latest",),
    ),
    "N10 webhook": asked(
        "pod-creation-forbidden-policy",
        FIX,
        *SMALL,
        refused('admission webhook "validate.example.com" denied the request: labels are missing'),
        job=IDLE,
        says=("validate.example.com",),
    ),
    "N10 service account": asked(
        "service-account-missing",
        FIX,
        *SMALL,
        refused(
            'pods "x" is forbidden: error looking up service account team-a/robot: serviceaccount "robot" not found'
        ),
        job=IDLE,
        says=("team-a/robot",),
    ),
    "N10": asked("pods-not-created", FIX, *SMALL, job=IDLE, says=("0 of 1 pods",)),
    "N06": asked("job-still-suspended", FIX, *SMALL, job={"spec": {"suspend": True}, **IDLE}),
    "N07": asked(
        "managed-by-other-controller",
        FIX,
        *SMALL,
        job={"spec": {"managedBy": "example.com/other"}, **IDLE},
        says=("example.com/other",),
    ),
    "the node refuses it": asked(
        "pod-rejected-by-node",
        FIX,
        node("n1"),
        pod(
            on="n1",
            phase="Failed",
            status={"reason": "OutOfcpu", "message": "Pod was rejected: Node didn't have enough resource: cpu"},
        ),
        job=IDLE,
        says=("OutOfcpu",),
    ),
    "G17": asked(
        "topology-assignment-unusable",
        FIX,
        node("n2"),
        HOSTS,
        pod(said=of(1, "x"), spec=PIN),
        says=("no node any more", "n2 would take it"),
        also=("node-labels-not-matched",),
        **TAS,
    ),
    "G19": asked(
        "topology-assignment-unusable",
        FIX,
        node("n1", ready="Unknown"),
        node("n2"),
        HOSTS,
        pod(said=of(2, "x"), spec=PIN),
        says=("n1 is not ready", "Bring node n1 back"),
        **TAS,
    ),
    "G24": asked(
        "topology-assignment-unusable",
        FIX,
        node("n1", taints=taint("x")),
        node("n2"),
        HOSTS,
        pod(said=of(2, "x"), spec=PIN),
        says=("taint x:NoSchedule",),
        **TAS,
    ),
    "K13 no claim": asked(
        "device-claim-unallocated",
        FIX,
        node("n1"),
        pod(said=of(1, 'waiting for resource claim: resourceclaim "gpu" not found.'), spec=CLAIMS),
        template=CLAIMS,
        says=("team-a/gpu",),
    ),
    "K13": asked(
        "device-claim-unallocated",
        FIX,
        node("n1"),
        DEVICE,
        pod(said=of(1, "1 cannot allocate all claims."), spec=CLAIMS),
        template=CLAIMS,
    ),
    "part of them started": asked(
        LACKS,
        NEVER,
        node("n1"),
        pod(on="n1", status={"containerStatuses": [container(waiting={"reason": "ImagePullBackOff", "message": "x"})]}),
        pod("train-1", of(1, "x"), cpu=50),
        count=2,
        also=("image-not-pulled",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    CASES[case].check()


@pytest.mark.parametrize(
    "text",
    [
        "3 node(s) exceed max volume count",
        "3 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    ],
)
def test_words_that_no_rule_knows_are_quoted(text: str) -> None:
    cluster = admitted(
        *SMALL, pod(said=of(3, f"{text}. preemption: 0/3 nodes are available: 3 Preemption is not helpful."))
    )
    answer = Asked(
        cluster, "no-explanation-visible", "unknown", (text, "the scheduler says of pod team-a/train-0")
    ).check()
    assert "preemption:" not in answer.headline.sentence


def test_pods_are_counted() -> None:
    running = {"containerStatuses": [container(running=True, ready=True)]}
    some = [pod(f"train-{i}", on=f"n{i + 1}", phase="Running", status=running, cpu=3) for i in range(3)]
    cluster = admitted(*SMALL, *some, pod("train-3", of(3, "3 Insufficient cpu."), cpu=3), count=4)
    answer = Asked(cluster, LACKS, WAIT, ("3 of 4 pods run",), stage="pods").check()
    assert answer.pods is not None
    assert (answer.pods.wanted, answer.pods.created, answer.pods.scheduled, answer.pods.running) == (4, 4, 3, 3)
