"""Rule pod-creation-forbidden-policy."""

import re

from bot.core import names
from bot.core.diagnosis import Found, Move, Step
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def pod_creation_forbidden_policy(facts: Facts) -> Found | None:
    """A policy refuses the pods.

    When:
        Pods are missing, and the API server refused to create them: Pod Security of the namespace, an admission webhook
        or ValidatingAdmissionPolicy, a LimitRange, a security context constraint, or a webhook that does not answer.
    Why it blocks:
        Kueue has admitted the job, but no pod comes into being. The job's controller tries again, with the same result.
    What to do:
        Change the pod template as the text says, or have the policy changed. A webhook that does not answer is for those
        who run it.
    """
    errors = facts.pods.errors_of("policy")
    if not errors:
        return None
    error = errors[0]
    level = re.search(r'violates PodSecurity "([^"]+)"', error.text)
    hook = re.search(r'admission webhook "([^"]+)" denied|failed calling webhook "([^"]+)"', error.text)
    move: Move = "asker"
    if level is not None:
        who = f"Pod Security level {names.quoted(level[1])} of the namespace refuses the pods"
    elif hook is not None and hook[2]:
        who, move = (
            f"Admission webhook {names.quoted(hook[2])} does not answer, so the pods cannot be created",
            "platform",
        )
    elif hook is not None:
        who = f"Admission webhook {names.quoted(hook[1])} refuses the pods"
    else:
        who = "A policy refuses the pods"
    counts = f"{len(facts.pods.current)} of {facts.pods.needed} pods exist"
    reason = re.sub(r"^.*?is forbidden: ", "", error.text)
    return Found(
        facts.pods.close(f"{who}: {counts}. It says: {names.quoted(reason)}"),
        (facts.pods.error_evidence(error),),
        (
            Step("asker", "Change the pod template as the text says, then submit the job again.")
            if move == "asker"
            else Step("platform", "Bring the webhook back, or take its configuration away."),
        ),
        (names.subject(error.owner.kind, error.owner.name, error.owner.namespace),),
        "reported",
        move,
    )
