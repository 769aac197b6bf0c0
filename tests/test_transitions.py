"""What a watch tells and what it keeps quiet about: whatever a job does, and whenever somebody looks."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core import transitions as t
from bot.core.engine import diagnose
from bot.core.objects import Workload
from bot.core.reference import JobRef
from bot.core.rules import RULES
from bot.core.transitions import Pending, State, Step, Told
from tests.clusters import Cluster, recorded

SETTLE = 30.0
UID = "2a1b4e1c-0000-4000-8000-1234567890ab"

waiting = State("waiting", "quota-in-use", uid=UID, queued=1000.0)
preempting = State("waiting", "preemption-pending", uid=UID, queued=1000.0)
held = State("waiting", "cluster-queue-stopped", uid=UID, queued=1000.0)
never = State("waiting", "exceeds-queue-capacity", never=True, uid=UID, queued=1000.0)
reserved = State("reserved", "admission-check-pending", uid=UID, queued=1000.0)
admitted = State("admitted", "image-not-pulled", uid=UID, admitted=2000.0, queued=1000.0)
running = State("running", "running", uid=UID, admitted=2000.0, queued=1000.0)
finished = State("finished", "finished", uid=UID, admitted=2000.0, queued=1000.0)
gone = State("gone", "job-not-found")

states = st.sampled_from(
    [
        waiting, preempting, held, never, reserved, admitted, running, finished, gone,
        State("running", "running", uid=UID, admitted=3000.0, queued=1000.0), State("waiting", "quota-in-use", uid="other"),
        State("waiting", "behind-in-queue", complete=False, uid=UID),
    ]
)  # fmt: skip
looks = st.lists(st.tuples(states | st.none(), st.floats(0.5, 400)), max_size=40)


def watch(seen: list[tuple[State | None, float]], told: Told | None = None) -> list[tuple[float, Step]]:
    """Look at these states, each so many seconds after the one before; give every step with its time."""
    steps, pending, now = [], None, 0.0
    last = told or Told(waiting)
    for state, after in seen:
        now += after
        step = t.step(last, pending, state, now, SETTLE)
        last, pending = step.told, step.pending
        steps.append((now, step))
    return steps


def said(seen: list[tuple[State | None, float]]) -> list[str]:
    return [step.change for _, step in watch(seen) if step.change]


def for_a_while(state: State, seconds: float = 60.0) -> list[tuple[State | None, float]]:
    return [(state, 15.0)] * int(seconds // 15)


def test_the_way_of_a_job_is_told_step_by_step() -> None:
    way = [
        *for_a_while(waiting), *for_a_while(held), *for_a_while(reserved), *for_a_while(admitted), *for_a_while(running),
        *for_a_while(held), *for_a_while(admitted), (finished, 15.0),
    ]  # fmt: skip
    assert said(way) == ["reason", "reserved", "admitted", "running", "evicted", "admitted", "finished"]


def test_what_passes_quickly_is_told_by_where_it_ends() -> None:
    assert said([(reserved, 15.0), (admitted, 15.0), (running, 15.0)]) == ["running"]


def test_what_cannot_wait_is_told_at_once() -> None:
    for state, change in ((never, "never"), (running, "running"), (finished, "finished")):
        assert said([(state, 1.0)]) == [change]
    again = State("admitted", "image-not-pulled", uid=UID, admitted=9000.0)
    assert t.step(Told(running), None, again, 1.0, SETTLE).change == "readmitted"
    assert t.step(Told(waiting), None, State("waiting", "quota-in-use", uid="other"), 1.0, SETTLE).change == "replaced"


def test_a_job_that_disappears_may_come_back() -> None:
    assert said([(gone, 15.0), (waiting, 15.0)]) == []
    assert said([(gone, 15.0), (gone, 31.0)]) == ["gone"]
    assert t.step(Told(gone), None, gone, 1.0, SETTLE).change is None


def test_a_reason_that_swings_faster_than_it_settles_is_quiet() -> None:
    assert said([(state, 15.0) for state in itertools.islice(itertools.cycle([preempting, waiting]), 200)]) == []


def test_a_reason_that_swings_slowly_is_told_less_and_less() -> None:
    swinging: list[tuple[State | None, float]] = []
    for _ in range(60):
        swinging += [*for_a_while(preempting, 45), *for_a_while(waiting, 45)]
    assert 2 <= len(said(swinging)) <= 8


def test_what_never_comes_to_rest_is_told_in_the_end() -> None:
    turns = itertools.islice(itertools.cycle([preempting, held, reserved]), 60)
    restless: list[tuple[State | None, float]] = [(state, 10.0) for state in turns]
    assert said(restless)


def test_a_reason_that_shows_only_while_something_cannot_be_read_is_quiet() -> None:
    blind = State("waiting", "behind-in-queue", complete=False, uid=UID)
    assert said([*for_a_while(blind, 90), *for_a_while(waiting)]) == []
    assert said(for_a_while(blind, 300)) == ["reason"]


def test_what_could_not_be_read_changes_nothing() -> None:
    assert said([(None, 500.0)] * 10) == []
    step = t.step(Told(waiting), Pending(held, 5.0, 5.0), None, 6.0, SETTLE)
    assert step == Step(Told(waiting), Pending(held, 5.0, 5.0))


@given(looks)
@settings(max_examples=300)
def test_nothing_is_told_that_is_not_a_difference(seen: list[tuple[State | None, float]]) -> None:
    before = Told(waiting)
    for _, step in watch(seen):
        if step.change is not None:
            assert t.change_between(before.state, step.told.state) == step.change
        else:
            assert step.told.state.key == before.state.key
        before = step.told


@given(looks)
@settings(max_examples=300)
def test_only_what_was_seen_is_told_and_only_what_held_unless_it_cannot_wait(
    seen: list[tuple[State | None, float]],
) -> None:
    steps = watch(seen)
    for at, (now, step) in enumerate(steps):
        if step.change is None:
            continue
        assert step.told.state == seen[at][0]
        if step.change in {"finished", "replaced", "readmitted", "running", "never"}:
            continue
        since = next((when for when, one in reversed(steps[:at]) if one.pending is None), 0.0)
        assert now - since >= SETTLE, "nothing that just came is told"


@given(looks, states)
@settings(max_examples=300)
def test_what_stays_is_told_in_the_end(seen: list[tuple[State | None, float]], last: State) -> None:
    longest = SETTLE * 2**t.MOST_SWINGS * t.PATIENCE
    *_, (_, step) = watch([*seen, (last, 1.0), (last, longest), (last, longest)])
    assert t.change_between(step.told.state, last) is None


@given(looks)
@settings(max_examples=300)
def test_looking_again_after_a_restart_is_the_same(seen: list[tuple[State | None, float]]) -> None:
    told, pending, now = Told(waiting), None, 0.0
    for (state, after), (_, expected) in zip(seen, watch(seen), strict=True):
        now += after
        kept = t.decode_told(t.encode_told(told))
        assert kept is not None
        since = pending.since if pending is not None else 0.0
        step = t.step(kept, t.decode_pending(t.encode_pending(pending), since), state, now, SETTLE)
        assert step.change == expected.change or abs(now - round(now)) > 0, "`away` is kept in whole seconds"
        told, pending = expected.told, expected.pending


@given(looks)
@settings(max_examples=200)
def test_as_text_it_fits_the_store_and_comes_back(seen: list[tuple[State | None, float]]) -> None:
    for _, step in watch(seen):
        assert len(t.encode_told(step.told)) <= 200
        assert len(t.encode_pending(step.pending)) <= 200
        assert t.decode_told(t.encode_told(step.told)) == step.told


def test_every_rule_fits_the_store() -> None:
    for rule in RULES:
        state = State("waiting", rule.slug, never=True, uid=UID, admitted=1e10, queued=1e10)
        told = Told(state, state.key, 99)
        assert len(t.encode_told(told)) <= 200
        assert t.decode_told(t.encode_told(told)) == told
        assert len(t.encode_pending(Pending(state, 1e10, 1e10))) <= 200


@given(st.text(max_size=200))
def test_a_text_of_another_version_is_nothing_and_no_error(text: str) -> None:
    t.decode_told(text)
    t.decode_pending(text, 0.0)
    assert t.decode("nonsense") is None


# From a cluster


def observed(cluster: Cluster, name: str = "train") -> State:
    ref, snapshot = JobRef("team-a", name), cluster.snapshot()
    state = t.observe(snapshot, ref, diagnose(snapshot, ref))
    assert state is not None
    return state


def test_the_state_of_a_job_is_read_from_its_answer() -> None:
    expected = {
        "quota-in-use": "waiting/quota-in-use", "borrowing-limit": "waiting/exceeds-borrowing-limit!",
        "check-pending": "reserved/admission-check-pending", "anti-affinity": "admitted/pod-affinity-unsatisfied",
        "running": "running", "finished": "finished",
    }  # fmt: skip
    assert {name: observed(recorded(f"v0.19.2/{name}")).key for name in expected} == expected
    assert observed(recorded("v0.19.2/job-not-found"), "trian").key == "gone"


def test_what_was_not_read_is_no_state() -> None:
    cluster = recorded("v0.19.2/quota-in-use").unread("jobs", "workloads", "pods")
    ref, snapshot = JobRef("team-a", "train"), cluster.snapshot()
    assert t.observe(snapshot, ref, diagnose(snapshot, ref)) is None


def test_a_mark_changes_with_conditions_and_not_with_messages() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    name = cluster.named("Workload", "job-train")

    def mark(changed: Cluster) -> t.Mark:
        workload = changed.snapshot().look_of(Workload, name, "team-a")
        assert workload is not None
        return t.mark(workload)

    old = cluster.get("Workload", name)["status"]["conditions"]
    reworded = [{**entry, "message": "other figures"} for entry in old]
    moved = cluster.edit("Workload", name, {"metadata": {"resourceVersion": "99"}, "status": {"conditions": reworded}})
    assert mark(moved).text == mark(cluster).text
    turned = cluster.condition(
        "Workload", name, type="QuotaReserved", status="True", reason="QuotaReserved", message=""
    )
    assert mark(turned).text != mark(cluster).text
    assert mark(turned).phase == "reserved"
    assert mark(cluster).labelled
