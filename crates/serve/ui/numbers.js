// A plain form for a model that the page knows nothing special about.

import { predict } from "./api.js";
import { bars } from "./bars.js";
import { element } from "./dom.js";

export function show(card) {
  const count = card.input.shape.reduce((all, side) => all * side, 1);
  const shares = bars(card.labels);
  const numbers = element("textarea", { id: "numbers", rows: 8, spellcheck: false }, Array(Math.min(count, 10_000)).fill(0).join(" "));
  const form = element("form", { submit: ask },
    element("label", { for: "numbers" }, `${count} numbers, of shape ${card.input.shape.join(" × ")}`), numbers,
    element("p", { class: "row" }, element("button", {}, "Ask the model")));

  async function ask(event) {
    event.preventDefault();
    const given = numbers.value.split(/[\s,;]+/).filter(Boolean).map(Number);
    if (given.some(Number.isNaN)) return shares.clear("Something there is not a number.");
    if (given.length !== count) return shares.clear(`${count} numbers are wanted, and ${given.length} are there.`);
    try {
      shares.fill((await predict({ inputs: [given] })).predictions[0]);
    } catch (problem) {
      shares.clear(problem.message);
    }
  }

  return [element("section", {}, form), element("section", {}, ...shares.parts)];
}
