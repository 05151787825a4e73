//! Elementwise ops, which `ops.toml` defines in `each` rows, for arrays and scalars whose types are known at compile
//! time. The loops are in [`kernel`](mod@super::kernel).

use super::{
    NdArray, Numpyish, Operand,
    kernel::{kernel, kernel_of},
    raw::view_operand,
    run,
    typed::Typed,
};
use crate::{At, Each, EachOf, EachSource, Element, Result, each::is_identity};
use std::{any::Any, borrow::Cow, mem::ManuallyDrop, ptr};

/// Returns whether a result of dtype `U` may overwrite the operand. The operand must be an array of this dtype that was
/// passed by value, and nothing else may use its memory.
#[inline(always)]
fn is_free<T: Element, U: Element>(x: &mut Operand<'_, T>) -> bool {
    match x {
        Operand::Array(Cow::Owned(x)) if const { T::DTYPE as u8 == U::DTYPE as u8 } => T::numpyish_is_alone(x),
        _ => false,
    }
}

/// Converts an operand to the result, after the operand's memory was overwritten with the result.
#[inline(always)]
fn overwritten<T: Element, U: Element>(x: Operand<'_, T>) -> NdArray<U> {
    assert_eq!(T::DTYPE, U::DTYPE, "an operand of the result's dtype");
    match x {
        // SAFETY: `T` and `U` have the same dtype, so they are the same type, and this is a move.
        Operand::Array(x) => unsafe { std::mem::transmute_copy(&ManuallyDrop::new(x.into_owned())) },
        Operand::Scalar(_) => unreachable!("results are written over arrays"),
    }
}

/// Runs a kernel over operands. If possible, the result overwrites an operand that was passed by value.
macro_rules! run {
    ($result:ty, $kernel:expr, $f:ident, $($x:ident: $t:ty),*) => {{
        let (kernel, op) = ($kernel, ptr::from_ref($f).cast());
        let free = [$(is_free::<$t, $result>(&mut $x)),*];
        let views = [$(view_operand(&$x)),*];
        // SAFETY: the kernel belongs to the op and these dtypes, and nothing else uses the memory of an operand in
        // `free`.
        unsafe {
            let is_over = |&place: &usize| free[place] && run::run_over(kernel, op, &views, views[place]);
            if let Some(place) = (0..free.len()).find(is_over) {
                let mut at = 0;
                $(
                    if at == place {
                        return Ok(overwritten::<$t, $result>($x));
                    }
                    at += 1;
                )*
                let _ = at;
            }
            <$result>::numpyish_run(kernel, op, &views, At::caller())
        }
    }};
}

