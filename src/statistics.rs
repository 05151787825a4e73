//! Ops of the group `statistics` that are composed of other ops, for any backend.

use crate::{
    AverageOptions, Axes, Backend, CorrcoefOptions, CovOptions, CumulativeSumOptions, DiffOptions, Element, Error,
    Float, LinspaceOptions, MeanOptions, NanmeanOptions, NanstdOptions, NanvarOptions, Numeric, Ordered, Precision,
    Real, Result, SearchsortedOptions, Side, SumOptions, lazy, manipulation::part, runtime::rules, segments::is_16_bit,
};

/// Sum of the elements that are not NaN.
pub fn nansum<B: Backend, T: Float>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    let kept = SumOptions::new().keepdims(keepdims);
    lazy(x).isnan().r#where(lazy(T::ZERO), x).sum_with(axis, kept).eval(b)
}

/// Product of the elements that are not NaN.
pub fn nanprod<B: Backend, T: Float>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    lazy(x).isnan().r#where(lazy(T::ONE), x).prod(axis).keepdims(keepdims).eval(b)
}

/// The largest element that is not NaN.
pub fn nanmax<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    let least = lazy(T::of(f64::NEG_INFINITY));
    let top = lazy(x).isnan().r#where(least, x).max(axis).keepdims(keepdims).eval(b)?;
    known(b, x, top, axis, keepdims, T::of(f64::NEG_INFINITY))
}

/// The smallest element that is not NaN.
pub fn nanmin<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    let greatest = lazy(T::of(f64::INFINITY));
    let bottom = lazy(x).isnan().r#where(greatest, x).min(axis).keepdims(keepdims).eval(b)?;
    known(b, x, bottom, axis, keepdims, T::of(f64::INFINITY))
}

/// Sets a result to NaN if all elements from which it was computed are NaN. `replaced` is the value that replaced NaN.
fn known<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    result: B::Array<T>,
    axis: Axes,
    keepdims: bool,
    replaced: T,
) -> Result<B::Array<T>> {
    // a result that was computed only from NaN elements equals `replaced`; if the results are on the host and none of
    // them equals `replaced`, no second pass over the elements is needed
    if b.host_view(&result).and_then(|result| result.as_slice()).is_some_and(|result| !result.contains(&replaced)) {
        return Ok(result);
    }
    let nothing = lazy(x).isnan().all(axis).keepdims(keepdims).eval(b)?;
    lazy(&nothing).r#where(lazy(T::of(f64::NAN)), &result).eval(b)
}

/// Returns the number of elements that are reduced to one result, and how many of these elements are not NaN.
fn shares<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<(f64, B::Array<f64>)> {
    let axes = rules::reduction("nanmean", axis, b.shape(x).len())?;
    let all: f64 = axes.iter().map(|&axis| b.shape(x)[axis] as f64).product();
    let count = (!lazy(x).isnan()).sum(axis).keepdims(keepdims).eval(b)?;
    Ok((all, b.astype::<f64, _>(count)?))
}

/// Mean of the elements that are not NaN.
pub fn nanmean<B: Backend, T: Real>(b: &B, x: &B::Array<T>, axis: Axes, keepdims: bool) -> Result<B::Array<T>> {
    let (all, count) = shares(b, x, axis, keepdims)?;
    if is_16_bit::<T>() && all > 2048.0 {
        let x = b.astype::<f32, _>(x)?;
        return b.astype::<T, _>(b.nanmean_with(&x, axis, NanmeanOptions::new().keepdims(keepdims))?);
    }
    // uses the mean with zeros for NaN, because the sum or the count may exceed the range of the dtype although the
    // mean does not
    let mean = lazy(x).isnan().r#where(lazy(T::ZERO), x).mean(axis).keepdims(keepdims).eval(b)?;
    let share = b.astype::<T, _>(b.divide(all, &count)?)?;
    b.multiply(mean, share)
}

