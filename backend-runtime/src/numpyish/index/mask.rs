//! Elements that a mask is true for, and where they are.

use crate::{
    Element, Error, Result,
    numpyish::{
        NdArray, Numpyish,
        buffer::{self, CHEAP, Shared},
        copy,
    },
};
use ndarray::ArrayView;
use std::mem::MaybeUninit;

/// Elements that one task looks through for true ones.
const BLOCK: usize = 1 << 14;

/// The elements, in C order, where a mask of the same shape is true.
pub fn boolean_mask<T: Element>(_: &Numpyish, x: &NdArray<T>, mask: &NdArray<bool>) -> Result<NdArray<T>> {
    const OP: &str = "boolean_mask";
    if x.shape() != mask.shape() {
        return Err(Error::shapes(OP, x.shape(), mask.shape()));
    }
    let (x, mask) = (copy::packed(OP, x)?, copy::packed(OP, mask)?);
    let mut ends = buffer::vec::<usize>(OP, mask.len().div_ceil(BLOCK))?;
    let mut n = 0;
    for block in mask.chunks(BLOCK) {
        n += block.iter().map(|&m| usize::from(m)).sum::<usize>();
        ends.push(n);
    }
    // SAFETY: the blocks cover the result, and each is written by as many elements as it has.
    unsafe {
        buffer::build(OP, &[n], |out: &mut [MaybeUninit<T>]| {
            let out = Shared::new(out);
            buffer::parallel(ends.len(), CHEAP / BLOCK, |blocks| {
                for i in blocks {
                    let out = out.part(if i == 0 { 0 } else { ends[i - 1] }..ends[i]);
                    let range = i * BLOCK..mask.len().min((i + 1) * BLOCK);
                    compress(x[range.clone()].iter().copied(), mask[range].iter().copied(), out);
                }
            });
        })
    }
}

/// Writes the elements whose mask is true. Every element is written where the next one goes, and stays if its mask is
/// true: no branch to predict.
#[inline]
fn compress<T>(x: impl Iterator<Item = T>, mask: impl Iterator<Item = bool>, out: &mut [MaybeUninit<T>]) {
    let mut next = 0;
    for (x, m) in x.zip(mask) {
        let Some(o) = out.get_mut(next) else { return };
        o.write(x);
        next += usize::from(m);
    }
}

/// Indices of the true elements, one array per axis.
pub fn nonzero<T: Element>(_: &Numpyish, x: &NdArray<T>) -> Result<Vec<NdArray<i64>>> {
    const OP: &str = "nonzero";
    let (n, places) = places(OP, x)?;
    places.into_iter().map(|v| buffer::array(OP, &[n], v)).collect()
}

/// Indices of the true elements, one row each.
pub fn argwhere<T: Element>(_: &Numpyish, x: &NdArray<T>) -> Result<NdArray<i64>> {
    const OP: &str = "argwhere";
    let (n, places) = places(OP, x)?;
    // SAFETY: the columns are the result.
    unsafe {
        buffer::build(OP, &[n, x.ndim()], |out| {
            for (k, column) in places.iter().enumerate() {
                copy::place(out, k, &[x.ndim() as isize], ArrayView::from(column).into_dyn());
            }
        })
    }
}

/// How many elements are true, and their indices along each axis, in C order.
fn places<T: Element>(op: &'static str, x: &NdArray<T>) -> Result<(usize, Vec<Vec<i64>>)> {
    let elements = copy::packed(op, x)?;
    let n = elements.iter().filter(|x| x.truth()).count();
    let mut places = (0..x.ndim()).map(|_| buffer::vec(op, n)).collect::<Result<Vec<Vec<i64>>>>()?;
    let Some((last, outer)) = places.split_last_mut() else {
        return Ok((n, places));
    };
    let mut index = vec![0; outer.len()];
    // a row at a time: the outer indices change only between rows, and nothing is divided
    for row in elements.chunks(x.shape()[outer.len()].max(1)) {
        let found = row.iter().filter(|x| x.truth()).count();
        let room = &mut last.spare_capacity_mut()[..found];
        compress(0.., row.iter().map(|x| x.truth()), room);
        // SAFETY: as many places as are true have just been written.
        unsafe { last.set_len(last.len() + found) };
        outer.iter_mut().zip(&index).for_each(|(v, &i)| v.extend(std::iter::repeat_n(i, found)));
        for (i, &d) in index.iter_mut().zip(x.shape()).rev() {
            *i += 1;
            if *i < d as i64 {
                break;
            }
            *i = 0;
        }
    }
    Ok((n, places))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counting, list};
    use super::*;
    use crate::{IntoHost, numpyish::copy::tests::Dice};
    use ndarray::IxDyn;

    const B: Numpyish = Numpyish::new();

    #[test]
    fn masks_and_places() {
        let x = counting(&[2, 2]);
        let mask = [[true, false], [true, true]].into_host().unwrap();
        assert_eq!(list(&boolean_mask(&B, &x, &mask).unwrap()), [0, 2, 3]);
        assert!(boolean_mask(&B, &x, &[true].into_host().unwrap()).is_err());
        assert_eq!(nonzero(&B, &mask).unwrap().iter().map(list).collect::<Vec<_>>(), [[0, 1, 1], [0, 0, 1]]);
        let of_scalar = argwhere(&B, &1_i64.into_host().unwrap()).unwrap();
        assert_eq!(of_scalar.shape(), [1, 0]);
    }

    #[test]
    fn masks_and_places_of_any_layout() {
        let mut dice = Dice(5);
        for round in 0..60 {
            let longest = [4, 70][round % 2];
            let shape: Vec<usize> = (0..1 + dice.below(3)).map(|_| dice.below(longest)).collect();
            let x: NdArray<i64> = dice.layout_of(&shape);
            let mask = dice.layout_of::<i64>(&shape).map(|&v| v % 3 == 0).into_shared();
            let true_at: Vec<IxDyn> = mask.indexed_iter().filter(|(_, m)| **m).map(|(at, _)| at).collect();
            let naive: Vec<i64> = true_at.iter().map(|at| x[at]).collect();
            assert_eq!(list(&boolean_mask(&B, &x, &mask).unwrap()), naive);
            let rows = argwhere(&B, &mask).unwrap();
            assert_eq!(rows.shape(), [true_at.len(), shape.len()]);
            let columns = nonzero(&B, &mask).unwrap();
            for (n, at) in true_at.iter().enumerate() {
                for k in 0..shape.len() {
                    assert_eq!((rows[[n, k]], columns[k][n]), (at[k] as i64, at[k] as i64));
                }
            }
        }
    }

    #[test]
    fn huge_shapes_of_nothing() {
        let x = buffer::array("zeros", &[1 << 40, 0], Vec::<i64>::new()).unwrap();
        assert_eq!(argwhere(&B, &x).unwrap().shape(), [0, 2]);
        assert_eq!(nonzero(&B, &x).unwrap().len(), 2);
    }
}
