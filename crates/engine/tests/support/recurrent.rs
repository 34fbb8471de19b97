//! Embedding and recurrent layers in f64, sample by sample and step by step.

use model::Graph;
use spec::{Layer, MergeMode, Recurrent};

/// A layer that reads sequences, and where its weights are.
struct Reader<'a> {
    layer: Recurrent,
    merge: Option<MergeMode>,
    steps: usize,
    inputs: usize,
    units: usize,
    weights: &'a [f64],
    /// Where the kernels and constants of each direction begin.
    places: Vec<[Option<usize>; 3]>,
    masked: bool,
}

/// What happened at a step: what was remembered before and after, and the gates.
#[derive(Clone, Default)]
struct Record {
    step: usize,
    passed: bool,
    before: [Vec<f64>; 2],
    after: [Vec<f64>; 2],
    gates: [Vec<f64>; 4],
}

/// A row of the table for each id.
pub(crate) fn embed(graph: &Graph, number: usize, weights: &[f64], ids: &[f64]) -> Vec<f64> {
    let table = &graph.weights_of(number)[0];
    let row = table.shape[1];
    let first = |id: &f64| table.range.start + *id as usize * row;
    ids.iter().flat_map(|id| weights[first(id)..][..row].to_vec()).collect()
}

pub(crate) fn embed_backward(
    graph: &Graph,
    number: usize,
    (ids, dy): (&[f64], &[f64]),
    gradients: &mut [f64],
) {
    let table = &graph.weights_of(number)[0];
    let row = table.shape[1];
    for (i, dy) in dy.iter().enumerate() {
        gradients[table.range.start + ids[i / row] as usize * row + i % row] += dy;
    }
}

/// The layer of a node, if it reads sequences.
fn reader<'a>(graph: &Graph, number: usize, weights: &'a [f64]) -> Option<Reader<'a>> {
    let (layer, merge) = match &graph.nodes()[number].layer {
        Layer::Gru(gru) => (Recurrent::Gru(gru.clone()), None),
        Layer::Lstm(lstm) => (Recurrent::Lstm(lstm.clone()), None),
        Layer::Bidirectional(both) => (both.layer.clone(), Some(both.merge_mode)),
        _ => return None,
    };
    let input = graph.nodes()[number].inputs[0];
    let all = graph.weights_of(number);
    let own = all.chunks(all.len() / if merge.is_some() { 2 } else { 1 });
    let place = |w: &[model::Weight], i: usize| w.get(i).map(|w| w.range.start);
    let places = own.map(|w| [place(w, 0), place(w, 1), place(w, 2)]).collect();
    let [steps, inputs] = graph.shape(input).try_into().expect("a sequence");
    let (units, masked) = (layer.units(), graph.is_masked(input));
    Some(Reader { layer, merge, steps, inputs, units, weights, places, masked })
}

pub(crate) fn recurrent(
    graph: &Graph,
    number: usize,
    weights: &[f64],
    (x, ids): (&[f64], &[f64]),
) -> Option<Vec<f64>> {
    let reader = reader(graph, number, weights)?;
    let samples = x.chunks_exact(reader.steps * reader.inputs);
    let results = samples.enumerate().map(|(s, x)| reader.result(&reader.read(x, ids, s)));
    Some(results.flatten().collect())
}

