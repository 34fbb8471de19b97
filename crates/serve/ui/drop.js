// Files from wherever people have them: chosen, dropped or pasted.

import { element } from "./dom.js";

/** A button for files that can also be dropped on the page or pasted; `take` gets them as a list that is not empty. */
export function drop(label, several, take) {
  const input = element("input", { type: "file", accept: "image/*", multiple: several, class: "files", change: () => give(input.files) });
  const give = (files) => {
    const pictures = [...files].filter((file) => file.type.startsWith("image/"));
    if (pictures.length) take(several ? pictures : pictures.slice(0, 1));
    // The same file again is news too.
    input.value = "";
  };
  const over = (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
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
  const say = several ? `${label}: choose, drop or paste some` : `${label}: choose, drop or paste one`;
  return [element("label", { class: "button" }, say, input)];
}
