// What an answer of the server says about one sample.

import { percent } from "./dom.js";

// IMDB's folders, which name its classes, have short names.
const LONG = { neg: "negative", pos: "positive" };

/** The classes as people call them. */
export const names = (card) => card.labels.map((label) => LONG[label] ?? label);

/** The probability of each class. Of two classes a network may tell the second one only. */
export function shares(card, prediction) {
  const alone = prediction.length === 1 && card.labels.length === 2;
  return alone ? [1 - prediction[0], prediction[0]] : prediction;
}

/** The class of a sample and how sure the model is; of an ensemble also how many of its members agree. */
export function best(card, answer, number = 0) {
  const all = shares(card, answer.predictions[number]);
  const place = answer.classes[number];
  const votes = answer.votes?.[number]?.[place];
  const agree = votes === undefined ? "" : `, ${votes} of ${card.members} models`;
  return { place, label: names(card)[place], sure: percent(all[place]) + agree };
}
