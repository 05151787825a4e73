//! Grids of half the length along an axis, and what goes between them and the finer ones.

use crate::linear::grid::{Ends, Line, beyond, part};
use backends::{ArrayAttributes, Backend, ConcatOptions, Result, StackOptions, WideFloat, expr};

/// How an axis is halved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Halving {
    /// Two elements become one, which is between them.
    Pairs(Ends),
    /// Of an odd number every second stays, from the second on: zeros one step beyond the ends are two steps of the finer grid away.
    Inner,
}

/// The axis of half the length; none where it is as it was.
pub(super) fn halved(n: usize, line: Line) -> Option<(Halving, usize, Line)> {
    let weight = line.weight / 4.0;
    match line.ends {
        _ if n < 4 => None,
        Ends::Times(0.0) if n % 2 == 1 => Some((Halving::Inner, n / 2, Line { weight, ends: line.ends })),
        _ if n % 2 == 1 => None,
        Ends::Wrap => Some((Halving::Pairs(Ends::Wrap), n / 2, Line { weight, ends: Ends::Wrap })),
        Ends::Times(1.0) => Some((Halving::Pairs(line.ends), n / 2, Line { weight, ends: line.ends })),
        Ends::Times(factor) => {
            // the zeros are `distance` steps from the end, and half of that and a quarter in the steps of the coarser grid
            let distance = 1.0 / (1.0 - factor);
            let coarser = 0.5 * distance + 0.25;
            let ends = Ends::Times((coarser - 1.0) / coarser);
            Some((Halving::Pairs(ends), n / 2, Line { weight, ends }))
        }
    }
}

impl Halving {
    /// From the coarser grid to the finer one, by straight lines.
    pub fn prolong<B: Backend, T: WideFloat>(self, b: &B, x: &B::Array<T>, axis: usize) -> Result<B::Array<T>> {
        let ends = match self {
            Halving::Pairs(ends) => ends,
            Halving::Inner => Ends::Times(0.0),
        };
        let around = beyond(b, x, axis, ends)?;
        let n = x.shape()[axis] as isize;
        let mut shape = x.shape().to_vec();
        shape[axis] *= 2;
        let [before, after] = [part(b, &around, axis, 0, n, 1)?, part(b, &around, axis, 2, n + 2, 1)?];
        let between = StackOptions::new().axis(axis as isize + 1);
        match self {
            Halving::Pairs(_) => {
                let (low, high) = (expr!(b, 0.75 * x + 0.25 * before)?, expr!(b, 0.75 * x + 0.25 * after)?);
                b.reshape(b.stack_with([low, high], between)?, shape)
            }
            Halving::Inner => {
                let low = expr!(b, 0.5 * (x + before))?;
                let inner = b.reshape(b.stack_with([&low, x], between)?, shape)?;
                let last = part(b, x, axis, n - 1, n, 1)?;
                let last = expr!(b, 0.5 * last)?;
                b.concat_with([inner, last], ConcatOptions::new().axis(axis as isize))
            }
        }
    }

    /// From the finer grid to the coarser one: half of the transpose of [`prolong`](Halving::prolong), which keeps constants.
    pub fn restrict<B: Backend, T: WideFloat>(self, b: &B, x: &B::Array<T>, axis: usize) -> Result<B::Array<T>> {
        let n = x.shape()[axis] as isize;
        match self {
            Halving::Pairs(ends) => {
                let around = beyond(b, x, axis, ends)?;
                let every = |from: isize| part(b, &around, axis, from, from + n - 1, 2);
                let (a, p, q, z) = (every(0)?, every(1)?, every(2)?, every(3)?);
                expr!(b, 0.375 * (p + q) + 0.125 * (a + z))
            }
            Halving::Inner => {
                let every = |from: isize| part(b, x, axis, from, from + n - 2, 2);
                let (l, c, r) = (every(0)?, every(1)?, every(2)?);
                expr!(b, 0.5 * c + 0.25 * (l + r))
            }
        }
    }
}
