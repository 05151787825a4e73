//! Sums of 16-bit floats that go to one place: in float32, rounded once, since a sum that is rounded after each of many numbers stands still.

use crate::{Real, Result, numpyish::buffer};

/// Numbers in the order of the places that they go to.
pub(super) struct Runs {
    order: Vec<usize>,
    /// Where each run ends in the order.
    ends: Vec<usize>,
}

impl Runs {
    /// Of as many numbers, by the place of each. Numbers of one place stay in order.
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

    /// The numbers of each place.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.order[start..end])
    }
}

/// An element and numbers that are added to it.
#[inline(always)]
pub(super) fn sum<T: Real + Into<f32>>(first: T, more: impl Iterator<Item = T>) -> T {
    let first: f32 = first.into();
    let sum: f32 = more.fold(first, |sum, x| sum + Into::<f32>::into(x));
    T::of(f64::from(sum))
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
