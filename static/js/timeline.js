/* The timeline's markers: which one the editor shows, and going along them with the arrow keys. */

const markers = () => [...document.querySelectorAll(".timeline-marker")];

/* One of many can be reached with Tab, as in a tree; the arrows do the rest. */
function setReachable(marker) {
  for (const one of markers()) one.setAttribute("tabindex", one === marker ? 0 : -1);
}

export function markCompaction() {
  let current = null;
  for (const marker of markers()) {
    const here = marker.getAttribute("href") === location.pathname;
    marker.classList.toggle("is-current", here);
    if (here) marker.setAttribute("aria-current", "page");
    else marker.removeAttribute("aria-current");
    if (here) current = marker;
  }
  setReachable(current ?? markers()[0]);
}

const KEYS = {
  ArrowRight: (all, here) => all[here + 1],
  ArrowLeft: (all, here) => all[here - 1],
  Home: (all) => all[0],
  End: (all) => all.at(-1),
};

document.addEventListener("keydown", (event) => {
  const marker = event.target.closest?.(".timeline-marker");
  const act = marker && !event.ctrlKey && !event.altKey && !event.metaKey && KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  const all = markers();
  const next = act(all, all.indexOf(marker));
  if (!next) return;
  setReachable(next);
  next.focus();
});
