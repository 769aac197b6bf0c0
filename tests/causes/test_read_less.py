"""Every case of a cause again: in another order, with less read, with an older API version."""

import copy
import random

import pytest

from bot.core import names
from tests.causes import (
    test_a_no_workload,
    test_b_not_eligible,
    test_c_routing,
    test_d_not_looked_at,
    test_e_validation,
    test_i_checks,
    test_k_to_o,
)
from tests.causes.case import Case
from tests.causes.world import Object, event, older
from tests.clusters import Cluster

SECTIONS = {
    "A": test_a_no_workload,
    "B": test_b_not_eligible,
    "C": test_c_routing,
    "D": test_d_not_looked_at,
    "E": test_e_validation,
    "I": test_i_checks,
    "K-O": test_k_to_o,
}
ALL: dict[str, Case] = {
    f"{letter}/{name}": case for letter, section in SECTIONS.items() for name, case in section.CASES.items()
}
KINDS = (
    "workloads",
    "localqueues",
    "clusterqueues",
    "cohorts",
    "resourceflavors",
    "admissionchecks",
    "events",
    "pods",
    "nodes",
    "namespaces",
    "limitranges",
    "workloadpriorityclasses",
    "provisioningrequests",
    "multikueueclusters",
    "jobs",
    "topologies",
    "resourcequotas",
)
WORDS_ALONE = {("events", "A/A21"), ("pods", "A/A17")}
"""What nobody misses where it was not read: words in an event, and a pod group where a Workload has the asked name."""


@pytest.mark.parametrize("case", ALL)
def test_the_order_of_documents_means_nothing(case: str) -> None:
    cluster = ALL[case].cluster
    items = list(cluster.items[1:])
    random.Random(7).shuffle(items)
    first, second = (found.ask(ALL[case].name) for found in (cluster, Cluster((cluster.items[0], *items))))
    assert (first.headline, first.also, first.context, first.quota, first.holders) == (
        second.headline,
        second.also,
        second.context,
        second.quota,
        second.holders,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_less_read_is_never_another_certain_answer(kind: str) -> None:
    """What was not read may leave a question open; it never turns into a different answer that claims to be complete.

    Every third case, for the time it takes; all of them together see every kind.
    """
    wrong = []
    for name, case in list(ALL.items())[KINDS.index(kind) % 3 :: 3]:
        if not any(resource.endswith(f"/{kind}") for resource in case.world.read) or (kind, name) in WORDS_ALONE:
            continue
        answer = case.cluster.unread(kind).ask(case.name, case.kind)
        assert not answer.faults, name
        if answer.headline.rule != case.headline and answer.complete:
            wrong.append((name, answer.headline.rule, names.show(answer.headline.sentence, names.plain)))
    assert not wrong


def _granular(reason: str, text: str) -> str:
    """The reason that a newer Kueue writes for a text."""
    if reason == "Inadmissible":
        return "Suspended" if "inactive" in text or "stopped" in text else "Misconfigured"
    if reason == "Waiting":
        return "WaitingForPodsReady"
    if reason != "Pending":
        return reason
    kinds = {
        "maximum capacity": "ExceedsMaxQuota",
        "selector": "Misconfigured",
        "validation": "Misconfigured",
        "LimitRange": "Misconfigured",
        "unavailable": "NoMatchingFlavor",
        "inactive": "Suspended",
        "insufficient": "WaitingForQuota",
    }
    return next((found for part, found in kinds.items() if part in text), "PendingEvaluation")


def _newer(cluster: Cluster) -> Cluster:
    """The cluster as Kueue with granular reasons shows it, with nothing in it that may be left out, and old events."""
    items = copy.deepcopy(list(cluster.items))
    old: list[Object] = []
    for item in items[1:]:
        kind, spec, status = item["kind"], item.get("spec") or {}, item.get("status") or {}
        for entry in status.get("conditions", []):
            entry.pop("observedGeneration", None)
        if kind == "ClusterQueue":
            spec.pop("preemption", None)
            spec.update({} if spec.pop("queueingStrategy", "") != "StrictFIFO" else {"queueingStrategy": "StrictFIFO"})
        if kind in {"ClusterQueue", "LocalQueue"} and spec.get("stopPolicy") == "None":
            spec.pop("stopPolicy")
        if kind != "Workload":
            continue
        status.pop("resourceRequests", None)
        for key, default in (("active", True), ("priority", 0)):
            if spec.get(key) == default:
                spec.pop(key)
        for entry in status.get("conditions", []):
            if entry["type"] == "QuotaReserved" and entry["status"] == "False":
                entry["reason"] = _granular(entry["reason"], entry["message"])
        old.append(event(item, "Pending", "couldn't assign flavors to pod set main: flavor old not found", at=LONG_AGO))
        old.append(
            event(item, "Preempted", "Preempted to accommodate a workload (UID: 1) due to old times", at=LONG_AGO)
        )
    return Cluster((items[0], *items[1:], *old))


LONG_AGO = "2026-11-29T10:00:00Z"


@pytest.mark.parametrize("case", ALL)
def test_reasons_of_a_newer_kueue_fewer_fields_and_old_events(case: str) -> None:
    expected, answer = ALL[case], _newer(ALL[case].cluster).ask(ALL[case].name, ALL[case].kind)
    assert not answer.faults
    assert answer.headline.rule == expected.headline, names.show(answer.headline.sentence, names.plain)
    assert (answer.stage, answer.outlook) == (expected.stage, expected.outlook)
    assert answer.complete is not expected.holes, answer.not_checked


@pytest.mark.parametrize("case", [name for name, case in ALL.items() if case.world.api == "v1beta2"])
def test_the_older_api_version(case: str) -> None:
    cluster = ALL[case].cluster
    head = {
        **cluster.items[0],
        "read": [
            resource.replace("kueue.x-k8s.io/v1beta2", "kueue.x-k8s.io/v1beta1")
            for resource in cluster.items[0]["read"]
        ],
    }
    answer = Cluster((head, *(older(copy.deepcopy(item)) for item in cluster.items[1:]))).ask(
        ALL[case].name, ALL[case].kind
    )
    assert answer.headline.rule == ALL[case].headline
    assert answer.complete is not ALL[case].holes
