//! The programs by name, with their inputs from a file, their results and pictures.

use backends::{AnyBackend, prelude::*};
use backends_npz::Npz;
use backends_plot::{Axes, ColorMap, Figure, imshow, plot_y, scatter, subplots};
use ndarray::{ArrayD, Axis, Ix2, Zip};
use std::error::Error;

type Array = <AnyBackend as Arrays>::Array<f64>;

/// What a program computes.
pub struct Outcome {
    /// The results, by the names of the arrays that the program in Python computes.
    pub results: Vec<(&'static str, ArrayD<f64>)>,
    /// The picture.
    pub picture: Figure,
}

/// A program, which reads its inputs from a file.
pub struct Program {
    /// The name of its file.
    pub name: &'static str,
    /// Runs the program on a backend.
    pub run: fn(&Inputs) -> Result<Outcome, Box<dyn Error>>,
}

/// The inputs of a program, as arrays of a backend.
pub struct Inputs<'a> {
    /// The backend.
    pub b: &'a AnyBackend,
    /// The file.
    pub file: &'a Npz,
}

impl Inputs<'_> {
    fn array(&self, name: &str) -> Result<Array, Box<dyn Error>> {
        Ok(self.file.array(self.b, name)?)
    }

    fn arrays<const N: usize>(&self, names: [&str; N]) -> Result<[Array; N], Box<dyn Error>> {
        let arrays = names.iter().map(|name| self.array(name)).collect::<Result<Vec<_>, _>>()?;
        Ok(arrays.try_into().map_err(|_| "the number of arrays")?)
    }

    fn number(&self, name: &str) -> Result<f64, Box<dyn Error>> {
        Ok(self.file.scalar(name)?)
    }

    fn count(&self, name: &str) -> Result<usize, Box<dyn Error>> {
        Ok(self.number(name)? as usize)
    }

    fn host(&self, x: &Array) -> Result<ArrayD<f64>, Box<dyn Error>> {
        Ok(self.b.to_ndarray(x)?.into_owned())
    }
}

/// All programs.
pub const PROGRAMS: [Program; 14] = [
    Program { name: "cg_sense", run: cg_sense },
    Program { name: "dbscan", run: dbscan },
    Program { name: "deconvolution", run: deconvolution },
    Program { name: "fourier_shell_correlation", run: fourier_shell_correlation },
    Program { name: "gaussian_process", run: gaussian_process },
    Program { name: "gpt", run: gpt },
    Program { name: "gray_scott", run: gray_scott },
    Program { name: "kalman_filter", run: kalman_filter },
    Program { name: "kuramoto_sivashinsky", run: kuramoto_sivashinsky },
    Program { name: "lattice_boltzmann", run: lattice_boltzmann },
    Program { name: "particle_filter", run: particle_filter },
    Program { name: "registration", run: registration },
    Program { name: "schroedinger", run: schroedinger },
    Program { name: "tomography", run: tomography },
];

/// An image without ticks.
fn image(array: &ArrayD<f64>, title: &str, label: &str) -> Axes {
    imshow(array).title(title).label(label).no_ticks()
}

fn side_by_side(left: Axes, right: Axes) -> Figure {
    subplots(1, 2).at(0, 0, left).at(0, 1, right)
}

fn alone(axes: Axes) -> Figure {
    subplots(1, 1).at(0, 0, axes)
}

fn cg_sense(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let b = inputs.b;
    let (signals, coils) = (inputs.file.array(b, "signals")?, inputs.file.array(b, "coils")?);
    let [ky, kx, density] = inputs.arrays(["ky", "kx", "density"])?;
    let run = |steps| crate::cg_sense::cg_sense(b, &signals, [&ky, &kx, &density], &coils, steps);
    let found = run(inputs.count("steps")?)?;
    let parts = [inputs.host(&b.real(&found)?)?, inputs.host(&b.imag(&found)?)?];
    let size = |x: &_| -> Result<_, Box<dyn Error>> { inputs.host(&b.abs(x)?) };
    let picture = side_by_side(
        image(&size(&run(1)?)?, "After one step", "magnitude").cmap(ColorMap::gray()),
        image(&size(&found)?, "After all steps", "magnitude").cmap(ColorMap::gray()),
    );
    let [real, imag] = parts;
    Ok(Outcome { results: vec![("real", real), ("imag", imag)], picture })
}

fn dbscan(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let points = inputs.array("points")?;
    let labels =
        crate::dbscan::dbscan(inputs.b, &points, inputs.number("radius")?, inputs.number("min_points")? as i64)?;
    let labels = inputs.b.to_vec(&labels)?;
    let points = inputs.host(&points)?.into_dimensionality::<Ix2>()?;
    let mut axes = Axes::new().title("Clusters of points");
    for label in -1..=labels.iter().copied().max().unwrap_or(-1) {
        let chosen: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == label).collect();
        let part = points.select(Axis(0), &chosen);
        let name = if label < 0 { "noise".into() } else { format!("cluster {label}") };
        axes = axes.scatter(&part.column(0).to_vec(), &part.column(1).to_vec()).label(name).size_of_marks(2.5);
        if label < 0 {
            axes = axes.color([170, 170, 170]);
        }
    }
    let labels = labels.iter().map(|&label| label as f64).collect::<Vec<_>>();
    Ok(Outcome { results: vec![("labels", ArrayD::from_shape_vec(vec![labels.len()], labels)?)], picture: alone(axes) })
}

