"""Looking into an answer: one finding by its rule, and what it says with the names shown."""

from bot.core import names
from bot.core.diagnosis import Diagnosis, Finding


def finding(answer: Diagnosis, rule: str) -> Finding:
    """Give the finding of a rule, wherever it stands in the answer."""
    found = [f for f in (answer.headline, *answer.also, *answer.context) if f.rule == rule]
    assert found, f"{rule} did not fire; the headline is {answer.headline.rule}, not checked: {answer.not_checked}"
    return found[0]


def sentence(answer: Diagnosis, rule: str) -> str:
    """Give a finding's sentence with every name shown."""
    return names.show(finding(answer, rule).sentence, names.plain)


def steps(answer: Diagnosis, rule: str) -> str:
    """Give a finding's next steps and commands with every name shown."""
    return "\n".join(names.show(f"{step.do} {step.command or ''}", names.plain) for step in finding(answer, rule).next)