/// Variance of the elements that are not NaN.
pub fn nanvar<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        let x = b.astype::<f32, _>(x)?;
        return b.astype::<T, _>(b.nanvar_with(
            &x,
            axis,
            NanvarOptions::new().correction(correction).keepdims(keepdims),
        )?);
    }
    let (all, count) = shares(b, x, axis, keepdims)?;
    let mean = nanmean(b, x, axis, true)?;
    // selects before squaring, because the gradient through the square of NaN would be NaN
    let squares = lazy(x).isnan().r#where(lazy(T::ZERO), lazy(x) - &mean).square();
    let squares = squares.mean(axis).keepdims(keepdims).eval(b)?;
    let freedom = (lazy(&count) - correction).eval(b)?;
    let share = lazy(&freedom).greater(0.0).r#where(lazy(all) / &freedom, f64::NAN).eval(b)?;
    b.multiply(squares, b.astype::<T, _>(share)?)
}

/// Standard deviation of the elements that are not NaN.
pub fn nanstd<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    correction: f64,
    keepdims: bool,
) -> Result<B::Array<T>> {
    if is_16_bit::<T>() {
        let x = b.astype::<f32, _>(x)?;
        return b.astype::<T, _>(b.nanstd_with(
            &x,
            axis,
            NanstdOptions::new().correction(correction).keepdims(keepdims),
        )?);
    }
    let var = b.nanvar_with(x, axis, NanvarOptions::new().correction(correction).keepdims(keepdims))?;
    // the slope of the square root is infinite at 0; the gradient is 0 there, as for `std`
    let is_zero = b.equal(&var, T::ZERO)?;
    let root = b.sqrt(b.r#where(&is_zero, T::ONE, &var)?)?;
    b.r#where(is_zero, T::ZERO, root)
}

/// Weighted mean over the given axes; without weights, the mean.
pub fn average<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    weights: Option<&B::Array<T>>,
    keepdims: bool,
) -> Result<B::Array<T>> {
    const OP: &str = "average";
    let Some(weights) = weights else {
        return b.mean_with(x, axis, MeanOptions::new().keepdims(keepdims));
    };
    let axes = rules::reduction(OP, axis, b.shape(x).len())?;
    let shape = rules::weighted(OP, b.shape(x), b.shape(weights), &axes)?;
    if is_16_bit::<T>() {
        let (x, weights) = (b.astype::<f32, _>(x)?, b.astype::<f32, _>(weights)?);
        return b.astype::<T, _>(b.average_with(
            &x,
            axis,
            AverageOptions::new().weights(&weights).keepdims(keepdims),
        )?);
    }
    let weights = b.reshape(weights, shape)?;
    let sum = (lazy(x) * &weights).sum(axis).keepdims(keepdims).eval(b)?;
    b.divide(sum, b.sum_with(&weights, axis, SumOptions::new().keepdims(keepdims))?)
}

/// Covariance matrix of the variables, which are the rows or the columns of `x`.
pub fn cov<B: Backend, T: Float>(b: &B, x: &B::Array<T>, rowvar: bool, correction: f64) -> Result<B::Array<T>> {
    const OP: &str = "cov";
    let (variables, n) = rules::variables(OP, b.shape(x), rowvar)?;
    rules::count(OP, &[variables, variables], T::dtype().size())?;
    if is_16_bit::<T>() {
        let x = b.astype::<f32, _>(x)?;
        return b.astype::<T, _>(b.cov_with(&x, CovOptions::new().rowvar(rowvar).correction(correction))?);
    }
    let rows = centred(b, x, variables, n, rowvar)?;
    let products = b.matmul(&rows, b.matrix_transpose(b.conj(&rows)?)?)?;
    let freedom = (n as f64 - correction).max(0.0);
    let cov = b.multiply(products, T::from_f64(1.0 / freedom))?;
    if variables == 1 { b.reshape(cov, [0_usize; 0]) } else { Ok(cov) }
}

/// The variables as rows, minus their means.
fn centred<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    variables: usize,
    n: usize,
    rowvar: bool,
) -> Result<B::Array<T>> {
    let rows = if b.shape(x).len() == 2 && !rowvar { b.matrix_transpose(x)? } else { x.clone() };
    let rows = b.reshape(rows, [variables, n])?;
    let mean = b.mean_with(&rows, 1, MeanOptions::new().keepdims(true))?;
    b.subtract(rows, mean)
}

