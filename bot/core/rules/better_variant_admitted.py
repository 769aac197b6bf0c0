"""Rule better-variant-admitted."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.preemption import quota_text
from bot.core.marks import ALLOWED_FLAVORS
from bot.core.names import named, quoted, subject
from bot.core.objects import is_true
from bot.core.rule import rule
from bot.core.workloads import is_variant

_BETTER = "a more favorable variant is already admitted"
_BELOW = "target flavor is below lastacceptableflavorname"


@rule(
    "quota",
    move="nobody",
    outlook="unknown",
    phases=("waiting", "reserved", "admitted"),
    needs=("Workload",),
    context=True,
)
def better_variant_admitted(facts: Facts) -> Found | None:
    """A better variant of it runs already.

    When:
        The Workload is one of several variants of one job (concurrent admission), and another variant is admitted; or
        Kueue says "A more favorable variant is already admitted", or that this variant's flavor is no longer accepted.
    Why it blocks:
        Of the variants of a job one runs. The others wait and are given up.
    What to do:
        Nothing: the job runs on the better flavor.
    """
    own = facts.identity.want()
    if isinstance(facts.identity.target, o.Workload) and is_variant(facts.identity.target):
        own = facts.identity.target
    text = quota_text(own)
    me = subject("Workload", own.name, own.namespace)
    told = any(part in text.lower() for part in (_BETTER, _BELOW))
    parents = {ref.uid for ref in own.metadata.owner_references if ref.kind == "Workload" and ref.uid}
    sibling = next(
        (
            w
            for w in facts.snapshot.all_of(o.Workload, read="seen", namespace=own.namespace)
            if w is not own
            and ALLOWED_FLAVORS in own.metadata.annotations
            and is_variant(w)
            and is_true(w.status.conditions, "Admitted")
            and not is_true(w.status.conditions, "Evicted")
            and not is_true(w.status.conditions, "Finished")
            and parents & {ref.uid for ref in w.metadata.owner_references}
        ),
        None,
    )
    if not told and sibling is None:
        return None
    evidence = [Evidence(me, "status.conditions[QuotaReserved].message", quoted(text), "kueue")] if told else []
    which = "A more favorable variant"
    if sibling is not None:
        other = subject("Workload", sibling.name, sibling.namespace)
        evidence.append(Evidence(other, "status.conditions[Admitted]", "True"))
        which = f"The variant {named('Workload', sibling.name, sibling.namespace)}"
    sentence = f"{which} of this job is admitted; this one waits beside it."
    if told and _BELOW in text.lower():
        sentence = f'Kueue no longer moves the job to this variant\'s flavor: "{quoted(text, 160)}".'
    return Found(
        sentence, tuple(evidence), (Step("nobody", "Nothing to do: the job runs as the other variant."),), (me,),
        "certain" if sibling is not None else "reported",
    )  # fmt: skip
