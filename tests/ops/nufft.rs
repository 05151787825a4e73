//! Compares non-uniform FFTs with direct sums and with FINUFFT, on every backend.

use crate::common::*;
use backends::{NufftPlan, NufftType};
use backends::{Result, prelude::*};
use ndarray::{ArrayD, Axis, IxDyn, indices};
use std::f64::consts::{PI, TAU};

/// Combines the last axis, which has the real and the imaginary part, into complex numbers.
fn complex(parts: &ArrayD<f64>) -> ArrayD<Complex<f64>> {
    let last = Axis(parts.ndim() - 1);
    parts.map_axis(last, |z| Complex::new(z[0], z[1]))
}

/// Like [`near`], but for complex numbers, and with the error in the Euclidean norm.
#[track_caller]
fn near_complex(what: &str, x: &ArrayD<Complex<f64>>, expected: &ArrayD<Complex<f64>>, tolerance: f64) {
    assert_eq!(x.shape(), expected.shape(), "{what}");
    let norm = |a: &ArrayD<Complex<f64>>| a.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    let error = norm(&(x - expected)) / norm(expected);
    assert!(error <= tolerance, "{what}: relative error {error:.3e}, allowed {tolerance:.0e}");
}

struct Case {
    name: String,
    /// The coordinates of the points: one list per axis.
    points: Vec<Vec<f64>>,
    c: ArrayD<Complex<f64>>,
    f: ArrayD<Complex<f64>>,
}

/// Returns number `i` of a deterministic sequence whose numbers are evenly scattered between -1 and 1.
fn scattered(i: usize, seed: f64) -> f64 {
    (i as f64 * 0.618_033_988_749_895 + seed).rem_euclid(1.0) * 2.0 - 1.0
}

/// Returns a test case with one axis.
fn line(modes: usize, points: usize) -> Case {
    let complex = |i: usize| Complex::new(scattered(7 * i, 0.3), scattered(5 * i, 0.8));
    Case {
        name: modes.to_string(),
        points: vec![(0..points).map(|i| 1.5 * PI * scattered(i, 0.1)).collect()],
        c: ArrayD::from_shape_fn(vec![points], |i| complex(i[0])),
        f: ArrayD::from_shape_fn(vec![modes], |i| complex(i[0] + 3)),
    }
}

fn case(modes: &[usize]) -> std::result::Result<Case, Box<dyn std::error::Error>> {
    let data = data("nufft");
    let name = modes.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
    let array = |key: &str| data.get(&format!("{name}_{key}"));
    Ok(Case { points: data.rows(&format!("{name}_points"))?, c: complex(&array("c")?), f: complex(&array("f")?), name })
}

const CASES: [&[usize]; 5] = [&[7, 10], &[24, 15], &[1, 3], &[5, 6, 4], &[9, 1, 8]];

/// Returns the value `exp(i sign k.x)` of a wave, where the integers `k` are the frequencies of a mode and `x` is a
/// point. The frequencies of all modes are centred around 0.
fn wave(case: &Case, mode: &IxDyn, point: usize, sign: f64) -> Complex<f64> {
    let modes = case.f.shape();
    let angle = |axis: usize| (mode[axis] as f64 - (modes[axis] / 2) as f64) * case.points[axis][point];
    Complex::from_polar(1.0, sign * (0..modes.len()).map(angle).sum::<f64>())
}

fn direct_type1(case: &Case, sign: f64) -> ArrayD<Complex<f64>> {
    let of_mode = |mode: &IxDyn| (0..case.c.len()).map(|j| case.c[j] * wave(case, mode, j, sign)).sum();
    ArrayD::from_shape_fn(case.f.shape(), |mode| of_mode(&mode))
}

fn direct_type2(case: &Case, sign: f64) -> ArrayD<Complex<f64>> {
    let of_point = |j: usize| indices(case.f.shape()).into_iter().map(|m| case.f[&m] * wave(case, &m, j, sign)).sum();
    ArrayD::from_shape_fn(vec![case.c.len()], |j| of_point(j[0]))
}