/// Correlation matrix of the variables, which are the rows or the columns of `x`.
pub fn corrcoef<B: Backend, T: Real>(b: &B, x: &B::Array<T>, rowvar: bool) -> Result<B::Array<T>> {
    let (variables, n) = rules::variables("corrcoef", b.shape(x), rowvar)?;
    rules::count("corrcoef", &[variables, variables], T::dtype().size())?;
    if is_16_bit::<T>() {
        let x = b.astype::<f32, _>(x)?;
        return b.astype::<T, _>(b.corrcoef_with(&x, CorrcoefOptions::new().rowvar(rowvar))?);
    }
    // divides the deviations of each variable by the largest deviation, because products of deviations may exceed the
    // range of the dtype
    let rows = centred(b, x, variables, n, rowvar)?;
    let rows = if n == 0 {
        rows
    } else {
        let most = expr!(b, max(abs(rows), 1, keepdims = true))?;
        expr!(b, rows / where(most == 0.0, T::ONE, most))?
    };
    let cov = b.matmul(&rows, b.matrix_transpose(&rows)?)?;
    if variables == 1 {
        return b.reshape(b.divide(&cov, &cov)?, [0_usize; 0]);
    }
    let deviation = b.sqrt(b.diagonal(&cov)?)?;
    let column = b.expand_dims(&deviation, -1)?;
    // clips to the valid range, which rounding errors may exceed; NaN remains NaN
    (lazy(&cov) / &column / &deviation).clip(-1.0, 1.0).eval(b)
}

/// The number of elements in each bin, and the edges of the bins.
#[allow(clippy::type_complexity)] // a pair of results
pub fn histogram<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    bins: usize,
    low: Option<f64>,
    high: Option<f64>,
    edges: Option<&B::Array<T>>,
) -> Result<(B::Array<i64>, B::Array<T>)> {
    let edges = binned("histogram", b, x, bins, low, high, edges)?;
    let x = b.flatten(x)?;
    let ones = b.broadcast_to(b.ones::<i64>([1])?, b.shape(&x))?;
    let n = b.shape(&edges)[0];
    let counts = b.segment_sum(&ones, bin(b, &x, &edges)?, n + 1)?;
    Ok((part(b, &counts, 0, 1..n as i128)?, edges))
}

/// The sum of the weights in each bin, and the edges of the bins.
#[allow(clippy::type_complexity)] // a pair of results
#[allow(clippy::too_many_arguments)] // the parameters of the op's row
pub fn histogram_weighted<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    weights: &B::Array<T>,
    bins: usize,
    low: Option<f64>,
    high: Option<f64>,
    edges: Option<&B::Array<T>>,
    density: bool,
) -> Result<(B::Array<T>, B::Array<T>)> {
    const OP: &str = "histogram_weighted";
    if b.shape(x) != b.shape(weights) {
        return Err(Error::shapes(OP, b.shape(x), b.shape(weights)));
    }
    let edges = binned(OP, b, x, bins, low, high, edges)?;
    let n = b.shape(&edges)[0];
    let bins = bin(b, &b.flatten(x)?, &edges)?;
    let sums = b.segment_sum(b.flatten(weights)?, bins, n + 1)?;
    let sums = part(b, &sums, 0, 1..n as i128)?;
    if !density {
        return Ok((sums, edges));
    }
    let total = b.sum(&sums, ..)?;
    let widths = b.diff(&edges)?;
    Ok(((lazy(&sums) / &widths / &total).eval(b)?, edges))
}

/// The edges of the bins: the given edges, or the edges of bins of equal width. By default these bins range from the
/// smallest to the largest element.
fn binned<B: Backend, T: Real>(
    op: &'static str,
    b: &B,
    x: &B::Array<T>,
    bins: usize,
    low: Option<f64>,
    high: Option<f64>,
    edges: Option<&B::Array<T>>,
) -> Result<B::Array<T>> {
    if let Some(edges) = edges {
        ascending(op, b, edges)?;
        return Ok(edges.clone());
    }
    let (edges, low, high) = rules::bin_range(op, T::dtype(), bins, (low, high), || {
        if b.shape(x).contains(&0) {
            return Ok(None);
        }
        let ends = b.to_vec(&b.stack([b.min(x, ..)?, b.max(x, ..)?])?)?;
        Ok(Some((ends[0].to_f64(), ends[1].to_f64())))
    })?;
    b.linspace_with(T::of(low), T::of(high), edges, LinspaceOptions::new().endpoint(true))
}

