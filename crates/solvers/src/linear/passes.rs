//! Solves by iterative methods, in passes: a method starts each pass from a residual that is computed from the current
//! unknowns.

use super::{
    OP, bicgstab, cg, gmres,
    method::Method,
    minres,
    monitor::{Monitor, squares},
    pass::Pass,
    scale::{exponent, is_harmless, is_short},
    system::{Measured, System},
};
use backends::{ArrayAttributes, Backend, Error, Result, WideFloat, expr};

/// The residual of the current unknowns, scaled by powers of two. For least squares, it is `A^H (y - A x)`, and `rows`
/// is `y - A x`.
struct Current<B: Backend, T: WideFloat> {
    residual: Measured<B, T>,
    rows: Option<B::Array<T>>,
}

/// Returns the highest power of the operator in the numbers that a method computes, to predict overflow.
fn power(method: Method) -> usize {
    match method {
        Method::Cg | Method::CgAdaptive | Method::BiCg => 1,
        Method::BiCgStab(l) => 2 * l,
        Method::Auto | Method::Direct => 4,
        Method::Gmres | Method::Minres | Method::LeastSquares => 2,
    }
}

/// Solves the system, and returns the unknowns.
pub(super) fn run<B: Backend, T: WideFloat>(
    s: &mut System<'_, B, T>,
    method: Method,
    restart: usize,
    monitor: &mut Monitor<'_, '_, B, T>,
) -> Result<B::Array<T>> {
    let b = s.b;
    let is_normal = method == Method::LeastSquares;
    let has_shadow = matches!(method, Method::BiCg | Method::BiCgStab(_) | Method::Auto | Method::Direct);
    let (y, unit, mut current, right) = start(s, is_normal)?;
    let none = vec![0; unit.len()];
    if !monitor.begin(unit.clone(), &right, current.residual.lengths(&none), has_shadow) {
        return match s.x0 {
            Some(x0) => Ok(x0.clone()),
            None => b.zeros_like(&current.residual.x),
        };
    }
    let (z, az, scale) = first_products(s, &current.residual.x, power(method), is_normal)?;
    if is_normal {
        monitor.in_units(&scale);
        current.residual.exponents.iter_mut().zip(&scale).for_each(|(e, scale)| *e -= scale);
    }
    let mut known = (Some(z), Some(az));
    let out: Vec<i32> = unit.iter().zip(&scale).map(|(unit, scale)| unit - scale).collect();
    let mut x = match s.x0 {
        Some(x0) => Some(s.times_powers(x0, out.iter().map(|e| -e))?),
        None => None,
    };
    loop {
        let Current { residual, rows } = &current;
        monitor.start_pass(&residual.exponents, residual.squares.clone());
        let (mut z, mut az) = std::mem::take(&mut known);
        let shadow = if monitor.second_way.contains(&true) {
            let product = match (z.take(), az.take()) {
                (Some(product), Some(of_product)) => (product, of_product),
                _ => {
                    let product = s.precondition(&residual.x)?;
                    let of_product = s.apply(&product)?;
                    (product, of_product)
                }
            };
            let shadow = second_shadow(s, &monitor.second_way, residual, &product.1)?;
            (z, az) = (Some(product.0), Some(product.1));
            Some(shadow)
        } else {
            None
        };
        let with = |d: &B::Array<T>| -> Result<B::Array<T>> {
            let step = s.times_powers(d, residual.exponents.iter().copied())?;
            match &x {
                None => Ok(step),
                Some(x) => expr!(b, x + step),
            }
        };
        let unknowns = |d: &B::Array<T>| s.times_powers(&with(d)?, out.iter().copied());
        let rows = match rows {
            Some(rows) => Some(s.times_powers(rows, residual.exponents.iter().map(|e| -e))?),
            None => None,
        };
        let (r, rr) = (residual.x.clone(), residual.rr.clone());
        let pass = Pass { r, rr, z, az, shadow, rows, unknowns: &unknowns };
        let d = match method {
            Method::Cg => cg::cg(s, pass, monitor)?,
            Method::CgAdaptive => cg::cg_adaptive(s, pass, monitor)?,
            Method::BiCg => cg::bicg(s, pass, monitor)?,
            Method::Gmres => gmres::gmres(s, pass, restart, monitor)?,
            Method::Minres => minres::minres(s, pass, monitor)?,
            Method::LeastSquares => cg::cgls(s, pass, monitor)?,
            Method::BiCgStab(l) => bicgstab::bicgstab(s, pass, l, monitor)?,
            Method::Auto | Method::Direct => bicgstab::bicgstab(s, pass, 2, monitor)?,
        };
        let mut new = with(&d)?;
        if out.iter().any(|&e| is_short::<T>(e) || is_short::<T>(-e)) {
            // rounds the unknowns as in the user's units, in which numbers may be subnormal or infinite
            new = s.times_powers(&s.times_powers(&new, out.iter().copied())?, out.iter().map(|e| -e))?;
        }
        let found = residual_of(s, &y, &new, is_normal)?;
        let takes = monitor.settle(&found.residual.lengths(&none));
        x = Some(match &x {
            Some(x) => s.select(&takes, &new, x)?,
            None => s.select(&takes, &new, &b.zeros_like(&new)?)?,
        });
        if !monitor.is_unfinished() {
            break;
        }
        current = if takes.contains(&false) { one_of(s, &takes, &found, &current)? } else { found };
    }
    match x {
        Some(x) => {
            if method == Method::Minres && monitor.may_be_inconsistent() {
                let r = s.forward(&x).and_then(|ax| expr!(b, y - ax))?;
                monitor.are_least_squares(&minres::are_least_squares(s, &r, &x)?);
            }
            s.times_powers(&x, out)
        }
        None => b.zeros_like(&current.residual.x),
    }
}

