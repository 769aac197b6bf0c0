"""JSON v1: the public promise. Own types, so that a change inside can never change what scripts read.

Within v1 fields are added, never renamed and never dropped. `schema()` gives the JSON Schema, `document` the answer of
a Diagnosis that went through `disclosure.disclose` (names are no longer marked then).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from bot.core import diagnosis as d
from bot.core.quantity import canonical
from bot.core.snapshot import Versions as KnownVersions

Quantity = Annotated[
    str,
    Meta(
        description="A Kubernetes quantity in canonical form.",
        examples=["4", "1500m", "10Gi"],
        pattern=r"^-?[0-9]+(m|[KMGTPE]i)?$",
    ),
]
Time = Annotated[
    str,
    Meta(
        description="RFC 3339 in UTC.",
        examples=["2026-11-30T14:52:11Z"],
        pattern=r"^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
        extra_json_schema={"format": "date-time"},
    ),
]
Count = Annotated[int, Meta(ge=0)]


class Model(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What all of them have in common: frozen, every field is always there, camelCase outside."""


class Job(Model, frozen=True):
    """The object that was meant."""

    api_version: Annotated[str, Meta(description="Group and version of the kind, 'batch/v1'.")]
    kind: Annotated[str, Meta(description="Its kind, 'Job'.")]
    namespace: Annotated[str, Meta(description="Its namespace.")]
    name: Annotated[str, Meta(description="Its name.")]


class Evidence(Model, frozen=True):
    """One proof: which object, which field, what it says."""

    subject: Annotated[str, Meta(description="Kind/[namespace/]name of the object.")]
    field: Annotated[str, Meta(description="The field's path in the object.")]
    value: Annotated[str, Meta(description="What the field says, or what was computed.")]
    source: Annotated[
        d.Source,
        Meta(
            description="cluster: an object's field. kueue: Kueue's own words. computed: worked out from the objects."
        ),
    ]


class Step(Model, frozen=True):
    """One next step."""

    move: Annotated[d.Move, Meta(description="Whose move it is.")]
    do: Annotated[str, Meta(description="What to do, in the imperative.")]
    command: Annotated[str | None, Meta(description="A command that can be copied, null when there is none.")]


class Finding(Model, frozen=True):
    """A rule that fired."""

    rule: Annotated[str, Meta(description="The rule's slug: it completes the sentence 'pending because …'.")]
    certainty: Annotated[
        d.Certainty,
        Meta(
            description="certain: a field says so or it was recomputed. reported: Kueue's or the scheduler's recent text. "
            "likely: inferred."
        ),
    ]
    sentence: Annotated[str, Meta(description="The cause in one sentence, with the number that decides.")]
    subjects: Annotated[list[str], Meta(description="The objects it is about, as Kind/[namespace/]name.")]
    evidence: Annotated[list[Evidence], Meta(description="The proof; at least one.", min_length=1)]
    next: Annotated[list[Step], Meta(description="What to do, the most useful first; may be empty.")]
    data: Annotated[dict[str, Any], Meta(description="What is particular to the rule; documented with the rule.")]


class NotChecked(Model, frozen=True):
    """A rule that could not be checked."""

    rule: Annotated[str, Meta(description="The rule's slug.")]
    reason: Annotated[str, Meta(description="What could not be read, and why.")]


class ChainLink(Model, frozen=True):
    """One object of the admission path."""

    kind: Annotated[str, Meta(description="Workload, LocalQueue, ClusterQueue, ResourceFlavor, Cohort …")]
    namespace: Annotated[str | None, Meta(description="Its namespace, null for an object without one.")]
    name: Annotated[str, Meta(description="Its name; '' when there is no such object.")]
    state: Annotated[str, Meta(description="Its state in a few words.")]
    ok: Annotated[bool | None, Meta(description="Whether it lets the job pass; null when that is not known.")]
    links: Annotated[dict[str, str], Meta(description="Web pages about it, by the name of the site.")]


