"""Scenario files: what stands in a cluster, what is done to it, and what is then true.

A file in `scenarios/` is YAML. Short forms stand for whole objects, everything else goes under `objects`:

    about: one sentence
    base: small                a node of 8 CPUs, flavor default, ClusterQueue cq of 4 CPUs, LocalQueue team-a/main: see BASES
    kueue: {...}               fields of Kueue's Configuration for this scenario; gates: its feature gates
    namespaces:    {team-a: {env: prod}}                                    # labels
    nodes:         {n1: {capacity: {cpu: "8"}, labels: {...}, taints: [...]}}
    flavors:       {a100: {nodeLabels: {...}, nodeTaints: [...]}}           # a ResourceFlavor's spec
    clusterQueues: {gpu-cq: {quota: {a100: {cpu: "8"}}, cohortName: ...}}   # spec, `quota` makes one resource group
    cohorts:       {research: {quota: {...}, parentName: ...}}
    localQueues:   {team-a/train-queue: gpu-cq}
    jobs:          {team-a/train: {queue: train-queue, pods: 2, requests: {cpu: "1"}, ...}}
    objects:       [whole objects]
    steps:         [{apply: [objects]}, {jobs: {...}}, {patch: {kind, name, namespace, with, subresource}},
                    {delete: {kind, name, namespace}}, {stop: program}, {restart: program}, {seconds: 2},
                    {until: {kind, name, namespace, of, start, owner, condition|reason|message|field, is, count}},
                    {ask: team-a/train, kind: Job, then: {...}}]                # a question on the way, asked as the last one is
    worker: {...}              what stands in a second cluster, which Kueue reaches by the Secret `worker`
    ask: team-a/train          kind: Job       later: 600                   # asked as if it were 600 seconds later
    then: {headline: [...], stage: [...], also: [...], context: [...], mentions: [...], without: [...], avoid: [...],
           quota: [...], pods: {...}}
    after: [...]               # steps that the living cluster must then go through: they show that the answer was right

Objects are made in the order above; `until` waits for what Kueue, the scheduler or a controller must have done first.
An owner without a uid is looked up. A program that a step stopped runs again before the next scenario; while Kueue is
stopped its webhooks are not registered. A step with `in: worker` is carried out in the second cluster.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from bot.core import kinds
from tests.clusters import merge
from tests.controlplane.plane import ApiError, ControlPlane

SCENARIOS = Path(__file__).parent / "scenarios"
Body = dict[str, Any]
_BASES_OF: dict[str, dict[str, str]] = {}
"""By the server's URL."""
_KUEUE = "kueue.x-k8s.io/v1beta2"
BASES: dict[str, Body] = {
    "small": {
        "nodes": {"n1": {"capacity": {"cpu": "8"}}},
        "flavors": {"default": {}},
        "clusterQueues": {"cq": {"quota": {"default": {"cpu": "4"}}}},
        "localQueues": {"team-a/main": "cq"},
    },
}
_PLURALS = {"APIService": "apiservices", "Role": "roles", "Service": "services", "Secret": "secrets"}


@dataclass(frozen=True)
class Scenario:
    """One file: its name and its content."""

    name: str
    content: Body

    @property
    def ask(self) -> str:
        """The reference that is asked last, "namespace/name" or "namespace/kind/name"."""
        return reference(self.content)

    @property
    def questions(self) -> list[Body]:
        """Every question, those on the way first: each with `ask` and `then`."""
        return [*(step for step in self.content.get("steps", []) if "ask" in step), self.content]


def reference(question: Body) -> str:
    """Give the reference of a question, "namespace/name" or with its `kind` "namespace/kind/name"."""
    namespace, _, name = question["ask"].partition("/")
    kind = question.get("kind")
    return f"{namespace}/{kind.lower()}/{name}" if kind else f"{namespace}/{name}"


def scenarios() -> list[Scenario]:
    """Every scenario file, those that share a configuration of Kueue one after the other: each change restarts it."""
    found = []
    for path in sorted(SCENARIOS.glob("*.yaml")):
        content = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        if "worker" in content:
            content["worker"] = merge(BASES.get(content["worker"].get("base"), {}), content["worker"])
        found.append(Scenario(path.stem, merge(BASES.get(content.get("base"), {}), content)))
    return sorted(found, key=lambda s: (json.dumps([s.content.get("kueue", {}), s.content.get("gates", "")]), s.name))


