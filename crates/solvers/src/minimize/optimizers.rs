//! Optimisers for training loops: each step takes parameters and gradients, and changes the parameters.

use backends::{
    Backend, DTypeKind, Error, Float, Result, expr,
    grad::{ChangeArrays, MapArrays, Params},
};
use std::any::Any;

/// State of an optimiser between steps: one entry per array of the parameters, in the order of the arrays.
#[derive(Default)]
pub(super) struct Slots {
    kept: Vec<Box<dyn Any + Send + Sync>>,
    next: usize,
}

impl Slots {
    /// The state of the array at this place, if there is any yet.
    pub(super) fn get<S: 'static>(&self, place: usize) -> Option<&S> {
        self.kept.get(place).and_then(|kept| (&**kept as &dyn Any).downcast_ref())
    }

    /// Adds the state of the next array.
    pub(super) fn push<S: Send + Sync + 'static>(&mut self, state: S) {
        self.kept.push(Box::new(state));
    }

    /// Returns whether there is no state yet.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Starts a new step: `next` returns the state of the first array again.
    fn restart(&mut self) {
        self.next = 0;
    }

    /// Returns the state of the next array. In the first step, `make` creates this state.
    fn next<S: Send + Sync + 'static>(&mut self, op: &'static str, make: impl FnOnce() -> Result<S>) -> Result<&mut S> {
        let place = self.next;
        self.next += 1;
        if place == self.kept.len() {
            self.kept.push(Box::new(make()?));
        }
        let kept = self.kept.get_mut(place).and_then(|kept| kept.downcast_mut());
        kept.ok_or_else(|| {
            Error::argument(op, "this optimiser has stepped with parameters of other dtypes or another backend")
        })
    }
}

/// Returns an error if a gradient does not have the shape of its parameter.
fn checked(op: &'static str, x: &[usize], g: &[usize]) -> Result<()> {
    if x == g { Ok(()) } else { Err(Error::shapes(op, x, g)) }
}

/// Stochastic gradient descent, with momentum and weight decay as in `torch.optim.SGD`.
///
/// Let `g` be the gradient of a parameter `x`, plus `weight_decay * x`. The velocity is `v = momentum * v + (1 -
/// dampening) * g`, or `g` in the first step. The parameter changes by `x -= rate * v`, or with
/// [`nesterov`](Sgd::nesterov) by `x -= rate * (g + momentum * v)`. For complex parameters, the gradient is the one
/// that `backends::grad::grad` returns.
///
/// ```
/// use backends::{Error, grad::grad, prelude::*};
/// use backends_solvers::minimize::Sgd;
///
/// let b = Numpyish::new();
/// let mut x = b.asarray([4.0, -2.0])?;
/// let mut sgd = Sgd::new(0.1).momentum(0.5);
/// for _ in 0..100 {
///     let g = grad(&b, |d, x| d.sum(d.square(x)?, ..), &x)?;
///     sgd.step(&b, &mut x, &g)?;
/// }
/// assert!(b.to_vec(&x)?.iter().all(|x| x.abs() < 1e-6));
/// # Ok::<(), Error>(())
/// ```
pub struct Sgd {
    /// The learning rate, which a schedule may change between steps.
    pub rate: f64,
    momentum: f64,
    dampening: f64,
    weight_decay: f64,
    nesterov: bool,
    pub(super) started: bool,
    pub(super) slots: Slots,
}

impl Sgd {
    /// Creates gradient descent with this learning rate, without momentum and without weight decay.
    pub fn new(rate: f64) -> Sgd {
        Sgd {
            rate,
            momentum: 0.0,
            dampening: 0.0,
            weight_decay: 0.0,
            nesterov: false,
            started: false,
            slots: Slots::default(),
        }
    }

    /// Sets the fraction of the velocity that is kept from step to step; 0 by default.
    #[must_use]
    pub fn momentum(mut self, momentum: f64) -> Sgd {
        self.momentum = momentum;
        self
    }

