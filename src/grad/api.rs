//! Public functions for gradients: `grad`, `vjp`, `jvp`, `jacobian`, `hessian` and `hvp`.

use super::{
    forward::{Dual, Jvp},
    leaves::{ChangeArrays, MapArrays, joined},
    tape::{Diff, Record, Var, boxed, unboxed},
};
use crate::{ArrayAttributes, Arrays, Backend, DTypeKind, Element, Elementwise, Error, Float, Real, Reduction, Result};
use std::{any::Any, marker::PhantomData};

/// Inputs with respect to which a function is differentiated: `&array`, a tuple or vector of inputs, or a reference to
/// a struct with `derive(Params)`.
///
/// `K` is the kind of the input: one array, a list, a tuple or a struct. The compiler infers it.
#[diagnostic::on_unimplemented(
    message = "gradients are computed with respect to arrays of `{B}` with a floating-point dtype (`&x`, `(&x, &y)`, `vec![&x]`), and not `{Self}`"
)]
pub trait Params<B: Backend, K> {
    /// The inputs as the function receives them.
    type Vars;

    /// The gradients, in the structure of the inputs, with one array for each array of the inputs.
    type Grads;

    /// Adds the names of the arrays to `names`, in order; see [`names`](super::names()).
    #[doc(hidden)]
    fn names(&self, prefix: &str, names: &mut Vec<String>);

    /// Records the inputs on the tape of `d`, the list of recorded ops.
    fn lift(&self, d: &Diff<B>) -> Self::Vars;

    /// Collects the gradients of these inputs from `found`, starting at index `next`, and advances `next`.
    #[doc(hidden)]
    fn collect(&self, b: &B, found: &mut Found<'_>, next: &mut usize) -> Result<Self::Grads>;

    /// Returns the inputs with the result of `f` in place of each array, in order. Everything that is not an array is
    /// copied.
    ///
    /// # Errors
    /// The errors of `f`.
    fn map<F: MapArrays<B>>(&self, f: &mut F) -> Result<Self::Grads>;

    /// Calls `f` for every array of `params`, in order, with the array at the same position of `beside`. `f` changes
    /// the array of `params` in place. Optimisers use this method for their steps.
    ///
    /// # Errors
    /// The errors of `f`; [`Error::Argument`] if a vector has different lengths in `params` and `beside`.
    fn change<F: ChangeArrays<B>>(params: &mut Self::Grads, beside: &Self::Grads, f: &mut F) -> Result<()>;
}

/// Applies [`Params::change`] to each item of `params`, with the item of `beside` at the same position.
fn change_all<B: Backend, K, P: Params<B, K>, F: ChangeArrays<B>>(
    params: &mut [P::Grads],
    beside: &[P::Grads],
    f: &mut F,
) -> Result<()> {
    if params.len() != beside.len() {
        let (n, m) = (params.len(), beside.len());
        return Err(Error::argument(
            "change",
            format!("{n} parameters were given with {m} gradients, but each must have one"),
        ));
    }
    params.iter_mut().zip(beside).try_for_each(|(params, beside)| P::change(params, beside, f))
}

/// The gradients that a backward pass has found, by tape index.
pub struct Found<'f> {
    grads: &'f mut [Option<Box<dyn Any>>],
    /// True if complex gradients are conjugated, so that they point in the direction of steepest ascent.
    conjugates: bool,
}

/// Kind of input: one array.
pub struct One;
/// Kind of input: a list of inputs of kind `K`.
pub struct Many<K>(PhantomData<K>);
/// Kind of input: a struct with `derive(Params)`.
pub struct Struct;

