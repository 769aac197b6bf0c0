// Block Kit and mrkdwn as HTML, as Slack shows them. Every text goes in as a text node: nothing from a message is markup.

export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
const decode = (text) => text.replace(/&(amp|lt|gt);/g, (entity) => ENTITIES[entity]);

function date(stamp, format, fallback, link) {
  const moment = new Date(Number(stamp) * 1000);
  if (Number.isNaN(moment.getTime())) return fallback;
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(moment).setHours(0, 0, 0, 0)) / 86400000);
  const near = { 0: "today", 1: "yesterday", [-1]: "tomorrow" }[days];
  const day = (options, pretty) => (pretty && near) || moment.toLocaleDateString("en", options);
  const tokens = {
    date_num: moment.toISOString().slice(0, 10),
    date: day({ year: "numeric", month: "long", day: "numeric" }),
    date_pretty: day({ year: "numeric", month: "long", day: "numeric" }, true),
    date_short: day({ year: "numeric", month: "short", day: "numeric" }),
    date_short_pretty: day({ year: "numeric", month: "short", day: "numeric" }, true),
    date_long: day({ weekday: "long", year: "numeric", month: "long", day: "numeric" }),
    date_long_pretty: day({ weekday: "long", year: "numeric", month: "long", day: "numeric" }, true),
    time: moment.toLocaleTimeString("en", { hour: "numeric", minute: "2-digit" }),
    time_secs: moment.toLocaleTimeString("en", { hour: "numeric", minute: "2-digit", second: "2-digit" }),
  };
  const shown = format.replace(/\{(\w+)\}/g, (whole, name) => tokens[name] ?? whole);
  const node = h("time", { datetime: moment.toISOString(), title: fallback }, shown);
  return link ? h("a", { href: link, target: "_blank", rel: "noreferrer" }, node) : node;
}

function angle(inside, names) {
  const [target, label] = inside.split("|");
  if (target.startsWith("@")) return h("span", { class: "mention" }, `@${names.person(target.slice(1)) ?? label ?? target.slice(1)}`);
  if (target.startsWith("#")) return h("span", { class: "mention" }, `#${names.channel(target.slice(1)) ?? label ?? target.slice(1)}`);
  if (target.startsWith("!date^")) {
    const [, stamp, format, link] = target.split("^");
    return date(stamp, decode(format ?? ""), decode(label ?? ""), link);
  }
  if (target.startsWith("!")) return h("span", { class: "mention" }, `@${label ?? target.slice(1).split("^")[0]}`);
  if (/^(https?:|mailto:)/.test(target)) {
    return h("a", { href: decode(target), target: "_blank", rel: "noreferrer" }, decode(label ?? target));
  }
  return document.createTextNode(decode(label ?? target));
}

const INLINE = /(`[^`\n]+`)|<([^<>\n]+)>|(?<![\w*])\*(?=\S)([^*\n]*[^*\s])\*(?![\w*])|(?<![\w_])_(?=\S)([^_\n]*[^_\s])_(?![\w_])|(?<![\w~])~(?=\S)([^~\n]*[^~\s])~(?![\w~])/g;

function inline(text, names) {
  const nodes = [];
  let last = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > last) nodes.push(decode(text.slice(last, found.index)));
    const [whole, code, target, bold, italic, strike] = found;
    if (code) nodes.push(h("code", {}, decode(code.slice(1, -1))));
    else if (target) nodes.push(angle(target, names));
    else if (bold) nodes.push(h("strong", {}, inline(bold, names)));
    else if (italic) nodes.push(h("em", {}, inline(italic, names)));
    else nodes.push(h("s", {}, inline(strike, names)));
    last = found.index + whole.length;
  }
  if (last < text.length) nodes.push(decode(text.slice(last)));
  return nodes;
}

function copyable(command, node) {
  const button = h("button", { type: "button", class: "copy", "aria-label": `Copy: ${command}` }, "Copy");
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(command); button.textContent = "Copied"; } catch { button.textContent = "Select it to copy"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  return h("span", { class: "copyable" }, node, button);
}

export function mrkdwn(text, names) {
  const out = h("div", { class: "mrkdwn" });
  text.split(/```/).forEach((part, at) => {
    if (at % 2) { out.append(h("pre", {}, decode(part.replace(/^\n/, "")))); return; }
    const lines = part.split("\n");
    lines.forEach((line, number) => {
      const quoted = /^(&gt;|>)\s?/.exec(line);
      const whole = /^`([^`\n]+)`$/.exec(line);
      if (quoted) out.append(h("blockquote", {}, inline(line.slice(quoted[0].length), names)));
      else if (whole && /\s/.test(whole[1])) out.append(copyable(decode(whole[1]), h("code", {}, decode(whole[1]))));
      else out.append(...inline(line, names));
      if (number < lines.length - 1 && !quoted) out.append("\n");
    });
  });
  return out;
}

export function textObject(text, names) {
  if (!text) return "";
  return text.type === "mrkdwn" ? mrkdwn(text.text, names) : h("div", { class: "mrkdwn" }, text.text);
}

// Rich text

function styled(node, style = {}) {
  for (const [key, tag] of [["code", "code"], ["bold", "strong"], ["italic", "em"], ["strike", "s"]]) if (style[key]) node = h(tag, {}, node);
  return node;
}

function richInline(element, names) {
  switch (element.type) {
    case "text": return styled(document.createTextNode(element.text), element.style);
    case "link": return h("a", { href: /^https?:/.test(element.url) ? element.url : undefined, target: "_blank", rel: "noreferrer" }, element.text ?? element.url);
    case "user": return h("span", { class: "mention" }, `@${names.person(element.user_id) ?? element.user_id}`);
    case "channel": return h("span", { class: "mention" }, `#${names.channel(element.channel_id) ?? element.channel_id}`);
    case "emoji": return element.unicode ? String.fromCodePoint(...element.unicode.split("-").map((code) => parseInt(code, 16))) : `:${element.name}:`;
    case "date": return date(element.timestamp, element.format, element.fallback ?? "");
    default: return "";
  }
}

