//! Tests of calls by name: the dtype of a call, the matching of arguments to parameters, and a call of every op.

mod options;
mod scripts;

use backends::{
    ElementInfo, OPS, OpInfo, ParamKind, PlainInfo, Result, ResultInfo, Script, Slice, Value, Variables, ops,
    prelude::*, runtime::available, watch::Profile,
};
use backends_dynamic::call;
use std::sync::LazyLock;

type V = Value<AnyBackend>;

/// The backend of the tests. Calls by name on `AnyBackend` are already compiled in `backends_dynamic`, and run the same
/// code as calls on a library's backend.
static B: LazyLock<AnyBackend> = LazyLock::new(|| Numpyish::new().into());

/// Returns the result of a call as a single array of `T`. Panics if the call failed or has another result.
fn array<T: Element>(result: Result<V>) -> HostArray<T> {
    let value = result.unwrap_or_else(|why| panic!("{why}"));
    let array = value.as_array().and_then(DynArray::get::<T>);
    let array = array.unwrap_or_else(|| panic!("{value:?} is no array of {}", T::DTYPE));
    B.to_ndarray(array).unwrap()
}

fn made(numbers: V, dtype: DType) -> V {
    call(&B, "asarray", &[numbers], &[("dtype", dtype.into())]).unwrap()
}

fn error<const N: usize>(op: &str, args: [V; N], options: &[(&str, V)]) -> String {
    call(&B, op, &args, options).map(|value| format!("{value:?}")).unwrap_err().to_string()
}

#[test]
fn arguments_go_to_parameters_by_place_and_by_name() {
    let x = made(vec![vec![1, 2], vec![3, 5]].into(), DType::Float64);
    let by_place = array::<f64>(call(&B, "std", &[x.clone(), 0.into(), 1.into()], &[]));
    let by_name =
        array::<f64>(call(&B, "std", std::slice::from_ref(&x), &[("correction", 1.into()), ("axis", 0.into())]));
    assert_eq!(by_place, by_name);
    let direct =
        B.std_with(&B.asarray([[1.0, 2.0], [3.0, 5.0]]).unwrap(), 0, StdOptions::new().correction(1.0)).unwrap();
    assert_eq!(by_place, B.to_ndarray(&direct).unwrap());
    assert_eq!(
        array::<f64>(call(&B, "sum", std::slice::from_ref(&x), &[]))[[]],
        11.0,
        "axes that are not given are all"
    );
    let flipped = call(&B, "getitem", &[x.clone(), vec![V::from(Slice::ALL.step(-1)), V::from(0_i64)].into()], &[]);
    assert_eq!(array::<f64>(flipped).iter().copied().collect::<Vec<_>>(), [3.0, 1.0]);
    let joined = call(&B, "concat", &[vec![x.clone(), x].into()], &[("axis", V::from(1_i64))]);
    assert_eq!(array::<f64>(joined).shape(), [2, 4]);
}

#[test]
fn the_dtype_is_that_of_arrays_else_of_the_option_else_of_numbers() {
    let bytes = made(vec![1, 2].into(), DType::UInt8);
    assert_eq!(
        array::<u8>(call(&B, "add", &[bytes.clone(), 255.into()], &[]))[[1]],
        1,
        "integers wrap as those of arrays"
    );
    assert_eq!(
        array::<Complex<f32>>(call(&B, "zeros", &[vec![2].into()], &[("dtype", "complex64".into())])).shape(),
        [2]
    );
    assert_eq!(array::<f64>(call(&B, "zeros", &[vec![2].into()], &[])).shape(), [2]);
    assert_eq!(array::<i64>(call(&B, "add", &[1.into(), 2.into()], &[]))[[]], 3);
    assert_eq!(array::<f64>(call(&B, "exp", &[made(0.into(), DType::Float64)], &[]))[[]], 1.0);
    assert_eq!(array::<i8>(call(&B, "astype", &[bytes], &[("dtype", DType::Int8.into())]))[[1]], 2);
    assert_eq!(array::<f64>(call(&B, "asarray", &[vec![vec![1.5], vec![2.0]].into()], &[])).shape(), [2, 1]);
}

