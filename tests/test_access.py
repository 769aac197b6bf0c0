"""Access: rules only grant, a place never shows more than the place may see, a stranger sees nothing."""

from hypothesis import given
from hypothesis import strategies as st

from bot.core.access import LEVELS, AccessRule, Person, Policy

MEMBER = Person("E1", "T1", "U1", member=True, groups=frozenset({"S1"}))
STRANGER = Person("E2", "T2", "U1", member=False, groups=frozenset({"S1"}))


def test_without_rules_nobody_may_ask() -> None:
    decision = Policy((), contact="#gpu-help").decide(MEMBER, "C1", "", "team-a")
    assert decision.private is None
    assert "team-a" in decision.refusal
    assert "#gpu-help" in decision.refusal


def test_a_rule_without_places_and_people_is_for_every_member() -> None:
    decision = Policy((AccessRule("everybody"),)).decide(MEMBER, "C1", "", "team-a")
    assert decision.shown is not None
    assert (decision.shown.level, decision.shown.rule) == ("namespace", "everybody")


def test_a_persons_wider_view_stays_private() -> None:
    policy = Policy((AccessRule("everybody"), AccessRule("admins", level="all", groups=("S1",))))
    decision = policy.decide(MEMBER, "C1", "", "team-a")
    assert decision.shown is not None
    assert decision.private is not None
    assert (decision.shown.level, decision.private.level) == ("namespace", "all")
    alone = policy.decide(MEMBER, "", "", "team-a")
    assert alone.shown is not None
    assert alone.shown.level == "all"


def test_what_only_the_person_may_ask_is_answered_in_private() -> None:
    decision = Policy((AccessRule("own", namespaces=("team-a",), users=("U1",)),)).decide(MEMBER, "C1", "", "team-a")
    assert decision.shown is None
    assert decision.private is not None
    assert (
        Policy((AccessRule("own", namespaces=("team-a",), users=("U2",)),)).decide(MEMBER, "C1", "", "team-a").private
        is None
    )


def test_patterns_of_namespaces_channels_and_clusters() -> None:
    policy = Policy(
        (AccessRule("eu", namespaces=("team-*",), channels=("C1*",), clusters=("prod-eu",), level="queue"),)
    )
    assert policy.decide(MEMBER, "C12", "prod-eu", "team-a").shown is not None
    for channel, cluster, namespace in (
        ("C2", "prod-eu", "team-a"),
        ("C12", "prod-us", "team-a"),
        ("C12", "prod-eu", "infra"),
    ):
        assert policy.decide(MEMBER, channel, cluster, namespace).private is None


def test_a_stranger_is_refused_and_told_no_name() -> None:
    decision = Policy((AccessRule("secret-rule", level="all"),)).decide(STRANGER, "C1", "", "team-a")
    assert decision.private is None
    assert "team-a" not in decision.refusal
    assert "secret-rule" not in decision.refusal


def test_the_namespaces_of_a_person() -> None:
    policy = Policy((AccessRule("a", namespaces=("team-a",)), AccessRule("b", namespaces=("team-b",), users=("U1",))))
    assert policy.namespaces(MEMBER, ["team-c", "team-b", "team-a"]) == ("team-a", "team-b")


def test_that_everybody_may_ask_about_everything_tells_nobody_which_namespaces_there_are() -> None:
    known = ["team-a", "team-b", "infra"]
    everybody = AccessRule("everybody")
    assert Policy((everybody,)).listed(known, "C1", "") == ()
    family = AccessRule("family", namespaces=("*", "team-*"), channels=("C1",))
    assert Policy((everybody, family)).listed(known, "C1", "") == ("team-a", "team-b")
    assert Policy((everybody, family)).listed(known, "C2", "") == ()
    boss = AccessRule("boss", users=("U1",), level="all", clusters=("prod",))
    assert Policy((everybody, boss)).listed(known, "C2", "prod") == (), "the place is not the person"
    assert Policy((everybody, boss)).listed(known, "C2", "prod", MEMBER) == ("infra", "team-a", "team-b")
    assert Policy((everybody, boss)).listed(known, "C2", "lab", MEMBER) == ()


def test_a_decision_within_what_kubernetes_allows() -> None:
    policy = Policy((AccessRule("everybody", level="queue"),))
    decision = policy.decide(MEMBER, "C1", "", "team-a")
    narrow, wide = decision.within("namespace"), decision.within("all")
    assert narrow.shown is not None
    assert narrow.private is not None
    assert (narrow.shown.level, narrow.private.level) == ("namespace", "namespace")
    assert wide.shown is not None
    assert wide.private is not None
    assert (wide.shown.level, wide.private.level) == ("queue", "all")
    refused = Policy(()).decide(MEMBER, "C1", "", "team-a")
    assert refused.within("all") == refused


_RULES = st.builds(
    AccessRule,
    name=st.sampled_from(["r1", "r2", "r3"]),
    namespaces=st.lists(st.sampled_from(["*", "team-*", "team-a", "x"]), max_size=2).map(tuple),
    level=st.sampled_from(LEVELS),
    channels=st.lists(st.sampled_from(["*", "C1", "C2"]), max_size=2).map(tuple),
    groups=st.lists(st.sampled_from(["S1", "S2"]), max_size=1).map(tuple),
    users=st.lists(st.sampled_from(["U1", "U2"]), max_size=1).map(tuple),
)


@given(
    st.lists(_RULES, max_size=4), st.sampled_from(["", "C1", "C2", "C3"]), st.sampled_from(["team-a", "team-b", "y"])
)
def test_a_place_never_shows_more_than_the_person_may_see(
    rules: list[AccessRule], channel: str, namespace: str
) -> None:
    policy = Policy(tuple(rules))
    decision = policy.decide(MEMBER, channel, "", namespace)
    if decision.shown is not None:
        assert decision.private is not None
        assert LEVELS.index(decision.shown.level) <= LEVELS.index(decision.private.level)
    assert (decision.private is None) == bool(decision.refusal)
    # one more rule never takes anything away
    more = Policy((*rules, AccessRule("more", level="all"))).decide(MEMBER, channel, "", namespace)
    assert more.private is not None
    # what the place shows does not depend on who asks there
    if channel:
        other = policy.decide(Person("E1", "T1", "U2", member=True), channel, "", namespace)
        assert other.shown == decision.shown
