//! Tests of stiff problems by BDF, compared with the step counts of SciPy (1.17.1), with solutions by Radau (rtol
//! 1e-11), and with exact solutions.

use crate::{lotka_volterra, near};
use backends::{
    Result,
    grad::{grad, jvp},
    prelude::*,
    runtime::available,
};
use backends_solvers::ode::{Event, Ivp, Method, SolveIvp, solve_ivp};

fn bdf(rtol: f64, atol: f64) -> SolveIvp {
    SolveIvp::new().method(Method::Bdf).rtol(rtol).atol(atol)
}

/// Checks that each count is at most 1.5 times SciPy's count. The counts may differ, because rounding may lead to other
/// steps.
#[track_caller]
fn like_scipy(found: [usize; 3], scipy: [usize; 3]) {
    for (x, y) in found.into_iter().zip(scipy) {
        assert!(2 * x <= 3 * y, "{found:?} beside {scipy:?}");
    }
}

/// Robertson's chemical reactions, with rates from 0.04 to 3e7.
fn robertson<B: Backend, T: Real>(b: &B, y: &B::Array<T>) -> Result<B::Array<T>> {
    let (x, y, z) = (b.getitem(y, slices![0])?, b.getitem(y, slices![1])?, b.getitem(y, slices![2])?);
    let (slow, middle, fast) = (expr!(b, 0.04 * x)?, expr!(b, 1e4 * y * z)?, expr!(b, 3e7 * y * y)?);
    b.stack([expr!(b, middle - slow)?, expr!(b, slow - middle - fast)?, fast])
}

fn derivatives(b: &Numpyish, y: &HostArray<f64>) -> Result<HostArray<f64>> {
    let y = b.to_vec(y)?;
    let (middle, fast) = ([1e4 * y[2], 1e4 * y[1]], 6e7 * y[1]);
    b.asarray([[-0.04, middle[0], middle[1]], [0.04, -fast - middle[0], -middle[1]], [0.0, fast, 0.0]])
}

const ROBERTSON: [f64; 3] = [0.0178659211423, 7.27475146852e-8, 0.98213400611];

#[test]
fn robertson_in_as_many_steps_as_scipy() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([1.0, 0.0, 0.0])?;
    for (rtol, atol, scipy, exact) in
        [(1e-3, 1e-6, [107, 269, 38], 2e-3), (1e-6, 1e-10, [327, 895, 68], 1e-5), (1e-8, 1e-12, [664, 2087, 127], 3e-7)]
    {
        let times = [0.0, 1e5];
        let found = Ivp::new(&b, |b, _, y| robertson(b, y), times, &y0)
            .jacobian(|b, _, y| derivatives(b, y))
            .solve(bdf(rtol, atol))?;
        assert!(found.success, "{}", found.message);
        like_scipy([found.steps, found.evaluations, found.factorizations], scipy);
        let by_differences = solve_ivp(&b, |b, _, y| robertson(b, y), times, &y0, bdf(rtol, atol))?;
        // SciPy does not count the evaluations for finite-difference Jacobians
        let evaluations = by_differences.evaluations - 4 * by_differences.jacobians;
        like_scipy([by_differences.steps, evaluations, by_differences.factorizations], scipy);
        for found in [found, by_differences] {
            let last = b.to_vec(&found.y[found.y.len() - 1])?;
            for (x, y) in last.iter().zip(ROBERTSON) {
                assert!((x - y).abs() <= exact * y, "{last:?} to {rtol}");
            }
        }
    }
    Ok(())
}

/// Van der Pol's oscillator, which is stiff between its jumps.
fn van_der_pol<B: Backend, T: Real>(b: &B, y: &B::Array<T>) -> Result<B::Array<T>> {
    let (x, y) = (b.getitem(y, slices![..1])?, b.getitem(y, slices![1..])?);
    b.concat([y.clone(), expr!(b, 1000 * (1 - x * x) * y - x)?])
}

fn van_der_pol_on<B: Backend>(b: &B) -> Result<()> {
    let y0 = b.asarray([2.0, 0.0])?;
    let found = solve_ivp(b, |b, _, y| van_der_pol(b, y), [0.0, 2000.0], &y0, bdf(1e-6, 1e-9))?;
    like_scipy([found.steps, found.evaluations - 3 * found.jacobians, found.factorizations], [1257, 3781, 286]);
    let last = b.to_vec(&found.y[found.y.len() - 1])?;
    near(&[last[0], 1e3 * last[1]], &[1.70616773217, -8.92809701e-1], 2e-5);
    Ok(())
}

