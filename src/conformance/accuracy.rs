//! Accuracy limits of the conformance tests, and the tolerances that follow from them.

use backend_runtime::{DType, DTypeKind};

/// The accuracy that the results of an op must have. The section `[accuracy]` of the op table defines it.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// Allowed error of each element, in units in the last place of the element (for complex numbers, of its
    /// magnitude).
    pub ulp: f64,
    /// Allowed error relative to the largest magnitude of the result, for each dtype. A complex result takes the value
    /// of its real dtype.
    pub rtol: &'static [(DType, f64)],
    /// True if `rtol` is multiplied by the square root of the input's size.
    pub sqrt_n: bool,
    /// True if only shape and dtype are guaranteed.
    pub shape: bool,
    /// True if only dtype and number of axes are guaranteed, because lengths and elements differ from backend to
    /// backend.
    pub ndim: bool,
    /// Values of `ulp` for some dtypes of this op. For these dtypes they replace both `ulp` and `rtol`.
    pub own_ulp: &'static [(DType, f64)],
}

/// The tolerance in the comparison of one result with its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tolerance {
    /// Equal bit for bit, except for the payload of NaN.
    Exact,
    /// Maximum error of each element, in units in the last place.
    Ulp(f64),
    /// Maximum error, relative to the largest magnitude of the result.
    Relative(f64),
    /// Only shape and dtype must be equal.
    Shape,
    /// Only dtype and number of axes must be equal.
    Ndim,
}

impl Tolerance {
    /// The tolerance for comparing two results, each of which may differ by `self` from the exact result.
    pub fn twice(self) -> Tolerance {
        match self {
            Tolerance::Ulp(ulp) => Tolerance::Ulp(2.0 * ulp),
            Tolerance::Relative(rtol) => Tolerance::Relative(2.0 * rtol),
            Tolerance::Exact | Tolerance::Shape | Tolerance::Ndim => self,
        }
    }
}

impl Accuracy {
    /// Results must be equal bit for bit. This constant is the base of other accuracies: `Accuracy { ulp: 4.0,
    /// ..Accuracy::EXACT }`.
    pub const EXACT: Accuracy =
        Accuracy { ulp: 0.0, rtol: &[], sqrt_n: false, shape: false, ndim: false, own_ulp: &[] };

    /// The tolerance for a result of dtype `result`, if the op is called in `dtype` with arrays of up to `size`
    /// elements.
    pub(crate) fn tolerance(&self, dtype: DType, result: DType, size: usize) -> Tolerance {
        let of = |list: &[(DType, f64)], dtype| list.iter().find(|(d, _)| *d == dtype).map(|(_, value)| *value);
        if self.ndim {
            return Tolerance::Ndim;
        }
        if self.shape {
            return Tolerance::Shape;
        }
        if !matches!(result.kind(), DTypeKind::Real | DTypeKind::Complex) {
            return Tolerance::Exact;
        }
        if let Some(ulp) = of(self.own_ulp, dtype) {
            return Tolerance::Ulp(ulp);
        }
        match of(self.rtol, result.to_real()) {
            Some(rtol) if self.sqrt_n => Tolerance::Relative(rtol * (size.max(1) as f64).sqrt()),
            Some(rtol) => Tolerance::Relative(rtol),
            None if self.ulp > 0.0 => Tolerance::Ulp(self.ulp),
            None => Tolerance::Exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_follow_the_dtype_of_the_result() {
        let sum = Accuracy { rtol: &[(DType::Float32, 1e-6)], sqrt_n: true, ..Accuracy::EXACT };
        assert_eq!(sum.tolerance(DType::Int8, DType::Int64, 12), Tolerance::Exact);
        assert_eq!(sum.tolerance(DType::Complex64, DType::Complex64, 4), Tolerance::Relative(2e-6));
        let own = Accuracy { ulp: 4.0, own_ulp: &[(DType::Float32, 8.0)], ..Accuracy::EXACT };
        assert_eq!(own.tolerance(DType::Float32, DType::Float32, 4), Tolerance::Ulp(8.0));
        assert_eq!(own.tolerance(DType::Complex64, DType::Complex64, 4), Tolerance::Ulp(4.0), "its own dtype only");
    }
}
