//! Tests of formulas on the GPU. Each formula is one kernel, which is compiled once and gives the same bits as the
//! separate ops. Also tests results that overwrite arrays passed by value.

mod common;

use backends::{
    Error, Result, Slice,
    prelude::*,
    runtime::{available, cuda::CudaArray},
};
use std::{env, fs, path::Path, process::Command, time::SystemTime};

const HOST: Numpyish = Numpyish::new();

fn bits(x: &HostArray<f64>) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn samples(b: &Cuda, n: usize) -> [CudaArray<f64>; 3] {
    let host = Numpyish::seeded(n as u64);
    [0.5, 1.0, 2.0].map(|scale| {
        let x = host.random_normal_with([n], RandomNormalOptions::new().std(scale)).unwrap();
        b.from_ndarray(x).unwrap()
    })
}

/// Returns the result of `run`. On the software device, which counts calls, also asserts that `run` launches `kernels`
/// kernels and makes at most `allocations` allocations (fewer if memory is reused).
#[track_caller]
fn within<A>(kernels: u64, allocations: u64, run: impl FnOnce() -> Result<A>) -> A {
    let device = common::SoftCuda::open();
    let counts = || device.as_ref().map(common::SoftCuda::launched_and_allocated);
    let before = counts();
    let result = run().unwrap();
    if let (Some(before), Some(after)) = (before, counts()) {
        assert_eq!(after[0] - before[0], kernels, "kernels");
        assert!(after[1] - before[1] <= allocations, "{} allocations", after[1] - before[1]);
    }
    result
}

#[track_caller]
fn in_one_kernel<A>(run: impl FnOnce() -> Result<A>) -> A {
    within(1, 1, run)
}

#[test]
fn a_formula_is_one_kernel() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    let host = |x: Result<CudaArray<f64>>| b.to_ndarray(&x.unwrap()).unwrap();
    let [x, y, z] = samples(&b, 3000);
    // all values of the scalar `s` share one kernel source
    for s in [1.5, 2.0] {
        let one = in_one_kernel(|| expr!(b, s * exp(-(x - y) * *2 / (2.0 * s * s)) + sin(z * 1e7)));
        let d = b.negative(&b.square(&b.subtract(&x, &y).unwrap()).unwrap()).unwrap();
        let gauss = b.multiply(s, b.exp(&b.divide(&d, 2.0 * s * s).unwrap()).unwrap()).unwrap();
        let ops = b.add(&gauss, b.sin(&b.multiply(&z, 1e7).unwrap()).unwrap());
        assert_eq!(bits(&b.to_ndarray(&one).unwrap()), bits(&host(ops)));
    }
    // operands with different layouts, and an operand that is broadcast
    let m = b.reshape(&x, [50, 60]).unwrap();
    let turned = b.permute_dims(&b.reshape(&y, [60, 50]).unwrap(), ..).unwrap();
    let column = b.getitem(&m, backends::slices![.., 7..8]).unwrap();
    let back = b.flip(&m, 1).unwrap();
    let one = in_one_kernel(|| expr!(b, m * turned - column / back));
    let ops = b.subtract(b.multiply(&m, &turned).unwrap(), b.divide(&column, &back).unwrap());
    assert_eq!(bits(&b.to_ndarray(&one).unwrap()), bits(&host(ops)));
    // operands of several dtypes
    let w = b.asarray([1.0_f32, 10.0]).unwrap();
    let c = b.asarray([Complex::new(3.0_f32, 4.0), Complex::new(0.0, -2.0)]).unwrap();
    let flags = in_one_kernel(|| expr!(b, (abs(c) * w < 6) | !(w > 1)));
    assert_eq!(b.to_ndarray(&flags).unwrap(), HOST.asarray([true, false]).unwrap());
    let rotated = in_one_kernel(|| expr!(b, complex(w, w) * c + 1));
    assert_eq!(
        b.to_ndarray(&rotated).unwrap(),
        HOST.asarray([Complex::new(0.0_f32, 7.0), Complex::new(21.0, -20.0)]).unwrap()
    );
    let n = b.asarray([7_u8, 200]).unwrap();
    assert_eq!(b.to_ndarray(&in_one_kernel(|| expr!(b, (n << 1) + 255))).unwrap(), HOST.asarray([13_u8, 143]).unwrap());
    let narrow = in_one_kernel(|| expr!(b, where(x > 0, astype::<f32>(x) * 2, -1)));
    let expected = b.to_ndarray(&x).unwrap().mapv(|x| if x > 0.0 { x as f32 * 2.0 } else { -1.0 });
    assert_eq!(b.to_ndarray(&narrow).unwrap(), expected.into_shared());
    // the maximum number of arrays in one kernel, first with the same memory order for all, then with different orders
    let rows: Vec<CudaArray<f64>> = (0..8).map(|i| b.asarray([[f64::from(i), 1.0], [2.0, -1.0]]).unwrap()).collect();
    let [p, q, r, s, t, u, v, w] = &rows[..] else { unreachable!() };
    let sum = HOST.asarray([[28.0, 8.0], [16.0, -8.0]]).unwrap();
    assert_eq!(b.to_ndarray(&in_one_kernel(|| expr!(b, p + q + r + s + t + u + v + w))).unwrap(), sum);
    let q = &b.permute_dims(q, ..).unwrap();
    let sum = HOST.asarray([[28.0, 9.0], [15.0, -8.0]]).unwrap();
    assert_eq!(b.to_ndarray(&in_one_kernel(|| expr!(b, p + q + r + s + t + u + v + w))).unwrap(), sum);
    let none = b.zeros::<f64>([0, 50]).unwrap();
    assert_eq!(b.shape(&expr!(b, none * 2 + 1).unwrap()), [0, 50]);
    let why = expr!(b, m + turned[1..]).unwrap_err().to_string();
    assert!(why.starts_with("expr") && why.contains("[50, 60]"), "{why}");
}

