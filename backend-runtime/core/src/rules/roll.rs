//! Rules for rolls, which move elements along axes; elements that leave at the end return at the beginning.

use crate::{Axes, Error, Result};

/// The axes to roll, and the number of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roll {
    /// Moves the elements of the flattened array by this number of positions.
    Row(usize),
    /// Moves the elements along each axis by this number of positions, which is less than the length of the axis.
    Axes(Vec<usize>),
}

/// Plans a roll. As in NumPy, the shifts and the axes form pairs. A single shift is paired with every axis, and a
/// single axis with every shift. Shifts of the same axis add up. `..` rolls the flattened array.
pub fn roll(op: &'static str, shifts: &[isize], axes: Axes, shape: &[usize]) -> Result<Roll> {
    let within = |shift: i128, len: usize| shift.rem_euclid(len.max(1) as i128) as usize;
    let Axes::List(list) = axes else {
        let total = shifts.iter().map(|&s| s as i128).sum();
        return Ok(Roll::Row(within(total, shape.iter().product())));
    };
    let mut sums = vec![0_i128; shape.len()];
    let axes = list.resolve(op, shape.len())?;
    let n = match (shifts.len(), axes.len()) {
        (1, n) | (n, 1) => n,
        (n, m) if n == m => n,
        (n, m) => {
            return Err(Error::argument(
                op,
                format!(
                    "{n} shifts were given for {m} axes, but there must be one shift for each axis, or one of either"
                ),
            ));
        }
    };
    for k in 0..n {
        let one = |len: usize| if len == 1 { 0 } else { k };
        sums[axes[one(axes.len())]] += shifts[one(shifts.len())] as i128;
    }
    Ok(Roll::Axes(sums.iter().zip(shape).map(|(&shift, &len)| within(shift, len)).collect()))
}

/// Returns the shifts for all axes: `half(length)` for each axis in `axes`, and 0 for all other axes.
pub fn halves(op: &'static str, axes: Axes, shape: &[usize], half: fn(usize) -> usize) -> Result<Vec<usize>> {
    let mut shifts = vec![0; shape.len()];
    for axis in axes.resolve(op, shape.len())? {
        shifts[axis] = if shape[axis] == 0 { 0 } else { half(shape[axis]) % shape[axis] };
    }
    Ok(shifts)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shifts of one axis add up, as in NumPy.
    #[test]
    fn shifts_of_one_axis_add_up() {
        let by = |shifts: &[isize], axes: Axes| roll("roll", shifts, axes, &[5, 3]);
        assert_eq!(by(&[1, 2], 0.into()), Ok(Roll::Axes(vec![3, 0])));
        assert_eq!(by(&[1, 2], [0, 0].into()), Ok(Roll::Axes(vec![3, 0])));
        assert_eq!(by(&[4], [0, -2, 1].into()), Ok(Roll::Axes(vec![3, 1])));
        assert_eq!(by(&[-1, 1], [0, 1].into()), Ok(Roll::Axes(vec![4, 1])));
        assert_eq!(by(&[], 0.into()), Ok(Roll::Axes(vec![0, 0])));
        assert_eq!(by(&[1, 15], Axes::All), Ok(Roll::Row(1)));
        assert_eq!(
            by(&[isize::MIN, isize::MIN], 0.into()),
            Ok(Roll::Axes(vec![(-(1_i128 << 64)).rem_euclid(5) as usize, 0]))
        );
        assert!(matches!(by(&[1, 0, 1], [0, 1].into()), Err(Error::Argument { .. })));
        assert!(matches!(by(&[1], 2.into()), Err(Error::Axis { .. })));
        assert_eq!(roll("roll", &[7], 0.into(), &[0]), Ok(Roll::Axes(vec![0])));
    }

    #[test]
    fn half_of_an_axis() {
        assert_eq!(halves("fftshift", Axes::All, &[5, 0], |n| n / 2), Ok(vec![2, 0]));
        assert_eq!(halves("ifftshift", 0.into(), &[5, 4], |n| n.div_ceil(2)), Ok(vec![3, 0]));
    }
}
