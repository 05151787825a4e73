//! Scales systems of equations by powers of two, so that the squares of their numbers neither overflow nor underflow.
//! A multiplication by a power of two is exact.

use backends::{ArrayAttributes, Backend, DType, Element, Real, Result, WideFloat, expr};

/// The exponent `e` such that `|x| = m 2^e` with `m` from 1/2 to 1; 0 if `x` is zero or not finite.
pub(super) fn exponent(x: f64) -> i32 {
    let of_normal = |x: f64| (x.abs().to_bits() >> 52) as i32 - 1022;
    match x.abs() {
        x if x == 0.0 || !x.is_finite() => 0,
        x if x < f64::MIN_POSITIVE => of_normal(x * 2.0_f64.powi(54)) - 54,
        x => of_normal(x),
    }
}

/// `x 2^e`, without intermediate overflow.
pub(super) fn shifted(x: f64, e: i32) -> f64 {
    let e = e.clamp(-2000, 2000);
    x * 2.0_f64.powi(e / 2) * 2.0_f64.powi(e - e / 2)
}

/// Returns whether the real parts of the dtype have double precision.
fn is_double<T: WideFloat>() -> bool {
    <T::Real as Element>::DTYPE == DType::Float64
}

/// The distance from 1 to the next larger number of a dtype.
pub(super) fn epsilon<T: WideFloat>() -> f64 {
    if is_double::<T>() { f64::EPSILON } else { f64::from(f32::EPSILON) }
}

/// Returns whether an operator of size `2^exponent` needs no scaling in a method that computes with its `k`-th power.
pub(super) fn is_harmless<T: WideFloat>(exponent: i32, k: usize) -> bool {
    exponent.unsigned_abs() as usize * k <= if is_double::<T>() { 500 } else { 60 }
}

/// Returns whether numbers with this exponent are near the subnormal range, whose numbers have fewer digits.
pub(super) fn is_short<T: WideFloat>(exponent: i32) -> bool {
    exponent < if is_double::<T>() { -950 } else { -75 }
}

/// A power of two for each system of a batch.
pub(super) struct Powers<B: Backend, T: WideFloat> {
    /// Two factors of each power: both are representable even if the power itself is not. `None` if all powers are 1.
    halves: Option<[B::Array<T>; 2]>,
}

impl<B: Backend, T: WideFloat> Powers<B, T> {
    pub fn new(b: &B, exponents: impl IntoIterator<Item = i32>) -> Result<Self> {
        let exponents: Vec<i32> = exponents.into_iter().collect();
        if exponents.iter().all(|&e| e == 0) {
            return Ok(Powers { halves: None });
        }
        let most = if is_double::<T>() { 2000 } else { 252 };
        let array = |half: fn(i32) -> i32| {
            let power = |&e: &i32| T::from_real(T::Real::of(2.0_f64.powi(half(e.clamp(-most, most)))));
            b.from_iter(exponents.iter().map(power).collect::<Vec<_>>())
        };
        Ok(Powers { halves: Some([array(|e| e / 2)?, array(|e| e - e / 2)?]) })
    }

    /// Multiplies each system of an array by the power of two that belongs to this system. The first `batch` axes of
    /// the array are the batch.
    pub fn of(&self, b: &B, x: &B::Array<T>, batch: usize) -> Result<B::Array<T>> {
        let Some([low, high]) = &self.halves else { return Ok(x.clone()) };
        let (low, high) = (like(b, low, x, batch)?, like(b, high, x, batch)?);
        expr!(b, x * low * high)
    }

    /// Applies a linear map and multiplies by the powers of two: by one factor before the map, and by the other after
    /// it.
    pub fn of_map(
        &self,
        b: &B,
        x: &B::Array<T>,
        batch: usize,
        map: impl Fn(&B::Array<T>) -> Result<B::Array<T>>,
    ) -> Result<B::Array<T>> {
        let Some([low, high]) = &self.halves else { return map(x) };
        let low = like(b, low, x, batch)?;
        let y = map(&expr!(b, x * low)?)?;
        let high = like(b, high, &y, batch)?;
        expr!(b, y * high)
    }
}

/// The shape of an array with one number for each system, which broadcasts to arrays of shape `shape`.
pub(super) fn numbers_shape(shape: &[usize], batch: usize) -> Vec<usize> {
    shape.iter().enumerate().map(|(i, &n)| if i < batch { n } else { 1 }).collect()
}

fn like<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>, other: &B::Array<T>, batch: usize) -> Result<B::Array<T>> {
    b.reshape(x, numbers_shape(other.shape(), batch))
}

#[cfg(test)]
mod tests {
    use super::{exponent, shifted};

    #[test]
    fn exponents_of_all_sizes() {
        for e in -1073..=1024 {
            let x = shifted(0.5, e);
            assert_eq!(exponent(x), e, "{x}");
            assert_eq!(shifted(x, -e), 0.5);
        }
        assert_eq!([0.0, f64::NAN, f64::INFINITY, -0.75].map(exponent), [0, 0, 0, 0]);
        assert_eq!((exponent(1.0), exponent(-3.0)), (1, 2));
    }
}
