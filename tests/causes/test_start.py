"""Scheduled, and the containers are not up: the table of the start."""

import pytest

from tests.causes.admitted import Object, admitted, container, event, node, pod
from tests.causes.asked import Asked, condition
from tests.clusters import Cluster

FIX, IMAGE, CRASH = "fix", "image-not-pulled", "container-crashing"


def waits(reason: str, message: str = "", name: str = "main", **more: object) -> Object:
    return container(name, waiting={"reason": reason, "message": message}, **more)  # type: ignore[arg-type]


def begun(
    *containers: Object,
    init: tuple[Object, ...] = (),
    said: tuple[str, str] | None = None,
    phase: str = "Pending",
    specs: tuple[Object, ...] = (),
) -> Cluster:
    """One pod on node n1; `init` are the statuses of init containers, `specs` what the pod says of them, `said` an event."""
    status = {
        "containerStatuses": list(containers),
        "initContainerStatuses": list(init),
        "conditions": [
            condition("PodScheduled", "True", "Scheduled"),
            condition("Ready", "False", "ContainersNotReady"),
        ],
    }
    spec = {"initContainers": list(specs)} if specs else {}
    one = pod(on="n1", phase=phase, status=status, spec=spec)
    return admitted(node("n1"), one, *([event(one, *said, "kubelet")] if said else []))


def init(name: str = "fetch", **more: str) -> Object:
    return {"name": name, "image": "example.com/init:1", **more}


CREATING = waits("ContainerCreating")
AFTER = waits("PodInitializing")
LOOKS = ("Failed", 'Failed to pull image "example.com/app:1": rpc error: code = NotFound desc = not found')
CASES = {
    "pull": (
        begun(waits("ImagePullBackOff", "Back-off pulling image"), said=LOOKS),
        IMAGE,
        FIX,
        ("example.com/app:1", "code = NotFound"),
    ),
    "name": (begun(waits("InvalidImageName", "couldn't parse image")), IMAGE, FIX, ("InvalidImageName",)),
    "of an init container": (
        begun(AFTER, init=(waits("ErrImagePull", "unauthorized", "fetch"),), specs=(init(),)),
        IMAGE,
        FIX,
        ("unauthorized",),
    ),
    "beside a sidecar": (
        begun(
            waits("ImagePullBackOff", "x"),
            init=(container("proxy", running=True, ready=True, started=True),),
            specs=(init("proxy", restartPolicy="Always"),),
        ),
        IMAGE,
        FIX,
        ("example.com/app:1",),
    ),
    "secret": (
        begun(waits("CreateContainerConfigError", 'secret "db-pass" not found')),
        "container-config-missing",
        FIX,
        ("Secret team-a/db-pass",),
    ),
    "key": (
        begun(waits("CreateContainerConfigError", "couldn't find key token in ConfigMap team-a/settings")),
        "container-config-missing",
        FIX,
        ("couldn't find key token",),
    ),
    "mounted map": (
        begun(CREATING, said=("FailedMount", 'MountVolume.SetUp failed for volume "c" : configmap "nope" not found')),
        "container-config-missing",
        FIX,
        ("ConfigMap team-a/nope",),
    ),
    "mount": (
        begun(
            CREATING, said=("FailedMount", 'MountVolume.SetUp failed for volume "data" : mount failed: exit status 32')
        ),
        "volume-not-mounted",
        FIX,
        ("exit status 32",),
    ),
    "attach": (
        begun(
            CREATING,
            said=(
                "FailedAttachVolume",
                'Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) other-0',
            ),
        ),
        "volume-not-mounted",
        FIX,
        ("other-0",),
    ),
    "network": (
        begun(
            CREATING, said=("FailedCreatePodSandBox", 'Failed to create pod sandbox: plugin type="calico" failed (add)')
        ),
        "sandbox-not-created",
        FIX,
        ("calico",),
    ),
    "init": (
        begun(AFTER, init=(container("fetch", running=True),), specs=(init(),)),
        "init-containers-running",
        "in-progress",
        ("has been in init container fetch for 2 hours",),
    ),
    "init crashes": (
        begun(
            AFTER,
            init=(
                waits(
                    "CrashLoopBackOff",
                    "back-off",
                    "fetch",
                    restartCount=7,
                    lastState={"terminated": {"exitCode": 1, "reason": "Error"}},
                ),
            ),
            specs=(init(),),
        ),
        CRASH,
        FIX,
        ("fetch", "7 restarts", "exit code 1"),
    ),
    "crash": (
        begun(
            waits(
                "CrashLoopBackOff",
                "back-off",
                restartCount=5,
                lastState={"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
            ),
            phase="Running",
        ),
        CRASH,
        FIX,
        ("5 restarts", "137", "OOMKilled"),
    ),
    "command": (
        begun(waits("RunContainerError", 'exec: "trainn": executable file not found in $PATH', restartCount=2)),
        CRASH,
        FIX,
        ("trainn",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_start(case: str) -> None:
    cluster, rule, outlook, says = CASES[case]
    Asked(cluster, rule, outlook, says, stage="start").check()


def test_runs_and_is_not_ready() -> None:
    answer = Asked(
        begun(container(running=True), phase="Running"),
        "running",
        "in-progress",
        ("is not ready yet",),
        stage="running",
    ).check()
    assert "Its 1 pod runs" in answer.headline.sentence
