"""Asks the right cluster and gives the answer: what Slack, the digest and the terminal have in common."""

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

import structlog

from bot import settings as settings_of
from bot.core import engine, kinds, transitions
from bot.core import objects as o
from bot.core.diagnosis import Diagnosis, Level
from bot.core.disclosure import Audience, disclose
from bot.core.facts import Thresholds
from bot.core.marks import JOB_UID_LABEL
from bot.core.redaction import redact
from bot.core.reference import JobRef
from bot.core.snapshot import Gap, Snapshot
from bot.kube.client import FORBIDDEN, SHARED_SECONDS, UNREACHABLE, Client, Cluster, ReadError, object_path
from bot.kube.doctor import Check
from bot.kube.doctor import examine as examine_cluster
from bot.kube.plan import ROWS
from bot.kube.reader import Reader
from bot.kube.review import Reviewer
from bot.kube.turns import Turns
from bot.render.links import Templates, add_links
from bot.settings import Settings

DEADLINE = 8.0
"""Seconds for all reads of one question."""

log = structlog.get_logger(__name__)


class UnreachableError(Exception):
    """A cluster gave no answer to anything; the text says why."""


class UnknownClusterError(LookupError):
    """No cluster of that name is configured. The text names those that are."""


class NoReviewError(LookupError):
    """A cluster does not say what a person may read; the text is a part of a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Site:
    """One cluster as the service knows it: how to reach it, and where its web pages are."""

    cluster: Cluster
    links: Templates = field(default_factory=Templates)
    access_review: bool = False
    """Whether a person's own Kubernetes permissions decide, too."""


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a watched job: the disclosed answer, its state (None when that is not known), its Workloads' names."""

    answer: Diagnosis
    state: transitions.State | None
    workloads: frozenset[str] = frozenset()


