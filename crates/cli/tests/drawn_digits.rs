//! What people draw, answered by the model of the README: whatever is drawn in whatever way becomes a
//! sample as MNIST has them, and what is MNIST's own stays as it is.

mod drawn;
mod yard;

use preprocess::Picture;
use yard::Yard;

/// The README's first run. The number of threads changes nothing in it but the time.
const RUN: &str = include_str!("../../../examples/01-mnist-sample.yaml");
const SIDE: usize = 28;

/// Samples as a file for `predict`.
fn idx(samples: &[Vec<u8>]) -> Vec<u8> {
    let sizes = [samples.len(), SIDE, SIDE].map(|size| (size as u32).to_be_bytes());
    [&[0, 0, 8, 3], sizes.as_flattened(), &samples.concat()].concat()
}

/// The model's class of each sample.
fn answers(yard: &Yard, samples: &[Vec<u8>]) -> Vec<usize> {
    yard.file("x-idx3-ubyte", idx(samples));
    let answer = yard.json(&["predict", "mnist-sample", "x-idx3-ubyte", "--json"]);
    let rows: Vec<Vec<f64>> = serde_json::from_value(answer["predictions"].clone())
        .expect("there is a row of probabilities for each sample");
    let class = |row: &Vec<f64>| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
    rows.iter().map(|row| class(row).expect("a row has ten numbers")).collect()
}

/// MNIST's own test pictures in the program.
fn mnist() -> Vec<Vec<u8>> {
    let nowhere = data::Places { cache: "/nonexistent".into(), offline: true };
    let data = spec::Data::named("mnist-sample");
    let dataset = data::load(&data, 0, &nowhere, &mut |_| {}).expect("it is in the program");
    let test = dataset.test.expect("it has test pictures");
    let data::Values::U8(bytes) = test.x else { panic!("they are bytes") };
    bytes.chunks_exact(SIDE * SIDE).map(<[u8]>::to_vec).collect()
}

/// One of them as somebody may send it: dark on light, `factor` times as large.
fn enlarged(sample: &[u8], factor: usize) -> Picture {
    let side = factor * SIDE;
    let place = |at: usize| (at / side / factor) * SIDE + at % side / factor;
    let bytes = (0..side * side).map(|at| 255 - sample[place(at)]).collect();
    Picture { height: side, width: side, channels: 1, bytes }
}

fn digits(pictures: impl IntoIterator<Item = Picture>) -> Vec<Vec<u8>> {
    let sample = |picture| preprocess::digit(picture).expect("something is drawn in it");
    pictures.into_iter().map(sample).collect()
}

#[test]
fn the_model_of_the_readme_reads_what_people_draw() {
    let yard = Yard::new();
    yard.file("run.yaml", RUN);
    yard.ok(&["run", "run.yaml", "--no-serve"]);

    let classes = answers(&yard, &digits(drawn::all()));
    let right: Vec<usize> = classes
        .chunks(drawn::OF_EACH)
        .enumerate()
        .map(|(digit, answers)| answers.iter().filter(|&&class| class == digit).count())
        .collect();
    println!("of {} drawings of each digit, right are {right:?}", drawn::OF_EACH);
    assert!(right.iter().sum::<usize>() * 100 >= classes.len() * 90, "{right:?}");
    assert!(right.iter().all(|&right| right * 100 >= drawn::OF_EACH * 70), "{right:?}");

    let mnist = mnist();
    let expected = answers(&yard, &mnist);
    for factor in [1, 7] {
        let samples = digits(mnist.iter().map(|sample| enlarged(sample, factor)));
        assert!(factor > 1 || samples == mnist, "a sample of MNIST is no longer what it was");
        let classes = answers(&yard, &samples);
        let same = classes.iter().zip(&expected).filter(|(a, b)| a == b).count();
        println!("{same} of {} answers are the same {factor} times as large", mnist.len());
        assert!(same * 100 >= mnist.len() * 97, "{factor} times as large: {same}");
    }
}
