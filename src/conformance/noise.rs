//! Finds the elements of a random call's result that depend on rounding. Two libraries need not agree on these
//! elements.
//!
//! The tolerance of an op is relative to the largest element of its result. This is appropriate for the test arrays of
//! the conformance cases: their results are not small differences of large terms, and their matrices are well
//! conditioned. For random arrays, this need not hold:
//!
//! - If the terms of a sum cancel, only rounding errors remain. They are relative to the magnitudes of the terms.
//! - A matrix of small integers may be singular, or have singular values exactly at the cutoff of a rank. Then its
//!   inverse, the sign of its determinant or its rank depends on rounding, and the matrix is left out.
//! - If the rounding errors of a solution, which grow with the condition number of the matrix, exceed the tolerance,
//!   two solutions cannot be compared, and the matrix is left out.
//! - If a variance is divided by 0, because `correction` is the number of observations or larger, a sum that is 0 but
//!   for its rounding error gives an infinite result, and a sum that is exactly 0 gives NaN.

use super::{
    Call, Row, Values,
    accuracy::Tolerance,
    case::{self, DTypes},
    compared,
};
use backend_runtime::{
    Complex, DType, DTypeKind, DynArray, Element, HostArray, Result, Value, dispatch,
    numpyish::{Numpyish, OpContext, linalg, raw::view, typed::typed},
    rules,
};
use ndarray::{ArrayD, ArrayView1, ArrayView2, Axis, IxDyn};

/// Ops that sum products of elements of their arguments. If such an op is called with the magnitudes of its arguments,
/// no terms cancel, so the result is the sum of the magnitudes of the terms.
const SUMS: [&str; 20] = [
    "avg_pool",
    "conv",
    "conv_transpose",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "csc_matmul",
    "csr_matmul",
    "dot",
    "einsum",
    "fftconvolve",
    "inner",
    "matmul",
    "mean",
    "sampled_matmul",
    "sum",
    "tensordot",
    "trace",
    "vecdot",
];

/// Ops that divide sums by the number of observations minus `correction`, or by 0 if this difference is negative.
/// `nanvar` and `nanstd` return NaN instead of dividing by 0.
const VARIANCES: [&str; 3] = ["cov", "std", "var"];

/// Relative distance from the cutoff of a rank within which rounding decides. A singular value counts for the rank if
/// its ratio to the largest one exceeds the cutoff. The rank depends on rounding if a ratio differs from the cutoff by
/// at most this fraction of the cutoff.
const NEAR: f64 = 1e-6;

/// The effects of rounding on the results of one call.
#[derive(Debug, Default)]
pub(super) struct Noise {
    /// Rounding errors are relative to this number, if it is above the largest element of the result.
    pub scale: f64,
    /// For each matrix of the first argument, true if the result depends on rounding; `None` if no result depends on
    /// rounding.
    undecided: Option<ArrayD<bool>>,
    /// The shape of the stack of matrices: the leading axes of the arguments, broadcast to a common shape.
    stack: Vec<usize>,
}

impl Noise {
    /// The effects of rounding on the results of a call that are compared with this tolerance.
    pub fn of(row: &Row, dtypes: DTypes, text: &str, tolerance: Tolerance, call: Call<Numpyish>) -> Noise {
        // `found` returns `None` if the call fails, or if rounding has no large effect on the results of this op
        Noise::found(row, dtypes, text, tolerance, call).unwrap_or_default()
    }

