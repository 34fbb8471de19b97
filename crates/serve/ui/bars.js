// All classes with their probabilities, the most probable one in words.

import { announcer, element, percent } from "./dom.js";

/** Bars for these labels: what to put on the page, and how to fill it. */
export function bars(labels) {
  const said = announcer();
  const rows = labels.map((label) => {
    const fill = element("span", { class: "fill" });
    const share = element("span", { class: "share" });
    const row = element("li", {}, element("span", { class: "label" }, label), element("span", { class: "bar" }, fill), share);
    return { row, fill, share };
  });
  const list = element("ol", { class: "bars", "aria-label": "Probabilities" }, ...rows.map(({ row }) => row));
  clear();

  function fill(shares, sentence) {
    const best = shares.indexOf(Math.max(...shares));
    rows.forEach(({ row, fill, share }, number) => {
      fill.style.setProperty("--share", shares[number]);
      share.textContent = percent(shares[number]);
      row.classList.toggle("best", number === best);
    });
    said.textContent = sentence ?? `${labels[best]}, ${percent(shares[best])}`;
  }

  function clear(sentence = "") {
    rows.forEach(({ row, fill, share }) => {
      fill.style.setProperty("--share", 0);
      share.textContent = "–";
      row.classList.remove("best");
    });
    said.textContent = sentence;
  }

  return { parts: [said, list], fill, clear };
}
