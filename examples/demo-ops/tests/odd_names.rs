//! Tests that names in a table may be keywords of Rust or C++, and that numbers in a table reach the kernels exactly.

use backends::{
    Result, Value,
    prelude::*,
    runtime::{
        available,
        cuda::{check, nvrtc::Target},
    },
};

backends::backend! { table = "tests/odd_names.toml", trait = OddNames }

fn run<B: Backend + OddNames>(b: &B) -> Result<()> {
    let x = b.asarray([0.0_f64, 1.0, -2.0])?;
    assert_eq!(b.to_ndarray(&b.template(&x)?)?, ndarray::arr1(&[0.0, 2.0, -4.0]).into_dyn());
    let y = b.typename_with(&x, 3.0, TypenameOptions::new().k_row(2.0))?;
    assert_eq!(b.to_ndarray(&y)?, ndarray::arr1(&[-6.0, -5.0, -8.0]).into_dyn());
    let z = b.own_with(&x, &x, OwnOptions::new().r(0.5).own(&y))?;
    assert_eq!(b.to_ndarray(&z)?, ndarray::arr0(6.5).into_dyn());
    let magnitudes = b.narrow(&b.asarray([Complex::new(3.0_f32, 4.0)])?)?;
    assert_eq!(b.to_ndarray(&magnitudes)?, ndarray::arr1(&[5.0_f32]).into_dyn());
    let states = [0_i64, 1, -7];
    let expected = states.map(|s| s.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(9_007_199_254_740_993));
    let scrambled = b.scramble(&b.asarray(states.to_vec())?)?;
    assert_eq!(b.to_ndarray(&scrambled)?, ndarray::arr1(&expected).into_dyn());
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
fn kernels_compile() {
    let Some(target) = available("nvrtc", Target::of((9, 0))) else { return };
    for unit in check::rows(ODD_NAMES_OPS) {
        unit.compile(&target).unwrap_or_else(|error| panic!("{}: {error}", unit.name));
    }
}

#[test]
fn rows_of_a_users_table_are_items() {
    let b = Numpyish::new();
    let x = Value::array::<f64>(b.asarray([0.0, 1.0, -2.0]).unwrap());
    let doubled = odd_names::template::call(&b, &[x], &[("register", 3.0.into())]).unwrap();
    let expected = b.asarray([0.0, 3.0, -6.0]).unwrap();
    assert_eq!(doubled.as_array().and_then(DynArray::get::<f64>), Some(&expected));
    assert_eq!(odd_names::own::INFO.params.len(), 5);
    assert_eq!(odd_names_options::TemplateOptions::new(), TemplateOptions::new(), "one struct by two paths");
}
