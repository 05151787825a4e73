//! The loops of `each` rows: one op struct over arrays and scalars.
//!
//! An op and a dtype get three loops at most, over slices and scalars, each compiled for the instruction sets of `simd`;
//! every layout other than the plain ones goes through [`walk`], which hands out slices and scalars too.

use super::{
    NdArray, Numpyish, Operand,
    buffer::{self, Shared},
    walk::{self, Input, Part, STEP, Source},
};
use crate::{Each, EachSource, Element, Kind, Result, scalar::is_far, shape};
use multiversion::multiversion;
use ndarray::{Array, IxDyn, ShapeBuilder};
use std::{hint::assert_unchecked, mem::MaybeUninit, ops::Range};

/// One op over an operand.
#[inline]
pub fn each1<T: Element, F>(_: &Numpyish, f: &F, x: Operand<'_, T>) -> Result<NdArray<F::Out>>
where
    F: Each<1, T> + EachSource + Sync,
{
    if let Operand::Array(x) = x
        && let Some(s) = dense(x)
    {
        return like(F::NAME, x, s.len(), |range, out| loop1(f, &s[range], out));
    }
    // SAFETY: the loop writes every element.
    unsafe { walk::walk(F::NAME, &[source(&x)], &|parts, out| run1(f, parts[0].input(), out)) }
}

/// One op over two operands, broadcast to one shape.
#[inline]
pub fn each2<T: Element, F>(_: &Numpyish, f: &F, x1: Operand<'_, T>, x2: Operand<'_, T>) -> Result<NdArray<F::Out>>
where
    F: Each<2, T> + EachSource + Sync,
{
    match (&x1, &x2) {
        (Operand::Array(x), Operand::Array(y)) => {
            if let Some((s, t)) = same_layout(x, y) {
                return like(F::NAME, x, s.len(), |r, out| loop2(f, &s[r.clone()], &t[r], out));
            }
        }
        (Operand::Array(x), Operand::Scalar(t)) => {
            if let Some(s) = dense(x) {
                return like(F::NAME, x, s.len(), |r, out| loop2_right(f, &s[r], *t, out));
            }
        }
        (Operand::Scalar(s), Operand::Array(y)) => {
            if let Some(t) = dense(y) {
                return like(F::NAME, y, t.len(), |r, out| loop2_left(f, *s, &t[r], out));
            }
        }
        (Operand::Scalar(_), Operand::Scalar(_)) => {}
    }
    let sources = [source(&x1), source(&x2)];
    // SAFETY: the loops write every element.
    unsafe { walk::walk(F::NAME, &sources, &|parts, out| run2(f, parts[0].input(), parts[1].input(), out)) }
}

/// One op over three operands, broadcast to one shape.
#[inline]
pub fn each3<T: Element, F>(
    _: &Numpyish,
    f: &F,
    x1: Operand<'_, T>,
    x2: Operand<'_, T>,
    x3: Operand<'_, T>,
) -> Result<NdArray<F::Out>>
where
    F: Each<3, T> + EachSource + Sync,
{
    // the usual case of `clip`
    if let (Operand::Array(x), &Operand::Scalar(b), &Operand::Scalar(c)) = (&x1, &x2, &x3)
        && let Some(s) = dense(x)
    {
        return like(F::NAME, x, s.len(), |r, out| loop3_right(f, &s[r], b, c, out));
    }
    let sources = [source(&x1), source(&x2), source(&x3)];
    // SAFETY: the loops write every element.
    unsafe { walk::walk(F::NAME, &sources, &|parts, out| run3(f, parts, out)) }
}

pub(super) fn source<'a, T: Element>(x: &'a Operand<'_, T>) -> Source<'a> {
    match x {
        Operand::Array(x) => Source::array(x),
        Operand::Scalar(x) => Source::scalar(x),
    }
}

/// The elements as they lie in memory, where that is without gaps and forward along every axis.
#[inline]
pub(super) fn dense<T: Element>(x: &NdArray<T>) -> Option<&[T]> {
    x.as_slice().or_else(|| if x.strides().iter().all(|&s| s >= 0) { x.as_slice_memory_order() } else { None })
}

/// The elements of two arrays as they lie in memory, where that is the same way.
#[inline]
fn same_layout<'a, T: Element>(x: &'a NdArray<T>, y: &'a NdArray<T>) -> Option<(&'a [T], &'a [T])> {
    if x.shape() != y.shape() {
        return None;
    }
    match (x.as_slice(), y.as_slice()) {
        (Some(s), Some(t)) => Some((s, t)),
        (None, None) if x.strides() == y.strides() => dense(x).zip(dense(y)),
        _ => None,
    }
}

