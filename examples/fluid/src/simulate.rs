//! The main part of the program: runs the simulation, generic over the backend and the precision.

use crate::{
    checkpoint::{self, Checkpoint, State},
    cli::Options,
    inverse, picture,
};
use backends::{Backend, Precision, Real};
use backends_npz::{Npz, encode};
use backends_plot::Picture;
use examples_common::{console::Console, output::Files};
use fluid::{
    fluid::Fluid,
    scene::{Flow, Scene, Smoke},
};
use ndarray::{ArrayD, Axis, stack};
use std::{error::Error, path::Path, time::Instant};

/// The names of the files that [`run`] adds to its list.
pub fn file_names(options: &Options, restart: Option<&Checkpoint>) -> Vec<String> {
    if options.is_inverse() {
        return inverse::FILES.map(String::from).into();
    }
    let mut names: Vec<String> = vec!["velocity.npy".into(), "vorticity.png".into()];
    if options.scene.is_some() {
        let before = pictures(options, steps_made(restart));
        names.push("smoke.npy".into());
        names.extend((before + 1..=options.frames).map(frame_name));
        names.extend((options.frames > before + 1).then(|| "animation.png".into()));
    }
    names
}

fn frame_name(number: usize) -> String {
    format!("smoke_{number:04}.png")
}

/// The number of steps that were made before this run.
fn steps_made(restart: Option<&Checkpoint>) -> usize {
    restart.map_or(0, |checkpoint| checkpoint.step)
}

/// The number of pictures up to a step. Pictures are evenly spaced, and the last picture shows the last step.
fn pictures(options: &Options, step: usize) -> usize {
    (step as u128 * options.frames as u128 / options.steps as u128) as usize
}

/// Number of iterations in each pressure solve of a plan. A plan predicts communication and memory; its values are
/// meaningless, so a solve cannot stop by its residual.
const PLANNED: usize = 12;

/// Pictures per second of an animation.
const PER_SECOND: u16 = 20;

/// Runs the simulation, from the beginning or from a checkpoint, and adds its results to `files`, a list of file names
/// and contents. The caller writes these files to the disk.
pub fn run<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    restart: Option<&Checkpoint>,
    files: &mut Files,
    console: &mut Console,
) -> Result<(), Box<dyn Error>> {
    b.seed(options.seed);
    if options.is_inverse() {
        return inverse::run::<B, T>(b, options, files, console);
    }
    let start = Instant::now();
    let flow = match (options.scene, &options.initial) {
        (Some(scene), _) => with_smoke::<B, T>(b, options, scene, restart, files, console)?,
        (None, initial) => {
            let velocity = match (restart, initial) {
                (Some(checkpoint), _) => checkpoint.velocity::<B, T>(b)?,
                (None, Some(path)) => from_file::<B, T>(b, path)?,
                (None, None) => return Err("there is neither a scene nor a velocity".into()),
            };
            alone::<B, T>(b, options, velocity, steps_made(restart), console)?
        }
    };
    let divergence = b.item(b.max(b.abs(flow.divergence()?)?, ..)?)?.to_f64();
    let seconds = start.elapsed().as_secs_f64();
    let steps = options.steps - steps_made(restart);
    console.say(format!("{steps} steps and the pictures in {seconds:.2} s; divergence at most {divergence:.1e}"));
    let [up, right] = flow.velocity()?;
    let [up, right] = [host(b, options, &up)?, host(b, options, &right)?];
    files.add("velocity.npy", || Ok(encode(&stack(Axis(2), &[up.view(), right.view()])?)))?;
    let vorticity = host(b, options, &flow.vorticity()?)?;
    files.add("vorticity.png", || Ok(picture::vorticity(&vorticity.mapv(Real::to_f64))?.png()?))
}

