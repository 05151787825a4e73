//! Newton's method with steps limited to a trust region.

use super::{
    Minimize, Minimum, finished,
    problem::{Array, Point, Search, Stop, endless, eps, or_nan},
};
use backends::{
    Backend, Manipulation, Real, Result, expr,
    grad::{Diff, Var, value_and_grad, vjp},
};

/// The initial radius of the trust region.
const FIRST: f64 = 1.0;
/// A step is accepted if the value falls by more than this fraction of the decrease that the quadratic model predicts.
const ACCEPTED: f64 = 0.15;

/// Finds a minimum of a function of one array by Newton's method, which uses second derivatives. Its linear systems
/// are solved by conjugate gradients inside a trust region (Steihaug's method; Nocedal and Wright, "Numerical
/// optimization", 2nd edition, algorithms 4.1 and 7.2). The method takes few steps, and handles negative curvature.
///
/// `f` runs on a backend that records operations at two levels, because second derivatives are gradients of gradients.
/// `f` is recorded once at each point. The Hessian is never formed; a product with it is one backward pass through the
/// record. The options `method` and `line_search` are not used.
///
/// ```
/// use backends::{Error, Result, prelude::*};
/// use backends_solvers::minimize::{Minimize, trust_region};
///
/// fn valley<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
///     let (x, y) = (b.getitem(x, slices![0])?, b.getitem(x, slices![1])?);
///     expr!(b, 100.0 * (y - x**2)**2 + (1 - x)**2)
/// }
///
/// let b = Numpyish::new();
/// let found = trust_region(&b, |d, x| valley(d, x), &b.asarray([-1.2, 1.0])?, Minimize::new())?;
/// assert!(found.converged && b.allclose(&found.x, b.ones([2])?)?);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// The errors of [`minimize`](super::minimize()).
pub fn trust_region<B: Backend, T: Real>(
    b: &B,
    f: impl Fn(&Diff<Diff<B>>, &Var<Diff<B>, T>) -> Result<Var<Diff<B>, T>>,
    x0: &B::Array<T>,
    options: Minimize<'_>,
) -> Result<Minimum<B::Array<T>>> {
    let shape = b.shape(x0);
    let shaped = |x: &Array<B, T>| b.reshape::<T>(x, shape);
    let mut search = Search::<B, T>::new(b, options)?;
    let mut x = b.reshape::<T>(x0, [shape.iter().product::<usize>()])?;
    let eps = eps::<T>();
    // a function that agrees with its quadratic model along steps this long counts as unbounded
    let endless = endless::<T>().min(1e30);
    let (mut radius, mut before, mut first) = (FIRST, None::<Point<B, T>>, None);
    loop {
        let mut value = None;
        let of_gradient = |d: &Diff<B>, x: &Var<B, T>| {
            let f = |e: &Diff<Diff<B>>, x: &Var<Diff<B>, T>| f(e, &e.reshape::<T>(x, shape)?);
            let (v, g) = value_and_grad::<Diff<B>, &Var<B, T>, _, T>(d, f, x)?;
            value = Some(v.into_value());
            Ok(g)
        };
        search.evaluations += 1;
        let (gradient, mut back) = vjp::<B, &Array<B, T>, _, T>(b, of_gradient, &x)?;
        let value = value.map_or(Ok(f64::NAN), |v| b.item(&v).map(Real::to_f64))?;
        let point = Point { x: x.clone(), value, gradient };
        let stop = match &before {
            Some(before) => search.stepped(before, &point)?,
            None => search.look(&point)?,
        };
        let stop = stop.or((radius > endless).then_some(Stop::Unbounded));
        if let Some(stop) = stop {
            return finished(search, point, stop, shaped);
        }
        let first = *first.get_or_insert(value);
        let noise = 10.0 * eps * value.abs();
        let next = loop {
            let (step, along) = steihaug(&search, &point.gradient, radius, |v| back.pull(v))?;
            let promised = -search.dot(&point.gradient, &step)? - 0.5 * search.dot(&step, &along)?;
            let length = search.dot(&step, &step)?.sqrt();
            let trial = search.moved(&point.x, 1.0, &step)?;
            search.evaluations += 1;
            let falls = value - or_nan(value_at(b, &f, &trial, shape))?.unwrap_or(f64::NAN);
            let ratio = (falls + noise) / (promised + noise);
            // the ratio is NaN after a step to a point where the function is undefined
            if ratio.is_nan() || ratio < 0.25 {
                radius = 0.25 * length.min(radius);
            } else if ratio > 0.75 && length > 0.99 * radius {
                radius *= 2.0;
            }
            if ratio > ACCEPTED {
                break Ok(trial);
            }
            if radius <= eps * search.largest(&point.x)?.max(f64::MIN_POSITIVE) || !length.is_finite() {
                break Err(search.no_further(Stop::Precision, first, value));
            }
            if search.evaluations >= search.options.max_evaluations {
                break Err(Stop::Evaluations);
            }
        };
        drop(back);
        match next {
            Ok(next) => x = next,
            Err(stop) => return finished(search, point, stop, shaped),
        }
        before = Some(point);
    }
}

