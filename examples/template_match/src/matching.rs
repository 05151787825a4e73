//! Computes the scores of rotations of a template at each position of a volume, on any backend.

use crate::rotations::Matrix;
use backends::{
    Backend, IrfftnOptions, Precision, Result, RfftnOptions, RigidTransformOptions, SplineFilterOptions, expr,
};
use ndarray::ArrayD;
use std::{ops::Range, str::FromStr};

/// The score that is computed at each position of the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// The correlation of the volume and the template.
    Cc,
    /// The correlation coefficient within a mask that is rotated with the template.
    Flc,
    /// The correlation coefficient within a mask that rotation does not change, for example a sphere. This needs less
    /// work.
    FlcSphericalMask,
}

impl FromStr for Score {
    type Err = &'static str;

    fn from_str(name: &str) -> std::result::Result<Score, &'static str> {
        match name {
            "CC" => Ok(Score::Cc),
            "FLC" => Ok(Score::Flc),
            "FLCSphericalMask" => Ok(Score::FlcSphericalMask),
            _ => Err("the scores are CC, FLC and FLCSphericalMask"),
        }
    }
}

/// The template and its mask, prepared for rotation.
pub struct Template<B: Backend, T: Precision> {
    backend: B,
    score: Score,
    order: usize,
    /// The template's spline coefficients, which interpolation reads.
    coefficients: B::Array<T>,
    mask: B::Array<T>,
    /// The matrix of each rotation.
    rotations: Vec<B::Array<T>>,
}

/// A rotated template and its mask.
struct Rotated<B: Backend, T: Precision> {
    template: B::Array<T>,
    mask: B::Array<T>,
    /// The sum of the mask's elements.
    weight: f64,
}

/// Computes the scores of rotations in a chunk of the volume, from the Fourier transforms of the chunk.
pub struct Matcher<'a, B: Backend, T: Precision> {
    template: &'a Template<B, T>,
    lengths: [usize; 3],
    spectrum: B::Array<T::Complex>,
    /// The spectrum of the squares of the chunk's elements. It is `None` for the score [`Score::Cc`], which needs no
    /// squares.
    squares: Option<B::Array<T::Complex>>,
    /// For each position, the factor that turns the correlation into the score. It is stored for a mask that is not
    /// rotated, because it is then the same for all rotations.
    norm: Option<B::Array<T>>,
}

/// The best score at each position, and the index of the rotation with this score.
pub struct Best<B: Backend, T: Precision> {
    /// The best score at each position.
    pub scores: B::Array<T>,
    /// The index of the rotation with this score.
    pub rotations: B::Array<i32>,
}

impl<B: Backend, T: Precision> Best<B, T> {
    /// Combines two results: takes the better score at each position, or the score of `self` if both are equal.
    pub fn or(&self, b: &B, other: &Self) -> Result<Self> {
        let is_better = b.greater(&other.scores, &self.scores)?;
        Ok(Best {
            scores: b.r#where(&is_better, &other.scores, &self.scores)?,
            rotations: b.r#where(&is_better, &other.rotations, &self.rotations)?,
        })
    }
}

impl<B: Backend, T: Precision> Template<B, T> {
    /// A template with a mask of the same shape, for spline interpolation of order 1 or 3.
    pub fn new(
        b: &B,
        template: &ArrayD<f64>,
        mask: &ArrayD<f64>,
        rotations: &[Matrix],
        score: Score,
        order: usize,
    ) -> Result<Self> {
        let of = |x: &ArrayD<f64>| b.asarray(x.mapv(T::of));
        let matrix = |m: &Matrix| b.asarray(m.map(|row| row.map(T::of)));
        let coefficients = b.spline_filter_with(of(template)?, SplineFilterOptions::new().order(order))?;
        Ok(Template {
            backend: b.clone(),
            score,
            order,
            coefficients,
            mask: of(mask)?,
            rotations: rotations.iter().map(matrix).collect::<Result<_>>()?,
        })
    }

