//! Ranks, pseudo-inverses and least squares, computed from singular values.

use crate::{
    Axes, Backend, DType, Error, Float, MaxOptions, Numeric, QrResult, Real, Result, SolveTriangularOptions,
    SvdOptions, SvdResult, WideFloat,
    runtime::rules::{self, System},
};

/// The threshold below which singular values count as 0, relative to the largest singular value of their matrix. It is
/// one number for all matrices, or an array with one number for each matrix.
pub(crate) struct Relative<'a, B: Backend, T: WideFloat> {
    number: Option<f64>,
    numbers: Option<&'a B::Array<T::Real>>,
}

impl<'a, B: Backend, T: WideFloat> Relative<'a, B, T> {
    /// The same number for all matrices; `None` for the default.
    pub(crate) fn number(number: Option<f64>) -> Self {
        Relative { number, numbers: None }
    }

    /// Makes the threshold from the parameters `rtol` and `rtols` of an op, for a stack of matrices of this shape.
    pub(crate) fn of(
        op: &'static str,
        b: &B,
        shape: &[usize],
        number: Option<f64>,
        numbers: Option<&'a B::Array<T::Real>>,
    ) -> Result<Self> {
        if let Some(numbers) = numbers {
            if number.is_some() {
                return Err(Error::argument(op, "`rtol` and `rtols` are both given"));
            }
            let (stack, given) = (&shape[..shape.len().saturating_sub(2)], b.shape(numbers));
            if rules::broadcast(op, stack, given).ok().as_deref() != Some(stack) {
                return Err(Error::shapes(op, shape, given));
            }
        }
        Ok(Relative { number, numbers })
    }
}

/// The default threshold for matrices of this shape.
fn default_number<T: WideFloat>(shape: &[usize]) -> f64 {
    let unit = if T::dtype().to_complex() == DType::Complex128 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    shape.iter().rev().take(2).max().copied().unwrap_or(0) as f64 * unit
}

/// For each matrix, the threshold below which singular values count as 0: `rtol` times the largest singular value.
fn threshold<B: Backend, T: WideFloat>(
    b: &B,
    values: &B::Array<T::Real>,
    shape: &[usize],
    rtol: &Relative<'_, B, T>,
) -> Result<B::Array<T::Real>> {
    let largest = b.max_with(values, -1, MaxOptions::new().keepdims(true))?;
    if let Some(numbers) = rtol.numbers {
        return b.multiply(&largest, b.expand_dims(numbers, -1)?);
    }
    b.multiply(&largest, T::Real::of(rtol.number.unwrap_or_else(|| default_number::<T>(shape))))
}

/// True for singular values that do not count as 0. `shape` is the shape of the matrices, which must not be empty.
pub(crate) fn kept_values<B: Backend, T: WideFloat>(
    b: &B,
    values: &B::Array<T::Real>,
    shape: &[usize],
    rtol: &Relative<'_, B, T>,
) -> Result<B::Array<bool>> {
    b.greater(values, &threshold::<B, T>(b, values, shape, rtol)?)
}

/// Inverses of the kept singular values (those that do not count as 0), and 0 in place of the other inverses.
fn inverses<B: Backend, T: WideFloat>(
    b: &B,
    values: &B::Array<T::Real>,
    is_kept: &B::Array<bool>,
) -> Result<B::Array<T>> {
    let inverse = b.r#where(is_kept, &b.reciprocal(values)?, T::Real::ZERO)?;
    b.astype::<T, _>(&inverse)
}

/// The conjugate transpose.
fn adjoint<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.conj(b.matrix_transpose(x)?)
}

fn thin<B: Backend, T: WideFloat>(b: &B, x: &B::Array<T>) -> Result<SvdResult<B, T>> {
    b.svd_with(x, SvdOptions::new().full_matrices(false))
}

/// For each matrix, the number of singular values above `rtol` times the largest singular value.
pub fn matrix_rank<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    rtol: Option<f64>,
    rtols: Option<&B::Array<T::Real>>,
) -> Result<B::Array<i64>> {
    const OP: &str = "matrix_rank";
    let shape = b.shape(x).to_vec();
    rules::matrix(OP, &shape)?;
    let rtol = Relative::<B, T>::of(OP, b, &shape, rtol, rtols)?;
    if shape.contains(&0) {
        return b.zeros::<i64>(&shape[..shape.len() - 2]);
    }
    let values = b.svdvals(x)?;
    b.count_nonzero(&kept_values::<B, T>(b, &values, &shape, &rtol)?, -1)
}

/// Moore-Penrose pseudo-inverses.
pub fn pinv<B: Backend, T: WideFloat>(
    b: &B,
    x: &B::Array<T>,
    rtol: Option<f64>,
    rtols: Option<&B::Array<T::Real>>,
) -> Result<B::Array<T>> {
    const OP: &str = "pinv";
    let shape = b.shape(x).to_vec();
    rules::matrix(OP, &shape)?;
    let rtol = Relative::<B, T>::of(OP, b, &shape, rtol, rtols)?;
    if shape.contains(&0) {
        return b.matrix_transpose(x);
    }
    let SvdResult { u, s, vh } = thin(b, x)?;
    let is_kept = kept_values::<B, T>(b, &s, &shape, &rtol)?;
    let rows = b.expand_dims(&inverses::<B, T>(b, &s, &is_kept)?, -1)?;
    b.matmul(&adjoint(b, &vh)?, &b.multiply(&rows, &adjoint(b, &u)?)?)
}

