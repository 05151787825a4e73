//! Tests of gradients against finite differences, for every case (test call) of an op, at points where the derivatives
//! do not jump.
//!
//! With random directions `v` for the inputs and random output gradients `u`, the inner product of the input gradients
//! with `v` must equal the inner product of `u` with the derivative of the results along `v`. A finite difference
//! estimates this derivative from two more evaluations, without reference data. If the results are not unique, the
//! row's `compared` values replace them. Second derivatives are compared with differences of gradients in the same way,
//! and gradients in narrower dtypes with gradients in float64 or complex128.

mod autograd;
mod extremes;
mod point;

use super::{Call, Row, Suite};
use crate::{
    Backend, Complex, DType, DTypeKind, DynArray, Error, Result,
    grad::{Diff, Jvp},
};
use point::{Host, Point, Seeds, Special, arrays, is_float, put, seed};

/// Lengths of the steps of the finite differences. The second length is used if the derivative changes too much along
/// a step of the first length.
const STEPS: [f64; 2] = [1e-5, 1e-6];

/// Largest allowed difference between the inner product from the gradients and the inner product from the finite
/// differences, relative to the sum of the magnitudes of all their terms.
const TOLERANCE: f64 = 2e-7;

/// Largest allowed difference between a gradient in a narrower dtype and the gradient in float64 or complex128, in
/// units in the last place of the largest gradient. The first value is for 32-bit floats, whose rows include
/// factorizations; the second is for 16-bit floats.
const NARROW: [f64; 2] = [512.0, 16.0];

/// Data for the gradient tests of an op, in addition to its [`Row`].
#[derive(Clone, Copy, Debug)]
pub struct Gradients {
    /// Names of the parameters that have no gradient.
    pub without: &'static [&'static str],
    /// The range from which the elements of the inputs are drawn.
    pub domain: (f64, f64),
    /// True if gradients are tested at the limits of a dtype's range; false if the op table gives a reason not to (key
    /// `extremes`).
    pub extremes: bool,
}

/// The cases (test calls) of an op to be tested.
#[derive(Clone, Copy, PartialEq)]
enum Cases {
    All,
    /// The first case whose inputs have elements.
    First,
    /// The cases whose arguments are all arrays.
    OfArrays,
}

/// Returns the inner product of `a` and `b`, which is the sum of Re(a b), and the sum of the magnitudes of its terms.
fn paired(a: &Host, b: &Host) -> (f64, f64) {
    let products = a.iter().zip(b).map(|(a, b)| (a * b).re);
    products.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()))
}

/// Like `paired`, summed over pairs of arrays.
fn all_paired<'h>(pairs: impl Iterator<Item = (&'h Host, &'h Host)>) -> (f64, f64) {
    pairs.map(|(a, b)| paired(a, b)).fold((0.0, 0.0), |(sum, size), (x, s)| (sum + x, size + s))
}

/// The difference quotient of a result, from its values `ahead` and `behind` at two points that are `2 * step` apart.
/// Elements that are NaN, or the same infinity, at both points count as unchanged; an example is the mean of an empty
/// array.
fn change(ahead: &Host, behind: &Host, step: f64) -> Host {
    let mut change = ahead.clone();
    change.zip_mut_with(behind, |ahead, behind| {
        let is_same = ahead == behind || ahead.re.is_nan() && behind.re.is_nan();
        *ahead = if is_same { Complex::new(0.0, 0.0) } else { (*ahead - behind) * (0.5 / step) };
    });
    change
}

/// Copies arrays to the host, with zeros in place of arrays that are `None`.
fn on_host<B: Backend>(b: &B, point: &Point, x: &[Option<DynArray<B>>]) -> Result<Vec<Host>> {
    let read = |(x, input): (&Option<DynArray<B>>, &point::Input)| match x {
        Some(x) => Ok(x.to_complex(b)?.into_owned()),
        None => Ok(Host::zeros(input.at.raw_dim())),
    };
    x.iter().zip(point.wanted()).map(read).collect()
}

