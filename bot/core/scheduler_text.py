"""What kube-scheduler says of a pod that it cannot place, taken apart.

The text is "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint {a: b}. preemption: …"
(kube-scheduler `framework.FitError`). Each node is counted at the filter that it failed, so a node at a late filter has
passed all earlier ones.
"""

import re
from typing import Literal

from bot.core.records import dataclass

Filter = Literal["volume", "labels", "cordon", "taint", "port", "affinity", "spread", "resources"]
"""What keeps a pod off a node."""
Category = Filter | Literal["unbound", "claim-missing", "device", "no-nodes", "other"]

_HEAD = re.compile(r"^0/(\d+) nodes are available: ")
_PART = re.compile(r", (?=\d+ )")
_COUNTED = re.compile(r"^(\d+) (.*)$", re.DOTALL)
_CATEGORIES: tuple[tuple[Category, str], ...] = (
    ("no-nodes", r"no nodes available to schedule pods"),
    ("claim-missing", r'persistentvolumeclaim "([^"]+)" (?:not found|is being deleted)'),
    ("unbound", r"unbound immediate PersistentVolumeClaims|didn't find available persistent volumes to bind"),
    ("volume", r"volume node affinity conflict|no available volume zone"),
    ("labels", r"didn't match (?:Pod's )?node (?:affinity|selector)|didn't match Pod's node affinity/selector"),
    ("cordon", r"were unschedulable"),
    ("taint", r"(?:untolerated taint\S*|had taints?) ?\{([^}]*)\}|untolerated taint"),
    ("port", r"didn't have free ports"),
    ("affinity", r"affinity rules|anti-affinity"),
    ("spread", r"topology spread constraints"),
    ("resources", r"Insufficient (\S+)|(Too many pods)"),
    ("device", r"cannot allocate all claims|resource ?claim|device ?class"),
)
_LATE: tuple[Category, ...] = (
    "cordon",
    "taint",
    "labels",
    "port",
    "resources",
    "volume",
    "unbound",
    "device",
    "spread",
    "affinity",
)
"""The scheduler's own order of filters."""


@dataclass(frozen=True, slots=True)
class Part:
    """One reason: how many nodes (0 when it is about the pod), its category, the deciding name, and the exact words.

    `detail` is the resource, the taint as "key: value", or the claim.
    """

    nodes: int
    category: Category
    detail: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A whole text: how many nodes it speaks of, its parts, and the part before "preemption:"."""

    nodes: int
    parts: tuple[Part, ...]
    text: str

    def of(self, category: Category) -> tuple[Part, ...]:
        """Give the parts of a category."""
        return tuple(part for part in self.parts if part.category == category)

    @property
    def nearest(self) -> Category | None:
        """The filter at which the nodes failed that came furthest; None when none is known."""
        known = [part.category for part in self.parts if part.category in _LATE]
        return max(known, key=_LATE.index, default=None)


def parse(message: str) -> Verdict | None:
    """Take a PodScheduled message or FailedScheduling event apart; None when nothing in it is known."""
    head = _HEAD.match(message)
    body = message[head.end() :] if head is not None else message
    body = re.split(r"\.? (?:preemption: |no new claims to deallocate|still not schedulable)", body)[0].rstrip(". ")
    parts = []
    for text in _PART.split(body):
        counted = _COUNTED.match(text)
        reason = counted[2] if counted is not None else text
        category, detail = _categorize(reason)
        parts.append(Part(int(counted[1]) if counted is not None else 0, category, detail, text))
    if head is None and all(part.category == "other" for part in parts):
        return None
    return Verdict(int(head[1]) if head is not None else 0, tuple(parts), body)


def _categorize(reason: str) -> tuple[Category, str]:
    for category, pattern in _CATEGORIES:
        found = re.search(pattern, reason)
        if found is not None:
            detail = next((group for group in found.groups() if group), "")
            return category, "pods" if detail == "Too many pods" else detail.rstrip(".")
    return "other", ""
