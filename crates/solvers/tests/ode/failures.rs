//! Tests of initial value problems without a solution, and of invalid arguments.

use backends::{Result, prelude::*};
use backends_solvers::ode::{Ivp, Method, Solution, SolveIvp, Status, Step, solve_fixed, solve_ivp};

type Host = HostArray<f64>;

const METHODS: [Method; 2] = [Method::Rk45, Method::Bdf];

#[track_caller]
fn failed<A>(found: &Solution<A>, why: &str) {
    assert!(!found.success && found.status == Status::Failed, "{}", found.message);
    assert!(found.message.contains(why), "{}", found.message);
    assert_eq!(found.t.len(), found.y.len());
}

#[test]
fn a_solution_that_becomes_infinite() -> Result<()> {
    let b = Numpyish::new();
    let one = b.asarray([1.0])?;
    let square = |b: &Numpyish, _: f64, y: &Host| b.square(y);
    for method in METHODS {
        // the solution is infinite at t = 1
        let found = solve_ivp(&b, square, [0.0, 3.0], &one, SolveIvp::new().method(method))?;
        failed(&found, "shorter than the distance between neighbouring numbers");
        assert!((found.t[found.t.len() - 1] - 1.0).abs() < 1e-2);
        let found = solve_ivp(&b, square, [0.0, 0.9], &one, SolveIvp::new().method(method).max_steps(3))?;
        failed(&found, "max_steps");
        // the solution is linear in time, and its values exceed the dtype's range
        let steep = |b: &Numpyish, _: f64, y: &Host| b.full_like(y, 1.7e308);
        let found = solve_ivp(&b, steep, [0.0, 2.0], &one, SolveIvp::new().method(method))?;
        failed(&found, "the state is infinite or NaN at t = 1.05");
    }
    Ok(())
}

#[test]
fn numbers_that_are_not_finite() -> Result<()> {
    let b = Numpyish::new();
    let one = b.asarray([1.0, 1.0])?;
    for method in METHODS {
        let options = || SolveIvp::new().method(method);
        // the function is NaN or infinite at the start
        let found = solve_ivp(&b, |b, _, y| b.log(b.negative(y)?), [0.0, 3.0], &one, options())?;
        failed(&found, "f gave NaN at t = 0");
        assert_eq!((found.steps, found.evaluations, found.t.len()), (0, 1, 1));
        let found = solve_ivp(&b, |b, _, y| b.divide(y, 0.0), [-1.5, 3.0], &one, options())?;
        failed(&found, "f gave an infinite value at t = -1.5");
        // the function is NaN from some time on, in a solve forward and in a solve backward
        for times in [[0.0, 2.0], [1.0, -1.0]] {
            let f = |b: &Numpyish, t: f64, y: &Host| b.multiply(y, (0.5 - (t - 0.5).abs() - 0.1).sqrt());
            let times = times.map(|t| 0.2 + 0.6 * t);
            let found = solve_ivp(&b, f, times, &one, options())?;
            failed(&found, "f gave NaN at t = ");
            let (last, end) = (found.t[found.t.len() - 1], if times[1] > times[0] { 0.9 } else { 0.1 });
            assert!((last - end).abs() < 1e-9, "{last}");
        }
        // the function is NaN for states that the solution reaches
        let f = |b: &Numpyish, _: f64, y: &Host| expr!(b, sqrt(2 - y) + 1);
        let found = solve_ivp(&b, f, [0.0, 2.0], &one, options())?;
        failed(&found, "f gave NaN at t = 0.6");
        for (bad, why) in [(f64::NAN, "y0 has NaN"), (f64::NEG_INFINITY, "y0 has an infinite value")] {
            for times in [[0.0, 1.0], [1.0, 1.0]] {
                let found = solve_ivp(&b, |_, _, y| Ok(y.clone()), times, &b.asarray([1.0, bad])?, options())?;
                failed(&found, why);
                assert_eq!(found.evaluations, 0);
            }
        }
    }
    let bad = |b: &Numpyish, _: f64, _: &Host| b.full([2, 2], f64::NAN);
    let found = Ivp::new(&b, |b, _, y| b.negative(y), [0.0, 1.0], &one)
        .jacobian(bad)
        .solve(SolveIvp::new().method(Method::Bdf))?;
    failed(&found, "the Jacobian has NaN at t = ");
    Ok(())
}

