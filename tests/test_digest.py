"""The digest: groups, differences, disclosure, incomplete reads, and posting it once through a local Slack."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot import cli, digests, telemetry
from bot.core import digest, engine
from bot.core import objects as o
from bot.core.compact import Pool, shrunk
from bot.core.digest import Report, Selection, Survey
from bot.core.digest_view import View, view
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot
from bot.core.workloads import phase_of
from bot.demo.apiserver import Fault, RecordedApi
from bot.demo.slack import BOT_TOKEN, Channel, LocalSlack
from bot.kube.client import Client, Cluster
from bot.kube.reader import Reader
from bot.kube.walk import Walk
from bot.render import digest as rendered
from bot.render import limits
from bot.service import Service, Site
from bot.settings import Digest, given
from bot.slack.last_digests import LastDigests
from bot.slack.memory import Memory
from bot.slack.post import Undeliverable
from bot.store import Store
from bot.survey import survey
from tests.clusters import RECORDINGS, recorded
from tests.workload_generator import NOW, jobs, recording
from tests.workspace import by_bot, shown

WAITING = sorted(path.stem for path in (RECORDINGS / "v0.19.2").glob("*.json") if path.stem != "discovery")
JOBS_AND_PODS = ("jobs", "pods", "events", "rayjobs", "pytorchjobs", "statefulsets", "deployments", "replicasets")


def seen(cluster: Snapshot, selection: Selection | None = None, level: Any = "all") -> View:
    wanted = selection or Selection()
    return view(digest.of_snapshot(cluster, wanted), wanted, cluster, level)


@lru_cache(maxsize=4)
def crowd(count: int = 400) -> Snapshot:
    from tests.clusters import Cluster as Recorded

    return Recorded(tuple(recording(count))).unread(*JOBS_AND_PODS).snapshot()


# --- the same rules ---


@pytest.mark.parametrize("name", WAITING)
def test_each_waiting_workload_gets_the_cause_that_explain_tells(name: str) -> None:
    """The digest reads neither jobs nor pods of those who wait, and makes Workloads small: the cause stays the same."""
    cluster = recorded(f"v0.19.2/{name}")
    full = cluster.snapshot()
    pool = Pool()
    small = cluster.unread(*JOBS_AND_PODS).snapshot()
    workloads = tuple(pool.shrink(w) for w in small.all_of(o.Workload, read="seen"))
    small = replace(small, objects={**small.objects, "Workload": workloads})
    for entry in digest.of_snapshot(small).entries:
        told = engine.diagnose(full, JobRef(entry.namespace, entry.workload, "Workload"))
        assert entry.rule == told.headline.rule


def test_a_class_gets_what_each_of_its_members_would_get() -> None:
    """Every answer that was given to a class is the one that each member gets when it is asked alone."""
    cluster = crowd(3000)
    looked = Survey(shrunk(cluster))
    for _ in looked.run():
        pass
    assert looked.diagnoses < len(looked.entries) / 2
    for entry in looked.entries[::7]:
        alone = engine.headline(cluster, JobRef(entry.namespace, entry.workload, "Workload"))
        assert (entry.workload, entry.rule) == (entry.workload, alone.headline.rule)


def test_the_place_in_line_is_looked_at_one_by_one_where_it_decides() -> None:
    """Of equal Workloads in a strict queue the first is held by quota's absence, the others by the first."""
    cluster = recorded("v0.19.2/strict-fifo-head-blocks")
    small = cluster.get("Workload", cluster.named("Workload", "job-train-"))
    more = []
    for number in range(9):
        meta = {**small["metadata"], "name": f"job-more-{number}", "uid": f"more-{number}"}
        meta["ownerReferences"] = [{**meta["ownerReferences"][0], "name": f"more-{number}", "uid": f"m{number}"}]
        more.append({**small, "metadata": meta})
    snapshot = cluster.add(*more).snapshot()
    report = digest.of_snapshot(snapshot)
    assert {group.rule: group.count for group in digest.grouped(report.entries)} == {
        "quota-in-use": 1, "behind-in-strict-queue": 10,
    }  # fmt: skip
    for entry in report.entries:
        alone = engine.headline(snapshot, JobRef(entry.namespace, entry.workload, "Workload"))
        assert entry.rule == alone.headline.rule


