//! Compares the gradients of a formula with the gradients of the same ops called separately. The tape of a gradient
//! records a formula as one op.

use backends::{
    Profile, Recorded, Result,
    grad::{Diff, Var, grad, hessian, value_and_grad, vjp},
    lazy,
    prelude::*,
    runtime::available,
};

type NdArray<T> = <Numpyish as Arrays>::Array<T>;

fn close<T: Precision>(b: &Numpyish, x: &NdArray<T>, y: &NdArray<T>, tolerance: f64) {
    let options = AllcloseOptions::new().rtol(tolerance).atol(tolerance);
    assert!(x.shape() == y.shape() && b.allclose_with(x, y, options).unwrap(), "{x:?}\n{y:?}");
}

fn inputs<T: Precision>(b: &Numpyish) -> Result<(NdArray<T>, NdArray<T>, NdArray<T>)> {
    Ok((
        b.random_uniform_with::<T>([5, 7], RandomUniformOptions::new().low(0.2).high(2.0))?,
        b.random_uniform_with::<T>([7], RandomUniformOptions::new().low(0.2).high(2.0))?,
        b.asarray(T::of(0.7))?,
    ))
}

/// Checks that a formula and the same ops called separately have the same value and the same gradients, in the dtype
/// `T`.
fn same<T: Precision>(tolerance: f64) -> Result<()> {
    let b = Numpyish::new();
    let (x, y, s) = inputs::<T>(&b)?;
    let u = b.random_normal::<T>([5, 7])?;
    let formula = value_and_grad(
        &b,
        |d, (x, y, s)| {
            let value = expr!(d, exp(-square(x - y) / (2 * s * s)) + y * sin(3.5 * x) - where(x > y, x, s * y) + maximum(x, y) / (1 + x))?;
            d.sum_as::<T, T>(d.multiply(value, &d.constant(u.clone()))?, ..)
        },
        (&x, &y, &s),
    )?;
    let ops = value_and_grad(
        &b,
        |d, (x, y, s)| {
            let gauss = d.exp(
                d.negative(d.divide(d.square(d.subtract(x, y)?)?, d.multiply(d.multiply(s, s)?, T::of(2.0))?)?)?,
            )?;
            let wave = d.multiply(y, d.sin(d.multiply(x, T::of(3.5))?)?)?;
            let chosen = d.r#where(d.greater(x, y)?, x, d.multiply(s, y)?)?;
            let most = d.divide(d.maximum(x, y)?, d.add(x, T::ONE)?)?;
            let value = d.add(d.subtract(d.add(gauss, wave)?, chosen)?, most)?;
            d.sum_as::<T, T>(d.multiply(value, &d.constant(u.clone()))?, ..)
        },
        (&x, &y, &s),
    )?;
    close(&b, &formula.0, &ops.0, tolerance);
    close(&b, &formula.1.0, &ops.1.0, tolerance);
    close(&b, &formula.1.1, &ops.1.1, tolerance);
    close(&b, &formula.1.2, &ops.1.2, tolerance);
    Ok(())
}

#[test]
fn as_those_of_the_ops() -> Result<()> {
    same::<f64>(1e-13)?;
    same::<f32>(2e-5)
}

/// Formulas that a tape records op by op, and not as one op: with complex numbers, many arrays, or other dtypes.
#[test]
fn formulas_that_run_op_by_op() -> Result<()> {
    let b = Numpyish::new();
    let (x, y) = (b.asarray([0.5, 1.5])?, b.asarray([1.0, -2.0])?);
    let z = b.complex(&x, &y)?;
    // |z^2| = re^2 + im^2
    let g = grad(&b, |d, z| expr!(d, sum(abs(z * z), ..)), &z)?;
    close::<f64>(&b, &b.real(&g)?, &expr!(b, 2 * x)?, 1e-13);
    close::<f64>(&b, &b.imag(&g)?, &expr!(b, 2 * y)?, 1e-13);
    // nine arrays, one more than a formula can read in one pass
    let all: Vec<NdArray<f64>> = (0..9).map(|i| b.asarray([1.0 + f64::from(i)])).collect::<Result<_>>()?;
    let list: Vec<&NdArray<f64>> = all.iter().collect();
    let g = grad(
        &b,
        |d, v: &Vec<Var<Numpyish, f64>>| {
            let [a, c, e, f, g, h, i, j, k] = &v[..] else { unreachable!() };
            expr!(d, sum(a * c + e * f + g * h + i * j + k * a, ..))
        },
        list,
    )?;
    let wanted = [2.0 + 9.0, 1.0, 4.0, 3.0, 6.0, 5.0, 8.0, 7.0, 1.0];
    for (g, wanted) in g.iter().zip(wanted) {
        assert_eq!(b.to_vec(g)?, [wanted]);
    }
    // integers and bools count as constants
    let n = b.asarray([2_i64, 3])?;
    let g = grad(&b, |d, x| expr!(d, sum(x * astype::<f64>(d.constant(n.clone())) + where(x > 1, x, 0), ..)), &x)?;
    assert_eq!(b.to_vec(g)?, [2.0, 4.0]);
    Ok(())
}

