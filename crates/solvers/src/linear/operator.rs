//! Operators of linear systems: matrices, or functions that compute products with a matrix.

use super::csr::HostCsr;
use backends::{ArrayAttributes, Arrays, Backend, Error, Result, WideFloat};

/// A linear map between arrays of any shape: the `A` of `A x = y`.
///
/// Only [`apply`](LinearOperator::apply) is required. The other methods let more solvers run: direct methods and some
/// preconditioners need the matrix itself; biCG and least squares need products with the adjoint.
///
/// Operators must compute with the backend passed as `b`, which may or may not record operations for gradients.
pub trait LinearOperator<B: Backend, T: WideFloat> {
    /// Returns `A x`. The result has the same leading batch axes as `x`.
    ///
    /// # Errors
    /// The errors of the ops; `Error::Shapes` if `x` does not fit.
    fn apply(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>>;

    /// `A^H y`, the product with the conjugate transpose; `None` if it is not available.
    ///
    /// # Errors
    /// The errors of [`apply`](LinearOperator::apply).
    fn apply_adjoint(&self, b: &B, y: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        let _ = (b, y);
        Ok(None)
    }

    /// The numbers of rows and columns of the matrix, if known.
    fn shape(&self) -> Option<[usize; 2]> {
        None
    }

    /// Number of axes of one system's unknowns, if known. Any axes before these axes are a batch of systems.
    fn unknown_ndim(&self) -> Option<usize> {
        None
    }

    /// Returns whether the matrix is known to be its own conjugate transpose (for reals: symmetric).
    fn is_hermitian(&self) -> bool {
        false
    }

    /// Returns whether the operator stores a dense matrix, which [`matrix`](LinearOperator::matrix) returns without a
    /// copy.
    fn is_dense(&self) -> bool {
        false
    }

    /// The matrix itself, if available.
    ///
    /// # Errors
    /// The errors of the ops.
    fn matrix(&self, b: &B) -> Result<Option<Matrix<B, T>>> {
        let _ = b;
        Ok(None)
    }
}

/// The matrix of a [`LinearOperator`], dense or sparse.
pub enum Matrix<B: Backend, T: WideFloat> {
    /// An array of the backend, whose last two axes are the matrix.
    Dense(B::Array<T>),
    /// A sparse matrix in host memory.
    Sparse(HostCsr<T>),
}

/// A function as an operator: `A` is not stored ("matrix-free").
///
/// ```
/// use backends::{Error, prelude::*};
/// use backends_solvers::linear::{LinearOperator, MatrixFree};
///
/// let b = Numpyish::new();
/// let diagonal = b.asarray([1.0, 2.0])?;
/// let a = MatrixFree::new(|b: &Numpyish, x| b.multiply(x, &diagonal)).hermitian();
/// assert_eq!(a.apply(&b, &b.asarray([1.0, 1.0])?)?, diagonal);
/// # Ok::<(), Error>(())
/// ```
pub struct MatrixFree<'a, B: Backend, T: WideFloat> {
    apply: Product<'a, B, T>,
    adjoint: Option<Product<'a, B, T>>,
    hermitian: bool,
}

type Product<'a, B, T> = Box<dyn Fn(&B, &<B as Arrays>::Array<T>) -> Result<<B as Arrays>::Array<T>> + 'a>;

impl<'a, B: Backend, T: WideFloat> MatrixFree<'a, B, T> {
    /// Creates an operator from a function that computes `A x`.
    pub fn new(apply: impl Fn(&B, &B::Array<T>) -> Result<B::Array<T>> + 'a) -> Self {
        MatrixFree { apply: Box::new(apply), adjoint: None, hermitian: false }
    }

    /// Adds the function that multiplies by the conjugate transpose `A^H`.
    pub fn adjoint(mut self, adjoint: impl Fn(&B, &B::Array<T>) -> Result<B::Array<T>> + 'a) -> Self {
        self.adjoint = Some(Box::new(adjoint));
        self
    }

    /// Declares that `A` is its own conjugate transpose (for reals: symmetric).
    pub fn hermitian(mut self) -> Self {
        self.hermitian = true;
        self
    }
}

impl<B: Backend, T: WideFloat> LinearOperator<B, T> for MatrixFree<'_, B, T> {
    fn apply(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        (self.apply)(b, x)
    }

    fn apply_adjoint(&self, b: &B, y: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        match &self.adjoint {
            Some(adjoint) => adjoint(b, y).map(Some),
            None if self.hermitian => (self.apply)(b, y).map(Some),
            None => Ok(None),
        }
    }

    fn is_hermitian(&self) -> bool {
        self.hermitian
    }
}

/// An array as an operator. The last two axes of the array are the matrix, and the last axis of `x` contains the
/// unknowns. The other axes of both arrays are batches, and broadcast.
pub struct Dense<'a, B: Backend, T: WideFloat>(&'a B::Array<T>);

