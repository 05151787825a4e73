//! Tests that invalid arguments of any op give an error that names the op, and never a panic.

use super::{array, torch};
use crate::{
    Arg, Aten, DtypeStrategy, OpContext, Tensor, Torch, TorchArray, aten, creation, elementwise, fft, indexing, linalg,
    manipulation, reduction, sorting, special,
};
use backend_core::{
    Axes, DType, Element, Error, HostArray, Indices, Interpolation, Lengths, MeshIndexing, Norm, PadMode, Result, Side,
    Slice,
    numpyish::Numpyish,
    raw::{RawElement, RawOperand, TypedArray},
};

#[test]
fn operands_that_do_not_broadcast() {
    let Some(b) = torch() else { return };
    static ADD: Aten = Aten::new("add", "aten::add", "Tensor", DtypeStrategy::Parts);
    let (x, y) = (array(&b, vec![1.0, 2.0]), array(&b, vec![1.0, 2.0, 3.0]));
    let sum = aten::<f64, TorchArray<f64>>(&b, &ADD, &[Arg::from(&x), Arg::from(&y)]);
    assert_eq!(sum.unwrap_err(), Error::shapes("add", &[2], &[3]));
    let (x, y) = (RawOperand::Array(x.tensor()), RawOperand::Array(y.tensor()));
    let quotient = elementwise::floor_divide(b.on::<f64>("floor_divide"), x, y);
    assert_eq!(quotient.unwrap_err(), Error::shapes("floor_divide", &[2], &[3]));
}

#[test]
fn arrays_of_another_device() {
    let Some(b) = torch() else { return };
    let x = array(&b, vec![1.0, 2.0]);
    let gpu = Torch { index: 1, in_place: false, host: Numpyish::new() };
    let error = reduction::sum(OpContext::new(&gpu, "sum", DType::Float64), x.tensor(), Axes::All, false).unwrap_err();
    assert_eq!(error, Error::device("sum", "cuda:1", "cpu"));
}

#[test]
fn libtorch_says_what_it_refuses_and_the_shapes() {
    let Some(b) = torch() else { return };
    static INVERSE: Aten = Aten::new("inv", "aten::linalg_inv", "", DtypeStrategy::Direct);
    let x = array(&b, [[1.0, 2.0, 3.0]]);
    let error = aten::<f64, TorchArray<f64>>(&b, &INVERSE, &[Arg::from(&x)]).unwrap_err();
    assert!(
        matches!(&error, Error::Library { op: "inv", message, .. } if message.contains("square") && message.contains("[1, 3]")),
        "{error}"
    );
    static NONE: Aten = Aten::new("none", "aten::no_such_op", "", DtypeStrategy::Direct);
    assert!(aten::<f64, TorchArray<f64>>(&b, &NONE, &[]).unwrap_err().to_string().contains("no_such_op"));
    static SORT: Aten = Aten::new("sort", "aten::sort", "", DtypeStrategy::Direct);
    let wrong = aten::<f64, (TorchArray<f64>, TorchArray<f64>)>(&b, &SORT, &[Arg::from(&x)]).unwrap_err();
    assert!(wrong.to_string().contains("float64 was expected"), "{wrong}");
}

#[test]
fn schemas_are_compared() {
    let Some(_) = torch() else { return };
    let check = |name, overload, args| Aten::new("row", name, overload, DtypeStrategy::Direct).check_schema(args);
    check("aten::add", "Tensor", 2).unwrap();
    check("aten::sort", "stable", 4).unwrap();
    assert!(check("aten::add", "Tensor", 1).is_err(), "an argument without a default is missing");
    assert!(check("aten::add", "Tensor", 4).is_err(), "too many arguments");
    assert!(check("aten::add", "Tensors", 2).is_err(), "no such overload");
    assert!(check("aten::item", "", 1).is_err(), "no tensor is returned");
}

fn arange<T: Element>(b: &Torch, numbers: [T; 3]) -> Result<Tensor> {
    let [start, stop, step] = numbers.map(RawElement::of);
    creation::arange(b.on::<T>("arange"), start, stop, step)
}

