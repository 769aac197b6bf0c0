"""Rule workload-terminating."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import lasting, stamp
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule("queue", move="platform", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=("Workload",))
def workload_terminating(facts: Facts) -> Found | None:
    """The Workload is being deleted and does not go.

    When:
        The Workload that decides for the job has a deletion time.
    Why it blocks:
        A Workload that is being deleted is not admitted any more. It goes when Kueue's job controller takes its finalizer away,
        usually at once; a new one is made for the job only after that.
    What to do:
        Wait a moment. When it stays, see whether Kueue runs, and whether the job's pods are gone.
    """
    workload = facts.identity.want()
    deleted = workload.metadata.deletion_timestamp
    if deleted is None:
        return None
    about = subject("Workload", workload.name, workload.namespace)
    age = max(facts.age(deleted) or 0, 0)
    held = ", ".join(quoted(name) for name in sorted(workload.metadata.finalizers))
    soon = " This may pass by itself." if age < facts.thresholds.young else ""
    return Found(
        f"Workload {named('Workload', workload.name, workload.namespace)} has been in deletion for {lasting(age)}"
        + (f" and is held by the finalizer {held}." if held else ".")
        + soon,
        (
            Evidence(about, "metadata.deletionTimestamp", stamp(deleted)),
            Evidence(about, "metadata.finalizers", held or "none"),
        ),
        (Step("platform", "See whether Kueue's controller runs and whether the job's pods are gone."),),
        (about,),
    )
