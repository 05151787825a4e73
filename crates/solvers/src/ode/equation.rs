//! An equation `y' = f(t, y)`: its functions, with counters of their calls.

use backends::{Arrays, Backend, Error, Float, Result};
use std::cell::{Cell, RefCell};

/// The name of the op in error messages.
pub(super) const OP: &str = "solve_ivp";

/// A function of time and state that returns an array.
type Function<'p, B, T> = dyn FnMut(&B, f64, &<B as Arrays>::Array<T>) -> Result<<B as Arrays>::Array<T>> + 'p;

/// The functions of an equation, with counters of their calls.
pub(super) struct Equation<'p, B: Backend, T: Float> {
    pub b: &'p B,
    f: RefCell<Box<Function<'p, B, T>>>,
    jacobian: Option<RefCell<Box<Function<'p, B, T>>>>,
    /// The shape of the state.
    pub shape: Vec<usize>,
    pub evaluations: Cell<usize>,
    pub jacobians: Cell<usize>,
    pub factorizations: Cell<usize>,
}

impl<'p, B: Backend, T: Float> Equation<'p, B, T> {
    /// Creates the equation `y' = f(t, y)`, whose states have the shape of `y0`.
    pub fn new(b: &'p B, f: impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>> + 'p, y0: &B::Array<T>) -> Self {
        Equation {
            b,
            f: RefCell::new(Box::new(f)),
            jacobian: None,
            shape: b.shape::<T>(y0).to_vec(),
            evaluations: Cell::new(0),
            jacobians: Cell::new(0),
            factorizations: Cell::new(0),
        }
    }

    /// Sets the function that computes the Jacobian.
    pub fn set_jacobian(&mut self, jacobian: impl FnMut(&B, f64, &B::Array<T>) -> Result<B::Array<T>> + 'p) {
        self.jacobian = Some(RefCell::new(Box::new(jacobian)));
    }

    /// Evaluates `f` on the backend `b`, whose recording of operations for gradients may be paused.
    pub fn slope(&self, b: &B, t: f64, y: &B::Array<T>) -> Result<B::Array<T>> {
        count(&self.evaluations);
        let slope = (self.f.borrow_mut())(b, t, y)?;
        match b.shape::<T>(&slope) {
            shape if shape == self.shape => Ok(slope),
            shape => Err(Error::shapes(OP, &self.shape, shape)),
        }
    }

    /// The Jacobian given by the user, as a matrix.
    pub fn given_jacobian(&self, b: &B, t: f64, y: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        let Some(jacobian) = &self.jacobian else { return Ok(None) };
        let (given, n) = ((jacobian.borrow_mut())(b, t, y)?, self.size());
        let shape = b.shape::<T>(&given);
        if shape == [n, n] {
            return Ok(Some(given));
        }
        if shape == [&self.shape[..], &self.shape].concat() {
            return b.reshape::<T>(given, [n, n]).map(Some);
        }
        Err(Error::shape(OP, shape, format!("of the Jacobian must be [{n}, {n}]")))
    }

    /// The number of elements of a state.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

/// Increments a counter.
pub(super) fn count(counter: &Cell<usize>) {
    counter.set(counter.get() + 1);
}