    /// Sets the fraction by which the gradient's contribution to the velocity is reduced from the second step on; 0 by
    /// default.
    #[must_use]
    pub fn dampening(mut self, dampening: f64) -> Sgd {
        self.dampening = dampening;
        self
    }

    /// Sets the weight decay: this multiple of the parameter is added to the gradient; 0 by default.
    #[must_use]
    pub fn weight_decay(mut self, weight_decay: f64) -> Sgd {
        self.weight_decay = weight_decay;
        self
    }

    /// Sets whether the step looks ahead along the velocity (Nesterov's momentum); false by default.
    #[must_use]
    pub fn nesterov(mut self, nesterov: bool) -> Sgd {
        self.nesterov = nesterov;
        self
    }

    /// Changes the parameters by one step. Parameters are an array, a struct with `derive(Params)`, a vector or a
    /// tuple; gradients have the same structure.
    ///
    /// # Errors
    /// `Error::Shapes` if a gradient does not have the shape of its parameter; `Error::Argument` if earlier steps had
    /// parameters of other dtypes or another backend; the errors of the ops.
    pub fn step<B: Backend, N, K>(&mut self, b: &B, params: &mut N, grads: &N) -> Result<()>
    where
        for<'a> &'a N: Params<B, K, Grads = N>,
    {
        self.slots.restart();
        <&N as Params<B, K>>::change(params, grads, &mut SgdStep { b, sgd: self })?;
        self.started = true;
        Ok(())
    }
}

struct SgdStep<'s, B> {
    b: &'s B,
    sgd: &'s mut Sgd,
}

impl<B: Backend> ChangeArrays<B> for SgdStep<'_, B> {
    fn change<T: Float>(&mut self, x: &mut B::Array<T>, g: &B::Array<T>) -> Result<()> {
        let b = self.b;
        let &mut Sgd { rate, momentum, dampening, weight_decay, nesterov, started, .. } = self.sgd;
        checked("Sgd", b.shape(x), b.shape(g))?;
        if momentum == 0.0 {
            return if weight_decay == 0.0 {
                expr!(b, *x -= rate * g)
            } else {
                expr!(b, *x -= rate * (g + weight_decay * x))
            };
        }
        let decayed;
        let g = if weight_decay == 0.0 {
            g
        } else {
            decayed = expr!(b, g + weight_decay * x)?;
            &decayed
        };
        let velocity = self.sgd.slots.next::<B::Array<T>>("Sgd", || Ok(g.clone()))?;
        checked("Sgd", b.shape(velocity), b.shape(g))?;
        if started {
            let part = 1.0 - dampening;
            expr!(b, *velocity = momentum * velocity + part * g)?;
        }
        if nesterov { expr!(b, *x -= rate * (g + momentum * velocity)) } else { expr!(b, *x -= rate * velocity) }
    }
}

/// Adam (Kingma and Ba, "Adam: a method for stochastic optimization", 2015), with the defaults of `torch.optim.Adam`;
/// `decoupled` weight decay makes it AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019).
///
/// The optimiser keeps running means of the gradient and of its square, over about `1 / (1 - beta)` steps and with bias
/// correction. The step is `x -= rate * mean / (sqrt(mean of squares) + eps)`. The real and imaginary parts of complex
/// parameters are treated as separate parameters, as in PyTorch.
///
/// ```
/// use backends::{Error, grad::{Params, value_and_grad}, prelude::*};
/// use backends_solvers::minimize::Adam;
///
/// #[derive(Params)]
/// struct Line<B: Backend> {
///     slope: B::Array<f64>,
///     offset: B::Array<f64>,
/// }
///
/// let b = Numpyish::new();
/// let (x, y) = (b.asarray([0.0, 1.0, 2.0])?, b.asarray([1.0, 3.0, 5.0])?);
/// let mut line = Line::<Numpyish> { slope: b.asarray(0.0)?, offset: b.asarray(0.0)? };
/// let mut adam = Adam::new(0.1);
/// for _ in 0..500 {
///     let (_, g) = value_and_grad(&b, |d, Line { slope, offset }| {
///         let (x, y) = (d.constant(x.clone()), d.constant(y.clone()));
///         expr!(d, mean((slope * x + offset - y)**2, ..))
///     }, &line)?;
///     adam.step(&b, &mut line, &g)?;
/// }
/// assert!((b.item(&line.slope)? - 2.0).abs() < 1e-3);
/// # Ok::<(), Error>(())
/// ```
pub struct Adam {
    /// The learning rate, which a schedule may change between steps.
    pub rate: f64,
    betas: [f64; 2],
    eps: f64,
    weight_decay: f64,
    decoupled: bool,
    pub(super) steps: i32,
    pub(super) slots: Slots,
}

