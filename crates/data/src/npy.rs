//! One array as numpy writes it (`.npy`): a small text header, then the elements.
//!
//! The header is a Python literal. This reads exactly the literal numpy writes and nothing else,
//! so a file can never make us evaluate anything; arrays of Python objects, which numpy can only
//! read by running code from the file, are refused.
//!
//! `elements` reads what comes after the header.

use std::io::{Read, Write};

use crate::error::{DataError, Result};
use crate::samples::View;

/// What the elements of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

/// What an array says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What its elements are.
    pub kind: Kind,
    /// Its shape, outermost first.
    pub shape: Vec<usize>,
}

/// Numpy's names, in the order of [`Kind`].
const NAMES: [(Kind, &str); 10] = [
    (Kind::U8, "|u1"),
    (Kind::U16, "<u2"),
    (Kind::U32, "<u4"),
    (Kind::U64, "<u8"),
    (Kind::I8, "|i1"),
    (Kind::I16, "<i2"),
    (Kind::I32, "<i4"),
    (Kind::I64, "<i8"),
    (Kind::F32, "<f4"),
    (Kind::F64, "<f8"),
];

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// No array has more dimensions than numpy allows.
const DIMENSIONS: usize = 64;

impl Kind {
    /// Bytes of one element.
    pub fn width(self) -> usize {
        match self {
            Kind::U8 | Kind::I8 => 1,
            Kind::U16 | Kind::I16 => 2,
            Kind::U32 | Kind::I32 | Kind::F32 => 4,
            Kind::U64 | Kind::I64 | Kind::F64 => 8,
        }
    }

    /// Numpy's name of it.
    fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    fn parse(name: &str) -> Result<Kind> {
        let found = NAMES.iter().find(|(_, known)| *known == name);
        found.map(|&(kind, _)| kind).ok_or_else(|| DataError::malformed(refusal(name)))
    }

    /// One element as a 64-bit float, exact but for 64-bit integers beyond 2^53.
    pub(crate) fn number(self, cell: &[u8]) -> f64 {
        /// Copies a cell whose width the caller knows.
        fn fixed<const N: usize>(cell: &[u8]) -> [u8; N] {
            cell.try_into().expect("a cell is as wide as its kind")
        }
        match self {
            Kind::U8 => f64::from(cell[0]),
            Kind::I8 => f64::from(cell[0].cast_signed()),
            Kind::U16 => f64::from(u16::from_le_bytes(fixed(cell))),
            Kind::I16 => f64::from(i16::from_le_bytes(fixed(cell))),
            Kind::U32 => f64::from(u32::from_le_bytes(fixed(cell))),
            Kind::I32 => f64::from(i32::from_le_bytes(fixed(cell))),
            Kind::U64 => u64::from_le_bytes(fixed(cell)) as f64,
            Kind::I64 => i64::from_le_bytes(fixed(cell)) as f64,
            Kind::F32 => f64::from(f32::from_le_bytes(fixed(cell))),
            Kind::F64 => f64::from_le_bytes(fixed(cell)),
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }
}

/// Why an array of this kind is not read, and what to do.
fn refusal(descr: &str) -> String {
    if descr.contains('O') {
        "holds pickled Python objects, which are never loaded (allow_pickle is never on); save \
         plain numbers, such as x.astype('uint8')"
            .to_owned()
    } else if let Some(rest) = descr.strip_prefix('>') {
        format!("is big-endian ({descr}); save it as little-endian: x.astype('<{rest}')")
    } else if descr.starts_with('[') {
        "has a structured dtype; save its fields as arrays of their own".to_owned()
    } else {
        let shown: String = descr.chars().take(20).collect();
        format!(
            "has dtype `{shown}`; understood are unsigned and signed integers of 8 to 64 bits, \
             float32 and float64"
        )
    }
}

impl Header {
    /// The header of an array of such values.
    pub(crate) fn of(shape: &[usize], values: View<'_>) -> Header {
        Header {
            kind: match values {
                View::U8(_) => Kind::U8,
                View::U16(_) => Kind::U16,
                View::U32(_) => Kind::U32,
                View::F32(_) => Kind::F32,
            },
            shape: shape.to_vec(),
        }
    }