/// An array in the layout of `x`, which is dense: `write` gets ranges of memory.
#[inline]
pub(super) fn like<T: Element, U: Element>(
    op: &'static str,
    x: &NdArray<T>,
    n: usize,
    write: impl Fn(Range<usize>, &mut [MaybeUninit<U>]) + Sync,
) -> Result<NdArray<U>> {
    if n == 0 {
        // the elements of the result may be larger than those of `x`
        shape::count(op, x.shape(), size_of::<U>())?;
    }
    // SAFETY: the ranges cover all elements and do not overlap, and every loop of this file writes all it is given.
    // The vector has as many elements as `x`, whose shape and strides are those of dense memory.
    unsafe {
        let v = buffer::filled(op, n, |out| {
            let out = Shared::new(out);
            buffer::parallel_timed(n, 1, |range| write(range.clone(), out.part(range)));
        })?;
        let array = if x.is_standard_layout() {
            Array::from_shape_vec_unchecked(x.raw_dim(), v)
        } else {
            let strides: Vec<usize> = x.strides().iter().map(|&s| s as usize).collect();
            Array::from_shape_vec_unchecked(x.raw_dim().strides(IxDyn(&strides)), v)
        };
        Ok(array.into_shared())
    }
}

#[inline(never)]
fn run1<T: Element, F: Each<1, T> + EachSource>(f: &F, x: Input<'_, T>, out: &mut [MaybeUninit<F::Out>]) {
    match x {
        Input::Slice(x) => loop1(f, x, out),
        Input::Scalar(x) => out.fill(MaybeUninit::new(f.apply([x]))),
    }
}

#[inline(never)]
fn run2<T: Element, F: Each<2, T>>(f: &F, x: Input<'_, T>, y: Input<'_, T>, out: &mut [MaybeUninit<F::Out>]) {
    match (x, y) {
        (Input::Slice(x), Input::Slice(y)) => loop2(f, x, y, out),
        (Input::Slice(x), Input::Scalar(y)) => loop2_right(f, x, y, out),
        (Input::Scalar(x), Input::Slice(y)) => loop2_left(f, x, y, out),
        (Input::Scalar(x), Input::Scalar(y)) => out.fill(MaybeUninit::new(f.apply([x, y]))),
    }
}