def test_the_short_way_to_the_headline_is_the_headline() -> None:
    for name in WAITING:
        snapshot = recorded(f"v0.19.2/{name}").snapshot()
        for workload in snapshot.all_of(o.Workload, read="seen"):
            ref = JobRef(workload.namespace, workload.name, "Workload")
            whole, short = engine.diagnose(snapshot, ref), engine.headline(snapshot, ref)
            assert (short.headline, short.complete) == (whole.headline, whole.complete)


# --- groups ---


def test_groups_are_told_apart_with_their_sizes() -> None:
    shown_ = seen(crowd())
    assert shown_.categories == ("never", "misconfigured", "stuck", "waiting")
    rules = {
        line.rule: (line.category, line.count) for line in shown_.lines if line.queue in {"", "gpu-00", "closed-00"}
    }
    assert rules["local-queue-missing"] == ("misconfigured", 20)
    assert rules["cluster-queue-stopped"][0] == "misconfigured"
    assert {line.category for line in shown_.lines if line.rule == "exceeds-borrowing-limit"} == {"never"}
    assert {line.category for line in shown_.lines if line.rule == "requeue-backoff"} == {"stuck"}
    assert {line.category for line in shown_.lines if line.rule == "admission-check-pending"} == {"stuck"}
    never = next(line for line in shown_.of("never") if line.rule == "exceeds-borrowing-limit")
    assert never.amounts["nvidia.com/gpu"] == 128 * never.count
    text = rendered.text(shown_)
    assert f"{128 * never.count} nvidia.com/gpu" in text


def test_the_oldest_stands_first_and_the_rest_is_counted() -> None:
    line = next(line for line in seen(crowd()).lines if line.rule == "local-queue-missing")
    moments = [item.since for item in line.items]
    assert moments == sorted(moments, key=lambda moment: moment or NOW)
    assert line.oldest == moments[0]
    assert f"and {line.count - len(line.items)} more" in rendered.text(seen(crowd()))


def test_what_is_younger_than_the_minimum_is_counted_not_told() -> None:
    cluster = recorded("v0.19.2/quota-in-use").snapshot()
    shown_ = seen(cluster, Selection(minimum_age=3600))
    assert (shown_.waiting, shown_.young) == (0, 1)
    assert "1 workload younger than 1 h left out" in rendered.headline(shown_)


def test_namespaces_and_queues_can_be_chosen() -> None:
    cluster = crowd()
    some = seen(cluster, Selection(namespaces=("team-0[0-3]",)))
    assert 0 < some.stuck < seen(cluster).stuck
    assert all("team-0" in item.name for line in some.lines for item in line.items)
    queue = seen(cluster, Selection(queues=("closed-*",)))
    assert {line.queue[:6] for line in queue.lines} == {"closed"}


def test_an_admitted_workload_whose_pods_wait_for_long_is_stuck() -> None:
    """From a file its pods are looked at there; where they were not read that is said, not guessed."""
    cluster = recorded("v0.19.2/no-nodes").at("2026-11-30T23:00:00Z")
    (line,) = seen(cluster.snapshot()).lines
    assert (line.category, line.rule) == ("stuck", "no-nodes")
    workload = cluster.named("Workload", "job-train-")
    blind = cluster.condition("Workload", workload, type="PodsReady", status="False", reason="WaitForStart", message="",
                              lastTransitionTime="2026-11-30T15:00:00Z").unread("pods", "events")  # fmt: skip
    (line,) = seen(blind.snapshot()).lines
    assert line.rule == digest.NOT_LOOKED_AT
    assert "why was not looked at" in line.sentence


# --- differences ---


def at(report: Report) -> datetime:
    return report.observed_at - timedelta(hours=24)


def test_new_still_changed_and_cleared() -> None:
    before = digest.of_snapshot(crowd())
    (gone, moved, fresh, *_) = [entry for entry in before.entries if entry.category != "waiting"]
    old = {key: value for key, value in digest.kept(before).items() if key != fresh.key}
    old[moved.key] = ["quota-in-use", None, "waiting"]
    now = replace(before, entries=tuple(entry for entry in before.entries if entry.key != gone.key))
    compared = digest.compared(now, old, at(now))
    changes = {entry.key: (entry.change, entry.was) for entry in compared.entries}
    assert changes[fresh.key] == ("new", "")
    assert changes[moved.key] == ("changed", "quota-in-use")
    assert list(changes.values()).count(("still", "")) == len(now.entries) - 2
    assert [entry.key for entry in compared.gone] == [gone.key]
    assert compared.changed
    again = digest.compared(now, digest.kept(now), at(now))
    assert not again.changed
    assert "nothing changed" in rendered.headline(view(again, Selection(), crowd()))