/// Returns an error if the edges are not in ascending order, or if there are fewer than two edges.
fn ascending<B: Backend, T: Real>(op: &'static str, b: &B, edges: &B::Array<T>) -> Result<()> {
    let n = rules::bin_edges(op, b.shape(edges))?;
    let n = n as i128;
    let (lower, upper) = (part(b, edges, 0, 0..n - 1)?, part(b, edges, 0, 1..n)?);
    let rise = lazy(&lower).less_equal(&upper).eval(b)?;
    if b.item(b.all(rise, ..)?)? { Ok(()) } else { Err(rules::not_ascending(op)) }
}

/// The number of each element's bin, counted from 1. Elements below the first edge have the number 0. NaN and elements
/// above the last edge have the number of bins plus 1. The last bin includes the last edge.
fn bin<B: Backend, T: Real>(b: &B, x: &B::Array<T>, edges: &B::Array<T>) -> Result<B::Array<i64>> {
    let n = b.shape(edges)[0] as i64;
    let last = part(b, edges, 0, n as i128 - 1..n as i128)?;
    let above = b.searchsorted_with(edges, x, SearchsortedOptions::new().side(Side::Right))?;
    lazy(x).equal(&last).r#where(lazy(n - 1), &above).eval(b)
}

/// The number of points in each cell of a 2-D grid of bins.
pub fn histogram2d<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    y: &B::Array<T>,
    x_edges: &B::Array<T>,
    y_edges: &B::Array<T>,
) -> Result<B::Array<i64>> {
    const OP: &str = "histogram2d";
    if b.shape(x) != b.shape(y) {
        return Err(Error::shapes(OP, b.shape(x), b.shape(y)));
    }
    ascending(OP, b, x_edges)?;
    ascending(OP, b, y_edges)?;
    let (rows, columns) = (b.shape(x_edges)[0], b.shape(y_edges)[0]);
    let wide = |n: usize| n.checked_add(1).ok_or_else(|| Error::memory(OP, usize::MAX));
    let shape = [wide(rows)?, wide(columns)?];
    let cells = rules::count(OP, &shape, size_of::<i64>())?;
    let (row, column) = (bin(b, &b.flatten(x)?, x_edges)?, bin(b, &b.flatten(y)?, y_edges)?);
    let place = (lazy(&row) * shape[1] as i64 + &column).eval(b)?;
    let ones = b.broadcast_to(b.ones::<i64>([1])?, b.shape(&place))?;
    let counts = b.reshape(b.segment_sum(&ones, place, cells)?, shape)?;
    part(b, &part(b, &counts, 0, 1..rows as i128)?, 1, 1..columns as i128)
}

/// The number of points in each cell of a grid of bins.
pub fn histogramdd<B: Backend, T: Real>(b: &B, x: &B::Array<T>, edges: &[&B::Array<T>]) -> Result<B::Array<i64>> {
    const OP: &str = "histogramdd";
    let cells = Cells::new(OP, b, x, edges)?;
    let ones = b.broadcast_to(b.ones::<i64>([1])?, b.shape(&cells.places))?;
    cells.inner(b, b.segment_sum(&ones, &cells.places, cells.count)?)
}

/// The sum of the weights of the points in each cell of a grid of bins.
pub fn histogramdd_weighted<B: Backend, T: Real>(
    b: &B,
    x: &B::Array<T>,
    weights: &B::Array<T>,
    edges: &[&B::Array<T>],
    density: bool,
) -> Result<B::Array<T>> {
    const OP: &str = "histogramdd_weighted";
    let cells = Cells::new(OP, b, x, edges)?;
    if b.shape(weights) != b.shape(&cells.places) {
        return Err(Error::shapes(OP, b.shape(x), b.shape(weights)));
    }
    let mut sums = cells.inner(b, b.segment_sum(weights, &cells.places, cells.count)?)?;
    if density {
        let total = b.sum(&sums, ..)?;
        for (axis, edges) in edges.iter().enumerate() {
            let mut along = vec![1; cells.shape.len()];
            along[axis] = -1;
            let widths = b.reshape(b.diff(edges)?, along)?;
            sums = b.divide(sums, widths)?;
        }
        sums = b.divide(sums, total)?;
    }
    Ok(sums)
}

