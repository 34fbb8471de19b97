// Asks what the model is, and shows the page for its kind.

import { model } from "./api.js";
import { about } from "./about.js";
import { element } from "./dom.js";

// What each kind of model is tried with. A page is loaded when it is needed.
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
    document.title = `${card.name} – Trainyard`;
    document.getElementById("title").textContent = card.name;
    document.getElementById("summary").textContent = card.summary;
    about(card);
    const page = await PAGES[card.kind]();
    main.replaceChildren(...page.show(card));
  } catch (problem) {
    main.replaceChildren(element("p", { class: "problem", role: "alert" }, problem.message));
  }
}

start();