#[test]
fn sizes_over_any_memory() {
    let Some(b) = torch() else { return };
    let huge = usize::MAX / 2;
    let one = array(&b, vec![1.0]);
    let on = |op| OpContext::new(&b, op, DType::Float64);
    let refused = [
        creation::zeros(b.on::<f64>("zeros"), &[huge, huge]).err(),
        creation::empty(b.on::<u8>("empty"), &[0, usize::MAX]).err(),
        creation::full(b.on::<f64>("full"), &[1 << 46], RawElement::of(1.5)).err(),
        creation::eye(b.on::<u8>("eye"), huge, None, isize::MIN).err(),
        creation::linspace(b.on::<f64>("linspace"), RawElement::of(0.0), RawElement::of(1.0), huge, true).err(),
        arange(&b, [0.0, 1e300, 1e-300]).err(),
        arange(&b, [i64::MIN, i64::MAX, 1]).err(),
        manipulation::tile(on("tile"), one.tensor(), &[huge, 9]).err(),
        manipulation::repeat(on("repeat"), one.tensor(), usize::MAX, Some(0)).err(),
        manipulation::pad(on("pad"), one.tensor(), &[usize::MAX, 1], PadMode::Edge, backend_core::Number::Real(0.0))
            .err(),
        manipulation::broadcast_to(on("broadcast_to"), one.tensor(), &[usize::MAX, 3]).err(),
        fft::fft(on("fft"), one.tensor(), Some(usize::MAX), 0, Norm::Ortho).err(),
        fft::fftn(on("fftn"), one.tensor(), Some(Lengths::from([1 << 45])), Axes::All, Norm::Backward).err(),
    ];
    for (i, error) in refused.iter().enumerate() {
        assert!(matches!(error, Some(Error::Memory { .. })), "{i}: {error:?}");
    }
}