type Start<B, T> = (<B as backends::Arrays>::Array<T>, Vec<i32>, Current<B, T>, Vec<f64>);

/// Returns four values: the right side in units of powers of two; the exponents of these units; the initial residual in
/// these units; and the length to which the relative tolerance refers, also in these units.
fn start<B: Backend, T: WideFloat>(s: &System<'_, B, T>, is_normal: bool) -> Result<Start<B, T>> {
    let b = s.b;
    let of_right = s.measured(s.y)?;
    let (unit, y, r) = match s.x0 {
        None => (of_right.exponents.clone(), of_right.x.clone(), of_right.x.clone()),
        Some(x0) => {
            let ax = s.forward(x0)?;
            if ax.shape() != s.y.shape() {
                return Err(Error::shapes(OP, ax.shape(), s.y.shape()));
            }
            let y = s.y;
            let r = expr!(b, y - ax)?;
            let larger = s.largest(s.y)?.into_iter().zip(s.largest(&r)?).map(|(y, r)| exponent(y.max(r)));
            let unit: Vec<i32> = larger.collect();
            let down = || unit.iter().map(|e| -e);
            let (y, r) = (s.times_powers(s.y, down())?, s.times_powers(&r, down())?);
            (unit, y, r)
        }
    };
    let none = vec![0; unit.len()];
    if is_normal {
        let right = s.measured(&s.adjoint(&y, "least squares")?)?;
        let length = right.lengths(&none);
        if let Some(x0) = s.x0
            && x0.shape() != right.x.shape()
        {
            return Err(Error::shapes(OP, x0.shape(), right.x.shape()));
        }
        let residual = if s.x0.is_none() { right } else { s.measured(&s.adjoint(&r, "least squares")?)? };
        return Ok((y, unit, Current { residual, rows: Some(r) }, length));
    }
    let length = of_right.lengths(&unit);
    let residual = if s.x0.is_none() { Measured { exponents: none, ..of_right } } else { s.measured(&r)? };
    Ok((y, unit, Current { residual, rows: None }, length))
}

type Products<B, T> = (<B as backends::Arrays>::Array<T>, <B as backends::Arrays>::Array<T>, Vec<i32>);

