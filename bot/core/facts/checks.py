"""Admission checks of the Workload, and what stands behind them: ProvisioningRequests and MultiKueue's clusters.

Kueue lists checks as Pending before any quota is reserved; then they are not the cause. A check holds the Workload when
it has quota and the check is not Ready, or when the check said Retry and Kueue gave the quota back for that.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from bot.core import objects as o
from bot.core import texts
from bot.core.facts.lazy import fact
from bot.core.marks import MULTIKUEUE, PROVISIONING
from bot.core.objects import condition, is_true
from bot.core.records import dataclass
from bot.core.snapshot import Unknown, owned
from bot.core.untyped import dig, number

if TYPE_CHECKING:
    from bot.core.facts import Facts

_DEFAULT_RETRIES = 3  # ProvisioningRequestConfig spec.retryStrategy.backoffLimitCount
_OF_PROVISIONING = {"not-needed", "create-failed", "retry-after-failure", "retry-after-expiry"}
_OF_MULTIKUEUE = {
    "remote-lost", "remote-gone", "remote-unrecorded", "out-of-sync", "evicted-on-worker", "on-cluster", "no-adapter",
    "owner-not-managed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Check:
    """One admission check of the Workload: its state, the AdmissionCheck if it was read, and whose it is."""

    state: o.AdmissionCheckState
    object: o.AdmissionCheck | None
    kind: Literal["provisioning", "multikueue", "other"]
    said: texts.CheckText | None

    @property
    def name(self) -> str:
        """The AdmissionCheck's name."""
        return self.state.name

    @property
    def controller(self) -> str:
        """Who answers it, "" where the AdmissionCheck was not read."""
        return self.object.spec.controller_name if self.object is not None else ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One ProvisioningRequest; `said` is the condition that decides its outcome, None while nobody has answered."""

    request: o.ConditionedLoose
    number: int | None
    outcome: Literal["open", "provisioned", "failed", "expired", "revoked"]
    said: o.Condition | None


@dataclass(frozen=True, slots=True)
class Cluster:
    """One worker cluster of MultiKueue: its Active condition, None where the MultiKueueCluster was not read or has none."""

    name: str
    nominated: bool
    known: bool
    active: o.Condition | None


class Checks:
    """Facts about the admission checks."""

    def __init__(self, facts: "Facts") -> None:
        """Take the facts it belongs to."""
        self._facts = facts
        self._snapshot = facts.snapshot

    @fact
    def all(self) -> tuple[Check, ...]:
        """Every check that Kueue lists for the Workload, by name. Raises Unknown without a Workload."""
        states = self._facts.identity.want().status.admission_checks
        return tuple(self._check(state) for state in sorted(states, key=lambda entry: entry.name))

    def _check(self, state: o.AdmissionCheckState) -> Check:
        item = self._snapshot.look_of(o.AdmissionCheck, state.name)
        said = texts.check(state.message)
        kind: Literal["provisioning", "multikueue", "other"] = "other"
        if item is not None:
            by: dict[str, Literal["provisioning", "multikueue"]] = {
                PROVISIONING: "provisioning",
                MULTIKUEUE: "multikueue",
            }
            kind = by.get(item.spec.controller_name, "other")
        elif said is not None and said.what in _OF_PROVISIONING:
            kind = "provisioning"
        elif said is not None and said.what in _OF_MULTIKUEUE:
            kind = "multikueue"
        elif any(self._of_check(request, state.name) for request in self._requests):
            kind = "provisioning"
        return Check(state, item, kind, said)

    @fact
    def holding(self) -> tuple[Check, ...]:
        """The checks that hold the Workload now, by name: open while it has quota, or Retry with the quota given back."""
        phase = self._facts.progress.phase
        if phase == "reserved":
            return tuple(check for check in self.all if check.state.state not in {"Ready", "Rejected"})
        if phase != "waiting":
            return ()
        evicted = self._facts.history.evicted
        gave_back = evicted is not None and evicted.current and evicted.reason == "AdmissionCheck"
        return tuple(
            check
            for check in self.all
            if check.state.state == "Retry"
            or (gave_back and check.said is not None and check.said.what == "reset" and check.said.previous == "Retry")
        )

    @fact
    def refused(self) -> bool:
        """Whether a check says Retry while the Workload has no quota: then Kueue does not try its quota at all."""
        workload = self._facts.identity.workload
        return (
            workload is not None
            and self._facts.progress.phase == "waiting"
            and any(state.state == "Retry" for state in workload.status.admission_checks)
        )

    def words(self, check: Check) -> str:
        """Give what the check itself said last: its message, or after a reset what the eviction kept of it; "" for nothing."""
        if check.said is None or check.said.what != "reset":
            retried = check.said is not None and check.said.what in {"retry-after-failure", "retry-after-expiry"}
            return check.said.detail if check.said is not None and retried else check.state.message
        evicted = self._facts.history.evicted
        said = texts.eviction(evicted.text) if evicted is not None else None
        return dict(said.checks).get(check.name, "") if said is not None else ""

    @fact
    def unlisted(self) -> tuple[str, ...]:
        """Checks that the ClusterQueue demands for the assigned flavors and that Kueue has not listed yet. May raise Unknown."""
        workload, queue = self._facts.identity.want(), self._facts.queue.cluster_queue
        admission = workload.status.admission
        if queue is None or admission is None:
            return ()
        flavors = {flavor for entry in admission.pod_set_assignments for flavor in entry.flavors.values()}
        listed = {state.name for state in workload.status.admission_checks}
        return tuple(
            sorted(
                {
                    rule.name
                    for rule in queue.check_rules
                    if rule.name and rule.name not in listed and (not rule.on_flavors or flavors & set(rule.on_flavors))
                }
            )
        )

    def next_try(self, check: Check) -> datetime | None:
        """Give when Kueue will try again after a Retry, None when that is past or not said."""
        state = self._facts.identity.want().status.requeue_state
        times = [state.requeue_at] if state is not None else []
        if check.state.requeue_after_seconds is not None and check.state.last_transition_time is not None:
            times.append(
                check.state.last_transition_time + timedelta(seconds=min(check.state.requeue_after_seconds, 10**8))
            )
        return max((time for time in times if time is not None and time > self._facts.now), default=None)

    # --- provisioning ---

    @fact
    def _requests(self) -> tuple[o.ConditionedLoose, ...]:
        workload = self._facts.identity.want()
        return tuple(
            request
            for request in self._snapshot.seen("ProvisioningRequest", workload.namespace)
            if isinstance(request, o.ConditionedLoose) and _belongs(request, workload)
        )

    def _of_check(self, request: o.ConditionedLoose, check: str) -> bool:
        return request.name.startswith(f"{self._facts.identity.want().name}-{check}-")

    def attempts(self, check: Check) -> tuple[Attempt, ...]:
        """Give the ProvisioningRequests of a check, oldest attempt first.

        Raises Unknown when none was seen and they were not all read. A name that Kueue shortened cannot be told by its
        check; it counts where the Workload has one provisioning check only.
        """
        workload = self._facts.identity.want()
        alone = sum(entry.kind == "provisioning" for entry in self.all) <= 1
        requests = [request for request in self._requests if alone or self._of_check(request, check.name)]
        if not requests and not self._snapshot.covers(
            "ProvisioningRequest", workload.namespace, selector=owned(workload.metadata.uid)
        ):
            raise Unknown(self._snapshot.why_not("ProvisioningRequest", workload.namespace))
        return tuple(sorted((_attempt(request) for request in requests), key=self._age_of))

    def _age_of(self, attempt: Attempt) -> tuple[datetime, int, str]:
        created = attempt.request.metadata.creation_timestamp or self._facts.now
        return created, attempt.number or 0, attempt.request.name

    def retries(self, check: Check) -> int:
        """Give how often Kueue asks again after a failure: the ProvisioningRequestConfig's limit, or Kueue's default 3."""
        parameters = check.object.spec.parameters if check.object is not None else None
        config = self._snapshot.look("ProvisioningRequestConfig", parameters.name) if parameters is not None else None
        spec: Any = config.spec if isinstance(config, o.Loose) else {}
        return number(dig(spec, "retryStrategy.backoffLimitCount"), _DEFAULT_RETRIES)

    # --- MultiKueue ---

    def clusters(self, check: Check) -> tuple[Cluster, ...]:
        """Give the worker clusters of a MultiKueue check: those of its MultiKueueConfig and those nominated, by name."""
        nominated = set(self._facts.identity.want().status.nominated_cluster_names)
        names = set(nominated)
        parameters = check.object.spec.parameters if check.object is not None else None
        config = self._snapshot.look("MultiKueueConfig", parameters.name) if parameters is not None else None
        listed: Any = config.spec.get("clusters") if isinstance(config, o.Loose) else None
        names |= {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
        found = []
        for name in sorted(names):
            item = self._snapshot.look("MultiKueueCluster", name)
            active = condition(item.status.conditions, "Active") if isinstance(item, o.ConditionedLoose) else None
            found.append(Cluster(name, name in nominated, item is not None, active))
        return tuple(found)


def _belongs(request: o.ConditionedLoose, workload: o.Workload) -> bool:
    owners = request.metadata.owner_references
    for owner in owners:
        if owner.uid and workload.metadata.uid:
            if owner.uid == workload.metadata.uid:
                return True
        elif (owner.kind, owner.name) == ("Workload", workload.name):
            return True
    return not owners and request.name.startswith(f"{workload.name}-")


def _attempt(request: o.ConditionedLoose) -> Attempt:
    suffix = request.name.rpartition("-")[2]
    number_ = int(suffix) if suffix.isascii() and suffix.isdigit() and len(suffix) < 6 else None
    conditions = request.status.conditions
    ends: tuple[tuple[str, Literal["failed", "revoked", "expired", "provisioned"]], ...] = (
        ("Failed", "failed"),
        ("CapacityRevoked", "revoked"),
        ("BookingExpired", "expired"),
        ("Provisioned", "provisioned"),
    )
    for kind, outcome in ends:
        if is_true(conditions, kind):
            return Attempt(request, number_, outcome, condition(conditions, kind))
    said = condition(conditions, "Provisioned") or condition(conditions, "Accepted")
    return Attempt(request, number_, "open", said)
