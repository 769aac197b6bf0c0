"""The parts of the settings: clusters with their links, access rules, channels, texts of the site, digests."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bot.core.access import AccessRule
from bot.core.diagnosis import Level
from bot.settings.values import (
    Address,
    ChannelPattern,
    ClusterName,
    GroupId,
    NamespacePattern,
    UserPattern,
    UserTemplate,
)


class Part(BaseModel):
    """What all parts have in common: nothing unknown in them, and no change afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Headlamp(Part):
    """Where Headlamp shows this cluster."""

    base_url: Address = Field(
        description="Where Headlamp is reached, with its sub-path if it has one.",
        examples=["https://headlamp.example.com"],
    )
    cluster_name: str = Field(default="main", description="The name Headlamp has for this cluster.", examples=["main"])
    features: tuple[Literal["cohorts", "topologies"], ...] = Field(
        default=(), description="Pages that only later versions of its Kueue plugin have.", examples=[["cohorts"]]
    )


class KueueViz(Part):
    """Where KueueViz shows this cluster."""

    base_url: Address = Field(description="Where KueueViz is reached.", examples=["https://kueueviz.example.com"])


class Links(Part):
    """Where an answer's names link to."""

    headlamp: Headlamp | None = Field(default=None, description="Headlamp with its Kueue plugin.")
    kueueviz: KueueViz | None = Field(default=None, description="KueueViz.")
    templates: dict[str, Address] = Field(
        default_factory=dict,
        description="Further links by the name they are shown under; {cluster}, {kind}, {namespace} and {name} are filled in.",
        examples=[{"Grafana": "https://grafana.example.com/d/kueue?var-namespace={namespace}&var-name={name}"}],
    )

    @field_validator("templates")
    @classmethod
    def _placeholders(cls, templates: dict[str, str]) -> dict[str, str]:
        for name, template in templates.items():
            for placeholder in re.findall(r"\{([^}]*)\}", template):
                if placeholder not in {"cluster", "kind", "namespace", "name"}:
                    msg = f"{name} has the unknown placeholder {{{placeholder}}}"
                    raise ValueError(msg)
        return templates


class Cluster(Part):
    """One cluster that can be asked about."""

    name: ClusterName = Field(
        default="",
        description="What people write before the colon; needed when there are several clusters.",
        examples=["prod-eu"],
    )
    kubeconfig: Path | None = Field(
        default=None, description="A kubeconfig file; without it the pod's own identity, or else the default kubeconfig.",
        examples=["/etc/whypending/kubeconfig"],
    )  # fmt: skip
    context: str = Field(
        default="", description="The context of the kubeconfig; its current one when empty.", examples=["prod-eu"]
    )
    kueue_namespace: str = Field(
        default="kueue-system", description="The namespace that Kueue runs in.", examples=["kueue-system"]
    )
    links: Links = Field(default_factory=Links, description="Where an answer's names link to.")
    access_review: bool = Field(
        default=False,
        description=(
            "Whether a person's own Kubernetes permissions decide, too (`on`, `off`): a SubjectAccessReview by the e-mail "
            "address that Slack tells. Needs `users:read.email` and the component `access-review`."
        ),
        examples=[True],
    )
    access_review_user: UserTemplate = Field(
        default="{email}",
        description="What Kubernetes calls a person; {email} is filled in.",
        examples=["oidc:{email}"],
    )


DEFAULT_RULE = "default"
"""The access rule that is there out of the box; one of this name in the configuration takes its place."""


