//! A fourth backend, with simple loops over ndarray, defined as a column of the op table.
//!
//! `naive.toml` names a function for each of a few rows (ops) of the base table. In addition, every op that the table
//! defines by a scalar expression (`each`) or by other ops (`compose`) runs on the backend without further code. The
//! example shows the minimum that a backend needs, and is a reference for the fast backends.

use backends::{Error, Operand, Result, prelude::*, runtime::numpyish::raw::HostView};
use ndarray::{ArrayD, Axis, IxDyn};

backends::backend! { overlay = "naive.toml", partial = true }

/// The backend, which has no settings.
#[derive(Clone, Debug, Default)]
pub struct Naive;

/// The arrays of the backend.
pub type NaiveArray<T> = HostArray<T>;

impl Arrays for Naive {
    type Array<T: Element> = NaiveArray<T>;

    const NAME: &'static str = "naive";

    fn to_ndarray<T: Element>(&self, x: &NaiveArray<T>) -> Result<HostArray<T>> {
        Ok(x.clone())
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<NaiveArray<T>> {
        Ok(x)
    }

    fn host_view<'a, T: Element>(&self, x: &'a NaiveArray<T>) -> Option<HostView<'a, T>> {
        // lets formulas read the memory of the array, in a single pass
        Some(HostView::of(x))
    }

    fn device(&self) -> String {
        "cpu".into()
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn seed(&self, _seed: u64) {}
}

/// The loops of elementwise ops. The generated code calls them with the op's scalar expression.
pub mod elementwise {
    use super::*;
    use backends::runtime::{Each, EachOf, EachSource, rules::broadcast_all};

    type Input<'a, T> = Operand<'a, Naive, T>;

    fn array<T: Element>(x: Input<'_, T>) -> NaiveArray<T> {
        match x {
            Operand::Array(x) => x.into_owned(),
            Operand::Scalar(s) => ndarray::arr0(s).into_dyn().into_shared(),
        }
    }

    /// The shape to which the operands broadcast. Returns an error if memory is insufficient for results of dtype `U`.
    fn common<U: Element>(op: &'static str, shapes: &[&[usize]]) -> Result<Vec<usize>> {
        let shape = broadcast_all(op, shapes.iter().copied())?;
        // if an existing array has this shape, the shape cannot be too large, so no check is needed
        if shapes.iter().any(|x| !x.is_empty() && **x != shape) {
            room::<U>(op, &shape)?;
        }
        Ok(shape)
    }

    fn each<const N: usize, T: Element, F: Each<N, T> + EachSource>(
        f: &F,
        inputs: [Input<'_, T>; N],
    ) -> Result<NaiveArray<F::Out>> {
        let arrays = inputs.map(array);
        let shape = common::<F::Out>(F::NAME, &arrays.each_ref().map(|x| x.shape()))?;
        let views = arrays.each_ref().map(|x| x.broadcast(IxDyn(&shape)).expect("shapes that were broadcast"));
        let result = ArrayD::from_shape_fn(IxDyn(&shape), |at| f.apply(&views.each_ref().map(|x| x[&at])));
        Ok(result.into_shared())
    }

    /// Applies an elementwise op with one operand.
    pub fn each1<T: Element, F: Each<1, T> + EachSource>(
        _: &Naive,
        f: &F,
        x: Input<'_, T>,
    ) -> Result<NaiveArray<F::Out>> {
        each(f, [x])
    }

    /// Applies an elementwise op with two operands.
    pub fn each2<T: Element, F: Each<2, T> + EachSource>(
        _: &Naive,
        f: &F,
        x1: Input<'_, T>,
        x2: Input<'_, T>,
    ) -> Result<NaiveArray<F::Out>> {
        each(f, [x1, x2])
    }

    /// Applies an elementwise op with three operands.
    pub fn each3<T: Element, F: Each<3, T> + EachSource>(
        _: &Naive,
        f: &F,
        x1: Input<'_, T>,
        x2: Input<'_, T>,
        x3: Input<'_, T>,
    ) -> Result<NaiveArray<F::Out>> {
        each(f, [x1, x2, x3])
    }

    /// Applies an elementwise op with three operands whose dtypes may differ.
    pub fn each_of3<X: Element, Y: Element, Z: Element, F: EachOf<(X, Y, Z)> + EachSource>(
        _: &Naive,
        f: &F,
        x1: Input<'_, X>,
        x2: Input<'_, Y>,
        x3: Input<'_, Z>,
    ) -> Result<NaiveArray<F::Out>> {
        let (x, y, z) = (array(x1), array(x2), array(x3));
        let shape = common::<F::Out>(F::NAME, &[x.shape(), y.shape(), z.shape()])?;
        const FITS: &str = "shapes that were broadcast";
        let x = x.broadcast(IxDyn(&shape)).expect(FITS);
        let (y, z) = (y.broadcast(IxDyn(&shape)).expect(FITS), z.broadcast(IxDyn(&shape)).expect(FITS));
        Ok(ArrayD::from_shape_fn(IxDyn(&shape), |at| f.apply((x[&at], y[&at], z[&at]))).into_shared())
    }
}

/// Ops that create arrays.
pub mod creation {
    use super::*;

