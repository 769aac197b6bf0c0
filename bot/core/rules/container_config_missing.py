"""Rule container-config-missing."""

import re

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule

_WHAT = re.compile(r'(secret|configmap)s? "([^"]+)" not found', re.IGNORECASE)
_KEY = re.compile(
    r"couldn't find key (\S+) in (Secret|ConfigMap) (\S+)|references non-existent (secret|config) key", re.IGNORECASE
)


@rule("start", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def container_config_missing(facts: Facts) -> Found | None:
    """A Secret or ConfigMap that the containers need does not exist.

    When:
        A container waits with CreateContainerConfigError, or a volume cannot be mounted because its Secret or ConfigMap
        is not there.
    Why it blocks:
        The kubelet looks for it only after the pod is on its node: the job holds quota and devices meanwhile.
    What to do:
        Create it in the job's namespace, or correct the name; the kubelet tries again by itself. Contents are never read
        here.
    """
    for view in facts.pods.containers:
        waiting = view.status.state.waiting
        if waiting is not None and waiting.reason == "CreateContainerConfigError":
            field = f"status.containerStatuses[{view.status.name}].state.waiting.message"
            said = waiting.message
            if not said:
                event = facts.pods.last_event(view.pod, "Failed")
                said = event.message if event is not None else ""
            return _found(facts, view.pod, said or waiting.reason, field)
    for pod in facts.pods.creating:
        event = facts.pods.last_event(pod, "FailedMount")
        if event is None and any(volume.secret or volume.config_map for volume in pod.spec.volumes):
            event = facts.pods.sure_event(pod, "FailedMount")
        if event is not None and (_WHAT.search(event.message) or _KEY.search(event.message)):
            return _found(facts, pod, event.message, "events[FailedMount].message")
    return None


def _found(facts: Facts, pod: o.Pod, said: str, field: str) -> Found:
    match = _WHAT.search(said)
    subject = names.subject("Pod", pod.name, pod.namespace)
    if match is not None:
        kind = "Secret" if match[1].lower() == "secret" else "ConfigMap"
        shown = names.named(kind, match[2], pod.namespace)
        sentence = f"{kind} {shown}, which {facts.pods.naming((pod,), inside=True)} needs, does not exist."
        step = f"Create the {kind} in namespace {pod.namespace}, or correct its name in the pod template."
        subjects: tuple[str, ...] = (subject, names.subject(kind, match[2], pod.namespace))
    else:
        sentence = f"The configuration of {facts.pods.naming((pod,), inside=True)} cannot be put together: {names.quoted(said)}"
        step = "Correct what the text names in the pod template, the Secret or the ConfigMap."
        subjects = (subject,)
    return Found(
        facts.pods.close(sentence),
        (Evidence(subject, field, names.quoted(said)),),
        (Step("asker", step, facts.pods.describe(pod)),),
        subjects,
        "certain" if field.startswith("status") else "reported",
    )
