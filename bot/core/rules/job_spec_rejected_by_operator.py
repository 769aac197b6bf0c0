"""Rule job-spec-rejected-by-operator."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of, titled
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "no-workload", "waiting", "admitted"), needs=("Event",))
def job_spec_rejected_by_operator(facts: Facts) -> Found | None:
    """The kind's operator refuses the job.

    When:
        The job's status says that its operator found it invalid (RayJob: `jobDeploymentStatus: ValidationFailed`; a condition, or
        the state of a SparkApplication, of that meaning), or the operator's newest warning about it says so and no pods of it
        are there.
    Why it blocks:
        The operator creates no pods for a job that it refuses, admitted or not.
    What to do:
        Correct what the text names and create the job again.
    """
    refusal, item = facts.operator.refusal, facts.identity.root
    if refusal is None or item is None:
        return None
    return Found(
        f"{titled(item)} is refused by {facts.operator.name}, it will create no pods: {refusal.text or 'no reason is given'}",
        (Evidence(subject_of(item), refusal.field, refusal.text or refusal.state),),
        (Step("asker", "Correct what the text names, then create it again."),),
        (subject_of(item),),
        certainty="certain" if refusal.field.startswith("status") else "reported",
    )
