//! Tests of programs that are recorded as scripts, and of running the scripts.

use super::{argument, fitting};
use backends::{Error, OPS, Recorded, RecordedArray, Result, Script, Value, Variables, call, prelude::*};
use backends_dynamic::run;

/// Records `program` as a script, and runs the script on another backend. Returns both results and the text of the
/// script.
fn again(
    program: impl Fn(&Recorded<Numpyish>) -> Result<RecordedArray<HostArray<f64>>>,
) -> (Vec<f64>, Vec<f64>, String) {
    // a seeded backend has its own random stream, so tests that run at the same time do not change its random numbers
    let b = Recorded::new(Numpyish::seeded(1));
    let y = program(&b).unwrap();
    b.give("y", &y);
    let other = AnyBackend::from(Numpyish::seeded(1));
    let mut variables = b.constants_on(&other).unwrap();
    b.script()
        .and_then(|script| run(&other, &script, &mut variables))
        .unwrap_or_else(|why| panic!("{why}\n{}", b.text()));
    let given = variables["y"].as_array().unwrap().get::<f64>().unwrap().clone();
    (b.to_vec(&y).unwrap(), other.to_vec(given).unwrap(), b.text())
}

#[test]
fn every_kind_of_argument_is_written_and_read() {
    let (now, then, text) = again(|b| {
        let x = b.arange(0.0, 12.0, 1.0)?;
        let x = b.reshape(&x, [3_isize, -1])?;
        let rows = b.asarray([2_i64, 0])?;
        let part = b.get(&x, ix![&rows, 1..;2])?;
        let mask = b.greater(&part, 3.0)?;
        let part = b.r#where(&mask, &part, f64::NAN)?;
        let part = b.nan_to_num(&part)?;
        let padded = b.pad_with(&part, [(1, 0), (0, 2)], PadOptions::new().mode(PadMode::Edge))?;
        let both = b.concat([&padded, &padded])?;
        let mut both = b.flip(&both, [0, -1])?;
        b.set(&mut both, ix![.., -1], b.full([6], 0.25)?)?;
        let QrResult { q, r, .. } = b.qr(&both)?;
        let whole = b.matmul(&q, &r)?;
        let whole = b.astype::<f32, _>(&whole)?;
        b.astype::<f64, _>(b.expand_dims(&whole, 1)?)
    });
    assert_eq!(now, then, "{text}");
    assert!(text.contains("get(v1, [v2, 1..;2])") && text.contains("dtype=\"float32\""), "{text}");
}

#[test]
fn compositions_formulas_and_random_numbers() {
    let (now, then, text) = again(|b| {
        b.seed(7);
        let x = b.random_normal::<f64>([5])?;
        let y = expr!(b, 2.0 * exp(-x * x) + 1.0)?;
        b.seed_at(7, 1 << 63)?;
        let z = b.random_uniform::<f64>([5])?;
        b.softmax(b.add(&y, &z)?, 0)
    });
    assert_eq!(now, then, "{text}");
    assert!(text.contains("seed_at(7, 9223372036854775808)"), "{text}");
}

#[test]
fn a_call_that_fails_is_not_written() {
    let b = Recorded::new(Numpyish::new());
    let x = b.ones::<f32>([2, 3]).unwrap();
    assert!(b.matmul(&x, &x).is_err());
    assert_eq!(b.text(), "v0 = ones([2, 3], dtype=\"float32\")\n");
}

#[test]
fn runs() {
    let b = AnyBackend::from(Numpyish::new());
    let script: Script = "q, r = qr(x)\ny = matmul(q, r)\nsum(y, ..)".parse().unwrap();
    assert_eq!(script.inputs(), ["x"]);
    let x = b.asarray([[2.0, 0.0], [0.0, 3.0]]).unwrap();
    let mut variables = Variables::from([("x".into(), Value::array::<f64>(x))]);
    let last = run(&b, &script, &mut variables).unwrap().unwrap();
    let last = last.as_array().unwrap().get::<f64>().unwrap();
    assert!((b.item(last).unwrap() - 5.0).abs() < 1e-12);
    assert_eq!(variables.keys().collect::<Vec<_>>(), ["q", "r", "x", "y"]);
    for (text, part) in [
        ("a, b, c = qr(x)", "line 1 has 3 names, but must have one for each of 2 results"),
        ("exp(z)", "line 1: there is no variable `z`"),
        ("smu(x)", "did you mean `sum`?"),
        ("seed(-1)", "line 1: the seed is -1, but must be an integer"),
        ("seed_at(1, -2)", "line 1: the number of the block is -2, but must be an integer"),
    ] {
        let why = text.parse().and_then(|script| run(&b, &script, &mut variables)).unwrap_err().to_string();
        assert!(why.contains(part), "{text}: {why}");
    }
}

/// Returns the dtype, the shape and the bits of the elements. A comparison of bits makes NaN equal to NaN.
fn bits<B: Backend>(b: &B, x: &DynArray<B>) -> (DType, Vec<usize>, Vec<(u64, u64)>) {
    let host = x.to_complex(b).unwrap();
    (x.dtype(), host.shape().to_vec(), host.iter().map(|x| (x.re.to_bits(), x.im.to_bits())).collect())
}

/// Records a call of every op in every dtype, and runs the recorded script. The script must contain the arguments as
/// they were given, and its results must have the same bits.
#[test]
fn the_script_of_every_row_gives_its_results_again() {
    for op in OPS {
        for &dtype in op.dtypes {
            let b = Recorded::new(Numpyish::new());
            let required = || op.params.iter().filter(|param| param.default.is_none());
            let args = fitting(&b, op.name, dtype);
            let args = args.unwrap_or_else(|| required().map(|param| argument(&b, param.kind, dtype)).collect());
            let to = op.to_dtypes.first().copied().unwrap_or(dtype);
            b.seed(1);
            // skips the few dtypes in which the op rejects these arguments
            let Ok(value) = call(&b, op.name, &args, &[("dtype", to.into())]) else { continue };
            let values = if let Value::List(values) = value { values } else { vec![value] };
            let arrays: Vec<DynArray<_>> = values.iter().filter_map(|value| value.as_array().cloned()).collect();
            for (i, x) in arrays.iter().enumerate() {
                backends::dispatch!(x.dtype(), T => {
                    b.give(&format!("result{i}"), x.get::<T>().unwrap());
                    Ok::<(), Error>(())
                })
                .unwrap();
            }
            let again = AnyBackend::from(Numpyish::new());
            let mut variables = b.constants_on(&again).unwrap();
            let ran = b.script().and_then(|script| run(&again, &script, &mut variables));
            ran.unwrap_or_else(|why| panic!("{} in {dtype}: {why}\n{}", op.name, b.text()));
            for (i, x) in arrays.iter().enumerate() {
                let then = variables[&format!("result{i}")].as_array().unwrap();
                assert_eq!(bits(&b, x), bits(&again, then), "{} in {dtype}:\n{}", op.name, b.text());
            }
        }
    }
}
