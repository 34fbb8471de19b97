// A text, and what the model makes of it while it is written.

import { best, names, shares } from "./answers.js";
import { latest, predict } from "./api.js";
import { bars } from "./bars.js";
import { button, count, element, examples, reveal } from "./dom.js";
import { verdict } from "./verdict.js";

export const title = "Write a review";
export const todo = "Write or paste one: it reads along.";

const EXAMPLES = {
  "A kind one": "A quiet film that trusts its actors. The story is simple, the pictures are beautiful, and I was sorry when it was over. One of the best of the year.",
  "A harsh one": "Two hours of my life wasted. The plot makes no sense, nobody can act, and the ending is an insult to everybody who stayed. The worst film I have seen.",
  "A mixed one": "The first half is slow and a bit dull, but the second half has some great scenes and one very good joke.",
  "One with odd words": "An exquisitely schmaltzy gallimaufry, yet somehow I loved every minute of its flibbertigibbet heroine.",
};

export function show(card) {
  const said = verdict("Nothing written yet.");
  const chart = bars(names(card));
  const read = element("div", { class: "read" });
  const text = element("textarea", { id: "text", rows: 6, maxlength: card.input.longest_text, input: () => look(text.value) });
  const look = latest(
    async (written) => (written.trim() ? predict({ texts: [written] }) : undefined),
    (answer) => (answer ? tell(answer) : clear()),
    (problem) => {
      clear();
      said.fail(problem.message);
    },
  );

  function tell(answer) {
    const { place, label, sure } = best(card, answer);
    chart.fill(shares(card, answer.predictions[0]), place);
    said.tell(label, sure);
    read.replaceChildren(...words(answer.words[0]));
  }

  function clear() {
    chart.clear();
    said.clear();
    read.replaceChildren();
  }

  function use(example) {
    text.value = example;
    look(example);
    reveal(said.part);
  }

  const limit = card.input.words ? `It reads ${count(card.input.words)} words of a longer text.` : "";
  return [
    element("section", { "aria-label": "Your review" },
      element("label", { for: "text" }, "Your review"), text,
      element("div", { class: "row" }, button("Clear", () => use("")), element("span", { class: "note" }, limit))),
    element("section", { class: "answer", "aria-label": "The model's answer" }, said.part, chart.part, read),
    examples(...Object.entries(EXAMPLES).map(([name, example]) => button(name, () => use(example)))),
  ];
}

/** The text as the model reads it. Words that it does not know are marked, and named again for those who do not see the marks. */
function words(all) {
  const unknown = [...new Set(all.filter(({ known }) => !known).map(({ word }) => word))];
  const told = `It knows ${count(all.filter(({ known }) => known).length)} of these ${count(all.length)} words`;
  return [
    element("h2", {}, "What it read"),
    element("p", { class: "words" }, ...all.flatMap(({ word, known }) => [known ? word : element("s", {}, word), " "])),
    element("p", { class: "note" }, unknown.length ? `${told}, and not ${listed(unknown)}.` : `${told}.`),
  ];
}

function listed(all) {
  const most = 8;
  const rest = all.length - most;
  return rest > 0 ? `${all.slice(0, most).join(", ")} and ${count(rest)} more` : all.join(", ");
}
