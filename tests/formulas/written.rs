//! Tests of formulas in `expr!`: operators, names, numbers and ops have the documented meaning, and one pass over the
//! elements gives the same bits as the separate ops. Some formulas run on every backend.

use backends::{Error, Result, Slice, prelude::*, runtime::available};

const B: Numpyish = Numpyish::new();

fn bits(x: &HostArray<f64>) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn samples(n: usize) -> [HostArray<f64>; 3] {
    B.seed(n as u64);
    [0.5, 1.0, 2.0].map(|scale| B.random_normal_with([n], RandomNormalOptions::new().std(scale)).unwrap())
}

#[test]
fn operators_bind_as_in_python() {
    let (x, y) = (B.asarray([1.0, 2.0, 3.0]).unwrap(), B.asarray([4.0, 5.0, 6.0]).unwrap());
    let is = |got: Result<HostArray<f64>>, expected: [f64; 3]| assert_eq!(got.unwrap(), B.asarray(expected).unwrap());
    is(expr!(B, -x * *2), [-1.0, -4.0, -9.0]);
    is(expr!(B, x + y * x), [5.0, 12.0, 21.0]);
    is(expr!(B, (x + y) * x), [5.0, 14.0, 27.0]);
    is(expr!(B, x - y - x), [-4.0, -5.0, -6.0]);
    is(expr!(B, 2 * *x), [2.0, 4.0, 8.0]);
    is(expr!(B, x * *2 * *1), [1.0, 4.0, 9.0]);
    is(expr!(B, 2 * 3.0 * x / 6), [1.0, 2.0, 3.0]);
    is(expr!(B, y % x), [0.0, 1.0, 0.0]);
    is(expr!(B, x * *-1 * x), [1.0, 1.0, 1.0]);
    is(expr!(B, (x * *2) * *0.5), [1.0, 2.0, 3.0]);
    is(expr!(B, &x - -&y), [5.0, 7.0, 9.0]);
    let flags =
        |got: Result<HostArray<bool>>, expected: [bool; 3]| assert_eq!(got.unwrap(), B.asarray(expected).unwrap());
    flags(expr!(B, x + 1 > 2 * x - 1), [true, false, false]);
    flags(expr!(B, (x > 1) & (y < 6)), [false, true, false]);
    flags(expr!(B, !(x > 1) | (y == 6)), [true, false, true]);
    flags(expr!(B, (x >= 2) ^ (x <= 2)), [true, false, true]);
    let i = B.asarray([1, 2, 3]).unwrap();
    assert_eq!(expr!(B, (i << 1) + i * 2 - 1).unwrap(), B.asarray([3, 7, 11]).unwrap());
}

#[test]
fn names_are_variables_fields_calls_of_rust_and_words_of_let() {
    struct Model {
        mu: f64,
        weights: HostArray<f64>,
    }
    impl Model {
        fn scale(&self, by: f64) -> f64 {
            by * self.mu
        }
    }
    let model = Model { mu: 2.0, weights: B.asarray([1.0, 10.0]).unwrap() };
    let (x, pair) = (B.asarray([3.0, 4.0]).unwrap(), (B.asarray([1.0, 1.0]).unwrap(), 5.0));
    let b = &B;
    let y = expr!(b, let d = x - model.mu; let e = d * d; e * model.weights + e + { pair.1 * 2.0 } + pair.0).unwrap();
    assert_eq!(y, B.asarray([1.0 + 1.0 + 10.0 + 1.0, 40.0 + 4.0 + 10.0 + 1.0]).unwrap());
    assert_eq!(expr!(b, x * model.scale(0.5) + f64::from(1_u8)).unwrap(), B.asarray([4.0, 5.0]).unwrap());
    assert_eq!(expr!(b, x * 2.0f64).unwrap(), B.asarray([6.0, 8.0]).unwrap());
    let list = [x.clone(), x.clone()];
    assert_eq!(expr!(b, { &list[1] } + 1).unwrap(), B.asarray([4.0, 5.0]).unwrap());
}

#[test]
fn numbers_take_the_dtype_beside_them() {
    let x = B.asarray([1.0_f32, 2.0]).unwrap();
    let s = 0.1_f64;
    assert_eq!(expr!(B, x * s + 0.1).unwrap(), B.asarray([1.0_f32 * 0.1 + 0.1, 2.0 * 0.1 + 0.1]).unwrap());
    assert_eq!(expr!(B, (s + 1) * 2 * x).unwrap(), B.asarray([2.2_f32, 4.4]).unwrap());
    let n = B.asarray([7_u8, 9]).unwrap();
    assert_eq!(expr!(B, n * 2 + 1).unwrap(), B.asarray([15_u8, 19]).unwrap());
    let z = B.asarray([Complex::new(3.0, 4.0), Complex::new(0.0, -2.0)]).unwrap();
    let w = B.asarray([1.0, 10.0]).unwrap();
    assert_eq!(expr!(B, abs(z) * w).unwrap(), B.asarray([5.0, 20.0]).unwrap());
    assert_eq!(expr!(B, abs(z) < 2.5 * w).unwrap(), B.asarray([false, true]).unwrap());
    assert_eq!(
        expr!(B, complex(w, w) * z + 1).unwrap(),
        B.asarray([Complex::new(0.0, 7.0), Complex::new(21.0, -20.0)]).unwrap()
    );
}

