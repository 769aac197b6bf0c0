"""What is missing, in words: connection, identity, Kueue and its versions, and every permission that answers need."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec

from bot.core import kinds
from bot.kube.client import FORBIDDEN, Client, ReadError
from bot.kube.discovery import KUEUE, Served
from bot.kube.permissions import PERMISSIONS, Permission
from bot.kube.reader import Reader, kueue_version


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was examined. `ok` None: it works, but something optional is missing. `remedy` "" when nothing is to do."""

    name: str
    ok: bool | None
    sentence: str
    remedy: str = ""


def _works(name: str, sentence: str) -> Check:
    return Check(name, ok=True, sentence=sentence)


def _partly(name: str, sentence: str, remedy: str = "") -> Check:
    return Check(name, ok=None, sentence=sentence, remedy=remedy)


def _broken(name: str, sentence: str, remedy: str) -> Check:
    return Check(name, ok=False, sentence=sentence, remedy=remedy)


@dataclass(frozen=True, slots=True)
class _Verdict:
    permission: Permission
    verb: str
    allowed: bool | None
    reason: str = ""


class _Status(msgspec.Struct):
    allowed: bool = False
    reason: str = ""


class _Review(msgspec.Struct):
    status: _Status | None = None


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


async def examine(reader: Reader, slack: Callable[[], Awaitable[list[Check]]] | None = None) -> list[Check]:
    """Examine one cluster, and Slack if a hook is given. Never raises; what cannot be told is said."""
    client = reader.client
    checks = [await _connection(client)]
    if checks[0].ok is not False:
        served = await reader.discovery.get()
        verdicts = await asyncio.gather(
            *(_review(client, p, verb) for p in PERMISSIONS if _is_served(served, p) for verb in p.verbs)
        )
        checks += [
            *_kueue(served),
            await _running(client),
            _visibility(served),
            *_permissions(client, verdicts),
        ]
    if slack is not None:
        checks += await slack()
    return checks


async def _connection(client: Client) -> Check:
    place = f"cluster {client.cluster.name}" if client.cluster.name else "cluster"
    try:
        answer = await client.body("/version")
        said = msgspec.json.decode(answer.body, type=_Version).git_version or "of unknown version"
    except msgspec.DecodeError:
        return _broken(
            place, "Something answers, but it is not a Kubernetes API server.", "Check the server's address."
        )
    except ReadError as error:
        if error.status == 401:
            return _broken(
                place, "The API server answers, but does not accept this identity.",
                "Renew the token or certificate: `kubectl auth whoami` must work with the same kubeconfig.",
            )  # fmt: skip
        if error.status == 403:
            return _works(place, "The API server answers, but does not tell its version.")
        return _broken(
            place, f"{error.reason[0].upper()}{error.reason[1:]}.",
            "Check the kubeconfig's context and the network: `kubectl version` must work with the same kubeconfig.",
        )  # fmt: skip
    return _works(place, f"The API server answers: Kubernetes {said}.")


def _kueue(served: Served) -> list[Check]:
    if served.kinds is None:
        return [
            _broken("kueue", f"What the server serves cannot be told: {served.reason}.",
                  "Let the identity read discovery (ClusterRole system:discovery)."),
        ]  # fmt: skip
    version = served.versions.get("Workload")
    if version is None:
        return [
            _broken("kueue", f"Kueue is not installed: the server does not serve {KUEUE}.",
                  "Install Kueue, or name the cluster that has it."),
        ]  # fmt: skip
    old = [
        f"{kind.kind} {served.versions[kind.kind]}"
        for kind in kinds.KINDS
        if kind.group == KUEUE and kind.kind in served.versions and served.versions[kind.kind] != version
    ]
    also = f"; {', '.join(old)}" if old else ""
    jobs = [kind.kind for kind in kinds.JOB_KINDS if kind.kind in served.kinds]
    return [
        _works("kueue", f"Kueue's kinds are served in {version}{also}."),
        _works("job kinds", f"Can be asked about: {', '.join(jobs)}, Pod."),
    ]


