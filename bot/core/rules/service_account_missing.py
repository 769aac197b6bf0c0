"""Rule service-account-missing."""

import re

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule
from bot.core.snapshot import Unknown


@rule("pods", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod", "ServiceAccount", "Event"))
def service_account_missing(facts: Facts) -> Found | None:
    """The pods' ServiceAccount does not exist.

    When:
        Pods are missing, and the API server refused to create them because the ServiceAccount that they name is not in
        the namespace; or it is proven absent and no pod exists.
    Why it blocks:
        Kubernetes creates no pod whose ServiceAccount does not exist, whatever Kueue has admitted.
    What to do:
        Create the ServiceAccount in the job's namespace, or correct `serviceAccountName` in the pod template. The job's
        controller tries again by itself.
    """
    if facts.pods.missing == 0:
        return None
    namespace = facts.pods.namespace
    errors = facts.pods.errors_of("service-account")
    name = ""
    for error in errors[:1]:
        found = re.search(r'serviceaccounts? "([^"]+)" not found|service account ([^\s:]+)', error.text)
        name = (found[1] or found[2].rpartition("/")[2]) if found is not None else ""
    if not errors and not facts.pods.current and facts.pods.made_here:
        named = [spec.service_account_name for spec in facts.pods.templates() if spec.service_account_name]
        name = next((entry for entry in named if _absent(facts, entry)), "")
    if (not errors and not name) or (name and facts.snapshot.look_of(o.ServiceAccount, name, namespace) is not None):
        return None
    account = names.named("ServiceAccount", name, namespace) if name else "of the pods"
    evidence = [facts.pods.error_evidence(error) for error in errors[:1]] or [
        Evidence(names.subject("ServiceAccount", name, namespace), "metadata.name", "not found")
    ]
    return Found(
        facts.pods.close(
            f"ServiceAccount {account} does not exist: {len(facts.pods.current)} of {facts.pods.needed} pods exist."
        ),
        tuple(evidence),
        (
            Step(
                "asker",
                "Create the ServiceAccount, or correct serviceAccountName in the pod template.",
                f"kubectl get serviceaccounts -n {namespace}",
            ),
        ),
        (names.subject("ServiceAccount", name, namespace),) if name else (),
        "certain" if name and _absent(facts, name) else "reported",
    )


def _absent(facts: Facts, name: str) -> bool:
    """Say whether a ServiceAccount is proven absent; what was not read is not absent."""
    try:
        return facts.snapshot.find("ServiceAccount", name, facts.pods.namespace) is None
    except Unknown:
        return False
