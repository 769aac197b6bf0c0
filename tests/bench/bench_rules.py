"""CPU of the rules and of every form of the answer, over all recordings and over namespaces with many objects."""

import json
from collections.abc import Iterator

from bot.core import bundle, engine
from bot.core.disclosure import Audience, disclose
from bot.core.reference import JobRef
from bot.core.snapshot import Snapshot
from bot.render import card, details, json_v1, terminal
from tests.bench.row import Row, cpu, middle
from tests.bench.server import namespace
from tests.clusters import RECORDINGS, expectations
from tests.test_reader import question

MANY = 1_400


def _answer(snapshot: Snapshot, ref: JobRef) -> None:
    """From what was read to the card."""
    # another object each time: what was worked out from a snapshot is kept with it
    fresh = Snapshot(**{name: getattr(snapshot, name) for name in Snapshot.__dataclass_fields__})
    answer = engine.diagnose(fresh, ref)
    shown = disclose(answer, Audience("namespace", ref.namespace), fresh)
    card.root(shown)
    card.card(shown)


def _all_forms(snapshot: Snapshot, ref: JobRef) -> None:
    answer = engine.diagnose(snapshot, ref)
    card.card(answer)
    details.blocks(answer)
    terminal.render(answer, 100)
    json_v1.dump(answer)


def rows() -> Iterator[Row]:
    """Measure and give the rows."""
    spent: dict[str, float] = {}
    forms: list[float] = []
    for expected in expectations(RECORDINGS):
        ref = question(expected)
        for path in sorted(RECORDINGS.glob(f"*/{expected['name']}.json")):
            snapshot = bundle.load([(path.name, path.read_bytes())])
            key = f"{path.parent.name}/{path.stem}"
            spent[key] = cpu(lambda snapshot=snapshot, ref=ref: _answer(snapshot, ref), 3)  # type: ignore[misc]
            if path.parent.name == "v0.19.2":
                forms.append(cpu(lambda snapshot=snapshot, ref=ref: _all_forms(snapshot, ref), 3))  # type: ignore[misc]
    worst = max(spent, key=lambda key: spent[key])
    yield Row(f"rules and rendering, {len(spent)} recordings: the median", middle(spent.values()) * 1000, 10, "ms")
    yield Row("rules and rendering: the slowest recording", spent[worst] * 1000, 10, "ms", note=worst)
    yield Row("rules and all four forms: the slowest recording", max(forms) * 1000, None, "ms")
    yield from _crowded()


def _crowded() -> Iterator[Row]:
    items = json.dumps({"apiVersion": "v1", "kind": "List", "items": _items()}).encode()
    snapshot = bundle.load([("crowded.json", items)])
    for name, title in (("train", "a Job"), ("job-other-00017", "a Workload's name")):
        ref = JobRef("team-a", name)
        each = cpu(lambda ref=ref: _answer(snapshot, ref), 3)  # type: ignore[misc]
        count = sum(len(kind) for kind in snapshot.objects.values())
        yield Row(f"rules and rendering among {count:,} objects of one namespace: {title}", each * 1000, None, "ms")


def _items() -> list[object]:
    server = namespace(MANY)
    recorded = json.loads((RECORDINGS / "v0.19.2" / "quota-in-use.json").read_bytes())["items"][0]
    stored = [stored.item for resource in server._resources.values() for stored in resource.objects.values()]
    return [recorded, *stored]
