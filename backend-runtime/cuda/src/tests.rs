//! Tests that compare a device with the CPU backend, for layouts, sizes and dtypes that the ops' own tests do not
//! cover.

use super::{
    Cuda, CudaArray, Operand, casting, creation, elementwise, fft, manipulation as shapes,
    testing::{device, on, typed},
};
use backend_core::{
    Arrays, Axes, Complex, DType, Each, EachSource, Element, Error, HostArray, Indices, Numeric, PadMode, Slice,
    dispatch,
    numpyish::{self, Numpyish},
    raw::RawElement,
};
use ndarray::IxDyn;

const HOST: Numpyish = Numpyish::new();

/// Wrappers of the functions of `cuda::indexing` that take typed arrays instead of raw arrays.
mod indexing {
    use super::*;
    use crate as cuda;
    use crate::OpContext;
    use backend_core::{
        Result,
        raw::{self, TypedArray},
    };

    /// Defines wrappers that convert typed arrays to raw arrays, and pass on all other arguments.
    macro_rules! functions {
        ($($f:ident($($x:ident: $array:ty),*; $($n:ident: $other:ty),*) -> $of:ty;)*) => {$(
            pub(super) fn $f<T: Element>(
                b: &Cuda,
                $($x: &CudaArray<$array>,)*
                $($n: $other),*
            ) -> Result<CudaArray<$of>> {
                let on = OpContext::new(b, stringify!($f), T::DTYPE);
                CudaArray::from_raw(on.op, cuda::indexing::$f(on, $($x.raw(),)* $($n),*)?)
            }
        )*};
    }
    functions! {
        getitem(x: T; slices: &[Slice]) -> T;
        take(x: T, indices: i64; axis: Option<isize>) -> T;
        take_along_axis(x: T, indices: i64; axis: isize) -> T;
        scatter(x: T, indices: i64, values: T; axis: isize) -> T;
        scatter_add(x: T, indices: i64, values: T; axis: isize) -> T;
        boolean_mask(x: T, mask: bool;) -> T;
        argwhere(x: T;) -> i64;
    }

    pub(super) fn nonzero<T: Element>(b: &Cuda, x: &CudaArray<T>) -> Result<Vec<CudaArray<i64>>> {
        let on = OpContext::new(b, "nonzero", T::DTYPE);
        raw::finish_all(on.op, cuda::indexing::nonzero(on, x.raw())?, ())
    }

    pub(super) fn set<T: Element>(
        b: &Cuda,
        x: &mut CudaArray<T>,
        index: Indices<'_, Cuda>,
        values: Operand<'_, T>,
    ) -> Result<()> {
        let on = OpContext::new(b, "set", T::DTYPE);
        *x = CudaArray::from_raw(on.op, cuda::indexing::set(on, x.target(), index, raw::operand(&values))?)?;
        Ok(())
    }
}

/// Returns an array with some values of the dtype, including zeros and, for signed dtypes, negative numbers.
fn values<T: Element>(shape: &[usize]) -> HostArray<T> {
    let n = shape.iter().product::<usize>();
    let list = (0..n).map(|i| T::from_f64(((i * 7 + 3) % 11) as f64 - 4.0)).collect();
    HostArray::from_shape_vec(IxDyn(shape), list).unwrap()
}

fn same<T: Element>(b: &Cuda, what: &str, got: &CudaArray<T>, want: &HostArray<T>) {
    let got = b.to_ndarray(got).unwrap();
    assert_eq!(got.shape(), want.shape(), "{what} of {}", T::DTYPE);
    // texts are compared, so that NaN equals NaN, and -0.0 differs from 0.0
    let bits = |x: &HostArray<T>| x.iter().map(|e| format!("{e:?}")).collect::<Vec<_>>();
    assert_eq!(bits(&got), bits(want), "{what} of {}", T::DTYPE);
}

