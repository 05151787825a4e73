//! Divides a volume into parts, which are searched one after another, so that each part fits into memory.
//!
//! The score at a position depends on all elements of the volume that the template covers there. The volume is padded
//! with zeros to lengths for which Fourier transforms are fast, and continued periodically. Each part includes the
//! surrounding elements that its scores need, so the scores do not depend on the division into parts.

use crate::volume::Volume;
use ndarray::{ArrayD, SliceInfoElem};
use std::{error::Error, ops::Range};

/// A part of a volume.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The positions in the volume whose scores are computed from this part.
    pub places: [Range<usize>; 3],
    /// The shape of the part with its surroundings, and so the lengths of the Fourier transforms.
    pub lengths: [usize; 3],
    /// The first element of the part in the periodic volume. It may be negative.
    start: [isize; 3],
    /// The lengths along the three axes after which the padded volume repeats.
    period: [usize; 3],
}

/// The number of arrays of a chunk's size that are in memory at the same time: spectra of the volume and of its
/// squares, a rotated template and mask and their spectra, three correlations, the scores, and the best scores so far
/// with their rotations.
const ARRAYS: u64 = 12;

/// Divides a volume of this shape into parts. Each part needs at most `memory` bytes for the search of a template of
/// shape `template`, with elements of `size` bytes.
pub fn split(shape: [usize; 3], template: [usize; 3], size: usize, memory: u64) -> Result<Vec<Chunk>, String> {
    let period = shape.map(fast_length);
    let mut parts = [1; 3];
    loop {
        let longest = [0, 1, 2].map(|axis| shape[axis].div_ceil(parts[axis]));
        let lengths = [0, 1, 2].map(|axis| match parts[axis] {
            1 => period[axis],
            _ => fast_length(longest[axis] + template[axis] - 1),
        });
        let needed = lengths.iter().fold(ARRAYS * size as u64, |n, &d| n.saturating_mul(d as u64));
        if needed <= memory {
            let chunk = |index: [usize; 3]| {
                let places = [0, 1, 2].map(|axis| {
                    let start = index[axis] * longest[axis];
                    start..(start + longest[axis]).min(shape[axis])
                });
                let start = [0, 1, 2].map(|axis| places[axis].start as isize - (template[axis] / 2) as isize);
                Chunk { places, lengths, start, period }
            };
            let all =
                (0..parts.iter().product()).map(|i| [i / parts[2] / parts[1], i / parts[2] % parts[1], i % parts[2]]);
            let chunks = all.map(chunk).filter(|c| c.places.iter().all(|r| !r.is_empty()));
            return Ok(chunks.collect());
        }
        // chooses the axis along which a part is longest relative to the margin that the template adds
        let gain = |axis: &usize| longest[*axis] as f64 / template[*axis] as f64;
        let axis = (0..3).filter(|&axis| longest[axis] > 1).max_by(|i, j| gain(i).total_cmp(&gain(j)));
        let Some(axis) = axis else {
            let mib = needed.div_ceil(1 << 20);
            return Err(format!("the template alone needs {mib} MiB of memory"));
        };
        parts[axis] += 1;
    }
}

/// The smallest number of at least `n` with small prime factors: any number of 2, 3, 5 and 7, and at most one 11 or 13.
fn fast_length(n: usize) -> usize {
    let fast = |m: usize| {
        let mut rest = m;
        for factor in [2, 3, 5, 7] {
            while rest.is_multiple_of(factor) {
                rest /= factor;
            }
        }
        matches!(rest, 1 | 11 | 13)
    };
    (n.max(1)..).find(|&m| fast(m)).unwrap_or(n)
}

impl Chunk {
    /// Reads the elements of this part, as an array of shape `lengths`.
    pub fn read(&self, volume: &mut Volume) -> Result<ArrayD<f64>, Box<dyn Error>> {
        let shape = volume.shape();
        let pieces = [0, 1, 2].map(|axis| self.pieces(axis, shape[axis]));
        let mut whole = ArrayD::zeros(self.lengths.to_vec());
        for z in &pieces[0] {
            for y in &pieces[1] {
                for x in &pieces[2] {
                    let from = [z, y, x].map(|p| p.from..p.from + p.len);
                    let to = [z, y, x].map(|p| SliceInfoElem::from(p.to..p.to + p.len));
                    whole.slice_mut(&to[..]).assign(&volume.read(&from)?);
                }
            }
        }
        Ok(whole)
    }

    /// Finds the contiguous runs of the part along `axis` that lie within the volume. `n` is the length of the volume
    /// along this axis.
    fn pieces(&self, axis: usize, n: usize) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut to = 0;
        while to < self.lengths[axis] {
            let from = (self.start[axis] + to as isize).rem_euclid(self.period[axis] as isize) as usize;
            let left = self.lengths[axis] - to;
            if from < n {
                let len = left.min(n - from);
                pieces.push(Piece { from, to, len });
                to += len;
            } else {
                to += left.min(self.period[axis] - from);
            }
        }
        pieces
    }
}

/// A contiguous run of `len` elements, which starts at `from` in the volume and at `to` in the chunk.
struct Piece {
    from: usize,
    to: usize,
    len: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_good_for_transforms() {
        for (n, fast) in
            [(0, 1), (1, 1), (11, 11), (17, 18), (19, 20), (22, 22), (23, 24), (121, 125), (143, 144), (169, 175)]
        {
            assert_eq!(fast_length(n), fast, "{n}");
        }
    }

    #[test]
    fn each_place_is_in_one_chunk() {
        let (shape, template) = ([20, 23, 26], [8, 10, 8]);
        let whole = split(shape, template, 8, u64::MAX).unwrap();
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0].lengths, [20, 24, 26]);
        let all = ARRAYS * 8 * 20 * 24 * 26;
        for memory in [all, all - 1, all / 2, all / 3] {
            let chunks = split(shape, template, 8, memory).unwrap();
            assert_eq!(chunks.len() == 1, memory == all);
            let mut counts = ArrayD::<u8>::zeros(shape.to_vec());
            for chunk in &chunks {
                let bytes = chunk.lengths.iter().product::<usize>() as u64 * ARRAYS * 8;
                assert!(bytes <= memory, "{chunk:?}");
                let slices = chunk.places.clone().map(SliceInfoElem::from);
                counts.slice_mut(&slices[..]).mapv_inplace(|n| n + 1);
            }
            assert!(counts.iter().all(|n| *n == 1), "{memory}");
        }
        assert!(split(shape, template, 8, 1000).unwrap_err().contains("needs"));
    }
}
