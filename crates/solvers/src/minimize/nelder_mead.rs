//! The simplex method of Nelder and Mead, which uses only values of the function, not its gradients.

use super::{
    Minimize, Minimum, flat,
    problem::{Array, Search, Stop, or_nan},
};
use backends::{Arrays, Backend, Real, Result, grad::Params};

/// Finds a minimum of a function of few unknowns from its values alone, by the simplex method of Nelder and Mead
/// (Comput. J. 7, 1965). The initial simplex, the order of corners with equal values, and the stopping criterion are
/// as in `scipy.optimize.minimize(method="Nelder-Mead")`.
///
/// `f` returns one real number, runs on the backend `b` itself, and needs no gradient; NaN counts as higher than every
/// number. The simplex is updated in double precision on the host. The search has converged when the corners of the
/// simplex differ by at most `xtol` in each unknown and by at most `ftol` in value; each of these tolerances is 1e-4
/// if it is 0 or not set. The options `gtol`, `method` and `line_search` are not used.
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::minimize::{Minimize, nelder_mead};
///
/// let b = Numpyish::new();
/// let start = b.asarray([3.0, -1.0])?;
/// let found = nelder_mead(&b, |b, x| b.sum(b.abs(b.subtract(x, 1.5)?)?, ..), &start, Minimize::new())?;
/// assert!(found.converged && found.value < 1e-3);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of the function; `Error::Argument` if a tolerance is negative or NaN.
pub fn nelder_mead<B, P, K, U>(
    b: &B,
    mut f: impl FnMut(&B, &P::Grads) -> Result<Array<B, U>>,
    x0: P,
    options: Minimize<'_>,
) -> Result<Minimum<P::Grads>>
where
    B: Backend,
    P: Params<B, K>,
    U: Real,
{
    let start = flat::flatten::<B, P, K, U>(b, &x0)?;
    let start: Vec<f64> = b.to_ndarray::<U>(&start)?.iter().map(|x| x.to_f64()).collect();
    let vector = |x: &[f64]| b.asarray(x.iter().map(|x| U::of(*x)).collect::<Vec<U>>());
    let shaped = |x: &Array<B, U>| flat::unflatten::<B, P, K, U>(b, x, &x0);
    let mut search = Search::<B, U>::new(b, options)?;
    let mut value = |x: &[f64], search: &mut Search<'_, '_, B, U>| -> Result<f64> {
        search.evaluations += 1;
        let at = f(b, &shaped(&vector(x)?)?);
        // an error of the first evaluation is returned; in later evaluations, a failed matrix factorization gives NaN
        // instead
        let value = if search.evaluations == 1 { Some(at?) } else { or_nan(at)? };
        let value = value.map_or(Ok(f64::NAN), |value| b.item(&value).map(Real::to_f64))?;
        Ok(if value.is_nan() { f64::INFINITY } else { value })
    };
    let (corners, stop) = simplex(&mut search, &start, |x| vector(x), &mut value)?;
    let (x, value) = &corners[0];
    Ok(Minimum {
        x: shaped(&vector(x)?)?,
        value: *value,
        gradient_norm: None,
        iterations: search.iterations,
        evaluations: search.evaluations,
        converged: stop.converged(),
        diverged: stop.diverged(),
        message: stop.message(),
        trajectory: search.trajectory.iter().map(shaped).collect::<Result<_>>()?,
    })
}

/// The corners of the simplex, each with the function's value at the corner, sorted by value.
type Corners = Vec<(Vec<f64>, f64)>;

fn simplex<'p, 'c, B: Backend, U: Real>(
    search: &mut Search<'p, 'c, B, U>,
    start: &[f64],
    vector: impl Fn(&[f64]) -> Result<<B as Arrays>::Array<U>>,
    value: &mut impl FnMut(&[f64], &mut Search<'p, 'c, B, U>) -> Result<f64>,
) -> Result<(Corners, Stop)> {
    let n = start.len();
    let usual = |tolerance: f64| if tolerance > 0.0 { tolerance } else { 1e-4 };
    let (xtol, ftol) = (usual(search.options.xtol), usual(search.options.ftol));
    let mut corners: Corners = vec![(start.to_vec(), value(start, search)?)];
    for k in 0..n {
        let mut x = start.to_vec();
        x[k] = if x[k] == 0.0 { 0.00025 } else { 1.05 * x[k] };
        let value = value(&x, search)?;
        corners.push((x, value));
    }
    let order = |corners: &mut Corners| corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    order(&mut corners);
    loop {
        let lowest = corners[0].1;
        if let Some(stop) = search.tell(&vector(&corners[0].0)?, lowest, None) {
            return Ok((corners, stop));
        }
        if !lowest.is_finite() {
            let stop = if lowest > 0.0 { Stop::NotFinite } else { Stop::Unbounded };
            return Ok((corners, stop));
        }
        if let Some(stop) = search.unbounded(lowest) {
            return Ok((corners, stop));
        }
        let spread = corners[1..].iter().flat_map(|(x, _)| x.iter().zip(&corners[0].0).map(|(x, y)| (x - y).abs()));
        let rise = corners[1..].iter().map(|(_, value)| value - lowest).fold(0.0, f64::max);
        if spread.fold(0.0, f64::max) <= xtol && rise <= ftol {
            return Ok((corners, Stop::Simplex));
        }
        if let Some(stop) = search.limits() {
            return Ok((corners, stop));
        }
        let center: Vec<f64> = (0..n).map(|k| corners[..n].iter().map(|(x, _)| x[k]).sum::<f64>() / n as f64).collect();
        let (worst, highest) = corners[n].clone();
        let second = corners[n - 1].1;
        // reflects the worst corner at the centre of the other corners; `part` is the distance beyond the centre, as a
        // multiple of the distance between the worst corner and the centre
        let beyond =
            |part: f64| -> Vec<f64> { center.iter().zip(&worst).map(|(c, w)| (1.0 + part) * c - part * w).collect() };
        let reflected = beyond(1.0);
        let at_reflected = value(&reflected, search)?;
        let new = if at_reflected < lowest {
            let expanded = beyond(2.0);
            let at_expanded = value(&expanded, search)?;
            Some(if at_expanded < at_reflected { (expanded, at_expanded) } else { (reflected, at_reflected) })
        } else if at_reflected < second {
            Some((reflected, at_reflected))
        } else if at_reflected < highest {
            let contracted = beyond(0.5);
            let at_contracted = value(&contracted, search)?;
            (at_contracted <= at_reflected).then_some((contracted, at_contracted))
        } else {
            let contracted = beyond(-0.5);
            let at_contracted = value(&contracted, search)?;
            (at_contracted < highest).then_some((contracted, at_contracted))
        };
        match new {
            Some(new) => corners[n] = new,
            None => {
                let best = corners[0].0.clone();
                for (x, at) in &mut corners[1..] {
                    x.iter_mut().zip(&best).for_each(|(x, best)| *x = best + 0.5 * (*x - best));
                    *at = value(x, search)?;
                }
            }
        }
        order(&mut corners);
        search.iterations += 1;
    }
}
