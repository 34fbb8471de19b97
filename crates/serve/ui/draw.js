// A digit, drawn with a pen, a finger or the keyboard, or brought along as a picture.

import { latest, predict } from "./api.js";
import { bars } from "./bars.js";
import { element } from "./dom.js";
import { drop } from "./drop.js";
import { STROKES } from "./strokes.js";

// Pixels of the canvas, and of the pen. Where the pen is shown is another canvas above it, so that it is not asked about.
const SIDE = 280;
const PEN = 20;

export function show(card) {
  const shares = bars(card.labels);
  const paper = canvas("Draw a digit. With the keyboard: arrows move the pen, space puts it down or lifts it, Delete begins anew.");
  const above = canvas();
  above.setAttribute("aria-hidden", "true");
  const ink = paper.getContext("2d");
  const look = latest(
    async () => predict(await picture(paper)),
    (answer) => (paper.dataset.drawn ? shares.fill(answer.predictions[0]) : shares.clear()),
    (problem) => shares.clear(problem.message),
  );

  function line(from, to) {
    Object.assign(ink, { lineWidth: PEN, lineCap: "round", lineJoin: "round", strokeStyle: "black" });
    ink.beginPath();
    ink.moveTo(...from);
    // A dot is a line too, if a short one.
    ink.lineTo(to[0] + 0.01, to[1]);
    ink.stroke();
    paper.dataset.drawn = "yes";
    look(true);
  }

  function clear() {
    ink.fillStyle = "white";
    ink.fillRect(0, 0, SIDE, SIDE);
    delete paper.dataset.drawn;
    shares.clear();
  }

  function example(digit) {
    clear();
    for (const stroke of STROKES[digit]) stroke.slice(1).forEach((to, i) => line(stroke[i], to));
  }

  pen(paper, line);
  keys(paper, above.getContext("2d"), line, clear);
  clear();
  const examples = STROKES.map((_, digit) => element("button", { type: "button", click: () => example(digit) }, String(digit)));
  const brought = drop("A picture of a digit", false, ([file]) => {
    clear();
    ask(file);
  });
  async function ask(file) {
    const form = new FormData();
    form.append("file", file);
    try {
      shares.fill((await predict(form)).predictions[0]);
    } catch (problem) {
      shares.clear(problem.message);
    }
  }
  return [
    element("section", { class: "draw" },
      element("div", { class: "paper" }, paper, above),
      element("p", { class: "row" }, element("button", { type: "button", click: clear }, "Clear"), ...brought),
      element("p", { class: "row examples" }, "Examples:", ...examples)),
    element("section", {}, ...shares.parts),
  ];
}

function canvas(label) {
  return element("canvas", label ? { width: SIDE, height: SIDE, tabindex: 0, role: "img", "aria-label": label } : { width: SIDE, height: SIDE });
}

/** What is drawn, as a form. */
async function picture(paper) {
  const form = new FormData();
  form.append("file", await new Promise((done) => paper.toBlob(done, "image/png")), "drawn.png");
  return form;
}

/** Mouse, finger and stylus. */
function pen(paper, line) {
  let last;
  const place = (event) => {
    const box = paper.getBoundingClientRect();
    return [((event.clientX - box.left) * SIDE) / box.width, ((event.clientY - box.top) * SIDE) / box.height];
  };
  paper.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    paper.focus();
    paper.setPointerCapture(event.pointerId);
    last = place(event);
    line(last, last);
  });
  paper.addEventListener("pointermove", (event) => {
    if (!last) return;
    // A fast hand moves more often than the screen is drawn.
    for (const moved of event.getCoalescedEvents?.() ?? [event]) {
      const to = place(moved);
      line(last, to);
      last = to;
    }
  });
  for (const end of ["pointerup", "pointercancel"]) paper.addEventListener(end, () => (last = undefined));
}

/** Arrows move the pen, space puts it down or lifts it. */
function keys(paper, sight, line, clear) {
  const STEP = 10;
  const MOVES = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] };
  let at = [SIDE / 2, SIDE / 4], down = false;
  const look = (shown) => {
    sight.clearRect(0, 0, SIDE, SIDE);
    if (!shown) return;
    sight.strokeStyle = down ? "#c22" : "#27c";
    sight.lineWidth = 3;
    sight.beginPath();
    sight.arc(...at, PEN / 2 + 2, 0, 7);
    sight.stroke();
  };
  paper.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (move) {
      const to = at.map((x, axis) => Math.min(SIDE - PEN / 2, Math.max(PEN / 2, x + move[axis])));
      if (down) line(at, to);
      at = to;
    } else if (event.key === " ") {
      down = !down;
      if (down) line(at, at);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      down = false;
      clear();
    } else {
      return;
    }
    event.preventDefault();
    look(true);
  });
  paper.addEventListener("focus", () => look(paper.matches(":focus-visible")));
  paper.addEventListener("blur", () => look(false));
}
