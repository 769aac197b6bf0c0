"""What the cluster says: typed structs with only the fields that are read.

Every field has a default, so a partial object decodes. Field names follow the API in camelCase. Both v1beta1 and
v1beta2 shapes of Kueue's kinds are declared side by side (kueue.x-k8s.io API reference; differences in field names
only); properties give one answer for both. Nothing here is computed.
"""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from bot.core.quantity import Quantity

Time = Annotated[datetime, msgspec.Meta(tz=True)] | None
"""An RFC 3339 time with a zone, or None."""

IntOrString = int | str
Quantities = dict[str, Quantity]


class Struct(msgspec.Struct, frozen=True, gc=False, rename="camel", dict=False):
    """The base of everything decoded from the cluster: immutable, camelCase on the wire, no cycle collection."""


class OwnerReference(Struct, frozen=True):
    """metadata.ownerReferences[]."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class Meta(Struct, frozen=True):
    """metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    creation_timestamp: Time = None
    deletion_timestamp: Time = None
    finalizers: tuple[str, ...] = ()
    generation: int = 0
    generate_name: str = ""


class Condition(Struct, frozen=True):
    """A condition of any kind: status is "True", "False" or "Unknown"."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Time = None
    observed_generation: int = 0


class KubeObject(Struct, frozen=True):
    """What every object has."""

    api_version: str = ""
    kind: str = ""
    metadata: Meta = Meta()

    @property
    def name(self) -> str:
        """metadata.name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """metadata.namespace, "" for a cluster-scoped object."""
        return self.metadata.namespace


class LabelSelectorRequirement(Struct, frozen=True):
    """matchExpressions[]; the same shape serves node selector terms."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Struct, frozen=True):
    """A label selector; both fields empty select everything."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


# --- pods -----------------------------------------------------------------------------------------------------------


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


# --- jobs -----------------------------------------------------------------------------------------------------------


class Job(KubeObject, frozen=True):
    """Any job kind (see `kinds.JOB_KINDS`) or object of an external framework; spec and status as the API has them."""

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


# --- Kueue ----------------------------------------------------------------------------------------------------------


class TopologyRequest(Struct, frozen=True):
    """Workload spec.podSets[].topologyRequest."""

    required: str = ""
    preferred: str = ""
    unconstrained: bool | None = None
    pod_index_label: str | None = None
    sub_group_index_label: str | None = None
    sub_group_count: int | None = None
    podset_group_name: str = msgspec.field(name="podSetGroupName", default="")
    podset_slice_required_topology: str = msgspec.field(name="podSetSliceRequiredTopology", default="")
    podset_slice_size: int | None = msgspec.field(name="podSetSliceSize", default=None)
    podset_slice_required_topology_constraints: tuple[dict[str, Any], ...] = ()


class PodSet(Struct, frozen=True):
    """Workload spec.podSets[]."""

    name: str = "main"
    count: int = 1
    min_count: int | None = None
    template: PodTemplate = PodTemplate()
    topology_request: TopologyRequest | None = None


class ClassReference(Struct, frozen=True):
    """Workload spec.priorityClassRef (v1beta2)."""

    group: str = ""
    kind: str = ""
    name: str = ""


class NamedGate(Struct, frozen=True):
    """A preemption gate by name, with its position in status ("Open", "Closed")."""

    name: str = ""
    position: str = ""


class WorkloadSpec(Struct, frozen=True):
    """Workload spec."""

    queue_name: str = ""
    pod_sets: tuple[PodSet, ...] = ()
    active: bool | None = None
    priority: int | None = None
    priority_class_name: str = ""
    priority_class_source: str = ""
    priority_class_ref: ClassReference | None = None
    maximum_execution_time_seconds: int | None = None
    preemption_gates: tuple[NamedGate, ...] = ()


class TopologyDomain(Struct, frozen=True):
    """v1beta1 topologyAssignment.domains[]: label values from the top level to the lowest, and how many pods go there."""

    values: tuple[str, ...] = ()
    count: int = 0


class TopologyAssignment(Struct, frozen=True):
    """Where Kueue put the pods: `domains` in v1beta1, compressed `slices` in v1beta2 (see `facts.topology`)."""

    levels: tuple[str, ...] = ()
    domains: tuple[TopologyDomain, ...] = ()
    slices: tuple[dict[str, Any], ...] = ()


