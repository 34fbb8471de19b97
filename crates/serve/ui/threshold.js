// How near two pictures must be to be taken for one person: a slider on the scale on which the distances lie.

import { element } from "./dom.js";

// Embeddings have length 1, so no two are farther apart than this.
const FARTHEST = 2;

/** The slider; `changed` is called when it is moved. */
export function threshold(start, changed) {
  const slider = element("input", { type: "range", id: "threshold", min: 0, max: FARTHEST, step: 0.01, value: start, input: () => {
    told.textContent = value().toFixed(2);
    changed();
  } });
  const value = () => Number(slider.value);
  const told = element("output", { for: "threshold" }, value().toFixed(2));
  // The distances are told in words elsewhere.
  const dots = element("div", { class: "dots", "aria-hidden": "true" });
  const part = element("div", { class: "scale" },
    element("label", { for: "threshold" }, "One person when nearer than ", told), dots, slider,
    element("p", { class: "ends", "aria-hidden": "true" }, element("span", {}, "0, the same picture"), element("span", {}, `${FARTHEST}, as far as can be`)));

  /** Shows where these distances lie. */
  function mark(distances) {
    dots.replaceChildren(...distances.map((distance) => {
      const dot = element("span", { class: distance < value() ? "near" : "far" });
      dot.style.setProperty("--at", Math.min(distance / FARTHEST, 1));
      return dot;
    }));
  }

  return { part, value, mark };
}
