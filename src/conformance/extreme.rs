//! Samples (test arrays) that are not stored as data: arrays without elements whose other axes have extreme lengths,
//! and arrays larger than the memory that [`refusing`](super::refusing) leaves.

use backend_runtime::{Element, HostArray};
use ndarray::{ArrayD, Axis, IxDyn};

/// Maximum product of the non-zero lengths of an array without elements. An array with this number of elements of 16
/// bytes, the size of the widest dtype, would still have a representable size in bytes.
const MAX_LENGTH_PRODUCT: usize = isize::MAX as usize / 16;

/// Shapes without elements. The product of the non-zero lengths is either small, so that a sum over the empty axis is
/// quick, or beyond any memory, so that the sum is refused. The last shape is not valid for any array.
const GIANT: &[(&str, &[usize])] = &[
    ("giant0", &[0, 1 << 48]),
    ("giant1", &[1 << 48, 0]),
    ("giant2", &[0, MAX_LENGTH_PRODUCT]),
    ("giant3", &[1 << 45, 0, 1 << 13]),
    ("giant4", &[0, 3, MAX_LENGTH_PRODUCT / 3]),
    ("giant5", &[2, 1 << 57, 0]),
    ("giant6", &[0, 0, MAX_LENGTH_PRODUCT]),
    ("giant7", &[0, isize::MAX as usize]),
];

/// Shapes of a few thousand elements; the length 8209 is prime.
const LARGE: &[(&str, &[usize])] =
    &[("large1", &[8209]), ("large2", &[90, 91]), ("large3", &[91, 90]), ("large4", &[90, 91])];

/// Names of the samples without elements.
pub(super) const GIANTS: &[&str] = &["giant0", "giant1", "giant2", "giant3", "giant4", "giant5", "giant6"];

/// Names of the samples that have elements, for calls that need memory: a 1-D array, two matrices that can be
/// multiplied, and `large4`, which is reversed in memory.
pub(super) const LARGES: &[&str] = &["large1", "large2", "large3", "large4"];

/// The sample of this name, or `None` if the name is unknown.
pub(super) fn sample<T: Element>(name: &str) -> Option<HostArray<T>> {
    let (_, shape) = GIANT.iter().chain(LARGE).find(|(known, _)| *known == name)?;
    let n: usize = shape.iter().product();
    let elements = (0..n as i64).map(|i| T::from_i64(i * 7919 % 83)).collect();
    let mut array = ArrayD::from_shape_vec(IxDyn(shape), elements).ok()?;
    if name == "large4" {
        (0..array.ndim()).for_each(|axis| array.invert_axis(Axis(axis)));
    }
    Some(array.into_shared())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_sample() {
        for name in GIANTS {
            assert!(sample::<f64>(name).unwrap().is_empty(), "{name}");
        }
        for name in LARGES {
            assert!(sample::<u8>(name).unwrap().len() > 8000, "{name}");
        }
        assert!(sample::<f64>("large4").unwrap().strides().iter().all(|&s| s < 0));
        assert!(sample::<f64>("m").is_none());
    }
}
