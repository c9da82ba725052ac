/* The reader's place in a page: how far it is scrolled, which message a link led to, where the focus is. */

const editor = () => document.getElementById("editor");

/* Going back changes the address before this page is left, so the one that is shown is kept. */
const address = () => location.pathname + location.search;
let shown = address();

/* The editor scrolls, not the page: so the browser does not put its place back on its own. */
function remember() {
  sessionStorage.setItem(`scroll:${shown}`, editor().scrollTop);
}

function putBack() {
  const how = performance.getEntriesByType("navigation")[0]?.type;
  const place = sessionStorage.getItem(`scroll:${shown}`);
  if (place === null || (how !== "reload" && how !== "back_forward")) return false;
  editor().scrollTop = Number(place);
  return true;
}

/* After a followed link the address is only pushed, so :target does not see it. */
function markTarget() {
  const target = location.hash
    ? document.getElementById(decodeURIComponent(location.hash.slice(1)))
    : editor().querySelector(".is-target");
  if (!target || !editor().contains(target)) return undefined;
  target.classList.add("is-target");
  return target;
}

function goToTarget() {
  markTarget()?.scrollIntoView({ block: "center" });
}

/* Keys that scroll go to what has the focus, and that should be what scrolls. */
function focusEditor() {
  if (document.activeElement === document.body) editor().focus({ preventScroll: true });
}

/* The page was loaded as a whole: by an address, by reloading it or by going back to it. */
export function arrive() {
  if (putBack()) {
    markTarget();
    // The browser goes to the fragment by itself, but only once everything is loaded.
    window.addEventListener("load", () => setTimeout(putBack));
  } else {
    goToTarget();
  }
  focusEditor();
}

/* The main part was replaced. */
export function arriveByLink() {
  goToTarget();
  focusEditor();
}

window.addEventListener("pagehide", remember);
document.addEventListener("htmx:pushedIntoHistory", () => {
  shown = address();
});
window.addEventListener("hashchange", goToTarget);

/* What is swapped out may hold the focus: then what comes in its place takes it over. */
const FOCUSABLE = "a[href], button, input, select, summary, [tabindex]";
let heldFocus = false;
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target } = event.detail;
  if (target.id === "main") remember();
  else heldFocus = target.contains(document.activeElement);
});
document.addEventListener("htmx:load", (event) => {
  if (!heldFocus) return;
  heldFocus = false;
  const place = event.detail.elt;
  if (!place.matches(FOCUSABLE)) place.tabIndex = -1;
  place.focus({ preventScroll: true });
});
