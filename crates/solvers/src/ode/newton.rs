//! Newton's method for the equations of an implicit step. The inverse matrix of the iteration is reused from step to
//! step while the iteration converges.

use super::{
    control::{Trouble, norm_over, not_finite},
    equation::{Equation, OP, count},
    jacobian,
};
use crate::dtype::convert;
use backends::{Backend, Complex, DTypeKind, Float, LinearMap, Result, WideFloat, expr, runtime::rules};
use std::cell::{Cell, RefCell};

/// Maximum number of iterations. If Newton's method has not converged by then, the step counts as too long.
pub(super) const ITERATIONS: i32 = 4;

/// An equation to be solved for `d`: `c f(t, predicted + d) - psi - d = 0`.
pub(super) struct Step<'s, B: Backend, T: Float> {
    pub t: f64,
    pub c: f64,
    pub predicted: &'s B::Array<T>,
    pub psi: &'s B::Array<T>,
    /// The error that the tolerances allow for each element.
    pub scale: &'s B::Array<T::Real>,
    /// The allowed error of `d`, as a fraction of `scale`.
    pub tolerance: f64,
    pub atol: f64,
}

/// The Newton solver, with the inverse matrix and the step lengths that later steps reuse.
pub(super) struct Newton<B: Backend, T: Float> {
    kept: RefCell<Kept<B::Array<T>>>,
    /// Number of iterations for the last equation.
    pub iterations: Cell<i32>,
    /// The source of the non-finite value that ended the last solve, if there was one.
    pub trouble: Cell<Option<Trouble>>,
}

struct Kept<A> {
    jacobian: Option<A>,
    /// The inverse of `1 - c J`, where `J` is the Jacobian. `c` may be the coefficient of an earlier step.
    inverse: Option<A>,
    /// True if the Jacobian was computed in this step.
    is_current: bool,
    /// The relative step lengths for Jacobians by finite differences, one per element of the state.
    steps: Vec<f64>,
}

impl<B: Backend, T: Float> Newton<B, T> {
    pub fn new() -> Self {
        let kept = Kept { jacobian: None, inverse: None, is_current: false, steps: Vec::new() };
        Newton { kept: RefCell::new(kept), iterations: Cell::new(0), trouble: Cell::new(None) }
    }

    /// Records that the state has changed, so that the Jacobian is no longer current.
    pub fn moved(&mut self) {
        self.kept.get_mut().is_current = false;
    }

    /// Discards the inverse, because the step length changes.
    pub fn forget_inverse(&mut self) {
        self.kept.get_mut().inverse = None;
    }

    /// Solves the equation of a step for `d`. Returns `None` if the iteration does not converge.
    ///
    /// Gradients of `d` come from the equation itself (the implicit function theorem); the iteration is not recorded.
    pub fn solve(&self, equation: &Equation<'_, B, T>, step: &Step<'_, B, T>) -> Result<Option<B::Array<T>>> {
        let is_lost = Cell::new(false);
        let shape = equation.shape.clone();
        let found = equation.b.implicit::<T>(
            OP,
            |b| match self.find(b, equation, step)? {
                Some(d) => Ok(d),
                None => {
                    is_lost.set(true);
                    Err(rules::failed(OP))
                }
            },
            |b, d| step.residual(b, equation, d),
            move |b, map, g| adjoint(b, &shape, map, g),
        );
        if is_lost.get() { Ok(None) } else { found.map(Some) }
    }

    /// Iterates with the existing matrix. If that fails because the matrix is too old, iterates with a new one.
    fn find(&self, b: &B, equation: &Equation<'_, B, T>, step: &Step<'_, B, T>) -> Result<Option<B::Array<T>>> {
        let mut kept = self.kept.borrow_mut();
        let kept = &mut *kept;
        self.trouble.set(None);
        loop {
            if let Some(jacobian) = &kept.jacobian {
                if kept.inverse.is_none() {
                    count(&equation.factorizations);
                    kept.inverse = inverse::<B, T>(b, jacobian, step.c)?;
                }
                if let Some(inverse) = &kept.inverse
                    && let Some(d) = self.iterate(b, equation, step, inverse)?
                {
                    return Ok(Some(d));
                }
            }
            if kept.is_current && kept.jacobian.is_some() {
                return Ok(None);
            }
            count(&equation.jacobians);
            match step.jacobian(b, equation, &mut kept.steps)? {
                Ok(jacobian) => (kept.jacobian, kept.inverse, kept.is_current) = (Some(jacobian), None, true),
                Err(trouble) => {
                    (kept.jacobian, kept.inverse) = (None, None);
                    self.trouble.set(Some(trouble));
                    return Ok(None);
                }
            }
        }
    }

