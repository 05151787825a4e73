//! Functions of this crate that compute ops on a backend of another crate. The row of an op in the table names such a
//! function by `call = "crate::kernels::.."`.

use backends::{Error, Result, prelude::*, runtime::rules};

/// The op `between` on the CPU, in one pass over both arrays.
pub fn between<T: Precision>(_: &Numpyish, x1: &HostArray<T>, x2: &HostArray<T>, t: f64) -> Result<HostArray<T>> {
    let shape = rules::broadcast("between", x1.shape(), x2.shape())?;
    rules::count("between", &shape, size_of::<T>())?;
    let misfit = || Error::shapes("between", x1.shape(), x2.shape());
    let (x1, x2) = (x1.broadcast(&shape[..]).ok_or_else(misfit)?, x2.broadcast(&shape[..]).ok_or_else(misfit)?);
    let t = T::from_f64(t);
    Ok(ndarray::Zip::from(&x1).and(&x2).map_collect(|&a, &b| a + (b - a) * t).into_shared())
}