/// Returns the array and three views: the array in Fortran order, the array reversed along every axis, and the array as
/// every second element of a larger array. Each pair has an array on the device and the same array on the host.
fn layouts<T: Element>(b: &Cuda, x: &HostArray<T>) -> Vec<(CudaArray<T>, HostArray<T>)> {
    let both = |x: HostArray<T>| (b.from_ndarray(x.clone()).unwrap(), x);
    let plain = both(x.clone());
    let transposed = {
        let (d, h) = both(x.clone().reversed_axes().as_standard_layout().into_owned().into_shared());
        (typed(shapes::transpose(on::<T>(b, "transpose"), &d.raw)), h.reversed_axes())
    };
    let reversed = (
        typed(shapes::flip(on::<T>(b, "flip"), &plain.0.raw, Axes::All)),
        backend_numpyish::manipulation::typed::flip(&HOST, x, Axes::All).unwrap(),
    );
    let stepped = {
        let wide = backend_numpyish::manipulation::typed::repeat(&HOST, x, 2, Some(-1)).unwrap();
        let every_second = [Slice::ALL, Slice::ALL.step(2)];
        let (d, h) = both(wide);
        (
            indexing::getitem(b, &d, &every_second).unwrap(),
            backend_numpyish::indexing::typed::getitem(&HOST, &h, &every_second).unwrap(),
        )
    };
    vec![plain, transposed, reversed, stepped]
}

#[derive(Clone, Copy)]
struct Scaled(f64);

impl<T: Numeric> Each<2, T> for Scaled {
    type Out = T;
    fn apply(&self, &[x, y]: &[T; 2]) -> T {
        x.times(T::from_f64(self.0)).plus(y)
    }
}

impl EachSource for Scaled {
    const NAME: &'static str = "scaled";
    const CUDA: &'static str = "op_plus(op_times(x, op_of<T>(by)), y)";
    const INPUTS: &'static [&'static str] = &["x", "y"];
    const PARAMS: &'static [&'static str] = &["by"];
    fn params(&self) -> Vec<f64> {
        vec![self.0]
    }
}

fn scaled<T: Numeric>(b: &Cuda) {
    let f = Scaled(3.0);
    for shape in [&[5, 6][..], &[1, 1], &[37, 41], &[0, 3]] {
        let (x, y) = (values::<T>(shape), values::<T>(&[shape[1]]));
        for (dx, hx) in layouts(b, &x) {
            let (dy, hy) = (b.from_ndarray(y.clone()).unwrap(), &y);
            let want =
                numpyish::elementwise::each2(&HOST, &f, numpyish::Operand::array(&hx), numpyish::Operand::array(hy));
            let got = elementwise::each2(b, &f, Operand::array(&dx), Operand::array(&dy)).unwrap();
            same(b, "broadcast", &got, &want.unwrap());
            let five = T::from_f64(5.0);
            let want =
                numpyish::elementwise::each2(&HOST, &f, numpyish::Operand::Scalar(five), numpyish::Operand::array(&hx));
            let got = elementwise::each2(b, &f, Operand::Scalar(five), Operand::array(&dx)).unwrap();
            same(b, "with a scalar", &got, &want.unwrap());
            let want =
                numpyish::elementwise::each2(&HOST, &f, numpyish::Operand::array(&hx), numpyish::Operand::array(&hx));
            let got = elementwise::each2(b, &f, Operand::array(&dx), Operand::array(&dx)).unwrap();
            same(b, "with itself", &got, &want.unwrap());
        }
    }
}

#[test]
fn expressions_over_any_layout() {
    let Some(b) = device() else { return };
    for dtype in DType::ALL.into_iter().filter(|&d| d != DType::Bool) {
        let run: Result<(), Error> = dispatch!(dtype, T: [
            Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64, Complex64,
            Complex128
        ] => { scaled::<T>(&b); Ok(()) });
        run.unwrap();
    }
}

