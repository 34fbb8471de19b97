//! Which kinds of model files there are. The one place that tells them apart: by the ending when
//! writing, by the first bytes when reading.

use std::path::Path;

use crate::FileProblem;

/// A kind of model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.safetensors`, with graph and card in its metadata.
    Safetensors,
    /// `.h5`, as Keras wrote it for years.
    Hdf5,
    /// `.keras`, a zip of a configuration and an HDF5 file.
    Keras,
    /// `.npz`, an array for each weight.
    Npz,
}

impl Format {
    /// The format that a path's ending asks for.
    pub fn of(path: &Path) -> Result<Format, FileProblem> {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ending.to_lowercase().as_str() {
            "safetensors" => Ok(Format::Safetensors),
            "h5" | "hdf5" => Ok(Format::Hdf5),
            "keras" => Ok(Format::Keras),
            "npz" => Ok(Format::Npz),
            _ => Err(FileProblem::NotAModel(
                "the ending of its name says the format; use .safetensors, .h5, .keras or .npz"
                    .into(),
            )),
        }
    }

    /// The format that a file's first bytes show. Up to [`Format::TELLING`] of them are looked at.
    pub(crate) fn sniff(start: &[u8]) -> Result<Format, FileProblem> {
        let other = |what: &str| Err(FileProblem::NotAModel(what.into()));
        let has = |name: &[u8]| start.windows(name.len()).any(|window| window == name);
        match start {
            [] => other("it is empty"),
            [0x1f, 0x8b, 8, ..] => other("it is a gzip archive; unpack it first"),
            // The length of a header, which may look like a pickle: 640 is 80 02.
            [_, _, _, 0, 0, 0, 0, 0, ..] => Ok(Format::Safetensors),
            [0x89, b'H', b'D', b'F', ..] => Ok(Format::Hdf5),
            [b'P', b'K', 3 | 5, 4 | 6, ..] => match () {
                () if has(b"data.pkl") || has(b"byteorder") => {
                    other("it is a PyTorch file; save its tensors as .safetensors")
                }
                () if has(b".npy") => Ok(Format::Npz),
                () if has(b"metadata.json") || has(b"config.json") || has(b".weights.h5") => {
                    Ok(Format::Keras)
                }
                () => other("it is a zip archive"),
            },
            [0x80, 2..=5, ..] => {
                other("it is a Python pickle, which is never opened since that runs code")
            }
            [b'G', b'G', b'U', b'F', ..] => other("it is a GGUF file"),
            _ if start.len() < 8 => other("it is too short to be one"),
            _ => Ok(Format::Safetensors),
        }
    }

    /// How many first bytes tell the format.
    pub(crate) const TELLING: usize = 256;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(start: &[u8], word: &str) {
        let error = Format::sniff(start).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }

    #[test]
    fn other_files_are_known_by_their_first_bytes() {
        refused(b"", "empty");
        refused(b"abc", "too short");
        let zip = |name: &str| [b"PK\x03\x04", &[0; 26][..], name.as_bytes(), &[0; 9]].concat();
        refused(&zip("model/data.pkl"), "PyTorch");
        refused(&zip("photo.jpg"), "zip");
        refused(b"\x80\x04\x95\x10\0\0\0\0\0\0\0", "pickle");
        refused(b"\x1f\x8b\x08\0\0\0\0\0\0", "gzip");
        refused(b"GGUF\x03\0\0\0", "GGUF");
        let header = [640u64.to_le_bytes(), *b"{\"__meta"].concat();
        let is = |start: &[u8], format| assert_eq!(Format::sniff(start).unwrap(), format);
        is(&header, Format::Safetensors);
        is(b"\x89HDF\r\n\x1a\n\0\0\0\0", Format::Hdf5);
        is(&zip("metadata.json"), Format::Keras);
        is(&zip("x.npy"), Format::Npz);
    }

    #[test]
    fn endings_say_the_format() {
        let of = |path: &str| Format::of(Path::new(path));
        assert_eq!(of("a/b.safetensors").unwrap(), Format::Safetensors);
        assert_eq!(of("A.H5").unwrap(), Format::Hdf5);
        assert_eq!(of("m.keras").unwrap(), Format::Keras);
        assert!(of("m").is_err() && of("m.bin").is_err());
    }
}
