//! The methods that solve systems of linear equations.

/// Method for a system of linear equations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// [`Direct`](Method::Direct) for a dense square matrix, [`LeastSquares`](Method::LeastSquares) for an operator
    /// known not to be square, [`Cg`](Method::Cg) for an operator declared Hermitian, else
    /// [`BiCgStab`](Method::BiCgStab)`(2)`.
    #[default]
    Auto,
    /// Conjugate gradients, for Hermitian operators that are positive or negative definite. It also runs on other
    /// operators, but may then diverge.
    Cg,
    /// Conjugate gradients whose step lengths are computed from products with the operator. It tolerates operators that
    /// are not quite linear or symmetric.
    CgAdaptive,
    /// Biconjugate gradients, for operators with a known adjoint.
    BiCg,
    /// biCG-stab(l), for any square operator, with `l` of 1 or more; each iteration applies the operator `2 l` times.
    /// `l` is limited to the number of unknowns.
    BiCgStab(usize),
    /// The generalized minimal residual method, for any square operator; see [`restart`](super::Solve::restart).
    Gmres,
    /// The minimal residual method, for Hermitian operators, which may be indefinite or singular. If the right side has
    /// no solution, it finds a least-squares solution, and reports
    /// [`Reason::Inconsistent`](super::Reason::Inconsistent). A preconditioner must be positive definite.
    Minres,
    /// Factorizes the matrix: a dense matrix on the device of its arrays, a sparse matrix on the host, which needs the
    /// feature `faer`.
    Direct,
    /// Minimises `|y - A x|`: by the op `lstsq` for a dense matrix, else by conjugate gradients on the normal
    /// equations, which need the adjoint.
    LeastSquares,
}
