//! The one matrix product that dense layers and convolutions are made of.
//!
//! C = start + A·B, where B is row-major and used as it lies, and A is *addressed* rather than stored:
//! element (i, k) of A lies at `i·row + segment(k) + step·k`, with k running through segments of
//! equal length. So A may be
//! - a plain matrix (one segment, step 1) or a transposed one (row 1, step = its width);
//! - the windows of a channels-last picture (a segment for each row of the window, row = stride ×
//!   channels): a convolution without copying windows anywhere;
//! - the transposed windows (a segment for each row of outputs): a convolution's weight gradient.
//!
//! Every output is one chain of fused multiply-adds, from its start and over k upwards. The tile sizes
//! below follow the registers of the instruction set and change no bit.
#![expect(
    unsafe_code,
    reason = "the inner loop reads through pointers; lengths are checked before"
)]

use std::mem::MaybeUninit;

use super::vectors::{self, ByChannels};
use crate::simd::{Kernel, Simd};

/// C = start + A·B, and perhaps ReLU.
pub(crate) struct Gemm<'a> {
    /// The left matrix, rows × k.
    pub(crate) a: Windows<'a>,
    /// The right matrix, k × columns.
    pub(crate) b: &'a [f32],
    /// From one row of B to the next.
    pub(crate) b_row: usize,
    /// The result, rows × columns.
    pub(crate) c: &'a mut [f32],
    /// From one row of C to the next.
    pub(crate) c_row: usize,
    /// Rows of A and C.
    pub(crate) rows: usize,
    /// Columns of B and C.
    pub(crate) columns: usize,
    /// Where each chain starts.
    pub(crate) start: Start<'a>,
    /// Whether negative results become zero.
    pub(crate) relu: bool,
}

/// How the left matrix lies in memory.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'a> {
    /// Begins at element (0, 0).
    pub(crate) data: &'a [f32],
    /// From one row to the next.
    pub(crate) row: usize,
    /// How many segments k has.
    pub(crate) segments: usize,
    /// From one segment to the next.
    pub(crate) segment: usize,
    /// Elements of a segment.
    pub(crate) length: usize,
    /// From one element of a segment to the next.
    pub(crate) step: usize,
}

/// Where each chain of additions starts.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    /// At zero.
    Zero,
    /// At the column's bias.
    Bias(&'a [f32]),
    /// At what C holds: the chain goes on.
    Result,
}

impl<'a> Windows<'a> {
    /// A row-major matrix of `width` columns.
    pub(crate) fn matrix(data: &'a [f32], width: usize) -> Self {
        Windows { data, row: width, segments: 1, segment: 0, length: width, step: 1 }
    }

    /// A row-major matrix of `height` rows and `width` columns, seen transposed, from its column
    /// `first` on.
    pub(crate) fn transposed(data: &'a [f32], height: usize, width: usize, first: usize) -> Self {
        Windows {
            data: &data[first.min(data.len())..],
            row: 1,
            segments: 1,
            segment: 0,
            length: height,
            step: width,
        }
    }

    fn depth(&self) -> usize {
        self.segments * self.length
    }

    /// One more than the largest place that `rows` rows touch.
    fn extent(&self, rows: usize) -> usize {
        (rows - 1) * self.row
            + (self.segments - 1) * self.segment
            + (self.length - 1) * self.step
            + 1
    }
}

impl Kernel for Gemm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        if self.rows == 0 || self.columns == 0 {
            return;
        }
        self.check();
        vectors::each::<S>(self.columns, &mut self);
    }
}

