"""What `whypending snapshot` writes: the same answer, and nothing that an answer does not need."""

import re
from typing import Any

import pytest
import yaml

from bot.core import bundle, engine
from bot.core.diagnosis import Diagnosis
from bot.core.redaction import Names, documents_of, redact
from bot.core.reference import JobRef
from bot.core.snapshot import Gap, Scope, Snapshot
from tests.clusters import CASES, RECORDINGS, expectations, recorded

ALL = [
    pytest.param(path.stem, path.parent.name, expected, id=f"{path.parent.name}/{path.stem}")
    for folder in (RECORDINGS, CASES)
    if (folder / "expect.yaml").exists()
    for expected in expectations(folder)
    for path in sorted(folder.glob(f"**/{expected['name']}.json"))
]


def question(expected: dict[str, Any]) -> JobRef:
    namespace, _, name = expected["ask"].partition("/")
    return JobRef(namespace, name, expected.get("kind") or "")


def load(content: bytes) -> Snapshot:
    return bundle.load([("snapshot.yaml", content)])


def structure(answer: Diagnosis) -> dict[str, Any]:
    """Everything of an answer that does not depend on names."""
    findings = [answer.headline, *answer.also, *answer.context]
    return {
        "rules": [(f.rule, f.certainty, f.move, f.outlook, len(f.evidence)) for f in findings],
        "steps": [len(f.next) for f in findings if "suggestions" not in f.data],
        "quota": [
            (r.resource, r.requested, r.nominal, r.used, r.available, r.capacity, r.short, r.verdict)
            for r in answer.quota
        ],
        "holders": [(h.resource, h.amount) for h in answer.holders],
        "chain": [(row.kind, row.ok) for row in answer.chain],
        "ahead": (answer.ahead.position, answer.ahead.total) if answer.ahead else None,
        "pods": answer.pods,
        "complete": answer.complete,
        "not checked": [entry.rule for entry in answer.not_checked],
        "versions": answer.versions,
    }


@pytest.mark.parametrize(("name", "folder", "expected"), ALL)
def test_the_answer_stays_the_same(name: str, folder: str, expected: dict[str, Any]) -> None:
    ref = question(expected)
    snapshot = recorded(f"{folder}/{name}").snapshot()
    before = engine.diagnose(snapshot, ref)
    assert engine.diagnose(load(redact(snapshot, ref)), ref) == before
    other = Names.of(snapshot, ref).question(ref)
    renamed = redact(snapshot, ref, replace_names=True)
    assert structure(engine.diagnose(load(renamed), other)) == structure(before)


def test_nothing_private_is_left() -> None:
    secret = "s3cr3t-value"
    template = {
        "metadata": {"annotations": {"note": secret}},
        "spec": {
            "containers": [{
                "name": "main", "image": "registry.example/train:1", "command": [secret], "args": [secret],
                "env": [{"name": "TOKEN", "value": secret}], "envFrom": [{"secretRef": {"name": secret}}],
                "lifecycle": {"postStart": {"exec": {"command": [secret]}}},
                "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "a", "value": secret}]}},
            }],
            "hostAliases": [{"ip": "10.0.0.1", "hostnames": [secret]}],
        },
    }  # fmt: skip
    cluster = (
        recorded("v0.19.2/rayjob")
        .add({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": template},
              "metadata": {"name": "plain", "namespace": "team-a", "annotations": {"note": secret}}})
        .edit("RayJob", "ray", {
            "metadata": {"managedFields": [{"manager": secret}]},
            "spec": {
                "entrypoint": secret, "runtimeEnvYAML": secret,
                "rayClusterSpec": {"headGroupSpec": {"rayStartParams": {}, "template": template}},
            },
        })
        .add(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other", "namespace": "kueue-system"},
             "data": {"a": secret}},
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "team-a"}, "data": {"a": secret}},
            {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
             "metadata": {"name": "spark", "namespace": "team-a"},
             "spec": {"arguments": [secret], "sparkConf": {"a": secret}, "driver": {"env": [{"value": secret}]}}},
        )
    )  # fmt: skip
    content = redact(cluster.snapshot()).decode()
    assert secret not in content
    assert "managedFields" not in content
    assert "registry.example/train:1" in content, "the image is what image-not-pulled is about"


