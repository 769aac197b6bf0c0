"""Rule name-is-ambiguous."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, subject
from bot.core.rule import rule


@rule("lookup", move="asker", outlook="fix", phases=(), needs=("Workload", "Pod"))
def name_is_ambiguous(facts: Facts) -> Found | None:
    """Several things of that name are waiting.

    When:
        Objects of different kinds share the name, none belongs to another of them, and more than one of them is waiting.
        Where only one waits, that one is answered.
    Why it blocks:
        Each waits for a reason of its own, so there is no one answer to the question as it was asked.
    What to do:
        Ask again with the kind: each candidate comes with its own short answer and the way to ask for it. The finding's data:
        `candidates`, each with `kind`, `name`, `rule`, `outlook` and `ask`.
    """
    waiting = facts.named.ambiguous
    if not waiting:
        return None
    namespace, name = facts.ref.namespace, facts.ref.name
    candidates, steps, evidence, lines = [], [], [], []
    for thing, answer in waiting:
        ask = f"{namespace}/{thing.kind.lower()}/{name}"
        rule_slug = answer.headline.rule if answer is not None else ""
        says = answer.headline.sentence if answer is not None else "waits"
        candidates.append(
            {
                "kind": thing.kind,
                "name": name,
                "rule": rule_slug,
                "outlook": answer.outlook if answer is not None else "unknown",
                "ask": ask,
            }
        )
        lines.append(f"{thing.kind}: {says}")
        evidence.append(Evidence(subject(thing.kind, name, namespace), "headline", rule_slug or "waiting", "computed"))
        steps.append(Step("asker", f"Ask about the {thing.kind}: {ask}"))
    kinds = ", ".join(str(candidate["kind"]) for candidate in candidates)
    return Found(
        f"{len(waiting)} things named {named('Job', name, namespace)} are waiting ({kinds}). " + " ".join(lines),
        tuple(evidence),
        tuple(steps),
        tuple(subject(thing.kind, name, namespace) for thing, _ in waiting),
        data={"candidates": candidates},
    )