#[test]
fn van_der_pol_on_the_cpu() -> Result<()> {
    van_der_pol_on(&Numpyish::new())
}

#[test]
fn van_der_pol_on_libtorch() -> Result<()> {
    available("torch", Torch::cpu()).map_or(Ok(()), |b| van_der_pol_on(&AnyBackend::from(b)))
}

#[test]
fn robertson_in_single_precision() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([1.0_f32, 0.0, 0.0])?;
    let found = solve_ivp(&b, |b, _, y| robertson(b, y), [0.0, 1e5], &y0, bdf(1e-4, 1e-8))?;
    assert!(found.success, "{}", found.message);
    let last: Vec<f64> = b.to_vec(&found.y[found.y.len() - 1])?.into_iter().map(f64::from).collect();
    assert!(last.iter().zip(ROBERTSON).all(|(x, y)| (x - y).abs() < 0.02 * y), "{last:?}");
    like_scipy([found.steps, 0, 0], [200, 0, 0]);
    Ok(())
}

/// A linear system with decay rates 1 and 1999; the state has two axes.
fn decay<B: Backend>(b: &B, y: &B::Array<f64>) -> Result<B::Array<f64>> {
    let swapped = b.flip(y, 1)?;
    expr!(b, -1000 * y + 999 * swapped)
}

#[test]
fn stiff_linear_systems_of_two_axes_both_ways_in_time() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([[2.0, 0.0]])?;
    // the sum of the two elements decays as exp(-t), their difference as exp(-1999 t)
    let exact = |t: f64| [(-t).exp() + (-1999.0 * t).exp(), (-t).exp() - (-1999.0 * t).exp()];
    let options = bdf(1e-6, 1e-9).dense_output(true);
    let found = solve_ivp(&b, |b, _, y| decay(b, y), [0.0, 2.0], &y0, options.clone())?;
    like_scipy([found.steps, found.evaluations, found.factorizations], [125, 252, 28]);
    assert_eq!(found.y[5].shape(), [1, 2]);
    let Some(sol) = &found.sol else { panic!("there is no dense output") };
    for t in [0.0, 1e-6, 1e-4, 1e-3, 0.01, 0.3, 1.234, 2.0] {
        near(&b.to_vec(sol.at(&b, t)?)?, &exact(t), 2e-5);
    }
    for (t, y) in found.t.iter().zip(&found.y) {
        assert_eq!(&sol.at(&b, *t)?, y);
    }
    for t in [-1e-9, 2.1, f64::NAN] {
        let why = sol.at(&b, t).unwrap_err().to_string();
        assert!(why.contains(&format!("t is {t}, but must be between 0 and 2")), "{why}");
    }
    let back = solve_ivp(&b, |b, _, y| b.negative(decay(b, y)?), [2.0, 0.0], &y0, options.t_eval(&[1.999, 1.0, 0.0]))?;
    assert_eq!((back.steps, &back.t[..]), (found.steps, &[1.999, 1.0, 0.0][..]));
    let Some(sol) = &back.sol else { panic!("there is no dense output") };
    for (t, y) in back.t.iter().zip(&back.y) {
        near(&b.to_vec(y)?, &exact(2.0 - t), 2e-5);
        assert!(b.allclose(sol.at(&b, *t)?, y)?);
    }
    Ok(())
}

#[test]
fn complex_states() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([Complex::new(2.0, 0.0), Complex::new(0.0, 1.0)])?;
    let f = |b: &Numpyish, _: f64, y: &HostArray<Complex<f64>>| {
        let (swapped, diagonal) = (b.flip(y, 0)?, Complex::new(-1000.0, 1.0));
        b.add(b.multiply(y, diagonal)?, b.multiply(swapped, Complex::new(999.0, 0.0))?)
    };
    let found = solve_ivp(&b, f, [0.0, 2.0], &y0, bdf(1e-6, 1e-9))?;
    like_scipy([found.steps, found.evaluations, found.factorizations], [123, 251, 27]);
    let last = b.to_vec(&found.y[found.y.len() - 1])?;
    // exact solution: (1 + i/2) exp((i - 1) t)
    let exact = Complex::new(1.0, 0.5) * Complex::new(-2.0, 2.0).exp();
    near(&[last[0].re, last[0].im, last[1].re, last[1].im], &[exact.re, exact.im, exact.re, exact.im], 2e-6);
    Ok(())
}