#[test]
fn a_backend_chosen_at_run_time_does_so_too() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    let b = AnyBackend::from(b);
    let x = b.zeros::<f64>([100]).unwrap();
    let y = in_one_kernel(|| expr!(b, (x + 1) * x - 0.5));
    assert_eq!(b.shape(&y), [100]);
    let host = AnyBackend::from(HOST).zeros::<f64>([100]).unwrap();
    let why = expr!(b, x + host * 2).unwrap_err();
    assert!(matches!(why, Error::Backend { .. }), "arrays of two backends are not mixed: {why}");
}

#[test]
fn results_are_written_over_arrays_that_are_given() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    let [x, y, _] = samples(&b, 600);
    let host = |x: &CudaArray<f64>| b.to_ndarray(x).unwrap();
    let (m, before) = (b.reshape(&x, [20, 30]).unwrap(), host(&x));
    let new = |b: &Cuda| b.add(&x, 0.0).unwrap();
    let expected = host(&b.exp(&b.square(&x).unwrap()).unwrap());
    assert_eq!(host(&within(2, 1, || b.exp(b.square(&x)?))), expected);
    let one = new(&b);
    let sum = host(&b.add(&y, &x).unwrap());
    assert_eq!(host(&within(1, 0, || b.add(&y, one))), sum, "the second operand");
    let (one, other) = (new(&b), new(&b));
    assert_eq!(host(&within(1, 0, || b.add(one, other))), host(&b.add(&x, &x).unwrap()), "both");
    // an operand that is broadcast, operands with permuted or reversed axes, and a view that begins at the second
    // element
    let column = b.asarray([[2.0]; 20]).unwrap();
    let one = b.reshape(new(&b), [20, 30]).unwrap();
    let scaled = host(&b.multiply(&m, &column).unwrap());
    assert_eq!(host(&within(1, 0, || b.multiply(one, &column))), scaled);
    let turned = b.permute_dims(b.reshape(new(&b), [20, 30]).unwrap(), ..).unwrap();
    let flipped = b.flip(b.permute_dims(&m, ..).unwrap(), 0).unwrap();
    let sum = host(&b.add(b.permute_dims(&m, ..).unwrap(), &flipped).unwrap());
    assert_eq!(host(&within(1, 0, || b.add(turned, &flipped))), sum);
    let part = b.getitem(new(&b), backends::slices![1..]).unwrap();
    let root = host(&b.abs(b.getitem(&x, backends::slices![1..]).unwrap()).unwrap());
    assert_eq!(host(&within(1, 0, || b.abs(part))), root);
    // the memory is not reused if another handle or a view still refers to it, or if the result has another size
    let (one, handle) = (new(&b), new(&b));
    let view = b.flip(&one, 0).unwrap();
    within(1, 1, || b.exp(one));
    within(1, 1, || b.exp(handle.clone()));
    assert_eq!((host(&b.flip(&view, 0).unwrap()), host(&handle)), (before.clone(), before.clone()));
    let (column, one) = (b.zeros::<f64>([2, 1]).unwrap(), new(&b));
    let wide = within(1, 1, || b.add(handle, &column));
    assert_eq!(b.shape(&wide), [2, 600]);
    let flags = within(1, 1, || b.greater(one, 0.0));
    assert_eq!(host(&b.astype(&flags).unwrap()), before.mapv(|x| f64::from(x > 0.0)).into_shared());
    // if the argument is a small view of a large allocation, the result gets new memory, so that the large allocation
    // can be freed
    let part = b.getitem(new(&b), backends::slices![..10]).unwrap();
    within(1, 1, || b.exp(part));
    assert_eq!(host(&x), before);
}

