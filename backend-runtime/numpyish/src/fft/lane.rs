//! The cache of the plans that transform lanes (1-D slices along the transformed axis). Each length is planned only
//! once.

use super::{angles::Turns, engine::Engine, halves, long, stockham, symmetry::Symmetry};
use backend_core::caches;
use backend_core::{Result, numpyish::buffer, rules::Direction};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

/// A precision whose plans are cached.
pub trait Planned: Engine {
    /// The cached plans of this precision.
    fn plans() -> &'static Mutex<Plans<Self>>;
}

macro_rules! planned {
    ($($r:ident)*) => {$(
        impl Planned for $r {
            fn plans() -> &'static Mutex<Plans<$r>> {
                static PLANS: LazyLock<Mutex<Plans<$r>>> = LazyLock::new(|| {
                    caches::register(forget::<$r>);
                    Mutex::new(Plans::new())
                });
                &PLANS
            }
        }
    )*};
}
planned!(f32 f64);

/// Maximum number of lengths in the cache. If the cache is full, a new length empties it first, so that memory stays
/// bounded.
const MAX_CACHED_LENGTHS: usize = 256;

/// The planners and cached plans of one precision.
pub struct Plans<R: FftNum> {
    complex: FftPlanner<R>,
    /// Plans that transform several lanes at once, by length; `None` if the length is unsuitable for such a plan.
    side_by_side: HashMap<usize, Option<Arc<stockham::StockhamPlan<R>>>>,
    /// Plans that transform one long lane on all threads, by length.
    long: HashMap<usize, Arc<long::LongPlan<R>>>,
    /// Tables that convert between the spectra of real and complex lanes, by the number of real points.
    symmetries: HashMap<usize, Arc<Symmetry<R>>>,
    /// Cosines and sines of the angles pi k / (2 n) for discrete cosine and sine transforms, by `n`.
    turns: HashMap<usize, Arc<Turns<R>>>,
    /// For each length in the cache, the kinds of its plans: one bit per variant of [`Which`].
    lengths: HashMap<usize, u8>,
}

/// The kinds of plans that a length can have. Each value is one bit.
#[derive(Clone, Copy)]
enum Which {
    Forward = 1,
    Inverse = 2,
    SideBySide = 4,
    Long = 8,
    Symmetry = 16,
    Turns = 32,
}

/// Upper bound, in bytes, of the memory that a planner has allocated at any one time while it plans `n` points.
///
/// rustfft has tables of n numbers for each step of a transform. Prime lengths need the most memory: Bluestein's
/// algorithm transforms 2n - 1 to 4n points with tables of its own, two tables of that length, and scratch memory. All
/// lengths up to 4000 and some up to 3 million were measured, in both precisions and with the planner of each
/// instruction set: they take at most 15 n complex numbers and 16 KiB. The bound is a little larger, to be safe.
/// `tests/memory.rs` measures some of these lengths again.
pub fn plan_bytes<R>(n: usize) -> usize {
    n.saturating_mul(20 * 2 * size_of::<R>()).saturating_add(1 << 16)
}

impl<R: FftNum> Plans<R> {
    fn new() -> Plans<R> {
        Plans {
            complex: FftPlanner::new(),
            side_by_side: HashMap::new(),
            long: HashMap::new(),
            symmetries: HashMap::new(),
            turns: HashMap::new(),
            lengths: HashMap::new(),
        }
    }

    /// Returns the planners, after checking that there is memory for a plan of this kind for `n` points. The check is
    /// skipped if the plan is cached. If `n` is a new length and the cache is full, empties the cache first.
    fn of_length(&mut self, op: &'static str, n: usize, which: Which) -> Result<&mut Plans<R>> {
        let known = self.lengths.get(&n).copied().unwrap_or(0);
        if known & which as u8 != 0 {
            return Ok(self);
        }
        if self.lengths.len() >= MAX_CACHED_LENGTHS && known == 0 {
            *self = Plans::new();
        }
        // the planner itself would abort the process if an allocation failed
        buffer::room(op, plan_bytes::<R>(n))?;
        *self.lengths.entry(n).or_default() |= which as u8;
        Ok(self)
    }
}

/// Drops all cached plans. Running transforms keep their plans until they end.
pub fn forget<R: Planned>() {
    let plans = std::mem::replace(&mut *R::plans().lock().unwrap_or_else(PoisonError::into_inner), Plans::new());
    // the plans are dropped after the lock is released, so that nobody waits for the drop
    drop(plans);
}

fn with_plans<R: Planned, V>(
    op: &'static str,
    n: usize,
    which: Which,
    f: impl FnOnce(&mut Plans<R>) -> V,
) -> Result<V> {
    // ignores a poisoned lock: a planner that panicked has lost at most its unfinished plan
    Ok(f(R::plans().lock().unwrap_or_else(PoisonError::into_inner).of_length(op, n, which)?))
}

/// The plan of a complex transform of `n` points.
pub fn complex<R: Planned>(op: &'static str, n: usize, direction: Direction) -> Result<Arc<dyn Fft<R>>> {
    let (which, direction) = match direction {
        Direction::Forward => (Which::Forward, FftDirection::Forward),
        Direction::Inverse => (Which::Inverse, FftDirection::Inverse),
    };
    with_plans(op, n, which, |p| p.complex.plan_fft(n, direction))
}

