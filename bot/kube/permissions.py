"""Everything that the reader may touch, as data: the ClusterRole and the Role are generated from it, and tests compare.

`get` and `list` only. No Secrets, no logs, no `watch`, and of ConfigMaps the one that holds Kueue's configuration.
"""

from dataclasses import dataclass
from typing import Literal

from bot.core import kinds


@dataclass(frozen=True, slots=True)
class Permission:
    """One resource with the verbs that are used on it and the reason for which it is read.

    `place`: "cluster" is granted by the ClusterRole; "kueue" by a Role in Kueue's own namespace. `names` restricts to
    objects of these names, which `list` cannot be. `optional`: without it only a few answers are missing.
    """

    group: str
    resource: str
    verbs: tuple[Literal["get", "list"], ...]
    why: str
    place: Literal["cluster", "kueue"] = "cluster"
    names: tuple[str, ...] = ()
    optional: bool = False


CONFIGURATION = "kueue-manager-config"
"""The name of the ConfigMap that holds Kueue's configuration, as Kueue's own manifests and chart call it."""

_BOTH: tuple[Literal["get", "list"], ...] = ("get", "list")
_KUEUE = "kueue.x-k8s.io"


def _of(kind: str, why: str, *, optional: bool = False) -> Permission:
    known = kinds.BY_NAME[kind]
    return Permission(known.group, known.plural, _BOTH, why, optional=optional)


PERMISSIONS: tuple[Permission, ...] = (
    # jobs
    *(_of(kind.kind, f"the {kind.kind} that is asked about, its owners and its children") for kind in kinds.JOB_KINDS),
    _of("Pod", "whether the pods of an admitted job are created, scheduled and started; what the nodes already run"),
    _of("Event", "what Kueue, the scheduler and the kubelets said last"),
    _of("Namespace", "whether the namespace exists, and its labels against namespaceSelector"),
    # Kueue
    _of("Workload", "the Workload's conditions, who holds quota and who waits before it"),
    _of("LocalQueue", "the queue that the job names, and the ClusterQueue behind it"),
    _of("ClusterQueue", "quota, limits, policies and whether it is active"),
    _of("Cohort", "what can be borrowed"),
    _of("ResourceFlavor", "node labels, taints and topology of a flavor"),
    _of("Topology", "the levels of a topology"),
    _of("AdmissionCheck", "which checks a Workload waits for, and whether they work"),
    _of("ProvisioningRequestConfig", "parameters of provisioning checks", optional=True),
    _of("MultiKueueConfig", "parameters of MultiKueue checks", optional=True),
    _of("MultiKueueCluster", "whether worker clusters are connected", optional=True),
    _of("WorkloadPriorityClass", "whether the named priority exists"),
    Permission("visibility.kueue.x-k8s.io", "clusterqueues/pendingworkloads", ("get",),
               "the order in the ClusterQueue", optional=True),
    Permission("visibility.kueue.x-k8s.io", "localqueues/pendingworkloads", ("get",),
               "the place in the queue", optional=True),
    # what keeps pods from running
    _of("Node", "which nodes could take a pod, and what keeps the others out"),
    _of("PriorityClass", "whether the named priority exists"),
    _of("RuntimeClass", "what a runtime adds to the requests", optional=True),
    _of("PersistentVolumeClaim", "whether volumes are bound"),
    _of("PersistentVolume", "in which zone a volume is", optional=True),
    _of("StorageClass", "when volumes bind", optional=True),
    _of("ResourceQuota", "whether a quota forbids pods"),
    _of("LimitRange", "defaults and limits of requests"),
    _of("ServiceAccount", "whether the pods' ServiceAccount exists", optional=True),
    _of("ResourceClaim", "whether devices are allocated", optional=True),
    _of("ResourceClaimTemplate", "which devices are asked for", optional=True),
    _of("DeviceClass", "which devices a class means", optional=True),
    _of("DaemonSet", "whether device plugins run", optional=True),
    _of("ProvisioningRequest", "what the autoscaler said", optional=True),
    _of("NodePool", "what Karpenter may create", optional=True),
    _of("NodeClaim", "what Karpenter is creating", optional=True),
    # how Kueue is installed
    Permission("apiextensions.k8s.io", "customresourcedefinitions", ("get",), "whether Kueue's kinds are established",
               optional=True,
               names=tuple(f"{kinds.BY_NAME[kind].plural}.{_KUEUE}" for kind in ("Workload", "ClusterQueue"))),
    _of("MutatingWebhookConfiguration", "which namespaces Kueue's webhooks leave out", optional=True),
    _of("ValidatingWebhookConfiguration", "which namespaces Kueue's webhooks leave out", optional=True),
    # Kueue's own namespace
    Permission("apps", "deployments", _BOTH, "whether Kueue runs, and its version", "kueue", optional=True),
    Permission("", "pods", _BOTH, "whether Kueue's pods are ready", "kueue", optional=True),
    Permission("coordination.k8s.io", "leases", _BOTH, "whether Kueue's leader is alive", "kueue", optional=True),
    Permission("", "endpoints", _BOTH, "the same on a server without EndpointSlices", "kueue", optional=True),
    Permission("discovery.k8s.io", "endpointslices", _BOTH, "whether Kueue's webhook has an address", "kueue", optional=True),
    Permission("", "configmaps", ("get",), "Kueue's configuration", "kueue", (CONFIGURATION,), optional=True),
)  # fmt: skip

KINDS_READ: frozenset[str] = frozenset(
    known.kind
    for permission in PERMISSIONS
    for known in kinds.KINDS
    if (known.group, known.plural) == (permission.group, permission.resource)
)
"""Every kind that a granted identity can read: what rules declare in `needs` must be among them."""
