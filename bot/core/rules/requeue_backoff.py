"""Rule requeue-backoff."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.history import Evicted
from bot.core.moments import clock, lasting, stamp
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule
from bot.core.texts import eviction

_WHY = {
    "PodsReadyTimeout": "its pods were not ready in time",
    "AdmissionCheck": "an admission check asked for a new try",
    "Preempted": "others needed its quota",
    "NodeFailures": "a node of it failed",
}


@rule("queue", move="asker", outlook="wait", phases=("waiting",), needs=("Workload",))
def requeue_backoff(facts: Facts) -> Found | None:
    """The Workload waits out a pause before its next try.

    When:
        The Workload's `status.requeueState.requeueAt` lies in the future.
    Why it blocks:
        After an eviction because pods were not ready in time, or because a check asked for a new try, Kueue waits
        before it queues the Workload again; each time about twice as long. Free quota does not shorten the pause.
    What to do:
        Use the pause to mend what made the last try fail, or the next one fails as well; after too many Kueue gives up and
        deactivates the Workload. `status.requeueState` of the Workload has the count and the moment.
        The finding's data: `until`, the moment at which Kueue queues it again.
    """
    workload = facts.identity.want()
    state = workload.status.requeue_state
    if state is None or state.requeue_at is None or state.requeue_at <= facts.now or workload.spec.active is False:
        return None
    about = subject("Workload", workload.name, workload.namespace)
    evicted, trouble = facts.history.evicted, facts.history.trouble
    left = (state.requeue_at - facts.now).total_seconds()
    evidence = [Evidence(about, "status.requeueState.requeueAt", stamp(state.requeue_at))]
    if state.count:
        evidence.append(Evidence(about, "status.requeueState.count", str(state.count)))
    sentence = (
        f"Workload {named('Workload', workload.name, workload.namespace)} is queued again at {clock(state.requeue_at)}, in "
        f"{lasting(left)}"
    )
    failed = ""
    if evicted is not None and evicted.current:
        evidence.append(
            Evidence(about, "status.conditions[Evicted]", quoted(f"{evicted.reason}: {evicted.text}"), "kueue")
        )
        said = eviction(evicted.text)
        checks = [
            f"AdmissionCheck {named('AdmissionCheck', check)} asked for a new try{f': {cited(words)}' if words else ''}"
            for check, words in (said.checks if said is not None else ())
        ]
        why = f", {'; '.join(checks)}" if checks else f" ({quoted(evicted.reason)}{_reason(evicted)})"
        sentence += f": it was evicted {_times(state.count or evicted.count)}{why}."
        if evicted.reason == "PodsReadyTimeout" and trouble is not None:
            failed = quoted(trouble.text, 300)
            pod = named("Pod", trouble.name, workload.namespace)
            sentence += f" Its pod {pod} said last: {cited(failed)}."
            where = subject("Pod", trouble.name, workload.namespace)
            evidence.append(Evidence(where, f"events[{trouble.reason}].message", quoted(trouble.text)))
    else:
        sentence += "."
    steps = [Step("nobody", f"Wait until {clock(state.requeue_at)}.")]
    if failed:
        steps.insert(0, Step("asker", "Mend what the pod said, or the next try ends the same way."))
    elif evicted is not None and evicted.reason == "PodsReadyTimeout":
        steps.insert(0, Step("asker", "Find out why its pods were not ready, or the next try ends the same way."))
    return Found(sentence, tuple(evidence), tuple(steps), (about,), data={"until": stamp(state.requeue_at)})


def _times(count: int) -> str:
    return "once" if count <= 1 else "twice" if count == 2 else f"{count} times"


def _reason(evicted: Evicted) -> str:
    why = _WHY.get(evicted.reason, "")
    return f": {why}" if why else ""
