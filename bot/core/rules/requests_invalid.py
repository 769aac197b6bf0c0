"""Rule requests-invalid."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.queue import RequestProblem
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule
from bot.core.snapshot import Unknown
from bot.core.texts import Validation


@rule("queue", move="asker", outlook="never-as-written", phases=("waiting",), needs=("Workload", "LimitRange"))
def requests_invalid(facts: Facts) -> Found | None:
    """The pods ask for more than their own limits, or for what a LimitRange forbids.

    When:
        A container requests more than its limit, where the limit may be a LimitRange's default; or a container or the whole pod
        is above the maximum or below the minimum of a LimitRange of the namespace.
    Why it blocks:
        Kueue checks this before it looks at quota, since the API would refuse the pods anyway. No free quota helps.
    What to do:
        Change the request, or state a limit that is at least the request: then the LimitRange's default does not come in. The
        bounds of a LimitRange are the namespace owner's to change; an older Kueue looks again only when the Workload changes.
    """
    workload = facts.identity.want()
    about = subject("Workload", workload.name, workload.namespace)
    said = facts.history.said
    try:
        problems = facts.queue.request_problems
    except Unknown as unknown:
        if not (isinstance(said, Validation) and said.what in {"requests", "limit-range"}):
            raise
        return Found(
            f"Kueue refuses what the pods request: {cited(facts.history.text, 300)}.",
            (Evidence(about, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue"),),
            (Step("asker", "Compare the requests with the limits and with the LimitRanges of the namespace."),),
            (about,),
            "reported",
            unread=(unknown.reason,),
        )
    if not problems:
        return None
    evidence = []
    for entry in problems:
        problem = entry.problem
        evidence.append(Evidence(about, f"{entry.where}.resources.requests[{problem.resource}]", problem.asked))
        if problem.limit_range:
            field = {"above-limits": "default", "above-max": "max", "below-min": "min"}[problem.what]
            where = subject("LimitRange", problem.limit_range, workload.namespace)
            evidence.append(Evidence(where, f"spec.limits[].{field}[{problem.resource}]", problem.bound))
        else:
            evidence.append(Evidence(about, f"{entry.where}.resources.limits[{problem.resource}]", problem.bound))
    if isinstance(said, Validation) and said.what in {"requests", "limit-range"}:
        evidence.append(
            Evidence(about, "status.conditions[QuotaReserved].message", quoted(facts.history.text), "kueue")
        )
    more = f" ({len(problems) - 1} more like it.)" if len(problems) > 1 else ""
    return Found(
        _sentence(problems[0], workload.namespace) + more,
        tuple(dict.fromkeys(evidence)),
        tuple(_steps(problems)),
        (
            about,
            *dict.fromkeys(
                subject("LimitRange", entry.problem.limit_range, workload.namespace)
                for entry in problems
                if entry.problem.limit_range
            ),
        ),
    )


def _sentence(entry: RequestProblem, namespace: str) -> str:
    problem = entry.problem
    who = (
        f"Container {quoted(problem.container)} of pod set {quoted(entry.pod_set)}"
        if problem.container
        else (f"A pod of pod set {quoted(entry.pod_set)}")
    )
    by = named("LimitRange", problem.limit_range, namespace) if problem.limit_range else ""
    asks = f"{who} requests {problem.asked} {problem.resource}"
    if problem.what == "above-limits" and by:
        return f"{asks}, above the limit of {problem.bound} that LimitRange {by} sets by default."
    if problem.what == "above-limits":
        return f"{asks}, above its own limit of {problem.bound}."
    if problem.what == "above-max":
        return f"{asks}, above the maximum of {problem.bound} in LimitRange {by}."
    return f"{asks}, below the minimum of {problem.bound} in LimitRange {by}."


def _steps(problems: tuple[RequestProblem, ...]) -> list[Step]:
    problem = problems[0].problem
    bounds = [
        entry.problem
        for entry in problems
        if (entry.pod_set, entry.problem.container, entry.problem.resource)
        == (problems[0].pod_set, problem.container, problem.resource)
        and entry.problem.what != "above-limits"
    ]
    if bounds:
        least = "at most" if bounds[0].what == "above-max" else "at least"
        return [
            Step("asker", f"Request {least} {bounds[0].bound} {problem.resource}."),
            Step("queue-admin", "Or have the namespace's LimitRange changed."),
        ]
    if problem.limit_range:
        return [
            Step("asker", f"State a limit of at least {problem.asked} {problem.resource} in the job, or request less.")
        ]
    return [Step("asker", f"Raise the limit to at least {problem.asked} {problem.resource}, or request less.")]
