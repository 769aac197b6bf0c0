"""Why an autoscaler adds no node for a pod that waits: the cluster autoscaler's and Karpenter's own words and objects.

Cluster autoscaler: events NotTriggerScaleUp and TriggeredScaleUp of the pod. Karpenter: event FailedScheduling with
reporter karpenter, event Nominated ("nodeclaim/NAME"), condition Launched of the NodeClaim, limits of the NodePools.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from bot.core import names, scheduling
from bot.core import objects as o
from bot.core.diagnosis import Certainty, Evidence
from bot.core.moments import lasting
from bot.core.objects import condition
from bot.core.quantity import amount, human
from bot.core.records import dataclass
from bot.core.scheduling import CORE
from bot.core.snapshot import Unknown

if TYPE_CHECKING:
    from bot.core.facts import Facts

_OTHER_GROUPS = re.compile(
    r"didn't match Pod's node|node affinity|node selector|untolerated taint|had taint|unschedulable"
)
"""What the cluster autoscaler says of node groups that would not do for the pod anyway."""


_SOON = 1800
"""So long, in seconds, a new node may take."""


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """Why an autoscaler adds no node: what to say, the proofs, what to do about it."""

    sentence: str
    evidence: tuple[Evidence, ...]
    subjects: tuple[str, ...]
    step: str
    command: str
    certainty: Certainty = "reported"


def why_no_node(facts: "Facts") -> Autoscaler | None:
    """Say why an autoscaler adds no node for a pod that waits for the scheduler; None when none said so, or it adds one.

    Raises Unknown when the pod is meant for a NodeClaim that was not read, or nothing was said and events were not read.
    """
    for pod in facts.pods.unscheduled:
        found = _karpenter(facts, pod) or _cluster_autoscaler(facts, pod)
        if found is not None:
            return found
    return None


def node_coming(facts: "Facts", pods: Iterable[o.Pod]) -> str:
    """Say that an autoscaler has begun to add a node for one of these pods, as a sentence; "" when none said so lately."""
    for pod in pods:
        event = facts.pods.last_event(pod, "NotTriggerScaleUp", "TriggeredScaleUp", "Nominated")
        age = facts.age(event.last_seen) if event is not None else None
        if event is None or age is None or age > _SOON or event.reason == "NotTriggerScaleUp":
            continue
        if event.reason == "TriggeredScaleUp":
            return f"The cluster autoscaler began to add nodes for it {lasting(age)} ago."
        if "nodeclaim/" in event.message and _nominated_anew(facts, pod):
            return f"Karpenter began to add a node for it {lasting(age)} ago."
    return ""


def _nominated_anew(facts: "Facts", pod: o.Pod) -> bool:
    try:
        return _nominated(facts, pod) is None
    except Unknown:
        return True


def _cluster_autoscaler(facts: "Facts", pod: o.Pod) -> Autoscaler | None:
    event = facts.pods.sure_event(pod, "NotTriggerScaleUp", "TriggeredScaleUp")
    if event is None or event.reason == "TriggeredScaleUp":
        return None
    body = re.sub(r"^pod didn't trigger scale-up[^:]*:\s*", "", event.message)
    parts = re.split(r", (?=\d+ )", body)
    matters = [part for part in parts if not _OTHER_GROUPS.search(part)] or parts
    asked = scheduling.pod_requests(pod.spec)
    bound = [p for p in matters if "Insufficient" not in p] or [p for p in matters if any(r in p for r in asked)]
    words = names.quoted(", ".join(bound or matters))
    subject = names.subject("Pod", pod.name, pod.namespace)
    shown = names.named("Pod", pod.name, pod.namespace)
    return Autoscaler(
        f"The cluster autoscaler adds no node for pod {shown}: {words}.",
        (Evidence(subject, "events[NotTriggerScaleUp].message", names.quoted(event.message)),),
        (subject,),
        "Raise the maximum size of the node group that fits, or add a group that does.",
        facts.pods.describe(pod),
    )


def _karpenter(facts: "Facts", pod: o.Pod) -> Autoscaler | None:
    claim = _nominated(facts, pod)
    if claim is not None:
        return claim
    events = [e for e in facts.pods.events_about(pod) if e.reporter == "karpenter"]
    if not events or events[-1].reason != "FailedScheduling":
        return None
    event = events[-1]
    subject = names.subject("Pod", pod.name, pod.namespace)
    shown = names.named("Pod", pod.name, pod.namespace)
    pools = _pools_at_limit(facts, pod)
    parts = re.split(r"; (?=incompatible with nodepool|all available instance types)", event.message)
    matters = _concerning(parts, pod)
    words = names.quoted("; ".join(matters), 400)
    rows = [Evidence(subject, "events[FailedScheduling].message", names.quoted(event.message, 2000))]
    rows += [row for _, row in pools]
    limit = "".join(f" {text}" for text, _ in pools)
    return Autoscaler(
        f"Karpenter adds no node for pod {shown}: {words}.{limit}",
        tuple(rows),
        (subject, *(row.subject for _, row in pools)),
        "Raise the NodePool's limits, or allow instance types that are large enough.",
        "kubectl get nodepools",
    )


def _concerning(parts: list[str], pod: o.Pod) -> list[str]:
    """Keep what is about the pools that could serve the pod: limits first, then what names its scarce resource."""
    limits = [part for part in parts if "exceed limits" in part or "limits exceeded" in part or "limit of" in part]
    if limits:
        return [re.sub(r"^.*?(?=all available instance types)", "", part) for part in limits]
    scarce = [r for r in scheduling.pod_requests(pod.spec) if r not in CORE]
    about = [part for part in parts if any(resource in part for resource in scarce)]
    return about if about and scarce else parts


def _pools_at_limit(facts: "Facts", pod: o.Pod) -> list[tuple[str, Evidence]]:
    """The NodePools whose limit leaves no room for the pod, by the resource that it asks for."""
    found = []
    asked = scheduling.pod_requests(pod.spec)
    for pool in sorted(facts.snapshot.seen("NodePool"), key=lambda item: item.name):
        if not isinstance(pool, o.Loose):
            continue
        limits, used = pool.spec.get("limits"), pool.status.get("resources")
        if not isinstance(limits, dict) or not isinstance(used, dict):
            continue
        for resource, text in sorted(limits.items()):
            try:
                most, now = amount(resource, str(text)), amount(resource, str(used.get(resource, "0")))
            except ValueError:
                continue
            if (
                asked.get(resource, 0)
                and (resource not in CORE or not _extended(asked))
                and now + asked[resource] > most
            ):
                shown = names.named("NodePool", pool.name)
                words = f"{human(resource, now)} of {human(resource, most)} {resource}"
                found.append((
                    f"NodePool {shown} has {words} in use.",
                    Evidence(names.subject("NodePool", pool.name), f"spec.limits[{resource}]", words),
                ))  # fmt: skip
    return found


def _nominated(facts: "Facts", pod: o.Pod) -> Autoscaler | None:
    """The NodeClaim that Karpenter means the pod for, when it cannot be launched."""
    event = facts.pods.last_event(pod, "Nominated")
    target = re.search(r"nodeclaim/([\w.-]+)", event.message) if event is not None else None
    claim = facts.snapshot.find("NodeClaim", target[1]) if target is not None else None
    if not isinstance(claim, o.ConditionedLoose):
        return None
    launched = condition(claim.status.conditions, "Launched")
    failed = launched is not None and launched.status != "True" and (launched.message or launched.reason)
    events = [e for e in facts.pods.events_about(claim) if e.type == "Warning"]
    if not failed and (not events or (launched is not None and launched.status == "True")):
        return None
    words = names.quoted(
        (launched.message or launched.reason) if launched is not None and failed else events[-1].message
    )
    shown, subject = names.named("NodeClaim", claim.name), names.subject("NodeClaim", claim.name)
    field = "status.conditions[Launched].message" if failed else "events[].message"
    return Autoscaler(
        f"Karpenter means pod {names.named('Pod', pod.name, pod.namespace)} for NodeClaim {shown}, which cannot be "
        f"launched: {words}.",
        (Evidence(subject, field, words),),
        (names.subject("Pod", pod.name, pod.namespace), subject),
        "Allow other instance types or zones, or have the cloud's quota raised.",
        f"kubectl describe nodeclaim {shown}",
    )


def _extended(asked: Mapping[str, int]) -> bool:
    return any(resource not in CORE for resource in asked)
