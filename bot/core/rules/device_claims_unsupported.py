"""Rule device-claims-unsupported."""

import re
from typing import Any

from bot.core import objects as o
from bot.core import texts
from bot.core.diagnosis import Evidence, Found, Move, Step
from bot.core.facts import Facts
from bot.core.names import cited, named, quoted, subject
from bot.core.objects import condition
from bot.core.rule import rule
from bot.core.untyped import dig

_FIELD = re.compile(r"^\[?spec\.\S+: (?:(?:Internal error|Not found|Forbidden|Required value|Invalid value: [^:]*): )?")


@rule("queue", move="asker", outlook="fix", phases=("waiting",), needs=("Workload", "ResourceClaimTemplate"))
def device_claims_unsupported(facts: Facts) -> Found | None:
    """Kueue cannot count the devices that the pods claim.

    When:
        Kueue says of the Workload that its resource claims are not supported, not mapped to quota or not readable,
        and the pods still claim so: a claim by name instead of a template, a DeviceClass without a mapping, a
        template that does not exist, a selection that Kueue does not count, too few devices.
    Why it blocks:
        Kueue turns claimed devices into quota before it queues a Workload. Claims that it cannot count keep the
        Workload out of its queue, and Kueue does not look again until the Workload or the configuration changes.
    What to do:
        Use a ResourceClaimTemplate with an exact count. A DeviceClass is mapped to a resource in
        `resources.deviceClassMappings` of Kueue's configuration, which is read at start, and that resource must be
        covered by the ClusterQueue.
    """
    workload = facts.identity.want()
    text = facts.history.text
    said: texts.QuotaText | None = facts.history.said
    field = "status.conditions[QuotaReserved].message"
    if not isinstance(said, texts.Devices):
        requeued = condition(workload.status.conditions, "Requeued")
        if facts.history.reason != "DRAResourcesUnresolved" and not (
            requeued is not None and requeued.status == "False" and requeued.reason == "Inadmissible" and not text
        ):
            return None
        if requeued is not None and not text:
            text, field = requeued.message, "status.conditions[Requeued].message"
        said = texts.devices(text) or texts.Devices("other")
    claims = [(pod_set, claim) for pod_set in workload.spec.pod_sets for claim in pod_set.template.spec.resource_claims]
    if said.what == "claims-unsupported" and claims and not any(claim.resource_claim_name for _, claim in claims):
        return None
    if said.what == "template-unreadable" and _template_is_there(facts, workload, said.template):
        return None
    about = subject("Workload", workload.name, workload.namespace)
    sentence, move, step = _told(said, text, workload, claims)
    evidence = [Evidence(about, field, quoted(text), "kueue")]
    for pod_set, claim in claims:
        used = claim.resource_claim_template_name or claim.resource_claim_name
        where = f"spec.podSets[{pod_set.name}].template.spec.resourceClaims[{claim.name}]"
        evidence.append(Evidence(about, where, quoted(used) or "none"))
    for name in sorted({claim.resource_claim_template_name for _, claim in claims} - {""}):
        classes = _classes(facts, name, workload.namespace)
        if classes:
            template = subject("ResourceClaimTemplate", name, workload.namespace)
            evidence.append(
                Evidence(template, "spec.spec.devices.requests[].deviceClassName", quoted(", ".join(classes)))
            )
    subjects = [about]
    if said.device_class:
        subjects.append(subject("DeviceClass", said.device_class))
    return Found(sentence, tuple(evidence), (Step(move, step),), tuple(subjects), "reported", move)


def _template_is_there(facts: Facts, workload: o.Workload, name: str) -> bool:
    return bool(name) and facts.snapshot.look("ResourceClaimTemplate", name, workload.namespace) is not None


def _classes(facts: Facts, template: str, namespace: str) -> list[str]:
    item = facts.snapshot.look("ResourceClaimTemplate", template, namespace)
    spec: Any = item.spec if isinstance(item, o.Loose) else {}
    requests = dig(spec, "spec.devices.requests")
    found = set()
    for request in requests if isinstance(requests, list) else ():
        for path in ("exactly.deviceClassName", "deviceClassName"):
            name = dig(request, path)
            if isinstance(name, str):
                found.add(name)
    return sorted(found)


def _told(
    said: texts.Devices, text: str, workload: o.Workload, claims: list[tuple[o.PodSet, o.PodResourceClaim]]
) -> tuple[str, Move, str]:
    name = named("DeviceClass", said.device_class) if said.device_class else ""
    match said.what:
        case "unmapped-class":
            return (
                f"DeviceClass {name} is mapped to no quota in Kueue's configuration, so Kueue cannot count the claimed devices.",
                "platform",
                f"Map {name} in resources.deviceClassMappings, restart Kueue, and cover the resource in the ClusterQueue.",
            )
        case "claims-unsupported":
            direct = sorted({claim.resource_claim_name for _, claim in claims if claim.resource_claim_name})
            which = (
                f" ({', '.join(named('ResourceClaim', item, workload.namespace) for item in direct)})" if direct else ""
            )
            return (
                f"The pods use ResourceClaims by name{which}, which Kueue does not count.",
                "asker",
                "Use a ResourceClaimTemplate instead of a ResourceClaim.",
            )
        case "template-unreadable":
            template = named("ResourceClaimTemplate", said.template, workload.namespace)
            return (
                f"Kueue cannot read ResourceClaimTemplate {template}, which the pods of pod set {quoted(said.pod_set)} use.",
                "asker",
                f"Create ResourceClaimTemplate {template} in the namespace, or correct its name in the job.",
            )
        case "not-enabled":
            return (
                "The pods claim devices, and this Kueue does not count devices: its feature gate for resource claims is off.",
                "platform",
                "Turn on Kueue's feature gate for resource claims, or use a resource name instead of a claim.",
            )
        case "selection-unsupported":
            return (
                f"The claim selects devices in a way that Kueue does not count: {cited(_core(text), 300)}.",
                "asker",
                "Ask for an exact count of devices of one DeviceClass.",
            )
        case "too-few-devices":
            of = f" of DeviceClass {name}" if name else ""
            return (
                f"The cluster has too few devices{of} that match the claim: {cited(_core(text), 300)}.",
                "platform",
                "Add devices, or ask for fewer or for others.",
            )
        case "class-unreadable":
            what = f"DeviceClass {name}" if name else "the devices of the cluster"
            return (
                f"Kueue cannot read {what}: {cited(_core(text), 300)}.",
                "platform",
                "See whether the DeviceClass exists and whether Kueue may read it and the ResourceSlices.",
            )
    return (
        f"Kueue cannot count the devices that the pods claim: {cited(_core(text), 300)}.",
        "asker",
        "Change the claim as Kueue says, or ask for devices that Kueue counts.",
    )


def _core(text: str) -> str:
    """Give what Kueue says without the path of the field and the kind of error that stand before it."""
    return _FIELD.sub("", text)