/// The flat index of each point's cell in a grid of bins. Along each axis, the grid has an additional cell before the
/// first bin and another one after the last bin.
struct Cells<B: Backend> {
    /// The cell of each point.
    places: B::Array<i64>,
    count: usize,
    shape: Vec<usize>,
}

impl<B: Backend> Cells<B> {
    fn new<T: Real>(op: &'static str, b: &B, x: &B::Array<T>, edges: &[&B::Array<T>]) -> Result<Cells<B>> {
        let &[n, columns] = b.shape(x) else {
            return Err(Error::shape(
                op,
                b.shape(x),
                "must have two axes: a row for each point and a column for each coordinate",
            ));
        };
        if columns != edges.len() || columns == 0 {
            return Err(Error::shape(
                op,
                b.shape(x),
                format!("must have one column for each of the {} lists of edges, at least one", edges.len()),
            ));
        }
        let mut shape = Vec::with_capacity(columns);
        for edges in edges {
            ascending(op, b, edges)?;
            shape.push(b.shape(edges)[0].checked_add(1).ok_or_else(|| Error::memory(op, usize::MAX))?);
        }
        let count = rules::count(op, &shape, size_of::<i64>().max(T::dtype().size()))?;
        let mut places = b.zeros::<i64>([n])?;
        for (k, edges) in edges.iter().enumerate() {
            let column = b.reshape(part(b, x, 1, k as i128..k as i128 + 1)?, [n])?;
            places = (lazy(&places) * shape[k] as i64 + &bin(b, &column, edges)?).eval(b)?;
        }
        Ok(Cells { places, count, shape })
    }

    /// Removes the additional cells from an array with one value per cell of the extended grid.
    fn inner<E: Element>(&self, b: &B, cells: B::Array<E>) -> Result<B::Array<E>> {
        let mut cells = b.reshape(cells, &self.shape[..])?;
        for (axis, &len) in self.shape.iter().enumerate() {
            cells = part(b, &cells, axis, 1..len as i128 - 1)?;
        }
        Ok(cells)
    }
}

/// The number of occurrences of each integer; with weights, the sum of the weights of these occurrences.
pub fn bincount<B: Backend, T: Numeric>(
    b: &B,
    x: &B::Array<i64>,
    weights: Option<&B::Array<T>>,
    minlength: usize,
) -> Result<B::Array<T>> {
    const OP: &str = "bincount";
    let n = rules::counted_numbers(OP, b.shape(x), weights.map(|weights| b.shape(weights)))?;
    let ends = if n > 0 { Some(b.to_vec(&b.stack([b.min(x, ..)?, b.max(x, ..)?])?)?) } else { None };
    let len = rules::counted_places(OP, ends.map(|ends| (ends[0], ends[1])), minlength, T::dtype().size())?;
    match weights {
        Some(weights) => b.segment_sum(weights, x, len),
        None => {
            let ones = b.broadcast_to(b.ones::<i64>([1])?, [n])?;
            b.astype::<T, _>(b.segment_sum(&ones, x, len)?)
        }
    }
}

/// The index of each element's bin.
pub fn digitize<B: Backend, T: Ordered>(
    b: &B,
    x: &B::Array<T>,
    bins: &B::Array<T>,
    right: bool,
) -> Result<B::Array<i64>> {
    let n = rules::sorted("digitize", b.shape(bins))?;
    let side = SearchsortedOptions::new().side(if right { Side::Left } else { Side::Right });
    if n < 2 {
        return b.searchsorted_with(bins, x, side);
    }
    // if the first edge exceeds the last, the edges descend, and indices are counted from the other end; this
    // comparison runs on the device
    let last = n as i128 - 1;
    let (first, last) = (part(b, bins, 0, 0..1)?, part(b, bins, 0, last..last + 1)?);
    let descend = b.greater(&first, &last)?;
    let ascending = b.r#where(&descend, b.flip(bins, 0)?, bins)?;
    let places = b.searchsorted_with(&ascending, x, side)?;
    let descend = b.reshape(descend, [0_usize; 0])?;
    lazy(&descend).r#where(lazy(n as i64) - &places, &places).eval(b)
}

