//! The backward pass through a solve, by a solve of the transposed system.

use super::{
    OP,
    direct::SystemSolver,
    method::Method,
    monitor::Monitor,
    passes::run,
    precondition::Preconditioner,
    solution::Reason,
    system::{System, unknown_axes},
};
use backends::{ArrayAttributes, Backend, Error, LinearMap, Result, WideFloat, expr};
use std::sync::Arc;

/// Solver of the transposed system, for the gradients of the solution. For second-order gradients, it solves the
/// original system again.
#[derive(Clone)]
pub(super) struct Adjoint<B: Backend, T: WideFloat> {
    pub method: Method,
    pub solver: SystemSolver<B, T>,
    pub rtol: f64,
    pub max_iter: usize,
    pub restart: usize,
    pub batch: usize,
    pub mean_free: bool,
    pub preconditioner: Option<Arc<dyn Preconditioner<B, T>>>,
    /// True for the solver of the transposed system, false for the solver of the original system.
    pub is_transposed: bool,
}

impl<B: Backend, T: WideFloat> Adjoint<B, T> {
    pub fn solve(&self, b: &B, product: &LinearMap<'_, B, T>, g: &B::Array<T>) -> Result<B::Array<T>> {
        let axes = unknown_axes(self.batch..g.ndim());
        let projected =
            |b: &B| if self.mean_free { expr!(b, g - mean(g, axes, keepdims = true)) } else { Ok(g.clone()) };
        if let SystemSolver::Dense(_) = self.solver {
            // `SystemSolver::solve` calls the op `solve`, which has second-order gradients itself
            let z = self.solver.solve(b, &projected(b)?, self.is_transposed, self.batch)?;
            return if self.mean_free { expr!(b, z - mean(z, axes, keepdims = true)) } else { Ok(z) };
        }
        let again = Adjoint { is_transposed: !self.is_transposed, ..self.clone() };
        b.implicit::<T>(
            OP,
            |b| self.find(b, product, &projected(b)?),
            |b, z| {
                let (g, az) = (projected(b)?, product(b, z)?);
                expr!(b, az - g)
            },
            move |b, product, g| again.solve(b, product, g),
        )
    }

    fn find(&self, b: &B, product: &LinearMap<'_, B, T>, g: &B::Array<T>) -> Result<B::Array<T>> {
        if let SystemSolver::Sparse(_) = self.solver {
            return self.solver.solve(b, g, self.is_transposed, self.batch);
        }
        let method = match self.method {
            // `product` computes no products with the conjugate transpose, which biCG needs
            Method::BiCg => Method::BiCgStab(2),
            method => method,
        };
        let apply = |b: &B, z: &B::Array<T>| product(b, z);
        let preconditioner =
            self.preconditioner.as_deref().map(|of| OnTheWayBack { of, method, is_transposed: self.is_transposed });
        // applies the preconditioner once, to test if it has a transpose
        let preconditioner = match preconditioner {
            Some(p) if p.of_this(b, g)?.is_some() => Some(p),
            _ => None,
        };
        let preconditioner = preconditioner.as_ref().map(|p| p as &dyn Preconditioner<B, T>);
        let mut system = System::new(b, &apply, None, preconditioner, (g, None), self.batch);
        let mut monitor = Monitor::new((self.rtol, 0.0), self.max_iter, false, None);
        let z = run(&mut system, method, self.restart, &mut monitor)?;
        let reasons = monitor.reasons();
        match reasons.iter().position(|reason| *reason != Reason::Converged) {
            None => Ok(z),
            Some(i) => Err(Error::argument(
                OP,
                format!(
                    "the solve of the transposed system, for the gradients, did not converge ({}): the residual is {:.3e} after {} iterations, the tolerance {:.3e} (`gradient_rtol`, `gradient_max_iter`)",
                    reasons[i],
                    monitor.residual()[i],
                    monitor.iterations[i],
                    monitor.tolerance()[i]
                ),
            )),
        }
    }
}

/// Preconditioner of the backward pass: the transpose of the original system's preconditioner if `is_transposed`, else
/// that preconditioner itself.
struct OnTheWayBack<'p, B: Backend, T: WideFloat> {
    of: &'p dyn Preconditioner<B, T>,
    method: Method,
    is_transposed: bool,
}

impl<B: Backend, T: WideFloat> OnTheWayBack<'_, B, T> {
    fn of_this(&self, b: &B, r: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        if !self.is_transposed {
            return self.of.apply(b, r).map(Some);
        }
        match self.of.apply_transposed(b, r)? {
            Some(z) => Ok(Some(z)),
            // CG and MINRES take Hermitian preconditioners; the transpose of a Hermitian matrix is its conjugate
            None if matches!(self.method, Method::Cg | Method::CgAdaptive | Method::Minres) => {
                b.conj(self.of.apply(b, &b.conj(r)?)?).map(Some)
            }
            None => Ok(None),
        }
    }
}

impl<B: Backend, T: WideFloat> Preconditioner<B, T> for OnTheWayBack<'_, B, T> {
    fn apply(&self, b: &B, r: &B::Array<T>) -> Result<B::Array<T>> {
        match self.of_this(b, r)? {
            Some(z) => Ok(z),
            None => Ok(r.clone()),
        }
    }
}
