//! One-dimensional linear interpolation.

use super::{
    OpContext,
    array::RawArray,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    walk::Merged,
};
use backend_core::{DType, Result, rules};

static PROGRAM: Program = Program {
    name: "special",
    source: ProgramSource::File(concat!(include_str!("kernels/locate.cuh"), include_str!("kernels/special.cuh"))),
};

/// The kernels of this file, for the list of all kernels in [`check`](crate::check).
pub(super) const KERNELS: KernelList =
    (&PROGRAM, || [DType::Float32, DType::Float64].map(|dtype| Instance::new("interpolate", "", &[dtype])).to_vec());

/// Counterpart of the C++ struct `Points` in the kernel: the points between which the kernel interpolates.
#[derive(Clone, Copy)]
#[repr(C)]
struct Points {
    x_stride: i64,
    f_stride: i64,
    n: u64,
    left: f64,
    right: f64,
    has_left: u32,
    has_right: u32,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for Points {}

/// Interpolates linearly between the points (xp, fp), at the positions `x`. `xp` must increase. `left` and `right` are
/// the results before the first point and after the last point; `None` means the value of this point.
pub fn interp(
    on: OpContext<'_>,
    x: &RawArray,
    xp: &RawArray,
    fp: &RawArray,
    left: Option<f64>,
    right: Option<f64>,
) -> Result<RawArray> {
    on.require(&[x, xp, fp])?;
    let OpContext { backend: b, op, dtype, .. } = on;
    [x, xp, fp].into_iter().try_for_each(|array| b.check(op, array))?;
    let n = rules::interpolated(op, &xp.shape, &fp.shape)?;
    let out = b.uninit_raw(op, dtype, &x.shape)?;
    if out.size() > 0 {
        let points = Points {
            x_stride: xp.strides[0] as i64,
            f_stride: fp.strides[0] as i64,
            n: n as u64,
            left: left.unwrap_or_default(),
            right: right.unwrap_or_default(),
            has_left: left.is_some() as u32,
            has_right: right.is_some() as u32,
        };
        let kernel = b.kernel(op, &PROGRAM, Instance::new("interpolate", "", &[dtype]))?;
        let walk = Merged::new(&[x]).walk::<1>(op)?;
        let (from, at, values, to) = (x.pointer(), xp.pointer(), fp.pointer(), out.pointer());
        // SAFETY: the arguments match the parameters of `interpolate`; there are `n` points, and a result for each
        // element.
        unsafe { b.launch(op, kernel, Grid::over(out.size()), &[&from, &walk, &at, &values, &points, &to])? };
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cuda, CudaArray,
        compare::{assert_near, layouts},
        testing::{device, on, typed},
    };
    use backend_core::{Arrays, Error, Precision, numpyish::Numpyish};
    use backend_numpyish::special::typed as cpu;
    use ndarray::{ArrayD, IxDyn, arr1};

    const CPU: Numpyish = Numpyish::new();

    fn check<T: Precision>(b: &Cuda, x: &ArrayD<T>, xp: &[f64], fp: &[f64], left: Option<f64>, right: Option<f64>) {
        let array = |values: &[f64]| arr1(values).mapv(T::of).into_dyn();
        let (xp, fp) = (array(xp), array(fp));
        let (at, values) = (xp.clone().into_shared(), fp.clone().into_shared());
        let expected = cpu::interp(&CPU, &x.clone().into_shared(), &at, &values, left, right).unwrap();
        for a in layouts(b, x) {
            for (xp, fp) in layouts(b, &xp).iter().zip(layouts(b, &fp).iter().rev()) {
                let got = interp(on::<T>(b, "interp"), &a.raw, &xp.raw, &fp.raw, left, right);
                assert_near(b, &typed(got), &expected, 0.0, &format!("{} {:?}", T::DTYPE, a.raw.strides));
            }
        }
    }

    #[test]
    fn between_points_and_beyond_them() {
        let Some(b) = device() else { return };
        let x = ArrayD::from_shape_fn(IxDyn(&[7, 30]), |i| ((i[0] * 30 + i[1]) % 97) as f64 / 10.0 - 2.0);
        let (xp, fp) = ([0.0, 1.0, 3.0, 4.5], [10.0, 20.0, 0.0, -3.0]);
        check::<f64>(&b, &x, &xp, &fp, None, None);
        check::<f64>(&b, &x, &xp, &fp, Some(-7.0), Some(7.0));
        check::<f32>(&b, &x.mapv(|v| v as f32), &xp, &fp, None, Some(1.5));
        let ends = arr1(&[f64::INFINITY, f64::NEG_INFINITY, 0.0, 2.0, 1.5, f64::NAN]).into_dyn();
        check::<f64>(&b, &ends, &[0.0, 1.0, 2.0], &[1.0, f64::INFINITY, 3.0], None, None);
        check::<f64>(&b, &ends, &[0.0, f64::INFINITY], &[2.0, 2.0], None, None);
        check::<f64>(&b, &ends, &[1.0], &[5.0], Some(1.0), Some(9.0));
    }

    #[test]
    fn what_is_refused() {
        let Some(b) = device() else { return };
        let array = |shape: &[usize]| b.from_ndarray(ArrayD::<f64>::zeros(IxDyn(shape)).into_shared()).unwrap();
        let interp = |x: &CudaArray<f64>, xp: &CudaArray<f64>, fp: &CudaArray<f64>| {
            interp(on::<f64>(&b, "interp"), &x.raw, &xp.raw, &fp.raw, None, None)
        };
        let (none, two) = (array(&[0]), array(&[2, 1]));
        assert!(matches!(interp(&none, &none, &none), Err(Error::Shape { op: "interp", .. })));
        assert!(matches!(interp(&none, &two, &two), Err(Error::Shapes { op: "interp", .. })));
        assert!(interp(&none, &array(&[1]), &array(&[2])).is_err());
        assert_eq!(interp(&none, &array(&[1]), &array(&[1])).unwrap().shape, [0]);
    }
}