#[test]
fn what_does_not_fit_is_said_by_name() {
    let (x, y) = (made(vec![1, 2].into(), DType::Float32), made(vec![1, 2].into(), DType::Float64));
    let has =
        |text: String, words: &[&str]| words.iter().for_each(|word| assert!(text.contains(word), "{text}: {word}"));
    has(error("ad", [], &[]), &["`ad`", "did you mean `add`"]);
    // the error has no suggestion, because no op's name is nearly as long as this one
    assert!(!error(&"add".repeat(1 << 24), [], &[]).contains("did you mean"));
    has(error("add", [x.clone()], &[]), &["add", "`x2` is missing", "x1, x2"]);
    has(error("add", [x.clone(), y], &[]), &["add", "`x1` is float32", "`x2` is float64", "astype"]);
    has(error("sum", [x.clone()], &[("axes", 0.into())]), &["sum", "`axes`", "x, axis"]);
    has(error("sum", [x.clone(), 0.into()], &[("axis", 0.into())]), &["`axis` is given twice"]);
    has(error("sum", [x.clone()], &[("keepdims", 1.into())]), &["`keepdims` is 1", "true or false"]);
    has(error("pad", [x.clone(), vec![1, 1].into()], &[("mode", "egde".into())]), &["`egde`", "constant, edge"]);
    has(error("add", [made(1.into(), DType::Int8), 300.into()], &[]), &["`x2` is 300", "int8"]);
    has(error("add", [made(1.into(), DType::Int8), 0.5.into()], &[]), &["`x2` is 0.5", "int8"]);
    has(error("bitwise_and", [x.clone(), x.clone()], &[]), &["bitwise_and", "float32"]);
    has(error("astype", [x.clone()], &[]), &["astype", "`dtype`, the dtype of the result, must be given"]);
    has(error("zeros", [vec![-1].into()], &[]), &["`shape`", "integers of 0 or more"]);
    has(error("zeros", [vec![2].into()], &[("dtype", "float99".into())]), &["`float99`", "float32"]);
    has(error("asarray", [vec![vec![1], vec![2, 3]].into()], &[]), &["equal lengths"]);
    has(error("sum", [x, 0.into(), true.into(), 1.into()], &[]), &["4 arguments", "it takes 3"]);
}

#[test]
fn numbers_in_lists_become_arrays() {
    assert_eq!(array::<f64>(call(&B, "median", &[vec![1, 2, 4].into()], &[]))[[]], 2.0);
    assert_eq!(
        array::<i64>(call(&B, "add", &[vec![1, 2].into(), vec![vec![10], vec![20]].into()], &[])).shape(),
        [2, 2]
    );
    let x = made(vec![5, 6, 7].into(), DType::Float32);
    assert_eq!(array::<f32>(call(&B, "take", &[x.clone(), vec![2, 0].into(), 0.into()], &[]))[[0]], 7.0);
    // `None` means that `clip` has no lower bound; for `argmax`, `..` means the whole array, like a missing axis
    let clipped = call(&B, "clip", &[x.clone(), Value::None, 6.into()], &[]);
    assert_eq!(array::<f32>(clipped).iter().copied().collect::<Vec<_>>(), [5.0, 6.0, 6.0]);
    assert_eq!(array::<f32>(call(&B, "clip", std::slice::from_ref(&x), &[("low", 6.into())]))[[0]], 6.0);
    assert_eq!(array::<i64>(call(&B, "argmax", &[vec![vec![1, 5], vec![7, 2]].into()], &[]))[[]], 2);
    assert_eq!(array::<i64>(call(&B, "argmax", &[vec![vec![1, 5], vec![7, 2]].into(), Value::All], &[]))[[]], 2);
    let refused = error("argmax", [x.clone(), vec![0].into()], &[]);
    assert!(refused.contains("`axis` is a list of 1, but must be an axis, or `..`"), "{refused}");
    assert_eq!(array::<f32>(call(&B, "quantile", &[x.clone(), 0.5.into()], &[]))[[]], 6.0);
    let joined = call(&B, "concat", &[V::List(vec![x.clone(), vec![8.5].into()])], &[]);
    assert_eq!(array::<f32>(joined)[[3]], 8.5, "numbers take the dtype of the arrays beside them");
    let text = error("take", [x.clone(), vec![0.5].into(), 0.into()], &[]);
    assert!(text.contains("`indices` is a list of 1, but must be an array, or numbers that int64 holds"), "{text}");
    let text = error("add", [x, vec![vec![1], vec![2, 3]].into()], &[]);
    assert!(text.contains("lists of equal lengths"), "{text}");
}

