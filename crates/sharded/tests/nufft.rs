//! Tests that transforms of non-uniform points, split over ranks in several layouts, give the same results as on one
//! rank.
#![allow(clippy::reversed_empty_ranges)] // in `1..-1`, -1 counts from the end of the axis

use backends::{NufftPlan, NufftType, Result, prelude::*};
use backends_sharded::{Policy, Sharded, world::threads};

type C = Complex<f64>;

/// Runs a program on several ranks, and returns the results of all ranks.
fn on<R: Send>(ranks: usize, policy: Policy, program: impl Fn(&Sharded<Numpyish>) -> R + Sync) -> Vec<R> {
    threads::run(ranks, |world| program(&Sharded::with(Numpyish::seeded(0), world.clone(), policy).unwrap()))
}

/// 203 points in a plane, and three values for each point.
fn points_and_values() -> (HostArray<f64>, HostArray<C>) {
    let within = Numpyish::seeded(5);
    let points = within.multiply(within.random_normal::<f64>([203, 2]).unwrap(), 4.0).unwrap();
    (points, within.random_normal::<C>([3, 203]).unwrap())
}

fn near(what: &str, got: &HostArray<C>, expected: &HostArray<C>) {
    assert_eq!(got.shape(), expected.shape(), "{what}");
    let error = got.iter().zip(expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    assert!(error < 1e-11, "{what}: {error}");
}

#[test]
fn points_and_grids_that_are_split_in_every_way() {
    let (points, values) = points_and_values();
    let within = Numpyish::new();
    for grid in [[9, 16], [70, 80]] {
        let spread = within.nufft_spread(&points, &values, grid, 5, 11.0).unwrap();
        let back = within.nufft_interpolate(&points, &spread, 5, 11.0).unwrap();
        for (ranks, least) in [(1, 64), (2, 64), (3, 64), (7, 2), (4, 1000)] {
            for split in [None, Some(0), Some(1)] {
                let all = on(ranks, Policy::new().least(least), |b| -> Result<_> {
                    let at = b.from_ndarray(points.clone())?;
                    let values = b.resplit(&b.from_ndarray(values.clone())?, split)?;
                    let sorted = b.nufft_sort(&at, grid, 5)?;
                    let given = NufftSpreadOptions::new().sorted(&sorted);
                    let one = b.nufft_spread(&at, &values, grid, 5, 11.0)?;
                    let two = b.nufft_spread_with(&at, &values, grid, 5, 11.0, given)?;
                    let given = NufftInterpolateOptions::new().sorted(&sorted);
                    let one_back = b.nufft_interpolate(&at, &one, 5, 11.0)?;
                    let two_back = b.nufft_interpolate_with(&at, &two, 5, 11.0, given)?;
                    if least < 100 {
                        assert_eq!((at.split(), one_back.split()), (Some(0), Some(1)));
                    }
                    Ok([one, two, one_back, two_back].map(|x| b.to_ndarray(&x).unwrap()))
                });
                for found in all {
                    let [one, two, one_back, two_back] = found.unwrap();
                    let what = format!("{grid:?}, {ranks} ranks, least {least}, values {split:?}");
                    near(&what, &one, &spread);
                    near(&what, &two, &spread);
                    near(&what, &one_back, &back);
                    near(&what, &two_back, &back);
                }
            }
        }
    }
}

#[test]
fn points_of_a_slice_that_stay_on_their_ranks() {
    let (points, values) = points_and_values();
    let within = Numpyish::new();
    let part = |x: &HostArray<f64>| within.get(x, ix![20.., ..]).unwrap();
    let of_values = within.get(&values, ix![.., 20..]).unwrap();
    let spread = within.nufft_spread(&part(&points), &of_values, [12, 10], 4, 9.0).unwrap();
    let back = within.nufft_interpolate(&part(&points), &spread, 4, 9.0).unwrap();
    let all = on(3, Policy::new().least(8), |b| -> Result<_> {
        let at = b.get(&b.from_ndarray(points.clone())?, ix![20.., ..])?;
        let values = b.from_ndarray(of_values.clone())?;
        let sorted = b.nufft_sort(&at, [12, 10], 4)?;
        let given = NufftSpreadOptions::new().sorted(&sorted);
        let spread = b.nufft_spread_with(&at, &values, [12, 10], 4, 9.0, given)?;
        let back = b.nufft_interpolate(&at, &spread, 4, 9.0)?;
        // in the default layout, the same points are on other ranks
        let moved = b.resplit(&b.resplit(&at, None)?, Some(0))?;
        let given = NufftSpreadOptions::new().sorted(&sorted);
        let wrong = b.nufft_spread_with(&moved, &values, [12, 10], 4, 9.0, given);
        Ok(([spread, back].map(|x| b.to_ndarray(&x).unwrap()), wrong.map(|_| ()).unwrap_err().to_string()))
    });
    for found in all {
        let ([got, got_back], why) = found.unwrap();
        near("spread", &got, &spread);
        near("interpolated", &got_back, &back);
        assert!(why.contains("nufft_spread: `sorted` is not the result of `nufft_sort`"), "{why}");
    }
}

#[test]
fn a_coordinate_that_is_not_finite_is_an_error_on_all_ranks() {
    let (mut points, values) = points_and_values();
    points[[200, 1]] = f64::NAN;
    for why in on(3, Policy::new(), |b| {
        let (at, values) = (b.from_ndarray(points.clone()).unwrap(), b.from_ndarray(values.clone()).unwrap());
        let sorted = b.nufft_sort(&at, [12, 10], 4).map(|_| ());
        let grid = b.ones::<C>([12, 10]).unwrap();
        let spread = b.nufft_spread(&at, &values, [12, 10], 4, 9.0).map(|_| ());
        let interpolated = b.nufft_interpolate(&at, &grid, 4, 9.0).map(|_| ());
        [sorted, spread, interpolated].map(|result| result.unwrap_err().to_string())
    }) {
        for (why, op) in why.iter().zip(["nufft_sort", "nufft_spread", "nufft_interpolate"]) {
            assert_eq!(*why, format!("{op}: a coordinate is not finite"));
        }
    }
}

#[test]
fn a_parameter_out_of_range_is_named_before_the_points_are_read() {
    let (mut points, values) = points_and_values();
    points[[200, 1]] = f64::NAN;
    for why in on(3, Policy::new(), |b| {
        let (at, values) = (b.from_ndarray(points.clone()).unwrap(), b.from_ndarray(values.clone()).unwrap());
        let (grid, wrong) = (b.ones::<C>([12, 10]).unwrap(), b.zeros::<i64>([3]).unwrap());
        let spread = b.nufft_spread(&at, &values, [12, 10], 4, -1.0).map(|_| ());
        let interpolated =
            b.nufft_interpolate_with(&at, &grid, 17, 9.0, NufftInterpolateOptions::new().sorted(&wrong)).map(|_| ());
        [spread, interpolated].map(|result| result.unwrap_err().to_string())
    }) {
        assert_eq!(why[0], "nufft_spread: `beta` is -1, but must be finite and positive");
        assert_eq!(why[1], "nufft_interpolate: `width` is 17, but must be between 2 and 16");
    }
}

#[test]
fn plans_and_transforms_of_split_points() {
    let (points, values) = points_and_values();
    let within = Numpyish::new();
    let column = |axis: usize| points.index_axis(ndarray::Axis(1), axis).to_owned().into_dyn().into_shared();
    let (x, y) = (column(0), column(1));
    let mut plan = NufftPlan::new(&within, NufftType::One, &[20, 21], 1e-10, 1).unwrap();
    plan.set_points(&[&x, &y]).unwrap();
    let expected = plan.execute(&values).unwrap();
    for ranks in [2, 5] {
        for found in on(ranks, Policy::new(), |b| -> Result<_> {
            let mut plan = NufftPlan::new(b, NufftType::One, &[20, 21], 1e-10, 1)?;
            plan.set_points(&[&b.from_ndarray(x.clone())?, &b.from_ndarray(y.clone())?])?;
            b.to_ndarray(&plan.execute(&b.from_ndarray(values.clone())?)?)
        }) {
            near(&format!("{ranks} ranks"), &found.unwrap(), &expected);
        }
    }
}
