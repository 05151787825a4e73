//! Rules for windows that slide over arrays: convolutions with channels and groups, and pooling.

use super::count;
use crate::{ConvolutionMode, Error, Lengths, Result};

/// Maximum number of axes over which a window slides.
pub const MAX_SPATIAL_AXES: usize = 3;

/// Maximum padding, stride, dilation and extent of a window, because libraries store these numbers in 32 bits.
const MAX_EXTENT: usize = i32::MAX as usize;

/// Optional parameters of a sliding window. Each is one number for all axes, or one number for each axis.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Distance from one window to the next, in elements. The default is 1, or for pooling the length of the window.
    pub stride: Option<Lengths>,
    /// Number of zeros on each side of the elements. The default is 0.
    pub padding: Option<Lengths>,
    /// Distance from one tap (element of the window) to the next, in elements of the array. The default is 1.
    pub dilation: Option<Lengths>,
}

/// A window that slides along one axis. Its elements are called taps: tap `k` of the window at position `i` is element
/// `i * stride + k * dilation - padding` of the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sliding {
    /// Length of the axis along which the window slides.
    pub len: usize,
    /// Number of positions of the window.
    pub windows: usize,
    /// Number of taps of the window.
    pub taps: usize,
    /// Distance from one window to the next, in elements.
    pub stride: usize,
    /// Number of zeros before the first element.
    pub padding: usize,
    /// Distance from one tap to the next, in elements.
    pub dilation: usize,
}

impl Sliding {
    /// The entry of [`Convolution::axes`] for an axis that the arrays do not have.
    const NONE: Sliding = Sliding { len: 1, windows: 1, taps: 1, stride: 1, padding: 0, dilation: 1 };

    /// Returns the index, on the axis, of the first tap of a window. The index is negative if this tap is in the
    /// padding. Tap `k` is at `start + k * dilation`.
    pub fn start(&self, window: usize) -> isize {
        (window * self.stride) as isize - self.padding as isize
    }

    /// Restricts a range of windows to the windows whose tap `tap` is on an element of the axis, and not in the
    /// padding.
    pub fn inside(&self, tap: usize, windows: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let shift = self.padding as isize - (tap * self.dilation) as isize;
        let from = |first: isize| if first <= 0 { 0 } else { (first as usize).div_ceil(self.stride) };
        let (start, end) = (from(shift), from(shift + self.len as isize));
        let start = start.clamp(windows.start, windows.end);
        start..end.clamp(start, windows.end)
    }
}

/// A convolution of a batch of arrays with channels. The batch has the shape `(batch, channels, lengths..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Number of arrays in the batch.
    pub batch: usize,
    /// Number of groups of channels, which are convolved separately.
    pub groups: usize,
    /// Channels of the input in each group.
    pub inputs: usize,
    /// Channels of the result in each group.
    pub outputs: usize,
    /// The window along each axis. There are always [`MAX_SPATIAL_AXES`] axes: axes that the arrays do not have come
    /// first, with length 1. In a transposed convolution, the window slides over the result.
    pub axes: [Sliding; MAX_SPATIAL_AXES],
    /// Number of axes of the arrays after batch and channels.
    pub rank: usize,
    /// Shape of the result.
    pub shape: Vec<usize>,
}

impl Convolution {
    /// Returns the number of taps of the kernel.
    pub fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.taps).product()
    }

    /// Returns the results of `of` for the axes that the arrays have.
    pub fn each(&self, of: fn(&Sliding) -> usize) -> Vec<usize> {
        self.axes[MAX_SPATIAL_AXES - self.rank..].iter().map(of).collect()
    }
}

