"""Pods, and the Nodes that they run on."""

from typing import Any

import msgspec

from bot.core.objects.meta import (
    Condition,
    KubeObject,
    LabelSelector,
    LabelSelectorRequirement,
    Meta,
    Quantities,
    Struct,
    Time,
)


class Taint(Struct, frozen=True):
    """A taint of a Node or ResourceFlavor."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time = None


class Toleration(Struct, frozen=True):
    """A toleration; an empty key with operator Exists tolerates everything."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class NodeSelectorTerm(Struct, frozen=True):
    """One term of a node affinity; terms are ORed, what is inside is ANDed."""

    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
    match_fields: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelector(Struct, frozen=True):
    """A list of ORed terms."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class NodeAffinity(Struct, frozen=True):
    """Only the required part keeps a pod from running."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class PodAffinityTerm(Struct, frozen=True):
    """One required pod (anti-)affinity term."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    topology_key: str = ""
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class PodAffinity(Struct, frozen=True):
    """Only the required part keeps a pod from running."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()


class Affinity(Struct, frozen=True):
    """spec.affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(Struct, frozen=True):
    """spec.topologySpreadConstraints[]."""

    max_skew: int = 0
    min_domains: int | None = None
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    node_affinity_policy: str = ""
    node_taints_policy: str = ""


class ResourceClaimUse(Struct, frozen=True):
    """spec.containers[].resources.claims[]."""

    name: str = ""


class ResourceRequirements(Struct, frozen=True):
    """spec.containers[].resources."""

    requests: Quantities = {}
    limits: Quantities = {}
    claims: tuple[ResourceClaimUse, ...] = ()


class ContainerPort(Struct, frozen=True):
    """spec.containers[].ports[]."""

    host_port: int = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    container_port: int = 0
    protocol: str = ""


class Container(Struct, frozen=True):
    """A container without command, arguments and environment: those are never read."""

    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


class ClaimSource(Struct, frozen=True):
    """A volume's persistentVolumeClaim."""

    claim_name: str = ""


class EphemeralVolume(Struct, frozen=True):
    """A volume's ephemeral claim; its claim is named POD-VOLUME."""

    volume_claim_template: dict[str, Any] = {}


class NamedSource(Struct, frozen=True):
    """A volume's configMap or secret: the name alone."""

    name: str = ""
    secret_name: str = ""
    optional: bool | None = None


class Volume(Struct, frozen=True):
    """spec.volumes[]."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralVolume | None = None
    config_map: NamedSource | None = None
    secret: NamedSource | None = None


class SchedulingGate(Struct, frozen=True):
    """spec.schedulingGates[]."""

    name: str = ""


class PodResourceClaim(Struct, frozen=True):
    """spec.resourceClaims[]."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodSpec(Struct, frozen=True):
    """A pod's spec, alone or in a template."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_selector: dict[str, str] = {}
    node_name: str = ""
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    priority: int | None = None
    priority_class_name: str = ""
    scheduler_name: str = ""
    service_account_name: str = ""
    runtime_class_name: str = ""
    overhead: Quantities = {}
    resources: ResourceRequirements | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    host_network: bool | None = None
    termination_grace_period_seconds: int | None = None


class PodTemplate(Struct, frozen=True):
    """A pod template: metadata and spec."""

    metadata: Meta = Meta()
    spec: PodSpec = PodSpec()


class ContainerStateDetail(Struct, frozen=True):
    """waiting, running or terminated."""

    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    signal: int | None = None
    started_at: Time = None
    finished_at: Time = None


class ContainerState(Struct, frozen=True):
    """status.containerStatuses[].state."""

    waiting: ContainerStateDetail | None = None
    running: ContainerStateDetail | None = None
    terminated: ContainerStateDetail | None = None


class ContainerStatus(Struct, frozen=True):
    """status.containerStatuses[]."""

    name: str = ""
    ready: bool = False
    started: bool | None = None
    restart_count: int = 0
    image: str = ""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()


class PodClaimStatus(Struct, frozen=True):
    """status.resourceClaimStatuses[]."""

    name: str = ""
    resource_claim_name: str = ""


class PodStatus(Struct, frozen=True):
    """A pod's status."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    nominated_node_name: str = ""
    start_time: Time = None
    resource_claim_statuses: tuple[PodClaimStatus, ...] = ()


class Pod(KubeObject, frozen=True):
    """v1 Pod."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class NodeSpec(Struct, frozen=True):
    """Node spec."""

    unschedulable: bool | None = None
    taints: tuple[Taint, ...] = ()
    provider_id: str = msgspec.field(name="providerID", default="")


class NodeStatus(Struct, frozen=True):
    """Node status."""

    allocatable: Quantities = {}
    capacity: Quantities = {}
    conditions: tuple[Condition, ...] = ()


class Node(KubeObject, frozen=True):
    """v1 Node."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
