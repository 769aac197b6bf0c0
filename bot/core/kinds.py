"""The Kubernetes kinds that are read: group, versions in order of preference, plural, scope, and how a job kind is shaped.

Job kinds are those that Kueue integrates (Kueue `pkg/controller/jobs`), plus what people name instead of them
(CronJob, ReplicaSet). Paths are dotted field paths into the object.
"""

from dataclasses import field

from bot.core.records import dataclass


@dataclass(frozen=True, slots=True)
class JobShape:
    """Where a job kind says what matters here. Empty text means that the kind has no such field.

    `templates` are paths of pod template specs: "a.b" one template, "a[].b" one per list item, "a{}.b" one per map value.
    `replicas` is the sibling field that counts the pods of a template, relative to the item that holds it.
    """

    framework: str = ""
    suspend: str = "spec.suspend"
    templates: tuple[str, ...] = ()
    operator: str = ""
    managed_by: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: `versions` newest first, as the reader should prefer them."""

    kind: str
    group: str
    versions: tuple[str, ...]
    plural: str
    namespaced: bool = True
    job: JobShape | None = field(default=None)

    def resource(self, version: str) -> str:
        """Give "group/version/plural", without the group for the core group, as a Recording's `read` names it."""
        return "/".join(part for part in (self.group, version, self.plural) if part)

    def api_version(self, version: str) -> str:
        """Give the apiVersion text: "v1" or "group/version"."""
        return f"{self.group}/{version}" if self.group else version

    @property
    def crd(self) -> str:
        """The name of the kind's CustomResourceDefinition, "workloads.kueue.x-k8s.io"; plural alone in the core group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_KUEUE = "kueue.x-k8s.io"
_KUBEFLOW = "kubeflow.org"


def _training(kind: str, framework: str, replica_specs: str, version: str = "v1") -> Kind:
    return Kind(
        kind,
        _KUBEFLOW,
        (version,),
        f"{kind.lower()}s",
        job=JobShape(
            f"kubeflow.org/{framework}",
            "spec.runPolicy.suspend",
            (f"spec.{replica_specs}{{}}.template",),
            "the training operator" if kind != "MPIJob" else "the MPI operator",
            "spec.runPolicy.managedBy",
        ),
    )


KINDS: tuple[Kind, ...] = (
    # job kinds, in the order in which a bare name is looked up
    Kind("Job", "batch", ("v1",), "jobs",
         job=JobShape("batch/job", "spec.suspend", ("spec.template",), "kube-controller-manager", "spec.managedBy")),
    Kind("JobSet", "jobset.x-k8s.io", ("v1alpha2",), "jobsets",
         job=JobShape("jobset.x-k8s.io/jobset", "spec.suspend", ("spec.replicatedJobs[].template.spec.template",),
                      "the JobSet controller", "spec.managedBy")),
    Kind("RayJob", "ray.io", ("v1", "v1alpha1"), "rayjobs",
         job=JobShape("ray.io/rayjob", "spec.suspend",
                      ("spec.rayClusterSpec.headGroupSpec.template", "spec.rayClusterSpec.workerGroupSpecs[].template"),
                      "KubeRay", "spec.managedBy")),
    Kind("RayCluster", "ray.io", ("v1", "v1alpha1"), "rayclusters",
         job=JobShape("ray.io/raycluster", "spec.suspend",
                      ("spec.headGroupSpec.template", "spec.workerGroupSpecs[].template"), "KubeRay", "spec.managedBy")),
    Kind("RayService", "ray.io", ("v1", "v1alpha1"), "rayservices",
         job=JobShape("ray.io/rayservice", "spec.rayClusterConfig.suspend",
                      ("spec.rayClusterConfig.headGroupSpec.template",
                       "spec.rayClusterConfig.workerGroupSpecs[].template"), "KubeRay")),
    _training("PyTorchJob", "pytorchjob", "pytorchReplicaSpecs"),
    _training("TFJob", "tfjob", "tfReplicaSpecs"),
    _training("XGBoostJob", "xgboostjob", "xgbReplicaSpecs"),
    _training("PaddleJob", "paddlejob", "paddleReplicaSpecs"),
    _training("JAXJob", "jaxjob", "jaxReplicaSpecs"),
    _training("MXJob", "mxjob", "mxReplicaSpecs"),
    _training("MPIJob", "mpijob", "mpiReplicaSpecs", "v2beta1"),
    Kind("TrainJob", "trainer.kubeflow.org", ("v1alpha1",), "trainjobs",
         job=JobShape("trainer.kubeflow.org/trainjob", "spec.suspend", (), "the Kubeflow Trainer", "spec.managedBy")),
    Kind("AppWrapper", "workload.codeflare.dev", ("v1beta2",), "appwrappers",
         job=JobShape("workload.codeflare.dev/appwrapper", "spec.suspend", (), "the AppWrapper controller",
                      "spec.managedBy")),
    Kind("SparkApplication", "sparkoperator.k8s.io", ("v1beta2",), "sparkapplications",
         job=JobShape("sparkoperator.k8s.io/sparkapplication", "spec.suspend", (), "the Spark operator")),
    Kind("LeaderWorkerSet", "leaderworkerset.x-k8s.io", ("v1",), "leaderworkersets",
         job=JobShape("leaderworkerset.x-k8s.io/leaderworkerset", "",
                      ("spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"),
                      "the LeaderWorkerSet controller")),
    Kind("StatefulSet", "apps", ("v1",), "statefulsets",
         job=JobShape("statefulset", "", ("spec.template",), "kube-controller-manager")),
    Kind("Deployment", "apps", ("v1",), "deployments",
         job=JobShape("deployment", "", ("spec.template",), "kube-controller-manager")),
    Kind("CronJob", "batch", ("v1",), "cronjobs",
         job=JobShape("", "spec.suspend", ("spec.jobTemplate.spec.template",), "kube-controller-manager")),
    Kind("ReplicaSet", "apps", ("v1",), "replicasets",
         job=JobShape("", "", ("spec.template",), "kube-controller-manager")),
    # pods are a job kind of their own, but they are decoded as Pod
    Kind("Pod", "", ("v1",), "pods"),
    # Kueue
    Kind("Workload", _KUEUE, ("v1beta2", "v1beta1"), "workloads"),
    Kind("LocalQueue", _KUEUE, ("v1beta2", "v1beta1"), "localqueues"),
    Kind("ClusterQueue", _KUEUE, ("v1beta2", "v1beta1"), "clusterqueues", namespaced=False),
    Kind("ResourceFlavor", _KUEUE, ("v1beta2", "v1beta1"), "resourceflavors", namespaced=False),
    Kind("Cohort", _KUEUE, ("v1beta2", "v1beta1", "v1alpha1"), "cohorts", namespaced=False),
    Kind("Topology", _KUEUE, ("v1beta2", "v1beta1", "v1alpha1"), "topologies", namespaced=False),
    Kind("AdmissionCheck", _KUEUE, ("v1beta2", "v1beta1"), "admissionchecks", namespaced=False),
    Kind("ProvisioningRequestConfig", _KUEUE, ("v1beta2", "v1beta1"), "provisioningrequestconfigs", namespaced=False),
    Kind("MultiKueueConfig", _KUEUE, ("v1beta2", "v1beta1", "v1alpha1"), "multikueueconfigs", namespaced=False),
    Kind("MultiKueueCluster", _KUEUE, ("v1beta2", "v1beta1", "v1alpha1"), "multikueueclusters", namespaced=False),
    Kind("WorkloadPriorityClass", _KUEUE, ("v1beta2", "v1beta1"), "workloadpriorityclasses", namespaced=False),
    # what is around them
    Kind("Namespace", "", ("v1",), "namespaces", namespaced=False),
    Kind("Node", "", ("v1",), "nodes", namespaced=False),
    Kind("Event", "", ("v1",), "events"),
    Kind("PriorityClass", "scheduling.k8s.io", ("v1",), "priorityclasses", namespaced=False),
    Kind("RuntimeClass", "node.k8s.io", ("v1",), "runtimeclasses", namespaced=False),
    Kind("PersistentVolumeClaim", "", ("v1",), "persistentvolumeclaims"),
    Kind("PersistentVolume", "", ("v1",), "persistentvolumes", namespaced=False),
    Kind("StorageClass", "storage.k8s.io", ("v1",), "storageclasses", namespaced=False),
    Kind("ResourceQuota", "", ("v1",), "resourcequotas"),
    Kind("LimitRange", "", ("v1",), "limitranges"),
    Kind("ServiceAccount", "", ("v1",), "serviceaccounts"),
    Kind("ResourceClaim", "resource.k8s.io", ("v1", "v1beta2", "v1beta1"), "resourceclaims"),
    Kind("ResourceClaimTemplate", "resource.k8s.io", ("v1", "v1beta2", "v1beta1"), "resourceclaimtemplates"),
    Kind("DeviceClass", "resource.k8s.io", ("v1", "v1beta2", "v1beta1"), "deviceclasses", namespaced=False),
    Kind("DaemonSet", "apps", ("v1",), "daemonsets"),
    Kind("ProvisioningRequest", "autoscaling.x-k8s.io", ("v1", "v1beta1"), "provisioningrequests"),
    Kind("NodePool", "karpenter.sh", ("v1",), "nodepools", namespaced=False),
    Kind("NodeClaim", "karpenter.sh", ("v1",), "nodeclaims", namespaced=False),
    Kind("CustomResourceDefinition", "apiextensions.k8s.io", ("v1",), "customresourcedefinitions", namespaced=False),
    Kind("MutatingWebhookConfiguration", "admissionregistration.k8s.io", ("v1",), "mutatingwebhookconfigurations",
         namespaced=False),
    Kind("ValidatingWebhookConfiguration", "admissionregistration.k8s.io", ("v1",), "validatingwebhookconfigurations",
         namespaced=False),
    # read in Kueue's own namespace alone
    Kind("Lease", "coordination.k8s.io", ("v1",), "leases"),
    Kind("Endpoints", "", ("v1",), "endpoints"),
    Kind("EndpointSlice", "discovery.k8s.io", ("v1",), "endpointslices"),
    Kind("ConfigMap", "", ("v1",), "configmaps"),
)  # fmt: skip

BY_NAME: dict[str, Kind] = {kind.kind: kind for kind in KINDS}
JOB_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind.job is not None)

_RESOURCES = {kind.resource(version): kind for kind in KINDS for version in kind.versions}
_SPELLINGS = {
    spelling: kind.kind
    for kind in KINDS
    for spelling in (kind.kind.lower(), kind.plural, f"{kind.plural}.{kind.group}")
} | {
    "po": "Pod", "deploy": "Deployment", "sts": "StatefulSet", "rs": "ReplicaSet", "cj": "CronJob", "ds": "DaemonSet",
    "wl": "Workload", "kwl": "Workload", "kueueworkload": "Workload", "lws": "LeaderWorkerSet", "aw": "AppWrapper",
    "queue": "LocalQueue", "lq": "LocalQueue", "cq": "ClusterQueue", "podgroup": "PodGroup", "podgroups": "PodGroup",
    "pod-group": "PodGroup",
}  # fmt: skip


def of_resource(resource: str) -> Kind | None:
    """Give the kind of "group/version/plural" as a Recording's `read` names it, whatever the version; None if not read here."""
    known = _RESOURCES.get(resource)
    if known is not None:
        return known
    *group_version, plural = resource.split("/")
    group = group_version[0] if len(group_version) == 2 else ""
    return next((kind for kind in KINDS if kind.plural == plural and kind.group == group), None)


def of_object(api_version: str, kind: str) -> Kind | None:
    """Give the kind that an object's apiVersion and kind name, whatever the version; None when it is not read here."""
    known = BY_NAME.get(kind)
    group = api_version.rpartition("/")[0]
    return known if known is not None and known.group == group else None


def of_spelling(text: str) -> str | None:
    """Give the kind's name for what people write for it: kind, plural or short name, in any case. None when unknown."""
    return _SPELLINGS.get(text.lower())
