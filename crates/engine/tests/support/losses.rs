//! The losses in f64.

use spec::{LossName, Reduction};

use super::reference::Batch;

/// The loss and its gradient: of the logits where there are any, of the answers otherwise.
pub(crate) fn head(answers: &[f64], batch: &Batch<'_>, logits: bool) -> (f64, Vec<f64>) {
    let n = batch.labels.len();
    if batch.loss.name == LossName::Triplet {
        return triplets(answers, batch);
    }
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

/// The loss of triplets and its gradient, by the definition.
fn triplets(answers: &[f64], batch: &Batch<'_>) -> (f64, Vec<f64>) {
    let n = batch.labels.len();
    let scale = match batch.loss.reduction {
        Reduction::Mean => 1.0 / n as f64,
        Reduction::Sum => 1.0,
    };
    let alpha = f64::from(batch.loss.alpha.unwrap_or(0.4));
    let len = answers.len() / n / 3;
    let mut loss = 0.0;
    let mut d = vec![0.0; answers.len()];
    for (y, d) in answers.chunks_exact(3 * len).zip(d.chunks_exact_mut(3 * len)) {
        let square = |i: usize| (0..len).map(|j| (y[j] - y[i * len + j]).powi(2)).sum::<f64>();
        let cost = square(1) - square(2) + alpha;
        if cost <= 0.0 {
            continue;
        }
        loss += cost;
        for j in 0..len {
            let (near, far) = (y[j] - y[len + j], y[j] - y[2 * len + j]);
            d[j] = 2.0 * scale * (near - far);
            d[len + j] = -2.0 * scale * near;
            d[2 * len + j] = 2.0 * scale * far;
        }
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
