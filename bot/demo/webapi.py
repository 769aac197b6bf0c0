"""The Web API methods of the local Slack: each takes the workspace and the call's arguments, gives the answer's fields."""

import secrets
from collections.abc import Callable
from typing import Any

from bot.demo import validate
from bot.demo.slack import (
    APP,
    APP_TOKEN,
    BOT,
    BOT_ID,
    BOT_TOKEN,
    TEAM,
    TEAM_DOMAIN,
    Channel,
    Json,
    LocalSlack,
    number_blocks,
)


class Refused(Exception):  # noqa: N818 - Slack's answer, not a failure
    """Slack's `ok: false`, with its error word and what it says besides."""

    def __init__(self, error: str, messages: list[str] | None = None, **more: Any) -> None:  # noqa: ANN401 - JSON
        """Keep the word and the messages."""
        super().__init__(error)
        self.answer: Json = {"ok": False, "error": error, **more}
        if messages:
            self.answer["response_metadata"] = {"messages": [f"[ERROR] {each}" for each in messages]}
            self.answer["errors"] = messages


def answer(slack: LocalSlack, method: str, arguments: Json, token: str) -> Json:
    """Answer one call."""
    handler = METHODS.get(method)
    if wrong := _unauthorised(method, token) if handler else "unknown_method":
        return {"ok": False, "error": wrong}
    assert handler is not None
    try:
        return {"ok": True, **handler(slack, arguments)}
    except Refused as refused:
        return refused.answer


def _unauthorised(method: str, token: str) -> str:
    if not token:
        return "not_authed"
    right = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
    return "" if token == right else "invalid_auth"


def _channel(slack: LocalSlack, arguments: Json, *, write: bool = False) -> Channel:
    name = str(arguments.get("channel", ""))
    channel = slack.channels.get(_conversation(slack, name).id if write and name in slack.people else name)
    if channel is None or (channel.private and BOT not in channel.members):
        raise Refused("channel_not_found")
    if write and BOT not in channel.members:
        raise Refused("not_in_channel")
    return channel


def _take(arguments: Json) -> tuple[str, list[Json] | None]:
    """Check a message; give its text and blocks."""
    text, blocks = str(arguments.get("text") or ""), arguments.get("blocks")
    if wrong := validate.message(text, blocks):
        raise Refused(wrong[0], wrong[1])
    return text, number_blocks(blocks)


def _message(channel: Channel, ts: object) -> Json:
    found = next((m for m in channel.messages if m["ts"] == ts and "ephemeral" not in m), None)
    if found is None:
        raise Refused("message_not_found")
    return found


def _post(slack: LocalSlack, arguments: Json) -> Json:
    channel = _channel(slack, arguments, write=True)
    text, blocks = _take(arguments)
    thread_ts = arguments.get("thread_ts")
    if thread_ts and not any(m["ts"] == thread_ts for m in channel.messages):
        raise Refused("thread_not_found")
    if channel.im is False and arguments.get("metadata") and not isinstance(arguments["metadata"], dict):
        raise Refused("invalid_metadata_format")
    message = slack.put(
        channel,
        {
            "user": BOT, "bot_id": BOT_ID, "app_id": APP, "text": text, "blocks": blocks, "thread_ts": thread_ts,
            "metadata": arguments.get("metadata"), "parse": arguments.get("parse"),
        },
    )  # fmt: skip
    if arguments.get("reply_broadcast"):
        message["broadcast"] = True
    return {"channel": channel.id, "ts": message["ts"], "message": message}


def _post_ephemeral(slack: LocalSlack, arguments: Json) -> Json:
    channel = _channel(slack, arguments, write=True)
    if arguments.get("user") not in channel.members:
        raise Refused("user_not_in_channel")
    text, blocks = _take(arguments)
    thread_ts = arguments.get("thread_ts")
    if thread_ts and not channel.thread(str(thread_ts)):
        return {"message_ts": slack.timestamp()}  # Slack takes it and shows it to nobody: the thread has no replies
    message = slack.put(
        channel,
        {
            "user": BOT, "bot_id": BOT_ID, "text": text, "blocks": blocks, "ephemeral": arguments["user"],
            "thread_ts": thread_ts,
        },
    )  # fmt: skip
    return {"message_ts": message["ts"]}


