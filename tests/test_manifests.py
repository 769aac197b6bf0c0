"""The manifests are valid, grant get and list alone, run without privileges, and agree with what the code needs."""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kubernetes_validate
import pytest
import yaml

from bot import __version__, cli, generate, settings
from bot.core import kinds
from bot.kube import review
from bot.kube.permissions import PERMISSIONS
from bot.manifests import cron_jobs
from bot.slack import listeners

ROOT = Path(__file__).parent.parent
MANIFESTS = ROOT / "manifests"
BASE = MANIFESTS / "base"
OVERLAYS = [*sorted((MANIFESTS / "overlays").glob("*")), MANIFESTS / "digest"]


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def kubernetes_files() -> list[Path]:
    return sorted(
        path for path in MANIFESTS.rglob("*.yaml") if path.parent.name != "slack" and path.name != "kustomization.yaml"
    )


def everything(folder: Path) -> Iterator[dict[str, Any]]:
    """Every object that a kustomization applies."""
    for resource in documents(folder / "kustomization.yaml")[0]["resources"]:
        path = folder / resource
        yield from everything(path.resolve()) if path.is_dir() else documents(path)


def one(kind: str, folder: Path = BASE) -> dict[str, Any]:
    found = [document for document in everything(folder) if document["kind"] == kind]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("path", kubernetes_files(), ids=lambda path: str(path.relative_to(MANIFESTS)))
def test_valid_for_the_api_server(path: Path) -> None:
    for document in documents(path):
        kubernetes_validate.validate(document, "1.37", strict=True)


def test_the_check_would_see_a_misspelt_field() -> None:
    deployment = one("Deployment")
    deployment["spec"]["template"]["spec"]["serviceAccountNam"] = "x"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, "1.37", strict=True)


def test_the_kustomizations_list_every_file_and_no_other() -> None:
    for folder in [BASE, *OVERLAYS]:
        listed = documents(folder / "kustomization.yaml")[0]["resources"]
        assert all((folder / name).exists() for name in listed)
        files = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml", "secret.example.yaml"}
        assert files == {name for name in listed if name.endswith(".yaml")}


def test_roles_are_generated_from_what_the_code_reads() -> None:
    assert (BASE / "clusterrole.yaml").read_text() == generate.cluster_role()
    assert (BASE / "role-kueue.yaml").read_text() == generate.kueue_role()


@pytest.mark.parametrize("kind", ["ClusterRole", "Role"])
def test_get_and_list_and_nothing_else(kind: str) -> None:
    for rule in one(kind)["rules"]:
        assert set(rule["verbs"]) <= {"get", "list"}
        assert "*" not in {*rule["apiGroups"], *rule["resources"], *rule.get("resourceNames", [])}
        assert "nonResourceURLs" not in rule
        assert not {"secrets", "pods/log", "pods/exec", "pods/attach", "serviceaccounts/token"} & set(rule["resources"])