def test_what_was_not_read_is_not_cleared_and_not_new_afterwards() -> None:
    whole = digest.of_snapshot(crowd())
    namespace = whole.stuck[0].namespace
    part = replace(
        whole, entries=tuple(entry for entry in whole.entries if entry.namespace != namespace),
        missing=(f"workloads in {namespace}: forbidden for this identity",), unseen=frozenset({namespace}),
    )  # fmt: skip
    kept = digest.kept(whole)
    between = digest.compared(part, kept, at(whole))
    assert between.gone == ()
    afterwards = digest.compared(whole, digest.kept(part, kept), at(whole))
    assert {entry.change for entry in afterwards.entries} == {"still"}


def test_several_workloads_of_one_job_go_by_their_own_names() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    twin = cluster.get("Workload", cluster.named("Workload", "job-train-"))
    twin["metadata"] |= {"name": "job-train-2", "uid": "twin"}
    keys = {entry.key for entry in digest.of_snapshot(cluster.add(twin).snapshot()).entries}
    assert keys == {"team-a/Workload/job-train-2", f"team-a/Workload/{cluster.named('Workload', 'job-train-6')}"}


# --- who may see what ---


def everything(shown_: View) -> str:
    messages = [rendered.root(shown_), *rendered.replies(shown_)]
    texts = [json.dumps([message.text, message.blocks]) for message in messages]
    return "\n".join([rendered.text(shown_), rendered.markdown(shown_), rendered.to_json(shown_), *texts])


def test_names_that_the_channel_may_not_see_become_counts() -> None:
    hidden = seen(crowd(), Selection(queues=("gpu-*", "closed-*")), "namespace")
    text = everything(hidden)
    assert "team-" not in text
    assert "train-0" not in text
    assert hidden.stuck == seen(crowd(), Selection(queues=("gpu-*", "closed-*"))).stuck
    assert "in another namespace" in rendered.text(hidden)


def test_a_digest_of_namespaces_names_those_and_no_others() -> None:
    mixed = seen(crowd(), Selection(namespaces=("team-00", "team-01")), "namespace")
    text = everything(mixed)
    assert "team-00/train-" in text
    assert not any(f"team-{number:02}" in text for number in range(2, 40))


def test_what_could_not_be_read_gives_no_hidden_namespace_away() -> None:
    cluster = crowd()
    report = replace(digest.of_snapshot(cluster), missing=("workloads in team-07: forbidden for this identity",))
    shown_ = view(report, Selection(queues=("gpu-*",)), cluster, "namespace")
    assert "team-07" not in everything(shown_)
    assert "in another namespace: forbidden" in rendered.text(shown_)


# --- messages ---


@pytest.mark.parametrize("level", ["namespace", "all"])
def test_messages_are_within_slacks_limits_and_read_without_blocks(level: str) -> None:
    shown_ = seen(crowd(2000), level=level)
    messages = [rendered.root(shown_), *rendered.replies(shown_)]
    assert [limits.check(message.blocks, message.text) for message in messages] == [[]] * len(messages)
    assert len(messages) <= 1 + rendered.REPLIES
    assert "cannot run as written" in messages[0].text
    for category, reply in zip(shown_.categories, messages[1:], strict=True):
        count = sum(line.count for line in shown_.of(category))
        assert reply.text.startswith(f"{rendered.TITLES[category]}: {count} workload")


def test_owners_are_mentioned_where_something_is_new() -> None:
    cluster = crowd()
    report = digest.compared(digest.of_snapshot(cluster), {}, NOW - timedelta(days=1))
    owners = rendered.Owners({"closed-00": "S0123456789"})
    text = json.dumps([message.blocks for message in rendered.replies(view(report, Selection(), cluster), owners)])
    assert text.count("<!subteam^S0123456789>") == 1
    still = digest.compared(report, digest.kept(report), NOW)
    assert "subteam" not in json.dumps([m.blocks for m in rendered.replies(view(still, Selection(), cluster), owners)])


