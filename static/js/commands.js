/* Every command: what the palette lists, what the keys and buttons do. */

import { togglePanel, toggleSideBar } from "./layout.js";
import { openQuick } from "./quick-open.js";

/* The parts that F6 goes round, in reading order. */
function goToPart(step) {
  const parts = [...document.querySelectorAll("[data-part], #editor")].filter(
    (part) => part.offsetParent !== null || part.id === "editor",
  );
  const here = parts.findIndex((part) => part.contains(document.activeElement));
  const part = parts[(Math.max(here, step < 0 ? 0 : -1) + step + parts.length) % parts.length];
  const target = part.id === "editor" ? part : part.querySelector(CURRENT) ?? part.querySelector(FOCUSABLE);
  (target ?? part).focus();
}

/* In each part, what the person would look at first, else whatever takes the focus. */
const CURRENT = "[role='treeitem'][tabindex='0'], [role='tab'][aria-selected='true'], a[aria-current]";
const FOCUSABLE =
  "a[href]:not([tabindex='-1']), button:not([hidden]), summary, input:not([hidden])";

/* A page says where its neighbours are: <a rel="next"> and <a rel="prev">. In the history the
   compactions stand between the messages, and the next is the one below what is at the top. */
function goToCompaction(step) {
  const link = document.querySelector(`#main a[rel~="${step > 0 ? "next" : "prev"}"]`);
  if (link) {
    // Just swapped in, it may not be boosted yet, and a click would load the whole page anew.
    window.htmx?.process(link);
    link.click();
    return;
  }
  const editor = document.getElementById("editor");
  const marks = [...editor.querySelectorAll(".marker")];
  const middle = editor.getBoundingClientRect().top + editor.clientHeight / 2;
  const offset = (mark) => mark.getBoundingClientRect().top - middle;
  const next = step > 0
    ? marks.find((mark) => offset(mark) > 24)
    : marks.findLast((mark) => offset(mark) < -24);
  next?.scrollIntoView({ block: "center" });
}

/* The changes of the diff, from the one that has the focus on. */
function goToChange(step) {
  const changes = [...document.querySelectorAll("#main [data-change]")];
  if (!changes.length) return;
  const here = changes.findIndex((change) => change.contains(document.activeElement));
  const from = here < 0 && step < 0 ? 0 : here;
  const change = changes[(from + step + changes.length) % changes.length];
  change.focus({ preventScroll: true });
  change.scrollIntoView({ block: "start" });
}

export const COMMANDS = [
  { id: "quick-open", title: "Go to a session or a view", key: "Ctrl+P", run: () => openQuick("") },
  { id: "palette", title: "Show all commands", key: "Ctrl+Shift+P", run: () => openQuick(">") },
  { id: "palette-f1", title: "", key: "F1", run: () => openQuick(">") },
  { id: "explorer", title: "Go to the explorer", key: "Ctrl+Shift+E", run: goToExplorer },
  { id: "toggle-side", title: "Show or hide the side bar", key: "Ctrl+B", run: toggleSideBar },
  { id: "toggle-panel", title: "Show or hide the panel", key: "Ctrl+J", run: () => togglePanel() },
  { id: "next", title: "Next compaction", key: "F8", run: () => goToCompaction(1) },
  { id: "previous", title: "Previous compaction", key: "Shift+F8", run: () => goToCompaction(-1) },
  { id: "next-change", title: "Next change in the diff", key: "Alt+F5", run: () => goToChange(1) },
  { id: "previous-change", title: "Previous change in the diff", key: "Alt+Shift+F5", run: () => goToChange(-1) },
  { id: "back", title: "Go back", key: "Alt+ArrowLeft", notInFields: true, run: () => history.back() },
  { id: "forward", title: "Go forward", key: "Alt+ArrowRight", notInFields: true, run: () => history.forward() },
  { id: "next-part", title: "Go to the next part of the window", key: "F6", run: () => goToPart(1) },
  { id: "previous-part", title: "Go to the previous part of the window", key: "Shift+F6", run: () => goToPart(-1) },
  { id: "theme", title: "Choose a colour theme", key: "", run: chooseTheme },
];

function goToExplorer() {
  document.documentElement.classList.remove("no-side");
  document.querySelector("#side-scroll [tabindex='0']")?.focus();
}

function chooseTheme() {
  const menu = document.querySelector(".activity-bar .menu-button");
  menu.open = true;
  menu.querySelector("button").focus();
}

function keyOf(event) {
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("Ctrl");
  if (event.altKey) parts.push("Alt");
  if (event.shiftKey) parts.push("Shift");
  parts.push(event.key.length === 1 ? event.key.toUpperCase() : event.key);
  return parts.join("+");
}

const byKey = new Map(COMMANDS.filter((one) => one.key).map((one) => [one.key, one]));
const byId = new Map(COMMANDS.map((one) => [one.id, one]));

/* Capture: the web view's own Ctrl+P and F-keys come after us, if at all. */
document.addEventListener("keydown", (event) => {
  const command = byKey.get(keyOf(event));
  // In a field, on some systems, these keys go from word to word.
  if (!command || (command.notInFields && event.target.matches?.("input, textarea"))) return;
  event.preventDefault();
  event.stopPropagation();
  command.run();
}, true);

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-command]");
  if (button) byId.get(button.dataset.command)?.run();
});