def _update(slack: LocalSlack, arguments: Json) -> Json:
    channel = _channel(slack, arguments)
    message = _message(channel, arguments.get("ts"))
    if message.get("user") != BOT:
        raise Refused("cant_update_message")
    text, blocks = _take(arguments)
    message |= {"text": text, "blocks": blocks or [], "edited": {"user": BOT, "ts": slack.timestamp()}}
    slack.tell({"type": "changed", "channel": channel.id, "message": message})
    return {"channel": channel.id, "ts": message["ts"], "text": text, "message": message}


def _delete(slack: LocalSlack, arguments: Json) -> Json:
    channel = _channel(slack, arguments)
    message = _message(channel, arguments.get("ts"))
    if message.get("user") != BOT:
        raise Refused("cant_delete_message")
    channel.messages.remove(message)
    slack.tell({"type": "deleted", "channel": channel.id, "ts": message["ts"]})
    return {"channel": channel.id, "ts": message["ts"]}


def _unfurl(slack: LocalSlack, arguments: Json) -> Json:
    channel = slack.channels.get(str(arguments.get("channel", "")))
    if channel is None:
        raise Refused("channel_not_found")
    message = _message(channel, arguments.get("ts"))
    unfurls = arguments.get("unfurls")
    if not isinstance(unfurls, dict) or not unfurls:
        raise Refused("missing_unfurls")
    for url, shown in unfurls.items():
        if url not in message["text"]:
            raise Refused("cannot_unfurl_url")
        text = str(shown.get("text") or shown.get("fallback") or "")
        if wrong := validate.message(text, shown.get("blocks")):
            raise Refused(wrong[0], wrong[1])
    message["attachments"] = [{"from_url": url, **shown} for url, shown in unfurls.items()]
    slack.tell({"type": "changed", "channel": channel.id, "message": message})
    return {}


def _permalink(slack: LocalSlack, arguments: Json) -> Json:
    channel = _channel(slack, arguments)
    message = next((m for m in channel.messages if m["ts"] == arguments.get("message_ts")), None)
    if message is None:
        raise Refused("message_not_found")
    link = f"https://{TEAM_DOMAIN}.slack.com/archives/{channel.id}/p{message['ts'].replace('.', '')}"
    return {"channel": channel.id, "permalink": link}


def _about_channel(channel: Channel) -> Json:
    return {
        "id": channel.id, "name": channel.name, "is_channel": not channel.im, "is_private": channel.private,
        "is_im": channel.im, "is_member": BOT in channel.members, "is_archived": False,
        "topic": {"value": channel.topic}, "num_members": len(channel.members), "is_ext_shared": False,
    }  # fmt: skip


def _readable(slack: LocalSlack, arguments: Json) -> Channel:
    channel = _channel(slack, arguments)
    if BOT not in channel.members:
        raise Refused("not_in_channel")
    return channel


def _history(slack: LocalSlack, arguments: Json) -> Json:
    channel = _readable(slack, arguments)
    oldest = float(arguments.get("oldest") or 0)
    messages = [m for m in reversed(channel.roots()) if "ephemeral" not in m and float(m["ts"]) > oldest]
    if arguments.get("latest"):
        inclusive = str(arguments.get("inclusive", "false")).lower() in {"1", "true"}
        latest = str(arguments["latest"])
        messages = [m for m in messages if m["ts"] < latest or (inclusive and m["ts"] == latest)]
    return _page(messages, arguments, 100)