#[test]
fn whole_numbers_do_not_wrap() {
    let (x, y) = (B.asarray([1_u8, 2]).unwrap(), B.asarray([1_i8, 2]).unwrap());
    assert_eq!(expr!(B, x + 255).unwrap(), B.asarray([0_u8, 1]).unwrap(), "the sum wraps as that of arrays");
    assert_eq!(expr!(B, y - 128 + 0).unwrap_err().to_string(), "subtract: 128 does not fit int8");
    assert_eq!(expr!(B, y + -128).unwrap(), B.asarray([-127_i8, -126]).unwrap());
    assert_eq!(expr!(B, (x + x) * 300).unwrap_err().to_string(), "multiply: 300 does not fit uint8");
    assert_eq!(expr!(B, -1 < x).unwrap_err().to_string(), "less: -1 does not fit uint8");
    assert_eq!(expr!(B, clip(x, 0, 256)).unwrap_err().to_string(), "clip: 256 does not fit uint8");
    let z = B.asarray([1_u64]).unwrap();
    assert_eq!(expr!(B, z + 9223372036854775807).unwrap(), B.asarray([1_u64 << 63]).unwrap());
}

#[test]
fn what_has_effects_runs_as_often_as_it_is_written() {
    let (x, count) = (B.asarray([0.0]).unwrap(), std::cell::Cell::new(0.0));
    let next = || count.replace(count.get() + 1.0);
    assert_eq!(expr!(B, x + { next() } * 10 + { next() }).unwrap()[[0]], 1.0);
    assert_eq!(count.get(), 2.0);
}

#[test]
fn other_ops_run_first_and_take_formulas() {
    let x = B.asarray([[1.0, 2.0], [3.0, 4.0]]).unwrap();
    let v = B.asarray([1.0, -1.0]).unwrap();
    assert_eq!(expr!(B, sum(x * x, 0) + 1).unwrap(), B.asarray([11.0, 21.0]).unwrap());
    assert_eq!(expr!(B, x - mean(x, 1, keepdims = true)).unwrap(), B.asarray([[-0.5, 0.5], [-0.5, 0.5]]).unwrap());
    assert_eq!(expr!(B, (x + 1) @ v * 2).unwrap(), B.asarray([-2.0, -2.0]).unwrap());
    assert_eq!(expr!(B, sum(x * *2, ..)).unwrap()[[]], 30.0);
    assert_eq!(expr!(B, where(x > 2, x, 0)).unwrap(), B.asarray([[0.0, 0.0], [3.0, 4.0]]).unwrap());
    assert_eq!(expr!(B, concat([v, 2 * v]) + 1).unwrap(), B.asarray([2.0, 0.0, 3.0, -1.0]).unwrap());
    assert_eq!(expr!(B, x[.., 1] - x[.., 0] * 2).unwrap(), B.asarray([0.0, -2.0]).unwrap());
    assert_eq!(expr!(B, (x * 2)[0] + v).unwrap(), B.asarray([3.0, 3.0]).unwrap());
    assert_eq!(expr!(B, clip(x - 1, 0.5, 2)).unwrap(), B.asarray([[0.5, 1.0], [2.0, 2.0]]).unwrap());
    assert_eq!(expr!(B, clip(x - 1, .., 2)).unwrap(), B.asarray([[0.0, 1.0], [2.0, 2.0]]).unwrap());
    assert_eq!(expr!(B, clip(x - 1, 0.5, ..) * 2).unwrap(), B.asarray([[1.0, 2.0], [4.0, 6.0]]).unwrap());
    assert_eq!(expr!(B, clip(x - 1, .., ..)).unwrap(), expr!(B, x - 1).unwrap());
}

#[test]
fn one_pass_gives_the_bits_of_op_by_op() {
    for n in [0, 1, 7, 10, 255, 256, 257, 1000, 40_000, 200_000] {
        let [x, y, z] = samples(n);
        let fused = expr!(B, 0.5 * exp(-(x - y) * *2 / (2.0 * 1.5)) + sin(z * 1e7) * x).unwrap();
        let d = B.square(&B.subtract(&x, &y).unwrap()).unwrap();
        let gauss = B.multiply(0.5, &B.exp(&B.divide(&B.negative(&d).unwrap(), 3.0).unwrap()).unwrap()).unwrap();
        let sine = B.multiply(&B.sin(&B.multiply(&z, 1e7).unwrap()).unwrap(), &x).unwrap();
        assert_eq!(bits(&fused), bits(&B.add(&gauss, &sine).unwrap()), "{n}");
    }
}

