"""Kueue's kinds.

Both v1beta1 and v1beta2 shapes are declared side by side (kueue.x-k8s.io API reference; differences in field names only);
properties give one answer for both.
"""

from typing import Any

import msgspec

from bot.core.objects.meta import Condition, ConditionsStatus, KubeObject, LabelSelector, Quantities, Struct, Time
from bot.core.objects.pods import PodTemplate, Taint, Toleration
from bot.core.quantity import Quantity


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


class AdmissionCheck(KubeObject, frozen=True):
    """kueue.x-k8s.io AdmissionCheck."""

    spec: AdmissionCheckSpec = AdmissionCheckSpec()
    status: ConditionsStatus = ConditionsStatus()