def _replies(slack: LocalSlack, arguments: Json) -> Json:
    channel = _readable(slack, arguments)
    root = next((m for m in channel.messages if m["ts"] == arguments.get("ts")), None)
    if root is None:
        raise Refused("thread_not_found")
    root_ts = root.get("thread_ts") or root["ts"]
    oldest = float(arguments.get("oldest") or 0)
    messages = [
        m
        for m in channel.messages
        if (m["ts"] == root_ts or (m.get("thread_ts") == root_ts and float(m["ts"]) > oldest)) and "ephemeral" not in m
    ]
    return _page(messages, arguments, 1000)


def _page(messages: list[Json], arguments: Json, usual: int) -> Json:
    """Give a page of messages, and by what cursor the next one is asked for."""
    start, limit = int(arguments.get("cursor") or 0), int(arguments.get("limit") or usual)
    more = len(messages) > start + limit
    following = {"response_metadata": {"next_cursor": str(start + limit)}} if more else {}
    return {"messages": messages[start : start + limit], "has_more": more, **following}


def _join(slack: LocalSlack, arguments: Json) -> Json:
    channel = _channel(slack, arguments)
    if channel.private:
        raise Refused("method_not_supported_for_channel_type")
    channel.members.add(BOT)
    return {"channel": _about_channel(channel)}


def _open(slack: LocalSlack, arguments: Json) -> Json:
    who = str(arguments.get("users", ""))
    if who not in slack.people:
        raise Refused("user_not_found")
    return {"channel": {"id": _conversation(slack, who).id}}


def _conversation(slack: LocalSlack, who: str) -> Channel:
    """Give somebody's conversation with the bot; a message to a user goes there."""
    found = next((c for c in slack.channels.values() if c.im and who in c.members), None)
    return found or slack.channel(slack.people[who].name, slack.people[who], im=True)


def _about_person(slack: LocalSlack, arguments: Json) -> Json:
    who = slack.people.get(str(arguments.get("user", "")))
    if who is None:
        who = next((p for p in slack.people.values() if p.email and p.email == arguments.get("email")), None)
    if who is None:
        raise Refused("users_not_found" if "email" in arguments else "user_not_found")
    profile = {"email": who.email, "real_name": who.real_name, "display_name": who.name}
    return {
        "user": {
            "id": who.id, "name": who.name, "team_id": who.team, "real_name": who.real_name, "profile": profile,
            "is_bot": who.bot, "deleted": False, "is_stranger": who.team != TEAM, "is_restricted": False,
        }
    }  # fmt: skip


def _store_view(arguments: Json, view_id: str) -> Json:
    view = arguments.get("view")
    if wrong := validate.view(view):
        raise Refused(wrong[0], wrong[1])
    assert isinstance(view, dict)
    number_blocks(view.get("blocks"))
    return {
        "id": view_id,
        "hash": secrets.token_hex(4),
        "team_id": TEAM,
        "app_id": APP,
        "bot_id": BOT_ID,
        "state": {"values": {}},
        **view,
    }


def _open_view(slack: LocalSlack, arguments: Json) -> Json:
    if not slack.trigger_valid(str(arguments.get("trigger_id", ""))):
        raise Refused("expired_trigger_id")
    view = _store_view(arguments, f"V{secrets.token_hex(4).upper()}")
    slack.views[view["id"]] = view
    slack.tell({"type": "view", "view": view})
    return {"view": view}


def _update_view(slack: LocalSlack, arguments: Json) -> Json:
    view_id = str(arguments.get("view_id", ""))
    if view_id not in slack.views:
        external = arguments.get("external_id")
        view_id = next((v["id"] for v in slack.views.values() if external and v.get("external_id") == external), "")
    if not view_id:
        raise Refused("not_found")
    view = _store_view(arguments, view_id)
    slack.views[view_id] = view
    slack.tell({"type": "view", "view": view})
    return {"view": view}


def _publish_view(slack: LocalSlack, arguments: Json) -> Json:
    who = str(arguments.get("user_id", ""))
    if who not in slack.people:
        raise Refused("user_not_found")
    view = _store_view(arguments, f"V{secrets.token_hex(4).upper()}")
    slack.homes[who] = view
    slack.tell({"type": "home", "user": who, "view": view})
    return {"view": view}


