//! Ops of the group `images` that are composed of other ops, for any backend.

use crate::{
    AffineTransformOptions, Backend, Boundary, Correlate1dOptions, Element, Error, Lengths, MaximumFilterOptions,
    Number, PadOptions, Precision, Real, RealNumeric, Result, Slice, WideFloat, runtime::rules,
};

/// Copies numbers from the host to an array of the backend, rounded to `R`.
fn numbers<B: Backend, R: Real>(b: &B, op: &'static str, x: &[f64]) -> Result<B::Array<R>> {
    let mut rounded = rules::list(op, x.len())?;
    rounded.extend(x.iter().map(|&x| R::of(x)));
    b.asarray(rounded)
}

/// Rotates the image about a point and shifts it: `y[o] = x[rotation (o - center) + center - translation]`.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn rigid_transform<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    rotation: &B::Array<T::Real>,
    translation: Option<&B::Array<T::Real>>,
    center: Option<&B::Array<T::Real>>,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<B::Array<T>> {
    const OP: &str = "rigid_transform";
    let (shape, of_matrix) = (b.shape(x), b.shape(rotation));
    let n = match *of_matrix {
        [rows, columns] if rows == columns && rows <= shape.len() => rows,
        _ => return Err(Error::shapes(OP, shape, of_matrix)),
    };
    for point in [translation, center].into_iter().flatten() {
        if *b.shape(point) != [n] {
            return Err(Error::shapes(OP, of_matrix, b.shape(point)));
        }
    }
    let middle = |&len: &usize| (len as f64 - 1.0) / 2.0;
    let center = match center {
        Some(center) => center.clone(),
        None => numbers(b, OP, &shape[shape.len() - n..].iter().map(middle).collect::<Vec<_>>())?,
    };
    let mut offset = b.subtract(&center, b.matmul(rotation, &center)?)?;
    if let Some(translation) = translation {
        offset = b.subtract(&offset, translation)?;
    }
    let options = AffineTransformOptions::new().order(order).mode(mode).cval(cval).prefilter(prefilter).offset(&offset);
    b.affine_transform_with(x, rotation, options).map_err(|e| e.within(OP))
}

/// Rotates the image in the plane of two axes, by an angle in degrees.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn rotate<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    angle: f64,
    axes: crate::Axes,
    reshape: bool,
    order: usize,
    mode: Boundary,
    cval: f64,
    prefilter: bool,
) -> Result<B::Array<T>> {
    const OP: &str = "rotate";
    if !angle.is_finite() {
        return Err(Error::argument(OP, format!("the angle is {angle}, but must be finite")));
    }
    let shape = b.shape(x);
    let mut plane = rules::reduction(OP, axes, shape.len())?;
    plane.sort_unstable();
    let &[first, second] = &plane[..] else {
        return Err(Error::argument(
            OP,
            format!("{} axes were given, but there must be two, those of a plane", plane.len()),
        ));
    };
    let (sin, cos) = match angle.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        angle => angle.to_radians().sin_cos(),
    };
    let (rows, columns) = (shape[first] as f64, shape[second] as f64);
    let turned = |y: f64, x: f64| [cos * y + sin * x, cos * x - sin * y];
    let mut to = [shape[first], shape[second]];
    if reshape {
        let corners = [[0.0, 0.0], turned(0.0, columns), turned(rows, 0.0), turned(rows, columns)];
        to = [0, 1].map(|k| {
            let ends = corners.map(|corner| corner[k]);
            let range = ends.iter().fold(f64::MIN, |a, &b| a.max(b)) - ends.iter().fold(f64::MAX, |a, &b| a.min(b));
            (range + 0.5) as usize
        });
    }
    let center = turned((to[0] as f64 - 1.0) / 2.0, (to[1] as f64 - 1.0) / 2.0);
    let offset = numbers(b, OP, &[(rows - 1.0) / 2.0 - center[0], (columns - 1.0) / 2.0 - center[1]])?;
    let matrix = b.reshape(numbers(b, OP, &[cos, sin, -sin, cos])?, [2, 2])?;
    let (plane, last) = ([first as isize, second as isize], [-2, -1]);
    let options = AffineTransformOptions::new()
        .order(order)
        .mode(mode)
        .cval(cval)
        .prefilter(prefilter)
        .offset(&offset)
        .shape(Lengths::from(&to[..]));
    let y = b.affine_transform_with(b.moveaxis(x, plane, last)?, &matrix, options).map_err(|e| e.within(OP))?;
    b.moveaxis(&y, last, plane)
}

/// Convolution along an axis: weighted sums of neighbouring elements, with the weights in reverse order.
pub fn convolve1d<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    weights: &B::Array<T::Real>,
    axis: isize,
    mode: Boundary,
    cval: f64,
    origin: isize,
) -> Result<B::Array<T>> {
    const OP: &str = "convolve1d";
    let even = rules::weights(OP, b.shape(weights))? % 2 == 0;
    let origin = origin.checked_neg().and_then(|origin| origin.checked_sub(even.into()));
    let origin = origin.ok_or_else(|| Error::argument(OP, "`origin` must lie within the window"))?;
    let options = Correlate1dOptions::new().axis(axis).mode(mode).cval(cval).origin(origin);
    b.correlate1d_with(x, b.flip(weights, 0)?, options).map_err(|e| e.within(OP))
}

