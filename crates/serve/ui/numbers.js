// A plain form for a model that the page knows nothing special about.

import { best, names, shares } from "./answers.js";
import { predict } from "./api.js";
import { bars } from "./bars.js";
import { button, count, element, examples } from "./dom.js";
import { verdict } from "./verdict.js";

export const title = "Give it numbers";
export const todo = "Fill in the numbers of a sample.";

// So many numbers have a field each; more are written one after another.
const FIELDS = 24;

export function show(card) {
  const wanted = card.input.shape.reduce((all, side) => all * side, 1);
  const said = verdict("Nothing asked yet.");
  const chart = bars(names(card));
  const values = element("ol", { class: "values", start: 0 });
  const sample = wanted <= FIELDS ? fields(wanted) : lines(wanted);
  const form = element("form", { submit: ask, novalidate: true },
    element("p", {}, shaped(wanted, card.input.shape)),
    sample.part, element("div", { class: "row" }, element("button", {}, "Ask the model")));

  async function ask(event) {
    event?.preventDefault();
    try {
      tell(await predict({ inputs: [sample.read()] }));
    } catch (problem) {
      chart.clear();
      values.replaceChildren();
      said.fail(problem.message);
    }
  }

  function tell(answer) {
    const [raw] = answer.predictions;
    // Not every network answers with probabilities.
    const probable = raw.every((number) => number >= 0 && number <= 1);
    chart.part.hidden = !probable;
    values.replaceChildren(...(probable ? [] : raw.map((number) => element("li", {}, String(number)))));
    if (!probable) return said.tell(raw.length === 1 ? "A number" : `${count(raw.length)} numbers`, "that are no probabilities");
    const { place, label, sure } = best(card, answer);
    chart.fill(shares(card, raw), place);
    said.tell(label, sure);
  }

  function use(number) {
    sample.write(Array.from({ length: wanted }, number));
    ask();
  }

  return [
    element("section", { "aria-label": "Your sample" }, form),
    element("section", { class: "answer", "aria-label": "The model's answer" }, said.part, chart.part, values),
    examples(button("All 0", () => use(() => 0)), button("All 1", () => use(() => 1)),
      button("Random, 0 to 1", () => use(() => Number(Math.random().toFixed(3))))),
  ];
}

function shaped(wanted, shape) {
  return shape.length > 1 ? `${count(wanted)} numbers, of shape ${shape.join(" × ")}.` : `${count(wanted)} numbers.`;
}

/** A field for each number. */
function fields(wanted) {
  const inputs = Array.from({ length: wanted }, () => element("input", { inputmode: "decimal", value: 0, autocomplete: "off" }));
  const part = element("div", { class: "fields" }, ...inputs.map((input, number) => element("label", {}, element("span", {}, String(number + 1)), input)));
  return {
    part,
    read: () => numbers(inputs.map((input) => input.value.trim())),
    write: (all) => inputs.forEach((input, number) => (input.value = all[number])),
  };
}

/** All numbers in one place, with anything between them that is not part of one. */
function lines(wanted) {
  const text = element("textarea", { id: "numbers", rows: 10, spellcheck: "false", "aria-label": "Numbers, with spaces or commas between them" });
  return {
    part: text,
    read() {
      const all = numbers(text.value.split(/[\s,;[\]]+/).filter(Boolean));
      if (all.length !== wanted) throw new Error(`${count(wanted)} numbers are wanted, and ${count(all.length)} are there.`);
      return all;
    },
    write: (all) => (text.value = all.join(" ")),
  };
}

function numbers(texts) {
  const wrong = texts.find((text) => text === "" || !Number.isFinite(Number(text)));
  if (wrong !== undefined) throw new Error(wrong ? `“${wrong}” is not a number.` : "A number is missing.");
  return texts.map(Number);
}