/// All rows of some columns. Rows are divided evenly into tiles (26 = 13 + 13), so that no tile is left small.
impl ByChannels for Gemm<'_> {
    #[inline(always)]
    fn some<S: Simd, const NV: usize, const TAIL: bool>(&mut self, column: usize) {
        let tail = self.columns % S::LANES;
        let tiles = self.rows.div_ceil(S::ROWS);
        let c = self.c.as_mut_ptr();
        // SAFETY: `check` has seen that these columns are inside B.
        let (mut b, mut b_row) = (unsafe { self.b.as_ptr().add(column) }, self.b_row);
        let mut copy = [MaybeUninit::<f32>::uninit(); COPIED * MOST_COLUMNS];
        if !TAIL && tiles >= WORTH_COPYING && self.a.depth() <= COPIED && b_row > MOST_COLUMNS {
            let copy = copy.as_mut_ptr().cast::<f32>();
            // SAFETY: as above, and so many rows of so many columns have room.
            unsafe { copy_columns::<S, NV>((b, b_row), copy, self.a.depth()) };
            (b, b_row) = (copy, NV * S::LANES);
        }
        for tile in 0..tiles {
            let rows = crate::share::portion(self.rows, tiles, tile);
            // SAFETY: `check` has seen that these rows and columns are inside the slices.
            let tile = unsafe {
                Tile {
                    a: self.a.data.as_ptr().add(rows.start * self.a.row),
                    windows: self.a,
                    b,
                    b_row,
                    c: c.add(rows.start * self.c_row + column),
                    c_row: self.c_row,
                    start: match self.start {
                        Start::Zero => Begin::Zero,
                        Start::Bias(bias) => Begin::Bias(bias.as_ptr().add(column)),
                        Start::Result => Begin::Result,
                    },
                    relu: self.relu,
                    tail,
                }
            };
            // SAFETY: as above.
            unsafe { tile.run::<S, NV, TAIL>(rows.len()) };
        }
    }
}

/// Rows of B whose columns of a tile are copied side by side before many tiles use them: as they lie, each row is on
/// another page, and where rows are as long as a power of two, few of them fit in the fastest cache at a time.
const COPIED: usize = 128;
/// Tiles that make up for the copy.
const WORTH_COPYING: usize = 8;
/// The most columns of a tile.
const MOST_COLUMNS: usize = 32;

/// # Safety
/// `from` has so many rows of `NV` vectors, and `to` has room for them.
#[inline(always)]
unsafe fn copy_columns<S: Simd, const NV: usize>(
    (from, row): (*const f32, usize),
    to: *mut f32,
    rows: usize,
) {
    for k in 0..rows {
        for v in 0..NV {
            // SAFETY: by the contract.
            unsafe {
                S::store(
                    to.add((k * NV + v) * S::LANES),
                    S::load(from.add(k * row + v * S::LANES)),
                );
            }
        }
    }
}

impl Gemm<'_> {
    /// Makes sure that no place outside the slices is touched.
    fn check(&self) {
        let depth = self.a.depth();
        if depth > 0 {
            assert!(self.a.extent(self.rows) <= self.a.data.len(), "A is long enough");
            assert!((depth - 1) * self.b_row + self.columns <= self.b.len(), "B is long enough");
        }
        assert!((self.rows - 1) * self.c_row + self.columns <= self.c.len(), "C is long enough");
        if let Start::Bias(bias) = self.start {
            assert!(self.columns <= bias.len(), "a bias for each column");
        }
    }
}

/// Rows of A whose addresses follow from one pointer, and the pointers of the largest tile.
const ANCHORED: usize = 3;
const ANCHORS: usize = 5;

/// A block of C whose sums stay in registers.
struct Tile<'a> {
    a: *const f32,
    windows: Windows<'a>,
    b: *const f32,
    b_row: usize,
    c: *mut f32,
    c_row: usize,
    start: Begin,
    relu: bool,
    tail: usize,
}

enum Begin {
    Zero,
    Bias(*const f32),
    Result,
}