fn copies<T: Element>(b: &Cuda) {
    for (d, h) in layouts(b, &values::<T>(&[5, 7])) {
        same(b, "to_ndarray", &d, &h);
        same(b, "copy", &typed(casting::copy(on::<T>(b, "copy"), &d.raw)), &h);
        same(
            b,
            "reshape",
            &typed(shapes::reshape(on::<T>(b, "reshape"), &d.raw, &[7, -1])),
            &backend_numpyish::manipulation::typed::reshape(&HOST, &h, &[7, -1]).unwrap(),
        );
        same(
            b,
            "concat",
            &typed(shapes::concat(on::<T>(b, "concat"), &[&d.raw, &d.raw], Some(1))),
            &backend_numpyish::manipulation::typed::concat(&HOST, &[&h, &h], Some(1)).unwrap(),
        );
        same(
            b,
            "tile",
            &typed(shapes::tile(on::<T>(b, "tile"), &d.raw, &[2, 1, 3])),
            &backend_numpyish::manipulation::typed::tile(&HOST, &h, &[2, 1, 3]).unwrap(),
        );
        same(
            b,
            "repeat",
            &typed(shapes::repeat(on::<T>(b, "repeat"), &d.raw, 3, Some(0))),
            &backend_numpyish::manipulation::typed::repeat(&HOST, &h, 3, Some(0)).unwrap(),
        );
        let (shift, both) = ([2, -3], Axes::All);
        same(
            b,
            "roll",
            &typed(shapes::roll(on::<T>(b, "roll"), &d.raw, &shift, [0, 1].into())),
            &backend_numpyish::manipulation::typed::roll(&HOST, &h, &shift, [0, 1].into()).unwrap(),
        );
        same(
            b,
            "fftshift",
            &typed(fft::fftshift(on::<T>(b, "fftshift"), &d.raw, both)),
            &backend_numpyish::fft::typed::fftshift(&HOST, &h, both).unwrap(),
        );
        same(
            b,
            "ifftshift",
            &typed(fft::ifftshift(on::<T>(b, "ifftshift"), &d.raw, both)),
            &backend_numpyish::fft::typed::ifftshift(&HOST, &h, both).unwrap(),
        );
        for mode in [PadMode::Constant, PadMode::Edge, PadMode::Reflect, PadMode::Symmetric, PadMode::Wrap] {
            let widths = [1, 20, 9, 0];
            same(
                b,
                mode.name(),
                &typed(shapes::pad(on::<T>(b, "pad"), &d.raw, &widths, mode, backend_core::Number::Real(1.0))),
                &backend_numpyish::manipulation::typed::pad(&HOST, &h, &widths, mode, backend_core::Number::Real(1.0))
                    .unwrap(),
            );
        }
        same(
            b,
            "tril",
            &typed(creation::tril(on::<T>(b, "tril"), &d.raw, 1)),
            &backend_numpyish::creation::typed::tril(&HOST, &h, 1).unwrap(),
        );
        same(
            b,
            "triu",
            &typed(creation::triu(on::<T>(b, "triu"), &d.raw, -1)),
            &backend_numpyish::creation::typed::triu(&HOST, &h, -1).unwrap(),
        );
    }
}

#[test]
fn matrices_are_transposed_in_tiles() {
    let Some(b) = device() else { return };
    for (shape, order) in [
        (&[33, 70][..], &[1, 0][..]),
        (&[3, 40, 17], &[0, 2, 1]),
        (&[40, 3, 17], &[2, 1, 0]),
        (&[2, 16, 3, 5, 31], &[4, 2, 1, 0, 3]),
        (&[2, 3, 2, 3, 2, 18, 20], &[4, 2, 1, 6, 0, 3, 5]),
    ] {
        let axes: Vec<usize> = order.to_vec();
        let (h8, h16) = (values::<i8>(shape), values::<Complex<f64>>(shape));
        let (d8, d16) = (b.from_ndarray(h8.clone()).unwrap(), b.from_ndarray(h16.clone()).unwrap());
        let turn = |axes: &[usize]| Axes::from(axes);
        let want = backend_numpyish::manipulation::typed::permute_dims(&HOST, &h8, turn(&axes)).unwrap();
        let got = shapes::permute_dims(on::<i8>(&b, "permute_dims"), &d8.raw, turn(&axes));
        same(&b, "permute_dims", &typed(got), &want);
        let want = backend_numpyish::manipulation::typed::permute_dims(&HOST, &h16, turn(&axes)).unwrap();
        let got = shapes::permute_dims(on::<Complex<f64>>(&b, "permute_dims"), &d16.raw, turn(&axes));
        same(&b, "permute_dims", &typed(got), &want);
    }
}

