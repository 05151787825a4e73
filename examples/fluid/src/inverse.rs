//! An inverse problem: finds the inflow of smoke at the ground that produces a given picture after the smoke has risen
//! around an obstacle. The simulation runs on any backend, and so does its gradient. The gradient is computed backward
//! from the picture to the inflow, through all steps and through the linear solve in each step.

use crate::{cli::Options, picture, simulate::host};
use backends::{Backend, Elementwise, Precision, Real, Reduction, Result, expr};
use backends_npz::encode;
use backends_solvers::minimize::{Method, Minimize, minimize};
use examples_common::{console::Console, output::Files};
use fluid::{inflow::smoke, scene::middles};
use std::{error::Error, ops::ControlFlow, time::Instant};

/// The names of the files that [`run`] writes.
pub const FILES: [&str; 2] = ["inflow.npy", "inverse.png"];

/// The maximum number of gradient evaluations in the search for the inflow.
const ITERATIONS: usize = 60;

/// The inflow that the search has to find. The program uses it only to make the given picture, and to check the
/// result.
fn hidden<B: Backend, T: Precision>(b: &B, shape: [usize; 2]) -> Result<B::Array<T>> {
    let [_, x] = middles::<B, T>(b, shape)?;
    let inflow = expr!(b, 0.10 * exp(-((x - 0.36) / 0.07) * *2) + 0.06 * exp(-((x - 0.66) / 0.10) * *2))?;
    b.reshape(inflow, [shape[1]])
}

/// Makes a picture from the hidden inflow, searches for the inflow that makes this picture, and prepares the files to
/// write.
pub fn run<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    files: &mut Files,
    console: &mut Console,
) -> std::result::Result<(), Box<dyn Error>> {
    let (shape, steps, dt) = (options.size, options.steps, options.dt);
    let start = Instant::now();
    let wanted = hidden::<B, T>(b, shape)?;
    let target = smoke::<B, T>(b, &wanted, shape, steps, dt)?;
    let bar = console.progress("gradients", ITERATIONS);
    let step = |iteration: &backends_solvers::minimize::Iteration| {
        bar.set_position(iteration.iterations as u64);
        ControlFlow::Continue(())
    };
    let how =
        Minimize::new().method(Method::Lbfgs { memory: 20 }).max_iter(ITERATIONS).gtol(1e-9).ftol(0.0).callback(step);
    let found = minimize(
        b,
        |d, inflow| {
            let made = smoke::<_, T>(d, inflow, shape, steps, dt)?;
            let target = d.constant::<T>(target.clone());
            d.sum_as::<T, T>(d.square(d.subtract(made, target)?)?, ..)
        },
        &b.zeros::<T>([shape[1]])?,
        how,
    )?;
    bar.finish_and_clear();
    let made = smoke::<B, T>(b, &found.x, shape, steps, dt)?;
    let off = |x: &B::Array<T>, y: &B::Array<T>| -> Result<f64> {
        let (difference, length) = (b.vector_norm(b.subtract(x, y)?)?, b.vector_norm(y)?);
        Ok((b.item(difference)?.to_f64() / b.item(length)?.to_f64()) * 100.0)
    };
    console.say(format!(
        "after {} gradients in {:.1} s the picture differs by {:.2} %, the inflow by {:.2} %",
        found.evaluations,
        start.elapsed().as_secs_f64(),
        off(&made, &target)?,
        off(&found.x, &wanted)?,
    ));
    let values = |x: &B::Array<T>| Ok::<_, Box<dyn Error>>(host(b, options, x)?.mapv(Real::to_f64));
    let [target, made, wanted] = [values(&target)?, values(&made)?, values(&wanted)?];
    let found = host(b, options, &found.x)?;
    files.add(FILES[0], || Ok(encode(&found)))?;
    files.add(FILES[1], || Ok(picture::inverse(&target, &made, &wanted, &found.mapv(Real::to_f64))?.png()?))
}
