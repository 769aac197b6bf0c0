"""Pictures: what is drawn is there, within bounds, and said in words as well."""

import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bot import cli
from bot.core import digest, queue_view
from bot.core.queue_view import Row
from bot.render import picture
from tests.clusters import RECORDINGS, Cluster
from tests.small import cohort, holder, queue, small, waiting
from tests.test_digest import Posted
from tests.workload_generator import NOW


def opened(content: bytes) -> Any:
    return Image.open(io.BytesIO(content)).convert("RGB")


def colours(image: Any) -> set[str]:
    return {f"#{r:02x}{g:02x}{b:02x}" for _, (r, g, b) in image.getcolors(1_000_000)}


def borrowing() -> Cluster:
    gpu = "nvidia.com/gpu"
    return small(
        cohort("research"), queue("gpu-cq", {"a100": {gpu: 8}}, "research"), queue("b-cq", {"a100": {gpu: 16}}, "research"),
        holder("big", "gpu-cq", {gpu: ("a100", 11)}), waiting("train", nvidia_com__gpu=20),
    )  # fmt: skip


def of(cluster: Cluster, name: str) -> queue_view.QueueReport:
    local = cluster.edit("LocalQueue", "train-queue", {"spec": {"clusterQueue": name}}).snapshot()
    return queue_view.of_queue(local, name, digest.of_snapshot(local, queue_view.selection(name)))


def test_a_queue_shows_what_is_used_borrowed_and_asked_for_and_its_cohort() -> None:
    report = of(borrowing(), "gpu-cq")
    image = opened(picture.of_queue(report))
    assert image.width == picture.WIDTH
    assert {picture._USED, picture._BORROWED, picture._ASKED, picture._PAPER} <= colours(image)
    alone = opened(picture.of_queue(of(small(queue("gpu-cq", {"a100": {"gpu": 8}}), waiting(gpu=9)), "gpu-cq")))
    assert image.height > alone.height
    assert picture._BORROWED not in colours(alone)


def test_a_longer_bar_means_more() -> None:
    def blue(used: int) -> int:
        image = opened(picture.of_digest([("q", Row("a100", "gpu", 10, used, 0, 10, 0))], ()))
        return sum(count for count, colour in image.getcolors(1_000_000) if colour == (0x12, 0x64, 0xA3))

    assert blue(1) < blue(5) < blue(10)


def test_nothing_is_told_by_the_picture_alone() -> None:
    row = Row("a100", "nvidia.com/gpu", 8, 11, 0, 16, 4)
    history = [(NOW - timedelta(days=1), {"quota-in-use": 3}), (NOW, {"quota-in-use": 5})]
    words = picture.described([("gpu-cq", row)], history)
    assert "gpu-cq: 11 of 8 nvidia.com/gpu in use, 3 borrowed, 4 asked for" in words
    assert "3 pending first, 5 now" in words


def test_many_causes_and_queues_are_counted_not_crowded() -> None:
    history = [(NOW - timedelta(days=day), {f"cause-{n}": n + 1 for n in range(12)}) for day in (2, 1, 0)]
    shown = picture.series(history)
    assert len(shown) == picture.SERIES
    assert shown[-1] == ("8 other causes", [36, 36, 36])
    rows = [(f"queue-{n}", Row("f", "gpu", 10, 5, 5, 10, 1)) for n in range(30)]
    assert opened(picture.of_digest(rows, history)).height < 2600
    assert "22 more ClusterQueues" in picture.described(rows, ())


def test_names_of_any_length_and_strange_amounts_are_drawn() -> None:
    row = Row("flavor-" * 30, "example.com/" + "device" * 40, 2**63 - 1, 0, None, None, 7)
    assert opened(picture.of_digest([("queue" * 60, row)], ())).width == picture.WIDTH
    assert opened(picture.of_digest([], ())).height > 0


@pytest.mark.parametrize("command", ["digest", "queue gpu-cq"])
def test_the_picture_is_written_where_it_was_asked_for(command: str, tmp_path: Path) -> None:
    file = tmp_path / "picture.png"
    recording = str(RECORDINGS / "v0.19.2" / "quota-in-use.json")
    assert cli.main([*command.split(), "-f", recording, "--picture", str(file)]) == 0
    assert opened(file.read_bytes()).width == picture.WIDTH


def test_without_pillow_the_command_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    recording = str(RECORDINGS / "v0.19.2" / "quota-in-use.json")
    assert cli.main(["digest", "-f", recording, "--picture", str(tmp_path / "p.png")]) == cli.NO_ANSWER
    assert "pip install 'whypending[pictures]'" in capsys.readouterr().err


async def test_a_digest_uploads_its_picture_with_words_for_those_who_do_not_see_it(tmp_path: Path) -> None:
    world = Posted(tmp_path, picture=True)
    await world.run("one", 1e9)
    await world.run("two", 1e9 + 86400)
    pictures = [file for file in world.slack.files.values() if file["name"] == "queues.png"]
    assert len(pictures) == 1  # the first run has no queue to draw and no line yet
    assert opened(pictures[0]["content"]).width == picture.WIDTH
    (asked,) = [call for call in world.slack.called("files.getUploadURLExternal") if call["filename"] == "queues.png"]
    assert "1 pending first, 1 now" in str(asked["alt_txt"])
