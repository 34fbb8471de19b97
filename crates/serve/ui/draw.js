// A digit, drawn with a pen, a finger or the keyboard, or brought along as a picture.

import { best } from "./answers.js";
import { latest, predictPicture } from "./api.js";
import { bars } from "./bars.js";
import { button, element, examples, reveal } from "./dom.js";
import { choose, dropped } from "./drop.js";
import { ink } from "./ink.js";
import { KEYS, keyPen, pointerPen } from "./pens.js";
import { shown } from "./shown.js";
import { STROKES } from "./strokes.js";
import { verdict } from "./verdict.js";
import { stopWriting, write } from "./write.js";

export const title = "Draw a digit";
export const todo = "Draw one: it answers while you draw.";

export function show(card) {
  const said = verdict("Nothing drawn yet.");
  const chart = bars(card.labels);
  const canvas = element("canvas", {
    tabindex: 0, role: "application", "aria-roledescription": "drawing area", "aria-label": "A digit", "aria-describedby": "keys",
  });
  const spot = element("span", { class: "spot", hidden: true });
  const hint = element("span", { class: "hint" }, "Draw here");
  const paper = element("div", { class: "paper" }, canvas, hint, spot);
  // A picture that lies on the paper is asked about in place of the ink, until somebody draws.
  let brought;
  const look = latest(
    async () => (blank() ? undefined : predictPicture(brought?.file ?? await sheet.picture())),
    (answer) => (answer && !blank() ? tell(answer) : clear()),
    (problem) => {
      chart.clear();
      said.fail(problem.message);
    },
  );
  const undo = button("Undo", () => own(sheet.undo));
  const wipe = button("Clear", () => own(sheet.clear));
  const sheet = ink(canvas, () => lay(undefined));

  const blank = () => !brought && sheet.empty();

  function tell(answer) {
    const { place, label, sure } = best(card, answer);
    chart.fill(answer.predictions[0], place);
    said.tell(label, sure);
  }

  function clear() {
    chart.clear();
    said.clear();
  }

  function lay(file) {
    brought?.image.remove();
    brought = file && { file, image: shown(file) };
    if (brought) paper.append(brought.image);
    hint.hidden = !blank();
    undo.disabled = sheet.empty();
    wipe.disabled = blank();
    look(true);
  }

  /** Something that people do themselves ends an example that is being drawn. */
  function own(act) {
    stopWriting();
    act();
  }

  function take([file]) {
    own(sheet.clear);
    lay(file);
  }

  function example(strokes) {
    write(sheet, strokes);
    reveal(paper);
  }

  canvas.addEventListener("pointerdown", stopWriting);
  canvas.addEventListener("keydown", stopWriting);
  pointerPen(canvas, sheet);
  keyPen(canvas, spot, sheet);
  dropped(take);
  sheet.clear();
  return [
    element("section", { class: "draw", "aria-label": "Your digit" },
      paper,
      element("div", { class: "row" }, undo, wipe, choose("Use a picture", false, take)),
      element("p", { class: "note", id: "keys" }, KEYS)),
    element("section", { class: "answer", "aria-label": "The model's answer" }, said.part, chart.part),
    examples(...STROKES.map((strokes, digit) => button(String(digit), () => example(strokes), { "aria-label": `Example ${digit}` }))),
  ];
}
