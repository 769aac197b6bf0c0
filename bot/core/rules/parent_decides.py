"""Rule parent-decides."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.identity import kind_of, subject_of, titled
from bot.core.names import named, subject
from bot.core.rule import rule


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
        return None
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
