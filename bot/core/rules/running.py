"""Rule running."""

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.objects import condition
from bot.core.rule import rule


@rule("running", move="nobody", outlook="running", phases=("unmanaged", "admitted"), needs=("Pod",))
def running(facts: Facts) -> Found | None:
    """All pods run: nothing holds it back.

    When:
        Every pod that the job wants now is proven running and ready. What it wants is the larger of what Kueue admitted
        and what the job asks for; pods that have done their work no longer count. Where all containers run and some are
        not ready yet, this is said, and the outlook is in-progress.
    Why it blocks:
        It does not.
    What to do:
        Nothing. If it makes no progress, look at its logs.
    """
    pods = facts.pods
    pods.require()
    up = pods.ready + len(pods.unready)
    if pods.wanted == 0 or up < pods.needed or pods.unscheduled or pods.gated or len(pods.starting) > len(pods.unready):
        return None
    if pods.short_sets:
        return None
    if pods.unready:
        return _not_ready(facts)
    root = facts.identity.root
    subject = names.subject(root.kind, root.name, root.namespace) if root is not None else "Pod"
    done = f" {pods.done} {'has done its' if pods.done == 1 else 'have done their'} work." if pods.done else ""
    if pods.needed == 0:
        sentence = f"All {pods.wanted} pods have done their work; the job is about to be marked as finished."
    elif pods.needed == 1 and pods.ready == 1:
        sentence = f"Its 1 pod runs.{done}"
    else:
        sentence = f"All {pods.needed} pods run.{done}"
    return Found(
        sentence,
        (Evidence(subject, "pods", f"{pods.ready} of {pods.needed} running and ready", "computed"),),
        (),
        pods.subjects(pods.current),
    )


def _not_ready(facts: Facts) -> Found:
    """All containers run, none was ever started again, and some pods are not ready: their probes decide."""
    pods = facts.pods
    waiting = pods.unready
    pod = waiting[0]
    subject = names.subject("Pod", pod.name, pod.namespace)
    probe = pods.last_event(pod, "Unhealthy", "ProbeWarning")
    ready = condition(pod.status.conditions, "Ready")
    said = probe.message if probe is not None else (ready.message if ready is not None else "")
    field = "events[Unhealthy].message" if probe is not None else "status.conditions[Ready].status"
    are = "is" if len(waiting) == 1 else "are"
    lost = [entry for entry in waiting if _lost(facts, entry)]
    words = f": {names.quoted(said)}" if said else ""
    who = pods.naming(waiting, inside=True)
    everything = f"All {pods.needed} pods run"
    if lost:
        node = names.named("Node", lost[0].spec.node_name)
        return Found(
            f"All {pods.needed} pods were started, but {len(lost)} of them {'is' if len(lost) == 1 else 'are'} on a node that "
            f"is not ready now: node {node}.",
            (Evidence(names.subject("Node", lost[0].spec.node_name), "status.conditions[Ready].status", "not True"),),
            (Step("platform", "Look at this node.", f"kubectl describe node {node}"),),
            pods.subjects(lost),
            move="platform",
            outlook="fix",
        )
    return Found(
        f"{everything}, but {len(waiting)} of them {are} not ready yet ({who}){words}."
        if pods.needed != 1
        else f"Its 1 pod runs, but is not ready yet ({who}){words}.",
        (Evidence(subject, field, names.quoted(said) or "not True"),),
        (Step("asker", "See what the containers write, and their readiness and startup probes.", pods.describe(pod)),),
        pods.subjects(waiting),
        outlook="in-progress",
    )


def _lost(facts: Facts, pod: o.Pod) -> bool:
    """Say whether the pod's node is seen to be not ready."""
    node = facts.snapshot.look_of(o.Node, pod.spec.node_name)
    ready = condition(node.status.conditions, "Ready") if node is not None else None
    return ready is not None and ready.status != "True"
