//! Options and results of [`Tv`](crate::Tv).

use backends::{Backend, Error, Precision, Result};
use std::{fmt, ops::ControlFlow};

/// The options of [`Tv::solve_with`](crate::Tv::solve_with).
///
/// Without `tol` all iterations are made. The constraints, `mask` and `positivity`, are part of the minimisation: the
/// image of every iteration satisfies them, and the iterations converge to the image of least energy among all images
/// that satisfy them.
pub struct TvOptions<'c, B: Backend, T: Precision> {
    pub(crate) max_iter: usize,
    pub(crate) energy_every: usize,
    pub(crate) tol: Option<f64>,
    pub(crate) init: Option<B::Array<T>>,
    pub(crate) dual: Option<Vec<B::Array<T>>>,
    pub(crate) mask: Option<B::Array<bool>>,
    pub(crate) positivity: bool,
    pub(crate) callback: Option<Box<Callback<'c, B::Array<T>>>>,
}

type Callback<'c, A> = dyn FnMut(Step<'_, A>) -> ControlFlow<()> + 'c;

impl<B: Backend, T: Precision> Default for TvOptions<'_, B, T> {
    fn default() -> Self {
        TvOptions {
            max_iter: 1000,
            energy_every: 0,
            tol: None,
            init: None,
            dual: None,
            mask: None,
            positivity: false,
            callback: None,
        }
    }
}

impl<'c, B: Backend, T: Precision> TvOptions<'c, B, T> {
    /// The defaults: 1000 iterations from [`Tv::initial`](crate::Tv::initial), without constraints or energies.
    pub fn new() -> Self {
        TvOptions::default()
    }

    /// Sets the largest number of iterations.
    #[must_use]
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// Sets the relative change of the image at which the iterations end: `|u_new - u| <= tol |u_new|`, with the
    /// Euclidean norm. The change is computed after every iteration.
    #[must_use]
    pub fn tol(mut self, tol: f64) -> Self {
        self.tol = Some(tol);
        self
    }

    /// Sets the interval of the energies: the energy is computed after 0, `every`, 2 `every` and so on iterations.
    /// With 0, it is never computed.
    #[must_use]
    pub fn energy_every(mut self, every: usize) -> Self {
        self.energy_every = every;
        self
    }

    /// Sets the initial image. It need not satisfy the constraints.
    #[must_use]
    pub fn init(mut self, image: &B::Array<T>) -> Self {
        self.init = Some(image.clone());
        self
    }

    /// Starts with the image and the dual field of an earlier solution, to continue its iterations or to use another
    /// weight. The solution may be of this problem, or of another problem whose images have the same shape.
    #[must_use]
    pub fn resume(mut self, solution: &Solution<B::Array<T>>) -> Self {
        self.init = Some(solution.image.clone());
        self.dual = Some(solution.dual.clone());
        self
    }

    /// Sets the mask outside of which the image is 0: an array of the image's shape.
    #[must_use]
    pub fn mask(mut self, mask: &B::Array<bool>) -> Self {
        self.mask = Some(mask.clone());
        self
    }

    /// Sets whether the elements of the image must be nonnegative.
    #[must_use]
    pub fn positivity(mut self, positivity: bool) -> Self {
        self.positivity = positivity;
        self
    }

    /// Sets a function that is called after each iteration. The solve ends if it returns `ControlFlow::Break(())`.
    #[must_use]
    pub fn callback(mut self, callback: impl FnMut(Step<'_, B::Array<T>>) -> ControlFlow<()> + 'c) -> Self {
        self.callback = Some(Box::new(callback));
        self
    }

    /// Returns an error if a setting does not fit images of this shape.
    pub(crate) fn check(&self, b: &B, shape: &[usize]) -> Result<()> {
        if let Some(tol) = self.tol
            && (tol.is_nan() || tol < 0.0)
        {
            return Err(Error::argument("tv", format!("tol is {tol}, but must be 0 or more")));
        }
        let fits = |name: &str, found: &[usize]| {
            if found == shape {
                return Ok(());
            }
            Err(Error::shape("tv", found, format!("of `{name}` must be the shape of the image, {shape:?}")))
        };
        if let Some(init) = &self.init {
            fits("init", b.shape(init))?;
        }
        if let Some(mask) = &self.mask {
            fits("mask", b.shape(mask))?;
        }
        let dual = self.dual.as_deref().unwrap_or(&[]);
        if self.dual.is_some() && dual.len() != shape.len() {
            let why = format!("the dual field has {} components, but must have {}", dual.len(), shape.len());
            return Err(Error::argument("tv", why));
        }
        dual.iter().try_for_each(|component| fits("dual", b.shape(component)))
    }
}

impl<B: Backend, T: Precision> fmt::Debug for TvOptions<'_, B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TvOptions")
            .field("max_iter", &self.max_iter)
            .field("energy_every", &self.energy_every)
            .field("tol", &self.tol)
            .field("positivity", &self.positivity)
            .finish_non_exhaustive()
    }
}

/// The progress that [`Tv`](crate::Tv) reports to the callback.
#[derive(Debug)]
pub struct Step<'a, A> {
    /// The number of iterations so far.
    pub iteration: usize,
    /// The image after these iterations.
    pub image: &'a A,
}

/// The reason why a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The relative change of the image has reached `tol`.
    Converged,
    /// The largest number of iterations was reached.
    MaxIter,
    /// The callback ended the solve.
    Callback,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Converged => "the relative change of the image is within the tolerance",
            Reason::MaxIter => "all iterations are used up",
            Reason::Callback => "the callback ended it",
        })
    }
}

/// The result of a solve.
#[derive(Clone, Debug)]
pub struct Solution<A> {
    /// The reconstructed image.
    pub image: A,
    /// The energy (which the solve minimises) after 0, `every`, 2 `every` and so on iterations.
    pub energies: Vec<f64>,
    /// The number of iterations.
    pub iterations: usize,
    /// True if the relative change of the image has reached `tol`.
    pub converged: bool,
    /// The reason why the iterations ended.
    pub reason: Reason,
    /// The relative change of the image in the last iteration, if a tolerance was given.
    pub change: Option<f64>,
    /// The dual field: one component per axis, with vectors of length at most 1. At the minimum, these vectors point in
    /// the direction of the image's gradient wherever that gradient is not 0.
    pub dual: Vec<A>,
}