def test_a_pod_spec_keeps_what_decides() -> None:
    cluster = recorded("v0.19.2/rayjob")
    documents = documents_of(cluster.snapshot())
    ray = next(document for document in documents if document["kind"] == "RayJob")
    container = ray["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]
    assert set(container) <= {"name", "image", "resources", "ports", "restartPolicy"}
    assert container["resources"]


def test_annotations_that_rules_read_stay() -> None:
    notes = {
        "kueue.x-k8s.io/workload": "w", "queue-name": "q", "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "example.com/owner": "x",
    }  # fmt: skip
    cluster = recorded("v0.19.2/quota-in-use").edit("Job", "train", {"metadata": {"annotations": notes}})
    train = next(d for d in documents_of(cluster.snapshot()) if d["kind"] == "Job" and d["metadata"]["name"] == "train")
    assert set(train["metadata"]["annotations"]) == {"kueue.x-k8s.io/workload", "queue-name"}


def test_gaps_scopes_and_odd_fields_survive_the_file() -> None:
    cluster = recorded("v0.19.2/quota-in-use").edit("Job", "train", {"metadata": {"generation": "odd"}})
    snapshot = cluster.snapshot()
    part = Snapshot(
        observed_at=snapshot.observed_at, objects=snapshot.objects, odd=snapshot.odd,
        covered=frozenset({Scope("Job"), Scope("Pod", "team-a"), Scope("Workload", selector="holders=gpu-cq")}),
        gaps=(Gap("Node", "forbidden for this identity"), Gap("Event", "timed out after 8 s", "team-a")),
        served=frozenset({"Job", "Pod", "Workload", "Node"}), visibility={"/apis/x/clusterqueues/gpu-cq/pendingworkloads": 503},
        versions=snapshot.versions, kueue_namespace="kueue",
    )  # fmt: skip
    loaded = load(redact(part))
    assert loaded.covered == part.covered
    assert loaded.gaps == part.gaps
    assert loaded.served == part.served
    assert loaded.odd == part.odd != {}
    assert loaded.visibility == part.visibility
    assert loaded.kueue_namespace == "kueue"
    assert loaded.objects["Workload"] == part.objects["Workload"]
    assert loaded.objects["Pod"] == part.objects["Pod"]


def test_new_names_are_the_same_everywhere() -> None:
    cluster = recorded("v0.19.2/quota-in-use")
    snapshot = cluster.snapshot()
    content = redact(snapshot, JobRef("team-a", "train"), replace_names=True).decode()
    for name in ("team-a", "gpu-cq", "train-queue", "a100", "holder", "registry.example"):
        assert not re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", content), name
    names = Names.of(snapshot)
    assert content.splitlines()[0] == f"# whypending explain {names.text('team-a/train')} -f FILE"
    assert "nvidia.com/gpu" in content
    workload = cluster.named("Workload", "job-train")
    assert (
        names.text(f"Workload {workload} in team-a")
        == f"Workload job-{names.mapping['train']}-{workload[-5:]} in {names.mapping['team-a']}"
    )


def test_words_of_the_texts_stay_words() -> None:
    cluster = recorded("v0.19.2/quota-in-use").edit("ResourceFlavor", "a100", {"metadata": {"name": "flavor"}})
    names = Names.of(cluster.snapshot())
    assert "flavor" not in names.mapping
    text = "insufficient unused quota for nvidia.com/gpu in flavor a100, 2 more needed"
    assert names.text(text) == text.replace("a100", names.mapping["a100"])


def test_the_bundle_is_yaml_documents_that_kubectl_would_read() -> None:
    documents = list(yaml.safe_load_all(redact(recorded("v0.19.2/quota-in-use").snapshot())))
    assert documents[0]["kind"] == "Recording"
    assert all(document["apiVersion"] and document["kind"] for document in documents)
