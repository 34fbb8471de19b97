// What is drawn: strokes of points on a sheet, painted on a canvas.

// The sheet's side, in points. The canvas has more pixels than that, so that ink is sharp on a good screen.
export const SIDE = 280;
const SHARPER = 2;

// As wide as a pen in MNIST when a digit of a usual height is made as small as those are.
export const PEN = 20;

/** A sheet of paper; `changed` is called whenever something else is on it. */
export function ink(canvas, changed) {
  canvas.width = canvas.height = SIDE * SHARPER;
  const brush = canvas.getContext("2d");
  brush.scale(SHARPER, SHARPER);
  let strokes = [];

  function paint() {
    // Black on white in the dark too: it is what the model is shown.
    Object.assign(brush, { fillStyle: "white", strokeStyle: "black", lineWidth: PEN, lineCap: "round", lineJoin: "round" });
    brush.fillRect(0, 0, SIDE, SIDE);
    strokes.forEach((stroke) => trace(brush, stroke));
    changed();
  }

  return {
    begin(point) {
      strokes.push([point]);
      paint();
    },
    go(...points) {
      strokes.at(-1).push(...points);
      paint();
    },
    undo() {
      strokes.pop();
      paint();
    },
    clear() {
      strokes = [];
      paint();
    },
    empty: () => !strokes.length,
    picture: () => new Promise((done) => canvas.toBlob(done, "image/png")),
  };
}

/** A smooth line: points are where it is pulled to, and it passes between them. */
function trace(brush, points) {
  const [first] = points, last = points.at(-1);
  brush.beginPath();
  brush.moveTo(...first);
  for (let at = 1; at < points.length - 1; at++) {
    const [x, y] = points[at], [nextX, nextY] = points[at + 1];
    brush.quadraticCurveTo(x, y, (x + nextX) / 2, (y + nextY) / 2);
  }
  // A dot is a line too, if a short one.
  brush.lineTo(last[0] + 0.01, last[1]);
  brush.stroke();
}
