// Asks what the model is, and shows the page for its kind.

import { about } from "./about.js";
import { model } from "./api.js";
import { element } from "./dom.js";
import { lede } from "./lede.js";

// What each kind of model is tried with. A page is loaded when it is needed; it has a title, a sentence that says what
// to do, and a function that makes its parts.
const PAGES = {
  digits: () => import("./draw.js"),
  texts: () => import("./review.js"),
  pictures: () => import("./pictures.js"),
  faces: () => import("./faces.js"),
  numbers: () => import("./numbers.js"),
};

async function start() {
  const main = document.getElementById("main");
  try {
    const card = await model();
    const page = await (PAGES[card.kind] ?? PAGES.numbers)();
    document.title = `${card.name} – Trainyard`;
    document.getElementById("title").textContent = page.title;
    document.getElementById("lede").replaceChildren(...lede(card), ` ${page.todo}`);
    main.replaceChildren(...page.show(card));
    about(card);
  } catch (problem) {
    main.replaceChildren(element("p", { class: "problem", role: "alert" }, problem.message));
  }
}

start();
