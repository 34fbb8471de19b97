// A face beside the nearest ones of the gallery, or two faces beside each other.

import { compare, predict } from "./api.js";
import { fetched } from "./pictures.js";
import { announcer, element } from "./dom.js";
import { drop } from "./drop.js";
import { shown } from "./shown.js";

export function show(card) {
  const said = announcer();
  const results = element("ul", { class: "cards" });
  const threshold = element("input", { type: "range", id: "threshold", min: 0, max: 2, step: 0.01, value: card.threshold, input: judge });
  const told = element("output", { for: "threshold" });
  // The two newest, to be compared.
  let faces = [], judged = () => {};

  function judge() {
    told.textContent = Number(threshold.value).toFixed(2);
    judged(Number(threshold.value));
  }

  async function take([file]) {
    said.textContent = "The face is looked up …";
    faces = [file, ...faces].slice(0, 2);
    const form = new FormData();
    form.append("file", file);
    try {
      const { nearest } = await predict(form);
      results.replaceChildren(element("li", {}, shown(file), element("p", {}, "your picture")), ...nearest[0].map(person));
      judged = (limit) => {
        const [first] = nearest[0];
        const who = first.distance < limit ? `This is taken to be ${first.person}` : "Nobody in the gallery is near enough";
        said.textContent = `${who}: the nearest is ${first.person}, ${first.distance.toFixed(2)} away.`;
        results.querySelectorAll("[data-distance]").forEach((one) => one.classList.toggle("far", Number(one.dataset.distance) >= limit));
      };
      judge();
    } catch (problem) {
      said.textContent = problem.message;
    }
    both.disabled = faces.length < 2;
  }

  function person({ person, distance, picture }) {
    return element("li", { "data-distance": distance }, element("img", { src: picture, alt: person }),
      element("p", {}, element("strong", {}, person), ` ${distance.toFixed(2)} away`));
  }

  async function together() {
    const form = new FormData();
    faces.forEach((file) => form.append("file", file));
    try {
      const { distance } = await compare(form);
      results.replaceChildren(...faces.map((file) => element("li", { "data-distance": distance }, shown(file))));
      judged = (limit) => {
        said.textContent = `${distance < limit ? "One person" : "Two people"}: the faces are ${distance.toFixed(2)} apart.`;
      };
      judge();
    } catch (problem) {
      said.textContent = problem.message;
    }
  }

  const both = element("button", { type: "button", disabled: true, click: together }, "Compare the last two");
  const examples = (card.examples ?? []).map(({ url, name }) =>
    element("button", { type: "button", class: "picture", click: async () => take([await fetched(url, name)]) },
      element("img", { src: url, alt: name })));
  judge();
  return [
    element("section", {},
      element("p", { class: "row" }, ...drop("A face", false, take), both),
      element("p", { class: "row" }, element("label", { for: "threshold" }, "One person when nearer than"), threshold, told),
      element("p", { class: "note" }, "The whole picture counts: faces are not searched for in it."),
      element("p", { class: "row examples" }, ...examples), said),
    element("section", {}, results),
  ];
}
