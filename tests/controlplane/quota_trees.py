"""Random cohort trees and Workloads that take quota or ask for some, and how a tree that shows a difference is made smaller.

Pure: a seed gives a tree, in the short forms of `scenario.py`. A tree holds all that decides about quota: flavors in one or
two resource groups, odd amounts, zeros, borrowing and lending limits, Cohorts up to three deep, fair weights, fungibility
and preemption (nobody has a lower priority, so nobody is preempted), and holders.
"""

import copy
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bot.core.quantity import parse

Body = dict[str, Any]
GPU = "example.com/gpu"
SEEDS = (0, 3, 5, 7, 22, 26, 32, 33)
"""The trees that every run of the tests plays: few, and everything that decides occurs in them."""
STEEP = (0, 1)
"""Of the trees in which the height of a quota decides."""
PROBES = 30
"""Workloads that each of them is asked about."""
POD_SHARE = 0.25
_AMOUNTS = {
    "cpu": ("0", "1", "2", "3", "4", "6", "8", "750m", "1250m", "2500m", "3333m", "7999m"),
    "memory": ("0", "1Gi", "2Gi", "4Gi", "1536Mi", "3000000Ki", "2G", "5000000123", "8Gi"),
    GPU: ("0", "1", "2", "3", "4", "6", "8"),
    "pods": ("0", "2", "3", "5", "8", "12"),
}
_SMALL = {"cpu": ("0", "500m", "1", "2", "4"), "memory": ("0", "512Mi", "1Gi", "2500000Ki"), GPU: ("0", "1", "2", "4"),
          "pods": ("0", "1", "3")}  # fmt: skip
_ASKED = {
    "cpu": ("1", "1", "2", "3", "5", "250m", "750m", "1500m", "333m"),
    "memory": ("1Gi", "512Mi", "1000000Ki", "1G", "2Gi", "700Mi", "123456789"),
    GPU: ("1", "1", "2", "3", "5"),
}


def tree(seed: int) -> Body:
    """Give a scenario of flavors, Cohorts, ClusterQueues with their LocalQueues, and Workloads that take quota."""
    dice = random.Random(seed)
    groups = _groups(dice)
    cohorts = _cohorts(dice, groups)
    queues: Body = {}
    for n in range(dice.randint(2, 5)):
        cohort = dice.choice([*cohorts, "implicit"]) if dice.random() < 0.85 else None
        spec: Body = {"resourceGroups": _quotas(dice, groups, parent=cohort is not None, some=True)}
        if cohort is not None:
            spec["cohortName"] = cohort
        if dice.random() < 0.3:
            spec["fairSharing"] = {"weight": dice.choice(("0", "1", "3"))}
        spec |= _policies(dice, cohort=cohort is not None)
        queues[f"q{n}"] = spec
    content = _scene([flavor for _, flavors in groups for flavor in flavors], cohorts, queues)
    _hold(dice, content, dice.randint(2, 8), asked_of(content))
    _prefer(random.Random(f"preferences {seed}"), queues)
    return content


def _scene(flavors: Iterable[str], cohorts: Body, queues: Body) -> Body:
    """A scenario in which every ClusterQueue has a LocalQueue and nobody holds anything yet."""
    return {
        "flavors": {flavor: {} for flavor in flavors},
        "cohorts": cohorts,
        "clusterQueues": queues,
        "localQueues": {f"team-a/{name}": name for name in queues},
        "objects": [],
        "ask": "team-a/none",
    }


def _hold(dice: random.Random, content: Body, count: int, resources: list[str]) -> None:
    """Add up to so many Workloads that take quota, no two alike."""
    for n in range(count):
        holder = workload(dice, f"holder-{n}", dice.choice(list(content["clusterQueues"])), resources, large=False)
        if not _like_one_of(holder, content["objects"]):
            content["objects"].append(holder)


