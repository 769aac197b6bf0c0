"""What is missing at Slack, in words: whose bot it is, the scopes of its token, and what the access rules need."""

import logging

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.kube.doctor import Check
from bot.settings import ConfigurationError, Settings
from bot.slack.gate import Gate
from bot.slack.people import People
from bot.slack.persons import Home
from bot.slack.post import Poster, web_client

SCOPES = {
    "commands": "nobody can use the slash command",
    "chat:write": "it cannot answer in channels",
}
"""What is always needed, with what does not work without it."""

EXTRAS = {
    "app_mentions:read": "mentions in threads are not heard",
    "chat:write.public": "in public channels it must be invited before it answers there",
    "channels:history": "a mention in a public channel's thread must name its job: the thread is not read",
    "groups:history": "a mention in a private channel's thread must name its job: the thread is not read",
    "im:history": "direct messages are not heard; the slash command works there",
    "files:write": "digests and queues have no pictures, and what does not fit into their messages is not shown",
}
"""What only some ways to ask need."""
LINKS = {
    "links:read": "pasted links show no verdict",
    "links:write": "pasted links show no verdict",
}
"""What is needed where a cluster has links of Headlamp or KueueViz."""


async def examine(settings: Settings) -> list[Check]:
    """Examine the bot token with its scopes, and what the access rules need of Slack. Never raises.

    Nothing when there is no token: that is told where the tokens are examined.
    """
    try:
        token = settings.secret("slack_bot_token")
    except ConfigurationError:
        return []
    timeout = aiohttp.ClientTimeout(total=settings.slack_timeout_seconds)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        client = web_client(token, settings.slack_api_url, session, logging.getLogger("whypending.doctor"))
        try:
            told = await client.api_call("auth.test")
        except SlackApiError as refused:
            data = getattr(refused.response, "data", None)
            word = data.get("error") if isinstance(data, dict) else "its answer cannot be read"
            return [_refused(f"Slack refuses the bot token: {word}.")]
        except (SlackClientError, aiohttp.ClientError, OSError, ValueError, TypeError, AttributeError) as error:
            return [_refused(f"Slack does not answer: {type(error).__name__}.")]
        home = Home(
            str(told.get("enterprise_id") or ""), str(told.get("team_id") or ""),
            org_wide=bool(told.get("is_enterprise_install")),
        )  # fmt: skip
        whose = "organisation" if home.org_wide else "workspace"
        checks = [Check("slack", ok=True, sentence=f"It is {told.get('user')} in {whose} {told.get('team')}.")]
        names = {name.lower(): value for name, value in told.headers.items()}
        scopes = {scope.strip() for scope in str(names.get("x-oauth-scopes", "")).split(",")}
        checks += _scopes(settings, scopes)
        people = People(Poster(client, session), home)
        checks += [
            Check(
                "access rules",
                ok=None,
                sentence=f"{sentence[:1].upper()}{sentence[1:]}.",
                remedy="Correct the rule or the app.",
            )
            for sentence in await Gate(settings, people, home).unusable()
        ]
        return checks


def _scopes(settings: Settings, granted: set[str]) -> list[Check]:
    """Say which scopes are missing; those that a setting needs are needed."""
    needed, extras = dict(SCOPES), dict(EXTRAS)
    if settings.policy.groups:
        needed["usergroups:read"] = "access rules with user groups cannot be used"
    if any(cluster.access_review for cluster in settings.clusters):
        needed["users:read"] = needed["users:read.email"] = "access_review refuses everybody"
    if any(
        cluster.links.headlamp or cluster.links.kueueviz or cluster.links.templates for cluster in settings.clusters
    ):
        extras |= LINKS
    checks = [_scope(name, without, ok=False) for name, without in needed.items() if name not in granted]
    checks += [_scope(name, without, ok=None) for name, without in extras.items() if name not in granted]
    return checks or [Check("scopes", ok=True, sentence="The bot token has every scope that is used.")]


def _scope(name: str, without: str, *, ok: bool | None) -> Check:
    return Check(
        f"scope {name}", ok=ok, sentence=f"The bot token does not have it: {without}.",
        remedy="Add it under OAuth & Permissions, and install the app again.",
    )  # fmt: skip


def _refused(sentence: str) -> Check:
    remedy = "Copy the token from the Slack app's page, and see that slack_api_url can be reached."
    return Check("slack", ok=False, sentence=sentence, remedy=remedy)
