//! Replacements of the modules in a build without the feature `faer`: functions with the same names that return an
//! error.

/// Modules of functions that always return `Failure::NotBuilt`.
macro_rules! modules {
    ($($module:ident { $($function:ident($($t:ty),*) -> $result:ty;)* })*) => {$(
        pub mod $module {
            #[allow(unused_imports)]
            use crate::{Determinant, Failure, Result, c64};
            $(
                #[allow(dead_code)]
                pub fn $function<T>($(_: $t),*) -> Result<$result> {
                    Err(Failure::NotBuilt)
                }
            )*
        }
    )*};
}
modules! {
    cholesky {
        lower(&mut [T], usize) -> ();
    }
    lu {
        solve(&mut [T], &mut [T], usize, usize) -> ();
        determinant(&mut [T], usize) -> Determinant<T>;
        solve_triangular(&mut [T], &mut [T], usize, usize, bool, bool) -> ();
    }
    small {
        solve_all(&mut [T], &mut [T], usize, usize) -> ();
        determinants(&mut [T], usize, &mut [Determinant<T>]) -> ();
    }
    qr {
        qr(&mut [T], &mut [T], usize, usize) -> ();
    }
    svd {
        svd(&[T], &mut [f64], Option<[&mut [T]; 2]>, usize, usize) -> ();
    }
    eigen {
        hermitian(&mut [T], &mut [f64], Option<&mut [T]>, usize) -> ();
        real(&[T], &mut [c64], Option<&mut [c64]>, usize) -> ();
        complex(&[T], &mut [c64], Option<&mut [c64]>, usize) -> ();
    }
}

#[cfg(test)]
mod tests {
    use crate::{Failure, Scalar};

    #[test]
    fn nothing_is_factorized() {
        assert_eq!(f64::cholesky(&mut [4.0], 1), Err(Failure::NotBuilt));
        assert_eq!(f64::svd(&[4.0], &mut [0.0], None, 1, 1), Err(Failure::NotBuilt));
    }
}
