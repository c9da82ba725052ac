/* Brings the workbench to life: everything works as plain pages before this runs. */

import "./commands.js";
import { prepareSplitters } from "./layout.js";
import { preparePanel } from "./panel.js";
import { markCompaction } from "./timeline.js";
import { markCurrent, prepareFilter } from "./tree.js";

const main = () => document.getElementById("main");
const say = (text) => {
  const place = document.getElementById("status-message");
  if (place) place.textContent = text;
};

function prepareShell() {
  for (const button of document.querySelectorAll("button[data-command]")) button.hidden = false;
  prepareSplitters();
  preparePanel();
}

/* A place in a page: after a followed link the address is only pushed, so :target does not see it. */
function markTarget() {
  const target = location.hash
    ? document.getElementById(decodeURIComponent(location.hash.slice(1)))
    : main().querySelector(".is-target");
  if (!target || !main().contains(target)) return;
  target.classList.add("is-target");
  target.scrollIntoView({ block: "center" });
}

/* A choice that is a place to go to goes there. */
document.addEventListener("change", (event) => {
  if (event.target.matches?.("[data-go]")) event.target.form.requestSubmit();
});

document.addEventListener("htmx:beforeRequest", () => say(""));
document.addEventListener("htmx:sendError", () => say("Anchorline does not answer any more; start it again."));
document.addEventListener("htmx:afterSettle", (event) => {
  prepareShell();
  markCompaction();
  if (event.detail.target?.id !== "main") return;
  markCurrent();
  markTarget();
  document.documentElement.classList.remove("side-forced");
  document.getElementById("announcer").textContent = document.title;
  if (document.activeElement === document.body) document.getElementById("editor").focus({ preventScroll: true });
});
window.addEventListener("hashchange", markTarget);

/* Only one menu is open at a time, and none once the person looks elsewhere. */
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".menu-button[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(".menu-button[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

/* The editor scrolls, not the page: so the browser does not put its place back on its own. */
const scrollKey = () => `scroll:${location.pathname}${location.search}`;
window.addEventListener("pagehide", () => {
  sessionStorage.setItem(scrollKey(), document.getElementById("editor").scrollTop);
});
function restoreScroll() {
  const how = performance.getEntriesByType("navigation")[0]?.type;
  const place = Number(sessionStorage.getItem(scrollKey()));
  if (place && (how === "reload" || how === "back_forward")) document.getElementById("editor").scrollTop = place;
}

prepareShell();
prepareFilter();
markCurrent();
restoreScroll();
markTarget();
