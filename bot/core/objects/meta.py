"""What every object has: metadata, conditions, selectors; and the objects that are read as the API has them."""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from bot.core.quantity import Quantity

Time = Annotated[datetime, msgspec.Meta(tz=True)] | None
"""An RFC 3339 time with a zone, or None."""


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


class Job(KubeObject, frozen=True):
    """Any job kind (see `kinds.JOB_KINDS`) or object of an external framework; spec and status as the API has them."""

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class ConditionsStatus(Struct, frozen=True):
    """A status of which only the conditions are read."""

    conditions: tuple[Condition, ...] = ()


class Loose(KubeObject, frozen=True):
    """A kind of which a few fields are read seldom: spec, status and data as the API has them."""

    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


class ConditionedLoose(KubeObject, frozen=True):
    """A kind with a loosely read spec and typed conditions (MultiKueueCluster, ProvisioningRequest, NodeClaim …)."""

    spec: dict[str, Any] = {}
    status: ConditionsStatus = ConditionsStatus()


class ObjectReference(Struct, frozen=True):
    """An event's involvedObject (v1) or regarding (events.k8s.io)."""

    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


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