class PodSetAssignment(Struct, frozen=True):
    """Workload status.admission.podSetAssignments[]."""

    name: str = "main"
    flavors: dict[str, str] = {}
    resource_usage: Quantities = {}
    count: int | None = None
    topology_assignment: TopologyAssignment | None = None
    delayed_topology_request: str = ""


class Admission(Struct, frozen=True):
    """Workload status.admission: the quota reservation."""

    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()


class RequeueState(Struct, frozen=True):
    """Workload status.requeueState."""

    count: int | None = None
    requeue_at: Time = None


class AdmissionCheckState(Struct, frozen=True):
    """Workload status.admissionChecks[]; state is Pending, Ready, Retry or Rejected."""

    name: str = ""
    state: str = ""
    message: str = ""
    last_transition_time: Time = None
    requeue_after_seconds: int | None = None
    retry_count: int | None = None


class ReclaimablePod(Struct, frozen=True):
    """Workload status.reclaimablePods[]: pods that are done and no longer count."""

    name: str = ""
    count: int = 0


class PodSetRequest(Struct, frozen=True):
    """Workload status.resourceRequests[]: totals of a pod set as the scheduler counts them."""

    name: str = ""
    resources: Quantities = {}


class EvictionStat(Struct, frozen=True):
    """Workload status.schedulingStats.evictions[]."""

    reason: str = ""
    underlying_cause: str = ""
    count: int = 0


class SchedulingStats(Struct, frozen=True):
    """Workload status.schedulingStats."""

    evictions: tuple[EvictionStat, ...] = ()


class UnhealthyNode(Struct, frozen=True):
    """Workload status.unhealthyNodes[]."""

    name: str = ""


class WorkloadStatus(Struct, frozen=True):
    """Workload status."""

    conditions: tuple[Condition, ...] = ()
    admission: Admission | None = None
    requeue_state: RequeueState | None = None
    admission_checks: tuple[AdmissionCheckState, ...] = ()
    reclaimable_pods: tuple[ReclaimablePod, ...] = ()
    resource_requests: tuple[PodSetRequest, ...] = ()
    scheduling_stats: SchedulingStats | None = None
    unhealthy_nodes: tuple[UnhealthyNode, ...] = ()
    nominated_cluster_names: tuple[str, ...] = ()
    cluster_name: str | None = None
    preemption_gates: tuple[NamedGate, ...] = ()
    accumulated_past_execution_time_seconds: int | None = None
    accumulated_past_exexcution_time_seconds: int | None = None


class Workload(KubeObject, frozen=True):
    """kueue.x-k8s.io Workload."""

    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class ResourceUsage(Struct, frozen=True):
    """status.flavorsReservation[].resources[]."""

    name: str = ""
    total: Quantity = "0"
    borrowed: Quantity = "0"


class FlavorUsage(Struct, frozen=True):
    """status.flavorsReservation[] or flavorsUsage[]."""

    name: str = ""
    resources: tuple[ResourceUsage, ...] = ()


class LocalQueueSpec(Struct, frozen=True):
    """LocalQueue spec."""

    cluster_queue: str = ""
    stop_policy: str = ""
    fair_sharing: dict[str, Any] = {}


class QueueStatus(Struct, frozen=True):
    """Status of a LocalQueue or ClusterQueue."""

    conditions: tuple[Condition, ...] = ()
    pending_workloads: int = 0
    reserving_workloads: int = 0
    admitted_workloads: int = 0
    flavors_reservation: tuple[FlavorUsage, ...] = ()
    flavors_usage: tuple[FlavorUsage, ...] = ()
    fair_sharing: dict[str, Any] = {}
    effective_quota: dict[str, Any] = {}
    effective_quotas: tuple[dict[str, Any], ...] | dict[str, Any] = ()


class LocalQueue(KubeObject, frozen=True):
    """kueue.x-k8s.io LocalQueue."""

    spec: LocalQueueSpec = LocalQueueSpec()
    status: QueueStatus = QueueStatus()


class ResourceQuotaLimit(Struct, frozen=True):
    """spec.resourceGroups[].flavors[].resources[]: nominal quota with its limits; None means no limit."""

    name: str = ""
    nominal_quota: Quantity = "0"
    borrowing_limit: Quantity | None = None
    lending_limit: Quantity | None = None


