//! The identity of weights.

use sha2::{Digest, Sha256};

/// The SHA-256, in hexadecimal, of all weights as little-endian `f32` in the order of the arena: the
/// order of layers, then Keras' order of weights, each in Keras' layout. Two models with the same
/// layers are the same model exactly when these are equal.
pub fn weights_sha256(weights: &[f32]) -> String {
    sha256(|take| {
        for_each_block(weights, |bytes| {
            take(bytes);
            Ok::<(), std::convert::Infallible>(())
        })
        .unwrap_or_else(|never| match never {});
    })
}

/// The SHA-256, in hexadecimal, of all bytes that are given out.
pub(crate) fn sha256(give: impl FnOnce(&mut dyn FnMut(&[u8]))) -> String {
    let mut hash = Sha256::new();
    give(&mut |bytes| hash.update(bytes));
    store::hex(&hash.finalize())
}

/// Hands out the weights as little-endian bytes, block by block, so that no second copy of them is
/// ever held.
pub(crate) fn for_each_block<E>(
    weights: &[f32],
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut bytes = Vec::with_capacity(4 * BLOCK);
    for block in weights.chunks(BLOCK) {
        bytes.clear();
        bytes.extend(block.iter().flat_map(|weight| weight.to_le_bytes()));
        take(&bytes)?;
    }
    Ok(())
}

const BLOCK: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_over_little_endian_floats() {
        // sha256sum of nothing, and of the bytes 00 00 80 3f 00 00 00 c0.
        assert_eq!(
            weights_sha256(&[]),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            weights_sha256(&[1.0, -2.0]),
            "ee4ac73c2bd27756ab82780f27c73a7bc4d3f0bb6acb37e008bc27eccd7e588b"
        );
        let long: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
        assert_eq!(
            weights_sha256(&long),
            "042b8b3684f01a27d31442047abb51122d175ae97d5d6897ca0866c243f9dac8"
        );
    }
}
