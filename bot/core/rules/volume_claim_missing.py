"""Rule volume-claim-missing."""

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Certainty, Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.nodes import claims_of
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "PersistentVolumeClaim"))
def volume_claim_missing(facts: Facts) -> Found | None:
    """A PersistentVolumeClaim that the pod uses does not exist.

    When:
        A pod that waits for the scheduler uses a claim that is not in its namespace.
    Why it blocks:
        The scheduler places no pod whose claims do not exist.
    What to do:
        Create the claim, or correct `claimName` in the pod template.
    """
    for pod in facts.pods.unscheduled:
        for claim in claims_of(pod):
            certainty: Certainty = "certain"
            try:
                absent = facts.snapshot.one_of(o.PersistentVolumeClaim, claim, pod.namespace) is None
            except Unknown:
                verdict = facts.nodes.verdict(pod)
                if verdict is None or all(part.detail != claim for part in verdict.of("claim-missing")):
                    raise
                absent, certainty = True, "reported"
            if absent:
                subject = names.subject("PersistentVolumeClaim", claim, pod.namespace)
                shown = names.named("PersistentVolumeClaim", claim, pod.namespace)
                return Found(
                    facts.pods.close(
                        f"Volume claim {shown}, which {facts.pods.naming((pod,), inside=True)} uses, does not exist."
                    ),
                    (Evidence(subject, "metadata.name", "not found"), *facts.pods.said(pod)),
                    (
                        Step(
                            "asker",
                            "Create the PersistentVolumeClaim, or correct claimName in the pod template.",
                            f"kubectl get pvc -n {pod.namespace}",
                        ),
                    ),
                    (*facts.pods.subjects((pod,)), subject),
                    certainty,
                )
    return None
