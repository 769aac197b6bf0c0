"""Rule recreated-in-a-loop."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.names import quoted
from bot.core.rule import rule


@rule(
    "workload",
    move="platform",
    outlook="fix",
    phases=("unmanaged", "no-workload", "waiting", "reserved", "admitted"),
    needs=("Event",),
)
def recreated_in_a_loop(facts: Facts) -> Found | None:
    """Kueue discards and makes its Workload again and again.

    When:
        Events of the last half hour say at least three times that Kueue deleted a Workload which no longer matched the
        job, or stopped the job because none matched it.
    Why it blocks:
        Something changes the job after Kueue has copied it into the Workload: another webhook or a controller. Kueue then stops
        the job, throws the Workload away and begins anew, and so on.
    What to do:
        Find what changes the job: compare its pod template with the Workload's pod sets, and look at the mutating webhooks and
        at the managers in `metadata.managedFields`.
    """
    loop, item = facts.membership.loop, facts.identity.root
    if loop is None or item is None:
        return None
    differs = f" Now they differ in {', '.join(loop.differences)}." if loop.differences else ""
    return Found(
        f"Kueue discarded the Workload of {titled(item)} {loop.times} times in {loop.minutes} minutes because the job no longer "
        f"matched it.{differs}",
        tuple(
            Evidence(subject_of(item), f"event {event.reason}, {event.times} times", quoted(event.message), "kueue")
            for event in loop.events
        ),
        (
            Step(
                "platform",
                "Find what changes the job after it was created.",
                f"kubectl get {item.kind.lower()} {item.name} -n {item.namespace} -o yaml --show-managed-fields",
            ),
        ),
        (subject_of(item),),
        certainty="reported",
    )
