//! Randomness as a pure function of what it is for.
//!
//! Nothing in Trainyard draws from a generator with state. A number is looked up under a [`Key`],
//! made from the run's seed, a [`Purpose`] and whatever tells one use from another (rank, epoch,
//! step, layer), and the number of the element. So any process can compute any number at any time:
//! a survivor repeats a dead worker's step, and a resumed run shuffles as the first would have.
//!
//! All arithmetic here is integer or correctly rounded IEEE, so every machine gets the same bits.

mod normal;

/// What a random number is for. Two purposes never share numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Initial weights.
    Init = 1,
    /// The order of samples in an epoch.
    Shuffle = 2,
    /// Which sample belongs to which shard or split.
    Split = 3,
    /// Which elements a dropout layer drops.
    Dropout = 4,
    /// How pictures are flipped and turned while training.
    Augment = 6,
    /// Made-up data for benchmarks and tests.
    Synthetic = 5,
    /// Which pictures of faces make triplets.
    Triplets = 16,
}

/// Names one family of random numbers: a pure value, not a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64);

impl Key {
    /// The key of everything that `seed` decides for one purpose.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        Key(mix(seed)).with(purpose as u64)
    }

    /// Narrows the key by one more coordinate: a rank, an epoch, a step, a layer.
    #[must_use]
    pub fn with(self, coordinate: u64) -> Self {
        Key(mix(self.0 ^ mix(coordinate.wrapping_add(GOLDEN))))
    }

    /// 64 random bits for an element.
    pub fn bits(self, element: u64) -> u64 {
        mix(self.0.wrapping_add(element.wrapping_add(1).wrapping_mul(GOLDEN)))
    }

    /// The two words that [`bits32`] takes, for loops that compilers turn into vector code.
    pub fn words(self) -> (u32, u32) {
        (self.0 as u32, (self.0 >> 32) as u32)
    }

    /// A number in `0..bound`. The bias is below `bound / 2^64`.
    pub fn below(self, element: u64, bound: u64) -> u64 {
        ((u128::from(self.bits(element)) * u128::from(bound)) >> 64) as u64
    }

    /// A uniform number in `[0, 1)` with 24 bits.
    pub fn uniform(self, element: u64) -> f32 {
        (self.bits(element) >> 40) as f32 * (1.0 / (1 << 24) as f32)
    }

    /// A normal number with mean 0 and deviation 1.
    pub fn normal(self, element: u64) -> f32 {
        normal::quantile(self.open_unit(element)) as f32
    }

    /// A normal number redrawn, as it were, until it lies within two deviations (Keras'
    /// `TruncatedNormal`).
    pub fn truncated_normal(self, element: u64) -> f32 {
        let unit = self.open_unit(element);
        let p = normal::BELOW_MINUS_TWO + unit * (1.0 - 2.0 * normal::BELOW_MINUS_TWO);
        normal::quantile(p) as f32
    }

    /// `0..n` in random order.
    pub fn permutation(self, n: usize) -> Vec<u32> {
        let len = u32::try_from(n).expect("a dataset has fewer than 2^32 samples");
        let mut order: Vec<u32> = (0..len).collect();
        for last in (1..n).rev() {
            order.swap(last, self.below(last as u64, last as u64 + 1) as usize);
        }
        order
    }

    /// A number strictly between 0 and 1 with 52 bits.
    fn open_unit(self, element: u64) -> f64 {
        ((self.bits(element) >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }
}

/// 32 random bits for an element, of a key's [`words`](Key::words). Cheaper than [`Key::bits`]:
/// two 32-bit multiplications, which AVX2 has as vectors.
#[inline(always)]
pub fn bits32((low, high): (u32, u32), element: u32) -> u32 {
    let mut h = element.wrapping_mul(0x9e37_79b9).wrapping_add(low);
    h ^= h >> 16;
    h = h.wrapping_mul(0x21f0_aaad) ^ high;
    h ^= h >> 15;
    h = h.wrapping_mul(0x735a_2d97);
    h ^ (h >> 15)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection of 64-bit words whose every output bit depends on every input bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key::new(7, Purpose::Synthetic)
    }

    fn mean_and_deviation(values: impl Iterator<Item = f32>) -> (f64, f64) {
        let values: Vec<f64> = values.map(f64::from).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn the_numbers_never_change() {
        // Written down once: runs recorded by an older version must resume under a newer one.
        assert_eq!(key().bits(0), 0x0910_8812_511e_7438);
        assert_eq!(bits32(key().words(), 5), 2_054_901_507);
        assert_eq!(key().permutation(8), [1, 2, 5, 3, 0, 6, 7, 4]);
    }

    #[test]
    fn coordinates_and_purposes_are_apart() {
        assert_ne!(key().with(1).with(2), key().with(2).with(1));
        assert_ne!(Key::new(7, Purpose::Init), Key::new(7, Purpose::Split));
        assert_ne!(Key::new(7, Purpose::Init), Key::new(8, Purpose::Init));
    }

    #[test]
    fn a_permutation_holds_each_number_once() {
        for n in [0, 1, 2, 1000] {
            let mut order = key().permutation(n);
            order.sort_unstable();
            assert!(order.iter().copied().eq(0..n as u32));
        }
    }

    #[test]
    fn moments_are_as_they_should_be() {
        let (mean, deviation) = mean_and_deviation((0..100_000).map(|i| key().uniform(i)));
        assert!((mean - 0.5).abs() < 0.005 && (deviation - 0.2887).abs() < 0.003);
        let (mean, deviation) = mean_and_deviation((0..100_000).map(|i| key().normal(i)));
        assert!(mean.abs() < 0.02 && (deviation - 1.0).abs() < 0.02);
        let (mean, deviation) = mean_and_deviation((0..100_000).map(|i| key().truncated_normal(i)));
        assert!(mean.abs() < 0.02 && (deviation - 0.8796).abs() < 0.02);
        assert!((0..100_000).all(|i| key().truncated_normal(i).abs() <= 2.0));
    }

    #[test]
    fn each_of_the_32_bits_is_fair_and_neighbours_differ_in_half() {
        let words = key().words();
        let n = 100_000;
        let mut ones = [0u32; 32];
        let mut flips = 0u32;
        for element in 0..n {
            let bits = bits32(words, element);
            flips += (bits ^ bits32(words, element + 1)).count_ones();
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += bits >> bit & 1;
            }
        }
        assert!(ones.iter().all(|&count| count.abs_diff(n / 2) < n / 100));
        assert!((f64::from(flips) / f64::from(n) - 16.0).abs() < 0.1);
    }
}