/// A step that leads to NaN is repeated with a shorter length.
#[test]
fn nan_that_a_shorter_step_avoids() -> Result<()> {
    let b = Numpyish::new();
    let f = |b: &Numpyish, _: f64, y: &Host| expr!(b, -sqrt(y));
    for method in METHODS {
        // the exact solution is (1 - t/2)^2, and a long step goes below 0
        let options = SolveIvp::new().method(method).first_step(1.9).rtol(1e-6);
        let found = solve_ivp(&b, f, [0.0, 1.9], &b.asarray([1.0])?, options)?;
        assert!(found.success, "{}", found.message);
        assert!((b.item(&found.y[found.steps])? - 0.0025).abs() < 1e-4);
    }
    Ok(())
}

#[test]
fn no_time_and_no_elements() -> Result<()> {
    let b = Numpyish::new();
    let square = |b: &Numpyish, _: f64, y: &Host| b.square(y);
    for method in METHODS {
        let options = || SolveIvp::new().method(method);
        let found = solve_ivp(&b, square, [2.0, 2.0], &b.asarray([1.0])?, options())?;
        assert_eq!((found.t, found.evaluations, found.success), (vec![2.0], 0, true));
        assert!(solve_ivp(&b, square, [0.0, 1.0], &b.zeros::<f64>([0])?, options())?.success);
        // both tolerances are 0, and so is the state
        let found =
            solve_ivp(&b, |b, t, y| b.add(y, t), [0.0, 1.0], &b.asarray([0.0])?, options().rtol(0.0).atol(0.0))?;
        assert!(found.success || found.message.contains("shorter"), "{}", found.message);
    }
    Ok(())
}

#[test]
fn refusals() -> Result<()> {
    let b = Numpyish::new();
    let one = b.asarray([1.0])?;
    let square = |b: &Numpyish, _: f64, y: &Host| b.square(y);
    let refused = |times, options: SolveIvp| solve_ivp(&b, square, times, &one, options).unwrap_err().to_string();
    let ways = [
        (refused([0.0, f64::INFINITY], SolveIvp::new()), "the times are 0 and inf, but must be finite"),
        (refused([0.0, 1.0], SolveIvp::new().rtol(-1.0)), "rtol is -1, but must be 0 or more"),
        (refused([0.0, 1.0], SolveIvp::new().atol(f64::NAN)), "atol is NaN, but must be 0 or more"),
        (refused([0.0, 1.0], SolveIvp::new().max_step(0.0)), "max_step is 0, but must be greater than 0"),
        (refused([0.0, 1.0], SolveIvp::new().t_eval(&[0.5, 2.0])), "t_eval[1] is 2, but must be between 0 and 1"),
        (
            refused([0.0, 1.0], SolveIvp::new().t_eval(&[0.5, 0.2])),
            "t_eval[1] is 0.2, but must be later than t_eval[0]",
        ),
        (refused([1.0, 0.0], SolveIvp::new().t_eval(&[0.2, 0.5])), "t_eval[1] is 0.5, but must be earlier than"),
        (solve_fixed(&b, square, Step::Rk4, [0.0, 1.0], &one, 0).unwrap_err().to_string(), "steps is 0, but must be 1"),
        ("Radau".parse::<Method>().unwrap_err().to_string(), "method is \"Radau\", but must be \"RK45\" or \"BDF\""),
    ];
    for (found, expected) in ways {
        assert!(found.contains(expected), "{found}");
    }
    for method in METHODS {
        let shapes = solve_ivp(&b, |b, _, _| b.zeros([3]), [0.0, 1.0], &one, SolveIvp::new().method(method));
        let shapes = shapes.unwrap_err().to_string();
        assert!(shapes.contains("[1]") && shapes.contains("[3]") && shapes.contains("solve_ivp"), "{shapes}");
        assert_eq!(method.to_string().parse::<Method>()?, method);
    }
    Ok(())
}