class QuotaRow(Model, frozen=True):
    """One flavor and resource that the Workload needs, as Kueue counts."""

    pod_sets: Annotated[list[str], Meta(description="The pod sets that ask for it.")]
    flavor: Annotated[str, Meta(description="The ResourceFlavor.")]
    resource: Annotated[str, Meta(description="The resource, 'nvidia.com/gpu'.")]
    requested: Annotated[Quantity, Meta(description="All that the Workload wants of it from this flavor.")]
    nominal: Annotated[Quantity | None, Meta(description="The ClusterQueue's nominal quota; null when not known.")]
    used: Annotated[Quantity | None, Meta(description="What the ClusterQueue's workloads hold; null when not known.")]
    available: Annotated[
        Quantity | None,
        Meta(
            description="What it could take now without preempting anyone, cohort and limits included; null when not known."
        ),
    ]
    capacity: Annotated[Quantity | None, Meta(description="The most it could ever take; null when not known.")]
    short: Annotated[
        Quantity | None,
        Meta(
            description="requested minus available where requested ≤ capacity, else requested minus capacity; at least 0."
        ),
    ]
    verdict: Annotated[
        Literal["fits", "wait", "never", "excluded"] | None,
        Meta(
            description="fits: there is room now. wait: there will be when others release. never: it could not ever fit. "
            "excluded: it may not use this flavor. null: not known."
        ),
    ]
    why: Annotated[str | None, Meta(description="Why the flavor is excluded: a taint, labels, not covered.")]
    limit: Annotated[str | None, Meta(description="The term that binds: 'ClusterQueue/gpu-cq nominalQuota'.")]


class Holder(Model, frozen=True):
    """A Workload that holds what this one needs; several, where names are withheld."""

    namespace: Annotated[str | None, Meta(description="Its namespace; null when it is withheld.")]
    job: Annotated[str, Meta(description="Its job as Kind/name, or how many there are when their names are withheld.")]
    workload: Annotated[str | None, Meta(description="The Workload's name; null when it is withheld.")]
    cluster_queue: Annotated[str, Meta(description="The ClusterQueue that it counts against.")]
    flavor: Annotated[str, Meta(description="The ResourceFlavor.")]
    resource: Annotated[str, Meta(description="The resource.")]
    amount: Annotated[Quantity, Meta(description="How much it holds.")]
    since: Annotated[Time | None, Meta(description="Since when; null when not known or for several.")]


class AheadJob(Model, frozen=True):
    """A Workload that stands before this one; several, where names are withheld."""

    namespace: Annotated[str | None, Meta(description="Its namespace; null when it is withheld.")]
    job: Annotated[str, Meta(description="Its job as Kind/name, or how many there are when their names are withheld.")]
    why: Annotated[str, Meta(description="Why it stands before this one.")]


class Ahead(Model, frozen=True):
    """The line before this Workload."""

    position: Annotated[Count | None, Meta(description="How many are before it; null when not known.")]
    total: Annotated[Count | None, Meta(description="How many wait in all; null when not known.")]
    jobs: Annotated[list[AheadJob], Meta(description="The first of those before it.")]


class Pods(Model, frozen=True):
    """The job's pods, over all of its Workloads."""

    wanted: Annotated[Count, Meta(description="How many there should be.")]
    created: Annotated[Count, Meta(description="How many there are.")]
    scheduled: Annotated[Count, Meta(description="How many are bound to a node.")]
    running: Annotated[Count, Meta(description="How many run.")]


class KueueSaid(Model, frozen=True):
    """Kueue's own last words about the Workload."""

    text: Annotated[str, Meta(description="The text, as Kueue wrote it.")]
    reason: Annotated[str, Meta(description="The condition's or event's reason.")]
    since: Annotated[Time | None, Meta(description="When the condition changed.")]
    last_seen: Annotated[Time | None, Meta(description="When an event last repeated it.")]