fn type1<B: Backend, T: Precision>(b: &B, case: &Case, eps: f64, isign: isize) -> Result<ArrayD<Complex<f64>>> {
    let points = case.points.iter().map(|x| b.asarray(x.iter().map(|&v| T::of(v)).collect::<Vec<T>>()));
    let points = points.collect::<Result<Vec<_>>>()?;
    let c = b.asarray(case.c.mapv(T::Complex::from_complex))?;
    let n = case.f.shape();
    let f = if let &[n] = n {
        b.nufft1d_type1_with(&points[0], &c, n, Nufft1dType1Options::new().eps(eps).isign(isign))?
    } else if n.len() == 2 {
        b.nufft2d_type1_with(&points[0], &points[1], &c, n, Nufft2dType1Options::new().eps(eps).isign(isign))?
    } else {
        let options = Nufft3dType1Options::new().eps(eps).isign(isign);
        b.nufft3d_type1_with(&points[0], &points[1], &points[2], &c, n, options)?
    };
    Ok(b.to_ndarray(&f)?.mapv(|z| z.cast::<Complex<f64>>()).into_owned())
}

fn type2<B: Backend, T: Precision>(b: &B, case: &Case, eps: f64, isign: isize) -> Result<ArrayD<Complex<f64>>> {
    let points = case.points.iter().map(|x| b.asarray(x.iter().map(|&v| T::of(v)).collect::<Vec<T>>()));
    let points = points.collect::<Result<Vec<_>>>()?;
    let f = b.asarray(case.f.mapv(T::Complex::from_complex))?;
    let c = if case.f.ndim() == 1 {
        b.nufft1d_type2_with(&points[0], &f, Nufft1dType2Options::new().eps(eps).isign(isign))?
    } else if case.f.ndim() == 2 {
        b.nufft2d_type2_with(&points[0], &points[1], &f, Nufft2dType2Options::new().eps(eps).isign(isign))?
    } else {
        let options = Nufft3dType2Options::new().eps(eps).isign(isign);
        b.nufft3d_type2_with(&points[0], &points[1], &points[2], &f, options)?
    };
    Ok(b.to_ndarray(&c)?.mapv(|z| z.cast::<Complex<f64>>()).into_owned())
}

fn accuracy<B: Backend>(b: &B) -> Checked {
    let cases = CASES.into_iter().map(case).chain([(1, 3), (2, 1), (17, 40), (64, 25)].map(|(n, m)| Ok(line(n, m))));
    for case in cases {
        let case = case?;
        for (isign, sign) in [(1, 1.0), (-1, -1.0)] {
            let (one, two) = (direct_type1(&case, sign), direct_type2(&case, sign));
            for eps in [1e-1, 1e-3, 1e-6, 1e-9, 1e-12] {
                let what = format!("{}, sign {isign}, eps {eps:.0e}", case.name);
                near_complex(&format!("type 1, {what}"), &type1::<B, f64>(b, &case, eps, isign)?, &one, eps);
                near_complex(&format!("type 2, {what}"), &type2::<B, f64>(b, &case, eps, isign)?, &two, eps);
            }
            for eps in [1e-3, 1e-5] {
                let what = format!("{}, sign {isign}, eps {eps:.0e}, float32", case.name);
                near_complex(&format!("type 1, {what}"), &type1::<B, f32>(b, &case, eps, isign)?, &one, eps);
                near_complex(&format!("type 2, {what}"), &type2::<B, f32>(b, &case, eps, isign)?, &two, eps);
            }
        }
    }
    Ok(())
}

#[test]
fn each_accuracy_is_kept() {
    on_every_backend!(accuracy);
}

/// Returns the coordinates of scattered points and of scattered frequencies, each with one list per axis. `extent` is
/// the largest distance of a frequency from the middle of the frequencies.
fn free(axes: usize, points: usize, frequencies: usize, extent: f64) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let along = |count: usize, seed: f64, middle: f64, extent: f64| -> Vec<Vec<f64>> {
        let one =
            |axis: usize| (0..count).map(move |i| middle + extent * scattered(i + 3 * axis, seed + axis as f64 / 7.0));
        (0..axes).map(|axis| one(axis).collect()).collect()
    };
    (along(points, 0.2, 3.0, 2.0), along(frequencies, 0.6, -1.5, extent))
}

