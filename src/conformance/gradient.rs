//! Gradients against differences: of every case of a row, at points without kinks.
//!
//! With random `u` and `v` the gradients of the inputs, taken back from `u`, have to pair with `v` as `u` does with the change of the results
//! along `v`: two more evaluations, and no reference data. Where results are not unique, this is done with what the row says is compared of them.

use super::{
    Call, Row, Suite,
    case::{self, DTypes},
    compared,
};
use crate::{
    Arrays, Backend, Complex, DType, DynArray, Error, Float, Result, Value,
    grad::Diff,
    runtime::{ElementInfo, ParamKind},
};
use ndarray::{ArrayD, Dimension, IxDyn};
use std::any::Any;

/// The step of the differences.
const STEP: f64 = 1e-5;

/// Largest difference, relative to the sum of the magnitudes that are paired.
const TOLERANCE: f64 = 2e-7;

/// Numbers in [0, 1) that look random: the same ones for the same name.
struct Numbers(u64);

impl Numbers {
    fn of(name: &str) -> Numbers {
        Numbers(name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)))
    }

    fn next(&mut self) -> f64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn array(&mut self, shape: &[usize], (low, high): (f64, f64)) -> ArrayD<Complex<f64>> {
        let number = |_: IxDyn| Complex::new(low + (high - low) * self.next(), low + (high - low) * self.next());
        ArrayD::from_shape_fn(IxDyn(shape), number)
    }
}

/// An input that gradients are taken of.
struct Input {
    dtype: DType,
    at: ArrayD<Complex<f64>>,
    along: ArrayD<Complex<f64>>,
    is_wanted: bool,
}

/// What a sample is like, and points for gradients are as well.
fn like(sample: &ArrayD<Complex<f64>>, mut x: ArrayD<Complex<f64>>, is_point: bool) -> ArrayD<Complex<f64>> {
    let shape = sample.shape().to_vec();
    if let [.., n, m] = shape[..]
        && n == m
        && n > 1
    {
        let transposed = |x: &ArrayD<Complex<f64>>| {
            let mut x = x.clone();
            x.swap_axes(shape.len() - 1, shape.len() - 2);
            x.mapv(|z| z.conj())
        };
        // but for rounding
        let near = |(a, b): (&Complex<f64>, &Complex<f64>)| (a - b).norm() <= 1e-12 * (a.norm() + b.norm());
        if sample.iter().zip(&transposed(sample)).all(near) {
            x = (&x + &transposed(&x)) * Complex::new(0.5, 0.0);
            if is_point {
                // far from singular, with eigenvalues apart
                for (index, z) in x.indexed_iter_mut() {
                    let index = index.slice();
                    if index[shape.len() - 1] == index[shape.len() - 2] {
                        *z += 2.0 * (1 + index[shape.len() - 1]) as f64;
                    }
                }
            }
        }
    }
    let increases =
        shape.len() == 1 && shape[0] > 1 && sample.iter().zip(sample.iter().skip(1)).all(|(a, b)| a.re < b.re);
    if increases && is_point {
        let mut sorted = x.into_raw_vec_and_offset().0;
        sorted.sort_by(|a, b| a.re.total_cmp(&b.re));
        x = ArrayD::from_shape_vec(IxDyn(&shape), sorted).expect("as many elements as before");
    }
    x
}

/// An array of float64 or complex128 as complex numbers; `None` of other dtypes.
fn read<B: Backend>(b: &B, x: &DynArray<B>) -> Result<Option<ArrayD<Complex<f64>>>> {
    Ok(match x.dtype() {
        DType::Float64 => match x.get::<f64>() {
            Some(x) => Some(b.to_ndarray(x)?.mapv(|x| Complex::new(x, 0.0))),
            None => None,
        },
        DType::Complex128 => match x.get::<Complex<f64>>() {
            Some(x) => Some(b.to_ndarray(x)?.into_owned()),
            None => None,
        },
        _ => None,
    })
}

/// What an array is replaced by, if it is.
type Replace<'r, B> = dyn FnMut(&DynArray<B>) -> Result<Option<Value<B>>> + 'r;

/// Replaces the arrays of a value that gradients are taken of, in order.
fn replaced<B: Backend>(value: &Value<B>, by: &mut Replace<'_, B>) -> Result<Value<B>> {
    Ok(match value {
        Value::Array(x) => by(x)?.unwrap_or_else(|| value.clone()),
        Value::List(items) => Value::List(items.iter().map(|x| replaced(x, by)).collect::<Result<_>>()?),
        other => other.clone(),
    })
}

fn arrays<'v, B: Backend>(value: &'v Value<B>, found: &mut Vec<&'v DynArray<B>>) {
    match value {
        Value::Array(x) => found.push(x),
        Value::List(items) => items.iter().for_each(|item| arrays(item, found)),
        _ => {}
    }
}

