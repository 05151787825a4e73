//! Quantiles over axes, computed from sorted rows.

use crate::{
    OpContext,
    array::RawArray,
    copy::contiguous,
    kernel::{Argument, Grid},
    program::Instance,
    sorting::{PROGRAM, Rows, Wanted},
};
use backend_core::{Axes, DType, Interpolation, Result, rules};

/// Quantiles of `x` over axes. The first axes of the result are the axes of `q`.
pub fn quantile(
    on: OpContext<'_>,
    x: &RawArray,
    q: &RawArray,
    axis: Axes,
    method: Interpolation,
    keepdims: bool,
) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    on.require(&[x, q])?;
    b.check(op, x)?;
    let axes = rules::reduction(op, axis, x.shape.len())?;
    let q = contiguous(b, op, q)?;
    check_range(on, &q)?;
    rules::require_elements(op, &x.shape, &axes)?;
    let kept: Vec<usize> = (0..x.shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let length: usize = axes.iter().map(|&axis| x.shape[axis]).product();
    let rows: usize = kept.iter().map(|&axis| x.shape[axis]).product();
    let shape = [&q.shape[..], &rules::reduced(&x.shape, &axes, keepdims)].concat();
    let out = b.uninit_raw(op, x.dtype, &shape)?;
    if out.size() == 0 {
        return Ok(out);
    }
    let lanes = x.permuted(&[kept, axes].concat());
    let sorted = Rows::sorted(b, op, &lanes, length, false, Wanted::Values)?;
    let kernel = b.kernel(op, &PROGRAM, Instance::new("quantiles", "", &[x.dtype]))?;
    let arguments: [&dyn Argument; 7] = [
        &sorted.keys().pointer(),
        &q.pointer(),
        &out.pointer(),
        &(rows as u64),
        &(length as u64),
        &(q.size() as u64),
        &number(method),
    ];
    // SAFETY: the arguments match the parameters of `quantiles`; the keys of all rows are sorted, and the result has an
    // element for each combination of a `q` and a row.
    unsafe { b.launch(op, kernel, Grid::over(out.size()), &arguments)? };
    Ok(out)
}

/// Returns an error if an element of `q` is outside 0 to 1. Copies one flag to the host.
fn check_range(on: OpContext<'_>, q: &RawArray) -> Result<()> {
    let OpContext { backend: b, op, .. } = on;
    if q.size() == 0 {
        return Ok(());
    }
    let flag = b.uninit_raw(op, DType::UInt32, &[1])?;
    b.set_bytes(op, &flag, 0)?;
    let kernel = b.kernel(op, &PROGRAM, Instance::new("outside", "", &[q.dtype]))?;
    let (from, n, to) = (q.pointer(), q.size() as u64, flag.pointer());
    // SAFETY: the arguments match the parameters of `outside`; `q` is contiguous.
    unsafe { b.launch(op, kernel, Grid::over(q.size()), &[&from, &n, &to])? };
    match b.download::<u32>(op, &flag)?[..] {
        [0] => Ok(()),
        _ => Err(rules::quantile_range(op)),
    }
}

/// The number that stands for an interpolation method in the kernel.
fn number(method: Interpolation) -> u32 {
    match method {
        Interpolation::Linear => 0,
        Interpolation::Lower => 1,
        Interpolation::Higher => 2,
        Interpolation::Midpoint => 3,
        Interpolation::Nearest => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cuda, CudaArray,
        compare::{assert_near, layouts, mixed},
        reduction::tests::typed,
        testing::device,
    };
    use backend_core::{Arrays, Error, Real, bf16, f16, numpyish::Numpyish};
    use backend_numpyish::reduction::typed as cpu;
    use ndarray::{ArrayD, IxDyn, arr1};

    const CPU: Numpyish = Numpyish::new();
    const METHODS: [Interpolation; 5] = [
        Interpolation::Linear,
        Interpolation::Lower,
        Interpolation::Higher,
        Interpolation::Midpoint,
        Interpolation::Nearest,
    ];

    /// Calls the function `quantile` for raw arrays with typed arrays.
    fn quantile<T: Real>(
        b: &Cuda,
        x: &CudaArray<T>,
        q: &CudaArray<T>,
        axis: Axes,
        method: Interpolation,
        keepdims: bool,
    ) -> Result<CudaArray<T>> {
        typed(super::quantile(OpContext::new(b, "quantile", T::DTYPE), &x.raw, &q.raw, axis, method, keepdims))
    }

    fn check<T: Real>(b: &Cuda, x: &ArrayD<T>, axes: &[&[isize]]) {
        let q = arr1(&[0.0, 0.25, 0.3, 0.5, 0.77, 1.0]).mapv(T::of).into_dyn().into_shared();
        let (here, there) = (x.clone().into_shared(), b.from_ndarray(q.clone()).unwrap());
        for a in layouts(b, x) {
            for (&axes, method) in axes.iter().zip(METHODS.into_iter().cycle()) {
                let by = Axes::from(axes);
                let got = quantile(b, &a, &there, by, method, true).unwrap();
                let expected = cpu::quantile(&CPU, &here, &q, by, method, true).unwrap();
                let what = format!("{} {:?} {:?} over {axes:?}, {method}", T::DTYPE, x.shape(), a.raw.strides);
                assert_near(b, &got, &expected, 1e-15, &what);
            }
        }
    }

    #[test]
    fn every_layout_axis_and_method() {
        let Some(b) = device() else { return };
        let axes: [&[isize]; 6] = [&[0], &[1], &[2], &[0, 2], &[1, 0], &[0, 1, 2]];
        check(&b, &mixed::<f64>(&[5, 6, 7]), &axes);
        check(&b, &mixed::<f32>(&[3, 4, 5]), &axes);
        check(&b, &mixed::<f16>(&[3, 4, 5]), &axes);
        check(&b, &mixed::<bf16>(&[2, 3000]), &[&[1], &[0, 1], &[0], &[1], &[1]]);
        let mut x = mixed::<f64>(&[5, 6, 7]);
        (x[[1, 1, 1]], x[[0, 0, 0]]) = (f64::NAN, f64::INFINITY);
        check(&b, &x, &axes);
    }

    #[test]
    fn empty_and_wrong() {
        let Some(b) = device() else { return };
        let array = |values: &[f64]| b.from_ndarray(arr1(values).into_dyn().into_shared()).unwrap();
        let x = array(&[1.0, 2.0]);
        let method = Interpolation::Linear;
        for bad in [-0.1, 1.5, f64::NAN] {
            let r = quantile(&b, &x, &array(&[0.5, bad]), Axes::All, method, false);
            assert!(matches!(r, Err(Error::Argument { op: "quantile", .. })));
        }
        let none = b.from_ndarray(ArrayD::<f64>::zeros(IxDyn(&[0, 3])).into_shared()).unwrap();
        let q = array(&[0.5]);
        assert!(matches!(quantile(&b, &none, &q, Axes::from(0), method, false), Err(Error::Shape { .. })));
        assert_eq!(quantile(&b, &none, &q, Axes::from(1), method, false).unwrap().raw.shape, [1, 0]);
        assert_eq!(quantile(&b, &x, &array(&[]), Axes::All, method, false).unwrap().raw.shape, [0]);
        assert!(quantile(&b, &x, &q, Axes::from(1), method, false).is_err());
    }
}
