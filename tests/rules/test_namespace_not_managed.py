"""Rule namespace-not-managed."""

from typing import Any

from tests.clusters import Cluster, fired
from tests.made import cluster, job, made, pod

OUTSIDE = "managedJobsNamespaceSelector: {matchLabels: {kueue-managed: 'true'}}\n"


def configured(text: str, *objects: dict[str, Any], **recording: Any) -> Cluster:
    """A cluster whose Kueue has this configuration."""
    config = made(
        "ConfigMap", "kueue-manager-config", namespace="kueue-system", data={"controller_manager_config.yaml": text}
    )
    return cluster(config, *objects, **recording)


def test_fires() -> None:
    """A labelled and suspended Job in a namespace that the selector leaves out."""
    answer = configured(OUTSIDE, job(), kueueVersion="v0.17.3").ask("team-a/train")
    assert answer.headline.rule == "namespace-not-managed"
    assert answer.headline.certainty == "certain"
    assert "managedJobsNamespaceSelector" in answer.headline.sentence
    gate = "featureGates: {ManagedJobsNamespaceSelectorAlwaysRespected: false}\n"
    assert configured(OUTSIDE + gate, job(), kueueVersion="v0.17.3").ask("team-a/train").headline.certainty == "likely"


def test_fires_on_the_webhooks_selector() -> None:
    hook = {
        "name": "mjob.kb.io",
        "rules": [{"resources": ["jobs"]}],
        "namespaceSelector": {"matchLabels": {"on": "yes"}},
    }
    hooks = made("MutatingWebhookConfiguration", "kueue-mutating-webhook-configuration", namespace="", webhooks=[hook])
    assert cluster(job(), hooks).ask("team-a/train").headline.rule == "namespace-not-managed"


def test_near_miss() -> None:
    """The namespace carries the label; the job asks for nothing; the job runs, then it is only said beside."""
    inside = configured(OUTSIDE, job()).edit("Namespace", "team-a", {"metadata": {"labels": {"kueue-managed": "true"}}})
    assert "namespace-not-managed" not in fired(inside.ask("team-a/train"))
    assert "namespace-not-managed" not in fired(configured(OUTSIDE, job(labels={})).ask("team-a/train"))
    running = job(suspended=False)
    answer = configured(OUTSIDE, running, pod("train-0", phase="Running", owner=running)).ask("team-a/train")
    assert answer.headline.rule != "namespace-not-managed"
    assert "namespace-not-managed" in fired(answer)


def test_not_checked_without_the_configuration() -> None:
    answer = cluster(job()).ask("team-a/train")
    assert "namespace-not-managed" not in fired(answer)
    assert "namespace-not-managed" in {entry.rule for entry in answer.not_checked}
