//! The program proper: generic over the backend and the precision.

use crate::{
    cli::Options,
    fluid::Fluid,
    inverse, picture,
    scene::{Flow, Smoke},
};
use backends::{Backend, Precision, Real};
use backends_npz::{Npz, encode};
use examples_common::{
    console::{Console, progress},
    figure::Picture,
    output::File,
};
use ndarray::{ArrayD, Axis, stack};
use std::{error::Error, time::Instant};

/// The names of the files that [`run`] returns.
pub fn file_names(options: &Options) -> Vec<String> {
    if options.is_inverse() {
        return inverse::FILES.map(String::from).into();
    }
    let mut names: Vec<String> = vec!["velocity.npy".into(), "vorticity.png".into()];
    if options.initial.is_none() {
        names.push("smoke.npy".into());
        names.extend((1..=options.frames).map(frame_name));
        names.extend((options.frames > 1).then(|| "animation.png".into()));
    }
    names
}

fn frame_name(number: usize) -> String {
    format!("smoke_{number:04}.png")
}

/// Pictures of an animation in a second.
const PER_SECOND: u16 = 20;

/// Simulates, and returns the files to write.
pub fn run<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    console: &mut Console,
) -> Result<Vec<File>, Box<dyn Error>> {
    b.seed(options.seed);
    if options.is_inverse() {
        return inverse::run::<B, T>(b, options, console);
    }
    let start = Instant::now();
    let mut files = Vec::new();
    let flow = match &options.initial {
        Some(path) => from_file::<B, T>(b, options, &Npz::open(path)?)?,
        None => from_scene::<B, T>(b, options, &mut files)?,
    };
    let divergence = b.item(b.max(b.abs(flow.divergence()?)?, ..)?)?.to_f64();
    let seconds = start.elapsed().as_secs_f64();
    console.say(format!(
        "{} steps and the pictures in {seconds:.2} s; divergence at most {divergence:.1e}",
        options.steps
    ));
    let [up, right] = flow.velocity()?;
    let [up, right] = [host(b, &up)?, host(b, &right)?];
    let velocity = stack(Axis(2), &[up.view(), right.view()])?;
    files.push(File { name: "velocity.npy".into(), bytes: encode(&velocity) });
    let vorticity = host(b, &flow.vorticity()?)?.mapv(Real::to_f64);
    files.push(File { name: "vorticity.png".into(), bytes: picture::vorticity(vorticity)?.png()? });
    Ok(files)
}

/// The scene, with a picture now and then.
fn from_scene<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    files: &mut Vec<File>,
) -> Result<Flow<B, T>, Box<dyn Error>> {
    let mut smoke = Smoke::<B, T>::new(b, options.scene, options.size)?;
    let bar = progress("steps", options.steps);
    let mut pictures: Vec<Picture> = Vec::new();
    for step in 1..=options.steps {
        smoke.step(b, options.dt)?;
        // so many pictures, evenly spread, the last of them of the last step
        if pictures.len() < step * options.frames / options.steps {
            let density = host(b, &smoke.density)?.mapv(Real::to_f64);
            let picture = picture::smoke(density, options.dt * step as f64)?;
            files.push(File { name: frame_name(pictures.len() + 1), bytes: picture.png()? });
            pictures.push(picture);
        }
        bar.set_position(step as u64);
    }
    bar.finish_and_clear();
    files.push(File { name: "smoke.npy".into(), bytes: encode(&host(b, &smoke.density)?) });
    if let [first, others @ ..] = &pictures[..]
        && !others.is_empty()
    {
        files.push(File { name: "animation.png".into(), bytes: first.animated(others, PER_SECOND)? });
    }
    Ok(smoke.flow)
}

/// A given velocity, left to itself.
fn from_file<B: Backend, T: Precision>(b: &B, options: &Options, data: &Npz) -> Result<Flow<B, T>, Box<dyn Error>> {
    let initial = data.get::<f64>("velocity")?;
    let shape = initial.shape();
    if shape.len() != 3 || shape[2] != 2 || shape[..2].iter().any(|&n| n < 4) {
        let path = data.path().display();
        return Err(format!("{path}: `velocity` has the shape {shape:?}, not (rows, columns, 2)").into());
    }
    let part = |axis| b.asarray(initial.index_axis(Axis(2), axis).mapv(T::of));
    let mut fluid = Fluid::new(b, [part(0)?, part(1)?])?;
    let bar = progress("steps", options.steps);
    for step in 1..=options.steps {
        fluid.advect_velocity(options.dt)?;
        fluid.project()?;
        bar.set_position(step as u64);
    }
    bar.finish_and_clear();
    Ok(Flow::Free(fluid))
}

/// The array in memory, unless a number in it is none.
pub fn host<B: Backend, T: Precision>(b: &B, x: &B::Array<T>) -> Result<ArrayD<T>, Box<dyn Error>> {
    let x = b.to_ndarray(x)?.into_owned();
    let finite = x.iter().all(|v| v.to_f64().is_finite());
    if finite { Ok(x) } else { Err("the simulation leads to values that are not finite".into()) }
}
