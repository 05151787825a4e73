//! Derivatives of calls by name. On gradient backends around `AnyBackend`, such calls are compiled for element types that
//! stand for dtypes, and the gradient rules run later, when the call has ended.

use backends::{
    Complex, Result, Slice, Value, bf16,
    grad::{Diff, Var, grad, jvp, vjp},
    ops,
    prelude::*,
};

/// Returns the result of a call as an array of `T`.
fn array<B: Backend, T: Element>(result: Result<Value<B>>) -> Result<B::Array<T>> {
    let value = result?;
    let array = value.as_array().and_then(DynArray::get::<T>);
    Ok(array.unwrap_or_else(|| panic!("{value:?} is no array of {}", T::DTYPE)).clone())
}

/// `x^3 exp(x) + |x|`, by calls by name.
fn by_name<B: Backend, T: Element>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    let value = Value::<B>::array::<T>(x.clone());
    let cube = ops::pow::call(b, &[value.clone(), 3.into()], &[])?;
    let product = ops::multiply::call(b, &[cube, ops::exp::call(b, std::slice::from_ref(&value), &[])?], &[])?;
    array(ops::add::call(b, &[product, ops::abs::call(b, &[value], &[])?], &[]))
}

/// Computes the function by calls of methods, with a static dtype.
fn by_methods<B: Backend, T: Real>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    b.add(b.multiply(b.pow(x, T::of(3.0))?, b.exp(x)?)?, b.abs::<T>(x)?)
}

fn numbers<T: Real>() -> Vec<T> {
    [0.5, -1.25, 2.0, 0.1].map(T::of).to_vec()
}

type Inner = Diff<AnyBackend>;

/// An array of a gradient inside another gradient.
type Nested<T> = Var<Inner, T>;

/// Compares first derivatives of both functions, backward and forward, and second derivatives.
fn compare<T: Real>() -> Result<()> {
    let b = AnyBackend::from(Numpyish::new());
    let (x, along) = (b.asarray(numbers::<T>())?, b.ones::<T>([4])?);
    let read = |x: &AnyArray<T>| b.to_vec(x);
    let (y, mut pullback) = vjp(&b, |d, x| by_name::<_, T>(d, x), &x)?;
    let (expected, mut of_methods) = vjp(&b, |d, x| by_methods::<_, T>(d, x), &x)?;
    assert_eq!(read(&y)?, read(&expected)?);
    assert_eq!(read(&pullback.pull(&along)?)?, read(&of_methods.pull(&along)?)?);

    let twice = |f: fn(&Diff<Inner>, &Nested<T>) -> Result<Nested<T>>| {
        grad(&b, |d, x| d.sum(grad(d, |d, x| d.sum(f(d, x)?, ..), x)?, ..), &x)
    };
    assert_eq!(read(&twice(by_name)?)?, read(&twice(by_methods)?)?);

    let (_, tangent) = jvp(&b, |j, x| by_name::<_, T>(j, x), &x, &along)?;
    let (_, expected) = jvp(&b, |j, x| by_methods::<_, T>(j, x), &x, &along)?;
    assert_eq!(read(&tangent)?, read(&expected)?);
    Ok(())
}

#[test]
fn rules_run_in_the_dtype_of_their_call() -> Result<()> {
    compare::<f32>()?;
    compare::<f64>()?;
    compare::<bf16>()
}

#[test]
fn every_rule_has_its_own_dtype() -> Result<()> {
    // |z| in complex64, squared in float32, and summed in float64
    let f = |d: &Diff<AnyBackend>, z: &Var<AnyBackend, Complex<f32>>| {
        let x = ops::abs::call(d, &[Value::array::<Complex<f32>>(z.clone())], &[])?;
        let x = ops::square::call(d, &[x], &[])?;
        let x = ops::astype::call(d, &[x], &[("dtype", DType::Float64.into())])?;
        array::<_, f64>(ops::sum::call(d, &[x], &[]))
    };
    let b = AnyBackend::from(Numpyish::new());
    let z = b.asarray([Complex::new(0.5_f32, -1.0), Complex::new(2.0, 0.25)])?;
    let g = grad(&b, f, &z)?;
    assert_eq!(b.to_vec(b.real(&g)?)?, [1.0_f32, 4.0]);
    assert_eq!(b.to_vec(b.imag(&g)?)?, [-2.0_f32, 0.5]);
    Ok(())
}

#[test]
fn integers_and_indices_have_no_gradients() -> Result<()> {
    let b = AnyBackend::from(Numpyish::new());
    let x = b.asarray([3.0_f32, 1.0, 2.0])?;
    let g = grad(
        &b,
        |d, x| {
            let value = Value::array::<f32>(x.clone());
            let order = ops::argsort::call(d, std::slice::from_ref(&value), &[])?;
            let order = ops::add::call(d, &[order, 0.into()], &[])?;
            let first =
                ops::getitem::call(d, &[order, vec![Value::from(Slice { start: Some(1), ..Slice::ALL })].into()], &[])?;
            array::<_, f32>(ops::sum::call(d, &[ops::take::call(d, &[value, first, 0.into()], &[])?], &[]))
        },
        &x,
    )?;
    assert_eq!(b.to_vec(g)?, [1.0_f32, 0.0, 1.0]);
    Ok(())
}
