//! Tests that the backend refuses ops that a row of the op table may not run. Such ops would let safe code change
//! shared memory, or return a tensor that is not an array of elements, such as a sparse tensor.

use super::{array, host, torch};
use crate::{Arg, Aten, DtypeStrategy, FromTensors, Torch, TorchArray, aten};
use backend_core::{Arrays, Element, Error, HostArray};

fn call<T: Element, R: FromTensors>(
    b: &Torch,
    name: &'static str,
    overload: &'static str,
    args: &[Arg<'_>],
) -> backend_core::Result<R> {
    aten::<T, R>(b, &Aten::new("my_row", name, overload, DtypeStrategy::Direct), args)
}

#[test]
fn no_row_changes_memory_that_others_hold() {
    let Some(b) = torch() else { return };
    let mine = HostArray::from_elem(&[3][..], 7.0_f64);
    let (x, out) = (b.from_ndarray(mine.clone()).unwrap(), array(&b, vec![1.0, 2.0, 3.0]));
    let view = x.view().unwrap();
    let (x, y) = (Arg::from(&x), Arg::from(&out));
    let both = [x.clone(), y.clone()];
    let alone = &both[..1];
    for (name, overload, args) in [
        ("aten::zero_", "", alone),
        ("aten::set_", "", alone),
        ("aten::set_", "source_Tensor", &both),
        ("aten::resize_", "", &[x.clone(), Arg::from([9_i64])]),
        ("aten::fill_", "Scalar", &[x.clone(), Arg::element(0.0)]),
        ("aten::add_", "Tensor", &both),
        ("aten::t_", "", alone),
        ("aten::squeeze_", "", alone),
        ("aten::exp", "out", &[y.clone(), x.clone()]),
        ("aten::add", "out", &[y.clone(), y.clone(), Arg::element(1.0), x.clone()]),
        ("aten::rrelu_with_noise", "", &[x.clone(), x.clone()]),
    ] {
        let error = call::<f64, TorchArray<f64>>(&b, name, overload, args).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Argument { op: "my_row", .. }), "{text}");
        assert!(text.contains(name) && text.contains("changes its argument"), "{text}");
        let checked = Aten::new("my_row", name, overload, DtypeStrategy::Direct).check_schema(args.len());
        assert_eq!(checked.unwrap_err().to_string(), text, "and where schemas are compared");
    }
    assert_eq!((view.shape(), view.sum(), mine.sum()), (&[3][..], 21.0, 21.0));
    assert_eq!(host(&b, &out).as_slice(), Some(&[1.0, 2.0, 3.0][..]));
}

/// `batch_norm` writes to its argument `running_mean`, although its schema does not mark this argument as written.
#[test]
fn what_is_written_in_silence_is_refused_too() {
    let Some(b) = torch() else { return };
    let x = array(&b, HostArray::from_shape_fn(ndarray::IxDyn(&[4, 2]), |i| i[0] as f64));
    let (mean, none) = (array(&b, vec![0.0, 0.0]), Arg::None);
    let yes = Arg::Bool(true);
    let args = [
        (&x).into(),
        none.clone(),
        none.clone(),
        (&mean).into(),
        (&mean).into(),
        yes.clone(),
        0.1.into(),
        1e-5.into(),
        yes,
    ];
    let error = call::<f64, TorchArray<f64>>(&b, "aten::batch_norm", "", &args).unwrap_err();
    assert!(error.to_string().contains("`running_mean`"), "{error}");
    assert_eq!(host(&b, &mean).sum(), 0.0);
}

#[test]
fn views_are_allowed_as_nothing_writes_through_them() {
    let Some(b) = torch() else { return };
    let x = array(&b, ndarray::array![[1.0_f64, 2.0], [3.0, 4.0]].into_dyn().into_shared());
    let t: TorchArray<f64> = call::<f64, _>(&b, "aten::permute", "", &[(&x).into(), Arg::from([1_i64, 0])]).unwrap();
    assert_eq!(t.view().unwrap().as_ptr(), x.view().unwrap().as_ptr(), "no copy");
    assert_eq!(host(&b, &t), host(&b, &x).reversed_axes());
}

#[test]
fn what_is_no_array_is_an_error() {
    let Some(b) = torch() else { return };
    let x = array(&b, ndarray::array![[1.0_f64, 0.0], [0.0, 4.0]].into_dyn().into_shared());
    for (name, args) in [
        ("aten::to_sparse", &[Arg::from(&x)][..]),
        ("aten::to_sparse_csr", &[Arg::from(&x)]),
        ("aten::_efficientzerotensor", &[Arg::from([3_i64]), Arg::from(backend_core::DType::Float64)]),
    ] {
        let error = call::<f64, TorchArray<f64>>(&b, name, "", args).unwrap_err();
        assert!(error.to_string().contains("is no array"), "{error}");
    }
}

/// A row of the op table may reinterpret bytes other than 0 and 1 as bools. These bytes must not become Rust's `bool`.
#[test]
fn bytes_that_are_no_bools_are_an_error() {
    let Some(b) = torch() else { return };
    let x = array(&b, vec![0_u8, 1, 2]);
    let code = Arg::from(backend_core::DType::Bool);
    let bools: TorchArray<bool> = call::<u8, _>(&b, "aten::view", "dtype", &[(&x).into(), code]).unwrap();
    let error = bools.view().unwrap_err();
    assert!(matches!(error, Error::Library { .. }) && error.to_string().contains("bool"), "{error}");
    // libtorch may turn such bytes into 0 or 1 when it copies them
    if let Ok(copied) = b.to_ndarray(&bools) {
        assert_eq!(copied.as_slice(), Some(&[false, true, true][..]));
    }
    let fine: TorchArray<bool> = call::<f64, _>(&b, "aten::gt", "Scalar", &[(&x).into(), Arg::element(0_u8)]).unwrap();
    assert_eq!(host(&b, &fine).as_slice(), Some(&[false, true, true][..]));
    assert_eq!(fine.view().unwrap().as_slice(), Some(&[false, true, true][..]));
}