#[test]
fn axes_indices_and_arguments_out_of_range() {
    let Some(b) = torch() else { return };
    let m = array(&b, HostArray::from_shape_vec(&[2, 3][..], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap());
    let (v, e, s) = (array(&b, vec![1.0, 2.0]), array(&b, Vec::<f64>::new()), array(&b, 1.0));
    let i = |list: &[i64]| array(&b, list.to_vec());
    let scalar = RawOperand::Scalar(RawElement::of(1.0));
    let on = |op| OpContext::new(&b, op, DType::Float64);
    let quantile = |x: &TorchArray<f64>, q: f64| {
        let q = array(&b, vec![q]);
        reduction::quantile(on("quantile"), x.tensor(), q.tensor(), Axes::All, Interpolation::Linear, false).err()
    };
    let refused = [
        reduction::sum(on("sum"), m.tensor(), Axes::from(2), false).err(),
        reduction::max(on("max"), e.tensor(), Axes::All, false).err(),
        reduction::argmax(on("argmax"), e.tensor(), Some(0), false).map(drop).err(),
        reduction::argmin(on("argmin"), s.tensor(), Some(1), false).map(drop).err(),
        reduction::diff(on("diff"), s.tensor(), -1, 1, None, None).err(),
        reduction::cumulative_sum(on("cumulative_sum"), m.tensor(), Some(isize::MIN), true).err(),
        quantile(&m, 1.5),
        quantile(&m, f64::NAN),
        quantile(&e, 0.5),
        manipulation::reshape(on("reshape"), m.tensor(), &[4, -1]).err(),
        manipulation::permute_dims(on("permute_dims"), m.tensor(), Axes::from(0)).err(),
        manipulation::matrix_transpose(on("matrix_transpose"), v.tensor()).err(),
        manipulation::moveaxis(on("moveaxis"), m.tensor(), Axes::from([0, 1]), Axes::from(0)).err(),
        manipulation::expand_dims(on("expand_dims"), m.tensor(), Axes::from(5)).err(),
        manipulation::squeeze(on("squeeze"), m.tensor(), Axes::from(0)).err(),
        manipulation::broadcast_to(on("broadcast_to"), m.tensor(), &[3, 2]).err(),
        manipulation::concat(on("concat"), &[m.tensor(), v.tensor()], Some(0)).err(),
        manipulation::concat(on("concat"), &[], Some(0)).err(),
        manipulation::stack(on("stack"), &[m.tensor(), v.tensor()], 0).err(),
        manipulation::stack(on("stack"), &[m.tensor()], 4).err(),
        manipulation::roll(on("roll"), m.tensor(), &[1, 2, 3], Axes::from([0, 1])).err(),
        manipulation::pad(on("pad"), m.tensor(), &[1, 1, 1], PadMode::Wrap, backend_core::Number::Real(0.0)).err(),
        manipulation::pad(on("pad"), e.tensor(), &[1, 1], PadMode::Reflect, backend_core::Number::Real(0.0)).err(),
        indexing::getitem(b.on::<f64>("getitem"), v.tensor(), &[Slice::at(2)]).err(),
        indexing::getitem(b.on::<f64>("getitem"), v.tensor(), &[Slice::ALL, Slice::ALL]).err(),
        indexing::getitem(b.on::<f64>("getitem"), v.tensor(), &[Slice::ALL.step(0)]).err(),
        indexing::set(
            b.on::<f64>("set"),
            m.clone().target(),
            Indices::Slices(&[Slice::at(0)]),
            RawOperand::Array(v.tensor()),
        )
        .err(),
        indexing::take(b.on::<f64>("take"), v.tensor(), i(&[2]).tensor(), Some(0)).err(),
        indexing::take(b.on::<f64>("take"), v.tensor(), i(&[-3]).tensor(), Some(0)).err(),
        indexing::take(b.on::<f64>("take"), e.tensor(), i(&[0]).tensor(), Some(0)).err(),
        indexing::take_along_axis(b.on::<f64>("take_along_axis"), m.tensor(), i(&[0]).tensor(), 0).err(),
        indexing::scatter_add(b.on::<f64>("scatter_add"), v.tensor(), i(&[0, 1, 0]).tensor(), v.tensor(), 0).err(),
        indexing::scatter(b.on::<f64>("scatter"), v.tensor(), i(&[0, i64::MAX]).tensor(), v.tensor(), 0).err(),
        indexing::boolean_mask(b.on::<f64>("boolean_mask"), m.tensor(), array(&b, vec![true; 3]).tensor()).err(),
        sorting::sort(on("sort"), s.tensor(), 0, true).err(),
        sorting::searchsorted(on("searchsorted"), m.tensor(), RawOperand::Array(v.tensor()), Side::Left, None).err(),
        linalg::matmul(b.on::<f64>("matmul"), m.tensor(), m.tensor()).err(),
        linalg::matmul(b.on::<f64>("matmul"), s.tensor(), m.tensor()).err(),
        fft::fft(on("fft"), v.tensor(), Some(0), 0, Norm::Backward).map(drop).err(),
        fft::fft(on("fft"), e.tensor(), None, 0, Norm::Backward).map(drop).err(),
        fft::rfftn(on("rfftn"), s.tensor(), None, Axes::All, Norm::Backward).map(drop).err(),
        fft::fftn(on("fftn"), v.tensor(), Some(Lengths::from([2, 2])), Axes::All, Norm::Backward).map(drop).err(),
        fft::fftn(on("fftn"), m.tensor(), Some(Lengths::from([2])), Axes::from([0, 1]), Norm::Backward).map(drop).err(),
        fft::fftfreq(on("fftfreq"), 0, 1.0).err(),
        special::interp(b.on::<f64>("interp"), v.tensor(), e.tensor(), e.tensor(), None, None).err(),
        special::interp(b.on::<f64>("interp"), v.tensor(), v.tensor(), e.tensor(), None, None).err(),
        arange(&b, [0.0, 1.0, 0.0]).err(),
        arange(&b, [f64::NAN, 1.0, 1.0]).err(),
        elementwise::clip(b.on::<f64>("clip"), RawOperand::Array(m.tensor()), RawOperand::Array(v.tensor()), scalar)
            .err(),
    ];
    for (i, error) in refused.into_iter().enumerate() {
        let error = error.unwrap_or_else(|| panic!("{i} gave a result"));
        assert!(!matches!(error, Error::Library { .. }), "{i} went to libtorch: {error}");
        assert!(error.op().is_some(), "{i}: {error}");
    }
}

#[test]
fn empty_arrays_have_results() {
    let Some(b) = torch() else { return };
    let e = array(&b, HostArray::<f32>::zeros(&[0, 4][..]));
    let on = |op| OpContext::new(&b, op, DType::Float32);
    assert_eq!(sorting::unique_all(on("unique_all"), e.tensor()).unwrap()[2].shape(), [0, 4]);
    let none = array(&b, Vec::<f32>::new());
    let search = |x2: &TorchArray<f32>| {
        let x2 = RawOperand::Array(x2.tensor());
        sorting::searchsorted(on("searchsorted"), none.tensor(), x2, Side::Left, None).unwrap()
    };
    assert_eq!(search(&e).shape(), [0, 4]);
    let found = TorchArray::<i64>::new("searchsorted", search(&array(&b, vec![1.0]))).unwrap();
    assert_eq!(super::host(&b, &found)[[0]], 0);
    assert_eq!(fft::fft(on("fft"), e.tensor(), None, 1, Norm::Backward).unwrap().shape(), [0, 4]);
    assert_eq!(
        fft::irfftn(
            on("irfftn").with_dtype(DType::Complex128),
            array(&b, HostArray::<backend_core::Complex<f64>>::zeros(&[0, 3][..])).tensor(),
            None,
            Axes::from(1),
            Norm::Ortho
        )
        .unwrap()
        .shape(),
        [0, 4]
    );
    assert_eq!(manipulation::flip(on("flip"), e.tensor(), Axes::All).unwrap().shape(), [0, 4]);
    assert_eq!(manipulation::tile(on("tile"), e.tensor(), &[2, 0]).unwrap().shape(), [0, 0]);
    assert_eq!(manipulation::unstack(on("unstack"), e.tensor(), 0).unwrap().len(), 0);
    assert_eq!(reduction::diff(on("diff"), e.tensor(), 0, usize::MAX, None, None).unwrap().shape(), [0, 4]);
    assert_eq!(reduction::prod(on("prod"), e.tensor(), Axes::from(0), true).unwrap().shape(), [1, 4]);
    assert_eq!(
        reduction::quantile(
            on("quantile"),
            e.tensor(),
            array(&b, vec![0.5_f32]).tensor(),
            Axes::from(1),
            Interpolation::Linear,
            false
        )
        .unwrap()
        .shape(),
        [1, 0]
    );
    let none = array(&b, Vec::<i64>::new());
    let scattered = indexing::scatter(b.on::<f32>("scatter"), e.tensor(), none.tensor(), e.tensor(), 0);
    assert_eq!(scattered.unwrap().shape(), [0, 4]);
    assert_eq!(indexing::argwhere(b.on::<f32>("argwhere"), e.tensor()).unwrap().shape(), [0, 2]);
    assert_eq!(creation::meshgrid(b.on::<f32>("meshgrid"), &[], MeshIndexing::Xy).unwrap().len(), 0);
    let columns = array(&b, HostArray::<f32>::zeros(&[4, 0][..]));
    let product = linalg::matmul(b.on::<f32>("matmul"), e.tensor(), columns.tensor());
    assert_eq!(product.unwrap().shape(), [0, 0]);
    let on = b.on::<i32>("matmul");
    let product = linalg::matmul(
        on,
        array(&b, HostArray::<i32>::zeros(&[2, 0][..])).tensor(),
        array(&b, HostArray::<i32>::zeros(&[0, 3][..])).tensor(),
    );
    assert_eq!(super::host(&b, &on.array::<i32>(product.unwrap()).unwrap()), HostArray::zeros(&[2, 3][..]));
}
