"""Rule waiting-for-pods-ready."""

from bot.core import objects as o
from bot.core.diagnosis import Certainty, Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.order import duration, job_of, ready_since, verdict_text
from bot.core.names import named, quoted, subject
from bot.core.rule import rule


@rule("quota", move="platform", outlook="wait", phases=("waiting",), needs=("Workload",))
def waiting_for_pods_ready(facts: Facts) -> Found | None:
    """Kueue admits nobody until another job's pods are ready.

    When:
        Kueue's current text says "waiting for all admitted workloads to be in PodsReady condition"; or it would fit, has
        no verdict at all, and somebody's admitted pods are not ready while blockAdmission is seen to be on: in Kueue's
        configuration, in another Workload's text, or because nobody got quota since.
    Why it blocks:
        With `waitForPodsReady.blockAdmission` Kueue's scheduler stops for all ClusterQueues until every Workload that has
        quota has its pods ready. How much quota is free does not matter meanwhile.
    What to do:
        Get the pods of the Workload that is not ready to start, or evict it; Kueue does so itself after the timeout of
        `waitForPodsReady`. If nobody should wait for somebody else's pods, the platform team sets `blockAdmission: false`.
        `kubectl get workloads.kueue.x-k8s.io -A -o yaml` shows who has PodsReady=False.
    """
    own = facts.identity.want()
    known = facts.order.blocking_not_ready
    if not facts.order.held_for_others:
        return None
    mine = known.said is own
    me = subject("Workload", own.name, own.namespace)
    evidence: tuple[Evidence, ...] = ()
    if known.said is not None:
        said = known.said
        who = subject("Workload", said.name, said.namespace)
        evidence = (Evidence(who, "status.conditions[QuotaReserved].message", quoted(verdict_text(said)), "kueue"),)
    if known.configured:
        config = subject("Namespace", facts.snapshot.kueue_namespace)
        evidence = (*evidence, Evidence(config, "ConfigMap waitForPodsReady.blockAdmission", "true"))
    if not known.blockers:
        none = "no such Workload is left" if known.full else "which one could not be seen"
        return Found(
            f"Kueue waits for the pods of every admitted Workload to be ready; {none}.",
            evidence or (Evidence(me, "status.conditions[QuotaReserved]", "absent"),),
            (Step("platform", "Find the Workload whose pods are not ready; if there is none, look into Kueue's log."),),
            (me,),
            "reported",
        )
    first = known.blockers[0]
    pods = _ready(first)
    evidence = (
        *evidence,
        Evidence(subject("Workload", first.name, first.namespace), "status.conditions[PodsReady]", pods),
    )
    since = facts.age(ready_since(first))
    kind, name = job_of(first)
    more = f" and {len(known.blockers) - 1} more" if len(known.blockers) > 1 else ""
    blocker = named("Workload", first.name, first.namespace)
    certainty: Certainty = "likely"
    if mine or known.said is not None:
        certainty = "reported"
    elif known.configured:
        certainty = "certain"
    return Found(
        f"Kueue admits nobody until the pods of {kind} {named(kind, name, first.namespace)}{more} are ready: it has had quota"
        f" for {duration(since)} and its pods are not ready.",
        evidence,
        (
            Step("platform", f"Find out why the pods of {blocker} do not start; Kueue evicts it after the timeout."),
            Step("platform", "If nobody should wait for others' pods, set waitForPodsReady.blockAdmission to false."),
        ),
        (subject("Workload", first.name, first.namespace),),
        certainty,
    )


def _ready(workload: o.Workload) -> str:
    found = next((entry for entry in workload.status.conditions if entry.type == "PodsReady"), None)
    return f"{found.status} ({quoted(found.reason, 60)})" if found is not None else "absent"
