//! Operands of a formula that are not arrays: scalars, and numbers that are written in the formula.

use crate::Complex;

/// The value of a scalar leaf. If the other operand of an op is an array, the scalar converts to the array's dtype by
/// the rules for scalar operands: for example, an `f64` converts to any float dtype.
#[doc(hidden)] // only generated code names it, and its page would be very long
#[derive(Clone, Copy, Debug)]
pub struct Scalar<T>(pub T);

/// A float literal in a formula, such as `2.0`. It takes the dtype of the other operand, which must be a float dtype.
#[derive(Clone, Copy, Debug)]
pub struct Literal(pub f64);

/// A whole number in a formula, such as `2`. It takes the dtype of the other operand.
#[derive(Clone, Copy, Debug)]
pub struct Whole(pub i64);

/// A complex number in a formula, such as `2i` or `1.0 + 2i`. It takes the complex dtype of the other operand, which
/// must be of a float dtype, real or complex.
#[derive(Clone, Copy, Debug)]
pub struct ComplexLiteral(pub Complex<f64>);
