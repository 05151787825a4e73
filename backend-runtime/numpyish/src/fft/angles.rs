//! Tables of the cosines and sines by which cosine and sine transforms rotate complex numbers.

use super::{engine::Engine, stockham::root};
use backend_core::{Result, numpyish::buffer};

/// Cosines and sines of the angles pi k / (2 n), for k from 0 to `n`.
pub struct Turns<R> {
    /// The cosines.
    pub cos: Vec<R>,
    /// The sines.
    pub sin: Vec<R>,
}

impl<R: Engine> Turns<R> {
    /// Computes the cosines and sines for `n`.
    pub fn new(op: &'static str, n: usize) -> Result<Turns<R>> {
        let (mut cos, mut sin) = (buffer::vec(op, n + 1)?, buffer::vec(op, n + 1)?);
        for [re, im] in (0..=n).map(|k| root::<R>(k, 4 * n)) {
            cos.push(re);
            sin.push(R::ZERO - im);
        }
        Ok(Turns { cos, sin })
    }

    /// Rotates the complex number `[re, im]` by the angle -pi k / (2 n).
    #[inline]
    pub fn turned(&self, [re, im]: [R; 2], k: usize) -> [R; 2] {
        let (cos, sin) = (self.cos[k], self.sin[k]);
        [re * cos + im * sin, im * cos - re * sin]
    }
}