    /// Rotates the template about its centre; values beyond its edges are 0.
    fn rotated(&self, rotation: &B::Array<T>) -> Result<Rotated<B, T>> {
        let b = &self.backend;
        let rotate =
            |x| b.rigid_transform_with(x, rotation, RigidTransformOptions::new().order(self.order).prefilter(false));
        let template = rotate(&self.coefficients)?;
        if self.score == Score::Cc {
            return Ok(Rotated { template, mask: self.mask.clone(), weight: 1.0 });
        }
        // the elements of the mask are used as spline coefficients, which smooths the mask without overshoot
        let mask = if self.score == Score::Flc { rotate(&self.mask)? } else { self.mask.clone() };
        let item = |x: B::Array<T>| Result::Ok(b.item(x)?.to_f64());
        let weight = item(b.sum(&mask, ..)?)?;
        let mean = item(expr!(b, sum(template * mask, ..))?)? / weight;
        let std = (item(expr!(b, sum(mask * (template - mean) * *2, ..))?)? / weight).sqrt();
        let template = expr!(b, (template - mean) / std * mask)?;
        Ok(Rotated { template, mask, weight })
    }
}

impl<'a, B: Backend, T: Precision> Matcher<'a, B, T> {
    /// Computes the Fourier transforms of a chunk of the volume.
    pub fn new(template: &'a Template<B, T>, chunk: ArrayD<f64>) -> Result<Self> {
        let b = &template.backend;
        let lengths = [0, 1, 2].map(|axis| chunk.shape()[axis]);
        let chunk = b.asarray(chunk.mapv(T::of))?;
        let squares = if template.score == Score::Cc { None } else { Some(b.rfftn(b.square(&chunk)?)?) };
        let mut matcher = Matcher { template, lengths, spectrum: b.rfftn(chunk)?, squares, norm: None };
        if template.score == Score::FlcSphericalMask {
            let weight = b.item(b.sum(&template.mask, ..)?)?.to_f64();
            let ones = b.full(lengths, T::ONE)?;
            matcher.norm = Some(matcher.normalized(ones, &template.mask, weight)?);
        }
        Ok(matcher)
    }

    /// The correlation at each position: the sum of the chunk's elements times the elements of a template that begins
    /// at this position.
    fn correlate(&self, spectrum: &B::Array<T::Complex>, with: &B::Array<T::Complex>) -> Result<B::Array<T>> {
        let b = &self.template.backend;
        b.irfftn_with(expr!(b, spectrum * conj(with))?, IrfftnOptions::new().s(self.lengths))
    }

    /// The spectrum of `x`, an array of the template's shape, padded with zeros to the shape of the chunk.
    fn transform(&self, x: &B::Array<T>) -> Result<B::Array<T::Complex>> {
        self.template.backend.rfftn_with(x, RfftnOptions::new().s(self.lengths))
    }

    /// Divides the correlation at each position by the standard deviation of the chunk's elements under the mask at
    /// this position. `weight` is the sum of the mask.
    fn normalized(&self, correlations: B::Array<T>, mask: &B::Array<T>, weight: f64) -> Result<B::Array<T>> {
        let mask = self.transform(mask)?;
        let squares = self.squares.as_ref().expect("scores with a mask have the squares");
        let (sums, squares) = (self.correlate(&self.spectrum, &mask)?, self.correlate(squares, &mask)?);
        let eps = backends::finfo(T::DTYPE)?.eps;
        self.template.backend.norm_scores(correlations, squares, sums, weight, eps)
    }

    /// The scores of one rotation, for the whole chunk.
    fn scores(&self, rotation: &B::Array<T>) -> Result<B::Array<T>> {
        let b = &self.template.backend;
        let rotated = self.template.rotated(rotation)?;
        let mut scores = self.correlate(&self.spectrum, &self.transform(&rotated.template)?)?;
        match (&self.norm, self.template.score) {
            (_, Score::Cc) => {}
            (Some(norm), _) => expr!(b, scores *= norm)?,
            (None, _) => scores = self.normalized(scores, &rotated.mask, rotated.weight)?,
        }
        Ok(scores)
    }

    /// At each position, the best score over the rotations with these indices, and the first rotation with this score.
    /// Calls `done` after each rotation.
    pub fn best(&self, rotations: Range<usize>, done: impl Fn()) -> Result<Best<B, T>> {
        let b = &self.template.backend;
        let mut best =
            Best { scores: b.full(self.lengths, T::of(f64::NEG_INFINITY))?, rotations: b.zeros(self.lengths)? };
        for index in rotations {
            let scores = self.scores(&self.template.rotations[index])?;
            let better = b.max_score_over_rotations(scores, best.scores, best.rotations, index as i64)?;
            best = Best { scores: better.scores, rotations: better.rotations };
            done();
        }
        Ok(best)
    }
}