#[test]
fn layouts_are_copied_right() {
    let Some(b) = device() else { return };
    for dtype in DType::ALL {
        let run: Result<(), Error> = dispatch!(dtype, T => { copies::<T>(&b); Ok(()) });
        run.unwrap();
    }
}

fn parts<T: Element>(b: &Cuda) {
    let on = |x: &HostArray<i64>| b.from_ndarray(x.clone()).unwrap();
    let list = |v: &[i64]| HostArray::from_shape_vec(IxDyn(&[v.len()]), v.to_vec()).unwrap();
    let mask = values::<bool>(&[5, 7]);
    for (d, h) in layouts(b, &values::<T>(&[5, 7])) {
        let i = list(&[4, 0, -1, -5, 2, 2]);
        for axis in [0, 1] {
            same(
                b,
                "take",
                &indexing::take(b, &d, &on(&i), Some(axis)).unwrap(),
                &backend_numpyish::indexing::typed::take(&HOST, &h, &i, Some(axis)).unwrap(),
            );
        }
        let along = values::<i64>(&[5, 3]).mapv(|x| x % 5).into_shared();
        same(
            b,
            "take_along_axis",
            &indexing::take_along_axis(b, &d, &on(&along), 1).unwrap(),
            &backend_numpyish::indexing::typed::take_along_axis(&HOST, &h, &along, 1).unwrap(),
        );
        let v = backend_numpyish::indexing::typed::take(&HOST, &h, &list(&[1, 1, 3, 0, 2, 4]), Some(0)).unwrap();
        let dv = b.from_ndarray(v.clone()).unwrap();
        same(
            b,
            "scatter",
            &indexing::scatter(b, &d, &on(&i), &dv, 0).unwrap(),
            &backend_numpyish::indexing::typed::scatter(&HOST, &h, &i, &v, 0).unwrap(),
        );
        for (dm, hm) in layouts(b, &mask) {
            same(
                b,
                "boolean_mask",
                &indexing::boolean_mask(b, &d, &dm).unwrap(),
                &backend_numpyish::indexing::typed::boolean_mask(&HOST, &h, &hm).unwrap(),
            );
        }
        same(
            b,
            "argwhere",
            &indexing::argwhere(b, &d).unwrap(),
            &backend_numpyish::indexing::typed::argwhere(&HOST, &h).unwrap(),
        );
        for (got, want) in
            indexing::nonzero(b, &d).unwrap().iter().zip(backend_numpyish::indexing::typed::nonzero(&HOST, &h).unwrap())
        {
            same(b, "nonzero", got, &want);
        }
        let slices = [Slice::ALL.step(-2), Slice::from(1..5)];
        let (mut got, mut want) = (d.clone(), h.clone());
        indexing::set(b, &mut got, Indices::Slices(&slices), Operand::Scalar(T::from_i64(1))).unwrap();
        backend_numpyish::indexing::typed::set(
            &HOST,
            &mut want,
            Indices::Slices(&slices),
            numpyish::Operand::Scalar(T::from_i64(1)),
        )
        .unwrap();
        same(b, "set", &got, &want);
    }
}

#[test]
fn parts_are_found_and_replaced() {
    let Some(b) = device() else { return };
    for dtype in DType::ALL {
        let run: Result<(), Error> = dispatch!(dtype, T => { parts::<T>(&b); Ok(()) });
        run.unwrap();
    }
}

