"""Rule init-containers-running."""

from bot.core import names
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.moments import lasting
from bot.core.rule import rule


@rule("start", move="nobody", outlook="in-progress", phases=("unmanaged", "admitted"), needs=("Pod",))
def init_containers_running(facts: Facts) -> Found | None:
    """Init containers still run.

    When:
        An init container of a pod runs, so its main containers have not been started. Which, and since when, is said.
    Why it blocks:
        The main containers start after the last init container has ended; until then the pod counts as pending.
    What to do:
        Wait, or look at the init container's log if it takes longer than it should.
    """
    running = [view for view in facts.pods.containers if view.init and view.status.state.running is not None]
    if not running:
        return None
    view = running[0]
    started = view.status.state.running.started_at if view.status.state.running is not None else None
    age = facts.age(started)
    pods = sorted({entry.pod.name: entry.pod for entry in running}.values(), key=lambda pod: pod.name)
    for_long = f" for {lasting(age)}" if age is not None else ""
    subject = names.subject("Pod", view.pod.name, view.pod.namespace)
    name = names.quoted(view.status.name)
    return Found(
        facts.pods.close(
            f"{facts.pods.naming(pods)} {'has' if len(pods) == 1 else 'have'} been in init container {name}{for_long}."
        ),
        (
            Evidence(
                subject,
                f"status.initContainerStatuses[{name}].state.running.startedAt",
                started.isoformat() if started is not None else "running",
            ),
        ),
        (
            Step("nobody", "Wait until it has ended."),
            Step(
                "asker",
                "Or see what it does.",
                f"kubectl logs -n {view.pod.namespace} {view.pod.name} -c {name}",
            ),
        ),
        facts.pods.subjects(pods),
    )
