"""Object names inside sentences, kept recognisable until it is decided who reads them.

A rule writes `named("Workload", "holder", "team-b")` into its sentence. The name stays wrapped in three private-use
characters until `disclosure` either shows it or replaces it ("a Workload in another namespace"). Text that comes from
the cluster goes through `quoted`, which removes those characters, so nobody can smuggle a name through.
"""

import re
from collections.abc import Callable

_OPEN, _SEPARATOR, _CLOSE = "\ue000", "\ue001", "\ue002"
_MARK = re.compile(
    f"{_OPEN}([^{_SEPARATOR}{_CLOSE}]*){_SEPARATOR}([^{_SEPARATOR}{_CLOSE}]*){_SEPARATOR}([^{_CLOSE}]*){_CLOSE}"
)
_UNWANTED = re.compile(r"[\ue000-\ue002\u0000-\u0008\u000b-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Remove control characters, text-direction marks and this module's own marks."""
    return _UNWANTED.sub("", text)


def quoted(text: str, limit: int = 500) -> str:
    """Give text from the cluster fit to stand in a sentence: cleaned, and cut with "…" after `limit` characters."""
    text = clean(text).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def cited(text: str, limit: int = 300) -> str:
    """Give text from the cluster between quotation marks, fit to stand in a sentence."""
    return f'"{quoted(text, limit).replace(chr(34), chr(39)).rstrip(".")}"'


def named(kind: str, name: str, namespace: str = "") -> str:
    """Give an object's name for use inside a sentence; the kind itself is not printed."""
    return f"{_OPEN}{clean(kind)}{_SEPARATOR}{clean(namespace)}{_SEPARATOR}{clean(name)}{_CLOSE}"


def subject(kind: str, name: str, namespace: str = "") -> str:
    """Give an object as `Kind/[namespace/]name` for `subjects` and evidence, with the name still marked."""
    return named(f"{kind}/", name, namespace)


def show(text: str, render: Callable[[str, str, str], str]) -> str:
    """Replace every marked name by `render(kind, namespace, name)`. A kind that ends with "/" asks for Kind/ns/name form."""
    return _MARK.sub(lambda found: render(*found.groups()), text) if _OPEN in text else text


def plain(kind: str, namespace: str, name: str) -> str:
    """Show a name in full: "namespace/name", or "Kind/namespace/name" where the kind ends with "/"."""
    path = f"{namespace}/{name}" if namespace else name
    return f"{kind}{path}" if kind.endswith("/") else path