fn added<T: Numeric>(b: &Cuda) {
    let (x, i) = (values::<T>(&[3, 5]), HostArray::from_shape_vec(IxDyn(&[4]), vec![1_i64, -1, 1, 0]).unwrap());
    let v = values::<T>(&[3, 4]);
    let (dx, di, dv) =
        (b.from_ndarray(x.clone()).unwrap(), b.from_ndarray(i.clone()).unwrap(), b.from_ndarray(v.clone()).unwrap());
    let want = backend_numpyish::indexing::typed::scatter_add(&HOST, &x, &i, &v, 1).unwrap();
    same(b, "scatter_add", &indexing::scatter_add(b, &dx, &di, &dv, 1).unwrap(), &want);
}

#[test]
fn equal_indices_add_up() {
    let Some(b) = device() else { return };
    for dtype in DType::ALL.into_iter().filter(|&d| d != DType::Bool) {
        let run: Result<(), Error> = dispatch!(dtype, T: [
            Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64, Complex64,
            Complex128
        ] => { added::<T>(&b); Ok(()) });
        run.unwrap();
    }
}

#[test]
fn indices_outside_are_errors() {
    let Some(b) = device() else { return };
    let x = b.from_ndarray(values::<f32>(&[2, 3])).unwrap();
    let i = b.from_ndarray(HostArray::from_shape_vec(IxDyn(&[3]), vec![2_i64, -4, 9]).unwrap()).unwrap();
    let wrong = |op| Err(Error::index(op, -4, 1, 3));
    indexing::take(&b, &x, &i, Some(1)).unwrap();
    assert_eq!(b.synchronize(), wrong("take"));
    indexing::scatter(&b, &x, &i, &x, -1).unwrap();
    assert_eq!(b.synchronize(), wrong("scatter"));
    indexing::scatter_add(&b, &x, &i, &x, -1).unwrap();
    assert_eq!(b.synchronize(), wrong("scatter_add"));
    b.synchronize().unwrap();
}

#[test]
fn large_masks_go_over_many_tiles() {
    let Some(b) = device() else { return };
    let x = values::<i32>(&[9, 1237]);
    let d = b.from_ndarray(x.clone()).unwrap();
    same(
        &b,
        "argwhere",
        &indexing::argwhere(&b, &d).unwrap(),
        &backend_numpyish::indexing::typed::argwhere(&HOST, &x).unwrap(),
    );
}

fn cast_from<T: Element>(b: &Cuda) {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        127.9,
        -128.9,
        300.0,
        -1e10,
        1e20,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        65519.9,
        1e-9,
    ];
    let x = HostArray::from_shape_vec(IxDyn(&[2, 7]), special.map(T::from_f64).to_vec()).unwrap();
    let d = b.from_ndarray(x.clone()).unwrap();
    for to in DType::ALL {
        let run: Result<(), Error> = dispatch!(to, U => {
            let got = casting::astype(on::<T>(b, "astype").with_to(to), &d.raw);
            same(b, &format!("from {}", T::DTYPE), &typed(got), &numpyish::casting::astype::<U, T>(&HOST, &x).unwrap());
            Ok(())
        });
        run.unwrap();
    }
}

#[test]
fn casts_saturate_and_wrap_as_on_the_cpu() {
    let Some(b) = device() else { return };
    for dtype in DType::ALL {
        let run: Result<(), Error> = dispatch!(dtype, T => { cast_from::<T>(&b); Ok(()) });
        run.unwrap();
    }
}

/// The elements of `arange` on the device.
fn counted<T: Element>(b: &Cuda, start: T, stop: T, step: T) -> CudaArray<T> {
    let [start, stop, step] = [start, stop, step].map(RawElement::of);
    typed(creation::arange(on::<T>(b, "arange"), start, stop, step))
}

