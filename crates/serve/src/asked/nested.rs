//! Numbers in arrays within arrays, read flat.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};

/// How deep arrays may lie in each other: samples, rows, columns, channels, and some to spare.
const DEEPEST: usize = 8;

/// An array of any shape. Its rows are equally long, and its numbers are finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nested {
    /// The sides, the outermost first; empty for a single number.
    pub shape: Vec<usize>,
    /// All numbers, row after row.
    pub values: Vec<f32>,
}

impl Nested {
    /// How many samples of `shape` these are: rows that have as many numbers, or one sample alone.
    pub fn samples(&self, shape: &[usize]) -> Option<usize> {
        let plain = |shape: &[usize]| shape.strip_suffix(&[1]).unwrap_or(shape).to_vec();
        let size: usize = shape.iter().product();
        let is_sample = |found: &[usize]| plain(found) == plain(shape) || found == [size];
        match self.shape.split_first() {
            _ if is_sample(&self.shape) => Some(1),
            Some((&count, rest)) if is_sample(rest) || (rest.is_empty() && size == 1) => {
                Some(count)
            }
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut nested = Nested::default();
        Level { nested: &mut nested, depth: 0 }.deserialize(deserializer)?;
        Ok(nested)
    }
}

/// What lies at some depth: a number or an array.
struct Level<'a> {
    nested: &'a mut Nested,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Level<'_> {
    fn number<E: de::Error>(self, number: f64) -> Result<(), E> {
        // The first number says how deep all numbers are.
        if self.nested.values.is_empty() {
            self.nested.shape.truncate(self.depth);
        }
        if self.nested.shape.len() != self.depth {
            return Err(E::custom("a number lies where an array should be"));
        }
        let number = number as f32;
        if !number.is_finite() {
            return Err(E::custom("a number is too large"));
        }
        self.nested.values.push(number);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or an array of numbers")
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<(), E> {
        self.number(number)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(), E> {
        self.number(number as f64)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(), E> {
        self.number(number as f64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        let Level { nested, depth } = self;
        if depth == DEEPEST {
            return Err(de::Error::custom("arrays lie too deep in each other"));
        }
        // The first array at each depth says how long the others are.
        let known = (!nested.values.is_empty()).then(|| nested.shape.get(depth).copied()).flatten();
        if !nested.values.is_empty() && known.is_none() {
            return Err(de::Error::custom("an array lies where a number should be"));
        }
        if known.is_none() && nested.shape.len() <= depth {
            nested.shape.push(0);
        }
        let mut len = 0;
        while array.next_element_seed(Level { nested, depth: depth + 1 })?.is_some() {
            len += 1;
        }
        match known {
            Some(known) if known != len => {
                Err(de::Error::custom(format_args!("arrays differ in length: {known} and {len}")))
            }
            Some(_) => Ok(()),
            None if len == 0 => Err(de::Error::custom("an array is empty")),
            None => {
                nested.shape[depth] = len;
                Ok(())
            }
        }
    }
}
