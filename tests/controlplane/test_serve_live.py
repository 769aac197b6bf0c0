"""The bot as it is served, in a Slack on loopback, asked about a living cluster under the shipped identity."""

import pytest

from bot.kube.client import Cluster
from bot.service import Service, Site
from tests.clusters import merge
from tests.controlplane import bot_account
from tests.controlplane.plane import ControlPlane
from tests.controlplane.scenario import BASES, Player, Scenario
from tests.workspace import shown, workspace

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SCENE = {
    "jobs": {
        "team-a/runs": {"queue": "main", "requests": {"cpu": "1"}},
        "team-a/image": {"queue": "main", "requests": {"cpu": "1"}, "podAnnotations": {"kubelet": "image-pull"}},
        "team-a/never": {"queue": "main", "requests": {"cpu": "400"}},
    },
    "steps": [
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "runs", "condition": "Admitted"}},
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "image", "condition": "Admitted"}},
        {"jobs": {"team-a/waits": {"queue": "main", "pods": 3, "requests": {"cpu": "1"}}}},
        {"until": {"kind": "Workload", "namespace": "team-a", "of": "waits", "condition": "QuotaReserved=False"}},
        {"until": {"kind": "Pod", "namespace": "team-a", "start": "runs-", "condition": "Ready"}},
        {"until": {"kind": "Pod", "namespace": "team-a", "start": "image-", "is": "ImagePullBackOff",
                   "field": "status.containerStatuses.0.state.waiting.reason"}},
    ],
}  # fmt: skip
ANSWERS = {
    "waits": ("Waiting its turn", "Needs 1 more CPU"),
    "never": ("Cannot run as written", "Never as written"),
    "image": ("Needs a fix", "registry.example/train:1"),
    "runs": ("Running", "runs"),
}


async def test_four_jobs_are_asked_about_in_slack(plane: ControlPlane) -> None:
    Player(plane).play(Scenario("serve", merge(BASES["small"], SCENE)))
    kubeconfig = bot_account.install(plane)
    for name, (verdict, words) in ANSWERS.items():
        site = Site(Cluster(kubeconfig=str(kubeconfig)))
        async with Service({"": site}) as service, workspace(service) as world:
            await world.ask(f"team-a/{name}")
            root, card = await world.root(), await world.card()
            assert verdict in shown(root), name
            assert words in shown(card), name
