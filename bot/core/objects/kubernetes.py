"""Kubernetes' kinds around pods and nodes: namespaces, events, volumes, limits, and what serves the API."""

from datetime import datetime
from typing import Any

from bot.core.objects.meta import ConditionsStatus, KubeObject, ObjectReference, Quantities, Struct, Time
from bot.core.objects.pods import NodeSelector, ResourceRequirements


class ValuedClass(KubeObject, frozen=True):
    """WorkloadPriorityClass and PriorityClass."""

    value: int = 0
    global_default: bool | None = None
    preemption_policy: str = ""


class NamespaceStatus(Struct, frozen=True):
    """Namespace status."""

    phase: str = ""


class Namespace(KubeObject, frozen=True):
    """v1 Namespace."""

    status: NamespaceStatus = NamespaceStatus()


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