def collection(obj: Body) -> str:
    """Give the path of the collection an object belongs to."""
    version, kind = obj["apiVersion"], obj["kind"]
    known = kinds.of_object(version, kind)
    plural = known.plural if known else _PLURALS.get(kind, f"{kind.lower()}s")
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = obj["metadata"].get("namespace")
    return f"{base}/namespaces/{namespace}/{plural}" if namespace else f"{base}/{plural}"


def _groups(quota: Body) -> list[Body]:
    """One resource group out of {flavor: {resource: nominal | {nominalQuota, borrowingLimit, lendingLimit}}}."""
    covered = sorted({resource for resources in quota.values() for resource in resources})
    flavors = [
        {
            "name": flavor,
            "resources": [
                {
                    "name": name,
                    **(resources[name] if isinstance(resources[name], dict) else {"nominalQuota": resources[name]}),
                }
                for name in covered
            ],
        }
        for flavor, resources in quota.items()
    ]
    return [{"coveredResources": covered, "flavors": flavors}]


def _spec(content: Body, **defaults: Any) -> Body:
    spec = {**defaults, **content}
    if "quota" in spec:
        spec["resourceGroups"] = _groups(spec.pop("quota"))
    return spec


def _named(key: str) -> Body:
    namespace, _, name = key.rpartition("/")
    return {"namespace": namespace, "name": name} if namespace else {"name": name}


def job(key: str, content: Body) -> Body:
    """A batch/v1 Job out of its short form."""
    pod = dict(content.get("podSpec", {}))
    resources = {"requests": content.get("requests", {})}
    extended = {k: v for k, v in resources["requests"].items() if "/" in k}
    limits = {**extended, **content.get("limits", {})}
    if limits:
        resources["limits"] = limits
    container = {"name": "main", "image": "registry.example/train:1", "command": ["train"], "resources": resources}
    pod = {"restartPolicy": "Never", "containers": [container | content.get("container", {})], **pod}
    labels = {"kueue.x-k8s.io/queue-name": content["queue"]} if "queue" in content else {}
    if "priorityClass" in content:
        labels["kueue.x-k8s.io/priority-class"] = content["priorityClass"]
    pods = content.get("pods", 1)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            **_named(key),
            "labels": labels | content.get("labels", {}),
            "annotations": content.get("annotations", {}),
            **({"ownerReferences": [content["owner"] | {"controller": True}]} if "owner" in content else {}),
        },
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "suspend": content.get("suspend", "queue" in content),
            "template": {
                "metadata": {"labels": content.get("podLabels", {}), "annotations": content.get("podAnnotations", {})},
                "spec": pod,
            },
            **content.get("spec", {}),
        },
    }