/// `where` and conversions of dtypes run in the same pass as the rest of the formula, on any backend.
fn choices<B: Backend>(b: &B) {
    let host = |x: &B::Array<f64>| b.to_ndarray(x).unwrap().iter().copied().collect::<Vec<_>>();
    let x = b.asarray([-2.0, 0.0, 3.0, f64::NAN]).unwrap();
    let leaky = expr!(b, where(x > 0.0, x, 0.1 * x)).unwrap();
    assert_eq!(host(&leaky)[..3], [-0.2, 0.0, 3.0]);
    // a number literal, as either value of `where`, takes the dtype of the other value
    assert_eq!(host(&expr!(b, where(isnan(x), 1, x) * 2).unwrap()), [-4.0, 0.0, 6.0, 2.0]);
    assert_eq!(host(&expr!(b, where(x < 1, 0.5, 1.0 + x)).unwrap())[..3], [0.5, 0.5, 4.0]);
    // scalar variables chosen by a condition that is an array, and then an array and a scalar chosen by a scalar
    // condition
    let (low, high, flag) = (-1.0, 1.0, true);
    assert_eq!(host(&expr!(b, where(x > 0, high, low)).unwrap()), [-1.0, -1.0, 1.0, -1.0]);
    assert_eq!(host(&expr!(b, where(flag, x, low) + 0).unwrap())[..3], [-2.0, 0.0, 3.0]);
    let n = b.asarray([1_u8, 2, 3, 4]).unwrap();
    assert_eq!(
        expr!(b, where(x > 0, n, 256)).unwrap_err().to_string(),
        "where: 256 does not fit uint8",
        "as beside any op"
    );
    assert_eq!(host(&expr!(b, astype::<f64>(n) * 0.5 + where(x > 0, x, 0)).unwrap()), [0.5, 1.0, 4.5, 2.0]);
    assert_eq!(host(&expr!(b, astype::<f64, _>(astype::<i8>(x * 100))).unwrap()), [-128.0, 0.0, 127.0, 0.0]);
    let single = expr!(b, astype::<f32>(x) / 3).unwrap();
    let by_ops = b.divide(&b.astype::<f32, _>(&x).unwrap(), 3.0).unwrap();
    let bits = |x: &B::Array<f32>| b.to_ndarray(x).unwrap().map(|v| v.to_bits());
    assert_eq!(bits(&single).as_slice().map(|v| &v[..3]), bits(&by_ops).as_slice().map(|v| &v[..3]));
    let short = b.asarray([1.0, 2.0]).unwrap();
    assert!(expr!(b, where(x > 0, short, 0)).is_err());
}

#[test]
fn choices_and_conversions() {
    choices(&B);
    choices(&AnyBackend::from(B));
    if let Some(b) = available("torch", Torch::cpu()) {
        choices(&b);
    }
    if let Some(b) = available("cuda", Cuda::new(0)) {
        choices(&b);
    }
}

#[test]
fn a_generic_conversion_names_a_generic_dtype() {
    fn mean_of<B: Backend, T: Real>(b: &B, x: &B::Array<u8>) -> Result<B::Array<T>> {
        expr!(b, astype::<T>(x) / T::from_f64(2.0))
    }
    let x = B.asarray([1_u8, 3]).unwrap();
    assert_eq!(mean_of::<_, f32>(&B, &x).unwrap(), B.asarray([0.5_f32, 1.5]).unwrap());
}

#[test]
fn layouts_and_shapes_that_broadcast() {
    let x = B.reshape(&B.arange(0.0, 600.0, 1.0).unwrap(), [20, 30]).unwrap();
    let turned = B.permute_dims(&B.reshape(&B.arange(0.0, 600.0, 1.0).unwrap(), [30, 20]).unwrap(), ..).unwrap();
    let back = B.flip(&x, 1).unwrap();
    let (row, col) =
        (B.arange(0.0, 30.0, 1.0).unwrap(), B.reshape(&B.arange(0.0, 20.0, 1.0).unwrap(), [20, 1]).unwrap());
    let zero = B.asarray(3.0).unwrap();
    let fused = expr!(B, x * turned - back / (row + 1) + col * zero).unwrap();
    let expected = B
        .add(
            &B.subtract(&B.multiply(&x, &turned).unwrap(), &B.divide(&back, &B.add(&row, 1.0).unwrap()).unwrap())
                .unwrap(),
            &B.multiply(&col, &zero).unwrap(),
        )
        .unwrap();
    assert_eq!(fused, expected);
    let why = expr!(B, x + col[1..]).unwrap_err();
    assert!(why.to_string().contains("expr") && why.to_string().contains("[20, 30]"), "{why}");
    let empty = B.zeros::<f64>([0, 30]).unwrap();
    assert_eq!(expr!(B, empty * 2 + row).unwrap().shape(), [0, 30]);
}

