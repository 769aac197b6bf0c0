"""The kinds of value that a setting may have, each with a sentence that says what a right one is."""

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")


def _address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        msg = "must be an http or https address"
        raise ValueError(msg)
    return value.rstrip("/")


def _cluster_name(value: str) -> str:
    if value and not NAME.fullmatch(value):
        msg = "must consist of letters, digits, '-', '_' and '.', without ':' or '/'"
        raise ValueError(msg)
    return value


def _of_form(pattern: str, sentence: str) -> AfterValidator:
    """Give the check that a value has a form; else the sentence says what it must be."""

    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(sentence)
        return value

    return AfterValidator(check)


Address = Annotated[str, AfterValidator(_address)]
ClusterName = Annotated[str, AfterValidator(_cluster_name)]
UserTemplate = Annotated[str, _of_form(r"(?s).*\{email\}.*", "must hold {email}")]
ChannelPattern = Annotated[
    str,
    _of_form(
        r"[CDG][A-Z0-9]{2,}|[CDG]?[A-Z0-9]*[*?\[][]A-Z0-9*?\[!-]*",
        "must be a channel's id (at the foot of its details in Slack), with * for any characters",
    ),
]
GroupId = Annotated[
    str, _of_form(r"S[A-Z0-9]{2,}", "must be a user group's id, which Slack shows in the group's address")
]
UserPattern = Annotated[
    str,
    _of_form(
        r"[UW][A-Z0-9]{2,}|[UW]?[A-Z0-9]*[*?\[][]A-Z0-9*?\[!-]*",
        "must be a user's id (Copy member ID in the profile), with * for any characters",
    ),
]
NamespacePattern = Annotated[
    str, _of_form(r"[]a-z0-9*?\[!-]{1,63}", "must be a namespace's name, with * for any characters")
]