def hostile(report: Report) -> Report:
    """As many causes as Workloads, five times over, with texts and names that want to be more than text."""
    bad = "<!channel> <@U0123456789> @here *bold* <https://evil.example.com|ok> "

    def made(entry: digest.Entry, at: int) -> digest.Entry:
        finding = replace(entry.cause.finding, rule=f"cause-{at}", sentence=bad * 400)
        return replace(
            entry, job=bad + entry.job, queue=f"q-{at}", cause=replace(entry.cause, finding=finding), change="new"
        )

    entries = tuple(made(entry, at) for at, entry in enumerate(report.entries * 5))
    missing = tuple(f"workloads in team-{at}: {bad * 20}" for at in range(300))
    return replace(report, entries=entries, missing=missing, last=NOW)


def test_a_thousand_causes_with_hostile_texts_stay_within_slacks_limits_and_are_counted() -> None:
    shown_ = view(hostile(digest.of_snapshot(crowd())), Selection(), crowd())
    owners = rendered.Owners({f"q-{at}": f"S{at:09}" for at in range(2000)})
    messages = [rendered.root(shown_), *rendered.replies(shown_, owners)]
    assert [limits.check(message.blocks, message.text) for message in messages] == [[]] * len(messages)
    for message in messages:
        said = json.dumps([message.text, message.blocks])
        assert not re.search(r"<!(channel|here)|<@U|<https:", said)
        assert not re.search(r"[^\u200b]@here", said)
    for category, message in zip(shown_.categories, messages[1:], strict=True):
        causes = len(shown_.of(category))
        told = sum(block["type"] == "section" for block in message.blocks) - 1
        (rest,) = [block["elements"][0]["text"] for block in message.blocks if block["type"] == "context"]
        assert rest.startswith(f"{causes - told} more causes: ")
        assert ("<!subteam^" in json.dumps(message.blocks)) is (category != "waiting")


def test_whom_a_long_text_pushes_out_is_mentioned_all_the_same() -> None:
    report = hostile(digest.of_snapshot(crowd()))
    entries = tuple(
        replace(e, cause=replace(e.cause, finding=replace(e.cause.finding, rule="one"))) for e in report.entries
    )
    shown_ = view(replace(report, entries=entries, missing=()), Selection(), crowd())
    said = json.dumps([message.blocks for message in rendered.replies(shown_, rendered.Owners({"q-3": "S0123456789"}))])
    assert shown_.stuck > 100
    assert ("<!subteam^S0123456789>" in said) is any(e.queue == "q-3" and e.category != "waiting" for e in entries)


def test_many_hidden_namespaces_that_could_not_be_read_are_said_once() -> None:
    report = replace(
        digest.of_snapshot(crowd()), missing=tuple(f"workloads in team-{n:02}: forbidden" for n in range(40))
    )
    shown_ = view(report, Selection(queues=("gpu-*",)), crowd(), "namespace")
    assert shown_.missing == ("workloads in another namespace: forbidden",)


# --- reading ---


async def walked(api: RecordedApi, selection: Selection | None = None) -> Any:
    async with api.serve() as url, Service({"": Site(Cluster(url=url))}, deadline=60) as service:
        return await survey(service, selection or Selection())


def api(count: int = 1200, **more: Any) -> RecordedApi:
    return RecordedApi([*recording(count), *jobs(count)], **more)


async def test_a_walk_over_pages_finds_what_a_file_has() -> None:
    found = await walked(api())
    assert found.report.missing == ()
    asked = [entry for entry in found.report.entries if entry.cause.finding.stage != "pods"]
    walk = {entry.key: entry.rule for entry in asked}
    file = {entry.key: entry.rule for entry in digest.of_snapshot(crowd(1200)).entries}
    assert walk == {key: file[key] for key in walk}
    assert len(walk) == 600