async def _running(client: Client) -> Check:
    namespace = client.cluster.kueue_namespace
    name = "kueue controller"
    try:
        found = await client.list(f"/apis/apps/v1/namespaces/{namespace}/deployments", "Deployment", "apps/v1")
    except ReadError as error:
        return _partly(
            name, f"Whether Kueue runs cannot be told: deployments in {namespace}: {error.reason}.",
            f"Apply the Role for {namespace}, so that a Kueue that is down is recognised." if error.status == 403 else "",
        )  # fmt: skip
    version = kueue_version(found.objects, namespace)
    if not found.objects:
        return _partly(
            name, f"There is no Deployment in namespace {namespace}.",
            "If Kueue is installed elsewhere, set its namespace (kueue_namespace).",
        )  # fmt: skip
    return _works(name, f"Kueue {version or 'of unknown version'} is deployed in {namespace}.")


def _visibility(served: Served) -> Check:
    if served.visibility:
        return _works("visibility API", f"Kueue's visibility API is served in {served.visibility}.")
    return _partly(
        "visibility API", "Kueue's visibility API is not served: positions are computed from the Workloads.",
        "Optional: install Kueue's visibility API service.",
    )  # fmt: skip


def _is_served(served: Served, permission: Permission) -> bool:
    known = [kind for kind in kinds.KINDS if (kind.group, kind.plural) == (permission.group, permission.resource)]
    if permission.group.startswith("visibility."):
        return bool(served.visibility)
    return not known or served.has(known[0].kind)


async def _review(client: Client, permission: Permission, verb: str) -> _Verdict:
    resource, _, subresource = permission.resource.partition("/")
    attributes = {"group": permission.group, "resource": resource, "verb": verb}
    if subresource:
        attributes["subresource"] = subresource
    if permission.place == "kueue":
        attributes["namespace"] = client.cluster.kueue_namespace
    if permission.names:
        attributes["name"] = permission.names[0]
    document = {
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }  # fmt: skip
    try:
        answer = await client.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", document)
        status = msgspec.json.decode(answer.body, type=_Review).status
    except ReadError as error:
        return _Verdict(permission, verb, None, error.reason)
    except msgspec.DecodeError:
        return _Verdict(permission, verb, None, "the answer cannot be read")
    return _Verdict(permission, verb, status is not None and status.allowed)


def _permissions(client: Client, verdicts: list[_Verdict]) -> list[Check]:
    """One line when everything is allowed; else one per resource that is missing."""
    unknown = [verdict for verdict in verdicts if verdict.allowed is None]
    missing: dict[tuple[str, str, str], list[_Verdict]] = {}
    for verdict in verdicts:
        if verdict.allowed is False:
            key = (verdict.permission.place, verdict.permission.group, verdict.permission.resource)
            missing.setdefault(key, []).append(verdict)
    checks = [_missing(client, found) for found in missing.values()]
    if unknown:
        checks.append(
            _partly("permissions", f"{len(unknown)} of {len(verdicts)} could not be examined: {unknown[0].reason}."),
        )
    if not checks:
        checks.append(_works("permissions", f"All {len(verdicts)} permissions are granted."))
    return checks


def _missing(client: Client, verdicts: list[_Verdict]) -> Check:
    permission = verdicts[0].permission
    verbs = " and ".join(verdict.verb for verdict in verdicts)
    full = f"{permission.resource}.{permission.group}" if permission.group else permission.resource
    place = f" in {client.cluster.kueue_namespace}" if permission.place == "kueue" else ""
    what = "the Role" if permission.place == "kueue" else "the ClusterRole"
    return Check(
        f"permission {full}{place}",
        None if permission.optional else False,
        f"{verbs} {full}{place}: {FORBIDDEN}. Without it answers cannot say {permission.why}.",
        f"Grant {verbs} on {full} in {what}{place}.",
    )
