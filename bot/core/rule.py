"""The rule contract.

A rule is one file in `bot/core/rules` with one function of the same name, decorated with `rule`. Its slug is its file
name with dashes. Its docstring is its documentation: first line the title, then the three headings *When*, *Why it
blocks* and *What to do*. It returns a `Found` when it fires and None when it does not. Touching an unknown fact raises
`Unknown`, which the engine reports as *not checked*: a rule never catches it unless it has another way to know.
"""

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from bot.core.diagnosis import Found, Move, Outlook, Stage
from bot.core.records import dataclass

if TYPE_CHECKING:
    from bot.core.facts import Facts

Phase = Literal["unresolved", "unmanaged", "no-workload", "waiting", "reserved", "admitted", "finished"]
"""How far the asked job is (see `facts.progress`): no such object; not Kueue's; Kueue's, but no Workload yet;
waits for quota; holds quota; admitted; finished."""

HEADINGS = ("When", "Why it blocks", "What to do")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with what the engine, the docs and the ClusterRole need to know of it."""

    slug: str
    stage: Stage
    move: Move
    outlook: Outlook
    phases: frozenset[Phase]
    """The phases in which it is asked; empty: in every phase, also when the phase itself is not known."""
    needs: tuple[str, ...]
    """The kinds that must be readable for this rule to be sure."""
    context: bool
    """Context rules are never a headline and stand beside it."""
    only_also: bool
    """May fire, but never as the headline (not-managed-by-kueue)."""
    fallback: bool
    """The rule of last resort: asked only when nothing else fired."""
    check: Callable[["Facts"], Found | None]
    last: bool = False
    """Holds only while nothing before it holds: not asked once a rule before it could be the headline."""

    @property
    def doc(self) -> str:
        """The whole docstring, dedented."""
        return inspect.getdoc(self.check) or ""

    @property
    def title(self) -> str:
        """The docstring's first line without its final dot."""
        return self.doc.partition("\n")[0].rstrip(".")

    def section(self, heading: str) -> str:
        """Give the text under one of HEADINGS, unwrapped, "" when it is missing."""
        found = re.search(rf"^{heading}:\s*(.*?)(?=^(?:{'|'.join(HEADINGS)}):|\Z)", self.doc, re.MULTILINE | re.DOTALL)
        return " ".join(found[1].split()) if found else ""


def rule(
    stage: Stage,
    *,
    move: Move,
    outlook: Outlook,
    phases: tuple[Phase, ...],
    needs: tuple[str, ...] = (),
    context: bool = False,
    only_also: bool = False,
    fallback: bool = False,
    last: bool = False,
) -> Callable[[Callable[["Facts"], Found | None]], Rule]:
    """Make a Rule of a function; its slug comes from the name of the module in which it stands."""

    def decorate(check: Callable[["Facts"], Found | None]) -> Rule:
        slug = check.__module__.rpartition(".")[2].replace("_", "-")
        return Rule(slug, stage, move, outlook, frozenset(phases), needs, context, only_also, fallback, check, last)

    return decorate
