//! Exact Euclidean distances to the background (the false elements), computed one axis after another. The algorithm
//! is described in: P. F. Felzenszwalb, D. P. Huttenlocher, 2012, Distance transforms of sampled functions.

use backend_core::{
    DType, Precision, Result,
    numpyish::{
        OpContext,
        buffer::{self, Buffer},
        convert,
        copy::{self, Ends},
        layout::{self, LaneFn},
        parallel::{self, CHEAP},
        raw::{RawArray, View},
    },
    rules::{self, Measured},
};

/// The Euclidean distance from each true element to the nearest false element.
pub fn distance_transform_edt(on: OpContext<'_>, x: View<'_>, sampling: Option<View<'_>>) -> Result<RawArray> {
    distances_of(x, sampling, on.dtype)
}

/// Like `distance_transform_edt`, with a result of `dtype`, float32 or float64. Squared distances are computed in
/// float64. They are exact integers if the sampling (the distance between neighbours) is 1 along every axis.
pub fn distances_of(x: View<'_>, sampling: Option<View<'_>>, dtype: DType) -> Result<RawArray> {
    const OP: &str = "distance_transform_edt";
    let steps = sampling.map(|steps| numbers(OP, steps)).transpose()?;
    let given = sampling.zip(steps.as_ref()).map(|(of, steps)| (of.shape, &steps[..]));
    let measured = rules::measured(OP, x.shape, given)?;
    let n = rules::count(OP, x.shape, size_of::<f64>())?;
    let squares = Buffer::new(OP, n, DType::Float64)?;
    if n > 0 {
        let elements = copy::pack(OP, x)?;
        // SAFETY: the packed copy has `n` bools.
        let flags = unsafe { elements.slice::<bool>(n) };
        if flags.contains(&false) {
            within_lines(flags, &squares, &measured);
            for axis in (0..measured.lengths.len() - 1).rev() {
                along(OP, &squares, &measured, axis)?;
            }
        } else {
            from_before(&squares, &measured);
        }
    }
    let out = roots(OP, squares, dtype)?;
    // SAFETY: every element has been written.
    unsafe { RawArray::new(OP, x.shape.to_vec(), out) }
}

/// Copies the elements of a real array as float64, in C order.
fn numbers(op: &'static str, x: View<'_>) -> Result<Vec<f64>> {
    let packed = copy::pack(op, x)?;
    // SAFETY: the packed copy has `x.len()` elements.
    unsafe { convert::reals_to_f64(op, x.dtype, packed.start(), x.len()) }
}

/// Writes, for each element, the squared distance to the nearest false element of the same line along the last axis.
/// The distance is infinite in a line without false elements.
fn within_lines(flags: &[bool], squares: &Buffer, measured: &Measured) {
    let last = measured.lengths.len() - 1;
    let (len, step) = (measured.lengths[last], measured.steps[last]);
    let out = Ends { from: std::ptr::null(), to: squares.start().cast::<f64>() };
    parallel::parallel(flags.len() / len, (CHEAP / 2 / len).max(1), |lines| {
        let out = &out;
        for line in lines {
            let flags = &flags[line * len..][..len];
            // SAFETY: the line of the result belongs to this task, and is written before it is read.
            let to = unsafe {
                let start = out.to.add(line * len);
                start.write_bytes(0, len);
                std::slice::from_raw_parts_mut(start, len)
            };
            let mut away = f64::INFINITY;
            for (to, &flag) in to.iter_mut().zip(flags) {
                away = if flag { away + 1.0 } else { 0.0 };
                *to = away;
            }
            let mut away = f64::INFINITY;
            for (to, &flag) in to.iter_mut().zip(flags).rev() {
                away = if flag { away + 1.0 } else { 0.0 };
                let distance = to.min(away) * step;
                *to = distance * distance;
            }
        }
    });
}

