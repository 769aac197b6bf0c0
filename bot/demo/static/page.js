// The page: channels, messages, threads, the composer with its commands, the picker of recorded clusters.

import { blocks, h, mrkdwn } from "/static/blockkit.js";

const $ = (id) => document.getElementById(id);
const state = { me: null, people: {}, channels: new Map(), scenarios: [], chosen: "", commands: [], shortcuts: [], current: "", thread: "", tab: "messages", homes: {}, unread: new Map(), view: null, asked: 0 };

const names = {
  person: (id) => state.people[id]?.name,
  channel: (id) => state.channels.get(id)?.name,
  people: () => Object.values(state.people).filter((one) => !one.bot),
  channels: () => [...state.channels.values()].filter((one) => !one.im),
  conversations: () => [...state.channels.values()].map((one) => (one.im ? { ...one, label: "whypending (direct message)" } : one)),
  current: () => state.current,
};

async function post(path, body) {
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return answer.ok ? answer.json() : { error: await answer.text() };
}

// Messages

const COLORS = ["#7a4b94", "#b0563f", "#2f6f9f", "#8a6d1f", "#4b7a3a"];
const hashed = (text) => [...text].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);

function avatar(user) {
  if (user === state.bot) return h("div", { class: "avatar", "aria-hidden": "true" }, h("img", { src: "/static/mark.svg", alt: "" }));
  const name = state.people[user]?.real_name ?? "Slackbot";
  return h("div", { class: "avatar", style: `background:${user === "USLACKBOT" ? "#44545a" : COLORS[hashed(name) % COLORS.length]}`, "aria-hidden": "true" }, name[0].toUpperCase());
}

const moment = (ts) => new Date(Number(ts) * 1000);
const clock = (ts) => moment(ts).toLocaleTimeString("en", { hour: "numeric", minute: "2-digit" });