#[test]
fn long_and_deep_formulas_are_split() {
    let x: Vec<HostArray<f64>> = (0..20).map(|i| B.asarray([f64::from(i), 1.0]).unwrap()).collect();
    let (a, b, c, d, e, f, g, h, i, j, k, l) =
        (&x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7], &x[8], &x[9], &x[10], &x[11]);
    let sum = expr!(B, a + b + c + d + e + f + g + h + i + j + k + l).unwrap();
    assert_eq!(sum, B.asarray([66.0, 12.0]).unwrap());
    let both = expr!(B, (a + b * c + d * e) * (f - g - h) + (i * j) * (k + l)).unwrap();
    assert_eq!(both, B.asarray([14.0 * -8.0 + 72.0 * 21.0, -3.0 + 2.0]).unwrap());
    // a subexpression that contains only scalar variables is computed as a scalar
    let (r, s, t) = (1.0, 2.0, 0.5);
    let scaled = expr!(B, ((r + s) * (s - t) + { r / s } * { s * 4.0 } - { t } * { r } + { s } + { t } - { r }) * b);
    assert_eq!(scaled.unwrap(), B.multiply(b, 4.5 + 4.0 - 0.5 + 2.0 + 0.5 - 1.0).unwrap());
    let broad = expr!(
        B,
        let p = (b + 1) * (b - 2) + (b * 3) * (b / 4);
        let q = p * p - (p + p);
        let r = q * q - (q + q);
        r + r
    );
    let p = |b: f64| (b + 1.0) * (b - 2.0) + (b * 3.0) * (b / 4.0);
    let twice = |p: f64| p * p - (p + p);
    assert_eq!(broad.unwrap(), b.mapv(|b| 2.0 * twice(twice(p(b)))).into_shared());
    let y = expr!(B, -(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-(-b)))))))))))))))))))))))))))))))))))))))))))))).unwrap();
    assert_eq!(y, *b);
}

#[test]
fn assignments_change_this_handle_and_no_other() {
    let x = B.asarray([1.0, 2.0]).unwrap();
    let mut y = x.clone();
    expr!(B, y += 10 * x).unwrap();
    expr!(B, y -= 1).unwrap();
    assert_eq!((y.clone(), x.clone()), (B.asarray([10.0, 21.0]).unwrap(), B.asarray([1.0, 2.0]).unwrap()));
    expr!(B, y = y / x).unwrap();
    expr!(B, y **= 2).unwrap();
    assert_eq!(y, B.asarray([100.0, 110.25]).unwrap());
    struct State {
        u: HostArray<f64>,
    }
    let mut state = State { u: x };
    expr!(B, state.u *= state.u).unwrap();
    assert_eq!(state.u, B.asarray([1.0, 4.0]).unwrap());
    let wide = B.zeros::<f64>([3, 1]).unwrap();
    let refused = expr!(B, y += wide).unwrap_err().to_string();
    assert_eq!(refused, "expr: shape [3, 2] does not fit the variable, whose shape is [2]");
    assert_eq!(y, B.asarray([100.0, 110.25]).unwrap());
    expr!(B, y = y + wide).unwrap();
    assert_eq!(y.shape(), [3, 2]);
}

/// Generic code that assigns to its `&mut` parameter by `*y`, and reads the parameter as `y`.
fn axpy<B: Backend, T: Numeric>(b: &B, y: &mut B::Array<T>, a: T, x: &B::Array<T>) -> Result<()> {
    expr!(b, *y += a * x)?;
    expr!(b, *y = y - x + (y - y))
}

