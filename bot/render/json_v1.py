"""JSON v1: the public promise. Own types, so that a change inside can never change what scripts read.

Within v1 fields are added, never renamed and never dropped. `schema()` gives the JSON Schema, `document` the answer of
a Diagnosis that went through `disclosure.disclose` (names are no longer marked then).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.core import diagnosis as d
from bot.core.quantity import canonical
from bot.core.snapshot import Versions as KnownVersions

Quantity = Annotated[
    str,
    Field(
        description="A Kubernetes quantity in canonical form: '4', '1500m', '10Gi'.",
        examples=["4", "1500m", "10Gi"],
        pattern=r"^-?[0-9]+(m|[KMGTPE]i)?$",
    ),
]
Time = Annotated[
    str,
    Field(
        description="RFC 3339 in UTC.",
        examples=["2026-11-30T14:52:11Z"],
        json_schema_extra={"format": "date-time"},
        pattern=r"^[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
    ),
]


class Model(BaseModel):
    """What all of them have in common: frozen, and nothing undeclared is accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, alias_generator=None)


class Job(Model):
    """The object that was meant."""

    apiVersion: str = Field(description="Group and version of the kind, 'batch/v1'.")  # noqa: N815
    kind: str = Field(description="Its kind, 'Job'.")
    namespace: str = Field(description="Its namespace.")
    name: str = Field(description="Its name.")


class Evidence(Model):
    """One proof: which object, which field, what it says."""

    subject: str = Field(description="Kind/[namespace/]name of the object.")
    field: str = Field(description="The field's path in the object.")
    value: str = Field(description="What the field says, or what was computed.")
    source: d.Source = Field(
        description="cluster: an object's field. kueue: Kueue's own words. computed: worked out from the objects."
    )


class Step(Model):
    """One next step."""

    move: d.Move = Field(description="Whose move it is.")
    do: str = Field(description="What to do, in the imperative.")
    command: str | None = Field(description="A command that can be copied, null when there is none.")


class Finding(Model):
    """A rule that fired."""

    rule: str = Field(description="The rule's slug: it completes the sentence 'pending because …'.")
    certainty: d.Certainty = Field(
        description="certain: a field says so or it was recomputed. reported: Kueue's or the scheduler's recent text. "
        "likely: inferred."
    )
    sentence: str = Field(description="The cause in one sentence, with the number that decides.")
    subjects: list[str] = Field(description="The objects it is about, as Kind/[namespace/]name.")
    evidence: list[Evidence] = Field(description="The proof; at least one.", min_length=1)
    next: list[Step] = Field(description="What to do, the most useful first; may be empty.")
    data: dict[str, Any] = Field(description="What is particular to the rule; documented with the rule.")


class NotChecked(Model):
    """A rule that could not be checked."""

    rule: str = Field(description="The rule's slug.")
    reason: str = Field(description="What could not be read, and why.")


class ChainLink(Model):
    """One object of the admission path."""

    kind: str = Field(description="Workload, LocalQueue, ClusterQueue, ResourceFlavor, Cohort …")
    namespace: str | None = Field(description="Its namespace, null for an object without one.")
    name: str = Field(description="Its name; '' when there is no such object.")
    state: str = Field(description="Its state in a few words.")
    ok: bool | None = Field(description="Whether it lets the job pass; null when that is not known.")
    links: dict[str, str] = Field(description="Web pages about it, by the name of the site.")


class QuotaRow(Model):
    """One flavor and resource that the Workload needs, as Kueue counts."""

    podSets: list[str] = Field(description="The pod sets that ask for it.")  # noqa: N815
    flavor: str = Field(description="The ResourceFlavor.")
    resource: str = Field(description="The resource, 'nvidia.com/gpu'.")
    requested: Quantity = Field(description="All that the Workload wants of it from this flavor.")
    nominal: Quantity | None = Field(description="The ClusterQueue's nominal quota; null when not known.")
    used: Quantity | None = Field(description="What the ClusterQueue's workloads hold; null when not known.")
    available: Quantity | None = Field(
        description="What it could take now without preempting anyone, cohort and limits included; null when not known."
    )
    capacity: Quantity | None = Field(description="The most it could ever take; null when not known.")
    short: Quantity | None = Field(
        description="requested minus available where requested ≤ capacity, else requested minus capacity; at least 0."
    )
    verdict: Literal["fits", "wait", "never", "excluded"] | None = Field(
        description="fits: there is room now. wait: there will be when others release. never: it could not ever fit. "
        "excluded: it may not use this flavor. null: not known."
    )
    why: str | None = Field(description="Why the flavor is excluded: a taint, labels, not covered.")
    limit: str | None = Field(description="The term that binds: 'ClusterQueue/gpu-cq nominalQuota'.")


class Holder(Model):
    """A Workload that holds what this one needs; several, where names are withheld."""

    namespace: str | None = Field(description="Its namespace; null when it is withheld.")
    job: str = Field(description="Its job as Kind/name, or how many there are when their names are withheld.")
    workload: str | None = Field(description="The Workload's name; null when it is withheld.")
    clusterQueue: str = Field(description="The ClusterQueue that it counts against.")  # noqa: N815
    flavor: str = Field(description="The ResourceFlavor.")
    resource: str = Field(description="The resource.")
    amount: Quantity = Field(description="How much it holds.")
    since: Time | None = Field(description="Since when; null when not known or for several.")