function body(message, channel) {
  const act = async (element, chosen, node) => {
    node.setAttribute("aria-busy", "true");
    const answer = await post("/act", { channel: channel.id, ts: message.ts, action_id: element.action_id, chosen });
    node.removeAttribute("aria-busy");
    if (answer.error) announce(answer.error);
  };
  const out = message.blocks?.length ? blocks(message.blocks, names, act) : mrkdwn(message.text ?? "", names);
  const attached = (message.attachments ?? []).map((one) => h("div", { class: "attachment", style: /^#[0-9a-f]{6}$/i.test(one.color ?? "") ? `border-color:${one.color}` : "" },
    one.pretext ? mrkdwn(one.pretext, names) : "",
    one.title ? h("strong", { class: "attachment-title" }, one.title) : "",
    one.blocks?.length ? blocks(one.blocks, names, act) : one.text ? mrkdwn(one.text, names) : ""));
  const files = (message.files ?? []).map((file) => h("div", { class: "file" },
    h("a", { href: `/file/${file.id}`, target: "_blank" }, file.title ?? file.name),
    file.name.endsWith(".png") ? h("img", { src: `/file/${file.id}`, alt: file.alt_txt || file.title }) : ""));
  const edited = message.edited ? h("span", { class: "edited" }, "(edited)") : "";
  return [out, ...attached, ...files, edited];
}

function messageNode(message, channel, { before, inThread }) {
  const author = message.user;
  const follows = before && before.user === author && !before.ephemeral === !message.ephemeral && Number(message.ts) - Number(before.ts) < 300 && !message.blocks && !before.blocks;
  const person = state.people[author];
  const node = h("article", { class: `message${follows ? " follows" : ""}${message.ephemeral ? " ephemeral" : ""}${message.system ? " system" : ""}`, "data-ts": message.ts, "aria-label": `${person?.real_name ?? "Slackbot"}: ${message.text ?? ""}` });
  if (message.ephemeral) node.append(h("div", { class: "only-you" }, h("span", { "aria-hidden": "true" }, "◉"), "Only visible to you"));
  node.append(follows ? h("div", { class: "side-time" }, clock(message.ts)) : avatar(author));
  const content = h("div", {});
  if (!follows) content.append(h("div", { class: "by" }, h("span", { class: "name" }, person?.real_name ?? "Slackbot"), person?.bot ? h("span", { class: "app" }, "APP") : "", h("time", { datetime: moment(message.ts).toISOString() }, clock(message.ts))));
  content.append(...body(message, channel));
  const replies = channel.messages.filter((one) => one.thread_ts === message.ts && one.ts !== message.ts && !one.ephemeral);
  if (!inThread && replies.length) {
    content.append(h("button", { type: "button", class: "replies", onclick: () => openThread(message.ts, true) }, h("img", { src: "/static/mark.svg", alt: "" }), h("span", { class: "count" }, `${replies.length} ${replies.length === 1 ? "reply" : "replies"}`), h("span", { class: "last" }, `Last reply at ${clock(replies.at(-1).ts)}`)));
  }
  node.append(content);
  if (!message.ephemeral && !message.system) {
    const tools = h("div", { class: "tools" });
    if (!inThread) tools.append(h("button", { type: "button", onclick: () => openThread(message.ts, true) }, "Reply in thread"));
    for (const shortcut of state.shortcuts) tools.append(h("button", { type: "button", onclick: () => post("/shortcut", { callback_id: shortcut.callback_id, channel: channel.id, ts: message.ts }) }, shortcut.name));
    if (tools.children.length) node.append(tools);
  }
  return node;
}

const shownIn = (channel, thread) => channel.messages.filter((one) => {
  if (one.ephemeral && one.ephemeral !== state.me.id) return false;
  if (thread) return one.ts === thread || one.thread_ts === thread;
  return !one.thread_ts || one.thread_ts === one.ts || one.broadcast;
});

// A log that is rebuilt would be read out again: only what is new or changed is replaced.
function fill(log, list, channel, { thread = "" } = {}) {
  const wanted = [];
  let before = null;
  for (const message of list) {
    const day = moment(message.ts).toDateString();
    if (!thread && (!before || moment(before.ts).toDateString() !== day)) wanted.push({ key: `day-${day}`, mark: day, make: () => h("div", { class: "day" }, day === new Date().toDateString() ? "Today" : day) });
    if (thread && before && before.ts === thread) wanted.push({ key: "replies", mark: String(list.length), make: () => h("div", { class: "reply-line" }, `${list.length - 1} ${list.length === 2 ? "reply" : "replies"}`) });
    const previous = before;
    const replies = thread ? 0 : channel.messages.filter((one) => one.thread_ts === message.ts && one.ts !== message.ts).length;
    const mark = JSON.stringify([message.text, message.blocks, message.attachments, message.edited, replies, previous?.ts]);
    wanted.push({ key: message.ts, mark, make: () => messageNode(message, channel, { before: previous, inThread: Boolean(thread) }) });
    before = message;
  }
  const have = new Map([...log.children].map((node) => [node.dataset.key, node]));
  let at = log.firstElementChild;
  for (const { key, mark, make } of wanted) {
    let node = have.get(key);
    have.delete(key);
    if (!node || node.dataset.mark !== mark) {
      const fresh = make();
      fresh.dataset.key = key;
      fresh.dataset.mark = mark;
      if (node) { if (at === node) at = node.nextElementSibling; node.replaceWith(fresh); if (log.dataset.of === channel.id + thread) fresh.classList.add("flash"); node = fresh; log.insertBefore(node, at); continue; }
      node = fresh;
    }
    if (node === at) at = at.nextElementSibling;
    else log.insertBefore(node, at);
  }
  for (const node of have.values()) node.remove();
  log.dataset.of = channel.id + thread;
}

// A log stays at its end until its reader scrolls away from it, also when the panel beside it opens.
const stuck = new WeakSet();
const toEnd = (log) => { if (stuck.has(log)) log.scrollTop = log.scrollHeight; };
for (const id of ["messages", "thread-messages"]) {
  const log = $(id);
  if (id === "messages") stuck.add(log);
  log.addEventListener("scroll", () => {
    if (log.dataset.height !== String(log.scrollHeight + log.clientHeight)) return;
    if (log.scrollHeight - log.scrollTop - log.clientHeight < 60) stuck.add(log); else stuck.delete(log);
  });
  log.addEventListener("wheel", () => { log.dataset.height = String(log.scrollHeight + log.clientHeight); }, { passive: true });
  log.addEventListener("keydown", () => { log.dataset.height = String(log.scrollHeight + log.clientHeight); });
  log.addEventListener("pointerdown", () => { log.dataset.height = String(log.scrollHeight + log.clientHeight); });
  new ResizeObserver(() => toEnd(log)).observe(log);
}

function announce(text) {
  $("live-text").textContent = text;
}

// Drawing

function drawSidebar() {
  for (const [list, im] of [["channels", false], ["dms", true]]) {
    $(list).replaceChildren(...[...state.channels.values()].filter((one) => one.im === im).map((one) => {
      const unread = state.unread.get(one.id) ?? 0;
      return h("li", {}, h("button", { type: "button", class: unread ? "unread" : "", "aria-current": one.id === state.current ? "true" : "false", onclick: () => show(one.id) },
        h("span", { class: "glyph", "aria-hidden": "true" }, im ? "●" : one.private ? "◆" : "#"), im ? "whypending" : one.name, unread ? h("span", { class: "badge", "aria-label": `${unread} unread` }, String(unread)) : ""));
    }));
  }
}

function drawChannel() {
  const channel = state.channels.get(state.current);
  if (!channel) return;
  $("channel-name").textContent = channel.im ? "whypending" : `# ${channel.name}`;
  $("channel-members").textContent = channel.im ? "app" : channel.member ? `${channel.members} members, whypending is one` : `${channel.members} members, whypending is not one`;
  $("channel-topic").textContent = channel.topic;
  document.querySelector("main.channel").setAttribute("aria-label", channel.im ? "Direct messages with whypending" : `Channel ${channel.name}`);
  $("composer").placeholder = channel.im ? "Message whypending, or type /" : `Message #${channel.name}, or type /`;
  const tabs = $("tabs");
  tabs.hidden = !(channel.im && state.homeTab);
  if (!tabs.hidden) tabs.replaceChildren(...["home", "messages"].map((tab) => h("button", { type: "button", role: "tab", "aria-selected": String(state.tab === tab), onclick: () => { state.tab = tab; if (tab === "home") post("/home", {}); draw(); } }, tab === "home" ? "Home" : "Messages")));
  const log = $("messages");
  if (!tabs.hidden && state.tab === "home") {
    const view = state.homes[state.me.id];
    log.replaceChildren(h("div", { class: "home" }, view ? blocks(view.blocks, names, (element, chosen) => post("/view_act", { view: view.id, action_id: element.action_id, chosen })) : "Nothing here yet."));
    log.dataset.of = "home";
    return;
  }
  if (log.dataset.of === "home" || !(log.dataset.of ?? "").startsWith(channel.id)) log.replaceChildren();
  const list = shownIn(channel, "");
  if (!list.length) {
    log.replaceChildren(h("div", { class: "empty", "data-key": "empty" }, h("strong", {}, channel.im ? "This is between you and whypending" : `This is the start of #${channel.name}`), channel.im ? "Type the command here as well, or write the name of a job." : "Type the command below, or press the green button."));
    log.dataset.of = channel.id;
    return;
  }
  fill(log, list, channel);
  toEnd(log);
}

function drawThread() {
  const channel = state.channels.get(state.current);
  const panel = $("thread");
  const list = channel && state.thread ? shownIn(channel, state.thread) : [];
  panel.hidden = !list.length;
  if (panel.hidden) return;
  $("thread-where").textContent = channel.im ? "whypending" : `# ${channel.name}`;
  const log = $("thread-messages");
  if (log.dataset.of !== channel.id + state.thread) log.replaceChildren();
  fill(log, list, channel, { thread: state.thread });
}

function drawStory() {
  const scenario = state.scenarios.find((one) => one.cluster === state.chosen);
  if (!scenario) return;
  const command = `${state.commands[0].command} ${scenario.ask}`;
  $("story").replaceChildren(
    h("div", { class: "story-text" }, h("div", { class: "story-title" }, scenario.title), h("div", { class: "story-about" }, scenario.about)),
    h("button", { type: "button", class: "ask", onclick: () => { $("composer").value = command; $("composer").focus(); resize($("composer")); submit($("composer-form"), $("composer"), ""); } }, h("span", {}, "Ask"), h("code", {}, command)));
}

function draw() { drawSidebar(); drawChannel(); drawThread(); }

function show(id) {
  state.current = id;
  state.thread = "";
  state.unread.delete(id);
  $("sidebar").classList.remove("open");
  $("menu").setAttribute("aria-expanded", "false");
  stuck.add($("messages"));
  draw();
}

function openThread(ts, focus) {
  state.thread = ts;
  draw();
  $("thread-messages").scrollTop = 0;
  if (focus) $("thread-composer").focus();
}

// Modals

function drawModal() {
  const dialog = $("modal");
  const { view } = state;
  if (!view) { if (dialog.open) dialog.close(); dialog.replaceChildren(); return; }
  const inputs = [];
  const act = (element, chosen) => post("/view_act", { view: view.id, action_id: element.action_id, chosen });
  const close = () => { post("/view_close", { view: view.id }); state.view = null; drawModal(); };
  const send = async (event) => {
    event.preventDefault();
    const values = {};
    let missing = false;
    for (const one of inputs) {
      const value = one.read();
      one.error.textContent = "";
      if (one.required && !value.value && !value.selected_option && !value.selected_conversation && !value.selected_user && !value.selected_options?.length) { one.error.textContent = "Please fill this in."; missing = true; }
      (values[one.block] ??= {})[one.action] = value;
    }
    if (!missing) await post("/view_submit", { view: view.id, values });
  };
  const form = h("form", { onsubmit: send, style: "display:contents" },
    h("div", { class: "modal-head" }, h("h2", { id: "modal-title" }, view.title.text), h("button", { type: "button", class: "ghost", "aria-label": "Close", onclick: close }, "✕")),
    h("div", { class: "modal-body" }, blocks(view.blocks ?? [], names, act, inputs)),
    h("div", { class: "modal-foot" }, h("button", { type: "button", class: "button", onclick: close }, view.close?.text ?? "Close"), view.submit ? h("button", { type: "submit", class: "button primary" }, view.submit.text) : ""));
  dialog.replaceChildren(form);
  dialog.oncancel = (event) => { event.preventDefault(); close(); };
  dialog.onkeydown = (event) => { if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); } };
  state.inputs = inputs;
  if (!dialog.open) dialog.showModal();
}