#[test]
fn assignments_write_over_memory_that_nothing_else_uses() {
    let n = 50_000;
    let new = || B.arange(0.0, n as f64, 1.0).unwrap();
    let x = new();
    let mut y = new();
    let start = y.as_ptr();
    for _ in 0..3 {
        axpy(&B, &mut y, 2.0, &x).unwrap();
    }
    assert_eq!(y.as_ptr(), start);
    assert!(y.indexed_iter().all(|(i, v)| *v == 4.0 * i[0] as f64));
    // if a second handle or a view exists, the memory is not overwritten
    let handle = y.clone();
    expr!(B, y /= 4).unwrap();
    assert!(y.as_ptr() != start && handle[[2]] == 8.0 && y == x);
    let (start, part) = (y.as_ptr(), B.getitem(&y, backends::slices![1..3]).unwrap());
    expr!(B, y = -y).unwrap();
    assert!(y.as_ptr() != start && part == B.asarray([1.0, 2.0]).unwrap() && y[[n - 1]] == 1.0 - n as f64);
    // the memory is also overwritten if the variable is assigned but not read; if necessary, the variable changes its
    // shape
    let start = y.as_ptr();
    expr!(B, y = x * 2 + 1).unwrap();
    assert!(y.as_ptr() == start && y[[7]] == 15.0);
    let row = B.asarray([[1.0], [2.0]]).unwrap();
    expr!(B, y = y * row).unwrap();
    assert!(y.shape() == [2, n] && y[[1, 7]] == 30.0);
    // arrays whose memory order is not C order: first all in the same order, then in different orders
    let turned = || B.permute_dims(B.reshape(new(), [-1, 10]).unwrap(), [1, 0]).unwrap();
    let (x, mut y) = (turned(), turned());
    let start = y.as_ptr();
    expr!(B, y = y * x - x).unwrap();
    assert!(y.as_ptr() == start && y[[3, 4]] == 43.0 * 42.0);
    let x = B.reshape(new(), [10, -1]).unwrap();
    expr!(B, y -= x).unwrap();
    assert_eq!(y[[3, 4]], 43.0 * 42.0 - (3 * n / 10 + 4) as f64);
    // if a second handle was made just before the assignment, the memory is not overwritten
    let mut y = new();
    let mut kept = None;
    let mut keep = |y: &HostArray<f64>| {
        kept = Some(y.clone());
        1.0
    };
    let one = keep(&y);
    expr!(B, y += one).unwrap();
    assert!(kept.unwrap() == new() && y[[1]] == 2.0);
}

/// Returns the shape and the elements of `x`, as text. The text is exact for floats and for every other dtype.
fn exactly<T: Element>(x: &HostArray<T>) -> (Vec<usize>, Vec<String>) {
    (x.shape().to_vec(), x.iter().map(|v| format!("{v:?}")).collect())
}

