//! A linear system, with the operations that all solvers share: products with the operator and the preconditioner, and
//! sums over the unknowns.

use super::{
    OP,
    monitor::{Monitor, squares},
    precondition::Preconditioner,
    scale::{Powers, exponent, numbers_shape, shifted},
};
use backends::{ArrayAttributes, Axes, Backend, Error, Real, Result, WideFloat, expr};
use std::{
    cell::{Cell, RefCell},
    ops::Range,
};

pub(super) type Apply<'s, B, T> =
    dyn Fn(&B, &<B as backends::Arrays>::Array<T>) -> Result<<B as backends::Arrays>::Array<T>> + 's;

/// The system `A x = y`, or a batch of systems along leading axes.
///
/// `A` and the user's preconditioner are scaled by powers of two if their magnitudes would cause overflow or
/// underflow.
pub(super) struct System<'s, B: Backend, T: WideFloat> {
    pub b: &'s B,
    apply: &'s Apply<'s, B, T>,
    adjoint: Option<&'s Apply<'s, B, T>>,
    preconditioner: Option<&'s dyn Preconditioner<B, T>>,
    pub y: &'s B::Array<T>,
    pub x0: Option<&'s B::Array<T>>,
    /// Number of batch axes.
    pub batch: usize,
    pub operator_scale: Option<Powers<B, T>>,
    pub preconditioner_scale: Option<Powers<B, T>>,
    pub evaluations: Cell<usize>,
    /// The largest ratio `|A v| / |v|` seen so far, one number per system. Only MINRES fills this list.
    pub sizes: RefCell<Vec<f64>>,
    /// For each system, the square of the operator's norm as MINRES estimates it, in the norm that the preconditioner
    /// defines. MINRES keeps it for its next pass, which starts from the current unknowns.
    pub size_sq: RefCell<Option<B::Array<T>>>,
}

/// An array whose slice for each system is scaled by a power of two. The largest magnitude of a slice is then from 1/2
/// to 1.
pub(super) struct Measured<B: Backend, T: WideFloat> {
    pub x: B::Array<T>,
    pub exponents: Vec<i32>,
    /// The inner product `x.x` of each system. The field `squares` has the same numbers on the host.
    pub rr: B::Array<T>,
    pub squares: Vec<f64>,
}