#[test]
fn settings_of_scipy_go_as_scipy() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([10.0, 5.0])?;
    let solve = |options: SolveIvp| {
        Ivp::new(&b, |b, _, y| lotka_volterra(b, y), [0.0, 10.0], &y0)
            .jacobian(|b, _, y| {
                let y = b.to_vec(y)?;
                b.asarray([[1.5 - y[1], -y[0]], [y[1], y[0] - 3.0]])
            })
            .solve(options.method("BDF".parse()?))
    };
    let found = solve(SolveIvp::new().dense_output(true))?;
    assert_eq!((found.steps, found.t.len()), (166, 167));
    like_scipy([found.evaluations, found.jacobians, found.factorizations], [442, 7, 35]);
    // SciPy starts with the Jacobian at the initial state; this solver starts with the Jacobian of the first step
    near(&b.to_vec(&found.y[166])?, &[0.2980644694705975, 0.4349247117896606], 2e-3);
    let Some(sol) = &found.sol else { panic!("there is no dense output") };
    near(&b.to_vec(sol.at(&b, 3.3)?)?, &[4.11063214, 0.02135738], 2e-3);
    near(&b.to_vec(sol.at(&b, 7.7)?)?, &[4.85122267, 0.02553136], 2e-3);
    let found = solve(SolveIvp::new().rtol(1e-6).atol(1e-9).max_step(0.05))?;
    like_scipy([found.steps, found.evaluations, found.factorizations], [535, 1444, 93]);
    assert!(found.t.windows(2).all(|t| t[1] - t[0] < 0.05 + 1e-12));
    near(&b.to_vec(&found.y[found.steps])?, &[0.2872423167340823, 0.4497308900240061], 1e-4);
    let found = solve(SolveIvp::new().first_step(1e-3).t_eval(&[0.0, 0.5, 7.3, 10.0]))?;
    assert_eq!((&found.t[..], &found.y[0]), (&[0.0, 0.5, 7.3, 10.0][..], &y0));
    near(&b.to_vec(&found.y[1])?, &[0.45228881194804166, 5.379970809468937], 2e-3);
    near(&b.to_vec(&found.y[2])?, &[2.6605745846141646, 0.019432378873208086], 2e-3);
    Ok(())
}

#[test]
fn jacobians_of_any_shape_and_no_elements() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([[1.0, 2.0]])?;
    let solve = |shape: &[usize]| {
        let shape = shape.to_vec();
        Ivp::new(&b, |b, _, y| expr!(b, -5 * y), [0.0, 1.0], &y0)
            .jacobian(move |b, _, _| b.reshape(expr!(b, -5.0 * { b.eye::<f64>(2)? })?, shape.clone()))
            .solve(bdf(1e-6, 1e-9))
    };
    assert_eq!(solve(&[2, 2])?.t, solve(&[1, 2, 1, 2])?.t);
    let why = solve(&[4]).unwrap_err().to_string();
    assert!(why.contains("[4]") && why.contains("must be [2, 2]"), "{why}");
    // the state is a single number, or empty
    let found = solve_ivp(&b, |b, _, y| expr!(b, -50 * y), [0.0, 1.0], &b.asarray(1.0)?, bdf(1e-6, 1e-9))?;
    near(&[b.item(&found.y[found.steps])?], &[(-50.0_f64).exp()], 1e-7);
    let none = b.zeros::<f64>([0, 3])?;
    let found = solve_ivp(&b, |_, _, y| Ok(y.clone()), [0.0, 1.0], &none, bdf(1e-3, 1e-6).dense_output(true))?;
    assert!(found.success && found.t[found.steps] == 1.0, "{}", found.message);
    Ok(())
}

