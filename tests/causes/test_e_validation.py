"""What the scheduler refuses to look at: causes E01 to E09, each with the quota free or with a tempting other text."""

import pytest

from tests.causes.case import Case, check
from tests.causes.world import JUST_NOW, TEMPLATE, Object, World, asked, condition, waits
from tests.clusters import merge
from tests.made import made

FULL = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor l40s, 2 more needed"
NOT_SELECTED = "workload namespace doesn't match ClusterQueue selector"
RANGE = (
    "resources didn't satisfy LimitRange constraints: spec.podSets[0].template.spec.containers[0].resources.requests: "
    'Invalid value: ["cpu"]: requests must not be above the limitRange max'
)
ABOVE = (
    "resources validation failed: spec.podSets[0].template.spec.containers[0].resources.requests: "
    'Invalid value: ["cpu"]: requests must not exceed its limits'
)
PLACE = (("Namespace", "nlp"),)


def asking(template: Object, *conditions: Object) -> tuple[Object, Object]:
    return asked(
        *conditions,
        spec={"podSets": [{"name": "main", "count": 2, "template": template}]},
        job_spec={"template": template},
    )


def limits(**limit: object) -> Object:
    return made("LimitRange", "bounds", namespace="nlp", spec={"limits": [limit]})


def selecting(selector: Object | None) -> World:
    return World(cluster_queue={"spec": {"namespaceSelector": selector}})


def check_said(state: str, message: str) -> tuple[Object, Object]:
    found = {"name": "予算", "state": state, "message": message, "lastTransitionTime": JUST_NOW}
    return asked(waits("The workload has failed admission checks"), status={"admissionChecks": [found]})


CONTAINER = {
    "name": "main",
    "image": "x",
    "resources": {"requests": {"cpu": "4", "nvidia.com/gpu": "1"}, "limits": {"cpu": "2"}},
}
TOO_MUCH = merge(TEMPLATE, {"spec": {"containers": [CONTAINER]}})
OUT, INVALID = ("namespace-not-selected", "queue", "fix"), ("requests-invalid", "queue", "never-as-written")
FITS = ("fits-but-not-admitted", "quota", "fix")
CASES = {
    "E01": Case(
        World(without=PLACE),
        asked(waits('workload namespace "nlp" does not exist: namespaces "nlp" not found')),
        "namespace-not-found",
        "lookup",
        "fix",
        ("nlp",),
    ),
    "E01 older": Case(
        World(without=PLACE, api="v1beta1", kueue="v0.13.8"),
        asked(waits('Could not obtain workload namespace: namespaces "nlp" not found')),
        "namespace-not-found",
        "lookup",
        "fix",
    ),
    "E01 misspelt": Case(
        World(), asked(), "namespace-not-found", "lookup", "fix", ("visoin", "vision"), name="visoin/track"
    ),
    "E02": Case(
        selecting({"matchLabels": {"team": "nlp"}}), asked(waits(NOT_SELECTED)), *OUT, ("team=nlp",), move="queue-admin"
    ),
    "E02 older text": Case(
        selecting({"matchLabels": {"team": "nlp"}}), asked(waits(NOT_SELECTED.replace("workload", "Workload"))), *OUT
    ),
    "E02 none at all": Case(selecting(None), asked(waits(NOT_SELECTED)), *OUT, ("no namespace at all",)),
    "E02 beside quota": Case(
        World(
            full=True,
            cluster_queue={
                "spec": {
                    "namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]}
                }
            },
        ),
        asked(waits(FULL)),
        *OUT,
        ("env",),
        ("quota-in-use",),
    ),
    "E02 mended (X10)": Case(World(), asked(waits(NOT_SELECTED)), *FITS, never=("namespace-not-selected",)),
    "E03": Case(World(), asking(TOO_MUCH, waits(ABOVE)), *INVALID, ("4", "2"), move="asker"),
    "E03 beside quota": Case(World(full=True), asking(TOO_MUCH, waits(FULL)), *INVALID, also=("quota-in-use",)),
    "E03 older text": Case(
        World(api="v1beta1", kueue="v0.8.4"),
        asking(
            TOO_MUCH,
            waits(
                "resource validation failed: podSets[0].template.spec.containers[0]: requests must not exceed its limits"
            ),
        ),
        *INVALID,
    ),
    "E04": Case(
        World(limits(type="Container", max={"cpu": "1"})), asked(waits(RANGE)), *INVALID, ("nlp/bounds", "maximum of 1")
    ),
    "E04 of a pod": Case(World(limits(type="Pod", max={"cpu": "1"})), asked(), *INVALID, ("nlp/bounds",)),
    "E04 the range is gone": Case(World(), asked(waits(RANGE)), *FITS, never=("requests-invalid",)),
    "E04 the range was not read": Case(
        World(unread=("limitranges",)), asked(waits(RANGE)), *INVALID, ("limitRange max",), holes=True
    ),
    "E05": Case(World(limits(type="Container", min={"cpu": "4"})), asked(), *INVALID, ("minimum of 4",)),
    "E06": Case(
        World(
            kueue="v0.20.1",
            cluster_queue={
                "spec": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Irgendwie"}]}}
            },
        ),
        asked(waits('invalid namespace selector: "Irgendwie" is not a valid label selector operator', "Misconfigured")),
        *OUT,
        ("operator Irgendwie",),
    ),
    "E08": Case(
        World(), check_said("Retry", "später"), "admission-check-pending", "checks", "in-progress", ("予算", "später")
    ),
    "E08 rejected": Case(
        World(), check_said("Rejected", "nein"), "admission-check-rejected", "queue", "fix", ("予算", "nein")
    ),
    "E09": Case(
        World(full=True),
        asking(merge(TEMPLATE, {"spec": {"runtimeClassName": "gvisor"}}), waits(FULL)),
        "quota-in-use",
        "quota",
        "wait",
    ),
    "J11 (X15) the eviction's own text": Case(
        World(),
        asked(
            waits(
                "Preempted to accommodate a workload (UID: 3f, JobUID: 9c) due to reclamation within the cohort",
                at=JUST_NOW,
            ),
            condition(
                "Evicted",
                "True",
                "Preempted",
                "Preempted to accommodate a workload (UID: 3f, JobUID: 9c) due to reclamation within the cohort",
                JUST_NOW,
            ),
        ),
        "not-evaluated-yet",
        "quota",
        "in-progress",
        ("13:59",),
        ("was-evicted",),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_cause(case: str) -> None:
    check(CASES[case])