/// Derivatives along axes, by finite differences.
pub fn gradient<B: Backend, T: Float>(
    b: &B,
    x: &B::Array<T>,
    axis: Axes,
    spacing: f64,
    edge_order: usize,
) -> Result<Vec<B::Array<T>>> {
    const OP: &str = "gradient";
    let axes = axis.resolve(OP, b.shape(x).len())?;
    if !(1..=2).contains(&edge_order) {
        return Err(Error::argument(OP, format!("`edge_order` is {edge_order}, but must be 1 or 2")));
    }
    let mut slopes = Vec::new();
    for &axis in &axes {
        let n = b.shape(x)[axis];
        if n <= edge_order {
            let why = format!("must have at least {} elements along axis {axis}", edge_order + 1);
            return Err(Error::shape(OP, b.shape(x), why));
        }
    }
    for axis in axes {
        let n = b.shape(x)[axis] as i128;
        let at = |i: i128| part(b, x, axis, i..i + 1);
        let over = |h: f64| lazy(T::from_f64(h));
        let (before, behind) = (part(b, x, axis, 0..n - 2)?, part(b, x, axis, 2..n)?);
        let inner = ((lazy(&behind) - &before) / over(2.0 * spacing)).eval(b)?;
        let (first, last) = if edge_order == 1 {
            let (x0, x1, y0, y1) = (at(0)?, at(1)?, at(n - 2)?, at(n - 1)?);
            (((lazy(&x1) - &x0) / over(spacing)).eval(b)?, ((lazy(&y1) - &y0) / over(spacing)).eval(b)?)
        } else {
            let edge = |x0: B::Array<T>, x1: B::Array<T>, x2: B::Array<T>, h: f64| {
                let sum = lazy(&x1) * lazy(T::from_f64(4.0)) - lazy(&x0) * lazy(T::from_f64(3.0)) - &x2;
                (sum / over(2.0 * h)).eval(b)
            };
            (edge(at(0)?, at(1)?, at(2)?, spacing)?, edge(at(n - 1)?, at(n - 2)?, at(n - 3)?, -spacing)?)
        };
        slopes.push(b.concat_with([first, inner, last], crate::ConcatOptions::new().axis(axis))?);
    }
    Ok(slopes)
}

/// The integral along an axis, by the trapezoid rule.
pub fn trapezoid<B: Backend, T: Float>(
    b: &B,
    y: &B::Array<T>,
    x: Option<&B::Array<T>>,
    dx: f64,
    axis: isize,
) -> Result<B::Array<T>> {
    const OP: &str = "trapezoid";
    if is_16_bit::<T>() {
        // sums and products of 16-bit floats soon exceed the range of the dtype
        let (y, x) = (b.astype::<f32, _>(y)?, x.map(|x| b.astype::<f32, _>(x)).transpose()?);
        return b.astype::<T, _>(trapezoid(b, &y, x.as_ref(), dx, axis)?);
    }
    if x.is_none() {
        let axis = rules::axis(OP, axis, b.shape(y).len())?;
        let n = b.shape(y)[axis] as i128;
        if n > 1 {
            // in the trapezoid rule, each inner element counts once, and each of the two end elements counts half
            let inner = part(b, y, axis, 1..n - 1)?;
            let inner = if dx == 1.0 {
                b.sum(inner, axis)?
            } else {
                (lazy(&inner) * lazy(T::from_f64(dx))).sum(axis).eval(b)?
            };
            let (first, last) = (part(b, y, axis, 0..1)?, part(b, y, axis, n - 1..n)?);
            let ends = ((lazy(&first) + &last) * lazy(T::from_f64(0.5 * dx))).sum(axis).eval(b)?;
            return b.add(inner, ends);
        }
    }
    let (axis, steps) = steps(OP, b, y, x, dx, axis)?;
    let n = b.shape(y)[axis] as i128;
    let (left, right) = (part(b, y, axis, 0..(n - 1).max(0))?, part(b, y, axis, 1..n)?);
    ((lazy(&left) + &right) * &steps).sum(axis).eval(b)
}

