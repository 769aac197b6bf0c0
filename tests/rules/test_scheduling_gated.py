"""Rule scheduling-gated."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P45").ask("ml-a/slice-1", "Pod")
    assert answer.headline.rule == "scheduling-gated"
    assert "example.com/slice-ready" in answer.headline.sentence


def test_near_miss_kueues_own_gate() -> None:
    answer = recorded("cases/P46").ask("ml-a/late-1", "Pod")
    assert "scheduling-gated" not in fired(answer)
