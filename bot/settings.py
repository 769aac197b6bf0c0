"""Everything that can be configured: from the environment (WHYPENDING_…) and from one YAML file; the environment wins.

A mistake stops the start with a sentence that names the place and shows what a right value looks like.
"""

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as SourceError

from bot.core.access import LEVELS, AccessRule, Policy
from bot.core.rules import BY_SLUG
from bot.render.site import EVERY_RULE, SiteText, SiteTexts

PREFIX = "WHYPENDING_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"

EVERYWHERE = "0.0.0.0"  # noqa: S104 - in a pod, which has a network policy

Level = Literal["namespace", "queue", "cohort", "all"]
SERVICE_LINK = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?$")
NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


class ConfigurationError(Exception):
    """The configuration cannot be used; the message is one sentence a line, made to be shown."""


def _address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        msg = "must be an http or https address"
        raise ValueError(msg)
    return value.rstrip("/")


def _cluster_name(value: str) -> str:
    if value and not NAME.fullmatch(value):
        msg = "must consist of letters, digits, '-', '_' and '.', without ':' or '/'"
        raise ValueError(msg)
    return value


def _channel_pattern(value: str) -> str:
    if not re.fullmatch(r"[CDG][A-Z0-9]{2,}|[CDG]?[A-Z0-9]*[*?\[][]A-Z0-9*?\[!-]*", value):
        msg = "must be a channel's id (at the foot of its details in Slack), with * for any characters"
        raise ValueError(msg)
    return value


def _user_template(value: str) -> str:
    if "{email}" not in value:
        msg = "must hold {email}"
        raise ValueError(msg)
    return value


def _group_id(value: str) -> str:
    if not re.fullmatch(r"S[A-Z0-9]{2,}", value):
        msg = "must be a user group's id, which Slack shows in the group's address"
        raise ValueError(msg)
    return value


def _user_pattern(value: str) -> str:
    if not re.fullmatch(r"[UW][A-Z0-9]{2,}|[UW]?[A-Z0-9]*[*?\[][]A-Z0-9*?\[!-]*", value):
        msg = "must be a user's id (Copy member ID in the profile), with * for any characters"
        raise ValueError(msg)
    return value


def _namespace_pattern(value: str) -> str:
    if not re.fullmatch(r"[]a-z0-9*?\[!-]{1,63}", value):
        msg = "must be a namespace's name, with * for any characters"
        raise ValueError(msg)
    return value


