//! The options of a linear solve, and the solve itself.

use super::{
    OP,
    direct::{self, SystemSolver},
    gradient::Adjoint,
    method::Method,
    monitor::{Callback, Monitor},
    operator::{IntoOperator, LinearOperator, Matrix, MatrixFree},
    passes::run,
    precondition::Preconditioner,
    scale::epsilon,
    solution::{Progress, Reason, Solution},
    system::{System, not_square, unknown_axes},
};
use backends::{ArrayAttributes, Axes, Backend, Error, Result, WideFloat, expr};
use std::{cell::RefCell, fmt, ops::ControlFlow, sync::Arc};

/// The options of a solve of `A x = y`, and the methods that run it.
///
/// The unknowns `x` and the right side `y` are arrays of any shape (grids); leading axes may be a batch of systems,
/// each with its own stopping rule. Iterative methods stop when `r.r <= max(rtol^2 y.y, atol^2)` for the residual `r =
/// y - A x`.
///
/// On a backend that records gradients, the solution has gradients with respect to the right side and to all arrays of
/// the operator: the backward pass solves the transposed system once, by the same method.
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::linear::{Method, Solve};
///
/// let b = Numpyish::new();
/// let y = b.asarray([1.0, 2.0, 3.0])?;
/// let matrix = b.asarray([[4.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 4.0]])?;
/// let x = Solve::new().solve(&b, &matrix, &y)?.into_x()?; // a matrix is factorized
///
/// // an operator without a matrix: four times the unknown, plus its neighbours
/// let solution = Solve::new().method(Method::Cg).rtol(1e-10).solve_matrix_free(&b, |b, x| {
///     let around = b.pad(x, 1)?;
///     let (left, right) = (b.get(&around, ix![..-2])?, b.get(&around, ix![2..])?);
///     expr!(b, 4.0 * x + left + right)
/// }, &y)?;
/// assert!(solution.iterations[0] <= 3 && b.allclose(solution.into_x()?, x)?);
/// # Ok::<(), Error>(())
/// ```
pub struct Solve<'a, B: Backend, T: WideFloat> {
    pub(super) method: Method,
    pub(super) rtol: f64,
    pub(super) atol: f64,
    pub(super) max_iter: usize,
    pub(super) restart: usize,
    batch_ndim: Option<usize>,
    x0: Option<B::Array<T>>,
    pub(super) preconditioner: Option<Arc<dyn Preconditioner<B, T>>>,
    history: bool,
    pub(super) mean_free: bool,
    hermitian: bool,
    callback: Option<RefCell<Box<Callback<'a, B, T>>>>,
    gradient_rtol: Option<f64>,
    gradient_max_iter: Option<usize>,
}

impl<B: Backend, T: WideFloat> Default for Solve<'_, B, T> {
    fn default() -> Self {
        Solve::new()
    }
}

impl<B: Backend, T: WideFloat> fmt::Debug for Solve<'_, B, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solve")
            .field("method", &self.method)
            .field("rtol", &self.rtol)
            .field("atol", &self.atol)
            .field("max_iter", &self.max_iter)
            .finish_non_exhaustive()
    }
}

impl<'a, B: Backend, T: WideFloat> Solve<'a, B, T> {
    /// A solve with `rtol` 1e-5, `atol` 0, 1000 iterations, and the method [`Auto`](Method::Auto).
    pub fn new() -> Self {
        Solve {
            method: Method::Auto,
            rtol: 1e-5,
            atol: 0.0,
            max_iter: 1000,
            restart: 30,
            batch_ndim: None,
            x0: None,
            preconditioner: None,
            history: false,
            mean_free: false,
            hermitian: false,
            callback: None,
            gradient_rtol: None,
            gradient_max_iter: None,
        }
    }

