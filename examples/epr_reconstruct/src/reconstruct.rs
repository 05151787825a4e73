//! The main part of the program: reconstructs the image, generic over the backend and the precision.

use crate::{cli::Options, figure, measurement::Measurement, reference::References};
use backends::{Backend, Precision, Real};
use backends_epr::{FilteredBackProjection, Projector, Tv};
use backends_npz::encode;
use examples_common::{console::Console, output::Files};
use ndarray::{ArrayD, arr1};
use std::{error::Error, time::Instant};

/// The relative error of the non-uniform FFTs; a less precise dtype gets the smallest error that it can reach.
const NUFFT_EPS: f64 = 1e-13;

/// The number of iterations between two computations of the energy.
const ENERGY_EVERY: usize = 20;

/// The names of the files that [`run`] writes.
pub fn file_names(options: &Options) -> Vec<String> {
    let all = [
        (true, "sinogram.png"),
        (options.fbp, "fbp.npy"),
        (options.fbp, "fbp.png"),
        (options.tv, "tv.npy"),
        (options.tv, "tv_energy.npy"),
        (options.tv, "tv.png"),
    ];
    all.into_iter().filter(|(wanted, _)| *wanted).map(|(_, name)| name.into()).collect()
}

/// The names and shapes of the results that can be compared with references.
pub fn results(options: &Options) -> Vec<(&'static str, Vec<usize>)> {
    let energies = options.iterations / ENERGY_EVERY + 1;
    let all = [
        (options.fbp, "fbp", options.shape.clone()),
        (options.tv, "tv_u", options.shape.clone()),
        (options.tv, "tv_E", vec![energies]),
    ];
    all.into_iter().filter_map(|(wanted, name, shape)| wanted.then_some((name, shape))).collect()
}

/// Returns an error if the requested image does not have as many axes as the measurement.
pub fn check(options: &Options, measured: &Measurement) -> Result<(), Box<dyn Error>> {
    let (axes, dims) = (options.shape.len(), measured.scan.dims());
    if axes != dims {
        return Err(format!("--shape has {axes} lengths, and the measurement's gradients {dims} components").into());
    }
    Ok(())
}

/// Reconstructs the image, and prepares the files to write.
pub fn run<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    measured: &Measurement,
    references: &References,
    files: &mut Files,
    console: &mut Console,
) -> Result<(), Box<dyn Error>> {
    let scan = &measured.scan;
    let sinogram = b.asarray(measured.sinogram.mapv(T::of))?;
    files.add("sinogram.png", || figure::sinogram(scan, &measured.sinogram))?;

    if options.fbp {
        let start = Instant::now();
        let method = FilteredBackProjection::<B, T>::new(b, scan, &options.shape, options.delta, options.cutoff)?;
        let bar = console.progress("fbp", scan.projections());
        let image = method.reconstruct(&sinogram, |done| bar.set_position(done as u64))?;
        let image = finite(options, "fbp", b.to_ndarray(&image)?.into_owned())?;
        bar.finish_and_clear();
        console.say(format!("fbp   {:.2} s", start.elapsed().as_secs_f64()));
        let values = image.mapv(Real::to_f64);
        references.compare("fbp", &values, console);
        let title = format!("Filtered back-projection, cutoff {}", options.cutoff);
        files.add("fbp.npy", || Ok(encode(&image)))?;
        files.add("fbp.png", || figure::image(&title, &values, options.delta))?;
    }

    if options.tv {
        let start = Instant::now();
        let projector = Projector::<B, T>::new(b, scan, &options.shape, options.delta, NUFFT_EPS)?;
        let is_planned = options.plans.are_asked_for();
        let problem = if is_planned { Tv::planned } else { Tv::new }(&projector, &sinogram, options.lambda)?;
        let prepared = start.elapsed().as_secs_f64();
        let bar = console.progress("tv", options.iterations);
        let solution = problem.solve(options.iterations, ENERGY_EVERY, |step| {
            bar.set_position(step.iteration as u64);
            Ok(())
        })?;
        let image = finite(options, "tv", b.to_ndarray(&solution.image)?.into_owned())?;
        bar.finish_and_clear();
        let iterated = start.elapsed().as_secs_f64() - prepared;
        let iterations = options.iterations;
        console.say(format!("tv    {prepared:.2} s to prepare, {iterated:.2} s for {iterations} iterations"));
        let values = image.mapv(Real::to_f64);
        let energies = finite(options, "tv_energy", arr1(&solution.energies).into_dyn())?;
        references.compare("tv_u", &values, console);
        references.compare("tv_E", &energies, console);
        let title = format!("Total variation, lambda {:?}, {iterations} iterations", options.lambda);
        files.add("tv.npy", || Ok(encode(&image)))?;
        files.add("tv_energy.npy", || Ok(encode(&energies)))?;
        files.add("tv.png", || figure::image(&title, &values, options.delta))?;
    }
    Ok(())
}

/// Checks that all elements of an array are finite. In a plan, whose values are meaningless, nothing is checked.
fn finite<T: Real>(options: &Options, name: &str, x: ArrayD<T>) -> Result<ArrayD<T>, Box<dyn Error>> {
    let all = options.plans.are_asked_for() || x.iter().all(|v| v.to_f64().is_finite());
    if all { Ok(x) } else { Err(format!("{name}: the data lead to values that are not finite").into()) }
}
