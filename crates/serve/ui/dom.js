// Elements in one line each, numbers as people read them, and what screen readers are told.

/** An element with attributes and children; a function is what happens on an event. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A button that does something here; a form's own button is made as an element. */
export function button(text, click, attributes = {}) {
  return element("button", { type: "button", click, ...attributes }, text);
}

/** Things to click for people with nothing at hand. */
export function examples(...buttons) {
  if (!buttons.length) return "";
  return element("div", { class: "examples", role: "group", "aria-labelledby": "examples" },
    element("h2", { id: "examples" }, "Or try one of these"), element("div", { class: "row" }, ...buttons));
}

/** A share as people read it: one that is not quite all or nothing is not said to be. Its parts stay on one line. */
export function percent(share) {
  if (share === 0 || share === 1) return `${100 * share}\u00a0%`;
  const rounded = (100 * share).toFixed(1);
  if (rounded === "100.0") return ">\u00a099.9\u00a0%";
  if (rounded === "0.0") return "<\u00a00.1\u00a0%";
  return `${rounded}\u00a0%`;
}

/** A number of things. */
export const count = (number) => number.toLocaleString("en");

/** Moves the page as far as needed to see something: on a phone, an answer may lie below what was asked. */
export const reveal = (part) => part.scrollIntoView({ block: "nearest" });

// A pen moves faster than anybody listens: only what stays for this long is said.
const SETTLED_MS = 600;
let saying;

/** Tells screen readers what came out, once it has settled. */
export function say(sentence) {
  clearTimeout(saying);
  saying = setTimeout(() => (document.getElementById("said").textContent = sentence), SETTLED_MS);
}
