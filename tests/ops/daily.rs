//! Tests of everyday use of arrays in generic code, on every backend: attributes, numbers, vectors, and text.

use backends::{Error, Result, prelude::*};

fn attributes<B: Backend>(b: &B) -> Result<()> {
    let x = b.zeros::<f32>([2, 0, 3])?;
    assert_eq!((x.shape()[0], x.ndim(), x.len(), x.is_empty()), (2, 3, 0, true));
    assert_eq!((x.dtype(), x.device()), (DType::Float32, b.device()));
    let x = b.transpose(b.ones::<bool>([4, 5])?)?;
    assert_eq!((x.shape(), x.len(), x.dtype()), (&[5, 4][..], 20, DType::Bool));
    assert_eq!((b.shape(&x), b.ndim(&x), b.size(&x)), (x.shape(), x.ndim(), x.len()));
    let x = b.sum(x, ..)?;
    assert_eq!((x.shape(), x.len(), x.is_empty(), x.dtype()), (&[][..], 1, false, DType::Int64));
    Ok(())
}

fn numbers<B: Backend>(b: &B) -> Result<()> {
    let x = b.asarray([[1.0_f64, 2.0, 3.0], [4.0, 5.0, 6.0]])?;
    assert_eq!(b.item(b.sum(&x, ..)?)?, 21.0);
    assert_eq!(b.item(&b.asarray([[[7_u8]]])?)?, 7);
    assert_eq!(b.item(&x).unwrap_err().to_string(), "item: shape [2, 3] must have exactly one element");
    assert_eq!(b.item(b.zeros::<i32>([0])?).unwrap_err().to_string(), "item: shape [0] must have exactly one element");
    // elements are returned in C order for any layout, whether the array is passed by reference or by value
    let turned = b.transpose(&x)?;
    assert_eq!(b.to_vec(&turned)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(b.to_vec(turned)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let part = b.getitem(&x, backends::slices![1, 1..])?;
    assert_eq!(b.to_vec(&part)?, [5.0, 6.0]);
    assert_eq!(b.to_vec(b.to_vec(part).and_then(|v| b.asarray(v))?)?, [5.0, 6.0]);
    let ends = b.getitem(b.asarray([1, 2, 3, 4])?, backends::slices![1..3])?;
    assert_eq!(b.to_vec(ends)?, [2, 3]);
    assert_eq!(b.to_vec(b.flip(b.asarray([1, 2, 3])?, 0)?)?, [3, 2, 1]);
    assert_eq!(b.to_vec(b.zeros::<bool>([0, 3])?)?, [false; 0]);
    assert_eq!(b.to_vec(x)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    Ok(())
}

fn iterators<B: Backend>(b: &B) -> Result<()> {
    assert_eq!(b.to_vec(b.from_iter((0..5).map(f64::from))?)?, [0.0, 1.0, 2.0, 3.0, 4.0]);
    let odd = b.from_iter((0..1000_i64).filter(|i| i % 2 == 1))?;
    assert_eq!((odd.shape(), b.item(b.sum(&odd, ..)?)?), (&[500][..], 250_000));
    assert_eq!(b.reshape(b.from_iter(vec![true; 6])?, [2, 3])?.shape(), [2, 3]);
    assert_eq!(b.from_iter(std::iter::empty::<f32>())?.shape(), [0]);
    let endless = b.from_iter(std::iter::repeat(1.0)).unwrap_err();
    assert!(matches!(endless, Error::Memory { op: "from_iter", .. }), "{endless}");
    Ok(())
}

/// `show` gives the same text as NumPy 2.
fn text<B: Backend>(b: &B) -> Result<()> {
    let inf = f64::INFINITY;
    assert_eq!(b.show(&b.asarray([1.0, 2.5, -3.0])?)?, "[ 1.   2.5 -3. ]");
    assert_eq!(
        b.show(b.asarray([[0.1, 0.1 + 0.2], [1.0 / 3.0, 1000.0]])?)?,
        "[[1.00000000e-01 3.00000000e-01]\n [3.33333333e-01 1.00000000e+03]]"
    );
    assert_eq!(b.show(b.asarray([1e-5, 1.0, f64::NAN])?)?, "[1.e-05 1.e+00    nan]");
    assert_eq!(b.show(b.asarray([1e10, -2.5, inf])?)?, "[ 1.0e+10 -2.5e+00      inf]");
    assert_eq!(b.show(b.asarray([f64::NAN, f64::NAN, -inf])?)?, "[ nan  nan -inf]");
    assert_eq!(b.show(b.asarray([-0.0, 1.5, f64::NAN])?)?, "[-0.   1.5  nan]");
    assert_eq!(b.show(b.asarray([1e-200, 1.0])?)?, "[1.e-200 1.e+000]");
    assert_eq!(b.show(b.zeros::<f64>([2])?)?, "[0. 0.]");
    assert_eq!(b.show(b.asarray([0.1_f32, 1.0 / 3.0])?)?, "[0.1        0.33333334]");
    assert_eq!(b.show(b.asarray([1e-5_f32, 2.5e-5])?)?, "[1.0e-05 2.5e-05]");
    assert_eq!(b.show(b.asarray([f16::from_f64(0.1), f16::from_f64(0.2)])?)?, "[0.1 0.2]");
    assert_eq!(
        b.show(b.asarray([Complex::new(1.0, 2.0), Complex::new(-0.0, -0.5), Complex::new(3.0, 0.0)])?)?,
        "[ 1.+2.j  -0.-0.5j  3.+0.j ]"
    );
    assert_eq!(
        b.show(b.asarray([Complex::new(1e9, 1.0), Complex::new(2.0, -1e-9)])?)?,
        "[1.e+09+1.e+00j 2.e+00-1.e-09j]"
    );
    assert_eq!(b.show(b.asarray([true, false])?)?, "[ True False]");
    assert_eq!(b.show(b.asarray([-1_i16, 20, 300])?)?, "[ -1  20 300]");
    assert_eq!(b.show(b.zeros::<f64>([0, 3])?)?, "[]");
    assert_eq!((b.show(b.asarray(3.5)?)?, b.show(b.asarray(3.0)?)?), ("3.5".into(), "3.0".into()));
    assert_eq!(
        b.show(b.reshape(b.arange(0.0, 12.0, 1.0)?, [2, 3, 2])?)?,
        "[[[ 0.  1.]\n  [ 2.  3.]\n  [ 4.  5.]]\n\n [[ 6.  7.]\n  [ 8.  9.]\n  [10. 11.]]]"
    );
    assert_eq!(
        b.show(b.linspace(0.0, 1.0, 14)?)?,
        "[0.         0.07692308 0.15384615 0.23076923 0.30769231 0.38461538\n \
         0.46153846 0.53846154 0.61538462 0.69230769 0.76923077 0.84615385\n \
         0.92307692 1.        ]"
    );
    Ok(())
}

fn large<B: Backend>(b: &B) -> Result<()> {
    let x = b.reshape(b.arange(0, 5000, 1)?, [50, 100])?;
    let corners = "[[   0    1    2 ...   97   98   99]\n [ 100  101  102 ...  197  198  199]\n \
                   [ 200  201  202 ...  297  298  299]\n ...\n [4700 4701 4702 ... 4797 4798 4799]\n \
                   [4800 4801 4802 ... 4897 4898 4899]\n [4900 4901 4902 ... 4997 4998 4999]]";
    assert_eq!(b.show(&x)?, corners);
    // an axis with few elements is printed completely
    let x = b.reshape(b.arange(0, 3000, 1)?, [1, 3, 1000])?;
    assert_eq!(
        b.show(x)?,
        "[[[   0    1    2 ...  997  998  999]\n  [1000 1001 1002 ... 1997 1998 1999]\n  [2000 2001 2002 ... 2997 2998 2999]]]"
    );
    let y = b.linspace(0.0, 1.0, 2000)?;
    assert_eq!(
        b.show(&y)?,
        "[0.00000000e+00 5.00250125e-04 1.00050025e-03 ... 9.98999500e-01\n 9.99499750e-01 1.00000000e+00]"
    );
    let stack = b.reshape(b.arange(0, 2000, 1)?, [1000, 1, 2])?;
    let shown = b.show(stack)?;
    assert!(
        shown.starts_with("[[[   0    1]]\n\n [[   2    3]]\n\n [[   4    5]]\n\n ...\n\n [[1994 1995]]\n\n "),
        "{shown}"
    );
    Ok(())
}

fn all<B: Backend>(b: &B) -> Result<()> {
    attributes(b)?;
    numbers(b)?;
    iterators(b)?;
    text(b)?;
    large(b)
}

#[test]
fn on_every_backend() {
    on_every_backend!(all);
}

#[test]
fn on_a_backend_chosen_at_run_time() -> Result<()> {
    let b = AnyBackend::from(Numpyish::new());
    all(&b)?;
    if let Ok(torch) = Torch::cpu() {
        let elsewhere = AnyBackend::from(torch).asarray([1.0])?;
        assert_eq!((elsewhere.shape(), elsewhere.device()), (&[1][..], "cpu".to_owned()));
        for why in [b.item(&elsewhere).map(drop), b.to_vec(&elsewhere).map(drop), b.show(&elsewhere).map(drop)] {
            assert!(matches!(why, Err(Error::Backend { op: "item" | "to_vec" | "show", .. })), "{why:?}");
        }
    }
    Ok(())
}

/// An array of the backend `Numpyish` is an ndarray, and has the methods of ndarray.
#[test]
fn an_ndarray_is_one() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([[1.0, 2.0]])?;
    assert_eq!((x.shape(), x.ndim(), x.len(), x.dtype()), (&[1, 2][..], 2, 2, DType::Float64));
    let view = x.view();
    assert_eq!((view.shape(), view.len(), view.is_empty()), (&[1, 2][..], 2, false));
    // an array without another handle is converted to a vector without a copy
    let place = x.as_ptr();
    let elements = b.to_vec(x)?;
    assert_eq!(elements.as_ptr(), place);
    Ok(())
}

#[test]
fn an_error_that_main_returns_is_a_sentence() {
    let b = Numpyish::new();
    let main = || -> std::result::Result<(), Box<dyn std::error::Error>> {
        b.item(b.zeros::<f64>([2])?)?;
        Ok(())
    };
    assert_eq!(format!("{:?}", main().unwrap_err()), "item: shape [2] must have exactly one element (Error::Shape)");
}

/// Lengths and shifts may have any integer type, and the shape of an array can be an argument.
fn lengths<B: Backend>(b: &B) -> Result<()> {
    let n = 60;
    let x = b.arange(0.0, n as f64, 1.0)?;
    let y: B::Array<f64> = b.reshape(&x, [n / 10, 10])?;
    assert_eq!(b.shape(&y), [6, 10]);
    assert_eq!(b.reshape(&x, [2, -1])?.shape(), [2, 30]);
    assert_eq!(b.reshape(&x, y.shape())?.shape(), [6, 10]);
    assert_eq!(b.reshape(&y, -1)?.shape(), [60]);
    assert_eq!(b.reshape(&x, vec![4_u8, 15])?.shape(), [4, 15]);
    assert_eq!(b.reshape(&x, [-1_i64, 12])?.shape(), [5, 12]);
    assert_eq!(b.reshape(b.reshape(&x, [n, 1])?, &[3, 20][..])?.shape(), [3, 20]);
    assert_eq!(b.reshape(b.asarray([1.0])?, [0_usize; 0])?.shape(), [0; 0]);
    assert_eq!(b.item(b.getitem(b.roll(&x, 2_u8, 0)?, slices![0])?)?, 58.0);
    assert_eq!(b.item(b.getitem(b.roll(&y, [1, -1], [0, 1])?, slices![0, 0])?)?, 51.0);
    let refused = b.reshape(&x, [1, u64::MAX]).unwrap_err().to_string();
    assert_eq!(refused, "reshape: 18446744073709551615 is given, but must be within the range of lengths");
    assert_eq!(b.reshape(&x, [7_usize, 7]).unwrap_err(), b.reshape(&x, [7, 7]).unwrap_err());
    Ok(())
}

#[test]
fn lengths_of_any_integer_type() {
    on_every_backend!(lengths);
    lengths(&AnyBackend::from(Numpyish::new())).unwrap();
}

/// An op that consists of several operations on 16-bit floats rounds only once. The approximate formula of `gelu` is a
/// good test, because its term 1 + tanh(..) nearly cancels for negative `x`.
fn one_rounding<B: Backend, T: Real>(b: &B) -> Result<()> {
    let x = b.asarray([-4.0_f32, -3.0, -1.5, 0.5, 3.0])?;
    let quick = GeluOptions::new().approximate(true);
    let exact = b.astype::<T, _>(b.gelu_with(&x, quick)?)?;
    let y = b.gelu_with(b.astype::<T, _>(&x)?, quick)?;
    assert_eq!(b.to_vec(y)?, b.to_vec(exact)?, "{}", T::DTYPE);
    Ok(())
}

#[test]
fn several_operations_are_rounded_once() {
    on_every_backend!(one_rounding::<_, f16>);
    on_every_backend!(one_rounding::<_, bf16>);
}