def expand(content: Body) -> Iterator[Body]:
    """Give whole objects for the short forms, in the order in which they must be made."""
    for name, spec in content.get("flavors", {}).items():
        yield {"apiVersion": _KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": spec or {}}
    for name, spec in content.get("cohorts", {}).items():
        yield {"apiVersion": _KUEUE, "kind": "Cohort", "metadata": {"name": name}, "spec": _spec(spec or {})}
    for name, spec in content.get("clusterQueues", {}).items():
        body = _spec(spec, namespaceSelector={})
        yield {"apiVersion": _KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": body}
    for key, queue in content.get("localQueues", {}).items():
        spec = queue if isinstance(queue, dict) else {"clusterQueue": queue}
        yield {"apiVersion": _KUEUE, "kind": "LocalQueue", "metadata": _named(key), "spec": spec}
    yield from content.get("objects", [])
    yield from content.get("apply", [])
    for key, short in content.get("jobs", {}).items():
        yield job(key, short)


class Player:
    """Plays scenarios on one control plane, one after the other."""

    def __init__(
        self,
        plane: ControlPlane,
        ask: Callable[[Body], None] | None = None,
        worker: Callable[[], ControlPlane] | None = None,
    ) -> None:
        """Take a running plane, what is to be done with the questions on the way, and how to get a second plane."""
        self.plane = plane
        self.ask = ask
        self.worker = worker
        self._in_worker: Player | None = None

    def play(self, scenario: Scenario) -> None:
        """Bring the cluster into the scenario's state, from an empty one."""
        content = scenario.content
        self.plane.configure(content.get("kueue", {}), content.get("gates", ""))
        self.clear()
        if "worker" in content and self.worker is not None:
            second = self.worker()
            self._in_worker = Player(second)
            self._in_worker.play(Scenario(scenario.name, content["worker"]))
            secret = {"kubeconfig": second.kubeconfig().read_text()}
            named = {"name": "worker", "namespace": "kueue-system"}
            self.plane.apply(
                "/api/v1/namespaces/kueue-system/secrets",
                {"apiVersion": "v1", "kind": "Secret", "metadata": named, "stringData": secret},
            )
        self._fill(content)
        for step in content.get("steps", []):
            self.step(step)

    def go_on(self, scenario: Scenario) -> None:
        """Carry out what must then happen."""
        for step in scenario.content.get("after", []):
            self.step(step)

    def _fill(self, content: Body) -> None:
        for name, labels in content.get("namespaces", {}).items():
            self.namespace(name, labels)
        for name, given in content.get("nodes", {}).items():
            node = given or {}
            self.plane.add_node(name, node.get("capacity", {}), node.get("labels"), node.get("taints"))
            if node.get("unschedulable"):
                self.plane.call("PATCH", f"/api/v1/nodes/{name}", {"spec": {"unschedulable": True}})
        self.make(content)

    def make(self, content: Body) -> None:
        """Create the objects of a content, with the namespaces that they need."""
        for obj in expand(content):
            namespace = obj["metadata"].get("namespace")
            if namespace:
                self.namespace(namespace)
            self._find_owners(obj)
            path = collection(obj)
            made = self.plane.wait(partial(self._create, path, obj), f"{obj['kind']} {obj['metadata']['name']}", 30)
            if "status" in obj:
                self.plane.call("PATCH", f"{path}/{made['metadata']['name']}/status", {"status": obj["status"]})

    def _find_owners(self, obj: Body) -> None:
        for owner in obj["metadata"].get("ownerReferences", []):
            if "uid" not in owner:
                where = {**owner, "namespace": obj["metadata"].get("namespace")}
                found = self.plane.call("GET", self._path(where))
                owner |= {"uid": found["metadata"]["uid"], "apiVersion": found["apiVersion"]}
        about = obj.get("involvedObject")
        if about is not None and "uid" not in about:
            about["uid"] = self.plane.call("GET", self._path(about))["metadata"]["uid"]

    def _create(self, path: str, obj: Body) -> Body:
        try:
            created: Body = self.plane.call("POST", path, obj)
        except ApiError as error:
            if error.status == 409 and "already exists" in str(error):
                replaced: Body = self.plane.call("PATCH", f"{path}/{obj['metadata']['name']}", obj)
                return replaced
            # Kueue's webhook may not see a queue, flavor or service account that was made a moment ago
            if error.status in {403, 500} and "serviceaccount" not in str(error) and "webhook" not in str(error):
                raise RuntimeError(str(error)) from error
            raise
        return created

    def namespace(self, name: str, labels: Body | None = None) -> None:
        """Make a namespace with its default ServiceAccount, if it is not there."""
        path = "/api/v1/namespaces"
        try:
            self.plane.call("GET", f"{path}/{name}")
        except ApiError as error:
            if error.status != 404:
                raise
            self.plane.call(
                "POST",
                path,
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels or {}}},
            )
        if labels:
            self.plane.call("PATCH", f"{path}/{name}", {"metadata": {"labels": labels}})
        self.plane.wait(
            lambda: self.plane.call("GET", f"{path}/{name}/serviceaccounts/default"), f"ServiceAccount of {name}", 30
        )

    def step(self, step: Body) -> None:
        """Carry out one step."""
        if step.get("in") == "worker":
            assert self._in_worker is not None
            self._in_worker.step({key: value for key, value in step.items() if key != "in"})
        elif "patch" in step:
            patch = step["patch"]
            path = f"{self._path(patch)}{'/' + patch['subresource'] if 'subresource' in patch else ''}"
            self.plane.call("PATCH", path, patch["with"])
        elif "delete" in step:
            self.plane.call("DELETE", self._path(step["delete"]))
        elif "stop" in step:
            self.plane.pause(step["stop"])
        elif "restart" in step:
            self.plane.resume(step["restart"])
        elif "seconds" in step:
            time.sleep(step["seconds"])
        elif "ask" in step:
            if self.ask is not None:
                self.ask(step)
        elif "until" in step:
            until = step["until"]
            self.plane.wait(lambda: self.holds(until), f"until {json.dumps(until)}", until.get("seconds", 20))
        else:
            self.make(step)

    def holds(self, until: Body) -> bool:
        """Say whether an `until` is true: `condition: Type=Status`, `reason`, part of a `message`, or `field` equal to `is`."""
        found = [obj for obj in self._objects(until) if self._is(obj, until)]
        least: int = until.get("count", 1)
        return len(found) >= least

    @staticmethod
    def _is(obj: Body, until: Body) -> bool:
        conditions = obj.get("status", {}).get("conditions") or []
        if "condition" in until:
            kind, _, status = until["condition"].partition("=")
            conditions = [c for c in conditions if c["type"] == kind and c["status"] == (status or "True")]
            if not conditions:
                return False
        if "reason" in until and not any(c.get("reason") == until["reason"] for c in conditions):
            return False
        if "message" in until and not any(until["message"] in c.get("message", "") for c in conditions):
            return False
        if "field" in until:
            value: Any = obj
            for part in until["field"].split("."):
                value = (
                    value.get(part)
                    if isinstance(value, dict)
                    else value[int(part)]
                    if isinstance(value, list) and value
                    else None
                )
            return bool(value == until["is"]) if "is" in until else bool(value)
        return True

    def _objects(self, where: Body) -> list[Body]:
        """The objects an `until` speaks of: by name, by prefix (`start`), or a Job's Workload (`of`)."""
        path = self._path({**where, "name": "", "one": False}).rstrip("/")
        items: list[Body] = self.plane.call("GET", path)["items"]
        if where.get("name"):
            items = [i for i in items if i["metadata"]["name"] == where["name"]]
        if "start" in where:
            items = [i for i in items if i["metadata"]["name"].startswith(where["start"])]
        if "of" in where:
            items = [
                i for i in items if any(o["name"] == where["of"] for o in i["metadata"].get("ownerReferences", []))
            ]
        if "about" in where:
            items = [i for i in items if i["involvedObject"]["name"].startswith(where["about"])]
        return items

    def _path(self, where: Body) -> str:
        obj: Body = {"apiVersion": where.get("apiVersion", ""), "kind": where["kind"], "metadata": {}}
        kind = kinds.BY_NAME.get(where["kind"])
        if kind is not None:
            versions = [v for v in kind.versions if v != "v1alpha1"] or kind.versions
            obj["apiVersion"] = kind.api_version(versions[0])
        if "namespace" in where:
            obj["metadata"] = {"namespace": where["namespace"]}
        name = where.get("name", "")
        if where.get("one"):
            name = self._objects({**where, "one": False})[0]["metadata"]["name"]
        return f"{collection(obj)}/{name}"

    # --- an empty cluster again -----------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Remove everything that a scenario made: jobs first, then Workloads and their finalizers, queues, flavors, nodes."""
        plane = self.plane
        if plane.url not in _BASES_OF:
            _BASES_OF[plane.url] = self._bases()
        for kind in (*kinds.JOB_KINDS, kinds.BY_NAME["Pod"]):
            self._remove_all(kind)
        for name in ("Workload", "LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "AdmissionCheck",
                     "ProvisioningRequest", "ProvisioningRequestConfig", "MultiKueueConfig", "MultiKueueCluster",
                     "WorkloadPriorityClass", "LimitRange", "ResourceQuota",
                     "PersistentVolumeClaim", "PersistentVolume", "StorageClass", "ResourceClaim", "ResourceClaimTemplate",
                     "DeviceClass", "RuntimeClass", "Event", "Node"):  # fmt: skip
            self._remove_all(kinds.BY_NAME[name])
        for namespace in plane.call("GET", "/api/v1/namespaces")["items"]:
            name = namespace["metadata"]["name"]
            labels = set(namespace["metadata"].get("labels", {})) - {"kubernetes.io/metadata.name"}
            if labels:
                plane.call("PATCH", f"/api/v1/namespaces/{name}", {"metadata": {"labels": dict.fromkeys(labels)}})

    def _served(self) -> list[Body]:
        # a kind may be served in another version than the preferred one of its group
        listed = self.plane.call("GET", "/apis")["groups"]
        groups = [version["groupVersion"] for group in listed for version in group["versions"]]
        resources: list[Body] = self.plane.call("GET", "/api/v1")["resources"]
        for version in groups:
            resources += self.plane.call("GET", f"/apis/{version}")["resources"]
        return resources

    def _bases(self) -> dict[str, str]:
        """The path of the group and version of every served kind that can be removed."""
        served = {r["kind"] for r in self._served()}
        found = {}
        for kind in kinds.KINDS:
            versions = [v for v in kind.versions if self._answers(kind, v)] if kind.kind in served else []
            if versions:
                found[kind.kind] = f"/apis/{kind.group}/{versions[0]}" if kind.group else f"/api/{versions[0]}"
        return found

    def _remove_all(self, kind: kinds.Kind) -> None:
        base = _BASES_OF[self.plane.url].get(kind.kind)
        if base is None:
            return

        def gone() -> bool:
            items = self.plane.call("GET", f"{base}/{kind.plural}")["items"]
            for item in items:
                meta = item["metadata"]
                if meta.get("namespace") == "kube-system" and kind.kind != "Event":
                    continue
                place = (
                    f"{base}/namespaces/{meta['namespace']}/{kind.plural}"
                    if "namespace" in meta
                    else f"{base}/{kind.plural}"
                )
                try:
                    if meta.get("finalizers"):
                        self.plane.call("PATCH", f"{place}/{meta['name']}", {"metadata": {"finalizers": None}})
                    if "deletionTimestamp" not in meta:
                        background = {"propagationPolicy": "Background", "gracePeriodSeconds": 0}
                        self.plane.call("DELETE", f"{place}/{meta['name']}", background)
                except ApiError as error:
                    if error.status not in {404, 409, 422}:
                        raise
            return not [i for i in items if i["metadata"].get("namespace") != "kube-system"]

        self.plane.wait(gone, f"no {kind.kind} is left", 30)

    def _answers(self, kind: kinds.Kind, version: str) -> bool:
        try:
            self.plane.call(
                "GET",
                f"/apis/{kind.group}/{version}/{kind.plural}?limit=1"
                if kind.group
                else f"/api/{version}/{kind.plural}?limit=1",
            )
        except ApiError:
            return False
        return True