/// A fused reduction of a formula has the same bits as the formula followed by the reduction.
#[test]
fn reductions_of_formulas_need_no_array() {
    fn agrees<T: Real>(layouts: &[(HostArray<T>, HostArray<T>)]) {
        let b = Numpyish::new();
        for (x, y) in layouts {
            let whole = expr!(b, (x - y) * x).unwrap();
            let flags = expr!(b, x < y).unwrap();
            for axis in [Axes::All, 0.into(), (-1).into(), [0, 1].into(), 1.into(), [0, 2].into(), [0; 0].into()] {
                let a = || axis;
                let what = format!("{} {:?} {:?} {:?} {axis:?}", T::DTYPE, x.shape(), x.strides(), y.strides());
                macro_rules! same {
                    ($($op:ident $with:ident $options:ident)*) => {$(
                        let (fused, plain) = (expr!(b, $op((x - y) * x, a())), b.$op(&whole, a()));
                        assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{} {what}", stringify!($op));
                        let (fused, plain) = (
                            expr!(b, $op(x < y, a(), keepdims = true)),
                            b.$with(&flags, a(), $options::new().keepdims(true)),
                        );
                        assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{} {what}", stringify!($op));
                    )*};
                }
                same! { sum sum_with SumOptions   any any_with AnyOptions   all all_with AllOptions
                count_nonzero count_nonzero_with CountNonzeroOptions   prod prod_with ProdOptions }
                let corrected = VarOptions::new().correction(1.5).keepdims(true);
                for (fused, plain) in [
                    (expr!(b, max((x - y) * x, a())), b.max(&whole, a())),
                    (expr!(b, min((x - y) * x, a())), b.min(&whole, a())),
                    (expr!(b, mean((x - y) * x, a())), b.mean(&whole, a())),
                ] {
                    assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{what}");
                }
                for (fused, plain) in [
                    (expr!(b, var((x - y) * x, a())), b.var(&whole, a())),
                    (
                        expr!(b, var((x - y) * x, a(), correction = 1.5, keepdims = true)),
                        b.var_with(&whole, a(), corrected),
                    ),
                    (expr!(b, std((x - y) * x, a())), b.std(&whole, a())),
                ] {
                    assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{what}");
                }
            }
            // sums of products have their own loops
            let (product, square) = (expr!(b, x * y).unwrap(), expr!(b, x * x).unwrap());
            for axis in [Axes::All, 0.into(), (-1).into(), [0, 1].into(), 1.into(), [1, 2].into(), [0, 2].into()] {
                let what = format!("{} {:?} {:?} {:?} {axis:?}", T::DTYPE, x.shape(), x.strides(), y.strides());
                for (fused, plain) in [
                    (expr!(b, sum(x * y, axis)), b.sum(&product, axis)),
                    (expr!(b, sum(conj(x) * y, axis)), b.sum(&product, axis)),
                    (expr!(b, sum(x * x, axis)), b.sum(&square, axis)),
                    (expr!(b, sum(square(real(x)), axis)), b.sum(&square, axis)),
                ] {
                    assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{what}");
                }
                let (fused, plain) = (expr!(b, mean(x * y, axis)), b.mean(&product, axis));
                assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{what}");
                let (fused, plain) = (expr!(b, var(x * y, axis)), b.var(&product, axis));
                assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{what}");
            }
            // an expensive formula is stored as an array if a reduction would read its values twice
            let slow = expr!(b, exp(x / 8) - y).unwrap();
            for axis in [Axes::All, 0.into(), (-1).into(), [0, 2].into()] {
                let what = format!("{} {:?} {:?} {:?} {axis:?}", T::DTYPE, x.shape(), x.strides(), y.strides());
                for (fused, plain) in [
                    (expr!(b, var(exp(x / 8) - y, axis)), b.var(&slow, axis)),
                    (expr!(b, std(exp(x / 8) - y, axis)), b.std(&slow, axis)),
                ] {
                    assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{what}");
                }
            }
            for axis in [0, 1, 2, -1] {
                let what = format!("{} {:?} {:?} {:?} {axis}", T::DTYPE, x.shape(), x.strides(), y.strides());
                for (fused, plain) in [
                    (expr!(b, argmax((x - y) * x, axis)), b.argmax(&whole, axis)),
                    (expr!(b, argmin((x - y) * x, axis)), b.argmin(&whole, axis)),
                    (
                        expr!(b, argmin(x < y, axis, keepdims = true)),
                        b.argmin_with(&flags, axis, ArgminOptions::new().keepdims(true)),
                    ),
                ] {
                    assert_eq!(fused.as_ref().map(exactly), plain.as_ref().map(exactly), "{what}");
                }
            }
        }
    }
    fn layouts<T: Real>() -> Vec<(HostArray<T>, HostArray<T>)> {
        let b = Numpyish::new();
        let new = |shape: &[usize], seed: u64| -> HostArray<T> {
            b.seed(seed);
            b.random_normal(shape).unwrap()
        };
        let part = |x: &HostArray<T>, slices: &[Slice]| b.getitem(x, slices).unwrap();
        let [x, y] = [1, 2].map(|seed| new(&[7, 40, 33], seed));
        let turned = b.permute_dims(new(&[33, 40, 7], 3), ..).unwrap();
        let steps = part(&new(&[14, 80, 66], 4), &[Slice::ALL.step(2), Slice::ALL.step(-2), Slice::ALL.step(2)]);
        let [points, other] = [5, 6].map(|seed| new(&[700, 3], seed));
        let [long, longer] = [7, 8].map(|seed| new(&[2, 70_001], seed));
        let pairs = |k: usize| (new(&[90, 1, k], 11), new(&[1, 40, k], 12));
        let scaled = |k: usize| (new(&[50, 30, 1], 13), new(&[50, 1, k], 14));
        vec![
            pairs(2),
            pairs(3),
            pairs(31),
            pairs(32),
            scaled(3),
            scaled(8),
            (new(&[60, 1, 5], 15), b.permute_dims(new(&[5, 70, 1], 16), ..).unwrap()),
            (part(&new(&[40, 2, 14], 17), &[Slice::ALL.step(-1), Slice::ALL, Slice::ALL.step(-2)]), new(&[7], 18)),
            (new(&[3, 2, 4], 19), new(&[2, 1], 20)),
            (x.clone(), y.clone()),
            (x.clone(), turned.clone()),
            (turned.clone(), turned.clone()),
            (steps.clone(), x.clone()),
            (steps.clone(), steps),
            (x.clone(), part(&y, &backends::slices![0..1, .., 3..4])),
            (part(&x, &backends::slices![.., 5..6, ..]), turned),
            (points.clone(), other.clone()),
            (points.clone(), part(&other, &backends::slices![3])),
            (b.permute_dims(&points, ..).unwrap(), b.permute_dims(&other, ..).unwrap()),
            (long.clone(), longer),
            (long.clone(), part(&long, &backends::slices![.., 4..5])),
            (new(&[], 9), new(&[], 10)),
            (part(&x, &backends::slices![0..0]), part(&y, &backends::slices![0..1])),
            (part(&x, &backends::slices![.., .., 2..2]), part(&y, &backends::slices![.., .., 7..8])),
        ]
    }
    agrees::<f64>(&layouts());
    agrees::<f32>(&layouts());
    agrees::<backends::f16>(&layouts()[..14]);
    let (x, y) = (B.zeros::<f64>([2, 3]).unwrap(), B.zeros::<f64>([4]).unwrap());
    assert_eq!(expr!(B, sum(x + y, ..)).unwrap_err(), expr!(B, x + y).unwrap_err());
    assert_eq!(expr!(B, sum(x + x, 2)).unwrap_err(), B.sum(&x, 2).unwrap_err());
    assert_eq!(expr!(B, argmax(x + x, 300)).unwrap_err(), B.argmax(&x, 300).unwrap_err());
    assert_eq!(expr!(B, argmin(x + x, u64::MAX)).unwrap_err(), B.argmin(&x, u64::MAX).unwrap_err());
    let none = B.zeros::<f64>([0, 3]).unwrap();
    assert_eq!(expr!(B, argmax(none + none, 0)).unwrap_err(), B.argmax(&none, 0).unwrap_err());
    assert_eq!(expr!(B, argmax(none + none, ..)).unwrap_err(), B.argmax(&none, ..).unwrap_err());
    // with `..`, `argmax` searches all elements in C order
    let w = B.asarray([[1.0, 5.0], [7.0, 2.0]]).unwrap();
    assert_eq!(expr!(B, argmax(w * 2, ..)).unwrap(), B.asarray(2_i64).unwrap());
    assert_eq!(expr!(B, argmin(w * -2, .., keepdims = true)).unwrap(), B.asarray([[2_i64]]).unwrap());
    let odd = B.asarray([1.0, f64::NAN, 7.0, f64::NAN]).unwrap();
    assert_eq!(expr!(B, argmin(odd * odd, 0)).unwrap(), B.asarray(1_i64).unwrap());
    let z = B.asarray([Complex::new(3.0, 4.0), Complex::new(0.0, 1.0)]).unwrap();
    assert_eq!(expr!(B, std(z * 2, ..)).unwrap(), B.std(&B.multiply(&z, 2).unwrap(), ..).unwrap());
    assert_eq!(expr!(B, sum(abs(z) * 2.0, ..)).unwrap(), B.asarray(12.0).unwrap());
    let i = B.asarray([1_i32, 2, 3]).unwrap();
    assert_eq!(expr!(B, sum(i * i, ..)).unwrap(), B.asarray(14_i64).unwrap());
}