    fn iterate(
        &self,
        b: &B,
        equation: &Equation<'_, B, T>,
        step: &Step<'_, B, T>,
        inverse: &B::Array<T>,
    ) -> Result<Option<B::Array<T>>> {
        let Step { t, predicted, scale, tolerance, .. } = *step;
        let (mut y, mut d) = (predicted.clone(), b.zeros_like::<T>(predicted)?);
        let mut before = None;
        for k in 1..=ITERATIONS {
            self.iterations.set(k);
            let slope = equation.slope(b, t, &y)?;
            let change = times::<B, T>(b, inverse, &step.residual_of(b, &slope, &d)?)?;
            let norm = norm_over::<B, T>(b, &change, scale)?;
            if !norm.is_finite() {
                self.trouble.set(Trouble::of::<B, T>(b, t, &y, &slope)?);
                return Ok(None);
            }
            let rate = before.map(|before: f64| norm / before);
            // stops if the error after the last allowed iteration, as estimated from the rate, exceeds the tolerance
            if rate.is_some_and(|r| r >= 1.0 || r.powi(ITERATIONS - k + 1) / (1.0 - r) * norm > tolerance) {
                return Ok(None);
            }
            d = b.add(d, &change)?;
            if norm == 0.0 || rate.is_some_and(|r| r / (1.0 - r) * norm < tolerance) {
                return Ok(Some(d));
            }
            y = b.add(y, change)?;
            before = Some(norm);
        }
        Ok(None)
    }
}

impl<B: Backend, T: Float> Step<'_, B, T> {
    fn residual(&self, b: &B, equation: &Equation<'_, B, T>, d: &B::Array<T>) -> Result<B::Array<T>> {
        let slope = equation.slope(b, self.t, &b.add(self.predicted, d)?)?;
        self.residual_of(b, &slope, d)
    }

    fn residual_of(&self, b: &B, slope: &B::Array<T>, d: &B::Array<T>) -> Result<B::Array<T>> {
        let (c, psi) = (self.c, self.psi);
        expr!(b, c * slope - psi - d)
    }

    fn jacobian(
        &self,
        b: &B,
        equation: &Equation<'_, B, T>,
        steps: &mut Vec<f64>,
    ) -> Result<std::result::Result<B::Array<T>, Trouble>> {
        let Some(given) = equation.given_jacobian(b, self.t, self.predicted)? else {
            return jacobian::by_differences(equation, b, self.t, self.predicted, self.atol, steps);
        };
        Ok(match not_finite::<B, T>(b, &given)? {
            Some(what) => Err(Trouble::Jacobian(self.t, what)),
            None => Ok(given),
        })
    }
}

/// Multiplies a matrix by the elements of a state. The result has the shape of the state.
fn times<B: Backend, T: Float>(b: &B, matrix: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    let shape = b.shape::<T>(x);
    if shape.len() == 1 {
        return b.matmul::<T>(matrix, x);
    }
    let n = shape.iter().product::<usize>();
    let product = b.matmul::<T>(matrix, b.reshape::<T>(x, [n])?)?;
    b.reshape::<T>(product, shape)
}

/// Returns the inverse of `1 - c J`, where `J` is the Jacobian. It is computed in double precision. `None` if the
/// matrix is singular.
fn inverse<B: Backend, T: Float>(b: &B, jacobian: &B::Array<T>, c: f64) -> Result<Option<B::Array<T>>> {
    fn of<B: Backend, T: Float, W: WideFloat>(b: &B, jacobian: &B::Array<T>, c: f64) -> Result<B::Array<T>> {
        let jacobian = convert::<B, W, T>(b, jacobian.clone())?;
        let one = b.eye::<W>(b.shape::<W>(&jacobian)[0])?;
        convert::<B, T, W>(b, b.inv::<W>(expr!(b, one - c * jacobian)?)?)
    }
    let found = match T::DTYPE.kind() {
        DTypeKind::Complex => of::<B, T, Complex<f64>>(b, jacobian, c),
        _ => of::<B, T, f64>(b, jacobian, c),
    };
    match found {
        Ok(inverse) => Ok(Some(inverse)),
        Err(error) if rules::has_no_factors(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Solves `map(z) = g` for `z`, where `map` is linear. Its matrix is computed by applying it to unit vectors.
fn adjoint<B: Backend, T: Float>(
    b: &B,
    shape: &[usize],
    map: &LinearMap<'_, B, T>,
    g: &B::Array<T>,
) -> Result<B::Array<T>> {
    fn solved<B: Backend, T: Float, W: WideFloat>(b: &B, matrix: B::Array<T>, g: B::Array<T>) -> Result<B::Array<T>> {
        let (matrix, g) = (convert::<B, W, T>(b, matrix)?, convert::<B, W, T>(b, g)?);
        convert::<B, T, W>(b, b.solve::<W>(matrix, g)?)
    }
    let n = shape.iter().product::<usize>();
    if n == 0 {
        return Ok(g.clone());
    }
    let column = |j: usize| {
        let unit = b.from_iter((0..n).map(|i| if i == j { T::ONE } else { T::ZERO }))?;
        b.reshape::<T>(map(b, &b.reshape::<T>(unit, shape)?)?, [n])
    };
    let columns = (0..n).map(column).collect::<Result<Vec<_>>>()?;
    let (matrix, g) = (b.matrix_transpose::<T>(b.stack::<T>(&columns)?)?, b.reshape::<T>(g, [n])?);
    let z = match T::DTYPE.kind() {
        DTypeKind::Complex => solved::<B, T, Complex<f64>>(b, matrix, g)?,
        _ => solved::<B, T, f64>(b, matrix, g)?,
    };
    b.reshape::<T>(z, shape)
}