fn deconvolution(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let [blurred, psf] = inputs.arrays(["image", "psf"])?;
    let found = crate::deconvolution::richardson_lucy(inputs.b, &blurred, &psf, inputs.count("steps")?)?;
    let (blurred, found) = (inputs.host(&blurred)?, inputs.host(&found)?);
    let left = image(&blurred, "Measured", "photons").cmap(ColorMap::magma());
    let right = image(&found, "Deconvolved", "photons").cmap(ColorMap::magma());
    Ok(Outcome { results: vec![("found", found)], picture: side_by_side(left, right) })
}

fn fourier_shell_correlation(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let [first, second] = inputs.arrays(["first", "second"])?;
    let found = crate::fourier_shell_correlation::fourier_shell_correlation(inputs.b, &first, &second)?;
    let found = inputs.host(&found)?;
    let axes = plot_y(&found.as_slice().unwrap_or_default().to_vec()).title("Fourier shell correlation");
    let axes = axes.xlabel("periods per volume").ylabel("correlation");
    Ok(Outcome { results: vec![("found", found)], picture: alone(axes) })
}

fn gaussian_process(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let [x, y, new] = inputs.arrays(["x", "y", "new"])?;
    let found = crate::gaussian_process::fit_and_predict(inputs.b, [&x, &y, &new])?;
    let [p, mean, deviation] = [inputs.host(&found[0])?, inputs.host(&found[1])?, inputs.host(&found[2])?];
    let list = |x: &Array| -> Result<Vec<f64>, Box<dyn Error>> { Ok(inputs.b.to_vec(x)?) };
    let bound = |sign: f64| -> Vec<f64> { mean.iter().zip(&deviation).map(|(m, d)| m + 2.0 * sign * d).collect() };
    let new = list(&new)?;
    let axes = scatter(&list(&x)?, &list(&y)?).label("data");
    let axes = axes.plot(&new, &mean.iter().copied().collect::<Vec<_>>()).label("mean");
    let axes = axes.plot(&new, &bound(1.0)).color([150, 150, 150]).label("mean and two standard deviations");
    let axes = axes.plot(&new, &bound(-1.0)).color([150, 150, 150]).title("Gaussian process");
    Ok(Outcome { results: vec![("p", p), ("mean", mean), ("deviation", deviation)], picture: alone(axes) })
}

fn gpt(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let b = inputs.b;
    let layers = (0..).take_while(|i| inputs.file.contains(&format!("blocks.{i}.qkv"))).count();
    let block = |i: usize| -> Result<_, Box<dyn Error>> {
        let array = |name: &str| inputs.array(&format!("blocks.{i}.{name}"));
        let (qkv, out) = (array("qkv")?, array("out")?);
        Ok(crate::gpt::Block { qkv, out, up: array("up")?, up_bias: array("up_bias")?, down: array("down")? })
    };
    let mut gpt = crate::gpt::Gpt::<AnyBackend, f64> {
        tokens: inputs.array("tokens")?,
        positions: inputs.array("positions")?,
        blocks: (0..layers).map(block).collect::<Result<_, _>>()?,
    };
    let batches = b.unstack(&inputs.file.array::<_, i64>(b, "batches")?)?;
    let losses = crate::gpt::train(b, &mut gpt, &batches, inputs.count("heads")?, inputs.number("rate")?)?;
    let axes = plot_y(&losses).title("Training of a small GPT").xlabel("steps").ylabel("loss (nats)");
    Ok(Outcome { results: vec![("losses", ArrayD::from_shape_vec(vec![losses.len()], losses)?)], picture: alone(axes) })
}

fn gray_scott(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let start = inputs.arrays(["u", "v"])?;
    let (feed, kill) = (inputs.number("feed")?, inputs.number("kill")?);
    let [u, v] = crate::gray_scott::gray_scott(inputs.b, start, feed, kill, inputs.count("steps")?)?;
    let (u, v) = (inputs.host(&u)?, inputs.host(&v)?);
    let picture = alone(image(&v, "Pattern of a reaction", "concentration").size(360, 360));
    Ok(Outcome { results: vec![("u_found", u), ("v_found", v)], picture })
}

