"""Settings: where they come from, and what a mistake says before anything starts."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.core.access import AccessRule
from bot.settings import Channel, ConfigurationError, Settings, given, load, table

FULL = """
slack_mode: http
clusters:
  - name: prod-eu
    context: prod-eu
    links:
      headlamp: {base_url: "https://headlamp.example.com/ops/", cluster_name: main, features: [cohorts]}
      kueueviz: {base_url: "https://kueueviz.example.com"}
      templates: {Grafana: "https://grafana.example.com/d/x?var-namespace={namespace}&var-name={name}"}
  - name: lab
access:
  - {name: default, level: queue, namespaces: [team-*], contact: "#gpu-help"}
  - {name: operators, channels: [C0123456789], clusters: [lab], level: cohort}
channels:
  C0123456789: {default_namespace: team-a, cluster: lab, private: true}
texts:
  "*": {owner: "#gpu-help"}
  quota-in-use: {runbook: "https://wiki.example.com/gpu-quota", sentence: Quota is raised on Mondays.}
"""


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith("WHYPENDING_")]:
        monkeypatch.delenv(variable)


def from_file(tmp_path: Path, text: str) -> Settings:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    return load(path)


def mistake(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as error:
        from_file(tmp_path, text)
    return str(error.value)


def test_everything_has_a_default() -> None:
    settings = load()
    assert settings.slack_mode == "socket"
    assert [cluster.name for cluster in settings.clusters] == [""]
    assert settings.policy.rules == (AccessRule("default"),)
    grant = settings.policy.place("C1", "", "team-a")
    assert grant is not None
    assert grant.level == "namespace", "safe by default"


def test_a_file_is_read(tmp_path: Path) -> None:
    settings = from_file(tmp_path, FULL)
    assert settings.slack_mode == "http"
    assert settings.clusters[0].links.headlamp is not None
    assert settings.clusters[0].links.headlamp.base_url == "https://headlamp.example.com/ops"
    assert settings.channel("C0123456789").default_namespace == "team-a"
    assert settings.channel("C0123456789").private
    assert settings.channel("C9") == Channel()
    assert [(rule.name, rule.level) for rule in settings.policy.rules] == [
        ("default", "queue"),
        ("operators", "cohort"),
    ]
    assert settings.policy.contact == "#gpu-help"
    text = settings.site_texts.of("quota-in-use")
    assert (text.runbook, text.owner) == ("https://wiki.example.com/gpu-quota", "#gpu-help")


def test_the_default_rule_can_be_narrowed_to_nothing(tmp_path: Path) -> None:
    settings = from_file(tmp_path, "access: [{name: default, namespaces: []}]")
    assert settings.policy.place("C1", "", "team-a") is None


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYPENDING_SLACK_MODE", "socket")
    monkeypatch.setenv("WHYPENDING_ACCESS", '[{"name": "default", "level": "all"}]')
    settings = from_file(tmp_path, FULL)
    assert settings.slack_mode == "socket"
    assert [rule.level for rule in settings.policy.rules] == ["all"]


def test_the_file_may_be_named_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("read_seconds: 3")
    monkeypatch.setenv("WHYPENDING_CONFIG", str(tmp_path / "config.yaml"))
    assert load().read_seconds == 3


def test_given_settings_do_not_look_at_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYPENDING_SLACK_MODE", "http")
    monkeypatch.setenv("WHYPENDING_SLACK_BOT_TOKEN", "xoxb-real")
    assert given().slack_mode == "socket"
    assert given().slack_bot_token is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("slack_mode: sockets", ["line 1: slack_mode", "'socket' or 'http'", "not 'sockets'", "looks like socket"]),
        ("read_seconds: -1", ["line 1: read_seconds", "greater than 0", "not -1", "looks like 8"]),
        ("\n\nslack_modes: socket", ["line 3: slack_modes: no such setting", "did you mean slack_mode?"]),
        ("clusters:\n- name: a\n- name: b\n  contxt: x", ["line 4: clusters.1.contxt", "did you mean context?"]),
        ("clusters:\n- name: a/b", ["line 2: clusters.0.name", "without ':' or '/'", "looks like prod-eu"]),
        ("clusters:\n- name: a\n  links:\n    headlamp:\n      base_url: headlamp.example.com",
         ["line 5: clusters.0.links.headlamp.base_url", "http or https address", "looks like https://headlamp.example.com"]),
        ("clusters:\n- name: a\n  links: {templates: {G: 'https://g.example.com/{pod}'}}", ["line 3", "{pod}"]),
        ("clusters: [{name: a}, {}]", ["each of several clusters needs a name"]),
        ("clusters: [{name: a}, {name: a}]", ["the name a is given twice"]),
        ("clusters: []", ["clusters", "at least 1"]),
        ("channels: {C1: {cluster: nowhere}}", ["channels.C1.cluster", "no cluster nowhere"]),
        ("access:\n- name: a\n  level: everything", ["line 3: access.0.level", "'namespace', 'queue', 'cohort' or 'all'"]),
        ("access:\n- level: all", ["line 2: access.0.name", "field required", "looks like queue owners"]),
        ("access:\n- name: a\n  channels: ['#ml']", ["line 3: access.0.channels.0", "channel's id", "not '#ml'", "C0123456789"]),
        ("access:\n- name: a\n  groups: [gpu-admins]", ["line 3: access.0.groups.0", "user group's id", "S0123456789"]),
        ("access:\n- name: a\n  users: [ann@example.com]", ["line 3: access.0.users.0", "user's id", "U0123456789"]),
        ("access:\n- name: a\n  namespaces: [Team_A]", ["line 3: access.0.namespaces.0", "namespace's name", "team-a"]),
        ("access:\n- name: a\n- name: a", ["line 2: access.0.name", "two rules of the name a", "like queue owners"]),
        ("access:\n- name: a\n  clusters: [nowhere]", ["line 3: access.0.clusters", "no cluster is called nowhere"]),
        ("access: {level: all}", ["line 1: access", "valid tuple", "name: queue owners"]),
        ("texts:\n  quota-in-us: {owner: x}", ["line 2: texts.quota-in-us", "no rule", "did you mean quota-in-use"]),
        ("digests:\n- {name: a, channel: C012, level: queue}",
         ["line 2: digests.0.level", "every namespace at level namespace", "channels: [C012], level: queue"]),
        ("access: [{name: default, namespaces: []}]\ndigests:\n- {name: a, channel: C012, namespaces: [team-a]}",
         ["line 3: digests.0.channel", "no access rule lets channel C012 see namespace team-a"]),
        ("texts:\n  zzz: {owner: x}", ["line 2: texts.zzz", "`whypending rules` lists them"]),
        ("texts:\n  '*': {runbook: wiki/x}", ["line 2: texts.*.runbook", "http or https address", "https://wiki.example.com"]),
        ("clusters:\n- access_review_user: me", ["line 2: clusters.0.access_review_user", "{email}"]),
        ("- a", ["line 1: must be a mapping"]),
        ("a: [", ["line 1", "is not YAML"]),
        ("slack_mode: socket\n a: b", ["line 2", "is not YAML"]),
    ],
)  # fmt: skip
def test_a_mistake_is_a_sentence_with_the_line_and_what_a_right_one_looks_like(
    tmp_path: Path, text: str, says: list[str]
) -> None:
    told = mistake(tmp_path, text)
    assert told.startswith(str(tmp_path / "config.yaml")) or "clusters:" in told or "channels." in told
    for part in says:
        assert part in told, told


def test_several_mistakes_are_told_at_once(tmp_path: Path) -> None:
    told = mistake(tmp_path, "slack_mode: x\nread_seconds: y\n").splitlines()
    assert [line.split(": ")[1] for line in told] == ["slack_mode", "read_seconds"]


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("WHYPENDING_SLACK_MODE", "x", ["WHYPENDING_SLACK_MODE: ", "'socket' or 'http'"]),
        ("WHYPENDING_CLUSTERS", "prod", ["WHYPENDING_CLUSTERS: must be JSON", "name: prod-eu"]),
        ("WHYPENDING_SLACK_TOKEN", "x", ["WHYPENDING_SLACK_TOKEN: no such setting", "did you mean WHYPENDING_SLACK_"]),
        ("WHYPENDING_ACCESS", '[{"name": "a", "level": "x"}]', ["WHYPENDING_ACCESS__0__LEVEL: "]),
        ("WHYPENDING_CONFIG", "/nowhere/config.yaml", ["/nowhere/config.yaml: cannot be read: No such file"]),
    ],
)
def test_a_mistake_in_the_environment_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: list[str]
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError) as error:
        load()
    for part in says:
        assert part in str(error.value)


def test_what_kubernetes_sets_for_a_service_named_like_us_is_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_WEB", "PORT", "PORT_8080_TCP", "PORT_8080_TCP_ADDR"):
        monkeypatch.setenv(f"WHYPENDING_{name}", "tcp://10.0.0.1:8080")
    assert load().slack_mode == "socket"


# Secrets


def test_a_secret_comes_from_its_variable_or_its_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("xoxb-from-file\n")
    assert given(slack_bot_token="xoxb-1").secret("slack_bot_token") == "xoxb-1"
    assert given(slack_bot_token_file=tmp_path / "token").secret("slack_bot_token") == "xoxb-from-file"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "WHYPENDING_SLACK_BOT_TOKEN is not set"),
        ({"slack_bot_token": "xapp-1"}, "WHYPENDING_SLACK_BOT_TOKEN does not start with xoxb-"),
        ({"slack_bot_token_file": "/nowhere"}, "WHYPENDING_SLACK_BOT_TOKEN_FILE: cannot read /nowhere"),
    ],
)
def test_a_missing_or_wrong_secret_is_a_sentence(values: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        given(**values).secret("slack_bot_token")


def test_no_secret_is_shown(tmp_path: Path) -> None:
    settings = given(slack_bot_token="xoxb-very-secret", slack_app_token="xapp-very-secret")
    assert "very-secret" not in repr(settings)
    assert "very-secret" not in str(settings.model_dump())
    told = mistake(tmp_path, "slack_bot_token: [xoxb-very-secret]")
    assert "slack_bot_token" in told
    assert "very-secret" not in told


# What is said about settings


def test_every_setting_is_described_and_in_the_table() -> None:
    rendered = table()
    assert "| `WHYPENDING_SLACK_MODE` | `slack_mode` | `socket` |" in rendered
    assert "`clusters[].links.headlamp.base_url`" in rendered
    assert "`channels.ID.default_namespace`" in rendered
    for line in rendered.splitlines()[2:]:
        assert line.count(" | ") == 3, line
        assert line.rstrip(" |").endswith((".", "`")), line
    for name in Settings.model_fields:
        assert f"`{name}`" in rendered


def test_every_example_is_a_right_one() -> None:
    for name, field in Settings.model_fields.items():
        for example in field.examples or []:
            values: dict[str, Any] = yaml.safe_load(yaml.safe_dump({name: example}))
            given(**values)
