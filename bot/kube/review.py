"""What Kubernetes lets a person read, by SubjectAccessReview: the one `create` there is, and it stores nothing.

What a level shows beyond the asked namespace is what the person could list with kubectl:

- `namespace`: may get Workloads in the namespace;
- `queue`: may also list Workloads of all namespaces, and ClusterQueues;
- `cohort`: may also list Cohorts;
- `all`: may also list Pods of all namespaces.
"""

import asyncio

import msgspec
from async_lru import alru_cache

from bot.core.diagnosis import Level
from bot.kube.client import FORBIDDEN, Client, ReadError
from bot.kube.doctor import Check

PATH = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
REMEMBERED_SECONDS = 60.0
EVERYBODY = ("system:authenticated",)
"""Groups that every authenticated person is in; what else an identity provider adds is not known here."""

_KUEUE = "kueue.x-k8s.io"
_Attributes = tuple[str, str, str]

_WIDER: tuple[tuple[Level, tuple[_Attributes, ...]], ...] = (
    ("queue", (("list", _KUEUE, "workloads"), ("list", _KUEUE, "clusterqueues"))),
    ("cohort", (("list", _KUEUE, "cohorts"),)),
    ("all", (("list", "", "pods"),)),
)


class _Status(msgspec.Struct):
    allowed: bool = False


class _Review(msgspec.Struct):
    status: _Status | None = None


class Reviewer:
    """Asks one cluster what people may read; answers are remembered for a minute.

    Args:
        client: the cluster.
    """

    def __init__(self, client: Client) -> None:
        """Start knowing nothing."""
        self._client = client
        self._allowed = alru_cache(maxsize=10_000, ttl=REMEMBERED_SECONDS)(self._ask)

    async def level(self, user: str, namespace: str) -> Level | None:
        """Give how much somebody may see of answers about a namespace, None for nothing.

        Args:
            user: what Kubernetes calls the person.
            namespace: the namespace that is asked about.

        Raises:
            ReadError: the API server did not say.
        """
        wider = [attributes for _, several in _WIDER for attributes in several]
        answers = await asyncio.gather(
            self._allowed(user, "get", _KUEUE, "workloads", namespace),
            *(self._allowed(user, *attributes, "") for attributes in wider),
            return_exceptions=True,
        )  # all of them: what went on asking would open a connection again that was closed meanwhile
        allowed: list[bool] = []
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            allowed.append(answer)
        own, *others = allowed
        if not own:
            return None
        may = dict(zip(wider, others, strict=True))
        reached: Level = "namespace"
        for level, needed in _WIDER:
            if not all(may[attributes] for attributes in needed):
                break
            reached = level
        return reached

    async def examine(self) -> Check:
        """Say whether reviews can be asked for: for the doctor."""
        name = "access review"
        try:
            await self._ask("nobody@example.com", "get", _KUEUE, "workloads", "default")
        except ReadError as error:
            return Check(
                name, ok=False, sentence=f"What people may read cannot be asked: {error.reason}. So nobody is answered.",
                remedy="Add the component access-review, or set access_review: off." if error.reason == FORBIDDEN else "",
            )  # fmt: skip
        return Check(name, ok=True, sentence="The API server says what people may read.")

    async def _ask(self, user: str, verb: str, group: str, resource: str, namespace: str) -> bool:
        attributes = {"verb": verb, "group": group, "resource": resource}
        if namespace:
            attributes["namespace"] = namespace
        document = {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user, "groups": list(EVERYBODY), "resourceAttributes": attributes},
        }  # fmt: skip
        answer = await self._client.post(PATH, document)
        try:
            status = msgspec.json.decode(answer.body, type=_Review).status
        except msgspec.DecodeError as error:
            raise ReadError("the answer cannot be read") from error
        if status is None:
            raise ReadError("the answer says nothing")
        return status.allowed
