//! Scales matrices of very large or very small numbers by powers of two into the middle of the range of doubles, so
//! that squares of elements neither overflow nor underflow.
//!
//! Multiplication by a power of two is exact unless the product is subnormal or overflows, so scaling does not change
//! the results. Ordinary matrices are not scaled.

use super::{Result, Scalar, room::list};

/// An element needs no scaling if the magnitude of its binary exponent is at most this number. Even
/// the fourth powers of such elements are normal numbers.
const ORDINARY: i32 = 200;

/// Smallest and largest magnitude of elements that need no scaling, apart from 0.
pub const ORDINARY_RANGE: [f64; 2] = [pow2(-ORDINARY), pow2(ORDINARY)];

/// A right-hand side needs no scaling if the magnitude of its largest element's exponent is at most
/// this number. Larger exponents are close to the limits of doubles.
const FAR: i32 = 1000;

/// Value that represents the exponent of 0.
const OF_ZERO: i32 = i32::MIN;

/// Exponent of the largest power of two that does not exceed a magnitude; [`OF_ZERO`] for 0.
fn exponent(x: f64) -> i32 {
    let biased = |x: f64| (x.to_bits() >> 52 & 0x7ff) as i32;
    match biased(x) {
        0 if x == 0.0 => OF_ZERO,
        // a subnormal number is made normal first
        0 => biased(x * pow2(54)) - 1023 - 54,
        biased => biased - 1023,
    }
}

/// The exponent of the real or the imaginary part of an element, whichever part is larger in magnitude.
fn exponent_of<T: Scalar>(x: T) -> i32 {
    exponent(x.largest_part())
}