fn written_to<B: Backend>(b: &B) {
    let new = || b.add(b.arange(0.0, 600.0, 1.0).unwrap(), 0.0).unwrap();
    let item = |x: &B::Array<f64>, i: usize| b.to_ndarray(x).unwrap().iter().copied().nth(i).unwrap();
    let (x, flags, mut y) = (new(), b.less(new(), 10.0).unwrap(), new());
    within(1, 0, || b.out(&mut y).add(&x, 2));
    assert_eq!(item(&y, 7), 9.0);
    within(1, 0, || b.out(&mut y).r#where(&flags, -1.5, &x));
    assert_eq!([item(&y, 7), item(&y, 11)], [-1.5, 11.0]);
    within(1, 0, || b.out(&mut y).abs(b.permute_dims(&x, ..)?));
    assert_eq!(item(&y, 7), 7.0);
    let handle = y.clone();
    within(1, 1, || b.out(&mut y).negative(&x));
    assert_eq!([item(&y, 7), item(&handle, 7)], [-7.0, 7.0]);
    let mut total = b.zeros::<f64>([]).unwrap();
    b.out(&mut total).sum(b.asarray([1.0, 2.0]).unwrap(), ..).unwrap();
    assert_eq!(item(&total, 0), 3.0);
}

#[test]
fn results_are_written_to_arrays_that_are_there() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    written_to(&b);
    written_to(&AnyBackend::from(b));
}

