"""Rule multikueue-waiting."""

from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.facts.checks import Check, Cluster
from bot.core.moments import clock, lasting
from bot.core.names import cited, named, quoted, subject
from bot.core.rule import rule


@rule("checks", move="nobody", outlook="in-progress", phases=("waiting", "reserved"), needs=("Workload",))
def multikueue_waiting(facts: Facts) -> Found | None:
    """No worker cluster has taken the Workload yet.

    When:
        A MultiKueue check holds the Workload. While other checks are not Ready, MultiKueue asks no worker cluster; the sentence
        says so, and those checks stand beside it.
    Why it blocks:
        The job runs on a worker cluster. It starts when one of those that were asked has reserved quota for it and admitted it.
    What to do:
        Look at the Workload of the same name on the worker clusters: why it waits is decided there. A worker cluster that is
        not active cannot take it; its condition says why. `kubectl get multikueueclusters.kueue.x-k8s.io` shows which are
        connected.
    """
    holding = facts.checks.holding
    multi = [check for check in holding if check.kind == "multikueue"]
    if not multi:
        unknown = next((check.name for check in holding if check.object is None), None)
        if unknown is not None:
            facts.snapshot.require("AdmissionCheck", "", unknown)
        return None
    check = multi[0]
    others = [other for other in holding if other.kind != "multikueue"] if facts.progress.phase == "reserved" else []
    workload = facts.identity.want()
    about = subject("Workload", workload.name, workload.namespace)
    clusters = facts.checks.clusters(check)
    asked = [cluster for cluster in clusters if cluster.nominated]
    if others:
        names = ", ".join(named("AdmissionCheck", other.name) for other in others)
        ready = f"AdmissionChecks {names} are Ready" if len(others) > 1 else f"AdmissionCheck {names} is Ready"
        sentence = f"No worker cluster has been asked: MultiKueue waits until {ready}"
    elif asked:
        names = ", ".join(named("MultiKueueCluster", cluster.name) for cluster in asked)
        sentence = f"No worker cluster has taken it: MultiKueue has asked {names}"
    elif clusters:
        names = ", ".join(named("MultiKueueCluster", cluster.name) for cluster in clusters)
        sentence = f"No worker cluster has taken it: MultiKueue may ask {names}"
    else:
        sentence = "No worker cluster has taken it: which ones MultiKueue may ask could not be read"
    age = facts.age(check.state.last_transition_time)
    if age is not None and facts.progress.phase == "reserved" and not others:
        sentence += f", for {lasting(age)}"
    sentence += _retry(facts, check)
    down = [cluster for cluster in clusters if cluster.active is not None and cluster.active.status != "True"]
    sentence += "." + "".join(f" {_down(cluster)}" for cluster in down)
    if down and len(down) == len(clusters):
        sentence += " None of them can take it."
    return Found(
        sentence,
        (
            Evidence(
                about,
                f"status.admissionChecks[{check.name}]",
                quoted(f"{check.state.state}: {check.state.message}".rstrip(": ")),
                "kueue",
            ),
            Evidence(about, "status.nominatedClusterNames", quoted(", ".join(c.name for c in asked)) or "none"),
            *(
                Evidence(
                    subject("MultiKueueCluster", cluster.name),
                    "status.conditions[Active]",
                    quoted(f"{cluster.active.status}, {cluster.active.reason}: {cluster.active.message}"),
                )
                for cluster in clusters
                if cluster.active is not None
            ),
        ),
        (
            *(
                Step("platform", f"Mend the connection to {named('MultiKueueCluster', cluster.name)}.")
                for cluster in down
            ),
            Step("asker", "Ask on the worker clusters why the Workload of the same name waits there.")
            if not others
            else Step("nobody", "Wait for the other checks: MultiKueue asks its worker clusters then."),
        ),
        (about, subject("AdmissionCheck", check.name), *(subject("MultiKueueCluster", c.name) for c in clusters)),
        move="platform" if down and len(down) == len(clusters) else None,
    )


def _down(cluster: Cluster) -> str:
    words = cluster.active.message or cluster.active.reason if cluster.active is not None else ""
    return f"{named('MultiKueueCluster', cluster.name)} is not active: {cited(words, 200)}."


def _retry(facts: Facts, check: Check) -> str:
    said = facts.checks.words(check)
    words = f", and says {cited(said, 200)}" if said else ""
    again = facts.checks.next_try(check)
    return words + (f"; the next try is at {clock(again)}" if again is not None else "")