/// Returns an argument that most ops accept for a parameter of kind `kind`.
fn argument<B: Backend>(b: &B, kind: ParamKind, dtype: DType) -> Value<B> {
    let made = |numbers: Value<B>, dtype: DType| ops::asarray::call(b, &[numbers], &[("dtype", dtype.into())]).unwrap();
    let flags = || vec![vec![true, false, true], vec![false, true, true]].into();
    let numbers = || vec![vec![1, 0, 1], vec![0, 1, 1]].into();
    let of = |element: ElementInfo| match element {
        ElementInfo::Bool => made(flags(), DType::Bool),
        ElementInfo::Int64 => made(numbers(), DType::Int64),
        ElementInfo::Int32 => made(numbers(), DType::Int32),
        ElementInfo::Real => made(numbers(), dtype.to_real()),
        _ if dtype == DType::Bool => made(flags(), dtype),
        _ => made(numbers(), dtype),
    };
    match kind {
        ParamKind::Array(element) | ParamKind::Operand(element) | ParamKind::Target(element) => of(element),
        ParamKind::Arrays(element) => Value::List(vec![of(element), of(element)]),
        ParamKind::Host => vec![1, 2].into(),
        ParamKind::Bytes => Value::Bytes(vec![0; 32]),
        ParamKind::Text => "ij,ij->ij".into(),
        ParamKind::Scalar if dtype == DType::Bool => true.into(),
        ParamKind::Scalar => 1.into(),
        ParamKind::Axes | ParamKind::AxisOrAll | ParamKind::LowerBound(_) | ParamKind::UpperBound(_) => Value::All,
        ParamKind::Axis => 0.into(),
        ParamKind::Shape => vec![2, 3].into(),
        ParamKind::Signed => vec![6].into(),
        ParamKind::Slices | ParamKind::Index => vec![Value::from(0_i64)].into(),
        ParamKind::Plain(PlainInfo::Bool) | ParamKind::Maybe(PlainInfo::Bool) => true.into(),
        ParamKind::Plain(_) | ParamKind::Maybe(_) => 1.into(),
        ParamKind::Choice(names) => names[0].into(),
        other => panic!("there is no argument for {other:?}"),
    }
}

