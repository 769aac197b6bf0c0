"""Every case of a cause again: in another order, with less read, with an older API version."""

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
