// The two pens: one that is pointed with, and one that is moved by keys.

import { PEN, SIDE } from "./ink.js";
import { say } from "./dom.js";

/** Mouse, finger and stylus. */
export function pointerPen(canvas, sheet) {
  let holder;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [((event.clientX - box.left) * SIDE) / box.width, ((event.clientY - box.top) * SIDE) / box.height];
  };
  canvas.addEventListener("pointerdown", (event) => {
    // A second finger or a right button draws nothing.
    if (holder !== undefined || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    holder = event.pointerId;
    sheet.begin(place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId !== holder) return;
    // A fast hand moves more often than the screen is drawn.
    const moves = event.getCoalescedEvents?.() ?? [];
    sheet.go(...(moves.length ? moves : [event]).map(place));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => {
      if (event.pointerId === holder) holder = undefined;
    });
  }
}

const STEP = 10;

// Arrows, and the keys around them on a number pad.
const MOVES = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
  Home: [-1, -1], PageUp: [1, -1], End: [-1, 1], PageDown: [1, 1],
};

export const KEYS = "Arrows move the pen, space puts it down and lifts it, Delete clears, Ctrl Z undoes.";

/** `spot` is the element that shows where the pen is, so that it is not part of the picture. */
export function keyPen(canvas, spot, sheet) {
  let at = [SIDE / 2, SIDE / 4], down = false;

  function show(shown) {
    spot.hidden = !shown;
    spot.classList.toggle("down", down);
    spot.style.setProperty("--x", at[0] / SIDE);
    spot.style.setProperty("--y", at[1] / SIDE);
  }

  function move(by) {
    at = at.map((x, axis) => Math.min(SIDE - PEN / 2, Math.max(PEN / 2, x + STEP * by[axis])));
    if (down) sheet.go(at);
  }

  function press() {
    down = !down;
    if (down) sheet.begin(at);
    say(down ? "Pen down" : "Pen up");
  }

  function lift(then) {
    down = false;
    then();
  }

  canvas.addEventListener("keydown", (event) => {
    const undo = (event.ctrlKey || event.metaKey) && event.key === "z";
    if (MOVES[event.key]) move(MOVES[event.key]);
    else if (event.key === " ") press();
    else if (event.key === "Delete" || event.key === "Backspace") lift(sheet.clear);
    else if (undo) lift(sheet.undo);
    else return;
    event.preventDefault();
    show(true);
  });
  // A stroke that the pointer begins is not the keys' to go on with.
  canvas.addEventListener("pointerdown", () => lift(() => show(false)));
  canvas.addEventListener("blur", () => lift(() => show(false)));
  canvas.addEventListener("focus", () => show(canvas.matches(":focus-visible")));
}
