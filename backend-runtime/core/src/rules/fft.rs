//! Rules for Fourier transforms: axes, numbers of points, shapes and scale factors.

use super::{axis, count};
use crate::{Axes, Error, Lengths, Norm, Result};
use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Size in bytes of an element in the widest dtype of a transform. Every intermediate result must fit in memory in this
/// dtype, whatever the actual dtype is.
const SIZE: usize = 16;

/// Direction of a transform. It determines the sign of the exponent, and which norms scale the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The forward transform, with the factors exp(-2 pi i jk / n).
    Forward,
    /// The inverse transform, with the factors exp(+2 pi i jk / n).
    Inverse,
}

impl Direction {
    /// Returns the factor by which the results of a transform of `n` points are multiplied.
    pub fn scale(self, norm: Norm, n: usize) -> f64 {
        match (norm, self) {
            (Norm::Ortho, _) => 1.0 / (n as f64).sqrt(),
            (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => 1.0 / n as f64,
            (Norm::Backward, Direction::Forward) | (Norm::Forward, Direction::Inverse) => 1.0,
        }
    }
}

/// The array of a transform, input or result, that has only non-negative frequencies (a half spectrum).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Neither array, because complex numbers are transformed to complex numbers.
    Neither,
    /// The result, because the input is real.
    Result,
    /// The input, because the result is real.
    Input,
}

impl Half {
    /// Returns the default number of points for `n` elements of the input. A half spectrum of `n` elements comes from
    /// `2n - 2` or `2n - 1` points, and the default is the even number.
    fn points(self, n: usize) -> usize {
        if self == Half::Input { n.saturating_sub(1).saturating_mul(2) } else { n }
    }

    /// Returns the number of elements of the result for `n` points.
    fn results(self, n: usize) -> usize {
        if self == Half::Result { n / 2 + 1 } else { n }
    }
}

/// A plan of transforms along axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transform {
    /// The axes, each with its number of points. An axis may occur twice.
    pub axes: Vec<(usize, usize)>,
    /// Shape of the result.
    pub shape: Vec<usize>,
}

impl Transform {
    /// Returns the axes in the order of transformation, each with its number of points and its number of resulting
    /// elements. The last axis comes first. But if the input is a half spectrum, the last axis comes last, because its
    /// transform makes the result real.
    pub fn steps(&self, half: Half) -> Vec<(usize, usize, usize)> {
        let last = self.axes.len().wrapping_sub(1);
        let step = |(i, &(axis, n)): (usize, &(usize, usize))| (axis, n, if i == last { half.results(n) } else { n });
        let mut steps: Vec<_> = self.axes.iter().enumerate().map(step).collect();
        if half != Half::Input {
            steps.reverse();
        }
        steps
    }

    /// Returns whether an axis occurs twice, which libraries do not support.
    pub fn repeats(&self) -> bool {
        (1..self.axes.len()).any(|i| self.axes[..i].iter().any(|(axis, _)| *axis == self.axes[i].0))
    }
}

/// The functions into which a real transform decomposes its lanes (1-D slices along the axis).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wave {
    /// Cosines: the ops `dct` and `idct`.
    Cosine,
    /// Sines: the ops `dst` and `idst`.
    Sine,
}

/// A plan of a discrete cosine or sine transform along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trigonometric {
    /// The functions of the transform.
    pub wave: Wave,
    /// The kind of the unscaled transform, 1 to 4. An inverse transform of kind 2 is a forward transform of kind 3, and
    /// an inverse transform of kind 3 is a forward transform of kind 2.
    pub kind: usize,
    /// The axis.
    pub axis: usize,
    /// Number of points along the axis.
    pub n: usize,
    /// Number of points of the equivalent Fourier transform, which extends the points by their mirror image.
    pub whole: usize,
    /// Factors by which the first and the last point are multiplied before the transform.
    pub before: [f64; 2],
    /// Factors by which the first and the last element of the result are multiplied.
    pub after: [f64; 2],
    /// Factor by which all elements of the result are multiplied.
    pub scale: f64,
}

