"""Parsers of the texts that Kueue writes into conditions, checks and events, with every wording since 0.6.

A parser gives a typed result, or None for a text that it does not know: such a text is quoted, never guessed. Parsers never
raise. Wordings from Kueue's source: `pkg/scheduler`, `pkg/scheduler/flavorassigner`, `pkg/cache/scheduler`,
`pkg/controller/core`, `pkg/workload`, `pkg/dra`, `pkg/controller/admissionchecks`. Reasons are not needed to parse a text:
the older vocabulary ("Pending" for almost everything) and the granular one ("WaitingForQuota" …) carry the same texts;
`REASONS` tells what a reason alone can say.
"""

from bot.core.texts.checks import CheckText, check
from bot.core.texts.claims import Devices, devices
from bot.core.texts.evictions import Eviction, Preemption, deactivation_cause, eviction, preemption, rejected
from bot.core.texts.queues import InactivePart, InactiveWhat, inactive
from bot.core.texts.verdict import (
    AffinityMismatch,
    Assignment,
    FlavorNotFound,
    FlavorSkipped,
    NotFree,
    OverBorrowingLimit,
    OverMaximum,
    PodSetReasons,
    Reason,
    TopologyReason,
    Uncovered,
    Unread,
    UntoleratedTaint,
    assignment,
)
from bot.core.texts.waiting import (
    REASONS,
    VERDICTS,
    Contention,
    FieldProblem,
    Gated,
    OnHold,
    QueueBlocker,
    QuotaText,
    Validation,
    Waits,
    quota,
)

__all__ = [
    "REASONS",
    "VERDICTS",
    "AffinityMismatch",
    "Assignment",
    "CheckText",
    "Contention",
    "Devices",
    "Eviction",
    "FieldProblem",
    "FlavorNotFound",
    "FlavorSkipped",
    "Gated",
    "InactivePart",
    "InactiveWhat",
    "NotFree",
    "OnHold",
    "OverBorrowingLimit",
    "OverMaximum",
    "PodSetReasons",
    "Preemption",
    "QueueBlocker",
    "QuotaText",
    "Reason",
    "TopologyReason",
    "Uncovered",
    "Unread",
    "UntoleratedTaint",
    "Validation",
    "Waits",
    "assignment",
    "check",
    "deactivation_cause",
    "devices",
    "eviction",
    "inactive",
    "preemption",
    "quota",
    "rejected",
]
