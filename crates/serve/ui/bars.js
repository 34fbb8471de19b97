// The classes with their probabilities.

import { element, percent } from "./dom.js";

// As many rows are taken in at a glance. Of more classes only the most probable ones are shown.
const MOST = 12;
const TOP = 8;

/** Bars for these labels: what to put on the page, and how to fill it. `best` is the class to stand out. */
export function bars(labels) {
  const many = labels.length > MOST;
  const rows = labels.slice(0, many ? TOP : MOST).map((text) => {
    const [label, fill, share] = ["label", "fill", "share"].map((name) => element("span", { class: name }));
    label.textContent = many ? "" : text;
    const row = element("li", {}, label, element("span", { class: "bar" }, fill), share);
    return { row, label, fill, share };
  });
  const part = element("ol", { class: "bars", "aria-label": many ? "Most probable classes" : "Probabilities" }, ...rows.map(({ row }) => row));
  part.classList.toggle("digits", labels.length === 10 && labels.every((label) => label.length === 1));
  clear();

  function fill(shares, best) {
    const order = [...shares.keys()];
    if (many) order.sort((one, other) => shares[other] - shares[one]);
    rows.forEach((it, number) => {
      const place = order[number];
      it.label.textContent = labels[place];
      set(it, shares[place], percent(shares[place]), place === best);
    });
  }

  function clear() {
    rows.forEach((it) => set(it, 0, "–", false));
  }

  return { part, fill, clear };
}

function set({ row, fill, share }, part, text, best) {
  fill.style.setProperty("--share", part);
  share.textContent = text;
  row.classList.toggle("best", best);
}
