"""Beside a variant that waits: the variant of the same job that runs."""

from tests.clusters import Cluster, fired, recorded

SCENARIO = "v0.19.2/quota-in-use"
TEXT = "A more favorable variant is already admitted"


def _said(text: str) -> Cluster:
    cluster = recorded(SCENARIO)
    name = cluster.named("Workload", "job-train")
    return cluster.condition("Workload", name, type="QuotaReserved", status="False", reason="Pending", message=text)


def test_fires() -> None:
    found = next(f for f in _said(TEXT).ask("team-a/train").context if f.rule == "better-variant-admitted")
    assert found.certainty == "reported"
    assert "more favorable variant" in found.sentence


def test_near_miss() -> None:
    assert "better-variant-admitted" not in fired(recorded(SCENARIO).ask("team-a/train"))
