//! Reconstruction with total-variation regularisation.

use crate::{
    Projector, Toeplitz,
    scan::holds,
    tv_options::{Reason, Solution, Step, TvOptions},
};
use backends::{Backend, DType, DiffOptions, Error, Precision, Real, Result, Slice, expr};
use std::{f64::consts::PI, ops::ControlFlow};

/// The reconstruction that minimises `0.5 |A u - s|^2 + weight * TV(u)` over images `u`. `A` is the [`Projector`], `s`
/// are the measured projections, and TV is the isotropic total variation. [`TvOptions`] can restrict the images to
/// nonnegative elements, and to zeros outside of a mask.
///
/// The misfit enters only through `A* A` and `A* s`, where `A*` is the adjoint of `A`. Each iteration of Chambolle and
/// Pock's primal-dual algorithm is therefore one convolution and a few elementwise ops.
#[derive(Clone, Debug)]
pub struct Tv<B: Backend, T: Precision> {
    backend: B,
    normal: Toeplitz<B, T>,
    back_projection: B::Array<T>,
    /// `0.5 |s|^2`, the term of the energy that does not depend on the image.
    offset: f64,
    initial: B::Array<T>,
    weight: f64,
    lipschitz: f64,
    /// True for a planning run, whose arrays hold meaningless values: see [`Tv::planned`].
    is_planned: bool,
}

impl<B: Backend, T: Precision> Tv<B, T> {
    /// Creates the problem for a sinogram. `lambda` is the weight of the regularisation; it does not depend on the
    /// units and sizes of the measurement.
    pub fn new(projector: &Projector<B, T>, sinogram: &B::Array<T>, lambda: f64) -> Result<Self> {
        Tv::made(projector, sinogram, lambda, false)
    }

    /// Like `new`, for a planning run whose arrays hold meaningless values, for example to plan for ranks that do not
    /// exist. Such a problem makes a fixed number of power iterations, and accepts any values.
    pub fn planned(projector: &Projector<B, T>, sinogram: &B::Array<T>, lambda: f64) -> Result<Self> {
        Tv::made(projector, sinogram, lambda, true)
    }

    fn made(projector: &Projector<B, T>, sinogram: &B::Array<T>, lambda: f64, is_planned: bool) -> Result<Self> {
        if !(lambda.is_finite() && lambda > 0.0) {
            return Err(Error::argument("tv", format!("lambda is {lambda}, but must be positive and finite")));
        }
        let b = projector.backend();
        let normal = projector.toeplitz()?;
        let back_projection = projector.adjoint(sinogram)?;
        let pixel = projector.delta().powi(projector.shape().len() as i32);
        let mass = scalar(b, &b.sum(&back_projection, ..)?)? * pixel;
        let is_usable = mass != 0.0 && mass.is_finite();
        if !is_usable && !is_planned {
            return Err(Error::argument(
                "tv",
                format!("the back-projection of the data sums to {mass}, but must sum to a finite number other than 0"),
            ));
        }
        let initial = b.divide(&back_projection, if is_usable { mass } else { 1.0 })?;
        Ok(Tv {
            backend: b.clone(),
            lipschitz: if is_planned { planned(b, &normal, &initial)? } else { lipschitz(b, &normal, &initial)? },
            offset: 0.5 * dot(b, sinogram, sinogram)?,
            weight: lambda * unit_weight(projector),
            normal,
            back_projection,
            initial,
            is_planned,
        })
    }

    /// The factor `weight` of the total variation in the energy `0.5 |A u - s|^2 + weight * TV(u)`: `lambda` times a
    /// number that depends on the reference spectrum and the sampling.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The bound on `|A* A|` that determines the step lengths, estimated by a few power iterations.
    pub fn lipschitz(&self) -> f64 {
        self.lipschitz
    }

    /// Replaces the estimated bound on `|A* A|`.
    pub fn with_lipschitz(self, lipschitz: f64) -> Self {
        Tv { lipschitz, ..self }
    }

