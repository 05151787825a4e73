//! Forward mode: arrays that carry tangents (derivatives along one direction of the inputs), and functions that the
//! generated methods of [`Jvp`] call.

use super::tape::{Diff, Grads, Pull, Results, boxed, unboxed};
use crate::{
    ArrayAttributes, Arrays, Backend, Complex, DType, DTypeKind, Element, Error, Float, HostArray, LinearMap, Numeric,
    Operand, Result,
    runtime::{
        AnyTyped, CustomGradient, FloatVisitor, IndexList, Indices, Wrap, dispatch,
        formula::{Prefixed, Told},
    },
};
use std::{
    any::Any,
    borrow::Cow,
    fmt,
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// A backend that wraps another backend. Its arrays carry tangents: their derivatives along one direction of the
/// inputs. A `Jvp` is itself a [`Backend`], so it can be nested, also with [`Diff`].
///
/// [`jvp`](super::jvp) creates it and passes it to the function to be differentiated. Nothing is recorded: each array
/// and its tangent need twice the memory of the array.
#[derive(Clone)]
pub struct Jvp<B: Backend> {
    within: B,
    id: u64,
    /// True if arrays of another `Jvp` count as constants; if false, using such arrays is an error.
    alone: bool,
}

/// An array of a [`Jvp`]: a value and, if the value depends on the inputs, its tangent.
pub struct Dual<B: Arrays, T: Element> {
    value: B::Array<T>,
    change: Option<(u64, B::Array<T>)>,
}

/// A tangent of any dtype; `None` stands for zeros.
type Tangent = Option<Box<dyn Any>>;

impl<B: Arrays, T: Element> Dual<B, T> {
    /// The value, an array of the inner backend.
    pub fn value(&self) -> &B::Array<T> {
        &self.value
    }

    /// The value, an array of the inner backend.
    pub fn into_value(self) -> B::Array<T> {
        self.value
    }
}

impl<B: Arrays, T: Element> Clone for Dual<B, T> {
    #[inline]
    fn clone(&self) -> Self {
        Dual { value: self.value.clone(), change: self.change.clone() }
    }
}

impl<B: Arrays, T: Element> fmt::Debug for Dual<B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<B: Arrays, T: Element> ArrayAttributes for Dual<B, T> {
    type DType = T;

    #[inline]
    fn shape(&self) -> &[usize] {
        self.value.shape()
    }

    fn device(&self) -> String {
        self.value.device()
    }
}

impl<B: Backend + fmt::Debug> fmt::Debug for Jvp<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Jvp").field(&self.within).finish()
    }
}

fn lost(op: &'static str) -> Error {
    Error::argument(op, "a tangent must have the dtype of its array")
}