/// Applies a filter with the same weights along each of several axes.
fn separable<B: Backend, T: WideFloat>(
    b: &B,
    op: &'static str,
    x: &B::Array<T>,
    axes: &[usize],
    weights: &[f64],
    mode: Boundary,
    cval: f64,
) -> Result<B::Array<T>> {
    let weights = numbers::<B, T::Real>(b, op, weights)?;
    axes.iter().try_fold(x.clone(), |x, &axis| {
        b.correlate1d_with(&x, &weights, Correlate1dOptions::new().axis(axis as isize).mode(mode).cval(cval))
    })
}

/// Convolves the array with a normal distribution, or with its derivative of order `order`.
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn gaussian_filter<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    sigma: f64,
    axis: crate::Axes,
    order: usize,
    mode: Boundary,
    cval: f64,
    truncate: f64,
) -> Result<B::Array<T>> {
    const OP: &str = "gaussian_filter";
    if !(sigma >= 0.0 && sigma.is_finite() && truncate >= 0.0 && truncate.is_finite()) {
        return Err(Error::argument(
            OP,
            format!("`sigma` is {sigma} and `truncate` is {truncate}, but both must be finite and not negative"),
        ));
    }
    let axes = rules::reduction(OP, axis, b.shape(x).len())?;
    if sigma <= 1e-15 {
        return Ok(x.clone());
    }
    let weights = gaussian(OP, sigma, order, truncate)?;
    separable(b, OP, x, &axes, &weights, mode, cval).map_err(|e| e.within(OP))
}

/// The weights of the filter, in the order for a correlation, scaled so that the weights of order 0 sum to 1. Each
/// derivative of the normal distribution is the distribution times a polynomial: the derivative of the distribution
/// times `q` is the distribution times `q' - q x / sigma^2`.
fn gaussian(op: &'static str, sigma: f64, order: usize, truncate: f64) -> Result<Vec<f64>> {
    const MAX_ORDER: usize = 16;
    if order > MAX_ORDER {
        return Err(Error::argument(op, format!("`order` is {order}, but must be between 0 and {MAX_ORDER}")));
    }
    let radius = truncate * sigma + 0.5;
    if radius >= (1_u64 << 40) as f64 {
        return Err(Error::memory(op, usize::MAX));
    }
    let radius = radius as isize;
    let mut weights = rules::list(op, 2 * radius as usize + 1)?;
    weights.extend((-radius..=radius).map(|x| (-0.5 / (sigma * sigma) * (x * x) as f64).exp()));
    let sum: f64 = weights.iter().sum();
    let mut polynomial = vec![1.0];
    for _ in 0..order {
        let mut next = vec![0.0; polynomial.len() + 1];
        for (power, q) in polynomial.iter().enumerate() {
            next[power + 1] -= q / (sigma * sigma);
            if power > 0 {
                next[power - 1] += q * power as f64;
            }
        }
        polynomial = next;
    }
    for (x, weight) in (-radius..).zip(&mut weights) {
        // a correlation reads the weights in reverse order, which changes the sign of odd derivatives
        let value = polynomial.iter().rev().fold(0.0, |value, q| value * -x as f64 + q);
        *weight *= value / sum;
    }
    Ok(weights)
}

/// The mean over the window around each element.
pub fn uniform_filter<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    size: &[usize],
    mode: Boundary,
    cval: f64,
) -> Result<B::Array<T>> {
    const OP: &str = "uniform_filter";
    let sizes = rules::window_sizes(OP, b.shape(x), size)?;
    let mut y = x.clone();
    for (axis, &size) in sizes.iter().enumerate() {
        rules::window(OP, b.shape(x)[axis], size, 0)?;
        if size > 1 {
            let mut weights = rules::list(OP, size)?;
            weights.resize(size, 1.0 / size as f64);
            y = separable(b, OP, &y, &[axis], &weights, mode, cval).map_err(|e| e.within(OP))?;
        }
    }
    Ok(y)
}