/// Takes the distances along another axis into account. Each element becomes the minimum, over all elements `e` of
/// its lane (the 1-D slice along the axis), of the value of `e` plus the squared distance to `e`.
fn along(op: &'static str, squares: &Buffer, measured: &Measured, axis: usize) -> Result<()> {
    let (len, step) = (measured.lengths[axis], measured.steps[axis]);
    if len < 2 {
        return Ok(());
    }
    let new = || -> Result<LaneFn<'_>> {
        let mut lowest = Envelope { seen: buffer::vec(op, len)?, step };
        Ok(Box::new(move |from, to| {
            // SAFETY: the lane has `len` elements, which belong to this task. `from` equals `to`.
            let lane = unsafe { std::slice::from_raw_parts_mut(to.cast::<f64>(), len) };
            debug_assert_eq!(from, to.cast_const());
            lowest.transform(lane);
            Ok(())
        }))
    };
    // SAFETY: the buffer has the elements of this shape, and nobody else uses them.
    unsafe { layout::lanes_in_place(op, squares.start(), DType::Float64, &measured.lengths, axis, CHEAP / 4, &new) }
}

/// The lower envelope of the parabolas of a lane. Each finite element of the lane gives one parabola.
struct Envelope {
    /// The parabolas that are the lowest at some position, from left to right.
    seen: Vec<Parabola>,
    step: f64,
}

#[derive(Clone, Copy)]
struct Parabola {
    /// Position from which this parabola is the lowest of the parabolas added so far.
    from: f64,
    /// Position of the vertex; `height` is the parabola's value at the vertex.
    at: f64,
    height: f64,
}

impl Envelope {
    fn transform(&mut self, lane: &mut [f64]) {
        let (seen, scale) = (&mut self.seen, 1.0 / (self.step * self.step));
        seen.clear();
        for (at, &height) in lane.iter().enumerate() {
            if height == f64::INFINITY {
                continue;
            }
            let at = at as f64;
            let mut from = f64::NEG_INFINITY;
            while let Some(last) = seen.last() {
                // `rise` is exact if neighbours are at distance 1, because all terms are integers
                let rise = (height - last.height) * scale + (at - last.at) * (at + last.at);
                from = rise / (2.0 * (at - last.at));
                if from > last.from {
                    break;
                }
                seen.pop();
                from = f64::NEG_INFINITY;
            }
            seen.push(Parabola { from, at, height });
        }
        let Some(&first) = seen.first() else { return };
        let (mut now, mut rest) = (first, seen[1..].iter().copied().peekable());
        for (i, to) in lane.iter_mut().enumerate() {
            let i = i as f64;
            while let Some(next) = rest.next_if(|next| next.from < i) {
                now = next;
            }
            let distance = (i - now.at) * self.step;
            *to = now.height + distance * distance;
        }
    }
}

/// Writes the squared distances for an array without background. As in SciPy, they are measured from the position with
/// index -1 along axis 0, and index 0 along all other axes.
fn from_before(squares: &Buffer, measured: &Measured) {
    // SAFETY: the slice has the buffer's elements, which are written before they are read.
    let all = unsafe {
        squares.start().cast::<f64>().write_bytes(0, squares.len());
        std::slice::from_raw_parts_mut(squares.start().cast::<f64>(), squares.len())
    };
    let mut inner = all.len();
    for (axis, (&len, &step)) in measured.lengths.iter().zip(&measured.steps).enumerate() {
        inner /= len;
        for (k, elements) in all.chunks_mut(inner).enumerate() {
            let distance = (k % len + usize::from(axis == 0)) as f64 * step;
            elements.iter_mut().for_each(|square| *square += distance * distance);
        }
    }
}

