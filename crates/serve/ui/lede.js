// What the model is and how good it is, in a sentence or two.

import { count, element, percent } from "./dom.js";

// What samples are called, by the model's kind.
const SAMPLES = { digits: "digits", texts: "texts", pictures: "pictures", faces: "pictures of faces", numbers: "samples" };

// Samples of these splits are new to a model; the first one that was measured counts.
const NEW = ["test", "validation"];

/** The parts of a paragraph about the model. */
export function lede(card) {
  const name = element("strong", {}, card.name);
  const what = card.members > 1 ? ` is ${card.members} models that answer together.` : learned(card);
  return [name, what, good(card)];
}

function learned({ data, kind, network, parameters }) {
  const samples = data?.samples?.train;
  if (!samples) return ` is a network${network && ` (${network})`} of ${count(parameters)} parameters.`;
  return ` learned from ${count(samples)} ${SAMPLES[kind]}.`;
}

function good({ data, kind, metrics }) {
  // A face has no right class. What is measured of faces is how they lie to each other, which the card tells.
  if (kind === "faces") return "";
  const known = (name) => Number.isFinite(metrics?.[name]?.accuracy);
  const split = NEW.find(known);
  // Most models do well on what they learned from. It is said, but not as if it were a promise.
  if (!split) return known("train") ? ` It gets ${percent(metrics.train.accuracy)} of those right; new ones may be harder.` : "";
  const samples = data?.samples?.[split];
  const which = samples ? `Of ${count(samples)} that it had never seen` : "Of those that it had never seen";
  return ` ${which}, it got ${percent(metrics[split].accuracy)} right.`;
}