fn frequencies<B: Backend>(b: &B) -> Checked {
    for (axes, n, m, extent) in
        [(1, 30, 20, 40.0), (1, 1, 5, 9.0), (1, 5, 1, 9.0), (1, 1, 1, 0.0), (2, 12, 9, 5.0), (3, 7, 6, 2.0)]
    {
        let (x, s) = free(axes, n, m, extent);
        let c: Vec<Complex<f64>> = (0..n).map(|j| Complex::new(scattered(j, 0.4), scattered(j, 0.9))).collect();
        for sign in [1, -1] {
            let angle = |j: usize, k: usize| -> f64 { (0..axes).map(|axis| s[axis][k] * x[axis][j]).sum() };
            let direct = |k: usize| -> Complex<f64> {
                (0..n).map(|j| c[j] * Complex::from_polar(1.0, f64::from(sign) * angle(j, k))).sum()
            };
            let expected = ArrayD::from_shape_fn(vec![m], |k| direct(k[0]));
            for eps in [1e-2, 1e-6, 1e-11] {
                let array =
                    |rows: &[Vec<f64>]| rows.iter().map(|row| b.asarray(row.clone())).collect::<Result<Vec<_>>>();
                let (x, s, c, isign) = (array(&x)?, array(&s)?, b.asarray(c.clone())?, sign as isize);
                let f = match axes {
                    1 => {
                        let options = Nufft1dType3Options::new().eps(eps).isign(isign);
                        b.nufft1d_type3_with(&x[0], &c, &s[0], options)?
                    }
                    2 => {
                        let options = Nufft2dType3Options::new().eps(eps).isign(isign);
                        b.nufft2d_type3_with(&x[0], &x[1], &c, &s[0], &s[1], options)?
                    }
                    _ => {
                        let options = Nufft3dType3Options::new().eps(eps).isign(isign);
                        b.nufft3d_type3_with(&x[0], &x[1], &x[2], &c, &s[0], &s[1], &s[2], options)?
                    }
                };
                let what = format!("type 3, {axes} axes, {n} points, {m} frequencies, sign {sign}, eps {eps:.0e}");
                near_complex(&what, &b.to_ndarray(&f)?.into_owned(), &expected, eps);
            }
        }
    }
    let (x, c) = (b.asarray([0.5, 1.0])?, b.ones::<Complex<f64>>([3, 2])?);
    assert_eq!(b.shape(&b.nufft1d_type3(&x, &c, &b.zeros::<f64>([4])?)?), [3, 4]);
    assert_eq!(b.shape(&b.nufft1d_type3(&x, &c, &b.zeros::<f64>([0])?)?), [3, 0]);
    let bad = b.asarray([f64::NAN, 1.0])?;
    assert_eq!(b.nufft1d_type3(&bad, &c, &x).unwrap_err().op(), Some("nufft1d_type3"));
    assert!(b.nufft1d_type3(&b.zeros::<f64>([3])?, &c, &x).is_err(), "3 points, 2 values");
    let far = b.asarray([-1e200, 1e200])?;
    assert!(b.nufft1d_type3(&far, &c, &x).is_err(), "no memory");
    Ok(())
}

#[test]
fn frequencies_are_free() {
    on_every_backend!(frequencies);
}

fn finufft<B: Backend>(b: &B) -> Checked {
    let data = data("nufft");
    for modes in CASES {
        let case = case(modes)?;
        for (isign, sign) in [(1, "plus"), (-1, "minus")] {
            let (one, two) = (format!("{}_type1_{sign}", case.name), format!("{}_type2_{sign}", case.name));
            near_complex(&one, &type1::<B, f64>(b, &case, 1e-14, isign)?, &complex(&data.get(&one)?), 1e-12);
            near_complex(&two, &type2::<B, f64>(b, &case, 1e-14, isign)?, &complex(&data.get(&two)?), 1e-12);
        }
    }
    Ok(())
}

#[test]
fn results_are_those_of_finufft() {
    on_every_backend!(finufft);
}

fn many_points<B: Backend>(b: &B) -> Checked {
    // there are more points than one chunk of the kernels can hold, and enough points for rounding errors of sums to
    // matter
    let (points, modes) = (6000, [12, 9]);
    let spread = |step: f64| (0..points).map(|j| (j as f64 * step) % TAU - PI).collect::<Vec<f64>>();
    let case = Case {
        name: "many".into(),
        points: vec![spread(0.7548776662466927), spread(0.5698402909980532)],
        c: ArrayD::from_shape_fn(vec![points], |j| Complex::new((j[0] as f64).sin(), (j[0] as f64).cos())),
        f: ArrayD::from_shape_fn(&modes[..], |m| Complex::new(m[0] as f64 + 1.0, (m[1] as f64).sin())),
    };
    near_complex("type 1", &type1::<B, f64>(b, &case, 1e-12, 1)?, &direct_type1(&case, 1.0), 1e-11);
    near_complex("type 2", &type2::<B, f64>(b, &case, 1e-12, -1)?, &direct_type2(&case, -1.0), 1e-12);
    Ok(())
}

#[test]
fn points_are_worked_on_in_chunks() {
    on_every_backend!(many_points);
}