    /// How many elements; `None` when that overflows.
    pub fn elements(&self) -> Option<usize> {
        // A zero anywhere makes the product zero, but the rest must not overflow before it.
        self.shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side.max(1)))?;
        Some(self.shape.iter().product())
    }

    /// How many bytes the elements take.
    pub fn bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(self.kind.width()).map(|bytes| bytes as u64)
    }

    /// Reads everything before the elements and says how many bytes that was.
    pub(crate) fn read(reader: &mut (impl Read + ?Sized), limit: usize) -> Result<(Header, u64)> {
        let mut start = [0; 8];
        read_exactly(reader, &mut start)?;
        if &start[..6] != MAGIC {
            return Err(DataError::malformed("is not a numpy array (no \\x93NUMPY at its start)"));
        }
        let (length, before) = match start[6] {
            1 => {
                let mut length = [0; 2];
                read_exactly(reader, &mut length)?;
                (usize::from(u16::from_le_bytes(length)), 10)
            }
            2 | 3 => {
                let mut length = [0; 4];
                read_exactly(reader, &mut length)?;
                (u32::from_le_bytes(length) as usize, 12)
            }
            version => {
                return Err(DataError::malformed(format!(
                    "has npy format {version}; understood are 1, 2 and 3"
                )));
            }
        };
        if length > limit {
            return Err(DataError::malformed(format!(
                "has a header of {length} bytes; the limit is {limit}"
            )));
        }
        let mut text = vec![0; length];
        read_exactly(reader, &mut text)?;
        let text = std::str::from_utf8(&text)
            .map_err(|_| DataError::malformed("has a header that is not text"))?;
        Ok((Header::parse(text)?, before + length as u64))
    }

    /// Parses `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Result<Header> {
        let broken = || DataError::malformed("has a header that numpy would not write");
        let mut rest = Literal(text.trim());
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        rest.expect("{").ok_or_else(broken)?;
        while rest.expect("}").is_none() {
            let key = rest.string().ok_or_else(broken)?;
            rest.expect(":").ok_or_else(broken)?;
            let fresh = match key {
                "descr" if rest.peek('[') => return Err(DataError::malformed(refusal("["))),
                "descr" => descr.replace(rest.string().ok_or_else(broken)?).is_none(),
                "fortran_order" => fortran.replace(rest.boolean().ok_or_else(broken)?).is_none(),
                "shape" => shape.replace(rest.tuple().ok_or_else(broken)?).is_none(),
                _ => false,
            };
            // A comma may stand before the closing brace, and must between fields.
            if !fresh || (rest.expect(",").is_none() && !rest.peek('}')) {
                return Err(broken());
            }
        }
        if !rest.0.is_empty() {
            return Err(broken());
        }
        let kind = Kind::parse(descr.ok_or_else(broken)?)?;
        let shape = shape.ok_or_else(broken)?;
        if fortran.ok_or_else(broken)? && shape.len() > 1 {
            return Err(DataError::malformed(
                "is in Fortran order; save it in C order: numpy.ascontiguousarray(x)",
            ));
        }
        let header = Header { kind, shape };
        header.bytes().ok_or_else(|| {
            DataError::malformed(format!(
                "has shape {:?}, more than memory can address",
                header.shape
            ))
        })?;
        Ok(header)
    }

    /// Everything before the elements, a multiple of 64 bytes long.
    pub(crate) fn write(&self, writer: &mut impl Write) -> std::io::Result<()> {
        let sides: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let comma = if sides.len() == 1 { "," } else { "" };
        let mut text = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}",
            self.kind.name(),
            sides.join(", ")
        );
        while (10 + text.len() + 1) % 64 != 0 {
            text.push(' ');
        }
        text.push('\n');
        let length = u16::try_from(text.len()).expect("64 dimensions fit into 64 KiB");
        writer.write_all(MAGIC)?;
        writer.write_all(&[1, 0])?;
        writer.write_all(&length.to_le_bytes())?;
        writer.write_all(text.as_bytes())
    }
}

/// What is left of a Python literal.
struct Literal<'a>(&'a str);

impl<'a> Literal<'a> {
    fn expect(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(token)?.trim_start();
        Some(())
    }

    fn peek(&self, token: char) -> bool {
        self.0.starts_with(token)
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = self.0.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let (string, rest) = self.0[1..].split_once(quote)?;
        self.0 = rest.trim_start();
        (!string.contains('\\')).then_some(string)
    }

    fn boolean(&mut self) -> Option<bool> {
        match self.expect("True") {
            Some(()) => Some(true),
            None => self.expect("False").map(|()| false),
        }
    }

    fn tuple(&mut self) -> Option<Vec<usize>> {
        let mut sides = Vec::new();
        self.expect("(")?;
        while self.expect(")").is_none() {
            let end = self.0.find(|c: char| !c.is_ascii_digit())?;
            let (digits, rest) = self.0.split_at(end);
            sides.push(digits.parse().ok()?);
            // Python 2 wrote long integers with an L.
            self.0 = rest.strip_prefix('L').unwrap_or(rest).trim_start();
            if sides.len() > DIMENSIONS || (self.expect(",").is_none() && !self.peek(')')) {
                return None;
            }
        }
        Some(sides)
    }
}

/// Fills a buffer, or says that the file ends too early.
pub(crate) fn read_exactly(reader: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> Result<()> {
    reader.read_exact(buffer).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            DataError::malformed("ends too early; the file is cut short, fetch or write it again")
        }
        _ => DataError::malformed(format!("cannot be read: {error}")),
    })
}
