//! Diagonals of arrays. They are copies, because ndarray has no view of diagonals along arbitrary axes.

use backend_core::{
    Result,
    numpyish::{
        OpContext, copy,
        raw::{RawArray, View},
    },
    rules,
};

/// The diagonals of the matrices that the axes `axis1` and `axis2` form. The elements of each diagonal lie along a new
/// last axis.
pub fn diagonal(_: OpContext<'_>, x: View<'_>, offset: isize, axis1: isize, axis2: isize) -> Result<RawArray> {
    const OP: &str = "diagonal";
    let diagonal = rules::Diagonal::of(OP, x.shape, offset, [axis1, axis2], x.dtype.size())?;
    let (start, strides) = diagonal.strides(x.strides);
    // SAFETY: `start` is the offset of an element of the array, or 0 if the diagonal is empty.
    let start = unsafe { x.at(start) };
    copy::to_raw(OP, View { start, dtype: x.dtype, shape: &diagonal.shape, strides: &strides })
}

#[cfg(test)]
mod tests {
    use crate::linalg::typed::diagonal;
    use backend_core::numpyish::{
        Numpyish,
        testing::{counting, layouts},
    };

    #[test]
    fn diagonals_of_any_layout() {
        let b = Numpyish::new();
        for x in layouts(&counting::<i32>(&[2, 3, 4])) {
            for (offset, axis1, axis2) in [(0, -2, -1), (1, -2, -1), (-2, 1, 2), (0, 2, 0), (-1, 0, 1), (9, 0, 1)] {
                let d = diagonal(&b, &x, offset, axis1, axis2).unwrap();
                let axes = [axis1, axis2].map(|axis| axis.rem_euclid(3) as usize);
                let other = 3 - axes[0] - axes[1];
                let (down, right) = if offset < 0 { (-offset as usize, 0) } else { (0, offset as usize) };
                for ((i, k), value) in d.into_dimensionality::<ndarray::Ix2>().unwrap().indexed_iter() {
                    let mut place = [0; 3];
                    (place[other], place[axes[0]], place[axes[1]]) = (i, k + down, k + right);
                    assert_eq!(*value, x[place], "{offset} {axis1} {axis2} {:?}", x.strides());
                }
            }
        }
    }
}
