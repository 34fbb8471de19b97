//! One array as numpy writes it (`.npy`): a small text header, then the elements. Of all that numpy can
//! write, this reads what weights are: rows of 32-bit floats, and bytes for the texts beside them.

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// An array, as it lies in a file.
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Values,
}

pub(crate) enum Values {
    Floats(Vec<f32>),
    Bytes(Vec<u8>),
}

/// Reads a whole `.npy` file.
pub(crate) fn read(bytes: &[u8]) -> Result<Array, String> {
    let cut = || "it ends within its header".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is not an array of numpy's")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = match version {
        [1, _] => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
            (u16::from_le_bytes(*length) as usize, rest)
        }
        _ => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
    };
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is not text")?;
    let shape = shape(header)?;
    let values = match field(header, "descr").unwrap_or_default() {
        "'<f4'" => Values::Floats(
            data.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect(),
        ),
        "'|u1'" => Values::Bytes(data.to_vec()),
        _ => return Err("it is not of 32-bit floats; save it with x.astype('float32')".into()),
    };
    let count = shape.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
    let width = if matches!(values, Values::Floats(_)) { 4 } else { 1 };
    if count.and_then(|count| count.checked_mul(width)) != Some(data.len()) {
        return Err(format!("its {} bytes are not those of its shape {shape:?}", data.len()));
    }
    Ok(Array { shape, values })
}

/// The text of a field in `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
fn field<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{name}':"))?;
    let rest = rest.trim_start();
    match rest.strip_prefix('(') {
        Some(inner) => inner.split_once(')').map(|(sides, _)| sides),
        None => rest.split([',', '}']).next().map(str::trim_end),
    }
}

fn shape(header: &str) -> Result<Vec<usize>, String> {
    let sides = field(header, "shape").ok_or("its header has no shape")?;
    let sides = sides.split(',').map(str::trim).filter(|side| !side.is_empty());
    let shape: Result<Vec<usize>, _> = sides.take(33).map(str::parse).collect();
    let shape = shape.map_err(|_| "the shape in its header is not of numbers")?;
    match field(header, "fortran_order") {
        Some("False") => Ok(shape),
        _ if shape.len() < 2 => Ok(shape),
        _ => Err("it is in Fortran order; save it with numpy.ascontiguousarray(x)".into()),
    }
}

/// Everything before the elements, a multiple of 64 bytes long.
pub(crate) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if sides.len() == 1 { "," } else { "" };
    let sides = sides.join(", ");
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sides}{comma}), }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    // A shape has at most eight sides, so the header is short.
    let length = (text.len() as u16).to_le_bytes();
    [&MAGIC[..], &[1, 0], &length, text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_numpys() {
        let bytes =
            [header("<f4", &[2, 1]), 1f32.to_le_bytes().to_vec(), 2f32.to_le_bytes().to_vec()]
                .concat();
        assert_eq!(bytes.len() % 64, 8);
        let array = read(&bytes).unwrap();
        assert!(
            array.shape == [2, 1] && matches!(array.values, Values::Floats(v) if v == [1.0, 2.0])
        );
        let text = read(&[header("|u1", &[3]), b"abc".to_vec()].concat()).unwrap();
        assert!(text.shape == [3] && matches!(text.values, Values::Bytes(v) if v == b"abc"));
        assert_eq!(read(&[header("<f4", &[]), vec![0; 4]].concat()).unwrap().shape, [0; 0]);
        for wrong in [
            header("<f4", &[2]),
            header("<f8", &[]),
            header("|O", &[]),
            b"\x93NUMPY".to_vec(),
            vec![],
        ] {
            assert!(read(&wrong).is_err());
        }
    }
}
