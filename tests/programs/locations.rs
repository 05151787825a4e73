//! Tests that an error contains the line of the failed call, on every backend and through backends that wrap another
//! backend.

use backends::{Error, Profile, Value, Watched, functions, grad, ops, prelude::*};

/// Checks that each error contains the line of its call. The calls are in consecutive lines; line `first` contains the
/// first call.
fn check(of: &str, first: u32, errors: Vec<Error>) {
    for (line, error) in (first..).zip(errors) {
        let found = error.location().unwrap_or_else(|| panic!("{of}: no place in \"{error}\""));
        assert_eq!((found.file(), found.line()), (file!(), line), "{of}: {error}");
        assert!(format!("{error:?}").ends_with(&format!(" at {found}")), "{error:?}");
        assert!(!error.to_string().contains("locations.rs"), "{error}");
    }
}

fn on<B: Backend>(of: &str, b: &B) {
    let (two, three) = (b.asarray([1.0, 2.0]).unwrap(), b.asarray([1.0, 2.0, 3.0]).unwrap());
    let matrix = b.reshape(&three, [1, 3]).unwrap();
    let first = line!() + 2;
    let errors = vec![
        b.add(&two, &three).unwrap_err(), // an expression
        b.sum(&two, 3).unwrap_err(),      // a reduction, whose method calls `sum_with`
        b.sum_with(&two, 3, SumOptions::new().keepdims(true)).unwrap_err(),
        b.reshape(&two, [5]).unwrap_err(), // a row with the mapping `call`
        b.cholesky(&matrix).unwrap_err(),
        b.sort_with(&two, SortOptions::new().axis(4)).unwrap_err(),
        b.ptp(&two, 2).unwrap_err(),     // a composition
        b.softmax(&two, 7).unwrap_err(), // rows that are written once for any backend
        b.interp(&two, &two, &three).unwrap_err(),
        b.concat(&[two.clone(), matrix.clone()]).unwrap_err(),
        b.zeros::<f64>([usize::MAX, 2]).unwrap_err(),
        expr!(b, exp(two) + three).unwrap_err(),
        expr!(b, let y = two * two; sum(y, 4)).unwrap_err(),
    ];
    check(of, first, errors);
}

#[test]
fn an_error_says_where_the_op_was_called() -> backends::Result<()> {
    let b = Numpyish::new();
    on("numpyish", &b);
    on("any", &AnyBackend::from(b.clone()));
    on("watched", &Watched::new(b.clone(), Profile::new()));
    on("any, watched", &AnyBackend::from(Watched::new(b.clone(), Profile::new())));
    let x = b.asarray([1.0, 2.0])?;
    grad::grad(
        &b,
        |d, x| {
            on("diff", d);
            d.sum(x, ..)
        },
        &x,
    )?;
    grad::jvp(
        &b,
        |j, x| {
            on("jvp", j);
            j.sum(x, ..)
        },
        &x,
        &x,
    )?;
    if let Some(b) = backends::runtime::available("torch", Torch::cpu()) {
        on("torch", &b);
    }
    if let Some(b) = backends::runtime::available("cuda", Cuda::new(0)) {
        on("cuda", &b);
    }
    Ok(())
}

#[test]
fn functions_of_the_current_backend_say_it_too() {
    let x = functions::ones::<f64>([2]).unwrap();
    let first = line!() + 2;
    let errors = vec![
        functions::reshape(&x, [5]).unwrap_err(),
        functions::sum(&x, 3).unwrap_err(),
        functions::softmax(&x, 3).unwrap_err(),
    ];
    check("functions", first, errors);
}

#[test]
fn a_place_in_generated_code_is_not_shown() {
    let b = Numpyish::new();
    let (two, three) = (b.asarray([1.0, 2.0]).unwrap(), b.asarray([1.0, 2.0, 3.0]).unwrap());
    let args = [Value::array(two), Value::array(three)];
    let error = ops::add::call(&b, &args, &[]).err().unwrap();
    assert!(error.location().is_none_or(|at| at.file() == file!()), "{error:?}");
}
