//! Reductions that are defined by `fold` rows of the op table. Such a row has scalar expressions, and this module has
//! the generic loops around them.

use super::{
    converted,
    fold::Fold,
    folding::{Folding, TypedFolding},
    reading::Reading,
};
use crate::{
    Axes, DType, EachFold, Element, FoldSource, Result,
    numpyish::{
        NdArray, Numpyish,
        buffer::Buffer,
        convert::{Value, computed_in, conversion},
        raw::{RawArray, view},
        source::Source,
        typed::typed,
    },
};
use std::{marker::PhantomData, ptr};

/// The loops of a row of the op table over elements of one dtype.
pub struct FoldLoops {
    /// The dtype in which the loops read elements.
    of: DType,
    folding: &'static Folding,
    /// Writes the initial value of an accumulator, which is also the accumulated value of no elements.
    identity: unsafe fn(acc: *mut u8),
    /// Dtype of the results.
    out: DType,
    /// Computes results from `n` accumulators, given the number of elements per result. `None` if the accumulators are
    /// the results.
    finish: Option<Finish>,
}

type Finish = unsafe fn(op: *const u8, acc: *const u8, out: *mut u8, n: usize, count: f64);

impl FoldLoops {
    /// The loops of the row `F` over elements of `A`. If `finishes` is true, results are computed from the
    /// accumulators.
    pub const fn of<A: Element, F: EachFold<A>>(finishes: bool) -> FoldLoops {
        FoldLoops {
            of: A::DTYPE,
            folding: TypedFolding::<A, Row<F>>::FOLDING,
            identity: identity::<A, F>,
            out: F::Out::DTYPE,
            finish: if finishes { Some(finish::<A, F>) } else { None },
        }
    }
}

unsafe fn identity<A: Element, F: EachFold<A>>(acc: *mut u8) {
    // SAFETY: `acc` has room for a value.
    unsafe { *acc.cast() = F::identity() };
}

unsafe fn finish<A: Element, F: EachFold<A>>(op: *const u8, acc: *const u8, out: *mut u8, n: usize, count: f64) {
    for i in 0..n {
        // SAFETY: `op` is the row's op, `acc` has `n` values, and `out` has room for as many results.
        unsafe { *out.cast::<F::Out>().add(i) = (*op.cast::<F>()).finish(*acc.cast::<F::Acc>().add(i), count) };
    }
}

/// The fold that a row of the op table defines. All outputs share one operand, which is the op with its parameters.
struct Row<F>(PhantomData<F>);

impl<A: Element, F: EachFold<A>> Fold<A> for Row<F> {
    type Acc = F::Acc;
    type Operand = F;

    const OPERAND_IS_SHARED: bool = true;

    // counting in bytes is faster only for elements of one byte
    const COUNTS: bool = F::COUNTS && size_of::<A>() == 1;

    #[inline(always)]
    fn count(x: A, op: F) -> u8 {
        op.map(x).cast()
    }

    #[inline(always)]
    fn start(_: A) -> F::Acc {
        F::identity()
    }

    #[inline(always)]
    fn step(acc: F::Acc, x: A, op: F) -> F::Acc {
        F::join(acc, op.map(x))
    }

    #[inline(always)]
    fn merge(a: F::Acc, b: F::Acc) -> F::Acc {
        F::join(a, b)
    }
}

/// Reduces `x` over axes by the `fold` row `F`, with a result of dtype `U`.
pub fn fold<U: Element, T: Element, F: FoldSource>(
    _: &Numpyish,
    f: &F,
    x: &NdArray<T>,
    axis: Axes,
    keepdims: bool,
) -> Result<NdArray<U>> {
    typed(fold_of(f, view(x).into(), U::DTYPE, axis, keepdims))
}

