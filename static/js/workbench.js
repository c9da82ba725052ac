/* Brings the workbench to life: everything works as plain pages before this runs. */

import "./commands.js";
import { prepareSplitters } from "./layout.js";
import { preparePanel } from "./panel.js";
import { arrive, arriveByLink } from "./place.js";
import { markCompaction } from "./timeline.js";
import { markCurrent, prepareFilter } from "./tree.js";

const say = (text) => {
  const place = document.getElementById("status-message");
  if (place) place.textContent = text;
};

function prepareShell() {
  for (const button of document.querySelectorAll("button[data-command]")) button.hidden = false;
  prepareSplitters();
  preparePanel();
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
  document.documentElement.classList.remove("side-forced");
  document.getElementById("announcer").textContent = document.title;
  arriveByLink();
});

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

prepareShell();
prepareFilter();
markCurrent();
arrive();
