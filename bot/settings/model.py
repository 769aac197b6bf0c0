"""The settings as a whole: every one with its default, and what must hold between them."""

import difflib
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.core.access import LEVELS, AccessRule, Policy
from bot.core.rules import BY_SLUG
from bot.render.site import EVERY_RULE, SiteText, SiteTexts
from bot.settings.errors import ConfigurationError, why_unreadable
from bot.settings.parts import DEFAULT_RULE, Access, Channel, Cluster, Digest, Text
from bot.settings.values import Address

PREFIX = "WHYPENDING_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - in a pod, which has a network policy


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
        stated = given.get_secret_value().strip() if given else ""
        value = stated if path is None else _held_by(path, f"{variable}_FILE")
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
            value = _held_by(self.store_url_file, f"{PREFIX}STORE_URL_FILE")
        return value or f"sqlite:///{self.store_path}"


def _held_by(path: Path, variable: str) -> str:
    """Give the secret that a file holds. Raises ConfigurationError, which names the variable, when it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{variable}: cannot read {path}: {why_unreadable(error)}"
        raise ConfigurationError(msg) from error


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