def _prefer(dice: random.Random, queues: Body, share: float = 0.4) -> None:
    """Let some ClusterQueues say what they would rather do, borrow or preempt: only those may that would try every flavor."""
    for spec in queues.values():
        if dice.random() < share:
            policies = {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"}
            preference = dice.choice((None, "BorrowingOverPreemption", "PreemptionOverBorrowing"))
            spec["flavorFungibility"] = policies | ({"preference": preference} if preference else {})


def steep(seed: int) -> Body:
    """Give a tree of three Cohorts one above the other, whose flavors have their quota at different heights.

    Most of its ClusterQueues try every flavor: what they take is decided by how far away its quota is.
    """
    dice = random.Random(f"steep {seed}")
    resources = ["cpu", *(["memory"] if dice.random() < 0.4 else [])]
    cohorts: Body = {"c0": {}, "c1": {"parentName": "c0"}, "c2": {"parentName": "c1"}}
    for spec in cohorts.values():
        if dice.random() < 0.3:
            spec["resourceGroups"] = [_heights(dice, resources, parent="parentName" in spec)]
    places = ("c2", "c2", "c1", "c1", "c0", "c0")
    queues: Body = {
        f"q{n}": {"cohortName": cohort, "resourceGroups": [_heights(dice, resources, parent=True)]}
        for n, cohort in enumerate(places[dice.randint(0, 2) :])
    }
    _prefer(dice, queues, share=0.85)
    content = _scene(("f0", "f1", "f2"), cohorts, queues)
    _hold(dice, content, dice.randint(2, 7), resources)
    return content


def _heights(dice: random.Random, resources: list[str], *, parent: bool) -> Body:
    """A resource group of all flavors, most of which have nothing here."""
    cells = []
    for flavor in dice.sample(("f0", "f1", "f2"), 3):
        amounts = dict.fromkeys(resources, "0") if dice.random() < 0.55 else {}
        cells.append(
            {
                "name": flavor,
                "resources": [
                    {"name": name, "nominalQuota": amounts[name]} if amounts else _cell(dice, name, parent=parent)
                    for name in resources
                ],
            }
        )
    return {"coveredResources": resources, "flavors": cells}


def _like_one_of(item: Body, others: Iterable[Body]) -> bool:
    """Of equal Workloads in a queue Kueue looks at one alone, and says nothing of the others."""
    return any({**item["spec"], "active": True} == other["spec"] for other in others)


def _groups(dice: random.Random) -> list[tuple[list[str], list[str]]]:
    """The resource groups of a tree: their resources and flavors. "pods" is asked of nobody and counted all the same."""
    first = ["cpu", *(["memory"] if dice.random() < 0.5 else []), *(["pods"] if dice.random() < POD_SHARE else [])]
    flavors = [f"f{n}" for n in range(dice.randint(1, 3))]
    kind = dice.random()
    if kind < 0.3:
        return [(first, flavors)]
    if kind < 0.6:
        return [([*first, GPU], flavors)]
    return [(first, flavors), ([GPU], [f"g{n}" for n in range(dice.randint(1, 2))])]


def _cohorts(dice: random.Random, groups: list[tuple[list[str], list[str]]]) -> Body:
    cohorts: Body = {}
    depth: dict[str, int] = {}
    for n in range(dice.randint(0, 5)):
        above = [name for name in depth if depth[name] < 3]
        parent = dice.choice(above) if above and dice.random() < 0.8 else None
        spec: Body = {"parentName": parent} if parent is not None else {}
        if dice.random() < 0.6:
            spec["resourceGroups"] = _quotas(dice, groups, parent=parent is not None, some=False)
        if dice.random() < 0.3:
            spec["fairSharing"] = {"weight": dice.choice(("0", "1", "2"))}
        depth[f"c{n}"] = 1 if parent is None else depth[parent] + 1
        cohorts[f"c{n}"] = spec
    return cohorts


def _quotas(dice: random.Random, groups: list[tuple[list[str], list[str]]], *, parent: bool, some: bool) -> list[Body]:
    found = []
    for at, (resources, flavors) in enumerate(groups):
        if some and at > 0 and dice.random() < 0.15:
            continue  # a queue that does not cover the GPUs
        own = dice.sample(flavors, dice.randint(1, len(flavors))) if some else flavors
        cells = [
            {"name": flavor, "resources": [_cell(dice, resource, parent=parent) for resource in resources]}
            for flavor in own
        ]
        found.append({"coveredResources": resources, "flavors": cells})
    return found


def _cell(dice: random.Random, resource: str, *, parent: bool) -> Body:
    cell: Body = {"name": resource, "nominalQuota": dice.choice(_AMOUNTS[resource])}
    if parent and dice.random() < 0.35:
        cell["borrowingLimit"] = dice.choice(_SMALL[resource])
    if parent and dice.random() < 0.35:
        # Kueue refuses a limit above the quota
        lends = [amount for amount in _SMALL[resource] if parse(amount) <= parse(cell["nominalQuota"])]
        cell["lendingLimit"] = dice.choice(lends)
    return cell


def _policies(dice: random.Random, *, cohort: bool) -> Body:
    spec: Body = {}
    if dice.random() < 0.5:
        spec["flavorFungibility"] = {
            "whenCanBorrow": dice.choice(("MayStopSearch", "TryNextFlavor")),
            "whenCanPreempt": dice.choice(("MayStopSearch", "TryNextFlavor")),
        }
    if dice.random() < 0.5:
        spec["preemption"] = {"withinClusterQueue": dice.choice(("Never", "LowerPriority"))}
        if cohort:
            spec["preemption"]["reclaimWithinCohort"] = dice.choice(("Never", "LowerPriority"))
    return spec


def asked_of(content: Body) -> list[str]:
    """Give the resources that Workloads of a tree can ask for, in a fixed order."""
    covered = {
        r for queue in content["clusterQueues"].values() for g in queue["resourceGroups"] for r in g["coveredResources"]
    }
    return [resource for resource in _ASKED if resource in covered]


def workload(
    dice: random.Random, name: str, queue: str, resources: list[str], *, large: bool, active: bool = True
) -> Body:
    """Give a bare Workload of one to three pod sets; large ones reach beyond what the trees have."""
    sets: list[Body] = []
    for n in range(dice.choices((1, 2, 3), (70, 22, 8))[0]):
        requests = {}
        for resource in resources:
            if resource == "cpu" or dice.random() < 0.75:
                requests[resource] = dice.choice(_ASKED[resource] if large else _ASKED[resource][:3])
        container: Body = {"name": "main", "image": "registry.example/probe:1", "resources": {"requests": requests}}
        extended = {key: value for key, value in requests.items() if "/" in key}
        container["resources"] |= {"limits": extended} if extended else {}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        sets.append({"name": f"p{n}", "count": dice.randint(1, 4 if large else 2), "template": template})
    if large and sets[0]["count"] > 1 and dice.random() < 0.15:
        sets[0]["minCount"] = dice.randint(1, sets[0]["count"])
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"queueName": queue, "active": active, "podSets": sets},
    }