// The composer

function resize(box) { box.style.height = "auto"; box.style.height = `${Math.min(box.scrollHeight, 160)}px`; }

let hinted = 0;
function hintList() {
  const text = $("composer").value;
  if (!/^\/\S*$/.test(text)) return [];
  return state.commands.filter((one) => one.command.startsWith(text));
}

function drawHints() {
  const list = hintList();
  const box = $("hints");
  box.hidden = !list.length;
  hinted = Math.min(hinted, Math.max(0, list.length - 1));
  box.replaceChildren(...list.map((one, at) => h("div", { class: "hint", role: "option", id: `hint-${at}`, "aria-selected": String(at === hinted), onmousedown: (event) => { event.preventDefault(); takeHint(one); } }, h("b", {}, one.command), h("i", {}, one.hint), h("span", {}, one.description))));
  if (list.length) $("composer").setAttribute("aria-activedescendant", `hint-${hinted}`);
  else $("composer").removeAttribute("aria-activedescendant");
}

function takeHint(one) {
  $("composer").value = `${one.command} `;
  $("composer").focus();
  drawHints();
}

async function submit(form, box, thread) {
  const text = box.value.trim();
  if (!text) return;
  box.value = "";
  resize(box);
  drawHints();
  state.asked = Date.now();
  const answer = await post("/say", { channel: state.current, text, thread_ts: thread || undefined });
  if (answer.error) { box.value = text; announce(answer.error); }
}

