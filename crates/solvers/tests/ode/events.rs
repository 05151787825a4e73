//! Tests of events and dense output against SciPy 1.17.1.

use crate::near;
use backends::{Result, prelude::*};
use backends_solvers::ode::{Event, Ivp, Method, SolveIvp, Status, solve_ivp};

type Host = HostArray<f64>;

fn element(b: &Numpyish, y: &Host, i: isize) -> Result<f64> {
    b.item(b.getitem(y, slices![i])?)
}

fn pendulum(b: &Numpyish, y: &Host) -> Result<Host> {
    let (angle, rate) = (b.getitem(y, slices![..1])?, b.getitem(y, slices![1..])?);
    b.concat([rate, b.negative(b.sin(angle)?)?])
}

fn exact() -> SolveIvp {
    SolveIvp::new().rtol(1e-8).atol(1e-10)
}

#[test]
fn a_ball_that_hits_the_ground() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([0.0, 10.0])?;
    let found = Ivp::new(&b, |b, _, y| b.stack([b.getitem(y, slices![1])?, b.asarray(-9.81)?]), [0.0, 100.0], &y0)
        .event(Event::new().terminal().direction(-1), |b, _, y| element(b, y, 0))
        .event(Event::new(), |b, _, y| element(b, y, 1))
        .solve(SolveIvp::new().dense_output(true))?;
    assert_eq!((found.status, &*found.message), (Status::TerminalEvent, "a terminal event occurred"));
    assert_eq!((found.t.len(), found.evaluations), (7, 38));
    near(&found.t[..4], &[0.0, 9.99900005e-05, 1.09989001e-03, 1.10988901e-02], 1e-9);
    let (up, down) = (10.0 / 9.81, 20.0 / 9.81);
    near(&[found.t_events[0][0], found.t_events[1][0], found.t[6]], &[down, up, down], 1e-14);
    near(&b.to_vec(&found.y_events[0][0])?, &[0.0, -10.0], 1e-13);
    near(&b.to_vec(&found.y_events[1][0])?, &[5.096839959225282, 0.0], 1e-13);
    assert_eq!(found.y[6], found.y_events[0][0]);
    let Some(sol) = &found.sol else { panic!("there is no dense output") };
    assert_eq!(sol.times(), [0.0, found.t[6]]);
    near(&b.to_vec(sol.at(&b, 1.0)?)?, &[5.095, 0.19], 1e-13);
    // the dense output ends at the event, although the last step was longer
    assert!(sol.at(&b, 2.1).unwrap_err().to_string().contains("t is 2.1, but must be between 0 and 2.03"));
    Ok(())
}

#[test]
fn crossings_of_a_pendulum() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([1.0, 0.0])?;
    let crossings = [1.6749939156344835, 5.02498174312032, 8.374969567735281, 11.724957389518716, 15.07494520847644];
    for (method, tolerance) in [(Method::Rk45, 1e-10), (Method::Bdf, 3e-7)] {
        let ivp = |times| Ivp::new(&b, |b, _, y| pendulum(b, y), times, &y0);
        let found = ivp([0.0, 17.0])
            .event(Event::new(), |b, _, y| element(b, y, 0))
            .event(Event::new().direction(1), |b, _, y| element(b, y, 0))
            .event(Event::new(), |_, t, _| Ok(t - 12.5))
            .solve(exact().method(method))?;
        near(&found.t_events[0], &crossings, tolerance);
        near(&found.t_events[1], &[crossings[1], crossings[3]], tolerance);
        near(&found.t_events[2], &[12.5], 1e-14);
        assert_eq!((found.status, found.t[found.steps]), (Status::Finished, 17.0));
        // the second downward crossing is terminal
        let found = ivp([0.0, 20.0])
            .event(Event::new().terminal_after(2).direction(-1), |b, _, y| element(b, y, 0))
            .event(Event::new(), |b, _, y| element(b, y, 0))
            .solve(exact().method(method).t_eval(&[1.0, 8.0, 8.5, 9.0]))?;
        near(&found.t_events[0], &[crossings[0], crossings[2]], tolerance);
        assert!((2..=3).contains(&found.t_events[1].len()));
        assert_eq!((&found.t[..], found.y.len(), found.success), (&[1.0, 8.0][..], 2, true));
        // backward in time, the sign changes in the opposite direction
        let found = ivp([20.0, 0.0])
            .event(Event::new(), |b, _, y| element(b, y, 0))
            .event(Event::new().direction(1), |b, _, y| element(b, y, 0))
            .solve(exact().method(method).t_eval(&[15.0, 10.0, 3.0]).dense_output(true))?;
        let back: Vec<f64> = crossings.iter().map(|t| 20.0 - t).collect();
        near(&found.t_events[0][..5], &back, tolerance);
        near(&found.t_events[1], &[back[1], back[3], 1.5750669753914899], tolerance);
        near(&b.to_vec(&found.y[2])?, &[-0.9737657811794445, -0.20922169248036743], 10.0 * tolerance);
        let Some(sol) = &found.sol else { panic!("there is no dense output") };
        assert_eq!(sol.at(&b, 10.0)?, found.y[1]);
        assert_eq!((sol.at(&b, 20.0)?, sol.times()), (y0.clone(), [20.0, 0.0]));
    }
    Ok(())
}