async def test_quota_that_a_job_which_is_gone_still_holds_is_found_with_few_reads() -> None:
    """The jobs of those who hold longest are looked up; the pods only where one is gone."""
    items = [*recording(1200), *jobs(1200)]
    gone = next(item for item in items if item["kind"] == "Job" and item["metadata"]["name"] == "train-00009")
    assert gone["metadata"]["namespace"] == "team-04"
    before = {entry.rule for entry in (await walked(RecordedApi(items))).report.entries if entry.queue == "gpu-04"}
    assert "quota-held-by-stale-workload" not in before
    oldest = next(item for item in items if item["kind"] == "Workload" and "train-00009" in item["metadata"]["name"])
    for entry in oldest["status"]["conditions"]:
        entry["lastTransitionTime"] = "2026-11-01T00:00:00Z"
    server = RecordedApi([item for item in items if item is not gone])
    found = await walked(server)
    (sentence,) = {
        entry.cause.finding.sentence for entry in found.report.entries if entry.rule == "quota-held-by-stale-workload"
    }
    assert "train-00009" in sentence
    assert "is gone" in sentence
    asked = [entry.path for entry in server.log]
    assert len([path for path in asked if "/jobs/" in path]) <= 40
    assert [path for path in asked if path.endswith("/pods") and "/namespaces/" in path][:1] == [
        "/api/v1/namespaces/team-04/pods"
    ]


async def test_a_list_that_expires_half_way_starts_over_and_counts_nobody_twice() -> None:
    server = api()
    server.faults.append(Fault(path="/workloads$", query="continue=", status=410, times=1))
    found = await walked(server)
    assert found.report.missing == ()
    assert found.report.seen == 1200


async def test_a_walk_that_breaks_off_is_told_and_nothing_is_all_clear() -> None:
    server = api()
    server.faults.append(Fault(path="/workloads$", query="continue=", status=500))
    found = await walked(server)
    assert found.report.seen == 500
    assert found.report.missing == ("workloads: the API server answers 500; 500 were read before that",)
    shown_ = view(found.report, found.selection, found.snapshot)
    assert digests.status(shown_) == digests.INCOMPLETE
    assert rendered.headline(shown_).startswith("Incomplete: ")


async def test_one_unreadable_namespace_costs_only_itself() -> None:
    server = api()
    server.faults.append(Fault(path="/namespaces/team-03/workloads", status=403))
    names = ("team-01", "team-02", "team-03")
    found = await walked(server, Selection(namespaces=names))
    assert found.report.missing == ("workloads in team-03: forbidden for this identity",)
    assert found.report.unseen == {"team-03"}
    assert {entry.namespace for entry in found.report.entries} == {"team-01", "team-02"}


async def test_an_odd_object_costs_only_itself() -> None:
    items = recording(600)
    odd = next(item for item in items if item["kind"] == "Workload" and "queueName" in item["spec"])
    odd["spec"]["priority"] = {"not": "a number"}
    found = await walked(RecordedApi(items))
    assert found.report.seen == 600


async def test_an_empty_cluster_that_could_not_be_read_is_not_all_clear() -> None:
    found = await walked(api(10, forbidden=["kueue.x-k8s.io/workloads"]))
    shown_ = view(found.report, found.selection, found.snapshot)
    assert "Nothing is pending" not in rendered.text(shown_)
    assert "forbidden for this identity" in rendered.headline(shown_)


async def test_finished_workloads_are_not_kept() -> None:
    items = recording(100)
    for item in items[-50:]:
        item["status"]["conditions"] = [
            {
                "type": "Finished",
                "status": "True",
                "reason": "Succeeded",
                "message": "",
                "lastTransitionTime": "2026-11-30T13:00:00Z",
            }
        ]
    async with RecordedApi(items).serve() as url, Client(Cluster(url=url)) as client:
        snapshot = await Walk(Reader.of(client)).snapshot()
    kept = snapshot.all_of(o.Workload, read="seen")
    assert len(kept) == 50
    assert all(phase_of(workload) != "finished" for workload in kept)


# --- posting ---


class Posted:
    """A local Slack with one channel, a store that survives, and a cluster that can be changed."""

    def __init__(self, folder: Path, **wanted: Any) -> None:
        self.slack = LocalSlack()
        self.channel: Channel = self.slack.channel("queues", self.slack.person("ann"))
        self.store = f"sqlite:///{folder / 'store.sqlite3'}"
        self.cluster = recorded("v0.19.2/local-queue-missing")
        self.wanted = Digest(name="d", channel=self.channel.id, namespaces=("*",), minimum_age_seconds=0, **wanted)

    async def run(self, run: str, now: float = 1e9) -> int:
        """One run in a process of its own: everything is opened and closed again."""
        async with (
            self.slack.serve() as url,
            RecordedApi(self.cluster.items).serve() as server,
            Service({"": Site(Cluster(url=server))}, deadline=60) as service,
            Store.open(self.store) as store,
            digests.posting(given(slack_api_url=url, slack_bot_token=BOT_TOKEN)) as poster,
        ):
            return await digests.run_once(store, service, poster, self.wanted, run, clock=lambda: now, pause=0)

    @property
    def roots(self) -> list[Any]:
        return by_bot(self.channel.roots())

    def thread(self, root: Any) -> str:
        return "\n".join(shown(message) for message in by_bot(self.channel.thread(root["ts"])))


