/* The bottom panel: one of its tabs is shown; which, outlives the page that was left. */

let wanted = "tab-timeline";

function select(tab) {
  for (const one of document.querySelectorAll("[data-panel-tab]")) {
    const selected = one === tab;
    one.setAttribute("aria-selected", selected);
    one.tabIndex = selected ? 0 : -1;
    document.getElementById(one.getAttribute("aria-controls")).hidden = !selected;
  }
}

export function preparePanel() {
  const tabs = [...document.querySelectorAll("[data-panel-tab]")];
  select(tabs.find((tab) => tab.id === wanted) ?? tabs[0]);
}

/* Without this script the tabs are links to the pages of the same content. */
document.addEventListener("click", (event) => {
  const tab = event.target.closest?.("[data-panel-tab]");
  if (!tab) return;
  event.preventDefault();
  wanted = tab.id;
  select(tab);
});

document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step || !event.target.matches?.("[data-panel-tab]")) return;
  event.preventDefault();
  const tabs = [...document.querySelectorAll("[data-panel-tab]")];
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  wanted = next.id;
  select(next);
  next.focus();
});