    /// Returns the ndarray itself.
    pub fn asarray<T: Element>(_: &Naive, x: HostArray<T>) -> Result<NaiveArray<T>> {
        Ok(x)
    }

    /// An array whose elements all have the same value.
    pub fn full<T: Element>(_: &Naive, shape: &[usize], value: T) -> Result<NaiveArray<T>> {
        room::<T>("full", shape)?;
        Ok(ArrayD::from_elem(IxDyn(shape), value).into_shared())
    }

    /// An array of ones with the shape of `x`.
    pub fn ones_like<T: Element>(_: &Naive, x: &NaiveArray<T>) -> Result<NaiveArray<T>> {
        room::<T>("ones_like", x.shape())?;
        Ok(ArrayD::from_elem(x.raw_dim(), 1_u8.cast::<T>()).into_shared())
    }
}

/// Returns an error if memory is insufficient for an array of this shape. Without this check, ndarray would panic or
/// end the process.
fn room<T: Element>(op: &'static str, shape: &[usize]) -> Result<()> {
    let n = backends::runtime::rules::count(op, shape, size_of::<T>())?;
    let refused = |_| Error::memory(op, n * size_of::<T>());
    Vec::<T>::new().try_reserve_exact(n).map_err(refused)
}

/// Reductions.
pub mod reduction {
    use super::*;
    use backends::runtime::FoldSource;

    /// Computes a reduction that the table defines by scalar expressions, with the loops that the CPU backend has for
    /// it.
    pub fn fold<U: Element, T: Element, F: FoldSource>(
        _: &Naive,
        f: &F,
        x: &NaiveArray<T>,
        axis: Axes,
        keepdims: bool,
    ) -> Result<NaiveArray<U>> {
        backends::runtime::numpyish::reduction::fold(&Numpyish::new(), f, x, axis, keepdims)
    }

    /// The sum over the given axes, computed in the order of the elements in memory.
    pub fn sum<T: Element>(_: &Naive, x: &NaiveArray<T>, axis: Axes, keepdims: bool) -> Result<NaiveArray<T::Sum>> {
        let mut axes = backends::runtime::rules::reduction("sum", axis, x.ndim())?;
        axes.sort_unstable();
        let shape = backends::runtime::rules::reduced(x.shape(), &axes, keepdims);
        room::<T::Sum>("sum", &shape)?;
        if x.is_empty() {
            return Ok(ArrayD::from_elem(IxDyn(&shape), T::Sum::ZERO).into_shared());
        }
        let mut result = x.mapv(|v| v.cast::<T::Sum>());
        for &axis in axes.iter().rev() {
            result = result.fold_axis(Axis(axis), T::Sum::ZERO, |&s, &v| s.plus(v));
            if keepdims {
                result.insert_axis_inplace(Axis(axis));
            }
        }
        Ok(result.into_shared())
    }
}

/// Matrix products.
pub mod linalg {
    use super::*;

    /// The product of two matrices. Arrays that are not 2-D are not supported here.
    pub fn matmul<T: Numeric>(_: &Naive, x1: &NaiveArray<T>, x2: &NaiveArray<T>) -> Result<NaiveArray<T>> {
        let ([n, k], [k2, m]) = (x1.shape(), x2.shape()) else {
            return Err(Error::unsupported("matmul", "naive, for other than two matrices"));
        };
        if k != k2 {
            return Err(Error::shapes("matmul", x1.shape(), x2.shape()));
        }
        room::<T>("matmul", &[*n, *m])?;
        let entry = |i, j| (0..*k).fold(T::ZERO, |s, l| s.plus(x1[[i, l]].times(x2[[l, j]])));
        Ok(ArrayD::from_shape_fn(IxDyn(&[*n, *m]), |at| entry(at[0], at[1])).into_shared())
    }
}

/// Ops that return views.
pub mod manipulation {
    use super::*;

    /// The array with its axes in reverse order.
    pub fn transpose<T: Element>(_: &Naive, x: &NaiveArray<T>) -> Result<NaiveArray<T>> {
        Ok(x.clone().reversed_axes())
    }

    /// The array with another shape.
    pub fn reshape<T: Element>(_: &Naive, x: &NaiveArray<T>, shape: &[isize]) -> Result<NaiveArray<T>> {
        let shape = backends::runtime::rules::infer("reshape", x.shape(), shape)?;
        room::<T>("reshape", &shape)?;
        ArrayD::from_shape_vec(IxDyn(&shape), x.iter().copied().collect())
            .map(ArrayD::into_shared)
            .map_err(|why| Error::argument("reshape", why.to_string()))
    }
}