export function richText(block, names) {
  const one = (element) => {
    const inner = () => (element.elements ?? []).map((each) => richInline(each, names));
    switch (element.type) {
      case "rich_text_preformatted": return h("pre", {}, inner());
      case "rich_text_quote": return h("blockquote", {}, inner());
      case "rich_text_list":
        return h(element.style === "ordered" ? "ol" : "ul", { style: element.indent ? `margin-left:${element.indent * 20}px` : undefined }, element.elements.map((item) => h("li", {}, (item.elements ?? []).map((each) => richInline(each, names)))));
      default: return h("div", { class: "mrkdwn" }, inner());
    }
  };
  return h("div", { class: "rich" }, (block.elements ?? []).map(one));
}

// Tables

function cell(content, names) {
  if (!content) return "";
  if (content.type === "rich_text") return richText(content, names);
  return String(content.text ?? content.value ?? "");
}

function table(block, names) {
  const [head, ...rows] = block.rows ?? [];
  const align = (at) => ({ right: "right", center: "center" })[block.column_settings?.[at]?.align];
  return h("div", { class: "table", tabindex: 0, role: "region", "aria-label": block.caption?.text ?? block.caption ?? "Table" }, h("table", {},
    h("thead", {}, h("tr", {}, (head ?? []).map((each, at) => h("th", { scope: "col", class: align(at) }, cell(each, names))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((each, at) => h("td", { class: align(at) }, cell(each, names))))))));
}

// Elements that do something. `act(element, chosen, node)` is called with what was chosen.

function options(element) {
  const one = (option) => h("option", { value: option.value, selected: element.initial_option?.value === option.value }, option.text.text);
  const groups = (element.option_groups ?? []).map((group) => h("optgroup", { label: group.label.text }, group.options.map(one)));
  return [...groups, ...(element.options ?? []).map(one)];
}

const every = (element) => [...(element.options ?? []), ...(element.option_groups ?? []).flatMap((group) => group.options)];

export function element(each, names, act) {
  switch (each.type) {
    case "button": {
      const node = each.url
        ? h("a", { class: `button ${each.style ?? ""}`, href: /^https?:/.test(each.url) ? each.url : undefined, target: "_blank", rel: "noreferrer", "aria-label": each.accessibility_label }, each.text.text, h("span", { class: "hidden" }, " (opens a page)"), h("span", { "aria-hidden": "true" }, "↗"))
        : h("button", { type: "button", class: `button ${each.style ?? ""}`, "aria-label": each.accessibility_label }, each.text.text);
      node.addEventListener("click", () => {
        const { confirm: ask } = each;
        if (ask && !window.confirm(`${ask.title?.text ?? ""}\n\n${ask.text?.text ?? ""}`)) return;
        act(each, {}, node);
      });
      return node;
    }
    case "overflow": case "static_select": {
      const label = each.placeholder?.text ?? (each.type === "overflow" ? "More" : "Choose");
      const node = h("select", { class: "select", "aria-label": label }, each.initial_option ? "" : h("option", { value: "" }, each.type === "overflow" ? "⋯" : label), options(each));
      node.addEventListener("change", () => {
        const chosen = every(each).find((option) => option.value === node.value);
        if (chosen) act(each, { selected_option: chosen }, node);
        if (each.type === "overflow") node.value = "";
      });
      return node;
    }
    case "image": return h("img", { src: each.image_url, alt: each.alt_text });
    default: return h("span", { class: "unknown" }, `element ${each.type}`);
  }
}