def probes(seed: int, content: Body, number: int = PROBES) -> list[Body]:
    """Give Workloads that are not active yet."""
    dice = random.Random(f"probes {seed}")
    queues = list(content["clusterQueues"])
    found: list[Body] = []
    for n in range(2 * number):
        made = workload(dice, f"probe-{n}", dice.choice(queues), asked_of(content), large=n % 3 > 0, active=False)
        if len(found) < number and not _like_one_of(made, content["objects"]):
            found.append(made)
    return found


# --- what occurs ------------------------------------------------------------------------------------------------------------


def features(content: Body, some: Iterable[Body]) -> set[str]:
    """Name what of the quota arithmetic a tree and its probes put to the test."""
    cohorts, queues = content["cohorts"], content["clusterQueues"]
    found = {f"cohorts {max((_depth(cohorts, name) for name in cohorts), default=0)} deep"}
    for who, spec in [*(("Cohort", c) for c in cohorts.values()), *(("ClusterQueue", q) for q in queues.values())]:
        found |= {f"{key} of a {who}" for key in ("resourceGroups", "fairSharing") if key in spec}
        found |= {f"{key} {value}" for key, value in spec.get("flavorFungibility", {}).items()}
        found |= {f"{key} {value}" for key, value in spec.get("preemption", {}).items()}
        groups = spec.get("resourceGroups", [])
        found |= {"several resource groups"} if len(groups) > 1 else set()
        found |= {"several flavors"} if any(len(group["flavors"]) > 1 for group in groups) else set()
        for cell in _cells(spec):
            found.add(f"quota of {cell['name']}")
            found |= {f"{limit} of a {who}" for limit in ("borrowingLimit", "lendingLimit") if limit in cell}
            found |= {f"{key} zero" for key, value in cell.items() if value == "0"}
            found |= {
                f"amount in {unit}" for unit in ("m", "Ki", "Mi", "Gi", "G") if cell["nominalQuota"].endswith(unit)
            }
        found.add("no cohort" if who == "ClusterQueue" and "cohortName" not in spec else "cohort")
        if spec.get("cohortName") == "implicit":
            found.add("a Cohort that is only named")
    for probe in some:
        found.add(f"{len(probe['spec']['podSets'])} pod sets")
        found |= {"minCount"} if any("minCount" in part for part in probe["spec"]["podSets"]) else set()
        covered = {r for g in queues[probe["spec"]["queueName"]]["resourceGroups"] for r in g["coveredResources"]}
        asked = {r for part in probe["spec"]["podSets"] for r in _requests(part)}
        found |= set() if asked <= covered else {"a resource that is not covered"}
    return found


