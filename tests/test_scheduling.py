"""The scheduler's predicates against Kubernetes' own definitions, written out a second time as literally as possible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import objects as o
from bot.core import scheduling
from bot.core.snapshot import Unknown

WORDS = st.sampled_from(["", "a", "b", "1", "2", "-3", "10"])
KEYS = st.sampled_from(["", "gpu", "spot", "node.kubernetes.io/unschedulable"])
EFFECTS = st.sampled_from(["", "NoSchedule", "PreferNoSchedule", "NoExecute"])
TAINTS = st.builds(o.Taint, key=KEYS, value=WORDS, effect=EFFECTS)
TOLERATIONS = st.builds(
    o.Toleration,
    key=KEYS,
    operator=st.sampled_from(["", "Equal", "Exists", "Sometimes"]),
    value=WORDS,
    effect=EFFECTS,
)
LABELS = st.dictionaries(st.sampled_from(["gpu", "zone", "size"]), WORDS, max_size=3)
OPERATORS = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Like"])
REQUIREMENTS = st.builds(
    o.LabelSelectorRequirement,
    key=st.sampled_from(["gpu", "zone", "size"]),
    operator=OPERATORS,
    values=st.lists(WORDS, max_size=3).map(tuple),
)


def _tolerates(toleration: o.Toleration, taint: o.Taint) -> bool:
    """k8s.io/api/core/v1 Toleration.ToleratesTaint."""
    if len(toleration.effect) > 0 and toleration.effect != taint.effect:
        return False
    if len(toleration.key) > 0 and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    if toleration.operator == "Exists":  # noqa: SIM103 - as the original has it
        return True
    return False


@given(TAINTS, st.lists(TOLERATIONS, max_size=4))
def test_tolerates_as_the_api_defines_it(taint: o.Taint, tolerations: list[o.Toleration]) -> None:
    assert scheduling.tolerates(taint, tolerations) == any(_tolerates(entry, taint) for entry in tolerations)


def test_tolerations_of_everything_and_of_one_effect() -> None:
    taint = o.Taint(key="spot", value="true", effect="NoExecute")
    assert scheduling.tolerates(taint, [o.Toleration(operator="Exists")])
    assert not scheduling.tolerates(taint, [o.Toleration(operator="Exists", effect="NoSchedule")])
    assert not scheduling.tolerates(taint, [o.Toleration(key="spot", value="false")])
    assert not scheduling.tolerates(taint, [])


def test_numeric_tolerations() -> None:
    taint = o.Taint(key="level", value="950", effect="NoSchedule")
    assert scheduling.tolerates(taint, [o.Toleration(key="level", operator="Gt", value="900")])
    assert not scheduling.tolerates(taint, [o.Toleration(key="level", operator="Lt", value="900")])
    assert not scheduling.tolerates(taint, [o.Toleration(key="level", operator="Gt", value="much")])


def test_only_hard_taints_keep_pods_off() -> None:
    soft, hard = o.Taint(key="a", effect="PreferNoSchedule"), o.Taint(key="b", effect="NoExecute")
    assert scheduling.untolerated([soft, hard], []) == (hard,)


def test_taint_text() -> None:
    assert scheduling.taint_text(o.Taint(key="spot", value="true", effect="NoSchedule")) == "spot=true:NoSchedule"
    assert scheduling.taint_text(o.Taint(key="spot", effect="NoSchedule")) == "spot:NoSchedule"


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def _meets(requirement: o.LabelSelectorRequirement, labels: dict[str, str]) -> bool:
    """k8s.io/apimachinery labels.Requirement.Matches."""
    has = requirement.key in labels
    if requirement.operator == "In":
        return has and labels[requirement.key] in requirement.values
    if requirement.operator == "NotIn":
        return not has or labels[requirement.key] not in requirement.values
    if requirement.operator == "Exists":
        return has
    if requirement.operator == "DoesNotExist":
        return not has
    if requirement.operator in ("Gt", "Lt"):
        if not has or len(requirement.values) != 1:
            return False
        mine, theirs = _number(labels[requirement.key]), _number(requirement.values[0])
        if mine is None or theirs is None:
            return False
        return mine > theirs if requirement.operator == "Gt" else mine < theirs
    return False


@given(REQUIREMENTS, LABELS)
def test_requirements_as_the_api_defines_them(requirement: o.LabelSelectorRequirement, labels: dict[str, str]) -> None:
    assert scheduling.requirement_matches(requirement, labels) == _meets(requirement, labels)


@given(LABELS, st.lists(REQUIREMENTS, max_size=3), LABELS)
def test_selectors_are_all_of_their_parts(
    wanted: dict[str, str], requirements: list[o.LabelSelectorRequirement], labels: dict[str, str]
) -> None:
    selector = o.LabelSelector(match_labels=wanted, match_expressions=tuple(requirements))
    expected = all(labels.get(k) == v for k, v in wanted.items()) and all(_meets(r, labels) for r in requirements)
    assert scheduling.selector_matches(selector, labels) == expected


def test_no_selector_selects_nothing_and_an_empty_one_everything() -> None:
    assert not scheduling.selector_matches(None, {"a": "b"})
    assert scheduling.selector_matches(o.LabelSelector(), {})


def _affine(*terms: o.NodeSelectorTerm, **labels: str) -> o.PodSpec:
    required = o.NodeSelector(node_selector_terms=terms)
    affinity = o.NodeAffinity(required_during_scheduling_ignored_during_execution=required)
    return o.PodSpec(node_selector=labels, affinity=o.Affinity(node_affinity=affinity))


def test_node_affinity_terms_are_alternatives() -> None:
    one = o.NodeSelectorTerm(
        match_expressions=(o.LabelSelectorRequirement(key="gpu", operator="In", values=("a100",)),)
    )
    two = o.NodeSelectorTerm(
        match_fields=(o.LabelSelectorRequirement(key="metadata.name", operator="In", values=("n1",)),)
    )
    spec = _affine(one, two)
    assert scheduling.node_affinity_matches(spec, {"gpu": "a100"}, "n7")
    assert scheduling.node_affinity_matches(spec, {}, "n1")
    assert not scheduling.node_affinity_matches(spec, {}, "n7")


def test_empty_terms_match_no_node_and_no_affinity_matches_all() -> None:
    assert not scheduling.node_affinity_matches(_affine(o.NodeSelectorTerm()), {}, "n1")
    assert not scheduling.node_affinity_matches(_affine(), {}, "n1")
    assert scheduling.node_affinity_matches(o.PodSpec(), {}, "n1")


def test_node_selector_and_affinity_both_count() -> None:
    one = o.NodeSelectorTerm(match_expressions=(o.LabelSelectorRequirement(key="gpu", operator="Exists"),))
    spec = _affine(one, zone="a")
    assert scheduling.node_affinity_matches(spec, {"gpu": "", "zone": "a"}, "n1")
    assert not scheduling.node_affinity_matches(spec, {"gpu": "", "zone": "b"}, "n1")
    assert not scheduling.node_affinity_matches(spec, {"zone": "a"}, "n1")


def _container(restart: str = "", **requests: str) -> o.Container:
    return o.Container(resources=o.ResourceRequirements(requests=dict(requests)), restart_policy=restart)


def test_requests_add_up_over_containers() -> None:
    spec = o.PodSpec(containers=(_container(cpu="500m", memory="1Gi"), _container(cpu="0.7")))
    assert scheduling.pod_requests(spec) == {"cpu": 1200, "memory": 2**30}


def test_a_large_init_container_decides() -> None:
    spec = o.PodSpec(containers=(_container(cpu="1"),), init_containers=(_container(cpu="4"), _container(cpu="2")))
    assert scheduling.pod_requests(spec) == {"cpu": 4000}


def test_sidecars_run_beside_everything_after_them() -> None:
    sidecar = _container("Always", cpu="1")
    before = o.PodSpec(containers=(_container(cpu="2"),), init_containers=(sidecar, _container(cpu="4")))
    after = o.PodSpec(containers=(_container(cpu="2"),), init_containers=(_container(cpu="4"), sidecar))
    assert scheduling.pod_requests(before) == {"cpu": 5000}
    assert scheduling.pod_requests(after) == {"cpu": 4000}


def test_pod_level_requests_replace_the_sum_and_overhead_comes_on_top() -> None:
    level = o.ResourceRequirements(requests={"cpu": "3", "nvidia.com/gpu": "9"})
    spec = o.PodSpec(
        containers=(_container(cpu="8", **{"nvidia.com/gpu": "1"}),), resources=level, overhead={"cpu": "250m"}
    )
    assert scheduling.pod_requests(spec) == {"cpu": 3250, "nvidia.com/gpu": 1}


def test_a_limit_stands_for_a_missing_request() -> None:
    resources = o.ResourceRequirements(requests={"cpu": "1"}, limits={"cpu": "4", "nvidia.com/gpu": "2"})
    spec = o.PodSpec(containers=(o.Container(resources=resources),))
    assert scheduling.pod_requests(spec) == {"cpu": 1000, "nvidia.com/gpu": 2}


def test_the_sum_is_rounded_once() -> None:
    spec = o.PodSpec(containers=(_container(cpu="100u"), _container(cpu="100u")))
    assert scheduling.pod_requests(spec) == {"cpu": 1}


def test_what_is_no_quantity_is_unknown() -> None:
    with pytest.raises(Unknown, match="lots"):
        scheduling.pod_requests(o.PodSpec(containers=(_container(cpu="lots"),)))


def _ports(*ports: o.ContainerPort, network: bool | None = None) -> o.PodSpec:
    return o.PodSpec(containers=(o.Container(ports=ports),), host_network=network)


def test_host_ports() -> None:
    plain = o.ContainerPort(container_port=80)
    bound = o.ContainerPort(container_port=80, host_port=8080)
    assert scheduling.host_ports(_ports(plain)) == frozenset()
    assert scheduling.host_ports(_ports(bound)) == {("0.0.0.0", "TCP", 8080)}
    assert scheduling.host_ports(_ports(plain, network=True)) == {("0.0.0.0", "TCP", 80)}


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        (("0.0.0.0", "TCP", 80), ("0.0.0.0", "TCP", 80), True),
        (("0.0.0.0", "TCP", 80), ("192.0.2.1", "TCP", 80), True),
        (("192.0.2.1", "TCP", 80), ("192.0.2.2", "TCP", 80), False),
        (("0.0.0.0", "TCP", 80), ("0.0.0.0", "UDP", 80), False),
        (("0.0.0.0", "TCP", 80), ("0.0.0.0", "TCP", 81), False),
    ],
)
def test_ports_conflict(one: scheduling.Port, other: scheduling.Port, *, conflict: bool) -> None:
    assert scheduling.ports_conflict(one, other) is conflict