impl<B: Backend> Suite<B> {
    /// Runs a check at one point for each case of an op, and reports the failures.
    fn at_points(
        &self,
        row: &Row,
        dtype: DType,
        given: Gradients,
        which: Cases,
        mut check: impl FnMut(&B, Point) -> Result<()>,
    ) {
        let Some(b) = self.backend() else { return };
        let _alone = row.alone();
        let (mut wrong, mut checked) = (Vec::new(), 0);
        let of_arrays = if which == Cases::OfArrays { super::formula::of_arrays(row) } else { Vec::new() };
        for text in if which == Cases::OfArrays { &of_arrays } else { row.cases } {
            let done = Point::of(b, row, dtype, text, given.without, given.domain).and_then(|point| match point {
                Some(point) => check(b, point).map(|()| checked += 1),
                None => Ok(()),
            });
            if let Err(why) = done {
                wrong.push(format!("{}({text}) in {dtype}: {why}", row.name));
            }
            if which == Cases::First && checked > 0 {
                break;
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(checked > 0, "no case of {} has an element to differentiate by", row.name);
    }

    /// Compares the gradients of an op with finite differences, in float64 or complex128.
    ///
    /// # Panics
    /// If the gradients differ from the differences, or if a call fails.
    pub fn gradients(&self, row: &Row, dtype: DType, given: Gradients, call: Call<Diff<B>>) {
        self.at_points(row, dtype, given, Cases::All, |b, point| first_order(b, row, dtype, &point, call));
    }

    /// Like `gradients`, but runs the op as a formula, in the cases whose arguments are all arrays.
    ///
    /// # Panics
    /// If the gradients differ from the differences, or if a call fails.
    pub fn gradients_of_formula(&self, row: &Row, dtype: DType, given: Gradients, formula: Call<Diff<B>>) {
        self.at_points(row, dtype, given, Cases::OfArrays, |b, point| first_order(b, row, dtype, &point, formula));
    }

    /// Compares the second derivatives of an op along random directions with differences of its gradients, for the
    /// first case whose inputs have elements.
    ///
    /// # Panics
    /// If the derivatives differ from the differences, or if a call fails.
    pub fn second_gradients(
        &self,
        row: &Row,
        dtype: DType,
        given: Gradients,
        call: Call<Diff<B>>,
        twice: Call<Diff<Diff<B>>>,
    ) {
        self.at_points(row, dtype, given, Cases::First, |b, mut point| {
            // complex matrix factors are unique up to phases, which do not affect the diagonals of the compared
            // products
            point.only_diagonal = !row.compared.is_empty() && dtype.kind() == DTypeKind::Complex;
            match second_order(b, row, dtype, &point, call, twice) {
                // a gradient rule may use an op without gradient, which reports this error
                Err(Error::Argument { why, .. }) if why.starts_with("there is no gradient by") => Ok(()),
                done => done,
            }
        });
    }

    /// Compares the tangents of an op along random directions (forward mode) with its gradients: both must give the
    /// same inner products.
    ///
    /// # Panics
    /// If the inner products differ, or if a call fails.
    pub fn tangents(&self, row: &Row, dtype: DType, given: Gradients, call: Call<Diff<B>>, forward: Call<Jvp<B>>) {
        self.at_points(row, dtype, given, Cases::All, |b, mut point| {
            as_tangents(b, row, dtype, &point, call, forward)?;
            // factors that are not unique have no derivatives at special points, where values are equal
            if !row.compared.is_empty() {
                return Ok(());
            }
            for special in Special::ALL {
                point.move_to(special);
                // inputs that are refused in reverse mode are refused in forward mode too
                if point.pull(b, dtype, call, &point.put(b, dtype, &point.at(0.0))?).is_ok() {
                    as_tangents(b, row, dtype, &point, call, forward)
                        .map_err(|why| Error::argument(row.name, format!("at {special:?}: {why}")))?;
                }
            }
            Ok(())
        });
    }

    /// Compares the gradients of an op in other dtypes with its gradients in float64 or complex128.
    ///
    /// # Panics
    /// If the gradients differ, or if a call fails.
    pub fn narrow_gradients(&self, row: &Row, dtypes: &[DType], given: Gradients, call: Call<Diff<B>>) {
        for &dtype in dtypes {
            let wide = if dtype.kind() == DTypeKind::Complex { DType::Complex128 } else { DType::Float64 };
            self.at_points(row, wide, given, Cases::All, |b, mut point| {
                point.round(dtype)?;
                narrow(b, row, (dtype, wide), &point, call)
            });
            // ops without 16-bit floats, such as linear systems and interpolation, are left out: their errors depend on
            // the condition number
            if dtypes.contains(&DType::Float16) {
                self.extremes(row, dtype, given, call);
            }
        }
    }
}

/// Checks that the inner product of the gradients with the directions equals the finite difference along the
/// directions.
fn first_order<B: Backend>(b: &B, row: &Row, dtype: DType, point: &Point, call: Call<Diff<B>>) -> Result<()> {
    let grads = point.pull(b, dtype, call, &point.put(b, dtype, &point.at(0.0))?)?;
    let grads = on_host(b, point, &grads)?;
    let back = all_paired(grads.iter().zip(point.wanted().map(|input| &input.along)));
    let values = |step: f64| -> Result<Vec<(DType, Host)>> {
        let d = Diff::new(b.clone());
        let result = point.call(&d, dtype, call, &point.put(&d, dtype, &point.at(step))?)?;
        let mut results = Vec::new();
        arrays(&result, &mut results);
        let results = results.into_iter().filter(|y| is_float(y.dtype()));
        results.map(|y| Ok((y.dtype(), y.to_complex(&d)?.into_owned()))).collect()
    };
    at_steps(row, back, |step| {
        let (ahead, behind) = (values(step)?, values(-step)?);
        let is_nan = ahead.iter().flat_map(|(_, y)| y).any(|y| y.re.is_nan());
        let changes: Vec<(Host, Host)> = ahead
            .iter()
            .zip(&behind)
            .enumerate()
            .map(|(k, ((of, ahead), (_, behind)))| (point.weights(k, ahead.shape(), *of), change(ahead, behind, step)))
            .collect();
        // a finite difference says nothing about a result that is NaN, so a gradient that is NaN is accepted there
        let there = all_paired(changes.iter().map(|(u, change)| (u, change)));
        Ok(if is_nan && back.0.is_nan() { back } else { there })
    })
}

/// Checks that the inner product `back` from the gradients equals the finite difference for at least one of the steps.
fn at_steps(row: &Row, back: (f64, f64), there: impl Fn(f64) -> Result<(f64, f64)>) -> Result<()> {
    let mut last = 0.0;
    for step in STEPS {
        let there = there(step)?;
        let is_near = (back.0 - there.0).abs() <= TOLERANCE * (back.1 + there.1 + 1.0);
        if is_near || back.0.is_nan() && there.0.is_nan() {
            return Ok(());
        }
        last = there.0;
    }
    Err(Error::argument(row.name, format!("by the gradients {}, by differences {last}", back.0)))
}

/// Checks second derivatives, computed as gradients of gradients, against differences of gradients.
fn second_order<B: Backend>(
    b: &B,
    row: &Row,
    dtype: DType,
    point: &Point,
    call: Call<Diff<B>>,
    twice: Call<Diff<Diff<B>>>,
) -> Result<()> {
    let d = Diff::new(b.clone());
    let x = point.lifted(&d, &point.put(b, dtype, &point.at(0.0))?)?;
    let grads = point.pull(&d, dtype, twice, &x)?;
    let direction = |k: usize, g: &Host, dtype: DType| point.weights(100 + k, g.shape(), dtype);
    let (mut seeds, mut directions) = (Seeds::new(), Vec::new());
    let hosts = on_host(&d, point, &grads)?;
    for (k, (g, host)) in grads.iter().zip(&hosts).enumerate() {
        let Some(g) = g else {
            directions.push(Host::zeros(host.raw_dim()));
            continue;
        };
        let v = direction(k, host, g.dtype());
        seed(&d, g, &put(b, &v, g.dtype())?, &mut seeds)?;
        directions.push(v);
    }
    let found = d.take().back(b, seeds, point.wanted().count(), true)?;
    let found = on_host(b, point, &point.taken(b, dtype, found)?)?;
    let back = all_paired(found.iter().zip(point.wanted().map(|input| &input.along)));
    let gradients = |step: f64| -> Result<Vec<Host>> {
        on_host(b, point, &point.pull(b, dtype, call, &point.put(b, dtype, &point.at(step))?)?)
    };
    at_steps(row, back, |step| {
        let (ahead, behind) = (gradients(step)?, gradients(-step)?);
        let changes: Vec<Host> = ahead.iter().zip(&behind).map(|(ahead, behind)| change(ahead, behind, step)).collect();
        Ok(all_paired(directions.iter().zip(&changes)))
    })
}

/// Checks that the inner product of the gradients with the directions equals the inner product of the tangents along
/// the directions with the output gradients.
fn as_tangents<B: Backend>(
    b: &B,
    row: &Row,
    dtype: DType,
    point: &Point,
    call: Call<Diff<B>>,
    forward: Call<Jvp<B>>,
) -> Result<()> {
    let grads = point.pull(b, dtype, call, &point.put(b, dtype, &point.at(0.0))?)?;
    let grads = on_host(b, point, &grads)?;
    let back = all_paired(grads.iter().zip(point.wanted().map(|input| &input.along)));
    let tangents = point.tangents(b, dtype, forward)?;
    let weights: Vec<Host> =
        tangents.iter().enumerate().map(|(k, (dtype, t))| point.weights(k, t.shape(), *dtype)).collect();
    let there = all_paired(weights.iter().zip(tangents.iter().map(|(_, t)| t)));
    // a sum with infinite terms is infinite or NaN, depending on the order of the terms
    let is_near = (back.0 - there.0).abs() <= 1e-9 * (back.1 + there.1 + 1.0);
    match is_near || !back.0.is_finite() && !there.0.is_finite() {
        true => Ok(()),
        false => Err(Error::argument(row.name, format!("by the gradients {}, by tangents {}", back.0, there.0))),
    }
}

/// Checks the gradients in a dtype against the gradients in float64 or complex128, at the same point.
fn narrow<B: Backend>(
    b: &B,
    row: &Row,
    (dtype, wide): (DType, DType),
    point: &Point,
    call: Call<Diff<B>>,
) -> Result<()> {
    let in_dtype = |dtype| on_host(b, point, &point.pull(b, dtype, call, &point.put(b, dtype, &point.at(0.0))?)?);
    let (narrow, wide) = (in_dtype(dtype)?, in_dtype(wide)?);
    let (epsilon, most) = match dtype {
        DType::Float16 => (2.0_f64.powi(-11), NARROW[1]),
        DType::BFloat16 => (2.0_f64.powi(-8), NARROW[1]),
        _ => (2.0_f64.powi(-24), NARROW[0]),
    };
    for (narrow, wide) in narrow.iter().zip(&wide) {
        let largest = wide.iter().map(|z| z.norm()).filter(|x| x.is_finite()).fold(1.0, f64::max);
        let far = |(a, b): (&Complex<f64>, &Complex<f64>)| {
            let are_same = a == b || !a.norm().is_finite() && !b.norm().is_finite();
            !are_same && ((a - b).norm() > most * epsilon * largest || (a - b).norm().is_nan())
        };
        if let Some((a, b)) = narrow.iter().zip(wide).find(|(a, b)| far((a, b))) {
            let units = (a - b).norm() / (epsilon * largest);
            let why = format!("{a} in {dtype}, {b} in a wider one: {units:.0} units in the last place of the largest");
            return Err(Error::argument(row.name, why));
        }
    }
    Ok(())
}