/// Returns the value of the function without derivatives. Nothing is recorded, since the input is a constant.
fn value_at<B: Backend, T: Real>(
    b: &B,
    f: &impl Fn(&Diff<Diff<B>>, &Var<Diff<B>, T>) -> Result<Var<Diff<B>, T>>,
    x: &Array<B, T>,
    shape: &[usize],
) -> Result<f64> {
    let shaped = b.reshape::<T>(x, shape)?;
    let outer = |d: &Diff<B>, _: &Var<B, T>| {
        let constant = d.constant::<T>(shaped);
        let inner = |e: &Diff<Diff<B>>, x: &Var<Diff<B>, T>| f(e, &e.stop_gradient::<T>(x));
        Ok(vjp::<Diff<B>, &Var<B, T>, _, T>(d, inner, &constant)?.0)
    };
    let value = vjp::<B, &Array<B, T>, _, T>(b, outer, x)?.0;
    Ok(b.item(&value)?.to_f64())
}

/// Returns a step of at most the length `radius` that lowers the quadratic model, and the Hessian times this step.
fn steihaug<B: Backend, T: Real>(
    search: &Search<'_, '_, B, T>,
    gradient: &Array<B, T>,
    radius: f64,
    mut times: impl FnMut(&Array<B, T>) -> Result<Array<B, T>>,
) -> Result<(Array<B, T>, Array<B, T>)> {
    let b = search.b;
    // scales directions to lengths near 1, so that their products do not overflow; a power of 2 causes no rounding
    let size = search.largest(gradient)?;
    let unit = if size > 0.0 && size.is_finite() { size.log2().floor().exp2() } else { 1.0 };
    let mut residual = expr!(b, gradient / unit)?;
    let mut direction = b.negative::<T>(&residual)?;
    let (mut step, mut along) = (b.zeros_like::<T>(gradient)?, b.zeros_like::<T>(gradient)?);
    let mut square = search.dot(&residual, &residual)?;
    let length = square.sqrt();
    let enough = (unit * length).sqrt().min(0.5) * length;
    // conjugate gradients need at most one iteration per unknown; rounding errors may add some
    for _ in 0..2 * b.shape(gradient)[0] + 10 {
        let product = times(&direction)?;
        let curvature = search.dot(&direction, &product)?;
        let ahead = square / curvature;
        let new = search.moved(&step, unit * ahead, &direction)?;
        let inside = curvature > 0.0 && search.dot(&new, &new)? < radius * radius;
        if !inside {
            let [near, far] = to_the_edge(search, &step, &direction, radius)?;
            // the change of the quadratic model along `part` times the direction
            let model = |part: f64| part * (0.5 * part * curvature - unit * square);
            let part = if model(near) < model(far) { near } else { far };
            return Ok((search.moved(&step, part, &direction)?, search.moved(&along, part, &product)?));
        }
        step = new;
        along = search.moved(&along, unit * ahead, &product)?;
        residual = search.moved(&residual, ahead, &product)?;
        let next = search.dot(&residual, &residual)?;
        if next.is_nan() || next.sqrt() <= enough {
            break;
        }
        let part = next / square;
        expr!(b, direction = part * direction - residual)?;
        square = next;
    }
    Ok((step, along))
}

/// The two multiples `t` of `direction` for which `|step + t direction|` equals the radius.
fn to_the_edge<B: Backend, T: Real>(
    search: &Search<'_, '_, B, T>,
    step: &Array<B, T>,
    direction: &Array<B, T>,
    radius: f64,
) -> Result<[f64; 2]> {
    let a = search.dot(direction, direction)?;
    let half = search.dot(step, direction)?;
    let c = search.dot(step, step)? - radius * radius;
    let root = (half * half - a * c).max(0.0).sqrt();
    Ok([(-half - root) / a, (-half + root) / a])
}
