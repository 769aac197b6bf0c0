"""The scheduler's verdict, "couldn't assign flavors to pod set …": which flavor was refused for which reason."""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from bot.core.patterns import regex


class Uncovered(msgspec.Struct, frozen=True):
    """No resource group of the ClusterQueue covers a requested resource."""

    resource: str


class FlavorNotFound(msgspec.Struct, frozen=True):
    """A ResourceFlavor that the ClusterQueue names was not there."""

    flavor: str


class UntoleratedTaint(msgspec.Struct, frozen=True):
    """A taint of a ResourceFlavor that nothing tolerated."""

    flavor: str
    key: str
    value: str
    effect: str


class AffinityMismatch(msgspec.Struct, frozen=True):
    """The pods' node selector or affinity does not match the flavor's node labels."""

    flavor: str


class OverMaximum(msgspec.Struct, frozen=True):
    """More is asked than the flavor may ever give. Amounts are quantity texts; None where the wording has none."""

    resource: str
    flavor: str
    earlier: str | None = None
    """Requests of the pod sets that were considered before."""
    request: str | None = None
    """The request of this pod set; in the older wording, all of them together."""
    capacity: str | None = None


class NotFree(msgspec.Struct, frozen=True):
    """It fits the maximum, but `more` is missing now. `cohort`: the oldest wording, "in cohort"."""

    resource: str
    flavor: str
    more: str
    cohort: bool = False


class OverBorrowingLimit(msgspec.Struct, frozen=True):
    """Nominal quota plus borrowing limit is exceeded (wording of 0.6 and 0.7)."""

    resource: str
    flavor: str


class FlavorSkipped(msgspec.Struct, frozen=True):
    """A flavor was not tried: `why` is "nomination", "annotation" or "slice" (an elastic job must keep its flavor)."""

    flavor: str
    why: Literal["nomination", "annotation", "slice"]
    other: str = ""


class TopologyReason(msgspec.Struct, frozen=True):
    """Topology-aware scheduling found no place. `what` names the wording, `level`, `fits`, `of` and `excluded` its numbers."""

    what: Literal[
        "flavor-without-topology", "flavor-only-topology", "not-in-cache", "level-unknown", "fits-none", "fits-some",
        "no-domains", "bad-request", "no-flavor", "several-flavors", "not-with-elastic", "stale-domain", "no-replacement",
    ]  # fmt: skip
    topology: str = ""
    flavor: str = ""
    level: str = ""
    fits: int | None = None
    of: int | None = None
    unit: str = ""
    nodes: int | None = None
    excluded: tuple[tuple[str, int], ...] = ()


class Unread(msgspec.Struct, frozen=True):
    """One fragment that no parser knows."""

    text: str


Reason = (
    Uncovered | FlavorNotFound | UntoleratedTaint | AffinityMismatch | OverMaximum | NotFree | OverBorrowingLimit
    | FlavorSkipped | TopologyReason | Unread
)  # fmt: skip


class PodSetReasons(msgspec.Struct, frozen=True):
    """Why one pod set got no flavor. Kueue sorts the reasons by alphabet, so their order means nothing."""

    pod_set: str
    reasons: tuple[Reason, ...]