#[test]
fn of_gradients_in_place_and_without_a_macro() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([0.5, 1.5, -0.3])?;
    fn f<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
        expr!(b, sum(x * x * sin(x), ..))
    }
    let h = hessian(&b, f, &x)?;
    let second = expr!(b, 2 * sin(x) + 4 * x * cos(x) - x * x * sin(x))?;
    close::<f64>(&b, &h, &b.diag(second)?, 1e-13);
    let g = grad(&b, |d, x| d.sum((lazy(x) * x * lazy(x).sin()).eval(d)?, ..), &x)?;
    close::<f64>(&b, &g, &expr!(b, 2 * x * sin(x) + x * x * cos(x))?, 1e-13);
    let g = grad(
        &b,
        |d, x| {
            let mut y = x.clone();
            expr!(d, y += x * y)?;
            expr!(d, y[1..] *= 2 * x[1..])?;
            d.sum(y, ..)
        },
        &x,
    )?;
    // the elements of `y` are x + x^2 at index 0 and 2 x^2 + 2 x^3 elsewhere, so the derivatives are 1 + 2 x and 4 x +
    // 6 x^2
    close::<f64>(&b, &g, &b.asarray([2.0, 4.0 * 1.5 + 6.0 * 2.25, -4.0 * 0.3 + 6.0 * 0.09])?, 1e-13);
    Ok(())
}

#[test]
fn shapes_and_places_are_checked() -> Result<()> {
    let b = Numpyish::new();
    let (x, longer) = (b.asarray([1.0, 2.0])?, b.asarray([1.0, 2.0, 3.0])?);
    let wrong = grad(&b, |d, x| expr!(d, sum(x + d.constant(longer.clone()), ..)), &x).unwrap_err();
    let plain = expr!(b, x + longer).unwrap_err();
    assert_eq!(wrong.to_string(), plain.to_string());
    let mut outside: Option<Var<Numpyish, f64>> = None;
    grad(
        &b,
        |d, x| {
            outside = Some(x.clone());
            d.sum(x, ..)
        },
        &x,
    )?;
    let outside = outside.unwrap();
    let wrong = grad(&b, |d: &Diff<Numpyish>, x| expr!(d, sum(x * outside, ..)), &x).unwrap_err();
    assert!(wrong.to_string().contains("another gradient"), "{wrong}");
    // empty arrays
    let g = grad(&b, |d, x| expr!(d, sum(x * x, ..)), &b.zeros::<f64>([0, 3])?)?;
    assert_eq!(g.shape(), [0, 3]);
    Ok(())
}

#[test]
fn on_libtorch() -> Result<()> {
    let Ok(b) = Torch::cpu() else { return Ok(()) };
    let x = b.asarray([0.5, 1.5, -0.3])?;
    let g = grad(&b, |d, x| expr!(d, sum(x * x * sin(x), ..)), &x)?;
    let wanted = expr!(b, 2 * x * sin(x) + x * x * cos(x))?;
    assert!(b.allclose(g, wanted)?);
    Ok(())
}

