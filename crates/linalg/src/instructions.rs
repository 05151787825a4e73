//! Choice of the instruction set for loops that are compiled several times. All versions give the same bits.

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set(Level);

/// The instruction sets for which functions are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The instructions for which every program is compiled.
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Set {
    /// The best instruction set of this processor.
    pub fn best() -> Set {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                return Set(Level::Avx512);
            }
            if has!("avx2") {
                return Set(Level::Avx2);
            }
        }
        Set(Level::Baseline)
    }

    /// All instruction sets of this processor for which functions are compiled.
    #[cfg(test)]
    pub fn all() -> Vec<Set> {
        #[allow(unused_mut)] // other processors have one set
        let mut all = vec![Set(Level::Baseline)];
        #[cfg(target_arch = "x86_64")]
        {
            let best = Set::best();
            all.extend((best.0 == Level::Avx512).then_some(Set(Level::Avx2)));
            all.extend((best.0 != Level::Baseline).then_some(best));
        }
        all
    }

    /// The level. Functions with one version per instruction set match on it.
    pub fn level(self) -> Level {
        self.0
    }
}

/// Defines functions that are compiled for each [`Set`] from the same source. The set is the first argument of such a
/// function. Every operation is an IEEE operation, and the compiler neither joins nor reorders them, so all versions
/// give the same bits.
macro_rules! versions {
    ($($(#[$note:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? $body:block)*) => {$(
        $(#[$note])*
        #[allow(clippy::too_many_arguments)]
        pub fn $name(set: $crate::instructions::Set, $($arg: $ty),*) $(-> $out)? {
            // the body of all versions
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body($($arg: $ty),*) $(-> $out)? $body
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::instructions::Level;
                #[target_feature(enable = "avx2")]
                #[allow(clippy::too_many_arguments)]
                fn avx2($($arg: $ty),*) $(-> $out)? {
                    body($($arg),*)
                }
                #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
                #[allow(clippy::too_many_arguments)]
                fn avx512($($arg: $ty),*) $(-> $out)? {
                    body($($arg),*)
                }
                match set.level() {
                    // SAFETY: there is a `Set` of this level only if the processor has these instructions.
                    Level::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    Level::Avx2 => return unsafe { avx2($($arg),*) },
                    Level::Baseline => {}
                }
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = set.level();
            body($($arg),*)
        }
    )*};
}
pub(crate) use versions;