def _depth(cohorts: Body, name: str) -> int:
    parent = cohorts.get(name, {}).get("parentName")
    return 1 if parent is None else 1 + _depth(cohorts, parent)


def _cells(spec: Body) -> Iterator[Body]:
    for group in spec.get("resourceGroups", []):
        for flavor in group["flavors"]:
            yield from flavor["resources"]


def _requests(pod_set: Body) -> Body:
    requests: Body = pod_set["template"]["spec"]["containers"][0]["resources"]["requests"]
    return requests


# --- smaller ------------------------------------------------------------------------------------------------------------------


def smaller(content: Body, probe: Body, differs: Callable[[Body, Body], bool], tries: int) -> tuple[Body, Body]:
    """Take away what a difference does not need, until nothing more can go or all tries are used.

    `differs` says whether a tree and a probe still show it; it gets copies. Gives the smallest pair that does.
    """
    best, at, failed = (content, probe), 0, 0
    while tries > 0:
        made = list(_reductions(*best))
        if failed >= len(made):
            break
        tries -= 1
        if differs(*copy.deepcopy(made[at % len(made)])):
            best, failed = made[at % len(made)], 0  # what follows is tried next: what came before has just failed
        else:
            at, failed = at + 1, failed + 1
    return best


def _reductions(content: Body, probe: Body) -> Iterator[tuple[Body, Body]]:
    """Give every tree and probe that have one thing less, the largest things first."""
    own = probe["spec"]["queueName"]
    if len(content["objects"]) > 1:
        yield {**copy.deepcopy(content), "objects": []}, probe
    for name in content["clusterQueues"]:
        if name != own:
            yield _without_queue(content, name), probe
    for at in range(len(content["objects"])):
        made = copy.deepcopy(content)
        del made["objects"][at]
        yield made, probe
    for name, spec in content["cohorts"].items():
        made = copy.deepcopy(content)
        del made["cohorts"][name]
        _reparent(made, name, spec.get("parentName"))
        yield made, probe
    for name in content["clusterQueues"]:
        if "cohortName" in content["clusterQueues"][name]:
            made = copy.deepcopy(content)
            del made["clusterQueues"][name]["cohortName"]
            for cell in _cells(made["clusterQueues"][name]):
                cell.pop("borrowingLimit", None)
                cell.pop("lendingLimit", None)
            made["clusterQueues"][name].pop("preemption", None)
            yield made, probe
    for flavor in content["flavors"]:
        less = _without_flavor(content, flavor)
        if less is not None:
            yield less, probe
    yield from _smaller_specs(content, probe)
    for asked in _smaller_workloads(probe):
        yield content, asked
    for at, holder in enumerate(content["objects"]):
        for held in _smaller_workloads(holder):
            made = copy.deepcopy(content)
            made["objects"][at] = held
            yield made, probe


def _without_queue(content: Body, name: str) -> Body:
    made = copy.deepcopy(content)
    del made["clusterQueues"][name]
    made["localQueues"].pop(f"team-a/{name}", None)
    made["objects"] = [item for item in made["objects"] if item["spec"]["queueName"] != name]
    return made


