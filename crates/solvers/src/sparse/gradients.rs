//! Gradients with respect to the values of sparse matrices.

use super::{coo::Coo, csc::Csc, csr::Csr, dia::Dia};
use backends::{
    Backend, Float, Numeric, Result,
    grad::{ChangeArrays, Diff, Found, MapArrays, Params, Struct, Var, joined},
};

/// Implements gradients for a matrix type: the gradient is a matrix with the same sparsity pattern.
macro_rules! by_values {
    ($($matrix:ident: |$m:ident, $d:ident, $values:ident| $with:expr;)*) => {$(
        impl<B: Backend, T: Numeric> $matrix<B, T> {
            /// Returns this matrix as a constant on `d`, a `Diff` of its backend.
            #[must_use]
            pub fn constant_on(&self, d: &Diff<B>) -> $matrix<Diff<B>, T> {
                self.lifted(d, d.constant(self.values().clone()))
            }

            /// Returns this matrix on `d`, a `Diff` of its backend, with the given values. The positions are
            /// constants.
            fn lifted(&self, $d: &Diff<B>, $values: Var<B, T>) -> $matrix<Diff<B>, T> {
                let $m = self;
                $with
            }
        }

        impl<B: Backend, T: Float> Params<B, Struct> for &$matrix<B, T> {
            type Vars = $matrix<Diff<B>, T>;
            type Grads = $matrix<B, T>;

            fn names(&self, prefix: &str, names: &mut Vec<String>) {
                names.push(joined(prefix, "values"));
            }

            fn lift(&self, d: &Diff<B>) -> Self::Vars {
                let values = self.values();
                self.lifted(d, Params::<B, _>::lift(&values, d))
            }

            fn collect(&self, b: &B, found: &mut Found<'_>, next: &mut usize) -> Result<Self::Grads> {
                let values = self.values();
                self.with_values(Params::<B, _>::collect(&values, b, found, next)?)
            }

            fn map<F: MapArrays<B>>(&self, f: &mut F) -> Result<Self::Grads> {
                self.with_values(f.map::<T>(self.values())?)
            }

            fn change<F: ChangeArrays<B>>(params: &mut Self::Grads, beside: &Self::Grads, f: &mut F) -> Result<()> {
                let mut values = params.values().clone();
                f.change::<T>(&mut values, beside.values())?;
                *params = params.with_values(values)?;
                Ok(())
            }
        }
    )*};
}
by_values! {
    Coo: |m, d, values| {
        let [rows, columns] = [m.row_indices(), m.column_indices()].map(|x| d.constant(x.clone()));
        Coo::of(values, rows, columns, m.shape())
    };
    Csr: |m, d, values| {
        let [indices, indptr] = [m.indices(), m.indptr()].map(|x| d.constant(x.clone()));
        Csr::of(values, indices, indptr, m.shape())
    };
    Csc: |m, d, values| Csc::of_transpose(m.as_transpose().lifted(d, values));
    Dia: |m, _d, values| Dia::of(values, m.offsets().to_vec(), m.shape());
}
