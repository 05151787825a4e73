//! Bessel functions of the first kind, and modified Bessel functions, of order 0 and 1.
//!
//! For arguments up to 8 the functions are polynomials. For `J0` and `J1`, each polynomial is multiplied by factors
//! that are 0 at the first four roots. For arguments of at least 8, the functions use the modulus and the phase of
//! Hankel's expansion: 10.17.3 and 10.40.1 of the NIST Digital Library of Mathematical Functions.

use super::F;
use super::exact::polynomial;
use super::exp::{Parts, between, exp, parts, scale};
use super::special::{
    FRAC_1_SQRT_PI, I_MAX, I0_FAR, I0_NEAR, I1_FAR, I1_NEAR, J0_COSINE, J0_NEAR, J0_ROOT_1, J0_ROOT_1_LOW, J0_ROOT_2,
    J0_ROOT_2_LOW, J0_SINE, J0_SQUARE_3, J0_SQUARE_4, J1_COSINE, J1_NEAR, J1_ROOT_1, J1_ROOT_1_LOW, J1_ROOT_2,
    J1_ROOT_2_LOW, J1_SINE, J1_SQUARE_3, J1_SQUARE_4,
};
use super::trig::sin_cos;

/// Arguments of at least this value use the expansions for large arguments.
const FAR: F = 8.0;

/// `x^2 - root^2`, where `low` is the low-order part of the root.
#[inline(always)]
fn from_root(x: F, root: F, low: F) -> F {
    ((x - root) - low) * (x + root)
}

/// Product of the remaining factors of a Bessel function: a factor for each of the next two roots, whose squares are
/// `first` and `second`, and a polynomial in `square`.
#[inline(always)]
fn factors<const N: usize>(square: F, first: F, second: F, coefficients: &[F; N]) -> F {
    (first - square) * (second - square) * polynomial(square.mul_add(1.0 / 32.0, -1.0), coefficients)
}

/// Bessel function of the first kind of order 0. The error is relative to the largest value of the function near `x`.
#[inline(always)]
pub fn j0(x: F) -> F {
    let size = x.abs();
    let near = between(0.0, FAR, size);
    let roots = from_root(near, J0_ROOT_1, J0_ROOT_1_LOW) * from_root(near, J0_ROOT_2, J0_ROOT_2_LOW);
    let near = roots * factors(near * near, J0_SQUARE_3, J0_SQUARE_4, &J0_NEAR);
    let inverse = 8.0 / between(FAR, F::MAX, size);
    let square = inverse * inverse;
    let (p, q) = (polynomial(square, &J0_COSINE), polynomial(square, &J0_SINE) * (inverse / 8.0));
    let (sin, cos) = sin_cos(size);
    // `cos + sin` and `sin - cos` are cos(x - pi/4) and sin(x - pi/4), times sqrt(2)
    let far = (p * (cos + sin) - q * (sin - cos)) * (FRAC_1_SQRT_PI / size.sqrt());
    if size < FAR { near } else { far }
}

/// Bessel function of the first kind of order 1. The error is relative to the largest value of the function near `x`.
#[inline(always)]
pub fn j1(x: F) -> F {
    let size = x.abs();
    let near = between(0.0, FAR, size);
    let roots = from_root(near, J1_ROOT_1, J1_ROOT_1_LOW) * from_root(near, J1_ROOT_2, J1_ROOT_2_LOW);
    let near = near * (roots * factors(near * near, J1_SQUARE_3, J1_SQUARE_4, &J1_NEAR));
    let inverse = 8.0 / between(FAR, F::MAX, size);
    let square = inverse * inverse;
    let (p, q) = (polynomial(square, &J1_COSINE), polynomial(square, &J1_SINE) * (inverse / 8.0));
    let (sin, cos) = sin_cos(size);
    // `sin - cos` and `-(sin + cos)` are cos(x - 3 pi/4) and sin(x - 3 pi/4), times sqrt(2)
    let far = (p * (sin - cos) + q * (sin + cos)) * (FRAC_1_SQRT_PI / size.sqrt());
    // the function is odd: the sign changes with the sign of x, including -0
    let value = if size < FAR { near } else { far };
    F::from_bits(value.to_bits() ^ (x.to_bits() & (-0.0 as F).to_bits()))
}

/// The value of a modified Bessel function at an argument of magnitude `size`. If `size` is below 8, the value is
/// `near` times a power of the argument. Otherwise, `far` is the value times `exp(-size) sqrt(size)`.
struct Modified {
    near: F,
    far: F,
    size: F,
    is_near: bool,
}

impl Modified {
    #[inline(always)]
    fn new<const N: usize, const M: usize>(x: F, near: &[F; N], far: &[F; M]) -> Modified {
        let size = x.abs();
        let eighth = between(0.0, FAR, size) / 8.0;
        let inverse = 8.0 / between(FAR, F::MAX, size);
        Modified { near: polynomial(eighth * eighth, near), far: polynomial(inverse, far), size, is_near: size < FAR }
    }

    /// Returns the value of the function, which is NaN at infinity, as in SciPy. `power` is the factor `x^order` of
    /// `near`.
    #[inline(always)]
    fn value(&self, power: F) -> F {
        let Parts { n, high, low } = parts(between(0.0, I_MAX, self.size));
        let far = (1.0 + (high + low)) * (self.far / self.size.sqrt());
        let far = if self.size >= I_MAX { F::INFINITY } else { scale(far, n) };
        let far = if self.size == F::INFINITY { F::NAN } else { far };
        if self.is_near { power * self.near } else { far }
    }

    /// Returns the function times `exp(-x)`. `power` is the factor `x^order` of `near`.
    #[inline(always)]
    fn scaled(&self, power: F) -> F {
        let near = (power * self.near) * exp(-between(0.0, FAR, self.size));
        if self.is_near { near } else { self.far / self.size.sqrt() }
    }
}

/// Modified Bessel function of the first kind of order 0. Within 3 ulp.
#[inline(always)]
pub fn i0(x: F) -> F {
    Modified::new(x, &I0_NEAR, &I0_FAR).value(1.0)
}

/// `i0` times `exp(-|x|)`. Within 3 ulp.
#[inline(always)]
pub fn i0e(x: F) -> F {
    let value = Modified::new(x, &I0_NEAR, &I0_FAR).scaled(1.0);
    if x.is_nan() { x } else { value }
}

/// Modified Bessel function of the first kind of order 1. Within 3 ulp.
#[inline(always)]
pub fn i1(x: F) -> F {
    let parts = Modified::new(x, &I1_NEAR, &I1_FAR);
    parts.value(parts.size).copysign(x)
}

/// `i1` times `exp(-|x|)`. Within 3 ulp.
#[inline(always)]
pub fn i1e(x: F) -> F {
    let parts = Modified::new(x, &I1_NEAR, &I1_FAR);
    let value = parts.scaled(parts.size).copysign(x);
    if x.is_nan() { x } else { value }
}
