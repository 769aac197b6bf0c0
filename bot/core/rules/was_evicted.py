"""Rule was-evicted."""

from bot.core.diagnosis import Evidence, Found
from bot.core.facts import Facts
from bot.core.moments import lasting, stamp
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule(
    "quota",
    move="nobody",
    outlook="unknown",
    phases=("waiting", "reserved", "admitted"),
    needs=("Workload",),
    context=True,
)
def was_evicted(facts: Facts) -> Found | None:
    """The Workload had quota before and lost it.

    When:
        The condition Evicted is True, or keeps what was "previously" so. It stays until the Workload gets quota
        again, so it tells of the past, not of what holds the Workload now.
    Why it blocks:
        It does not by itself. It explains why a job that had started waits again, and an eviction that repeats will
        come again.
    What to do:
        Look at the reason. For PodsReadyTimeout find out why the pods did not become ready; for AdmissionCheck read
        the check; for a stopped queue ask its owner; a Preempted Workload waits for quota again.
        The finding's data: `reason`, `at` (null where not known), `count` (how often in all).
    """
    workload = facts.identity.want()
    evicted = facts.history.evicted
    if evicted is None:
        return None
    about = subject("Workload", workload.name, workload.namespace)
    age = facts.age(evicted.at)
    ago = f" {lasting(age)} ago" if age is not None and evicted.current else ""
    often = f", {evicted.count} times in all" if evicted.count > 1 else ""
    cause = f", {quoted(evicted.cause)}" if evicted.cause and evicted.cause not in evicted.reason else ""
    still = ""
    if evicted.current and facts.progress.phase in {"reserved", "admitted"}:
        still = " It still holds its quota."
    return Found(
        f"Workload {named('Workload', workload.name, workload.namespace)} was evicted{ago} "
        f"({quoted(evicted.reason)}{cause}{often}).{still}",
        (Evidence(about, "status.conditions[Evicted]", quoted(f"{evicted.reason}: {evicted.text}"), "kueue"),),
        (),
        (about,),
        data={
            "reason": evicted.reason,
            "at": stamp(evicted.at) if evicted.at is not None and evicted.current else None,
            "count": evicted.count,
        },
    )
