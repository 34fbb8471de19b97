// One person or two? Two faces beside each other.

import { compare } from "./api.js";
import { element, reveal } from "./dom.js";
import { shown } from "./shown.js";
import { verdict } from "./verdict.js";

const NAMES = ["First face", "Second face"];

/** What to put on the page, and what happens when faces come or `limit` changes. */
export function pair(limit) {
  const said = verdict("Two faces are wanted.");
  const cards = element("ul", { class: "cards two", "aria-label": "The two faces" });
  // The newest two, in the order they came.
  let faces = [], distance;
  draw();

  function draw() {
    cards.replaceChildren(...NAMES.map((name, number) => {
      const picture = faces[number] ? shown(faces[number]) : element("div", { class: "vacant" });
      return element("li", {}, picture, element("p", {}, name));
    }));
  }

  async function take(files) {
    faces = [...faces, ...files].slice(-NAMES.length);
    distance = undefined;
    draw();
    judge();
    if (faces.length < NAMES.length) return said.clear("One more face is wanted.");
    said.clear("Looking …");
    const asked = faces;
    try {
      const answer = await compare(...asked);
      // Somebody may have brought another face meanwhile.
      if (asked === faces) distance = answer.distance;
      judge();
      reveal(cards);
    } catch (problem) {
      said.fail(problem.message);
    }
  }

  function judge() {
    limit.mark(distance === undefined ? [] : [distance]);
    if (distance === undefined) return;
    said.tell(distance < limit.value() ? "One person" : "Two people", `${distance.toFixed(2)} apart`);
  }

  return { parts: [said.part, cards], take, judge };
}