/// The tables that convert between the frequencies of `n` real points and the spectrum of n / 2 complex points. `n` is
/// even.
pub fn symmetry<R: Planned>(op: &'static str, n: usize) -> Result<Arc<Symmetry<R>>> {
    kept(op, n, Which::Symmetry, |p| &mut p.symmetries, || Symmetry::new(op, n))
}

/// The cosines and sines of the angles pi k / (2 n).
pub fn turns<R: Planned>(op: &'static str, n: usize) -> Result<Arc<Turns<R>>> {
    kept(op, n, Which::Turns, |p| &mut p.turns, || Turns::new(op, n))
}

/// The plan that transforms several complex lanes of `n` points at once, with exponent -2 pi i jk / n, or `None` if the
/// length is unsuitable.
pub fn side_by_side<R: Planned>(op: &'static str, n: usize) -> Result<Option<Arc<stockham::StockhamPlan<R>>>> {
    if !(2..=stockham::LONGEST).contains(&n) {
        return Ok(None);
    }
    with_plans::<R, _>(op, n, Which::SideBySide, |p| {
        if let Some(known) = p.side_by_side.get(&n) {
            return Ok(known.clone());
        }
        let plan = stockham::StockhamPlan::new(op, n)?.map(Arc::new);
        p.side_by_side.insert(n, plan.clone());
        Ok(plan)
    })?
}

/// The plan of a complex transform of one lane of `n` points on all threads. `None` if the lane is short, or if its
/// length is unsuitable.
pub fn long<R: Planned>(op: &'static str, n: usize) -> Result<Option<Arc<long::LongPlan<R>>>> {
    let sides = if n >= long::MIN_LONG_LENGTH { long::sides(n) } else { None };
    let of_side =
        |n| -> Result<_> { Ok(side_by_side(op, n)?.expect("sides have no other factors, and are not too long")) };
    let plan = |[rows, columns]: [usize; 2]| long::LongPlan::new(op, [of_side(rows)?, of_side(columns)?]);
    sides.map(|sides| kept(op, n, Which::Long, |p| &mut p.long, || plan(sides))).transpose()
}

/// The plan of transforms between `n` real points and their frequencies on all threads. `None` if the lane is short, or
/// if its length is unsuitable.
pub fn halves<R: Planned>(op: &'static str, n: usize) -> Result<Option<halves::LongRealPlan<R>>> {
    let complex = if n.is_multiple_of(2) { long::<R>(op, n / 2)? } else { None };
    complex.map(|complex| Ok(halves::LongRealPlan { complex, symmetry: symmetry(op, n)? })).transpose()
}

/// Returns the cached plan of length `n`, or builds and caches it. The plan is built outside the lock, because `make`
/// may look up other plans.
fn kept<R: Planned, P>(
    op: &'static str,
    n: usize,
    which: Which,
    place: fn(&mut Plans<R>) -> &mut HashMap<usize, Arc<P>>,
    make: impl FnOnce() -> Result<P>,
) -> Result<Arc<P>> {
    if let Some(known) = with_plans(op, n, which, |p| place(p).get(&n).cloned())? {
        return Ok(known);
    }
    let plan = Arc::new(make()?);
    with_plans(op, n, which, |p| place(p).insert(n, plan.clone()))?;
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::{Complex, Error};

    #[test]
    fn planners_start_again_after_many_lengths() {
        let mut plans = Plans::<f32>::new();
        let mut after = |n, which| plans.of_length("fft", n, which).unwrap().lengths.len();
        (1..=MAX_CACHED_LENGTHS).for_each(|n| _ = after(n, Which::Forward));
        assert_eq!(after(5, Which::Symmetry), MAX_CACHED_LENGTHS);
        assert_eq!(after(MAX_CACHED_LENGTHS + 1, Which::Forward), 1);
    }

    #[test]
    fn plans_that_are_forgotten_are_made_again() {
        // a length that no other test uses
        const N: usize = 1019;
        let plan = complex::<f64>("fft", N, Direction::Forward).unwrap();
        let transformed = |plan: &dyn Fft<f64>| {
            let mut x: Vec<_> = (0..N).map(|i| Complex::new(i as f64, 1.0)).collect();
            plan.process(&mut x);
            x
        };
        let expected = transformed(&*plan);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..20 {
                        forget::<f64>();
                        assert_eq!(transformed(&*complex::<f64>("fft", N, Direction::Forward).unwrap()), expected);
                    }
                });
            }
        });
        forget::<f64>();
        assert_eq!(transformed(&*plan), expected, "who has a plan keeps it");
        assert_eq!(Arc::strong_count(&plan), 1, "and nobody else has it");
    }

    #[test]
    fn lengths_over_any_memory_have_no_plan() {
        for n in [1 << 46, isize::MAX as usize, usize::MAX] {
            assert!(matches!(complex::<f64>("fft", n, Direction::Forward), Err(Error::Memory { op: "fft", .. })));
            assert!(matches!(symmetry::<f32>("rfft", n), Err(Error::Memory { op: "rfft", .. })));
        }
    }
}
