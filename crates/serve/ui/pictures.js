// Pictures, each with its classes.

import { best, names, shares } from "./answers.js";
import { predictPicture } from "./api.js";
import { bars } from "./bars.js";
import { button, element, examples, reveal, say } from "./dom.js";
import { zone } from "./drop.js";
import { pictureButtons, shown } from "./shown.js";

export const title = "Show it pictures";
export const todo = "Show it some of yours.";

// Requests at a time. Each picture is one of its own: one that cannot be read then spoils no other.
const AT_A_TIME = 4;

export function show(card) {
  const results = element("ul", { class: "cards pictures", "aria-label": "Answers" });
  const hint = element("p", { class: "note" }, "Nothing shown yet.");
  const wipe = button("Clear", () => {
    results.replaceChildren();
    shownYet(false);
  }, { hidden: true });

  function shownYet(any) {
    hint.hidden = any;
    wipe.hidden = !any;
  }

  async function take(files) {
    const waiting = files.map((file) => ({ file, item: item(file) }));
    results.prepend(...waiting.map(({ item }) => item.part));
    shownYet(true);
    reveal(results.firstChild);
    const worker = async () => {
      for (let next; (next = waiting.shift());) await ask(next);
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  }

  async function ask({ file, item }) {
    try {
      item.tell(await predictPicture(file));
    } catch (problem) {
      item.fail(problem.message);
    }
  }

  function item(file) {
    const said = element("p", { class: "said" }, "…");
    const text = element("div", {}, said);
    const part = element("li", {}, shown(file), text);
    return {
      part,
      tell(answer) {
        const { place, label, sure } = best(card, answer);
        const chart = bars(names(card));
        chart.fill(shares(card, answer.predictions[0]), place);
        said.replaceChildren(element("strong", {}, label), " ", element("span", { class: "sure" }, sure));
        text.append(chart.part);
        say(`${file.name}: ${label}, ${sure}`);
      },
      fail(sentence) {
        said.textContent = sentence;
        said.classList.add("problem");
        say(`${file.name}: ${sentence}`);
      },
    };
  }

  const known = names(card).length <= 12 ? `It knows ${names(card).join(", ")}.` : "";
  return [
    element("section", { "aria-label": "Your pictures" },
      zone("Choose pictures", `Or drop them anywhere on this page, or paste one. ${known}`, true, take),
      examples(...pictureButtons(card.examples, take))),
    element("section", { class: "answer", "aria-label": "The model's answers" }, hint, results, element("div", { class: "row" }, wipe)),
  ];
}
