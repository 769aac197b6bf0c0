"""Rule container-crashing."""

from typing import NamedTuple

from bot.core import names
from bot.core import objects as o
from bot.core.diagnosis import Evidence, Found, Step
from bot.core.facts import Facts
from bot.core.rule import rule

_WAITING = frozenset(
    {"CrashLoopBackOff", "RunContainerError", "StartError", "CreateContainerError", "PostStartHookError"}
)


@rule("start", move="asker", outlook="fix", phases=("unmanaged", "admitted"), needs=("Pod",))
def container_crashing(facts: Facts) -> Found | None:
    """A container ends with an error again and again.

    When:
        A container (init containers included) of a pod that is not ready waits in CrashLoopBackOff, cannot be started, or
        has ended with an error and is started again; or pods of the job fail and its controller waits before the next.
    Why it blocks:
        The job has quota, node and image: its own program ends. Each further start waits longer.
    What to do:
        Read the log of the last run. Exit code 137 with OOMKilled means that it wants more memory than its limit.
    """
    stuck: dict[str, _Crash] = {}
    for view in facts.pods.containers:
        status = view.status
        ended = status.last_state.terminated or status.state.terminated
        waiting = status.state.waiting
        in_loop = waiting is not None and waiting.reason in _WAITING
        again = ended is not None and ended.exit_code not in {0, None} and (status.restart_count > 0 or view.init)
        if not in_loop and not again:
            continue
        words = _words(ended)
        if in_loop and waiting is not None and ended is None:
            words = names.quoted(waiting.message or waiting.reason)
        reason = waiting.reason if in_loop and waiting is not None else ""
        stuck.setdefault(view.pod.name, _Crash(view.pod, status, words, reason))
    if stuck:
        return _found(facts, tuple(stuck.values()))
    if facts.pods.failed and facts.pods.missing and facts.pods.made_here:
        return _failed_pods(facts)
    return None


class _Crash(NamedTuple):
    """One container that keeps failing: how it ended, and what it waits with now."""

    pod: o.Pod
    status: o.ContainerStatus
    words: str
    reason: str


def _words(ended: o.ContainerStateDetail | None) -> str:
    if ended is None:
        return "no last state"
    text = f"exit code {ended.exit_code}" if ended.exit_code is not None else "ended"
    if ended.reason and ended.reason != "Error":
        text += f", {names.quoted(ended.reason)}"
    return text + (f": {names.quoted(ended.message, 200)}" if ended.message else "")


def _found(facts: Facts, crashes: tuple[_Crash, ...]) -> Found:
    pod, status, words, reason = crashes[0]
    many = len(crashes)
    subject = names.subject("Pod", pod.name, pod.namespace)
    count = status.restart_count
    times = f" after {count} {'restart' if count == 1 else 'restarts'}" if count else ""
    name = names.quoted(status.name)
    more = f" (and of {many - 1} more pods)" if many > 2 else " (and of 1 more pod)" if many == 2 else ""
    state = f" ({names.quoted(reason)})" if reason else ""
    return Found(
        facts.pods.close(
            f"Container {name} of {facts.pods.naming((pod,), inside=True)}{more} keeps failing{times}{state}: {words}."
        ),
        (
            Evidence(subject, f"status.containerStatuses[{name}].restartCount", str(count)),
            Evidence(subject, f"status.containerStatuses[{name}].lastState.terminated", words),
        ),
        (
            Step(
                "asker",
                "Read what it wrote before it ended.",
                f"kubectl logs -n {pod.namespace} {pod.name} -c {name} --previous",
            ),
        ),
        (subject,),
    )


def _failed_pods(facts: Facts) -> Found:
    failed = facts.pods.failed
    pod = failed[-1]
    subject = names.subject("Pod", pod.name, pod.namespace)
    ends = [status.state.terminated for status in pod.status.container_statuses if status.state.terminated]
    bad = [end for end in ends if end.exit_code not in {0, None}]
    words = _words(bad[0]) if bad else names.quoted(pod.status.message or pod.status.reason) or "no reason given"
    many = f"{len(failed)} pods have" if len(failed) > 1 else "1 pod has"
    return Found(
        facts.pods.close(
            f"{many} failed, the last one {names.named('Pod', pod.name, pod.namespace)} with {words}; the next attempt has not "
            f"been made yet."
        ),
        (Evidence(subject, "status.phase", "Failed"), Evidence(subject, "status.containerStatuses", words)),
        (Step("asker", "Read what it wrote before it ended.", f"kubectl logs -n {pod.namespace} {pod.name}"),),
        (subject,),
    )
