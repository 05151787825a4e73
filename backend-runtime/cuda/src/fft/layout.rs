//! Describes transforms by cuFFT's advanced data layout. In this layout, element (i, j, k) of batch entry `b` is at
//! `b * distance + ((i * embed[1] + j) * embed[2] + k) * stride`.

/// Shape and strides of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strided<'a> {
    pub(super) shape: &'a [usize],
    pub(super) strides: &'a [isize],
}

/// Memory layout of the input or the output of a transform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) embed: Vec<i64>,
    pub(super) stride: i64,
    pub(super) distance: i64,
}

/// A batch of transforms of the same shape: the numbers of points, the number of transforms, and the memory layouts
/// of the inputs and of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) points: Vec<i64>,
    pub(super) batches: i64,
    pub(super) from: Side,
    pub(super) to: Side,
}

impl Layout {
    /// Maximum number of axes of one transform.
    pub(super) const MAX_AXES: usize = 3;

    /// Returns the layout of transforms along `axes`. `points` are the numbers of points along these axes; in a
    /// transform from or to real numbers, the complex array has only n / 2 + 1 elements along the last of the axes.
    /// Returns `None` if cuFFT cannot address the arrays with their strides.
    pub(super) fn of(axes: &[usize], points: &[usize], from: Strided, to: Strided) -> Option<Layout> {
        let (batches, distances) = batches(axes, from, to)?;
        let side = |array: Strided, distance| {
            let (embed, stride) = embedded(axes, array)?;
            Some(Side { embed, stride, distance })
        };
        Some(Layout {
            points: points.iter().map(|&n| n as i64).collect(),
            batches,
            from: side(from, distances[0])?,
            to: side(to, distances[1])?,
        })
    }
}

/// Merges the batch axes, which are all axes except the transformed ones, to a single axis. Returns the length of this
/// axis, and its strides in the arrays `from` and `to`; `None` if the strides of the batch axes do not allow this.
fn batches(axes: &[usize], from: Strided, to: Strided) -> Option<(i64, [i64; 2])> {
    let mut one: Option<(usize, [isize; 2])> = None;
    for axis in (0..from.shape.len()).filter(|axis| !axes.contains(axis) && from.shape[*axis] != 1) {
        let (len, strides) = (from.shape[axis], [from.strides[axis], to.strides[axis]]);
        let before = match one {
            None => 1,
            Some((before, outer)) if outer == strides.map(|stride| stride.wrapping_mul(len as isize)) => before,
            Some(_) => return None,
        };
        one = Some((before * len, strides));
    }
    // with a single transform, the distance between transforms has no effect
    let (len, strides) = one.unwrap_or((1, [1, 1]));
    strides.iter().all(|&stride| stride > 0).then_some((len as i64, strides.map(|stride| stride as i64)))
}

