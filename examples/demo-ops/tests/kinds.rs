//! Tests all kinds of parameters and results that an op may have: on a backend known at compile time, on a backend
//! chosen at run time, and in calls by name.

use backends::{Error, Result, Value, prelude::*, runtime::available};
use demo_ops::*;

fn run<B: Backend + MyOps>(b: &B) -> Result<()> {
    let x = b.asarray([[3.0, 4.0], [6.0, 8.0]])?;
    let (origin, ones) = (b.zeros([2])?, b.asarray([1.0, 0.0])?);
    let host = |x: &B::Array<f64>| Ok::<_, Error>(b.to_ndarray(x)?.iter().copied().collect::<Vec<_>>());

    assert_eq!(host(&b.distance(&x, &origin)?)?, [5.0, 10.0]);
    let mask = b.asarray([true, false])?;
    let options = DistanceOptions::new().metric(Metric::Manhattan);
    assert_eq!(host(&b.distance_with(&x, &origin, options.clone().mask(&mask))?)?, [3.0, 6.0]);
    assert_eq!(host(&b.distance_with(&x, &origin, options.clone().weights(&ones))?)?, [3.0, 6.0]);
    // passes optional arrays by value
    let by_value = options.mask(b.less(&ones, 0.5)?).weights(b.add(&ones, 1)?);
    assert_eq!(host(&b.distance_with(&x, &origin, by_value)?)?, [4.0, 8.0]);

    let ExtremaResult { low, high, place } = b.extrema(&x)?;
    assert_eq!((host(&low)?, host(&high)?), (vec![3.0, 6.0], vec![4.0, 8.0]));
    assert_eq!(b.to_ndarray(&place)?.iter().copied().collect::<Vec<_>>(), [1, 1]);
    assert!(format!("{:?}", b.extrema(&x)?).starts_with("ExtremaResult { low: "));
    // tests calls without a lower bound, without an upper bound, and on the flattened array
    let places = |x: B::Array<i64>| Ok::<_, Error>(b.to_ndarray(&x)?.iter().copied().collect::<Vec<_>>());
    assert_eq!(places(b.first_beyond(&x, .., 6.0)?)?, [2]);
    assert_eq!(places(b.first_beyond_with(&x, 5.0, .., FirstBeyondOptions::new().axis(1))?)?, [0, 1]);
    assert_eq!(places(b.first_beyond_with(&x, .., &origin, FirstBeyondOptions::new().axis(-1))?)?, [0, 0]);

    assert!(b.is_sorted(&x)? && !b.is_sorted(&b.flip(&x, 1)?)?);

    let value = |x: &B::Array<f64>| Value::from(DynArray::of(x.clone()));
    let far = my_ops::distance::call(b, &[value(&x), value(&origin)], &[("metric", "manhattan".into())])?;
    assert_eq!(host(far.as_array().and_then(DynArray::get).unwrap())?, [7.0, 14.0]);
    let first = my_ops::first_beyond::call(b, &[value(&x), Value::None, 6.0.into()], &[("axis", Value::All)])?;
    assert_eq!(places(first.as_array().and_then(DynArray::get).cloned().unwrap())?, [2]);
    let wrong = my_ops::distance::call(b, &[value(&x), value(&origin)], &[("metric", "taxicab".into())]);
    assert!(wrong.unwrap_err().to_string().contains("euclidean, manhattan"));
    assert!(matches!(my_ops::extrema::call(b, &[value(&x)], &[])?, Value::List(parts) if parts.len() == 3));
    assert!(matches!(my_ops::is_sorted::call(b, &[value(&x)], &[])?, Value::Bool(true)));
    Ok(())
}

#[test]
fn on_the_cpu() {
    run(&Numpyish::new()).unwrap();
    run(&AnyBackend::from(Numpyish::new())).unwrap();
}

#[test]
fn on_libtorch() {
    if let Some(b) = available("torch", Torch::cpu()) {
        run(&b).unwrap();
    }
}

#[test]
fn on_the_gpu() {
    if let Some(b) = available("cuda", Cuda::new(0)) {
        run(&b).unwrap();
    }
}

#[test]
fn the_list_of_ops_names_results_and_choices() {
    use backends::{ElementInfo, ParamKind, PlainInfo, ResultInfo};
    let op = |name: &str| MY_OPS_OPS.iter().find(|op| op.name == name).unwrap();
    const FIELDS: [(&str, ElementInfo); 3] =
        [("low", ElementInfo::T), ("high", ElementInfo::T), ("place", ElementInfo::Int64)];
    assert_eq!(op("extrema").result, ResultInfo::Fields(&FIELDS));
    assert_eq!(op("is_sorted").result, ResultInfo::Plain(PlainInfo::Bool));
    assert_eq!(op("palette").params[1].kind, ParamKind::Array(ElementInfo::UInt8));
    assert_eq!(op("distance").params[4].kind, ParamKind::Choice(&["euclidean", "manhattan"]));
    assert_eq!(Metric::NAMES, ["euclidean", "manhattan"]);
}
