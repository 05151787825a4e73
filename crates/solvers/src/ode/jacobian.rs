//! Jacobians by finite differences: D. E. Salane, "Adaptive routines for forming Jacobians numerically", SAND86-1319;
//! and L. F. Shampine and M. W. Reichelt, "The MATLAB ODE suite", SIAM J. Sci. Comput. 18, 1997.

use super::{
    control::{Trouble, eps},
    equation::{Equation, OP},
};
use backends::{Backend, Complex, Element, Error, Float, Real, Result};

/// Computes the Jacobian at a time and a state, as a matrix on the backend. Returns a `Trouble` if it is not finite.
///
/// `steps` has one step length per element of the state, relative to the element's magnitude. The step lengths are
/// adapted from one Jacobian to the next, so that differences suffer neither from rounding nor from curvature.
pub(super) fn by_differences<B: Backend, T: Float>(
    equation: &Equation<'_, B, T>,
    b: &B,
    t: f64,
    y: &B::Array<T>,
    atol: f64,
    steps: &mut Vec<f64>,
) -> Result<std::result::Result<B::Array<T>, Trouble>> {
    let (n, eps) = (equation.size(), eps::<T::Real>());
    steps.resize(n, eps.sqrt());
    let slope = equation.slope(b, t, y)?;
    if let Some(trouble) = Trouble::of::<B, T>(b, t, y, &slope)? {
        return Ok(Err(trouble));
    }
    let mut matrix = Vec::new();
    let many = n.saturating_mul(n);
    let bytes = many.saturating_mul(size_of::<T>());
    matrix.try_reserve_exact(many).map_err(|_| Error::memory(OP, bytes))?;
    let here = b.to_vec::<T>(y)?;
    let slope = b.to_vec::<T>(&slope)?;
    let column = |j: usize, step: f64| -> Result<Option<Column<T>>> {
        let (moved, h) = moved(&here, j, step);
        if h == 0.0 {
            return Ok(None);
        }
        let moved = b.reshape::<T>(b.from_iter(moved)?, &equation.shape[..])?;
        let there = b.to_vec::<T>(equation.slope(b, t, &moved)?)?;
        Ok(Some(Column::new(&slope, &there, h)))
    };
    for j in 0..n {
        let size = wide(here[j]).norm().max(atol);
        let size = if size > 0.0 { size } else { 1.0 };
        // the step has the sign of the slope, which is the direction in which the solution moves
        let forward = if wide(slope[j]).re < 0.0 { -size } else { size };
        let mut step = steps[j];
        let mut found = column(j, step * forward)?;
        while found.is_none() && step < 1.0 {
            step *= 10.0;
            found = column(j, step * forward)?;
        }
        if found.as_ref().is_none_or(|c| !c.is_finite()) {
            // the function may be undefined in this direction, so the opposite direction is tried
            found = column(j, -step * forward)?;
        }
        let Some(mut found) = found.filter(Column::is_finite) else {
            return Ok(Err(Trouble::Jacobian(t, "differences that are not finite")));
        };
        if found.change < eps.powf(0.875) * found.size {
            // the change is lost in rounding, so a longer step is tried
            if let Some(longer) = column(j, 10.0 * step * forward)?.filter(Column::is_finite)
                && found.change * longer.size < longer.change * found.size
            {
                (step, found) = (10.0 * step, longer);
            }
        }
        if found.change < eps.powf(0.75) * found.size {
            step *= 10.0;
        } else if found.change > eps.powf(0.25) * found.size {
            step *= 0.1;
        }
        steps[j] = step.clamp(1e3 * eps, 1.0);
        matrix.extend(found.derivatives);
    }
    let columns = b.reshape::<T>(b.from_iter(matrix)?, [n, n])?;
    b.matrix_transpose::<T>(columns).map(Ok)
}

/// Returns the state with one element moved by `step`, and the step as rounded by the dtype.
fn moved<T: Float>(y: &[T], j: usize, step: f64) -> (Vec<T>, f64) {
    let mut y = y.to_vec();
    let old = y[j];
    y[j] = old.plus(T::from_real(T::Real::of(step)));
    let h = wide(y[j]).re - wide(old).re;
    (y, h)
}

fn wide<T: Float>(x: T) -> Complex<f64> {
    x.cast()
}

/// One column of the Jacobian: the derivatives with respect to one element of the state.
struct Column<T> {
    derivatives: Vec<T>,
    /// The largest magnitude of a change among the elements of the function's result.
    change: f64,
    /// The magnitude of the result's element that changes most.
    size: f64,
}

impl<T: Float> Column<T> {
    fn new(here: &[T], there: &[T], h: f64) -> Self {
        let (mut change, mut size) = (0.0, 0.0);
        let derivative = |(x, y): (&T, &T)| {
            let (x, y) = (wide(*x), wide(*y));
            let difference = y - x;
            if difference.norm() > change {
                (change, size) = (difference.norm(), x.norm().max(y.norm()));
            }
            (difference / h).cast::<T>()
        };
        let derivatives = here.iter().zip(there).map(derivative).collect();
        Column { derivatives, change, size }
    }

    fn is_finite(&self) -> bool {
        self.derivatives.iter().all(|x| x.is_finite())
    }
}