async def test_new_changed_and_cleared_are_told_across_a_restart(tmp_path: Path) -> None:
    world = Posted(tmp_path)
    first = world.cluster
    twin = first.get("Workload", first.named("Workload", "job-train-"))
    for name in ("other", "third"):
        meta = {**twin["metadata"], "name": f"job-{name}", "uid": name}
        meta["ownerReferences"] = [{**meta["ownerReferences"][0], "name": name, "uid": f"{name}-job"}]
        if name == "other":
            world.cluster = world.cluster.add({**twin, "metadata": meta})
        later = {**twin, "metadata": meta}
    assert await world.run("one", 1e9) == digests.STUCK
    assert "2 misconfigured" in world.roots[0]["text"]
    assert "Since" not in world.roots[0]["text"]
    # train's queue is corrected and it waits for quota now, other is gone, third is new
    world.cluster = world.cluster.drop("Workload", "job-other").add(later)
    world.cluster = world.cluster.edit("Workload", first.named("Workload", "job-train-"), {"spec": {"active": False}})
    assert await world.run("two", 1e9 + 3600) == digests.STUCK
    root = world.roots[1]
    assert "1 new, 1 of another cause, 1 cleared" in root["text"]
    assert "*Cleared*: 1 misconfigured" in shown(root)
    assert "was local-queue-missing" in world.thread(root)
    assert "Job team-a/third" in world.thread(root)


async def test_what_was_not_checked_is_said_beside_the_groups(tmp_path: Path) -> None:
    world = Posted(tmp_path)
    await world.run("one")
    (root,) = world.roots
    told = next(part for part in shown(root).splitlines() if part.startswith("Not checked"))
    assert "jobs: read only of those who hold quota longest" in told
    assert not root["text"].startswith("Incomplete")


async def test_a_run_that_repeats_posts_once(tmp_path: Path) -> None:
    world = Posted(tmp_path)
    await world.run("one")
    await world.run("one")
    assert len(world.roots) == 1
    await world.run("two")
    assert len(world.roots) == 2


async def test_two_replicas_with_the_same_run_post_once(tmp_path: Path) -> None:
    world = Posted(tmp_path)
    async with (
        world.slack.serve() as url, RecordedApi(world.cluster.items).serve() as server,
        Service({"": Site(Cluster(url=server))}, deadline=60) as service,
        digests.posting(given(slack_api_url=url, slack_bot_token=BOT_TOKEN)) as poster,
        Store.open(world.store) as store, Store.open(world.store) as other,
    ):  # fmt: skip
        runs = (digests.run_once(one, service, poster, world.wanted, "same", pause=0) for one in (store, other))
        await asyncio.gather(*runs)
    assert len(world.roots) == 1


async def test_what_slack_did_not_take_is_posted_by_a_retry(tmp_path: Path) -> None:
    world = Posted(tmp_path)
    world.slack.fail("chat.postMessage", times=1, error="channel_not_found")
    with pytest.raises(Undeliverable):
        await world.run("one")
    assert world.roots == []
    await world.run("one")
    assert len(world.roots) == 1


async def test_silent_when_nothing_changed_if_so_configured(tmp_path: Path) -> None:
    world = Posted(tmp_path, only_changes=True)
    await world.run("one")
    await world.run("two")
    assert len(world.roots) == 1
    world.cluster = world.cluster.drop("Workload")
    await world.run("three")
    assert len(world.roots) == 2
    assert "1 cleared" in world.roots[1]["text"]


