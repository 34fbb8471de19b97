// Pictures, each with its classes.

import { predict } from "./api.js";
import { announcer, element, percent } from "./dom.js";
import { drop } from "./drop.js";
import { shown } from "./shown.js";

export function show(card) {
  const said = announcer();
  const results = element("ul", { class: "cards" });

  async function take(files) {
    said.textContent = files.length === 1 ? "One picture is looked at …" : `${files.length} pictures are looked at …`;
    const form = new FormData();
    files.forEach((file) => form.append("file", file));
    try {
      const { predictions } = await predict(form);
      results.prepend(...files.map((file, number) => result(file, predictions[number])));
      said.textContent = predictions.length === 1 ? best(predictions[0]) : `${predictions.length} pictures were looked at.`;
    } catch (problem) {
      said.textContent = problem.message;
    }
  }

  function result(file, probabilities) {
    return element("li", {}, shown(file), element("p", {}, element("strong", {}, best(probabilities))));
  }

  function best(probabilities) {
    const all = probabilities.length > 1 ? probabilities : [1 - probabilities[0], probabilities[0]];
    const number = all.indexOf(Math.max(...all));
    return `${card.labels[number]}, ${percent(all[number])}`;
  }

  const examples = (card.examples ?? []).map(({ url, name }) =>
    element("button", { type: "button", class: "picture", click: async () => take([await fetched(url, name)]) },
      element("img", { src: url, alt: name, width: 96, height: 96 })));
  return [
    element("section", {}, element("p", { class: "row" }, ...drop("Pictures", true, take)),
      element("p", { class: "row examples" }, ...examples), said),
    element("section", {}, results),
  ];
}

/** A picture of the server's own, as if it had been brought along. */
export async function fetched(url, name) {
  return new File([await (await fetch(url)).blob()], name, { type: "image/png" });
}
