//! Eight double-precision numbers at a time, one in each lane.

// the compiler vectorizes loops over an index more often than loops over iterators
#![allow(clippy::needless_range_loop)]

use std::ops::{Add, Div, Mul, Sub};

/// The number of lanes.
pub const LANES: usize = 8;

/// A number in each lane.
#[derive(Clone, Copy, Debug)]
pub struct F64x8(pub [f64; LANES]);

/// A condition in each lane.
#[derive(Clone, Copy, Debug)]
pub struct Mask([bool; LANES]);

// The loops have a fixed length, so the compiler turns each of them into one or a few instructions.
macro_rules! by_lane {
    ($($trait:ident $method:ident $operator:tt)*) => {$(
        impl $trait for F64x8 {
            type Output = F64x8;

            #[inline(always)]
            fn $method(self, other: F64x8) -> F64x8 {
                let mut out = self.0;
                for l in 0..LANES {
                    out[l] $operator other.0[l];
                }
                F64x8(out)
            }
        }
    )*};
}
by_lane!(Add add += Sub sub -= Mul mul *= Div div /=);

macro_rules! compared {
    ($($name:ident $operator:tt)*) => {$(
        #[inline(always)]
        pub fn $name(self, other: F64x8) -> Mask {
            let mut out = [false; LANES];
            for l in 0..LANES {
                out[l] = self.0[l] $operator other.0[l];
            }
            Mask(out)
        }
    )*};
}

impl F64x8 {
    /// A vector with this number in each lane.
    #[inline(always)]
    pub fn all(x: f64) -> F64x8 {
        F64x8([x; LANES])
    }

    /// `f(0)` to `f(7)`.
    #[inline(always)]
    pub fn from_fn(f: impl Fn(usize) -> f64) -> F64x8 {
        let mut out = [0.0; LANES];
        for (l, out) in out.iter_mut().enumerate() {
            *out = f(l);
        }
        F64x8(out)
    }

    /// `f` of each number.
    #[inline(always)]
    pub fn map(self, f: impl Fn(f64) -> f64) -> F64x8 {
        let mut out = self.0;
        for out in &mut out {
            *out = f(*out);
        }
        F64x8(out)
    }

    /// The magnitudes.
    #[inline(always)]
    pub fn abs(self) -> F64x8 {
        self.map(f64::abs)
    }

    compared!(less < greater > at_least >=);
}

impl Mask {
    /// A mask with this condition in each lane.
    #[inline(always)]
    pub fn all(is: bool) -> Mask {
        Mask([is; LANES])
    }

    /// Whether both conditions hold.
    #[inline(always)]
    pub fn and(self, other: Mask) -> Mask {
        let mut out = self.0;
        for l in 0..LANES {
            out[l] &= other.0[l];
        }
        Mask(out)
    }

    /// Whether at least one of the conditions holds.
    #[inline(always)]
    pub fn or(self, other: Mask) -> Mask {
        let mut out = self.0;
        for l in 0..LANES {
            out[l] |= other.0[l];
        }
        Mask(out)
    }

    /// Whether the condition holds in any lane.
    #[inline(always)]
    pub fn any(self) -> bool {
        self.0.iter().fold(false, |any, is| any | is)
    }

    /// Selects the number of `yes` in lanes where the condition holds, and the number of `no` in the other lanes.
    #[inline(always)]
    pub fn choose(self, yes: F64x8, no: F64x8) -> F64x8 {
        let mut out = no.0;
        for l in 0..LANES {
            out[l] = if self.0[l] { yes.0[l] } else { no.0[l] };
        }
        F64x8(out)
    }
}