def _upload_url(slack: LocalSlack, arguments: Json) -> Json:
    name, length = arguments.get("filename"), int(arguments.get("length") or 0)
    if not name or length <= 0:
        raise Refused("invalid_arguments")
    file_id = f"F{secrets.token_hex(4).upper()}"
    described = str(arguments.get("alt_txt") or "")
    slack.files[file_id] = {"id": file_id, "name": name, "length": length, "alt_txt": described, "content": b""}
    return {"file_id": file_id, "upload_url": f"{slack.base_url}/upload/{file_id}"}


def _complete_upload(slack: LocalSlack, arguments: Json) -> Json:
    files = arguments.get("files") or []
    known = [slack.files[f["id"]] for f in files if f.get("id") in slack.files]
    if not files or len(known) < len(files) or any(not f["content"] for f in known):
        raise Refused("file_not_found")
    shown = [
        {"id": f["id"], "name": f["name"], "title": sent.get("title", f["name"]), "alt_txt": f["alt_txt"]}
        for f, sent in zip(known, files, strict=True)
    ]
    if channel_id := arguments.get("channel_id"):
        channel = _channel(slack, {"channel": channel_id}, write=True)
        slack.put(
            channel,
            {
                "user": BOT, "bot_id": BOT_ID, "text": arguments.get("initial_comment") or "", "files": shown,
                "thread_ts": arguments.get("thread_ts"),
            },
        )  # fmt: skip
    return {"files": shown}


def _usergroups(slack: LocalSlack, _: Json) -> Json:
    return {"usergroups": [{k: v for k, v in group.items() if k != "users"} for group in slack.usergroups.values()]}


def _usergroup_people(slack: LocalSlack, arguments: Json) -> Json:
    group = slack.usergroups.get(str(arguments.get("usergroup", "")))
    if group is None:
        raise Refused("no_such_subteam")
    return {"users": group["users"]}


METHODS: dict[str, Callable[[LocalSlack, Json], Json]] = {
    "api.test": lambda _, arguments: {"args": arguments},
    "auth.test": lambda _, __: {
        "url": f"https://{TEAM_DOMAIN}.slack.com/", "team": TEAM_DOMAIN, "team_id": TEAM, "user": "whypending",
        "user_id": BOT, "bot_id": BOT_ID, "is_enterprise_install": False,
    },
    "apps.connections.open": lambda slack, _: {"url": slack.ticket()},
    "bots.info": lambda _, __: {"bot": {"id": BOT_ID, "app_id": APP, "user_id": BOT, "name": "whypending"}},
    "chat.postMessage": _post,
    "chat.postEphemeral": _post_ephemeral,
    "chat.update": _update,
    "chat.delete": _delete,
    "chat.getPermalink": _permalink,
    "chat.unfurl": _unfurl,
    "conversations.list": lambda slack, _: {"channels": [_about_channel(c) for c in slack.channels.values() if not c.private]},
    "conversations.info": lambda slack, arguments: {"channel": _about_channel(_channel(slack, arguments))},
    "conversations.members": lambda slack, arguments: {"members": sorted(_channel(slack, arguments).members)},
    "conversations.history": _history,
    "conversations.replies": _replies,
    "conversations.join": _join,
    "conversations.open": _open,
    "users.info": _about_person,
    "users.lookupByEmail": _about_person,
    "users.conversations": lambda slack, _: {
        "channels": [_about_channel(c) for c in slack.channels.values() if BOT in c.members]
    },
    "usergroups.list": _usergroups,
    "usergroups.users.list": _usergroup_people,
    "views.open": _open_view,
    "views.push": _open_view,
    "views.update": _update_view,
    "views.publish": _publish_view,
    "files.getUploadURLExternal": _upload_url,
    "files.completeUploadExternal": _complete_upload,
    "assistant.threads.setStatus": lambda _, __: {},
    "reactions.add": lambda _, __: {},
}  # fmt: skip