/// Plans a discrete cosine or sine transform with `n` points, or the default number, along an axis. An orthonormal
/// transform has factors for the first and the last element.
#[allow(clippy::too_many_arguments)] // the parameters of the ops' rows
pub fn trigonometric(
    op: &'static str,
    shape: &[usize],
    wave: Wave,
    kind: usize,
    n: Option<usize>,
    along: isize,
    norm: Norm,
    direction: Direction,
) -> Result<Trigonometric> {
    let kind = match (kind, direction) {
        (1 | 4, _) | (2 | 3, Direction::Forward) => kind,
        (2, Direction::Inverse) => 3,
        (3, Direction::Inverse) => 2,
        _ => return Err(Error::argument(op, format!("`kind` is {kind}, but must be between 1 and 4"))),
    };
    let (axis, n) = transform(op, shape, n, along, Half::Neither)?.axes[0];
    if wave == Wave::Cosine && kind == 1 && n < 2 {
        let why = format!("gives a cosine transform of {n} point along axis {axis}, but kind 1 must have at least 2");
        return Err(Error::shape(op, shape, why));
    }
    // the number of points of an empty array is not limited by memory, so the product may overflow
    let whole = 2_usize.saturating_mul(match (kind, wave) {
        (1, Wave::Cosine) => n - 1,
        (1, Wave::Sine) => n.saturating_add(1),
        _ => n,
    });
    let (mut before, mut after) = ([1.0; 2], [1.0; 2]);
    let scale = match (norm, direction) {
        (Norm::Backward, Direction::Forward) | (Norm::Forward, Direction::Inverse) => 1.0,
        (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => 1.0 / whole as f64,
        (Norm::Ortho, _) => {
            match (kind, wave) {
                (1, Wave::Cosine) => (before, after) = ([SQRT_2; 2], [FRAC_1_SQRT_2; 2]),
                (2, Wave::Cosine) => after[0] = FRAC_1_SQRT_2,
                (2, Wave::Sine) => after[1] = FRAC_1_SQRT_2,
                (3, Wave::Cosine) => before[0] = SQRT_2,
                (3, Wave::Sine) => before[1] = SQRT_2,
                _ => {}
            }
            1.0 / (whole as f64).sqrt()
        }
    };
    Ok(Trigonometric { wave, kind, axis, n, whole, before, after, scale })
}

/// Plans the transform along one axis, with `n` points or the default number for that axis.
pub fn transform(op: &'static str, shape: &[usize], n: Option<usize>, along: isize, half: Half) -> Result<Transform> {
    let along = axis(op, along, shape.len())?;
    let n = n.unwrap_or_else(|| half.points(shape[along]));
    planned(op, shape, vec![(along, n)], half)
}

/// Plans the transform over several axes. If lengths are given without axes, they apply to the last axes. A half
/// spectrum, of the input or of the result, is along the last of the axes.
pub fn transforms(op: &'static str, shape: &[usize], s: Option<Lengths>, axes: Axes, half: Half) -> Result<Transform> {
    let ndim = shape.len();
    let given = s.as_ref().map(|s| (s.as_slice(), s.count()));
    let axes = match (axes, given) {
        (Axes::List(list), _) => list.resolve(op, ndim)?,
        (Axes::All, None) => (0..ndim).collect(),
        (Axes::All, Some((_, n))) => match ndim.checked_sub(n) {
            Some(first) => (first..ndim).collect(),
            None => {
                return Err(Error::shape(
                    op,
                    shape,
                    format!("must have at least {n} axes, one for each of the {n} lengths"),
                ));
            }
        },
    };
    let lengths = match given {
        None => None,
        Some((Some(lengths), n)) if n == axes.len() => Some(lengths),
        Some((_, n)) => {
            return Err(Error::argument(
                op,
                format!("`s` has {n} lengths, but must have {}, one for each axis", axes.len()),
            ));
        }
    };
    let last = axes.len().wrapping_sub(1);
    let points = |(i, axis): (usize, usize)| {
        let default = if i == last { half.points(shape[axis]) } else { shape[axis] };
        (axis, lengths.map_or(default, |lengths| lengths[i]))
    };
    planned(op, shape, axes.into_iter().enumerate().map(points).collect(), half)
}

fn planned(op: &'static str, shape: &[usize], axes: Vec<(usize, usize)>, half: Half) -> Result<Transform> {
    if let Some((axis, _)) = axes.iter().find(|(_, n)| *n == 0) {
        return Err(Error::shape(
            op,
            shape,
            format!("gives a transform of 0 points along axis {axis}, but it must have at least 1"),
        ));
    }
    if axes.is_empty() && half != Half::Neither {
        return Err(Error::shape(op, shape, "must be transformed along at least one axis"));
    }
    let mut transform = Transform { axes, shape: shape.to_vec() };
    for (axis, n, elements) in transform.steps(half) {
        // the intermediate result must fit in memory as well
        transform.shape[axis] = n;
        count(op, &transform.shape, SIZE)?;
        transform.shape[axis] = elements;
    }
    count(op, &transform.shape, SIZE)?;
    Ok(transform)
}

/// Returns the distance between neighbouring frequencies of a transform of `n` points that are `d` apart.
pub fn frequency_step(op: &'static str, n: usize, d: f64) -> Result<f64> {
    if n == 0 || d == 0.0 {
        return Err(Error::argument(op, format!("n is {n} and d is {d}, but both must be other than 0")));
    }
    Ok(1.0 / (n as f64 * d))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn several(shape: &[usize], s: Option<Lengths>, axes: Axes, half: Half) -> Result<Transform> {
        transforms("fftn", shape, s, axes, half)
    }

    #[test]
    fn along_one_axis() {
        let of = |n, axis, half| transform("fft", &[3, 4], n, axis, half).map(|t| (t.axes, t.shape));
        assert_eq!(of(None, -1, Half::Neither), Ok((vec![(1, 4)], vec![3, 4])));
        assert_eq!(of(Some(7), 0, Half::Result), Ok((vec![(0, 7)], vec![4, 4])));
        assert_eq!(of(None, 1, Half::Input), Ok((vec![(1, 6)], vec![3, 6])));
        assert!(matches!(of(Some(0), 0, Half::Neither), Err(Error::Shape { .. })));
        assert!(matches!(transform("irfft", &[1], None, 0, Half::Input), Err(Error::Shape { .. })));
        assert!(matches!(of(None, 2, Half::Neither), Err(Error::Axis { .. })));
        assert!(matches!(of(Some(usize::MAX), 0, Half::Neither), Err(Error::Memory { .. })));
    }

    #[test]
    fn over_several_axes() {
        let of = |s: Option<Lengths>, axes: Axes, half| several(&[2, 3, 4], s, axes, half).map(|t| (t.axes, t.shape));
        assert_eq!(of(None, Axes::All, Half::Neither), Ok((vec![(0, 2), (1, 3), (2, 4)], vec![2, 3, 4])));
        assert_eq!(of(Some([6, 5].into()), Axes::All, Half::Result), Ok((vec![(1, 6), (2, 5)], vec![2, 6, 3])));
        assert_eq!(of(None, [2, 0].into(), Half::Input), Ok((vec![(2, 4), (0, 2)], vec![2, 3, 4])));
        assert_eq!(of(None, Axes::list([]), Half::Neither), Ok((vec![], vec![2, 3, 4])));
        assert!(matches!(of(None, Axes::list([]), Half::Result), Err(Error::Shape { .. })));
        assert!(matches!(of(Some(vec![1; 4].into()), Axes::All, Half::Neither), Err(Error::Shape { .. })));
        assert!(matches!(of(Some([1].into()), [0, 1].into(), Half::Neither), Err(Error::Argument { .. })));
        assert!(several(&[2, 2], Some(vec![1; 15].into()), Axes::All, Half::Neither).is_err());
    }

    /// The axes have the same order as in NumPy, which transforms the last axis first.
    #[test]
    fn an_axis_may_come_twice() {
        let of = |s: Option<Lengths>, half| several(&[4], s, [0, 0].into(), half).map(|t| (t.axes, t.shape));
        assert_eq!(of(None, Half::Neither), Ok((vec![(0, 4), (0, 4)], vec![4])));
        assert_eq!(of(Some([4, 5].into()), Half::Neither), Ok((vec![(0, 4), (0, 5)], vec![4])));
        assert_eq!(of(None, Half::Result), Ok((vec![(0, 4), (0, 4)], vec![4])));
        assert_eq!(of(Some([4, 5].into()), Half::Input), Ok((vec![(0, 4), (0, 5)], vec![5])));
        assert!(several(&[4], None, [0, 0].into(), Half::Neither).unwrap().repeats());
        assert!(!several(&[4, 4], None, Axes::All, Half::Neither).unwrap().repeats());
    }

    #[test]
    fn scales() {
        let s = |norm| (Direction::Forward.scale(norm, 4), Direction::Inverse.scale(norm, 4));
        assert_eq!(s(Norm::Backward), (1.0, 0.25));
        assert_eq!(s(Norm::Ortho), (0.5, 0.5));
        assert_eq!(s(Norm::Forward), (0.25, 1.0));
    }
}