/// Checks a parameter and expands it to one number for each axis. `given` has one number for all axes, or one number
/// for each axis; if it is `None`, each number is `default`. Returns an error unless each number is between `least` and
/// [`MAX_EXTENT`].
fn numbers(
    op: &'static str,
    name: &str,
    given: Option<Lengths>,
    rank: usize,
    default: usize,
    least: usize,
) -> Result<Vec<usize>> {
    let numbers = match given.as_ref().map(|given| (given.as_slice(), given.count())) {
        None => vec![default; rank],
        Some((Some(&[one]), _)) => vec![one; rank],
        Some((Some(all), n)) if n == rank => all.to_vec(),
        Some((_, n)) => {
            return Err(Error::argument(
                op,
                format!("`{name}` has {n} numbers, but must have 1, or {rank} for the {rank} axes"),
            ));
        }
    };
    match numbers.iter().find(|n| !(least..=MAX_EXTENT).contains(n)) {
        Some(n) => Err(Error::argument(op, format!("`{name}` is {n}, but must be between {least} and {MAX_EXTENT}"))),
        None => Ok(numbers),
    }
}

/// Returns the number of elements that a window spans, from its first to its last tap, including both.
fn extent(op: &'static str, taps: usize, dilation: usize) -> Result<usize> {
    match (taps - 1).checked_mul(dilation) {
        Some(reach) if reach < MAX_EXTENT => Ok(reach + 1),
        _ => Err(Error::argument(
            op,
            format!(
                "a window of {taps} elements with dilation {dilation} spans too far: it must span at most {MAX_EXTENT}"
            ),
        )),
    }
}

/// Checks the shape, which must be (batch, channels, lengths..), and returns the number of lengths.
fn spatial(op: &'static str, x: &[usize]) -> Result<usize> {
    let rank = x.len().wrapping_sub(2);
    if !(1..=MAX_SPATIAL_AXES).contains(&rank) {
        let why = format!("must be (batch, channels, lengths..) with 1 to {MAX_SPATIAL_AXES} lengths");
        return Err(Error::shape(op, x, why));
    }
    if x[1..].contains(&0) {
        return Err(Error::shape(op, x, "must have elements in each array of the batch"));
    }
    Ok(rank)
}

/// Plans windows over the elements of an array, along each axis. `steps` are the strides, the paddings and the
/// dilations. `too_long` makes the error for a window that does not fit.
fn sliding(
    op: &'static str,
    lengths: &[usize],
    taps: &[usize],
    steps: [&[usize]; 3],
    too_long: impl Fn() -> Error,
) -> Result<[Sliding; MAX_SPATIAL_AXES]> {
    let [stride, padding, dilation] = steps;
    let mut axes = [Sliding::NONE; MAX_SPATIAL_AXES];
    let first = MAX_SPATIAL_AXES - lengths.len();
    for (k, axis) in axes[first..].iter_mut().enumerate() {
        let reach = extent(op, taps[k], dilation[k])?;
        let padded = lengths[k].checked_add(2 * padding[k]).ok_or_else(|| Error::memory(op, usize::MAX))?;
        let Some(room) = padded.checked_sub(reach) else { return Err(too_long()) };
        let windows = room / stride[k] + 1;
        // Strides and dilations without effect are replaced by small numbers. If there is a single window, the stride
        // is the smallest number that leaves no room for a second window, because libraries compute the number of
        // windows again.
        let stride = if windows == 1 { room + 1 } else { stride[k] };
        let dilation = if taps[k] == 1 { 1 } else { dilation[k] };
        *axis = Sliding { len: lengths[k], windows, taps: taps[k], stride, padding: padding[k], dilation };
    }
    Ok(axes)
}

/// Checks the shape of the kernel. Returns the numbers of channels of the input and of the result in each group, and
/// the lengths of the kernel along the axes.
fn kernel<'a>(
    op: &'static str,
    x: &[usize],
    weight: &'a [usize],
    groups: usize,
    rank: usize,
    transposed: bool,
) -> Result<(usize, usize, &'a [usize])> {
    let misfit = || Error::shapes(op, x, weight);
    if groups == 0 {
        return Err(Error::argument(op, "`groups` is 0, but must be at least 1"));
    }
    if weight.len() != rank + 2 {
        return Err(misfit());
    }
    if weight.contains(&0) {
        return Err(Error::shape(op, weight, "of the kernel must have no axis of length 0"));
    }
    let inputs = x[1] / groups;
    let (fits, outputs) = match transposed {
        false => (weight[1] == inputs && weight[0].is_multiple_of(groups), weight[0] / groups),
        true => (weight[0] == x[1], weight[1]),
    };
    if !fits || !x[1].is_multiple_of(groups) {
        return Err(misfit());
    }
    Ok((inputs, outputs, &weight[2..]))
}

