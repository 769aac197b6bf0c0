"""Rule volume-not-bound."""

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Certainty, Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.nodes import claims_of
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule(
    "pods",
    move="platform",
    outlook="fix",
    phases=("unmanaged", "admitted"),
    needs=("Pod", "PersistentVolumeClaim", "StorageClass", "Event"),
)
def volume_not_bound(facts: Facts) -> Found | None:
    """A PersistentVolumeClaim that the pod uses is not bound to a volume.

    When:
        A pod that waits for the scheduler uses a claim whose phase is not Bound, and the claim is not merely waiting for
        the pod to be placed (`volumeBindingMode: WaitForFirstConsumer`), or the scheduler or the provisioner says that
        no volume can be had.
    Why it blocks:
        The scheduler places no pod whose volumes do not exist yet.
    What to do:
        Look at the events of the claim: a storage class that does not exist, a provisioner that does not run, no volume
        left that matches.
    """
    for pod in facts.pods.unscheduled:
        for claim in claims_of(pod):
            found = facts.snapshot.one_of(o.PersistentVolumeClaim, claim, pod.namespace)
            if found is None or found.status.phase in {"Bound", ""}:
                continue
            why = _why(facts, pod, found)
            if why is None:
                continue
            reason, certainty, rows = why
            shown = names.named("PersistentVolumeClaim", claim, pod.namespace)
            subject = names.subject("PersistentVolumeClaim", claim, pod.namespace)
            return Found(
                facts.pods.close(
                    f"Volume claim {shown}, which {facts.pods.naming((pod,), inside=True)} uses, is "
                    f"{names.quoted(found.status.phase)}, "
                    f"not Bound: {reason}."
                ),
                (Evidence(subject, "status.phase", names.quoted(found.status.phase)), *rows, *facts.pods.said(pod)),
                (
                    Step(
                        "platform",
                        "See the claim's events and its storage class.",
                        f"kubectl describe pvc -n {pod.namespace} {claim}",
                    ),
                ),
                (*facts.pods.subjects((pod,)), subject),
                certainty,
            )
    return None


def _why(
    facts: Facts, pod: o.Pod, claim: o.PersistentVolumeClaim
) -> tuple[str, Certainty, tuple[Evidence, ...]] | None:
    events = [event for event in facts.pods.events_about(claim) if event.type == "Warning"]
    rows = tuple(
        Evidence(
            names.subject("PersistentVolumeClaim", claim.name, claim.namespace), "events", names.quoted(event.message)
        )
        for event in events[-1:]
    )
    said = names.quoted(events[-1].message) if events else ""
    if claim.status.phase == "Lost":
        return "its volume is gone", "certain", rows
    verdict = facts.nodes.verdict(pod)
    unbound = verdict is not None and bool(verdict.of("unbound"))
    name = claim.spec.storage_class_name
    if name:
        try:
            known = facts.snapshot.one_of(o.StorageClass, name)
        except Unknown:
            return (said or "the scheduler finds no volume for it", "reported", rows) if unbound or said else None
        if known is None:
            row = Evidence(names.subject("StorageClass", name), "metadata.name", "not found")
            return f"its storage class {names.named('StorageClass', name)} does not exist", "certain", (row, *rows)
        mode = known.volume_binding_mode or "Immediate"
        shown = names.named("StorageClass", name)
        if mode == "Immediate":
            return said or f"storage class {shown} has given it no volume", "certain", rows
        return (
            (said or f"no volume of storage class {shown} can be had for it", "reported", rows)
            if unbound or said
            else None
        )
    if name == "":
        return said or "no volume without a storage class matches it", "certain", rows
    return (said or "no volume can be had for it", "reported", rows) if unbound or said else None
