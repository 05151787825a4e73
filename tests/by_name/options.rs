//! Tests that unknown options are errors. The option `dtype` is an error, too, if the op cannot give a result of this
//! dtype; it is never ignored.

use super::*;

fn dtype_of(value: &V) -> Option<DType> {
    value.as_array().map(DynArray::dtype)
}

/// Calls an op with the option `dtype`. Returns the dtype of the result, or the text of the error.
fn with(op: &str, args: &[V], dtype: &str) -> std::result::Result<Option<DType>, String> {
    call(&B, op, args, &[("dtype", dtype.into())]).map(|value| dtype_of(&value)).map_err(|why| why.to_string())
}

#[test]
fn a_dtype_without_effect_is_refused() {
    let x = made(vec![1, 2].into(), DType::Float64);
    for op in ["sum", "zeros_like", "cumulative_sum", "exp", "mean", "prod", "sort", "asarray"] {
        let why = with(op, std::slice::from_ref(&x), "int8").unwrap_err();
        for part in [op, "`dtype` is int8", "float64, the dtype of `x", "astype"] {
            assert!(why.contains(part) || op == "asarray" && part.contains("`x"), "{why}: {part}");
        }
        assert_eq!(why.contains("_as`"), ["sum", "prod"].contains(&op), "{why}");
    }
    assert!(with("add", &[x.clone(), 1.into()], "float32").unwrap_err().contains("`dtype` is float32"));
    assert!(with("equal", &[x.clone(), 1.into()], "float32").unwrap_err().contains("or bool, that of its result"));
    let twice = [("dtype", "float64".into()), ("dtype", "float64".into())];
    assert!(error("sum", [x.clone()], &twice).contains("`dtype` is given twice"));

    // the following calls succeed, because the option `dtype` names the dtype that the result has
    assert_eq!(with("add", &[x.clone(), 1.into()], "float64"), Ok(Some(DType::Float64)));
    assert_eq!(with("equal", &[x.clone(), 1.into()], "bool"), Ok(Some(DType::Bool)));
    assert_eq!(with("rfft", std::slice::from_ref(&x), "complex128"), Ok(Some(DType::Complex128)));
    assert_eq!(with("sum_as", std::slice::from_ref(&x), "int8"), Ok(Some(DType::Int8)));
    let none = call(&B, "sum", &[x], &[("dtype", Value::None)]).unwrap();
    assert_eq!(dtype_of(&none), Some(DType::Float64));
}

/// The sum of int8 elements with `dtype` int8 wraps, as NumPy's `np.sum(x, dtype=np.int8)` does.
#[test]
fn sums_in_the_dtype_of_the_elements() {
    let x = made(vec![100, 27, 1].into(), DType::Int8);
    let in_int8 = |op: &str, x: &V| array::<i8>(call(&B, op, std::slice::from_ref(x), &[("dtype", "int8".into())]));
    assert_eq!(in_int8("sum", &x)[[]], -128);
    assert_eq!(in_int8("prod", &x)[[]], -116); // the product 2700 wraps
    assert_eq!(in_int8("cumulative_sum", &x).as_slice(), Some(&[100, 127, -128][..]));
    assert_eq!(in_int8("sum", &vec![100, 27, 1].into())[[]], -128);
    assert_eq!(with("sum", std::slice::from_ref(&x), "int64"), Ok(Some(DType::Int64)));
    assert!(with("sum", &[x], "int16").unwrap_err().contains("must be int8, the dtype of `x`"));
    let flags = made(vec![true, true].into(), DType::Bool);
    assert_eq!(with("sum", &[flags], "bool"), Ok(Some(DType::Bool)));
}

#[test]
fn scripts_refuse_it() {
    let run = |text: &str| {
        let mut variables = Variables::from([("x".into(), made(vec![1, 2].into(), DType::Float64))]);
        text.parse::<Script>()
            .and_then(|script| backends_dynamic::run(&B, &script, &mut variables))
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    assert!(run("y = sum(x, dtype=int8)").unwrap_err().contains("sum: `dtype` is int8, but must be float64"));
    assert!(run("y = add(x, zeros_like(x, dtype=\"float32\"))").unwrap_err().contains("zeros_like: `dtype`"));
    assert!(run("y = sum(x, keepdim=true)").unwrap_err().contains("no parameter `keepdim`"));
    assert_eq!(run("y = sum_as(zeros([2], dtype=int8), dtype=int16)"), Ok(()));
}

/// Calls each op, in its first and its last dtype, with an unknown option and then with the option `dtype` for each
/// dtype. The op must return an error, unless `dtype` is the dtype of its arrays or of its result.
#[test]
fn every_row_refuses_what_it_cannot_keep_to() {
    for op in OPS {
        for &dtype in [op.dtypes.first(), op.dtypes.last()].into_iter().flatten() {
            let required = op.params.iter().filter(|param| param.default.is_none());
            let args = fitting(&*B, op.name, dtype);
            let args = args.unwrap_or_else(|| required.map(|param| argument(&*B, param.kind, dtype)).collect());
            let why = call(&B, op.name, &args, &[("no_such_option", 1.into())]).map(|_| ()).unwrap_err();
            assert!(why.op() == Some(op.name) && why.to_string().contains("`no_such_option`"), "{why}");
            let says_dtype = op.params.iter().zip(&args).any(|(param, arg)| {
                let is_array = |arg: &V| arg.as_array().is_some();
                let among = matches!(arg, Value::List(items) if items.iter().any(is_array));
                param.is_of_dtype() && (is_array(arg) || among)
            });
            for asked in DType::ALL {
                let result = call(&B, op.name, &args, &[("dtype", asked.into())]);
                let has = match (op.to_dtypes, says_dtype) {
                    ([], true) => {
                        asked == dtype
                            || matches!(op.result, ResultInfo::One(e) | ResultInfo::List(e) if e.dtype(dtype) == asked)
                    }
                    ([], false) => op.dtypes.contains(&asked),
                    (to, _) => to.contains(&asked),
                };
                match result {
                    Ok(_) => assert!(has, "{} of {dtype} passes over dtype={asked}", op.name),
                    Err(why) => assert_eq!(why.op(), Some(op.name), "{why}"),
                }
            }
        }
    }
}