fn kalman_filter(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let [positions, model, observed] = inputs.arrays(["positions", "model", "observed"])?;
    let [model_noise, position_noise] = inputs.arrays(["model_noise", "position_noise"])?;
    let arrays = [&model, &observed, &model_noise, &position_noise];
    let found = crate::kalman_filter::kalman_filter(inputs.b, &positions, arrays)?;
    let [states, deviations] = [inputs.host(&found[0])?, inputs.host(&found[1])?];
    let positions = inputs.host(&positions)?;
    let column = |x: &ArrayD<f64>, k| x.index_axis(Axis(1), k).iter().copied().collect::<Vec<_>>();
    let axes = scatter(&column(&positions, 1), &column(&positions, 0)).label("measured").size_of_marks(2.5);
    let axes = axes.plot(&column(&states, 1), &column(&states, 0)).label("filtered");
    let axes = axes.title("Path of an object").xlabel("x (m)").ylabel("y (m)");
    Ok(Outcome { results: vec![("states", states), ("deviations", deviations)], picture: alone(axes) })
}

fn kuramoto_sivashinsky(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let (length, dt) = (inputs.number("length")?, inputs.number("dt")?);
    let counts @ [steps, _] = [inputs.count("steps")?, inputs.count("every")?];
    let u = inputs.array("u")?;
    let states = crate::kuramoto_sivashinsky::kuramoto_sivashinsky(inputs.b, &u, length, dt, counts)?;
    let states = inputs.host(&states)?;
    let axes = imshow(&states).extent([0.0, length, dt * steps as f64, 0.0]).aspect_auto().label("u");
    let axes = axes.title("Kuramoto-Sivashinsky equation").xlabel("x").ylabel("time").size(420, 420);
    Ok(Outcome { results: vec![("states", states)], picture: alone(axes) })
}

fn lattice_boltzmann(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let obstacle = inputs.file.array(inputs.b, "obstacle")?;
    let (speed, viscosity) = (inputs.number("speed")?, inputs.number("viscosity")?);
    let velocity = crate::lattice_boltzmann::flow(inputs.b, &obstacle, speed, viscosity, inputs.count("steps")?)?;
    let velocity = inputs.host(&velocity)?;
    let square = velocity.mapv(|v| v * v).sum_axis(Axis(0)).mapv(f64::sqrt);
    let picture = alone(image(&square, "Flow around a cylinder", "speed (sites per step)").size(640, 240));
    Ok(Outcome { results: vec![("velocity", velocity)], picture })
}

fn particle_filter(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let [observations, particles, noise, offsets] = inputs.arrays(["observations", "particles", "noise", "offsets"])?;
    let means = crate::particle_filter::particle_filter(inputs.b, &observations, &particles, &noise, &offsets)?;
    let means = inputs.host(&means)?;
    let axes = plot_y(&inputs.file.vector("states")?).label("true state");
    let axes = axes.plot_y(&means.iter().copied().collect::<Vec<_>>()).label("mean of the particles");
    let axes = axes.title("State of a nonlinear model").xlabel("time").ylabel("x").size(560, 300);
    Ok(Outcome { results: vec![("means", means)], picture: alone(axes) })
}

fn registration(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let [reference, moved] = inputs.arrays(["reference", "moved"])?;
    let shift = crate::registration::shift_between(inputs.b, &reference, &moved, inputs.count("upsampling")?)?;
    let registered = crate::registration::shifted(inputs.b, &moved, shift.map(|x| -x))?;
    let [reference, moved, registered] = [&reference, &moved, &registered].map(|x| inputs.host(x));
    let (reference, registered) = (reference?, registered?);
    let difference = |x: &ArrayD<f64>| Zip::from(x).and(&reference).map_collect(|x, y| x - y);
    let before = image(&difference(&moved?), "Difference before", "intensity");
    let after = image(&difference(&registered), "Difference after", "intensity");
    let shift = ArrayD::from_shape_vec(vec![2], shift.to_vec())?;
    let picture = side_by_side(before, after).common_colors();
    Ok(Outcome { results: vec![("shift", shift), ("registered", registered)], picture })
}

fn schroedinger(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let psi = inputs.file.array(inputs.b, "psi")?;
    let (potential, dx, dt) = (inputs.array("potential")?, inputs.number("dx")?, inputs.number("dt")?);
    let density = crate::schroedinger::schroedinger(inputs.b, psi, &potential, dx, dt, inputs.count("steps")?)?;
    let density = inputs.host(&density)?;
    let axes = image(&density, "A wave packet behind two slits", "probability density").cmap(ColorMap::magma());
    Ok(Outcome { results: vec![("density", density)], picture: alone(axes.size(360, 360)) })
}

fn tomography(inputs: &Inputs) -> Result<Outcome, Box<dyn Error>> {
    let (sums, angles) = (inputs.array("sums")?, inputs.file.vector("angles")?);
    let found = crate::tomography::back_projection(inputs.b, &sums, &angles)?;
    let (sums, found) = (inputs.host(&sums)?, inputs.host(&found)?);
    let left = imshow(&sums).title("Line sums").xlabel("position").ylabel("angle").label("sum").cmap(ColorMap::gray());
    let right = image(&found, "Image", "density").cmap(ColorMap::gray());
    Ok(Outcome { results: vec![("image", found)], picture: side_by_side(left, right) })
}
