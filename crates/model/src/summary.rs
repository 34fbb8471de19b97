//! A network as a table, as Keras' `model.summary()` prints it.

use std::fmt::Write as _;

use crate::layer::class_of;
use crate::{Graph, Kind};

/// The layers with their output shapes and parameters, and the totals.
pub fn summary(graph: &Graph) -> String {
    let rows: Vec<[String; 3]> = graph
        .nodes()
        .iter()
        .enumerate()
        .map(|(number, node)| {
            let class = class_of(&node.layer);
            let weights = graph.weights_of(number);
            [
                format!("{} ({class})", node.name),
                shape(graph.shape(number)),
                grouped(weights.iter().map(|weight| weight.range.len()).sum()),
            ]
        })
        .collect();
    let titles = ["Layer (type)", "Output shape", "Param #"].map(String::from);
    let width = |column: usize| {
        let cells = rows.iter().chain([&titles]);
        cells.map(|row| row[column].chars().count()).max().unwrap_or(0)
    };
    let [first, second, third] = [0, 1, 2].map(width);
    let mut text = String::new();
    let mut line = |[name, shape, count]: &[String; 3]| {
        writeln!(text, "{name:first$}  {shape:second$}  {count:>third$}")
            .expect("a string takes all that is written to it");
    };
    line(&titles);
    line(&[first, second, third].map(|width| "─".repeat(width)));
    rows.iter().for_each(&mut line);
    let all = graph.parameter_count();
    let trained = graph.weights().iter().filter(|weight| weight.kind == Kind::Trained);
    let trained: usize = trained.map(|weight| weight.range.len()).sum();
    let total = |name: &str, count| format!("{name}: {} ({})\n", grouped(count), size(count));
    text + "\n"
        + &total("Total params", all)
        + &total("Trainable params", trained)
        + &total("Non-trainable params", all - trained)
}

/// `(None, 26, 26, 32)`: Keras' way, with the batch.
fn shape(sides: &[usize]) -> String {
    let sides: Vec<String> = sides.iter().map(usize::to_string).collect();
    format!("(None, {})", sides.join(", "))
}

/// `110,986`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The memory that so many `f32` take, in Keras' units of 1024.
fn size(count: usize) -> String {
    let bytes = 4.0 * count as f64;
    let units = ["B", "KB", "MB", "GB"];
    let unit = (0..3).find(|&unit| bytes < 1024f64.powi(unit + 1)).unwrap_or(3);
    let value = bytes / 1024f64.powi(unit);
    format!("{value:.2} {}", units[unit as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network;

    #[test]
    fn the_table_is_keras() {
        let cnn = spec::Builtin::MnistCnn { dropout: [0.25, 0.5] };
        let network = network(&spec::Model::Builtin(cnn), &[28, 28, 1], 10).unwrap();
        let expected = "\
Layer (type)                  Output shape        Param #
────────────────────────────  ──────────────────  ───────
input (InputLayer)            (None, 28, 28, 1)         0
conv2d (Conv2D)               (None, 26, 26, 32)      320
conv2d_1 (Conv2D)             (None, 24, 24, 64)   18,496
max_pooling2d (MaxPooling2D)  (None, 12, 12, 64)        0
dropout (Dropout)             (None, 12, 12, 64)        0
flatten (Flatten)             (None, 9216)              0
dropout_1 (Dropout)           (None, 9216)              0
dense (Dense)                 (None, 10)           92,170

Total params: 110,986 (433.54 KB)
Trainable params: 110,986 (433.54 KB)
Non-trainable params: 0 (0.00 B)
";
        assert_eq!(summary(&network.graph), expected);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 12, 999, 1000, 1_234_567].map(grouped),
            ["0", "12", "999", "1,000", "1,234,567"]
        );
    }
}
