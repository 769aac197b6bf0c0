"""Rule finished-without-running."""

import pytest

from tests.clusters import fired, recorded
from tests.made import admitted, cluster, job, workload


@pytest.mark.parametrize("reason", ["OutOfSync", "FailedToStart", "OwnerNotFound", "AdmissionChecksRejected"])
def test_fires(reason: str) -> None:
    item = job()
    over = workload(item, conditions={"QuotaReserved": "False", "Finished": "True"})
    over["status"]["conditions"][-1] |= {"reason": reason, "message": "the text"}
    answer = cluster(item, over).ask("team-a/train")
    assert answer.headline.rule == "finished-without-running"
    assert reason in answer.headline.sentence
    assert "the text" in answer.headline.sentence
    assert "finished" not in fired(answer)


def test_fires_when_it_failed_before_it_was_admitted() -> None:
    item = job(status={"conditions": [{"type": "Failed", "status": "True", "message": "deadline"}]})
    over = workload(item, conditions={"QuotaReserved": "False", "Finished": "True"})
    over["status"]["conditions"][-1] |= {"reason": "Failed", "message": "deadline"}
    assert cluster(item, over).ask("team-a/train").headline.rule == "finished-without-running"


def test_near_miss() -> None:
    """It ran and failed; it succeeded; a slice was replaced."""
    assert "finished-without-running" not in fired(recorded("v0.19.2/finished").ask("team-a/train"))
    item = job(status={"conditions": [{"type": "Failed", "status": "True"}]})
    ran = workload(item, conditions={**admitted(), "Finished": "True"})
    ran["status"]["conditions"][-1] |= {"reason": "Failed"}
    assert cluster(item, ran).ask("team-a/train").headline.rule == "finished"
