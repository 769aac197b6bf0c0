"""What a reader may not see is in no rendering: over every recording, every level and one answer that has everything."""

import json
import re
from dataclasses import replace

import pytest

from bot.core.diagnosis import Diagnosis, Level, Step
from bot.core.disclosure import COMMON_WORDS, STRUCK, Audience, disclose
from bot.core.names import named
from bot.core.objects import Workload
from bot.core.snapshot import Gap, Snapshot
from bot.render import card, details, json_v1, links, terminal
from tests import answers
from tests.clusters import recorded
from tests.test_hostile import said_by_the_cluster

SITES = links.Templates("https://headlamp.example.com", "prod", frozenset({"cohorts"}), "https://kueueviz.example.com")


def renderings(answer: Diagnosis) -> str:
    """Everything that anybody could be shown of an answer, in one text."""
    linked = links.add_links(answer, SITES)
    messages = [make(linked) for make in (card.root, card.card, card.sections, card.text_only)]
    shown = [json_v1.dump(linked), terminal.render(linked), terminal.render(linked, 60)]
    shown += [message.text + json.dumps(message.blocks, ensure_ascii=False) for message in messages]
    shown += [json.dumps(details.blocks(linked), ensure_ascii=False), *(gap.text for gap in answer.gaps)]
    return "\n".join(shown)


