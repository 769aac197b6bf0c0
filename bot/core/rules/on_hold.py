"""Rule on-hold."""

from bot.core import texts
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import cited, named, subject
from bot.core.objects import Job, condition
from bot.core.rule import rule
from bot.core.untyped import dig


@rule("queue", move="asker", outlook="fix", phases=("waiting", "reserved", "admitted"), needs=("Workload",))
def on_hold(facts: Facts) -> Found | None:
    """The Workload is on hold because its job cannot run now.

    When:
        The condition QuotaReserved is False with the reason OnHold.
    Why it blocks:
        Kueue holds a Workload whose job wants no pods or could not make any: a StatefulSet scaled to zero, or a RayJob that
        KubeRay refused to validate. Held Workloads are not queued.
    What to do:
        Scale the StatefulSet up, or mend the RayJob's spec; Kueue releases the Workload then by itself.
    """
    workload = facts.identity.want()
    found = condition(workload.status.conditions, "QuotaReserved")
    if found is None or found.status != "False" or found.reason != "OnHold":
        return None
    about = subject("Workload", workload.name, workload.namespace)
    said = texts.quota(found.message)
    evidence = [Evidence(about, "status.conditions[QuotaReserved].reason", "OnHold", "kueue")]
    why, step = f"Kueue says {cited(found.message, 300)}", "Mend what keeps the job from running."
    root = facts.identity.root
    if isinstance(said, texts.OnHold) and said.what == "scaled-to-zero":
        why, step = "its StatefulSet is scaled to zero replicas", "Scale the StatefulSet up."
        replicas = dig(root.spec, "replicas") if isinstance(root, Job) else None
        if isinstance(root, Job) and isinstance(replicas, int) and replicas > 0:
            wants = f"{replicas} replica{'s' if replicas > 1 else ''}"
            why = f"its StatefulSet was scaled to zero; it wants {wants} again, and Kueue has not released it yet"
            step = "Wait a moment; if it stays so, look for this StatefulSet in the logs of Kueue's controller manager."
            evidence.append(Evidence(subject(root.kind, root.name, root.namespace), "spec.replicas", str(replicas)))
    elif isinstance(root, Job) and dig(root.status, "jobDeploymentStatus") == "ValidationFailed":
        words = dig(root.status, "message", "")
        why = f"KubeRay refused the {root.kind}" + (
            f": {cited(words, 300)}" if isinstance(words, str) and words else ""
        )
        step = f"Mend the spec of the {root.kind}."
        evidence.append(
            Evidence(subject(root.kind, root.name, root.namespace), "status.jobDeploymentStatus", "ValidationFailed")
        )
    return Found(
        f"Workload {named('Workload', workload.name, workload.namespace)} is on hold: {why}.",
        tuple(evidence),
        (Step("asker", step),),
        (about,),
    )