async def test_in_quiet_hours_nothing_is_posted_and_the_next_one_tells_it(tmp_path: Path) -> None:
    world = Posted(tmp_path, quiet="22:00-07:00", time_zone="Europe/Berlin")
    night = datetime(2026, 11, 30, 23, 30, tzinfo=UTC).timestamp()
    assert await world.run("night", night) == digests.NOTHING_STUCK
    assert world.roots == []
    await world.run("day", night + 9 * 3600)
    assert len(world.roots) == 1


async def test_what_does_not_fit_is_uploaded_as_a_file_and_said_where_it_cannot(tmp_path: Path) -> None:
    world = Posted(tmp_path)
    world.cluster = type(world.cluster)(tuple(recording(300)))
    await world.run("one")
    files = [file for message in world.channel.messages for file in message.get("files", [])]
    assert [file["name"] for file in files] == ["everything.txt"]
    (stored,) = world.slack.files.values()
    assert b"train-00298" in stored["content"]
    world.slack.fail("files.getUploadURLExternal", error="missing_scope")
    await world.run("two", 1e9 + 60)
    assert "lacks the scope files:write" in world.thread(world.roots[1])


class Dying(Posted):
    """Its processes are ended in the middle."""

    async def ended(self, run: str, now: float, *, once: Callable[[], Any]) -> None:
        """Begin a run, and end its process as soon as `once` gives something."""
        process = asyncio.create_task(self.run(run, now))
        await self.slack.until(lambda: once() or None)
        process.cancel()
        with pytest.raises(asyncio.CancelledError):
            await process

    def looked(self, count: int) -> bool:
        """Tell whether Slack was asked that often what stands in the channel."""
        return len(self.slack.called("conversations.history")) == count


async def test_a_run_whose_process_dies_twice_stands_once(tmp_path: Path) -> None:
    """Slack took the root, nobody heard so, and who took over died before it was found; hours go by between them."""
    world, now = Dying(tmp_path), time.time()
    world.slack.fail("chat.postMessage", late=600)
    await world.ended("one", now, once=lambda: world.roots)
    world.slack.fail("conversations.history", hang=600)
    await world.ended("one", now + 3600, once=lambda: world.looked(1))
    await world.run("one", now + 7200)
    assert len(world.roots) == 1
    assert "train" in world.thread(world.roots[0])
    await world.run("two", now + 9000)
    assert "interrupted" not in world.roots[1]["text"]


async def test_what_may_stand_is_still_looked_for_after_a_refusal(tmp_path: Path) -> None:
    """Who takes over can neither look nor post; the next one can do both."""
    world, now = Dying(tmp_path), time.time()
    world.slack.fail("chat.postMessage", late=600)
    await world.ended("one", now, once=lambda: world.roots)
    world.slack.fail("conversations.history", error="internal_error", times=9)
    world.slack.fail("chat.postMessage", error="not_in_channel")
    with pytest.raises(Undeliverable):
        await world.run("one", now + 3600)
    world.slack.faults.clear()
    await world.run("one", now + 7200)
    assert len(world.roots) == 1


async def test_what_stands_is_found_behind_what_others_wrote_since(tmp_path: Path) -> None:
    world, now = Dying(tmp_path), time.time()
    world.slack.fail("chat.postMessage", late=600)
    await world.ended("one", now, once=lambda: world.roots)
    for number in range(450):
        world.slack.put(world.channel, {"user": "U0ANN", "text": f"message {number}"})
    await world.run("one", now + 3600)
    assert len(world.roots) == 1
    assert "train" in world.thread(world.roots[0])


@pytest.mark.parametrize("left", ["root", "nothing"])
async def test_where_nothing_changed_any_more_a_dead_attempt_is_ended(tmp_path: Path, left: str) -> None:
    stands = left == "root"
    world, now = Dying(tmp_path, only_changes=True), time.time()
    await world.run("one", now)
    before = world.cluster
    world.cluster = before.drop("Workload")
    world.slack.fail("chat.postMessage", **({"late": 600} if stands else {"hang": 600, "error": "internal_error"}))
    called = len(world.slack.called("chat.postMessage"))

    def tried() -> bool:
        return len(world.roots) == 2 if stands else len(world.slack.called("chat.postMessage")) > called

    await world.ended("two", now + 10, once=tried)
    world.cluster = before
    await world.run("two", now + 60)
    await world.run("three", now + 120)
    assert len(world.roots) == 1 + stands
    assert not any("interrupted" in root["text"] for root in world.roots)
    if stands:
        assert "nothing changed" in world.roots[1]["text"]


