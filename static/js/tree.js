/* The tree of sessions: opening and closing, arrow keys, filter, order, and which row is current. */

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const rows = () => [...document.querySelectorAll("#side-scroll [role='treeitem']")];
const visible = (row) => row.offsetParent !== null;
const childrenOf = (row) => row.parentElement.querySelector(":scope > [role='group']");

function setOpen(row, open) {
  row.setAttribute("aria-expanded", open);
  childrenOf(row).hidden = !open;
}

/* One row can be reached with Tab, as the tree pattern wants; the arrows do the rest. */
function setReachable(row) {
  for (const one of rows()) one.tabIndex = one === row ? 0 : -1;
}

/* Marks the row of the page that is shown, and opens its session. */
export function markCurrent() {
  const main = document.getElementById("main");
  const { session, view } = main.dataset;
  let current = null;
  for (const row of rows()) {
    const here = session && row.dataset.session === session;
    if (here && row.getAttribute("aria-expanded") === "false") setOpen(row, true);
    if (here && view && row.dataset.view === view) {
      row.setAttribute("aria-current", "page");
      row.closest("details").open = true;
      row.scrollIntoView({ block: "nearest" });
      current = row;
    } else {
      row.removeAttribute("aria-current");
    }
  }
  setReachable(current ?? rows()[0]);
}

document.addEventListener("click", (event) => {
  const row = event.target.closest?.("[role='treeitem']");
  if (!row) return;
  setReachable(row);
  if (event.target.closest(".twistie")) {
    event.preventDefault();
    event.stopPropagation();
    setOpen(row, row.getAttribute("aria-expanded") !== "true");
  }
}, true);

const KEYS = {
  ArrowDown: (row, all) => all[all.indexOf(row) + 1],
  ArrowUp: (row, all) => all[all.indexOf(row) - 1],
  Home: (row, all) => all[0],
  End: (row, all) => all.at(-1),
  ArrowRight: (row, all) => {
    if (row.getAttribute("aria-expanded") === "false") setOpen(row, true);
    else if (row.hasAttribute("aria-expanded")) return all[all.indexOf(row) + 1];
  },
  ArrowLeft: (row) => {
    if (row.getAttribute("aria-expanded") === "true") setOpen(row, false);
    else return row.closest("[role='group']")?.parentElement.querySelector("[role='treeitem']");
  },
};

document.addEventListener("keydown", (event) => {
  const row = event.target.closest?.("[role='treeitem']");
  const act = row && !event.ctrlKey && !event.altKey && !event.metaKey && KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  const next = act(row, rows().filter(visible));
  if (next) {
    setReachable(next);
    next.focus();
  }
});

export function prepareFilter() {
  const filter = document.getElementById("session-filter");
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const session of document.querySelectorAll(".tree-session")) {
      const text = session.dataset.words.toLowerCase();
      session.hidden = !words.every((word) => text.includes(word));
      found += !session.hidden;
    }
    document.getElementById("filter-empty").hidden = found > 0;
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      filter.value = "";
      filter.dispatchEvent(new Event("input"));
    } else if (event.key === "ArrowDown") {
      rows().find(visible)?.focus();
    }
  });
}

const ORDERS = {
  updated: (a, b) => b.dataset.updated - a.dataset.updated,
  tokens: (a, b) => b.dataset.tokens - a.dataset.tokens,
  title: (a, b) => collator.compare(a.dataset.title, b.dataset.title),
};

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-sort]");
  if (!button) return;
  for (const one of document.querySelectorAll("[data-sort]")) one.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  for (const tree of document.querySelectorAll(".tree")) {
    tree.append(...[...tree.children].sort(ORDERS[button.dataset.sort]));
  }
  button.closest("details").open = false;
});
