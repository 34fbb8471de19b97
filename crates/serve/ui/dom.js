// Elements in one line each.

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

/** Where something is said that screen readers read out when it changes. */
export function announcer() {
  return element("p", { class: "verdict", role: "status", "aria-live": "polite" });
}

/** A share as people read it. */
export function percent(share) {
  const digits = share > 0.9995 || share < 0.0005 ? 0 : 1;
  return `${(100 * share).toFixed(digits)} %`;
}
