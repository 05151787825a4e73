//! Systems and determinants of a stack, eight matrices at a time. A group of fewer than eight matrices is processed in
//! lanes if it has at least `FEW` matrices, else one by one.
//!
//! Code with vectors is in loops, because closures would be compiled for the baseline instruction set.

use super::{
    lanes::{AlignedVector, Vector, WIDTH},
    single,
    stacked::{self, Eliminated},
};
use crate::{
    Alone, Determinant, Failure, Result,
    lu::{self, PRODUCTS, from_pivots},
};

/// Groups of fewer matrices are processed one by one.
const FEW: usize = 3;

/// The size of each system of a stack: its number of rows `n`, which is at least 1, and its number of right-hand sides
/// `k`.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub n: usize,
    pub k: usize,
}

impl Sizes {
    /// Number of elements in the room that a stack of this many matrices needs.
    pub fn room(self, matrices: usize) -> usize {
        let Sizes { n, k } = self;
        let singly = single::blocks(n) + single::blocks(k);
        n * if matrices < FEW { singly } else { singly.max(n + k) }
    }
}

/// Calls `f` with the number of rows as the constant `N` if it is at most 4, otherwise with `N` = 0.
macro_rules! by_rows {
    ($n:expr, $f:ident($($arg:expr),*)) => {
        match $n {
            1 => $f::<V, 1>($($arg),*),
            2 => $f::<V, 2>($($arg),*),
            3 => $f::<V, 3>($($arg),*),
            4 => $f::<V, 4>($($arg),*),
            _ => $f::<V, 0>($($arg),*),
        }
    };
}

/// Returns whether the bit of lane `l` is 1.
fn has(bits: u8, l: usize) -> bool {
    bits >> l & 1 != 0
}

/// Solves the systems of a stack, which have at least one right-hand side. Overwrites `b` with the solutions.
#[inline(always)]
pub fn solve_all<V: Vector>(a: &mut [f64], b: &mut [f64], sizes: Sizes, room: &mut [AlignedVector]) -> Result<()> {
    let Sizes { n, k } = sizes;
    for (a, b) in a.chunks_mut(WIDTH * n * n).zip(b.chunks_mut(WIDTH * n * k)) {
        if a.len() < FEW * n * n {
            for (a, b) in a.chunks_exact_mut(n * n).zip(b.chunks_exact_mut(n * k)) {
                solve_one::<V>(a, b, sizes, room)?;
            }
        } else {
            by_rows!(n, solve_group(a, b, sizes, room))?;
        }
    }
    Ok(())
}

#[inline(always)]
fn solve_group<V: Vector, const N: usize>(
    a: &mut [f64],
    b: &mut [f64],
    Sizes { n, k }: Sizes,
    room: &mut [AlignedVector],
) -> Result<()> {
    let n = stacked::constant::<N>(n);
    let w = n + k;
    let extremes = stacked::load::<V>(room, a, [n, n], w, 0);
    stacked::load::<V>(room, b, [n, k], w, n);
    let singular = stacked::eliminate::<V, N>(room, n, w).singular;
    stacked::substitute::<V, N>(room, n, w);
    stacked::store(room, b, [n, k], w, n, extremes);
    if extremes | singular == 0 {
        return Ok(());
    }
    for (l, (a, b)) in a.chunks_exact_mut(n * n).zip(b.chunks_exact_mut(n * k)).enumerate() {
        if has(extremes, l) {
            lu::solve(a, b, n, k, &Alone)?;
        } else if has(singular, l) {
            return Err(Failure::Singular);
        }
    }
    Ok(())
}

#[inline(always)]
fn solve_one<V: Vector>(a: &mut [f64], b: &mut [f64], Sizes { n, k }: Sizes, room: &mut [AlignedVector]) -> Result<()> {
    if single::has_extremes(a) {
        return lu::solve(a, b, n, k, &Alone);
    }
    let w = single::blocks(n) + single::blocks(k);
    single::load(room, a, [n, n], w, 0);
    single::load(room, b, [n, k], w, single::blocks(n));
    single::eliminate::<V>(room, n, w).ok_or(Failure::Singular)?;
    single::substitute::<V>(room, n, w);
    single::store(room, b, n, w, single::blocks(n));
    Ok(())
}

/// Computes the determinants of a stack.
#[inline(always)]
pub fn determinants<V: Vector>(
    a: &mut [f64],
    to: &mut [Determinant<f64>],
    n: usize,
    room: &mut [AlignedVector],
) -> Result<()> {
    for (a, to) in a.chunks_mut(WIDTH * n * n).zip(to.chunks_mut(WIDTH)) {
        if a.len() < FEW * n * n {
            for (a, to) in a.chunks_exact_mut(n * n).zip(to) {
                *to = determinant_of_one::<V>(a, n, room)?;
            }
        } else {
            by_rows!(n, determinants_of_group(a, to, n, room))?;
        }
    }
    Ok(())
}

#[inline(always)]
fn determinants_of_group<V: Vector, const N: usize>(
    a: &mut [f64],
    to: &mut [Determinant<f64>],
    n: usize,
    room: &mut [AlignedVector],
) -> Result<()> {
    let n = stacked::constant::<N>(n);
    let extremes = stacked::load::<V>(room, a, [n, n], n, 0);
    let Eliminated { sign, singular } = stacked::eliminate::<V, N>(room, n, n);
    let (product, far) = stacked::products(room, n, sign);
    let (mut signs, mut products) = (AlignedVector::ZERO, AlignedVector::ZERO);
    sign.store(&mut signs);
    product.store(&mut products);
    for (l, (a, to)) in a.chunks_exact_mut(n * n).zip(to).enumerate() {
        *to = if has(extremes, l) {
            lu::determinant(a, n, &Alone)?
        } else if has(singular, l) {
            Determinant::zero()
        } else if has(far, l) {
            from_pivots(stacked::pivots(room, n, l), signs.0[l], 0)
        } else {
            ordinary(products.0[l])
        };
    }
    Ok(())
}

#[inline(always)]
fn determinant_of_one<V: Vector>(a: &mut [f64], n: usize, room: &mut [AlignedVector]) -> Result<Determinant<f64>> {
    if single::has_extremes(a) {
        return lu::determinant(a, n, &Alone);
    }
    let w = single::blocks(n);
    single::load(room, a, [n, n], w, 0);
    let Some(sign) = single::eliminate::<V>(room, n, w) else { return Ok(Determinant::zero()) };
    let (mut product, mut is_far) = (sign, false);
    for pivot in single::pivots(room, n, w) {
        product *= pivot;
        is_far |= !PRODUCTS.contains(&product.abs());
    }
    Ok(if is_far { from_pivots(single::pivots(room, n, w), sign, 0) } else { ordinary(product) })
}

/// A determinant that is neither 0 nor close to the limits of doubles.
#[inline(always)]
fn ordinary(value: f64) -> Determinant<f64> {
    Determinant { value, sign: 1_f64.copysign(value), log: value.abs().ln() }
}
