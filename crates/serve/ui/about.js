// What the model's card says, for those who want to know more, and how a program asks.

import { count, element } from "./dom.js";

export function about(card) {
  document.getElementById("card").replaceChildren(facts(card), ...layers(card.layers ?? []), ...call(card));
  document.getElementById("about").hidden = false;
}

function facts({ data, members, metrics, network, parameters, summary, trained, trainyard, weights_sha256 }) {
  const rows = {
    "In short": summary,
    "Network": [network, `${count(parameters)} parameters`, members > 1 && `${members} members`].filter(Boolean).join(", "),
    "Data": data && [data.name, ...Object.entries(data.samples ?? {}).map(([split, samples]) => `${split} ${count(samples)}`)].join(", "),
    "Measured": Object.entries(metrics ?? {}).map(measured).join("; "),
    "Trained": trained && training(trained),
    "Weights": weights_sha256,
    "Trainyard": trainyard,
  };
  const said = Object.entries(rows).filter(([, value]) => value);
  return element("dl", {}, ...said.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function measured([split, numbers]) {
  const told = Object.entries(numbers).filter(([, value]) => Number.isFinite(value));
  return `${split}: ${told.map(([name, value]) => `${name} ${value.toFixed(4)}`).join(", ")}`;
}

function training({ batch, epochs, optimizer, seconds, seed, steps }) {
  const by = typeof optimizer === "string" ? optimizer : optimizer?.name ?? Object.keys(optimizer ?? {})[0];
  const how = `${count(epochs)} epochs, ${count(steps)} steps of ${batch} samples, seed ${seed}`;
  return [how, by, Number.isFinite(seconds) && `${count(Math.round(seconds))} s`].filter(Boolean).join(", ");
}

function layers(all) {
  if (!all.length) return [];
  const cells = (kind, ...texts) => element("tr", {}, ...texts.map((text) => element(kind, {}, text)));
  const rows = all.map(({ kind, name, output, parameters }) => cells("td", name, kind, output.join(" × "), count(parameters)));
  const table = element("table", {},
    element("thead", {}, cells("th", "Layer", "Kind", "Output", "Parameters")), element("tbody", {}, ...rows));
  // It may be wider than a phone, and then it is moved by keys too.
  return [element("h2", {}, "Layers"), element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Layers" }, table)];
}

/** The command that asks this very model. */
function call({ input, kind }) {
  const small = input.shape.reduce((all, side) => all * side, 1) <= 16;
  const json = (question) => `-H 'content-type: application/json' -d '${JSON.stringify(question)}'`;
  const how = {
    texts: json({ texts: ["A great film."] }),
    numbers: small ? json({ inputs: [Array(input.shape.reduce((all, side) => all * side, 1)).fill(0)] }) : "-H 'content-type: application/json' -d @question.json",
  };
  const command = `curl ${location.origin}/v1/predict ${how[kind] ?? "-F file=@picture.png"}`;
  return [
    element("h2", {}, "Ask it from a program"),
    element("pre", { class: "wide", tabindex: 0, role: "region", "aria-label": "Command" }, element("code", {}, command)),
    element("p", {}, "All that it can be asked: ", element("a", { href: "/openapi.json" }, "openapi.json"), "."),
  ];
}
