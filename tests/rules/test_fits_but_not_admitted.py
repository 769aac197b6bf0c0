"""By the arithmetic it fits, and nothing else holds it."""

from dataclasses import replace

from bot.core.engine import diagnose
from bot.core.names import plain, show
from bot.core.reference import JobRef
from bot.core.snapshot import Scope, holders
from tests.clusters import fired, recorded
from tests.small import READ, queue, small, waiting


def test_fires() -> None:
    answer = recorded("cases/P15").ask("ml-a/fr-131")
    assert answer.headline.rule == "fits-but-not-admitted"
    assert (answer.outlook, answer.move) == ("fix", "platform")
    sentence = show(answer.headline.sentence, plain)
    assert "flavor a40 has 8 nvidia.com/gpu free for the 4 that it asks for" in sentence
    assert "in flavor flavor3" in sentence
    assert "Make Kueue look again" in answer.headline.next[0].do


def test_a_taint_that_the_flavor_itself_tolerates() -> None:
    answer = recorded("cases/P20").ask("ml-a/tol-j")
    assert answer.headline.rule == "fits-but-not-admitted"
    assert (
        "do not tolerate gpu=true:NoSchedule of flavor gpu, which the flavor itself tolerates"
        in answer.headline.sentence
    )


def test_a_taint_that_the_flavor_no_longer_has() -> None:
    text = "couldn't assign flavors to pod set main: untolerated taint {dedicated tests NoSchedule <nil>} in flavor f"
    answer = small(queue("gpu-cq", {"f": {"gpu": 8}}), waiting(gpu=1, text=text)).ask("team-a/train")
    assert answer.headline.rule == "fits-but-not-admitted"
    assert "do not tolerate dedicated of flavor f, which it does not have any more" in answer.headline.sentence


def test_a_workload_that_asks_for_nothing_fits() -> None:
    answer = small(queue("gpu-cq", {"f": {"gpu": 8}}), waiting()).ask("team-a/train")
    assert answer.headline.rule == "fits-but-not-admitted"
    assert "asks for nothing that counts against quota" in answer.headline.sentence


def test_less_sure_where_usage_is_the_status_word() -> None:
    only = queue("gpu-cq", {"f": {"gpu": 8}})
    assert small(only, waiting(gpu=1)).ask("team-a/train").headline.certainty == "certain"
    cluster = small(only, waiting(gpu=1), read=[entry for entry in READ if not entry.endswith("workloads")])
    assert "fits-but-not-admitted" in fired(cluster.ask("team-a/train"))
    (headline,) = [f for f in (cluster.ask("team-a/train").headline,) if f.rule == "fits-but-not-admitted"]
    assert headline.certainty == "likely"


def test_near_miss() -> None:
    """What waits does not fit; a stopped queue, a line or a missing LimitRange read explains it or leaves it open."""
    assert "fits-but-not-admitted" not in fired(recorded("v0.19.2/quota-in-use").ask("team-a/train"))
    assert "fits-but-not-admitted" not in fired(recorded("v0.19.2/strict-fifo-head-blocks").ask("team-a/train"))
    stopped = queue("gpu-cq", {"f": {"gpu": 8}}, stopPolicy="Hold")
    assert "fits-but-not-admitted" not in fired(small(stopped, waiting(gpu=1)).ask("team-a/train"))
    read = [entry for entry in READ if entry != "v1/limitranges"]
    answer = small(queue("gpu-cq", {"f": {"gpu": 8}}), waiting(gpu=1), read=read).ask("team-a/train")
    assert "fits-but-not-admitted" not in fired(answer)
    assert any(entry.rule == "fits-but-not-admitted" for entry in answer.not_checked)


def test_what_was_not_read_before_it_makes_it_likely_at_most() -> None:
    cluster = recorded("v0.19.2/namespace-selector").unread("namespaces")
    answer = cluster.ask("team-a/train")
    assert answer.headline.rule == "fits-but-not-admitted"
    assert answer.headline.certainty == "likely"
    assert not answer.complete


def test_counts_of_a_neighbour_that_kueue_writes_late_do_not_disprove_what_kueue_just_said() -> None:
    snapshot = recorded("v0.19.2/cohort-exhausted").snapshot()
    own = tuple(item for item in snapshot.objects["Workload"] if item.namespace == "team-a")
    places = {Scope("Workload", "team-a"), Scope("Workload", selector=holders("a-cq"))}
    covered = frozenset(place for place in snapshot.covered if place.kind != "Workload") | places
    seen = replace(snapshot, objects={**snapshot.objects, "Workload": own}, covered=covered)
    answer = diagnose(seen, JobRef("team-a", "train"))
    assert answer.headline.rule == "no-explanation-visible"
    assert not answer.complete
    assert any("b-cq" in entry.reason for entry in answer.not_checked)