pub(crate) fn recurrent_backward(
    graph: &Graph,
    number: usize,
    weights: &[f64],
    (x, ids, dy): (&[f64], &[f64], &[f64]),
    gradients: &mut [f64],
) -> Option<Vec<f64>> {
    let reader = reader(graph, number, weights)?;
    let len = reader.steps * reader.inputs;
    let n = x.len() / len;
    let mut dx = vec![0.0; x.len()];
    for sample in 0..n {
        let (x, dx) = (&x[sample * len..][..len], &mut dx[sample * len..][..len]);
        let dy = &dy[sample * (dy.len() / n)..][..dy.len() / n];
        let records = reader.read(x, ids, sample);
        for direction in 0..records.len() {
            let d = reader.result_backward(&records, direction, dy);
            reader.back(&records[direction], direction, (x, d), (&mut *dx, gradients));
        }
    }
    Some(dx)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Reader<'_> {
    fn columns(&self) -> usize {
        self.units * if self.is_lstm() { 4 } else { 3 }
    }

    fn is_lstm(&self) -> bool {
        matches!(self.layer, Recurrent::Lstm(_))
    }

    fn resets_after(&self) -> bool {
        matches!(&self.layer, Recurrent::Gru(gru) if gru.reset_after)
    }

    /// Every direction's steps in the order of reading.
    fn read(&self, x: &[f64], ids: &[f64], sample: usize) -> Vec<Vec<Record>> {
        let mut all = vec![];
        for direction in 0..self.places.len() {
            let mut records: Vec<Record> = vec![];
            for done in 0..self.steps {
                let backwards = self.layer.go_backwards() != (direction == 1);
                let step = if backwards { self.steps - 1 - done } else { done };
                let zeros = || vec![0.0; self.units];
                let before = records.last().map_or([zeros(), zeros()], |last| last.after.clone());
                let passed = self.masked && ids[sample * self.steps + step] == 0.0;
                records.push(match passed {
                    true => {
                        Record { step, passed, after: before.clone(), before, ..Record::default() }
                    }
                    false => {
                        self.step(&x[step * self.inputs..][..self.inputs], before, direction, step)
                    }
                });
            }
            all.push(records);
        }
        all
    }

    /// A constant, or zero where there are none.
    fn bias(&self, direction: usize, i: usize) -> f64 {
        self.places[direction][2].map_or(0.0, |first| self.weights[first + i])
    }

    /// What is read and what is remembered times column `c` of their kernels.
    fn sums(&self, x: &[f64], h: &[f64], direction: usize, c: usize) -> [f64; 2] {
        let [kernel, recurrent, _] = self.places[direction].map(|first| first.unwrap_or(0));
        let columns = self.columns();
        let sum = |values: &[f64], first: usize| {
            let each = values.iter().enumerate();
            each.map(|(i, v)| v * self.weights[first + i * columns + c]).sum::<f64>()
        };
        [sum(x, kernel) + self.bias(direction, c), sum(h, recurrent)]
    }

    fn step(&self, x: &[f64], before: [Vec<f64>; 2], direction: usize, step: usize) -> Record {
        let units = self.units;
        let sums = |h: &[f64], gate: usize| -> Vec<[f64; 2]> {
            (0..units).map(|u| self.sums(x, h, direction, gate * units + u)).collect()
        };
        let open = |gate: usize, bias: usize| -> Vec<f64> {
            let extra = |u: usize| {
                if bias > 0 { self.bias(direction, bias + gate * units + u) } else { 0.0 }
            };
            let sums = sums(&before[0], gate).into_iter().enumerate();
            sums.map(|(u, [a, b])| sigmoid(a + b + extra(u))).collect()
        };
        if self.is_lstm() {
            let [i, f, o] = [0, 1, 3].map(|gate| open(gate, 0));
            let g: Vec<f64> = sums(&before[0], 2).iter().map(|[a, b]| (a + b).tanh()).collect();
            let c: Vec<f64> = (0..units).map(|u| f[u] * before[1][u] + i[u] * g[u]).collect();
            let h = (0..units).map(|u| o[u] * c[u].tanh()).collect();
            return Record { step, passed: false, before, after: [h, c], gates: [i, f, g, o] };
        }
        let second = if self.resets_after() { self.columns() } else { 0 };
        let [z, r] = [0, 1].map(|gate| open(gate, second));
        let (new, product): (Vec<f64>, Vec<f64>) = if self.resets_after() {
            let with = |(u, [a, b]): (usize, [f64; 2])| {
                let product = b + self.bias(direction, second + 2 * units + u);
                ((a + r[u] * product).tanh(), product)
            };
            sums(&before[0], 2).into_iter().enumerate().map(with).unzip()
        } else {
            let reset: Vec<f64> = (0..units).map(|u| r[u] * before[0][u]).collect();
            let new = sums(&reset, 2).iter().map(|[a, b]| (a + b).tanh()).collect();
            (new, reset)
        };
        let h = (0..units).map(|u| z[u] * before[0][u] + (1.0 - z[u]) * new[u]).collect();
        let after = [h, vec![0.0; units]];
        Record { step, passed: false, before, after, gates: [z, r, new, product] }
    }

    /// What a direction came to at a place of the result.
    fn state<'r>(&self, records: &'r [Record], place: usize) -> &'r [f64] {
        let place = match self.layer.go_backwards() {
            true => self.steps - 1 - place,
            false => place,
        };
        let found = match self.layer.return_sequences() {
            true => records.iter().find(|record| record.step == place),
            false => records.last(),
        };
        &found.expect("every step was read").after[0]
    }

    fn places(&self) -> usize {
        if self.layer.return_sequences() { self.steps } else { 1 }
    }

    fn result(&self, records: &[Vec<Record>]) -> Vec<f64> {
        let mut y = vec![];
        for place in 0..self.places() {
            let a = self.state(&records[0], place);
            let b = records.last().map_or(a, |last| self.state(last, place));
            let joined = |join: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
                a.iter().zip(b).map(|(a, b)| join(*a, *b)).collect()
            };
            y.extend(match self.merge {
                None => a.to_vec(),
                Some(MergeMode::Concat) => [a, b].concat(),
                Some(MergeMode::Sum) => joined(&|a, b| a + b),
                Some(MergeMode::Ave) => joined(&|a, b| (a + b) / 2.0),
                Some(MergeMode::Mul) => joined(&|a, b| a * b),
            });
        }
        y
    }

    /// The gradient of a direction's states that comes from the result, by step.
    fn result_backward(
        &self,
        records: &[Vec<Record>],
        direction: usize,
        dy: &[f64],
    ) -> Vec<Vec<f64>> {
        let units = self.units;
        let mut d = vec![vec![0.0; units]; self.steps];
        let width = dy.len() / self.places();
        for place in 0..self.places() {
            let dy = &dy[place * width..][..width];
            let other = self.state(&records[records.len() - 1 - direction], place);
            let step = match (self.layer.return_sequences(), self.layer.go_backwards()) {
                (false, _) => records[direction].last().map_or(0, |record| record.step),
                (true, false) => place,
                (true, true) => self.steps - 1 - place,
            };
            for u in 0..units {
                d[step][u] += match self.merge {
                    None | Some(MergeMode::Sum) => dy[u],
                    Some(MergeMode::Concat) => dy[direction * units + u],
                    Some(MergeMode::Ave) => dy[u] / 2.0,
                    Some(MergeMode::Mul) => dy[u] * other[u],
                };
            }
        }
        d
    }

    /// Back through a direction's steps.
    fn back(
        &self,
        records: &[Record],
        direction: usize,
        (x, d): (&[f64], Vec<Vec<f64>>),
        (dx, gradients): (&mut [f64], &mut [f64]),
    ) {
        let units = self.units;
        let [mut dh, mut dc] = [vec![0.0; units], vec![0.0; units]];
        for record in records.iter().rev() {
            dh.iter_mut().zip(&d[record.step]).for_each(|(dh, d)| *dh += d);
            if record.passed {
                continue;
            }
            let range = record.step * self.inputs..(record.step + 1) * self.inputs;
            let pass = Pass { reader: self, direction, x: &x[range.clone()], record };
            let (h, c) = match self.is_lstm() {
                true => pass.lstm(&dh, &dc, &mut dx[range], gradients),
                false => (pass.gru(&dh, &mut dx[range], gradients), vec![0.0; units]),
            };
            (dh, dc) = (h, c);
        }
    }
}

