"""Decides what a reader sees of an answer, before anything is rendered.

Levels: "namespace" names only what is in the asked namespace; "queue" also who stands or holds quota in the same
ClusterQueue; "cohort" also the rest of the cohort; "all" everything. What belongs to the cluster and not to a tenant
(the path from the LocalQueue to the root cohort, flavors, nodes) is named at every level.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from bot.core import diagnosis as d
from bot.core import names

Level = Literal["namespace", "queue", "cohort", "all"]


@dataclass(frozen=True, slots=True)
class Audience:
    """Who reads: the level, and the namespace that was asked about."""

    level: Level = "namespace"
    namespace: str = ""


def disclose(answer: d.Diagnosis, audience: Audience) -> d.Diagnosis:
    """Give the answer as the audience may see it, with every marked name resolved."""

    def show(text: str) -> str:
        return names.show(text, lambda kind, ns, name: names.plain(kind, "" if ns == audience.namespace and not kind.endswith("/") else ns, name))

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return show(value)
        if isinstance(value, Mapping):
            return {k: walk(v) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [walk(v) for v in value]
        return value

    def finding(f: d.Finding) -> d.Finding:
        return replace(
            f, sentence=show(f.sentence), subjects=tuple(map(show, f.subjects)),
            evidence=tuple(replace(e, subject=show(e.subject), field=show(e.field), value=show(e.value)) for e in f.evidence),
            next=tuple(replace(s, do=show(s.do), command=s.command and show(s.command)) for s in f.next), data=walk(f.data),
        )

    return replace(
        answer, headline=finding(answer.headline), also=tuple(map(finding, answer.also)), context=tuple(map(finding, answer.context)),
        not_checked=tuple(replace(n, reason=show(n.reason)) for n in answer.not_checked),
        chain=tuple(replace(link, name=show(link.name), state=show(link.state)) for link in answer.chain),
        quota=tuple(replace(r, why=r.why and show(r.why), limit=r.limit and show(r.limit)) for r in answer.quota),
        ahead=answer.ahead and replace(answer.ahead, jobs=tuple(replace(j, job=show(j.job), why=show(j.why)) for j in answer.ahead.jobs)),
        holders=tuple(replace(h, job=show(h.job)) for h in answer.holders),
        withheld=d.Withheld(audience.level, 0),
    )