for (const [form, box, thread] of [["composer-form", "composer", () => ""], ["thread-form", "thread-composer", () => state.thread]]) {
  $(form).addEventListener("submit", (event) => { event.preventDefault(); submit($(form), $(box), thread()); });
  $(box).addEventListener("input", () => { resize($(box)); if (box === "composer") drawHints(); });
  $(box).addEventListener("blur", () => { if (box === "composer") setTimeout(() => { $("hints").hidden = true; }, 120); });
  $(box).addEventListener("keydown", (event) => {
    const list = box === "composer" && !$("hints").hidden ? hintList() : [];
    if (list.length && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      hinted = (hinted + (event.key === "ArrowDown" ? 1 : list.length - 1)) % list.length;
      drawHints();
    } else if (list.length && (event.key === "Tab" || (event.key === "Enter" && $(box).value !== list[hinted].command))) {
      event.preventDefault();
      takeHint(list[hinted]);
    } else if (event.key === "Escape" && list.length) {
      event.stopPropagation();
      $("hints").hidden = true;
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      $(form).requestSubmit();
    }
  });
}

$("thread-close").addEventListener("click", () => { state.thread = ""; draw(); $("composer").focus(); });
$("menu").addEventListener("click", () => $("menu").setAttribute("aria-expanded", String($("sidebar").classList.toggle("open"))));
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && state.thread && !state.view) { state.thread = ""; draw(); $("composer").focus(); } });