class Withheld(Model, frozen=True):
    """What was kept back from this reader."""

    level: Annotated[
        Literal["namespace", "queue", "cohort", "all"],
        Meta(description="The level of disclosure; the command line shows all that its own identity may read."),
    ]
    namespaces: Annotated[Count, Meta(description="How many other namespaces lost their names.")]


class Versions(Model, frozen=True):
    """The versions that could be told, else null."""

    kueue: Annotated[str | None, Meta(description="Kueue's version.")]
    kubernetes: Annotated[str | None, Meta(description="The API server's version.")]
    api: Annotated[str | None, Meta(description="The version of kueue.x-k8s.io that was read.")]


class Older(Model, frozen=True):
    """A kind of which a part was read before the answer's moment."""

    kind: Annotated[str, Meta(description="The kind.")]
    observed_at: Annotated[Time, Meta(description="When it was read.")]


class Answer(Model, frozen=True):
    """The answer of `whypending explain NAMESPACE/NAME -o json`."""

    version: Annotated[Literal["v1"], Meta(description="The version of this document's form.")]
    asked: Annotated[str, Meta(description="The question as it was asked.")]
    cluster: Annotated[str, Meta(description="The cluster's configured name; '' for the one cluster without a name.")]
    job: Annotated[Job | None, Meta(description="The object that was meant; null when it was not found.")]
    stage: Annotated[d.Stage, Meta(description="Where on the admission path the headline stands.")]
    admitted: Annotated[
        bool | None,
        Meta(description="false: look at Kueue. true: look at the scheduler. null when there is no Workload."),
    ]
    outlook: Annotated[d.Outlook, Meta(description="What kind of waiting it is.")]
    move: Annotated[d.Move, Meta(description="Whose move it is.")]
    headline: Annotated[Finding, Meta(description="The one cause.")]
    also: Annotated[list[Finding], Meta(description="The other rules that fired, in the order of the admission path.")]
    context: Annotated[list[Finding], Meta(description="What helps to understand it but holds nothing back by itself.")]
    not_checked: Annotated[list[NotChecked], Meta(description="The rules that could not be checked.")]
    complete: Annotated[bool, Meta(description="false when anything that could change the headline was not read.")]
    chain: Annotated[list[ChainLink], Meta(description="The admission path in order; a missing link is a row, too.")]
    quota: Annotated[list[QuotaRow], Meta(description="One row per flavor and resource that the Workload could use.")]
    holders: Annotated[list[Holder], Meta(description="Who holds what this Workload needs, the largest first.")]
    ahead: Annotated[
        Ahead | None, Meta(description="The line before it; null when it is not in a line or it is not known.")
    ]
    pods: Annotated[Pods | None, Meta(description="Its pods; null while nothing of it was ever admitted.")]
    kueue_said: Annotated[KueueSaid | None, Meta(description="Kueue's own words; null when it said nothing.")]
    withheld: Annotated[Withheld, Meta(description="What disclosure kept back.")]
    versions: Annotated[Versions, Meta(description="The versions that could be told.")]
    observed_at: Annotated[Time, Meta(description="The moment at which the cluster looked like this.")]
    older: Annotated[
        list[Older],
        Meta(description="Long lists of a wide cluster that were read before that, where fresh ones are not needed."),
    ]


def document(answer: d.Diagnosis) -> Answer:
    """Give the public form of a disclosed Diagnosis."""
    return Answer(
        version="v1",
        asked=answer.asked,
        cluster=answer.cluster,
        job=_job(answer.job),
        stage=answer.stage,
        admitted=answer.admitted,
        outlook=answer.outlook,
        move=answer.move,
        headline=_finding(answer.headline),
        also=[_finding(finding) for finding in answer.also],
        context=[_finding(finding) for finding in answer.context],
        not_checked=[NotChecked(rule=entry.rule, reason=entry.reason) for entry in answer.not_checked],
        complete=answer.complete,
        chain=[_link(link) for link in answer.chain],
        quota=[_row(row) for row in answer.quota],
        holders=[_holder(holder) for holder in answer.holders],
        ahead=_ahead(answer.ahead),
        pods=_pods(answer.pods),
        kueue_said=_said(answer.kueue_said),
        withheld=Withheld(level=answer.withheld.level, namespaces=answer.withheld.namespaces),
        versions=_versions(answer.versions),
        observed_at=_time(answer.observed_at) or "",
        older=[Older(kind=kind, observed_at=_time(at) or "") for kind, at in answer.older],
    )


