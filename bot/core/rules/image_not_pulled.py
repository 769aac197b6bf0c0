"""Rule image-not-pulled."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule

_REASONS = frozenset({
    "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError",
    "RegistryUnavailable", "SignatureValidationFailed", "ImagePullError",
})  # fmt: skip


@rule("start", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod",))
def image_not_pulled(facts: Facts) -> Found | None:
    """The image is not on the node.

    When:
        A container of a pod that is on a node waits with ErrImagePull, ImagePullBackOff, InvalidImageName or the like; or
        the kubelet is pulling the image now, which is said as such and passes by itself.
    Why it blocks:
        The pod has its node and its quota, and cannot start: the image's name or tag is wrong, the registry does not
        answer, or the node has no right to pull it.
    What to do:
        Correct the image in the pod template, or give the namespace a pull secret (`imagePullSecrets`).
    """
    views = [view for view in facts.pods.containers if view.status.state.waiting]
    stuck = [view for view in views if view.status.state.waiting and view.status.state.waiting.reason in _REASONS]
    if not stuck:
        return _pulling(facts)
    view = stuck[0]
    waiting = view.status.state.waiting
    reason = waiting.reason if waiting is not None else ""
    image = next(
        (
            c.image
            for c in (*view.pod.spec.containers, *view.pod.spec.init_containers)
            if c.name == view.status.name and c.image
        ),
        view.status.image,
    )
    answers = [e for e in facts.pods.events_about(view.pod) if e.reason == "Failed" and "pull" in e.message.lower()]
    answer = answers[-1].message if answers else (waiting.message if waiting is not None else "")
    pods = sorted({entry.pod.name: entry.pod for entry in stuck}.values(), key=lambda pod: pod.name)
    subject = names.subject("Pod", view.pod.name, view.pod.namespace)
    field = f"status.containerStatuses[{view.status.name}].state.waiting"
    evidence = [Evidence(subject, f"{field}.reason", names.quoted(reason))]
    if answer:
        evidence.append(
            Evidence(subject, "events[Failed].message" if answers else f"{field}.message", names.quoted(answer))
        )
    sentence = f"{facts.pods.naming(pods)} cannot pull image {names.quoted(image)} ({names.quoted(reason)})"
    return Found(
        facts.pods.close(f"{sentence}{': ' + names.quoted(answer, 200) if answer else ''}."),
        tuple(evidence),
        (
            Step(
                "asker",
                "Correct the image's name or tag, or give the namespace a pull secret.",
                facts.pods.describe(view.pod),
            ),
        ),
        facts.pods.subjects(pods),
    )


def _pulling(facts: Facts) -> Found | None:
    """The pull that is under way, by the kubelet's last word about a pod of which no container was made yet."""
    for pod in facts.pods.creating:
        events = [event for event in facts.pods.events_about(pod) if event.reason != "Scheduled"]
        if not events or events[-1].reason != "Pulling":
            continue
        age = facts.age(events[-1].last_seen)
        since = f" for {int(age)} seconds" if age is not None else ""
        subject = names.subject("Pod", pod.name, pod.namespace)
        said = names.quoted(events[-1].message)
        return Found(
            facts.pods.close(f"{facts.pods.naming((pod,))} has been pulling its image{since}: {said}."),
            (Evidence(subject, "events[Pulling].message", said),),
            (Step("nobody", "Wait: large images take minutes on a node that has none of their layers."),),
            (subject,),
            "reported",
            "nobody",
            "in-progress",
        )
    return None