impl<B: Backend> Jvp<B> {
    /// A backend around `within`. No array has a tangent yet.
    pub(crate) fn new(within: B) -> Jvp<B> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Jvp { within, id: NEXT.fetch_add(1, Ordering::Relaxed), alone: false }
    }

    /// A backend around `within`. Arrays with tangents of another `Jvp` count as constants in the ops of this `Jvp`.
    fn alone(within: B) -> Jvp<B> {
        Jvp { alone: true, ..Jvp::new(within) }
    }

    /// The inner backend.
    pub fn within(&self) -> &B {
        &self.within
    }

    /// Wraps an array of the inner backend as a constant.
    #[inline]
    pub fn constant<T: Element>(&self, value: B::Array<T>) -> Dual<B, T> {
        Dual { value, change: None }
    }

    /// The same value as a constant, without a tangent.
    #[inline]
    pub fn stop_gradient<T: Element>(&self, x: &Dual<B, T>) -> Dual<B, T> {
        self.constant(x.value.clone())
    }

    /// Makes an input of the differentiated function, with this value and tangent.
    pub(crate) fn input<T: Element>(&self, value: B::Array<T>, tangent: B::Array<T>) -> Dual<B, T> {
        Dual { value, change: Some((self.id, tangent)) }
    }

    /// The tangent of an array, if it has one. Returns an error if the array belongs to another `Jvp`.
    #[doc(hidden)]
    #[inline]
    pub fn place_of<T: Element>(&self, op: &'static str, x: &Dual<B, T>) -> Result<Option<B::Array<T>>> {
        match &x.change {
            None => Ok(None),
            Some((id, tangent)) if *id == self.id => Ok(Some(tangent.clone())),
            Some(_) if self.alone => Ok(None),
            Some(_) => Err(Error::argument(
                op,
                "the array belongs to the function of another derivative: pass it to this one, or make a `constant` of its value",
            )),
        }
    }

    #[doc(hidden)]
    #[inline]
    pub fn place_of_operand<T: Element>(
        &self,
        op: &'static str,
        x: &Operand<'_, Self, T>,
    ) -> Result<Option<B::Array<T>>> {
        match x {
            Operand::Array(x) => self.place_of(op, x),
            Operand::Scalar(_) => Ok(None),
        }
    }

    /// The shapes of a list of arrays, concatenated; each shape is preceded by its number of axes.
    #[doc(hidden)]
    pub fn shapes_of<T: Element>(&self, xs: &[&Dual<B, T>]) -> Vec<usize> {
        xs.iter().flat_map(|x| [x.ndim()].into_iter().chain(x.shape().iter().copied())).collect()
    }

    #[doc(hidden)]
    #[inline]
    pub fn keep_operand<T: Element>(&self, x: &Operand<'_, Self, T>) -> Operand<'static, B, T> {
        match x {
            Operand::Array(x) => Operand::Array(Cow::Owned(x.value.clone())),
            Operand::Scalar(x) => Operand::Scalar(*x),
        }
    }

    /// Returns a clone of the operand. The clone of an array shares its memory.
    #[doc(hidden)]
    pub fn operand_again<T: Element>(&self, x: &Operand<'static, B, T>) -> Operand<'static, B, T> {
        match x {
            Operand::Array(x) => Operand::Array(x.clone()),
            Operand::Scalar(x) => Operand::Scalar(*x),
        }
    }

    /// The tangent of an array, or zeros if `tangent` is `None`.
    #[doc(hidden)]
    pub fn change_of<T: Element>(&self, x: &Dual<B, T>, tangent: &Option<B::Array<T>>) -> Result<B::Array<T>> {
        match tangent {
            Some(tangent) => Ok(tangent.clone()),
            None => self.within.zeros::<T>(x.shape()),
        }
    }

    /// The tangents of the arrays `xs`. An array without a tangent gets zeros.
    #[doc(hidden)]
    pub fn changes_of<T: Element>(
        &self,
        xs: &[&Dual<B, T>],
        tangents: &[Option<B::Array<T>>],
    ) -> Result<Vec<B::Array<T>>> {
        xs.iter().zip(tangents).map(|(x, tangent)| self.change_of(x, tangent)).collect()
    }

    /// The tangent of an operand, or zeros if `tangent` is `None`.
    #[doc(hidden)]
    pub fn change_of_operand<T: Element>(
        &self,
        x: &Operand<'_, Self, T>,
        tangent: &Option<B::Array<T>>,
    ) -> Result<Operand<'static, B, T>> {
        Ok(Operand::Array(Cow::Owned(match (tangent, x) {
            (Some(tangent), _) => tangent.clone(),
            (None, Operand::Array(x)) => self.within.zeros::<T>(x.shape())?,
            (None, Operand::Scalar(_)) => self.within.zeros::<T>([0_usize; 0])?,
        })))
    }

    /// Stores a tangent without its static type.
    #[doc(hidden)]
    pub fn kept<T: Element>(&self, tangent: B::Array<T>) -> Tangent {
        Some(boxed::<B, T>(tangent))
    }

    /// Combines a result and its tangent, which must have the same dtype.
    #[doc(hidden)]
    pub fn along<T: Element>(&self, value: B::Array<T>, tangent: Tangent) -> Result<Dual<B, T>> {
        let Some(tangent) = tangent else { return Ok(self.constant(value)) };
        let tangent = unboxed::<B, T>(tangent).ok_or_else(|| lost("jvp"))?;
        // a tangent that is constant along an axis may have length 1 along this axis
        let tangent = match tangent.shape() == value.shape() {
            true => tangent,
            false => self.within.broadcast_to::<T>(tangent, value.shape())?,
        };
        Ok(self.input(value, tangent))
    }

    /// A result with the tangent `terms[0][place] + terms[1][place] + ..`.
    #[doc(hidden)]
    pub fn along_sum<T: Element>(
        &self,
        value: B::Array<T>,
        terms: &mut [Vec<Tangent>],
        place: usize,
    ) -> Result<Dual<B, T>> {
        let mut sum: Tangent = None;
        for term in terms {
            let Some(term) = term.get_mut(place).and_then(Option::take) else { continue };
            sum = Some(match sum {
                None => term,
                Some(sum) => {
                    let added = T::if_float(Add { b: &self.within, terms: (sum, term), of: PhantomData });
                    added.ok_or_else(|| lost("jvp"))??
                }
            });
        }
        self.along(value, sum)
    }

    /// Adds to `sum` the contribution of one input's tangent to the tangent of a result. The gradient rule of such an
    /// op only multiplies the output gradient by a derivative, so `rule` computes the contribution if it gets the
    /// tangent in place of an output gradient.
    #[doc(hidden)]
    pub fn along_rule<T: Element>(
        &self,
        rule: Box<dyn Pull<B>>,
        shape: &[usize],
        tangent: &B::Array<T>,
        sum: Tangent,
    ) -> Result<Tangent> {
        let b = &self.within;
        let tangent = match tangent.shape() == shape {
            true => tangent.clone(),
            false => b.broadcast_to::<T>(tangent, shape)?,
        };
        let d = Diff::new(b.clone());
        d.record(Box::new(Nothing), &[shape]);
        let at = d.record(rule, &[shape]);
        let mut known: Vec<(usize, Box<dyn Any>)> = vec![(at, boxed::<B, T>(tangent))];
        known.extend(sum.map(|sum| (0, sum)));
        Ok(d.take().back(b, known, 1, true)?.swap_remove(0))
    }
}

