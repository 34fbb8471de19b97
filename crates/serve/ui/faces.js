// Faces: who is it, of those in the gallery; or are two of them one person?

import { element, examples } from "./dom.js";
import { zone } from "./drop.js";
import { lookup } from "./lookup.js";
import { pair } from "./pair.js";
import { pictureButtons } from "./shown.js";
import { threshold } from "./threshold.js";

export const title = "Show it a face";
export const todo = "Show it one: it turns faces into numbers, and those of one person lie near to each other.";

export function show(card) {
  const limit = threshold(card.threshold, () => current().judge());
  // Without a gallery there is nobody to look up.
  const modes = {
    ...(card.people && { lookup: { name: "Who is it?", ...lookup(card.people, limit) } }),
    pair: { name: "Compare two", ...pair(limit) },
  };
  const answer = element("section", { class: "answer", "aria-label": "The model's answer" });
  let chosen = Object.keys(modes)[0];

  const current = () => modes[chosen];
  const take = (files) => current().take(files);

  function choose(mode) {
    chosen = mode;
    answer.replaceChildren(...current().parts, limit.part);
    current().judge();
  }

  choose(chosen);
  return [
    element("section", { "aria-label": "Your face" },
      ...switched(modes, chosen, choose),
      zone("Choose a picture", "Or drop it anywhere on this page, or paste it. The whole picture counts, so cut it close to the face: faces are not searched for.", true, take),
      examples(...pictureButtons(card.examples, take))),
    answer,
  ];
}

/** Which of the modes it is, where there is a choice. */
function switched(modes, chosen, choose) {
  const names = Object.keys(modes);
  if (names.length < 2) return [];
  const radio = (mode) => element("input", { type: "radio", name: "mode", value: mode, checked: mode === chosen, class: "unseen", change: () => choose(mode) });
  const labels = names.map((mode) => element("label", {}, radio(mode), element("span", {}, modes[mode].name)));
  return [element("fieldset", { class: "switch" }, element("legend", { class: "unseen" }, "What to do"), ...labels)];
}
