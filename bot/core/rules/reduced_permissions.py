"""Rule reduced-permissions."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.missing import REFUSED
from bot.core.names import quoted, subject
from bot.core.rule import rule


@rule("quota", move="platform", outlook="unknown", phases=(), context=True)
def reduced_permissions(facts: Facts) -> Found | None:
    """Some things may not be read.

    When:
        Reads of this question were refused (403 or 401) to the identity that reads the cluster.
    Why it blocks:
        It does not. What depends on these objects could not be checked, and is listed as not checked.
    What to do:
        Grant the identity `get` and `list` on what is named. `whypending doctor` lists what is missing.
    """
    gaps = sorted(
        {gap for gap in facts.snapshot.gaps if REFUSED.search(gap.reason)}, key=lambda gap: (gap.text, gap.reason)
    )
    if not gaps:
        return None
    listed = "; ".join(quoted(gap.text, 100) for gap in gaps[:5])
    more = f"; and {len(gaps) - 5} more" if len(gaps) > 5 else ""
    return Found(
        f"Not everything may be read: {listed}{more}.",
        tuple(
            Evidence(subject(gap.kind, gap.name or "*", gap.namespace), "access", quoted(gap.reason)) for gap in gaps
        ),
        (Step("platform", "Grant get and list on what is named.", "whypending doctor"),),
    )
