"""Rule fair-share-behind."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.order import LOST_IN_CYCLE, job_of, verdict_text
from bot.core.names import named, subject
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="wait", phases=("waiting",), needs=("Workload", "LocalQueue", "ClusterQueue"))
def fair_share_behind(facts: Facts) -> Found | None:
    """Fair sharing puts others first.

    When:
        The Workload would fit, and either the ClusterQueue admits by usage (`admissionScope`) and Workloads of LocalQueues
        that used less lately stand before it, or Fair Sharing is on in the cohort and another ClusterQueue with a smaller
        weighted share has a Workload waiting.
    Why it blocks:
        Usage-based admission sorts by what a LocalQueue used lately before it looks at priority. Fair Sharing lets the
        ClusterQueue with the smaller share of borrowed quota go first.
    What to do:
        Wait: shares even out as others use more and one's own usage fades. The weights of LocalQueue and ClusterQueue
        decide how fast; a weight of 0 means last.
    """
    if facts.quota.verdict != "fits":
        return None
    return _by_usage(facts) or _by_share(facts)


def _by_usage(facts: Facts) -> Found | None:
    order, own = facts.order, facts.identity.want()
    if not order.usage_based:
        return None
    mine = order.local_usage(own)
    others = [
        (other, usage)
        for other in order.in_motion
        if (other.namespace, other.spec.queue_name) != (own.namespace, own.spec.queue_name)
        and (usage := order.local_usage(other)) is not None
        and mine is not None
        and usage < mine
    ]
    if not others or mine is None:
        return None
    first, usage = others[0]
    me = subject("LocalQueue", own.spec.queue_name, own.namespace)
    other = subject("LocalQueue", first.spec.queue_name, first.namespace)
    field = "status.fairSharing.admissionFairSharingStatus.consumedResources"
    kind, name = job_of(first)
    rest = len(others) - 1
    more = f" and {rest} more Workload{'s' if rest != 1 else ''} go" if rest else " goes"
    return Found(
        f"{kind} {named(kind, name, first.namespace)}{more} first, for {'their LocalQueues' if rest else 'its LocalQueue'} used"
        f" less lately: {usage:.4g} against {mine:.4g}.",
        (
            Evidence(subject("ClusterQueue", order.queue.name), "spec.admissionScope.admissionMode",
                     "UsageBasedAdmissionFairSharing"),
            Evidence(me, field, f"{mine:.4g}", "computed"),
            Evidence(other, field, f"{usage:.4g}", "computed"),
        ),
        (Step("nobody", "Wait: the usage of its LocalQueue fades, and those before it are admitted."),),
        (me, other),
        "likely",
    )  # fmt: skip


def _by_share(facts: Facts) -> Found | None:
    order, own = facts.order, facts.identity.want()
    share = order.share(order.queue.name)
    text = verdict_text(own).lower()
    if share is None or (text and not any(part in text for part in LOST_IN_CYCLE)):
        return None
    for name, head in order.rival_heads:
        other = order.share(name)
        if other is not None and other < share and not verdict_text(head):
            kind, job = job_of(head)
            mine = subject("ClusterQueue", order.queue.name)
            theirs = subject("ClusterQueue", name)
            return Found(
                f"Fair Sharing lets ClusterQueue {named('ClusterQueue', name)} go first, where {kind}"
                f" {named(kind, job, head.namespace)} waits: its weighted share is {other}, this one's {share}.",
                (
                    Evidence(mine, "status.fairSharing.weightedShare", str(share)),
                    Evidence(theirs, "status.fairSharing.weightedShare", str(other)),
                ),
                (Step("nobody", "Wait: ClusterQueues with a smaller share are served first."),),
                (mine, theirs),
                "likely",
            )
    return None