/// Applies an op to one operand. If the op does not change the elements, the result and the operand share their memory
/// until one of the two is written to. Such ops convert an array to its own dtype, or conjugate real numbers.
#[inline(always)] // inlined because callers know which operands are scalars
#[track_caller]
pub fn each1<T: Element, F>(_: &Numpyish, f: &F, mut x: Operand<'_, T>) -> Result<NdArray<F::Out>>
where
    F: Each<1, T> + EachSource + Sync,
{
    if const { is_identity::<F>(T::DTYPE, <F::Out as Element>::DTYPE) }
        && let Operand::Array(x) = &x
        && let Some(same) = (&**x as &dyn Any).downcast_ref::<NdArray<F::Out>>()
    {
        return Ok(same.clone());
    }
    run!(F::Out, kernel::<1, T, F>(), f, x: T)
}

/// Applies an op to two operands, which are broadcast to one shape.
#[inline(always)] // inlined because callers know which operands are scalars
#[track_caller]
pub fn each2<T: Element, F>(
    _: &Numpyish,
    f: &F,
    mut x1: Operand<'_, T>,
    mut x2: Operand<'_, T>,
) -> Result<NdArray<F::Out>>
where
    F: Each<2, T> + EachSource + Sync,
{
    run!(F::Out, kernel::<2, T, F>(), f, x1: T, x2: T)
}

/// Applies an op to three operands, which are broadcast to one shape.
#[inline(always)] // inlined because callers know which operands are scalars
#[track_caller]
pub fn each3<T: Element, F>(
    _: &Numpyish,
    f: &F,
    mut x1: Operand<'_, T>,
    mut x2: Operand<'_, T>,
    mut x3: Operand<'_, T>,
) -> Result<NdArray<F::Out>>
where
    F: Each<3, T> + EachSource + Sync,
{
    run!(F::Out, kernel::<3, T, F>(), f, x1: T, x2: T, x3: T)
}

/// Applies an op to one operand. The op takes its operands as a tuple.
#[inline(always)] // inlined because callers know which operands are scalars
#[track_caller]
pub fn each_of1<A: Element, F>(_: &Numpyish, f: &F, mut x: Operand<'_, A>) -> Result<NdArray<F::Out>>
where
    F: EachOf<(A,)> + EachSource + Sync,
{
    run!(F::Out, kernel_of::<(A,), F>(), f, x: A)
}

/// Applies an op to two operands, which may have different dtypes and are broadcast to a common shape.
#[inline(always)] // inlined because callers know which operands are scalars
#[track_caller]
pub fn each_of2<A: Element, B: Element, F>(
    _: &Numpyish,
    f: &F,
    mut x1: Operand<'_, A>,
    mut x2: Operand<'_, B>,
) -> Result<NdArray<F::Out>>
where
    F: EachOf<(A, B)> + EachSource + Sync,
{
    run!(F::Out, kernel_of::<(A, B), F>(), f, x1: A, x2: B)
}

/// Applies an op to three operands, which may have different dtypes and are broadcast to a common shape.
#[inline(always)] // inlined because callers know which operands are scalars
#[track_caller]
pub fn each_of3<A: Element, B: Element, C: Element, F>(
    _: &Numpyish,
    f: &F,
    mut x1: Operand<'_, A>,
    mut x2: Operand<'_, B>,
    mut x3: Operand<'_, C>,
) -> Result<NdArray<F::Out>>
where
    F: EachOf<(A, B, C)> + EachSource + Sync,
{
    run!(F::Out, kernel_of::<(A, B, C), F>(), f, x1: A, x2: B, x3: C)
}

#[cfg(test)]
mod tests {
    use super::super::{buffer, simd, testing::Dice, testing::array};
    use super::*;
    use crate::Error;
    use ndarray::{ArcArray, IxDyn};

    macro_rules! source {
        ($name:ident, $text:literal) => {
            impl EachSource for $name {
                const NAME: &'static str = $text;
                const CUDA: &'static str = "";
                const INPUTS: &'static [&'static str] = &[];
                const PARAMS: &'static [&'static str] = &[];
            }
        };
    }

    /// `3 * x + 1`
    struct One;
    source!(One, "one");
    impl<T: crate::Numeric> Each<1, T> for One {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x]: &[T; 1]) -> T {
            x.plus(x).plus(x).plus(T::ONE)
        }
    }

    /// `x < y`: the op is not symmetric, and its result has another dtype.
    struct Less;
    source!(Less, "less");
    impl<T: crate::Ordered> Each<2, T> for Less {
        type Out = bool;
        #[inline(always)]
        fn apply(&self, &[x, y]: &[T; 2]) -> bool {
            x < y
        }
    }

    /// `x - y * z`
    struct Three;
    source!(Three, "three");
    impl<T: crate::Numeric> Each<3, T> for Three {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x, y, z]: &[T; 3]) -> T {
            x.minus(y.times(z))
        }
    }

    const B: Numpyish = Numpyish::new();

    /// Returns `n` random shapes that can be broadcast to a common shape. In each of them, some axes have length 1, and
    /// some leading axes may be missing.
    fn shapes(dice: &mut Dice, n: usize) -> Vec<Vec<usize>> {
        let longest = [3, 6, 40, 200][dice.below(4)];
        let shape: Vec<usize> = (0..dice.below(4)).map(|_| dice.below(longest) + usize::from(longest > 3)).collect();
        let mut one = || -> Vec<usize> {
            let skip = if dice.below(3) == 0 { dice.below(shape.len() + 1) } else { 0 };
            shape[skip..].iter().map(|&d| if dice.below(4) == 0 { 1 } else { d }).collect()
        };
        (0..n).map(|_| one()).collect()
    }

    fn all<'a, T: Element>(xs: &[&'a NdArray<T>]) -> Vec<ndarray::ArrayViewD<'a, T>> {
        let shape = crate::rules::broadcast_all("test", xs.iter().map(|x| x.shape())).unwrap();
        xs.iter().map(|x| x.broadcast(IxDyn(&shape)).unwrap()).collect()
    }

    #[test]
    fn any_layouts_broadcast_as_a_naive_loop_does() {
        let mut dice = Dice(7);
        for round in 0..300 {
            let of = shapes(&mut dice, 3);
            let size: usize = of.iter().flatten().product();
            if size > 2_000_000 {
                continue;
            }
            let [x, y, z]: [NdArray<i32>; 3] = std::array::from_fn(|k| dice.layout_of(&of[k]));
            let one = each1(&B, &One, Operand::array(&x)).unwrap();
            assert_eq!(one, x.map(|&v| 3 * v + 1), "{round}");

            let views = all(&[&x, &y]);
            let less = each2(&B, &Less, Operand::array(&x), Operand::array(&y)).unwrap();
            assert_eq!(less.shape(), views[0].shape());
            assert!(less.iter().zip(&views[0]).zip(&views[1]).all(|((&o, x), y)| o == (x < y)), "{round} {of:?}");
            for s in [-5, 2, 17] {
                let right = each2(&B, &Less, Operand::array(&x), Operand::Scalar(s)).unwrap();
                assert_eq!(right, x.map(|&v| v < s));
                let left = each2(&B, &Less, Operand::Scalar(s), Operand::array(&x)).unwrap();
                assert_eq!(left, x.map(|&v| s < v));
                let three = each3(&B, &Three, Operand::array(&x), Operand::Scalar(s), Operand::Scalar(3)).unwrap();
                assert_eq!(three, x.map(|&v| v - s * 3));
            }

            let views = all(&[&x, &y, &z]);
            let three = each3(&B, &Three, Operand::array(&x), Operand::array(&y), Operand::array(&z)).unwrap();
            let naive =
                views[0].iter().zip(&views[1]).zip(&views[2]).map(|((x, y), z)| x.wrapping_sub(y.wrapping_mul(*z)));
            assert!(three.iter().copied().eq(naive), "{round} {of:?}");
        }
    }

    /// `sin(x)`, declared to need range reduction.
    struct Sine;
    impl EachSource for Sine {
        const NAME: &'static str = "sine";
        const CUDA: &'static str = "op_sin(x)";
        const INPUTS: &'static [&'static str] = &["x"];
        const PARAMS: &'static [&'static str] = &[];
        const NEEDS_RANGE_REDUCTION: bool = true;
        const GAINS_FROM_AVX512: bool = true;
    }
    impl<T: crate::Float> Each<1, T> for Sine {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x]: &[T; 1]) -> T {
            x.sin()
        }
    }

    /// `x` if `x` is above 0, and otherwise `exp(x) - 1`. The op is declared to be cheap above 0.
    struct Bent;
    impl EachSource for Bent {
        const NAME: &'static str = "bent";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &["x"];
        const PARAMS: &'static [&'static str] = &[];
        const IS_CHEAP_ABOVE_0: bool = true;
        const GAINS_FROM_AVX512: bool = true;
    }
    impl<T: crate::Real> Each<1, T> for Bent {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x]: &[T; 1]) -> T {
            if x > T::ZERO { x } else { x.expm1() }
        }
    }

    /// The inverse of the error function, declared to be cheap for small magnitudes.
    struct Inverse;
    impl EachSource for Inverse {
        const NAME: &'static str = "inverse";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &["x"];
        const PARAMS: &'static [&'static str] = &[];
        const CHEAP_WITHIN: f64 = 0.999;
        const GAINS_FROM_AVX512: bool = true;
    }
    impl<T: crate::Real> Each<1, T> for Inverse {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x]: &[T; 1]) -> T {
            x.erfinv()
        }
    }

    /// Computes the square or the exponential, depending on a parameter.
    struct Chosen(bool);
    impl EachSource for Chosen {
        const NAME: &'static str = "chosen";
        const CUDA: &'static str = "";
        const INPUTS: &'static [&'static str] = &["x"];
        const PARAMS: &'static [&'static str] = &["chosen"];
        const CHOOSES: bool = true;
        const GAINS_FROM_AVX512: bool = true;
        fn chosen(&self) -> bool {
            self.0
        }
    }
    impl<T: crate::Real> Each<1, T> for Chosen {
        type Out = T;
        #[inline(always)]
        fn apply(&self, &[x]: &[T; 1]) -> T {
            if self.0 { x.times(x) } else { x.exp() }
        }
    }

    /// Different loops run for blocks of positive numbers, for blocks of small magnitudes, for other blocks, and for
    /// each choice of `Chosen`. All instruction sets must give the same bits.
    #[test]
    fn elements_of_which_something_is_known() {
        fn hold<T: crate::Real>() {
            // most numbers are positive; the exceptions are at different positions in their blocks, and some blocks
            // have only positive numbers
            let x: Vec<T> = (0..3000)
                .map(|i| T::of([0.0, -0.0, f64::NAN, -1.5, f64::NEG_INFINITY][i % 5]))
                .enumerate()
                .map(|(i, x)| if i % 301 == 7 { x } else { T::of(0.37 * i as f64 + 1e-3) })
                .collect();
            let all = array("test", &[3000], x).unwrap();
            let text = |x: T| format!("{x:?}");
            // the special values are 0.999 and its neighbours, larger numbers, and NaN; most blocks have only numbers
            // below 0.999
            let bound = T::of(0.999);
            let (below, above) = (bound.nextafter(T::ZERO), bound.nextafter(T::ONE));
            let special =
                [below, bound, above, T::ONE, bound.negate(), T::of(2.0), T::of(f64::NAN), T::of(f64::INFINITY)];
            let within: Vec<T> = (0..3000)
                .map(|i| if i % 301 == 7 { special[i / 301 % 8] } else { T::of((i as f64 * 0.37).sin() * 0.99) })
                .collect();
            let within = array("test", &[3000], within).unwrap();
            simd::with_each(|_| {
                let y = each1(&B, &Inverse, Operand::array(&within)).unwrap();
                assert!(y.iter().zip(&within).all(|(&y, &x)| text(y) == text(Each::<1, T>::apply(&Inverse, &[x]))));
                let y = each1(&B, &Bent, Operand::array(&all)).unwrap();
                assert!(y.iter().zip(&all).all(|(&y, &x)| text(y) == text(Each::<1, T>::apply(&Bent, &[x]))));
                for op in [Chosen(true), Chosen(false)] {
                    let y = each1(&B, &op, Operand::array(&all)).unwrap();
                    assert!(y.iter().zip(&all).all(|(&y, &x)| text(y) == text(op.apply(&[x]))));
                }
            });
        }
        hold::<f64>();
        hold::<f32>();
        hold::<crate::f16>();
    }

    /// Different loops run for blocks with and without arguments that need a range reduction. All instruction sets must
    /// give the same bits.
    #[test]
    fn far_and_near_arguments_in_one_array() {
        // some blocks have an argument that needs range reduction, some have infinity or NaN, some have both, and most
        // have neither
        let special = |i: usize| match i {
            3 | 4003 => Some(1e300 / i as f64),
            1500 | 3999 => Some(f64::INFINITY),
            2500 | 4000 => Some(f64::NAN),
            _ => None,
        };
        let x: Vec<f64> = (0..7000).map(|i| special(i).unwrap_or(i as f64 * 0.37)).collect();
        let x = array("test", &[7000], x).unwrap();
        let single = x.mapv(|v| v as f32 * 0.5).into_shared();
        let mut results = Vec::new();
        simd::with_each(|_| {
            let y = each1(&B, &Sine, Operand::array(&x)).unwrap();
            let near = |y: f64, x: f64| if x.is_finite() { (y - x.sin()).abs() <= 2e-16 } else { y.is_nan() };
            assert!(y.iter().zip(&x).all(|(y, x)| near(*y, *x)));
            let bits: Vec<u64> = y.iter().map(|y| y.to_bits()).collect();
            let single = each1(&B, &Sine, Operand::array(&single)).unwrap();
            let whole = each1(&B, &Sine, Operand::Scalar(1e22)).unwrap();
            assert_eq!(whole.first().map(|v: &f64| (v - 1e22_f64.sin()).abs() < 1e-15), Some(true));
            results.push((bits, single.iter().map(|y| y.to_bits()).collect::<Vec<u32>>()));
        });
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    }

    /// `if c { x } else { y }`, where `c` is bool, `x` is int8 and `y` is float64.
    struct Pick;
    source!(Pick, "pick");
    impl EachOf<(bool, i8, f64)> for Pick {
        type Out = f64;
        #[inline(always)]
        fn apply(&self, (c, x, y): (bool, i8, f64)) -> f64 {
            if c { x.into() } else { y }
        }
    }

    #[test]
    fn operands_of_several_dtypes_in_any_layout() {
        let mut dice = Dice(11);
        for round in 0..100 {
            let of = shapes(&mut dice, 3);
            let c = dice.layout_of::<i64>(&of[0]).mapv(|v| v % 3 == 0).into_shared();
            let x = dice.layout_of::<i64>(&of[1]).mapv(|v| v as i8).into_shared();
            let y = dice.layout_of::<i64>(&of[2]).mapv(|v| v as f64).into_shared();
            let shape = crate::rules::broadcast_all("test", [c.shape(), x.shape(), y.shape()]).unwrap();
            if shape.iter().product::<usize>() > 1_000_000 {
                continue;
            }
            let got = each_of3(&B, &Pick, Operand::array(&c), Operand::array(&x), Operand::array(&y)).unwrap();
            let at = |x: &NdArray<f64>| x.broadcast(IxDyn(&shape)).unwrap().to_owned();
            let wide = at(&x.mapv(f64::from).into_shared());
            let (c, y) = (c.broadcast(IxDyn(&shape)).unwrap(), at(&y));
            assert!(got.indexed_iter().all(|(i, &v)| v == if c[&i] { wide[&i] } else { y[&i] }), "{round} {of:?}");
        }
        let got = each_of3(&B, &Pick, Operand::Scalar(true), Operand::Scalar(3), Operand::Scalar(0.5)).unwrap();
        assert_eq!((got.ndim(), got.first()), (0, Some(&3.0)));
    }

    /// Tests an op with three operands, each of which is an array or a scalar, in all eight combinations.
    #[test]
    fn every_mixture_of_scalars() {
        let x = array("test", &[600], (0..600).collect::<Vec<i32>>()).unwrap();
        let y = x.mapv(|v| v % 7).into_shared();
        for mixture in 0..8 {
            let pick = |bit: i32, all| if mixture >> bit & 1 == 1 { Operand::Scalar(5) } else { Operand::array(all) };
            let got = each3(&B, &Three, pick(0, &x), pick(1, &y), pick(2, &x)).unwrap();
            let value = |bit: i32, all: &NdArray<i32>, i: usize| if mixture >> bit & 1 == 1 { 5 } else { all[i] };
            assert_eq!(got.len(), if mixture == 7 { 1 } else { 600 });
            for (i, &v) in got.iter().enumerate() {
                assert_eq!(v, value(0, &x, i) - value(1, &y, i) * value(2, &x, i), "{mixture}");
            }
        }
    }

    #[test]
    fn long_rows_of_a_transposed_operand() {
        let n = 5000;
        let x = ArcArray::from_shape_fn((7, n), |(i, j)| (i * n + j) as f64).into_dyn();
        let y = ArcArray::from_shape_fn((n, 7), |(i, j)| (i + 3 * j) as f64).into_dyn().reversed_axes();
        let less = each2(&B, &Less, Operand::array(&x), Operand::array(&y)).unwrap();
        assert!(less.indexed_iter().all(|(i, &o)| o == (x[&i] < y[&i])));
        let less = each2(&B, &Less, Operand::array(&y), Operand::array(&x)).unwrap();
        assert!(less.indexed_iter().all(|(i, &o)| o == (y[&i] < x[&i])));
    }

    #[test]
    fn memory_of_an_operand_given_by_value_is_used_again() {
        let n = 100_003;
        let new = || NdArray::<i32>::from_shape_fn(IxDyn(&[n]), |i| i[0] as i32 % 1000);
        let by_value = |x: NdArray<i32>| Operand::Array(Cow::Owned(x));
        let expected = new().mapv(|v| 3 * v + 1).into_shared();
        let (x, start) = {
            let x = new();
            let start = x.as_ptr();
            (x, start)
        };
        let y = each1(&B, &One, by_value(x)).unwrap();
        assert!(y == expected && y.as_ptr() == start);
        // the memory is not overwritten if there is a second handle or a view
        let (x, start) = {
            let x = new();
            let start = x.as_ptr();
            (x, start)
        };
        let handle = x.clone();
        let y = each1(&B, &One, by_value(x)).unwrap();
        assert!(y == expected && y.as_ptr() != start && handle == new());
        let part = handle.clone().slice_move(ndarray::s![..1]).into_dyn();
        let y = each1(&B, &One, by_value(handle)).unwrap();
        assert!(y == expected && y.as_ptr() != start && part == new().slice_move(ndarray::s![..1]).into_dyn());
        // the second operand is passed by value; both arrays have the same layout, which is not C order; the third
        // operand is a scalar
        let turned = || new().into_shape_with_order((1, n)).unwrap().reversed_axes().into_dyn();
        let (x, y) = (turned(), turned().mapv(|v| v + 1).into_shared());
        let start = y.as_ptr();
        let got = each3(&B, &Three, Operand::array(&x), by_value(y.clone()), Operand::Scalar(2)).unwrap();
        assert!(got.as_ptr() != start);
        let again = each3(&B, &Three, Operand::array(&x), by_value(y), Operand::Scalar(2)).unwrap();
        assert!(again == got && again.as_ptr() == start && again == x.mapv(|v| v - 2 * (v + 1)));
        // the memory is not overwritten if the result has another dtype or another shape
        let y = each2(&B, &Less, by_value(new()), Operand::Scalar(5)).unwrap();
        assert!(y.indexed_iter().all(|(i, &v)| v == (i[0] % 1000 < 5)));
        let column = new().into_shape_with_order((n, 1)).unwrap().into_dyn();
        let pair = ArcArray::from_vec(vec![1, 2]).into_dyn();
        let y = each3(&B, &Three, by_value(column), by_value(pair), Operand::Scalar(1)).unwrap();
        assert_eq!((y.shape(), y[[7, 1]]), (&[n, 2][..], 5));
        // a slice is overwritten too if no other handle shares its memory
        let x = new().slice_move(ndarray::s![3..n - 2]).into_dyn();
        let start = x.as_ptr();
        let y = each1(&B, &One, by_value(x)).unwrap();
        assert!(y.as_ptr() == start && y == expected.clone().slice_move(ndarray::s![3..n - 2]).into_dyn());
        // an op whose arguments need range reduction may overwrite its operand too
        let x = ArcArray::from_shape_fn(n, |i| if i % 7777 == 0 { 1e300 } else { i as f64 * 0.1 }).into_dyn();
        let expected = each1(&B, &Sine, Operand::array(&x)).unwrap();
        assert_eq!(each1(&B, &Sine, Operand::Array(Cow::Owned(x))).unwrap(), expected);
    }

    #[test]
    fn memory_order_of_the_operands_is_kept() {
        let t = ArcArray::<i32, _>::zeros((4, 3)).reversed_axes().into_dyn();
        assert_eq!(each1(&B, &One, Operand::array(&t)).unwrap().strides(), t.strides());
        assert_eq!(each2(&B, &Less, Operand::array(&t), Operand::array(&t)).unwrap().strides(), t.strides());
        let row = ArcArray::<i32, _>::zeros((1, 4)).into_dyn();
        assert_eq!(each2(&B, &Less, Operand::array(&row), Operand::array(&t)).unwrap().strides(), t.strides());
    }

    #[test]
    fn scalars_alone_and_shapes_that_do_not_fit() {
        let s = each2(&B, &Less, Operand::Scalar(1), Operand::Scalar(2)).unwrap();
        assert_eq!((s.ndim(), s.first()), (0, Some(&true)));
        assert_eq!(each1(&B, &One, Operand::Scalar(2)).unwrap().first(), Some(&7));
        let s = each3(&B, &Three, Operand::Scalar(1), Operand::Scalar(2), Operand::Scalar(3)).unwrap();
        assert_eq!(s.first(), Some(&-5));
        let (x, y) = (ArcArray::<i32, _>::zeros(2).into_dyn(), ArcArray::<i32, _>::zeros(3).into_dyn());
        let refused = each2(&B, &Less, Operand::array(&x), Operand::array(&y));
        assert_eq!(refused, Err(Error::shapes("less", &[2], &[3])));
        assert!(each3(&B, &Three, Operand::array(&x), Operand::array(&y), Operand::Scalar(1)).is_err());
    }

    #[test]
    fn results_larger_than_memory_are_refused() {
        let n = 1 << 26;
        let col = NdArray::<u8>::from_shape_vec(IxDyn(&[n, 1]), buffer::zeros("zeros", n).unwrap()).unwrap();
        let row = col.clone().reversed_axes();
        let cube = col.clone().insert_axis(ndarray::Axis(2));
        let huge = each2(&B, &Less, Operand::array(&col), Operand::array(&row));
        assert!(matches!(huge, Err(Error::Memory { op: "less", .. })));
        let over = each3(&B, &Three, Operand::array(&cube), Operand::array(&col), Operand::array(&row));
        assert!(matches!(over, Err(Error::Memory { op: "three", .. })));
    }
}