/// The sum of the states at the times 0.5 and 1. The state has two components. The first one decays fast, towards
/// `rate` times the second one. The second one, `z`, decays by `z' = -rate * z^2`.
fn fed<B: Backend>(b: &B, rate: &B::Array<f64>) -> Result<B::Array<f64>> {
    let f = |b: &B, _: f64, y: &B::Array<f64>| {
        let (x, z) = (b.getitem(y, slices![0])?, b.getitem(y, slices![1])?);
        b.stack([expr!(b, -500 * (x - rate * z))?, expr!(b, -rate * z * z)?])
    };
    let y0 = b.asarray([1.0, 1.0])?;
    let found = solve_ivp(b, f, [0.0, 1.0], &y0, bdf(1e-8, 1e-11).t_eval(&[0.5, 1.0]))?;
    b.add(&found.y[0], &found.y[1])
}

#[test]
fn gradients_of_implicit_steps_are_those_of_the_solution() -> Result<()> {
    let b = Numpyish::new();
    let rate = b.asarray(0.7)?;
    let weights = |d: &_, y| weighted(d, y);
    let g = b.item(grad(&b, |d, rate| weights(d, fed(d, rate)?), &rate)?)?;
    let at = |rate: f64| b.item(weighted(&b, fed(&b, &b.asarray(rate)?)?)?);
    let by_differences = (at(0.7 + 1e-3)? - at(0.7 - 1e-3)?) / 2e-3;
    near(&[g], &[by_differences], 2e-5);
    // the contribution of z, which is known exactly: z is 1 / (1 + rate t)
    let z = |b: &_, y| second(b, y);
    let g = b.item(grad(&b, |d, rate| z(d, fed(d, rate)?), &rate)?)?;
    let exact = -0.5 / 1.35_f64.powi(2) - 1.0 / 1.7_f64.powi(2);
    near(&[g], &[exact], 1e-6);
    let (_, forward) = jvp(&b, |j, rate| second(j, fed(j, rate)?), &rate, &b.asarray(1.0)?)?;
    near(&[b.item(forward)?], &[exact], 1e-6);
    // second derivatives
    let g = grad(&b, |d, rate| grad(d, |e, rate| second(e, fed_for(e, rate)?), rate), &rate)?;
    let exact = -0.5 * -2.0 * 0.5 / 1.35_f64.powi(3) - -2.0 / 1.7_f64.powi(3);
    near(&[b.item(g)?], &[exact], 1e-4);
    Ok(())
}

/// Like `fed`, but both components of the state follow the equation of `z`, the second component in `fed`. The solver
/// needs fewer steps for this system.
fn fed_for<B: Backend>(b: &B, rate: &B::Array<f64>) -> Result<B::Array<f64>> {
    let f = |b: &B, _: f64, y: &B::Array<f64>| expr!(b, -rate * y * y);
    let found = solve_ivp(b, f, [0.0, 1.0], &b.asarray([1.0, 1.0])?, bdf(1e-6, 1e-9).t_eval(&[0.5, 1.0]))?;
    b.add(&found.y[0], &found.y[1])
}

fn weighted<B: Backend>(b: &B, y: B::Array<f64>) -> Result<B::Array<f64>> {
    let weights = b.asarray([2.0, -1.0])?;
    expr!(b, sum(y * weights, ..))
}

fn second<B: Backend>(b: &B, y: B::Array<f64>) -> Result<B::Array<f64>> {
    b.getitem(y, slices![1])
}

#[test]
fn events_on_a_stiff_solution() -> Result<()> {
    // the oscillator jumps; the expected times were computed by Radau with rtol 1e-10
    let b = Numpyish::new();
    let y0 = b.asarray([2.0, 0.0])?;
    let found = Ivp::new(&b, |b, _, y| van_der_pol(b, y), [0.0, 3000.0], &y0)
        .event(Event::new().direction(1).terminal(), |b, _, y| b.item(b.getitem(y, slices![0])?))
        .event(Event::new().direction(-1), |b, _, y| b.item(b.getitem(y, slices![0])?))
        .solve(bdf(1e-7, 1e-10))?;
    assert_eq!((&*found.message, found.success), ("a terminal event occurred", true));
    assert_eq!(found.t_events.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(found.t.last(), found.t_events[0].last());
    near(&[found.t_events[1][0], found.t_events[0][0]], &[807.0847408158697, 1614.285303720002], 1e-5);
    Ok(())
}
