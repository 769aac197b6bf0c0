"""Rule parent-decides."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import kind_of, subject_of, titled
from bot.core.names import named, quoted, subject
from bot.core.objects import KubeObject, Workload
from bot.core.rule import rule
from bot.core.workloads import is_variant


@rule(
    "workload",
    move="asker",
    outlook="fix",
    phases=(),
    needs=("Workload",),
)
def parent_decides(facts: Facts) -> Found | None:
    """An object above it decides.

    When:
        What was asked about has no Workload of its own and belongs to an object that Kueue manages, or that suspends and resumes
        it. The answer is that object's; this stands beside it. It is the headline only when the object above could not be read.
    Why it blocks:
        Kueue admits the topmost object that it manages, with everything that it will create. What is below follows.
    What to do:
        Ask about the object above.
    """
    identity = facts.identity
    target = identity.target
    if target is None:
        return None
    if identity.cluster_selector and not facts.matching.workloads_of(target):
        return _of_chosen_cluster(facts, target)
    parent, unread = identity.parent, identity.unread_owner
    if parent is not None:
        above, about = titled(parent), subject_of(parent)
        ask = f"{parent.namespace}/{kind_of(parent).lower()}/{parent.name}"
        evidence = Evidence(subject_of(target), "metadata.ownerReferences", f"{kind_of(parent)}/{parent.name}")
    elif unread is not None and (facts.membership.suspended or identity.workloads):
        above = f"{unread.kind} {named(unread.kind, unread.name, target.namespace)}"
        about = subject(unread.kind, unread.name, target.namespace)
        ask = f"{target.namespace}/{unread.kind.lower()}/{unread.name}"
        evidence = Evidence(subject_of(target), "metadata.ownerReferences", f"{unread.kind}/{unread.name}")
    else:
        return _variants(facts, target) or _too_deep(facts, target)
    known = ", which could not be read" if parent is None and not identity.workloads else ""
    nothing_known = parent is None and not identity.workloads
    return Found(
        f"{titled(target)} has no Workload of its own: {above} decides for it{known}.",
        (evidence,),
        (Step("asker", f"Ask about {ask}"),),
        (about,),
        beside=not nothing_known,
        unread=(facts.snapshot.why_not(unread.kind, target.namespace, unread.name),)
        if nothing_known and unread
        else (),
    )


def _of_chosen_cluster(facts: Facts, target: KubeObject) -> Found:
    """A RayJob that runs on a RayCluster of its choice has no Workload: the RayCluster has one, or none."""
    identity = facts.identity
    selector, cluster = identity.cluster_selector, identity.chosen_cluster
    chosen = quoted(", ".join(f"{key}={value}" for key, value in sorted(selector.items())), 120)
    name = cluster.name if cluster is not None else selector.get("ray.io/cluster", "")
    which = f"RayCluster {named('RayCluster', name, target.namespace)}" if name else f"the RayCluster with {chosen}"
    held = f", so set {facts.membership.suspend_path} to false yourself" if facts.membership.suspended else ""
    return Found(
        f"{titled(target)} runs on {which}, which it chooses by spec.clusterSelector: Kueue makes no Workload of it, that "
        f"RayCluster decides{held}.",
        (Evidence(subject_of(target), "spec.clusterSelector", chosen),),
        (Step("asker", f"Ask about {target.namespace}/raycluster/{name}" if name else "Ask about that RayCluster."),),
        (subject("RayCluster", name, target.namespace),) if name else (subject_of(target),),
        beside=cluster is not None or not facts.membership.suspended,
    )


def _variants(facts: Facts, target: KubeObject) -> Found | None:
    """Of a job under concurrent admission the variants queue, one per flavor, and never the Workload above them."""
    workloads = facts.identity.workloads
    variants = [workload for workload in workloads if is_variant(workload)]
    if not variants or isinstance(target, Workload) or facts.identity.workload not in variants:
        return None
    chosen = facts.identity.want()
    name = named("Workload", chosen.name, chosen.namespace)
    return Found(
        f"Kueue queues {len(variants)} variant{'s' if len(variants) > 1 else ''} of the Workload of {titled(target)}, one per "
        f"flavor, instead of it: the answer is that of {name}.",
        (Evidence(subject_of(chosen), "metadata.ownerReferences", "another Workload"),),
        (Step("asker", "Ask about another variant by its Workload's name."),),
        tuple(subject_of(workload) for workload in variants[:5]),
        beside=True,
    )


def _too_deep(facts: Facts, target: KubeObject) -> Found | None:
    """Kueue gave up its search for the job that manages this one: more owners stand above it than Kueue climbs."""
    if facts.identity.workloads:
        return None
    said = next((e for e in reversed(facts.kin.events(target)) if e.reason == "JobNestingTooDeep"), None)
    if said is None:
        return None
    return Found(
        f"{titled(target)} has too many owners above it: Kueue gave up its search for the one that decides for it.",
        (Evidence(subject_of(target), "events[JobNestingTooDeep].message", quoted(said.message), "kueue"),),
        (Step("asker", "Put fewer objects between this job and the one with the queue name."),),
        (subject_of(target),),
        certainty="reported",
    )