def record(plane: ControlPlane, name: str, kueue: str, kubernetes: str, *, later: float = 0) -> Body:
    """Read everything that the bot may read from a plane; give the `List` that `explain -f` reads, Recording first.

    It is said to be of `later` seconds later, for what only counts when it has lasted.
    """
    items: list[Body] = []
    read: list[str] = []
    for kind in kinds.KINDS:
        for version in kind.versions:
            base = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
            try:
                listed = plane.call("GET", f"{base}/{kind.plural}")
            except ApiError:
                continue
            if kind.kind in {"ConfigMap", "Lease", "Endpoints", "EndpointSlice", "CustomResourceDefinition", "ServiceAccount",
                             "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "DaemonSet"}:  # fmt: skip
                break
            read.append(kind.resource(version))
            for item in sorted(
                listed["items"], key=lambda i: (i["metadata"].get("namespace", ""), i["metadata"]["name"])
            ):
                if item["metadata"].get("namespace") == "kube-system":
                    continue
                item["metadata"].pop("managedFields", None)
                items.append({"apiVersion": kind.api_version(version), "kind": kind.kind, **item})
            break
    # what Kueue's own namespace has; that something is not there means nothing, because Kueue runs outside the cluster
    configuration = plane.call("GET", "/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config")
    configuration["metadata"].pop("managedFields", None)
    items.append(configuration)
    visibility: Body = {}
    for queue in [i for i in items if i["kind"] in {"ClusterQueue", "LocalQueue"}]:
        meta = queue["metadata"]
        tail = (
            f"clusterqueues/{meta['name']}"
            if queue["kind"] == "ClusterQueue"
            else f"namespaces/{meta['namespace']}/localqueues/{meta['name']}"
        )
        for version in ("v1beta1", "v1beta2"):
            path = f"/apis/visibility.kueue.x-k8s.io/{version}/{tail}/pendingworkloads"
            try:
                visibility[path] = plane.call("GET", path)
            except ApiError as error:
                visibility[path] = {"error": error.status}
    recording = {
        "apiVersion": "whypending/v1",
        "kind": "Recording",
        "metadata": {"name": name},
        "kueueVersion": kueue,
        "kubernetesVersion": kubernetes,
        "observedAt": (datetime.now(UTC) + timedelta(seconds=later)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "read": read,
        "visibility": visibility,
    }
    return {"apiVersion": "v1", "kind": "List", "items": [recording, *items]}