/// The way back through one step.
struct Pass<'a> {
    reader: &'a Reader<'a>,
    direction: usize,
    x: &'a [f64],
    record: &'a Record,
}

impl Pass<'_> {
    /// Spreads the gradient `d` of a gate's sum over what is read and `h`. `parts` says whether x and h
    /// went into this sum.
    fn spread(
        &self,
        (gate, u, d): (usize, usize, f64),
        (h, dh): (&[f64], &mut [f64]),
        parts: [bool; 2],
        (dx, gradients): (&mut [f64], &mut [f64]),
    ) {
        let reader = self.reader;
        let [kernel, recurrent, bias] = reader.places[self.direction];
        let (columns, c) = (reader.columns(), gate * reader.units + u);
        let mut each = |first: usize, values: &[f64], ds: &mut [f64]| {
            for (i, (v, dv)) in values.iter().zip(ds).enumerate() {
                gradients[first + i * columns + c] += v * d;
                *dv += reader.weights[first + i * columns + c] * d;
            }
        };
        if parts[0] {
            each(kernel.unwrap_or(0), self.x, dx);
        }
        if parts[1] {
            each(recurrent.unwrap_or(0), h, dh);
        }
        if let Some(bias) = bias {
            if parts[0] {
                gradients[bias + c] += d;
            }
            if parts[1] && reader.resets_after() {
                gradients[bias + columns + c] += d;
            }
        }
    }

    fn lstm(
        &self,
        dh: &[f64],
        dc: &[f64],
        dx: &mut [f64],
        gradients: &mut [f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let units = self.reader.units;
        let ([i, f, g, o], [h, c]) = (&self.record.gates, &self.record.before);
        let [mut before, mut cells] = [vec![0.0; units], vec![0.0; units]];
        for u in 0..units {
            let curve = self.record.after[1][u].tanh();
            let dc = dc[u] + dh[u] * o[u] * (1.0 - curve * curve);
            cells[u] = dc * f[u];
            let sums = [
                dc * g[u] * i[u] * (1.0 - i[u]),
                dc * c[u] * f[u] * (1.0 - f[u]),
                dc * i[u] * (1.0 - g[u] * g[u]),
                dh[u] * curve * o[u] * (1.0 - o[u]),
            ];
            for (gate, d) in sums.into_iter().enumerate() {
                let state = (&h[..], &mut before[..]);
                self.spread((gate, u, d), state, [true; 2], (&mut *dx, &mut *gradients));
            }
        }
        (before, cells)
    }

    fn gru(&self, dh: &[f64], dx: &mut [f64], gradients: &mut [f64]) -> Vec<f64> {
        let (units, after) = (self.reader.units, self.reader.resets_after());
        let ([z, r, new, product], [h, _]) = (&self.record.gates, &self.record.before);
        let [mut before, mut reset] = [vec![0.0; units], vec![0.0; units]];
        let d_new: Vec<f64> =
            (0..units).map(|u| dh[u] * (1.0 - z[u]) * (1.0 - new[u] * new[u])).collect();
        for u in 0..units {
            before[u] += dh[u] * z[u];
            let d = (2, u, d_new[u]);
            let nowhere = (&h[..], &mut [][..]);
            if after {
                self.spread(d, nowhere, [true, false], (&mut *dx, &mut *gradients));
                let d = (2, u, d_new[u] * r[u]);
                let state = (&h[..], &mut before[..]);
                self.spread(d, state, [false, true], (&mut *dx, &mut *gradients));
            } else {
                let state = (&product[..], &mut reset[..]);
                self.spread(d, state, [true; 2], (&mut *dx, &mut *gradients));
            }
        }
        for u in 0..units {
            let d_reset = if after { d_new[u] * product[u] } else { reset[u] * h[u] };
            before[u] += if after { 0.0 } else { reset[u] * r[u] };
            let sums =
                [dh[u] * (h[u] - new[u]) * z[u] * (1.0 - z[u]), d_reset * r[u] * (1.0 - r[u])];
            for (gate, d) in sums.into_iter().enumerate() {
                let state = (&h[..], &mut before[..]);
                self.spread((gate, u, d), state, [true; 2], (&mut *dx, &mut *gradients));
            }
        }
        before
    }
}
