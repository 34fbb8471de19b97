// Pictures from wherever people have them: chosen, dropped, pasted, or taken with a phone.

import { element } from "./dom.js";

// What the server reads. Phones turn their own formats into one of these when they are told.
const KINDS = "image/png,image/jpeg,image/gif,image/bmp";

/** A button that opens the dialog for files. `take` gets a list that is not empty. */
export function choose(label, several, take) {
  const input = element("input", { type: "file", accept: KINDS, multiple: several, class: "unseen", change: () => {
    const files = [...input.files];
    // The same file again is news too.
    input.value = "";
    if (files.length) take(files);
  } });
  return element("label", { class: "button" }, label, input);
}

/** Takes pictures that are dropped anywhere on the page, or pasted. */
export function dropped(take) {
  const give = (files) => {
    const pictures = [...files].filter((file) => file.type.startsWith("image/"));
    if (pictures.length) take(pictures);
  };
  const over = (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    // Otherwise the browser would leave the page and show the file.
    event.preventDefault();
    document.body.classList.toggle("dropping", event.type === "dragover");
  };
  addEventListener("dragover", over);
  addEventListener("dragleave", over);
  addEventListener("drop", (event) => {
    over(event);
    give(event.dataTransfer.files);
  });
  addEventListener("paste", (event) => give(event.clipboardData.files));
}

/** A large place that says so, with the button in it. */
export function zone(label, hint, several, take) {
  dropped(take);
  return element("div", { class: "zone" }, choose(label, several, take), element("p", { class: "note" }, hint));
}