    fn found(row: &Row, dtypes: DTypes, text: &str, tolerance: Tolerance, call: Call<Numpyish>) -> Option<Noise> {
        let b = Numpyish::new();
        let arguments = case::named(&b, row, dtypes, text).ok()?;
        if SUMS.contains(&row.name) {
            let scale = largest(&of_magnitudes(&b, row, &arguments, call).ok()?);
            return Some(Noise { scale, ..Noise::default() });
        }
        if VARIANCES.contains(&row.name) {
            let by_zero = is_divided_by_zero(&b, row, &arguments, call).ok()?;
            return by_zero.then(|| Noise { undecided: Some(ArrayD::from_elem(IxDyn(&[]), true)), ..Noise::default() });
        }
        let given = |name: &str| arguments.iter().find(|(other, _)| *other == name).map(|(_, value)| value);
        let float = |name: &str| match given(name) {
            Some(Value::Float(x)) => Some(*x),
            _ => None,
        };
        let x = match row.name {
            "det" | "inv" | "lstsq" | "matrix_power" | "matrix_rank" | "pinv" | "slogdet" | "solve" => {
                matrices(&arguments.first()?.1)?
            }
            _ => return None,
        };
        let lead = x.ndim().checked_sub(2)?;
        let (rows, columns) = (x.shape()[lead], x.shape()[lead + 1]);
        let n = rows.max(columns) as f64;
        let unit = n * if dtypes.of.to_real() == DType::Float32 { f32::EPSILON.into() } else { f64::EPSILON };
        let allowed = match tolerance {
            Tolerance::Relative(allowed) => allowed,
            _ => f64::INFINITY,
        };
        let power = match given("n") {
            Some(Value::Integer(n)) if *n < 0 => n.unsigned_abs() as f64,
            Some(_) => return None,
            None => 1.0,
        };
        let by_values = |values: ArrayView1<'_, f64>, cutoff| is_undecided(values, cutoff, unit, allowed, power);
        let on = OpContext::new(&b, "svdvals", DType::Complex128);
        let values: HostArray<f64> = typed(linalg::svdvals(on, view(&x))).ok()?;
        let of_matrix = |(values, matrix): (ArrayView1<'_, f64>, ArrayView2<'_, Complex<f64>>)| match row.name {
            // the error of the logarithm of the determinant is the relative error of the determinant
            "slogdet" => unit * hadamard(matrix) > allowed * values.product(),
            "inv" | "solve" | "matrix_power" => by_values(values, 0.0),
            "det" => false,
            _ => by_values(values, float("rtol").unwrap_or(unit)),
        };
        let count = x.shape()[..lead].iter().product();
        let matrices = x.to_shape((count, rows, columns)).ok()?;
        let scale = match row.name {
            "det" => matrices.outer_iter().map(hadamard).filter(|x| x.is_finite()).fold(0.0, f64::max),
            _ => 0.0,
        };
        let each = values.lanes(Axis(lead)).into_iter().zip(matrices.outer_iter());
        let undecided = ArrayD::from_shape_vec(&x.shape()[..lead], each.map(of_matrix).collect()).ok()?;
        let other = given("x2").and_then(Value::as_array).map_or(&[][..], |x| x.shape(&b));
        let other = &other[..other.len().saturating_sub(2)];
        let stack = rules::broadcast(row.name, &x.shape()[..lead], other).ok()?;
        Some(Noise { scale, undecided: undecided.iter().any(|x| *x).then_some(undecided), stack })
    }

    /// Returns whether the result for some matrix depends on rounding. If so, a library may return an error instead.
    pub fn decides(&self) -> bool {
        self.undecided.is_some()
    }

    /// Replaces the elements that depend on rounding by 0. `both` has two versions of the op's result number `place`;
    /// returns both versions after the replacement.
    pub fn without(&self, row: &Row, place: usize, both: [&Values; 2]) -> [Values; 2] {
        let [mut x, mut y] = both.map(Values::clone);
        let Some(undecided) = &self.undecided else { return [x, y] };
        let name = compared::names(row).get(place).copied();
        if name == Some("singular_values") {
            return [x, y];
        }
        if name == Some("residuals") && (x.shape.contains(&0) || y.shape.contains(&0)) {
            // `lstsq` returns no residuals for a matrix without full rank
            return [x.clone(), x];
        }
        for values in [&mut x, &mut y] {
            let lead = if values.shape.starts_with(&self.stack) { &self.stack } else { undecided.shape() };
            let flags = undecided.broadcast(IxDyn(lead)).filter(|_| values.shape.starts_with(lead));
            let (Some(flags), Some(bytes)) = (flags, &mut values.bytes) else { continue };
            let size = bytes.len() / flags.len().max(1);
            for (bytes, _) in bytes.chunks_exact_mut(size.max(1)).zip(flags).filter(|(_, undecided)| **undecided) {
                bytes.fill(0);
            }
        }
        [x, y]
    }
}

