"""Starts, changes, restarts and stops one control plane. Everything listens on loopback, on ports of its own.

What took finding out stands beside the line it explains. Nothing outlives the process that started it: every child asks
the kernel to be killed when its parent dies.
"""

import base64
import contextlib
import ctypes
import datetime as dt
import http.client
import ipaddress
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.controlplane import programs

HERE = Path(__file__).parent
T = TypeVar("T")
Body = dict[str, Any]

OTHER_KINDS = (
    # module and folder of its CustomResourceDefinitions. training-operator's MPIJob is v1, Kueue wants mpi-operator's
    # v2beta1: of two definitions of one name the later wins.
    ("sigs.k8s.io/jobset", "config/components/crd/bases"),
    ("sigs.k8s.io/lws", "config/crd/bases"),
    ("github.com/ray-project/kuberay/ray-operator", "config/crd/bases"),
    ("github.com/kubeflow/training-operator", "manifests/base/crds"),
    ("github.com/kubeflow/mpi-operator", "manifests/base"),
    ("github.com/kubeflow/trainer/v2", "manifests/base/crds"),
    ("github.com/kubeflow/spark-operator/v2", "config/crd/bases"),
    ("github.com/project-codeflare/appwrapper", "config/crd/bases"),
    ("k8s.io/autoscaler/cluster-autoscaler/apis", "config/crd"),
)
FRAMEWORKS = (
    "batch/job", "pod", "deployment", "statefulset", "jobset.x-k8s.io/jobset", "leaderworkerset.x-k8s.io/leaderworkerset",
    "ray.io/rayjob", "ray.io/raycluster", "ray.io/rayservice", "kubeflow.org/mpijob", "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob", "kubeflow.org/xgboostjob", "kubeflow.org/jaxjob", "kubeflow.org/paddlejob",
    "trainer.kubeflow.org/trainjob", "workload.codeflare.dev/appwrapper", "sparkoperator.k8s.io/sparkapplication",
)  # fmt: skip
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"


class ApiError(RuntimeError):
    """The API server refused: `status` is the HTTP status, the text names method, path and the server's message."""

    def __init__(self, method: str, path: str, status: int, message: str) -> None:
        super().__init__(f"{method} {path}: {status} {message[:500]}")
        self.status = status


def what_is_missing() -> str | None:
    """Say in a sentence why no control plane can run here; None when it can."""
    try:
        programs.go()
    except programs.NoGoError as error:
        return str(error)
    for tool in ("unshare", "setpriv", "chroot", "mount"):
        if shutil.which(tool) is None:
            return f"the command {tool} is missing (Debian: util-linux, mount, coreutils)"
    if subprocess.run([*_unshare(), "true"], capture_output=True, check=False).returncode != 0:
        return "neither root nor user namespaces: Kueue needs a root folder of its own (unshare -rm is refused)"
    return None


def _unshare() -> list[str]:
    return ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-r", "-m"]


def _die_with_parent() -> None:
    ctypes.CDLL("libc.so.6").prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@cache
def _definitions(*, other_kinds: bool) -> tuple[str, ...]:
    """The CustomResourceDefinitions of Kueue, and on request those of the other job kinds, as JSON: YAML takes seconds.

    Without their prose, which is most of them and which a server reads, keeps and checks many times over.
    """
    folders = [programs.source("sigs.k8s.io/kueue") / "config" / "components" / "crd" / "bases"]
    if other_kinds:
        folders += [programs.source(module) / folder for module, folder in OTHER_KINDS]
    found: dict[str, str] = {}
    for folder in folders:
        for file in sorted(folder.glob("*.yaml")):
            for document in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader):
                if document and document["kind"] == "CustomResourceDefinition":
                    found[document["metadata"]["name"]] = json.dumps(_without_prose(document))
    return tuple(found.values())