class FlavorQuotas(Struct, frozen=True):
    """spec.resourceGroups[].flavors[]."""

    name: str = ""
    resources: tuple[ResourceQuotaLimit, ...] = ()


class ResourceGroup(Struct, frozen=True):
    """spec.resourceGroups[]: one flavor is chosen for all its covered resources."""

    covered_resources: tuple[str, ...] = ()
    flavors: tuple[FlavorQuotas, ...] = ()


class Preemption(Struct, frozen=True):
    """ClusterQueue spec.preemption."""

    within_cluster_queue: str = "Never"
    reclaim_within_cohort: str = "Never"
    borrow_within_cohort: dict[str, Any] = {}


class CheckRule(Struct, frozen=True):
    """ClusterQueue spec.admissionChecksStrategy.admissionChecks[]; no flavors means all flavors."""

    name: str = ""
    on_flavors: tuple[str, ...] = ()


class CheckStrategy(Struct, frozen=True):
    """ClusterQueue spec.admissionChecksStrategy."""

    admission_checks: tuple[CheckRule, ...] = ()


class AdmissionScope(Struct, frozen=True):
    """ClusterQueue spec.admissionScope."""

    admission_mode: str = ""


class ClusterQueueSpec(Struct, frozen=True):
    """ClusterQueue spec; `cohort` is v1beta1, `cohortName` v1beta2."""

    cohort: str = ""
    cohort_name: str = ""
    resource_groups: tuple[ResourceGroup, ...] = ()
    namespace_selector: LabelSelector | None = None
    stop_policy: str = ""
    queueing_strategy: str = ""
    preemption: Preemption | None = None
    flavor_fungibility: dict[str, Any] = {}
    admission_checks: tuple[str, ...] = ()
    admission_checks_strategy: CheckStrategy | None = None
    fair_sharing: dict[str, Any] = {}
    admission_scope: AdmissionScope | None = None


class ClusterQueue(KubeObject, frozen=True):
    """kueue.x-k8s.io ClusterQueue."""

    spec: ClusterQueueSpec = ClusterQueueSpec()
    status: QueueStatus = QueueStatus()

    @property
    def cohort(self) -> str:
        """The cohort's name in either API version, "" for none."""
        return self.spec.cohort_name or self.spec.cohort

    @property
    def check_rules(self) -> tuple[CheckRule, ...]:
        """The admission checks in either form."""
        strategy = self.spec.admission_checks_strategy
        return tuple(CheckRule(name=name) for name in self.spec.admission_checks) + (
            strategy.admission_checks if strategy else ()
        )

    @property
    def strict(self) -> bool:
        """Whether spec.queueingStrategy is StrictFIFO."""
        return self.spec.queueing_strategy == "StrictFIFO"


class CohortSpec(Struct, frozen=True):
    """Cohort spec; `parent` is v1alpha1, `parentName` later."""

    parent: str = ""
    parent_name: str = ""
    resource_groups: tuple[ResourceGroup, ...] = ()
    fair_sharing: dict[str, Any] = {}


class CohortStatus(Struct, frozen=True):
    """Cohort status."""

    fair_sharing: dict[str, Any] = {}
    effective_quota: dict[str, Any] = {}
    effective_quotas: tuple[dict[str, Any], ...] | dict[str, Any] = ()
    conditions: tuple[Condition, ...] = ()


class Cohort(KubeObject, frozen=True):
    """kueue.x-k8s.io Cohort."""

    spec: CohortSpec = CohortSpec()
    status: CohortStatus = CohortStatus()

    @property
    def parent(self) -> str:
        """The parent cohort's name in any API version, "" for a root."""
        return self.spec.parent_name or self.spec.parent


class ResourceFlavorSpec(Struct, frozen=True):
    """ResourceFlavor spec."""

    node_labels: dict[str, str] = {}
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology_name: str | None = None


class ResourceFlavor(KubeObject, frozen=True):
    """kueue.x-k8s.io ResourceFlavor."""

    spec: ResourceFlavorSpec = ResourceFlavorSpec()


class TopologyLevel(Struct, frozen=True):
    """Topology spec.levels[], from the top of the hierarchy down."""

    node_label: str = ""


class TopologySpec(Struct, frozen=True):
    """Topology spec."""

    levels: tuple[TopologyLevel, ...] = ()