/// Returns whether rounding decides the result for a matrix with these singular values. The rounding errors have the
/// size of `unit` times the largest singular value. They decide if they can change which singular values exceed the
/// cutoff, or if they can give a solution errors above `allowed`.
fn is_undecided(values: ArrayView1<'_, f64>, cutoff: f64, unit: f64, allowed: f64, power: f64) -> bool {
    let largest = values.iter().copied().fold(0.0, f64::max);
    // the factor is below 1, because `unit` is also the default cutoff: ratios near 0 must not count as near this
    // cutoff
    let near = (NEAR * cutoff).max(0.75 * unit);
    let mut least = 1.0_f64;
    for ratio in values.iter().map(|value| value / largest) {
        if (ratio - cutoff).abs() <= near {
            return true;
        }
        if ratio > cutoff {
            least = least.min(ratio);
        }
    }
    unit > allowed * least.powf(power)
}

/// Hadamard's upper bound on the magnitude of the determinant: the product of the norms of the columns. Rounding errors
/// of a determinant are relative to this bound.
fn hadamard(matrix: ArrayView2<'_, Complex<f64>>) -> f64 {
    matrix.columns().into_iter().map(|column| column.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()).product()
}

/// Calls the op with the magnitudes of its arguments. For a convolution, the full result is computed (mode `full`),
/// because a convolution by Fourier transforms has errors that are relative to all elements of the full result.
fn of_magnitudes(
    b: &Numpyish,
    row: &Row,
    arguments: &[(&'static str, Value<Numpyish>)],
    call: Call<Numpyish>,
) -> Result<Value<Numpyish>> {
    let required = row.params.iter().filter(|param| param.default.is_none()).count();
    let (mut positional, mut options) = (Vec::new(), Vec::new());
    for (i, (name, value)) in arguments.iter().enumerate() {
        let value = magnitudes(value)?;
        match i < required {
            true => positional.push(value),
            false if *name == "mode" && row.group == "convolution" => {}
            false => options.push((*name, value)),
        }
    }
    if row.group == "convolution" && row.params.iter().any(|param| param.name == "mode") {
        options.push(("mode", Value::Text("full".into())));
    }
    call(b, row.name, &positional, &options)
}

/// Returns whether the op divides by 0. To find out, calls the op with different numbers in place of the elements that
/// are not NaN: then no sum is 0, and a division by 0 gives an infinite result.
fn is_divided_by_zero(
    b: &Numpyish,
    row: &Row,
    arguments: &[(&'static str, Value<Numpyish>)],
    call: Call<Numpyish>,
) -> Result<bool> {
    let Some(((_, Value::Array(x)), options)) = arguments.split_first() else { return Ok(false) };
    let counted: Result<_> = dispatch!(x.dtype(), T => {
        let number = |(i, x): (usize, &T)| if magnitude(*x).is_nan() { *x } else { T::from_f64((i % 31) as f64) };
        let counted = x.get::<T>().map(|x| (x.raw_dim(), x.iter().enumerate().map(number).collect()));
        let counted = counted.and_then(|(shape, counted)| ArrayD::from_shape_vec(shape, counted).ok());
        Ok(counted.map_or(Value::None, |x| Value::array::<T>(x.into_shared())))
    });
    let options: Vec<_> = options.iter().map(|(name, value)| (*name, value.clone())).collect();
    let result = call(b, row.name, &[counted?], &options)?;
    let Value::Array(result) = result else { return Ok(false) };
    dispatch!(result.dtype(), T => Ok(result.get::<T>().is_some_and(|x| x.iter().any(|x| magnitude(*x).is_infinite()))))
}

/// Replaces the floats in arrays by their magnitudes. Integers are unchanged, because they may be indices.
fn magnitudes(value: &Value<Numpyish>) -> Result<Value<Numpyish>> {
    match value {
        Value::List(items) => items.iter().map(magnitudes).collect::<Result<_>>().map(Value::List),
        Value::Array(x) if matches!(x.dtype().kind(), DTypeKind::Real | DTypeKind::Complex) => {
            dispatch!(x.dtype(), T => {
                let array = x.get::<T>().map(|x| x.mapv(|x| T::from_f64(magnitude(x))).into_shared());
                Ok(array.map_or(Value::None, Value::array::<T>))
            })
        }
        other => Ok(other.clone()),
    }
}

/// The largest finite magnitude in a result; 0 if no element is finite.
fn largest(value: &Value<Numpyish>) -> f64 {
    let of_array = |x: &DynArray<Numpyish>| -> Result<f64> {
        dispatch!(x.dtype(), T => {
            let all = x.get::<T>().into_iter().flatten().map(|x| magnitude(*x));
            Ok(all.filter(|x| x.is_finite()).fold(0.0, f64::max))
        })
    };
    match value {
        Value::List(items) => items.iter().map(largest).fold(0.0, f64::max),
        Value::Array(x) => of_array(x).unwrap_or(0.0),
        _ => 0.0,
    }
}

fn magnitude<T: Element>(x: T) -> f64 {
    let x: Complex<f64> = x.cast();
    x.re.hypot(x.im)
}

/// Converts a stack of matrices to double precision.
fn matrices(value: &Value<Numpyish>) -> Option<HostArray<Complex<f64>>> {
    let x = value.as_array()?;
    let cast: Result<_> = dispatch!(x.dtype(), T => {
        Ok(x.get::<T>().map(|x| x.mapv(|x| x.cast()).into_shared()))
    });
    cast.ok()?.filter(|x| !x.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Accuracy, compare::difference_beside},
        *,
    };
    use crate::ops;
    use backend_runtime::{ElementInfo, Error, ParamInfo, ParamKind, PlainInfo, ResultInfo};
    use ndarray::arr1;

    const X: ParamKind = ParamKind::Array(ElementInfo::T);
    const TOLERANCE: Tolerance = Tolerance::Relative(2e-11);

    fn row(name: &'static str, params: &'static [ParamInfo]) -> Row {
        let group = crate::OPS.iter().find(|op| op.name == name).map_or("", |op| op.group);
        Row {
            name,
            group,
            params,
            result: ResultInfo::One(ElementInfo::T),
            signature: "",
            cases: &[],
            accuracy: Accuracy::EXACT,
            any_zero: false,
            waits: 0,
            raises: &[],
            compared: &[],
            seed: None,
        }
    }

    fn call(
        b: &Numpyish,
        op: &str,
        args: &[Value<Numpyish>],
        options: &[(&str, Value<Numpyish>)],
    ) -> Result<Value<Numpyish>> {
        match op {
            "cov" => ops::cov::call(b, args, options),
            "fftconvolve" => ops::fftconvolve::call(b, args, options),
            "var" => ops::var::call(b, args, options),
            "vecdot" => ops::vecdot::call(b, args, options),
            _ => Err(Error::argument("fuzz", format!("there is no op `{op}`"))),
        }
    }

    fn noise(row: &Row, dtype: DType, text: &str) -> Noise {
        let tolerance = if row.name == "matrix_rank" { Tolerance::Exact } else { TOLERANCE };
        Noise::of(row, DTypes { of: dtype, to: None }, text, tolerance, call)
    }

    fn values(x: &[f64]) -> Values {
        Values::of(&arr1(x).into_dyn().into_shared())
    }

    /// Returns whether a comparison finds a difference between two results.
    fn differ(noise: &Noise, row: &Row, got: &[f64], expected: &[f64]) -> bool {
        let [got, expected] = noise.without(row, 0, [&values(got), &values(expected)]);
        difference_beside(&got, &expected, TOLERANCE, true, noise.scale).is_some()
    }

    /// The matrices of a sample of integers, each as a list of its 4 elements.
    fn integers(name: &str) -> Vec<[i64; 4]> {
        let sample = super::super::random::Sample::of(name).unwrap().values(DType::Float64);
        let all: Vec<i64> = sample.elements::<f64>().unwrap().into_iter().map(|x| x as i64).collect();
        all.chunks_exact(4).map(|x| [x[0], x[1], x[2], x[3]]).collect()
    }

    fn det(m: &[i64; 4]) -> i64 {
        m[0] * m[3] - m[1] * m[2]
    }

    #[test]
    fn rounding_errors_of_sums_are_relative_to_their_terms() {
        for name in SUMS {
            assert!(crate::OPS.iter().any(|op| op.name == name), "{name} is a row");
        }
        let params = const { &[ParamInfo::new("x1", X, None), ParamInfo::new("x2", X, None)] };
        let dot = row("vecdot", params);
        // the sum has 50 terms with magnitudes of up to 16
        let found = noise(&dot, DType::Float64, "random_1_packed_integers_50, random_2_packed_integers_50");
        assert!((50.0..800.0).contains(&found.scale) && !found.decides(), "{found:?}");
        assert!(!differ(&found, &dot, &[-2.4e-15], &[4.7e-15]));
        assert!(differ(&found, &dot, &[1e-7], &[4.7e-15]), "a wrong result is found");
        assert!(differ(&Noise::default(), &dot, &[-2.4e-15], &[4.7e-15]));

        const MODES: ParamKind = ParamKind::Choice(&["full", "same"]);
        let params = const {
            &[
                ParamInfo::new("x1", X, None),
                ParamInfo::new("x2", X, None),
                ParamInfo::new("mode", MODES, Some(backend_runtime::DefaultInfo::Choice("full"))),
            ]
        };
        let convolution = row("fftconvolve", params);
        let of = |mode: &str| {
            noise(
                &convolution,
                DType::Float64,
                &format!("random_7_stepped_positive_1, random_8_reversed_sorted_5{mode}"),
            )
        };
        assert!(of("").scale > 0.0);
        assert_eq!(of(", mode = same").scale, of("").scale, "the elements that are cut off count");
    }

    #[test]
    fn quotients_by_zero_are_left_out() {
        let correction = ParamInfo::new(
            "correction",
            ParamKind::Plain(PlainInfo::F64),
            Some(backend_runtime::DefaultInfo::Number(1.0)),
        );
        let params = vec![ParamInfo::new("x", X, None), correction].leak();
        for name in ["cov", "var"] {
            let row = row(name, params);
            let of = |correction: &str| {
                noise(&row, DType::Float64, &format!("random_6_packed_integers_6x7, correction = {correction}"))
            };
            for (correction, by_zero) in [("0", false), ("1", false), ("42", true), ("1e300", true)] {
                assert_eq!(of(correction).decides(), by_zero, "{name} {correction}");
            }
            assert!(!differ(&of("1e300"), &row, &[f64::NAN], &[f64::INFINITY]));
            assert!(differ(&of("1"), &row, &[f64::NAN], &[f64::INFINITY]), "a wrong result is found");
        }
    }

    #[test]
    fn determinants_are_compared_unless_they_are_rounding_errors() {
        let name = "random_3_packed_integers_600x2x2";
        let matrices = integers(name);
        let params = const { &[ParamInfo::new("x", X, None)] };
        let [signs, dets, inverses] = ["slogdet", "det", "inv"].map(|name| row(name, params));
        let found = noise(&signs, DType::Float64, name);
        for row in [&signs, &inverses] {
            let undecided = noise(row, DType::Float64, name).undecided.unwrap();
            // a zero column makes a matrix singular in every library, whatever the rounding
            let is_0 = |m: &[i64; 4]| m[0] == 0 && m[2] == 0 || m[1] == 0 && m[3] == 0;
            for (undecided, m) in undecided.iter().zip(&matrices) {
                assert!(if *undecided { det(m) == 0 } else { det(m) != 0 || is_0(m) }, "{}: {m:?}", row.name);
            }
        }
        let left_out = found.undecided.clone().unwrap();
        let signum = |of_singular: f64| -> Vec<f64> {
            let both = left_out.iter().zip(&matrices);
            both.map(|(out, m)| if *out { of_singular } else { det(m).signum() as f64 }).collect()
        };
        assert!(!differ(&found, &signs, &signum(-1.0), &signum(1.0)));
        let mut wrong = signum(1.0);
        wrong[matrices.iter().position(|m| det(m) != 0).unwrap()] *= -1.0;
        assert!(differ(&found, &signs, &wrong, &signum(1.0)), "a wrong sign is found");

        let regular = noise(&inverses, DType::Float64, "random_5_packed_positive_4x4");
        assert!(!regular.decides(), "{regular:?}");
        let found = noise(&dets, DType::Float64, name);
        assert!(found.scale > 8.0 && !found.decides(), "{found:?}");
        assert!(!differ(&found, &dets, &[6e-17], &[0.0]));
        assert!(differ(&found, &dets, &[1e-6], &[0.0]));
    }

    #[test]
    fn ranks_are_compared_unless_a_ratio_is_the_cutoff() {
        let name = "random_4_packed_integers_3000x2x2";
        let params = const {
            &[
                ParamInfo::new("x", X, None),
                ParamInfo::new("rtol", ParamKind::Maybe(PlainInfo::F64), Some(backend_runtime::DefaultInfo::None)),
            ]
        };
        let ranks = row("matrix_rank", params);
        // for singular values s and 2 s, the sum of the squared elements is 5 s², and the determinant is 2 s²
        let is_cutoff = |m: &[i64; 4]| det(m) != 0 && 2 * m.iter().map(|x| x * x).sum::<i64>() == 5 * det(m).abs();
        let at_cutoff: Vec<bool> = integers(name).iter().map(is_cutoff).collect();
        assert!(at_cutoff.iter().any(|x| *x));
        for dtype in [DType::Float32, DType::Float64] {
            let found = noise(&ranks, dtype, &format!("{name}, rtol = 0.5"));
            assert!(found.undecided.unwrap().iter().eq(&at_cutoff), "{dtype}");
            let found = noise(&ranks, dtype, name);
            assert!(!found.decides(), "singular matrices of small integers are far from the default cutoff");
        }
        let found = noise(&ranks, DType::Float64, &format!("{name}, rtol = 0.5"));
        let with =
            |rank: f64, of: bool| -> Vec<f64> { at_cutoff.iter().map(|x| if *x == of { rank } else { 2.0 }).collect() };
        assert!(!differ(&found, &ranks, &with(1.0, true), &with(2.0, true)));
        assert!(differ(&found, &ranks, &with(1.0, false), &with(2.0, false)), "a wrong rank is found");
    }

    #[test]
    fn the_results_of_a_stack_are_left_out_by_matrix() {
        let undecided = ArrayD::from_shape_vec(IxDyn(&[2]), vec![false, true]).unwrap();
        let noise = Noise { scale: 0.0, undecided: Some(undecided), stack: vec![3, 2] };
        const FIELDS: &[(&str, ElementInfo)] =
            &[("solution", ElementInfo::T), ("residuals", ElementInfo::Real), ("singular_values", ElementInfo::Real)];
        let row = Row { result: ResultInfo::Fields(FIELDS), ..row("lstsq", &[]) };
        let ones = |shape: &[usize]| Values::of(&ArrayD::<f64>::ones(shape).into_shared());
        let of = |place, shape: &[usize]| {
            let [x, _] = noise.without(&row, place, [&ones(shape), &ones(shape)]);
            x.elements::<f64>().unwrap()
        };
        assert_eq!(of(0, &[3, 2, 2]), [1.0, 1.0, 0.0, 0.0].repeat(3), "the first argument is broadcast");
        assert_eq!(of(0, &[2, 1]), [1.0, 0.0]);
        assert_eq!(of(2, &[2, 1]), [1.0, 1.0], "singular values are comparable");
        let [x, y] = noise.without(&row, 1, [&ones(&[0]), &ones(&[3, 2, 1])]);
        assert_eq!(x, y, "a rank decides whether there are residuals");
    }
}