# --- the command ---


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    status = cli.main(["digest", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_the_exit_status_says_whether_something_is_stuck(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = RECORDINGS / "v0.19.2"
    assert run("-f", str(folder / "quota-in-use.json"), capsys=capsys)[0] == digests.NOTHING_STUCK
    assert run("-f", str(folder / "local-queue-missing.json"), capsys=capsys)[0] == digests.STUCK
    assert run("-f", str(folder / "local-queue-missing.json"), "--exit-zero", capsys=capsys)[0] == 0
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps({"items": [i for i in recorded("v0.19.2/quota-in-use").items if i["kind"] != "Recording"],
                                 "kind": "List", "apiVersion": "v1"}))  # fmt: skip
    status, out, _ = run("-f", str(plain), capsys=capsys)
    assert status == digests.INCOMPLETE
    assert "Not read: workloads: not read" in out


def test_json_and_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(RECORDINGS / "v0.19.2" / "quota-in-use.json")
    document = json.loads(run("-f", file, "-o", "json", capsys=capsys)[1])
    assert (document["pending"], document["stuck"], document["complete"]) == (1, 0, True)
    assert document["groups"][0]["jobs"] == [
        {"job": "Job team-a/train", "since": "2026-11-30T14:52:10Z", "change": None, "was": None}
    ]
    assert "| ClusterQueue |" in run("-f", file, "-o", "markdown", capsys=capsys)[1]


def test_a_terminal_gets_the_first_ones_and_programs_and_whoever_asks_get_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "crowd.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": recording(2000)}))
    short = run("-f", str(file), capsys=capsys)[1]
    assert "14 more ClusterQueues: 70 workloads, 140 nvidia.com/gpu" in short
    assert "--all names every workload" in short
    assert short.count("Job team-") < 200
    whole = run("-f", str(file), "--all", capsys=capsys)[1]
    document = json.loads(run("-f", str(file), "-o", "json", capsys=capsys)[1])
    for group in document["groups"]:
        assert len(group["jobs"]) == group["count"]
        assert all(job["job"] in whole for job in group["jobs"])
    assert "more ClusterQueue" not in whole
    assert not re.search(r"and \d+ more$", whole, re.MULTILINE)


def test_an_unknown_digest_is_refused_with_those_that_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"digests": [{"name": "gpu", "channel": "C0123456789"}]}))
    status, _, err = run("cpu", "--config", str(config), capsys=capsys)
    assert status == cli.WRONG_USE
    assert "there is no digest cpu; there is: gpu" in err


def test_each_digest_gets_a_cron_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "config.yaml"
    entry = {"name": "gpu", "channel": "C0123456789", "schedule": "30 8 * * *", "time_zone": "Europe/Berlin"}
    config.write_text(yaml.safe_dump({"digests": [entry]}))
    (job,) = yaml.safe_load_all(run("--manifests", "--config", str(config), capsys=capsys)[1])
    spec = job["spec"]
    assert (spec["schedule"], spec["timeZone"], spec["concurrencyPolicy"]) == ("30 8 * * *", "Europe/Berlin", "Forbid")
    (container,) = spec["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    parsed = cli._parser().parse_args(container["args"])
    assert (parsed.name, parsed.run_id) == ("gpu", "$(RUN)")


async def test_the_last_digest_is_in_the_metrics(tmp_path: Path) -> None:
    world = Posted(tmp_path)
    await world.run("one")
    async with Memory(world.store).kept() as memory:
        await LastDigests(given(digests=(world.wanted,)), memory).look()
    text = telemetry.metrics()[0].decode()
    assert 'whypending_pending_workloads{digest="d",queue="",rule="local-queue-missing"} 1.0' in text
    assert 'whypending_digest_complete{digest="d"} 1.0' in text
    world.cluster = world.cluster.drop("Workload")
    await world.run("two", 2e9)
    async with Memory(world.store).kept() as memory:
        await LastDigests(given(digests=(world.wanted,)), memory).look()
    shown = [
        line
        for line in telemetry.metrics()[0].decode().splitlines()
        if line.startswith(("whypending_digest", "whypending_pending"))
    ]
    assert shown
    assert not [line for line in shown if "local-queue-missing" in line]
