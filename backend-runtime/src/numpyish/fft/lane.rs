//! Transforms of one lane, with plans that are made once per length.

use crate::{Complex, Norm, Precision};
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::{
    collections::HashSet,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

/// Which way a transform goes: the sign of its exponent, and when it is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// exp(-2 pi i jk / n)
    Forward,
    /// exp(+2 pi i jk / n)
    Inverse,
}

impl Direction {
    /// What results are multiplied with.
    pub fn scale(self, norm: Norm, n: usize) -> f64 {
        match (norm, self) {
            (Norm::Ortho, _) => 1.0 / (n as f64).sqrt(),
            (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => 1.0 / n as f64,
            (Norm::Backward, Direction::Forward) | (Norm::Forward, Direction::Inverse) => 1.0,
        }
    }
}

/// `f32` and `f64`: what transforms are computed in.
pub trait Engine: Precision + FftNum {
    /// The plans of this precision.
    fn plans() -> &'static Mutex<Plans<Self>>;

    /// A complex lane, as the type that it is: what the plans take.
    fn lane(x: &mut [Self::Complex]) -> &mut [Complex<Self>];
}

macro_rules! engine {
    ($($r:ident)*) => {$(
        impl Engine for $r {
            fn plans() -> &'static Mutex<Plans<$r>> {
                static PLANS: LazyLock<Mutex<Plans<$r>>> = LazyLock::new(|| Mutex::new(Plans::new()));
                &PLANS
            }

            #[inline(always)]
            fn lane(x: &mut [Complex<$r>]) -> &mut [Complex<$r>] {
                x
            }
        }
    )*};
}
engine!(f32 f64);

/// Planners keep the plans they made; after this many new lengths they start again, so that memory stays bounded.
const MOST: usize = 256;

/// The planners of one precision.
pub struct Plans<R: FftNum> {
    complex: FftPlanner<R>,
    real: RealFftPlanner<R>,
    lengths: HashSet<usize>,
}

impl<R: FftNum> Plans<R> {
    fn new() -> Plans<R> {
        Plans { complex: FftPlanner::new(), real: RealFftPlanner::new(), lengths: Default::default() }
    }

    fn of_length(&mut self, n: usize) -> &mut Plans<R> {
        if self.lengths.len() >= MOST && !self.lengths.contains(&n) {
            *self = Plans::new();
        }
        self.lengths.insert(n);
        self
    }
}

fn with_plans<R: Engine, V>(n: usize, f: impl FnOnce(&mut Plans<R>) -> V) -> V {
    // a planner that panicked has at most lost the plan it was making
    f(R::plans().lock().unwrap_or_else(PoisonError::into_inner).of_length(n))
}

/// The plan of complex transforms of `n` points.
pub fn complex<R: Engine>(n: usize, direction: Direction) -> Arc<dyn Fft<R>> {
    let direction = match direction {
        Direction::Forward => FftDirection::Forward,
        Direction::Inverse => FftDirection::Inverse,
    };
    with_plans(n, |p| p.complex.plan_fft(n, direction))
}

/// The plan of transforms from `n` real points to their non-negative frequencies, exponent -2 pi i jk / n.
pub fn real_to_half<R: Engine>(n: usize) -> Arc<dyn RealToComplex<R>> {
    with_plans(n, |p| p.real.plan_fft_forward(n))
}

/// The plan of transforms from non-negative frequencies to `n` real points, exponent +2 pi i jk / n.
pub fn half_to_real<R: Engine>(n: usize) -> Arc<dyn ComplexToReal<R>> {
    with_plans(n, |p| p.real.plan_fft_inverse(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planners_start_again_after_many_lengths() {
        let mut plans = Plans::<f32>::new();
        (1..=MOST).for_each(|n| _ = plans.of_length(n));
        assert_eq!(plans.of_length(5).lengths.len(), MOST);
        assert_eq!(plans.of_length(MOST + 1).lengths.len(), 1);
    }

    #[test]
    fn scales() {
        let s = |norm| (Direction::Forward.scale(norm, 4), Direction::Inverse.scale(norm, 4));
        assert_eq!(s(Norm::Backward), (1.0, 0.25));
        assert_eq!(s(Norm::Ortho), (0.5, 0.5));
        assert_eq!(s(Norm::Forward), (0.25, 1.0));
    }
}
