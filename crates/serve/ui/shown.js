// Pictures, shown and brought along.

import { element } from "./dom.js";

/** The picture in a file. */
export function shown(file) {
  const address = URL.createObjectURL(file);
  const free = () => URL.revokeObjectURL(address);
  return element("img", { src: address, alt: file.name || "your picture", load: free, error: free });
}

/** Buttons with pictures of the server's own; `take` gets one as if it had been brought along. */
export function pictureButtons(all, take) {
  return (all ?? []).map(({ url, name }) =>
    element("button", { type: "button", class: "picture", click: async () => take([await fetched(url, name)]) },
      element("img", { src: url, alt: name, loading: "lazy" })));
}

async function fetched(url, name) {
  const blob = await (await fetch(url)).blob();
  return new File([blob], name, { type: blob.type });
}
