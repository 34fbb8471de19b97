//! Samples in memory: one flat array of values, one of labels.

use std::ops::Range;

use random::{Key, Purpose};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{DataError, Result};

/// The values of many samples. Pixels stay bytes: a quarter of the memory, and of the traffic.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Bytes, which stand for 0 to 1 (see [`Samples::scale`]).
    U8(Vec<u8>),
    /// Ids of words, where all are below 65,536.
    U16(Vec<u16>),
    /// Ids of words of a larger vocabulary.
    U32(Vec<u32>),
    /// Numbers as they are.
    F32(Vec<f32>),
}

/// What values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// Bytes.
    U8,
    /// Ids below 65,536.
    U16,
    /// Ids.
    U32,
    /// Numbers.
    F32,
}

/// The values of some samples, borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View<'a> {
    /// Bytes.
    U8(&'a [u8]),
    /// Ids of words.
    U16(&'a [u16]),
    /// Ids of words of a large vocabulary.
    U32(&'a [u32]),
    /// Numbers.
    F32(&'a [f32]),
}

/// Samples of one shape with their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// The shape of one sample; a picture has height, width and channels.
    pub shape: Vec<usize>,
    /// All values, sample after sample.
    pub x: Values,
    /// A class for each sample.
    pub y: Vec<u32>,
    /// How many classes there are.
    pub classes: usize,
}

impl Values {
    /// How many values.
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them.
    pub fn view(&self) -> View<'_> {
        match self {
            Values::U8(v) => View::U8(v),
            Values::U16(v) => View::U16(v),
            Values::U32(v) => View::U32(v),
            Values::F32(v) => View::F32(v),
        }
    }

    /// An empty array of the same kind with room for `len` values.
    pub(crate) fn sibling(&self, len: usize) -> Values {
        match self {
            Values::U8(_) => Values::U8(Vec::with_capacity(len)),
            Values::U16(_) => Values::U16(Vec::with_capacity(len)),
            Values::U32(_) => Values::U32(Vec::with_capacity(len)),
            Values::F32(_) => Values::F32(Vec::with_capacity(len)),
        }
    }

    /// Forgets the values and keeps the room.
    pub(crate) fn clear(&mut self) {
        match self {
            Values::U8(v) => v.clear(),
            Values::U16(v) => v.clear(),
            Values::U32(v) => v.clear(),
            Values::F32(v) => v.clear(),
        }
    }

    /// Appends values of the same kind.
    pub(crate) fn extend(&mut self, other: View<'_>) {
        match (self, other) {
            (Values::U8(v), View::U8(other)) => v.extend_from_slice(other),
            (Values::U16(v), View::U16(other)) => v.extend_from_slice(other),
            (Values::U32(v), View::U32(other)) => v.extend_from_slice(other),
            (Values::F32(v), View::F32(other)) => v.extend_from_slice(other),
            _ => unreachable!("values are appended to values of their own kind"),
        }
    }

    /// Bytes one value takes.
    pub fn width(&self) -> usize {
        self.kind().width()
    }

    /// What they are.
    pub fn kind(&self) -> ValueKind {
        match self {
            Values::U8(_) => ValueKind::U8,
            Values::U16(_) => ValueKind::U16,
            Values::U32(_) => ValueKind::U32,
            Values::F32(_) => ValueKind::F32,
        }
    }
}

impl ValueKind {
    /// Bytes one value takes.
    pub fn width(self) -> usize {
        match self {
            ValueKind::U8 => 1,
            ValueKind::U16 => 2,
            ValueKind::U32 | ValueKind::F32 => 4,
        }
    }

    /// The narrowest kind for ids below `size`.
    pub fn of_ids(size: u32) -> ValueKind {
        if size <= 1 << 16 { ValueKind::U16 } else { ValueKind::U32 }
    }

    /// Whether values are ids of words.
    pub fn is_ids(self) -> bool {
        matches!(self, ValueKind::U16 | ValueKind::U32)
    }
}

impl<'a> View<'a> {
    /// How many values.
    pub fn len(self) -> usize {
        match self {
            View::U8(v) => v.len(),
            View::U16(v) => v.len(),
            View::U32(v) => v.len(),
            View::F32(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Some of them.
    ///
    /// # Panics
    /// When the range is not within.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> View<'a> {
        match self {
            View::U8(v) => View::U8(&v[range]),
            View::U16(v) => View::U16(&v[range]),
            View::U32(v) => View::U32(&v[range]),
            View::F32(v) => View::F32(&v[range]),
        }
    }

    /// The largest id, where values are ids and there are any.
    pub fn largest_id(self) -> Option<u32> {
        match self {
            View::U16(v) => v.iter().copied().max().map(u32::from),
            View::U32(v) => v.iter().copied().max(),
            View::U8(_) | View::F32(_) => None,
        }
    }

    /// Calls `each` with the values as little-endian bytes, piece by piece.
    pub(crate) fn bytes<E>(self, mut each: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self {
            View::U8(v) => each(v),
            View::U16(v) => in_pieces(v, u16::to_le_bytes, each),
            View::U32(v) => in_pieces(v, u32::to_le_bytes, each),
            View::F32(v) => in_pieces(v, f32::to_le_bytes, each),
        }
    }
}

/// Calls `each` with values as bytes, a page at a time.
fn in_pieces<T: Copy, const N: usize, E>(
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut buffer = [0; 4096];
    for piece in values.chunks(buffer.len() / N) {
        let (cells, _) = buffer.as_chunks_mut::<N>();
        for (cell, &value) in cells.iter_mut().zip(piece) {
            *cell = bytes(value);
        }
        each(&buffer[..N * piece.len()])?;
    }
    Ok(())
}

impl Samples {
    /// Puts values and labels together and checks that they fit.
    pub fn new(
        shape: Vec<usize>,
        x: Values,
        y: Vec<u32>,
        classes: Option<usize>,
    ) -> Result<Samples> {
        let row = shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
        let Some(row @ 1..) = row.filter(|_| !shape.is_empty()) else {
            return Err(DataError::malformed(format!("no sample can have the shape {shape:?}")));
        };
        if row.checked_mul(y.len()) != Some(x.len()) {
            return Err(DataError::malformed(format!(
                "{} samples of shape {shape:?} but {} labels; there must be one label for each",
                x.len() / row,
                y.len()
            )));
        }
        if u32::try_from(y.len()).is_err() {
            return Err(DataError::malformed("more than 2^32 samples"));
        }
        let seen = y.iter().max().map_or(0, |&max| max as usize + 1);
        let classes = classes.unwrap_or(seen);
        if seen > classes {
            return Err(DataError::malformed(format!(
                "a label is {}, but there are {classes} classes, numbered from 0",
                seen - 1
            )));
        }
        Ok(Samples { shape, x, y, classes })
    }

    /// Random values and labels, for measuring.
    pub fn synthetic(shape: &[usize], classes: usize, len: usize, seed: u64) -> Samples {
        let key = Key::new(seed, Purpose::Synthetic);
        let (pixels, labels) = (key.with(0), key.with(1));
        let values = len * shape.iter().product::<usize>();
        let x = (0..values.div_ceil(8) as u64)
            .flat_map(|i| pixels.bits(i).to_le_bytes())
            .take(values)
            .collect();
        let y = (0..len as u64).map(|i| labels.below(i, classes as u64) as u32).collect();
        Samples { shape: shape.to_vec(), x: Values::U8(x), y, classes }
    }

    /// Random ids of words below `vocabulary` and labels, for measuring.
    pub fn synthetic_texts(
        length: usize,
        vocabulary: u16,
        classes: usize,
        len: usize,
        seed: u64,
    ) -> Samples {
        let key = Key::new(seed, Purpose::Synthetic);
        let (words, labels) = (key.with(0), key.with(1));
        let ids = (0..(len * length) as u64).map(|i| words.below(i, vocabulary.into()) as u16);
        let y = (0..len as u64).map(|i| labels.below(i, classes as u64) as u32).collect();
        Samples { shape: vec![length], x: Values::U16(ids.collect()), y, classes }
    }

    /// How many samples.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// How many values one sample has.
    pub fn row(&self) -> usize {
        self.shape.iter().product()
    }

    /// What a value is multiplied with before a network sees it: bytes become 0 to 1.
    pub fn scale(&self) -> f32 {
        match self.x {
            Values::U8(_) => 1.0 / 255.0,
            Values::U16(_) | Values::U32(_) | Values::F32(_) => 1.0,
        }
    }

    /// The values of some samples in a row.
    ///
    /// # Panics
    /// When the range is not within.
    pub fn rows(&self, range: Range<usize>) -> View<'_> {
        let row = self.row();
        self.x.view().slice(range.start * row..range.end * row)
    }

    /// The samples with these numbers, in this order.
    ///
    /// # Panics
    /// When a number is not within.
    #[must_use]
    pub fn gather(&self, indices: &[u32]) -> Samples {
        let mut x = self.x.sibling(indices.len() * self.row());
        for &index in indices {
            x.extend(self.rows(index as usize..index as usize + 1));
        }
        Samples {
            shape: self.shape.clone(),
            x,
            y: indices.iter().map(|&i| self.y[i as usize]).collect(),
            classes: self.classes,
        }
    }

    /// How many samples each class has.
    pub fn per_class(&self) -> Vec<u64> {
        let mut counts = vec![0; self.classes];
        for &label in &self.y {
            counts[label as usize] += 1;
        }
        counts
    }

    /// SHA-256 over the samples themselves: all values, then all labels as 32-bit numbers, both
    /// little-endian. Whatever file they came in, the same samples have the same hash.
    pub fn sha256(&self) -> String {
        self.sha256_of(0..self.len() as u32)
    }

    /// As [`sha256`](Self::sha256), of the samples with these numbers, without gathering them.
    pub(crate) fn sha256_of(&self, indices: impl Iterator<Item = u32> + Clone) -> String {
        let mut hash = Sha256::new();
        for index in indices.clone() {
            let row = self.rows(index as usize..index as usize + 1);
            let Ok(()) = row.bytes(|bytes| {
                hash.update(bytes);
                Ok::<(), std::convert::Infallible>(())
            });
        }
        for index in indices {
            hash.update(self.y[index as usize].to_le_bytes());
        }
        store::hex(&hash.finalize())
    }

    /// Bytes of memory the samples take.
    pub fn memory(&self) -> u64 {
        (self.x.len() * self.x.width() + self.y.len() * 4) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_labels_must_fit() {
        let x = Values::U8(vec![0; 8]);
        let error = Samples::new(vec![2, 2], x.clone(), vec![0; 3], None).unwrap_err();
        assert!(error.to_string().contains("2 samples"), "{error}");
        let error = Samples::new(vec![2, 2], x.clone(), vec![0, 3], Some(3)).unwrap_err();
        assert!(error.to_string().contains("a label is 3"), "{error}");
        assert!(Samples::new(vec![0], x.clone(), vec![0; 2], None).is_err());
        assert_eq!(Samples::new(vec![2, 2], x, vec![0, 3], None).unwrap().classes, 4);
    }

    #[test]
    fn the_hash_is_of_values_and_labels_alone() {
        let samples = Samples::synthetic(&[3], 4, 5, 1);
        let all = samples.gather(&[0, 1, 2, 3, 4]);
        assert_eq!(samples.sha256(), all.sha256());
        assert_ne!(samples.sha256(), samples.gather(&[1, 0, 2, 3, 4]).sha256());
        let picked = samples.gather(&[4, 2]);
        assert_eq!(picked.sha256(), samples.sha256_of([4, 2].into_iter()));
        assert_eq!(picked.rows(1..2), samples.rows(2..3));
    }
}
