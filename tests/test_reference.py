"""Every way to write what is asked about, and every refusal."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import kinds
from bot.core.reference import BadReferenceError, JobRef, find_all, parse

CLUSTERS = ("prod", "prod-eu", "arn:aws:eks:eu-west-1:1234:cluster/prod")


def key(ref: JobRef) -> tuple[str, str, str]:
    """Namespace, kind and name."""
    return ref.namespace, ref.kind, ref.name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("team-a/train", ("team-a", "", "train")),
        ("team-a/job/train", ("team-a", "Job", "train")),
        ("team-a/jobs/train", ("team-a", "Job", "train")),
        ("team-a/jobs.batch/train", ("team-a", "Job", "train")),
        ("team-a/rayjob/ray", ("team-a", "RayJob", "ray")),
        ("team-a/podgroup/grp", ("team-a", "PodGroup", "grp")),
        ("team-a/workload/job-train-6cac3", ("team-a", "Workload", "job-train-6cac3")),
        ("job/team-a/train", ("team-a", "Job", "train")),
        ("job/train", ("job", "", "train")),
        ("job/train -n team-a", ("team-a", "Job", "train")),
        ("-n team-a job/train", ("team-a", "Job", "train")),
        ("-n team-a train", ("team-a", "", "train")),
        ("train -n team-a", ("team-a", "", "train")),
        ("train -nteam-a", ("team-a", "", "train")),
        ("train --namespace team-a", ("team-a", "", "train")),
        ("train --namespace=team-a", ("team-a", "", "train")),
        ("-n team-a job train", ("team-a", "Job", "train")),
        ("team-a train", ("team-a", "", "train")),
        ("team-a job train", ("team-a", "Job", "train")),
        ("team-a/train -n team-a", ("team-a", "", "train")),
        ("Team-a/Train", ("team-a", "", "train")),
        ("team-a/train.v2", ("team-a", "", "train.v2")),
        ("/team-a/train/", ("team-a", "", "train")),
        ("why is team-a/train still pending?", ("team-a", "", "train")),
        ("team-a/notebook/nb", ("team-a", "notebook", "nb")),
    ],
)
def test_forms(text: str, expected: tuple[str, str, str]) -> None:
    """Namespace, kind and name in every order that people use."""
    assert key(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubectl get job train -n team-a", ("team-a", "Job", "train")),
        ("kubectl -n team-a describe jobs.batch/train", ("team-a", "Job", "train")),
        ("$ kubectl -n team-a describe jobs.batch/train", ("team-a", "Job", "train")),
        ("kubectl get job/train --namespace=team-a -o yaml", ("team-a", "Job", "train")),
        ("kubectl get jobs.v1.batch train -n team-a -w", ("team-a", "Job", "train")),
        ("kubectl get pytorchjobs.kubeflow.org ddp -n team-a", ("team-a", "PyTorchJob", "ddp")),
        ("kubectl logs train-x2x4z -n team-a -f", ("team-a", "Pod", "train-x2x4z")),
        ("kubectl logs job/train -n team-a", ("team-a", "Job", "train")),
        ("kubectl get wl job-train-6cac3 -n team-a", ("team-a", "Workload", "job-train-6cac3")),
        ("kubectl get job,pod train -n team-a", ("team-a", "", "train")),
        ("kubectl events --for job/train -n team-a", ("team-a", "Job", "train")),
        ("kubectl rollout status deploy/web -n team-a", ("team-a", "Deployment", "web")),
        ("oc get rayjob ray -n team-a | grep Pending", ("team-a", "RayJob", "ray")),
        ("kubectl get notebooks.example.com nb -n team-a", ("team-a", "notebooks.example.com", "nb")),
        ("kubectl get jobs.batch.example.com train -n team-a", ("team-a", "jobs.batch.example.com", "train")),
    ],
)
def test_kubectl_lines(text: str, expected: tuple[str, str, str]) -> None:
    """A pasted kubectl line, whatever the verb and the flags."""
    assert key(parse(text)) == expected


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("https://hl.example.com/c/prod/kueue/workloads/team-a/job-train-7b", ("team-a", "Workload", "job-train-7b")),
        ("https://ops.example.com/headlamp/c/prod/jobs/team-a/train", ("team-a", "Job", "train")),
        ("https://ops.example.com/headlamp/c/prod/pods/team-a/train-x/", ("team-a", "Pod", "train-x")),
        ("https://hl.example.com/c/prod/leaderworkersets/team-a/lws?a=b#c", ("team-a", "LeaderWorkerSet", "lws")),
        ("https://hl.example.com/c/prod/customresources/rayjobs.ray.io/team-a/ray-1", ("team-a", "RayJob", "ray-1")),
        (
            "https://hl.example.com/c/prod/customresources/workloads.kueue.x-k8s.io/team-a/w",
            ("team-a", "Workload", "w"),
        ),
        ("http://localhost:4466/#/c/main/deployments/team-a/web", ("team-a", "Deployment", "web")),
        ("https://kueueviz.example.com/workload/team-a/job-train-7b", ("team-a", "Workload", "job-train-7b")),
        ("https://example.com/kueueviz/workload/team-a/w?tab=events", ("team-a", "Workload", "w")),
        ("https://console.example.com/k8s/ns/team-a/jobs/train", ("team-a", "Job", "train")),
        ("https://console.example.com/k8s/ns/team-a/batch~v1~Job/train", ("team-a", "Job", "train")),
        ("https://hl.example.com/c/prod/customresources/nbs.example.com/team-a/n", ("team-a", "nbs.example.com", "n")),
    ],
)
def test_links(link: str, expected: tuple[str, str, str]) -> None:
    """Pages of Headlamp, KueueViz and others, with base paths, queries and fragments, bare or as Slack writes them."""
    assert key(parse(link)) == expected
    assert key(parse(f"<{link}>")) == expected
    assert key(parse(f"<{link}|{link[8:30]}…>")) == expected


def test_cluster_of_a_link() -> None:
    """The cluster in a link is percent-encoded; it counts when it is one of the configured ones."""
    link = "https://hl.example.com/c/arn%3Aaws%3Aeks%3Aeu-west-1%3A1234%3Acluster%2Fprod/jobs/team-a/train"
    assert parse(link, clusters=CLUSTERS).cluster == "arn:aws:eks:eu-west-1:1234:cluster/prod"
    assert parse("https://hl.example.com/c/prod+prod-eu/jobs/team-a/t", clusters=CLUSTERS).cluster == "prod"
    assert (
        parse("https://hl.example.com/c/main/jobs/team-a/t", clusters=CLUSTERS, default_cluster="prod").cluster
        == "prod"
    )


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("https://hl.example.com/c/prod/kueue/localqueues/team-a/q", "LocalQueue"),
        ("https://hl.example.com/c/prod/kueue/clusterqueues/gpu", "ClusterQueue"),
        ("https://kueueviz.example.com/cohort/research", "Cohort"),
        ("https://kueueviz.example.com/workloads", "not lead to a job"),
        ("https://hl.example.com/c/prod/scheduling/workloads/team-a/x", "Kubernetes' own Workload"),
        ("https://example.com/", "not lead to a job"),
    ],
)
def test_links_to_something_else(link: str, says: str) -> None:
    """A link to a queue or to a list is refused, saying what it leads to."""
    with pytest.raises(BadReferenceError, match=says):
        parse(link)


@pytest.mark.parametrize(
    "text",
    [
        "`team-a/train`", "“team-a/train”", "'team-a/train'", "*team-a/train*", "_team-a/train_", "team-a/train.",
        " team-a/train ", "(team-a/train)", "<http://team-a/train|team-a/train>", "\u200bteam-a/train", "team-a/train\u00a0",
        "```team-a/train```", "&lt;team-a/train&gt;", "<team-a/train>", "\u202eteam-a/train",
    ],
)  # fmt: skip
def test_what_chat_makes_of_it(text: str) -> None:
    """Quotes, code marks, automatic links, invisible characters and full stops are taken off."""
    assert key(parse(text)) == ("team-a", "", "train")


def test_dotted_name_that_slack_linked() -> None:
    """A name with dots that Slack took for a web address."""
    assert key(parse("team-a/<http://train.example.com|train.example.com>")) == ("team-a", "", "train.example.com")


def test_clusters() -> None:
    """A prefix counts only when it is a configured cluster; else it is refused with the names that exist."""
    assert parse("prod:team-a/train", clusters=CLUSTERS).cluster == "prod"
    assert parse("prod-eu:team-a/train", clusters=CLUSTERS).cluster == "prod-eu"
    assert parse(f"{CLUSTERS[2]}:team-a/train", clusters=CLUSTERS).cluster == CLUSTERS[2]
    assert parse("prod/team-a/job/train", clusters=CLUSTERS).cluster == "prod"
    assert parse("kubectl --context prod -n team-a get job train", clusters=CLUSTERS).cluster == "prod"
    assert parse("team-a/train", clusters=CLUSTERS, default_cluster="prod-eu").cluster == "prod-eu"
    for text in ("test:team-a/train", "kubectl --context test -n team-a get job train"):
        with pytest.raises(BadReferenceError, match="no cluster “test” here; there is “arn"):
            parse(text, clusters=CLUSTERS)
    with pytest.raises(BadReferenceError, match="no cluster “test” here"):
        parse("test:team-a/train")


def test_default_namespace() -> None:
    """A bare name and kind/name are read in the default namespace, NAMESPACE/NAME stays what it is."""
    assert key(parse("train", default_namespace="team-b")) == ("team-b", "", "train")
    assert key(parse("job/train", default_namespace="team-b")) == ("team-b", "Job", "train")
    assert key(parse("team-a/train", default_namespace="team-b")) == ("team-a", "", "train")
    assert key(parse("train -n team-a", default_namespace="team-b")) == ("team-a", "", "train")
    assert key(parse("kubectl get job train", default_namespace="team-b")) == ("team-b", "Job", "train")


@pytest.mark.parametrize(
    "kind", [*kinds.JOB_KINDS, kinds.BY_NAME["Pod"], kinds.BY_NAME["Workload"]], ids=lambda k: k.kind
)
def test_every_kind_by_every_spelling(kind: kinds.Kind) -> None:
    """Kind, plural and plural.group of everything that can be asked about."""
    for spelling in (kind.kind, kind.kind.lower(), kind.plural, kind.crd):
        assert key(parse(f"team-a/{spelling}/train")) == ("team-a", kind.kind, "train")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "No job was named"),
        ("   ", "No job was named"),
        ("train", "“train” does not say in which namespace"),
        ("job train", "does not say in which namespace"),
        ("kubectl get job train", "does not say in which namespace"),
        ("kubectl get jobs -n team-a", "names no Job"),
        ("kubectl get job a b -n team-a", "more than one"),
        ("kubectl", "names no job"),
        ("team-a/trä in", "is not the name of a job|not a name"),
        ("team-a/train_1", "“train_1” is not a name in Kubernetes"),
        ("team.a/train", "“team.a” is not a namespace"),
        ("a/b/c/d/e", "too many parts"),
        ("team-b/train -n team-a", "neither the namespace"),
        ("team-b/job/train -n team-a", "Two namespaces"),
        ("team-a/train team-a/serve", "more than one job"),
        ("team-a/" + "x" * 254, "254 characters long; Kubernetes allows 253"),
        ("x" * 64 + "/train", "64 characters long; Kubernetes allows 63"),
        ("x" * 20_000, "20000 characters long; Kubernetes allows 253"),
        ("team-a/" + "x" * 20_000, "20007 characters long"),
    ],
)
def test_refusals(text: str, says: str) -> None:
    """What cannot be read is refused with what was wrong and an example that works."""
    with pytest.raises(BadReferenceError, match=says) as refusal:
        parse(text)
    message = str(refusal.value)
    assert len(message) < 400
    example = message.partition("for example: ")[2]
    assert parse(example).name


def test_what_was_read_is_said() -> None:
    """How a question was read is part of the answer."""
    assert parse("job/train -n team-a").read_as == "Job train in namespace team-a"
    assert (
        parse("prod:team-a/train", clusters=CLUSTERS).read_as
        == "anything named train in namespace team-a on cluster prod"
    )
    assert parse(" `team-a/train` ").text == "team-a/train"


@given(st.text(max_size=80))
def test_never_raises_anything_else(text: str) -> None:
    """Any text gives a reference or a refusal, and free text gives references or none."""
    for default in ("", "team-a"):
        try:
            found = parse(text, default_namespace=default, clusters=CLUSTERS)
        except BadReferenceError:
            continue
        assert found.namespace
        assert found.name
    find_all(text)


PIECES = st.sampled_from(
    [
        "team-a/train",
        "kubectl",
        "get",
        "-n",
        "job",
        "<http://a|",
        ">",
        "https://x/c/p/",
        "/",
        "--",
        "'",
        "=",
        "-n=",
        "\n",
        " ",
    ]
)


@given(st.lists(PIECES, max_size=12))
def test_never_raises_on_almost_references(pieces: list[str]) -> None:
    """The same for texts that are almost references."""
    for text in ("".join(pieces), " ".join(pieces)):
        find_all(text, clusters=CLUSTERS)
        with suppress(BadReferenceError):
            assert parse(text, clusters=CLUSTERS).name


@given(
    st.from_regex(r"[a-z]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True),
    st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,40}[a-z0-9])?", fullmatch=True),
)
def test_namespace_and_name_always_come_back(namespace: str, name: str) -> None:
    """NAMESPACE/NAME is read back as it was written, also when the namespace is called like a kind."""
    assert key(parse(f"{namespace}/{name}")) == (namespace, "", name)


ALERT = """
*[FIRING:1] KubeJobNotStarting* (warning)
Job team-a/train has not started for 1h. See the runbook: https://example.com/runbooks/jobs
alertname="KubeJobNotStarting" namespace="team-b" job_name="eval" container="kube-state" service="a/b"
 • *namespace:* `team-c`
 • *pod:* `serve-0`
Try `kubectl -n team-d get rayjob ray` or <https://hl.example.com/c/prod/jobs/team-e/late|Headlamp>, and/or ask apps/v1.
nvidia.com/gpu: 8, image registry.example.com/train:1, 24/7, team-a/train again
"""


def test_find_all() -> None:
    """The jobs that an alert, its labels and its links name, each once, in order; nothing that only looks like one."""
    found = find_all(ALERT)
    assert {key(ref) for ref in found} == {
        ("team-a", "", "train"),
        ("team-b", "Job", "eval"),
        ("team-c", "Pod", "serve-0"),
        ("team-d", "RayJob", "ray"),
        ("team-e", "Job", "late"),
    }
    assert key(found[0]) == ("team-a", "", "train")
    assert [key(ref) for ref in found].count(("team-a", "", "train")) == 1


def test_find_all_prefers_the_kind() -> None:
    """A job that is named with its kind is not named a second time without it."""
    assert [key(ref) for ref in find_all("team-a/train, that is team-a/job/train")] == [("team-a", "Job", "train")]


def test_find_all_in_plain_talk() -> None:
    """Talk without a reference gives none."""
    assert find_all("is anybody here? the train is late, and/or the queue is full :(") == ()
