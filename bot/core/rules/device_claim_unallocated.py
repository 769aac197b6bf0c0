"""Rule device-claim-unallocated."""

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "pods",
    move="platform",
    outlook="fix",
    phases=("unmanaged", "admitted"),
    needs=("Pod", "ResourceClaim", "ResourceClaimTemplate"),
)
def device_claim_unallocated(facts: Facts) -> Found | None:
    """A device claim of the pod is missing, or the scheduler cannot allocate it.

    When:
        A pod that waits for the scheduler uses a ResourceClaim or ResourceClaimTemplate that does not exist, or the
        scheduler says that it cannot allocate the devices that a claim asks for.
    Why it blocks:
        Devices are allocated together with the node. Without a device that matches, no node takes the pod.
    What to do:
        Create what is missing, or see which devices the nodes publish (ResourceSlices) and who holds them.
    """
    for pod in facts.pods.unscheduled:
        if not pod.spec.resource_claims:
            continue
        verdict = facts.nodes.verdict(pod)
        parts = verdict.of("device") if verdict is not None else ()
        try:
            missing = _missing(facts, pod)
        except Unknown:
            if not parts:
                raise
            missing = None
        if missing is not None:
            kind, name = missing
            shown = names.named(kind, name, pod.namespace)
            return Found(
                facts.pods.close(
                    f"{kind} {shown}, which {facts.pods.naming((pod,), inside=True)} uses, does not exist."
                ),
                (
                    Evidence(names.subject(kind, name, pod.namespace), "metadata.name", "not found"),
                    *facts.pods.said(pod),
                ),
                (Step("asker", f"Create the {kind}, or correct its name in the pod template."),),
                (*facts.pods.subjects((pod,)), names.subject(kind, name, pod.namespace)),
                move="asker",
            )
        if parts:
            claims = ", ".join(sorted(claim.name for claim in pod.spec.resource_claims))
            words = names.quoted(", ".join(part.text for part in parts))
            return Found(
                facts.pods.close(
                    f"The scheduler cannot allocate device claim {names.quoted(claims)} of "
                    f"{facts.pods.naming((pod,), inside=True)}: {words}."
                ),
                facts.pods.said(pod) or (Evidence(names.subject("Pod", pod.name, pod.namespace), "events", words),),
                (
                    Step(
                        "platform",
                        "See which devices the nodes publish and who holds them.",
                        "kubectl get resourceslices",
                    ),
                ),
                facts.pods.subjects((pod,)),
                "reported",
            )
    return None


def _missing(facts: Facts, pod: o.Pod) -> tuple[str, str] | None:
    made = {entry.name: entry.resource_claim_name for entry in pod.status.resource_claim_statuses}
    for claim in pod.spec.resource_claims:
        template = claim.resource_claim_template_name
        named = claim.resource_claim_name or made.get(claim.name, "")
        pairs = (("ResourceClaim", named), ("ResourceClaimTemplate", template if not named else ""))
        for kind, name in pairs:
            if not name:
                continue
            if facts.snapshot.find(kind, name, pod.namespace) is None:
                return kind, name
    return None
