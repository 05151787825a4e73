//! Choice of the instruction set. Each loop is compiled for several instruction sets, and the best set that the
//! processor supports is chosen once per process.
//!
//! Every loop gives the same bits with each instruction set: one source of IEEE operations is compiled several times,
//! and the order of additions does not depend on the register width. Loops that are written for a single instruction
//! set give the same bits as the corresponding loops for the other sets.

use std::{
    env,
    sync::atomic::{AtomicU8, Ordering::Relaxed},
};

/// Number of instruction sets: the baseline of the target; AVX2 with FMA, F16C and POPCNT; AVX-512.
pub const SETS: usize = 3;

/// Value of `SET` before the first look-up.
const UNKNOWN: u8 = u8::MAX;

/// The environment variable that limits the instruction set.
const LIMIT_VARIABLE: &str = "BACKENDS_SIMD";

static SET: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Returns the index, below [`SETS`], of the best instruction set that the processor has and the environment variable
/// `BACKENDS_SIMD` allows. Index 0 is the baseline.
#[inline]
pub fn set() -> usize {
    match SET.load(Relaxed) {
        UNKNOWN => look_up(),
        set => set.into(),
    }
}

#[cold]
#[inline(never)]
fn look_up() -> usize {
    let set = allowed(best(), env::var(LIMIT_VARIABLE).as_deref().unwrap_or_default());
    SET.store(set, Relaxed);
    set.into()
}

/// Returns the index of the instruction set that `word` names, but at most `best`. `word` is the value of the
/// environment variable. An unknown word has no effect, as in other libraries: a library should not print warnings, and
/// an unknown word is no reason to end a program.
fn allowed(best: u8, word: &str) -> u8 {
    let most = match word.trim().to_ascii_lowercase().as_str() {
        "none" => 0,
        "avx2" => 1,
        _ => best,
    };
    best.min(most)
}

fn best() -> u8 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("fma") && has!("f16c") && has!("popcnt");
        let avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        u8::from(avx2) + u8::from(avx2 && avx512)
    }
    #[cfg(not(target_arch = "x86_64"))]
    0
}

/// Runs `f` once with each instruction set of this processor. Other threads use the same set meanwhile, which does not
/// change their results.
#[cfg(any(test, feature = "testing"))]
pub fn with_each(mut f: impl FnMut(usize)) {
    for set in 0..=best() {
        SET.store(set, Relaxed);
        f(set.into());
    }
    SET.store(best(), Relaxed);
}

/// Prefetches the cache line at an address into the second-level cache. The address need not be valid.
#[inline(always)]
pub fn prefetch<T>(from: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, and it accepts any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(from.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// Defines functions that are compiled for the baseline and for AVX2, and run the AVX2 version if the processor has
/// AVX2. Usage: `versions! { fn name[T: Bound][T](x: T) { .. } }`. The first brackets declare type parameters, and the
/// second brackets list their names.
#[macro_export]
macro_rules! versions {
    ($($(#[$note:meta])* $vis:vis unsafe fn $name:ident [$($declared:tt)*] [$($named:tt)*]
        ($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? $body:block)*) => {$(
        $(#[$note])*
        #[allow(clippy::too_many_arguments)]
        $vis unsafe fn $name<$($declared)*>($($arg: $ty),*) $(-> $out)? {
            // the body of both versions; it is a function, because a closure would be compiled for the baseline
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            unsafe fn loop_body<$($declared)*>($($arg: $ty),*) $(-> $out)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,f16c")]
                #[allow(clippy::too_many_arguments)]
                unsafe fn avx2<$($declared)*>($($arg: $ty),*) $(-> $out)? {
                    // SAFETY: the caller guarantees the conditions of the function.
                    unsafe { loop_body::<$($named)*>($($arg),*) }
                }
                if $crate::numpyish::simd::set() > 0 {
                    // SAFETY: the processor has these instructions, and the caller guarantees the conditions of the
                    // function.
                    return unsafe { avx2::<$($named)*>($($arg),*) };
                }
            }
            // SAFETY: the caller guarantees the conditions of the function.
            unsafe { loop_body::<$($named)*>($($arg),*) }
        }
    )*};
}
pub use versions;

/// Like [`versions`], but also compiles a version for AVX-512. It is for loops that are limited by computation, not by
/// memory.
#[macro_export]
macro_rules! wide_versions {
    ($($(#[$note:meta])* $vis:vis unsafe fn $name:ident [$($declared:tt)*] [$($named:tt)*]
        ($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$note])*
        #[allow(clippy::too_many_arguments)]
        $vis unsafe fn $name<$($declared)*>($($arg: $ty),*) {
            // the name is not `loop_body`, because `versions` uses this name
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            unsafe fn body<$($declared)*>($($arg: $ty),*) $body
            $crate::numpyish::simd::versions! {
                unsafe fn narrower[$($declared)*][$($named)*]($($arg: $ty),*) {
                    // SAFETY: the caller guarantees the conditions of the function.
                    unsafe { body::<$($named)*>($($arg),*) }
                }
            }
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
                #[allow(clippy::too_many_arguments)]
                unsafe fn avx512<$($declared)*>($($arg: $ty),*) {
                    // SAFETY: the caller guarantees the conditions of the function.
                    unsafe { body::<$($named)*>($($arg),*) }
                }
                if $crate::numpyish::simd::set() > 1 {
                    // SAFETY: the processor has these instructions, and the caller guarantees the conditions of the
                    // function.
                    return unsafe { avx512::<$($named)*>($($arg),*) };
                }
            }
            // SAFETY: the caller guarantees the conditions of the function.
            unsafe { narrower::<$($named)*>($($arg),*) }
        }
    )*};
}
pub use wide_versions;

#[cfg(test)]
mod tests {
    use super::*;

    versions! {
        /// A sum whose order of additions is the same in every version.
        unsafe fn added[const N: usize][N](x: &[f32; N]) -> f32 {
            x.iter().fold(0.0, |sum, &x| x.mul_add(x, sum))
        }
    }

    #[test]
    fn a_word_lowers_the_set_and_never_raises_it() {
        for (best, word, set) in [
            (2, "", 2),
            (2, "avx512", 2),
            (2, "avx2", 1),
            (2, " AVX2 ", 1),
            (2, "none", 0),
            (1, "avx512", 1),
            (0, "avx2", 0),
            (2, "sse17", 2),
        ] {
            assert_eq!(allowed(best, word), set, "{best} {word}");
        }
    }

    #[test]
    fn every_set_gives_the_same() {
        let x: [f32; 100] = std::array::from_fn(|i| (i as f32).sin());
        let mut results = Vec::new();
        // SAFETY: the function has no safety conditions.
        with_each(|_| results.push(unsafe { added(&x) }.to_bits()));
        results.dedup();
        assert_eq!(results.len(), 1);
        assert!(set() < SETS);
    }
}
