//! One of two elements, by a condition.

use crate::{
    Element, Result,
    numpyish::{
        NdArray, Numpyish, Operand, elementwise,
        walk::{self, Input, STEP, Source},
    },
};
use multiversion::multiversion;
use std::{hint::select_unpredictable, mem::MaybeUninit};

/// x1 where the condition is true, x2 elsewhere.
pub fn select<T: Element>(
    _: &Numpyish,
    condition: &NdArray<bool>,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
) -> Result<NdArray<T>> {
    const OP: &str = "where";
    if let (Some(c), Some(x), Some(y)) = (condition.as_slice(), whole(&x1, condition), whole(&x2, condition)) {
        return elementwise::like(OP, condition, c.len(), |r, out| {
            pick_each(Input::Slice(&c[r.clone()]), x.part(r.clone()), y.part(r), out);
        });
    }
    let sources = [Source::array(condition), elementwise::source(&x1), elementwise::source(&x2)];
    // SAFETY: every element is written.
    unsafe {
        walk::walk(OP, &sources, &|parts, out| pick_each(parts[0].input(), parts[1].input(), parts[2].input(), out))
    }
}

/// A scalar, or the elements of an array that has the condition's shape and lies in C order.
fn whole<'a, T: Element>(x: &'a Operand<'_, T>, condition: &NdArray<bool>) -> Option<Input<'a, T>> {
    match x {
        Operand::Scalar(x) => Some(Input::Scalar(*x)),
        Operand::Array(x) if x.shape() == condition.shape() => x.as_slice().map(Input::Slice),
        Operand::Array(_) => None,
    }
}

fn pick_each<T: Element>(c: Input<'_, bool>, x: Input<'_, T>, y: Input<'_, T>, out: &mut [MaybeUninit<T>]) {
    let (cs, xs, ys) = (c.spread(), x.spread(), y.spread());
    for (i, out) in out.chunks_mut(STEP).enumerate() {
        let range = i * STEP..i * STEP + out.len();
        pick(c.slice(&cs, range.clone()), x.slice(&xs, range.clone()), y.slice(&ys, range), out);
    }
}

/// Both elements are read before the choice. Without the hint it is a branch, which a random condition mispredicts.
#[multiversion(targets("x86_64+avx2+fma+f16c"))]
fn pick<T: Element>(c: &[bool], x: &[T], y: &[T], out: &mut [MaybeUninit<T>]) {
    for (((o, &c), &x), &y) in out.iter_mut().zip(c).zip(x).zip(y) {
        o.write(select_unpredictable(c, x, y));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counting, list};
    use super::*;
    use crate::{IntoHost, numpyish::copy::tests::Dice};

    const B: Numpyish = Numpyish::new();

    #[test]
    fn selection_broadcasts() {
        let condition = [[true], [false]].into_host().unwrap();
        let y = select(&B, &condition, Operand::Array(&counting(&[3])), Operand::Scalar(7)).unwrap();
        assert_eq!(list(&y), [0, 1, 2, 7, 7, 7]);
        let x = counting(&[4]);
        assert!(select(&B, &condition, Operand::Array(&x), Operand::Array(&counting(&[3]))).is_err());
    }

    #[test]
    fn choices_of_any_layout() {
        let mut dice = Dice(5);
        for round in 0..60 {
            let longest = [4, 70][round % 2];
            let shape: Vec<usize> = (0..1 + dice.below(3)).map(|_| dice.below(longest)).collect();
            let x: NdArray<i64> = dice.layout_of(&shape);
            let mask = dice.layout_of::<i64>(&shape).map(|&v| v % 3 == 0).into_shared();
            let (low, y) = (dice.layout_of::<i64>(&shape), dice.below(9) as i64);
            let chosen = select(&B, &mask, Operand::Array(&x), Operand::Scalar(y)).unwrap();
            assert!(chosen.indexed_iter().all(|(at, &v)| v == if mask[&at] { x[&at] } else { y }));
            let chosen = select(&B, &mask, Operand::Array(&low), Operand::Array(&x)).unwrap();
            assert!(chosen.indexed_iter().all(|(at, &v)| v == if mask[&at] { low[&at] } else { x[&at] }));
        }
    }
}
