"""Rule access-denied."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import quoted, subject
from bot.core.rule import rule


@rule("lookup", move="platform", outlook="unknown", phases=(), needs=())
def access_denied(facts: Facts) -> Found | None:
    """What the question needs may not be read.

    When:
        The identity that reads the cluster is forbidden to read the job, or the Workloads of its namespace, so that it cannot be
        said how far the job is.
    Why it blocks:
        Nothing is known of the job itself: this says nothing about why it is pending.
    What to do:
        Grant the identity `get` and `list` on what is named, then ask again. `whypending doctor` lists what is missing.
    """
    refused = facts.missing.refused
    if not refused:
        return None
    ref = facts.ref
    texts = "; ".join(quoted(gap.text, 120) for gap in refused[:3])
    return Found(
        f"Cannot say why it is pending, what the question needs may not be read: {texts}.",
        tuple(
            Evidence(subject(gap.kind, gap.name or "*", gap.namespace or ref.namespace), "access", quoted(gap.reason))
            for gap in refused
        ),
        (Step("platform", "Grant get and list on what is named, then ask again.", "whypending doctor"),),
        unread=tuple(dict.fromkeys(gap.text for gap in refused)),
    )