class Assignment(msgspec.Struct, frozen=True):
    """The scheduler's verdict, "couldn't assign flavors to pod set …", with what follows it.

    `preempting`: how many victims it waits for; `preemption_failed`: they could not be evicted, it will retry.
    """

    pod_sets: tuple[PodSetReasons, ...]
    preempting: int | None = None
    preemption_failed: bool = False

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of all pod sets."""
        return tuple(reason for part in self.pod_sets for reason in part.reasons)

    @property
    def flavors(self) -> frozenset[str]:
        """The flavors that are named."""
        return frozenset(name for reason in self.reasons if (name := getattr(reason, "flavor", "")))


_POD_SET = regex(r"(?:^|; )(couldn't assign flavors|failed to assign flavors) to pod set (\S+): ", re.IGNORECASE)
_VICTIMS = regex(r"\. Pending the preemption of (\d+) workload\(s\)\.?$")
_FAILED = regex(r"\. Preempting (\d+) workload\(s\) failed, will retry\.?$")


def assignment(text: str) -> Assignment | None:
    """Read "couldn't assign flavors to pod set …". None for any other text."""
    preempting, failed = None, False
    if (found := _VICTIMS.search(text)) is not None:
        preempting, text = int(found[1][:9]), text[: found.start()]
    elif (found := _FAILED.search(text)) is not None:
        preempting, failed, text = int(found[1][:9]), True, text[: found.start()]
    starts = list(_POD_SET.finditer(text))
    if not starts or starts[0].start() != 0:
        return None
    parts = []
    for at, start in enumerate(starts):
        body = text[start.end() : starts[at + 1].start() if at + 1 < len(starts) else len(text)]
        parts.append(PodSetReasons(start[2], _reasons(body)))
    return Assignment(tuple(parts), preempting, failed)


_STATISTICS = regex(r"\. Total nodes: (\d+); excluded: (.*)$")


def _reasons(body: str) -> tuple[Reason, ...]:
    statistics = _STATISTICS.search(body)
    nodes: int | None = None
    excluded: tuple[tuple[str, int], ...] = ()
    if statistics is not None:
        nodes, excluded, body = int(statistics[1][:9]), _excluded(statistics[2]), body[: statistics.start()]
    reasons = [_reason(fragment.strip()) for fragment in _split(body) if fragment.strip()]
    if nodes is not None:
        for at in range(len(reasons) - 1, -1, -1):
            reason = reasons[at]
            if isinstance(reason, TopologyReason):
                reasons[at] = TopologyReason(
                    reason.what, reason.topology, reason.flavor, reason.level, reason.fits, reason.of, reason.unit,
                    nodes, excluded,
                )  # fmt: skip
                break
    return tuple(reasons)


def _excluded(text: str) -> tuple[tuple[str, int], ...]:
    return tuple((name.strip(), int(count[:9])) for name, count in re.findall(r"(.+?): (\d+)(?:, |$)", text))


_STARTS = regex(
    r", (?=insufficient |resource \S+ unavailable|flavor \S+ (?:not found|doesn't match)|untolerated taint |skipping flavor "
    r"|could not assign |borrowing limit |Flavor \"|topology \"|no topology |no requested |podset slice |additional slice "
    r"|slice topology |workload requires Topology|no TAS flavor|more than one TAS|required topology |preferred topology "
    r"|Cannot replace |cannot find )",
    re.IGNORECASE,
)


def _split(body: str) -> list[str]:
    """Cut at ", " where a known fragment begins; what no parser knows stays in one piece and is quoted."""
    return _STARTS.split(body)


_F = r"(?P<flavor>\S+)"
_R = r"(?P<resource>\S+)"
_FRAGMENTS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Reason]], ...] = (
    (regex(rf"resource {_R} unavailable in ClusterQueue"), lambda m: Uncovered(m["resource"])),
    (regex(rf"flavor {_F} not found"), lambda m: FlavorNotFound(m["flavor"])),
    (
        regex(rf"untolerated taint \{{(?P<key>\S*) (?P<value>\S*) (?P<effect>\S+) .*\}} in flavor {_F}"),
        lambda m: UntoleratedTaint(m["flavor"], m["key"], m["value"], m["effect"]),
    ),
    (regex(rf"flavor {_F} doesn't match node affinity"), lambda m: AffinityMismatch(m["flavor"])),
    (
        regex(
            rf"insufficient quota for {_R} in flavor {_F}, previously considered podsets requests \((?P<a>[^)]*)\) "
            r"\+ current podset request \((?P<b>[^)]*)\) > maximum capacity \((?P<c>[^)]*)\)"
        ),
        lambda m: OverMaximum(m["resource"], m["flavor"], m["a"], m["b"], m["c"]),
    ),
    (
        regex(rf"insufficient quota for {_R} in flavor {_F}, request > maximum capacity \((?P<x>\S+) > (?P<y>[^)]*)\)"),
        lambda m: OverMaximum(m["resource"], m["flavor"], None, m["x"], m["y"]),
    ),
    (
        regex(rf"insufficient quota for {_R} in flavor {_F} in ClusterQueue"),
        lambda m: OverMaximum(m["resource"], m["flavor"]),
    ),
    (
        regex(rf"insufficient unused quota(?P<cohort> in cohort)? for {_R} in flavor {_F}, (?P<n>\S+) more needed"),
        lambda m: NotFree(m["resource"], m["flavor"], m["n"], m["cohort"] is not None),
    ),
    (
        regex(rf"borrowing limit for {_R} in flavor {_F} exceeded"),
        lambda m: OverBorrowingLimit(m["resource"], m["flavor"]),
    ),
    (
        regex(rf"skipping flavor {_F} as it is not found in the nomination mapping.*"),
        lambda m: FlavorSkipped(m["flavor"], "nomination"),
    ),
    (
        regex(rf"skipping flavor {_F} due to WorkloadAllowedResourceFlavorAnnotation annotation"),
        lambda m: FlavorSkipped(m["flavor"], "annotation"),
    ),
    (
        regex(rf"could not assign {_F} flavor since the original workload is assigned: (?P<other>\S+)"),
        lambda m: FlavorSkipped(m["flavor"], "slice", m["other"]),
    ),
    (
        regex(r'Flavor "(?P<flavor>[^"]*)" does not support TopologyAwareScheduling'),
        lambda m: TopologyReason("flavor-without-topology", flavor=m["flavor"]),
    ),
    (
        regex(r'Flavor "(?P<flavor>[^"]*)" supports only TopologyAwareScheduling'),
        lambda m: TopologyReason("flavor-only-topology", flavor=m["flavor"]),
    ),
    (
        regex(r'Flavor "(?P<flavor>[^"]*)" information missing in TAS cache'),
        lambda m: TopologyReason("not-in-cache", flavor=m["flavor"]),
    ),
    (
        regex(r'Flavor "(?P<flavor>[^"]*)" does not contain the requested level'),
        lambda m: TopologyReason("level-unknown", flavor=m["flavor"]),
    ),
    (
        regex(r'topology "(?P<t>[^"]*)" doesn\'t allow to fit any of (?P<n>\d+) (?P<u>pod|slice)\(s\)'),
        lambda m: TopologyReason("fits-none", m["t"], fits=0, of=int(m["n"][:9]), unit=m["u"]),
    ),
    (
        regex(r'topology "(?P<t>[^"]*)" allows to fit only (?P<x>\d+) out of (?P<n>\d+) (?P<u>pod|slice)\(s\)'),
        lambda m: TopologyReason("fits-some", m["t"], fits=int(m["x"][:9]), of=int(m["n"][:9]), unit=m["u"]),
    ),
    (
        regex(
            r'topology "(?P<t>[^"]*)" doesn\'t allow to fit; (?P<a>\d+)/(?P<b>\d+) slice\(s\) fit on level (?P<l>[^,]+)(?:, .*)?'
        ),
        lambda m: TopologyReason(
            "fits-some", m["t"], level=m["l"].strip(), fits=int(m["a"][:9]), of=int(m["b"][:9]), unit="slice"
        ),
    ),
    (
        regex(r"no topology domains at level: (?P<l>.+)"),
        lambda m: TopologyReason("no-domains", level=m["l"].strip()),
    ),
    (
        regex(r"no requested topology level(?: for [a-z ]+)?: (?P<l>.+)"),
        lambda m: TopologyReason("level-unknown", level=m["l"].strip()),
    ),
    (
        regex(
            r"(?:podset slice topology|additional slice layer|slice topology requested|topology level not specified"
            r"|invalid node selectors|invalid affinity node selectors|invalid preferred node affinity terms"
            r"|invalid podSetUpdate|unable to calculate domain capacities).*"
        ),
        lambda _: TopologyReason("bad-request"),
    ),
    (
        regex(r"workload requires Topology, but there is no TAS cache information"),
        lambda _: TopologyReason("not-in-cache"),
    ),
    (regex(r"no TAS flavor assigned"), lambda _: TopologyReason("no-flavor")),
    (regex(r"more than one TAS flavor assigned: .*"), lambda _: TopologyReason("several-flavors")),
    (
        regex(r"(?:required|preferred) topology is not supported with ElasticJobsViaWorkloadSlices"),
        lambda _: TopologyReason("not-with-elastic"),
    ),
    (
        regex(r"Cannot replace the node, because the existing topologyAssignment is invalid.*"),
        lambda _: TopologyReason("stale-domain"),
    ),
    (
        regex(r"cannot find replacement assignment for unhealthy node: (?P<l>.+)"),
        lambda m: TopologyReason("no-replacement", level=m["l"].strip()),
    ),
)


def _reason(fragment: str) -> Reason:
    for pattern, build in _FRAGMENTS:
        found = pattern.fullmatch(fragment)
        if found is not None:
            return build(found)
    return Unread(fragment)
