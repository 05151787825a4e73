//! Functions that are compiled for several instruction sets. All of them compute the same bits.

#[cfg(target_arch = "x86_64")]
use super::x86;
use super::{
    groups::{self, Sizes},
    lanes::{AlignedVector, Plain},
};
use crate::{
    Determinant, Result,
    instructions::{Level, Set},
};

/// Defines a function that runs the version of a function for an instruction set. `body` must be
/// `#[inline(always)]`, so that each version has its own code.
macro_rules! versions {
    ($($(#[$note:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty = $module:ident::$body:ident;)*) => {$(
        $(#[$note])*
        pub fn $name(set: Set, $($arg: $ty),*) -> $out {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($arg: $ty),*) -> $out {
                $module::$body::<x86::Avx2>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,avx512f,avx512dq,avx512vl")]
            fn avx512($($arg: $ty),*) -> $out {
                $module::$body::<x86::Avx512>($($arg),*)
            }
            match set.level() {
                Level::Baseline => $module::$body::<Plain>($($arg),*),
                // SAFETY: `Set` is made only for instruction sets that the processor has.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { avx2($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { avx512($($arg),*) },
            }
        }
    )*};
}

versions! {
    /// Solves a stack of systems in groups; see `groups::solve_all`.
    pub fn solve_all(a: &mut [f64], b: &mut [f64], sizes: Sizes, room: &mut [AlignedVector]) -> Result<()> =
        groups::solve_all;
    /// Computes the determinants of a stack of matrices in groups; see `groups::determinants`.
    pub fn determinants(
        a: &mut [f64],
        to: &mut [Determinant<f64>],
        n: usize,
        room: &mut [AlignedVector],
    ) -> Result<()> = groups::determinants;
}