#[test]
fn zeros_at_the_ends_of_steps() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([0.0])?;
    let solve = |event: Event, zero: f64| {
        Ivp::new(&b, |b, _, y| b.ones_like(y), [0.0, 1.0], &y0)
            .event(event, move |_, t, _| Ok(t - zero))
            .solve(SolveIvp::new().first_step(0.25).max_step(0.25))
    };
    // a zero exactly at the end of a step is found once, while SciPy counts it twice
    let found = solve(Event::new(), 0.5)?;
    assert_eq!((&found.t[..], &found.t_events[0][..]), (&[0.0, 0.25, 0.5, 0.75, 1.0][..], &[0.5][..]));
    assert_eq!(found.y_events[0][0], found.y[2]);
    let found = solve(Event::new().terminal(), 0.5)?;
    assert_eq!((&found.t[..], found.steps), (&[0.0, 0.25, 0.5][..], 2));
    let found = solve(Event::new().terminal_after(2), 0.5)?;
    assert_eq!((found.status, found.t_events[0].len()), (Status::Finished, 1));
    // the function is 0 at the start of the solution, and then at its end
    let found = solve(Event::new(), 0.0)?;
    assert_eq!((&found.t_events[0][..], &found.y_events[0][0]), (&[0.0][..], &y0));
    let found = solve(Event::new().direction(-1), 0.0)?;
    assert!(found.t_events[0].is_empty());
    let found = solve(Event::new().terminal(), 0.0)?;
    assert_eq!((&found.t[..], &found.t_events[0][..], found.success), (&[0.0][..], &[0.0][..], true));
    let found = solve(Event::new().terminal(), 1.0)?;
    assert_eq!((found.status, found.t.len()), (Status::TerminalEvent, 5));
    let why = solve(Event::new().terminal_after(0), 1.0).unwrap_err().to_string();
    assert!(why.contains("terminal_after is 0, but must be 1 or more"), "{why}");
    Ok(())
}

#[test]
fn events_of_one_step_are_in_order_and_a_terminal_one_is_the_last() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([0.0_f32])?;
    let at = |zero: f32| move |b: &Numpyish, _: f64, y: &HostArray<f32>| b.item(expr!(b, y - zero)?);
    let found = Ivp::new(&b, |b, _, y| b.ones_like(y), [0.0, 1.0], &y0)
        .event(Event::new(), at(0.9))
        .event(Event::new().terminal(), at(0.6))
        .event(Event::new(), at(0.3))
        .event(Event::new().terminal(), at(0.8))
        .solve(SolveIvp::new().first_step(1.0).dense_output(true))?;
    assert_eq!(found.t_events.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 1, 0]);
    near(&[found.t_events[2][0], found.t_events[1][0], found.t[1]], &[0.3, 0.6, 0.6], 1e-6);
    Ok(())
}

#[test]
fn dense_output_is_as_exact_as_the_steps() -> Result<()> {
    let b = Numpyish::new();
    let y0 = b.asarray([0.0, 1.0])?;
    for (method, tolerance) in [(Method::Rk45, 1e-6), (Method::Bdf, 1e-5)] {
        for end in [5.0, -5.0] {
            let options = exact().method(method).dense_output(true);
            let circle = |b: &Numpyish, _: f64, y: &Host| {
                let y = b.to_vec(y)?;
                b.asarray([y[1], -y[0]])
            };
            let found = solve_ivp(&b, circle, [0.0, end], &y0, options)?;
            let Some(sol) = &found.sol else { panic!("there is no dense output") };
            for k in 0..=100 {
                let t = end * f64::from(k) / 100.0;
                near(&b.to_vec(sol.at(&b, t)?)?, &[t.sin(), t.cos()], tolerance);
            }
            assert!(sol.at(&b, -0.1 * end).is_err() && sol.at(&b, 1.1 * end).is_err());
        }
    }
    // the start and the end time are equal
    let found = solve_ivp(&b, |_, _, y| Ok(y.clone()), [1.0, 1.0], &y0, SolveIvp::new().dense_output(true))?;
    let Some(sol) = &found.sol else { panic!("there is no dense output") };
    assert_eq!(sol.at(&b, 1.0)?, y0);
    let plain = solve_ivp(&b, |_, _, y| Ok(y.clone()), [0.0, 1.0], &y0, SolveIvp::new())?;
    assert!(plain.sol.is_none() && plain.t_events.is_empty());
    Ok(())
}
