"""One case of a cause: a cluster, the question, and what must be true of the answer."""

import json
from dataclasses import dataclass, field

from bot.core import names
from bot.core.diagnosis import Diagnosis
from bot.core.disclosure import Audience, disclose
from bot.render import json_v1
from tests.causes.world import Object, World
from tests.clusters import Cluster


@dataclass(frozen=True)
class Case:
    """`says` must stand in the headline's sentence or steps, `also` beside it; `holes`: something was not read before it."""

    world: World
    objects: tuple[Object, ...]
    headline: str
    stage: str
    outlook: str
    says: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    move: str = ""
    name: str = "nlp/finetune"
    holes: bool = False
    kind: str = field(default="")

    @property
    def cluster(self) -> Cluster:
        """The cluster."""
        return self.world.cluster(*self.objects)

    def ask(self) -> Diagnosis:
        """The answer."""
        return self.cluster.ask(self.name, self.kind)


def check(case: Case) -> None:
    """Compare an answer with what must be true of it."""
    answer = case.ask()
    words = names.show(answer.headline.sentence, names.plain)
    assert not answer.faults
    assert answer.headline.rule == case.headline, words
    assert (answer.stage, answer.outlook) == (case.stage, case.outlook), words
    assert not case.move or answer.move == case.move
    steps = [names.show(f"{step.do} {step.command or ''}", names.plain) for step in answer.headline.next]
    text = " ".join((words, *steps))
    for part in case.says:
        assert part in text, text
    beside = {finding.rule for finding in (*answer.also, *answer.context)}
    assert set(case.also) <= beside
    assert not set(case.never) & (beside | {answer.headline.rule})
    assert answer.complete is not case.holes, answer.not_checked
    assert answer.headline.evidence
    assert answer.headline.next or answer.outlook in {"running", "finished"}
    json.loads(json_v1.dump(disclose(answer, Audience("all", case.name.partition("/")[0]))))
