//! Tests convolutions, grid samples and scatters against the results of Phi-ML, on every backend. Phi-ML's fluid is
//! compared in `examples/fluid`, and its linear systems in `solvers`.

use crate::common::{Checked, array, data, host, near};
use backends::{Result, prelude::*};
use ndarray::ArrayD;

/// Convolutions with results of three sizes: `valid` (only complete overlaps), `same` (the size of the array) and
/// `full` (any overlap).
fn convolutions<B: Backend>(b: &B) -> Checked {
    let data = data("phiml_conv");
    for (name, axes) in [("1d", 1), ("1d_k4", 1), ("2d", 2), ("2d_k2x3", 2)] {
        let value = array::<B, f64>(b, &data.get(&format!("value_{name}"))?)?;
        let kernel = array::<B, f64>(b, &data.get(&format!("kernel_{name}"))?)?;
        // all items of the batch share one kernel
        let kernel = b.squeeze(kernel, 0)?;
        let lengths = &kernel.shape()[2..];
        assert_eq!(lengths.len(), axes);
        for (size, border) in [("valid", [0, 0]), ("same", [1, 0]), ("full", [1, 1])] {
            // for a kernel of even length, the additional element of padding is before the array, as in SciPy
            let around = |&k: &usize| match border {
                [0, _] => [0, 0],
                [_, 0] => [k / 2, (k - 1) / 2],
                _ => [k - 1, k - 1],
            };
            let widths: Vec<[usize; 2]> = [[0, 0]; 2].into_iter().chain(lengths.iter().map(around)).collect();
            let found = b.conv(b.pad(&value, widths)?, &kernel)?;
            let name = format!("{name}_{size}");
            near(&name, &host::<B, f64>(b, &found)?, &data.get(&name)?, 1e-14);
        }
    }
    Ok(())
}

#[test]
fn convolutions_are_those_of_phiml() {
    on_every_backend!(convolutions);
}

fn samples<B: Backend>(b: &B) -> Checked {
    let data = data("phiml_grid_sample");
    for axes in ["1d", "2d", "3d"] {
        let grid: ArrayD<f64> = data.get(&format!("grid_{axes}"))?;
        let coordinates = array::<B, f64>(b, &data.get(&format!("coords_{axes}"))?)?;
        // a batch with one image of one channel
        let shape: Vec<usize> = [1].into_iter().chain(grid.shape().iter().copied()).chain([1]).collect();
        let grid = b.reshape(array::<B, f64>(b, &grid)?, shape)?;
        let coordinates = b.expand_dims(coordinates, 0)?;
        let options = GridSampleOptions::new();
        let modes = [
            ("zero", options),
            ("one", options.cval(1.0)),
            ("boundary", options.mode(Boundary::Nearest)),
            ("periodic", options.mode(Boundary::GridWrap)),
        ];
        for (mode, options) in modes {
            let found = b.grid_sample_with(&grid, &coordinates, options)?;
            let found = b.reshape(found, -1)?;
            let name = format!("{axes}_{mode}");
            near(&name, &host::<B, f64>(b, &found)?, &data.get(&name)?, 1e-13);
        }
    }
    Ok(())
}

#[test]
fn reads_between_elements_are_those_of_phiml() {
    on_every_backend!(samples);
}

/// Converts indices of shape (batch, updates, components) to flat indices into an array in which all items of the batch
/// follow each other.
fn places<B: Backend>(b: &B, indices: &ArrayD<i64>, lengths: &[usize]) -> Result<B::Array<i64>> {
    let indices = b.asarray(indices.clone())?;
    let of_batch = b.reshape(b.arange(0, indices.shape()[0] as i64, 1)?, [-1, 1])?;
    let components = b.unstack_with(indices, UnstackOptions::new().axis(-1))?;
    let all: Vec<B::Array<i64>> = [of_batch].into_iter().chain(components).collect();
    b.reshape(b.ravel_multi_index(&all, lengths)?, -1)
}

fn scatters<B: Backend>(b: &B) -> Checked {
    let data = data("phiml_scatter");
    for axes in ["1d", "2d"] {
        let base: ArrayD<f64> = data.get(&format!("base_{axes}"))?;
        let (lengths, channels) = (&base.shape()[..base.ndim() - 1], base.shape()[base.ndim() - 1]);
        let at = places(b, &data.get(&format!("index_{axes}"))?, lengths)?;
        let flat = |x: &ArrayD<f64>| b.reshape(array::<B, f64>(b, x)?, [-1, channels as isize]);
        let (x, values) = (flat(&base)?, flat(&data.get(&format!("values_{axes}"))?)?);
        let found = [
            ("update", b.scatter(&x, &at, &values, 0)?),
            ("add", b.scatter_add(&x, &at, &values, 0)?),
            ("max", b.scatter_max(&x, &at, &values, 0)?),
            ("min", b.scatter_min(&x, &at, &values, 0)?),
        ];
        for (how, found) in found {
            let name = format!("scatter{axes}_{how}");
            let found = b.reshape(found, base.shape())?;
            near(&name, &host::<B, f64>(b, &found)?, &data.get(&name)?, 1e-14);
        }
    }
    let base: ArrayD<f64> = data.get("base_2d")?;
    let at = places(b, &data.get("gather_index_2d")?, &base.shape()[..3])?;
    let found = b.take(b.reshape(array::<B, f64>(b, &base)?, -1)?, at, 0)?;
    let expected: ArrayD<f64> = data.get("batched_gather_nd")?;
    near("batched_gather_nd", &host::<B, f64>(b, &b.reshape(found, expected.shape())?)?, &expected, 0.0);
    // both items of the batch have the same segments, so the segments of the first item are used for both
    let segments: ArrayD<i64> = data.get("segment_index")?;
    let starts = b.asarray(segments.index_axis(ndarray::Axis(0), 0).to_owned())?;
    let found = b.indexed_segment_sum_with(
        array::<B, f64>(b, &data.get("base_1d")?)?,
        starts,
        IndexedSegmentSumOptions::new().axis(1),
    )?;
    // for an empty segment, NumPy's `reduceat` returns an element of the array, while the op returns 0
    let mut expected: ArrayD<f64> = data.get("indexed_segment_sum")?;
    expected.index_axis_mut(ndarray::Axis(1), 1).fill(0.0);
    near("indexed_segment_sum", &host::<B, f64>(b, &found)?, &expected, 1e-14);
    Ok(())
}

#[test]
fn scatters_are_those_of_phiml() {
    on_every_backend!(scatters);
}