/// The running means of a parameter's gradient (`mean`) and of the gradient's square (`square`).
pub(super) struct Moments<A> {
    pub(super) mean: A,
    pub(super) square: A,
}

impl Adam {
    /// Creates Adam with this learning rate, `betas` 0.9 and 0.999, `eps` 1e-8 and no weight decay.
    pub fn new(rate: f64) -> Adam {
        let slots = Slots::default();
        Adam { rate, betas: [0.9, 0.999], eps: 1e-8, weight_decay: 0.0, decoupled: false, steps: 0, slots }
    }

    /// Sets the decay factors of the two running means: `mean` for the gradient, and `square` for its square.
    #[must_use]
    pub fn betas(mut self, mean: f64, square: f64) -> Adam {
        self.betas = [mean, square];
        self
    }

    /// Sets the term that is added to the root of the mean square, to avoid division by 0.
    #[must_use]
    pub fn eps(mut self, eps: f64) -> Adam {
        self.eps = eps;
        self
    }

    /// Sets the weight decay: this multiple of the parameter is added to the gradient. With
    /// [`decoupled`](Adam::decoupled), the parameter instead shrinks by `rate` times this multiple of itself.
    #[must_use]
    pub fn weight_decay(mut self, weight_decay: f64) -> Adam {
        self.weight_decay = weight_decay;
        self
    }

    /// Sets whether weight decay bypasses the running means and acts on the parameters directly: AdamW.
    #[must_use]
    pub fn decoupled(mut self, decoupled: bool) -> Adam {
        self.decoupled = decoupled;
        self
    }

    /// Changes the parameters by one step. Parameters are an array, a struct with `derive(Params)`, a vector or a
    /// tuple; gradients have the same structure.
    ///
    /// # Errors
    /// `Error::Shapes` if a gradient does not have the shape of its parameter; `Error::Argument` if earlier steps had
    /// parameters of other dtypes or another backend; the errors of the ops.
    pub fn step<B: Backend, N, K>(&mut self, b: &B, params: &mut N, grads: &N) -> Result<()>
    where
        for<'a> &'a N: Params<B, K, Grads = N>,
    {
        self.slots.restart();
        self.steps = self.steps.saturating_add(1);
        <&N as Params<B, K>>::change(params, grads, &mut AdamStep { b, adam: self })
    }

    /// Makes one step for parameters that consist of a single real array.
    pub(super) fn step_array<B: Backend, T: Float>(
        &mut self,
        b: &B,
        x: &mut B::Array<T>,
        g: &B::Array<T>,
    ) -> Result<()> {
        self.slots.restart();
        self.steps = self.steps.saturating_add(1);
        self.change::<B, T>(b, x, g)
    }

