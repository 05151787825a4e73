//! Tests of this crate's loops on CPU tensors. The loops read tensors in place or copies of them, and may overwrite
//! operands that are passed by value.

use super::{array, host, torch};
use crate::{TorchArray, elementwise};
use backend_core::{Each, EachSource, Error, Numeric, Operand};
use std::borrow::Cow;

/// An op that computes `3 * x`, `x - 3 * y` or `x - y * z`, depending on the number of operands.
struct TestOp;

impl EachSource for TestOp {
    const NAME: &'static str = "of";
    const CUDA: &'static str = "";
    const INPUTS: &'static [&'static str] = &[];
    const PARAMS: &'static [&'static str] = &[];
}

impl<T: Numeric> Each<1, T> for TestOp {
    type Out = T;
    fn apply(&self, &[x]: &[T; 1]) -> T {
        x.plus(x).plus(x)
    }
}

impl<T: Numeric> Each<2, T> for TestOp {
    type Out = T;
    fn apply(&self, &[x, y]: &[T; 2]) -> T {
        x.minus(y).minus(y).minus(y)
    }
}

impl<T: Numeric> Each<3, T> for TestOp {
    type Out = T;
    fn apply(&self, &[x, y, z]: &[T; 3]) -> T {
        x.minus(y.times(z))
    }
}

fn given(x: TorchArray<i64>) -> Operand<'static, crate::Torch, i64> {
    Operand::Array(Cow::Owned(x))
}

#[test]
fn results_take_the_memory_of_tensors_given_by_value() {
    let Some(b) = torch() else { return };
    let n = 20_000_i64;
    let new = |step: i64| array(&b, (0..n).map(|i| i * step).collect::<Vec<_>>());
    let other = new(5);
    let start = |x: &TorchArray<i64>| x.tensor().data();
    for b in [b.clone(), b.clone().copying()] {
        let x = new(1);
        let here = start(&x);
        let x = elementwise::each1(&b, &TestOp, given(x)).unwrap();
        let first = start(&x);
        let x = elementwise::each2(&b, &TestOp, Operand::array(&other), given(x)).unwrap();
        let second = start(&x);
        let x = elementwise::each3(&b, &TestOp, Operand::Scalar(7), Operand::array(&other), given(x)).unwrap();
        let third = start(&x);
        let expected: Vec<i64> = (0..n).map(|i| 7 - 5 * i * (5 * i - 9 * i)).collect();
        assert_eq!(host(&b, &x).as_slice(), Some(&expected[..]));
        // a backend that copies allocates new memory for each result; this may be memory that an earlier call has
        // freed, so addresses are compared only for the backend that works in place
        if b.is_in_place() {
            assert_eq!([first, second, third], [here; 3], "each in the place of the one before");
        }
    }
    // both operands share the same memory
    let x = new(1);
    let twice = elementwise::each2(&b, &TestOp, given(x.clone()), given(x)).unwrap();
    assert_eq!(host(&b, &twice)[[9]], -18);
}

#[test]
fn copies_have_any_layout_and_the_same_errors() {
    let Some(b) = torch() else { return };
    let copying = b.clone().copying();
    let m = ndarray::Array2::from_shape_fn((4, 6), |(i, j)| (i * 10 + j) as i64).into_dyn().into_shared();
    let turned = m.clone().reversed_axes();
    let all = [m.clone(), turned.as_standard_layout().into_owned().into_shared().reversed_axes()];
    for x in &all {
        let there = array(&b, x);
        let got = elementwise::each2(&copying, &TestOp, Operand::array(&there), Operand::Scalar(2)).unwrap();
        assert_eq!(host(&b, &got), x.mapv(|x| x - 6).into_shared());
    }
    let (x, y) = (array(&b, vec![1_i64, 2]), array(&b, vec![1_i64, 2, 3]));
    let refused = elementwise::each2(&copying, &TestOp, Operand::array(&x), Operand::array(&y));
    assert_eq!(refused.unwrap_err(), Error::shapes("of", &[2], &[3]));
    let none = array(&b, Vec::<i64>::new());
    assert_eq!(elementwise::each1(&copying, &TestOp, Operand::array(&none)).unwrap().shape(), [0]);
    // the array is on another device than the backend
    let gpu = crate::Torch { index: 0, ..copying };
    let refused = elementwise::each1(&gpu, &TestOp, Operand::array(&x)).unwrap_err();
    assert_eq!(refused, Error::device("of", "cuda:0", "cpu"));
}