/// Returns the square roots of `squares`, as `dtype`. They overwrite the squares if `dtype` is float64.
fn roots(op: &'static str, squares: Buffer, dtype: DType) -> Result<Buffer> {
    let n = squares.len();
    let out = if dtype == DType::Float64 { None } else { Some(Buffer::new(op, n, dtype)?) };
    let to = out.as_ref().map_or(squares.start(), Buffer::start);
    let both = Ends { from: squares.start().cast_const(), to };
    parallel::parallel(n, CHEAP, |range| {
        let both = &both;
        // SAFETY: the range is within both buffers, and belongs to this task only.
        unsafe {
            let (from, to) = (both.from.cast::<f64>().add(range.start), both.to.add(range.start * dtype.size()));
            match dtype {
                DType::Float32 => all_roots::<f32>(from, to.cast(), range.len()),
                _ => all_roots::<f64>(from, to.cast(), range.len()),
            }
        }
    });
    Ok(out.unwrap_or(squares))
}

/// # Safety
/// `from` must have `n` numbers, and `to` must have room for `n` results; both may be the same memory.
unsafe fn all_roots<T: Precision>(from: *const f64, to: *mut T, n: usize) {
    for i in 0..n {
        // SAFETY: `from` and `to` have `n` elements each.
        unsafe { *to.add(i) = T::of((*from.add(i)).sqrt()) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::typed::distance_transform_edt;
    use backend_core::numpyish::{Numpyish, testing::Dice, testing::layouts};
    use ndarray::{ArrayD, Dimension, IxDyn};

    /// Computes a reference result by trying every element of the background.
    fn nearest(x: &ArrayD<bool>, steps: &[f64]) -> ArrayD<f64> {
        ArrayD::from_shape_fn(x.raw_dim(), |at| {
            let square = |there: &IxDyn| -> f64 {
                let apart = at.slice().iter().zip(there.slice()).zip(steps).map(|((&a, &b), step)| {
                    let distance = (a as f64 - b as f64) * step;
                    distance * distance
                });
                apart.sum()
            };
            x.indexed_iter()
                .filter(|(_, flag)| !**flag)
                .map(|(there, _)| square(&there))
                .fold(f64::INFINITY, f64::min)
                .sqrt()
        })
    }

    #[test]
    fn no_element_of_the_background_is_nearer() {
        let mut dice = Dice(3);
        for shape in [&[23, 31][..], &[7, 8, 9], &[3, 4, 5, 6], &[60], &[70, 2], &[1, 50], &[5, 1, 6]] {
            for rare in [2, 10, 60] {
                let mut x = ArrayD::from_shape_fn(IxDyn(shape), |_| dice.below(rare) > 0);
                *x.iter_mut().nth(5).unwrap() = false;
                let expected = nearest(&x, &vec![1.0; shape.len()]);
                for x in layouts(&x) {
                    let distances = distance_transform_edt::<f64>(&Numpyish::new(), &x, None).unwrap();
                    assert_eq!(distances, expected);
                }
                let steps: Vec<f64> = (0..shape.len()).map(|_| 0.1 + dice.below(100) as f64 / 30.0).collect();
                let expected = nearest(&x, &steps);
                let sampling = ArrayD::from_shape_vec(IxDyn(&[steps.len()]), steps).unwrap().into_shared();
                let distances = distance_transform_edt(&Numpyish::new(), &x.into_shared(), Some(&sampling)).unwrap();
                assert!(distances.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-14 * b));
            }
        }
    }

    #[test]
    fn without_background_a_place_before_the_array_is_it() {
        let of = |shape: &[usize]| {
            let x = ArrayD::from_elem(IxDyn(shape), true).into_shared();
            let distances = distance_transform_edt::<f32>(&Numpyish::new(), &x, None).unwrap();
            distances.iter().copied().collect::<Vec<f32>>()
        };
        assert_eq!(of(&[3]), [1.0, 2.0, 3.0]);
        assert_eq!(of(&[2, 2]), [1.0, 2_f32.sqrt(), 2.0, 5_f32.sqrt()]);
        assert_eq!(of(&[1, 1]), [1.0]);
        assert_eq!(of(&[]), [1.0]);
        assert_eq!(of(&[0, 3]), [0.0; 0]);
    }
}
