//! Vectors of floats, one implementation for each instruction set.
//!
//! Only the inner loops that compilers do not turn into good vector code by themselves are written
//! with [`Simd`]. Everything else is plain Rust over slices, compiled once more for each
//! instruction set because [`Isa::run`] inlines it into a function that has those instructions.
//!
//! Invariant: no code here or above changes the order of a sum with the number of lanes. Vectors run
//! over outputs; each output's own sum is one chain of fused multiply-adds. So every instruction set
//! gives the same bits.
#![expect(unsafe_code, reason = "vectors are loaded and stored through pointers")]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

/// An instruction set that the kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// 16 lanes, 32 registers.
    Avx512,
    /// 8 lanes, 16 registers, fused multiply-add.
    Avx2,
    /// What every machine has. Fused multiply-add may be a function call there: right, but slow.
    Portable,
}

/// A vector of floats and the few operations the inner loops need.
///
/// # Safety
/// An implementation's functions may use instructions that only its [`Isa`] has: they are called
/// inside [`Isa::run`] alone, which is reached only with an available one.
pub(crate) unsafe trait Simd {
    /// Floats in a vector.
    const LANES: usize;
    /// The most rows of a tile two vectors wide whose sums still stay in registers.
    const ROWS: usize;
    /// The vector.
    type V: Copy;

    /// All lanes `x`.
    fn splat(x: f32) -> Self::V;
    /// `a * b + c`, rounded once.
    fn fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Zero where negative; not-a-number stays.
    fn relu(v: Self::V) -> Self::V;
    /// # Safety
    /// `LANES` floats can be read at `from`.
    unsafe fn load(from: *const f32) -> Self::V;
    /// # Safety
    /// `LANES` floats can be written at `to`.
    unsafe fn store(to: *mut f32, v: Self::V);
    /// The first `count < LANES` floats; the other lanes are zero.
    /// # Safety
    /// `count` floats can be read at `from`.
    unsafe fn load_first(from: *const f32, count: usize) -> Self::V;
    /// # Safety
    /// `count < LANES` floats can be written at `to`.
    unsafe fn store_first(to: *mut f32, v: Self::V, count: usize);
}

/// A piece of work compiled for every instruction set. `run` must be `#[inline(always)]`.
pub(crate) trait Kernel {
    /// What the work gives.
    type Output;
    /// Does the work.
    fn run<S: Simd>(self) -> Self::Output;
}

impl Isa {
    /// The best this machine has.
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// All this machine has, the best first.
    pub fn available() -> Vec<Self> {
        let all = [Isa::Avx512, Isa::Avx2, Isa::Portable];
        all.into_iter().filter(|isa| isa.is_available()).collect()
    }

    /// The word for it in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Avx512 => "avx512",
            Isa::Avx2 => "avx2",
            Isa::Portable => "portable",
        }
    }

    /// Whether this machine has it.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512::is_available(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::Avx2 => false,
            Isa::Portable => true,
        }
    }

    /// Runs a kernel with these instructions. [`Cpu::new`](crate::Cpu::new) has made sure that the
    /// machine has them.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            // SAFETY: a `Cpu` holds only available instruction sets.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { avx512::enter(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { avx2::enter(kernel) },
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::Avx2 => unreachable!("not available on this machine"),
            Isa::Portable => kernel.run::<portable::Portable>(),
        }
    }
}

/// Makes a function a [`Kernel`]: `fn name(isa, …)` runs the body compiled for that instruction set.
/// References in its parameters have the lifetime `'a`. What the body calls must be inlined, or it
/// would run without the instructions.
macro_rules! kernel {
    ($(#[$meta:meta])* fn $name:ident<'a>($($field:ident: $type:ty),* $(,)?) $(-> $output:ty)? $body:block) => {
        $(#[$meta])*
        pub(crate) fn $name<'a>(isa: $crate::simd::Isa, $($field: $type),*) $(-> $output)? {
            struct Work<'a> {
                $($field: $type,)*
                life: std::marker::PhantomData<&'a ()>,
            }
            impl<'a> $crate::simd::Kernel for Work<'a> {
                type Output = kernel!(@output $($output)?);

                #[inline(always)]
                fn run<S: $crate::simd::Simd>(self) -> Self::Output {
                    let Work { $($field,)* life: _ } = self;
                    $body
                }
            }
            isa.run(Work { $($field,)* life: std::marker::PhantomData })
        }
    };
    (@output) => { () };
    (@output $output:ty) => { $output };
}
pub(crate) use kernel;