class Service:
    """Answers questions about one or several clusters. Use with `async with`, or call `close` at the end."""

    def __init__(
        self,
        sites: Mapping[str, Site],
        *,
        default: str = "",
        deadline: float = DEADLINE,
        thresholds: Thresholds | None = None,
        shared_seconds: float = SHARED_SECONDS,
        rows: int = ROWS,
    ) -> None:
        """Take the clusters by name and the name of the one that is meant when a question names none.

        Without `default` that is the only cluster, or the first. `deadline` in seconds bounds the reads of a question,
        which share what was read for `shared_seconds` and read at most `rows` objects of a list.
        Raises ValueError when there is no cluster, or none of the default's name.
        """
        if not sites:
            msg = "no cluster is configured"
            raise ValueError(msg)
        if default and default not in sites:
            msg = f"the default cluster {default!r} is not configured; there are: {', '.join(sorted(sites))}"
            raise ValueError(msg)
        self.sites = dict(sites)
        self.default = default or next(iter(sites))
        self.deadline = deadline
        self.thresholds = thresholds
        self._shared_seconds = shared_seconds
        self._rows = rows
        self._readers: dict[str, Reader] = {}
        self._reviewers: dict[str, Reviewer] = {}
        self._turns = Turns()

    async def __aenter__(self) -> Self:
        """Give the service itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self.close()

    async def close(self) -> None:
        """Close all connections; reads in flight end as gaps of their questions."""
        readers, self._readers = self._readers, {}
        self._reviewers.clear()
        await asyncio.gather(*(reader.client.close() for reader in readers.values()), return_exceptions=True)

    @property
    def clusters(self) -> tuple[str, ...]:
        """The configured names, in order."""
        return tuple(self.sites)

    def reader(self, cluster: str = "") -> Reader:
        """Give the reader of a cluster; "" is the default one. Raises UnknownClusterError."""
        name = cluster or self.default
        site = self.sites.get(name)
        if site is None:
            msg = f"there is no cluster {cluster!r}; there are: {', '.join(sorted(self.sites))}"
            raise UnknownClusterError(msg)
        if name not in self._readers:
            client = Client(
                replace(site.cluster, name=name),
                shared_seconds=self._shared_seconds,
                timeout=self.deadline,
                turns=self._turns,
            )
            self._readers[name] = Reader.of(client, rows=self._rows)
        return self._readers[name]

    async def snapshot(self, ref: JobRef, deadline: float | None = None) -> Snapshot:
        """Read what a question needs. Raises UnknownClusterError, nothing else."""
        reader = self.reader(ref.cluster)
        limit = deadline or self.deadline
        try:
            return await reader.read(ref, limit)
        except Exception as error:
            log.exception("reading failed", question=ref.asked, cluster=reader.client.cluster.name)
            return _nothing(reader.client.cluster, f"internal error: {type(error).__name__}")

    async def explain(self, ref: JobRef, deadline: float | None = None) -> Diagnosis:
        """Read the cluster and give the one answer, with links. Never raises.

        A cluster that cannot be reached or is not configured gives an answer whose gaps say so.
        """
        return (await self._answer(ref, deadline))[0]

    async def explain_to(self, ref: JobRef, audience: Audience, deadline: float | None = None) -> Diagnosis:
        """Read the cluster and give the one answer as this audience may see it. Never raises."""
        answer, snapshot = await self._answer(ref, deadline)
        # in another turn of the event loop than the answer; showing it follows at once
        return await self._turns.take(lambda: disclose(answer, audience, snapshot), snapshot.size)

    async def observe(self, ref: JobRef, audience: Audience, deadline: float | None = None) -> Look:
        """Read the cluster and give the answer with the job's state, for a watch. Never raises."""
        answer, snapshot = await self._answer(ref, deadline)
        return await self._turns.take(lambda: look(snapshot, ref, answer, audience), snapshot.size)

    async def namespaces(self, cluster: str) -> tuple[str, ...] | None:
        """Give the names of a cluster's namespaces, sorted; None when they could not be read in full. Never raises."""
        kind = kinds.BY_NAME["Namespace"]
        try:
            async with asyncio.timeout(self.deadline):
                reader = self.reader(cluster)
                path = object_path(kind.group, kind.versions[0], kind.plural, "")
                listing = await reader.client.shared_list(path, kind.kind, kind.versions[0], (), self._rows)
        except (ReadError, TimeoutError, ValueError, UnknownClusterError) as error:
            log.info("namespaces not read", cluster=cluster, reason=getattr(error, "reason", type(error).__name__))
            return None
        return None if listing.reason else tuple(sorted(item.metadata.name for item in listing.objects))

    async def marks(
        self, cluster: str, namespace: str, uids: tuple[str, ...] = ()
    ) -> tuple[transitions.Mark, ...] | None:
        """Read the Workloads of a namespace with one request, of the jobs with these UIDs alone where some are given.

        None when they could not be read in full: then nothing is known. Never raises.
        """
        kind = kinds.BY_NAME["Workload"]
        query = (("labelSelector", f"{JOB_UID_LABEL} in ({','.join(sorted(uids))})"),) if uids else ()
        try:
            async with asyncio.timeout(self.deadline):
                reader = self.reader(cluster)
                served = await reader.discovery.get()
                version = served.version(kind) or kind.versions[0]
                path = object_path(kind.group, version, kind.plural, namespace)
                listing = await reader.client.shared_list(path, kind.kind, kind.api_version(version), query, self._rows)
        except ReadError as error:
            if error.status == 404:
                reader.discovery.forget(served)
            log.info("watched workloads not read", cluster=cluster, namespace=namespace, reason=error.reason)
            return None
        except (TimeoutError, ValueError, UnknownClusterError) as error:
            log.info("watched workloads not read", cluster=cluster, namespace=namespace, reason=type(error).__name__)
            return None
        if listing.reason:
            return None
        return tuple(transitions.mark(item) for item in listing.objects if isinstance(item, o.Workload))

    async def _answer(self, ref: JobRef, deadline: float | None) -> tuple[Diagnosis, Snapshot]:
        try:
            snapshot = await self.snapshot(ref, deadline)
        except UnknownClusterError as error:
            snapshot = _nothing(Cluster(name=ref.cluster), str(error))
        return await self._turns.take(lambda: self.diagnose(snapshot, ref), snapshot.size), snapshot

    def diagnose(self, snapshot: Snapshot, ref: JobRef) -> Diagnosis:
        """Give the answer that follows from a snapshot, with links. Never raises."""
        answer = engine.diagnose(snapshot, ref, self.thresholds)
        for fault in answer.faults:
            # the rule and the kind of error alone: the message may hold names that not everybody may see
            log.error("a rule broke", question=ref.asked, fault=": ".join(fault.split(": ")[:2]))
        site = self.sites.get(answer.cluster or self.default)
        return add_links(answer, site.links) if site is not None else answer

    async def reachable(self, cluster: str = "") -> bool:
        """Say whether the API server of a cluster answers at all; for /readyz. Raises UnknownClusterError."""
        try:
            await self.reader(cluster).client.shared_body("/version")
        except ReadError as error:
            return error.status not in {0, 401}
        return True

    async def permitted(self, cluster: str, user: str, namespace: str) -> Level | None:
        """Give how much Kubernetes lets somebody see of answers about a namespace, None for nothing.

        Raises UnknownClusterError, or NoReviewError when the cluster does not say.
        """
        try:
            return await self._reviewer(cluster).level(user, namespace)
        except ReadError as error:
            raise NoReviewError(f"Kubernetes does not say what you may read ({error.reason})") from error

    def _reviewer(self, cluster: str) -> Reviewer:
        name = cluster or self.default
        if name not in self._reviewers:
            self._reviewers[name] = Reviewer(self.reader(name).client)
        return self._reviewers[name]

    async def examine(self, cluster: str = "") -> list[Check]:
        """Say in words what works and what is missing for a cluster. Raises UnknownClusterError."""
        checks = await examine_cluster(self.reader(cluster))
        if self.sites[cluster or self.default].access_review:
            checks.append(await self._reviewer(cluster).examine())
        return checks