impl<B: Backend, A> Params<B, One> for &A
where
    A: ArrayAttributes<DType: Float> + Clone + 'static,
    B: Arrays<Array<<A as ArrayAttributes>::DType> = A>,
{
    type Vars = Var<B, A::DType>;
    type Grads = A;

    fn names(&self, prefix: &str, names: &mut Vec<String>) {
        names.push(if prefix.is_empty() { "array".into() } else { prefix.into() });
    }

    fn lift(&self, d: &Diff<B>) -> Self::Vars {
        d.input::<A::DType>(A::clone(self))
    }

    fn collect(&self, b: &B, found: &mut Found<'_>, next: &mut usize) -> Result<A> {
        let place = *next;
        *next += 1;
        let g = found.grads.get_mut(place).and_then(Option::take).and_then(unboxed::<B, A::DType>);
        match g {
            None => b.zeros_like::<A::DType>(*self),
            Some(g) if found.conjugates && A::DType::dtype().kind() == DTypeKind::Complex => b.conj::<A::DType>(g),
            Some(g) => Ok(g),
        }
    }

    fn map<F: MapArrays<B>>(&self, f: &mut F) -> Result<A> {
        f.map::<A::DType>(*self)
    }

    fn change<F: ChangeArrays<B>>(params: &mut A, beside: &A, f: &mut F) -> Result<()> {
        f.change::<A::DType>(params, beside)
    }
}

impl<B: Backend, K, P: Params<B, K>> Params<B, Many<K>> for Vec<P> {
    type Vars = Vec<P::Vars>;
    type Grads = Vec<P::Grads>;

    fn names(&self, prefix: &str, names: &mut Vec<String>) {
        self.iter().enumerate().for_each(|(i, p)| p.names(&joined(prefix, &i.to_string()), names));
    }

    fn lift(&self, d: &Diff<B>) -> Self::Vars {
        self.iter().map(|p| p.lift(d)).collect()
    }

    fn collect(&self, b: &B, found: &mut Found<'_>, next: &mut usize) -> Result<Self::Grads> {
        self.iter().map(|p| p.collect(b, found, next)).collect()
    }

    fn map<F: MapArrays<B>>(&self, f: &mut F) -> Result<Self::Grads> {
        self.iter().map(|p| p.map(f)).collect()
    }

    fn change<F: ChangeArrays<B>>(params: &mut Self::Grads, beside: &Self::Grads, f: &mut F) -> Result<()> {
        change_all::<B, K, P, F>(params, beside, f)
    }
}

impl<'a, B: Backend, K, P> Params<B, Many<K>> for &'a Vec<P>
where
    &'a P: Params<B, K>,
{
    type Vars = Vec<<&'a P as Params<B, K>>::Vars>;
    type Grads = Vec<<&'a P as Params<B, K>>::Grads>;

    fn names(&self, prefix: &str, names: &mut Vec<String>) {
        self.iter().enumerate().for_each(|(i, p)| p.names(&joined(prefix, &i.to_string()), names));
    }

    fn lift(&self, d: &Diff<B>) -> Self::Vars {
        self.iter().map(|p| p.lift(d)).collect()
    }

    fn collect(&self, b: &B, found: &mut Found<'_>, next: &mut usize) -> Result<Self::Grads> {
        self.iter().map(|p| p.collect(b, found, next)).collect()
    }

    fn map<F: MapArrays<B>>(&self, f: &mut F) -> Result<Self::Grads> {
        self.iter().map(|p| p.map(f)).collect()
    }

    fn change<F: ChangeArrays<B>>(params: &mut Self::Grads, beside: &Self::Grads, f: &mut F) -> Result<()> {
        change_all::<B, K, &'a P, F>(params, beside, f)
    }
}

