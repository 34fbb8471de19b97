// Who is it? A face beside the three nearest ones of the gallery.

import { predictPicture } from "./api.js";
import { element, reveal } from "./dom.js";
import { shown } from "./shown.js";
import { verdict } from "./verdict.js";

/** What to put on the page, and what happens when a face comes or `limit` changes. */
export function lookup(people, limit) {
  const said = verdict(`Nobody shown yet. The gallery has ${people} people.`);
  const cards = element("ul", { class: "cards people", "aria-label": "Your picture and the nearest people" });
  let nearest = [];

  async function take([file]) {
    said.clear("Looking …");
    try {
      const answer = await predictPicture(file);
      [nearest] = answer.nearest;
      cards.replaceChildren(yours(file), ...nearest.map(person));
      judge();
      reveal(cards);
    } catch (problem) {
      nearest = [];
      cards.replaceChildren(yours(file));
      limit.mark([]);
      said.fail(problem.message);
    }
  }

  function judge() {
    limit.mark(nearest.map(({ distance }) => distance));
    if (!nearest.length) return;
    const [{ person, distance }] = nearest;
    const known = distance < limit.value();
    said.tell(known ? person : "Nobody known", known ? `${distance.toFixed(2)} away` : `the nearest, ${person}, is ${distance.toFixed(2)} away`);
    [...cards.children].slice(1).forEach((card, number) => card.classList.toggle("far", nearest[number].distance >= limit.value()));
  }

  return { parts: [said.part, cards], take, judge };
}

function yours(file) {
  return element("li", { class: "yours" }, shown(file), element("p", {}, "Your picture"));
}

function person({ person, distance, picture }) {
  return element("li", {}, element("img", { src: picture, alt: `${person} in the gallery` }),
    element("p", {}, element("strong", {}, person), " ", element("span", { class: "sure" }, distance.toFixed(2))));
}