/// Result of [`lstsq`]: solutions, residuals, ranks and singular values.
type LeastSquares<B, T> = (
    <B as crate::Arrays>::Array<T>,
    <B as crate::Arrays>::Array<<T as Float>::Real>,
    <B as crate::Arrays>::Array<i64>,
    <B as crate::Arrays>::Array<<T as Float>::Real>,
);

/// A least-squares problem, reduced to triangular systems by a QR factorization of the matrix or, if there are more
/// unknowns than equations, of its adjoint.
struct Factored<B: Backend, T: WideFloat> {
    triangle: B::Array<T>,
    right: B::Array<T>,
    /// The matrix that converts solutions of the triangular systems to solutions of the problem, if there are more
    /// unknowns than equations. In this case, the triangle is a lower triangle.
    columns: Option<B::Array<T>>,
}

impl<B: Backend, T: WideFloat> Factored<B, T> {
    fn of(b: &B, x: &B::Array<T>, right: &B::Array<T>, system: &System) -> Result<Self> {
        if system.rows >= system.unknowns {
            let QrResult { q, r } = b.qr(x)?;
            return Ok(Factored { triangle: r, right: b.matmul(&adjoint(b, &q)?, right)?, columns: None });
        }
        let QrResult { q, r } = b.qr(adjoint(b, x)?)?;
        Ok(Factored { triangle: adjoint(b, &r)?, right: right.clone(), columns: Some(q) })
    }

    /// The solution of systems of full rank.
    fn solution(self, b: &B) -> Result<B::Array<T>> {
        let options = SolveTriangularOptions::new().lower(self.columns.is_some());
        let solution = b.solve_triangular_with(&self.triangle, &self.right, options)?;
        self.of_matrix(b, solution)
    }

    /// Converts solutions for the triangle to solutions for the matrix.
    fn of_matrix(self, b: &B, solution: B::Array<T>) -> Result<B::Array<T>> {
        match self.columns {
            Some(columns) => b.matmul(&columns, &solution),
            None => Ok(solution),
        }
    }
}

/// Returns the least-squares solutions of minimum norm, with the residuals, the ranks and the singular values.
///
/// Systems of full rank are solved by QR factorization, and others by singular value decomposition.
pub fn lstsq<B: Backend, T: WideFloat>(
    b: &B,
    x1: &B::Array<T>,
    x2: &B::Array<T>,
    rtol: Option<f64>,
) -> Result<LeastSquares<B, T>> {
    const OP: &str = "lstsq";
    let shape = b.shape(x1).to_vec();
    let system = System::of(OP, &shape, b.shape(x2), T::dtype().size())?;
    if shape.contains(&0) || system.columns == 0 {
        return Err(Error::shapes(OP, &shape, b.shape(x2)));
    }
    let right = if system.is_vector { b.expand_dims(x2, -1)? } else { x2.clone() };
    // if one side of the matrix is much longer, its singular values are computed from its triangular factor; otherwise
    // from the matrix, because rounding errors of the factor might change the rank
    let (longer, shorter) = (system.rows.max(system.unknowns), system.rows.min(system.unknowns));
    let factored = if 6 * longer > 11 * shorter { Some(Factored::of(b, x1, &right, &system)?) } else { None };
    let (matrix, sides) = factored.as_ref().map_or((x1, &right), |factored| (&factored.triangle, &factored.right));
    // computes singular values without vectors, which takes less time; only matrices without full rank need the
    // vectors. With an `rtol` below the default, even a matrix that cannot be inverted may count as having full rank
    let is_regular_if_full = rtol.is_none_or(|rtol| rtol >= default_number::<T>(&shape));
    let (s, vectors) = if is_regular_if_full {
        (b.svdvals(matrix)?, None)
    } else {
        let SvdResult { u, s, vh } = thin(b, matrix)?;
        (s, Some((u, vh)))
    };
    let is_kept = kept_values::<B, T>(b, &s, &shape, &Relative::number(rtol))?;
    let asks = is_regular_if_full || system.rows > system.unknowns;
    let is_full = asks && b.item(b.all(&is_kept, ..)?)?;
    let solution = if is_full && is_regular_if_full {
        let factored = match factored {
            Some(factored) => factored,
            None => Factored::of(b, x1, &right, &system)?,
        };
        factored.solution(b)?
    } else {
        let (u, vh) = match vectors {
            Some(vectors) => vectors,
            None => {
                let SvdResult { u, vh, .. } = thin(b, matrix)?;
                (u, vh)
            }
        };
        // divides, because the inverse of a very small singular value would be infinite
        let divisors = b.expand_dims(&b.astype::<T, _>(&b.r#where(&is_kept, &s, T::Real::ONE)?)?, -1)?;
        let along = b.divide(&b.matmul(&adjoint(b, &u)?, sides)?, &divisors)?;
        let along = b.r#where(&b.expand_dims(&is_kept, -1)?, &along, T::ZERO)?;
        let solution = b.matmul(&adjoint(b, &vh)?, &along)?;
        match factored {
            Some(factored) => factored.of_matrix(b, solution)?,
            None => solution,
        }
    };
    // as in NumPy and PyTorch, there are residuals only for overdetermined systems, and only if no singular value
    // counts as 0
    let residuals = if system.rows > system.unknowns && is_full {
        let off = b.subtract(&b.matmul(x1, &solution)?, &right)?;
        b.sum(&b.square(&b.abs(&off)?)?, -2)?
    } else {
        b.zeros::<T::Real>([0])?
    };
    let rank = b.count_nonzero(&is_kept, -1)?;
    let solution = if system.is_vector { b.squeeze(&solution, Axes::from(-1))? } else { solution };
    Ok((solution, residuals, rank, s))
}