impl Tile<'_> {
    /// # Safety
    /// The tile is inside the slices.
    #[inline(always)]
    unsafe fn run<S: Simd, const NV: usize, const TAIL: bool>(&self, rows: usize) {
        macro_rules! with_rows {
            ($($n:literal)*) => {
                match rows {
                    // SAFETY: by the contract. Sizes beyond the instruction set's are never asked for.
                    $($n if $n <= S::ROWS => unsafe { self.block::<S, $n, NV, TAIL>() },)*
                    _ => unreachable!("a tile has 1 to {} rows", S::ROWS),
                }
            };
        }
        with_rows!(1 2 3 4 5 6 7 8 9 10 11 12 13 14)
    }

    /// # Safety
    /// As for `run`, with `MR` rows.
    #[inline(always)]
    unsafe fn block<S: Simd, const MR: usize, const NV: usize, const TAIL: bool>(&self) {
        // SAFETY: by the contract; loads and stores of the last vector are cut to the tail.
        unsafe {
            let mut sums = self.begin::<S, MR, NV, TAIL>();
            let (row, step, b_row) = (self.windows.row, self.windows.step, self.b_row);
            let mut b = self.b;
            for segment in 0..self.windows.segments {
                let mut anchors = self.anchors::<MR>(segment);
                for _ in 0..self.windows.length {
                    let right: [S::V; NV] = std::array::from_fn(|v| self.load::<S, NV, TAIL>(b, v));
                    for (r, sums) in sums.iter_mut().enumerate() {
                        let left = S::splat(*anchors[r / ANCHORED].add(r % ANCHORED * row));
                        for v in 0..NV {
                            sums[v] = S::fma(left, right[v], sums[v]);
                        }
                    }
                    for anchor in &mut anchors[..MR.div_ceil(ANCHORED)] {
                        *anchor = anchor.wrapping_add(step);
                    }
                    b = b.wrapping_add(b_row);
                }
            }
            for (r, sums) in sums.into_iter().enumerate() {
                for (v, sum) in sums.into_iter().enumerate() {
                    let sum = if self.relu { S::relu(sum) } else { sum };
                    let to = self.c.add(r * self.c_row + v * S::LANES);
                    if TAIL && v == NV - 1 {
                        S::store_first(to, sum, self.tail);
                    } else {
                        S::store(to, sum);
                    }
                }
            }
        }
    }

    /// Where every third row of a segment begins. Compilers find each row's address by adding to that of the
    /// row before, which takes as long as all multiplications of a round; that anchors lie at equal distances is hidden
    /// from them.
    #[inline(always)]
    fn anchors<const MR: usize>(&self, segment: usize) -> [*const f32; ANCHORS] {
        let first = self.a.wrapping_add(segment * self.windows.segment);
        let mut anchors = [first; ANCHORS];
        for (anchor, at) in anchors[..MR.div_ceil(ANCHORED)].iter_mut().enumerate() {
            *at = std::hint::black_box(first.wrapping_add(anchor * ANCHORED * self.windows.row));
        }
        anchors
    }

    /// Sums are filled in one by one: as arrays that are made and moved they went through memory, in pieces
    /// of other lengths than they are read back in.
    #[inline(always)]
    unsafe fn begin<S: Simd, const MR: usize, const NV: usize, const TAIL: bool>(
        &self,
    ) -> [[S::V; NV]; MR] {
        let mut sums = [[S::splat(0.0); NV]; MR];
        // SAFETY: by the contract of `block`.
        unsafe {
            match self.start {
                Begin::Zero => {}
                Begin::Bias(bias) => {
                    for v in 0..NV {
                        let bias = self.load::<S, NV, TAIL>(bias, v);
                        sums.iter_mut().for_each(|sums| sums[v] = bias);
                    }
                }
                Begin::Result => {
                    for (r, sums) in sums.iter_mut().enumerate() {
                        let row = self.c.add(r * self.c_row);
                        for (v, sum) in sums.iter_mut().enumerate() {
                            *sum = self.load::<S, NV, TAIL>(row, v);
                        }
                    }
                }
            }
        }
        sums
    }

    /// Vector `v` of `NV` from `from` on.
    #[inline(always)]
    unsafe fn load<S: Simd, const NV: usize, const TAIL: bool>(
        &self,
        from: *const f32,
        v: usize,
    ) -> S::V {
        // SAFETY: by the contract of `block`.
        unsafe {
            let from = from.add(v * S::LANES);
            if TAIL && v == NV - 1 { S::load_first(from, self.tail) } else { S::load(from) }
        }
    }
}
