// What the model's card says.

import { element } from "./dom.js";

export function about(card) {
  const rows = {
    "Trained on": card.data,
    "Trained": card.trained_at,
    "By": card.strategy,
    "Measured": Object.entries(card.metrics ?? {}).map(([name, value]) => `${name} ${value.toFixed(4)}`).join(", "),
    "Layers": card.layers?.map(({ name, kind }) => `${name} (${kind})`).join(", "),
    "Weights": card.weights_sha256,
  };
  const said = Object.entries(rows).filter(([, value]) => value);
  const list = said.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]);
  document.getElementById("card").replaceChildren(...list);
  document.getElementById("about").hidden = false;
}
