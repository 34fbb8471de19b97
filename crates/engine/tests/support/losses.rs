//! The losses in f64.

use spec::{LossName, Reduction};

use super::reference::Batch;

/// The loss and its gradient: of the logits where there are any, of the answers otherwise.
pub(crate) fn head(answers: &[f64], batch: &Batch<'_>, logits: bool) -> (f64, Vec<f64>) {
    let n = batch.labels.len();
    let outputs = answers.len() / n;
    let scale = match batch.loss.reduction {
        Reduction::Mean => 1.0 / n as f64,
        Reduction::Sum => 1.0,
    };
    let mut loss = 0.0;
    let mut d = vec![0.0; answers.len()];
    for (sample, &label) in batch.labels.iter().enumerate() {
        let row = &answers[sample * outputs..][..outputs];
        let (one, slopes) = judge(batch.loss.name, row, label as usize, logits);
        loss += one;
        d[sample * outputs..][..outputs].iter_mut().zip(slopes).for_each(|(d, s)| *d = scale * s);
    }
    (loss, d)
}

/// The loss of one sample, and its slopes.
fn judge(name: LossName, row: &[f64], label: usize, logits: bool) -> (f64, Vec<f64>) {
    let clip = |p: f64| p.clamp(1e-7, 1.0 - 1e-7);
    let inside = |p: f64| f64::from(u8::from(clip(p) == p));
    let classes =
        matches!(name, LossName::SparseCategoricalCrossentropy | LossName::CategoricalCrossentropy);
    let target = |i: usize| match row.len() {
        1 if !classes => label as f64,
        _ => f64::from(u8::from(i == label)),
    };
    let outputs = row.len() as f64;
    let total: f64 = row.iter().map(|&p| clip(p)).sum();
    let of = |i: usize| {
        let (p, t) = (row[i], target(i));
        match (name, logits) {
            (LossName::MeanSquaredError, _) => ((p - t).powi(2) / outputs, 2.0 * (p - t) / outputs),
            (LossName::BinaryCrossentropy, _) => {
                let value = -(t * clip(p).ln() + (1.0 - t) * (1.0 - clip(p)).ln());
                let slope = match logits {
                    true => p - t,
                    false => ((1.0 - t) / (1.0 - p) - t / p) * inside(p),
                };
                (value / outputs, slope / outputs)
            }
            (_, true) => (-t * p.ln(), p - t),
            (_, false) => (t * (total.ln() - clip(p).ln()), (1.0 / total - t / p) * inside(p)),
        }
    };
    let (values, slopes): (Vec<f64>, Vec<f64>) = (0..row.len()).map(of).unzip();
    // What is zero times infinity is nothing where the class is another.
    (values.into_iter().filter(|v| !v.is_nan()).sum(), slopes)
}
