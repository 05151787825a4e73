//! A table whose ops call functions with wrong signatures. Each error names the op and the function.

use backends::{Result, prelude::*};

mod kernels {
    use backends::{Result, prelude::*};

    pub fn halve<T: Precision>(_: &Numpyish, x: &HostArray<T>) -> Result<HostArray<T>> {
        Ok(x.clone())
    }

    pub fn third<T: Precision>(_: &Numpyish, x: &HostArray<T>, _axis: f64) -> Result<HostArray<T>> {
        Ok(x.clone())
    }

    pub fn fourth<T: Precision>(_: &Numpyish, x: &HostArray<T>) -> Result<Vec<T>> {
        Ok(x.iter().copied().collect())
    }

    pub fn fifth<T: Integer>(_: &Numpyish, x: &HostArray<T>) -> Result<HostArray<T>> {
        Ok(x.clone())
    }

    pub fn energy<B: Backend, T: Precision>(_: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
        Ok(x.clone())
    }

    pub fn power<B: Backend, T: Precision>(_: &B, x: &B::Array<T>, _axis: bool) -> Result<B::Array<T>> {
        Ok(x.clone())
    }
}

backends::backend! { table = "wrong_functions.toml", trait = Wrong }

fn main() -> Result<()> {
    let b = Numpyish::new();
    b.energy(&b.halve(&b.asarray([1.0])?, 0)?, 0).map(drop)
}