def _reparent(content: Body, gone: str, parent: str | None) -> None:
    for specs, field in ((content["cohorts"], "parentName"), (content["clusterQueues"], "cohortName")):
        for spec in specs.values():
            if spec.get(field) == gone and parent is not None:
                spec[field] = parent
            # without a parent it stays: a Cohort that is only named


def _without_flavor(content: Body, flavor: str) -> Body | None:
    """The tree without a flavor; None where a group would have none left."""
    made = copy.deepcopy(content)
    del made["flavors"][flavor]
    for spec in (*made["cohorts"].values(), *made["clusterQueues"].values()):
        for group in spec.get("resourceGroups", []):
            group["flavors"] = [entry for entry in group["flavors"] if entry["name"] != flavor]
            if not group["flavors"]:
                return None
    return made


def _smaller_specs(content: Body, probe: Body) -> Iterator[tuple[Body, Body]]:
    """One field of a ClusterQueue or Cohort less: a limit, a policy, a whole resource group, a resource."""
    for place in ("clusterQueues", "cohorts"):
        for name, spec in content[place].items():
            for key in ("fairSharing", "flavorFungibility", "preemption"):
                if key in spec:
                    made = copy.deepcopy(content)
                    del made[place][name][key]
                    yield made, probe
            if place == "cohorts" and "resourceGroups" in spec:
                made = copy.deepcopy(content)
                del made[place][name]["resourceGroups"]
                yield made, probe
            for at, cell in enumerate(_cells(spec)):
                for limit in ("borrowingLimit", "lendingLimit"):
                    if limit in cell:
                        made = copy.deepcopy(content)
                        del list(_cells(made[place][name]))[at][limit]
                        yield made, probe
    for resource in ("memory", "pods", GPU):
        if any(resource == cell["name"] for spec in content["clusterQueues"].values() for cell in _cells(spec)):
            yield _without_resource(content, resource), _ask_no(probe, resource)


def _without_resource(content: Body, resource: str) -> Body:
    made = copy.deepcopy(content)
    for spec in (*made["cohorts"].values(), *made["clusterQueues"].values()):
        for group in spec.get("resourceGroups", []):
            group["coveredResources"] = [name for name in group["coveredResources"] if name != resource]
            for flavor in group["flavors"]:
                flavor["resources"] = [cell for cell in flavor["resources"] if cell["name"] != resource]
        if "resourceGroups" in spec:
            spec["resourceGroups"] = [group for group in spec["resourceGroups"] if group["coveredResources"]]
    made["objects"] = [_ask_no(item, resource) for item in made["objects"]]
    return made


def _ask_no(item: Body, resource: str) -> Body:
    made = copy.deepcopy(item)
    for pod_set in made["spec"]["podSets"]:
        for part in pod_set["template"]["spec"]["containers"][0]["resources"].values():
            part.pop(resource, None)
    return made


def _smaller_workloads(item: Body) -> Iterator[Body]:
    """One pod set, one resource or some pods less, or a rounder amount."""
    for at, pod_set in enumerate(item["spec"]["podSets"]):
        if len(item["spec"]["podSets"]) > 1:
            made = copy.deepcopy(item)
            del made["spec"]["podSets"][at]
            yield made
        if "minCount" in pod_set:
            made = copy.deepcopy(item)
            del made["spec"]["podSets"][at]["minCount"]
            yield made
        if pod_set["count"] > pod_set.get("minCount", 1):
            made = copy.deepcopy(item)
            made["spec"]["podSets"][at]["count"] -= 1
            yield made
        for resource, value in _requests(pod_set).items():
            if len(_requests(pod_set)) > 1:
                made = copy.deepcopy(item)
                for part in made["spec"]["podSets"][at]["template"]["spec"]["containers"][0]["resources"].values():
                    part.pop(resource, None)
                yield made
            if value != "1":
                made = copy.deepcopy(item)
                for part in made["spec"]["podSets"][at]["template"]["spec"]["containers"][0]["resources"].values():
                    part.update({resource: "1"} if resource in part else {})
                yield made
