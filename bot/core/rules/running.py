"""Rule running."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found
from bot.core.facts import Facts
from bot.core.rule import rule


@rule("running", move="nobody", outlook="running", phases=("unmanaged", "admitted"), needs=("Pod",))
def running(facts: Facts) -> Found | None:
    """All pods run: nothing holds it back.

    When:
        Every pod that the job wants now is proven running and ready. What it wants is the larger of what Kueue admitted
        and what the job asks for; pods that have done their work no longer count.
    Why it blocks:
        It does not.
    What to do:
        Nothing. If it makes no progress, look at its logs.
    """
    pods = facts.pods
    pods.require()
    if pods.wanted == 0 or pods.ready < pods.needed or pods.unscheduled or pods.gated or pods.starting:
        return None
    root = facts.identity.root
    subject = names.subject(root.kind, root.name, root.namespace) if root is not None else "Pod"
    done = f" {pods.done} {'has' if pods.done == 1 else 'have'} done their work." if pods.done else ""
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