/// `where` overwrites an array that is passed by value.
#[test]
fn choices_are_written_over_arrays_that_are_given() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    let [x, y, _] = samples(&b, 600);
    let (flags, host) = (b.less(&x, 0.0).unwrap(), |x: &CudaArray<f64>| b.to_ndarray(x).unwrap());
    let expected = host(&b.r#where(&flags, &x, &y).unwrap());
    let new = |x: &CudaArray<f64>| b.add(x, 0.0).unwrap();
    let (one, other) = (new(&x), new(&y));
    assert_eq!(host(&within(1, 0, || b.r#where(&flags, one, &y))), expected);
    assert_eq!(host(&within(1, 0, || b.r#where(&flags, &x, other))), expected);
    let (column, one) = (b.asarray([[1.0]]).unwrap(), b.reshape(new(&x), [1, 600]).unwrap());
    let wide = host(&b.r#where(&flags, &column, &one).unwrap());
    assert_eq!(host(&within(1, 0, || b.r#where(&flags, &column, one))), wide);
    let one = new(&x);
    let handle = one.clone();
    within(1, 1, || b.r#where(&flags, one, 0.0));
    assert_eq!(host(&handle), host(&x));
    // a bool result overwrites the condition
    let (f, g) = (b.greater(&x, 0.0).unwrap(), b.greater(&y, 0.0).unwrap());
    let expected = b.to_ndarray(&b.r#where(&flags, &f, &g).unwrap()).unwrap();
    assert_eq!(b.to_ndarray(&within(1, 0, || b.r#where(flags, &f, &g))).unwrap(), expected);
}

fn assigned<B: Backend>(b: &B) {
    let new = || b.add(b.arange(0.0, 600.0, 1.0).unwrap(), 0.0).unwrap();
    let item = |x: &B::Array<f64>, i: usize| b.to_ndarray(x).unwrap().iter().copied().nth(i).unwrap();
    let (x, mut y) = (new(), new());
    for a in [2.0, 3.0] {
        within(1, 0, || expr!(b, y += a * x));
    }
    assert_eq!(item(&y, 7), 42.0);
    within(1, 0, || expr!(b, y = x - 1));
    assert_eq!(item(&y, 7), 6.0);
    // if another handle or a view exists, or if the shape differs, the result gets new memory
    let handle = y.clone();
    within(1, 1, || expr!(b, y *= y));
    let view = b.flip(&y, 0).unwrap();
    within(1, 1, || expr!(b, y = -y));
    assert_eq!([item(&handle, 7), item(&view, 592), item(&y, 7)], [6.0, 36.0, -36.0]);
    let mut column = b.asarray([[1.0], [2.0]]).unwrap();
    within(1, 1, || expr!(b, y = y * column));
    assert_eq!((b.shape(&y), item(&y, 607)), (&[2, 600][..], -72.0));
    let why = expr!(b, column -= y).unwrap_err().to_string();
    assert!(why.contains("[2, 600]") && why.contains("[2, 1]"), "{why}");
    // an array with permuted axes, and an operand with the same layout
    let mut turned = b.permute_dims(b.reshape(new(), [20, 30]).unwrap(), ..).unwrap();
    let m = b.reshape(&x, [30, 20]).unwrap();
    within(1, 0, || expr!(b, turned += m + turned));
    assert_eq!(item(&turned, 41), (2 * (30 + 2) + 41) as f64);
}

#[test]
fn assignments_write_over_memory_that_nothing_else_uses() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    assigned(&b);
    assigned(&AnyBackend::from(b));
}

/// Returns the shape and the elements of `x`, as text. The text is exact for floats and for every other dtype.
fn exactly<B: Backend, T: Element>(b: &B, x: Result<B::Array<T>>) -> Result<(Vec<usize>, Vec<String>)> {
    let x = b.to_ndarray(&x?)?;
    Ok((x.shape().to_vec(), x.iter().map(|v| format!("{v:?}")).collect()))
}

/// A fused reduction of a formula has the same bits as the formula followed by the reduction.
fn reduces_alike<B: Backend, T: Real>(b: &B, x: &B::Array<T>, y: &B::Array<T>) {
    let whole = expr!(b, (x - y) * x).unwrap();
    let flags = expr!(b, x < y).unwrap();
    let lists: [&[isize]; 6] = [&[0], &[-1], &[1], &[0, 1], &[0, 2], &[]];
    for axis in lists.map(|list| Axes::from(list.to_vec())).into_iter().chain([Axes::All]) {
        let a = || axis;
        macro_rules! same {
            ($($op:ident $with:ident $options:ident)*) => {$(
                let what = format!("{} {} {axis:?} of {:?}", stringify!($op), T::DTYPE, b.shape(&whole));
                let (fused, plain) = (expr!(b, $op((x - y) * x, a())), b.$op(&whole, a()));
                assert_eq!(exactly(b, fused), exactly(b, plain), "{what}");
                let (fused, plain) = (
                    expr!(b, $op(x < y, a(), keepdims = true)),
                    b.$with(&flags, a(), $options::new().keepdims(true)),
                );
                assert_eq!(exactly(b, fused), exactly(b, plain), "{what}");
            )*};
        }
        same! { sum sum_with SumOptions   any any_with AnyOptions   all all_with AllOptions
        count_nonzero count_nonzero_with CountNonzeroOptions   prod prod_with ProdOptions }
        for (fused, plain) in [
            (expr!(b, max((x - y) * x, a())), b.max(&whole, a())),
            (expr!(b, min((x - y) * x, a())), b.min(&whole, a())),
            (expr!(b, mean((x - y) * x, a())), b.mean(&whole, a())),
        ] {
            assert_eq!(exactly(b, fused), exactly(b, plain), "{} {axis:?}", T::DTYPE);
        }
        let corrected = VarOptions::new().correction(1.5).keepdims(true);
        for (fused, plain) in [
            (expr!(b, var((x - y) * x, a(), correction = 1.5, keepdims = true)), b.var_with(&whole, a(), corrected)),
            (expr!(b, std((x - y) * x, a())), b.std(&whole, a())),
        ] {
            assert_eq!(exactly(b, fused), exactly(b, plain), "{} {axis:?}", T::DTYPE);
        }
    }
    for axis in [0, 1, -1] {
        for (fused, plain) in [
            (expr!(b, argmax((x - y) * x, axis)), b.argmax(&whole, axis)),
            (
                expr!(b, argmin(x < y, axis, keepdims = true)),
                b.argmin_with(&flags, axis, ArgminOptions::new().keepdims(true)),
            ),
        ] {
            assert_eq!(exactly(b, fused), exactly(b, plain), "{} {axis}", T::DTYPE);
        }
    }
}

#[test]
fn reductions_of_formulas_have_the_bits_of_those_of_arrays() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    fn of<T: Real>(b: &Cuda, layouts: usize) {
        let new = |shape: &[usize], seed: u64| -> CudaArray<T> {
            b.from_ndarray(Numpyish::seeded(seed).random_normal(shape).unwrap()).unwrap()
        };
        let part = |x: &CudaArray<T>, slices: &[Slice]| b.getitem(x, slices).unwrap();
        let [x, y] = [1, 2].map(|seed| new(&[3, 10, 17], seed));
        let turned = b.permute_dims(new(&[17, 10, 3], 3), ..).unwrap();
        let steps = part(&new(&[6, 20, 34], 4), &[Slice::ALL.step(2), Slice::ALL.step(-2), Slice::ALL.step(2)]);
        let [rows, other] = [5, 6].map(|seed| new(&[4, 640], seed));
        for (x, y) in [
            (&x, &y),
            (&x, &turned),
            (&turned, &turned),
            (&steps, &x),
            (&x, &part(&y, &backends::slices![0..1, .., 3..4])),
            (&part(&x, &backends::slices![.., 5..6, ..]), &turned),
            (&rows, &other),
            (&b.permute_dims(&rows, ..).unwrap(), &b.permute_dims(&other, ..).unwrap()),
            (&rows, &part(&other, &backends::slices![3])),
            (&part(&rows, &backends::slices![.., 1..]), &part(&other, &backends::slices![0..1, 0..1])),
            (&new(&[], 9), &new(&[], 10)),
            (&part(&x, &backends::slices![0..0]), &part(&y, &backends::slices![0..1])),
        ]
        .into_iter()
        .take(layouts)
        {
            reduces_alike(b, x, y);
        }
    }
    of::<f64>(&b, usize::MAX);
    of::<f32>(&b, 4);
    of::<backends::f16>(&b, 2);
    let any = AnyBackend::from(b.clone());
    let x = any.asarray([[1.0, 2.0], [3.0, 4.0]]).unwrap();
    reduces_alike(&any, &x, &x);
    // the formula's values are not stored as an array, and errors are the same as for the separate ops
    let [x, y, z] = samples(&b, 9000);
    let n = b.asarray([1_i32, 2, 3]).unwrap();
    let sum = within(2, 2, || expr!(b, sum((x - y) * *2 + z * 0.5, ..)));
    let whole = expr!(b, (x - y) * *2 + z * 0.5).unwrap();
    assert_eq!(exactly(&b, Ok(sum)), exactly(&b, b.sum(&whole, ..)));
    let small = within(1, 1, || expr!(b, sum(n * n, ..)));
    assert_eq!(b.to_ndarray(&small).unwrap(), HOST.asarray(14_i64).unwrap());
    // two kernels compute the mean and the deviations; two more kernels are needed because several blocks share the
    // elements
    let deviation = within(4, 4, || expr!(b, std((x - y) * *2 + z * 0.5, ..)));
    assert_eq!(exactly(&b, Ok(deviation)), exactly(&b, b.std(&whole, ..)));
    let first = within(2, 2, || expr!(b, argmax((x - y) * *2 + z * 0.5, 0)));
    assert_eq!(exactly(&b, Ok(first)), exactly(&b, b.argmax(&whole, 0)));
    let (x, y) = (b.zeros::<f64>([2, 3]).unwrap(), b.zeros::<f64>([4]).unwrap());
    assert_eq!(expr!(b, sum(x + y, ..)).unwrap_err(), expr!(b, x + y).unwrap_err());
    assert_eq!(expr!(b, sum(x + x, 2)).unwrap_err(), b.sum(&x, 2).unwrap_err());
    let none = b.zeros::<f64>([0, 3]).unwrap();
    assert_eq!(expr!(b, max(none + none, 0)).unwrap_err(), b.max(&none, 0).unwrap_err());
    let many = b.zeros::<f64>([600]).unwrap();
    let why = expr!(b, sum(whole + many, ..)).unwrap_err().to_string();
    assert!(why.starts_with("expr"), "{why}");
}

/// Environment variable that the test [`kernels_are_compiled_once`] sets in its child processes.
const CHILD: &str = "CUDA_FORMULAS_CHILD";

/// Returns the names and modification times of the kernels that are cached in `folder`, sorted by name.
fn kept(folder: &Path) -> Vec<(String, SystemTime)> {
    let files = fs::read_dir(folder.join("cuda")).unwrap().map(|file| file.unwrap());
    let mut kept: Vec<_> = files
        .map(|file| (file.file_name().into_string().unwrap(), file.metadata().unwrap().modified().unwrap()))
        .collect();
    kept.sort();
    kept
}

#[test]
fn kernels_are_compiled_once() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    if env::var_os(CHILD).is_some() {
        let [x, y, _] = samples(&b, 100);
        for s in [1.0, 2.0, 3.0] {
            b.to_ndarray(&expr!(b, exp(x * s) - 0.5 * y).unwrap()).unwrap();
        }
        return;
    }
    let folder = env::temp_dir().join(format!("backends-formulas-{}", std::process::id()));
    let run = || {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["kernels_are_compiled_once", "--exact"]).env(CHILD, "1").env("BACKENDS_CACHE", &folder);
        // if this variable were set, the child process would record its kernel as missing from the GPU bundle, although
        // it compiles the kernel only because its cache folder is new
        command.env_remove("BACKENDS_CUDA_KERNELS");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        kept(&folder)
    };
    let first = run();
    assert_eq!(first.len(), 1, "one kernel for all numbers");
    // if the kernel were compiled again, the modification time of its file would change
    assert_eq!(run(), first, "the next process takes what was kept");
    fs::remove_dir_all(&folder).unwrap();
}
