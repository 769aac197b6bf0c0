"""A question about a cluster made by hand, and what must be true of the answer."""

import json
from dataclasses import dataclass
from typing import Any

from bot.core import names
from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience, disclose
from bot.core.quantity import amount
from bot.render import json_v1
from tests.clusters import Cluster

Row = tuple[str, str, str, str, str, str, str, str]
"""(flavor, resource, requested, nominal, used, available, capacity, verdict)."""
STAGES = {"requeue-backoff": "queue", "old-pods-still-terminating": "workload"}


@dataclass(frozen=True)
class Asked:
    """`says` must stand in the headline's sentence or steps, `also` beside it, `never` nowhere; `rows` among the quota rows."""

    cluster: Cluster
    rule: str
    outlook: str
    says: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    move: str = ""
    stage: str = "quota"
    complete: bool = True

    def check(self, name: str = "team-a/train") -> Diagnosis:
        """Ask and compare."""
        answer = self.cluster.ask(name)
        sentence = names.show(answer.headline.sentence, names.plain)
        assert not answer.faults
        assert (answer.headline.rule, answer.stage, answer.outlook) == (self.rule, self.stage, self.outlook), sentence
        assert answer.move == self.move or not self.move
        assert answer.complete is self.complete, answer.not_checked
        steps = [names.show(f"{step.do} {step.command or ''}", names.plain) for step in answer.headline.next]
        text = " ".join((sentence, *steps))
        assert not [part for part in self.says if part not in text], text
        beside = {finding.rule for finding in (*answer.also, *answer.context)}
        assert set(self.also) <= beside
        assert not set(self.never) & (beside | {answer.headline.rule})
        got = [
            (r.flavor, r.resource, r.requested, r.nominal, r.used, r.available, r.capacity, r.verdict)
            for r in answer.quota
        ]
        for row in self.rows:
            flavor, resource, *figures, verdict = row
            assert (flavor, resource, *(amount(resource, text) for text in figures), verdict) in got, got
        assert answer.headline.evidence
        assert answer.headline.next or answer.outlook == "running"
        json.loads(json_v1.dump(disclose(answer, Audience("all", name.partition("/")[0]))))
        return answer


def condition(
    kind: str, status: str, reason: str, message: str = "", at: str = "2026-01-01T10:00:00Z"
) -> dict[str, str]:
    """A condition; by default it flipped two hours before the moment of `tests.small`."""
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def says(of: Cluster, name: str, *conditions: dict[str, str], namespace: str | None = None, **patch: Any) -> Cluster:
    """Set conditions of one Workload, and merge more into it (`status=`, `spec=`, `metadata=`)."""
    kept = [
        old
        for old in of.get("Workload", name, namespace)["status"].get("conditions", [])
        if old["type"] not in {new["type"] for new in conditions}
    ]
    status = {"conditions": [*kept, *conditions], **patch.pop("status", {})}
    return of.edit("Workload", name, {"status": status, **patch}, namespace)
