"""The labels and annotations by which Kueue and its users mark objects."""

from bot.core import objects as o

PREFIX = "kueue.x-k8s.io/"
QUEUE_LABEL = PREFIX + "queue-name"
GROUP_LABEL = PREFIX + "pod-group-name"
GROUP_TOTAL = PREFIX + "pod-group-total-count"
JOB_UID_LABEL = PREFIX + "job-uid"
PREBUILT = PREFIX + "prebuilt-workload-name"
REPLACEMENT_FOR = PREFIX + "workload-slice-replacement-for"
COMPONENT_INDEX = PREFIX + "component-workload-index"
CONCURRENT_PARENT = PREFIX + "concurrent-admission-parent"
WORKLOAD = PREFIX + "workload"
POD_SET = PREFIX + "podset"
ALLOWED_FLAVORS = PREFIX + "workload-allowed-resource-flavors"
ADMISSION_GATED_BY = PREFIX + "admission-gated-by"
ELASTIC = PREFIX + "elastic-job"
"""Annotation of an elastic job, and the gate of its pods."""
TOPOLOGY_GATE = PREFIX + "topology"
"""The gate of pods that get their place from a topology."""
MULTIKUEUE = PREFIX + "multikueue"
PROVISIONING = PREFIX + "provisioning-request"
"""The controllers of admission checks that Kueue brings along."""


def queue_name(item: o.KubeObject) -> str | None:
    """Give the queue that an object names by its label, None when it names none. An annotation does not count."""
    return item.metadata.labels.get(QUEUE_LABEL)


def group_name(item: o.KubeObject) -> str:
    """Give the pod group that a pod says it belongs to, by label or (newer Kueue) annotation; "" for none."""
    return item.metadata.labels.get(GROUP_LABEL) or item.metadata.annotations.get(GROUP_LABEL) or ""


def prebuilt_name(item: o.KubeObject) -> str:
    """Give the prebuilt Workload that a job names, by label or annotation; "" for none."""
    return item.metadata.labels.get(PREBUILT) or item.metadata.annotations.get(PREBUILT) or ""
