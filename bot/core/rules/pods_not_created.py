"""Rule pods-not-created."""

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import is_over
from bot.core.rule import rule


@rule("pods", move="platform", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "Event"))
def pods_not_created(facts: Facts) -> Found | None:
    """The job may run, and pods are missing without a known reason.

    When:
        The job is admitted (or not Kueue's) and not suspended, fewer pods exist than it wants, and no quota, policy or
        missing ServiceAccount explains it. Not while earlier pods fail and the controller waits between attempts, and not
        while a pod that exists is itself held up.
    Why it blocks:
        The kind's controller makes the pods: it is slow, down, or met an error that nobody recorded here. Quota is held
        all the while.
    What to do:
        Look at the events of the job and at the controller's log. Right after the admission it passes by itself.
    """
    pods = facts.pods
    if not pods.made_here or pods.missing == 0 or pods.refused or pods.failed or pods.rejected:
        return None
    if pods.unscheduled or pods.gated or pods.starting:
        # many controllers make the next pod only when the one before it is up: what holds that one comes first
        return None
    root = pods.job
    if root is None:
        return None
    young = (facts.age(pods.since) or 0) < facts.thresholds.young
    subject = names.subject(root.kind, root.name, root.namespace)
    sentence = f"{root.kind} {names.named(root.kind, root.name, root.namespace)} may start, but "
    sentence += f"{len(pods.current)} of {pods.needed} pods exist."
    if pods.leaving:
        sentence += (
            f" {len(pods.leaving)} earlier {'pod is' if len(pods.leaving) == 1 else 'pods are'} still being deleted."
        )
    held = next((pod for pod in pods.all if _ended_and_held(pod)), None)
    if held is not None:
        keeps = ", ".join(names.quoted(name, 80) for name in held.metadata.finalizers)
        name = names.named("Pod", held.name, held.namespace)
        sentence += f" Pod {name} has ended and is not gone, so its place stays taken: finalizers {keeps}."
    if young:
        sentence += " It was set going a moment ago, so this may pass by itself."
    error = next(iter(pods.creation_errors), None)
    if error is not None:
        sentence += f" Its controller says: {names.quoted(error.text)}"
    evidence = [Evidence(subject, "spec.suspend", "false")] if pods.has_suspend else []
    evidence.append(Evidence(subject, "pods", f"{len(pods.current)} of {pods.needed}", "computed"))
    if error is not None:
        evidence.append(pods.error_evidence(error))
    kind = root.kind.lower()
    return Found(
        pods.close(sentence),
        tuple(evidence),
        (
            Step(
                "platform",
                f"See the events of the {root.kind} and whether its controller runs.",
                f"kubectl describe {kind} -n {root.namespace} {root.name}",
            ),
        ),
        (subject,),
        "certain" if error is None else "reported",
        outlook="in-progress" if young and error is None else None,
    )


def _ended_and_held(pod: o.Pod) -> bool:
    """Whether a pod is over and being deleted, and finalizers keep it."""
    over = is_over(pod)
    return over and pod.metadata.deletion_timestamp is not None and bool(pod.metadata.finalizers)