    /// Updates one real array of parameters, and the running means of its gradient `g`.
    fn change<B: Backend, T: Float>(&mut self, b: &B, x: &mut B::Array<T>, g: &B::Array<T>) -> Result<()> {
        let &mut Adam { rate, betas: [beta, gamma], eps, weight_decay, decoupled, steps, .. } = self;
        checked("Adam", b.shape(x), b.shape(g))?;
        let decayed;
        let g = if weight_decay == 0.0 || decoupled {
            g
        } else {
            decayed = expr!(b, g + weight_decay * x)?;
            &decayed
        };
        let zeros = || Ok(Moments { mean: b.zeros_like::<T>(g)?, square: b.zeros_like::<T>(g)? });
        let Moments { mean, square } = self.slots.next::<Moments<B::Array<T>>>("Adam", zeros)?;
        checked("Adam", b.shape(mean), b.shape(g))?;
        let (new, new_square) = (1.0 - beta, 1.0 - gamma);
        expr!(b, *mean += new * (g - mean))?;
        expr!(b, *square = gamma * square + new_square * (g * g))?;
        let step = rate / (1.0 - beta.powi(steps));
        let root = (1.0 - gamma.powi(steps)).sqrt();
        let keep = if decoupled { 1.0 - rate * weight_decay } else { 1.0 };
        expr!(b, *x = keep * x - step * mean / (sqrt(square) / root + eps))
    }
}

struct AdamStep<'s, B> {
    b: &'s B,
    adam: &'s mut Adam,
}

impl<B: Backend> ChangeArrays<B> for AdamStep<'_, B> {
    fn change<T: Float>(&mut self, x: &mut B::Array<T>, g: &B::Array<T>) -> Result<()> {
        let b = self.b;
        if T::DTYPE.kind() != DTypeKind::Complex {
            return self.adam.change::<B, T>(b, x, g);
        }
        let (mut re, mut im) = (b.real::<T>(&*x)?, b.imag::<T>(&*x)?);
        self.adam.change::<B, T::Real>(b, &mut re, &b.real::<T>(g)?)?;
        self.adam.change::<B, T::Real>(b, &mut im, &b.imag::<T>(g)?)?;
        *x = complex::<B, T>(b, &re, &im)?;
        Ok(())
    }
}

/// Combines a real and an imaginary part to a complex array. Returns an error if `T` is not complex.
pub(super) fn complex<B: Backend, T: Float>(
    b: &B,
    re: &B::Array<T::Real>,
    im: &B::Array<T::Real>,
) -> Result<B::Array<T>> {
    let z: Box<dyn Any> = Box::new(b.complex::<T::Real, _, _>(re, im)?);
    let z = z.downcast::<B::Array<T>>();
    z.map(|z| *z).map_err(|_| Error::argument("complex", format!("{} is not complex", T::DTYPE)))
}

/// Returns the Euclidean norm of all gradients together, as if they were one vector.
///
/// # Errors
/// The errors of the ops.
pub fn grad_norm<B: Backend, N, K>(b: &B, grads: &N) -> Result<f64>
where
    for<'a> &'a N: Params<B, K, Grads = N>,
{
    let mut squares = Squares { b, sum: 0.0 };
    grads.map(&mut squares)?;
    Ok(squares.sum.sqrt())
}

/// Scales the gradients down if their norm ([`grad_norm`]) exceeds `longest`, as `torch.nn.utils.clip_grad_norm_`
/// does.
///
/// # Errors
/// The errors of the ops.
pub fn clip_grad_norm<B: Backend, N, K>(b: &B, grads: &N, longest: f64) -> Result<N>
where
    for<'a> &'a N: Params<B, K, Grads = N>,
{
    let norm = grad_norm(b, grads)?;
    // adds 1e-6 to the norm, as PyTorch does, to avoid division by 0
    grads.map(&mut Scaled { b, factor: (longest / (norm + 1e-6)).min(1.0) })
}

struct Squares<'s, B> {
    b: &'s B,
    sum: f64,
}

impl<B: Backend> MapArrays<B> for Squares<'_, B> {
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let b = self.b;
        let length = b.abs::<T>(x)?;
        let square = expr!(b, sum(length * length, ..))?;
        self.sum += backends::Real::to_f64(b.item(&square)?);
        Ok(x.clone())
    }
}

struct Scaled<'s, B> {
    b: &'s B,
    factor: f64,
}

impl<B: Backend> MapArrays<B> for Scaled<'_, B> {
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let (b, factor) = (self.b, self.factor);
        expr!(b, factor * x)
    }
}
