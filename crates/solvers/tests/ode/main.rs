//! Tests of initial value problems: comparisons with the steps of SciPy's `solve_ivp` (1.17.1) and with exact
//! solutions.

mod events;
mod failures;
mod stiff;

use backends::{Result, grad::grad, prelude::*, runtime::available};
use backends_solvers::ode::{SolveIvp, Step, solve_fixed, solve_ivp, step};

/// The Lotka-Volterra equations of prey and predators.
pub(crate) fn lotka_volterra<B: Backend, T: Real>(b: &B, y: &B::Array<T>) -> Result<B::Array<T>> {
    let (x, y) = (b.getitem(y, slices![..1])?, b.getitem(y, slices![1..])?);
    b.concat([expr!(b, 1.5 * x - x * y)?, expr!(b, x * y - 3 * y)?])
}

#[track_caller]
pub(crate) fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "{found:?} is not {expected:?}");
    }
}

fn goes_as_scipy<B: Backend>(b: &B) -> Result<()> {
    let y0 = b.asarray([10.0, 5.0])?;
    let solve = |times, options| solve_ivp(b, |b, _, y| lotka_volterra(b, y), times, &y0, options);
    let found = solve([0.0, 10.0], SolveIvp::new())?;
    assert_eq!((found.t.len(), found.steps, found.evaluations, found.success), (39, 38, 314, true));
    near(&found.t[..4], &[0.0, 0.055737167803990975, 0.2007981716291002, 0.342904642457644], 1e-12);
    // rounding errors of the step lengths affect the states
    near(&b.to_vec(&found.y[2])?, &[2.7613596789508916, 9.33337999047419], 1e-10);
    near(&b.to_vec(&found.y[38])?, &[0.25656938153408765, 0.5039054707316548], 1e-8);
    let found = solve([0.0, 10.0], SolveIvp::new().rtol(1e-8).atol(1e-10))?;
    assert_eq!((found.t.len(), found.evaluations), (337, 2078));
    near(&b.to_vec(&found.y[336])?, &[0.28721296252721523, 0.44977746193083634], 1e-9);
    let found = solve([0.0, 10.0], SolveIvp::new().rtol(1e-6).atol(1e-9).t_eval(&[0.5, 1.0, 7.3, 10.0]))?;
    assert_eq!((&found.t[..], found.evaluations), (&[0.5, 1.0, 7.3, 10.0][..], 944));
    near(&b.to_vec(&found.y[0])?, &[0.4541005667670084, 5.379620891393834], 1e-9);
    near(&b.to_vec(&found.y[2])?, &[2.6425246669952758, 0.019170127040681544], 1e-9);
    near(&b.to_vec(&found.y[3])?, &[0.287209838402027, 0.4497818406323199], 1e-9);
    let found = solve([0.0, 10.0], SolveIvp::new().max_step(0.3))?;
    assert_eq!((found.t.len(), found.evaluations), (45, 302));
    let found = solve([0.0, 10.0], SolveIvp::new().first_step(0.01))?;
    assert_eq!((found.t.len(), found.evaluations), (40, 301));
    near(&b.to_vec(&found.y[39])?, &[0.25569600570844975, 0.5056877066710567], 1e-8);
    let found = solve([10.0, 0.0], SolveIvp::new().rtol(1e-6))?;
    assert_eq!((found.t.len(), found.evaluations), (115, 794));
    near(&b.to_vec(&found.y[114])?, &[2.239585378342898, 0.020421910477709772], 1e-8);
    Ok(())
}

#[test]
fn steps_of_scipy_on_the_cpu() -> Result<()> {
    goes_as_scipy(&Numpyish::new())
}

#[test]
fn steps_of_scipy_on_libtorch() -> Result<()> {
    available("torch", Torch::cpu()).map_or(Ok(()), |b| goes_as_scipy(&AnyBackend::from(b)))
}

#[test]
fn a_few_steps_on_a_gpu() -> Result<()> {
    let Some(b) = available("cuda", Cuda::new(0)).map(AnyBackend::from) else { return Ok(()) };
    let found = solve_ivp(&b, |b, _, y| lotka_volterra(b, y), [0.0, 0.3], &b.asarray([10.0, 5.0])?, SolveIvp::new())?;
    near(&found.t[..2], &[0.0, 0.055737167803990975], 1e-12);
    Ok(())
}