impl<B: Backend, T: WideFloat> Measured<B, T> {
    /// The lengths (2-norms) of the systems' slices of the original array. Each length is divided by 2 to the power of
    /// the system's element of `units`.
    pub fn lengths(&self, units: &[i32]) -> Vec<f64> {
        let parts = self.squares.iter().zip(&self.exponents).zip(units);
        parts.map(|((square, e), unit)| shifted(square.sqrt(), e - unit)).collect()
    }
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
        System {
            b,
            apply,
            adjoint,
            preconditioner,
            y,
            x0,
            batch,
            operator_scale: None,
            preconditioner_scale: None,
            evaluations: Cell::new(0),
            sizes: RefCell::new(vec![]),
            size_sq: RefCell::new(None),
        }
    }

    pub fn apply(&self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let y = self.forward(x)?;
        if y.shape() == x.shape() { Ok(y) } else { Err(not_square(x.shape(), y.shape())) }
    }

    /// Returns the product of the operator's conjugate transpose and `y`. In the error message, `why` names the method
    /// that needs the product.
    pub fn adjoint(&self, y: &B::Array<T>, why: &'static str) -> Result<B::Array<T>> {
        let adjoint = self.adjoint.ok_or_else(|| {
            Error::argument(
                OP,
                format!("{why} needs products with the conjugate transpose of the operator, and this one has none"),
            )
        })?;
        self.scaled(self.operator_scale.as_ref(), y, |y| self.count(adjoint, y))
    }

    fn count(&self, f: &Apply<'_, B, T>, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.evaluations.set(self.evaluations.get() + 1);
        f(self.b, x)
    }

    fn scaled(
        &self,
        scale: Option<&Powers<B, T>>,
        x: &B::Array<T>,
        map: impl Fn(&B::Array<T>) -> Result<B::Array<T>>,
    ) -> Result<B::Array<T>> {
        match scale {
            None => map(x),
            Some(scale) => scale.of_map(self.b, x, self.batch, map),
        }
    }

    /// Returns the product of the operator and `x`. Unlike `apply`, it accepts an operator that is not square.
    pub fn forward(&self, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.scaled(self.operator_scale.as_ref(), x, |x| self.count(self.apply, x))
    }

    pub fn is_preconditioned(&self) -> bool {
        self.preconditioner.is_some()
    }

    /// Returns the preconditioner's approximate solution `z` of `A z = r`, or `r` itself if there is no
    /// preconditioner.
    pub fn precondition(&self, r: &B::Array<T>) -> Result<B::Array<T>> {
        let Some(preconditioner) = self.preconditioner else { return Ok(r.clone()) };
        let z = self.scaled(self.preconditioner_scale.as_ref(), r, |r| preconditioner.apply(self.b, r))?;
        if z.shape() == r.shape() { Ok(z) } else { Err(Error::shapes("preconditioner", r.shape(), z.shape())) }
    }

    /// Multiplies `r` by the conjugate transpose of the preconditioner. Returns `r` itself if there is no
    /// preconditioner.
    pub fn precondition_adjoint(&self, r: &B::Array<T>) -> Result<B::Array<T>> {
        let Some(preconditioner) = self.preconditioner else { return Ok(r.clone()) };
        let b = self.b;
        let missing = || Error::argument(OP, "biCG needs a preconditioner that can be transposed, and this one cannot");
        self.scaled(self.preconditioner_scale.as_ref(), r, |r| {
            b.conj(preconditioner.apply_transposed(b, &b.conj(r)?)?.ok_or_else(missing)?)
        })
    }

    /// Returns the inner product `x^H y` of each system, in a shape that broadcasts to the unknowns.
    pub fn dot(&self, x: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<T>> {
        let axes = unknown_axes(self.batch..x.ndim());
        expr!(self.b, sum(conj(x) * y, axes, keepdims = true))
    }

    /// The largest magnitude among the elements of each system.
    pub fn largest(&self, x: &B::Array<T>) -> Result<Vec<f64>> {
        let b = self.b;
        if x.is_empty() {
            return Ok(vec![0.0; x.shape()[..self.batch].iter().product()]);
        }
        let axes = unknown_axes(self.batch..x.ndim());
        let largest = |x: &B::Array<T>| -> Result<Vec<f64>> {
            let largest = expr!(b, max(abs(x), axes, keepdims = true))?;
            Ok(b.to_vec::<T::Real>(&largest)?.into_iter().map(Real::to_f64).collect())
        };
        let mut found = largest(x)?;
        if found.iter().any(|x| x.is_infinite()) {
            // the magnitude of a complex number may overflow although its real and imaginary parts do not
            let quarters = largest(&expr!(b, 0.25 * x)?)?;
            found.iter_mut().zip(quarters).filter(|(x, _)| x.is_infinite()).for_each(|(x, quarter)| *x = 4.0 * quarter);
        }
        Ok(found)
    }

    /// Divides the slice of each system in `x` by a power of two. The largest magnitude of the slice is then from 1/2
    /// to 1. The result also contains the exponents of these powers.
    pub fn measured(&self, x: &B::Array<T>) -> Result<Measured<B, T>> {
        let exponents: Vec<i32> = self.largest(x)?.into_iter().map(exponent).collect();
        let x = Powers::new(self.b, exponents.iter().map(|e| -e))?.of(self.b, x, self.batch)?;
        let rr = self.dot(&x, &x)?;
        let squares = squares(self.b, &rr)?;
        Ok(Measured { x, exponents, rr, squares })
    }

    /// The length (2-norm) of each system's slice of an array.
    pub fn lengths(&self, x: &B::Array<T>) -> Result<Vec<f64>> {
        let measured = self.measured(x)?;
        Ok(measured.lengths(&vec![0; measured.squares.len()]))
    }

    /// Multiplies the slice of each system in `x` by 2 to the power of the system's element of `exponents`.
    pub fn times_powers(&self, x: &B::Array<T>, exponents: impl IntoIterator<Item = i32>) -> Result<B::Array<T>> {
        Powers::new(self.b, exponents)?.of(self.b, x, self.batch)
    }

    /// Returns, for each system, the slice of `x` if the system's element of `first` is true, else the slice of `y`.
    pub fn select(&self, first: &[bool], x: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<T>> {
        if first.iter().all(|&first| first) {
            return Ok(x.clone());
        }
        let b = self.b;
        let mask = b.reshape(b.from_iter(first.iter().copied())?, numbers_shape(x.shape(), self.batch))?;
        expr!(b, where(mask, x, y))
    }

    /// Adds `alpha * p` to `x` for the systems that are still running. The other systems keep their `x`.
    pub fn advance(
        &self,
        monitor: &mut Monitor<'_, '_, B, T>,
        x: &mut B::Array<T>,
        alpha: &B::Array<T>,
        p: &B::Array<T>,
    ) -> Result<()> {
        let b = self.b;
        match monitor.mask(b, &numbers_shape(x.shape(), self.batch))? {
            None => expr!(b, *x += alpha * p),
            Some(mask) => expr!(b, *x = where(mask, x + alpha * p, x)),
        }
    }
}

/// Converts a range of axes to the axis argument of a reduction. A range that starts at 0 (no batch) covers all axes.
pub(super) fn unknown_axes(axes: Range<usize>) -> Axes {
    if axes.start == 0 { Axes::All } else { axes.collect::<Vec<usize>>().into() }
}

pub(super) fn not_square(x: &[usize], y: &[usize]) -> Error {
    Error::argument(
        OP,
        format!(
            "the operator maps shape {x:?} to shape {y:?}, so it is not square. Only the method `LeastSquares` takes such operators"
        ),
    )
}

/// Copies the magnitudes of the elements to the host.
pub(super) fn magnitudes<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> Result<Vec<f64>> {
    Ok(b.to_vec::<T>(x)?.into_iter().map(|x| x.abs().to_f64()).collect())
}

/// Returns `n / d`, or 0 where `d` is 0, so that a method makes no step in this case.
pub(super) fn ratio<B: Backend, T: WideFloat>(b: &B, n: &B::Array<T>, d: &B::Array<T>) -> Result<B::Array<T>> {
    expr!(b, where(d == 0, 0, n / d))
}