macro_rules! tuples {
    ($(($($p:ident $k:ident $n:tt),*))*) => {$(
        impl<B: Backend, $($k, $p: Params<B, $k>),*> Params<B, ($($k,)*)> for ($($p,)*) {
            type Vars = ($($p::Vars,)*);
            type Grads = ($($p::Grads,)*);

            fn names(&self, prefix: &str, names: &mut Vec<String>) {
                $(self.$n.names(&joined(prefix, stringify!($n)), names);)*
            }

            fn lift(&self, d: &Diff<B>) -> Self::Vars {
                ($(self.$n.lift(d),)*)
            }

            fn collect(&self, b: &B, found: &mut Found<'_>, next: &mut usize) -> Result<Self::Grads> {
                Ok(($(self.$n.collect(b, found, next)?,)*))
            }

            fn map<F: MapArrays<B>>(&self, f: &mut F) -> Result<Self::Grads> {
                Ok(($(self.$n.map(f)?,)*))
            }

            fn change<F: ChangeArrays<B>>(params: &mut Self::Grads, beside: &Self::Grads, f: &mut F) -> Result<()> {
                $($p::change(&mut params.$n, &beside.$n, f)?;)*
                Ok(())
            }
        }

        impl<'a, B: Backend, $($k, $p),*> Params<B, ($($k,)*)> for &'a ($($p,)*)
        where
            $(&'a $p: Params<B, $k>),*
        {
            type Vars = ($(<&'a $p as Params<B, $k>>::Vars,)*);
            type Grads = ($(<&'a $p as Params<B, $k>>::Grads,)*);

            fn names(&self, prefix: &str, names: &mut Vec<String>) {
                $((&self.$n).names(&joined(prefix, stringify!($n)), names);)*
            }

            fn lift(&self, d: &Diff<B>) -> Self::Vars {
                ($((&self.$n).lift(d),)*)
            }

            fn collect(&self, b: &B, found: &mut Found<'_>, next: &mut usize) -> Result<Self::Grads> {
                Ok(($((&self.$n).collect(b, found, next)?,)*))
            }

            fn map<F: MapArrays<B>>(&self, f: &mut F) -> Result<Self::Grads> {
                Ok(($((&self.$n).map(f)?,)*))
            }

            fn change<F: ChangeArrays<B>>(params: &mut Self::Grads, beside: &Self::Grads, f: &mut F) -> Result<()> {
                $(<&'a $p as Params<B, $k>>::change(&mut params.$n, &beside.$n, f)?;)*
                Ok(())
            }
        }
    )*};
}
tuples! {
    (P0 K0 0)
    (P0 K0 0, P1 K1 1)
    (P0 K0 0, P1 K1 1, P2 K2 2)
    (P0 K0 0, P1 K1 1, P2 K2 2, P3 K3 3)
    (P0 K0 0, P1 K1 1, P2 K2 2, P3 K3 3, P4 K4 4)
    (P0 K0 0, P1 K1 1, P2 K2 2, P3 K3 3, P4 K4 4, P5 K5 5)
    (P0 K0 0, P1 K1 1, P2 K2 2, P3 K3 3, P4 K4 4, P5 K5 5, P6 K6 6)
    (P0 K0 0, P1 K1 1, P2 K2 2, P3 K3 3, P4 K4 4, P5 K5 5, P6 K6 6, P7 K7 7)
}

/// The pullback of a function, returned by [`vjp`]. It can be applied any number of times.
pub struct Pullback<B: Backend, P, U> {
    b: B,
    record: Record<B>,
    result: Option<usize>,
    inputs: usize,
    params: P,
    dtype: PhantomData<fn() -> U>,
}

impl<B: Backend, P, U: Float> Pullback<B, P, U> {
    /// The gradients with respect to the inputs, given the gradient `g` of the result: the products of `g` and the
    /// derivatives, without conjugation.
    ///
    /// # Errors
    /// [`Error::Shape`] if `g` does not have the shape of the result; the errors of the ops that run.
    pub fn pull<K>(&mut self, g: &B::Array<U>) -> Result<P::Grads>
    where
        P: Params<B, K>,
    {
        self.go(g, false, false)
    }

    fn go<K>(&mut self, g: &B::Array<U>, conjugates: bool, once: bool) -> Result<P::Grads>
    where
        P: Params<B, K>,
    {
        let mut grads = match self.result {
            Some(result) => self.record.back(&self.b, vec![(result, boxed::<B, U>(g.clone()))], self.inputs, once)?,
            None => Vec::new(),
        };
        self.params.collect(&self.b, &mut Found { grads: &mut grads, conjugates }, &mut 0)
    }
}

/// The value of a function, and its pullback, which computes the gradients of the inputs from the gradient of the
/// result.
///
/// ```
/// use backends::{Result, grad::vjp, prelude::*};
/// # fn main() -> Result<()> {
/// let b = Numpyish::new();
/// let x = b.asarray([1.0, 2.0, 3.0])?;
/// let (y, mut back) = vjp(&b, |d, x| expr!(d, x * x), &x)?;
/// assert_eq!(y, b.asarray([1.0, 4.0, 9.0])?);
/// // the vector-Jacobian product: the gradient of `sum(g * y)` with respect to `x`
/// let g = b.asarray([1.0, 0.0, 10.0])?;
/// assert_eq!(back.pull(&g)?, b.asarray([2.0, 0.0, 60.0])?);
/// assert_eq!(back.pull(&b.ones([3])?)?, b.asarray([2.0, 4.0, 6.0])?);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of the function; [`Error::Argument`] if the function returns an array that was recorded on another
/// [`Diff`], in the computation of another gradient.
#[allow(clippy::type_complexity)] // the value and the pullback
pub fn vjp<B: Backend, P: Params<B, K>, K, U: Float>(
    b: &B,
    f: impl FnOnce(&Diff<B>, &P::Vars) -> Result<Var<B, U>>,
    x: P,
) -> Result<(B::Array<U>, Pullback<B, P, U>)> {
    let d = Diff::new(b.clone());
    let vars = x.lift(&d);
    let inputs = d.count();
    let y = f(&d, &vars)?;
    let result = d.place_of("vjp", &y)?;
    let record = d.take();
    Ok((y.into_value(), Pullback { b: b.clone(), record, result, inputs, params: x, dtype: PhantomData }))
}

/// The value of a function that returns one real number, and the gradients with respect to the inputs of the function,
/// as [`grad`] returns them.
///
/// # Errors
/// The errors of [`grad`].
pub fn value_and_grad<B: Backend, P: Params<B, K>, K, U: Real>(
    b: &B,
    f: impl FnOnce(&Diff<B>, &P::Vars) -> Result<Var<B, U>>,
    x: P,
) -> Result<(B::Array<U>, P::Grads)> {
    let (y, mut back) = vjp(b, f, x)?;
    if y.len() != 1 {
        return Err(Error::shape(
            "grad",
            y.shape(),
            "must be that of one number: reduce it, or use `vjp` or `jacobian`",
        ));
    }
    let one = b.ones_like::<U>(&y)?;
    let grads = back.go(&one, true, true)?;
    Ok((y, grads))
}

/// The gradients of a function that returns one real number with respect to its inputs: the directions of steepest
/// ascent.
///
/// For a complex input the gradient is `d/dx + i d/dy`, so that `z - rate * gradient` decreases the function, as in
/// PyTorch and TensorFlow; JAX returns the conjugate. The function receives its inputs as arrays of a [`Diff`] of `b`;
/// [`Diff::constant`] converts any other array.
///
/// ```
/// use backends::{Error, grad::grad, prelude::*};
///
/// let b = Numpyish::new();
/// let x = b.asarray([1.0, 2.0, 3.0])?;
/// assert_eq!(grad(&b, |d, x| d.sum(d.multiply(x, x)?, ..), &x)?, b.asarray([2.0, 4.0, 6.0])?);
///
/// // with respect to several arrays
/// let y = b.asarray(2.0)?;
/// let (by_x, by_y) = grad(&b, |d, (x, y)| d.sum(d.multiply(x, y)?, ..), (&x, &y))?;
/// assert_eq!((by_x, by_y), (b.asarray([2.0, 2.0, 2.0])?, b.asarray(6.0)?));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] if the function returns more than one number; the function's own errors; [`Error::Argument`] if it
/// applies an op without gradient to its inputs.
pub fn grad<B: Backend, P: Params<B, K>, K, U: Real>(
    b: &B,
    f: impl FnOnce(&Diff<B>, &P::Vars) -> Result<Var<B, U>>,
    x: P,
) -> Result<P::Grads> {
    Ok(value_and_grad(b, f, x)?.1)
}

/// The derivatives of all elements of a result with respect to all elements of one input: an array with the axes of the
/// result, followed by the axes of the input. The function is recorded once; each element of the result needs one
/// backward pass.
///
/// # Errors
/// The errors of [`vjp`].
pub fn jacobian<B: Backend, T: Float>(
    b: &B,
    f: impl FnOnce(&Diff<B>, &Var<B, T>) -> Result<Var<B, T>>,
    x: &B::Array<T>,
) -> Result<B::Array<T>> {
    let (y, mut back) = vjp::<B, &B::Array<T>, One, T>(b, f, x)?;
    let n = y.len();
    let shape: Vec<usize> = y.shape().iter().chain(x.shape()).copied().collect();
    if n == 0 {
        return b.zeros::<T>(shape);
    }
    let identity = b.eye::<T>(n)?;
    let row = |i: usize| {
        let seed = b.reshape(b.getitem(&identity, crate::slices![i])?, y.shape())?;
        back.pull::<One>(&seed)
    };
    let rows = (0..n).map(row).collect::<Result<Vec<_>>>()?;
    b.reshape(b.stack(&rows)?, shape)
}

/// The second derivatives of a function that returns one real number with respect to one input: an array with the
/// input's axes, followed by the input's axes again.
///
/// ```
/// use backends::{Error, grad::hessian, prelude::*};
///
/// let b = Numpyish::new();
/// let h = hessian(&b, |d, x| d.prod(x, ..), &b.asarray([2.0, 3.0])?)?;
/// assert_eq!(h, b.asarray([[0.0, 1.0], [1.0, 0.0]])?);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of [`grad`].
pub fn hessian<B: Backend, T: Real>(
    b: &B,
    f: impl Fn(&Diff<Diff<B>>, &Var<Diff<B>, T>) -> Result<Var<Diff<B>, T>>,
    x: &B::Array<T>,
) -> Result<B::Array<T>> {
    jacobian(b, |d, x| grad::<Diff<B>, &Var<B, T>, One, T>(d, &f, x), x)
}

/// The product of a vector and the Hessian of a function that returns one real number, computed without forming the
/// matrix.
///
/// # Errors
/// The errors of [`grad`].
pub fn hvp<B: Backend, T: Real>(
    b: &B,
    f: impl FnOnce(&Diff<Diff<B>>, &Var<Diff<B>, T>) -> Result<Var<Diff<B>, T>>,
    x: &B::Array<T>,
    v: &B::Array<T>,
) -> Result<B::Array<T>> {
    let along = |d: &Diff<B>, x: &Var<B, T>| {
        let g = grad::<Diff<B>, &Var<B, T>, One, T>(d, f, x)?;
        d.sum_as::<T, T>(d.multiply(g, &d.constant::<T>(v.clone()))?, ..)
    };
    grad::<B, &B::Array<T>, One, T>(b, along, x)
}

/// The value of a function, and its derivative along `v`. The derivative is the change of the result, to first order,
/// if the input changes by `v`. One forward pass, in which arrays carry tangents, computes both; nothing is recorded.
///
/// ```
/// use backends::{Error, grad::jvp, prelude::*};
///
/// let b = Numpyish::new();
/// let (x, v) = (b.asarray([1.0, 2.0])?, b.asarray([1.0, 0.0])?);
/// let (y, change) = jvp(&b, |j, x| j.square(x), &x, &v)?;
/// assert_eq!((y, change), (b.asarray([1.0, 4.0])?, b.asarray([2.0, 0.0])?));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of the function; [`Error::Shape`] if `v` does not have the shape of `x`; [`Error::Argument`] if an op has
/// no gradient.
pub fn jvp<B: Backend, T: Float>(
    b: &B,
    f: impl FnOnce(&Jvp<B>, &Dual<B, T>) -> Result<Dual<B, T>>,
    x: &B::Array<T>,
    v: &B::Array<T>,
) -> Result<(B::Array<T>, B::Array<T>)> {
    if x.shape() != v.shape() {
        return Err(Error::shapes("jvp", x.shape(), v.shape()));
    }
    let j = Jvp::new(b.clone());
    let y = f(&j, &j.input::<T>(x.clone(), v.clone()))?;
    let tangent = j.place_of("jvp", &y)?;
    let y = y.into_value();
    let tangent = tangent.map_or_else(|| b.zeros_like::<T>(&y), Ok)?;
    Ok((y, tangent))
}
