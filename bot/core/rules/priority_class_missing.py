"""Rule priority-class-missing."""

from bot.core.closeness import closest
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.membership import PRIORITY_LABEL
from bot.core.names import named, quoted
from bot.core.rule import rule


@rule(
    "workload", move="asker", outlook="fix", phases=("no-workload",), needs=("WorkloadPriorityClass", "PriorityClass")
)
def priority_class_missing(facts: Facts) -> Found | None:
    """The priority class that it names does not exist.

    When:
        The label `kueue.x-k8s.io/priority-class` names no WorkloadPriorityClass, or (without that label) the pod template's
        `priorityClassName` names no PriorityClass.
    Why it blocks:
        Kueue needs the priority's value to make the Workload. It tries again and again, and before 0.19 says nothing.
    What to do:
        Name a class that exists (`kubectl get workloadpriorityclasses`), or have the class created. The finding's data:
        `suggestions`, the classes that come close.
    """
    wanted = facts.membership.priority
    if wanted is None or not wanted.name:
        return None
    snapshot = facts.snapshot
    if wanted.name.startswith("system-") or snapshot.find(wanted.kind, wanted.name) is not None:
        return None
    names = sorted(item.name for item in snapshot.seen(wanted.kind))
    near = closest(wanted.name, names)
    offered = near or tuple(names[:3])
    there = f" There is {', '.join(quoted(name) for name in offered)}." if offered else ""
    steps = [
        Step(
            "asker", f"Name a {wanted.kind} that exists{': ' + quoted(near[0]) if near else ''}.", wanted.command(near)
        )
    ]
    if wanted.field.endswith(f"[{PRIORITY_LABEL}]"):
        steps.append(Step("queue-admin", f"Or create the {wanted.kind} {quoted(wanted.name)}."))
    return Found(
        f"{wanted.of} names the {wanted.kind} {named(wanted.kind, wanted.name)} in {wanted.words}, which does not exist, "
        f"so Kueue makes no Workload.{there}",
        (Evidence(wanted.subject, wanted.field, quoted(wanted.name)),),
        tuple(steps),
        (wanted.subject,),
        data={"suggestions": list(near)},
    )