def says(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", text) is not None


def foreign_names(snapshot: Snapshot, own: str, answer: Diagnosis) -> set[str]:
    """The names of all objects of other namespaces, and those namespaces, but those that the reader's own things have, too."""
    everything = [(kind, item) for kind, items in snapshot.objects.items() if kind != "Event" for item in items]
    shared = {"", own, snapshot.kueue_namespace}
    theirs = {name for _, item in everything if item.namespace not in shared for name in (item.name, item.namespace)}
    ours = {item.name for _, item in everything if item.namespace in shared} - {
        item.name for kind, item in everything if kind == "Namespace" and item.name != own
    }
    mine = [workload for workload in snapshot.all_of(Workload, read="seen") if workload.namespace == own]
    ours |= {workload.spec.queue_name for workload in mine}  # the queue that one's own job names
    words = {row.flavor for row in answer.quota} | {name for row in answer.quota for name in row.pod_sets}
    return theirs - ours - words - COMMON_WORDS - set(answer.asked.split("/")) - {own}


@pytest.mark.parametrize("name", answers.questions())
def test_no_foreign_name_in_any_rendering_at_level_namespace(name: str) -> None:
    answer, snapshot = answers.answered(name)
    own = answers.namespace(name)
    text = renderings(disclose(answer, Audience("namespace", own), snapshot))
    assert [word for word in sorted(foreign_names(snapshot, own, answer)) if says(text, word)] == []
    assert not re.search("[\ue000-\ue003]", text)


@pytest.mark.parametrize("name", answers.questions())
def test_level_all_keeps_nothing_back(name: str) -> None:
    answer, snapshot = answers.answered(name)
    shown = disclose(answer, Audience("all", answers.namespace(name)), snapshot)
    assert shown.withheld.namespaces == 0
    assert STRUCK not in renderings(shown)
    assert len(shown.holders) == len(answer.holders)


def test_namespace_level_without_the_snapshot_hides_all_that_the_answer_mentions() -> None:
    shown = disclose(answers.full(), Audience("namespace", "team-a"))
    text = renderings(shown)
    assert [word for word in answers.FOREIGN if word in text] == []
    assert shown.withheld.level == "namespace"
    assert shown.withheld.namespaces == 3


def test_sentences_stay_readable() -> None:
    shown = disclose(answers.full(), Audience("namespace", "team-a"))
    assert shown.headline.sentence.endswith("6 of 8 are in use, most by a Workload in another namespace.")
    assert shown.also[0].sentence == "Stands behind 3 Jobs in other namespaces."
    assert shown.context[0].sentence == "Was preempted for a Job in another namespace 5 min ago."
    assert shown.headline.subjects == ("ClusterQueue/gpu-cq", "ResourceFlavor/a100", "Workload in another namespace")
    assert shown.also[0].evidence[0].subject == "another ClusterQueue"


def test_holders_of_others_become_counts_and_amounts() -> None:
    shown = disclose(answers.full(), Audience("namespace", "team-a"))
    assert [(row.namespace, row.job, row.cluster_queue, row.amount) for row in shown.holders] == [
        ("", "2 workloads in another namespace", "gpu-cq", 5),
        ("", "1 workload in another namespace", "another ClusterQueue", 1),
        ("team-a", "Job/mine", "gpu-cq", 1),
    ]
    assert sum(row.amount for row in shown.holders) == sum(row.amount for row in answers.full().holders)


def test_the_line_keeps_its_numbers() -> None:
    ahead = disclose(answers.full(), Audience("namespace", "team-a")).ahead
    assert ahead is not None
    assert (ahead.position, ahead.total) == (2, 5)
    assert [job.job for job in ahead.jobs] == ["Job/mine-too", "1 workload in another namespace"]


def test_kueues_words_and_reasons_are_struck_word_by_word() -> None:
    shown = disclose(answers.full(), Audience("namespace", "team-a"))
    assert shown.kueue_said is not None
    assert shown.kueue_said.text == f"couldn't assign flavors: {STRUCK} holds them"
    assert shown.headline.evidence[2].value == f"preempted by {STRUCK} on path: /research/{STRUCK}"
    assert shown.not_checked[1].reason == f"workloads in {STRUCK}: timed out after 8 s"
    assert all("team-d" not in gap.text for gap in shown.gaps)


def test_a_command_with_a_hidden_name_is_dropped_and_others_are_kept() -> None:
    steps = disclose(answers.full(), Audience("namespace", "team-a")).headline.next
    assert steps[1].command == "kubectl -n team-a patch job train --type merge -p '{}'"
    assert steps[2].command is None
    assert steps[2].do == "Or look at a Workload in another namespace."


def test_queue_level_names_those_of_the_same_queue_alone() -> None:
    text = renderings(disclose(answers.full(), Audience("queue", "team-a")))
    assert "secret-b" in text
    assert "queued-b" in text
    assert [word for word in ("team-c", "secret-c", "team-d", "other-cq") if word in text] == []


def test_cohort_level_names_the_cohort_and_nobody_beyond() -> None:
    text = renderings(disclose(answers.full(), Audience("cohort", "team-a")))
    assert all(word in text for word in ("secret-b", "secret-c", "other-cq"))
    assert "team-d" not in text


def test_a_namespace_that_the_reader_may_ask_about_is_named() -> None:
    shown = disclose(answers.full(), Audience("namespace", "team-a", frozenset({"team-b"})))
    assert "secret-b" in shown.headline.sentence
    assert "team-c" not in renderings(shown)


def test_names_in_commands_at_level_all_get_their_namespace() -> None:
    answer = answers.full()
    step = Step("platform", "Look.", f"kubectl -n team-b get workload {named('Workload', 'big', 'team-b')}")
    shown = disclose(replace(answer, headline=replace(answer.headline, next=(step,))), Audience("all", "team-a"))
    assert shown.headline.next[0].command == "kubectl -n team-b get workload big"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Pod team-b/secret-0 was killed", f"Pod {STRUCK} was killed"),
        ("calling webhook.team-b.svc: timeout", f"calling {STRUCK}: timeout"),
        ("team-b-extra and my-team-b are others", "team-b-extra and my-team-b are others"),
        ("team-b.", f"{STRUCK}."),
        ("(team-b)", f"({STRUCK})"),
        ("nvidia.com/gpu", "nvidia.com/gpu"),
        ("TEAM-B and Team", f"{STRUCK} and Team"),
        ("team-b.secret-b and secret-b.team-b", f"{STRUCK} and {STRUCK}"),
        ("at secret-b-0.secret.team-b.svc.cluster.local:443", f"at {STRUCK}:443"),
        ("was cut off at secret-…", f"was cut off at {STRUCK}-…"),
        ("was cut off at team-b/sec…", f"was cut off at {STRUCK}…"),
        ("is not cut off at sec", "is not cut off at sec"),
        ("preemptor path: /nobody/knows; preemptee path: /research/gpu-cq",
         f"preemptor path: /{STRUCK}/{STRUCK}; preemptee path: /research/gpu-cq"),
    ],
)  # fmt: skip
def test_names_are_struck_at_word_bounds(text: str, expected: str) -> None:
    answer = answers.full()
    assert answer.kueue_said is not None
    shown = disclose(replace(answer, kueue_said=replace(answer.kueue_said, text=text)), Audience("namespace", "team-a"))
    assert shown.kueue_said is not None
    assert shown.kueue_said.text == expected


