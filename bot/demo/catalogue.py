"""The recorded clusters of the demo: where each lies, what is going on in it, and what to ask."""

from dataclasses import dataclass
from pathlib import Path

RECORDINGS = Path(__file__).parent / "recordings"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One recorded cluster.

    Attributes:
        cluster: the name that the bot knows it by.
        file: the recording, without its ending.
        group: the heading it stands under.
        title: what somebody sees from outside.
        about: what is going on, without the answer's numbers.
        ask: the job to ask about.
        says: what somebody in the channel says about it, in mrkdwn.
    """

    cluster: str
    file: str
    group: str
    title: str
    about: str
    ask: str
    says: str

    @property
    def path(self) -> Path:
        """Where the recording lies."""
        return RECORDINGS / f"{self.file}.json"


_QUOTA, _FIX, _PODS, _NEVER = (
    "Waits its turn",
    "Somebody must act",
    "Admitted by Kueue, and not running",
    "Will never start as written",
)

SCENARIOS = (
    Scenario("oslo", "quota-in-use", _QUOTA, "Four GPUs wanted, the job just sits there",
             "A queue with eight GPUs. Another job came first; this one was created a while later.", "team-a/train",
             "Our `team-a/train` wants four GPUs and has not started. Is it stuck, or just waiting?"),
    Scenario("lima", "two-flavors-both-full", _QUOTA, "Two GPU flavors, and none takes the job",
             "The queue tries two kinds of GPU in order. Kueue's message names both; which one is nearer?", "team-a/train",
             "`team-a/train` could use either kind of GPU, and it gets neither. Which one is it waiting for?"),
    Scenario("kyoto", "preempted", _QUOTA, "It was running, and then it was not",
             "A job of low priority ran until something more important arrived.", "team-a/train",
             "`team-a/train` was running this morning. Now it is pending again and I did not touch it."),
    Scenario("quito", "priority-behind", _QUOTA, "Somebody who came later started first",
             "Several jobs want the same few CPUs; they differ in priority.", "team-a/train",
             "There was quota left in our queue a minute ago. Why did `team-a/train` not get it?"),
    Scenario("tunis", "cohort-exhausted", _QUOTA, "Our own quota is gone, and we did not use it",
             "Two queues share a cohort. The neighbour was there first.", "team-a/train",
             "We have quota for `team-a/train` on paper. Who is using it?"),
    Scenario("bern", "strict-fifo-head-blocks", _QUOTA, "A small job that would fit waits behind a big one",
             "A StrictFIFO queue: nobody overtakes.", "team-a/train",
             "`team-a/train` is a small job and would fit. Why does it not start?"),
    Scenario("cairo", "queue-label-typo", _FIX, "Kueue says nothing at all",
             "The Job exists and is suspended. There is no Workload, no event, no message.", "team-a/train",
             "I submitted `team-a/train` and nothing happened. No event, nothing. Is Kueue down?"),
    Scenario("hanoi", "local-queue-missing", _FIX, "The queue's name looks right",
             "The Job names a queue of its namespace, or so its author thought.", "team-a/train",
             "`team-a/train` does not start and I cannot find out what is wrong with it."),
    Scenario("turin", "check-pending", _FIX, "Quota is reserved and nothing happens",
             "The ClusterQueue has an admission check.", "team-a/train",
             "Kueue says that `team-a/train` has its quota. It still does not run."),
    Scenario("dakar", "cluster-queue-drained", _FIX, "Everything free, nothing starts",
             "An administrator is busy with this queue.", "team-a/train",
             "The whole queue is idle and `team-a/train` is pending. It even ran before."),
    Scenario("porto", "hierarchical-cohort", _NEVER, "Sixteen GPUs idle next door",
             "A tree of cohorts. One side of it is idle.", "team-a/train",
             "There are 16 idle GPUs in the cohort. Why can `team-a/train` not borrow them?"),
    Scenario("perth", "flavor-taint", _NEVER, "GPUs are free in the only flavor",
             "The flavor's nodes carry a taint.", "team-a/train",
             "GPUs are free, quota is free, `team-a/train` is pending."),
    Scenario("rio", "topology-no-fit", _NEVER, "All pods must share a rack",
             "Topology-aware scheduling; each rack has the same size.", "team-a/train",
             "There is plenty of room in total, but `team-a/train` never fits."),
    Scenario("malmo", "some-pods-running", _PODS, "Three of four pods run",
             "Admitted by Kueue. From here on it is the scheduler's business.", "team-a/train",
             "Three of the four workers of `team-a/train` run, the fourth does not. A Kueue problem?"),
    Scenario("pune", "image-pull", _PODS, "Scheduled, and not starting",
             "Kueue and the scheduler have both done their part.", "team-a/train",
             "`team-a/train` was admitted and has nodes. It does not start all the same."),
    Scenario("sofia", "resource-quota", _PODS, "Admitted, and half of the pods do not exist",
             "The Job controller tries, again and again.", "team-a/train",
             "`team-a/train` was admitted, but two of its pods were never created. Kueue?"),
    Scenario("ghent", "job-not-found", _FIX, "A name typed in a hurry",
             "Nothing is wrong with the cluster.", "team-a/trian",
             "Can somebody look at `team-a/trian`? It does not start."),
    Scenario("basel", "device-claims", _FIX, "The pods claim a device, not a resource",
             "Dynamic resource allocation, and a Kueue that was told of some device classes.", "ml-a/dra1",
             "`ml-a/dra1` uses the new device claims. Kueue does not take it."),
)  # fmt: skip
