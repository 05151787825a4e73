//! Elements chosen from two arrays by a condition.

use crate::{
    DType, Element, Result,
    numpyish::{
        NdArray, Numpyish, Operand,
        copy::by_bits,
        kernel::{Kernel, Loop, MOST},
        raw::{view, view_operand},
        simd::{SETS, versions},
    },
};
use std::{hint::select_unpredictable, ptr};

/// x1 where the condition is true, x2 elsewhere.
pub fn r#where<T: Element>(
    _: &Numpyish,
    condition: &NdArray<bool>,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
) -> Result<NdArray<T>> {
    let operands = [view(condition), view_operand(&x1), view_operand(&x2)];
    // SAFETY: the kernel takes a condition and two operands of this dtype; it has no op to point to.
    unsafe { T::numpyish_run(&kernel(T::DTYPE), ptr::null(), &operands) }
}

/// The kernel of a dtype: one loop for all whose elements have one size and alignment.
#[inline(never)] // not inlined into crates that call: what it names would be compiled there
fn kernel(dtype: DType) -> Kernel {
    let pick: Loop = by_bits!(dtype, U => pick::<U>);
    Kernel {
        name: "where",
        operands: 3,
        inputs: [DType::Bool, dtype, dtype, dtype, dtype, dtype, dtype, dtype],
        output: dtype,
        scalar_forms: false,
        loops: [pick; SETS],
        near: None,
    }
}

versions! {
    /// Both elements are read before the choice. Without the hint it is a branch, which a random condition mispredicts.
    unsafe fn pick[U: Copy][U](_op: *const u8, x: &[*const u8; MOST], _scalars: u8, out: *mut u8, n: usize) {
        // SAFETY: as `Loop` says: `n` elements of each.
        unsafe {
            let (c, x, y) = (x[0].cast::<bool>(), x[1].cast::<U>(), x[2].cast::<U>());
            let out = out.cast::<U>();
            for i in 0..n {
                *out.add(i) = select_unpredictable(*c.add(i), *x.add(i), *y.add(i));
            }
        }
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
        let y = r#where(&B, &condition, Operand::array(&counting(&[3])), Operand::Scalar(7)).unwrap();
        assert_eq!(list(&y), [0, 1, 2, 7, 7, 7]);
        let x = counting(&[4]);
        assert!(r#where(&B, &condition, Operand::array(&x), Operand::array(&counting(&[3]))).is_err());
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
            let chosen = r#where(&B, &mask, Operand::array(&x), Operand::Scalar(y)).unwrap();
            assert!(chosen.indexed_iter().all(|(at, &v)| v == if mask[&at] { x[&at] } else { y }));
            let chosen = r#where(&B, &mask, Operand::array(&low), Operand::array(&x)).unwrap();
            assert!(chosen.indexed_iter().all(|(at, &v)| v == if mask[&at] { low[&at] } else { x[&at] }));
        }
    }
}
