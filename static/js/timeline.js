/* Marks in the timeline the compaction that the editor shows. */

export function markCompaction() {
  for (const marker of document.querySelectorAll(".timeline-marker")) {
    const here = marker.getAttribute("href") === location.pathname;
    marker.classList.toggle("is-current", here);
    if (here) marker.setAttribute("aria-current", "page");
    else marker.removeAttribute("aria-current");
  }
}
