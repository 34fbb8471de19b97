// Draws an example before one's eyes, so that one sees what to do and how the answer comes about.

// A point each frame of the screen: a digit takes about half a second.
const POINTS_A_FRAME = 2;

let turn = 0;

/** Puts strokes on a sheet that is cleared before, stroke after stroke. Whatever is drawn next ends it. */
export function write(sheet, strokes) {
  const mine = ++turn;
  const steps = strokes.flatMap((stroke) => stroke.map((point, at) => () => (at ? sheet.go(point) : sheet.begin(point))));
  sheet.clear();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return steps.forEach((step) => step());
  function frame() {
    if (mine !== turn || !steps.length) return;
    steps.splice(0, POINTS_A_FRAME).forEach((step) => step());
    requestAnimationFrame(frame);
  }
  frame();
}

/** Ends an example that is being drawn. */
export const stopWriting = () => turn++;
