//! The ways in which people write digits: strokes on a sheet of 280 by 280, right and down.

/// A place on the sheet.
pub type Point = [f32; 2];

/// A digit: each stroke a line that the pen follows without being lifted.
pub type Strokes = Vec<Vec<Point>>;

/// All ways to write a digit.
pub fn ways(digit: usize) -> Vec<Strokes> {
    match digit {
        0 => zero(),
        1 => one(),
        2 => two(),
        3 => three(),
        4 => four(),
        5 => five(),
        6 => six(),
        7 => seven(),
        8 => eight(),
        _ => nine(),
    }
}

/// Points of an ellipse round `middle`, from one angle to another; 90 degrees are below.
fn around(middle: Point, [wide, high]: Point, from: f32, to: f32) -> Vec<Point> {
    let count = ((to - from).abs() / 12.0).ceil();
    let point = |step: usize| {
        let angle = (from + (to - from) * step as f32 / count).to_radians();
        [middle[0] + wide * angle.cos(), middle[1] + high * angle.sin()]
    };
    (0..=count as usize).map(point).collect()
}

/// One stroke of pieces.
fn joined(pieces: &[&[Point]]) -> Vec<Point> {
    pieces.concat()
}

/// Round, narrow, and with an end that goes past the beginning.
fn zero() -> Vec<Strokes> {
    vec![
        vec![around([140.0, 140.0], [55.0, 85.0], -90.0, 270.0)],
        vec![around([140.0, 140.0], [40.0, 85.0], -60.0, 295.0)],
        vec![around([140.0, 140.0], [68.0, 80.0], -110.0, -490.0)],
    ]
}

/// A line, with a flag, with a long flag, with a foot.
fn one() -> Vec<Strokes> {
    let foot = vec![[105.0, 225.0], [185.0, 225.0]];
    vec![
        vec![vec![[140.0, 55.0], [140.0, 225.0]]],
        vec![vec![[110.0, 85.0], [145.0, 55.0], [145.0, 225.0]]],
        vec![vec![[95.0, 120.0], [150.0, 55.0], [150.0, 225.0]]],
        vec![vec![[110.0, 85.0], [145.0, 55.0], [145.0, 225.0]], foot],
    ]
}

/// With a straight foot, with a loop, with corners.
fn two() -> Vec<Strokes> {
    let head = around([140.0, 100.0], [50.0, 45.0], -160.0, 40.0);
    let looped: [Point; 8] = [
        [130.0, 180.0],
        [95.0, 218.0],
        [80.0, 222.0],
        [73.0, 210.0],
        [85.0, 198.0],
        [120.0, 208.0],
        [160.0, 222.0],
        [200.0, 210.0],
    ];
    let corners = vec![[95.0, 80.0], [140.0, 55.0], [185.0, 85.0], [95.0, 220.0], [195.0, 220.0]];
    vec![
        vec![joined(&[&head, &[[95.0, 220.0], [195.0, 220.0]]])],
        vec![joined(&[&head, &looped])],
        vec![corners],
    ]
}

/// Two bows, with a flat top, with a small upper bow.
fn three() -> Vec<Strokes> {
    let bows = |upper: Point, lower: Point| {
        let above = around([135.0, 55.0 + upper[1]], upper, -150.0, 90.0);
        let below = around([135.0, 225.0 - lower[1]], lower, -90.0, 150.0);
        vec![joined(&[&above, &below])]
    };
    let below = around([130.0, 175.0], [55.0, 50.0], -90.0, 140.0);
    vec![
        bows([48.0, 42.0], [52.0, 43.0]),
        vec![joined(&[&[[95.0, 60.0], [185.0, 60.0], [130.0, 125.0]], &below])],
        bows([38.0, 36.0], [56.0, 49.0]),
    ]
}

