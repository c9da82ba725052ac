/* Ctrl+P: sessions and their views by name; after ">" the commands. */

import { COMMANDS } from "./commands.js";

const MOST = 60;
const dialog = document.getElementById("quick-open");
const input = document.getElementById("quick-input");
const list = document.getElementById("quick-list");
let shown = [];
let chosen = 0;

function places() {
  return [...document.querySelectorAll("#side-scroll [role='treeitem']")].map((row) => {
    const session = row.closest(".tree-session").dataset;
    const isView = row.dataset.view !== undefined;
    return {
      icon: row.querySelector(isView ? ".codicon" : ".none")?.className ?? "codicon codicon-comment-discussion",
      name: isView ? row.querySelector(".tree-label").textContent : session.title,
      detail: isView ? session.title : row.querySelector(".tree-note").textContent,
      words: isView ? `${session.words} ${row.textContent}` : session.words,
      run: () => row.click(),
    };
  });
}

function commands() {
  return COMMANDS.filter((one) => one.title).map((one) => ({
    icon: "codicon codicon-chevron-right",
    name: one.title,
    detail: one.key.replace("Arrow", ""),
    words: one.title,
    run: one.run,
  }));
}

function matches(candidates, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return candidates.filter((one) => {
    const found = one.words.toLowerCase();
    return words.every((word) => found.includes(word));
  });
}

function show() {
  const text = input.value;
  const isCommand = text.startsWith(">");
  shown = matches(isCommand ? commands() : places(), isCommand ? text.slice(1) : text).slice(0, MOST);
  list.replaceChildren(...shown.map(entry));
  choose(0);
}

function entry({ icon, name, detail }, index) {
  const item = document.createElement("li");
  item.id = `quick-${index}`;
  item.role = "option";
  const sign = document.createElement("i");
  sign.className = icon;
  sign.setAttribute("aria-hidden", "true");
  item.append(sign, span("name", name), span("detail", detail));
  return item;
}

function span(className, text) {
  const element = document.createElement("span");
  element.className = className;
  element.textContent = text;
  return element;
}

function choose(index) {
  chosen = Math.max(0, Math.min(shown.length - 1, index));
  [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === chosen));
  list.children[chosen]?.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", shown.length ? `quick-${chosen}` : "");
}

function accept() {
  const entry = shown[chosen];
  dialog.close();
  entry?.run();
}

export function openQuick(text) {
  if (!dialog.open) dialog.showModal();
  input.value = text;
  show();
  input.focus();
}

const KEYS = {
  ArrowDown: () => choose(chosen + 1),
  ArrowUp: () => choose(chosen - 1),
  PageDown: () => choose(chosen + 10),
  PageUp: () => choose(chosen - 10),
  Enter: accept,
};

input.addEventListener("input", show);
input.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
list.addEventListener("click", (event) => {
  const item = event.target.closest("[role='option']");
  if (!item) return;
  choose([...list.children].indexOf(item));
  accept();
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