impl<'a, B: Backend, T: WideFloat> Dense<'a, B, T> {
    /// Creates an operator from a matrix, or from a stack of matrices.
    pub fn new(matrix: &'a B::Array<T>) -> Self {
        Dense(matrix)
    }
}

/// The products of matrices with the vectors along the last axis of `x`.
fn product<B: Backend, T: WideFloat>(b: &B, a: &B::Array<T>, x: &B::Array<T>) -> Result<B::Array<T>> {
    match (a.ndim(), x.ndim()) {
        (0 | 1, _) | (_, 0) => Err(Error::shapes(super::OP, a.shape(), x.shape())),
        (_, 1) => b.matmul(a, x),
        // multiplies the vectors, as rows of one matrix, by the transposed matrix
        (2, _) => b.matmul(x, b.matrix_transpose(a)?),
        _ => b.squeeze(b.matmul(a, b.expand_dims(x, -1)?)?, -1),
    }
}

impl<B: Backend, T: WideFloat> LinearOperator<B, T> for Dense<'_, B, T> {
    fn apply(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        product(b, self.0, x).map_err(|why| why.within(super::OP))
    }

    fn apply_adjoint(&self, b: &B, y: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        if self.0.ndim() < 2 {
            return Err(Error::shapes(super::OP, self.0.shape(), y.shape()));
        }
        let adjoint = b.matrix_transpose(b.conj(self.0)?)?;
        product(b, &adjoint, y).map(Some).map_err(|why| why.within(super::OP))
    }

    fn shape(&self) -> Option<[usize; 2]> {
        match self.0.shape() {
            [.., m, n] => Some([*m, *n]),
            _ => None,
        }
    }

    fn unknown_ndim(&self) -> Option<usize> {
        Some(1)
    }

    fn is_dense(&self) -> bool {
        true
    }

    fn matrix(&self, _b: &B) -> Result<Option<Matrix<B, T>>> {
        Ok(Some(Matrix::Dense(self.0.clone())))
    }
}

/// Arguments that can be passed as an operator: `&matrix`, `&operator`, or a function of the backend and the unknowns.
///
/// `K` is a marker type, which separates the implementations for operators, arrays and functions. It is always
/// inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a linear operator over arrays of `{B}`: give `&matrix`, `&operator` or a function `|b: &{B}, x: &_| ..`"
)]
pub trait IntoOperator<'a, B: Backend, T: WideFloat, K> {
    /// Converts the argument to an operator.
    fn into_operator(self) -> Box<dyn LinearOperator<B, T> + 'a>;
}

/// Marker of [`IntoOperator`] for an argument that is an operator.
pub struct AnOperator;
/// Marker of [`IntoOperator`] for an argument that is an array.
pub struct AnArray;
/// Marker of [`IntoOperator`] for an argument that is a function.
pub struct AFunction;

struct Borrowed<'a, O>(&'a O);

impl<B: Backend, T: WideFloat, O: LinearOperator<B, T>> LinearOperator<B, T> for Borrowed<'_, O> {
    fn apply(&self, b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        self.0.apply(b, x)
    }

    fn apply_adjoint(&self, b: &B, y: &B::Array<T>) -> Result<Option<B::Array<T>>> {
        self.0.apply_adjoint(b, y)
    }

    fn shape(&self) -> Option<[usize; 2]> {
        self.0.shape()
    }

    fn unknown_ndim(&self) -> Option<usize> {
        self.0.unknown_ndim()
    }

    fn is_hermitian(&self) -> bool {
        self.0.is_hermitian()
    }

    fn is_dense(&self) -> bool {
        self.0.is_dense()
    }

    fn matrix(&self, b: &B) -> Result<Option<Matrix<B, T>>> {
        self.0.matrix(b)
    }
}

impl<'a, B: Backend, T: WideFloat, O: LinearOperator<B, T>> IntoOperator<'a, B, T, AnOperator> for &'a O {
    fn into_operator(self) -> Box<dyn LinearOperator<B, T> + 'a> {
        Box::new(Borrowed(self))
    }
}

impl<'a, B, T, A> IntoOperator<'a, B, T, AnArray> for &'a A
where
    T: WideFloat,
    A: ArrayAttributes<DType = T>,
    B: Backend + Arrays<Array<T> = A>,
{
    fn into_operator(self) -> Box<dyn LinearOperator<B, T> + 'a> {
        Box::new(Dense::<B, T>(self))
    }
}

impl<'a, B: Backend, T: WideFloat, F> IntoOperator<'a, B, T, AFunction> for F
where
    F: Fn(&B, &B::Array<T>) -> Result<B::Array<T>> + 'a,
{
    fn into_operator(self) -> Box<dyn LinearOperator<B, T> + 'a> {
        Box::new(MatrixFree::new(self))
    }
}
