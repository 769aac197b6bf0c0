"""Rule scheduling-gated."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.marks import PREFIX
from bot.core.rule import rule


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod",))
def scheduling_gated(facts: Facts) -> Found | None:
    """Another controller's scheduling gate is on the pods.

    When:
        Pods carry a scheduling gate that is not Kueue's (`spec.schedulingGates`).
    Why it blocks:
        The scheduler does not look at a gated pod. Kueue lifts only its own gates; this one is lifted by whoever set it.
    What to do:
        Find the controller that the gate's name points to, and see why it has not lifted it.
    """
    gated = [
        (pod, [g.name for g in pod.spec.scheduling_gates if not g.name.startswith(PREFIX)]) for pod in facts.pods.gated
    ]
    gated = [(pod, gates) for pod, gates in gated if gates]
    if not gated:
        return None
    pods = [pod for pod, _ in gated]
    gates = sorted({gate for _, found in gated for gate in found})
    shown = names.quoted(", ".join(gates))
    verb = "is" if len(pods) == 1 else "are"
    return Found(
        facts.pods.close(
            f"{facts.pods.naming(pods)} {verb} held by scheduling gate {shown}, which Kueue does not lift."
        ),
        tuple(
            Evidence(
                names.subject("Pod", pod.name, pod.namespace), "spec.schedulingGates", names.quoted(", ".join(found))
            )
            for pod, found in gated[:3]
        ),
        (Step("asker", f"See why the controller of {shown} has not lifted its gate.", facts.pods.describe(pods[0])),),
        facts.pods.subjects(pods),
    )