/// Simulates a scene. Adds the smoke, pictures of it at regular intervals, and an animation to `files`.
fn with_smoke<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    scene: Scene,
    restart: Option<&Checkpoint>,
    files: &mut Files,
    console: &mut Console,
) -> Result<Flow<B, T>, Box<dyn Error>> {
    let mut smoke = Smoke::<B, T>::new(b, scene, options.size)?;
    if options.plans.are_asked_for()
        && let Flow::Walled(fluid) = &mut smoke.flow
    {
        fluid.iterations = Some(PLANNED);
    }
    if let Some(checkpoint) = restart {
        checkpoint.restore(b, &mut smoke.flow)?;
        smoke.density = checkpoint.density::<B, T>(b)?;
    }
    let bar = console.progress("steps", options.steps);
    let mut animation: Vec<Picture> = Vec::new();
    for step in steps_made(restart) + 1..=options.steps {
        smoke.step(b, options.dt)?;
        let number = pictures(options, step);
        if pictures(options, step - 1) < number {
            let density = host(b, options, &smoke.density)?;
            files.add(frame_name(number), || {
                let picture = picture::smoke(&density.mapv(Real::to_f64), options.dt * step as f64)?;
                let bytes = picture.png()?;
                animation.push(picture);
                Ok(bytes)
            })?;
        }
        let (velocity, pressure) = match &smoke.flow {
            Flow::Free(fluid) => (&fluid.velocity, None),
            Flow::Walled(fluid) => (&fluid.velocity, fluid.pressure.as_ref()),
        };
        let state = State { velocity, pressure, density: Some(&smoke.density), step };
        checkpoint::keep(b, options, state, console)?;
        bar.set_position(step as u64);
    }
    bar.finish_and_clear();
    let density = host(b, options, &smoke.density)?;
    files.add("smoke.npy", || Ok(encode(&density)))?;
    if animation.len() > 1 {
        files.add("animation.png", || Ok(backends_plot::animation(&animation, PER_SECOND)?))?;
    }
    Ok(smoke.flow)
}

/// Simulates a fluid with a given initial velocity, without forces. `made` is the number of steps that an earlier run
/// has already computed.
fn alone<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    velocity: [B::Array<T>; 2],
    made: usize,
    console: &mut Console,
) -> Result<Flow<B, T>, Box<dyn Error>> {
    let mut fluid = Fluid::new(b, velocity)?;
    let bar = console.progress("steps", options.steps);
    for step in made + 1..=options.steps {
        fluid.advect_velocity(options.dt)?;
        fluid.project()?;
        let state = State { velocity: &fluid.velocity, pressure: None, density: None, step };
        checkpoint::keep(b, options, state, console)?;
        bar.set_position(step as u64);
    }
    bar.finish_and_clear();
    Ok(Flow::Free(fluid))
}

/// Reads the initial velocity from a file.
fn from_file<B: Backend, T: Precision>(b: &B, path: &Path) -> Result<[B::Array<T>; 2], Box<dyn Error>> {
    let data = Npz::open(path)?;
    let initial = data.get::<f64>("velocity")?;
    let shape = initial.shape();
    if shape.len() != 3 || shape[2] != 2 || shape[..2].iter().any(|&n| n < 4) {
        let path = data.path().display();
        return Err(format!("{path}: `velocity` has the shape {shape:?}, not (rows, columns, 2)").into());
    }
    let part = |axis| b.asarray(initial.index_axis(Axis(2), axis).mapv(T::of));
    Ok([part(0)?, part(1)?])
}

/// Copies an array to the host and checks that its elements are finite. A plan, which predicts communication and
/// memory, has meaningless values, so nothing is checked.
pub fn host<B: Backend, T: Precision>(b: &B, options: &Options, x: &B::Array<T>) -> Result<ArrayD<T>, Box<dyn Error>> {
    let x = b.to_ndarray(x)?.into_owned();
    let finite = options.plans.are_asked_for() || x.iter().all(|v| v.to_f64().is_finite());
    if finite { Ok(x) } else { Err("the simulation leads to values that are not finite".into()) }
}