// Theme

function theme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("theme", name); } catch { /* private windows keep none */ }
}
let kept = null;
try { kept = localStorage.getItem("theme"); } catch { /* private windows keep none */ }
theme(kept ?? new URLSearchParams(location.search).get("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
$("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));

// The picker

$("scenario").addEventListener("change", async () => {
  const answer = await post("/choose", { cluster: $("scenario").value });
  if (!answer.error) { state.chosen = answer.chosen; state.thread = ""; drawStory(); draw(); }
});

function drawPicker() {
  const groups = new Map();
  for (const one of state.scenarios) groups.set(one.group, [...(groups.get(one.group) ?? []), one]);
  $("scenario").replaceChildren(...[...groups].map(([label, list]) => h("optgroup", { label }, list.map((one) => h("option", { value: one.cluster, selected: one.cluster === state.chosen }, `${one.cluster}: ${one.title}`)))));
}

// Live

function take(change) {
  const channel = state.channels.get(change.channel);
  if (change.type === "message" && channel) {
    const { message } = change;
    if (channel.messages.some((one) => one.ts === message.ts)) return;
    channel.messages.push(message);
    if (channel.id !== state.current && message.user !== state.me.id) state.unread.set(channel.id, (state.unread.get(channel.id) ?? 0) + 1);
    const mine = Date.now() - state.asked < 15000 && channel.id === state.current;
    if (mine && message.thread_ts && message.thread_ts !== message.ts && !message.ephemeral && state.thread !== message.thread_ts) openThread(message.thread_ts, false);
    else draw();
  } else if (change.type === "changed" && channel) {
    channel.messages = channel.messages.map((one) => (one.ts === change.message.ts ? change.message : one));
    draw();
  } else if (change.type === "deleted" && channel) {
    channel.messages = channel.messages.filter((one) => one.ts !== change.ts);
    draw();
  } else if (change.type === "channel") {
    state.channels.set(change.about.id, { ...change.about, messages: channel?.messages ?? [] });
    draw();
  } else if (change.type === "view") { state.view = change.view; drawModal(); }
  else if (change.type === "view_closed") { if (state.view?.id === change.view) { state.view = null; drawModal(); } }
  else if (change.type === "view_errors") { for (const one of state.inputs ?? []) one.error.textContent = change.errors[one.block] ?? ""; }
  else if (change.type === "home") { state.homes[change.user] = change.view; draw(); }
}

async function load() {
  const told = await (await fetch("/state")).json();
  Object.assign(state, { me: told.me, people: told.people, bot: told.bot, scenarios: told.scenarios, chosen: told.chosen, commands: told.commands, shortcuts: told.shortcuts, homes: told.homes, homeTab: told.home_tab });
  state.channels = new Map(told.channels.map((one) => [one.id, one]));
  if (!state.channels.has(state.current)) state.current = told.channels[0].id;
  drawPicker(); drawStory(); draw();
}

function listen() {
  const source = new EventSource("/events");
  source.addEventListener("open", async () => { await load(); $("live").dataset.state = "up"; announce("connected"); document.documentElement.dataset.ready = "true"; });
  source.addEventListener("message", (event) => take(JSON.parse(event.data)));
  source.addEventListener("error", () => { $("live").dataset.state = "down"; announce("the demo has ended; start it again"); });
}

listen();