/// A formula that is generic over the backend and the dtype; its scalars have the type `T`, too.
fn gauss<B: Backend, T: Real>(b: &B, x: &B::Array<T>, mu: T, s: T) -> Result<B::Array<T>> {
    expr!(b, 0.5 * exp(-(x - mu) * *2 / (2.0 * s * s)) + x)
}

fn by_ops<B: Backend, T: Real>(b: &B, x: &B::Array<T>, mu: T, s: T) -> Result<B::Array<T>> {
    let two = T::from_f64(2.0);
    let d = b.square(&b.subtract(x, mu)?)?;
    let d = b.divide(&b.negative(&d)?, two.times(s).times(s))?;
    b.add(&b.multiply(T::from_f64(0.5), &b.exp(&d)?)?, x)
}

/// Checks that a formula agrees with the same ops called separately, within 1e-14 (float64) or 1e-6 (float32). If both
/// run the same loops, the callers check that the bits are equal.
fn holds_on<B: Backend>(b: &B) {
    let x = b.from_ndarray(samples(1000)[0].clone()).unwrap();
    let close = |x: &B::Array<f64>, y: &B::Array<f64>| {
        let (x, y) = (b.to_ndarray(x).unwrap(), b.to_ndarray(y).unwrap());
        x.shape() == y.shape() && x.iter().zip(&y).all(|(x, y)| (x - y).abs() <= 1e-14 * (1.0 + y.abs()))
    };
    assert!(close(&gauss(b, &x, 0.3, 1.5).unwrap(), &by_ops(b, &x, 0.3, 1.5).unwrap()));
    let y = b.astype::<f32, _>(&x).unwrap();
    let (one, other) = (gauss(b, &y, 0.3, 1.5).unwrap(), by_ops(b, &y, 0.3, 1.5).unwrap());
    let difference = b.to_ndarray(&b.subtract(&one, &other).unwrap()).unwrap();
    assert!(difference.iter().all(|d| d.abs() < 1e-6));
    let sums = expr!(b, sum((x - mean(x, ..)) * *2, ..) / 999).unwrap();
    let variance = b.var_with(&x, .., VarOptions::new().correction(1.0)).unwrap();
    assert!(close(&sums, &variance));
}

#[test]
fn formulas_on_numpyish() {
    holds_on(&B);
    let x = samples(3000)[1].clone();
    assert_eq!(bits(&gauss(&B, &x, 0.3, 1.5).unwrap()), bits(&by_ops(&B, &x, 0.3, 1.5).unwrap()));
}

#[test]
fn formulas_on_torch() {
    let Some(b) = available("torch", Torch::cpu()) else { return };
    holds_on(&b);
    // formulas of libtorch's CPU tensors are computed by the loop of the CPU backend, directly on the tensors' memory
    // and in any layout
    let x = samples(3000)[1].clone();
    let y = b.from_ndarray(x.clone()).unwrap();
    let there = b.to_ndarray(&gauss(&b, &y, 0.3, 1.5).unwrap()).unwrap();
    assert_eq!(bits(&there), bits(&gauss(&B, &x, 0.3, 1.5).unwrap()));
    let m = b.reshape(&y, [50, 60]).unwrap();
    let turned = b.permute_dims(&b.reshape(&y, [60, 50]).unwrap(), ..).unwrap();
    let column = b.getitem(&m, backends::slices![.., 7..8]).unwrap();
    let fused = expr!(b, m * turned - column).unwrap();
    let expected = b.subtract(&b.multiply(&m, &turned).unwrap(), &column).unwrap();
    assert_eq!(b.to_ndarray(&fused).unwrap(), b.to_ndarray(&expected).unwrap());
    let flags = expr!(b, (m > 0) & (turned > 0)).unwrap();
    assert_eq!(b.to_ndarray(&expr!(b, !flags).unwrap()).unwrap().shape(), [50, 60]);
    let none = b.zeros::<f64>([0, 50]).unwrap();
    assert_eq!(b.shape(&expr!(b, none * 2 + 1).unwrap()), [0, 50]);
    assert!(expr!(b, m + turned[1..]).unwrap_err().to_string().starts_with("expr"));
}

