"""Rule no-explanation-visible."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule("quota", move="platform", outlook="unknown", phases=(), fallback=True)
def no_explanation_visible(facts: Facts) -> Found | None:
    """Nothing that could be read explains it.

    When:
        No other rule fires. What could not be checked is listed; if everything was checked, the known silent paths
        remain: Kueue writes nothing when admitting fails inside the scheduler or when a look-up of its own fails.
    Why it blocks:
        Unknown. An answer that guesses is worse than none.
    What to do:
        Make readable what is listed as not checked and ask again; else look into Kueue's own logs.
    """
    ref = facts.ref
    missing = sorted({entry.reason for entry in facts.unchecked})
    if missing:
        shown = "; ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        sentence = f"Nothing that could be read explains it; not read: {shown}."
        step = Step("platform", "Let the reader see what is listed as not checked, then ask again.")
    else:
        sentence = "Everything was read and nothing explains it: Kueue's own logs are the next place to look."
        step = Step("platform", "Look for this Workload in the logs of Kueue's controller manager.")
    kind = ref.kind or "Job"
    try:
        job = facts.identity.job
        kind = job.kind if job is not None else kind
    except Unknown:  # the kind in the evidence is a courtesy; this rule must always fire
        pass
    evidence = Evidence(subject(kind, ref.name, ref.namespace), "rules that fired", "0", "computed")
    return Found(sentence, (evidence,), (step,), certainty="likely")