class AheadJob(Model):
    """A Workload that stands before this one; several, where names are withheld."""

    namespace: str | None = Field(description="Its namespace; null when it is withheld.")
    job: str = Field(description="Its job as Kind/name, or how many there are when their names are withheld.")
    why: str = Field(description="Why it stands before this one.")


class Ahead(Model):
    """The line before this Workload."""

    position: int | None = Field(description="How many are before it; null when not known.", ge=0)
    total: int | None = Field(description="How many wait in all; null when not known.", ge=0)
    jobs: list[AheadJob] = Field(description="The first of those before it.")


class Pods(Model):
    """The job's pods, over all of its Workloads."""

    wanted: int = Field(description="How many there should be.", ge=0)
    created: int = Field(description="How many there are.", ge=0)
    scheduled: int = Field(description="How many are bound to a node.", ge=0)
    running: int = Field(description="How many run.", ge=0)


class KueueSaid(Model):
    """Kueue's own last words about the Workload."""

    text: str = Field(description="The text, as Kueue wrote it.")
    reason: str = Field(description="The condition's or event's reason.")
    since: Time | None = Field(description="When the condition changed.")
    lastSeen: Time | None = Field(description="When an event last repeated it.")  # noqa: N815


class Withheld(Model):
    """What was kept back from this reader."""

    level: Literal["namespace", "queue", "cohort", "all"] = Field(
        description="The level of disclosure; the command line shows all that its own identity may read."
    )
    namespaces: int = Field(description="How many other namespaces lost their names.", ge=0)


class Versions(Model):
    """The versions that could be told, else null."""

    kueue: str | None = Field(description="Kueue's version.")
    kubernetes: str | None = Field(description="The API server's version.")
    api: str | None = Field(description="The version of kueue.x-k8s.io that was read.")


class Answer(Model):
    """The answer of `whypending explain NAMESPACE/NAME -o json`."""

    version: Literal["v1"] = Field(description="The version of this document's form.")
    asked: str = Field(description="The question as it was asked.")
    cluster: str = Field(description="The cluster's configured name; '' for the one cluster without a name.")
    job: Job | None = Field(description="The object that was meant; null when it was not found.")
    stage: d.Stage = Field(description="Where on the admission path the headline stands.")
    admitted: bool | None = Field(
        description="false: look at Kueue. true: look at the scheduler. null when there is no Workload."
    )
    outlook: d.Outlook = Field(description="What kind of waiting it is.")
    move: d.Move = Field(description="Whose move it is.")
    headline: Finding = Field(description="The one cause.")
    also: list[Finding] = Field(description="The other rules that fired, in the order of the admission path.")
    context: list[Finding] = Field(description="What helps to understand it but holds nothing back by itself.")
    notChecked: list[NotChecked] = Field(description="The rules that could not be checked.")  # noqa: N815
    complete: bool = Field(description="false when anything that could change the headline was not read.")
    chain: list[ChainLink] = Field(description="The admission path in order; a missing link is a row, too.")
    quota: list[QuotaRow] = Field(description="One row per flavor and resource that the Workload could use.")
    holders: list[Holder] = Field(description="Who holds what this Workload needs, the largest first.")
    ahead: Ahead | None = Field(description="The line before it; null when it is not in a line or it is not known.")
    pods: Pods | None = Field(description="Its pods; null while nothing of it was ever admitted.")
    kueueSaid: KueueSaid | None = Field(description="Kueue's own words; null when it said nothing.")  # noqa: N815
    withheld: Withheld = Field(description="What disclosure kept back.")
    versions: Versions = Field(description="The versions that could be told.")
    observedAt: Time = Field(description="The moment at which the cluster looked like this.")  # noqa: N815


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
        notChecked=[NotChecked(rule=entry.rule, reason=entry.reason) for entry in answer.not_checked],
        complete=answer.complete,
        chain=[_link(link) for link in answer.chain],
        quota=[_row(row) for row in answer.quota],
        holders=[_holder(holder) for holder in answer.holders],
        ahead=_ahead(answer.ahead),
        pods=_pods(answer.pods),
        kueueSaid=_said(answer.kueue_said),
        withheld=Withheld.model_validate({"level": answer.withheld.level, "namespaces": answer.withheld.namespaces}),
        versions=_versions(answer.versions),
        observedAt=_time(answer.observed_at) or "",
    )


def dump(answer: d.Diagnosis) -> str:
    """Give the public form of a disclosed Diagnosis as indented JSON text without a final newline."""
    return document(answer).model_dump_json(indent=2)


def schema() -> dict[str, Any]:
    """Give the JSON Schema of `Answer` (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Answer.model_json_schema()


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
    return job and Job(apiVersion=job.api_version, kind=job.kind, namespace=job.namespace, name=job.name)


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
        podSets=list(row.pod_sets),
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
        clusterQueue=holder.cluster_queue,
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
    return pods and Pods(wanted=pods.wanted, created=pods.created, scheduled=pods.scheduled, running=pods.running)


def _said(said: d.KueueSaid | None) -> KueueSaid | None:
    if said is None:
        return None
    return KueueSaid(text=said.text, reason=said.reason, since=_time(said.since), lastSeen=_time(said.last_seen))


def _versions(known: KnownVersions) -> Versions:
    return Versions(kueue=known.kueue, kubernetes=known.kubernetes, api=known.api)
