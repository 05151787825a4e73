//! Points at which gradients are tested. A point is a case (test call) of an op, with random numbers in place of the
//! case's arrays, and with a random direction for each input.

use super::super::{
    Call, Row,
    case::{self, DTypes},
    compared,
};
use crate::{
    Backend, Complex, DType, DTypeKind, DynArray, Element, Error, Result, Value, dispatch,
    grad::{Diff, Jvp},
    runtime::{ElementInfo, ParamKind},
};
use ndarray::{ArrayD, Dimension, IxDyn};
use std::any::Any;

/// Elements of any float dtype, converted to complex128, on the host.
pub(super) type Host = ArrayD<Complex<f64>>;

/// Runs code in which `$t` is the Rust type of the float dtype `$dtype`, which is known only at run time.
macro_rules! floats {
    ($dtype:expr, $t:ident => $run:expr) => {
        match $dtype {
            DType::Float64 => {
                type $t = f64;
                $run
            }
            DType::Float32 => {
                type $t = f32;
                $run
            }
            DType::Float16 => {
                type $t = crate::f16;
                $run
            }
            DType::BFloat16 => {
                type $t = crate::bf16;
                $run
            }
            DType::Complex128 => {
                type $t = Complex<f64>;
                $run
            }
            DType::Complex64 => {
                type $t = Complex<f32>;
                $run
            }
            other => Err(Error::dtype("gradients", other)),
        }
    };
}

/// A generator of pseudo-random numbers in [0, 1), seeded by a name.
pub(super) struct Numbers(u64);

impl Numbers {
    pub fn of(name: &str) -> Numbers {
        Numbers(name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)))
    }

    fn next(&mut self) -> f64 {
        // the generator is SplitMix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn array(&mut self, shape: &[usize], (low, high): (f64, f64)) -> Host {
        let number = |_: IxDyn| Complex::new(low + (high - low) * self.next(), low + (high - low) * self.next());
        ArrayD::from_shape_fn(IxDyn(shape), number)
    }
}

/// A float array among the arguments of a call.
pub(super) struct Input {
    element: ElementInfo,
    pub at: Host,
    /// The direction of the derivative; zeros if no gradient is wanted.
    pub along: Host,
    pub is_wanted: bool,
}

/// Points where derivatives jump or do not exist.
#[derive(Clone, Copy, Debug)]
pub(super) enum Special {
    Zeros,
    Equal,
    /// Every third element is zero.
    Zero,
    /// Every third element is NaN.
    Nan,
    /// Every third element is infinite.
    Infinity,
}

impl Special {
    pub const ALL: [Special; 5] = [Special::Zeros, Special::Equal, Special::Zero, Special::Nan, Special::Infinity];
}

/// A case (test call) of an op, with random inputs and a random direction for each input.
pub(super) struct Point {
    row: Row,
    text: &'static str,
    pub inputs: Vec<Input>,
    /// True if the output gradients of matrix results are 0 except on the diagonals.
    pub only_diagonal: bool,
    /// True if the output gradients, from which the backward pass starts, are all ones.
    pub of_sum: bool,
}