#[test]
fn formulas_on_cuda() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    holds_on(&b);
}

#[test]
fn formulas_on_a_backend_chosen_at_run_time() {
    if let Some(b) = available("cuda", Cuda::new(0)) {
        holds_on(&AnyBackend::from(b));
    }
    let b = AnyBackend::from(B);
    holds_on(&b);
    if let Ok(torch) = Torch::cpu() {
        let other = AnyBackend::from(torch);
        let (x, y) = (b.zeros::<f64>([2]).unwrap(), other.zeros::<f64>([2]).unwrap());
        let why = expr!(b, x + y * 2).unwrap_err();
        assert!(matches!(why, Error::Backend { .. }), "arrays of two backends are not mixed: {why}");
    }
}

/// On the host, an assignment also overwrites the memory of a libtorch tensor, if nothing else uses that memory.
#[test]
fn tensors_that_nothing_else_uses_are_written_over() {
    let Some(b) = available("torch", Torch::cpu()) else { return };
    let n = 50_000;
    let new = || b.linspace(1.0, 2.0, n).unwrap();
    let start = |x: &backends::runtime::torch::TorchArray<f64>| x.view().unwrap().as_ptr();
    let item = |x: &backends::runtime::torch::TorchArray<f64>, i: usize| x.view().unwrap()[[i]];
    let (x, mut y) = (new(), new());
    let here = start(&y);
    axpy(&b, &mut y, 2.0, &x).unwrap();
    expr!(b, y = x * x - y).unwrap();
    b.out(&mut y).add(&x, 0.5).unwrap();
    assert_eq!((start(&y), item(&y, 0), item(&y, n - 1)), (here, 1.5, 2.5));
    // the memory is also overwritten if the variable is the result of a formula, or was made from an ndarray that had
    // no other handle
    let mut z = expr!(b, x + y).unwrap();
    let here = start(&z);
    expr!(b, z -= x).unwrap();
    assert_eq!((start(&z), item(&z, 0)), (here, 1.5));
    let mut z = b.from_ndarray(B.linspace(1.0, 2.0, n).unwrap()).unwrap();
    let here = start(&z);
    expr!(b, z *= 2).unwrap();
    assert_eq!((start(&z), item(&z, 0)), (here, 2.0));
    // other handles keep their values: a clone of the tensor, a view of the tensor, and the ndarray that it was made
    // from
    let handle = z.clone();
    expr!(b, z *= 2).unwrap();
    assert_eq!([item(&handle, 0), item(&z, 0)], [2.0, 4.0]);
    let view = b.getitem(&z, backends::slices![1..]).unwrap();
    expr!(b, z = -z).unwrap();
    assert_eq!([item(&view, n - 2), item(&z, 0)], [8.0, -4.0]);
    let mut view = view;
    let of_view = start(&view);
    expr!(b, view += 1).unwrap();
    assert!(item(&view, n - 2) == 9.0 && start(&view) == of_view, "all that is left of the memory");
    let array = B.linspace(1.0, 2.0, n).unwrap();
    let mut z = b.from_ndarray(array.clone()).unwrap();
    expr!(b, z = z + 1).unwrap();
    assert_eq!((array[[0]], item(&z, 0)), (1.0, 2.0));
    let table = b.reshape(new(), [n / 10, 10]).unwrap();
    let mut turned = b.permute_dims(table, ..).unwrap();
    let here = start(&turned);
    expr!(b, turned = turned * 2).unwrap();
    assert_eq!((start(&turned), turned.view().unwrap()[[0, 0]]), (here, 2.0));
    let mut broad = b.broadcast_to(new(), [3, n]).unwrap();
    expr!(b, broad += 1).unwrap();
    assert_eq!((b.shape(&broad), broad.view().unwrap()[[2, 0]]), (&[3, n][..], 2.0));
    // memory is also overwritten through a backend that is chosen at run time
    let any = AnyBackend::from(b.clone());
    let mut z = backends::AnyArray::from(new());
    expr!(any, z = z * z).unwrap();
    assert_eq!(any.to_ndarray(&z).unwrap()[[n - 1]], 4.0);
}