/// Returns the lengths `embed` by which cuFFT addresses the transformed axes, and the stride of the last of these
/// axes; `None` if the strides of the array do not allow it.
fn embedded(axes: &[usize], array: Strided) -> Option<(Vec<i64>, i64)> {
    let mut embed = vec![1; axes.len()];
    // the stride and the length of the transformed axis that follows the current one
    let mut inner: Option<(i64, i64)> = None;
    let mut last = 1;
    for (place, &axis) in axes.iter().enumerate().rev() {
        let len = array.shape[axis] as i64;
        let stride = match (inner, len) {
            // the stride of an axis of length 1 is never used
            (None, 1) => 1,
            (Some((stride, len)), 1) => stride * len,
            _ => array.strides[axis] as i64,
        };
        match inner {
            None if stride > 0 => last = stride,
            None => return None,
            Some((next, next_len)) => {
                if stride <= 0 || stride % next != 0 || stride / next < next_len {
                    return None;
                }
                embed[place + 1] = stride / next;
            }
        }
        inner = Some((stride, len));
    }
    // cuFFT ignores the first length
    embed[0] = inner.map_or(1, |(_, len)| len);
    Some((embed, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::{Complex, rules::c_strides};
    use std::f64::consts::TAU;

    type C = Complex<f64>;

    /// Computes forward transforms of complex numbers by the definition, at the addresses that cuFFT computes from
    /// the layout.
    fn interpret(layout: &Layout, from: &[C], to: &mut [C]) {
        let rank = layout.points.len();
        let indices = |i: i64| {
            let mut rest = i;
            let mut all = vec![0; rank];
            for axis in (0..rank).rev() {
                (all[axis], rest) = (rest % layout.points[axis], rest / layout.points[axis]);
            }
            all
        };
        let place = |side: &Side, batch: i64, at: &[i64]| {
            let inside = at.iter().zip(&side.embed).fold(0, |place, (&i, &len)| place * len + i);
            (batch * side.distance + inside * side.stride) as usize
        };
        let count: i64 = layout.points.iter().product();
        for batch in 0..layout.batches {
            for k in (0..count).map(indices) {
                let term = |j: Vec<i64>| {
                    let turns: f64 =
                        (0..rank).map(|a| (j[a] * k[a] % layout.points[a]) as f64 / layout.points[a] as f64).sum();
                    from[place(&layout.from, batch, &j)] * C::from_polar(1.0, -TAU * turns)
                };
                to[place(&layout.to, batch, &k)] = (0..count).map(indices).map(term).sum();
            }
        }
    }

    /// Computes the transform of an array in C order by the definition, one axis after another.
    fn expected(shape: &[usize], axes: &[usize], x: &[C]) -> Vec<C> {
        let strides = c_strides(shape);
        axes.iter().fold(x.to_vec(), |x, &axis| {
            let (n, stride) = (shape[axis], strides[axis] as usize);
            let one = |i: usize| {
                let k = i / stride % n;
                let first = i - k * stride;
                (0..n).map(|j| x[first + j * stride] * C::from_polar(1.0, -TAU * (j * k % n) as f64 / n as f64)).sum()
            };
            (0..x.len()).map(one).collect()
        })
    }

    /// Returns strides of an array of this shape. In memory, the axes have the order `order`, and `gap` unused
    /// elements follow each element of the innermost axis.
    fn strides(shape: &[usize], order: &[usize], gap: usize) -> Vec<isize> {
        let mut all = vec![0; shape.len()];
        let mut next = gap as isize + 1;
        for &axis in order.iter().rev() {
            all[axis] = next;
            next *= shape[axis] as isize;
        }
        all
    }

    fn places(shape: &[usize], strides: &[isize]) -> Vec<usize> {
        let own = c_strides(shape);
        let size = shape.iter().product();
        let place = |i: usize| -> isize {
            (0..shape.len()).map(|a| (i / own[a] as usize % shape[a]) as isize * strides[a]).sum()
        };
        (0..size).map(|i| place(i) as usize).collect()
    }

    #[test]
    fn layouts_that_are_given_are_right() {
        let shapes: [&[usize]; 5] = [&[3, 4, 5], &[2, 1, 3, 2], &[4], &[1, 6], &[2, 3, 1]];
        let mut given = 0;
        for shape in shapes {
            let ndim = shape.len();
            let plain: Vec<usize> = (0..ndim).collect();
            let turned: Vec<usize> = (0..ndim).rev().collect();
            let rotated: Vec<usize> = (0..ndim).map(|a| (a + 1) % ndim).collect();
            let sets = (1..1_usize << ndim).map(|bits| (0..ndim).filter(|a| bits >> a & 1 == 1).collect::<Vec<_>>());
            for axes in sets.filter(|axes| axes.len() <= Layout::MAX_AXES) {
                for (from_order, gap) in [(&plain, 0), (&turned, 0), (&rotated, 0), (&plain, 2)] {
                    for to_order in [&plain, &turned, &rotated] {
                        let (a, c) = (strides(shape, from_order, gap), strides(shape, to_order, 0));
                        let points: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
                        let (from, to) = (Strided { shape, strides: &a }, Strided { shape, strides: &c });
                        let Some(layout) = Layout::of(&axes, &points, from, to) else { continue };
                        given += 1;
                        let (from, to) = (places(shape, &a), places(shape, &c));
                        let x: Vec<C> =
                            (0..from.len()).map(|i| C::new((i as f64 * 1.7).sin(), (i as f64).cos())).collect();
                        let mut memory = vec![C::new(f64::NAN, 0.0); from.iter().max().unwrap() + 1];
                        from.iter().zip(&x).for_each(|(&at, &v)| memory[at] = v);
                        let mut out = vec![C::new(f64::NAN, 0.0); x.len()];
                        interpret(&layout, &memory, &mut out);
                        for (&at, e) in to.iter().zip(expected(shape, &axes, &x)) {
                            assert!((out[at] - e).norm() < 1e-12, "{shape:?} {axes:?} {a:?} {c:?}");
                        }
                    }
                }
            }
        }
        assert!(given > 100, "{given}");
    }

    #[test]
    fn arrays_in_c_order_need_no_copy() {
        let shape = [4, 6, 5];
        let strides = c_strides(&shape);
        let x = Strided { shape: &shape, strides: &strides };
        for axes in [&[2][..], &[0], &[1, 2], &[0, 1], &[0, 1, 2]] {
            let points: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
            assert!(Layout::of(axes, &points, x, x).is_some(), "{axes:?}");
        }
        assert!(Layout::of(&[1], &[6], x, x).is_none(), "batches before and after");
    }

    #[test]
    fn what_must_be_copied_first() {
        let of = |strides: &[isize]| {
            let shape = [4, 6];
            let x = Strided { shape: &shape, strides };
            Layout::of(&[1], &[6], x, Strided { shape: &shape, strides: &[6, 1] })
        };
        assert!(of(&[6, -1]).is_none(), "backwards");
        assert!(of(&[0, 1]).is_none(), "one lane repeated");
        assert!(of(&[6, 0]).is_none(), "one element repeated");
        assert!(of(&[13, 2]).is_some(), "every second element");
        let shape = [4, 6];
        let overlapping = Strided { shape: &shape, strides: &[3, 1] };
        assert!(Layout::of(&[0, 1], &[4, 6], overlapping, overlapping).is_none(), "rows that overlap");
    }
}
