"""Rule deactivated-requeue-limit."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule


@rule("queue", move="asker", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=("Workload",))
def deactivated_requeue_limit(facts: Facts) -> Found | None:
    """Kueue gave up: the pods were never ready in time, too often.

    When:
        The Workload's `spec.active` is false, and the eviction (or the deactivation) carries the cause
        RequeuingLimitExceeded.
    Why it blocks:
        With `waitForPodsReady` Kueue evicts a Workload whose pods are not ready in time and tries again after a backoff.
        After `requeuingStrategy.backoffLimitCount` attempts it sets `spec.active` to false, and never tries again by itself.
    What to do:
        Find out why the pods do not become ready (image, volumes, nodes, readiness probes), mend that, and set
        `spec.active` to true. Raising `backoffLimitCount` or the timeout in Kueue's configuration is the platform's decision.
    """
    workload = facts.identity.want()
    if facts.history.deactivated_by != "RequeuingLimitExceeded":
        return None
    about = subject("Workload", workload.name, workload.namespace)
    evicted, trouble = facts.history.evicted, facts.history.trouble
    stats = workload.status.scheduling_stats
    tries = sum(e.count for e in (stats.evictions if stats is not None else ()) if e.reason == "PodsReadyTimeout")
    evidence = [Evidence(about, "spec.active", "false")]
    if evicted is not None:
        evidence.append(Evidence(about, "status.conditions[Evicted].reason", evicted.reason, "kueue"))
    sentence = (
        f"Workload {named('Workload', workload.name, workload.namespace)} is deactivated: its pods were not ready in time "
        + (f"{tries} times" if tries > 1 else "too often")
        + ", and Kueue gave up."
    )
    if trouble is not None:
        sentence += f" The last sign of why: {cited(trouble.text, 300)}."
        where = subject("Pod", trouble.name, workload.namespace)
        evidence.append(Evidence(where, f"events[{trouble.reason}].message", quoted(trouble.text)))
    return Found(
        sentence,
        tuple(evidence),
        (
            Step("asker", "Mend what keeps the pods from becoming ready."),
            Step(
                "asker",
                "Then activate it again.",
                f"kubectl -n {workload.namespace} patch workloads.kueue.x-k8s.io {workload.name} --type=merge "
                """-p '{"spec":{"active":true}}'""",
            ),
        ),
        (about,),
    )