def look(snapshot: Snapshot, ref: JobRef, answer: Diagnosis, audience: Audience) -> Look:
    """Give what a snapshot and the answer that was made from it tell a watch."""
    state = transitions.observe(snapshot, ref, answer)
    return Look(disclose(answer, audience, snapshot), state, transitions.workload_names(snapshot, ref))


def _nothing(cluster: Cluster, reason: str) -> Snapshot:
    kinds = ("Namespace", "Workload", "LocalQueue", "ClusterQueue", "Pod", "Job")
    return Snapshot(
        observed_at=datetime.now(UTC), gaps=tuple(Gap(kind, reason) for kind in kinds), cluster=cluster.name,
        kueue_namespace=cluster.kueue_namespace,
    )  # fmt: skip


def site_of(cluster: settings_of.Cluster) -> Site:
    """Give a configured cluster as the service knows it. Raises ValueError when its links cannot be used."""
    headlamp, kueueviz = cluster.links.headlamp, cluster.links.kueueviz
    return Site(
        Cluster(
            name=cluster.name, context=cluster.context, kubeconfig=str(cluster.kubeconfig or ""),
            kueue_namespace=cluster.kueue_namespace,
        ),
        Templates(
            headlamp=headlamp.base_url if headlamp else "",
            headlamp_cluster=headlamp.cluster_name if headlamp else "main",
            cluster=cluster.name,
            headlamp_features=frozenset(headlamp.features) if headlamp else frozenset(),
            kueueviz=kueueviz.base_url if kueueviz else "",
            own=cluster.links.templates,
        ),
        cluster.access_review,
    )  # fmt: skip


# --- one question, for the command line ---


def explain_once(
    ref: JobRef,
    context: str = "",
    deadline: float = DEADLINE,
    *,
    kubeconfig: str = "",
    thresholds: Thresholds | None = None,
) -> Diagnosis:
    """Answer one question with the person's own kubeconfig; `context` "" is the current one.

    Raises UnreachableError when the cluster gave no answer to anything.
    """

    async def ask() -> Diagnosis:
        async with _alone(ref, context, deadline, kubeconfig, thresholds) as service:
            snapshot = answered(await service.snapshot(ref))
            return service.diagnose(snapshot, ref)

    return asyncio.run(ask())


def snapshot_once(
    ref: JobRef, context: str = "", deadline: float = DEADLINE, *, kubeconfig: str = "", replace_names: bool = False
) -> bytes:
    """Give the redacted bundle about one question, as YAML.

    Raises UnreachableError when the cluster gave no answer to anything.
    """

    async def ask() -> bytes:
        async with _alone(ref, context, deadline, kubeconfig, None) as service:
            return redact(answered(await service.snapshot(ref)), ref, replace_names=replace_names)

    return asyncio.run(ask())