    /// The image from which the iterations start.
    pub fn initial(&self) -> &B::Array<T> {
        &self.initial
    }

    /// The gradient of the misfit at an image.
    pub fn misfit_gradient(&self, image: &B::Array<T>) -> Result<B::Array<T>> {
        let (b, normal) = (&self.backend, self.normal.apply(image)?);
        expr!(b, normal - self.back_projection)
    }

    /// Makes `iterations` iterations from the initial image. The energy is computed before the first and after every
    /// `every`-th iteration; `each` is called with every image. It is an error if the energy or a step length is not
    /// finite in this dtype. [`solve_with`](Tv::solve_with) takes a tolerance, a start and constraints.
    pub fn solve(
        &self,
        iterations: usize,
        every: usize,
        mut each: impl FnMut(Step<'_, B::Array<T>>) -> Result<()>,
    ) -> Result<Solution<B::Array<T>>> {
        let mut seen = Ok(());
        let options = TvOptions::new().max_iter(iterations).energy_every(every).callback(|step| {
            seen = each(step);
            if seen.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let solution = self.solve_with(options);
        seen.and(solution)
    }

    /// Iterates with the given options, until the image hardly changes or the largest number of iterations is reached.
    /// Constraints can restrict the image to zeros outside of a mask, and to nonnegative elements.
    ///
    /// ```
    /// use backends::{Result, prelude::*};
    /// use backends_epr::{Projector, Scan, Tv, TvOptions};
    ///
    /// # fn main() -> Result<()> {
    /// let b = Numpyish::new();
    /// let field: Vec<f64> = (0..64).map(|i| 3500.0 + 0.5 * i as f64).collect();
    /// let spectrum: Vec<f64> = field.iter().map(|f| -(f - 3516.0) * (-(f - 3516.0).powi(2)).exp()).collect();
    /// let gradients: Vec<_> = (0..8).map(|k| 20.0 * (k as f64 * 0.39).cos()).zip((0..8).map(|k| 20.0 * (k as f64 * 0.39).sin())).collect();
    /// let (along_y, along_x) = gradients.into_iter().unzip();
    /// let scan = Scan::new(&field, &spectrum, &[along_y, along_x])?;
    /// let projector = Projector::<_, f64>::new(&b, &scan, &[12, 12], 0.05, 1e-9)?;
    /// let mut truth = b.zeros::<f64>([12, 12])?;
    /// b.set(&mut truth, ix![4..8, 5..7], 1.0)?;
    /// let problem = Tv::new(&projector, &projector.apply(&truth)?, 1e-3)?;
    ///
    /// let mask = b.greater(b.pad(b.ones::<f64>([8, 8])?, 2)?, 0.0)?;
    /// let found = problem.solve_with(TvOptions::new().max_iter(5000).tol(1e-5).mask(&mask).positivity(true))?;
    /// assert!(found.converged && found.iterations < 5000, "{}", found.reason);
    /// assert!(b.item(b.min(&found.image, ..)?)? >= 0.0 && found.image[[0, 0]] == 0.0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Error::Argument` if `tol` is negative or NaN, or if the energy, the change of the image or a step length is not
    /// finite in this dtype; `Error::Shape` if `init` or `mask` does not have the shape of the image.
    pub fn solve_with(&self, options: TvOptions<'_, B, T>) -> Result<Solution<B::Array<T>>> {
        let b = &self.backend;
        options.check(b, b.shape(&self.initial))?;
        let TvOptions { max_iter, energy_every: every, tol, init, dual, mask, positivity, mut callback } = options;
        let dims = b.ndim(&self.initial);
        // the gradient operator along one axis has a squared norm of at most 4
        let gradient_norm = (4.0 * dims as f64).sqrt();
        let tau = 0.5 / self.lipschitz;
        let dual_step = self.lipschitz / (gradient_norm * gradient_norm * self.weight);
        if !(holds::<T>(tau) && holds::<T>(dual_step) && holds::<T>(tau * self.weight)) {
            let steps = format!("{tau:.1e} and {dual_step:.1e}, the weight of the total variation {:.1e}", self.weight);
            let why = format!("the step lengths are {steps}: too far from 1 for {}; lambda sets them", T::DTYPE);
            return Err(Error::argument("tv", why));
        }
        // multiplies the step lengths into the operator and the data, once for all iterations
        let normal_step = self.normal.scaled(tau)?;
        let data_step = b.multiply(&self.back_projection, tau)?;
        let mut energies = Vec::new();
        let mut image = init.unwrap_or_else(|| self.initial.clone());
        let mut ahead = b.multiply(&image, dual_step)?;
        let mut dual = match dual {
            Some(dual) => dual,
            None => vec![b.zeros_like(&image)?; dims],
        };
        let (mut iterations, mut last_change, mut reason) = (0, None, Reason::MaxIter);
        while iterations < max_iter && reason == Reason::MaxIter {
            let step = normal_step.apply(&image)?;
            if every != 0 && iterations.is_multiple_of(every) {
                energies.push(self.energy(&image, dot(b, &image, &step)? / tau)?);
            }
            ascend(b, &mut dual, &ahead)?;
            project(b, &mut dual)?;
            let mut next = descended(b, &image, [&data_step, &step], &dual, tau * self.weight)?;
            constrain(b, &mut next, mask.as_ref(), positivity)?;
            if let Some(tol) = tol {
                let change = self.change(&next, &image)?;
                last_change = Some(change);
                // the values of a planned run are meaningless, so they must not end the run
                if change <= tol && !self.is_planned {
                    reason = Reason::Converged;
                }
            }
            expr!(b, ahead = dual_step * (2 * next - image))?;
            image = next;
            iterations += 1;
            if let Some(callback) = &mut callback
                && callback(Step { iteration: iterations, image: &image }).is_break()
                && reason == Reason::MaxIter
            {
                reason = Reason::Callback;
            }
        }
        if every != 0 && iterations.is_multiple_of(every) {
            let squared = dot(b, &image, &self.normal.apply(&image)?)?;
            energies.push(self.energy(&image, squared)?);
        }
        let converged = reason == Reason::Converged;
        Ok(Solution { image, energies, iterations, converged, reason, change: last_change, dual })
    }

    /// `|next - image| / |next|`; 0 if both images are 0.
    fn change(&self, next: &B::Array<T>, image: &B::Array<T>) -> Result<f64> {
        let b = &self.backend;
        let squares = |next: &B::Array<T>, image: &B::Array<T>| {
            // copies both sums to the host with one wait for the device
            let sums = [expr!(b, sum(square(next - image), ..))?, expr!(b, sum(square(next), ..))?];
            let numbers = b.to_vec::<T>(b.stack(&sums)?)?;
            Ok::<_, Error>([numbers[0].to_f64(), numbers[1].to_f64()])
        };
        let [mut difference, mut length] = squares(next, image)?;
        let least = if T::DTYPE == DType::Float64 { 1e-200 } else { 1e-20 };
        if !(length >= least && length.is_finite() && difference.is_finite()) {
            // the squares may have underflowed or overflowed
            let largest = |x: &B::Array<T>| scalar(b, &b.max(b.abs(x)?, ..)?);
            let of_both = largest(next)?.max(largest(image)?);
            if of_both == 0.0 {
                return Ok(0.0);
            }
            [difference, length] = squares(&b.divide(next, of_both)?, &b.divide(image, of_both)?)?;
        }
        let change = (difference / length).sqrt();
        if change.is_nan() && !self.is_planned {
            let why = format!("the image is not finite: data, lambda or the start are too large for {}", T::DTYPE);
            return Err(Error::argument("tv", why));
        }
        Ok(change)
    }

    /// The energy at an image `u`, where `squared` is `|A u|^2`.
    fn energy(&self, image: &B::Array<T>, squared: f64) -> Result<f64> {
        let b = &self.backend;
        let misfit = 0.5 * squared - dot(b, image, &self.back_projection)? + self.offset;
        let energy = misfit + self.weight * total_variation(b, image)?;
        if !energy.is_finite() && !self.is_planned {
            let why = format!("the energy is {energy}: data or lambda are too large for {}", T::DTYPE);
            return Err(Error::argument("tv", why));
        }
        Ok(energy)
    }
}

/// The forward differences of an image along each axis. At the end of the axis, the difference is 0.
pub fn gradient<B: Backend, T: Precision>(b: &B, image: &B::Array<T>) -> Result<Vec<B::Array<T>>> {
    let dims = b.ndim(image);
    let along = |axis: usize| {
        let inner = b.diff_with(image, DiffOptions::new().axis(axis as isize))?;
        let mut after = vec![0; 2 * dims];
        after[2 * axis + 1] = 1;
        b.pad(&inner, after)
    };
    (0..dims).map(along).collect()
}

/// Minus the adjoint of [`gradient`], for a field whose component along each axis is 0 at the end of the axis.
pub fn divergence<B: Backend, T: Precision>(b: &B, field: &[B::Array<T>]) -> Result<B::Array<T>> {
    let Some(component) = field.first() else {
        return Err(Error::argument("divergence", "the field must have at least one dimension"));
    };
    let mut sum = b.zeros_like(component)?;
    descend(b, &mut sum, field, 1.0)?;
    Ok(sum)
}

/// Adds the [`divergence`] of a field, times a number, to an image.
fn descend<B: Backend, T: Precision>(b: &B, image: &mut B::Array<T>, field: &[B::Array<T>], by: f64) -> Result<()> {
    for (axis, component) in field.iter().enumerate() {
        // `roll` moves the last element, which is 0, to the beginning
        expr!(b, *image += by * (component - roll(component, 1, axis)))?;
    }
    Ok(())
}

/// The image after a descent: `image + data - step`, plus the [`divergence`] of a field times a number. In two
/// dimensions, one pass computes it.
fn descended<B: Backend, T: Precision>(
    b: &B,
    image: &B::Array<T>,
    [data, step]: [&B::Array<T>; 2],
    field: &[B::Array<T>],
    by: f64,
) -> Result<B::Array<T>> {
    if let [x, y] = field {
        return expr!(b, image + data - step + by * (x - roll(x, 1, 0)) + by * (y - roll(y, 1, 1)));
    }
    let mut next = expr!(b, image + data - step)?;
    descend(b, &mut next, field, by)?;
    Ok(next)
}

/// Sets elements outside of the mask to 0, and negative elements if `positivity` is true.
fn constrain<B: Backend, T: Precision>(
    b: &B,
    image: &mut B::Array<T>,
    mask: Option<&B::Array<bool>>,
    positivity: bool,
) -> Result<()> {
    match (mask, positivity) {
        (None, false) => Ok(()),
        (None, true) => expr!(b, *image = maximum(image, 0)),
        (Some(mask), false) => expr!(b, *image = where(mask, image, 0)),
        (Some(mask), true) => expr!(b, *image = where(mask, maximum(image, 0), 0)),
    }
}

/// The isotropic total variation: the sum of the lengths of the gradient vectors.
pub fn total_variation<B: Backend, T: Precision>(b: &B, image: &B::Array<T>) -> Result<f64> {
    let squares = squares(b, &gradient(b, image)?)?;
    scalar(b, &expr!(b, sum(sqrt(squares), ..))?)
}

/// Adds the gradient of `image` to the dual field. `image` is already multiplied by the step length.
fn ascend<B: Backend, T: Precision>(b: &B, dual: &mut [B::Array<T>], image: &B::Array<T>) -> Result<()> {
    let dims = b.ndim(image);
    for (axis, component) in dual.iter_mut().enumerate() {
        let up = b.diff_with(image, DiffOptions::new().axis(axis as isize))?;
        // the gradient is 0 at the end of the axis
        let mut but_last = vec![Slice::ALL; dims];
        but_last[axis] = Slice::from(..-1);
        b.add_at(component, but_last, up)?;
    }
    Ok(())
}

/// Projects each vector of the field onto the unit ball: a vector longer than 1 gets length 1.
fn project<B: Backend, T: Precision>(b: &B, field: &mut [B::Array<T>]) -> Result<()> {
    let excess = match field {
        [x, y] => expr!(b, maximum(sqrt(square(x) + square(y)), 1))?,
        _ => {
            let squares = squares(b, field)?;
            expr!(b, maximum(sqrt(squares), 1))?
        }
    };
    for component in field {
        expr!(b, *component /= excess)?;
    }
    Ok(())
}

/// The squared lengths of a field's vectors.
fn squares<B: Backend, T: Precision>(b: &B, field: &[B::Array<T>]) -> Result<B::Array<T>> {
    let (first, rest) =
        field.split_first().ok_or_else(|| Error::argument("tv", "the field must have at least one dimension"))?;
    let Some((second, rest)) = rest.split_first() else { return expr!(b, square(first)) };
    let mut squares = expr!(b, square(first) + square(second))?;
    for component in rest {
        expr!(b, squares += square(component))?;
    }
    Ok(squares)
}

fn scalar<B: Backend, T: Precision>(b: &B, x: &B::Array<T>) -> Result<f64> {
    let first = b.to_ndarray(x)?.first().copied();
    first.map(Real::to_f64).ok_or_else(|| Error::argument("tv", "the image must have elements"))
}

fn dot<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, y: &B::Array<T>) -> Result<f64> {
    scalar(b, &expr!(b, sum(x * y, ..))?)
}

/// The weight of the total variation for `lambda` = 1. It is proportional to the scale of the misfit, which depends on
/// the reference spectrum and the sampling.
fn unit_weight<B: Backend, T: Precision>(projector: &Projector<B, T>) -> f64 {
    let (scan, dims) = (projector.scan(), projector.shape().len() as i32);
    let highest = scan.reference().iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = scan.reference().iter().copied().fold(f64::INFINITY, f64::min);
    let angles = scan.projections() as f64 / (2.0_f64.powi(dims - 1) * PI);
    (highest - lowest) * angles * scan.samples() as f64 / scan.range() * projector.delta().powi(dims - 1)
}

/// Makes a fixed number of the power iterations of [`lipschitz`], and returns 1. In a planning run the values are
/// meaningless, so they cannot decide when the iterations end.
fn planned<B: Backend, T: Precision>(b: &B, operator: &Toeplitz<B, T>, start: &B::Array<T>) -> Result<f64> {
    const ITERATIONS: usize = 30;
    let mut x = start.clone();
    for _ in 0..ITERATIONS {
        let next = operator.apply(&x)?;
        dot(b, &next, &next)?;
        x = b.divide(&next, 1.0)?;
    }
    Ok(1.0)
}

/// 1.05 times the norm of the operator, which is estimated by power iterations from `start` until the norm hardly
/// changes.
fn lipschitz<B: Backend, T: Precision>(b: &B, operator: &Toeplitz<B, T>, start: &B::Array<T>) -> Result<f64> {
    /// If the relative change of the norm is below this threshold, one last application of the operator gives the norm.
    const SETTLED: f64 = 1e-5;
    const MAX_ITERATIONS: usize = 10_000;
    let norm = |x: &B::Array<T>| dot(b, x, x).map(f64::sqrt);
    let mut x = b.divide(start, norm(start)?)?;
    let (mut previous, mut settled) = (f64::INFINITY, false);
    for _ in 0..MAX_ITERATIONS {
        let next = operator.apply(&x)?;
        let found = norm(&next)?;
        if found == 0.0 || !found.is_finite() {
            break;
        }
        if settled {
            return Ok(1.05 * found);
        }
        settled = (found - previous).abs() < SETTLED * previous;
        previous = found;
        x = b.divide(&next, found)?;
    }
    Err(Error::argument("tv", "no bound of the projection operator was found: its power iteration does not settle"))
}