class Topology(KubeObject, frozen=True):
    """kueue.x-k8s.io Topology."""

    spec: TopologySpec = TopologySpec()


class ParametersReference(Struct, frozen=True):
    """AdmissionCheck spec.parameters."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class AdmissionCheckSpec(Struct, frozen=True):
    """AdmissionCheck spec."""

    controller_name: str = ""
    parameters: ParametersReference | None = None


class ConditionsStatus(Struct, frozen=True):
    """A status of which only the conditions are read."""

    conditions: tuple[Condition, ...] = ()


class AdmissionCheck(KubeObject, frozen=True):
    """kueue.x-k8s.io AdmissionCheck."""

    spec: AdmissionCheckSpec = AdmissionCheckSpec()
    status: ConditionsStatus = ConditionsStatus()


class Loose(KubeObject, frozen=True):
    """A kind of which a few fields are read seldom: spec, status and data as the API has them."""

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class ConditionedLoose(KubeObject, frozen=True):
    """A kind with a loosely read spec and typed conditions (MultiKueueCluster, ProvisioningRequest, NodeClaim …)."""

    spec: dict[str, Any] = {}
    status: ConditionsStatus = ConditionsStatus()


class ValuedClass(KubeObject, frozen=True):
    """WorkloadPriorityClass and PriorityClass."""

    value: int = 0
    global_default: bool | None = None
    preemption_policy: str = ""


# --- around -----------------------------------------------------------------------------------------------------------


class NamespaceStatus(Struct, frozen=True):
    """Namespace status."""

    phase: str = ""


class Namespace(KubeObject, frozen=True):
    """v1 Namespace."""

    status: NamespaceStatus = NamespaceStatus()


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


class ObjectReference(Struct, frozen=True):
    """An event's involvedObject (v1) or regarding (events.k8s.io)."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class EventSeries(Struct, frozen=True):
    """An event's series."""

    count: int = 0
    last_observed_time: Time = None


class EventSource(Struct, frozen=True):
    """An event's source."""

    component: str = ""
    host: str = ""


class Event(KubeObject, frozen=True):
    """v1 Event; count and timestamps may be empty, then eventTime and series hold them."""

    involved_object: ObjectReference = ObjectReference()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int | None = None
    first_timestamp: Time = None
    last_timestamp: Time = None
    event_time: Time = None
    series: EventSeries | None = None
    source: EventSource | None = None
    reporting_component: str = ""
    action: str = ""

    @property
    def last_seen(self) -> datetime | None:
        """When it was seen last, from whichever field the recorder filled."""
        if self.series is not None and self.series.last_observed_time is not None:
            return self.series.last_observed_time
        return self.last_timestamp or self.event_time or self.first_timestamp or self.metadata.creation_timestamp

    @property
    def times(self) -> int:
        """How often it was seen, at least 1."""
        return max(self.count or 0, self.series.count if self.series else 0, 1)

    @property
    def reporter(self) -> str:
        """The component that wrote it."""
        return self.reporting_component or (self.source.component if self.source else "")


class RuntimeClass(KubeObject, frozen=True):
    """node.k8s.io RuntimeClass."""

    overhead: dict[str, Quantities] | None = None
    handler: str = ""