/// Gives `x` the properties of the test array `sample` that the op may need, such as symmetry or ascending order.
fn like(sample: &Host, mut x: Host, is_point: bool) -> Host {
    let shape = sample.shape().to_vec();
    if let [.., n, m] = shape[..]
        && n == m
        && n > 1
    {
        let transposed = |x: &Host| {
            let mut x = x.clone();
            x.swap_axes(shape.len() - 1, shape.len() - 2);
            x.mapv(|z| z.conj())
        };
        // returns whether two elements are equal up to rounding
        let near = |(a, b): (&Complex<f64>, &Complex<f64>)| (a - b).norm() <= 1e-12 * (a.norm() + b.norm());
        if sample.iter().zip(&transposed(sample)).all(near) {
            x = (&x + &transposed(&x)) * Complex::new(0.5, 0.0);
            if is_point {
                // makes the matrix far from singular, with distinct eigenvalues
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

/// Returns whether a dtype is real or complex floating point.
pub(super) fn is_float(dtype: DType) -> bool {
    matches!(dtype.kind(), DTypeKind::Real | DTypeKind::Complex)
}

/// A function that returns the replacement of an array, or `None` to keep it.
type Replace<'r, B> = dyn FnMut(&DynArray<B>) -> Result<Option<Value<B>>> + 'r;

/// Replaces the arrays inside a value, in order.
fn replaced<B: Backend>(value: &Value<B>, by: &mut Replace<'_, B>) -> Result<Value<B>> {
    Ok(match value {
        Value::Array(x) => by(x)?.unwrap_or_else(|| value.clone()),
        Value::List(items) => Value::List(items.iter().map(|x| replaced(x, by)).collect::<Result<_>>()?),
        other => other.clone(),
    })
}

/// Collects the arrays inside a value, in order.
pub(super) fn arrays<'v, B: Backend>(value: &'v Value<B>, found: &mut Vec<&'v DynArray<B>>) {
    match value {
        Value::Array(x) => found.push(x),
        Value::List(items) => items.iter().for_each(|item| arrays(item, found)),
        _ => {}
    }
}

/// Copies the elements to a backend.
pub(super) fn put<B: Backend>(b: &B, x: &Host, dtype: DType) -> Result<DynArray<B>> {
    dispatch!(dtype, T => Ok(DynArray::of::<T>(b.from_ndarray(x.mapv(|z| z.cast::<T>()).into_shared())?)))
}

/// Rounds the elements to a dtype.
fn rounded(x: &Host, dtype: DType) -> Result<Host> {
    dispatch!(dtype, T => Ok(x.mapv(|z| z.cast::<T>().cast::<Complex<f64>>())))
}

fn array<B: Backend, T: Element>(x: &DynArray<B>) -> Result<B::Array<T>> {
    x.get::<T>().cloned().ok_or_else(|| Error::dtype("gradients", x.dtype()))
}

/// Output gradients from which the backward pass starts, each with the tape index of its array.
pub(super) type Seeds = Vec<(usize, Box<dyn Any>)>;

/// Adds the output gradient `u` of an array to the seeds of the backward pass, if the array is on the tape.
pub(super) fn seed<B: Backend>(d: &Diff<B>, x: &DynArray<Diff<B>>, u: &DynArray<B>, seeds: &mut Seeds) -> Result<()> {
    floats!(x.dtype(), T => {
        let place = d.place_of("gradients", x.get::<T>().ok_or_else(|| Error::dtype("gradients", x.dtype()))?)?;
        if let Some(place) = place {
            seeds.push((place, Box::new(array::<B, T>(u)?)));
        }
        Ok(())
    })
}

impl Point {
    /// The point for a case; `None` if the case has no input that has elements and a wanted gradient.
    pub fn of<B: Backend>(
        b: &B,
        row: &Row,
        dtype: DType,
        text: &'static str,
        without: &[&str],
        domain: (f64, f64),
    ) -> Result<Option<Point>> {
        let mut numbers = Numbers::of(&format!("{} {text}", row.name));
        let mut point = Point { row: *row, text, inputs: Vec::new(), only_diagonal: false, of_sum: false };
        for (name, value) in case::named(b, row, DTypes { of: dtype, to: None }, text)? {
            let Some(element) = point.element(name, dtype) else { continue };
            let is_wanted = !without.contains(&name);
            let mut found = Vec::new();
            arrays(&value, &mut found);
            for x in found {
                let sample = x.to_complex(b)?.into_owned();
                let mut random = |range, is_point| {
                    let mut random = numbers.array(sample.shape(), range);
                    if x.dtype().kind() == DTypeKind::Real {
                        random.mapv_inplace(|z| Complex::new(z.re, 0.0));
                    }
                    like(&sample, random, is_point)
                };
                let (at, mut along) = (random(domain, true), random((-1.0, 1.0), false));
                if !is_wanted {
                    along.fill(Complex::new(0.0, 0.0));
                }
                point.inputs.push(Input { element, at, along, is_wanted });
            }
        }
        let is_empty = point.inputs.iter().all(|input| input.at.is_empty() || !input.is_wanted);
        Ok((!is_empty).then_some(point))
    }

    /// The rule that gives the dtype of the parameter `name`; `None` if the parameter's arrays are not inputs of the
    /// point.
    fn element(&self, name: &str, dtype: DType) -> Option<ElementInfo> {
        let param = self.row.params.iter().find(|param| param.name == name)?;
        let element = match param.kind {
            ParamKind::Array(e)
            | ParamKind::Operand(e)
            | ParamKind::LowerBound(e)
            | ParamKind::UpperBound(e)
            | ParamKind::Arrays(e)
            | ParamKind::Target(e) => e,
            _ => return None,
        };
        is_float(element.dtype(dtype)).then_some(element)
    }

    /// The inputs whose gradients are wanted.
    pub fn wanted(&self) -> impl Iterator<Item = &Input> {
        self.inputs.iter().filter(|input| input.is_wanted)
    }

    /// The elements of the inputs, moved by `step` along the directions.
    pub fn at(&self, step: f64) -> Vec<Host> {
        self.inputs.iter().map(|input| &input.at + &(&input.along * Complex::new(step, 0.0))).collect()
    }

    /// Rounds the inputs to values that `dtype` can represent.
    pub fn round(&mut self, dtype: DType) -> Result<()> {
        for input in &mut self.inputs {
            input.at = rounded(&input.at, input.element.dtype(dtype))?;
        }
        Ok(())
    }

    /// Moves the point to values of these magnitudes: `first` for the first input and `others` for the other inputs.
    /// Each element gets the full magnitude, three quarters or half of it, and keeps its sign.
    pub fn scale_to(&mut self, first: f64, others: f64) {
        for (k, input) in self.inputs.iter_mut().enumerate() {
            let size = if k == 0 { first } else { others };
            let scaled = |x: f64| x.signum() * size * (1.0 - (x.abs() * 64.0).floor() % 3.0 / 4.0);
            input.at.mapv_inplace(|z| Complex::new(scaled(z.re), if z.im == 0.0 { 0.0 } else { scaled(z.im) }));
        }
    }

    /// Replaces elements of the inputs by the values of a special point.
    pub fn move_to(&mut self, special: Special) {
        for input in &mut self.inputs {
            for (k, z) in input.at.iter_mut().enumerate() {
                let x = match special {
                    Special::Zeros => 0.0,
                    Special::Zero if k % 3 == 1 => 0.0,
                    Special::Nan if k % 3 == 1 => f64::NAN,
                    Special::Infinity if k % 3 == 1 => f64::INFINITY,
                    Special::Equal => 1.0,
                    _ => 1.0 + (k % 3) as f64,
                };
                *z = Complex::new(x, 0.0);
            }
        }
    }

    /// Replaces each element, a value between `low` and `high`, by -1, 0 or 1, so that many elements are equal.
    pub fn move_to_ties(&mut self, (low, high): (f64, f64)) {
        let third = |x: f64| ((x - low) / (high - low) * 3.0).floor() - 1.0;
        for input in &mut self.inputs {
            let is_real = input.at.iter().all(|z| z.im == 0.0);
            input.at.mapv_inplace(|z| Complex::new(third(z.re), if is_real { 0.0 } else { third(z.im) }));
        }
    }

    /// The inputs as arrays of a backend, for a call in `dtype`.
    pub fn put<B: Backend>(&self, b: &B, dtype: DType, x: &[Host]) -> Result<Vec<DynArray<B>>> {
        self.inputs.iter().zip(x).map(|(input, x)| put(b, x, input.element.dtype(dtype))).collect()
    }

    /// The results of the call for the inputs `x`, or the row's `compared` values in place of the results.
    pub fn call<B: Backend>(&self, b: &B, dtype: DType, call: Call<B>, x: &[DynArray<B>]) -> Result<Value<B>> {
        let row = &self.row;
        let (mut positional, mut options, mut known) = (Vec::new(), Vec::new(), Vec::new());
        let mut next = x.iter();
        let mut put = |_: &DynArray<B>| Ok(next.next().cloned().map(Value::Array));
        for (name, value) in case::named(b, row, DTypes { of: dtype, to: None }, self.text)? {
            let is_input = self.element(name, dtype).is_some();
            let value = if is_input { replaced(&value, &mut put)? } else { value };
            known.push((name, value.clone()));
            match row.params.iter().find(|param| param.name == name) {
                Some(param) if param.default.is_none() => positional.push(value),
                _ => options.push((name, value)),
            }
        }
        if let Some(seed) = row.seed {
            b.seed(seed);
        }
        let result = call(b, row.name, &positional, &options)?;
        compared::parts_on(b, row, known, result, call)
    }

    /// The output gradient for result `k`: the same values in every call, and exact in every dtype.
    pub fn weights(&self, k: usize, shape: &[usize], dtype: DType) -> Host {
        if self.of_sum {
            return Host::from_elem(IxDyn(shape), Complex::new(1.0, 0.0));
        }
        let mut u = Numbers::of(&format!("{} {} {k}", self.row.name, self.text)).array(shape, (-1.0, 1.0));
        let is_real = dtype.kind() == DTypeKind::Real;
        u.mapv_inplace(|z| {
            Complex::new((z.re * 64.0).round(), if is_real { 0.0 } else { (z.im * 64.0).round() }) / 64.0
        });
        if self.only_diagonal && shape.len() > 1 {
            for (index, u) in u.indexed_iter_mut() {
                if let [.., i, j] = index.slice()
                    && i != j
                {
                    *u = Complex::new(0.0, 0.0);
                }
            }
        }
        u
    }

    /// The gradients of the wanted inputs, for the output gradients `weights`; `None` for inputs that do not affect the
    /// results.
    pub fn pull<B: Backend>(
        &self,
        b: &B,
        dtype: DType,
        call: Call<Diff<B>>,
        x: &[DynArray<B>],
    ) -> Result<Vec<Option<DynArray<B>>>> {
        let d = Diff::new(b.clone());
        let result = self.call(&d, dtype, call, &self.lifted(&d, x)?)?;
        let mut results = Vec::new();
        arrays(&result, &mut results);
        let mut seeds = Seeds::new();
        for (k, y) in results.into_iter().filter(|y| is_float(y.dtype())).enumerate() {
            let u = put(b, &self.weights(k, y.shape(&d), y.dtype()), y.dtype())?;
            seed(&d, y, &u, &mut seeds)?;
        }
        let found = d.take().back(b, seeds, self.wanted().count(), true)?;
        self.taken(b, dtype, found)
    }

    /// The tangents of the results along the directions, in order; zeros for results that do not depend on the inputs.
    pub fn tangents<B: Backend>(&self, b: &B, dtype: DType, call: Call<Jvp<B>>) -> Result<Vec<(DType, Host)>> {
        let j = Jvp::new(b.clone());
        let (at, along) = (self.put(b, dtype, &self.at(0.0))?, self.directions());
        let along = self.put(b, dtype, &along)?;
        let lift = |((input, x), v): ((&Input, &DynArray<B>), &DynArray<B>)| {
            floats!(x.dtype(), T => {
                let x = array::<B, T>(x)?;
                Ok(DynArray::of::<T>(if input.is_wanted { j.input::<T>(x, array::<B, T>(v)?) } else { j.constant::<T>(x) }))
            })
        };
        let vars = self.inputs.iter().zip(&at).zip(&along).map(lift).collect::<Result<Vec<_>>>()?;
        let result = self.call(&j, dtype, call, &vars)?;
        let mut results = Vec::new();
        arrays(&result, &mut results);
        let read = |y: &DynArray<Jvp<B>>| {
            let tangent = floats!(y.dtype(), T => {
                let y = y.get::<T>().ok_or_else(|| Error::dtype("gradients", y.dtype()))?;
                Ok(j.place_of("gradients", y)?.map(DynArray::<B>::of::<T>))
            })?;
            let tangent = match tangent {
                Some(tangent) => tangent.to_complex(b)?.into_owned(),
                None => Host::zeros(IxDyn(y.shape(&j))),
            };
            match tangent.shape() == y.shape(&j) {
                true => Ok((y.dtype(), tangent)),
                false => Err(Error::shapes(self.row.name, y.shape(&j), tangent.shape())),
            }
        };
        results.into_iter().filter(|y| is_float(y.dtype())).map(read).collect()
    }

    /// The directions of all inputs.
    pub fn directions(&self) -> Vec<Host> {
        self.inputs.iter().map(|input| input.along.clone()).collect()
    }

    /// Puts the inputs on a tape. The inputs whose gradients are wanted get the first indices.
    pub fn lifted<B: Backend>(&self, d: &Diff<B>, x: &[DynArray<B>]) -> Result<Vec<DynArray<Diff<B>>>> {
        let lift = |(input, x): (&Input, &DynArray<B>)| {
            floats!(x.dtype(), T => {
                let x = array::<B, T>(x)?;
                Ok(DynArray::of::<T>(if input.is_wanted { d.input::<T>(x) } else { d.constant::<T>(x) }))
            })
        };
        self.inputs.iter().zip(x).map(lift).collect()
    }

    /// Converts the gradients of the wanted inputs from `dyn Any` to arrays whose dtype is known at run time.
    pub fn taken<B: Backend>(
        &self,
        b: &B,
        dtype: DType,
        found: Vec<Option<Box<dyn Any>>>,
    ) -> Result<Vec<Option<DynArray<B>>>> {
        let take = |(g, input): (Option<Box<dyn Any>>, &Input)| {
            let Some(g) = g else { return Ok(None) };
            let other = |_| Error::argument(self.row.name, "a gradient of another dtype");
            let g = floats!(input.element.dtype(dtype), T => Ok(DynArray::of::<T>(*g.downcast::<B::Array<T>>().map_err(other)?)))?;
            if g.shape(b) != input.at.shape() {
                let why = format!("a gradient of shape {:?} of {:?}", g.shape(b), input.at.shape());
                return Err(Error::argument(self.row.name, why));
            }
            Ok(Some(g))
        };
        let mut found = found;
        found.resize_with(self.wanted().count(), || None);
        found.into_iter().zip(self.wanted()).map(take).collect()
    }
}