/// The mean of the elements' indices, weighted by the elements' values.
pub fn center_of_mass<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, cutoff: Option<f64>) -> Result<B::Array<T>> {
    let shape = b.shape(x).to_vec();
    if shape.is_empty() {
        return b.zeros([0]);
    }
    let mut kept = match cutoff {
        None => x.clone(),
        Some(cutoff) => {
            // keeps only magnitudes above the cutoff; NaN is not above it, so a NaN element gets no gradient
            let is_above = b.greater(b.abs(x)?, T::of(cutoff))?;
            b.abs(b.r#where(is_above, x, T::of(0.0))?)?
        }
    };
    // begins with the last axis, and sums over each axis after its use, so that the next axes have fewer elements to
    // sum
    let mut moments = Vec::with_capacity(shape.len());
    for (axis, &len) in shape.iter().enumerate().rev() {
        let before: Vec<isize> = (0..axis as isize).collect();
        let along = if before.is_empty() { kept.clone() } else { b.sum(&kept, before)? };
        let indices = b.astype::<T, _>(b.arange::<i64>(0, len as i64, 1)?)?;
        moments.push(expr!(b, sum(along * indices, ..))?);
        kept = b.sum(kept, -1)?;
    }
    moments.reverse();
    let moments = b.stack(&moments)?;
    if cutoff.is_none() {
        return b.divide(moments, kept);
    }
    // if no element exceeds the cutoff, the position is undefined (NaN) and has no gradient
    let is_nothing = b.equal(&kept, T::of(0.0))?;
    let places = b.divide(moments, b.r#where(&is_nothing, T::of(1.0), kept)?)?;
    b.r#where(is_nothing, T::of(f64::NAN), places)
}

/// The indices of the elements that are the maximum of the window around them.
pub fn max_filter_coordinates<B: Backend, T: RealNumeric>(
    b: &B,
    x: &B::Array<T>,
    min_distance: usize,
    min_score: Option<f64>,
) -> Result<B::Array<i64>> {
    const OP: &str = "max_filter_coordinates";
    let options = MaximumFilterOptions::new().mode(Boundary::Constant);
    let largest = b.maximum_filter_with(x, min_distance, options).map_err(|e| e.within(OP))?;
    let mut peaks = b.equal(x, &largest)?;
    if let Some(least) = min_score {
        // compares in float64, because an integer dtype may not represent the minimum score
        let high = b.greater_equal(b.astype::<f64, _>(x)?, least)?;
        peaks = b.logical_and(peaks, high)?;
    }
    b.argwhere(&peaks)
}

/// Crops or pads the array to this shape, keeping the elements with the lowest indices in place.
pub fn topleft_pad<B: Backend, T: Element>(
    b: &B,
    x: &B::Array<T>,
    shape: &[usize],
    value: Number,
) -> Result<B::Array<T>> {
    const OP: &str = "topleft_pad";
    let from = b.shape(x);
    if from.len() != shape.len() {
        return Err(Error::shapes(OP, from, shape));
    }
    rules::count(OP, shape, T::dtype().size())?;
    let kept: Vec<Slice> = from.iter().zip(shape).map(|(&from, &to)| (0..from.min(to)).into()).collect();
    let widths: Vec<(usize, usize)> = from.iter().zip(shape).map(|(&from, &to)| (0, to.saturating_sub(from))).collect();
    let part = b.getitem(x, &kept)?;
    if widths.is_empty() {
        return Ok(part);
    }
    b.pad_with(&part, widths, PadOptions::new().value(value)).map_err(|e| e.within(OP))
}

/// Returns the block of this shape in the middle of the array.
pub fn extract_center<B: Backend, T: Element>(b: &B, x: &B::Array<T>, shape: &[usize]) -> Result<B::Array<T>> {
    let from = b.shape(x);
    if from.len() != shape.len() || from.iter().zip(shape).any(|(from, to)| from < to) {
        return Err(Error::shapes("extract_center", from, shape));
    }
    let part = |(&from, &to): (&usize, &usize)| ((from - to) / 2..(from - to) / 2 + to).into();
    b.getitem(x, from.iter().zip(shape).map(part).collect::<Vec<Slice>>())
}

/// Correlation scores divided by the standard deviation of the elements under the mask. For each position, `squares`
/// and `sums` are the sums of the squared elements and of the elements under the mask; `n` is the sum of the mask.
pub fn norm_scores<B: Backend, T: Real>(
    b: &B,
    scores: &B::Array<T>,
    squares: &B::Array<T>,
    sums: &B::Array<T>,
    n: f64,
    eps: f64,
) -> Result<B::Array<T>> {
    rules::broadcast_all("norm_scores", [b.shape(scores), b.shape(squares), b.shape(sums)])?;
    let (n, eps, none) = (T::of(n), T::of(eps), T::of(0.0));
    let one = T::of(1.0);
    // selects the value before taking the root, because the slope of the root is infinite at 0
    let deviation = expr!(b,
        let variance = maximum(squares / n - (sums / n) * (sums / n), none);
        sqrt(where(sqrt(variance) < eps, one, variance)))?;
    expr!(b, scores / (deviation * n))
}

/// The elementwise maximum of two scores, with the index of the rotation that has the maximum.
pub fn max_score_over_rotations<B: Backend, T: RealNumeric>(
    b: &B,
    scores: &B::Array<T>,
    best: &B::Array<T>,
    rotations: &B::Array<i32>,
    index: i64,
) -> Result<(B::Array<T>, B::Array<i32>)> {
    const OP: &str = "max_score_over_rotations";
    for other in [b.shape(best), b.shape(rotations)] {
        if other != b.shape(scores) {
            return Err(Error::shapes(OP, b.shape(scores), other));
        }
    }
    let index =
        i32::try_from(index).map_err(|_| Error::argument(OP, format!("`index` is {index}, but must fit int32")))?;
    let better = b.greater(scores, best)?;
    Ok((b.r#where(&better, scores, best)?, b.r#where(&better, index, rotations)?))
}
