// A picture that was brought along, shown.

import { element } from "./dom.js";

/** The picture in a file; nothing of it leaves the page. */
export function shown(file) {
  const address = URL.createObjectURL(file);
  const image = element("img", { src: address, alt: file.name, load: () => URL.revokeObjectURL(address) });
  return image;
}
