//! A layer: an archive of files, packed, with the two digests by which it is known.

use anyhow::Result;
use miniz_oxide::deflate::compress_to_vec;
use sha2::{Digest, Sha256};

use super::tar::Tar;

/// One layer of an image.
pub(super) struct Layer {
    /// What is in it, for people.
    pub(super) made_of: &'static str,
    /// The digest of the archive.
    pub(super) unpacked: String,
    /// The archive, packed.
    pub(super) packed: Vec<u8>,
}

/// The level at which gzip is used mostly; higher ones save a hundredth.
const LEVEL: u8 = 6;
/// Deflate, no name, no time, made on no system in particular.
const GZIP: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

impl Layer {
    pub(super) fn new(made_of: &'static str, tar: &Tar) -> Result<Layer> {
        let archive = tar.bytes()?;
        Ok(Layer { made_of, unpacked: digest(&archive), packed: gzip(&archive) })
    }
}

/// Bytes by what they are.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

/// Packs with `miniz_oxide` itself and not through `flate2`, which packs with what other crates of a
/// build ask for: one of those chooses by processor, and gives other bytes on another machine.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GZIP.to_vec();
    packed.extend(compress_to_vec(bytes, LEVEL));
    packed.extend(crc32fast::hash(bytes).to_le_bytes());
    // The format counts modulo 2^32.
    packed.extend((bytes.len() as u32).to_le_bytes());
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_gzip_and_comes_out_again() {
        let bytes: Vec<u8> = (0..100_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let packed = gzip(&bytes);
        let end = packed.len() - 8;
        let body = miniz_oxide::inflate::decompress_to_vec(&packed[GZIP.len()..end]).unwrap();
        assert_eq!(body, bytes);
        assert_eq!(packed[end + 4..], 400_000u32.to_le_bytes());
    }

    #[test]
    fn the_check_sum_is_that_of_gzip() {
        let packed = gzip(b"123456789");
        assert_eq!(packed[packed.len() - 8..packed.len() - 4], 0xcbf4_3926u32.to_le_bytes());
    }

    #[test]
    fn a_digest_is_written_as_images_write_it() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(b""), empty);
    }
}
