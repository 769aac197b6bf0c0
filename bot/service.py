"""Asks the right cluster and gives the answer: what Slack, the digest and the terminal have in common."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Self

import structlog

from bot.core import engine
from bot.core.diagnosis import Diagnosis
from bot.core.facts import Thresholds
from bot.core.reference import JobRef
from bot.core.snapshot import Gap, Snapshot
from bot.kube.client import Client, Cluster, ReadError
from bot.kube.doctor import Check
from bot.kube.doctor import examine as examine_cluster
from bot.kube.reader import Reader
from bot.render.links import Templates, add_links

DEADLINE = 8.0
"""Seconds for all reads of one question."""

log = structlog.get_logger(__name__)


class UnknownClusterError(LookupError):
    """No cluster of that name is configured. The text names those that are."""


@dataclass(frozen=True, slots=True)
class Site:
    """One cluster as the service knows it: how to reach it, and where its web pages are."""

    cluster: Cluster
    links: Templates = field(default_factory=Templates)


class Service:
    """Answers questions about one or several clusters. Use with `async with`, or call `close` at the end."""

    def __init__(
        self,
        sites: Mapping[str, Site],
        *,
        default: str = "",
        deadline: float = DEADLINE,
        thresholds: Thresholds | None = None,
    ) -> None:
        """Take the clusters by name and the name of the one that is meant when a question names none.

        Without `default` that is the only cluster, or the first. `deadline` in seconds bounds the reads of a question.
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
        self._readers: dict[str, Reader] = {}

    async def __aenter__(self) -> Self:
        """Give the service itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self.close()

    async def close(self) -> None:
        """Close all connections; reads in flight end as gaps of their questions."""
        readers, self._readers = self._readers, {}
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
            self._readers[name] = Reader.of(Client(replace(site.cluster, name=name), timeout=self.deadline))
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
        try:
            snapshot = await self.snapshot(ref, deadline)
        except UnknownClusterError as error:
            snapshot = _nothing(Cluster(name=ref.cluster), str(error))
        answer = engine.diagnose(snapshot, ref, self.thresholds)
        for fault in answer.faults:
            log.error("a rule broke", question=ref.asked, fault=fault)
        site = self.sites.get(answer.cluster or self.default)
        return add_links(answer, site.links) if site is not None else answer

    async def reachable(self, cluster: str = "") -> bool:
        """Say whether the API server of a cluster answers at all; for /readyz. Raises UnknownClusterError."""
        try:
            await self.reader(cluster).client.shared_body("/version")
        except ReadError as error:
            return error.status not in {0, 401}
        return True

    async def examine(self, cluster: str = "") -> list[Check]:
        """Say in words what works and what is missing for a cluster. Raises UnknownClusterError."""
        return await examine_cluster(self.reader(cluster))


def _nothing(cluster: Cluster, reason: str) -> Snapshot:
    kinds = ("Namespace", "Workload", "LocalQueue", "ClusterQueue", "Pod", "Job")
    return Snapshot(
        observed_at=datetime.now(UTC), gaps=tuple(Gap(kind, reason) for kind in kinds), cluster=cluster.name,
        kueue_namespace=cluster.kueue_namespace,
    )  # fmt: skip


async def explain_once(
    ref: JobRef, context: str = "", deadline: float = DEADLINE, *, kubeconfig: str = "",
    thresholds: Thresholds | None = None, kueue_namespace: str = "kueue-system",
) -> Diagnosis:  # fmt: skip
    """Answer one question with the person's own kubeconfig; `context` "" is the current one. Never raises."""
    site = Site(Cluster(name=ref.cluster, context=context, kubeconfig=kubeconfig, kueue_namespace=kueue_namespace))
    async with Service({ref.cluster: site}, deadline=deadline, thresholds=thresholds) as service:
        return await service.explain(ref)


async def snapshot_once(
    ref: JobRef, context: str = "", deadline: float = DEADLINE, *, kubeconfig: str = "",
    kueue_namespace: str = "kueue-system",
) -> Snapshot:  # fmt: skip
    """Read what one question needs, for `whypending snapshot`. Never raises."""
    site = Site(Cluster(name=ref.cluster, context=context, kubeconfig=kubeconfig, kueue_namespace=kueue_namespace))
    async with Service({ref.cluster: site}, deadline=deadline) as service:
        return await service.snapshot(ref)


async def examine(context: str = "", *, kubeconfig: str = "", kueue_namespace: str = "kueue-system") -> list[Check]:
    """Examine one cluster, for `whypending doctor`. Never raises."""
    site = Site(Cluster(context=context, kubeconfig=kubeconfig, kueue_namespace=kueue_namespace))
    async with Service({"": site}) as service:
        return await service.examine()
