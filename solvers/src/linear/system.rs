//! A system with all that its methods share: products with the operator, the preconditioner, sums over the unknowns.

use super::{OP, monitor::Monitor, precondition::Preconditioner};
use backends::{ArrayAttributes, Axes, Backend, Error, Result, WideFloat, expr};
use std::{cell::Cell, ops::Range};

pub(super) type Apply<'s, B, T> =
    dyn Fn(&B, &<B as backends::Arrays>::Array<T>) -> Result<<B as backends::Arrays>::Array<T>> + 's;

/// `A x = y`, with leading axes that are a batch of such systems.
pub(super) struct System<'s, B: Backend, T: WideFloat> {
    pub b: &'s B,
    apply: &'s Apply<'s, B, T>,
    adjoint: Option<&'s Apply<'s, B, T>>,
    preconditioner: Option<&'s dyn Preconditioner<B, T>>,
    pub y: &'s B::Array<T>,
    x0: Option<&'s B::Array<T>>,
    /// How many axes the batch has.
    batch: usize,
    /// The axes of the unknowns.
    axes: Axes,
    pub evaluations: Cell<usize>,
}

impl<'s, B: Backend, T: WideFloat> System<'s, B, T> {
    pub fn new(
        b: &'s B,
        apply: &'s Apply<'s, B, T>,
        adjoint: Option<&'s Apply<'s, B, T>>,
        preconditioner: Option<&'s dyn Preconditioner<B, T>>,
        (y, x0): (&'s B::Array<T>, Option<&'s B::Array<T>>),
        batch: usize,
    ) -> Self {
        let axes = unknown_axes(batch..y.ndim());
        System { b, apply, adjoint, preconditioner, y, x0, batch, axes, evaluations: Cell::new(0) }
    }

    pub fn apply(&self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let y = self.count(self.apply, x)?;
        if y.shape() == x.shape() { Ok(y) } else { Err(not_square(x.shape(), y.shape())) }
    }

    /// The product with the conjugate transpose; `why` says what for.
    pub fn adjoint(&self, y: &B::Array<T>, why: &'static str) -> Result<B::Array<T>> {
        let adjoint = self.adjoint.ok_or_else(|| {
            Error::argument(
                OP,
                format!("{why} needs products with the conjugate transpose of the operator, and this one has none"),
            )
        })?;
        self.count(adjoint, y)
    }

    /// The product, whatever shape it has.
    pub fn count(&self, f: &Apply<'_, B, T>, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.evaluations.set(self.evaluations.get() + 1);
        f(self.b, x)
    }

    /// The product with the operator, whatever shape it has.
    pub fn forward(&self, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.count(self.apply, x)
    }

    pub fn is_preconditioned(&self) -> bool {
        self.preconditioner.is_some()
    }

    /// The preconditioner's approximate solution of `A z = r`; `r` without one.
    pub fn precondition(&self, r: &B::Array<T>) -> Result<B::Array<T>> {
        let Some(preconditioner) = self.preconditioner else { return Ok(r.clone()) };
        let z = preconditioner.apply(self.b, r)?;
        if z.shape() == r.shape() { Ok(z) } else { Err(Error::shapes("preconditioner", r.shape(), z.shape())) }
    }

    /// The same with the conjugate transpose of the preconditioner.
    pub fn precondition_adjoint(&self, r: &B::Array<T>) -> Result<B::Array<T>> {
        let Some(preconditioner) = self.preconditioner else { return Ok(r.clone()) };
        let b = self.b;
        match preconditioner.apply_transposed(b, &b.conj(r)?)? {
            Some(z) => b.conj(z),
            None => Err(Error::argument(OP, "biCG needs a preconditioner that can be transposed, and this one cannot")),
        }
    }

    /// `x^H y` of each system, which broadcasts to the unknowns.
    pub fn dot(&self, x: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<T>> {
        let axes = self.axes;
        expr!(self.b, sum(conj(x) * y, axes, keepdims = true))
    }

    /// The unknowns to begin with, and their residual.
    pub fn start(&self) -> Result<(B::Array<T>, B::Array<T>)> {
        let (b, y) = (self.b, self.y);
        match self.x0 {
            None => Ok((b.zeros_like(y)?, y.clone())),
            Some(x0) => {
                let ax = self.apply(x0)?;
                Ok((x0.clone(), expr!(b, y - ax)?))
            }
        }
    }

    /// `y - A x`, anew.
    pub fn residual(&self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let (b, y, ax) = (self.b, self.y, self.apply(x)?);
        expr!(b, y - ax)
    }

    /// The shape of one number for each system, which broadcasts to the unknowns.
    pub fn numbers_shape(&self) -> Vec<usize> {
        self.y.shape().iter().enumerate().map(|(i, &n)| if i < self.batch { n } else { 1 }).collect()
    }

    /// `x += alpha * p`, where systems go on.
    pub fn advance(
        &self,
        monitor: &mut Monitor<'_, '_, B, T>,
        x: &mut B::Array<T>,
        alpha: &B::Array<T>,
        p: &B::Array<T>,
    ) -> Result<()> {
        let b = self.b;
        match monitor.mask(b, &self.numbers_shape())? {
            None => expr!(b, *x += alpha * p),
            Some(mask) => expr!(b, *x = where(mask, x + alpha * p, x)),
        }
    }
}

/// Some axes of the unknowns: all of an array, where there is no batch.
pub(super) fn unknown_axes(axes: Range<usize>) -> Axes {
    if axes.start == 0 { Axes::All } else { axes.collect::<Vec<usize>>().into() }
}

pub(super) fn not_square(x: &[usize], y: &[usize]) -> Error {
    Error::argument(
        OP,
        format!(
            "the operator makes arrays of shape {y:?} of unknowns of shape {x:?}: it is not square. The method `LeastSquares` takes such operators"
        ),
    )
}

/// `n / d`, and 0 where `d` is 0: there is nothing left to go along.
pub(super) fn ratio<B: Backend, T: WideFloat>(b: &B, n: &B::Array<T>, d: &B::Array<T>) -> Result<B::Array<T>> {
    expr!(b, where(d == 0, 0, n / d))
}