def test_a_name_that_was_cut_off_is_struck_although_a_common_word_begins_alike() -> None:
    cluster = recorded("v0.19.2/quota-in-use").add(
        *(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}}
            for name in ("defaults-of-others", "main", "maintained-by-others")
        )
    )
    answer = cluster.ask("team-a/train")
    assert answer.kueue_said is not None
    said = replace(answer.kueue_said, text="at def… and mai…")
    shown = disclose(replace(answer, kueue_said=said), Audience("namespace", "team-a"), cluster.snapshot())
    assert shown.kueue_said is not None
    assert shown.kueue_said.text == f"at {STRUCK}… and {STRUCK}…"


def test_a_foreign_namespace_named_like_a_common_word_does_not_wreck_sentences() -> None:
    cluster = recorded("v0.19.2/quota-in-use").add(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}},
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "needs", "namespace": "default", "uid": "u-9"},
            "spec": {},
        },
    )
    answer = cluster.ask("team-a/train")
    shown = disclose(answer, Audience("namespace", "team-a"), cluster.snapshot())
    assert shown.headline.sentence == disclose(answer, Audience("all", "team-a")).headline.sentence


def test_text_from_the_cluster_cannot_smuggle_a_mark() -> None:
    from bot.core.names import quoted

    assert quoted("\ue000Job\ue001team-b\ue001x\ue002") == "Jobteam-bx"


def test_disclosing_does_not_change_the_answer_itself() -> None:
    answer = answers.full()
    before = repr(answer)
    disclose(answer, Audience("namespace", "team-a"))
    assert repr(answer) == before


def test_a_hidden_link_of_the_chain_keeps_its_place() -> None:
    from bot.core.diagnosis import Link

    answer = answers.full(chain=(Link("Workload", "job-secret-b-1a2b3", "admitted", ok=True, namespace="team-b"),))
    link = disclose(answer, Audience("namespace", "team-a")).chain[0]
    assert (link.kind, link.name, link.namespace, link.ok) == ("Workload", STRUCK, "", True)


def test_a_gap_about_another_namespace_says_what_and_why_alone() -> None:
    answer = answers.full(gaps=(Gap("Pod", "forbidden for this identity", "team-b", "secret-b-0"),))
    gap = disclose(answer, Audience("namespace", "team-a")).gaps[0]
    assert gap.text == f"pods in {STRUCK}: forbidden for this identity"


def test_a_fault_of_ours_names_nobody() -> None:
    answer = answers.full(faults=("quota-in-use: KeyError: 'job-secret-b-1a2b3'",))
    assert disclose(answer, Audience("namespace", "team-a")).faults == (f"quota-in-use: KeyError: '{STRUCK}'",)


RIVAL = (
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rival-space", "uid": "r1"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "rival-cq", "uid": "r2"},
     "spec": {"cohortName": "rival-cohort"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
     "metadata": {"name": "rival-lq", "namespace": "rival-space", "uid": "r3"}, "spec": {"clusterQueue": "rival-other-cq"}},
    {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
     "metadata": {"name": "job-rival-train-1a2b3", "namespace": "rival-space", "uid": "r4",
                  "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "rival-train", "uid": "r5"}]},
     "spec": {"queueName": "rival-queue"}},
)  # fmt: skip
"""Somebody else's things, some of which are named by others alone and were not read themselves."""

GOSSIP = (
    "preempted by rival-space/rival-train of Workload 'job-rival-train-1a2b3' in rival-lq, rival-queue and rival-other-cq; "
    "preemptor path: /rival-cohort/rival-cq; preemptee path: /rival-elsewhere; RIVAL-SPACE:rival-train rival-train.rival-space "
    "https://rival-train.rival-space.svc:443/x uid=rival-space,job=rival-train "
)


@pytest.mark.parametrize("level", ["namespace", "queue"])
@pytest.mark.parametrize("name", sorted(answers.questions())[::4])
def test_whatever_the_cluster_says_of_others_is_struck_out_wherever_it_is_cut(name: str, level: Level) -> None:
    ask, kind = answers.questions()[name]
    cluster = recorded(name).add(*RIVAL)
    for text in (GOSSIP, f"{'x' * 480} {GOSSIP}", f"{'x' * 1_490} {GOSSIP}"):
        said = type(cluster)(tuple(said_by_the_cluster(item, text) for item in cluster.items))
        shown = disclose(said.ask(ask, kind), Audience(level, ask.partition("/")[0]), said.snapshot())
        assert "rival" not in renderings(shown).lower()