class VolumeClaimSpec(Struct, frozen=True):
    """PersistentVolumeClaim spec."""

    storage_class_name: str | None = None
    volume_name: str = ""
    access_modes: tuple[str, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()


class VolumeStatus(Struct, frozen=True):
    """Status of a PersistentVolumeClaim or PersistentVolume."""

    phase: str = ""


class PersistentVolumeClaim(KubeObject, frozen=True):
    """v1 PersistentVolumeClaim."""

    spec: VolumeClaimSpec = VolumeClaimSpec()
    status: VolumeStatus = VolumeStatus()


class VolumeNodeAffinity(Struct, frozen=True):
    """PersistentVolume spec.nodeAffinity."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(Struct, frozen=True):
    """PersistentVolume spec."""

    storage_class_name: str = ""
    node_affinity: VolumeNodeAffinity | None = None
    claim_ref: ObjectReference | None = None
    access_modes: tuple[str, ...] = ()


class PersistentVolume(KubeObject, frozen=True):
    """v1 PersistentVolume."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: VolumeStatus = VolumeStatus()


class StorageClass(KubeObject, frozen=True):
    """storage.k8s.io StorageClass."""

    provisioner: str = ""
    volume_binding_mode: str = ""


class ResourceQuotaStatus(Struct, frozen=True):
    """ResourceQuota status."""

    hard: Quantities = {}
    used: Quantities = {}


class ResourceQuotaSpec(Struct, frozen=True):
    """ResourceQuota spec."""

    hard: Quantities = {}


class ResourceQuota(KubeObject, frozen=True):
    """v1 ResourceQuota."""

    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class LimitRangeItem(Struct, frozen=True):
    """LimitRange spec.limits[]; type is Container, Pod or PersistentVolumeClaim."""

    type: str = ""
    max: Quantities = {}
    min: Quantities = {}
    default: Quantities = {}
    default_request: Quantities = {}


class LimitRangeSpec(Struct, frozen=True):
    """LimitRange spec."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(KubeObject, frozen=True):
    """v1 LimitRange."""

    spec: LimitRangeSpec = LimitRangeSpec()


class ServiceAccount(KubeObject, frozen=True):
    """v1 ServiceAccount: existence alone; its secrets are never read."""


class CustomResourceDefinition(KubeObject, frozen=True):
    """apiextensions.k8s.io CustomResourceDefinition."""

    spec: dict[str, Any] = {}
    status: ConditionsStatus = ConditionsStatus()


class WebhookConfiguration(KubeObject, frozen=True):
    """admissionregistration.k8s.io webhook configuration."""

    webhooks: tuple[dict[str, Any], ...] = ()


class LeaseSpec(Struct, frozen=True):
    """Lease spec."""

    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    renew_time: Time = None
    acquire_time: Time = None


class Lease(KubeObject, frozen=True):
    """coordination.k8s.io Lease."""

    spec: LeaseSpec = LeaseSpec()


class Endpoints(KubeObject, frozen=True):
    """v1 Endpoints."""

    subsets: tuple[dict[str, Any], ...] = ()


class EndpointSlice(KubeObject, frozen=True):
    """discovery.k8s.io EndpointSlice."""

    endpoints: tuple[dict[str, Any], ...] = ()


class ConfigMap(KubeObject, frozen=True):
    """The one ConfigMap that holds Kueue's configuration."""

    data: dict[str, str] = {}


STRUCTS: dict[str, type[KubeObject]] = {
    "Pod": Pod, "Workload": Workload, "LocalQueue": LocalQueue, "ClusterQueue": ClusterQueue,
    "ResourceFlavor": ResourceFlavor, "Cohort": Cohort, "Topology": Topology, "AdmissionCheck": AdmissionCheck,
    "ProvisioningRequestConfig": Loose, "MultiKueueConfig": Loose, "MultiKueueCluster": ConditionedLoose,
    "WorkloadPriorityClass": ValuedClass, "PriorityClass": ValuedClass, "Namespace": Namespace, "Node": Node,
    "Event": Event, "RuntimeClass": RuntimeClass, "PersistentVolumeClaim": PersistentVolumeClaim,
    "PersistentVolume": PersistentVolume, "StorageClass": StorageClass, "ResourceQuota": ResourceQuota,
    "LimitRange": LimitRange, "ServiceAccount": ServiceAccount, "ResourceClaim": Loose,
    "ResourceClaimTemplate": Loose, "DeviceClass": Loose, "DaemonSet": Loose,
    "ProvisioningRequest": ConditionedLoose, "NodePool": Loose, "NodeClaim": ConditionedLoose,
    "CustomResourceDefinition": CustomResourceDefinition, "MutatingWebhookConfiguration": WebhookConfiguration,
    "ValidatingWebhookConfiguration": WebhookConfiguration, "Lease": Lease, "Endpoints": Endpoints,
    "EndpointSlice": EndpointSlice, "ConfigMap": ConfigMap,
}  # fmt: skip
"""The struct of each kind; a kind that is not here is a job kind and decodes as `Job`."""


def condition(conditions: tuple[Condition, ...], kind: str) -> Condition | None:
    """Give the condition of a type, never by position; None when it is not there."""
    for entry in conditions:
        if entry.type == kind:
            return entry
    return None


def is_true(conditions: tuple[Condition, ...], kind: str) -> bool:
    """Say whether the condition of a type is there with status "True"."""
    found = condition(conditions, kind)
    return found is not None and found.status == "True"