/// Like `fold`, for an array or an unevaluated formula, with a result of dtype `result`.
pub fn fold_of<F: FoldSource>(f: &F, x: Source<'_>, result: DType, axis: Axes, keepdims: bool) -> Result<RawArray> {
    let plan = super::plan(F::NAME, x, axis, keepdims)?;
    // elements are read in their own dtype, or in the accumulator's dtype if the row's expression `map` does not
    // change them
    let read = |dtype: DType| F::loops().iter().find(|loops| loops.of == dtype);
    let own = if F::CUDA.map == "x0" { F::CUDA.acc_element.dtype(x.dtype) } else { x.dtype };
    let loops = read(computed_in(own)).expect("a fold row has loops for each of its dtypes");
    let values = if plan.inputs() == 0 {
        let mut none = Value::ZERO;
        let values = Buffer::new(plan.op(), plan.outputs(), loops.folding.acc)?;
        // SAFETY: the value is an accumulator of the fold, and the buffer has room for one value per output.
        unsafe {
            (loops.identity)(none.start_mut());
            none.fill(loops.folding.acc, values.start(), values.len());
        }
        values
    } else {
        let reading = Reading::new(x, conversion(x.dtype, loops.of), loops.of.size());
        // SAFETY: the folding is for the dtype to which elements are converted, and its operand is the op.
        unsafe { plan.fold_given(&reading, loops.folding, ptr::from_ref(f).cast())? }
    };
    let values = match loops.finish {
        None => values,
        Some(finish) => {
            let results = Buffer::new(plan.op(), values.len(), loops.out)?;
            // SAFETY: `f` is the op, and there are as many results as values.
            unsafe {
                finish(ptr::from_ref(f).cast(), values.start(), results.start(), values.len(), plan.inputs() as f64)
            };
            results
        }
    };
    // SAFETY: every result has been written.
    unsafe { plan.array(converted(F::NAME, values, result)?) }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::{ElementInfo, FoldKernel};

    const TEXT: FoldKernel = FoldKernel {
        acc: "",
        acc_element: ElementInfo::T,
        identity: "",
        map: "",
        join: "",
        finish: None,
        params: &[],
        finish_params: &[],
    };

    /// Defines an op as the code for a `fold` row does. The arguments are the name and parameters of the op, the type
    /// of the accumulator, the kernel, two flags, the dtypes, and the four expressions of the row.
    macro_rules! row {
        ($name:ident { $($p:ident),* } $acc:ty, $kernel:expr, $finishes:literal, $counts:literal, [$($of:ty),*],
            $identity:expr, |$x:ident| $map:expr, |$a:ident, $b:ident| $join:expr, |$last:ident, $n:ident| $finish:expr) => {
            #[derive(Clone, Copy, Default)]
            pub struct $name { $(pub $p: f64),* }
            impl<T: Element> EachFold<T> for $name {
                type Acc = $acc;
                type Out = $acc;
                const COUNTS: bool = $counts;
                fn identity() -> $acc { $identity }
                fn map(&self, $x: T) -> $acc {
                    let $name { $($p),* } = *self;
                    $map
                }
                fn join($a: $acc, $b: $acc) -> $acc { $join }
                fn finish(&self, $last: $acc, $n: f64) -> $acc {
                    let _ = $n;
                    $finish
                }
            }
            impl FoldSource for $name {
                const NAME: &'static str = stringify!($name);
                const CUDA: FoldKernel = $kernel;
                fn loops() -> &'static [FoldLoops] {
                    const { &[$(FoldLoops::of::<$of, $name>($finishes)),*] }
                }
                fn params(&self) -> Vec<f64> { vec![$(self.$p),*] }
            }
        };
    }
    row!(Count {} i64, TEXT, false, true, [bool, i8, u8, i32, i64, f32, f64, crate::Complex<f32>, crate::Complex<f64>], 0, |x| (x != T::default()).into(), |a, b| a + b, |a, _n| a);
    row!(Product {} f64, TEXT, false, false, [f64, f32], 1.0, |x| x.cast(), |a, b| a * b, |a, _n| a);
    row!(MeanOfPowers { p } f64, TEXT, true, false, [f64, f32], 0.0, |x| x.cast::<f64>().powf(p), |a, b| a + b, |a, n| a / n);

    pub fn count_nonzero<T: Element>(b: &Numpyish, x: &NdArray<T>, axis: Axes, keep: bool) -> Result<NdArray<i64>> {
        fold(b, &Count {}, x, axis, keep)
    }

    pub fn prod<T: Element>(b: &Numpyish, x: &NdArray<T>, axis: Axes, keep: bool) -> Result<NdArray<T::Sum>> {
        fold(b, &Product {}, x, axis, keep)
    }

    #[test]
    fn bytes_are_counted_in_lanes_of_any_length() {
        let b = Numpyish::new();
        for n in [1, 31, 32, 33, 63, 64, 65, 127, 500, 1023, 1024, 1025, 16384, 70_001] {
            for (of, what) in [(1, "all"), (2, "some"), (3, "few"), (n + 1, "one")] {
                let is = |i: usize| i.is_multiple_of(of);
                let lane = |i: &[usize]| is(i[1] + i[0]);
                let truths =
                    ndarray::ArrayD::from_shape_fn(ndarray::IxDyn(&[3, n]), |i| lane(&[i[0], i[1]])).into_shared();
                let bytes = truths.mapv(|x| if x { -7_i8 } else { 0 }).into_shared();
                let wide = truths.mapv(|x| if x { 0.5_f32 } else { 0.0 }).into_shared();
                for axis in [Axes::from(1), Axes::from(0), Axes::All] {
                    let counts = count_nonzero(&b, &wide, axis, false).unwrap();
                    assert_eq!(count_nonzero(&b, &truths, axis, false).unwrap(), counts, "{what} of {n}");
                    assert_eq!(count_nonzero(&b, &bytes, axis, false).unwrap(), counts, "{what} of {n}");
                    assert_eq!(super::super::typed::sum(&b, &truths, axis, false).unwrap(), counts, "{what} of {n}");
                }
                let second = ndarray::s![.., ..;2];
                let counts =
                    count_nonzero(&b, &wide.slice(second).into_dyn().to_shared(), Axes::from(1), false).unwrap();
                let strided = truths.clone().slice_move(second).into_dyn();
                assert_eq!(
                    super::super::typed::sum(&b, &strided, Axes::from(1), false).unwrap(),
                    counts,
                    "{what} of {n}"
                );
                let naive = truths.outer_iter().map(|lane| lane.iter().filter(|&&x| x).count() as i64);
                let counts = count_nonzero(&b, &truths, Axes::from(1), false).unwrap();
                assert!(counts.iter().copied().eq(naive), "{what} of {n}");
            }
        }
    }

    #[test]
    fn parameters_reach_every_lane_and_the_end() {
        let b = Numpyish::new();
        let x = ndarray::ArrayD::from_shape_fn(ndarray::IxDyn(&[40, 70]), |i| (i[0] * 3 + i[1]) as f64 * 0.01)
            .into_shared();
        for (axis, n) in [(0, 40.0), (1, 70.0)] {
            let got: NdArray<f64> = fold(&b, &MeanOfPowers { p: 3.0 }, &x, Axes::from(axis), false).unwrap();
            let expected = x.mapv(|v| v * v * v).sum_axis(ndarray::Axis(axis)) / n;
            assert!(got.iter().zip(&expected).all(|(g, e)| (g - e).abs() <= 1e-12 * e.abs()), "{axis}");
        }
        let none: NdArray<f64> = fold(
            &b,
            &MeanOfPowers { p: 3.0 },
            &ndarray::ArrayD::<f64>::zeros(ndarray::IxDyn(&[0, 2])).into_shared(),
            Axes::from(0),
            true,
        )
        .unwrap();
        assert!(
            none.shape() == [1, 2] && none.iter().all(|v| v.is_nan()),
            "the end is reached without elements: 0 / 0"
        );
    }
}