class Access(Part):
    """One access rule: who may ask about what, and how much an answer shows. Rules only grant, so the widest counts."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$")] = Field(
        description=(
            "What a refusal and the audit line call the rule. The rule `default` is there out of the box and lets every "
            "member ask about every namespace at level `namespace`; one of that name replaces it, and with "
            "`namespaces: []` nobody may ask but by another rule."
        ),
        examples=["queue owners"],
    )
    channels: tuple[ChannelPattern, ...] = Field(
        default=(),
        description="Channels in which everybody sees this much, by id. Without channels, groups and users: every member.",
        examples=[["C0123456789"]],
    )
    groups: tuple[GroupId, ...] = Field(
        default=(),
        description="Slack user groups, by id; their members see this much where nobody else reads. Needs `usergroups:read`.",
        examples=[["S0123456789"]],
    )
    users: tuple[UserPattern, ...] = Field(
        default=(), description="Users, by id, who see this much where nobody else reads.", examples=[["U0123456789"]]
    )
    namespaces: tuple[NamespacePattern, ...] = Field(
        default=("*",),
        description="Which namespaces may be asked about; `*` stands for any characters.",
        examples=[["team-a", "team-b-*"]],
    )
    clusters: tuple[str, ...] = Field(
        default=("*",), description="Which clusters may be asked about, by name.", examples=[["prod-*"]]
    )
    level: Level = Field(
        default="namespace",
        description=(
            "Whose names an answer shows: `namespace` the asked namespace's alone, `queue` also those that share its "
            "ClusterQueue, `cohort` also those that share its cohort, `all` everything. What is kept back is counted."
        ),
        examples=["namespace"],
    )
    contact: str = Field(
        default="", description="Whom a refusal tells to ask: a channel, a person, an address.", examples=["#gpu-help"]
    )

    def rule(self) -> AccessRule:
        """Give it as the policy takes it."""
        return AccessRule(
            name=self.name, namespaces=self.namespaces, level=self.level, channels=self.channels, groups=self.groups,
            users=self.users, clusters=self.clusters, contact=self.contact,
        )  # fmt: skip


class Channel(Part):
    """What holds in one channel."""

    default_namespace: str = Field(
        default="", description="The namespace of a job that is named without one.", examples=["team-a"]
    )
    cluster: ClusterName = Field(
        default="", description="The cluster that is asked when none is named.", examples=["prod-eu"]
    )
    private: bool = Field(
        default=False, description="Whether answers go to whoever asked alone, not into the channel.", examples=[True]
    )


class Text(Part):
    """What a site adds to the answers of one rule."""

    runbook: Address | Literal[""] = Field(
        default="",
        description="Where the site's own page about it is.",
        examples=["https://wiki.example.com/gpu-quota"],
    )
    owner: Annotated[str, Field(max_length=200)] = Field(
        default="", description="The channel or people to turn to.", examples=["#gpu-quota"]
    )
    sentence: Annotated[str, Field(max_length=500)] = Field(
        default="",
        description="One more sentence.",
        examples=["Quota is raised on Mondays: fill in the form by Friday."],
    )


class Digest(Part):
    """One digest: what is pending, where it is posted, and when."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$")] = Field(
        description="What it is called; also the end of its CronJob's name.", examples=["gpu-queues"]
    )
    channel: Annotated[str, Field(pattern=r"^[CDG][A-Z0-9]{2,}$")] = Field(
        description="The channel's id; the bot must be in it.", examples=["C0123456789"]
    )
    schedule: Annotated[str, Field(pattern=r"^(@(hourly|daily|weekly|monthly)|\S+( +\S+){4})$")] = Field(
        default="0 9 * * 1-5", description="When, as cron has it.", examples=["0 9 * * 1-5"]
    )
    time_zone: Annotated[str, Field(pattern=r"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$")] = Field(
        default="Etc/UTC", description="The time zone of `schedule` and `quiet`.", examples=["Europe/Berlin"]
    )
    cluster: ClusterName = Field(default="", description="The cluster, where there are several.", examples=["prod-eu"])
    namespaces: tuple[NamespacePattern, ...] = Field(
        default=(),
        description="Only these namespaces; `*` stands for any characters. Their names are shown at every level.",
        examples=[["team-a", "team-b-*"]],
    )
    queues: tuple[str, ...] = Field(
        default=(), description="Only these ClusterQueues; `*` stands for any characters.", examples=[["gpu-*"]]
    )
    level: Level = Field(
        default="namespace",
        description="Whose names it shows; of `queues` and of a whole cluster, `namespace` gives counts alone.",
        examples=["queue"],
    )
    minimum_age_seconds: float = Field(
        default=300, ge=0, description="What is younger is left out, and counted.", examples=[300]
    )
    owners: dict[str, GroupId] = Field(
        default_factory=dict,
        description="The user group that is mentioned when something in a ClusterQueue is newly stuck.",
        examples=[{"gpu-cq": "S0123456789"}],
    )
    quiet: Annotated[str, Field(pattern=r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$")] = Field(
        default="",
        description="Hours in which nothing is posted; the next one tells all of it.",
        examples=["22:00-07:00"],
    )
    only_changes: bool = Field(
        default=False, description="Whether it is silent when nothing that is stuck has changed.", examples=[True]
    )
    picture: bool = Field(
        default=False, description="Whether pictures are added (`files:write`, extra `pictures`).", examples=[True]
    )