/// Returns arguments for an op whose parameters depend on each other; `None` for all other ops.
fn fitting<B: Backend>(b: &B, op: &str, dtype: DType) -> Option<Vec<Value<B>>> {
    let one = || if dtype == DType::Bool { Value::from(true) } else { 1.into() };
    let of =
        |dtype: DType| ops::asarray::call(b, &[vec![one(), one(), one()].into()], &[("dtype", dtype.into())]).unwrap();
    let (row, real) = (|| of(dtype), || of(dtype.to_real()));
    let column = || ops::reshape::call(b, &[real(), vec![3, 1].into()], &[]).unwrap();
    // a positive definite matrix, so that `cholesky` and `inv` succeed, too
    let square = || ops::asarray::call(b, &[vec![vec![2, 1], vec![1, 2]].into()], &[("dtype", dtype.into())]).unwrap();
    Some(match op {
        "arange" => vec![0.into(), 1.into(), 1.into()],
        "matmul" | "inner" | "searchsorted" | "tensordot" | "dot" => vec![row(), row()],
        "csr_matmul" => vec![row(), vec![0, 1, 2].into(), vec![0, 2, 3].into(), row()],
        "csc_matmul" => vec![row(), vec![0, 1, 2].into(), vec![0, 1, 2, 3].into(), row(), 3.into()],
        "sampled_matmul" => vec![vec![0, 1, 2].into(), vec![0, 1, 2, 3].into(), row(), row()],
        "interp" => vec![row(), vec![1, 2].into(), vec![1, 2].into()],
        "permute_dims" => vec![row(), 0.into()],
        "expand_dims" | "squeeze" => {
            vec![row(), vec![Value::<B>::from(0_i64); usize::from(op == "expand_dims")].into()]
        }
        "random_choice_weighted" => vec![real(), vec![2].into()],
        "random_subsets_weighted" => vec![real(), 2.into(), 2.into()],
        "random_multinomial" => vec![vec![2].into(), 3.into(), real()],
        "random_integers" => vec![vec![2].into(), 0.into(), 1.into()],
        "pad" => vec![row(), vec![1, 1].into()],
        "pad_values" => vec![row(), vec![1, 1].into(), vec![one()].into()],
        "asarray" => vec![vec![one()].into()],
        "tile" => vec![row(), 2.into()],
        "repeat" => vec![row(), 2.into(), 0.into()],
        "repeat_each" => vec![row(), vec![2, 0, 1].into(), 0.into()],
        "broadcast_to" | "reshape" => vec![row(), vec![3].into()],
        "moveaxis" => vec![row(), 0.into(), 0.into()],
        "set" | "add_at" | "index_put" => vec![row(), vec![Value::from(0_i64)].into(), one()],
        "nufft1d_type1" => vec![real(), row(), 2.into()],
        "nufft1d_type2" => vec![real(), vec![1, 2].into()],
        "nufft1d_type3" => vec![real(), row(), real()],
        "nufft2d_type3" => vec![real(), real(), row(), real(), real()],
        "nufft3d_type3" => vec![real(), real(), real(), row(), real(), real(), real()],
        "nufft_spread" => vec![column(), row(), vec![6].into(), 2.into(), 4.5.into()],
        "nufft_interpolate" => vec![column(), row(), 2.into(), 4.5.into()],
        "nufft_sort" => vec![column(), vec![6].into(), 2.into()],
        "nufft2d_type1" => vec![real(), real(), row(), vec![2, 3].into()],
        "nufft3d_type1" => vec![real(), real(), real(), row(), vec![2, 3, 2].into()],
        "nufft2d_type2" => vec![real(), real(), vec![vec![1, 2], vec![3, 4]].into()],
        "nufft3d_type2" => vec![real(), real(), real(), vec![vec![vec![1, 2], vec![3, 4]]].into()],
        "cholesky" | "det" | "eig" | "eigh" | "eigvals" | "eigvalsh" | "expm" | "inv" | "slogdet" => vec![square()],
        "matrix_power" => vec![square(), 2.into()],
        "cholesky_solve" | "solve" | "solve_triangular" => vec![square(), square()],
        "correlate1d" | "convolve1d" => vec![row(), real()],
        "rigid_transform" => {
            let turn = vec![vec![0, 1], vec![1, 0]].into();
            vec![square(), ops::asarray::call(b, &[turn], &[("dtype", dtype.to_real().into())]).unwrap()]
        }
        "grid_sample" => {
            let numbers = |dtype: DType| {
                ops::asarray::call(b, &[vec![vec![vec![1], vec![0]]].into()], &[("dtype", dtype.into())]).unwrap()
            };
            vec![numbers(dtype), numbers(dtype.to_real())]
        }
        "convolve" | "correlate" | "fftconvolve" => vec![row(), row()],
        "batch_norm" => vec![square(), vec![1, 1].into(), vec![1, 1].into()],
        "nll_loss" | "cross_entropy" => vec![square(), vec![0, 1].into()],
        "conv" | "conv_transpose" | "max_pool" | "avg_pool" => {
            let x = || ops::asarray::call(b, &[vec![vec![vec![1, 0, 1]]].into()], &[("dtype", dtype.into())]).unwrap();
            vec![x(), if op.ends_with("pool") { 2.into() } else { x() }]
        }
        "bincount" => vec![vec![1, 2].into()],
        "tile_to" => vec![row(), 6.into(), 0.into()],
        "digitize" => vec![row(), row()],
        "histogramdd" => vec![vec![vec![1], vec![2]].into(), vec![Value::<B>::from(vec![1, 2])].into()],
        "histogramdd_weighted" => {
            vec![vec![vec![1], vec![2]].into(), vec![1, 2].into(), vec![Value::<B>::from(vec![1, 2])].into()]
        }
        "histogram2d" => vec![row(), row(), vec![1, 2].into(), vec![1, 2].into()],
        "indexed_segment_sum" => vec![row(), vec![0].into()],
        "segment_sum" | "segment_prod" | "segment_max" | "segment_min" | "segment_mean" => {
            vec![row(), vec![0, 0, 0].into(), 1.into()]
        }
        "scatter" | "scatter_add" | "scatter_mul" | "scatter_max" | "scatter_min" | "scatter_mean" => {
            vec![row(), vec![0].into(), vec![one()].into(), 0.into()]
        }
        _ => return None,
    })
}

/// Calls every op in each of its dtypes. Checks that the result fits the op's description, or that the error names the
/// op. If some call of an op gives an error, fails at the end with a list of these ops.
fn every_row_answers(b: &AnyBackend) {
    let mut silent = Vec::new();
    for op in OPS {
        let mut whys = Vec::new();
        for &dtype in op.dtypes {
            let required = || op.params.iter().filter(|param| param.default.is_none());
            let args = fitting(b, op.name, dtype);
            let args = args.unwrap_or_else(|| required().map(|param| argument(b, param.kind, dtype)).collect());
            let to = op.to_dtypes.first().copied().unwrap_or(dtype);
            match call(b, op.name, &args, &[("dtype", to.into())]) {
                Ok(value) => {
                    let several = matches!(value, Value::List(_));
                    assert_eq!(
                        several,
                        !matches!(op.result, ResultInfo::One(_) | ResultInfo::Plain(_)),
                        "{} gives {:?}",
                        op.name,
                        op.result
                    );
                }
                Err(why) => {
                    assert_eq!(why.op(), Some(op.name), "{why}");
                    whys.push(format!("{dtype}: {why}"));
                }
            }
        }
        if !whys.is_empty() {
            silent.push(format!("{}: {}", op.name, whys[0]));
        }
    }
    assert!(silent.is_empty(), "{} of {} rows gave errors:\n  {}", silent.len(), OPS.len(), silent.join("\n  "));
}

