"""A known issue of Kueue is named when both its version and its signature fit."""

import pytest

from bot.core.known_issues.issue import affected, upgrade, version_of
from bot.core.known_issues.table import ISSUES
from tests.clusters import CASES, Cluster, expectations, fired, recorded
from tests.findings import finding, sentence, steps

RULE = "known-kueue-issue"
_CASES = {
    "P15": ("kubernetes-sigs/kueue#2391", "0.8.0"),
    "P16": ("kubernetes-sigs/kueue#3948", "0.12.0"),
    "P20": ("kubernetes-sigs/kueue#3721", "0.9.2"),
    "P27": ("kubernetes-sigs/kueue#7649", "0.14.5"),
    "P39": ("kubernetes-sigs/kueue#12656", "0.17.7"),
    "P43": ("kubernetes-sigs/kueue#4571", "0.10.5"),
    "P47": ("kubernetes-sigs/kueue#3140", "0.8.2"),
    "P49": ("kubernetes-sigs/kueue#6969", "0.13.6"),
    "P68": ("kubernetes-sigs/kueue#4270", "0.10.2"),
}


def _case(name: str) -> tuple[Cluster, str, str]:
    entry = next(entry for entry in expectations(CASES) if entry["name"] == name)
    return recorded(f"cases/{name}"), entry["ask"], entry.get("kind", "")


def _version(cluster: Cluster, version: str) -> Cluster:
    """The same cluster with another Kueue; "" for one whose version cannot be told."""
    first = {**cluster.items[0], "kueueVersion": version}
    rest = [item for item in cluster.items[1:] if "kueue-controller-manager" not in item["metadata"]["name"]]
    return Cluster((first, *rest))


@pytest.mark.parametrize("name", _CASES)
def test_fires(name: str) -> None:
    cluster, ask, kind = _case(name)
    answer = cluster.ask(ask, kind)
    reference, fixed = _CASES[name]
    assert [entry["reference"] for entry in finding(answer, RULE).data["issues"]] == [reference]
    assert f"Upgrade Kueue to {fixed}" in steps(answer, RULE)
    assert finding(answer, RULE).certainty == "likely"


@pytest.mark.parametrize("name", _CASES)
def test_without_a_version_it_says_older_than(name: str) -> None:
    cluster, ask, kind = _case(name)
    said = sentence(_version(cluster, "").ask(ask, kind), RULE)
    assert said.startswith("If your Kueue is older than ")
    assert _CASES[name][1] in said


@pytest.mark.parametrize("name", _CASES)
def test_near_miss_a_fixed_version(name: str) -> None:
    cluster, ask, kind = _case(name)
    assert RULE not in fired(_version(cluster, "v0.21.0").ask(ask, kind))


def test_near_miss_another_shape() -> None:
    cluster = _version(recorded("v0.19.2/quota-in-use"), "v0.6.0")
    assert RULE not in fired(cluster.ask("team-a/train"))


def test_an_edited_flavor_nobody_looks_at_again() -> None:
    cluster = _version(recorded("v0.19.2/flavor-taint"), "v0.18.4")
    edited = cluster.edit("ResourceFlavor", "spot", {"metadata": {"generation": 2}, "spec": {"nodeTaints": []}})
    found = finding(edited.ask("team-a/train"), RULE)
    assert found.data["issues"][0]["reference"] == "kubernetes-sigs/kueue#3733"
    assert RULE not in fired(_version(edited, "v0.19.2").ask("team-a/train"))
    assert RULE not in fired(cluster.ask("team-a/train"))


def test_resolved_claims_that_stay_out() -> None:
    text = "failed to get claim spec for ResourceClaimTemplate one-gpu in podset main: not found"
    cluster = _version(recorded("cases/P51"), "v0.19.2")
    for kind, reason in (("QuotaReserved", "Inadmissible"), ("Requeued", "Inadmissible")):
        cluster = cluster.condition(
            "Workload", "job-dra1-69490", type=kind, status="False", reason=reason, message=text
        )
    found = finding(cluster.ask("ml-a/dra1"), RULE)
    assert found.data["issues"][0]["reference"] == "kubernetes-sigs/kueue#15888"


@pytest.mark.parametrize(
    ("version", "has"),
    [
        ("v0.13.9", True),
        ("v0.13.10", False),
        ("v0.14.4", True),
        ("v0.14.5", False),
        ("v0.15.0", False),
        ("v0.16.0", False),
        ("v0.12.9", True),
        ("v1.0.0", False),
        ("0.14.4-rc.1", True),
    ],
)
def test_versions(version: str, has: bool) -> None:  # noqa: FBT001 - a column of the table
    issue = next(issue for issue in ISSUES if issue.reference.endswith("#7649"))
    parsed = version_of(version)
    assert parsed is not None
    assert affected(issue, parsed) is has


def test_nearest_version_without_it() -> None:
    issue = next(issue for issue in ISSUES if issue.reference.endswith("#7649"))
    assert upgrade(issue, (0, 14, 1)) == "0.14.5"
    assert upgrade(issue, (0, 13, 2)) == "0.13.10"
    assert upgrade(issue, (0, 11, 0)) == "0.13.10"
    assert upgrade(issue, None) == "0.13.10"
    assert version_of("latest") is None


def test_every_issue_has_a_fix_that_can_be_read() -> None:
    for issue in ISSUES:
        assert issue.fixed, issue.reference
        assert all(version_of(text) is not None for text in issue.fixed), issue.reference
