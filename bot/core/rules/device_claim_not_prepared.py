"""Rule device-claim-not-prepared."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule

_REASONS = ("FailedPrepareDynamicResources", "FailedPrepareResources")


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def device_claim_not_prepared(facts: Facts) -> Found | None:
    """The node's driver does not prepare the devices that were allocated.

    When:
        A pod with device claims is on a node, none of its containers has started, and the kubelet says that it could not
        prepare the claims.
    Why it blocks:
        The scheduler has allocated the devices; the driver on the node must hand them to the pod and does not.
    What to do:
        Look at the device driver's pod on that node: it does not run, is not registered, or reports an error.
    """
    for pod in facts.pods.creating:
        if not pod.spec.resource_claims:
            continue
        event = facts.pods.sure_event(pod, *_REASONS)
        if event is None:
            continue
        subject = names.subject("Pod", pod.name, pod.namespace)
        return Found(
            facts.pods.close(
                f"The device claims of {facts.pods.naming((pod,), inside=True)} are not prepared on node "
                f"{names.named('Node', pod.spec.node_name)}: {names.quoted(event.message)}"
            ),
            (Evidence(subject, f"events[{event.reason}].message", names.quoted(event.message)),),
            (Step("platform", "Look at the device driver's pod on this node.", facts.pods.describe(pod)),),
            (subject, names.subject("Node", pod.spec.node_name)),
            "reported",
        )
    return None