#[test]
fn counted_values() {
    let Some(b) = device() else { return };
    same(
        &b,
        "arange",
        &counted(&b, 1.0, 1.3, 0.1),
        &backend_numpyish::creation::typed::arange(&HOST, 1.0, 1.3, 0.1).unwrap(),
    );
    same(
        &b,
        "arange",
        &counted(&b, 1.0_f32, 99.0, 0.7),
        &backend_numpyish::creation::typed::arange(&HOST, 1.0_f32, 99.0, 0.7).unwrap(),
    );
    same(
        &b,
        "arange",
        &counted(&b, 100_i8, -100, -33),
        &backend_numpyish::creation::typed::arange(&HOST, 100_i8, -100, -33).unwrap(),
    );
    for (num, ends) in [(0, true), (1, true), (1, false), (2, true), (1000, true), (7, false)] {
        let want = backend_numpyish::creation::typed::linspace(&HOST, 0.1, 0.7, num, ends).unwrap();
        let [start, stop] = [0.1, 0.7].map(RawElement::of::<f64>);
        let got = creation::linspace(on::<f64>(&b, "linspace"), start, stop, num, ends);
        same(&b, "linspace", &typed(got), &want);
    }
    for k in [-9, -1, 0, 2, 9, isize::MIN, isize::MAX] {
        let want = backend_numpyish::creation::typed::eye::<i16>(&HOST, 4, Some(3), k).unwrap();
        same(&b, "eye", &typed(creation::eye(on::<i16>(&b, "eye"), 4, Some(3), k)), &want);
    }
}

#[test]
fn nothing_wrong_panics() {
    let Some(b) = device() else { return };
    let full = |shape: &[usize], value: f64| creation::full(on::<f64>(&b, "full"), shape, RawElement::of(value));
    assert!(matches!(
        creation::zeros(on::<f64>(&b, "zeros"), &[usize::MAX, 2]),
        Err(Error::Memory { op: "zeros", .. })
    ));
    assert!(matches!(full(&[1 << 40, 1 << 20], 1.0), Err(Error::Memory { op: "full", .. })));
    let x = creation::zeros(on::<f32>(&b, "zeros"), &[1]).unwrap();
    assert!(shapes::broadcast_to(on::<f32>(&b, "broadcast_to"), &x, &[usize::MAX, 2]).is_err());
    assert!(shapes::tile(on::<f32>(&b, "tile"), &x, &[usize::MAX / 2]).is_err());
    assert!(shapes::repeat(on::<f32>(&b, "repeat"), &x, usize::MAX, Some(0)).is_err());
    let padded = |mode| shapes::pad(on::<f32>(&b, "pad"), &x, &[usize::MAX, 1], mode, backend_core::Number::Real(0.0));
    assert!(padded(PadMode::Edge).is_err());
    let scalar = typed::<f64>(full(&[], 2.0));
    assert!(matches!(indexing::nonzero(&b, &scalar), Err(Error::Shape { op: "nonzero", .. })));
    assert_eq!(indexing::argwhere(&b, &scalar).unwrap().shape(), [1, 0]);
    let many = creation::zeros(on::<u8>(&b, "zeros"), &[2; 20]).unwrap();
    assert_eq!(casting::copy(on::<u8>(&b, "copy"), &many).unwrap().shape, [2; 20], "axes merge");
    let odd: Vec<isize> = (0..20).rev().collect();
    let axes = Axes::list(odd[..14].iter().copied());
    assert!(shapes::permute_dims(on::<u8>(&b, "permute_dims"), &many, axes).is_err());
}

#[test]
fn memory_is_used_again() {
    let Some(b) = device() else { return };
    b.caching(true).unwrap();
    // no other test uses these sizes, so no other test takes the freed memory
    let zeros = |n: usize| typed::<f32>(creation::zeros(on::<f32>(&b, "zeros"), &[n]));
    let first = zeros(1_300_001);
    let place = first.raw.pointer();
    drop(first);
    let second = zeros(1_300_000);
    assert_eq!(second.raw.pointer(), place, "freed memory of nearly the same size");
    b.release_memory().unwrap();
    same(&b, "zeros", &second, &HostArray::zeros(IxDyn(&[1_300_000])));
}
