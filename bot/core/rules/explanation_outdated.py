"""Rule explanation-outdated."""

from bot.core.diagnosis import Evidence, Found
from bot.core.facts import Facts
from bot.core.moments import lasting
from bot.core.names import quoted, subject
from bot.core.rule import rule


@rule("quota", move="nobody", outlook="unknown", phases=("waiting",), needs=("Workload",), context=True)
def explanation_outdated(facts: Facts) -> Found | None:
    """Kueue's last words are no longer true.

    When:
        Kueue's text about the Workload says something that the objects disprove now: a queue that exists again, a
        namespace that is selected, a flavor that is there, other figures, or room where it saw none.
    Why it blocks:
        It does not by itself. Kueue writes the text when it looks at the Workload and leaves it until the next look,
        so what `kubectl describe workload` shows may be long past. The answer goes by the objects, not by the text.
    What to do:
        Nothing, if Kueue looks again soon. Where it does not, the headline says what would make it look.
    """
    workload = facts.identity.want()
    outdated = facts.history.outdated
    if not outdated:
        return None
    about = subject("Workload", workload.name, workload.namespace)
    last = facts.history.last_repeated(workload, facts.history.text)
    seen = f" (last repeated {lasting(facts.age(last) or 0)} ago)" if last is not None else ""
    first = outdated[0]
    more = f" {len(outdated) - 1} more of its statements are disproved too." if len(outdated) > 1 else ""
    return Found(
        f"Kueue's last words{seen} do not agree with the objects any more: they say that {first.said}, but {first.now}.{more}",
        (
            Evidence(about, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"),
            *dict.fromkeys(proof for entry in outdated for proof in entry.evidence),
        ),
        (),
        (about,),
    )
