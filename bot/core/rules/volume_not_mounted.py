"""Rule volume-not-mounted."""

import re

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.nodes import claims_of
from bot.core.rule import rule

_REASONS = ("FailedMount", "FailedAttachVolume", "FailedMapVolume")
_CONFIG = re.compile(r'(secret|configmap)s? "[^"]+" not found|references non-existent', re.IGNORECASE)
_VOLUME = re.compile(r'volume "([^"]+)"')


@rule("start", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def volume_not_mounted(facts: Facts) -> Found | None:
    """A volume cannot be attached or mounted.

    When:
        A pod is on its node, none of its containers has started, and the last word about its volumes is FailedMount or
        FailedAttachVolume; among them a ReadWriteOnce volume that another node still holds (Multi-Attach).
    Why it blocks:
        Containers start only when all volumes are mounted.
    What to do:
        Multi-Attach: put the pods on one node, use a ReadWriteMany volume, or stop the other pod. Else look at the storage
        driver on that node.
    """
    for pod in facts.pods.creating:
        event = facts.pods.sure_event(pod, *_REASONS)
        if event is None or _CONFIG.search(event.message):
            continue
        claim = _claim(facts, pod, event.message)
        subject = names.subject("Pod", pod.name, pod.namespace)
        rows = [Evidence(subject, f"events[{event.reason}].message", names.quoted(event.message))]
        text = f"{facts.pods.naming((pod,))} on node {names.named('Node', pod.spec.node_name)} cannot mount "
        if claim is not None:
            modes = ", ".join(claim.spec.access_modes)
            text += f"volume claim {names.named('PersistentVolumeClaim', claim.name, claim.namespace)}"
            text += f" ({names.quoted(modes)})" if modes else ""
            rows.append(
                Evidence(
                    names.subject("PersistentVolumeClaim", claim.name, claim.namespace),
                    "spec.accessModes",
                    names.quoted(modes),
                )
            )
        else:
            text += "its volume"
        multi = "multi-attach" in event.message.lower()
        steps = (
            Step("asker", "Run the pods on one node, use a ReadWriteMany claim, or stop the other pod.")
            if multi
            else Step("platform", "Look at the storage driver on this node.", facts.pods.describe(pod)),
        )
        return Found(
            facts.pods.close(f"{text}: {names.quoted(event.message)}"),
            tuple(rows),
            steps,
            (
                subject,
                *((names.subject("PersistentVolumeClaim", claim.name, claim.namespace),) if claim is not None else ()),
            ),
            "reported",
        )
    return None


def _claim(facts: Facts, pod: o.Pod, said: str) -> o.PersistentVolumeClaim | None:
    """The claim whose volume the text names, by the volume's name in the pod or in the cluster; else the only claim."""
    claims = [
        c for name in claims_of(pod) if (c := facts.snapshot.look_of(o.PersistentVolumeClaim, name, pod.namespace))
    ]
    found = _VOLUME.search(said)
    if found is not None:
        by_volume = {
            v.name: v.persistent_volume_claim.claim_name for v in pod.spec.volumes if v.persistent_volume_claim
        }
        for claim in claims:
            if found[1] in {claim.spec.volume_name, claim.name} or by_volume.get(found[1]) == claim.name:
                return claim
        return None
    return claims[0] if len(claims) == 1 else None
