"""Rule namespace-not-selected."""

from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.names import named, quoted, subject
from bot.core.rule import rule
from bot.core.scheduling import selector_lacks, selector_text
from bot.core.texts import Validation

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


@rule("queue", move="queue-admin", outlook="fix", phases=("waiting",), needs=("Workload", "ClusterQueue", "Namespace"))
def namespace_not_selected(facts: Facts) -> Found | None:
    """The ClusterQueue does not take Workloads of this namespace.

    When:
        The ClusterQueue's `spec.namespaceSelector` does not match the labels of the namespace. An absent selector selects
        nothing, an empty one (`{}`) every namespace. The LocalQueue says that it is active all the same.
    Why it blocks:
        Kueue admits Workloads of selected namespaces only.
    What to do:
        The queue's owner either labels the namespace as the selector wants, or widens the selector.
    """
    queue = facts.queue.cluster_queue
    if queue is None or facts.queue.namespace_selected:
        return None
    workload = facts.identity.want()
    selector = queue.spec.namespace_selector
    place = named("Namespace", workload.namespace)
    about = subject("ClusterQueue", queue.name)
    namespace = facts.snapshot.look_of(o.Namespace, workload.namespace)
    labels = namespace.metadata.labels if namespace is not None else {}
    wanted = selector_text(selector)
    lacking = selector_lacks(selector, labels)
    evidence = [
        Evidence(about, "spec.namespaceSelector", quoted(wanted) if selector is not None else "absent: selects nothing")
    ]
    if namespace is not None:
        shown = ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
        evidence.append(Evidence(subject("Namespace", namespace.name), "metadata.labels", quoted(shown) or "none"))
    if isinstance(facts.history.said, Validation) and facts.history.said.what == "namespace-not-selected":
        evidence.append(
            Evidence(
                subject("Workload", workload.name, workload.namespace),
                "status.conditions[QuotaReserved].message",
                quoted(facts.history.text),
                "kueue",
            )
        )
    if selector is None:
        sentence = f"ClusterQueue {queue.name} takes no namespace at all: it has no namespaceSelector."
        step = Step("queue-admin", "Set spec.namespaceSelector of the ClusterQueue; {} takes every namespace.")
    elif odd := [term.operator for term in selector.match_expressions if term.operator not in _OPERATORS]:
        sentence = (
            f"ClusterQueue {queue.name} takes no namespace: its namespaceSelector has the operator {quoted(odd[0], 60)}, which "
            "Kubernetes does not know."
        )
        step = Step("queue-admin", f"Correct the operator: one of {', '.join(_OPERATORS)}.")
    else:
        sentence = (
            f"ClusterQueue {queue.name} does not take namespace {place}: its namespaceSelector asks for "
            f"{quoted(', '.join(lacking) or wanted, 300)}."
        )
        simple = [text for text in lacking if "=" in text and " " not in text]
        command = (
            f"kubectl label namespace {workload.namespace} {' '.join(simple)} --overwrite"
            if simple and len(simple) == len(lacking)
            else None
        )
        step = Step("queue-admin", "Label the namespace as the selector asks, or widen the selector.", command)
    return Found(sentence, tuple(evidence), (step,), (about, subject("Namespace", workload.namespace)))