/// 2 to the power of `e`. The result must be a normal number.
const fn pow2(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// `x` times 2 to the power of `e`, rounded once.
pub fn scaled<T: Scalar>(x: T, e: i32) -> T {
    // only one of the products is rounded: if a product before the last factor is subnormal, the final product is 0
    match e {
        -1000..=1000 => x.by(pow2(e)),
        -2000..=2000 => x.by(pow2(e / 2)).by(pow2(e - e / 2)),
        e => {
            let e = e.clamp(-3000, 3000);
            x.by(pow2(e / 3)).by(pow2(e / 3)).by(pow2(e - 2 * (e / 3)))
        }
    }
}

fn is_ordinary(e: i32) -> bool {
    e == OF_ZERO || e.abs() <= ORDINARY
}

/// Exponent of the largest element if the elements need scaling. `None` if they need no scaling, or if an element is
/// infinite.
pub fn needed<T: Scalar>(elements: impl Iterator<Item = T>) -> Option<i32> {
    let largest = elements.map(Scalar::largest_part).fold(0.0, f64::max);
    Some(exponent(largest)).filter(|&e| !is_ordinary(e) && largest.is_finite())
}

/// Exponent of the largest magnitude, which must be finite; `None` if all elements are 0.
pub fn largest_exponent(elements: impl Iterator<Item = f64>) -> Option<i32> {
    Some(exponent(elements.fold(0.0, |largest, x| x.abs().max(largest)))).filter(|&e| e != OF_ZERO)
}

/// Returns whether an element of the magnitude `x` needs scaling, or is infinite or NaN.
#[inline(always)]
pub fn is_extreme(x: f64) -> bool {
    let [least, most] = ORDINARY_RANGE;
    x.is_nan() | (x > most) | ((x < least) & (x != 0.0))
}

/// Multiplies all elements by 2 to the power of `e`.
pub fn scale<T: Scalar>(elements: &mut [T], e: i32) {
    elements.iter_mut().for_each(|x| *x = scaled(*x, e));
}

/// Copies the elements and multiplies them by 2 to the power of `e`.
pub fn scaled_copy<T: Scalar>(elements: &[T], e: i32) -> Result<Vec<T>> {
    let mut copy = list(elements.len(), T::default())?;
    copy.iter_mut().zip(elements).for_each(|(copy, &x)| *copy = scaled(x, e));
    Ok(copy)
}

/// An iterator over the lower triangle of an `n` by `n` matrix, column by column.
pub fn lower_triangle<T>(a: &mut [T], n: usize) -> impl Iterator<Item = &mut T> {
    a.chunks_exact_mut(n.max(1)).enumerate().flat_map(|(j, column)| &mut column[j..])
}

/// The scaling of a square matrix: exponents of the powers of two by which its rows and columns were divided.
pub struct Balance {
    rows: Vec<i32>,
    columns: Vec<i32>,
}

impl Balance {
    /// Scales the columns and then the rows of `a` if the exponent of any element exceeds `ORDINARY` in magnitude.
    /// Afterwards the largest element of each nonzero row is between 1 and 2. Returns `None` if the matrix is not
    /// scaled: either no element needs scaling, or an element is infinite or NaN.
    pub fn of<T: Scalar>(a: &mut [T], n: usize) -> Result<Option<Balance>> {
        // most matrices need no scaling; a single pass without branches checks this
        if !a.iter().fold(false, |extreme, x| extreme | is_extreme(x.largest_part())) {
            return Ok(None);
        }
        if !a.iter().all(|x| x.largest_part().is_finite()) {
            return Ok(None);
        }
        let (mut rows, mut columns) = (list(n, OF_ZERO)?, list(n, 0)?);
        for (column, of_column) in a.chunks_exact(n).zip(&mut columns) {
            let largest = column.iter().map(|&x| exponent_of(x)).max().unwrap_or(OF_ZERO);
            *of_column = if largest == OF_ZERO { 0 } else { largest };
            for (&x, row) in column.iter().zip(&mut rows) {
                let e = exponent_of(x);
                *row = (*row).max(if e == OF_ZERO { e } else { e - *of_column });
            }
        }
        rows.iter_mut().filter(|row| **row == OF_ZERO).for_each(|row| *row = 0);
        for (column, of_column) in a.chunks_exact_mut(n).zip(&columns) {
            column.iter_mut().zip(&rows).for_each(|(x, row)| *x = scaled(*x, -row - of_column));
        }
        Ok(Some(Balance { rows, columns }))
    }

    /// Scales a right-hand side like the rows of the matrix, and divides it by a power of two if it would otherwise be
    /// close to the limits of doubles. Returns the exponent of this power.
    pub fn right_side<T: Scalar>(&self, b: &mut [T]) -> i32 {
        let of_rows = b.iter().zip(&self.rows).map(|(&x, row)| (exponent_of(x), row));
        let largest = of_rows.filter(|(e, _)| *e != OF_ZERO).map(|(e, row)| e - row).max().unwrap_or(0);
        let e = largest - largest.clamp(-FAR, FAR);
        b.iter_mut().zip(&self.rows).for_each(|(x, row)| *x = scaled(*x, -row - e));
        e
    }

    /// Computes the result of [`Balance::right_side`] for column `i` of the identity, whose only nonzero element is in
    /// row `i`. Returns the scaled element, and the exponent of the power of two by which it was divided.
    pub fn unit<T: Scalar>(&self, i: usize) -> (T, i32) {
        let row = self.rows[i];
        let e = -row - (-row).clamp(-FAR, FAR);
        (scaled(T::ONE, -row - e), e)
    }

    /// Undoes the scaling in the solution for a right-hand side that was divided by 2 to the power of `e`.
    pub fn solution<T: Scalar>(&self, x: &mut [T], e: i32) {
        x.iter_mut().zip(&self.columns).for_each(|(x, column)| *x = scaled(*x, e - column));
    }

    /// Exponent of the power of two by which the determinant of the scaled matrix must be multiplied to get the
    /// determinant of the original matrix.
    pub fn of_determinant(&self) -> i64 {
        self.rows.iter().chain(&self.columns).map(|&e| i64::from(e)).sum()
    }
}

/// A product whose exponent is stored separately, so that no intermediate value overflows or underflows.
pub struct Product<T> {
    value: T,
    exponent: i64,
}

impl<T: Scalar> Product<T> {
    /// The product `value * 2^exponent`.
    pub fn new(value: T, exponent: i64) -> Product<T> {
        Product { value, exponent }
    }

    /// Multiplies the product by a factor.
    pub fn times(self, factor: T) -> Product<T> {
        // the real and imaginary parts of the scaled factor and of the product so far are at most 2 in magnitude
        let of_factor = exponent_of(factor);
        if of_factor == OF_ZERO || !factor.largest_part().is_finite() {
            return Product { value: self.value.times(factor), ..self };
        }
        let value = self.value.times(scaled(factor, -of_factor));
        let e = exponent_of(value);
        let e = if e == OF_ZERO || !value.largest_part().is_finite() { 0 } else { e };
        Product { value: scaled(value, -e), exponent: self.exponent + i64::from(of_factor) + i64::from(e) }
    }

    /// Converts the product to a number, which may overflow or underflow.
    pub fn value(self) -> T {
        scaled(self.value, self.exponent.clamp(-3000, 3000) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_exact_and_rounded_once() {
        for x in [1.0, 1.75, 3.0e300, 5e-324, 2.5e-310, f64::MAX] {
            let e = exponent(x);
            let unit = scaled(x, -e);
            assert!((1.0..2.0).contains(&unit), "{x}: {unit}");
            assert_eq!(scaled(unit, e), x);
        }
        assert_eq!(
            (scaled(f64::MAX, -2100), scaled(5e-324, 2100), scaled(5e-324, 2000)),
            (0.0, f64::INFINITY, pow2(926))
        );
        // in units of the smallest double, 1 + 2^-52 must be rounded down to 1, and 1.5 to the nearest even number, 2
        assert_eq!((scaled(1.0 + f64::EPSILON, -1074), scaled(1.5, -1074)), (5e-324, 1e-323));
        assert_eq!(scaled(1.5 * pow2(1000), -2074), 1e-323);
    }

    #[test]
    fn products_keep_their_exponents() {
        let factors = [1e-200, 3e-200, 1e250, 1e150, -0.5];
        let product = factors.iter().fold(Product::new(1.0, 0), |product, &x| product.times(x)).value();
        assert!((product + 1.5).abs() < 1e-15, "{product}");
        assert_eq!(Product::new(1.0, 0).times(0.0).times(1e300).value(), 0.0);
        assert_eq!(Product::new(1.0, 0).times(1e300).times(1e300).value(), f64::INFINITY);
    }
}