#[test]
fn complex_states_and_single_precision() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([Complex::new(1.0, 0.0), Complex::new(2.0, -1.0)])?;
    let f = |b: &Numpyish, t: f64, y: &HostArray<Complex<f64>>| b.multiply(y, Complex::new(0.0, t));
    let found = solve_ivp(&b, f, [0.0, 3.0], &y0, SolveIvp::new())?;
    assert_eq!((found.t.len(), found.evaluations), (11, 86));
    let last = b.to_vec(&found.y[10])?;
    near(&[last[0].re, last[0].im], &[-0.20989371234139298, -0.9779822657269253], 1e-10);
    near(&[last[1].re, last[1].im], &[-1.3977696904097092, -1.7460708191124583], 1e-10);
    // with tolerances below the precision of float32, the solve still ends, and is as exact as float32 allows
    let y0 = b.asarray([10.0_f32, 5.0])?;
    let found =
        solve_ivp(&b, |b, _, y| lotka_volterra(b, y), [0.0, 1.0], &y0, SolveIvp::new().rtol(1e-12).atol(1e-12))?;
    assert!(found.success, "{}", found.message);
    let last: Vec<f64> = b.to_vec(&found.y[found.y.len() - 1])?.into_iter().map(f64::from).collect();
    near(&last, &[0.21853833169957457, 1.3765908483311005], 1e-4);
    Ok(())
}

#[test]
fn orders_of_fixed_steps() -> Result<()> {
    let b = Numpyish::new();
    // y' = cos(t) y from y = 1 has the solution exp(sin(t)); the state has two axes
    let y0 = b.ones::<f64>([1, 2])?;
    let f = |b: &Numpyish, t: f64, y: &HostArray<f64>| b.multiply(y, t.cos());
    for (how, order) in [(Step::Euler, 1), (Step::Midpoint, 2), (Step::Rk4, 4)] {
        let error = |steps: usize| -> Result<f64> {
            let states = solve_fixed(&b, f, how, [0.0, 2.0], &y0, steps)?;
            assert_eq!((states.len(), states[steps].shape()), (steps + 1, &[1, 2][..]));
            Ok((b.to_vec(&states[steps])?[0] - 2.0_f64.sin().exp()).abs())
        };
        let ratio = error(40)? / error(80)?;
        assert!((ratio.log2() - f64::from(order)).abs() < 0.15, "{how:?}: {ratio}");
    }
    assert_eq!(solve_fixed(&b, f, Step::Rk4, [1.0, 1.0], &y0, 0)?, std::slice::from_ref(&y0));
    assert!(solve_fixed(&b, f, Step::Rk4, [0.0, 1.0], &y0, 0).is_err());
    let back = step(&b, f, Step::Rk4, 0.1, &step(&b, f, Step::Rk4, 0.0, &y0, 0.1)?, -0.1)?;
    assert!(b.allclose(&back, &y0)?);
    Ok(())
}

#[test]
fn gradients_go_through_the_steps() -> Result<()> {
    /// The sum of the solution of `y' = -rate y`, `y(0) = 2`, at the times 0.7 and 1.5.
    fn decayed<B: Backend>(b: &B, rate: &B::Array<f64>) -> Result<B::Array<f64>> {
        let options = SolveIvp::new().rtol(1e-9).atol(1e-12).t_eval(&[0.7, 1.5]);
        let found = solve_ivp(b, |b, _, y| expr!(b, -rate * y), [0.0, 1.5], &b.asarray(2.0)?, options)?;
        b.add(&found.y[0], &found.y[1])
    }
    let b = Numpyish::new();
    let rate = 0.8;
    let g = grad(&b, decayed, &b.asarray(rate)?)?;
    let exact = -2.0 * (0.7 * (-0.7 * rate).exp() + 1.5 * (-1.5 * rate).exp());
    near(&[b.item(g)?], &[exact], 1e-7);
    Ok(())
}
