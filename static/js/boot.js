/* Runs before the first paint: puts back how the parts of the window were arranged.
   A cookie and not the local storage, which is kept per port, and the port changes every time. */
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const cookie = document.cookie.split("; ").find((one) => one.startsWith("anchorline-layout="));
  const layout = new URLSearchParams(decodeURIComponent(cookie?.split("=")[1] ?? ""));
  root.classList.toggle("no-side", layout.get("side") === "off");
  root.classList.toggle("no-panel", layout.get("panel") === "off");
  for (const name of ["side-width", "panel-height"]) {
    const pixels = Number(layout.get(name));
    if (pixels >= 80 && pixels <= 1600) root.style.setProperty(`--${name}`, `${pixels}px`);
  }
})();