// Inputs of modals: `read()` gives Slack's state value.

function input(block, names, inputs) {
  const { element: each } = block;
  const id = `input-${block.block_id}`;
  let control, read;
  if (each.type === "plain_text_input") {
    control = each.multiline ? h("textarea", { id, rows: 4 }) : h("input", { id, type: "text" });
    control.placeholder = each.placeholder?.text ?? "";
    control.value = each.initial_value ?? "";
    if (each.max_length) control.maxLength = each.max_length;
    read = () => ({ type: each.type, value: control.value || null });
  } else if (each.type === "static_select" || each.type === "radio_buttons") {
    control = h("select", { id }, each.initial_option ? "" : h("option", { value: "" }, each.placeholder?.text ?? "Choose"), options(each));
    read = () => ({ type: each.type, selected_option: every(each).find((option) => option.value === control.value) ?? null });
  } else if (each.type === "checkboxes") {
    control = h("div", { id, role: "group" }, each.options.map((option) => h("label", {}, h("input", { type: "checkbox", value: option.value, checked: each.initial_options?.some((first) => first.value === option.value) }), ` ${option.text.text}`)));
    read = () => ({ type: each.type, selected_options: each.options.filter((option) => [...control.querySelectorAll("input:checked")].some((box) => box.value === option.value)) });
  } else if (/^(multi_)?(conversations|channels|users)_select$/.test(each.type)) {
    const users = each.type.includes("users");
    control = h("select", { id }, h("option", { value: "" }, each.placeholder?.text ?? "Choose"), (users ? names.people() : each.type.includes("conversations") ? names.conversations() : names.channels()).map((one) => h("option", { value: one.id }, one.label ?? `${users ? "@" : "#"}${one.name}`)));
    const start = each.initial_conversation ?? each.initial_channel ?? each.initial_user ?? (each.default_to_current_conversation ? names.current() : "");
    if (start) control.value = start;
    const key = { conversations_select: "selected_conversation", channels_select: "selected_channel", users_select: "selected_user" }[each.type];
    read = () => ({ type: each.type, [key ?? "selected"]: control.value || null });
  } else return h("div", { class: "unknown" }, `input ${each.type}`);
  const error = h("div", { class: "error", role: "alert" });
  inputs.push({ block: block.block_id, action: each.action_id, read, error, required: !block.optional, control });
  return h("div", { class: "input" }, h("label", { for: id }, block.label.text, block.optional ? " (optional)" : ""), control, block.hint ? h("div", { class: "hint-text" }, block.hint.text) : "", error);
}

export function blocks(list, names, act, inputs = []) {
  const one = (block) => {
    switch (block.type) {
      case "header": return h("div", { class: "block-header", role: "heading", "aria-level": 3 }, block.text.text);
      case "section": return h("div", { class: "block-section" },
        block.text ? textObject(block.text, names) : "",
        block.accessory ? h("div", {}, element(block.accessory, names, act)) : "",
        block.fields?.length ? h("div", { class: "fields" }, block.fields.map((field) => textObject(field, names))) : "");
      case "context": return h("div", { class: "block-context" }, block.elements.map((each) => each.type === "image" ? element(each, names, act) : textObject(each, names)));
      case "actions": return h("div", { class: "block-actions" }, block.elements.map((each) => element(each, names, act)));
      case "divider": return h("hr", { class: "block-divider" });
      case "image": return h("figure", { class: "block-image", style: "margin:0" }, block.title ? h("figcaption", {}, block.title.text) : "", h("img", { src: block.image_url, alt: block.alt_text }));
      case "rich_text": return richText(block, names);
      case "table": case "data_table": return table(block, names);
      case "markdown": return h("div", { class: "mrkdwn" }, block.text);
      case "input": return input(block, names, inputs);
      case "alert": return h("div", { class: "block-section", role: "note" }, textObject(block.text, names));
      default: return h("div", { class: "unknown" }, `block ${block.type}`);
    }
  };
  return h("div", { class: "blocks" }, list.map(one));
}
