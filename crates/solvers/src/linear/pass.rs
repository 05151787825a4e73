//! The initial data of a pass. An iterative method starts each pass from a residual that is computed from the current
//! unknowns.

use backends::{Backend, Result, WideFloat};

/// Computes the unknowns of the user's system from the unknowns of a pass, which are corrections to them.
type Unknowns<'u, B, T> = dyn Fn(&Array<B, T>) -> Result<Array<B, T>> + 'u;
type Array<B, T> = <B as backends::Arrays>::Array<T>;

/// Initial data of a pass. The unknowns of a pass are corrections to the unknowns of the previous pass, and start with
/// zeros.
pub(super) struct Pass<'p, B: Backend, T: WideFloat> {
    /// The residual, scaled so that its largest magnitude is from 1/2 to 1; for least squares `A^H r`.
    pub r: B::Array<T>,
    /// The inner product `r.r`.
    pub rr: B::Array<T>,
    /// The preconditioner's product with the residual; `None` if the product is not yet computed.
    pub z: Option<B::Array<T>>,
    /// The operator's product with `z`; `None` if the product is not yet computed.
    pub az: Option<B::Array<T>>,
    /// The shadow residual (the second residual of biCG and biCG-stab), if it is not the residual itself.
    pub shadow: Option<B::Array<T>>,
    /// For least squares, `y - A x`. The field `r` is then `A^H (y - A x)`.
    pub rows: Option<B::Array<T>>,
    /// Computes the unknowns of the user's system from the unknowns of this pass.
    pub unknowns: &'p Unknowns<'p, B, T>,
}
