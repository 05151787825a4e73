//! Replacements of the modules in a build without the feature `faer`: functions with the same names that return an
//! error.

/// Modules of functions that always return `Failure::NotBuilt`.
macro_rules! modules {
    ($($module:ident { $($function:ident($($t:ty),*) -> $result:ty;)* })*) => {$(
        pub mod $module {
            #[allow(unused_imports)]
            use crate::{Determinant, Failure, Result, Team, c64};
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
        lower(&mut [T], usize, &dyn Team) -> ();
    }
    lu {
        solve(&mut [T], &mut [T], usize, usize, &dyn Team) -> ();
        inverse(&mut [T], &mut [T], usize, &dyn Team) -> ();
        determinant(&mut [T], usize, &dyn Team) -> Determinant<T>;
        solve_triangular(&mut [T], &mut [T], usize, usize, bool, bool, &dyn Team) -> ();
    }
    small {
        solve_all(&mut [T], &mut [T], usize, usize, &dyn Team) -> ();
        inverse_all(&mut [T], &mut [T], usize, &dyn Team) -> ();
        determinants(&mut [T], usize, &mut [Determinant<T>], &dyn Team) -> ();
    }
    qr {
        qr(&mut [T], &mut [T], usize, usize, &dyn Team) -> ();
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
    use crate::{Alone, Failure, Scalar};

    #[test]
    fn nothing_is_factorized() {
        assert_eq!(f64::cholesky(&mut [4.0], 1, &Alone), Err(Failure::NotBuilt));
        assert_eq!(f64::svd(&[4.0], &mut [0.0], None, 1, 1), Err(Failure::NotBuilt));
    }
}
