"""Texts about resource claims that Kueue cannot count."""

import re
from typing import Literal

import msgspec

from bot.core.patterns import LONGEST, regex


class Devices(msgspec.Struct, frozen=True):
    """Resource claims that Kueue cannot count. `what` names the family; the rest where the wording has it."""

    what: Literal[
        "not-enabled", "claims-unsupported", "unmapped-class", "template-unreadable", "selection-unsupported",
        "too-few-devices", "class-unreadable", "other",
    ]  # fmt: skip
    device_class: str = ""
    template: str = ""
    pod_set: str = ""
    detail: str = ""


_UNMAPPED = regex(r"DeviceClass (\S+) is not mapped in DRA configuration(?: for (?:workload \S+ )?podset (\S+))?")
_TEMPLATE = regex(r"failed to get claim spec for ResourceClaimTemplate (\S+) in podset (\S+?)(?:: (.*))?$", re.DOTALL)
_FEW = regex(r"insufficient matching devices for CEL selector in DeviceClass (\S+): ")
_CLASS = regex(r"failed to get DeviceClass (\S+?):? ")


def devices(text: str) -> Devices | None:
    """Read a text about resource claims. None for any other text."""
    text = text[:LONGEST]
    if (found := _UNMAPPED.search(text)) is not None:
        return Devices("unmapped-class", device_class=found[1], pod_set=(found[2] or "").rstrip(":"))
    if (found := _TEMPLATE.search(text)) is not None:
        return Devices("template-unreadable", template=found[1], pod_set=found[2], detail=found[3] or "")
    if (found := _FEW.search(text)) is not None:
        return Devices("too-few-devices", device_class=found[1])
    if re.search(r"insufficient matching devices for (?:counter|capacity) driver|matched devices have no ", text):
        return Devices("too-few-devices")
    if re.search(r"Workload uses DRA resources but the \S+ feature gate is not enabled", text):
        return Devices("not-enabled")
    if re.search(r"feature does not support use of resource claims|DRA resource claims not supported", text):
        return Devices("claims-unsupported")
    if re.search(
        r"FirstAvailable device selection is not supported|Exactly must be set if FirstAvailable is nil"
        r"|AdminAccess is not supported|AllocationMode '?\w+'? is not supported|unsupported allocation mode",
        text,
        re.IGNORECASE,
    ):
        return Devices("selection-unsupported")
    if (found := _CLASS.search(text + " ")) is not None:
        return Devices("class-unreadable", device_class=found[1])
    if re.search(r"failed to list ResourceSlices", text):
        return Devices("class-unreadable")
    if re.search(r"\bDRA\b|DeviceClass|ResourceClaim|CEL selector", text):
        return Devices("other")
    return None