Address = Annotated[str, AfterValidator(_address)]
ClusterName = Annotated[str, AfterValidator(_cluster_name)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Headlamp(_Part):
    """Where Headlamp shows this cluster."""

    base_url: Address = Field(
        description="Where Headlamp is reached, with its sub-path if it has one.",
        examples=["https://headlamp.example.com"],
    )
    cluster_name: str = Field(default="main", description="The name Headlamp has for this cluster.", examples=["main"])
    features: tuple[Literal["cohorts", "topologies"], ...] = Field(
        default=(), description="Pages that only later versions of its Kueue plugin have.", examples=[["cohorts"]]
    )


class KueueViz(_Part):
    """Where KueueViz shows this cluster."""

    base_url: Address = Field(description="Where KueueViz is reached.", examples=["https://kueueviz.example.com"])


class Links(_Part):
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


class Cluster(_Part):
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
    access_review_user: Annotated[str, AfterValidator(_user_template)] = Field(
        default="{email}",
        description="What Kubernetes calls a person; {email} is filled in.",
        examples=["oidc:{email}"],
    )


DEFAULT_RULE = "default"
"""The access rule that is there out of the box; one of this name in the configuration takes its place."""


class Access(_Part):
    """One access rule: who may ask about what, and how much an answer shows. Rules only grant, so the widest counts."""

    name: Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$")] = Field(
        description=(
            "What a refusal and the audit line call the rule. The rule `default` is there out of the box and lets every "
            "member ask about every namespace at level `namespace`; one of that name replaces it, and with "
            "`namespaces: []` nobody may ask but by another rule."
        ),
        examples=["queue owners"],
    )
    channels: tuple[Annotated[str, AfterValidator(_channel_pattern)], ...] = Field(
        default=(),
        description="Channels in which everybody sees this much, by id. Without channels, groups and users: every member.",
        examples=[["C0123456789"]],
    )
    groups: tuple[Annotated[str, AfterValidator(_group_id)], ...] = Field(
        default=(),
        description="Slack user groups, by id; their members see this much where nobody else reads. Needs `usergroups:read`.",
        examples=[["S0123456789"]],
    )
    users: tuple[Annotated[str, AfterValidator(_user_pattern)], ...] = Field(
        default=(), description="Users, by id, who see this much where nobody else reads.", examples=[["U0123456789"]]
    )
    namespaces: tuple[Annotated[str, AfterValidator(_namespace_pattern)], ...] = Field(
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


class Channel(_Part):
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


class Text(_Part):
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


class Digest(_Part):
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
    namespaces: tuple[Annotated[str, AfterValidator(_namespace_pattern)], ...] = Field(
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
    owners: dict[str, Annotated[str, AfterValidator(_group_id)]] = Field(
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


class Settings(BaseSettings):
    """The settings of `whypending serve`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)

    slack_mode: Literal["socket", "http"] = Field(
        default="socket",
        description="How Slack reaches the bot: `socket` needs no ingress, `http` is a signed endpoint.",
        examples=["socket"],
    )
    slack_bot_token: SecretStr | None = Field(default=None, description="The bot token.", examples=["xoxb-…"])
    slack_bot_token_file: Path | None = Field(
        default=None, description="A file that holds the bot token.", examples=["/var/run/secrets/slack/bot-token"]
    )
    slack_app_token: SecretStr | None = Field(
        default=None, description="The app-level token, for Socket Mode.", examples=["xapp-…"]
    )
    slack_app_token_file: Path | None = Field(
        default=None,
        description="A file that holds the app-level token.",
        examples=["/var/run/secrets/slack/app-token"],
    )
    slack_signing_secret: SecretStr | None = Field(
        default=None, description="The signing secret, for HTTP.", examples=["8f74…"]
    )
    slack_signing_secret_file: Path | None = Field(
        default=None,
        description="A file that holds the signing secret.",
        examples=["/var/run/secrets/slack/signing-secret"],
    )
    slack_api_url: Address = Field(
        default="https://slack.com/api", description="Slack's Web API.", examples=["https://slack.com/api"]
    )
    slack_command: Annotated[str, Field(pattern=r"^/[a-z0-9_-]{1,31}$")] = Field(
        default="/whypending",
        description="The slash command, as in the Slack app's manifest.",
        examples=["/whypending"],
    )
    slack_host: str = Field(
        default=EVERYWHERE, description="The address to listen on for Slack in `http` mode.", examples=["127.0.0.1"]
    )
    slack_port: int = Field(
        default=3000, ge=0, le=65535, description="The port for Slack in `http` mode.", examples=[3000]
    )
    slack_timeout_seconds: float = Field(
        default=10, gt=0, description="How long one call to Slack may take.", examples=[10]
    )

    web_host: str = Field(
        default=EVERYWHERE, description="The address of /healthz, /readyz and /metrics.", examples=["127.0.0.1"]
    )  # fmt: skip
    web_port: int = Field(
        default=8080, ge=0, le=65535, description="The port of /healthz, /readyz and /metrics.", examples=[8080]
    )

    clusters: tuple[Cluster, ...] = Field(
        default=(Cluster(),), min_length=1, description="The clusters that can be asked about.",
        examples=[[{"name": "prod-eu", "context": "prod-eu"}]],
    )  # fmt: skip
    access: tuple[Access, ...] = Field(
        default=(), description="Who may ask about what, and how much an answer shows.",
        examples=[[{"name": "queue owners", "groups": ["S0123456789"], "level": "all"}]],
    )  # fmt: skip
    channels: dict[str, Channel] = Field(
        default_factory=dict, description="What holds in a channel, by the channel's id.",
        examples=[{"C0123456789": {"default_namespace": "team-a", "cluster": ""}}],
    )  # fmt: skip
    texts: dict[str, Text] = Field(
        default_factory=dict, description="What this site adds to answers, by the rule's name; `*` for every rule.",
        examples=[{"quota-in-use": {"runbook": "https://wiki.example.com/gpu-quota", "owner": "#gpu-quota"}}],
    )  # fmt: skip

    digests: tuple[Digest, ...] = Field(
        default=(), description="What is posted on a schedule; `whypending digest --manifests` writes a CronJob for each.",
        examples=[[{"name": "gpu-queues", "channel": "C0123456789", "queues": ["gpu-*"]}]],
    )  # fmt: skip

    read_seconds: float = Field(
        default=8, gt=0, description="How long the reads of one question may take together.", examples=[8]
    )
    young_seconds: float = Field(
        default=30, ge=0, description="How long something is too young for its silence to mean anything.", examples=[30]
    )
    long_seconds: float = Field(
        default=300, ge=0, description="After how long something that should pass counts as stuck.", examples=[300]
    )
    answer_seconds: float = Field(
        default=60,
        gt=0,
        description="How long delivering one answer may take, with Slack's rate limits waited for.",
        examples=[60],
    )
    questions_at_once: int = Field(
        default=16, ge=1, description="How many questions to each cluster are worked on at once.", examples=[16]
    )
    questions_waiting: int = Field(
        default=200,
        ge=0,
        description="How many more may wait; whoever comes then is told to ask again.",
        examples=[200],
    )
    drain_seconds: float = Field(
        default=20,
        ge=0,
        description="How long questions may go on after a termination signal; shorter than the pod's grace.",
        examples=[20],
    )

    store_url: SecretStr | None = Field(
        default=None,
        description=(
            "The database for what must survive a restart. Several replicas need one PostgreSQL; "
            "without it one process keeps a file, see `store_path`."
        ),
        examples=["postgresql://whypending:…@db.example.com/whypending"],
    )
    store_url_file: Path | None = Field(
        default=None, description="A file that holds `store_url`.", examples=["/var/run/secrets/store/url"]
    )  # fmt: skip
    store_path: Path = Field(
        default=Path("whypending.sqlite3"),
        description="The SQLite file of a single process; its folder must be writable and outlive the process.",
        examples=["/var/lib/whypending/store.sqlite3"],
    )
    lease_seconds: float = Field(
        default=20,
        gt=0,
        description=(
            "After how long without a sign of life another process takes over what a dead one was doing. "
            "The replicas' clocks must agree more closely than that."
        ),
        examples=[20],
    )
    watch_poll_seconds: float = Field(
        default=15,
        gt=0,
        description="How often the Workloads of watched jobs are looked at, give or take a fifth.",
        examples=[15],
    )  # fmt: skip
    watch_recheck_seconds: float = Field(
        default=300,
        gt=0,
        description="How often a watched job gets a full answer although its Workload did not change: its reason may have.",
        examples=[300],
    )
    watch_settle_seconds: float = Field(
        default=30, ge=0, description="How long a watched job's new state must hold before it is told.", examples=[30]
    )  # fmt: skip
    watch_hours: float = Field(
        default=168, gt=0, description="After how many hours a watch ends by itself, and says so.", examples=[168]
    )  # fmt: skip
    watches_each: int = Field(default=20, ge=0, description="How many jobs one person may watch.", examples=[20])
    watches_total: int = Field(default=500, ge=0, description="How many watches there may be in all.", examples=[500])

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="What is logged.", examples=["info"]
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto",
        description="`json` one object a line, `console` for people, `auto` by whether a terminal is there.",
        examples=["json"],
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic-settings names the arguments
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file, which comes as arguments."""
        return env_settings, init_settings

    @model_validator(mode="after")
    def _texts_are_of_rules(self) -> "Settings":
        for slug in self.texts:
            if slug not in BY_SLUG and slug != EVERY_RULE:
                close = difflib.get_close_matches(slug, sorted(BY_SLUG), n=3, cutoff=0.5)
                meant = f"; did you mean {' or '.join(close)}?" if close else "; `whypending rules` lists them"
                msg = f"texts.{slug}: there is no rule {slug}{meant}"
                raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _clusters_are_told_apart(self) -> "Settings":
        names = [cluster.name for cluster in self.clusters]
        if len(names) > 1 and "" in names:
            msg = "clusters: each of several clusters needs a name, like prod-eu"
            raise ValueError(msg)
        if double := {name for name in names if names.count(name) > 1}:
            msg = f"clusters: the name {min(double)} is given twice"
            raise ValueError(msg)
        self._rules_are_told_apart(names)
        self._digests_are_told_apart(names)
        for channel_id, channel in self.channels.items():
            if channel.cluster and channel.cluster not in names:
                msg = (
                    f"channels.{channel_id}.cluster: there is no cluster {channel.cluster}; there is {', '.join(names)}"
                )
                raise ValueError(msg)
        return self

    def _digests_are_told_apart(self, clusters: list[str]) -> None:
        given = [digest.name for digest in self.digests]
        for at, digest in enumerate(self.digests):
            if given.count(digest.name) > 1:
                msg = f"digests.{at}.name: there are two digests of the name {digest.name}; each needs its own"
                raise ValueError(msg)
            if digest.cluster and digest.cluster not in clusters:
                msg = f"digests.{at}.cluster: there is no cluster {digest.cluster}; there is {', '.join(clusters)}"
                raise ValueError(msg)

    def _rules_are_told_apart(self, clusters: list[str]) -> None:
        given = [rule.name for rule in self.access]
        for at, rule in enumerate(self.access):
            if given.count(rule.name) > 1:
                msg = f"access.{at}.name: there are two rules of the name {rule.name}; each needs its own, like queue owners"
                raise ValueError(msg)
            for pattern in rule.clusters:
                if not any(fnmatchcase(name, pattern) for name in clusters):
                    known = ", ".join(filter(None, clusters)) or "only one, without a name"
                    msg = f"access.{at}.clusters: no cluster is called {pattern}; there is {known}"
                    raise ValueError(msg)

    @model_validator(mode="after")
    def _digests_show_what_their_channels_may_see(self) -> "Settings":
        for at, wanted in enumerate(self.digests):
            place = "" if wanted.channel.startswith("D") else wanted.channel
            cluster = wanted.cluster or self.clusters[0].name
            for namespace in wanted.namespaces or ("*",):
                if namespace == "*" and wanted.level == "namespace":
                    continue  # counts alone
                grant = self.policy.place(place, cluster, namespace)
                where = "every namespace" if namespace == "*" else f"namespace {namespace}"
                like = f"{{name: digest, channels: [{wanted.channel}], level: {wanted.level}}}"
                rule = f"name the channel in an access rule, like {like}"
                if grant is None:
                    msg = f"digests.{at}.channel: no access rule lets channel {wanted.channel} see {where}; {rule}"
                    raise ValueError(msg)
                if LEVELS.index(grant.level) < LEVELS.index(wanted.level):
                    seen = f"access rules let channel {wanted.channel} see {where} at level {grant.level}"
                    msg = f"digests.{at}.level: {seen}; {rule}"
                    raise ValueError(msg)
        return self

    def channel(self, channel_id: str) -> Channel:
        """Give what holds in a channel: its own entry, else the defaults."""
        return self.channels.get(channel_id) or Channel()

    @cached_property
    def policy(self) -> Policy:
        """The access rules with the default one, which stands first."""
        given = [entry.rule() for entry in self.access]
        default = next((rule for rule in given if rule.name == DEFAULT_RULE), AccessRule(DEFAULT_RULE))
        return Policy((default, *(rule for rule in given if rule.name != DEFAULT_RULE)), default.contact)

    @cached_property
    def site_texts(self) -> SiteTexts:
        """What this site adds to answers."""
        return SiteTexts({slug: SiteText(text.runbook, text.owner, text.sentence) for slug, text in self.texts.items()})

    def secret(self, name: Literal["slack_bot_token", "slack_app_token", "slack_signing_secret"]) -> str:
        """Give a secret, from its file where one is named.

        Raises:
            ConfigurationError: it is needed and neither given nor readable.
        """
        given: SecretStr | None = getattr(self, name)
        path: Path | None = getattr(self, f"{name}_file")
        variable = f"{PREFIX}{name.upper()}"
        if path is not None:
            try:
                value = path.read_text().strip()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not text"
                msg = f"{variable}_FILE: cannot read {path}: {reason}"
                raise ConfigurationError(msg) from error
        else:
            value = given.get_secret_value().strip() if given else ""
        example = (Settings.model_fields[name].examples or [""])[0]
        if not value:
            msg = f"{variable} is not set: give the value, like {example}, or {variable}_FILE with a file that holds it"
            raise ConfigurationError(msg)
        start = str(example).split("-", 1)[0] + "-" if "-" in str(example) else ""
        if not value.startswith(start):
            msg = f"{variable} does not start with {start}: a right one looks like {example}"
            raise ConfigurationError(msg)
        return value

    def store(self) -> str:
        """Give the store's URL: the one that is set, else that of the SQLite file.

        Raises:
            ConfigurationError: the file that should hold it cannot be read.
        """
        value = self.store_url.get_secret_value().strip() if self.store_url else ""
        if self.store_url_file is not None:
            try:
                value = self.store_url_file.read_text().strip()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not text"
                msg = f"{PREFIX}STORE_URL_FILE: cannot read {self.store_url_file}: {reason}"
                raise ConfigurationError(msg) from error
        return value or f"sqlite:///{self.store_path}"


class _Given(Settings):
    """Settings that do not look at the environment."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - as above
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take what was given alone."""
        return (init_settings,)


def given(**values: Any) -> Settings:  # noqa: ANN401 - any setting
    """Make settings of these values and the defaults alone, whatever the environment says: for the demo and the tests.

    Raises:
        ValidationError: a value cannot be used.
    """
    return _Given(**values)


def load(path: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings from the environment and from a YAML file.

    Args:
        path: the file; without it the one that WHYPENDING_CONFIG names, if it names one.
        environ: where to look for the file's name and for misspelt variables; the process's own when left out.

    Raises:
        ConfigurationError: something cannot be used; one sentence a line.
    """
    environ = os.environ if environ is None else environ
    if path is None and environ.get(CONFIG_VARIABLE):
        path = Path(environ[CONFIG_VARIABLE])
    data, lines = _file(path) if path else ({}, {})
    known = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}
    unknown = sorted(name for name in environ if name.startswith(PREFIX) and _is_mistaken(name, known))
    if unknown:
        raise ConfigurationError("\n".join(f"{name}: no such setting{_meant(name, known)}" for name in unknown))
    try:
        return Settings(**data)
    except SourceError as error:
        field = next((name for name in Settings.model_fields if f'"{name}"' in str(error)), "")
        msg = f"{PREFIX}{field.upper()}: must be JSON{_like(Settings.model_fields.get(field))}"
        raise ConfigurationError(msg) from error
    except ValidationError as error:
        raise ConfigurationError("\n".join(_sentence(e, path, data, lines) for e in error.errors())) from error


def _is_mistaken(variable: str, known: set[str]) -> bool:
    """Tell whether a variable is meant for us and unknown; Kubernetes sets some for every Service beside the pod."""
    if variable == CONFIG_VARIABLE or variable.partition("__")[0] in known:
        return False
    return not SERVICE_LINK.search(variable)


def _file(path: Path) -> tuple[dict[str, Any], dict[tuple[str | int, ...], int]]:
    """Read the YAML file; give its content and the line of every place in it."""
    try:
        text = path.read_text()
        data = yaml.safe_load(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        msg = f"{path}: cannot be read: {reason}"
        raise ConfigurationError(msg) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        msg = f"{path}{where}: is not YAML: {getattr(error, 'problem', None) or error}"
        raise ConfigurationError(msg) from error
    if data is None:
        return {}, {}
    if not isinstance(data, dict):
        msg = f"{path} line 1: must be a mapping of settings, like slack_mode: socket"
        raise ConfigurationError(msg)
    return data, dict(_lines(node, ()))


def _lines(node: yaml.Node | None, place: tuple[str | int, ...]) -> Iterable[tuple[tuple[str | int, ...], int]]:
    if node is None:
        return
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, str(key.value)), key.start_mark.line + 1
            for inner, line in _lines(value, (*place, str(key.value))):
                if inner != (*place, str(key.value)):
                    yield inner, line
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _lines(value, (*place, index))


def _sentence(
    error: Any,  # noqa: ANN401 - pydantic's ErrorDetails
    path: Path | None,
    data: Mapping[str, Any],
    lines: Mapping[tuple[str | int, ...], int],
) -> str:
    """Say one mistake: where it is, what is wrong, what a right value looks like."""
    place: tuple[str | int, ...] = tuple(error["loc"])
    field, fields = _field(place)
    in_file = (
        path is not None and bool(place) and place[0] in data and f"{PREFIX}{str(place[0]).upper()}" not in os.environ
    )
    dotted = ".".join(str(part) for part in place)
    if in_file:
        line = next((lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in lines), 1)
        where = f"{path} line {line}: {dotted}"
    else:
        where = f"{PREFIX}{'__'.join(str(part) for part in place).upper()}" if place else "settings"
    if error["type"] == "extra_forbidden":
        return f"{where}: no such setting{_meant(str(place[-1]), fields)}"
    what = str(error["msg"]).removeprefix("Value error, ")
    if not place:
        return _located(what, path, lines)
    what = what[:1].lower() + what[1:]
    secret = field is not None and "SecretStr" in str(field.annotation)
    got = (
        ""
        if secret or error["type"] == "missing" or isinstance(error["input"], dict | list)
        else f", not {error['input']!r}"
    )
    return f"{where}: {what}{got}{_like(field)}"


def _located(what: str, path: Path | None, lines: Mapping[tuple[str | int, ...], int]) -> str:
    """Add the line to a sentence about several settings together, which begins with its place."""
    dotted = what.partition(": ")[0]
    place = tuple(int(part) if part.isdigit() else part for part in dotted.split("."))
    line = next((lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in lines), None)
    return what if path is None or line is None else f"{path} line {line}: {what}"


def _field(place: tuple[str | int, ...]) -> tuple[FieldInfo | None, set[str]]:
    """Give the field at a place, and the names that its model has."""
    model: type[BaseModel] = Settings
    field: FieldInfo | None = None
    for part in place:
        if isinstance(part, int) or part not in model.model_fields:
            continue
        field = model.model_fields[part]
        if inner := _model(field.annotation):
            model = inner
    return field, set(model.model_fields)


def _model(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401 - any annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for each in get_args(annotation) if (model := _model(each))), None)


def _like(field: FieldInfo | None) -> str:
    return f"; a right one looks like {_shown(field.examples[0])}" if field is not None and field.examples else ""


def _shown(value: object) -> str:
    return (
        yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True).removesuffix("\n...\n").strip()
    )


def _meant(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def table() -> str:
    """Render every setting as a Markdown table: variable, place in the file, default, meaning."""
    rows = ["| Variable | In the file | Default | Meaning |", "|---|---|---|---|"]
    rows += [
        f"| {f'`{variable}`' if variable else ''} | `{place}` | {default} | {meaning} |"
        for variable, place, default, meaning in _rows(Settings, "")
    ]
    return "\n".join(rows)


def _rows(model: type[BaseModel], before: str) -> Iterable[tuple[str, str, str, str]]:
    for name, field in model.model_fields.items():
        place = f"{before}{name}"
        inner = _model(field.annotation)
        variable = f"{PREFIX}{name.upper()}" if not before else ""
        default = "" if field.is_required() or inner or field.default in {None, "", ()} else f"`{_default(field)}`"
        yield variable, place, default, (field.description or "").replace("|", "\\|")
        if inner:
            several = "[]" if "tuple[" in str(field.annotation) else (".ID" if "dict[" in str(field.annotation) else "")
            yield from _rows(inner, f"{place}{several}.")


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    return _shown(list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value)