#[test]
fn every_row_answers_on_numpyish() {
    every_row_answers(&B);
}

#[test]
fn every_row_answers_on_torch() {
    if let Some(b) = available("torch", Torch::cpu()) {
        every_row_answers(&b.into());
    }
}

/// Each op has a Rust item, such as `ops::sum`. Calls through the item need only this op, so the other ops need not be
/// compiled. The item contains the op's documentation as text without links.
#[test]
fn a_row_is_an_item() {
    let x = made(vec![vec![1, 2], vec![3, 5]].into(), DType::Float64);
    let sums = array::<f64>(ops::sum::call(&*B, &[x], &[("axis", 0.into())]));
    assert_eq!(sums.iter().copied().collect::<Vec<_>>(), [4.0, 7.0]);
    let named: &[(&str, &OpInfo)] = &[("sum", ops::sum::INFO), ("where", ops::r#where::INFO), ("fft", ops::fft::INFO)];
    for (name, info) in named {
        assert_eq!(info.name, *name);
        assert!(OPS.iter().any(|row| row.name == *name && row.doc == info.doc), "{name} is in the list");
    }
    for row in OPS {
        for part in ["# Parameters", "# Returns", "# Errors", "# Dtypes and accuracy", "# Implementation", "# Example"]
        {
            assert!(row.doc.contains(part), "{}: {part}", row.name);
        }
        assert!(!row.doc.contains("](super") && !row.doc.contains("](crate"), "{} has links", row.name);
        let backends: Vec<&str> = row.backends.iter().map(|(name, _)| *name).collect();
        assert_eq!(backends, ["numpyish", "cuda", "torch"], "{}", row.name);
    }
}

/// An op, the arguments and options of a call by name, and a function that makes the same call by the op's method.
type Pair<'a> = (&'a str, Vec<V>, Vec<(&'a str, V)>, &'a dyn Fn());

/// Checks that a watcher observes the same events for a call by name as for the method.
#[test]
fn watchers_see_calls_by_name_like_methods() {
    let profile = Profile::new();
    let b = AnyBackend::from(profile.watch(AnyBackend::from(Numpyish::new())));
    let seen = || {
        let events = profile.events().into_iter().map(|event| (event.name, event.args)).collect::<Vec<_>>();
        profile.reset();
        events
    };
    let x = b.ones::<f64>([2, 2]).unwrap();
    let value = Value::array::<f64>(x.clone());
    let pairs: [Pair<'_>; 7] = [
        ("ones", vec![3.into()], vec![("dtype", "float64".into())], &|| drop(b.ones::<f64>([3]).unwrap())),
        ("sum", vec![value.clone(), 1.into()], vec![("keepdims", V::None)], &|| drop(b.sum(&x, 1).unwrap())),
        ("sum", vec![value.clone()], vec![("keepdims", true.into())], &|| {
            drop(b.sum_with(&x, .., SumOptions::new().keepdims(true)).unwrap());
        }),
        ("argmax", vec![value.clone()], vec![], &|| drop(b.argmax(&x, ..).unwrap())),
        ("add", vec![value.clone(), 2.into()], vec![], &|| drop(b.add(&x, 2.0).unwrap())),
        ("pad", vec![value.clone(), vec![V::from(1), V::from(2), V::from(0), V::from(0)].into()], vec![], &|| {
            drop(b.pad(&x, [1, 2, 0, 0]).unwrap());
        }),
        ("var", vec![value, 0.into()], vec![("correction", 1.into())], &|| {
            drop(b.var_with(&x, 0, VarOptions::new().correction(1.0)).unwrap());
        }),
    ];
    for (op, args, options, method) in pairs {
        seen();
        call(&b, op, &args, &options).unwrap();
        let by_name = seen();
        method();
        assert_eq!(by_name, seen(), "{op}");
    }
    // the numbers are first converted to an array, which is a call that the watcher observes, too
    call(&b, "argmax", &[vec![1.0, 3.0].into()], &[]).unwrap();
    let names: Vec<String> = seen().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["from_ndarray", "argmax"]);
}