def _without_prose(part: Any, *, names: bool = False) -> Any:
    """A schema without descriptions; `names` says that the keys are those of fields, one of which may be "description"."""
    if isinstance(part, list):
        return [_without_prose(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    return {
        key: _without_prose(value, names=key == "properties" and not names)
        for key, value in part.items()
        if names or key != "description"
    }


class Authority:
    """Keys and certificates in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def key(self, name: str) -> rsa.RSAPrivateKey:
        """Write NAME.key and NAME.pub."""
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        (self.folder / f"{name}.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        (self.folder / f"{name}.pub").write_bytes(
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        )
        return key

    def certificate(
        self, name: str, issuer: tuple[x509.Certificate, rsa.RSAPrivateKey] | None = None, *, client: bool = False
    ) -> tuple[x509.Certificate, rsa.RSAPrivateKey]:
        """Write NAME.crt for localhost, signed by the issuer or by itself."""
        key = self.key(name)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = dt.datetime.now(dt.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer[0].subject if issuer else subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName(
                    [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
                ),
                critical=False,
            )
        )
        if issuer is not None:
            usage = ExtendedKeyUsageOID.CLIENT_AUTH if client else ExtendedKeyUsageOID.SERVER_AUTH
            builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        signed = builder.sign(issuer[1] if issuer else key, hashes.SHA256())
        (self.folder / f"{name}.crt").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        return signed, key


class ControlPlane:
    """One control plane; `start` brings it up in about ten seconds, `close` ends it."""

    def __init__(self, state: Path) -> None:
        """Take an empty folder for state, keys and logs."""
        self.bin = programs.build()
        self.dir = state.resolve()
        self.dir.mkdir(parents=True, exist_ok=True)
        names = ("etcd", "peer", "api", "kcm", "sched", "health", "metrics", "webhook", "visibility")
        self.port = {name: _free_port() for name in names}
        self.url = f"https://127.0.0.1:{self.port['api']}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._arguments: dict[str, tuple[list[str], dict[str, str]]] = {}
        self._connections = threading.local()
        self._opened: set[http.client.HTTPSConnection] = set()
        self.ca_bundle = ""
        self.webhooks: list[Body] = []
        self.paused: set[str] = set()
        self._configured: tuple[Body, str] = ({}, "")
        self._other_kinds = False

    # --- processes ----------------------------------------------------------------------------------------------------

    def spawn(
        self, name: str, *arguments: str, through: list[str] | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        """Start a program; its log is NAME.log in the state folder."""
        command = [*(through or []), str(self.bin / name), *arguments]
        self._arguments[name] = (command, dict(env or {}))
        self._run(name)

    def _run(self, name: str) -> None:
        command, env = self._arguments[name]
        with (self.dir / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env={**os.environ, **env},
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - the tests start programs from the main thread
            )

    def stop(self, name: str, *, kill: bool = False) -> None:
        """End a program, with SIGKILL on request or when it does not go within ten seconds."""
        process = self.processes.pop(name)
        process.kill() if kill else process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def restart(self, name: str) -> None:
        """Start a program again with the arguments that it had."""
        if name in self.processes:
            self.stop(name)
        self._run(name)

    def close(self) -> None:
        """End everything, last started first."""
        for connection in self._opened:
            connection.close()
        for process in self.processes.values():
            process.kill()  # nothing of it is wanted any more, and the servers take seconds for a goodbye
        for name in reversed(list(self.processes)):
            self.stop(name, kill=True)

    def excerpt(self, name: str, lines: int = 40) -> str:
        """Give the last lines of a program's log."""
        path = self.dir / f"{name}.log"
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""

    def wait(self, ready: Callable[[], T], what: str, seconds: float = 120) -> T:
        """Give what `ready` gives once it neither raises nor is falsy; fails at once when a program has ended."""
        end, last = time.monotonic() + seconds, "it gave nothing"
        while time.monotonic() < end:
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended with {process.returncode}:\n{self.excerpt(name)}")
            try:
                found = ready()
            except (OSError, ApiError) as error:
                last = str(error)
            else:
                if found:
                    return found
            time.sleep(0.03)
        raise RuntimeError(f"{what} was not ready after {seconds:.0f} s: {last}")

    # --- the API --------------------------------------------------------------------------------------------------------

    def call(
        self, method: str, path: str, body: Body | None = None, *, token: str = "token-admin", kind: str = ""
    ) -> Any:
        """Make one API request; give the decoded answer. Raises ApiError when it is refused, OSError when nobody answers."""
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        headers["Content-Type"] = kind or ("application/merge-patch+json" if method == "PATCH" else "application/json")
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(300):
            status, content = self._request(method, path, data, headers)
            if status < 300:
                return json.loads(content) if content[:1] in {b"{", b"["} else content.decode()
            if status != 429 or attempt == 299:
                raise ApiError(method, path, status, content.decode(errors="replace"))
            time.sleep(0.1)  # the storage of a new CustomResourceDefinition answers 429 while it starts
        raise AssertionError("unreachable")

    def _request(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Make a request on the thread's connection, which stays: most of a short request's time is its handshake."""
        kept: http.client.HTTPSConnection | None = getattr(self._connections, "api", None)
        if kept is not None:
            with contextlib.suppress(ConnectionError, ssl.SSLError, http.client.HTTPException):
                return self._exchange(kept, method, path, data, headers)
            # the server has ended it meanwhile, for example by a restart
        tls = ssl.create_default_context(cafile=str(self.dir / "ca.crt"))
        fresh = http.client.HTTPSConnection("127.0.0.1", self.port["api"], timeout=30, context=tls)
        try:
            return self._exchange(fresh, method, path, data, headers)
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error

    def _exchange(
        self,
        connection: http.client.HTTPSConnection,
        method: str,
        path: str,
        data: bytes | None,
        headers: Mapping[str, str],
    ) -> tuple[int, bytes]:
        self._connections.api = None
        try:
            connection.request(method, path, data, dict(headers))
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            self._opened.discard(connection)
            raise
        self._connections.api = connection
        self._opened.add(connection)
        return response.status, content

    def apply(self, collection: str, obj: Body) -> Body:
        """Server-side apply of one object into its collection's path."""
        path = f"{collection}/{obj['metadata']['name']}?fieldManager=whypending-tests&force=true"
        applied: Body = self.call("PATCH", path, obj, kind="application/apply-patch+yaml")
        return applied

    def kubeconfig(self, user: str = "admin", token: str | None = None) -> Path:
        """Write a kubeconfig for a user with a token; give its path."""
        path = self.dir / f"{user.replace(':', '-')}.kubeconfig"
        cluster = {"server": self.url, "certificate-authority-data": self.ca_bundle}
        path.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "c",
                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": user}}],
                    "clusters": [{"name": "c", "cluster": cluster}],
                    "users": [{"name": user, "user": {"token": token or f"token-{user}"}}],
                }
            )
        )
        return path

    def service_account_token(self, namespace: str, name: str, seconds: int = 3600) -> str:
        """Give a token of a ServiceAccount from the TokenRequest API."""
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds},
        }
        answer = self.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token", body)
        token: str = answer["status"]["token"]
        return token

    # --- starting -------------------------------------------------------------------------------------------------------

    def start(self, *, overrides: Body | None = None, feature_gates: str = "", other_kinds: bool = False) -> None:
        """Bring everything up. `overrides` replace fields of Kueue's Configuration."""
        self.start_kubernetes()
        self.install_kueue(other_kinds=other_kinds)
        self.start_kueue(overrides, feature_gates, other_kinds=other_kinds)

    def start_kubernetes(self) -> None:
        """Start etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK."""
        d, authority = self.dir, Authority(self.dir)
        ca = authority.certificate("ca")
        authority.certificate("serving", ca)
        authority.certificate("webhook", ca)
        authority.certificate("front-proxy", ca, client=True)
        authority.key("service-account")
        self.ca_bundle = base64.b64encode((d / "ca.crt").read_bytes()).decode()
        users = {"admin": "system:masters", "system:kube-controller-manager": "", "system:kube-scheduler": ""}
        (d / "tokens.csv").write_text(
            "".join(f'token-{user},{user},{user},"{group}"\n' for user, group in users.items())
        )
        config = {user: str(self.kubeconfig(user)) for user in users}
        etcd, peer = (f"http://127.0.0.1:{self.port[name]}" for name in ("etcd", "peer"))
        self.spawn(
            "etcd", f"--data-dir={d / 'etcd'}", f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync", "--quota-backend-bytes=4294967296",
        )  # fmt: skip
        self.spawn(
            "kube-apiserver", f"--etcd-servers={etcd}", "--bind-address=127.0.0.1", f"--secure-port={self.port['api']}",
            f"--tls-cert-file={d / 'serving.crt'}", f"--tls-private-key-file={d / 'serving.key'}",
            f"--client-ca-file={d / 'ca.crt'}", f"--token-auth-file={d / 'tokens.csv'}", "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={d / 'service-account.pub'}",
            f"--service-account-signing-key-file={d / 'service-account.key'}",
            "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
            # aggregation, for the visibility API
            f"--requestheader-client-ca-file={d / 'ca.crt'}", "--requestheader-allowed-names=front-proxy",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-", "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-username-headers=X-Remote-User", f"--proxy-client-cert-file={d / 'front-proxy.crt'}",
            f"--proxy-client-key-file={d / 'front-proxy.key'}",
            # new kinds have it allocate gigabytes: a third of its time would go into collecting them
            env={"GOGC": "300", "GOMEMLIMIT": "2GiB"},
        )  # fmt: skip
        self.wait(lambda: self.call("GET", "/readyz"), "kube-apiserver")
        self.spawn(
            "kube-controller-manager", f"--kubeconfig={config['system:kube-controller-manager']}",
            f"--secure-port={self.port['kcm']}", "--use-service-account-credentials=true", "--leader-elect=false",
            f"--cert-dir={d / 'kcm'}",
            # simulated nodes send no heartbeats: nothing may mark them as lost
            "--controllers=*,-node-lifecycle-controller,-node-ipam-controller",
            f"--service-account-private-key-file={d / 'service-account.key'}", f"--root-ca-file={d / 'ca.crt'}",
        )  # fmt: skip
        self.spawn(
            "kube-scheduler", f"--kubeconfig={config['system:kube-scheduler']}", f"--secure-port={self.port['sched']}",
            "--leader-elect=false", f"--cert-dir={d / 'sched'}",
        )  # fmt: skip
        self.spawn(
            "kwok", f"--kubeconfig={config['admin']}", f"--config={HERE / 'stages.yaml'}", "--manage-all-nodes=true",
            "--node-lease-duration-seconds=0", env={"HOME": str(d)},
        )  # fmt: skip

    def install_kueue(self, *, other_kinds: bool = False) -> None:
        """Apply the definitions of Kueue's kinds, on request of all other job kinds, and announce the visibility API."""
        components = programs.source("sigs.k8s.io/kueue") / "config" / "components"
        self.apply(
            "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}}
        )
        # only the kinds that this file names convert between versions; the others have one
        patches = (components / "crd" / "kustomization.yaml").read_text()
        converted = set(re.findall(r"^- path: patches/webhook_in_(\w+)\.yaml", patches, re.MULTILINE))
        url = f"https://127.0.0.1:{self.port['webhook']}"
        conversion = {
            "strategy": "Webhook",
            "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"url": f"{url}/convert", "caBundle": self.ca_bundle},
            },
        }
        definitions = [json.loads(text) for text in _definitions(other_kinds=other_kinds)]
        for definition in definitions:
            spec = definition["spec"]
            if spec["group"] == "kueue.x-k8s.io" and spec["names"]["plural"] in converted:
                spec["conversion"] = conversion
            self.call("POST", _CRDS, definition)  # to apply them takes the server a second for each
        for definition in definitions:  # Kueue exits when a kind is not served yet
            name = definition["metadata"]["name"]
            self.wait(partial(self._serves, definition["spec"]), f"CustomResourceDefinition {name}")
        self.webhooks = [w for w in yaml.safe_load_all((components / "webhook" / "manifests.yaml").read_text()) if w]
        for configuration in self.webhooks:
            configuration["metadata"]["name"] = "kueue-" + configuration["metadata"]["name"]
            for webhook in configuration["webhooks"]:
                path = webhook["clientConfig"]["service"]["path"]
                webhook["clientConfig"] = {"url": url + path, "caBundle": self.ca_bundle}
                if re.search("pod|deployment|statefulset", webhook["name"]):
                    unmanaged = ["kube-system", "kueue-system"]
                    webhook["namespaceSelector"] = {
                        "matchExpressions": [
                            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": unmanaged}
                        ]
                    }
        service = {
            "type": "ExternalName",
            "externalName": "localhost",
        }  # the aggregator resolves it without cluster networking
        self.apply(
            "/api/v1/namespaces/kueue-system/services",
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "kueue-visibility-server"},
                "spec": service | {"ports": [{"name": "https", "port": self.port["visibility"]}]},
            },
        )
        backend = {"name": "kueue-visibility-server", "namespace": "kueue-system", "port": self.port["visibility"]}
        for version in ("v1beta1", "v1beta2"):
            self.apply(
                "/apis/apiregistration.k8s.io/v1/apiservices",
                {
                    "apiVersion": "apiregistration.k8s.io/v1",
                    "kind": "APIService",
                    "metadata": {"name": f"{version}.visibility.kueue.x-k8s.io"},
                    "spec": {
                        "group": "visibility.kueue.x-k8s.io",
                        "version": version,
                        "groupPriorityMinimum": 100,
                        "versionPriority": 100,
                        "insecureSkipTLSVerify": True,
                        "service": backend,
                    },
                },
            )

    def _serves(self, spec: Body) -> bool:
        """Whether every version of a kind is discovered and can be listed."""
        for version in spec["versions"]:
            if version["served"]:
                path, plural = f"/apis/{spec['group']}/{version['name']}", spec["names"]["plural"]
                if plural not in {resource["name"] for resource in self.call("GET", path)["resources"]}:
                    return False
                self.call("GET", f"{path}/{plural}?limit=1")
        return True

    def start_kueue(self, overrides: Body | None = None, feature_gates: str = "", *, other_kinds: bool = False) -> None:
        """Start Kueue in a root of its own, then register its webhooks: one that nobody answers blocks every write."""
        certificates = self.dir / "webhook-certs"
        certificates.mkdir(exist_ok=True)
        for file, target in (("webhook.crt", "tls.crt"), ("webhook.key", "tls.key"), ("ca.crt", "ca.crt")):
            shutil.copyfile(self.dir / file, certificates / target)
        self._configured, self._other_kinds = (overrides or {}, feature_gates), other_kinds
        frameworks = list(FRAMEWORKS if other_kinds else FRAMEWORKS[:4])
        configuration = {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": "kueue-system",
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self.port['health']}"},
            "metrics": {"bindAddress": f"127.0.0.1:{self.port['metrics']}"},
            "webhook": {"host": "127.0.0.1", "port": self.port["webhook"], "certDir": str(certificates)},
            "visibilityServer": {"bindAddress": "127.0.0.1", "bindPort": self.port["visibility"]},
            "leaderElection": {"leaderElect": False, "resourceName": "kueue"},
            "clientConnection": {"qps": 300, "burst": 500},
            "internalCertManagement": {"enable": False},
            "integrations": {"frameworks": frameworks},
        } | (overrides or {})
        text = yaml.safe_dump(configuration)
        (self.dir / "kueue.yaml").write_text(text)
        # as an installation has it; the bot reads it there
        self.apply(
            "/api/v1/namespaces/kueue-system/configmaps",
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "kueue-manager-config", "namespace": "kueue-system"},
                "data": {"controller_manager_config.yaml": text},
            },
        )
        root = self.dir / "kueue-root"
        root.mkdir(exist_ok=True)
        gates = ",".join(g for g in (feature_gates, "SparkApplicationIntegration=true" if other_kinds else "") if g)
        self.spawn(
            "kueue", f"--config={self.dir / 'kueue.yaml'}",
            # the flag, not the variable, is what lets the visibility server work outside a cluster
            f"--kubeconfig={self.kubeconfig()}", "--zap-log-level=2", *([f"--feature-gates={gates}"] if gates else []),
            through=[*_unshare(), str(HERE / "isolate.sh"), str(root), str(certificates)],
        )  # fmt: skip
        self.wait_for_kueue()
        self._answer_for_kueue()

    def configure(self, overrides: Body, feature_gates: str) -> None:
        """Give Kueue these fields of its Configuration and these feature gates, with a restart when they are others."""
        for name in [name for name in self.paused if name != "kueue"]:
            self.resume(name)
        if (overrides, feature_gates) == self._configured and "kueue" not in self.paused:
            return
        if (overrides, feature_gates) == self._configured:
            self.resume("kueue")
            return
        self.pause("kueue")
        self.paused.discard("kueue")
        self.start_kueue(overrides, feature_gates, other_kinds=self._other_kinds)

    def pause(self, name: str) -> None:
        """End a program until `resume`; Kueue's webhooks go with it, or else nothing could be written."""
        if name in self.paused:
            return
        if name == "kueue":
            for configuration in self.webhooks:
                self.call("DELETE", f"{_WEBHOOKS}/{configuration['kind'].lower()}s/{configuration['metadata']['name']}")
        self.stop(name, kill=True)
        self.paused.add(name)

    def resume(self, name: str) -> None:
        """Start a paused program again, and wait until it works."""
        self.paused.discard(name)
        self.restart(name)
        if name == "kube-apiserver":
            self.wait(lambda: self.call("GET", "/readyz"), name)
        if name == "kueue":
            self.wait_for_kueue()
            self._answer_for_kueue()

    def _answer_for_kueue(self) -> None:
        for configuration in self.webhooks:
            self.apply(f"{_WEBHOOKS}/{configuration['kind'].lower()}s", configuration)
        for version in ("v1beta1", "v1beta2"):  # the aggregator looks for each in its own time
            self.wait(partial(self.call, "GET", f"/apis/visibility.kueue.x-k8s.io/{version}"), "visibility API")

    def wait_for_kueue(self) -> None:
        """Wait until Kueue says that it is ready."""

        def ready() -> bool:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port['health']}/readyz", timeout=2) as response:
                return bool(response.read())

        self.wait(ready, "kueue")

    # --- nodes ------------------------------------------------------------------------------------------------------------

    def add_node(
        self,
        name: str,
        capacity: Mapping[str, str],
        labels: Mapping[str, str] | None = None,
        taints: list[Body] | None = None,
    ) -> None:
        """Make a simulated node, ready and with exactly these labels and taints."""
        well_known = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        room = {"cpu": "8", "memory": "32Gi", "pods": "110"} | dict(capacity)
        meta = {"name": name, "labels": well_known | dict(labels or {})}
        self.call(
            "POST",
            "/api/v1/nodes",
            {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": {"taints": taints or []}},
        )
        self.call("PATCH", f"/api/v1/nodes/{name}/status", {"status": {"capacity": room, "allocatable": room}})
        self.call(
            "PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": taints or []}}
        )  # lifts the not-ready taint of a new node
