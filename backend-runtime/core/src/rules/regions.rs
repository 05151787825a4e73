//! Rules for regions of images: the neighbours of elements, and the distances between neighbours.

use crate::{Error, Result};

/// Maximum number of axes along which elements can be neighbours. Axes of length 1 do not count.
pub const MAX_NEIGHBOUR_AXES: usize = 8;

/// The neighbours of an element that precede it in C order. They also determine the neighbours that follow it, because
/// being neighbours is symmetric.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// Lengths of the axes that do not have length 1; a single 1 if all axes have length 1.
    pub lengths: Vec<usize>,
    /// For each neighbour, its indices along these axes minus the indices of the element: -1, 0 or 1. The list is
    /// sorted, so the neighbour that differs only along the last axis comes last.
    pub before: Vec<Vec<isize>>,
}

/// Returns the neighbours whose indices differ along at most `connectivity` axes, or, if there is a structure, the
/// neighbours that the structure specifies.
pub fn neighbours(
    op: &'static str,
    shape: &[usize],
    connectivity: usize,
    structure: Option<(&[usize], &[bool])>,
) -> Result<Neighbours> {
    if connectivity == 0 {
        return Err(Error::argument(op, "`connectivity` is 0, but must be at least 1"));
    }
    if let Some((lengths, flags)) = structure {
        if lengths.len() != shape.len() || lengths.iter().any(|&len| len != 3) {
            return Err(Error::shapes(op, shape, lengths));
        }
        if flags.iter().ne(flags.iter().rev()) {
            return Err(Error::argument(op, "`structure` must be symmetric about its middle"));
        }
    }
    let long: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
    if long.len() > MAX_NEIGHBOUR_AXES {
        return Err(Error::shape(op, shape, format!("must have at most {MAX_NEIGHBOUR_AXES} axes longer than 1")));
    }
    if long.is_empty() {
        return Ok(Neighbours { lengths: vec![1], before: Vec::new() });
    }
    let half = 3_usize.pow(long.len() as u32) / 2;
    let steps = |mut number: usize| {
        let mut steps = vec![0; long.len()];
        for step in steps.iter_mut().rev() {
            *step = (number % 3) as isize - 1;
            number /= 3;
        }
        steps
    };
    let is_near = |steps: &Vec<isize>| match structure {
        None => steps.iter().filter(|&&step| step != 0).count() <= connectivity,
        Some((_, flags)) => {
            let along = |axis: usize| long.iter().position(|&k| k == axis).map_or(0, |k| steps[k]);
            flags[(0..shape.len()).fold(0, |place, axis| 3 * place + (along(axis) + 1) as usize)]
        }
    };
    let before = (0..half).map(steps).filter(is_near).collect();
    Ok(Neighbours { lengths: long.iter().map(|&axis| shape[axis]).collect(), before })
}

/// The shape of the array of a distance transform, with the distance between neighbouring elements along each axis.
/// Axes of length 1 are left out, except for the first axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Lengths of the axes. There is at least one axis.
    pub lengths: Vec<usize>,
    /// Distance between neighbouring elements along each axis.
    pub steps: Vec<f64>,
}

/// Checks the argument `sampling` of a distance transform, and combines it with the shape of the array. `sampling` is
/// given by its shape and its numbers, which are distances between neighbouring elements: one distance for all axes, or
/// one for each axis. Without `sampling`, these distances are 1.
pub fn measured(op: &'static str, shape: &[usize], sampling: Option<(&[usize], &[f64])>) -> Result<Measured> {
    let given = match sampling {
        None => &[1.0][..],
        Some((lengths, given)) if lengths.iter().product::<usize>() == 1 || *lengths == [shape.len()] => given,
        Some((lengths, _)) => return Err(Error::shapes(op, shape, lengths)),
    };
    if let Some(wrong) = given.iter().find(|step| !(step.is_finite() && **step > 0.0)) {
        return Err(Error::argument(
            op,
            format!("`sampling` has {wrong}, but all its numbers must be positive and finite"),
        ));
    }
    let step = |axis: usize| if given.len() == 1 { given[0] } else { given[axis] };
    let kept: Vec<usize> = (0..shape.len()).filter(|&axis| axis == 0 || shape[axis] != 1).collect();
    if kept.len() > MAX_NEIGHBOUR_AXES {
        return Err(Error::shape(op, shape, format!("must have at most {MAX_NEIGHBOUR_AXES} axes longer than 1")));
    }
    if kept.is_empty() {
        return Ok(Measured { lengths: vec![1], steps: vec![given.first().copied().unwrap_or(1.0)] });
    }
    Ok(Measured {
        lengths: kept.iter().map(|&axis| shape[axis]).collect(),
        steps: kept.into_iter().map(step).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_half_of_those_around() {
        let of = |shape: &[usize], n| neighbours("op", shape, n, None).unwrap();
        assert_eq!(of(&[4, 5], 1).before, [[-1, 0], [0, -1]]);
        assert_eq!(of(&[4, 5], 2).before, [[-1, -1], [-1, 0], [-1, 1], [0, -1]]);
        assert_eq!([1, 2, 3, 9].map(|n| of(&[2, 2, 2], n).before.len()), [3, 9, 13, 13]);
        assert_eq!(of(&[1, 4, 1], 1), Neighbours { lengths: vec![4], before: vec![vec![-1]] });
        assert_eq!(of(&[], 1), Neighbours { lengths: vec![1], before: vec![] });
        assert!(matches!(neighbours("op", &[4], 0, None), Err(Error::Argument { .. })));
        assert!(matches!(neighbours("op", &[2; 9], 1, None), Err(Error::Shape { .. })));
    }

    #[test]
    fn structures_name_neighbours() {
        let diagonal = [false, false, true, false, true, false, true, false, false];
        let of = |shape: &[usize], flags: &[bool]| neighbours("op", shape, 1, Some((&[3, 3], flags)));
        assert_eq!(of(&[4, 5], &diagonal).unwrap().before, [[-1, 1]]);
        assert_eq!(of(&[4, 1], &diagonal).unwrap().before, Vec::<Vec<isize>>::new());
        assert_eq!(of(&[1, 4], &[true; 9]).unwrap().before, [[-1]]);
        let half = [true, false, false, false, true, false, false, false, false];
        assert!(matches!(of(&[4, 5], &half), Err(Error::Argument { .. })));
        assert!(matches!(of(&[4, 5, 6], &diagonal), Err(Error::Shapes { .. })));
    }

    #[test]
    fn distances_of_neighbours() {
        let of = |shape: &[usize], steps: &[f64]| measured("op", shape, Some((&[steps.len()], steps)));
        assert_eq!(of(&[1, 1, 4], &[1.0, 2.0, 3.0]).unwrap(), Measured { lengths: vec![1, 4], steps: vec![1.0, 3.0] });
        assert_eq!(of(&[3, 4], &[2.0]).unwrap().steps, [2.0, 2.0]);
        assert_eq!(of(&[], &[]).unwrap(), Measured { lengths: vec![1], steps: vec![1.0] });
        assert!(matches!(of(&[3, 4], &[1.0, 2.0, 3.0]), Err(Error::Shapes { .. })));
        assert!(matches!(of(&[3, 4], &[1.0, 0.0]), Err(Error::Argument { .. })));
        assert!(matches!(of(&[3, 4], &[f64::NAN]), Err(Error::Argument { .. })));
        assert_eq!(measured("op", &[3, 4], None).unwrap().steps, [1.0, 1.0]);
    }
}