fn batches<B: Backend>(b: &B) -> Checked {
    let case = case(&[5, 6, 4])?;
    let points = case.points.iter().map(|x| b.asarray(&x[..])).collect::<Result<Vec<B::Array<f64>>>>()?;
    let points: Vec<_> = points.iter().collect();
    let doubled = case.f.mapv(|z| z * 2.0);
    let both = ndarray::stack(Axis(0), &[case.f.view(), doubled.view()])?;
    let mut plan = NufftPlan::new(b, NufftType::Two, &[5, 6, 4], 1e-12, -1)?;
    plan.set_points(&points)?;
    let found = b.to_ndarray(&plan.execute(&b.asarray(both)?)?)?.into_owned();
    let one = direct_type2(&case, -1.0);
    let expected = ndarray::stack(Axis(0), &[one.view(), one.mapv(|z| z * 2.0).view()])?;
    near_complex("type 2", &found, &expected, 1e-12);

    let doubled = case.c.mapv(|z| z * 2.0);
    let both = ndarray::stack(Axis(0), &[case.c.view(), doubled.view()])?;
    let mut plan = NufftPlan::new(b, NufftType::One, &[5, 6, 4], 1e-12, 1)?;
    plan.set_points(&points)?;
    let found = b.to_ndarray(&plan.execute(&b.asarray(both)?)?)?.into_owned();
    let one = direct_type1(&case, 1.0);
    let expected = ndarray::stack(Axis(0), &[one.view(), one.mapv(|z| z * 2.0).view()])?;
    near_complex("type 1", &found, &expected, 1e-12);
    Ok(())
}

#[test]
fn a_leading_axis_is_a_batch() {
    on_every_backend!(batches);
}

fn edges<B: Backend>(b: &B) -> Checked {
    let none = b.zeros::<f64>([0])?;
    let no_values = b.zeros::<Complex<f64>>([0])?;
    let ones = b.ones::<Complex<f64>>([3, 2])?;
    assert_eq!(b.shape(&b.nufft2d_type2(&none, &none, &ones)?), [0]);
    let modes = b.nufft2d_type1(&none, &none, &no_values, [3, 2])?;
    assert_eq!(b.to_ndarray(&modes)?.sum(), Complex::ZERO);
    assert_eq!(b.shape(&modes), [3, 2]);

    let x = b.asarray([0.5, 1.0])?;
    let c = b.ones::<Complex<f64>>([2])?;
    assert_eq!(b.shape(&b.nufft2d_type1(&x, &x, &c, [0, 2])?), [0, 2]);
    let nothing = b.nufft2d_type2(&x, &x, &b.zeros::<Complex<f64>>([0, 2])?)?;
    assert_eq!(b.to_ndarray(&nothing)?.into_owned(), ArrayD::from_elem(vec![2], Complex::ZERO));

    let wide = b.ones::<Complex<f64>>([3])?;
    assert_eq!(b.nufft2d_type1(&x, &x, &wide, [2, 2]).unwrap_err().op(), Some("nufft2d_type1"), "3 values, 2 points");
    assert_eq!(b.nufft2d_type2(&x, &none, &ones).unwrap_err().op(), Some("nufft2d_type2"), "2 and 0 coordinates");
    assert_eq!(b.nufft3d_type2(&x, &x, &x, &ones).unwrap_err().op(), Some("nufft3d_type2"), "2-D modes");
    assert!(b.nufft2d_type1(&x, &x, &c, [2, 2, 2]).is_err(), "3 modes, 2 axes");
    assert!(b.nufft2d_type1(&x, &x, &c, [usize::MAX, usize::MAX]).is_err());
    assert!(b.nufft2d_type1(&x, &x, &c, [1 << 40, 1 << 40]).is_err());
    let column = b.ones::<f64>([2, 1])?;
    assert!(b.nufft2d_type2(&column, &column, &ones).is_err(), "2-D coordinates");
    for eps in [0.0, -1.0, 2.0, f64::NAN] {
        assert!(b.nufft2d_type2_with(&x, &x, &ones, Nufft2dType2Options::new().eps(eps)).is_err(), "eps = {eps}");
    }
    for bad in [f64::NAN, f64::INFINITY] {
        let bad = b.asarray([0.5, bad])?;
        let why = b.nufft2d_type2(&x, &bad, &ones).unwrap_err().to_string();
        assert_eq!(why, "nufft2d_type2: a coordinate is not finite");
        let why = b.nufft2d_type1(&bad, &x, &c, [3, 2]).unwrap_err().to_string();
        assert_eq!(why, "nufft2d_type1: a coordinate is not finite");
    }
    Ok(())
}

#[test]
fn no_points_no_modes_and_what_does_not_fit() {
    on_every_backend!(edges);
}