/// Scalars among three operands are written out, a few at a time: one loop serves all mixtures.
#[inline(never)]
fn run3<T: Element, F: Each<3, T>>(f: &F, parts: &[Part<'_>], out: &mut [MaybeUninit<F::Out>]) {
    let [x, y, z] = [parts[0].input::<T>(), parts[1].input(), parts[2].input()];
    let (xs, ys, zs) = (x.spread(), y.spread(), z.spread());
    for (i, out) in out.chunks_mut(STEP).enumerate() {
        let range = i * STEP..i * STEP + out.len();
        loop3(f, x.slice(&xs, range.clone()), y.slice(&ys, range.clone()), z.slice(&zs, range), out);
    }
}

// The loops. They are functions, not closures: `apply` is inlined into each version that `multiversion` makes of them,
// and compiled there for its instruction set.

#[multiversion(targets("x86_64+avx2+fma+f16c"))]
fn loop1<T: Element, F: Each<1, T> + EachSource>(f: &F, x: &[T], out: &mut [MaybeUninit<F::Out>]) {
    /// Elements that are looked at together: they stay in the nearest cache.
    const BLOCK: usize = 512;
    if !(if T::DTYPE.kind() == Kind::Complex { F::TURNS_COMPLEX } else { F::TURNS }) {
        return plain1(f, x, out);
    }
    for (out, x) in out.chunks_mut(BLOCK).zip(x.chunks(BLOCK)) {
        if x.iter().fold(false, |far, &x| far | is_far(x)) {
            plain1(f, x, out);
            continue;
        }
        for (o, &x) in out.iter_mut().zip(x) {
            // SAFETY: no element of the block is far.
            unsafe { assert_unchecked(!is_far(x)) };
            o.write(f.apply([x]));
        }
    }
}

#[inline(always)]
fn plain1<T: Element, F: Each<1, T>>(f: &F, x: &[T], out: &mut [MaybeUninit<F::Out>]) {
    for (o, &x) in out.iter_mut().zip(x) {
        o.write(f.apply([x]));
    }
}

#[multiversion(targets("x86_64+avx2+fma+f16c"))]
fn loop2<T: Element, F: Each<2, T>>(f: &F, x: &[T], y: &[T], out: &mut [MaybeUninit<F::Out>]) {
    for ((o, &x), &y) in out.iter_mut().zip(x).zip(y) {
        o.write(f.apply([x, y]));
    }
}

#[multiversion(targets("x86_64+avx2+fma+f16c"))]
fn loop2_right<T: Element, F: Each<2, T>>(f: &F, x: &[T], y: T, out: &mut [MaybeUninit<F::Out>]) {
    for (o, &x) in out.iter_mut().zip(x) {
        o.write(f.apply([x, y]));
    }
}

#[multiversion(targets("x86_64+avx2+fma+f16c"))]
fn loop2_left<T: Element, F: Each<2, T>>(f: &F, x: T, y: &[T], out: &mut [MaybeUninit<F::Out>]) {
    for (o, &y) in out.iter_mut().zip(y) {
        o.write(f.apply([x, y]));
    }
}

#[multiversion(targets("x86_64+avx2+fma+f16c"))]
fn loop3<T: Element, F: Each<3, T>>(f: &F, x: &[T], y: &[T], z: &[T], out: &mut [MaybeUninit<F::Out>]) {
    for (((o, &x), &y), &z) in out.iter_mut().zip(x).zip(y).zip(z) {
        o.write(f.apply([x, y, z]));
    }
}

#[multiversion(targets("x86_64+avx2+fma+f16c"))]
fn loop3_right<T: Element, F: Each<3, T>>(f: &F, x: &[T], y: T, z: T, out: &mut [MaybeUninit<F::Out>]) {
    for (o, &x) in out.iter_mut().zip(x) {
        o.write(f.apply([x, y, z]));
    }
}

#[cfg(test)]
mod tests {
    use super::super::copy::tests::Dice;
    use super::*;
    use crate::Error;
    use ndarray::ArcArray;

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
        fn apply(&self, [x]: [T; 1]) -> T {
            x.plus(x).plus(x).plus(T::ONE)
        }
    }

    /// `x < y`: not symmetric, and of another dtype.
    struct Less;
    source!(Less, "less");
    impl<T: crate::Ordered> Each<2, T> for Less {
        type Out = bool;
        #[inline(always)]
        fn apply(&self, [x, y]: [T; 2]) -> bool {
            x < y
        }
    }

    /// `x - y * z`
    struct Three;
    source!(Three, "three");
    impl<T: crate::Numeric> Each<3, T> for Three {
        type Out = T;
        #[inline(always)]
        fn apply(&self, [x, y, z]: [T; 3]) -> T {
            x.minus(y.times(z))
        }
    }

    const B: Numpyish = Numpyish::new();

    /// Shapes that broadcast to one: some axes of it cut to 1, some leading ones left out.
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
        let shape = crate::shape::broadcast_all("test", xs.iter().map(|x| x.shape())).unwrap();
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
            let one = each1(&B, &One, Operand::Array(&x)).unwrap();
            assert_eq!(one, x.map(|&v| 3 * v + 1), "{round}");

            let views = all(&[&x, &y]);
            let less = each2(&B, &Less, Operand::Array(&x), Operand::Array(&y)).unwrap();
            assert_eq!(less.shape(), views[0].shape());
            assert!(less.iter().zip(&views[0]).zip(&views[1]).all(|((&o, x), y)| o == (x < y)), "{round} {of:?}");
            for s in [-5, 2, 17] {
                let right = each2(&B, &Less, Operand::Array(&x), Operand::Scalar(s)).unwrap();
                assert_eq!(right, x.map(|&v| v < s));
                let left = each2(&B, &Less, Operand::Scalar(s), Operand::Array(&x)).unwrap();
                assert_eq!(left, x.map(|&v| s < v));
                let three = each3(&B, &Three, Operand::Array(&x), Operand::Scalar(s), Operand::Scalar(3)).unwrap();
                assert_eq!(three, x.map(|&v| v - s * 3));
            }

            let views = all(&[&x, &y, &z]);
            let three = each3(&B, &Three, Operand::Array(&x), Operand::Array(&y), Operand::Array(&z)).unwrap();
            let naive =
                views[0].iter().zip(&views[1]).zip(&views[2]).map(|((x, y), z)| x.wrapping_sub(y.wrapping_mul(*z)));
            assert!(three.iter().copied().eq(naive), "{round} {of:?}");
        }
    }

    #[test]
    fn long_rows_of_a_transposed_operand() {
        let n = 5000;
        let x = ArcArray::from_shape_fn((7, n), |(i, j)| (i * n + j) as f64).into_dyn();
        let y = ArcArray::from_shape_fn((n, 7), |(i, j)| (i + 3 * j) as f64).into_dyn().reversed_axes();
        let less = each2(&B, &Less, Operand::Array(&x), Operand::Array(&y)).unwrap();
        assert!(less.indexed_iter().all(|(i, &o)| o == (x[&i] < y[&i])));
        let less = each2(&B, &Less, Operand::Array(&y), Operand::Array(&x)).unwrap();
        assert!(less.indexed_iter().all(|(i, &o)| o == (y[&i] < x[&i])));
    }

    #[test]
    fn memory_order_of_the_operands_is_kept() {
        let t = ArcArray::<i32, _>::zeros((4, 3)).reversed_axes().into_dyn();
        assert_eq!(each1(&B, &One, Operand::Array(&t)).unwrap().strides(), t.strides());
        assert_eq!(each2(&B, &Less, Operand::Array(&t), Operand::Array(&t)).unwrap().strides(), t.strides());
        let row = ArcArray::<i32, _>::zeros((1, 4)).into_dyn();
        assert_eq!(each2(&B, &Less, Operand::Array(&row), Operand::Array(&t)).unwrap().strides(), t.strides());
    }

    #[test]
    fn scalars_alone_and_shapes_that_do_not_fit() {
        let s = each2(&B, &Less, Operand::Scalar(1), Operand::Scalar(2)).unwrap();
        assert_eq!((s.ndim(), s.first()), (0, Some(&true)));
        assert_eq!(each1(&B, &One, Operand::Scalar(2)).unwrap().first(), Some(&7));
        let s = each3(&B, &Three, Operand::Scalar(1), Operand::Scalar(2), Operand::Scalar(3)).unwrap();
        assert_eq!(s.first(), Some(&-5));
        let (x, y) = (ArcArray::<i32, _>::zeros(2).into_dyn(), ArcArray::<i32, _>::zeros(3).into_dyn());
        let refused = each2(&B, &Less, Operand::Array(&x), Operand::Array(&y));
        assert_eq!(refused, Err(Error::shapes("less", &[2], &[3])));
        assert!(each3(&B, &Three, Operand::Array(&x), Operand::Array(&y), Operand::Scalar(1)).is_err());
    }

    #[test]
    fn results_larger_than_memory_are_refused() {
        let n = 1 << 26;
        let col = NdArray::<u8>::from_shape_vec(IxDyn(&[n, 1]), buffer::zeroed("zeros", n).unwrap()).unwrap();
        let row = col.clone().reversed_axes();
        let cube = col.clone().insert_axis(ndarray::Axis(2));
        let huge = each2(&B, &Less, Operand::Array(&col), Operand::Array(&row));
        assert!(matches!(huge, Err(Error::Memory { op: "less", .. })));
        let over = each3(&B, &Three, Operand::Array(&cube), Operand::Array(&col), Operand::Array(&row));
        assert!(matches!(over, Err(Error::Memory { op: "three", .. })));
    }
}