/// Adds two tangents of any dtype.
struct Add<'b, B, T> {
    b: &'b B,
    terms: (Box<dyn Any>, Box<dyn Any>),
    of: PhantomData<T>,
}

impl<B: Backend, T: Element> FloatVisitor<T> for Add<'_, B, T> {
    type Out = Result<Box<dyn Any>>;

    fn visit(self) -> Self::Out
    where
        T: Float,
    {
        let (x, y) = self.terms;
        let (Some(x), Some(y)) = (unboxed::<B, T>(x), unboxed::<B, T>(y)) else { return Err(lost("jvp")) };
        Ok(boxed::<B, T>(self.b.add(x, y)?))
    }
}

/// The gradient rule of an array that is not the result of an op.
struct Nothing;

impl<B: Backend> Pull<B> for Nothing {
    fn pull(&self, _: &B, _: &mut Results<'_>, _: &mut Grads<'_>) -> Result<()> {
        Ok(())
    }
}

/// A function that returns the tape index of a gradient array. Each such function is for one dtype.
type PlaceOf<B> = fn(&Diff<B>, Box<dyn Any>) -> Result<Option<usize>>;

/// Computes tangents by two backward passes. The gradients of the inputs are linear in the gradients `u` of the
/// results. The inner product of these gradients and the tangents of the inputs, differentiated with respect to `u`,
/// gives the tangents of the results.
pub struct Twice<B: Backend> {
    /// The tape that records the gradient rule.
    d: Diff<B>,
    /// The tape that holds the op.
    op: Diff<Diff<B>>,
    inputs: Vec<(PlaceOf<B>, Box<dyn Any>)>,
    results: Vec<(Vec<usize>, Box<dyn Any>)>,
}

impl<B: Backend> Twice<B> {
    /// Creates the tapes for one op on this backend.
    pub fn new(b: &B) -> Twice<B> {
        let d = Diff::new(b.clone());
        Twice { op: Diff::new(d.clone()), d, inputs: Vec::new(), results: Vec::new() }
    }

    /// The backend on which the gradient rule runs.
    pub fn within(&self) -> &Diff<B> {
        &self.d
    }

    /// Adds an input, and returns its tape index if it has a tangent.
    pub fn input<T: Element>(&mut self, tangent: Option<B::Array<T>>) -> Option<usize> {
        let tangent = tangent?;
        let place = self.op.record(Box::new(Nothing), &[tangent.shape()]);
        let found = |d: &Diff<B>, g: Box<dyn Any>| match unboxed::<Diff<B>, T>(g) {
            Some(g) => d.place_of("jvp", &g),
            None => Err(lost("jvp")),
        };
        self.inputs.push((found, boxed::<B, T>(tangent)));
        Some(place)
    }

