//! Sums and products of 16-bit floats that are combined into the same element. They are computed in float32 and rounded
//! once. If the result were rounded after each of many terms, a sum would stop growing, and a product would overflow or
//! underflow at an intermediate step.

use backend_core::{Real, Result, numpyish::buffer};

/// Indices of values, grouped by the element (target) that the values are combined into.
pub(super) struct Runs {
    order: Vec<usize>,
    /// End of each group within `order`.
    ends: Vec<usize>,
}

impl Runs {
    /// Groups the indices `k` of `n` values by their targets `place(k)`. Indices with the same target keep their order.
    pub fn of<P: Ord>(op: &'static str, n: usize, place: impl Fn(usize) -> P) -> Result<Runs> {
        let mut order = buffer::vec::<usize>(op, n)?;
        order.extend(0..n);
        if !order.is_sorted_by_key(|&k| place(k)) {
            order.sort_unstable_by_key(|&k| (place(k), k));
        }
        let mut ends = buffer::vec::<usize>(op, n)?;
        ends.extend((1..=n).filter(|&k| k == n || place(order[k]) != place(order[k - 1])));
        Ok(Runs { order, ends })
    }

    /// The indices of the values of each target, as one slice per target.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.order[start..end])
    }
}

/// The sum of an element and of the values in `more`, rounded once.
#[inline(always)]
pub(super) fn sum<T: Real + Into<f32>>(first: T, more: impl Iterator<Item = T>) -> T {
    let first: f32 = first.into();
    let sum: f32 = more.fold(first, |sum, x| sum + Into::<f32>::into(x));
    T::of(f64::from(sum))
}

/// The product of an element and of the values in `more`, rounded once.
#[inline(always)]
pub(super) fn product<T: Real + Into<f32>>(first: T, more: impl Iterator<Item = T>) -> T {
    let first: f32 = first.into();
    let product: f32 = more.fold(first, |product, x| product * Into::<f32>::into(x));
    T::of(f64::from(product))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_of_one_place_and_in_order() {
        let places = [3, 1, 3, 0, 1, 3];
        let runs = Runs::of("sums", places.len(), |k| places[k]).unwrap();
        assert_eq!(runs.iter().collect::<Vec<_>>(), [&[3][..], &[1, 4], &[0, 2, 5]]);
        assert_eq!(Runs::of("sums", 0, |k| places[k]).unwrap().iter().count(), 0);
    }
}
