//! The scalar expression of an `each` row, as a type: the loops and kernels around it are the backend's.

use crate::{Complex, Element, Float, Real};

/// A scalar op over `N` elements of `T`. The generated types are zero-size, or hold the op's parameters.
pub trait Each<const N: usize, T: Element> {
    /// Dtype of the result.
    type Out: Element;

    /// One result element. `#[inline(always)]` in every implementation, so that the loop that calls it vectorises.
    fn apply(&self, x: [T; N]) -> Self::Out;
}

/// The same expression in CUDA C++, for the kernel generated from it.
pub trait EachSource: 'static {
    /// Name of the row.
    const NAME: &'static str;

    /// The expression over the row's parameters and the prelude's functions; `T` is the dtype.
    const CUDA: &'static str;

    /// The form for complex dtypes, where it is another.
    const CUDA_COMPLEX: &'static str = Self::CUDA;

    /// Names of the array parameters, in order.
    const INPUTS: &'static [&'static str];

    /// Names of the scalar parameters, in order.
    const PARAMS: &'static [&'static str];

    /// Whether it takes sines, cosines or tangents of real dtypes, which need a reduction of their range: their loops look
    /// at a block of arguments first (see [`is_far`](crate::scalar::is_far)).
    const NEEDS_RANGE_REDUCTION: bool = calls_any(Self::CUDA, &["op_sin(", "op_cos(", "op_tan("]);

    /// The same for complex dtypes, where exponentials do so too.
    const NEEDS_RANGE_REDUCTION_COMPLEX: bool = calls_any(
        Self::CUDA_COMPLEX,
        &["op_sin(", "op_cos(", "op_tan(", "op_exp(", "op_expm1(", "op_sinh(", "op_cosh(", "op_tanh("],
    );

    /// Whether it computes so much in vectors that wider ones pay: the others wait for memory, or call a function.
    const GAINS_FROM_AVX512: bool = calls_any(
        Self::CUDA,
        &[
            "op_abs(",
            "op_acos(",
            "op_acosh(",
            "op_asin(",
            "op_asinh(",
            "op_atan(",
            "op_atan2(",
            "op_atanh(",
            "op_cos(",
            "op_cosh(",
            "op_erf(",
            "op_erfc(",
            "op_exp(",
            "op_expm1(",
            "op_hypot(",
            "op_log(",
            "op_log10(",
            "op_log1p(",
            "op_log2(",
            "op_logaddexp(",
            "op_nextafter(",
            "op_pow(",
            "op_sign(",
            "op_sin(",
            "op_sinh(",
            "op_sqrt(",
            "op_tan(",
            "op_tanh(",
        ],
    );

    /// The dtypes that [`EachSource::table`] has kernels of.
    const TABLED: &'static [crate::DType] = &[];

    /// Kernels of the CPU backend, compiled where the op is written and not again where it is called.
    fn table() -> Option<&'static crate::numpyish::kernel::Table<Self>>
    where
        Self: Sized,
    {
        None
    }

    /// Values of the scalar parameters, in order.
    fn params(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// Whether one of the calls is in the text of an expression.
const fn calls_any(text: &str, calls: &[&str]) -> bool {
    let text = text.as_bytes();
    let mut i = 0;
    while i < calls.len() {
        let call = calls[i].as_bytes();
        let mut start = 0;
        while start + call.len() <= text.len() {
            let mut same = 0;
            while same < call.len() && text[start + same] == call[same] {
                same += 1;
            }
            if same == call.len() {
                return true;
            }
            start += 1;
        }
        i += 1;
    }
    false
}

/// A float op with one form for real and one for complex dtypes.
pub trait FloatOp<const N: usize> {
    /// The form for real dtypes.
    fn real<T: Real>(&self, x: [T; N]) -> T;

    /// The form for complex dtypes.
    fn complex<R: Real>(&self, x: [Complex<R>; N]) -> Complex<R>
    where
        Complex<R>: Float<Real = R>;
}

/// As [`FloatOp`], with a real result.
pub trait FloatToRealOp<const N: usize> {
    /// The form for real dtypes.
    fn real<T: Real>(&self, x: [T; N]) -> T;

    /// The form for complex dtypes.
    fn complex<R: Real>(&self, x: [Complex<R>; N]) -> R
    where
        Complex<R>: Float<Real = R>;
}

#[cfg(test)]
mod tests {
    use super::calls_any;

    #[test]
    fn calls_are_found_in_expressions() {
        assert!(calls_any("op_plus(x, op_sin(y))", &["op_cos(", "op_sin("]));
        assert!(!calls_any("op_asin(x)", &["op_sin("]) && !calls_any("", &["op_sin("]));
    }
}