    /// Adds a result of this shape, with a gradient `u` of zeros.
    pub fn result<T: Element>(&mut self, shape: &[usize]) -> Result<()> {
        let place = self.d.record(Box::new(Nothing), &[shape]);
        let u = self.d.recorded(self.d.within().zeros::<T>(shape)?, place);
        self.results.push((shape.to_vec(), boxed::<Diff<B>, T>(u)));
        Ok(())
    }

    /// Wraps an operand for the backend on which the gradient rule runs.
    pub fn operand<T: Element>(&self, x: Operand<'static, B, T>) -> Operand<'static, Diff<B>, T> {
        match x {
            Operand::Array(x) => Operand::Array(Cow::Owned(self.d.constant(x.into_owned()))),
            Operand::Scalar(x) => Operand::Scalar(x),
        }
    }

    /// Wraps indices for the backend on which the gradient rule runs.
    pub fn index(&self, list: &IndexList<B>) -> IndexList<Diff<B>> {
        list.map(|x| self.d.constant(x.clone()), |x| self.d.constant(x.clone()))
    }

    /// Runs the gradient rule and returns the tangents of the results.
    pub fn go(self, rule: Option<Box<dyn Pull<Diff<B>>>>) -> Result<Vec<Tangent>> {
        let Twice { d, op, inputs, results } = self;
        let count = results.len();
        let mut tangents: Vec<Tangent> = (0..count).map(|_| None).collect();
        let Some(rule) = rule else { return Ok(tangents) };
        let shapes: Vec<&[usize]> = results.iter().map(|(shape, _)| &**shape).collect();
        let at = op.record(rule, &shapes);
        let seeds = results.into_iter().enumerate().map(|(k, (_, u))| (at + k, u)).collect();
        let found = op.take().back(&d, seeds, inputs.len(), true)?;
        // several inputs may share one gradient array; each of these inputs gets its own backward pass
        let mut left: Vec<(usize, Box<dyn Any>)> = Vec::new();
        for ((place_of, tangent), g) in inputs.into_iter().zip(found) {
            if let Some(g) = g
                && let Some(place) = place_of(&d, g)?
            {
                left.push((place, tangent));
            }
        }
        let mut record = d.take();
        while !left.is_empty() {
            let mut of: Vec<(usize, Box<dyn Any>)> =
                tangents.iter_mut().enumerate().filter_map(|(k, t)| Some((k, t.take()?))).collect();
            let mut later = Vec::new();
            for (place, tangent) in left {
                match of.iter().any(|(known, _)| *known == place) {
                    true => later.push((place, tangent)),
                    false => of.push((place, tangent)),
                }
            }
            if later.iter().any(|(place, _)| *place < count) {
                return Err(Error::argument(
                    "jvp",
                    "two inputs share the gradient of the result, so the row must say that it is linear",
                ));
            }
            tangents = record.back(d.within(), of, count, false)?;
            left = later;
        }
        Ok(tangents)
    }
}

impl<B: Backend> Wrap for Jvp<B> {
    type Within = B;

    type Running = ();

    #[inline]
    fn within(&self) -> &B {
        &self.within
    }

    fn begin(&self, _call: &crate::runtime::Call<'_>) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn open<'a, T: Element>(&'a self, _op: &'static str, x: &'a Dual<B, T>) -> Result<&'a B::Array<T>> {
        Ok(&x.value)
    }

    #[inline]
    fn close<T: Element>(&self, _running: &mut (), x: B::Array<T>) -> Result<Dual<B, T>> {
        Ok(self.constant(x))
    }
}

impl<B: Backend> Arrays for Jvp<B> {
    type Array<T: Element> = Dual<B, T>;

    const NAME: &'static str = B::NAME;

    fn in_complex<'a, T: Float, C: Element>(&self, x: Cow<'a, Self::Array<T>>) -> Result<Cow<'a, Self::Array<C>>> {
        crate::Casting::astype::<C, T>(self, x).map(Cow::Owned)
    }

