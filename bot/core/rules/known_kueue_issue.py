"""Rule known-kueue-issue."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.known_issues import matching
from bot.core.known_issues.issue import Issue, upgrade
from bot.core.names import quoted, subject
from bot.core.rule import rule


@rule(
    "quota",
    move="nobody",
    outlook="unknown",
    phases=("unmanaged", "no-workload", "waiting", "reserved", "admitted", "finished"),
    needs=("Workload",),
    context=True,
)
def known_kueue_issue(facts: Facts) -> Found | None:
    """A known issue of Kueue fits what is seen.

    When:
        The objects show what an issue of certain versions of Kueue looks like, and this Kueue is one of those
        versions, or its version cannot be told.
    Why it blocks:
        The issue keeps the job waiting, or makes Kueue say something that is not so. It goes away with an upgrade.
    What to do:
        Have Kueue upgraded to the version named, or use the workaround if there is one.
        The finding's data: `issues`, each with `reference` and `fixed` (the first versions without it).
    """
    found = matching(facts)
    if not found:
        return None
    parts, steps, evidence = [], [], []
    for issue, match, version in found:
        if version is not None:
            running = "v" + ".".join(str(part) for part in version)
            parts.append(
                f"Known issue of Kueue, which {running} has: {issue.title}. Here {match.sentence}. Fixed in "
                f"{_listed(issue)} ({issue.reference})."
            )
            evidence.append(
                Evidence(subject("Deployment", "kueue-controller-manager", "kueue-system"), "version", running)
            )
        else:
            parts.append(
                f"If your Kueue is older than {_listed(issue)}, it has a known issue: {issue.title}. Here {match.sentence} "
                f"({issue.reference})."
            )
        evidence += match.evidence
        text = f"Upgrade Kueue to {upgrade(issue, version)} or later."
        if issue.workaround:
            text += f" Until then: {quoted(issue.workaround)}."
        steps.append(Step("platform", text))
    workload = facts.identity.workload
    return Found(
        " ".join(parts),
        tuple(dict.fromkeys(evidence)),
        tuple(dict.fromkeys(steps)),
        (subject("Workload", workload.name, workload.namespace),) if workload is not None else (),
        "likely",
        data={"issues": [{"reference": issue.reference, "fixed": list(issue.fixed)} for issue, _, _ in found]},
    )


def _listed(issue: Issue) -> str:
    return " / ".join(issue.fixed)