/// On the GPU, a formula is one kernel. The gradient with respect to each of its arrays is one more kernel.
#[test]
fn on_cuda() -> Result<()> {
    let Some(cuda) = available("cuda", Cuda::new(0)) else { return Ok(()) };
    let b = Numpyish::new();
    fn f<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, y: &B::Array<T>, s: &B::Array<T>) -> Result<B::Array<T>> {
        let value = expr!(
            b,
            exp(-square(x - y) / (2 * s * s)) + y * sin(3.5 * x) - where(x > y, x, s * y) + leaky_relu(x - 1) * clip(y, 0.5, 1.5)
        )?;
        b.sum_as::<T, T>(value, ..)
    }
    fn same<T: Precision>(b: &Numpyish, cuda: &Cuda, tolerance: f64) -> Result<()> {
        let (x, y, s) = inputs::<T>(b)?;
        let wanted = value_and_grad(b, |d, (x, y, s)| f::<_, T>(d, x, y, s), (&x, &y, &s))?;
        let there = |x: &NdArray<T>| b.to_backend::<T, _>(x, cuda);
        let (x, y, s) = (there(&x)?, there(&y)?, there(&s)?);
        let found = value_and_grad(cuda, |d, (x, y, s)| f::<_, T>(d, x, y, s), (&x, &y, &s))?;
        let back = |x: &<Cuda as Arrays>::Array<T>| cuda.to_backend::<T, _>(x, b);
        close(b, &back(&found.0)?, &wanted.0, tolerance);
        close(b, &back(&found.1.0)?, &wanted.1.0, tolerance);
        close(b, &back(&found.1.1)?, &wanted.1.1, tolerance);
        close(b, &back(&found.1.2)?, &wanted.1.2, tolerance);
        Ok(())
    }
    same::<f64>(&b, &cuda, 1e-12)?;
    same::<f32>(&b, &cuda, 2e-5)?;
    // one kernel for the value, and then one for each of the two gradients
    let device = crate::common::SoftCuda::open();
    let launched = || device.as_ref().map(|device| device.launched_and_allocated()[0]);
    let (x, y) = (cuda.asarray([0.5, 1.5, 2.5])?, cuda.asarray([1.0, 1.1, 1.2])?);
    let g = cuda.asarray([1.0, 1.0, 1.0])?;
    let before = launched();
    let (_, mut back) = vjp(&cuda, |d, (x, y)| expr!(d, exp(-square(x - y)) + y * sin(x)), (&x, &y))?;
    let there = launched();
    back.pull(&g)?;
    if let (Some(before), Some(there), Some(back)) = (before, there, launched()) {
        assert_eq!((there - before, back - there), (1, 2));
    }
    Ok(())
}

/// A training step: computes a loss and its gradient, and updates a parameter in place.
fn step<B: Backend>(b: &B, x: &B::Array<f64>, t: &B::Array<f64>, w: &mut B::Array<f64>) -> Result<()> {
    let (_, g) = value_and_grad(
        b,
        |d, w: &Var<B, f64>| {
            let (x, t) = (d.constant(x.clone()), d.constant(t.clone()));
            let y = expr!(d, exp(-(w * x) * *2))?;
            expr!(d, mean((y - t) * *2, ..))
        },
        &*w,
    )?;
    let rate = 0.1;
    expr!(b, *w -= rate * g)
}

/// Returns the name, op, arguments and results of each call in a profile.
fn told(profile: &Profile) -> Vec<(String, &'static str, String, String)> {
    profile.events().into_iter().map(|e| (e.name, e.op, e.args, e.results)).collect()
}

#[test]
fn a_profile_names_the_formulas_of_a_training_step_and_their_gradients() -> Result<()> {
    let profile = Profile::new();
    let b = profile.watch(Numpyish::new());
    let plain = Numpyish::new();
    let (x, t) = (plain.linspace(0.1, 1.0, 6)?, plain.full([6], 0.5)?);
    let (mut w, mut expected) = (plain.full([6], 0.7)?, plain.full([6], 0.7)?);
    step(&b, &x, &t, &mut w)?;
    step(&plain, &x, &t, &mut expected)?;
    assert_eq!(w, expected, "what is watched gives the same bits");

    let told = told(&profile);
    let of = |name: &str| told.iter().filter(|(known, ..)| known == name).collect::<Vec<_>>();
    let (one, both) = ("float64[6]", "(float64[6], float64[6])");
    for (name, args) in [
        ("exp(-(w * x)**2)", both),
        // the arguments are the gradient of the formula's value, and the two arrays in the formula
        ("gradient of exp(-(w * x)**2)", "(float64[6], float64[6], float64[6])"),
        ("*w -= rate * g", both),
    ] {
        let calls = of(name);
        assert_eq!(calls.len(), 1, "{name}: {told:?}");
        assert_eq!((calls[0].1, calls[0].2.as_str(), calls[0].3.as_str()), ("expr!", args, one), "{name}");
    }
    // on a tape, the mean of a formula is two calls: the formula, and the op `mean`
    for name in ["(y - t)**2", "gradient of (y - t)**2", "mean"] {
        assert_eq!(of(name).len(), 1, "{name}: {told:?}");
    }
    assert!(told.iter().all(|(name, ..)| name != "expr!"), "{told:?}");

    // no time is counted twice: the sum of all own times equals the sum of the durations of the outermost calls
    let own: std::time::Duration = profile.averages().iter().map(|average| average.own).sum();
    let outermost = profile.events().into_iter().filter(|event| event.parent.is_none()).map(|event| event.duration);
    assert_eq!(own, outermost.sum());
    profile.retime(|| step(&b, &x, &t, &mut plain.full([6], 0.7)?))
}

