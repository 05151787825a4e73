//! A common traversal of several operands. Axes are merged if the strides of all operands allow it. Kernels get the
//! lengths and strides of the remaining axes.

use super::{array::RawArray, kernel::Argument};
use backend_core::{Error, Result};

/// Maximum number of axes that a kernel can traverse, after merging.
pub(super) const MAX_AXES: usize = 16;

/// Shape and strides of operands, outermost axis first. Axes of length 1 are dropped, and neighbouring axes are merged
/// where the strides of all operands allow it.
#[derive(Debug)]
pub(crate) struct Merged {
    shape: Vec<usize>,
    /// The strides of each operand, in elements.
    strides: Vec<Vec<isize>>,
    n: usize,
}

impl Merged {
    /// Merges axes of the operands, which must have the same shape. The traversal has the axis order of the first
    /// operand.
    pub(crate) fn new(operands: &[&RawArray]) -> Merged {
        let shape = operands.first().map_or(&[][..], |operand| &operand.shape);
        let mut merged = Merged {
            shape: Vec::with_capacity(shape.len()),
            strides: vec![Vec::with_capacity(shape.len()); operands.len()],
            n: shape.iter().product(),
        };
        for (axis, &len) in shape.iter().enumerate().filter(|&(_, &len)| len != 1) {
            let continues = |outer: &Vec<isize>, operand: &RawArray| {
                outer.last().is_some_and(|&stride| stride == operand.strides[axis].wrapping_mul(len as isize))
            };
            if merged.strides.iter().zip(operands).all(|(outer, operand)| continues(outer, operand)) {
                if let Some(last) = merged.shape.last_mut() {
                    *last *= len;
                }
                let inner = merged.strides.iter_mut().zip(operands);
                inner.for_each(|(strides, operand)| {
                    if let Some(last) = strides.last_mut() {
                        *last = operand.strides[axis];
                    }
                });
            } else {
                merged.shape.push(len);
                merged.strides.iter_mut().zip(operands).for_each(|(all, operand)| all.push(operand.strides[axis]));
            }
        }
        merged
    }

    /// Number of elements.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// The lengths of the axes that remain after merging.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The strides of operand `k`, in elements, along the axes that remain after merging.
    pub(crate) fn strides(&self, k: usize) -> &[isize] {
        &self.strides[k]
    }

    /// Returns the traversal without the axes `axes`.
    pub(crate) fn without(&self, axes: &[usize]) -> Merged {
        let kept: Vec<usize> = (0..self.shape.len()).filter(|axis| !axes.contains(axis)).collect();
        let shape: Vec<usize> = kept.iter().map(|&axis| self.shape[axis]).collect();
        let strides = self.strides.iter().map(|all| kept.iter().map(|&axis| all[axis]).collect()).collect();
        Merged { n: shape.iter().product(), shape, strides }
    }

    /// Returns whether the elements of operand `k` are contiguous.
    pub(crate) fn is_flat(&self, k: usize) -> bool {
        matches!(self.strides[k][..], [] | [1])
    }

    /// Returns whether operand `k` is a single element, repeated along every axis.
    pub(crate) fn is_one(&self, k: usize) -> bool {
        self.strides[k].iter().all(|&stride| stride == 0)
    }

    /// Returns whether the indices of all elements fit in 31 bits, so that kernels can use 32-bit arithmetic for them.
    pub(crate) fn is_small(&self) -> bool {
        self.n < 1 << 31
    }

    /// The template argument `R` of the kernels, for the number of axes: the number itself up to 4, and 16 for more
    /// axes.
    pub(crate) fn rank(&self) -> usize {
        match self.shape.len() {
            0 | 1 => 1,
            few @ 2..=4 => few,
            _ => MAX_AXES,
        }
    }

    /// Returns the `Walk` argument of the kernels for `K` operands. It is an error if too many axes remain.
    pub(crate) fn walk<const K: usize>(&self, op: &'static str) -> Result<Walk<K>> {
        debug_assert_eq!(self.strides.len(), K);
        let ndim = self.shape.len();
        if ndim > MAX_AXES {
            return Err(Error::shape(
                op,
                &self.shape,
                format!("must have at most {MAX_AXES} axes that cannot be merged"),
            ));
        }
        let mut walk = Walk {
            n: self.n as u64,
            // a single element has no axes, but gets one axis of length 1
            ndim: ndim.max(1) as u32,
            shape: [1; MAX_AXES],
            divisors: [Divisor::ONE; MAX_AXES],
            strides: [[0; MAX_AXES]; K],
        };
        for (place, axis) in (0..ndim).rev().enumerate() {
            walk.shape[place] = self.shape[axis] as u64;
            if self.is_small() {
                walk.divisors[place] = Divisor::new(self.shape[axis] as u32);
            }
            for k in 0..K {
                walk.strides[k][place] = self.strides[k][axis] as i64;
            }
        }
        Ok(walk)
    }
}

/// Counterpart of the C++ struct `Walk` in the kernels, with the innermost axis first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Walk<const K: usize> {
    n: u64,
    ndim: u32,
    shape: [u64; MAX_AXES],
    divisors: [Divisor; MAX_AXES],
    strides: [[i64; MAX_AXES]; K],
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl<const K: usize> Argument for Walk<K> {}

/// Counterpart of the C++ struct `Divisor` in the kernels. It divides a number x below 2^31 by a fixed divisor, by
/// computing `(high(x * magic) + x) >> shift`. `high` means the upper 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Divisor {
    magic: u32,
    shift: u32,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Divisor {}

impl Divisor {
    /// Division of a number below 2^31 by 1.
    pub(super) const ONE: Divisor = Divisor { magic: 0, shift: 0 };

    /// Prepares the division of numbers below 2^31 by `divisor`, which must be from 1 to 2^31 - 1.
    pub(crate) fn new(divisor: u32) -> Divisor {
        let divisor = divisor.max(1) as u64;
        let shift = divisor.next_power_of_two().trailing_zeros();
        // 2^32 * (2^shift - divisor) / divisor + 1 fits in 32 bits, because 2^shift < 2 * divisor
        let magic = ((1_u64 << 32) * ((1 << shift) - divisor)) / divisor + 1;
        Divisor { magic: magic as u32, shift }
    }

    #[cfg(test)]
    fn divide(self, x: u32) -> u32 {
        let high = ((x as u64 * self.magic as u64) >> 32) as u32;
        (high + x) >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_divide() {
        let numbers = [0, 1, 2, 3, 5, 7, 10, 255, 256, 257, 65_535, 1 << 20, 1_000_003, (1 << 30) + 1, (1 << 31) - 1];
        for divisor in numbers.into_iter().skip(1) {
            for x in numbers.into_iter().chain([divisor - 1, divisor]).chain((0..50).map(|k| k * 41_234_567)) {
                assert_eq!(Divisor::new(divisor).divide(x), x / divisor, "{x} / {divisor}");
            }
        }
    }
}
