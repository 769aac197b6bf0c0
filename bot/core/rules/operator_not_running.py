"""Rule operator-not-running."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def operator_not_running(facts: Facts) -> Found | None:
    """Nobody acts on this kind.

    When:
        The job may run (it is not suspended), it has created nothing at all, and since it may run its operator has
        neither written into its status nor an event about it.
    Why it blocks:
        Kueue only releases the job. Its pods are made by the controller of its kind, and that one does not react.
    What to do:
        Bring the kind's operator up: look at its Deployment and its logs. It is neither Kueue nor the scheduler: both have
        nothing to do until there are pods.
    """
    silence, item = facts.operator.silence, facts.identity.root
    if silence is None or item is None:
        return None
    down = f" Its Deployment {silence.deployment} has no ready replica." if silence.deployment else ""
    young = " This may pass by itself." if silence.seconds < facts.thresholds.long else ""
    return Found(
        f"{titled(item)} may start{silence.words}, and {facts.operator.name} has not reacted: no pods, no status, no events."
        f"{down}{young}",
        tuple(Evidence(*entry) for entry in silence.evidence),
        (Step("platform", f"See whether {facts.operator.name} runs."),),
        (subject_of(item),),
        certainty="certain" if silence.deployment else "likely",
    )