/// Re(a b), summed.
fn paired(a: &ArrayD<Complex<f64>>, b: &ArrayD<Complex<f64>>) -> (f64, f64) {
    let products = a.iter().zip(b).map(|(a, b)| (a * b).re);
    products.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()))
}

impl<B: Backend> Suite<B> {
    /// The same of the row as a formula, in the cases whose arguments are all arrays.
    ///
    /// # Panics
    /// As [`Suite::gradients`].
    pub fn gradients_of_formula(&self, row: &Row, dtype: DType, domain: (f64, f64), formula: Call<Diff<B>>) {
        let cases = super::formula::of_arrays(row);
        self.gradients_of_cases(row, &cases, dtype, &[], domain, formula);
    }

    /// The gradients of a row against differences, in float64 or complex128.
    ///
    /// # Panics
    /// Where they differ, or a call fails.
    pub fn gradients(&self, row: &Row, dtype: DType, without: &[&str], domain: (f64, f64), call: Call<Diff<B>>) {
        self.gradients_of_cases(row, row.cases, dtype, without, domain, call);
    }

    fn gradients_of_cases(
        &self,
        row: &Row,
        cases: &[&str],
        dtype: DType,
        without: &[&str],
        domain: (f64, f64),
        call: Call<Diff<B>>,
    ) {
        let Some(b) = self.backend() else { return };
        let mut wrong = Vec::new();
        let mut checked = 0;
        for text in cases {
            match of_case(b, row, dtype, text, without, domain, call) {
                Ok(true) => checked += 1,
                Ok(false) => {}
                Err(why) => wrong.push(format!("{}({text}) in {dtype}: {why}", row.name)),
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(checked > 0, "no case of {} has an element to differentiate by", row.name);
    }
}

/// Whether there was anything to check.
fn of_case<B: Backend>(
    b: &B,
    row: &Row,
    dtype: DType,
    text: &str,
    without: &[&str],
    domain: (f64, f64),
    call: Call<Diff<B>>,
) -> Result<bool> {
    let mut numbers = Numbers::of(&format!("{} {text}", row.name));
    let args = case::named(&Diff::new(b.clone()), row, DTypes { of: dtype, to: None }, text)?;
    let is_input = |name: &str| {
        let of_float = |e: ElementInfo| matches!(e.dtype(dtype), DType::Float64 | DType::Complex128);
        let param = row.params.iter().find(|param| param.name == name);
        param.is_some_and(|param| match param.kind {
            ParamKind::Array(e)
            | ParamKind::Operand(e)
            | ParamKind::Bound(e)
            | ParamKind::Arrays(e)
            | ParamKind::Target(e) => of_float(e),
            _ => false,
        })
    };
    // the points, and the directions
    let mut inputs: Vec<Input> = Vec::new();
    for (name, value) in args.iter().filter(|(name, _)| is_input(name)) {
        let is_wanted = !without.contains(name);
        let mut found = Vec::new();
        arrays(value, &mut found);
        for x in found {
            let Some(sample) = read(&Diff::new(b.clone()), x)? else { continue };
            let mut random = |range, is_point| {
                let mut random = numbers.array(sample.shape(), range);
                if x.dtype() == DType::Float64 {
                    random.mapv_inplace(|z| Complex::new(z.re, 0.0));
                }
                like(&sample, random, is_point)
            };
            let (at, mut along) = (random(domain, true), random((-1.0, 1.0), false));
            if !is_wanted {
                along.fill(Complex::new(0.0, 0.0));
            }
            inputs.push(Input { dtype: x.dtype(), at, along, is_wanted });
        }
    }
    if inputs.iter().all(|input| input.at.is_empty() || !input.is_wanted) {
        return Ok(false);
    }
    // the call at a point of the line, on a tape or not
    let run = |d: &Diff<B>, step: Option<f64>| {
        let mut next = inputs.iter();
        let mut put = |_: &DynArray<Diff<B>>| {
            let Some(input) = next.next() else { return Ok(None) };
            let x = match step {
                Some(step) => &input.at + &(&input.along * Complex::new(step, 0.0)),
                None => input.at.clone(),
            };
            let is_wanted = step.is_none() && input.is_wanted;
            Ok(Some(if input.dtype == DType::Float64 {
                lifted::<B, f64>(d, x.mapv(|z| z.re), is_wanted)?
            } else {
                lifted::<B, Complex<f64>>(d, x, is_wanted)?
            }))
        };
        let mut positional = Vec::new();
        let mut options = Vec::new();
        let mut known = Vec::new();
        for (name, value) in &args {
            let value = if is_input(name) { replaced(value, &mut put)? } else { value.clone() };
            known.push((*name, value.clone()));
            let param = row.params.iter().find(|param| param.name == *name);
            match param {
                Some(param) if param.default.is_none() => positional.push(value),
                _ => options.push((*name, value)),
            }
        }
        if let Some(seed) = row.seed {
            d.seed(seed);
        }
        let result = call(d, row.name, &positional, &options)?;
        compared::parts_on(d, row, known, result, call)
    };
    let _alone = row.alone();
    let d = Diff::new(b.clone());
    let result = run(&d, None)?;
    let mut results = Vec::new();
    arrays(&result, &mut results);
    let (mut seeds, mut weights) = (Vec::new(), Vec::new());
    for x in results {
        let Some(y) = read(&d, x)? else { continue };
        let u = numbers.array(y.shape(), (-1.0, 1.0));
        let seed = if x.dtype() == DType::Float64 {
            seed::<B, f64>(&d, x, u.mapv(|z| z.re))?
        } else {
            seed::<B, Complex<f64>>(&d, x, u.clone())?
        };
        seeds.extend(seed);
        let is_real = x.dtype() == DType::Float64;
        weights.push(if is_real { u.mapv(|z| Complex::new(z.re, 0.0)) } else { u });
    }
    let mut back = (0.0, 0.0);
    let wanted = || inputs.iter().filter(|input| input.is_wanted);
    let mut grads = d.take().back(b, seeds, wanted().count(), true)?;
    for (place, input) in wanted().enumerate() {
        let g = if input.dtype == DType::Float64 {
            taken::<B, f64>(&mut grads, place)
                .map(|g| b.to_ndarray(&g))
                .transpose()?
                .map(|g| g.mapv(|x| Complex::new(x, 0.0)))
        } else {
            taken::<B, Complex<f64>>(&mut grads, place).map(|g| b.to_ndarray(&g)).transpose()?.map(|g| g.to_owned())
        };
        if let Some(g) = g {
            if g.shape() != input.at.shape() {
                return Err(Error::argument(
                    row.name,
                    format!("a gradient of shape {:?} of {:?}", g.shape(), input.at.shape()),
                ));
            }
            let (sum, size) = paired(&g, &input.along);
            back = (back.0 + sum, back.1 + size);
        }
    }
    let values = |step: f64| -> Result<Vec<ArrayD<Complex<f64>>>> {
        let d = Diff::new(b.clone());
        let result = run(&d, Some(step))?;
        let mut results = Vec::new();
        arrays(&result, &mut results);
        let values = results.into_iter().map(|x| read(&d, x)).collect::<Result<Vec<_>>>()?;
        Ok(values.into_iter().flatten().collect())
    };
    let (ahead, behind) = (values(STEP)?, values(-STEP)?);
    let ahead_is_nan = ahead.iter().flatten().any(|x| x.re.is_nan());
    let mut there = (0.0, 0.0);
    for ((u, ahead), behind) in weights.iter().zip(ahead).zip(behind) {
        let (sum, size) = paired(u, &change(&ahead, &behind));
        there = (there.0 + sum, there.1 + size);
    }
    // of a result that is no number there is no slope
    let has_none = ahead_is_nan && back.0.is_nan();
    let close = has_none || (back.0 - there.0).abs() <= TOLERANCE * (back.1 + there.1 + 1.0);
    if close {
        Ok(true)
    } else {
        Err(Error::argument(row.name, format!("by the gradients {}, by differences {}", back.0, there.0)))
    }
}

/// The gradient of an input.
fn taken<B: Backend, T: Float>(grads: &mut [Option<Box<dyn Any>>], place: usize) -> Option<B::Array<T>> {
    grads[place].take().and_then(|g| g.downcast::<B::Array<T>>().ok()).map(|g| *g)
}

/// The slope between two points. What is no finite number at both, such as the mean of nothing, does not change.
fn change(ahead: &ArrayD<Complex<f64>>, behind: &ArrayD<Complex<f64>>) -> ArrayD<Complex<f64>> {
    let mut change = ahead.clone();
    change.zip_mut_with(behind, |ahead, behind| {
        let is_same = ahead == behind || ahead.re.is_nan() && behind.re.is_nan();
        *ahead = if is_same { Complex::new(0.0, 0.0) } else { (*ahead - behind) * (0.5 / STEP) };
    });
    change
}

/// An array on a tape, or as a constant.
fn lifted<B: Backend, T: Float>(d: &Diff<B>, x: ArrayD<T>, is_wanted: bool) -> Result<Value<Diff<B>>> {
    let x = d.within().from_ndarray(x.into_shared())?;
    Ok(Value::array::<T>(if is_wanted { d.input::<T>(x) } else { d.constant::<T>(x) }))
}

/// The gradient that the way back begins with, of a result that has a place.
fn seed<B: Backend, T: Float>(
    d: &Diff<B>,
    x: &DynArray<Diff<B>>,
    u: ArrayD<T>,
) -> Result<Option<(usize, Box<dyn Any>)>> {
    let Some(x) = x.get::<T>() else { return Ok(None) };
    let Some(place) = d.place_of("gradients", x)? else { return Ok(None) };
    Ok(Some((place, Box::new(d.within().from_ndarray(u.into_shared())?))))
}
