"""A ClusterQueue from its own side: its numbers, its holders, and the one change that would admit most."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from bot import cli, digests
from bot.core import digest, queue_view
from bot.core.digest_view import View, view
from bot.core.queue_view import QueueReport
from bot.demo.apiserver import Fault, RecordedApi
from bot.kube.client import PAGE
from bot.kube.client import Cluster as Server
from bot.render import limits
from bot.render import queue as rendered
from bot.service import Service, Site
from bot.slack import queues
from bot.survey import Surveyed, survey
from tests.clusters import RECORDINGS, Cluster, recorded
from tests.small import holder, queue, small, waiting
from tests.workload_generator import jobs, recording
from tests.workspace import World, by_bot, shown, workspace


def seen(cluster: Cluster, name: str, level: Any = "all") -> tuple[QueueReport, View]:
    snapshot, wanted = cluster.snapshot(), queue_view.selection(name)
    report = digest.of_snapshot(snapshot, wanted)
    return queue_view.of_queue(snapshot, name, report), view(report, wanted, snapshot, level)


def changes(cluster: Cluster, name: str) -> list[tuple[str, str, int]]:
    return [(change.kind, change.do, change.admits) for change in seen(cluster, name)[0].changes]


def test_numbers_holders_and_who_waits() -> None:
    report, shown_ = seen(recorded("v0.19.2/quota-in-use"), "gpu-cq")
    row = next(row for row in report.rows if row.resource == "nvidia.com/gpu")
    assert (row.nominal, row.used, row.borrowed, row.available, row.capacity, row.asked) == (8, 6, 0, 2, 8, 4)
    assert [held.job for held in report.holders] == ["Job/holder"]
    text = rendered.text(report, shown_, {"team-a": True})
    assert "Job team-a/holder: 6 nvidia.com/gpu of a100" in text
    assert "Raise the nominal quota of nvidia.com/gpu in flavor a100 from 8 to 10: that admits 1 of 1." in text


def test_what_a_cohort_that_was_not_read_leaves_unknown_is_not_zero() -> None:
    """Its own quota and what it uses are known; what it could borrow is not."""
    cluster = recorded("v0.19.2/cohort-exhausted").unread("cohorts")
    report, shown_ = seen(cluster, "a-cq")
    row = next(row for row in report.rows if row.resource == "nvidia.com/gpu")
    whole = next(
        row for row in seen(recorded("v0.19.2/cohort-exhausted"), "a-cq")[0].rows if row.resource == row.resource
    )
    assert (row.nominal, row.used, row.available, row.capacity) == (4, whole.used, None, None)
    assert "not known" in rendered.text(report, shown_, {"team-a": True})
    unused = cluster.unread("workloads").edit("ClusterQueue", "a-cq", {"status": None})
    report, shown_ = seen(unused, "a-cq")
    assert {(row.used, row.borrowed) for row in report.rows} == {(None, None)}
    assert queue_view.main_rows(report.rows) == (), "nothing of it is drawn"
    blocks = json.dumps([message.blocks for message in rendered.replies(report, shown_, {})])
    assert "in use: not known" in blocks
    assert json.loads(rendered.to_json(report, shown_, {}))["quota"][0]["used"] is None


@pytest.mark.parametrize(
    ("recording", "name", "first"),
    [
        ("borrowing-limit", "a-cq", ("borrowing", "Lift the ClusterQueue's own borrowing limits", 1)),
        ("hierarchical-cohort", "a-cq", ("cohort-borrowing", "Lift the borrowing limits of Cohort left", 1)),
        ("lending-limit", "a-cq", ("lending", "Lift the lending limits in its cohort", 1)),
        ("cluster-queue-hold", "gpu-cq", ("start", "Start the ClusterQueue again (stopPolicy None)", 1)),
        (
            "cohort-exhausted", "a-cq",
            ("quota", "Raise the nominal quota of nvidia.com/gpu in flavor a100 from 4 to 6", 1),
        ),
    ],
)  # fmt: skip
def test_the_change_that_the_arithmetic_says(recording: str, name: str, first: tuple[str, str, int]) -> None:
    assert changes(recorded(f"v0.19.2/{recording}"), name)[0] == first


def test_a_change_that_was_made_admits_what_was_said() -> None:
    """Proven by making it: with the quota that it names the digest finds nobody waiting for quota any more."""
    cluster = recorded("v0.19.2/quota-in-use")
    kind, do, admits = changes(cluster, "gpu-cq")[0]
    assert (kind, admits) == ("quota", 1)
    groups = cluster.get("ClusterQueue", "gpu-cq")["spec"]["resourceGroups"]
    for entry in groups[0]["flavors"][0]["resources"]:
        if entry["name"] == "nvidia.com/gpu":
            entry["nominalQuota"] = do.rpartition(" ")[2]
    after, _ = seen(cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"resourceGroups": groups}}), "gpu-cq")
    assert after.fits_now == 1
    for entry in groups[0]["flavors"][0]["resources"]:
        if entry["name"] == "nvidia.com/gpu":
            entry["nominalQuota"] = str(int(entry["nominalQuota"]) - 1)
    less, _ = seen(cluster.edit("ClusterQueue", "gpu-cq", {"spec": {"resourceGroups": groups}}), "gpu-cq")
    assert less.fits_now == 0


def several(count: int, gpu: int, **spec: Any) -> Cluster:
    jobs = [waiting(f"train-{n}", gpu=gpu) for n in range(count)]
    return small(queue("gpu-cq", {"a100": {"gpu": 8}}, **spec), *jobs, holder("big", "gpu-cq", {"gpu": ("a100", 8)}))


def test_those_who_wait_are_counted_one_after_the_other() -> None:
    """Three ask for 3 each and all 8 are in use: 9 more admit all three, not a unit more."""
    assert changes(several(3, 3), "gpu-cq")[0] == (
        "quota", "Raise the nominal quota of gpu in flavor a100 from 8 to 17", 3,
    )  # fmt: skip


def test_a_strict_queue_ends_at_the_first_that_does_not_fit() -> None:
    cluster = small(
        queue("gpu-cq", {"a100": {"gpu": 8}}, queueingStrategy="StrictFIFO"),
        waiting("a-big", gpu=9), waiting("b-small", gpu=1),
    )  # fmt: skip
    report, _ = seen(cluster, "gpu-cq")
    assert report.fits_now == 0
    assert ("order", "Switch the ClusterQueue to BestEffortFIFO", 1) in changes(cluster, "gpu-cq")
    assert changes(cluster, "gpu-cq")[0][2] == 2


def test_what_fits_now_is_said_and_needs_no_change() -> None:
    report, shown_ = seen(small(queue("gpu-cq", {"a100": {"gpu": 8}}), waiting("train", gpu=4)), "gpu-cq")
    assert (report.fits_now, report.changes) == (1, ())
    assert "1 workload fits now without any" in rendered.headline(report, shown_)


def test_a_tree_that_was_not_read_gives_no_change() -> None:
    cluster = recorded("v0.19.2/cohort-exhausted").unread("cohorts")
    report, shown_ = seen(cluster, "a-cq")
    assert report.changes == ()
    assert "could not be worked out (cohorts: not read)" in rendered.headline(report, shown_)
    assert "Not everything was read" in rendered.headline(report, shown_)


def test_an_unknown_queue_gets_close_names(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(RECORDINGS / "v0.19.2" / "quota-in-use.json")
    assert cli.main(["queue", "gpu-cg", "-f", file]) == digests.NO_SUCH_QUEUE
    assert "there is no such ClusterQueue. Did you mean gpu-cq?" in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(RECORDINGS / "v0.19.2" / "quota-in-use.json")
    assert cli.main(["queue", "gpu-cq", "-f", file, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["changes"][0]["admits"] == 1
    assert document["holders"][0]["holds"] == {"a100/cpu": "6", "a100/nvidia.com/gpu": "6"}
    assert document["pending"]["groups"][0]["rule"] == "quota-in-use"


@pytest.mark.parametrize("name", ["quota-in-use", "cohort-exhausted", "hierarchical-cohort", "two-flavors-both-full"])
def test_messages_are_within_slacks_limits(name: str) -> None:
    cluster = recorded(f"v0.19.2/{name}")
    for item in cluster.items:
        if item["kind"] == "ClusterQueue":
            report, shown_ = seen(cluster, item["metadata"]["name"])
            for message in [rendered.root(report, shown_), *rendered.replies(report, shown_, {})]:
                assert limits.check(message.blocks, message.text) == []


# --- reading ---


async def read(api: RecordedApi, name: str) -> tuple[Surveyed, list[str]]:
    """Survey one queue; give which Workloads were asked for, too."""
    async with api.serve() as url, Service({"": Site(Server(url=url))}, deadline=60) as service:
        found = await survey(service, queue_view.selection(name))
    return found, [f"{entry.path}?{entry.query}" for entry in api.log if entry.path.endswith("/workloads")]


@pytest.mark.parametrize("kueue", ["v0.19.2", "v0.17.0"])
async def test_only_the_namespaces_that_lead_into_a_queue_are_walked(kueue: str) -> None:
    items = [*recording(1200), *jobs(1200)]
    items[0]["kueueVersion"] = kueue
    found, asked = await read(RecordedApi(items), "gpu-03")
    places = {part.split("/")[5] for part in asked if "/namespaces/" in part}
    assert places == {"team-03", "team-23"}
    assert all("/namespaces/" in part or "fieldSelector" in part for part in asked), "never all of a cluster"
    assert found.report.missing == ()
    snapshot = Cluster(tuple(items)).unread("jobs", "pods", "events").snapshot()
    whole = digest.of_snapshot(snapshot, queue_view.selection("gpu-03"))
    assert {e.key: e.rule for e in found.report.entries if e.category != "stuck"} == {
        e.key: e.rule for e in whole.entries if e.category != "stuck"
    }
    ours = queue_view.of_queue(found.snapshot, "gpu-03", found.report)
    theirs = queue_view.of_queue(snapshot, "gpu-03", whole)
    assert (ours.waiting, ours.changes, ours.fits_now) == (theirs.waiting, theirs.changes, theirs.fits_now)
    assert {held.job for held in ours.holders} == {held.job for held in theirs.holders}


async def test_a_namespace_of_the_queue_that_cannot_be_read_is_said_and_the_rest_is_told() -> None:
    server = RecordedApi(recording(1200))
    server.faults.append(Fault(path="/namespaces/team-23/workloads", status=403))
    found, _ = await read(server, "gpu-03")
    assert found.report.missing == ("workloads in team-23: forbidden for this identity",)
    assert found.report.unseen == frozenset({"team-23"})
    assert {entry.namespace for entry in found.report.entries} == {"team-03"}


async def test_a_queue_into_which_nothing_leads_costs_no_walk() -> None:
    found, asked = await read(RecordedApi(recording(1200)), "no-such-queue")
    assert found.report.entries == ()
    assert all("fieldSelector" in part for part in asked)


# --- in Slack ---


async def asked(
    text: str, cluster: str | list[Any] | RecordedApi = "quota-in-use", *, lacking: str = "", **more: Any
) -> tuple[World, list[Any]]:
    """Ask in a workspace; `lacking` is a method for which the app has no scope."""
    if isinstance(cluster, str):
        cluster = RecordedApi.load(RECORDINGS / "v0.19.2" / f"{cluster}.json")
    api = cluster if isinstance(cluster, RecordedApi) else RecordedApi(cluster)
    async with api.serve() as url:
        service = Service({"": Site(Server(url=url))}, deadline=60)
        async with service, workspace(service, store_url="sqlite://", **more) as world:
            queues.Queues(world.bot.desk, service, pause=0).register()
            if lacking:
                world.slack.fail(lacking, error="missing_scope", times=9)
            await world.ask(text)
            await world.slack.until(lambda: (not len(world.bot.work) and len(world.ml.messages) > 0) or None)
            return world, by_bot(world.ml.roots())


async def test_a_queue_can_be_asked_about_in_slack() -> None:
    world, roots = await asked("queue gpu-cq", access=({"name": "default", "namespaces": ("team-a",)},))
    (root,) = roots
    assert "1 workload waits for its quota" in root["text"]
    thread = "\n".join(shown(message) for message in by_bot(world.ml.thread(root["ts"])))
    assert "Raise the nominal quota of nvidia.com/gpu in flavor a100 from 8 to 10" in thread
    assert "Job team-a/holder" in thread


async def test_a_queue_of_namespaces_that_may_not_be_asked_about_is_refused_as_if_it_were_not_there() -> None:
    access = ({"name": "default", "namespaces": ("team-z",)},)
    there, roots = await asked("queue gpu-cq", access=access)
    nowhere, _ = await asked("queue no-such-cq", access=access)
    assert roots == []
    said = [message["text"] for world in (there, nowhere) for message in world.ml.messages if "ephemeral" in message]
    assert said[0].replace("gpu-cq", "") == said[1].replace("no-such-cq", "")
    assert "team-a" not in said[0]


async def test_others_in_the_queue_are_counts_unless_the_level_names_them() -> None:
    access: Any = ({"name": "default", "namespaces": ("team-a",)},)
    narrow, (root,) = await asked(
        "queue b-cq", "cohort-exhausted", access=({"name": "default", "namespaces": ("team-b",)},)
    )
    assert "team-b" in "\n".join(shown(m) for m in by_bot(narrow.ml.thread(root["ts"])))
    hidden, (root,) = await asked("queue a-cq", "cohort-exhausted", access=access)
    assert "borrower" not in "\n".join(shown(m) for m in [root, *by_bot(hidden.ml.thread(root["ts"]))])


async def test_that_every_namespace_may_be_asked_about_names_none() -> None:
    for text, name in (("queue gpu-cq", "quota-in-use"), ("digest", "local-queue-missing")):
        world, (root,) = await asked(text, name)
        thread = "\n".join(shown(message) for message in [root, *by_bot(world.ml.thread(root["ts"]))])
        assert "team-a" not in thread
        assert "train" not in thread.replace("train-queue", "")
        assert "1 " in root["text"], "counts are told"


async def test_the_picture_comes_with_words_and_nothing_is_missed_where_it_cannot() -> None:
    access: Any = ({"name": "default", "namespaces": ("team-a",)},)
    world, _ = await asked("queue gpu-cq", access=access)
    (file,) = world.slack.files.values()
    assert file["name"] == "queues.png"
    (call,) = world.slack.called("files.getUploadURLExternal")
    assert "6 of 8 in use" in call["alt_txt"]
    without, (root,) = await asked("queue gpu-cq", access=access, lacking="files.getUploadURLExternal")
    thread = [shown(message) for message in by_bot(without.ml.thread(root["ts"]))]
    assert "6 of 8 in use" in "\n".join(thread)
    assert not any("Not all" in text for text in thread)


async def test_what_the_messages_leave_out_comes_as_a_file_or_is_said() -> None:
    access: Any = ({"name": "default", "namespaces": ("team-*",), "level": "all"},)
    world, _ = await asked("digest", recording(300), access=access)
    tail = next(file for file in world.slack.files.values() if file["name"] == "everything.txt")
    assert b"train-00298" in tail["content"]
    without, (root,) = await asked("digest", recording(300), access=access, lacking="files.getUploadURLExternal")
    thread = "\n".join(shown(message) for message in by_bot(without.ml.thread(root["ts"])))
    assert "Not all of this arrived here" in thread
    assert "lacks the scope files:write" in thread


async def test_a_refusal_tells_no_namespace_that_could_not_be_read() -> None:
    items = recording(300)
    api = RecordedApi(items)
    api.faults.append(Fault(path="/namespaces/team-23/workloads", status=403))
    world, roots = await asked("queue gpu-03", api, access=({"name": "default", "namespaces": ("team-z",)},))
    assert roots == []
    (said,) = [message["text"] for message in world.ml.messages if "ephemeral" in message]
    assert "team-" not in said
    assert "Not everything could be read" in said


async def test_a_digest_can_be_asked_for_in_slack() -> None:
    world, (root,) = await asked(
        "digest", "local-queue-missing", access=({"name": "default", "namespaces": ("team-*",)},)
    )
    assert "1 misconfigured" in root["text"]
    thread = "\n".join(shown(message) for message in by_bot(world.ml.thread(root["ts"])))
    assert "LocalQueue train-queu does not exist" in thread


async def test_a_name_that_no_queue_can_have_is_refused_with_an_example() -> None:
    world, roots = await asked("queue No_Such!")
    assert roots == []
    assert any("/whypending queue gpu-cq" in message["text"] for message in world.ml.messages)
    await asyncio.sleep(0)


class Walks(RecordedApi):
    """Counts the walks of the whole cluster that run at once; they end when they may."""

    def __init__(self, *recordings: Any) -> None:
        super().__init__(*recordings)
        self.may_end = asyncio.Event()
        self.now = self.most = 0

    async def _answer(self, request: Any, fault: Fault | None) -> tuple[int, bytes, dict[str, str]]:
        if not request.path.endswith("/workloads") or request.query_string != f"limit={PAGE}":
            return await super()._answer(request, fault)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.may_end.wait()
            return await super()._answer(request, fault)
        finally:
            self.now -= 1


@contextlib.asynccontextmanager
async def crowd(api: RecordedApi, people: int, seconds: float = 60) -> AsyncIterator[World]:
    """Many people ask for a digest at once."""
    async with api.serve() as url:
        service = Service({"": Site(Server(url=url))}, deadline=60)
        async with service, workspace(service, access=({"name": "default", "namespaces": ("*",)},)) as world:
            queues.Queues(world.bot.desk, service, pause=0, seconds=seconds).register()
            for _ in range(people):
                await world.ask("digest")
            yield world


async def test_of_many_digests_two_walk_at_once_and_questions_about_jobs_do_not_wait_for_them() -> None:
    api = Walks(recorded("v0.19.2/quota-in-use").items)
    async with crowd(api, 20) as world:
        await world.slack.until(lambda: api.now == 2 or None)
        await world.ask("team-a/train")
        root = await world.root()
        assert "Needs" in root["text"]
        assert len(by_bot(world.ml.roots())) == 1
        api.may_end.set()
        await world.slack.until(lambda: len(by_bot(world.ml.roots())) == 21 or None, seconds=30)
    assert api.most == 2


async def test_whose_turn_does_not_come_hears_why() -> None:
    async with crowd(Walks(recorded("v0.19.2/quota-in-use").items), 5, seconds=1) as world:
        said = await world.slack.until(lambda: told if len(told := world.ml.messages) == 5 else None)
    texts = Counter(message["text"] for message in said)
    assert texts == {
        "No answer about everything: it took too long.": 2,
        "No answer about everything: many asked at once, ask again in a minute.": 3,
    }