    /// Sets the method.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets the tolerance for the length of the residual, relative to the length of the right side.
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.rtol = rtol;
        self
    }

    /// Sets the absolute tolerance for the length of the residual; the larger of the two tolerances counts.
    pub fn atol(mut self, atol: f64) -> Self {
        self.atol = atol;
        self
    }

    /// Sets the maximum number of iterations.
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// Sets the number of iterations after which GMRES restarts, 30 by default. GMRES stores one array more than this
    /// number.
    pub fn restart(mut self, restart: usize) -> Self {
        self.restart = restart;
        self
    }

    /// Sets the number of leading axes of the right side that form a batch of systems. By default, if the operator
    /// knows the number of axes of its unknowns (one, for matrices), all axes before the unknowns form the batch;
    /// otherwise there is no batch.
    pub fn batch_ndim(mut self, batch_ndim: usize) -> Self {
        self.batch_ndim = Some(batch_ndim);
        self
    }

    /// Sets the initial unknowns, with the shape of the solution; zeros by default. Direct methods ignore the initial
    /// unknowns. No gradients pass through the initial unknowns.
    pub fn x0(mut self, x0: &B::Array<T>) -> Self {
        self.x0 = Some(x0.clone());
        self
    }

    /// Sets the preconditioner, which solves the system approximately in each iteration: see [`Preconditioner`]. Direct
    /// methods and least squares do not use it.
    pub fn preconditioner(mut self, preconditioner: impl Preconditioner<B, T> + 'static) -> Self {
        self.preconditioner = Some(Arc::new(preconditioner));
        self
    }

    /// Sets whether the solve stores the residuals of all iterations, in `Solution::history`.
    pub fn history(mut self, history: bool) -> Self {
        self.history = history;
        self
    }

    /// Sets whether means are removed, for operators whose null space is the constants, such as a Laplacian with
    /// periodic boundaries. The solve then subtracts the mean of the right side, because this mean is outside of the
    /// operator's range. The result is the solution of mean 0, with the gradients of this solution.
    pub fn mean_free(mut self, mean_free: bool) -> Self {
        self.mean_free = mean_free;
        self
    }

    /// Declares that the operator is its own conjugate transpose (for reals: symmetric), if the operator does not
    /// declare it itself.
    pub fn hermitian(mut self, hermitian: bool) -> Self {
        self.hermitian = hermitian;
        self
    }

    /// Sets a function to be called after each iteration; returning `ControlFlow::Break` ends the solve.
    pub fn callback(mut self, callback: impl FnMut(&Progress<'_, B, T>) -> ControlFlow<()> + 'a) -> Self {
        self.callback = Some(RefCell::new(Box::new(callback)));
        self
    }

    /// Sets the relative tolerance of the solve in the backward pass, whose absolute tolerance is 0. By default it is
    /// `rtol` of the forward solve, or 1e-5 if `rtol` is 0.
    pub fn gradient_rtol(mut self, rtol: f64) -> Self {
        self.gradient_rtol = Some(rtol);
        self
    }

    /// Sets the maximum number of iterations of the solve in the backward pass; exceeding it is an error. By default it
    /// is the maximum of the forward solve.
    pub fn gradient_max_iter(mut self, max_iter: usize) -> Self {
        self.gradient_max_iter = Some(max_iter);
        self
    }

    /// Solves `A x = y`. The operator is `&matrix`, `&operator`, or a function `|b: &B, x: &B::Array<T>| ..`.
    ///
    /// # Errors
    /// `Error::Argument` if an option is invalid, if the operator is not square, if the operator does not provide the
    /// matrix or the adjoint that the method needs, or if the matrix is singular in a direct method; `Error::Shapes` if
    /// shapes do not fit; the errors of the operator. A method that does not converge is not an error: see
    /// [`Solution`].
    pub fn solve<'o, K>(&self, b: &B, a: impl IntoOperator<'o, B, T, K>, y: &B::Array<T>) -> Result<Solution<B, T>> {
        self.solve_operator(b, &*a.into_operator(), y)
    }

    /// Like [`solve`](Solve::solve), for a function as the operator. The function's arguments need no type annotations
    /// here.
    ///
    /// # Errors
    /// The errors of [`solve`](Solve::solve).
    pub fn solve_matrix_free(
        &self,
        b: &B,
        a: impl Fn(&B, &B::Array<T>) -> Result<B::Array<T>>,
        y: &B::Array<T>,
    ) -> Result<Solution<B, T>> {
        self.solve_operator(b, &MatrixFree::new(a), y)
    }

    /// Like [`solve`](Solve::solve), for an operator whose type is only known at run time.
    ///
    /// # Errors
    /// The errors of [`solve`](Solve::solve).
    pub fn solve_operator(&self, b: &B, a: &dyn LinearOperator<B, T>, y: &B::Array<T>) -> Result<Solution<B, T>> {
        self.check()?;
        let batch = self.batch(a, y)?;
        let method = self.resolve(a);
        if let (Some([m, n]), Some(_)) = (a.shape(), a.unknown_ndim()) {
            let rows: usize = y.shape()[batch..].iter().product();
            if rows != m {
                return Err(Error::shapes(OP, &[m, n], y.shape()));
            }
            if m != n && method != Method::LeastSquares {
                return Err(not_square(&[n], &[m]));
            }
        }
        match method {
            Method::LeastSquares => {
                let matrix = if a.is_dense() { a.matrix(b)? } else { None };
                match matrix {
                    Some(Matrix::Dense(matrix)) => self.dense_least_squares(b, a, &matrix, y, batch),
                    _ => self.least_squares(b, a, y, batch),
                }
            }
            _ => self.square(b, a, y, batch, method),
        }
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: &str| Err(Error::argument(OP, what));
        for (name, tolerance) in
            [("rtol", self.rtol), ("atol", self.atol), ("gradient_rtol", self.gradient_rtol.unwrap_or(0.0))]
        {
            if tolerance.is_nan() || tolerance < 0.0 {
                return wrong(&format!("`{name}` is {tolerance}, but must be 0 or more"));
            }
        }
        match self.method {
            Method::BiCgStab(0) => {
                wrong("biCG-stab(l) needs an `l` of 1 or more; `BiCg` is the method without a minimisation")
            }
            Method::Gmres if self.restart == 0 => wrong("GMRES needs a `restart` of 1 or more"),
            _ => Ok(()),
        }
    }

    fn batch(&self, a: &dyn LinearOperator<B, T>, y: &B::Array<T>) -> Result<usize> {
        let most = y.ndim();
        match (self.batch_ndim, a.unknown_ndim()) {
            (Some(n), _) if n <= most => Ok(n),
            (Some(n), _) => Err(Error::shape(OP, y.shape(), format!("has no {n} leading axes of a batch"))),
            (None, Some(unknowns)) if unknowns <= most => Ok(most - unknowns),
            (None, Some(unknowns)) => Err(Error::shape(OP, y.shape(), format!("the unknowns have {unknowns} axes"))),
            (None, None) => Ok(0),
        }
    }

    fn resolve(&self, a: &dyn LinearOperator<B, T>) -> Method {
        if self.method != Method::Auto {
            return self.method;
        }
        match a.shape() {
            Some([m, n]) if m != n => Method::LeastSquares,
            _ if self.preconditioner.is_none() && !self.mean_free && a.is_dense() => Method::Direct,
            _ if self.hermitian || a.is_hermitian() => Method::Cg,
            _ => Method::BiCgStab(2),
        }
    }

    fn named(&self, method: Method) -> String {
        let name = match method {
            Method::BiCgStab(l) => format!("biCG-stab({l})"),
            Method::Gmres => format!("GMRES({})", self.restart),
            Method::Cg => "CG".into(),
            Method::CgAdaptive => "CG-adaptive".into(),
            Method::BiCg => "biCG".into(),
            Method::Minres => "MINRES".into(),
            Method::Direct => "direct".into(),
            Method::LeastSquares => "least squares".into(),
            Method::Auto => "auto".into(),
        };
        match &self.preconditioner {
            Some(p) if method != Method::Direct && method != Method::LeastSquares => {
                format!("{name} with {}", p.name())
            }
            _ => name,
        }
    }

    /// `y` minus its mean, if `mean_free` is set.
    fn projected(&self, b: &B, y: &B::Array<T>, axes: Axes) -> Result<B::Array<T>> {
        if self.mean_free { expr!(b, y - mean(y, axes, keepdims = true)) } else { Ok(y.clone()) }
    }

    fn square(
        &self,
        b: &B,
        a: &dyn LinearOperator<B, T>,
        y: &B::Array<T>,
        batch: usize,
        method: Method,
    ) -> Result<Solution<B, T>> {
        if let Some(x0) = &self.x0
            && x0.shape() != y.shape()
        {
            return Err(Error::shapes(OP, x0.shape(), y.shape()));
        }
        let axes = unknown_axes(batch..y.ndim());
        let solver = match method {
            Method::Direct => direct::solver(b, a, self.hermitian || a.is_hermitian())?,
            _ => SystemSolver::Iterative,
        };
        let adjoint = self.adjoint(method, solver.clone(), batch);
        let found = RefCell::new(None);
        let x = b.implicit::<T>(
            OP,
            |b| {
                let y = self.projected(b, y, axes)?;
                let solution = match &solver {
                    SystemSolver::Iterative => self.iterate(b, a, &y, batch, method)?,
                    solver => self.factored(b, a, &y, (batch, axes), solver)?,
                };
                let x = solution.x.clone();
                *found.borrow_mut() = Some(solution);
                Ok(x)
            },
            |b, x| {
                let (y, ax) = (self.projected(b, y, axes)?, a.apply(b, x)?);
                expr!(b, ax - y)
            },
            move |b, product, g| adjoint.solve(b, product, g),
        )?;
        self.finished(x, found)
    }

    /// Returns the report of the solve with its solution replaced by `x`, which has gradients.
    fn finished(&self, x: B::Array<T>, found: RefCell<Option<Solution<B, T>>>) -> Result<Solution<B, T>> {
        match found.into_inner() {
            Some(solution) => Ok(Solution { x, ..solution }),
            None => Err(Error::argument(OP, "the backend has not run the solve")),
        }
    }

    fn adjoint(&self, method: Method, solver: SystemSolver<B, T>, batch: usize) -> Adjoint<B, T> {
        let rtol = self.gradient_rtol.unwrap_or(if self.rtol > 0.0 { self.rtol } else { 1e-5 });
        Adjoint {
            method,
            solver,
            rtol,
            max_iter: self.gradient_max_iter.unwrap_or(self.max_iter),
            restart: self.restart,
            batch,
            mean_free: self.mean_free,
            preconditioner: self.preconditioner.clone(),
            is_transposed: true,
        }
    }

    fn iterate(
        &self,
        b: &B,
        a: &dyn LinearOperator<B, T>,
        y: &B::Array<T>,
        batch: usize,
        method: Method,
    ) -> Result<Solution<B, T>> {
        let apply = |b: &B, x: &B::Array<T>| a.apply(b, x);
        let adjoint = |b: &B, y: &B::Array<T>| adjoint_product(a, b, y);
        let x0 = match &self.x0 {
            Some(x0) if method == Method::LeastSquares => Some(x0.clone()),
            Some(x0) => Some(self.projected(b, x0, unknown_axes(batch..y.ndim()))?),
            None => None,
        };
        let preconditioner = self.preconditioner.as_deref().filter(|_| method != Method::LeastSquares);
        let mut system = System::new(b, &apply, Some(&adjoint), preconditioner, (y, x0.as_ref()), batch);
        let mut callback = self.callback.as_ref().map(RefCell::borrow_mut);
        let mut monitor = Monitor::new(
            (self.rtol, self.atol),
            self.max_iter,
            self.history,
            callback.as_deref_mut().map(|c| &mut **c),
        );
        let x = run(&mut system, method, self.restart, &mut monitor)?;
        let lengths = (monitor.residual(), monitor.tolerance());
        let ended = self.ended(x, system.evaluations.get(), method, monitor.reasons(), lengths);
        Ok(Solution { iterations: monitor.iterations, history: monitor.history, ..ended })
    }

    /// Creates the report of a solve without iterations.
    fn ended(
        &self,
        x: B::Array<T>,
        evaluations: usize,
        method: Method,
        reason: Vec<Reason>,
        (residual, tolerance): (Vec<f64>, Vec<f64>),
    ) -> Solution<B, T> {
        Solution {
            x,
            iterations: vec![0; residual.len()],
            residual,
            tolerance,
            evaluations,
            converged: reason.iter().map(|reason| *reason == Reason::Converged).collect(),
            diverged: reason.iter().map(|reason| reason.is_divergence()).collect(),
            reason,
            history: vec![],
            method: self.named(method),
        }
    }

    /// Solves by a factorization, with one step of iterative refinement if the residual is too large.
    fn factored(
        &self,
        b: &B,
        a: &dyn LinearOperator<B, T>,
        y: &B::Array<T>,
        (batch, axes): (usize, Axes),
        solver: &SystemSolver<B, T>,
    ) -> Result<Solution<B, T>> {
        let apply = |b: &B, x: &B::Array<T>| a.apply(b, x);
        let system = System::new(b, &apply, None, None, (y, None), batch);
        let solved = |y: &B::Array<T>| self.projected(b, &solver.solve(b, y, false, batch)?, axes);
        let residual = |x: &B::Array<T>| -> Result<(B::Array<T>, Vec<f64>)> {
            let ax = system.apply(x)?;
            let r = expr!(b, y - ax)?;
            let lengths = system.lengths(&r)?;
            Ok((r, lengths))
        };
        let part = self.rtol.max(epsilon::<T>().sqrt());
        let tolerance: Vec<f64> = system.lengths(y)?.into_iter().map(|y| (part * y).max(self.atol)).collect();
        let mut x = solved(y)?;
        let (r, mut lengths) = residual(&x)?;
        let is_solved = |(length, tolerance): (&f64, &f64)| length.is_finite() && length <= tolerance;
        if !lengths.iter().zip(&tolerance).all(is_solved) && lengths.iter().any(|length| length.is_finite()) {
            let step = solved(&r)?;
            let better = expr!(b, x + step)?;
            let (_, after) = residual(&better)?;
            let takes: Vec<bool> = after.iter().zip(&lengths).map(|(after, before)| after < before).collect();
            x = system.select(&takes, &better, &x)?;
            lengths.iter_mut().zip(after).for_each(|(before, after)| *before = before.min(after));
        }
        let reason = lengths.iter().zip(&tolerance).map(|(length, tolerance)| match length {
            _ if is_solved((length, tolerance)) => Reason::Converged,
            length if length.is_finite() => Reason::Singular,
            _ => Reason::NotFinite,
        });
        let reason = reason.collect();
        Ok(self.ended(x, system.evaluations.get(), Method::Direct, reason, (lengths, tolerance)))
    }

    /// Solves by the op `lstsq`, which has gradients. The solve has converged if `A^H r` is nearly 0 for the residual
    /// `r` computed from `x`.
    fn dense_least_squares(
        &self,
        b: &B,
        a: &dyn LinearOperator<B, T>,
        matrix: &B::Array<T>,
        y: &B::Array<T>,
        batch: usize,
    ) -> Result<Solution<B, T>> {
        let x = direct::least_squares(b, matrix, y)?;
        let (residual, reason, tolerance) = direct::judged(b, a, matrix, (&x, y), batch)?;
        Ok(self.ended(x, 2, Method::LeastSquares, reason, (residual, tolerance)))
    }

    fn least_squares(
        &self,
        b: &B,
        a: &dyn LinearOperator<B, T>,
        y: &B::Array<T>,
        batch: usize,
    ) -> Result<Solution<B, T>> {
        // the derivative of the residual function `A^H (A x - y)` is `A^H A`, for which conjugate gradients suffice
        let of_a = self.adjoint(Method::Cg, SystemSolver::Iterative, batch);
        let adjoint = Adjoint { preconditioner: None, mean_free: false, ..of_a };
        let found = RefCell::new(None);
        let x = b.implicit::<T>(
            OP,
            |b| {
                let solution = self.iterate(b, a, y, batch, Method::LeastSquares)?;
                let residual = distances(b, a, &solution.x, y, batch)?;
                let solution = Solution { residual, evaluations: solution.evaluations + 1, ..solution };
                let x = solution.x.clone();
                *found.borrow_mut() = Some(solution);
                Ok(x)
            },
            |b, x| {
                let ax = a.apply(b, x)?;
                adjoint_product(a, b, &expr!(b, ax - y)?)
            },
            move |b, product, g| adjoint.solve(b, product, g),
        )?;
        self.finished(x, found)
    }
}

/// The lengths of the residuals `y - A x`.
fn distances<B: Backend, T: WideFloat>(
    b: &B,
    a: &dyn LinearOperator<B, T>,
    x: &B::Array<T>,
    y: &B::Array<T>,
    batch: usize,
) -> Result<Vec<f64>> {
    let apply = |b: &B, x: &B::Array<T>| a.apply(b, x);
    let system = System::new(b, &apply, None, None, (y, None), batch);
    let ax = system.forward(x)?;
    system.lengths(&expr!(b, y - ax)?)
}

fn adjoint_product<B: Backend, T: WideFloat>(
    a: &dyn LinearOperator<B, T>,
    b: &B,
    y: &B::Array<T>,
) -> Result<B::Array<T>> {
    let why = "this method needs products with the conjugate transpose of the operator: give them by `MatrixFree::adjoint`, or choose another method";
    a.apply_adjoint(b, y)?.ok_or_else(|| Error::argument(OP, why))
}