/// The cumulative integral along an axis, by the trapezoid rule.
pub fn cumulative_trapezoid<B: Backend, T: Float>(
    b: &B,
    y: &B::Array<T>,
    x: Option<&B::Array<T>>,
    dx: f64,
    axis: isize,
    include_initial: bool,
) -> Result<B::Array<T>> {
    const OP: &str = "cumulative_trapezoid";
    if is_16_bit::<T>() {
        let (y, x) = (b.astype::<f32, _>(y)?, x.map(|x| b.astype::<f32, _>(x)).transpose()?);
        return b.astype::<T, _>(cumulative_trapezoid(b, &y, x.as_ref(), dx, axis, include_initial)?);
    }
    let (axis, steps) = steps(OP, b, y, x, dx, axis)?;
    let n = b.shape(y)[axis] as i128;
    if n == 0 {
        return Err(Error::shape(OP, b.shape(y), format!("must have at least one element along axis {axis}")));
    }
    let (left, right) = (part(b, y, axis, 0..n - 1)?, part(b, y, axis, 1..n)?);
    let areas = ((lazy(&left) + &right) * &steps).eval(b)?;
    b.cumulative_sum_with(areas, axis, CumulativeSumOptions::new().include_initial(include_initial))
}

/// Returns the axis of integration, and half of each distance between neighbouring points. The distances have a shape
/// that broadcasts with the sums of neighbouring elements.
fn steps<B: Backend, T: Float>(
    op: &'static str,
    b: &B,
    y: &B::Array<T>,
    x: Option<&B::Array<T>>,
    dx: f64,
    axis: isize,
) -> Result<(usize, B::Array<T>)> {
    let axis = rules::axis(op, axis, b.shape(y).len())?;
    let half =
        |x: &B::Array<T>, axis: usize| b.multiply(b.diff_with(x, DiffOptions::new().axis(axis))?, T::from_f64(0.5));
    let steps = match x {
        None => b.full([1], T::from_f64(0.5 * dx))?,
        Some(x) if b.shape(x) == b.shape(y) => half(x, axis)?,
        Some(x) if b.shape(x) == [b.shape(y)[axis]] => {
            let mut shape = vec![1; b.shape(y).len()];
            shape[axis] = b.shape(x)[0].saturating_sub(1);
            b.reshape(half(x, 0)?, shape)?
        }
        Some(x) => return Err(Error::shapes(op, b.shape(y), b.shape(x))),
    };
    Ok((axis, steps))
}

/// Unwraps angles: adds multiples of the period, so that neighbouring elements differ by at most half a period.
pub fn unwrap<B: Backend, T: Precision>(
    b: &B,
    x: &B::Array<T>,
    discont: Option<f64>,
    period: Option<f64>,
    axis: isize,
) -> Result<B::Array<T>> {
    const OP: &str = "unwrap";
    let axis = rules::axis(OP, axis, b.shape(x).len())?;
    let len = b.shape(x)[axis] as i128;
    if b.shape(x).contains(&0) || len == 1 {
        return Ok(x.clone());
    }
    let period = period.unwrap_or(std::f64::consts::TAU);
    let half = T::of(period / 2.0);
    let least = T::of(discont.unwrap_or(0.0).max(period / 2.0));
    let (before, behind) = (part(b, x, axis, 0..len - 1)?, part(b, x, axis, 1..len)?);
    let step = b.subtract(&behind, &before)?;
    let near = b.subtract(b.remainder(b.add(&step, half)?, T::of(period))?, half)?;
    // `-half` and `half` differ by one period, so both are correct; takes the one with the sign of `step`
    let ends = lazy(&near).equal(lazy(-half)) & lazy(&step).greater(0.0);
    let near = ends.r#where(lazy(half), &near).eval(b)?;
    let turn = lazy(&step).abs().less(lazy(least)).r#where(0.0, lazy(&near) - &step).eval(b)?;
    let turns = b.cumulative_sum(turn, axis)?;
    b.concat_with([part(b, x, axis, 0..1)?, b.add(behind, turns)?], crate::ConcatOptions::new().axis(axis))
}
