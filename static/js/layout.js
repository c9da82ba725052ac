/* Side bar and panel: shown or hidden, how large, and remembered. */

const root = document.documentElement;
const YEAR = 365 * 24 * 60 * 60;
const NARROW = matchMedia("(max-width: 700px)");

const PARTS = {
  side: { property: "--side-width", least: 170, most: 640, usual: 276 },
  panel: { property: "--panel-height", least: 90, most: 600, usual: 190 },
};

function remember() {
  const style = getComputedStyle(root);
  const layout = new URLSearchParams({
    side: root.classList.contains("no-side") ? "off" : "on",
    panel: root.classList.contains("no-panel") ? "off" : "on",
    "side-width": parseInt(style.getPropertyValue("--side-width"), 10),
    "panel-height": parseInt(style.getPropertyValue("--panel-height"), 10),
  });
  document.cookie = `anchorline-layout=${encodeURIComponent(layout)}; path=/; max-age=${YEAR}; samesite=strict`;
}

export function toggleSideBar() {
  // In a narrow window the side bar lies over the editor, and only while it is asked for.
  if (NARROW.matches) root.classList.toggle("side-forced");
  else root.classList.toggle("no-side");
  remember();
}

export function togglePanel(show) {
  root.classList.toggle("no-panel", typeof show === "boolean" ? !show : undefined);
  remember();
}

function setSize(part, pixels) {
  const { property, least, most } = PARTS[part];
  const size = Math.round(Math.min(most, Math.max(least, pixels)));
  root.style.setProperty(property, `${size}px`);
  for (const splitter of document.querySelectorAll(`[data-splitter="${part}"]`)) {
    splitter.setAttribute("aria-valuenow", size);
  }
}

function sizeNow(part) {
  return parseInt(getComputedStyle(root).getPropertyValue(PARTS[part].property), 10);
}

const KEY_STEPS = {
  side: { ArrowLeft: -16, ArrowRight: 16 },
  panel: { ArrowUp: 16, ArrowDown: -16 },
};

export function prepareSplitters() {
  for (const splitter of document.querySelectorAll("[data-splitter]")) {
    const { least, most } = PARTS[splitter.dataset.splitter];
    splitter.hidden = false;
    splitter.setAttribute("aria-valuemin", least);
    splitter.setAttribute("aria-valuemax", most);
    splitter.setAttribute("aria-valuenow", sizeNow(splitter.dataset.splitter));
  }
}

document.addEventListener("pointerdown", (event) => {
  const splitter = event.target.closest?.("[data-splitter]");
  if (!splitter) return;
  event.preventDefault();
  const part = splitter.dataset.splitter;
  const along = (e) => (part === "side" ? e.clientX : -e.clientY);
  const [from, size] = [along(event), sizeNow(part)];
  const move = (e) => setSize(part, size + along(e) - from);
  splitter.setPointerCapture(event.pointerId);
  splitter.classList.add("is-dragged");
  splitter.addEventListener("pointermove", move);
  splitter.addEventListener(
    "lostpointercapture",
    () => {
      splitter.removeEventListener("pointermove", move);
      splitter.classList.remove("is-dragged");
      remember();
    },
    { once: true },
  );
});

document.addEventListener("dblclick", (event) => {
  const splitter = event.target.closest?.("[data-splitter]");
  if (!splitter) return;
  setSize(splitter.dataset.splitter, PARTS[splitter.dataset.splitter].usual);
  remember();
});

document.addEventListener("keydown", (event) => {
  const part = event.target.dataset?.splitter;
  const step = part && KEY_STEPS[part][event.key];
  if (!step) return;
  event.preventDefault();
  setSize(part, sizeNow(part) + step);
  remember();
});
