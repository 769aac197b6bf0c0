"""Runs the rules in order over the facts and assembles the Diagnosis.

The order of `RULES` is the order of the admission path: the first rule that fires is the headline, the others that
fire are also true. A rule that touches an unknown fact is not checked; if it stands before the headline, the answer
is not complete. A rule that breaks is not checked either and costs nobody the other answers.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple, TypeVar

from bot.core import assemble
from bot.core.diagnosis import Diagnosis, Finding, Found, NotChecked
from bot.core.facts import Facts, Thresholds
from bot.core.reference import JobRef
from bot.core.rule import Rule
from bot.core.rules import RULES
from bot.core.snapshot import Gap, Snapshot, Unknown

T = TypeVar("T")
_MOMENT = timedelta(seconds=5)
"""What was read within it before the answer counts as read for it."""


class Verdict(NamedTuple):
    """The headline, whether anything before it was not read, what was not checked before it, and rules that broke."""

    headline: Finding
    complete: bool
    not_checked: tuple[NotChecked, ...]
    faults: tuple[str, ...]


def diagnose(
    snapshot: Snapshot, ref: JobRef, thresholds: Thresholds | None = None, rules: Sequence[Rule] = RULES
) -> Diagnosis:
    """Give the one answer to a question about a snapshot. Never raises; the same input always gives the same answer."""
    with Facts(snapshot, ref, thresholds) as facts:
        return _Run(facts, rules).diagnosis()


def headline(
    snapshot: Snapshot, ref: JobRef, thresholds: Thresholds | None = None, rules: Sequence[Rule] = RULES
) -> Verdict:
    """Give the headline of `diagnose` alone: for many questions about one snapshot. Never raises."""
    with Facts(snapshot, ref, thresholds) as facts:
        return _Run(facts, rules).first()


def _finding(rule: Rule, found: Found) -> Finding:
    return Finding(
        rule.slug, rule.stage, found.certainty, found.sentence, found.subjects, found.evidence, found.next,
        found.data, found.move or rule.move, found.outlook or rule.outlook,
    )  # fmt: skip


def _unsure(found: Found) -> Found:
    """What a rule of last resort finds is not certain while something before it was not read."""
    return replace(found, certainty="likely") if found.certainty == "certain" else found


class _Run:
    def __init__(self, facts: Facts, rules: Sequence[Rule], *, nested: bool = False) -> None:
        self.facts = facts
        self.rules = rules
        if not nested:  # an answer about one of several asks no further: that could go on for ever
            facts.answer_for = self._other
        self.not_checked: list[NotChecked] = []
        self.faults: list[str] = []

    def _other(self, ref: JobRef) -> Diagnosis:
        with Facts(self.facts.snapshot, ref, self.facts.thresholds) as facts:
            return _Run(facts, self.rules, nested=True).diagnosis()

    def diagnosis(self) -> Diagnosis:
        fired: list[tuple[int, Rule, Finding]] = []
        beside: set[int] = set()
        missing: list[
            float
        ] = []  # positions; a rule that fired without having read everything counts as just before itself
        odd = self._odd_kinds()
        for position, rule in enumerate(self.rules):
            if rule.last and any(not earlier.context and not earlier.only_also for _, earlier, _ in fired):
                continue
            found, reason = self._check(rule)
            if found is None and reason is None:
                reason = next((odd[kind] for kind in rule.needs if kind in odd), None)
                if reason is not None and not self._applies(rule):
                    reason = None
            if reason is not None:
                self.not_checked.append(NotChecked(rule.slug, reason))
                missing.append(position)
            elif found is not None:
                unread = any(not self.rules[math.ceil(at)].context for at in missing)
                fired.append((position, rule, _finding(rule, _unsure(found) if rule.last and unread else found)))
                if found.beside or rule.only_also:
                    beside.add(position)
                self.not_checked += [NotChecked(rule.slug, reason) for reason in found.unread]
                missing += [position - 0.5] * len(found.unread)
        headline_at, headline = self._headline([entry for entry in fired if entry[0] not in beside])
        complete = not any(at < headline_at and not self.rules[math.ceil(at)].context for at in missing)
        facts = self.facts
        return Diagnosis(
            asked=facts.ref.text or facts.ref.asked,
            read_as=facts.ref.read_as,
            cluster=facts.ref.cluster or facts.snapshot.cluster,
            job=self._part(lambda: assemble.job(facts), None),
            stage=headline.stage,
            admitted=self._part(lambda: facts.progress.admitted, None),
            outlook=headline.outlook,
            move=headline.move,
            headline=headline,
            also=tuple(finding for at, rule, finding in fired if at != headline_at and not rule.context),
            context=tuple(finding for _, rule, finding in fired if rule.context),
            not_checked=tuple(self.not_checked),
            complete=complete,
            chain=self._part(lambda: assemble.chain(facts), ()),
            quota=self._part(lambda: assemble.quota(facts), ()),
            holders=self._part(lambda: assemble.holders(facts), ()),
            ahead=self._part(lambda: assemble.ahead(facts), None),
            pods=self._part(lambda: assemble.pods(facts), None),
            kueue_said=self._part(lambda: assemble.kueue_said(facts), None),
            withheld=assemble.NOTHING_WITHHELD,
            versions=self._part(lambda: assemble.versions(facts), facts.snapshot.versions),
            observed_at=facts.now,
            gaps=facts.snapshot.gaps,
            older=tuple(sorted(entry for entry in facts.snapshot.older.items() if facts.now - entry[1] > _MOMENT)),
            faults=tuple(self.faults),
        )

    def first(self) -> Verdict:
        """Go down the rules as far as the first that is the headline."""
        odd = self._odd_kinds()
        beside = False
        for rule in self.rules:
            if rule.context or (rule.last and beside):
                continue
            found, reason = self._check(rule)
            if found is None and reason is None:
                reason = next((odd[kind] for kind in rule.needs if kind in odd), None)
                reason = reason if reason is not None and self._applies(rule) else None
            if reason is not None:
                self.not_checked.append(NotChecked(rule.slug, reason))
            elif found is not None:
                self.not_checked += [NotChecked(rule.slug, unread) for unread in found.unread]
                if not found.beside and not rule.only_also:
                    unsure = rule.last and bool(self.not_checked)
                    return self._verdict(_finding(rule, _unsure(found) if unsure else found))
                beside = beside or not rule.only_also
        return self._verdict(self._headline([])[1])

    def _verdict(self, finding: Finding) -> Verdict:
        return Verdict(finding, not self.not_checked, tuple(self.not_checked), tuple(self.faults))

    def _applies(self, rule: Rule) -> bool:
        try:
            return self._applies_now(rule)
        except Unknown:
            return True

    def _applies_now(self, rule: Rule) -> bool:
        if rule.phases and self.facts.progress.phase not in rule.phases:
            return False
        return rule.stage != "quota" or rule.context or not self.facts.checks.refused

    def _check(self, rule: Rule) -> tuple[Found | None, str | None]:
        try:
            if rule.fallback or not self._applies_now(rule):
                return None, None
            return rule.check(self.facts), None
        except Unknown as unknown:
            return None, unknown.reason
        except Exception as error:  # noqa: BLE001 - one broken rule must not cost the other answers
            self.faults.append(f"{rule.slug}: {type(error).__name__}: {error}")
            return None, f"internal error: {type(error).__name__}"

    def _headline(self, fired: list[tuple[int, Rule, Finding]]) -> tuple[int, Finding]:
        for position, rule, finding in fired:
            if not rule.context:
                return position, finding
        self.facts.unchecked = tuple(self.not_checked)
        last = next(rule for rule in RULES if rule.fallback)
        found = last.check(self.facts)
        if found is None:
            msg = f"the rule of last resort, {last.slug}, must always fire"
            raise AssertionError(msg)
        return len(self.rules), _finding(last, found)

    def _part(self, compute: Callable[[], T], otherwise: T) -> T:
        """Compute one section; what cannot be known or breaks is left out, never fatal."""
        try:
            return compute()
        except Unknown:
            return otherwise
        except Exception as error:  # noqa: BLE001
            self.faults.append(f"section: {type(error).__name__}: {error}")
            return otherwise

    def _odd_kinds(self) -> dict[str, str]:
        """By kind, what had to be left out of its objects: a rule that needs the kind and did not fire is not checked."""
        reasons: dict[str, str] = {}
        for (kind, namespace, name), paths in self.facts.snapshot.odd.items():
            path = re.sub(r"[^\w.\[\]/-]", "", paths[0])[:80]
            reasons.setdefault(kind, Gap(kind, f"{path} has a value of an unexpected type", namespace, name).text)
        return reasons
