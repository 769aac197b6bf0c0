"""The ClusterQueue's namespaceSelector leaves the namespace out."""

import pytest

from tests.clusters import fired, recorded
from tests.findings import sentence, steps

RULE = "namespace-not-selected"


@pytest.mark.parametrize("version", ["v0.10.6", "v0.17.0", "v0.19.2", "main-2026-08"])
def test_fires(version: str) -> None:
    answer = recorded(f"{version}/namespace-selector").ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "ClusterQueue gpu-cq does not take namespace team-a" in sentence(answer, RULE)


def test_names_the_label_that_is_wanted() -> None:
    answer = recorded("cases/P05").ask("ml-a/gpt-s")
    assert "asks for tenant=ml" in sentence(answer, RULE)
    assert "kubectl label namespace ml-a tenant=ml" in steps(answer, RULE)


def test_no_selector_selects_nothing() -> None:
    cluster = recorded("v0.19.2/quota-in-use").edit("ClusterQueue", "gpu-cq", {"spec": {"namespaceSelector": None}})
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == RULE
    assert "takes no namespace at all" in sentence(answer, RULE)


def test_a_selector_by_name_needs_no_labels() -> None:
    selector = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["team-b"]}]}
    cluster = recorded("v0.19.2/quota-in-use").unread("namespaces")
    cluster = cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"namespaceSelector": selector}})
    assert cluster.ask("team-a/train").headline.rule == RULE


def test_near_miss() -> None:
    assert RULE not in fired(recorded("v0.19.2/quota-in-use").ask("team-a/train"))
    cluster = recorded("v0.19.2/quota-in-use").unread("namespaces")
    cluster = cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"namespaceSelector": {"matchLabels": {"tenant": "ml"}}}})
    unread = cluster.ask("team-a/train")
    assert RULE not in fired(unread)
    assert RULE in {entry.rule for entry in unread.not_checked}
