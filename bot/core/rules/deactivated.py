"""Rule deactivated."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import clock
from bot.core.names import named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule
from bot.core.workloads import is_variant

_BY_RULES_BELOW = {"RequeuingLimitExceeded", "MaximumExecutionTimeExceeded", "AdmissionCheck"}


@rule("queue", move="asker", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=("Workload",))
def deactivated(facts: Facts) -> Found | None:
    """The Workload is deactivated by a person or a tool.

    When:
        The Workload's `spec.active` is false, and none of Kueue's own causes (too many restarts, the execution time, a
        rejected check) is recorded on it.
    Why it blocks:
        Kueue leaves an inactive Workload out of every queue and evicts it if it runs. It stays so until somebody sets
        `spec.active` to true; nothing else, no free quota either, starts it.
    What to do:
        Ask who stopped it and why, for instance with `kueuectl stop workload`. Then set `spec.active` to true, or use
        `kueuectl resume workload NAME`. By hand: `kubectl -n NAMESPACE patch workloads.kueue.x-k8s.io NAME --type=merge -p
        '{"spec":{"active":true}}'`.
    """
    workload = facts.identity.want()
    cause = facts.history.deactivated_by
    if workload.spec.active is not False or cause in _BY_RULES_BELOW:
        return None
    about = subject("Workload", workload.name, workload.namespace)
    evidence = [Evidence(about, "spec.active", "false")]
    evicted = condition(workload.status.conditions, "Evicted")
    if evicted is not None and evicted.reason in {"Deactivated", "InactiveWorkload"} and evicted.last_transition_time:
        state = f"has been deactivated since {clock(evicted.last_transition_time)}"
        evidence.append(Evidence(about, "status.conditions[Evicted].reason", evicted.reason, "kueue"))
    else:
        state = "is deactivated"
    by = "a person or a tool"
    if is_variant(workload):
        by = "Kueue or somebody, and the other variants of the same job go on without it"
    elif cause == "EvictedOnManagerCluster":
        by = "MultiKueue, because it was evicted on the manager cluster"
    elif cause:
        by = f"Kueue, with the cause {quoted(cause)}"
    return Found(
        f"Workload {named('Workload', workload.name, workload.namespace)} {state}: its spec.active was set to "
        f"false by {by}.",
        tuple(evidence),
        (
            Step(
                "asker",
                "Ask who deactivated it, then activate it again.",
                f"kubectl -n {workload.namespace} patch workloads.kueue.x-k8s.io {workload.name} --type=merge "
                """-p '{"spec":{"active":true}}'""",
            ),
        ),
        (about,),
    )
