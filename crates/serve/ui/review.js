// A text, and what the model makes of it while it is written.

import { latest, predict } from "./api.js";
import { bars } from "./bars.js";
import { element, percent } from "./dom.js";

const EXAMPLES = {
  "A good one": "A quiet film that trusts its actors. The story is simple, the pictures are beautiful, and I was sorry when it was over.",
  "A bad one": "Two hours of my life wasted. The plot makes no sense, nobody can act, and the ending is an insult to everybody who stayed.",
  "Neither": "The first half is slow and a bit dull, but the second half has some great scenes and one very good joke.",
};

export function show(card) {
  const shares = bars(card.labels);
  const words = element("p", { class: "words" });
  const text = element("textarea", { id: "text", rows: 8, maxlength: card.input.longest_text, input: () => look(text.value) });
  const look = latest(ask, tell, (problem) => {
    words.replaceChildren();
    shares.clear(problem.message);
  });

  async function ask(written) {
    return written.trim() ? predict({ texts: [written] }) : undefined;
  }

  function tell(answer) {
    if (!answer) {
      words.replaceChildren();
      return shares.clear();
    }
    const all = both(answer.predictions[0]);
    const best = all.indexOf(Math.max(...all));
    const known = answer.words[0].filter((word) => word.known).length;
    shares.fill(all, `${card.labels[best]}, ${percent(all[best])}. ${known} of ${answer.words[0].length} words are known to the model.`);
    words.replaceChildren(...answer.words[0].flatMap(marked));
  }

  const examples = Object.entries(EXAMPLES).map(([name, example]) =>
    element("button", { type: "button", click: () => { text.value = example; look(example); } }, name));
  return [
    element("section", {},
      element("label", { for: "text" }, "A review"), text,
      element("p", { class: "row examples" }, "Examples:", ...examples)),
    element("section", {}, ...shares.parts, element("h2", {}, "What it read"), words),
  ];
}

/** Of two classes a network may tell the second one only. */
function both(probabilities) {
  return probabilities.length > 1 ? probabilities : [1 - probabilities[0], probabilities[0]];
}

/** A word as the model reads it; one that it does not know is marked, and said to be unknown. */
function marked({ word, known }) {
  if (known) return [`${word} `];
  return [element("del", { title: "unknown to the model" }, word), " "];
}
