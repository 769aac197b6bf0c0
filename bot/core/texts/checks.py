"""The messages of admission checks that Kueue's own controllers write."""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from bot.core.patterns import SHORT, regex


class CheckText(msgspec.Struct, frozen=True):
    """The message of an admission check. `detail`: the controller's own words in it; `previous`: the state before a reset."""

    what: Literal[
        "reset", "not-active", "not-needed", "create-failed", "retry-after-failure", "retry-after-expiry", "remote-lost",
        "remote-gone", "remote-unrecorded", "out-of-sync", "evicted-on-worker", "on-cluster", "no-adapter",
        "owner-not-managed",
    ]  # fmt: skip
    detail: str = ""
    cluster: str = ""
    previous: str = ""


_CHECKS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], CheckText]], ...] = (
    (
        regex(r'Reset to Pending after eviction\. Previously: "?(\w+)"?.*', re.DOTALL),
        lambda m: CheckText("reset", previous=m[1]),
    ),
    (regex(r"the check is not active"), lambda _: CheckText("not-active")),
    (regex(r"the provisioning request is not needed"), lambda _: CheckText("not-needed")),
    (
        regex(r'Error creating (?:ProvisioningRequest|PodTemplate) "([^"]*)": (.*)', re.DOTALL),
        lambda m: CheckText("create-failed", m[2]),
    ),
    (regex(r"Retrying after failure: (.*)", re.DOTALL), lambda m: CheckText("retry-after-failure", m[1])),
    (regex(r"Retrying after booking expired: (.*)", re.DOTALL), lambda m: CheckText("retry-after-expiry", m[1])),
    (
        regex(r"(?:Admitting|Reserving) remote lost.*?(?:Previously: \"?(\w+)\"?)?\.?"),
        lambda m: CheckText("remote-lost", previous=m[1] or ""),
    ),
    (
        regex(r"(?:Admitting|Reserving) remote no longer exists.*?(?:Previously: \"?(\w+)\"?)?\.?"),
        lambda m: CheckText("remote-gone", previous=m[1] or ""),
    ),
    (
        regex(r"Admission check is Ready but no admitting cluster is recorded.*", re.DOTALL),
        lambda _: CheckText("remote-unrecorded"),
    ),
    (
        regex(r'Remote workload on worker cluster "([^"]*)" is out of sync.*', re.DOTALL),
        lambda m: CheckText("out-of-sync", cluster=m[1]),
    ),
    (
        regex(r'Workload evicted on worker cluster: "([^"]*)".*?(?:Previously: "?(\w+)"?)?\.?', re.DOTALL),
        lambda m: CheckText("evicted-on-worker", cluster=m[1], previous=m[2] or ""),
    ),
    (
        regex(r'The workload (?:was admitted|got reservation) on "([^"]*)"'),
        lambda m: CheckText("on-cluster", cluster=m[1]),
    ),
    (regex(r"No multikueue adapter found.*", re.DOTALL), lambda _: CheckText("no-adapter")),
    (
        regex(r"The owner is not managed by Kueue: (.*)", re.DOTALL),
        lambda m: CheckText("owner-not-managed", m[1]),
    ),
)


def check(text: str) -> CheckText | None:
    """Read the message of status.admissionChecks[] where Kueue's own controllers wrote it. None for anybody else's text."""
    text = text[:SHORT].strip()
    for pattern, build in _CHECKS:
        found = pattern.fullmatch(text)
        if found is not None:
            return build(found)
    return None