    fn to_ndarray<T: Element>(&self, x: &Dual<B, T>) -> Result<HostArray<T>> {
        self.within.to_ndarray(&x.value)
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<Dual<B, T>> {
        Ok(self.constant(self.within.from_ndarray(x)?))
    }

    crate::runtime::forward_to_within!();

    const TAKES_ANY_DTYPE: bool = B::TAKES_ANY_DTYPE;

    #[inline(always)]
    fn by_dtype<R>(typed: impl FnOnce() -> R, dynamic: impl FnOnce() -> R) -> R {
        B::by_dtype(typed, dynamic)
    }

    fn retyped<T: Element, U: Element>(x: Dual<B, T>) -> Option<Dual<B, U>> {
        let change = match x.change {
            Some((id, tangent)) => Some((id, B::retyped::<T, U>(tangent)?)),
            None => None,
        };
        Some(Dual { value: B::retyped::<T, U>(x.value)?, change })
    }

    const WATCHES: bool = B::WATCHES;

    fn begin_fused(&self, op: &'static str, dtype: DType, told: &dyn Told) -> Result<Option<Box<dyn Any>>> {
        let changes = |x: &dyn AnyTyped| {
            let changes = dispatch!(x.element(), T => {
                Ok::<_, Error>(x.as_any().downcast_ref::<Dual<B, T>>().is_some_and(|x| x.change.is_some()))
            });
            changes.unwrap_or(false)
        };
        if told.arrays().into_iter().any(changes) {
            return self.within.begin_fused(op, dtype, &Prefixed("value and tangent of ", told));
        }
        self.within.begin_fused(op, dtype, told)
    }

    fn end_fused<T: Element>(&self, begun: Box<dyn Any>, x: &Dual<B, T>) -> Result<()> {
        self.within.end_fused(begun, &x.value)
    }

    fn seed(&self, seed: u64) {
        self.within.seed(seed);
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.within.seed_at(seed, block)
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        self.within.random_state()
    }

    fn custom<T: Float, U: Float>(
        &self,
        op: &'static str,
        x: &[&Dual<B, T>],
        forward: impl Fn(&Self, &[&Dual<B, T>]) -> Result<Dual<B, U>>,
        pull: impl CustomGradient<Self, T, U>,
    ) -> Result<Dual<B, U>> {
        for x in x {
            if self.place_of(op, x)?.is_some() {
                return Err(Error::argument(op, "the op has a custom gradient but no tangent: use `vjp`"));
            }
        }
        let values: Vec<&B::Array<T>> = x.iter().map(|x| &x.value).collect();
        let lifted =
            |j: &Self, x: &[&B::Array<T>]| -> Vec<Dual<B, T>> { x.iter().map(|&x| j.constant(x.clone())).collect() };
        let value = self.within.custom::<T, U>(
            op,
            &values,
            |b, x| {
                let j = Jvp::alone(b.clone());
                Ok(forward(&j, &lifted(&j, x).iter().collect::<Vec<_>>())?.value)
            },
            move |b: &B, x: &[&B::Array<T>], y: &B::Array<U>, g: &B::Array<U>| {
                let j = Jvp::alone(b.clone());
                let (y, g) = (j.constant::<U>(y.clone()), j.constant::<U>(g.clone()));
                let found = pull.pull(&j, &lifted(&j, x).iter().collect::<Vec<_>>(), &y, &g)?;
                Ok(found.into_iter().map(Dual::into_value).collect())
            },
        )?;
        Ok(self.constant(value))
    }

    fn implicit<T: Float>(
        &self,
        op: &'static str,
        solve: impl Fn(&Self) -> Result<Dual<B, T>>,
        residual: impl Fn(&Self, &Dual<B, T>) -> Result<Dual<B, T>>,
        adjoint: impl Fn(&Self, &LinearMap<'_, Self, T>, &Dual<B, T>) -> Result<Dual<B, T>> + Send + Sync + 'static,
    ) -> Result<Dual<B, T>> {
        let b = &self.within;
        let adjoint = Arc::new(adjoint);
        let solved = {
            let adjoint = adjoint.clone();
            move |b: &B, map: &LinearMap<'_, B, T>, g: &B::Array<T>| {
                let j = Jvp::alone(b.clone());
                let map = |j: &Jvp<B>, x: &Dual<B, T>| Ok(j.constant::<T>(map(&j.within, &x.value)?));
                Ok(adjoint(&j, &map, &j.constant::<T>(g.clone()))?.value)
            }
        };
        let value = b.implicit::<T>(
            op,
            |b| Ok(solve(&Jvp::alone(b.clone()))?.value),
            |b, x| {
                let j = Jvp::alone(b.clone());
                Ok(residual(&j, &j.constant::<T>(x.clone()))?.value)
            },
            solved.clone(),
        )?;
        let by_others = self.place_of(op, &residual(self, &self.constant::<T>(value.clone()))?)?;
        let Some(by_others) = by_others else { return Ok(self.constant(value)) };
        // the tangent of the solution is determined by the condition that the residual stays 0
        let by_x = |b: &B, v: &B::Array<T>| {
            let j = Jvp::alone(b.clone());
            let r = residual(&j, &j.input::<T>(value.clone(), v.clone()))?;
            match j.place_of(op, &r)? {
                Some(tangent) => Ok(tangent),
                None => b.zeros::<T>(r.shape()),
            }
        };
        let wanted = b.negative::<T>(by_others)?;
        let tangent = solved(b, &by_x, &wanted)?;
        if tangent.shape() != value.shape() {
            return Err(Error::shapes(op, tangent.shape(), value.shape()));
        }
        let length = |x: &B::Array<T>| -> Result<f64> {
            Ok(b.to_ndarray(x)?.iter().map(|x| x.cast::<Complex<f64>>().norm_sqr()).sum::<f64>().sqrt())
        };
        let is_far = length(&b.subtract(by_x(b, &tangent)?, &wanted)?)? > 1e-2 * length(&wanted)?;
        if is_far {
            let why = "the solver of adjoint equations always solves the transposed equations, not those it is given: use `vjp`";
            return Err(Error::argument(op, why));
        }
        Ok(self.input(value, tangent))
    }
}

/// Converts to another dtype. The tangent is kept if both dtypes are real or complex floats.
pub fn astype<U: Element, B: Backend, T: Element>(j: &Jvp<B>, x: &Dual<B, T>) -> Result<Dual<B, U>> {
    let value = j.within.astype::<U, T>(&x.value)?;
    let is_float = matches!(U::dtype().kind(), DTypeKind::Real | DTypeKind::Complex);
    match j.place_of("astype", x)? {
        Some(tangent) if is_float => Ok(j.input(value, j.within.astype::<U, T>(tangent)?)),
        _ => Ok(j.constant(value)),
    }
}

/// Applies an in-place op to the value and to the tangent of an array.
fn change<B: Backend, T: Element>(
    j: &Jvp<B>,
    op: &'static str,
    x: &mut Dual<B, T>,
    index: Indices<'_, Jvp<B>>,
    values: &Operand<'_, Jvp<B>, T>,
    run: impl Fn(&mut B::Array<T>, &[crate::runtime::Index<'_, B>], Operand<'_, B, T>) -> Result<()>,
) -> Result<()> {
    let (tangent, of_values) = (j.place_of(op, x)?, j.place_of_operand(op, values)?);
    let index = index.on::<B>(|x| j.open("get", x), |x| j.open("get", x))?;
    if tangent.is_none() && of_values.is_none() {
        return run(&mut x.value, &index, j.open_operand(op, values)?);
    }
    let mut tangent = j.change_of(x, &tangent)?;
    run(&mut tangent, &index, j.change_of_operand(values, &of_values)?)?;
    run(&mut x.value, &index, j.open_operand(op, values)?)?;
    x.change = Some((j.id, tangent));
    Ok(())
}

/// Implements `set`: the tangents of overwritten elements are overwritten, too.
pub fn set<B: Backend, T: Element>(
    j: &Jvp<B>,
    x: &mut Dual<B, T>,
    index: Indices<'_, Jvp<B>>,
    values: Operand<'_, Jvp<B>, T>,
) -> Result<()> {
    change(j, "set", x, index, &values, |x, index, values| j.within.set(x, index, values))
}

/// Implements `add_at`, which adds the tangents of the values as well.
pub fn add_at<B: Backend, T: Numeric>(
    j: &Jvp<B>,
    x: &mut Dual<B, T>,
    index: Indices<'_, Jvp<B>>,
    values: Operand<'_, Jvp<B>, T>,
) -> Result<()> {
    change(j, "add_at", x, index, &values, |x, index, values| j.within.add_at(x, index, values))
}
