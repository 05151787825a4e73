//! The positions at which the template fits best.

use ndarray::ArrayViewD;

/// A position in the volume at which the score has a maximum.
#[derive(Clone, Debug, PartialEq)]
pub struct Peak {
    /// The position in voxels.
    pub place: [usize; 3],
    /// The score at this position.
    pub score: f64,
    /// The index of the rotation with this score.
    pub rotation: usize,
}

/// The best peaks found so far. No peak is within `distance` of a better peak.
pub struct Peaks {
    most: usize,
    distance: f64,
    found: Vec<Peak>,
}

impl Peaks {
    /// An empty list, which keeps at most `most` peaks.
    pub fn new(most: usize, distance: f64) -> Peaks {
        Peaks { most, distance, found: Vec::new() }
    }

    /// Adds the peaks of a part of the volume. `places` are the positions in the part that have no neighbour with a
    /// higher score.
    pub fn add(
        &mut self,
        start: [usize; 3],
        places: &[[usize; 3]],
        scores: &ArrayViewD<'_, f64>,
        rotations: &ArrayViewD<'_, i32>,
    ) {
        self.found.extend(places.iter().map(|place| Peak {
            place: [0, 1, 2].map(|axis| start[axis] + place[axis]),
            score: scores[&place[..]],
            rotation: rotations[&place[..]] as usize,
        }));
        self.found.sort_by(|p, q| q.score.total_cmp(&p.score).then(p.place.cmp(&q.place)));
        let mut kept: Vec<Peak> = Vec::new();
        for peak in self.found.drain(..) {
            if kept.len() == self.most {
                break;
            }
            if kept.iter().all(|better| apart(better, &peak) > self.distance) {
                kept.push(peak);
            }
        }
        self.found = kept;
    }

    /// The peaks, beginning with the best.
    pub fn into_vec(self) -> Vec<Peak> {
        self.found
    }
}

fn apart(p: &Peak, q: &Peak) -> f64 {
    let squares = (0..3).map(|axis| (p.place[axis] as f64 - q.place[axis] as f64).powi(2));
    squares.sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array3;

    #[test]
    fn the_best_are_kept_and_their_neighbours_are_not() {
        let mut scores = Array3::<f64>::zeros((4, 9, 9));
        let places = [[1, 1, 1], [1, 2, 2], [2, 8, 8], [0, 8, 0]];
        for (place, score) in places.iter().zip([0.5, 0.9, 0.7, 0.1]) {
            scores[*place] = score;
        }
        let rotations = Array3::<i32>::from_elem((4, 9, 9), 3);
        let (scores, rotations) = (scores.into_dyn(), rotations.into_dyn());
        let mut peaks = Peaks::new(2, 3.0);
        peaks.add([10, 0, 0], &places, &scores.view(), &rotations.view());
        let scores: Vec<_> = peaks.found.iter().map(|p| p.score).collect();
        assert_eq!(scores, [0.9, 0.7]);
        assert_eq!(peaks.found[0], Peak { place: [11, 2, 2], score: 0.9, rotation: 3 });
    }
}