#[test]
fn gradients_of_formulas_op_by_op_are_rows_as_well() -> Result<()> {
    let profile = Profile::new();
    let b = profile.watch(Numpyish::new());
    // on a tape, a formula of complex numbers runs op by op
    let z = b.asarray([Complex::new(1.0, 2.0), Complex::new(0.5, -1.0)])?;
    let g = grad(&b, |d, z| d.sum(d.real(expr!(d, z * z * z)?)?, ..), &z)?;
    assert_eq!(g.shape(), [2]);
    let events = profile.events();
    let at = |name: &str| events.iter().position(|event| event.name == name);
    let (there, back) = (at("z * z * z").unwrap(), at("gradient of z * z * z").unwrap());
    assert!(events.iter().filter(|event| event.parent == Some(there)).all(|event| event.name == "multiply"));
    let within = events.iter().filter(|event| event.parent == Some(back)).count();
    assert!(within >= 3, "{events:?}");
    assert_eq!(events.iter().filter(|event| event.name.starts_with("gradient of")).count(), 1);
    assert_eq!(events[back].args, "(complex128[2], complex128[2])");
    Ok(())
}

#[test]
fn a_profile_names_formulas_of_every_way_to_write_them() -> Result<()> {
    let profile = Profile::new();
    let b = profile.watch(AnyBackend::from(Numpyish::new()));
    let (x, mut y) = (b.asarray([1.0_f32, 2.0])?, b.zeros::<f32>([2])?);
    let _ = ((lazy(&x) + &y) * 2.0 - (-lazy(&x)).exp() / lazy(3.0_f32)).eval(&b)?;
    let _ = (lazy(&x) - 0.5).square().sum(0).keepdims(true).eval(&b)?;
    expr!(b, y += x * 2)?;
    let _ = expr!(b, max(x * y, 0, keepdims = true))?;
    let _ = expr!(b, let d = x - y; d * d)?;
    b.out(&mut y).exp(&x)?;
    let jvp = backends::grad::jvp(&b, |j, x| expr!(j, sin(x) * 2.0), &x, &y)?;
    drop(jvp);
    let told = told(&profile);
    let named = |op: &'static str| -> Vec<&str> {
        told.iter().filter(|(_, known, ..)| *known == op).map(|(name, ..)| name.as_str()).collect()
    };
    assert_eq!(
        named("expr!"),
        ["(x0 + x1) * 2 - exp(-x2) / 3", "y += x * 2", "let d = x - y; d * d", "value and tangent of sin(x) * 2.0"]
    );
    assert_eq!(named("sum"), ["sum(square(x0 - 0.5), 0, keepdims = true)"]);
    assert_eq!(named("max"), ["max(x * y, 0, keepdims = true)"]);
    // an event contains the whole text of a long formula; a table shortens the text
    let profile = Profile::new();
    let b = profile.watch(Numpyish::new());
    let x = b.asarray([1.0])?;
    expr!(b, sin(x) + cos(x) + tan(x) + sinh(x) + cosh(x) + tanh(x) + asinh(x) + atan(x) + exp(x) + expm1(x))?;
    let whole = &profile.events()[1].name;
    assert!(whole.starts_with("sin(x) + cos(x)") && whole.ends_with("+ exp(x) + expm1(x)"), "{whole}");
    let table = profile.summary() + &profile.table(std::time::Duration::ZERO);
    assert!(
        !table.contains(whole) && table.matches(" .. ").count() == 2 && table.contains("expm1(x) (float64[1])"),
        "{table}"
    );
    Ok(())
}

#[test]
fn a_script_has_the_text_of_formulas_as_notes() -> Result<()> {
    let b = Recorded::new(Numpyish::new());
    let x = b.asarray([1.0, 2.0])?;
    let y = expr!(b, exp(-x) * 2.0)?;
    b.give("y", &y);
    let text = b.text();
    assert!(text.contains("\n# exp(-x) * 2.0\nv1 = negative(v0)\n"), "{text}");
    let mut variables = b.constants_on(&Numpyish::new())?;
    b.script()?.run(&Numpyish::new(), &mut variables)?;
    assert_eq!(variables["y"].as_array().and_then(|y| y.get::<f64>()), Some(y.array()));
    Ok(())
}
