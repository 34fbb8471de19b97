//! Cuts the built-in `mnist-sample` from MNIST: of each digit 1,000 training and 200 test images,
//! spread evenly over the published files, in the published order.
//!
//! cargo run --release -p trainyard-data --example cut_mnist_sample -- FOLDER-WITH-MNIST [OUT]

use std::io::Write;
use std::path::Path;
use std::{env, error, fs};

use data::idx;
use flate2::{Compression, GzBuilder};

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut arguments = env::args().skip(1);
    let from = arguments.next().ok_or("name the folder that holds MNIST's four .gz files")?;
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mnist-sample");
    let out = arguments.next().unwrap_or_else(|| here.to_owned());
    for (split, each) in [("train", 1_000), ("t10k", 200)] {
        cut(Path::new(&from), Path::new(&out), split, each)?;
    }
    Ok(())
}

fn cut(from: &Path, out: &Path, split: &str, each: usize) -> Result<(), Box<dyn error::Error>> {
    let images_name = format!("{split}-images-idx3-ubyte.gz");
    let labels_name = format!("{split}-labels-idx1-ubyte.gz");
    let limits = idx::Limits::default();
    let images = idx::read(&fs::read(from.join(&images_name))?, &limits)?;
    let labels = idx::read(&fs::read(from.join(&labels_name))?, &limits)?.bytes;
    let pixels = 28 * 28;
    let chosen = evenly(&labels, each);
    let pictures: Vec<u8> = chosen
        .iter()
        .flat_map(|&index| images.bytes[index * pixels..][..pixels].iter().copied())
        .collect();
    let classes: Vec<u8> = chosen.iter().map(|&index| labels[index]).collect();
    write(&out.join(images_name), &idx::write(&[chosen.len(), 28, 28], &pictures))?;
    write(&out.join(labels_name), &idx::write(&[chosen.len()], &classes))
}

/// `each` numbers of every class: of c samples, number 0, c/each, 2c/each, … ; all ascending.
fn evenly(labels: &[u8], each: usize) -> Vec<usize> {
    let mut chosen = Vec::new();
    for class in 0..10 {
        let of_class: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == class).collect();
        chosen.extend((0..each).map(|i| of_class[i * of_class.len() / each]));
    }
    chosen.sort_unstable();
    chosen
}

/// Gzipped without name and time, so that the bytes are the same every time.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn error::Error>> {
    let mut gzip = GzBuilder::new().write(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    Ok(fs::write(path, gzip.finish()?)?)
}