def dump(answer: d.Diagnosis) -> str:
    """Give the public form of a disclosed Diagnosis as indented JSON text without a final newline."""
    return msgspec.json.format(msgspec.json.encode(document(answer)), indent=2).decode()


def schema() -> dict[str, Any]:
    """Give the JSON Schema of `Answer` (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | msgspec.json.schema(Answer)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _amount(resource: str, value: int | None) -> str | None:
    return None if value is None else canonical(resource, value)


def _plain(value: Any) -> Any:  # noqa: ANN401 - a rule's data may hold anything that JSON can say
    """Give rule-specific data as JSON can carry it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(entry) for entry in value)
    if isinstance(value, datetime):
        return _time(value)
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def _finding(finding: d.Finding) -> Finding:
    return Finding(
        rule=finding.rule,
        certainty=finding.certainty,
        sentence=finding.sentence,
        subjects=list(finding.subjects),
        evidence=[
            Evidence(subject=entry.subject, field=entry.field, value=entry.value, source=entry.source)
            for entry in finding.evidence
        ],
        next=[Step(move=step.move, do=step.do, command=step.command) for step in finding.next],
        data=_plain(finding.data),
    )


def _job(job: d.JobId | None) -> Job | None:
    return Job(api_version=job.api_version, kind=job.kind, namespace=job.namespace, name=job.name) if job else None


def _link(link: d.Link) -> ChainLink:
    return ChainLink(
        kind=link.kind,
        namespace=link.namespace or None,
        name=link.name,
        state=link.state,
        ok=link.ok,
        links=dict(link.links),
    )


def _row(row: d.QuotaRow) -> QuotaRow:
    return QuotaRow(
        pod_sets=list(row.pod_sets),
        flavor=row.flavor,
        resource=row.resource,
        requested=canonical(row.resource, row.requested),
        nominal=_amount(row.resource, row.nominal),
        used=_amount(row.resource, row.used),
        available=_amount(row.resource, row.available),
        capacity=_amount(row.resource, row.capacity),
        short=_amount(row.resource, row.short),
        verdict=row.verdict,
        why=row.why,
        limit=row.limit,
    )


def _holder(holder: d.Holder) -> Holder:
    return Holder(
        namespace=holder.namespace or None,
        job=holder.job,
        workload=holder.workload or None,
        cluster_queue=holder.cluster_queue,
        flavor=holder.flavor,
        resource=holder.resource,
        amount=canonical(holder.resource, holder.amount),
        since=_time(holder.since),
    )


def _ahead(ahead: d.Ahead | None) -> Ahead | None:
    if ahead is None:
        return None
    jobs = [AheadJob(namespace=job.namespace or None, job=job.job, why=job.why) for job in ahead.jobs]
    return Ahead(position=ahead.position, total=ahead.total, jobs=jobs)


def _pods(pods: d.PodCounts | None) -> Pods | None:
    return (
        Pods(wanted=pods.wanted, created=pods.created, scheduled=pods.scheduled, running=pods.running) if pods else None
    )


def _said(said: d.KueueSaid | None) -> KueueSaid | None:
    if said is None:
        return None
    return KueueSaid(text=said.text, reason=said.reason, since=_time(said.since), last_seen=_time(said.last_seen))


def _versions(known: KnownVersions) -> Versions:
    return Versions(kueue=known.kueue, kubernetes=known.kubernetes, api=known.api)
