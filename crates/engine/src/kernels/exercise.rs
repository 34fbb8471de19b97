//! Work that is nothing but fused multiply-adds, as many as the processor can do at once.

use crate::simd::{Isa, Kernel, Simd};

/// Chains of sums: enough to keep every unit busy while each waits for its last result, few enough
/// for the registers of every instruction set.
const CHAINS: usize = 10;

/// Does `rounds` rounds; how many multiply-adds that were.
pub(crate) fn exercise(isa: Isa, rounds: usize) -> usize {
    isa.run(Exercise { rounds })
}

struct Exercise {
    rounds: usize,
}

impl Kernel for Exercise {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self) -> usize {
        // Values that the compiler cannot know, and that stay far from what is slow: tiny and infinite ones.
        let (factor, first) = (std::hint::black_box(0.5), std::hint::black_box(1.0));
        let (factor, more) = (S::splat(factor), S::splat(first));
        let mut sums = [more; CHAINS];
        for _ in 0..self.rounds {
            for sum in &mut sums {
                *sum = S::fma(*sum, factor, more);
            }
        }
        std::hint::black_box(sums);
        self.rounds * CHAINS * S::LANES
    }
}