/// Closed in one stroke, closed in two, open.
fn four() -> Vec<Strokes> {
    let open = vec![[105.0, 60.0], [90.0, 150.0], [195.0, 150.0]];
    vec![
        vec![vec![[165.0, 225.0], [165.0, 55.0], [85.0, 170.0], [205.0, 170.0]]],
        vec![
            vec![[150.0, 55.0], [80.0, 165.0], [205.0, 165.0]],
            vec![[163.0, 105.0], [160.0, 225.0]],
        ],
        vec![open, vec![[172.0, 75.0], [165.0, 225.0]]],
    ]
}

/// In one stroke, with a bar put on later, with a large bow.
fn five() -> Vec<Strokes> {
    let bow = around([138.0, 170.0], [52.0, 52.0], -125.0, 140.0);
    let large = around([135.0, 165.0], [60.0, 60.0], -115.0, 150.0);
    vec![
        vec![joined(&[&[[190.0, 60.0], [110.0, 60.0], [104.0, 125.0]], &bow])],
        vec![joined(&[&[[112.0, 62.0], [106.0, 127.0]], &bow]), vec![[112.0, 60.0], [195.0, 57.0]]],
        vec![joined(&[&[[180.0, 62.0], [118.0, 60.0], [109.0, 108.0]], &large])],
    ]
}

/// With a bent stem, with a bow for a stem, with a straight one.
fn six() -> Vec<Strokes> {
    let over = around([140.0, 172.0], [48.0, 50.0], -170.0, 190.0);
    let under = around([140.0, 178.0], [45.0, 45.0], 180.0, -180.0);
    let narrow = around([143.0, 180.0], [40.0, 44.0], 190.0, -170.0);
    let bow: [Point; 4] = [[180.0, 58.0], [140.0, 85.0], [108.0, 130.0], [97.0, 160.0]];
    vec![
        vec![joined(&[&[[175.0, 60.0], [120.0, 115.0]], &over])],
        vec![joined(&[&bow, &under])],
        vec![joined(&[&[[160.0, 55.0], [120.0, 125.0]], &narrow])],
    ]
}

/// Plain, with a bar, with a serif, bent, bent with a bar.
fn seven() -> Vec<Strokes> {
    let plain = vec![[85.0, 65.0], [195.0, 65.0], [125.0, 225.0]];
    let bent = vec![[85.0, 65.0], [195.0, 65.0], [160.0, 120.0], [138.0, 175.0], [130.0, 225.0]];
    let serif = vec![[88.0, 88.0], [88.0, 65.0], [195.0, 65.0], [130.0, 225.0]];
    let bar = vec![[120.0, 143.0], [188.0, 143.0]];
    vec![
        vec![plain.clone()],
        vec![plain, bar.clone()],
        vec![serif],
        vec![bent.clone()],
        vec![bent, bar],
    ]
}

/// Two rings, and in one stroke.
fn eight() -> Vec<Strokes> {
    let crossed = |from: f32, to: f32| {
        let point = |step: usize| {
            let angle = from + (to - from) * step as f32 / 40.0;
            [140.0 + 48.0 * (2.0 * angle).sin(), 140.0 - 85.0 * angle.cos()]
        };
        vec![(0..=40).map(point).collect()]
    };
    let turn = std::f32::consts::TAU;
    vec![
        vec![
            around([140.0, 97.0], [42.0, 40.0], 90.0, 450.0),
            around([140.0, 180.0], [50.0, 43.0], -90.0, 270.0),
        ],
        crossed(0.0, turn),
        crossed(0.35, turn + 0.15),
    ]
}

/// With a slanting stem, an upright one, a tail.
fn nine() -> Vec<Strokes> {
    let ring = around([140.0, 103.0], [45.0, 46.0], 0.0, -360.0);
    let tail: [Point; 4] = [[185.0, 150.0], [175.0, 195.0], [150.0, 222.0], [108.0, 220.0]];
    vec![
        vec![joined(&[&ring, &[[183.0, 125.0], [170.0, 225.0]]])],
        vec![joined(&[&ring, &[[184.0, 225.0]]])],
        vec![joined(&[&ring, &tail])],
    ]
}