/// Checks the shape of the bias, and returns the shape of the result. `size` is the size of an element in bytes.
fn resulting(
    op: &'static str,
    batch: usize,
    channels: usize,
    lengths: Vec<usize>,
    bias: Option<&[usize]>,
    size: usize,
) -> Result<Vec<usize>> {
    if let Some(bias) = bias
        && *bias != [channels]
    {
        return Err(Error::shape(op, bias, format!("of `bias` must be [{channels}], one element for each channel")));
    }
    let shape = [&[batch, channels], &lengths[..]].concat();
    count(op, &shape, size)?;
    Ok(shape)
}

/// Plans a convolution of `x`, of shape `(batch, channels, lengths..)`, with a kernel of shape
/// `(results, channels / groups, lengths..)`, where `results` is the number of channels of the result.
pub fn convolution(
    op: &'static str,
    x: &[usize],
    weight: &[usize],
    bias: Option<&[usize]>,
    steps: &Steps,
    groups: usize,
    size: usize,
) -> Result<Convolution> {
    let rank = spatial(op, x)?;
    let (inputs, outputs, taps) = kernel(op, x, weight, groups, rank, false)?;
    let stride = numbers(op, "stride", steps.stride, rank, 1, 1)?;
    let padding = numbers(op, "padding", steps.padding, rank, 0, 0)?;
    let dilation = numbers(op, "dilation", steps.dilation, rank, 1, 1)?;
    let axes = sliding(op, &x[2..], taps, [&stride, &padding, &dilation], || Error::shapes(op, x, weight))?;
    let mut plan = Convolution { batch: x[0], groups, inputs, outputs, axes, rank, shape: vec![] };
    plan.shape = resulting(op, x[0], weight[0], plan.each(|axis| axis.windows), bias, size)?;
    Ok(plan)
}

/// Plans a transposed convolution, which maps the shape of a convolution's result to the shape of its input. `x` has
/// the shape `(batch, channels, lengths..)`. The kernel has the shape `(channels, results / groups, lengths..)`, where
/// `results` is the number of channels of the result. Each element of `x` corresponds to one position of the window,
/// which slides over the result.
#[allow(clippy::too_many_arguments)] // the parameters of the op
pub fn transposed_convolution(
    op: &'static str,
    x: &[usize],
    weight: &[usize],
    bias: Option<&[usize]>,
    steps: &Steps,
    output_padding: Option<Lengths>,
    groups: usize,
    size: usize,
) -> Result<Convolution> {
    let rank = spatial(op, x)?;
    let (inputs, outputs, taps) = kernel(op, x, weight, groups, rank, true)?;
    let stride = numbers(op, "stride", steps.stride, rank, 1, 1)?;
    let padding = numbers(op, "padding", steps.padding, rank, 0, 0)?;
    let dilation = numbers(op, "dilation", steps.dilation, rank, 1, 1)?;
    let further = numbers(op, "output_padding", output_padding, rank, 0, 0)?;
    let mut axes = [Sliding::NONE; MAX_SPATIAL_AXES];
    for k in 0..rank {
        let windows = x[2 + k];
        let (stride, padding, dilation, further) = (stride[k], padding[k], dilation[k], further[k]);
        if further >= stride.max(dilation) {
            let why = format!(
                "`output_padding` is {further}, but must be less than the stride {stride} or the dilation {dilation}"
            );
            return Err(Error::argument(op, why));
        }
        let all = (windows - 1) as i128 * stride as i128 + (extent(op, taps[k], dilation)? + further) as i128;
        let len = usize::try_from(all - 2 * padding as i128).map_err(|_| Error::shapes(op, x, weight))?;
        if len == 0 {
            return Err(Error::shapes(op, x, weight));
        }
        axes[MAX_SPATIAL_AXES - rank + k] = Sliding { len, windows, taps: taps[k], stride, padding, dilation };
    }
    let mut plan = Convolution { batch: x[0], groups, inputs, outputs, axes, rank, shape: vec![] };
    let channels = outputs.checked_mul(groups).ok_or_else(|| Error::memory(op, usize::MAX))?;
    plan.shape = resulting(op, x[0], channels, plan.each(|axis| axis.len), bias, size)?;
    Ok(plan)
}

