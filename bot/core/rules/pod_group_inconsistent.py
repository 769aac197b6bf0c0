"""Rule pod-group-inconsistent."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.jobs import subject_of
from bot.core.marks import GROUP_TOTAL, QUEUE_LABEL, queue_name
from bot.core.names import named, quoted
from bot.core.rule import rule


@rule("workload", move="asker", outlook="fix", phases=("no-workload",), needs=("Pod", "Workload"))
def pod_group_inconsistent(facts: Facts) -> Found | None:
    """The pods of the group do not agree, or its name is taken.

    When:
        The group has no Workload, and its pods name different queues or different values of
        `kueue.x-k8s.io/pod-group-total-count` (or none that is a number), or are of more different shapes than a Workload may
        have pod sets; or a Workload of the group's name exists that is not the group's.
    Why it blocks:
        Kueue makes one Workload of the whole group, and refuses to when its pods contradict each other or the name is taken.
    What to do:
        Create the pods again with the same queue and the same count, or give the group another name.
    """
    group = facts.identity.group
    if group is None:
        return None
    name = named("PodGroup", group.name, group.namespace)
    totals = facts.membership.group_totals
    queues = {queue_name(pod) or "" for pod in group.pods}
    taken = facts.snapshot.look_of(o.Workload, group.name, group.namespace)
    if len(queues) > 1:
        pods, field = {queue_name(pod) or "": pod for pod in reversed(group.pods)}, f"metadata.labels[{QUEUE_LABEL}]"
        sentence = f"The pods of group {name} name different queues: {_listed(queues)}."
    elif len(totals) != 1 or 0 in totals:
        pods = {pod.metadata.annotations.get(GROUP_TOTAL, ""): pod for pod in reversed(group.pods)}
        field = f"metadata.annotations[{GROUP_TOTAL}]"
        stated = _listed(set(pods))
        sentence = f"The pods of group {name} do not agree on how many they are: {stated}."
    elif facts.membership.group_roles is not None:
        roles, most = facts.membership.group_roles
        about = subject_of(group.pods[0])
        return Found(
            f"The pods of group {name} are of {roles} different shapes, and a Workload may have at most {most} pod sets.",
            (Evidence(about, "different shapes in the group", str(roles), "computed"),),
            (
                Step(
                    "asker",
                    f"Create the pods again in at most {most} shapes (requests, node selection), or in several groups.",
                ),
            ),
            tuple(subject_of(pod) for pod in group.pods[:5]),
        )
    elif taken is not None:
        owners = taken.metadata.owner_references
        whose = (
            f"{owners[0].kind} {named(owners[0].kind, owners[0].name, group.namespace)}" if owners else "something else"
        )
        sentence = f"The name of pod group {name} is taken: the Workload of that name belongs to {whose}."
        evidence = Evidence(subject_of(taken), "metadata.ownerReferences", quoted(owners[0].name if owners else "none"))
        return Found(sentence, (evidence,), (Step("asker", "Give the pod group another name."),), (subject_of(taken),))
    else:
        return None
    return Found(
        sentence,
        tuple(Evidence(subject_of(pod), field, quoted(value) or "not set") for value, pod in sorted(pods.items())[:5]),
        (Step("asker", "Create the pods again with the same queue and the same total count."),),
        tuple(subject_of(pod) for pod in group.pods[:5]),
    )


def _listed(values: set[str]) -> str:
    return ", ".join(quoted(value, 60) or "none" for value in sorted(values)[:5])
