// Digits as a hand might draw them: strokes of points on a sheet of 280 by 280.

export const STROKES = [
  [around(140, 140, 55, 85, -90, 270)],
  [through([110, 85], [145, 55], [145, 225])],
  [[...around(140, 100, 50, 45, -160, 40), ...through([178, 130], [95, 220]), ...through([95, 220], [195, 220])]],
  [[...around(135, 97, 48, 42, -150, 90), ...around(135, 182, 52, 43, -90, 150)]],
  [through([120, 55], [85, 160], [200, 160]), through([165, 100], [165, 228])],
  [[...through([190, 60], [110, 60], [104, 125]), ...around(138, 170, 52, 52, -125, 140)]],
  [[...through([175, 60], [120, 115]), ...around(140, 172, 48, 50, -170, 190)]],
  [through([85, 65], [195, 65], [125, 225])],
  [[...around(140, 97, 42, 40, -30, -270), ...around(140, 180, 50, 43, -90, 270), ...around(140, 97, 42, 40, 90, -30)]],
  [[...around(140, 105, 45, 46, 0, -360), ...through([185, 105], [183, 125], [170, 225])]],
];

/** Points of an ellipse, from one angle to another. */
function around(x, y, wide, high, from, to) {
  const count = Math.ceil(Math.abs(to - from) / 12);
  return Array.from({ length: count + 1 }, (_, step) => {
    const angle = ((from + ((to - from) * step) / count) * Math.PI) / 180;
    return [x + wide * Math.cos(angle), y + high * Math.sin(angle)];
  });
}

/** Points of straight lines from corner to corner, near enough to each other that corners stay sharp. */
function through(...corners) {
  return corners.slice(1).flatMap(([x, y], number) => {
    const [fromX, fromY] = corners[number];
    const count = Math.ceil(Math.hypot(x - fromX, y - fromY) / 12);
    return Array.from({ length: count + 1 }, (_, step) => [fromX + ((x - fromX) * step) / count, fromY + ((y - fromY) * step) / count]);
  });
}