/// Plans pooling over windows of `x`, whose shape is `(batch, channels, lengths..)`, for each channel separately. The
/// default stride is the length of the window, so that the windows are adjacent.
pub fn pool(op: &'static str, x: &[usize], taps: &[usize], steps: &Steps, size: usize) -> Result<Convolution> {
    let rank = spatial(op, x)?;
    let taps = numbers(op, "kernel", Some(Lengths::from(taps)), rank, 1, 1)?;
    let stride = match steps.stride {
        None => taps.clone(),
        given => numbers(op, "stride", given, rank, 1, 1)?,
    };
    let padding = numbers(op, "padding", steps.padding, rank, 0, 0)?;
    let dilation = numbers(op, "dilation", steps.dilation, rank, 1, 1)?;
    if let Some((padding, taps)) = padding.iter().zip(&taps).find(|(padding, taps)| **padding > **taps / 2) {
        return Err(Error::argument(
            op,
            format!("`padding` is {padding}, but must be at most half of the window length {taps}"),
        ));
    }
    let too_long = || Error::shape(op, x, format!("with its padding is shorter than the window {taps:?}"));
    let axes = sliding(op, &x[2..], &taps, [&stride, &padding, &dilation], too_long)?;
    let planes = x[0].checked_mul(x[1]).ok_or_else(|| Error::memory(op, usize::MAX))?;
    let mut plan = Convolution { batch: planes, groups: 1, inputs: 1, outputs: 1, axes, rank, shape: vec![] };
    plan.shape = resulting(op, x[0], x[1], plan.each(|axis| axis.windows), None, size)?;
    Ok(plan)
}

/// The full convolution of two arrays, and the range of it that a mode returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Lengths of the full convolution.
    pub full: Vec<usize>,
    /// First index and length, along each axis, of the range of the full convolution that the mode returns.
    pub part: Vec<(usize, usize)>,
    /// Shape of the result. Along axes that are not convolved, the arrays broadcast.
    pub shape: Vec<usize>,
}

/// The lengths of the result along the convolved axes in the mode [`ConvolutionMode::Same`]. The result is the middle
/// of the full convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// The result is as long as the first array, as in SciPy.
    First,
    /// The result of 1-D arrays is as long as the longer array, as in NumPy's convolutions. The result of arrays with
    /// more axes is as long as the first array.
    Longer,
    /// Like `Longer`, but for NumPy's correlations, which swap 1-D arrays if the second array is longer. If two ranges
    /// are equally close to the middle, the result is the later range if the arrays are swapped, and otherwise the
    /// earlier range.
    LongerSwapped,
}