def doctor_once(
    context: str = "", config: Path | None = None, slack: Callable[[Settings], Awaitable[list[Check]]] | None = None
) -> tuple[bool, list[str]]:
    """Examine the kubeconfig's cluster, or with `config` every cluster, the tokens and Slack by a configuration.

    Gives whether nothing that is needed is missing, and lines for the terminal. Never raises.
    """

    async def ask() -> list[Check]:
        checks: list[Check] = []
        if config is None:
            service = Service({"": Site(Cluster(context=context))})
        else:
            try:
                settings = settings_of.load(config)
                service = Service({cluster.name: site_of(cluster) for cluster in settings.clusters})
            except (settings_of.ConfigurationError, ValueError) as error:
                return [Check("configuration", ok=False, sentence=str(error), remedy="Correct it and run this again.")]
            checks += [*_tokens(settings), await _store(settings)]
            if slack is not None:
                checks += await slack(settings)
        async with service:
            for found in await asyncio.gather(*(service.examine(name) for name in service.clusters)):
                checks += found
        return checks

    _quiet()
    checks = asyncio.run(ask())
    return all(check.ok is not False for check in checks), [line for check in checks for line in _lines(check)]


def _tokens(settings: Settings) -> list[Check]:
    """Whether the tokens that the chosen way to Slack needs are there and look like what they are."""
    needed: tuple[Literal["slack_bot_token", "slack_app_token", "slack_signing_secret"], ...] = (
        "slack_bot_token",
        "slack_app_token" if settings.slack_mode == "socket" else "slack_signing_secret",
    )
    checks = []
    for name in needed:
        try:
            settings.secret(name)
        except settings_of.ConfigurationError as error:
            checks.append(Check(name, ok=False, sentence=f"{error}.", remedy="Copy it from the Slack app's settings."))
        else:
            checks.append(Check(name, ok=True, sentence="It is set and has the right form."))
    return checks


async def _store(settings: Settings) -> Check:
    """Whether the store can be used; without it questions are answered all the same."""
    from bot.store import Store, StoreError  # noqa: PLC0415 - a question on the terminal needs no database

    remedy = "Set store_path to a file in a folder that can be written, or store_url to a PostgreSQL."
    try:
        url, path = settings.store(), settings.store_path
        if url == f"sqlite:///{path}" and not path.exists():  # an examination leaves nothing behind
            if os.access(path.parent, os.W_OK):
                return Check("store", ok=True, sentence=f"{path} can be made.")
            sentence = f"The folder of {path} is missing or cannot be written. Watches are not kept."
            return Check("store", ok=None, sentence=sentence, remedy=remedy)
        async with Store.open(url) as store:
            await store.ping()
    except (StoreError, settings_of.ConfigurationError) as error:
        sentence = f"{str(error)[:1].upper()}{str(error)[1:]}. Watches are not kept."
        return Check("store", ok=None, sentence=sentence, remedy=remedy)
    return Check("store", ok=True, sentence="It can be written, and its schema is current.")


def _lines(check: Check) -> list[str]:
    mark = {True: "ok     ", None: "partly ", False: "missing"}[check.ok]
    lines = [f"{mark}  {check.name}: {check.sentence}"]
    return [*lines, f"         {check.remedy}"] if check.remedy and check.ok is not True else lines


def _quiet() -> None:
    """A command's standard output is its answer: only errors are logged, to standard error, unless logging was set up."""
    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        )


def alone(context: str = "", kubeconfig: str = "", thresholds: Thresholds | None = None) -> Service:
    """Give a service for the person's own kubeconfig that logs errors alone; `context` "" is the current one."""
    return _alone(JobRef("", ""), context, DEADLINE, kubeconfig, thresholds)


def _alone(ref: JobRef, context: str, deadline: float, kubeconfig: str, thresholds: Thresholds | None) -> Service:
    _quiet()
    site = Site(Cluster(name=ref.cluster, context=context, kubeconfig=kubeconfig))
    return Service({ref.cluster: site}, deadline=deadline, thresholds=thresholds)


def answered(snapshot: Snapshot) -> Snapshot:
    """Give the snapshot; raise UnreachableError when nothing was read, and nothing was refused either."""
    reasons = {gap.reason for gap in snapshot.gaps}
    if not snapshot.objects and not snapshot.covered and reasons and not reasons & {FORBIDDEN}:
        reason = min(reasons, key=lambda text: (not text.startswith(UNREACHABLE), text))
        raise UnreachableError(reason[:1].upper() + reason[1:])
    return snapshot