/// Computes the preconditioner's product with `r`, and the operator's product with the result. The preconditioner and
/// the operator are scaled by powers of two if their sizes would cause overflow or underflow. Also returns the
/// exponents of the operator's powers of two.
fn first_products<B: Backend, T: WideFloat>(
    s: &mut System<'_, B, T>,
    r: &B::Array<T>,
    power: usize,
    is_normal: bool,
) -> Result<Products<B, T>> {
    let b = s.b;
    let mut z = s.precondition(r)?;
    let mut of_z: Vec<i32> = s.largest(&z)?.into_iter().map(exponent).collect();
    if s.is_preconditioned() && of_z.iter().any(|&e| !is_harmless::<T>(e, power)) {
        let down: Vec<i32> = of_z.iter().map(|&e| if is_harmless::<T>(e, power) { 0 } else { -e }).collect();
        z = s.times_powers(&z, down.iter().copied())?;
        of_z.iter_mut().zip(&down).for_each(|(e, down)| *e += down);
        s.preconditioner_scale = Some(super::scale::Powers::new(b, down)?);
    }
    let mut az = if is_normal { s.forward(&z)? } else { s.apply(&z)? };
    if is_normal && az.shape() != s.y.shape() {
        return Err(Error::shapes(OP, az.shape(), s.y.shape()));
    }
    let of_az = s.largest(&az)?;
    let size = |(&az, &z): (&f64, &i32)| match exponent(az) - z {
        _ if az == 0.0 => 0,
        e if is_harmless::<T>(e, power) => 0,
        e => e,
    };
    let scale: Vec<i32> = of_az.iter().zip(&of_z).map(size).collect();
    if scale.iter().any(|&e| e != 0) {
        az = s.times_powers(&az, scale.iter().map(|e| -e))?;
        s.operator_scale = Some(super::scale::Powers::new(b, scale.iter().map(|e| -e))?);
    }
    Ok((z, az, scale))
}

fn residual_of<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    y: &B::Array<T>,
    x: &B::Array<T>,
    is_normal: bool,
) -> Result<Current<B, T>> {
    let b = s.b;
    let ax = s.forward(x)?;
    let r = expr!(b, y - ax)?;
    Ok(if is_normal {
        Current { residual: s.measured(&s.adjoint(&r, "least squares")?)?, rows: Some(r) }
    } else {
        Current { residual: s.measured(&r)?, rows: None }
    })
}

/// Combines the residuals of two sets of unknowns: takes `x` for the systems where `first` is true, and `y` for all
/// other systems.
fn one_of<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    first: &[bool],
    x: &Current<B, T>,
    y: &Current<B, T>,
) -> Result<Current<B, T>> {
    fn each<N: Copy>(first: &[bool], x: &[N], y: &[N]) -> Vec<N> {
        first.iter().zip(x.iter().zip(y)).map(|(&first, (&x, &y))| if first { x } else { y }).collect()
    }
    let rows = match (&x.rows, &y.rows) {
        (Some(x), Some(y)) => Some(s.select(first, x, y)?),
        _ => None,
    };
    let (x, y) = (&x.residual, &y.residual);
    let residual = Measured {
        x: s.select(first, &x.x, &y.x)?,
        rr: s.select(first, &x.rr, &y.rr)?,
        exponents: each(first, &x.exponents, &y.exponents),
        squares: each(first, &x.squares, &y.squares),
    };
    Ok(Current { residual, rows })
}

/// Returns a second shadow residual, for systems in which the residual itself fails as shadow residual. For example,
/// for skew-symmetric operators the product of `A r` with the residual is 0. The second shadow residual has a component
/// along `A M r`, so that its products with the first directions are not small.
fn second_shadow<B: Backend, T: WideFloat>(
    s: &System<'_, B, T>,
    systems: &[bool],
    residual: &Measured<B, T>,
    az: &B::Array<T>,
) -> Result<B::Array<T>> {
    let (b, r) = (s.b, &residual.x);
    let (across, lengths) = (squares(b, &s.dot(r, az)?)?, squares(b, &s.dot(az, az)?)?);
    let parts = systems.iter().zip(&residual.squares).zip(across.iter().zip(&lengths)).map(|((&is, rr), (ra, aa))| {
        let part = (rr / aa).sqrt();
        T::from_real(backends::Real::of(if is && part.is_finite() { part.copysign(*ra) } else { 0.0 }))
    });
    let parts = b.reshape(b.from_iter(parts.collect::<Vec<_>>())?, super::scale::numbers_shape(r.shape(), s.batch))?;
    expr!(b, r + parts * az)
}