/// Plans the convolution along `axes`, and selects the range of the full result that the mode returns.
pub fn overlap(
    op: &'static str,
    x1: &[usize],
    x2: &[usize],
    axes: &[usize],
    mode: ConvolutionMode,
    same: Same,
    size: usize,
) -> Result<Overlap> {
    let misfit = || Error::shapes(op, x1, x2);
    if x1.len() != x2.len() || x1.is_empty() {
        return Err(misfit());
    }
    for x in [x1, x2] {
        if x.contains(&0) {
            return Err(Error::shape(op, x, "must have elements"));
        }
    }
    let mut overlap = Overlap { full: vec![], part: vec![], shape: vec![] };
    let (mut contains, mut contained) = (true, true);
    for (axis, (&n, &m)) in x1.iter().zip(x2).enumerate() {
        if !axes.contains(&axis) {
            if n != m && n != 1 && m != 1 {
                return Err(misfit());
            }
            overlap.full.push(n.max(m));
            overlap.part.push((0, n.max(m)));
            continue;
        }
        let full = n.checked_add(m - 1).ok_or_else(|| Error::memory(op, usize::MAX))?;
        let (short, long) = (n.min(m), n.max(m));
        contains &= n >= m;
        contained &= m >= n;
        let part = match mode {
            ConvolutionMode::Full => (0, full),
            ConvolutionMode::Valid => (short - 1, long - short + 1),
            // selects the middle of the full result. If there are two possible middles, selects the later one if the
            // arrays are swapped, and otherwise the earlier one
            ConvolutionMode::Same if x1.len() == 1 && n < m && same == Same::LongerSwapped => (short / 2, long),
            ConvolutionMode::Same if x1.len() == 1 && same != Same::First => ((short - 1) / 2, long),
            ConvolutionMode::Same => ((m - 1) / 2, n),
        };
        overlap.full.push(full);
        overlap.part.push(part);
    }
    if mode == ConvolutionMode::Valid && !contains && !contained {
        return Err(misfit());
    }
    overlap.shape = overlap.part.iter().map(|&(_, n)| n).collect();
    count(op, &overlap.full, size)?;
    Ok(overlap)
}

/// Estimated time of a pass of a Fourier transform, for a prime factor of the number of points. The unit is that of
/// [`transform_time`].
const PASS_3: f64 = 1.8;
const PASS_5: f64 = 3.2;
const PASS_7: f64 = 3.6;

/// Estimated time of a Fourier transform of `n` points of real numbers, divided by `n`. The unit is the time of a pass
/// for a factor 2. `n` must have no prime factors except 2, 3, 5 and 7.
pub fn transform_time(n: usize) -> f64 {
    let (mut rest, mut passes) = (n, 0.0);
    for (factor, pass) in [(3, PASS_3), (5, PASS_5), (7, PASS_7)] {
        while rest > 1 && rest.is_multiple_of(factor) {
            rest /= factor;
            passes += pass;
        }
    }
    time_of(passes, rest)
}

/// The time of a transform of `n` points, where `n` is the product of `two` (a power of two) and some odd factors.
/// `odd` is the time of the passes for the odd factors.
fn time_of(odd: f64, two: usize) -> f64 {
    let time = 2.0 + odd + f64::from(two.trailing_zeros());
    // a real transform of an even number of points is a complex transform of half as many points
    if two > 1 { time } else { 2.0 * time }
}

