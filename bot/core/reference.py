"""What somebody asked for: a reference to a job, and how the text was read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobRef:
    """A job by namespace and name; `kind` is "" when it was not given. `text` is what was typed."""

    namespace: str
    name: str
    kind: str = ""
    cluster: str = ""
    text: str = ""

    @property
    def read_as(self) -> str:
        """How the question was read: "Job train in namespace team-a"."""
        return f"{self.kind or 'anything named'} {self.name} in namespace {self.namespace}"

    @property
    def asked(self) -> str:
        """The short form "namespace/name" or "namespace/kind/name"."""
        middle = f"{self.kind.lower()}/" if self.kind else ""
        return f"{self.namespace}/{middle}{self.name}"
