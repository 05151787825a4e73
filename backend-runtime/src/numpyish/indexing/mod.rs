//! Indexing of arrays: slices, gathers, scatters and masks.

mod along;
mod index;
mod mask;
mod part;
mod sums;

pub use along::{scatter, scatter_add, scatter_max, scatter_min, scatter_mul, scatter_mul_of, take, take_along_axis};
pub(super) use along::{taken, taken_along};
pub use index::{add_at, get, places, set};
pub use mask::{argwhere, boolean_mask, nonzero};
pub use part::getitem;

#[cfg(test)]
mod tests {
    use super::super::{NdArray, typed::array};

    /// An array with the elements 0, 1, 2 and so on.
    pub fn counting(shape: &[usize]) -> NdArray<i64> {
        let n = shape.iter().product::<usize>() as i64;
        array("test", shape, (0..n).collect()).unwrap()
    }

    /// The elements in C order.
    pub fn list(x: &NdArray<i64>) -> Vec<i64> {
        x.iter().copied().collect()
    }
}