/// Returns the number of points, at least `n` and less than `2 * n`, with the smallest [`transform_time`]. The number
/// has no prime factors except 2, 3, 5 and 7.
pub fn fast_points(n: usize) -> usize {
    let n = n.max(1);
    let end = n.saturating_mul(2);
    let mut best = (n, f64::INFINITY);
    // multiplies a product of odd factors, with the time of their passes, by powers of `factor`, while it is below `end`
    let products = |first: (usize, f64), factor: usize, pass: f64| {
        let next = move |&(product, time): &(usize, f64)| {
            product.checked_mul(factor).filter(|&product| product < end).map(|product| (product, time + pass))
        };
        std::iter::successors(Some(first), next)
    };
    for seven in products((1, 0.0), 7, PASS_7) {
        for five in products(seven, 5, PASS_5) {
            for (odd, passes) in products(five, 3, PASS_3) {
                // the smallest power of two with which the product is at least `n`
                let two = n.div_ceil(odd).checked_next_power_of_two();
                let Some((two, points)) = two.and_then(|two| Some((two, two.checked_mul(odd)?))) else { continue };
                let time = points as f64 * time_of(passes, two);
                if time < best.1 {
                    best = (points, time);
                }
            }
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Steps = Steps { stride: None, padding: None, dilation: None };

    fn steps(stride: usize, padding: usize, dilation: usize) -> Steps {
        Steps { stride: Some(stride.into()), padding: Some(padding.into()), dilation: Some(dilation.into()) }
    }

    #[test]
    fn convolutions() {
        let of = |x: &[usize], weight: &[usize], steps: &Steps, groups| {
            convolution("conv", x, weight, None, steps, groups, 8).map(|plan| plan.shape)
        };
        assert_eq!(of(&[2, 3, 8], &[5, 3, 3], &PLAIN, 1), Ok(vec![2, 5, 6]));
        assert_eq!(of(&[2, 4, 8, 9], &[6, 2, 3, 2], &steps(2, 1, 1), 2), Ok(vec![2, 6, 4, 5]));
        assert_eq!(of(&[0, 4, 8], &[6, 2, 3], &steps(3, 2, 3), 2), Ok(vec![0, 6, 2]));
        assert!(matches!(of(&[2, 3], &[5, 3], &PLAIN, 1), Err(Error::Shape { .. })));
        for (weight, groups) in [(&[5, 2, 3][..], 1), (&[5, 3], 1), (&[5, 3, 9], 1), (&[4, 1, 1], 3), (&[6, 3, 1], 2)] {
            assert!(matches!(of(&[2, 3, 8], weight, &PLAIN, groups), Err(Error::Shapes { .. })), "{weight:?}");
        }
        for bad in [steps(0, 0, 1), steps(1, 0, 0), steps(1, usize::MAX, 1), steps(1, 1 << 20, 1 << 31)] {
            assert!(matches!(of(&[2, 3, 8], &[5, 3, 3], &bad, 1), Err(Error::Argument { .. })), "{bad:?}");
        }
        assert!(matches!(of(&[2, 3, 8], &[5, 3, 3], &PLAIN, 0), Err(Error::Argument { .. })));
        let two = Steps { stride: Some([1, 2].into()), ..PLAIN };
        assert!(matches!(of(&[2, 3, 8], &[5, 3, 3], &two, 1), Err(Error::Argument { .. })));
        assert!(convolution("conv", &[2, 3, 8], &[5, 3, 3], Some(&[4]), &PLAIN, 1, 8).is_err());
    }

    #[test]
    fn transposed_convolutions_take_shapes_back() {
        let of = |x: &[usize], weight: &[usize], steps: &Steps, more: usize, groups| {
            let more = Some(more.into());
            transposed_convolution("conv", x, weight, None, steps, more, groups, 8).map(|plan| plan.shape)
        };
        assert_eq!(of(&[2, 5, 6], &[5, 3, 3], &PLAIN, 0, 1), Ok(vec![2, 3, 8]));
        assert_eq!(of(&[2, 6, 4, 4], &[6, 2, 3, 3], &steps(2, 1, 1), 1, 2), Ok(vec![2, 4, 8, 8]));
        assert!(matches!(of(&[2, 5, 1], &[5, 3, 1], &steps(1, 1, 1), 0, 1), Err(Error::Shapes { .. })));
        assert!(matches!(of(&[2, 5, 6], &[5, 3, 3], &steps(2, 0, 1), 2, 1), Err(Error::Argument { .. })));
        assert!(matches!(of(&[2, 5, 6], &[4, 3, 3], &PLAIN, 0, 1), Err(Error::Shapes { .. })));
    }

    #[test]
    fn windows_in_an_axis() {
        for (stride, padding, dilation) in [(1, 0, 1), (2, 1, 1), (3, 2, 2), (1, 4, 3), (5, 0, 1)] {
            let axes = sliding("conv", &[11], &[3], [&[stride], &[padding], &[dilation]], || panic!()).unwrap();
            let axis = axes[2];
            for tap in 0..3 {
                let inside = axis.inside(tap, 0..axis.windows);
                for window in 0..axis.windows {
                    let at = axis.start(window) + (tap * axis.dilation) as isize;
                    assert_eq!(inside.contains(&window), (0..11).contains(&at), "{axis:?} {tap} {window}");
                }
            }
        }
    }

    #[test]
    fn the_steps_give_as_many_windows_as_there_are() {
        let cases = (1..9).flat_map(|len| (1..4).flat_map(move |taps| (1..12).map(move |stride| (len, taps, stride))));
        for (len, taps, stride) in cases.chain([(3, 2, MAX_EXTENT), (3, 1, MAX_EXTENT), (8, 3, MAX_EXTENT)]) {
            for (padding, dilation) in [(0, 1), (1, 1), (2, 3), (0, 2)] {
                let steps = [&[stride][..], &[padding], &[dilation]];
                let Ok(axes) = sliding("conv", &[len], &[taps], steps, || Error::argument("conv", "")) else {
                    continue;
                };
                let Sliding { windows, stride: step, dilation: apart, .. } = axes[2];
                let room = len + 2 * padding - (taps - 1) * dilation - 1;
                assert_eq!(windows, room / stride + 1);
                let again = (len + 2 * padding - (taps - 1) * apart - 1) / step + 1;
                assert_eq!(again, windows, "{len} {taps} {stride} {padding} {dilation}");
                assert!(step <= stride.min(room + 1));
            }
        }
    }

    #[test]
    fn pools() {
        let of = |taps: &[usize], steps: &Steps| pool("pool", &[2, 3, 8, 9], taps, steps, 8).map(|plan| plan.shape);
        assert_eq!(of(&[2], &PLAIN), Ok(vec![2, 3, 4, 4]));
        assert_eq!(of(&[2, 3], &steps(1, 1, 1)), Ok(vec![2, 3, 9, 9]));
        assert!(matches!(of(&[9], &PLAIN), Err(Error::Shape { .. })));
        assert!(matches!(of(&[2], &steps(1, 2, 1)), Err(Error::Argument { .. })));
        assert!(matches!(of(&[2, 2, 2], &PLAIN), Err(Error::Argument { .. })));
    }

    #[test]
    fn parts_of_full_convolutions() {
        use ConvolutionMode as Mode;
        let of = |x1: &[usize], x2: &[usize], mode, same| {
            let axes: Vec<usize> = (0..x1.len()).collect();
            overlap("convolve", x1, x2, &axes, mode, same, 8).map(|o| o.part)
        };
        assert_eq!(of(&[5], &[3], Mode::Full, Same::First), Ok(vec![(0, 7)]));
        assert_eq!(of(&[3], &[5], Mode::Same, Same::Longer), Ok(vec![(1, 5)]));
        assert_eq!(of(&[3], &[5], Mode::Same, Same::First), Ok(vec![(2, 3)]));
        assert_eq!(of(&[4], &[5], Mode::Same, Same::LongerSwapped), Ok(vec![(2, 5)]));
        assert_eq!(of(&[5], &[4], Mode::Valid, Same::First), Ok(vec![(3, 2)]));
        assert_eq!(of(&[5, 6], &[3, 8], Mode::Same, Same::Longer), Ok(vec![(1, 5), (3, 6)]));
        assert!(of(&[5, 6], &[3, 8], Mode::Valid, Same::First).is_err());
        assert!(of(&[5], &[0], Mode::Full, Same::First).is_err());
        let along = |x2: &[usize]| overlap("c", &[5, 6], x2, &[1], Mode::Valid, Same::First, 8).map(|o| o.shape);
        assert_eq!(along(&[1, 3]), Ok(vec![5, 4]));
        assert!(along(&[2, 3]).is_err());
    }

    #[test]
    fn fast_lengths() {
        assert_eq!([0, 1, 7, 11, 97, 1000, 10_099].map(fast_points), [1, 1, 8, 12, 98, 1024, 10_240]);
        for n in 1..3000 {
            let points = fast_points(n);
            let rest = [2, 3, 5, 7].into_iter().fold(points, |mut rest, factor| {
                while rest % factor == 0 {
                    rest /= factor;
                }
                rest
            });
            assert!((n..2 * n).contains(&points) && rest == 1, "{n}: {points}");
        }
        assert_eq!(fast_points(usize::MAX), usize::MAX);
    }
}