def test_what_is_granted_is_what_is_read() -> None:
    granted = {
        (place, group, resource, verb)
        for place, kind in (("cluster", "ClusterRole"), ("kueue", "Role"))
        for rule in one(kind)["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == {(p.place, p.group, p.resource, verb) for p in PERMISSIONS for verb in p.verbs}


def test_configmaps_are_readable_by_name_and_in_kueues_namespace_alone() -> None:
    for kind in ("ClusterRole", "Role"):
        for rule in one(kind)["rules"]:
            if "configmaps" in rule["resources"]:
                assert kind == "Role"
                assert rule["resourceNames"] == ["kueue-manager-config"]
                assert rule["verbs"] == ["get"]


def test_every_job_kind_can_be_read() -> None:
    granted = {
        (group, resource)
        for rule in one("ClusterRole")["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert {(kind.group, kind.plural) for kind in kinds.JOB_KINDS} <= granted


def test_the_only_create_is_in_its_own_overlay() -> None:
    writers = [
        (path.parent.name, document["kind"], sorted(rule["resources"]), rule["verbs"])
        for path in kubernetes_files()
        for document in documents(path)
        for rule in document.get("rules", [])
        if not set(rule["verbs"]) <= {"get", "list"}
    ]
    assert writers == [("access-review", "ClusterRole", ["subjectaccessreviews"], ["create"])]


def test_the_component_for_access_reviews_stands_beside_the_base() -> None:
    folder = MANIFESTS / "overlays" / "access-review"
    (kustomization,) = documents(folder / "kustomization.yaml")
    assert (kustomization["apiVersion"], kustomization["kind"]) == ("kustomize.config.k8s.io/v1alpha1", "Component")
    account, binding = one("ServiceAccount")["metadata"], one("ClusterRoleBinding", folder)
    assert binding["subjects"] == [
        {"kind": "ServiceAccount", "name": account["name"], "namespace": account["namespace"]}
    ]
    assert binding["roleRef"]["name"] == one("ClusterRole", folder)["metadata"]["name"]
    assert one("ClusterRole", folder)["rules"][0]["apiGroups"] == [review.PATH.split("/")[2]]


def test_the_store_lies_on_a_volume_that_can_be_written_and_the_component_makes_it_last() -> None:
    pod = one("Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (path,) = (entry["value"] for entry in container["env"] if entry["name"] == "WHYPENDING_STORE_PATH")
    (mount,) = (mount for mount in container["volumeMounts"] if mount["mountPath"] == str(Path(path).parent))
    assert not mount.get("readOnly")
    assert one("Deployment")["spec"]["strategy"]["type"] == "Recreate"
    folder = MANIFESTS / "overlays" / "persistent-store"
    (kustomization,) = documents(folder / "kustomization.yaml")
    (volume,) = yaml.safe_load(kustomization["patches"][0]["patch"])["spec"]["template"]["spec"]["volumes"]
    assert volume["name"] == mount["name"]
    assert volume["persistentVolumeClaim"]["claimName"] == one("PersistentVolumeClaim", folder)["metadata"]["name"]


def test_bindings_bind_the_bots_own_account() -> None:
    account = one("ServiceAccount")["metadata"]
    deployment = one("Deployment")
    assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == account["name"]
    assert deployment["metadata"]["namespace"] == account["namespace"] == one("Namespace")["metadata"]["name"]
    for kind, role in (("ClusterRoleBinding", "ClusterRole"), ("RoleBinding", "Role")):
        binding = one(kind)
        assert binding["roleRef"]["kind"] == role
        assert binding["roleRef"]["name"] == one(role)["metadata"]["name"]
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": account["name"], "namespace": account["namespace"]}
        ]
    assert one("RoleBinding")["metadata"]["namespace"] == one("Role")["metadata"]["namespace"]


def test_the_pod_has_no_privileges_and_a_read_only_root() -> None:
    pod = one("Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"cpu", "memory"} <= set(container["resources"]["requests"])
    assert "memory" in container["resources"]["limits"]
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    assert not any("hostPath" in volume for volume in pod["volumes"])
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}


def test_the_pod_is_probed_where_the_bot_answers() -> None:
    (container,) = one("Deployment")["spec"]["template"]["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports["web"] == settings.Settings.model_fields["web_port"].default
    assert {container[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe")} == {"/healthz"}
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    (allowed,) = one("NetworkPolicy")["spec"]["ingress"]
    assert [port["port"] for port in allowed["ports"]] == [ports["web"]]


def test_questions_under_way_are_finished_before_the_pod_is_killed() -> None:
    grace = one("Deployment")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
    assert settings.Settings.model_fields["drain_seconds"].default + 5 <= grace


def test_the_configuration_loads(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(one("ConfigMap")["data"]["config.yaml"])
    loaded = settings.load(path, {})
    assert [(rule.name, rule.level) for rule in loaded.policy.rules] == [("default", "namespace")]
    assert loaded.clusters[0].kueue_namespace == one("Role")["metadata"]["namespace"]
    commented = re.sub(r"^( *)# (  |- name|channels|texts|links)", r"\1\2", path.read_text(), flags=re.MULTILINE)
    path.write_text(commented)
    loaded = settings.load(path, {})
    assert loaded.channels["C0123456789"].default_namespace == "team-a"
    assert [(rule.name, rule.channels) for rule in loaded.policy.rules[1:]] == [("queue owners", ("C0123456789",))]
    assert loaded.site_texts.of("quota-in-use").owner == "#gpu-quota"
    assert loaded.clusters[0].links.headlamp is not None


def test_the_environment_names_settings_and_the_secrets_keys() -> None:
    (container,) = one("Deployment")["spec"]["template"]["spec"]["containers"]
    names = {entry["name"]: entry["value"] for entry in container["env"]}
    known = {f"WHYPENDING_{name.upper()}" for name in settings.Settings.model_fields} | {settings.CONFIG_VARIABLE}
    assert set(names) <= known
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert all(str(Path(value).parent) in mounts for value in names.values())
    secret = documents(BASE / "secret.example.yaml")[0]
    assert {Path(value).name for name, value in names.items() if name.endswith("_TOKEN_FILE")} == set(
        secret["stringData"]
    )
    volumes = {volume["name"]: volume for volume in one("Deployment")["spec"]["template"]["spec"]["volumes"]}
    assert volumes["slack"]["secret"]["secretName"] == secret["metadata"]["name"]
    assert volumes["config"]["configMap"]["name"] == one("ConfigMap")["metadata"]["name"]


def test_the_command_that_the_pod_runs_exists() -> None:
    (container,) = one("Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["args"][0] in cli.commands()


def test_the_image_is_the_version() -> None:
    (image,) = documents(BASE / "kustomization.yaml")[0]["images"]
    assert image["newTag"] == __version__
    assert image["name"] == one("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"]
    # a component comes without the base's tag: a kustomization that renames the image keeps its own
    (container,) = one("CronJob", MANIFESTS / "digest")["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"{image['name']}:{__version__}"


def test_the_example_of_a_cron_job_is_what_the_command_writes() -> None:
    """And it finds everything that it mounts; its pods are let out to Slack and the API server like the bot's."""
    folder = MANIFESTS / "digest"
    job = one("CronJob", folder)
    digest = settings.Digest(name="gpu-queues", channel="C0123456789", time_zone="Europe/Berlin")
    assert (folder / "cronjobs.yaml").read_text() == cron_jobs([digest])
    template = job["spec"]["jobTemplate"]["spec"]["template"]
    assert one("NetworkPolicy")["spec"]["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    pod, bot = template["spec"], one("Deployment")["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert (
        volumes["store"]["persistentVolumeClaim"]["claimName"]
        == one("PersistentVolumeClaim", folder)["metadata"]["name"]
    )
    theirs = {volume["name"]: volume for volume in bot["volumes"]}
    assert all(volumes[name] == theirs[name] for name in ("config", "slack"))
    assert pod["securityContext"] == bot["securityContext"]
    assert pod["containers"][0]["securityContext"] == bot["containers"][0]["securityContext"]
    (container,) = pod["containers"]
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    given = {entry["name"]: entry["value"] for entry in container["env"] if "value" in entry}
    assert all(str(Path(value).parent) in mounts for value in given.values())
    assert set(given) <= {f"WHYPENDING_{name.upper()}" for name in settings.Settings.model_fields} | {
        settings.CONFIG_VARIABLE
    }


# --- the Slack app ---


class Registered:
    """Takes the place of the Bolt app and notes what is registered."""

    def __init__(self) -> None:
        self.found: dict[str, list[Any]] = {}

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        def register(*given: Any, **_: Any) -> Any:
            self.found.setdefault(kind, []).append(given[0] if given else None)
            return lambda listener: listener

        return register


@pytest.fixture(scope="module")
def registered() -> dict[str, list[Any]]:
    app = Registered()
    listeners.register(app, SimpleNamespace(settings=settings.Settings()))  # type: ignore[arg-type]
    return app.found


@pytest.mark.parametrize("name", ["minimal", "full"])
def test_the_slack_app_offers_what_the_code_answers(name: str, registered: dict[str, list[Any]]) -> None:
    (manifest,) = documents(MANIFESTS / "slack" / f"{name}.yaml")
    commands = [entry["command"] for entry in manifest["features"].get("slash_commands", [])]
    assert commands == registered["command"]
    events = manifest["settings"].get("event_subscriptions", {}).get("bot_events", [])
    heard = {"message.im" if event == "message" else str(event) for event in registered.get("event", [])}
    assert set(events) == (heard if name == "full" else heard - {"message.im", "link_shared"})
    assert len(events) == len(set(events))
    home = manifest["features"]["app_home"]
    assert home["home_tab_enabled"] is ("app_home_opened" in events)
    assert home["messages_tab_read_only_enabled"] is ("message.im" not in events), "nobody types what nobody hears"
    assert bool(manifest["features"].get("unfurl_domains")) is ("link_shared" in events)
    shortcuts = [entry["callback_id"] for entry in manifest["features"].get("shortcuts", [])]
    asked = [
        *registered.get("shortcut", []),
        *registered.get("message_shortcut", []),
        *registered.get("global_shortcut", []),
    ]
    assert sorted(shortcuts) == sorted(str(entry) for entry in asked)
    if registered.get("action"):
        assert manifest["settings"]["interactivity"]["is_enabled"] is True
    assert manifest["settings"]["socket_mode_enabled"] is True


SCOPES = {"minimal": {"commands", "chat:write"}, "full": {"commands", "chat:write"}}
SCOPES["full"] |= {"chat:write.public", "usergroups:read", "users:read", "users:read.email"}
SCOPES["full"] |= {"channels:history", "groups:history", "im:history", "links:read", "links:write", "files:write"}
"""What each method that is called needs: Slack's pages of the methods. What an event needs comes on top."""
NEEDS = {"app_mention": {"app_mentions:read"}, "message.im": {"im:history"}, "link_shared": {"links:read"}}


@pytest.mark.parametrize("name", SCOPES)
def test_the_slack_app_asks_for_what_it_uses(name: str) -> None:
    (manifest,) = documents(MANIFESTS / "slack" / f"{name}.yaml")
    scopes = manifest["oauth_config"]["scopes"]["bot"]
    events = manifest["settings"]["event_subscriptions"]["bot_events"]
    assert set(scopes) == SCOPES[name].union(*(NEEDS.get(event, set()) for event in events))
    assert len(scopes) == len(set(scopes))


@pytest.mark.parametrize("name", SCOPES)
def test_the_slack_app_is_within_slacks_limits(name: str) -> None:
    (manifest,) = documents(MANIFESTS / "slack" / f"{name}.yaml")
    about = manifest["display_information"]
    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    assert 174 <= len(about.get("long_description", "x" * 174)) <= 4000
    assert len(manifest["features"]["bot_user"]["display_name"]) <= 80
    for command in manifest["features"]["slash_commands"]:
        assert len(command["command"]) <= 32
        assert len(command["description"]) <= 2000
    shortcuts = manifest["features"]["shortcuts"]
    assert len(shortcuts) <= 10
    assert len({shortcut["callback_id"] for shortcut in shortcuts}) == len(shortcuts)
    for shortcut in shortcuts:
        assert len(shortcut["name"]) <= 24
        assert len(shortcut["description"]) <= 150
        assert len(shortcut["callback_id"]) <= 255
    assert len(manifest["features"].get("unfurl_domains", [])) <= 5


# --- the image ---


def test_the_image_is_locked_unprivileged_and_in_two_stages() -> None:
    text = (ROOT / "Dockerfile").read_text()
    stages = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(stages) == 2
    assert all(re.fullmatch(r"python:3\.\d+-slim(@sha256:[0-9a-f]{64})?", stage) for stage in stages)
    assert all("--locked" in line and "--no-dev" in line for line in re.findall(r"uv sync.*", text))
    assert "UV_COMPILE_BYTECODE=1" in text
    user = re.findall(r"^USER (\d+):(\d+)$", text, re.MULTILINE)
    pod = one("Deployment")["spec"]["template"]["spec"]["securityContext"]
    assert user == [(str(pod["runAsUser"]), str(pod["runAsGroup"]))]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert re.search(r'ENTRYPOINT \["(\w+)"\]', text)[1] in project["scripts"]  # type: ignore[index]


def test_the_image_needs_nothing_that_the_context_leaves_out() -> None:
    ignored = (ROOT / ".dockerignore").read_text()
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE):
        for name in source.split():
            assert (ROOT / name).exists()
            assert f"!{name.split('/')[0]}" in ignored
