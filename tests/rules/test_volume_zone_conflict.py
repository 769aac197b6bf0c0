"""Rule volume-zone-conflict."""

from tests.clusters import fired, recorded


def test_fires() -> None:
    answer = recorded("cases/P57").ask("ml-a/nb")
    assert answer.headline.rule == "volume-zone-conflict"
    assert "zone In z-b" in answer.headline.sentence


def test_near_miss_the_volume_is_where_the_gpus_are() -> None:
    term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z-a"]}]}
    cluster = recorded("cases/P57").edit(
        "PersistentVolume", "pv-1", {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}}
    )
    assert "volume-zone-conflict" not in fired(cluster.ask("ml-a/nb"))


def test_the_schedulers_words_do_where_the_volume_is_not_read() -> None:
    answer = recorded("cases/P57").unread("persistentvolumes").ask("ml-a/nb")
    assert answer.headline.rule == "volume-zone-conflict"
    assert answer.headline.certainty != "certain"
