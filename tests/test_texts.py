"""Kueue's texts: every wording of every version is read, unknown ones are left alone, and nothing raises."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import texts
from bot.core.names import cited
from bot.core.texts import (
    AffinityMismatch,
    Assignment,
    CheckText,
    Contention,
    Devices,
    Eviction,
    FieldProblem,
    FlavorNotFound,
    FlavorSkipped,
    Gated,
    InactivePart,
    NotFree,
    OnHold,
    OverBorrowingLimit,
    OverMaximum,
    PodSetReasons,
    Preemption,
    QueueBlocker,
    TopologyReason,
    Uncovered,
    Unread,
    UntoleratedTaint,
    Validation,
    Waits,
)
from tests.clusters import CASES, QUOTA_TREES, RECORDINGS

POD_SET = "couldn't assign flavors to pod set main: "


def _one(reason: texts.Reason) -> Assignment:
    return Assignment((PodSetReasons("main", (reason,)),))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("LocalQueue q doesn't exist", QueueBlocker("LocalQueue", "q", "missing")),
        ("LocalQueue  doesn't exist", QueueBlocker("LocalQueue", "", "missing")),
        ("LocalQueue q is inactive", QueueBlocker("LocalQueue", "q", "inactive")),
        ("LocalQueue q is stopped", QueueBlocker("LocalQueue", "q", "stopped")),
        ("LocalQueue q is terminating or missing", QueueBlocker("LocalQueue", "q", "terminating-or-missing")),
        ("ClusterQueue c doesn't exist", QueueBlocker("ClusterQueue", "c", "missing")),
        ("ClusterQueue c not found", QueueBlocker("ClusterQueue", "c", "missing")),
        ("ClusterQueue c is inactive", QueueBlocker("ClusterQueue", "c", "inactive")),
        ("ClusterQueue c is stopped", QueueBlocker("ClusterQueue", "c", "stopped")),
        ("waiting for all admitted workloads to be in PodsReady condition", Waits("pods-ready")),
        ("Workload is pending evaluation in the scheduling queue", Waits("evaluation")),
        (
            "Bypassed scheduling evaluation because an equivalent workload recently failed",
            Waits("equivalent"),
        ),
        ("AdmissionGatedBy cleared, waiting for quota reservation", Waits("gate-cleared")),
        ("Workload no longer on hold; waiting for quota reservation", Waits("hold-released")),
        ("Admission is gated by: example.com/budget", Gated("example.com/budget")),
        ("StatefulSet scaled to zero; workload on hold", OnHold("scaled-to-zero")),
        ("Job is on hold", OnHold("job")),
        (
            "Workload has overlapping preemption targets with another workload",
            Contention("overlapping-targets"),
        ),
        (
            "Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete",
            Contention("overlapping-targets", fits_after=True),
        ),
        ("Workload no longer fits after processing another workload", Contention("no-longer-fits")),
        ("other workloads in the cohort were prioritized", Contention("others-first")),
        ("Workload requires preemption, but it's gated", Contention("preemption-gated")),
        ('workload namespace "x" does not exist: not found', Validation("namespace-missing")),
        ("Could not obtain workload namespace: not found", Validation("namespace-missing")),
        ("workload namespace doesn't match ClusterQueue selector", Validation("namespace-not-selected")),
        ("Workload namespace doesn't match ClusterQueue selector", Validation("namespace-not-selected")),
        ("invalid namespace selector: bad", Validation("selector-invalid")),
        ("The workload has failed admission checks", Validation("checks-failed")),
    ],
)
def test_refusals(text: str, read: texts.QuotaText) -> None:
    assert texts.quota(text) == read


@pytest.mark.parametrize(
    ("fragment", "reason"),
    [
        ("resource nvidia.com/gpu unavailable in ClusterQueue", Uncovered("nvidia.com/gpu")),
        ("flavor f not found", FlavorNotFound("f")),
        (
            "untolerated taint {spot true NoSchedule <nil>} in flavor f",
            UntoleratedTaint("f", "spot", "true", "NoSchedule"),
        ),
        ("untolerated taint {spot  NoExecute <nil>} in flavor f", UntoleratedTaint("f", "spot", "", "NoExecute")),
        ("flavor f doesn't match node affinity", AffinityMismatch("f")),
        (
            (
                "insufficient quota for cpu in flavor f, previously considered podsets requests (1) + current podset request "
                "(500m) > maximum capacity (1)"
            ),
            OverMaximum("cpu", "f", "1", "500m", "1"),
        ),
        (
            "insufficient quota for cpu in flavor f, request > maximum capacity (6 > 4)",
            OverMaximum("cpu", "f", None, "6", "4"),
        ),
        ("insufficient quota for cpu in flavor f in ClusterQueue", OverMaximum("cpu", "f")),
        ("insufficient unused quota for cpu in flavor f, 500m more needed", NotFree("cpu", "f", "500m")),
        (
            "insufficient unused quota in cohort for cpu in flavor f, 1 more needed",
            NotFree("cpu", "f", "1", cohort=True),
        ),
        ("borrowing limit for cpu in flavor f exceeded", OverBorrowingLimit("cpu", "f")),
        (
            "skipping flavor f as it is not found in the nomination mapping for resource cpu",
            FlavorSkipped("f", "nomination"),
        ),
        (
            "skipping flavor f due to WorkloadAllowedResourceFlavorAnnotation annotation",
            FlavorSkipped("f", "annotation"),
        ),
        (
            "could not assign f flavor since the original workload is assigned: g",
            FlavorSkipped("f", "slice", "g"),
        ),
        (
            'Flavor "f" does not support TopologyAwareScheduling',
            TopologyReason("flavor-without-topology", flavor="f"),
        ),
        ('Flavor "f" supports only TopologyAwareScheduling', TopologyReason("flavor-only-topology", flavor="f")),
        ('Flavor "f" information missing in TAS cache', TopologyReason("not-in-cache", flavor="f")),
        ('Flavor "f" does not contain the requested level', TopologyReason("level-unknown", flavor="f")),
        (
            'topology "t" doesn\'t allow to fit any of 12 pod(s)',
            TopologyReason("fits-none", "t", fits=0, of=12, unit="pod"),
        ),
        (
            'topology "t" allows to fit only 8 out of 12 slice(s)',
            TopologyReason("fits-some", "t", fits=8, of=12, unit="slice"),
        ),
        (
            'topology "t" doesn\'t allow to fit; 1/2 slice(s) fit on level cloud/rack, 3/4 slice(s) fit on level host',
            TopologyReason("fits-some", "t", level="cloud/rack", fits=1, of=2, unit="slice"),
        ),
        ("no topology domains at level: cloud/rack", TopologyReason("no-domains", level="cloud/rack")),
        ("no requested topology level: cloud/rack", TopologyReason("level-unknown", level="cloud/rack")),
        (
            "no requested topology level for slices: cloud/rack",
            TopologyReason("level-unknown", level="cloud/rack"),
        ),
        ("podset slice topology a is above the podset topology b", TopologyReason("bad-request")),
        ("slice topology requested, but slice size not provided", TopologyReason("bad-request")),
        ("topology level not specified", TopologyReason("bad-request")),
        ("invalid node selectors: x", TopologyReason("bad-request")),
        (
            "workload requires Topology, but there is no TAS cache information",
            TopologyReason("not-in-cache"),
        ),
        ("no TAS flavor assigned", TopologyReason("no-flavor")),
        ("more than one TAS flavor assigned: a, b", TopologyReason("several-flavors")),
        (
            "required topology is not supported with ElasticJobsViaWorkloadSlices",
            TopologyReason("not-with-elastic"),
        ),
        (
            "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains the stale domain d",
            TopologyReason("stale-domain"),
        ),
        (
            "cannot find replacement assignment for unhealthy node: n1",
            TopologyReason("no-replacement", level="n1"),
        ),
        ("what nobody has ever seen in flavor f", Unread("what nobody has ever seen in flavor f")),
    ],
)
def test_fragments_of_a_verdict(fragment: str, reason: texts.Reason) -> None:
    assert texts.quota(POD_SET + fragment) == _one(reason)


def test_several_reasons_and_pod_sets() -> None:
    read = texts.quota(
        "couldn't assign flavors to pod set leader: insufficient unused quota for cpu in flavor a, 1 more needed, untolerated "
        "taint {x y NoSchedule <nil>} in flavor b; couldn't assign flavors to pod set worker: flavor c not found"
    )
    assert read == Assignment(
        (
            PodSetReasons("leader", (NotFree("cpu", "a", "1"), UntoleratedTaint("b", "x", "y", "NoSchedule"))),
            PodSetReasons("worker", (FlavorNotFound("c"),)),
        )
    )
    assert isinstance(read, Assignment)
    assert read.flavors == {"a", "b", "c"}


def test_an_error_hides_the_rest() -> None:
    read = texts.quota("failed to assign flavors to pod set main: no TAS flavor assigned")
    assert read == _one(TopologyReason("no-flavor"))


@pytest.mark.parametrize(
    ("suffix", "preempting", "failed"),
    [
        (". Pending the preemption of 2 workload(s)", 2, False),
        (". Preempting 1 workload(s) failed, will retry.", 1, True),
        ("", None, False),
    ],
)
def test_what_follows_a_verdict(suffix: str, preempting: int | None, *, failed: bool) -> None:
    read = texts.quota(f"{POD_SET}insufficient unused quota for cpu in flavor f, 1 more needed{suffix}")
    assert read == Assignment((PodSetReasons("main", (NotFree("cpu", "f", "1"),)),), preempting, failed)


def test_why_nodes_are_excluded() -> None:
    read = texts.quota(
        f'{POD_SET}topology "t" allows to fit only 1 out of 4 pod(s). Total nodes: 7; excluded: affinity: 1, nodeSelector: 2, '
        'resource "nvidia.com/gpu": 3, taint "a=b:NoSchedule": 1'
    )
    assert isinstance(read, Assignment)
    reason = read.reasons[0]
    assert isinstance(reason, TopologyReason)
    assert (reason.fits, reason.of, reason.nodes) == (1, 4, 7)
    assert dict(reason.excluded) == {
        "affinity": 1,
        "nodeSelector": 2,
        'resource "nvidia.com/gpu"': 3,
        'taint "a=b:NoSchedule"': 1,
    }


@pytest.mark.parametrize("value", ['["cpu"]', '[]string{"cpu"}', '[]v1.ResourceName{"cpu"}'])
@pytest.mark.parametrize(
    ("start", "what", "end", "problem"),
    [
        ("resources validation failed", "requests", "requests must not exceed its limits", "above-limits"),
        ("resources validation failed", "requests", "requests must not exceed it's limits", "above-limits"),
        ("resource validation failed", "requests", "requests must not exceed its limits", "above-limits"),
        (
            "resources didn't satisfy LimitRange constraints",
            "limit-range",
            "requests must not be above the limitRange max",
            "above-max",
        ),
        (
            "resources didn't satisfy LimitRange constraints",
            "limit-range",
            "requests must not be below the limitRange min",
            "below-min",
        ),
    ],
)
def test_broken_requests(value: str, start: str, what: Any, end: str, problem: Any) -> None:
    path = "spec.podSets[0].template.spec.containers[1]"
    read = texts.quota(f"{start}: [{path}: Invalid value: {value}: {end}, {path}: Invalid value: {value}: {end}]")
    field = FieldProblem(path, ("cpu",), problem)
    assert read == Validation(what, (field, field))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Preempted to accommodate a higher priority Workload", Preemption("higher priority")),
        (
            "Preempted to accommodate a workload (UID: u) in the ClusterQueue",
            Preemption("in the ClusterQueue", "u"),
        ),
        ("Preempted to accommodate a workload (UID: u) in the cohort", Preemption("in the cohort", "u")),
        (
            "Preempted to accommodate a workload (UID: u) due to prioritization in the ClusterQueue",
            Preemption("prioritization in the ClusterQueue", "u"),
        ),
        (
            "Preempted to accommodate a workload (UID: u, JobUID: j) due to reclamation within the cohort",
            Preemption("reclamation within the cohort", "u", "j"),
        ),
        (
            (
                "Preempted to accommodate a workload (UID: u, JobUID: UNKNOWN) due to UNKNOWN; preemptor path: /r/a; "
                "preemptee path: /r/b"
            ),
            Preemption("", "u", "", "/r/a", "/r/b"),
        ),
    ],
)
def test_preemptions(text: str, read: Preemption) -> None:
    assert texts.preemption(text) == read
    assert texts.eviction(f"Previously: {text}") == Eviction("Preempted", read.why, read)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Exceeded the PodsReady timeout ns/name", Eviction("PodsReadyTimeout", "ns/name")),
        ("At least one admission check is false", Eviction("AdmissionCheck")),
        (
            'Evicted due to AdmissionCheck in Retry state: "a" (later (maybe))',
            Eviction("AdmissionCheck", '"a" (later (maybe))', checks=(("a", "later (maybe)"),)),
        ),
        (
            'Evicted due to AdmissionChecks in Retry state: "a" (x); "b" (y)',
            Eviction("AdmissionCheck", '"a" (x); "b" (y)', checks=(("a", "x"), ("b", "y"))),
        ),
        ("The ClusterQueue is stopped", Eviction("ClusterQueueStopped")),
        ("The LocalQueue is stopped", Eviction("LocalQueueStopped")),
        (
            "Workload was evicted as there was no replacement for unhealthy node(s): n1,n2",
            Eviction("NodeFailures", "n1,n2"),
        ),
        (
            "Workload eviction triggered due to multiple TAS assigned node failures, including: n1, n2",
            Eviction("NodeFailures", "n1, n2"),
        ),
        (
            "Evicted to accommodate a workload (UID: u) due to migration to more favorable resource flavor",
            Eviction("FlavorMigration"),
        ),
        ("The workload is deactivated", Eviction("Deactivated")),
        (
            "The workload is deactivated due to exceeding the maximum execution time",
            Eviction("Deactivated", "exceeding the maximum execution time"),
        ),
    ],
)
def test_evictions(text: str, read: Eviction) -> None:
    assert texts.eviction(text) == read
    assert texts.quota(text) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The workload is deactivated due to Admission check(s): a,b, were rejected", (("a", ""), ("b", ""))),
        ("The workload is deactivated due to Admission check(s): [a], were rejected", (("a", ""),)),
        ('The workload is deactivated due to AdmissionCheck in Rejected state: "a" (no)', (("a", "no"),)),
        ('AdmissionCheck(s) in Rejected state: "a" (no); "b" (never)', (("a", "no"), ("b", "never"))),
        ("Deactivating workload because AdmissionCheck for a was Rejected: no", (("a", "no"),)),
        ("something else", ()),
    ],
)
def test_rejections(text: str, read: tuple[tuple[str, str], ...]) -> None:
    assert texts.rejected(text) == read


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("DeactivatedDueToAdmissionCheck", "AdmissionCheck"),
        ("DeactivatedDueToRequeuingLimitExceeded", "RequeuingLimitExceeded"),
        ("InactiveWorkloadMaximumExecutionTimeExceeded", "MaximumExecutionTimeExceeded"),
        ("Deactivated", ""),
        ("InactiveWorkload", ""),
        ("Preempted", ""),
        ("AdmissionCheck", ""),
    ],
)
def test_causes_of_a_deactivation(reason: str, cause: str) -> None:
    assert texts.deactivation_cause(reason) == cause


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            "DeviceClass d is not mapped in DRA configuration for workload w podset main: DeviceClass is not mapped",
            Devices("unmapped-class", device_class="d", pod_set="main"),
        ),
        (
            "DeviceClass d is not mapped in DRA configuration for podset main",
            Devices("unmapped-class", device_class="d", pod_set="main"),
        ),
        (
            "failed to get claim spec for ResourceClaimTemplate t in podset main: not found",
            Devices("template-unreadable", template="t", pod_set="main", detail="not found"),
        ),
        (
            "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled",
            Devices("not-enabled"),
        ),
        ("KueueDRAIntegration feature does not support use of resource claims", Devices("claims-unsupported")),
        ("DynamicResourceAllocation feature does not support use of resource claims", Devices("claims-unsupported")),
        ("DRA resource claims not supported", Devices("claims-unsupported")),
        ("FirstAvailable device selection is not supported", Devices("selection-unsupported")),
        ("AdminAccess is not supported", Devices("selection-unsupported")),
        ("AllocationMode 'All' is not supported", Devices("selection-unsupported")),
        (
            "insufficient matching devices for CEL selector in DeviceClass d: 1 device(s) match in the cluster but 2 requested",
            Devices("too-few-devices", device_class="d"),
        ),
        ("insufficient matching devices for counter driver: x", Devices("too-few-devices")),
        ("failed to get DeviceClass d: not found", Devices("class-unreadable", device_class="d")),
        ("failed to list ResourceSlices for driver x: no", Devices("class-unreadable")),
        ("CEL selector cannot be compiled", Devices("other")),
    ],
)
def test_devices(text: str, read: Devices) -> None:
    assert texts.devices(text) == read
    assert texts.quota(f"spec.podSets[0]: {text}") == read


@pytest.mark.parametrize(
    ("reason", "message", "what"),
    [
        ("Stopped", "Can't admit new workloads: is stopped.", {"stopped": set()}),
        ("Terminating", "Can't admit new workloads; clusterQueue is terminating", {"terminating": set()}),
        (
            "FlavorNotFound",
            "Can't admit new workloads: references missing ResourceFlavor(s): a,b.",
            {"flavor-missing": {"a", "b"}},
        ),
        (
            "FlavorNotFound",
            "Can't admit new workloads: references missing ResourceFlavor(s): [a b].",
            {"flavor-missing": {"a", "b"}},
        ),
        (
            "Stopped",
            (
                "Can't admit new workloads: is stopped, references missing ResourceFlavor(s): a, references inactive "
                "AdmissionCheck(s): c."
            ),
            {"stopped": set(), "flavor-missing": {"a"}, "check-inactive": {"c"}},
        ),
        (
            "FlavorNotFound",
            "Can't admit new workloads: Stopped, FlavorNotFound",
            {"stopped": set(), "flavor-missing": set()},
        ),
        ("CheckNotFoundOrInactive", "Can't admit new workloads: CheckNotFoundOrInactive", {"check-inactive": set()}),
        (
            "TopologyNotFound",
            'Can\'t admit new workloads: there is no Topology "t" for TAS flavor "f".',
            {"topology-missing": {"t"}},
        ),
        (
            "MultiKueueWithProvisioningRequest",
            (
                "Can't admit new workloads: Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, "
                "found: mk, prov."
            ),
            {"multikueue-with-provisioning": {"mk", "prov"}},
        ),
        (
            "AdmissionCheckInactive",
            (
                "Can't admit new workloads: references inactive AdmissionCheck(s): mk1,mk2, Cannot use multiple MultiKueue "
                "AdmissionChecks on the same ClusterQueue, found: mk1,mk2."
            ),
            {"check-inactive": {"mk1", "mk2"}, "several-multikueue": {"mk1", "mk2"}},
        ),
        (
            "MultiKueueAdmissionCheckAppliedPerFlavor",
            "Can't admit new workloads: Cannot specify MultiKueue AdmissionCheck per flavor, found: mk.",
            {"multikueue-per-flavor": {"mk"}},
        ),
        (
            "NotSupportedWithTopologyAwareScheduling",
            "Can't admit new workloads: TAS with MultiKueue admission check is not supported.",
            {"topology-unsupported": set()},
        ),
        (
            "NotSupportedWithTopologyAwareScheduling",
            "Can't admit new workloads: TAS is not supported for cohorts.",
            {"topology-unsupported": set()},
        ),
        ("CohortCycleDetected", "the cohort is part of a cycle", {"cohort-cycle": set()}),
        ("NotFound", "ClusterQueue not found", {"not-synced": set()}),
        ("Unknown", "Can't admit new workloads.", {"unknown": set()}),
        ("MoonPhase", "Can't admit new workloads: the moon is full.", {"unknown": set()}),
    ],
)
def test_inactive_cluster_queues(reason: str, message: str, what: dict[str, set[str]]) -> None:
    assert {part.what: set(part.names) for part in texts.inactive(reason, message)} == what


def test_an_unknown_reason_keeps_its_text() -> None:
    assert texts.inactive("MoonPhase", "the moon is full") == (InactivePart("unknown", text="the moon is full"),)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Reset to Pending after eviction. Previously: Retry", CheckText("reset", previous="Retry")),
        ("the check is not active", CheckText("not-active")),
        ("the provisioning request is not needed", CheckText("not-needed")),
        ('Error creating ProvisioningRequest "p": forbidden', CheckText("create-failed", "forbidden")),
        ('Error creating PodTemplate "p": forbidden', CheckText("create-failed", "forbidden")),
        ("Retrying after failure: no capacity", CheckText("retry-after-failure", "no capacity")),
        ("Retrying after booking expired: too late", CheckText("retry-after-expiry", "too late")),
        ('Admitting remote lost, Previously: "Ready"', CheckText("remote-lost", previous="Ready")),
        ("Reserving remote lost", CheckText("remote-lost")),
        ("Admitting remote no longer exists, Previously: Ready", CheckText("remote-gone", previous="Ready")),
        ("Reserving remote no longer exists or is not admitted", CheckText("remote-gone")),
        (
            "Admission check is Ready but no admitting cluster is recorded; please report it",
            CheckText("remote-unrecorded"),
        ),
        (
            'Remote workload on worker cluster "c" is out of sync with its user job, resetting for re-dispatch',
            CheckText("out-of-sync", cluster="c"),
        ),
        (
            'Workload evicted on worker cluster: "c", resetting for re-admission. Previously: "Ready"',
            CheckText("evicted-on-worker", cluster="c", previous="Ready"),
        ),
        ('The workload was admitted on "c"', CheckText("on-cluster", cluster="c")),
        ('The workload got reservation on "c"', CheckText("on-cluster", cluster="c")),
        ('No multikueue adapter found for owner kind "X"', CheckText("no-adapter")),
        ("The owner is not managed by Kueue: no label", CheckText("owner-not-managed", "no label")),
        ("waiting for a budget owner to approve", None),
        ("", None),
    ],
)
def test_checks(text: str, read: CheckText | None) -> None:
    assert texts.check(text) == read


@pytest.mark.parametrize(
    "text", ["", "  ", "something that no Kueue has ever said", "Quota reserved in ClusterQueue c"]
)
def test_what_nobody_knows(text: str) -> None:
    assert texts.quota(text) is None
    assert texts.eviction(text) is None
    assert texts.preemption(text) is None
    assert texts.assignment(text) is None


def _workloads() -> Iterator[tuple[str, dict[str, Any]]]:
    for folder in (RECORDINGS, CASES, QUOTA_TREES):
        for path in sorted([*folder.glob("*.json"), *folder.glob("*/*.json")]):
            for item in json.loads(path.read_text()).get("items", ()):
                if item["kind"] == "Workload":
                    yield path.stem, item


def test_every_recorded_text_is_read() -> None:
    unread: set[str] = set()
    seen = 0
    for _, item in _workloads():
        for entry in item.get("status", {}).get("conditions", ()):
            message = entry.get("message", "")
            if entry["type"] == "QuotaReserved" and entry["status"] == "False":
                seen += 1
                read = texts.quota(message)
                if read is None or (isinstance(read, Assignment) and any(isinstance(r, Unread) for r in read.reasons)):
                    unread.add(message)
            elif entry["type"] in {"Evicted", "Preempted"} and texts.eviction(message) is None:
                unread.add(message)
    assert seen > 100
    assert unread == set()


def test_every_recorded_reason_is_known() -> None:
    reasons = {
        entry["reason"]
        for _, item in _workloads()
        for entry in item.get("status", {}).get("conditions", ())
        if entry["type"] == "QuotaReserved" and entry["status"] == "False"
    }
    assert reasons <= set(texts.REASONS)


_PIECES = st.sampled_from(
    [
        POD_SET,
        "; couldn't assign flavors to pod set x: ",
        "insufficient quota for ",
        "cpu in flavor f, ",
        "untolerated taint {",
        "} in flavor f",
        ". Total nodes: 9; excluded: ",
        "Preempted to accommodate a workload (UID: ",
        "AdmissionCheck(s) in Rejected state: ",
        'topology "',
        "Invalid value: [",
        "1" * 5000,
        "Can't admit new workloads: ",
        "references missing ResourceFlavor(s): ",
        "Previously: ",
        " (",
        ")",
        '"',
    ]
)


@given(st.one_of(st.text(max_size=300), st.lists(st.one_of(_PIECES, st.text(max_size=5)), max_size=12).map("".join)))
def test_nothing_raises(text: str) -> None:
    texts.quota(text)
    texts.eviction(text)
    texts.preemption(text)
    texts.rejected(text)
    texts.devices(text)
    texts.check(text)
    texts.inactive(text, text)
    texts.deactivation_cause(text)


def test_cited() -> None:
    assert cited('Failed to pull "a:1".') == "\"Failed to pull 'a:1'\""
    assert cited("x" * 400, 10) == '"' + "x" * 9 + '…"'


def test_long_texts_are_read_in_time() -> None:
    for piece in (
        "cohort ",
        '"a" (b); ',
        "untolerated taint {a b c ",
        "Workload evicted on worker cluster: ",
        "MultiKueue ",
    ):
        test_nothing_raises.hypothesis.inner_test(piece * 4000)  # type: ignore[attr-defined]
