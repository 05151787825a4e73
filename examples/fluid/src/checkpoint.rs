//! Saves the state of a simulation in an `.npz` file. On any number of ranks, a restarted simulation gives the same
//! results as a simulation without a stop.

use crate::{cli::Options, simulate::host};
use backends::{Backend, DType, Precision};
use backends_npz::{Npz, NpzWriter};
use examples_common::{console::Console, output};
use fluid::scene::{Flow, Scene};
use ndarray::{ArrayD, arr0, arr1};
use std::{error::Error, fmt::Display, path::Path};

/// A simulation that was saved after some of its steps.
///
/// | array | contents |
/// |---|---|
/// | `scene` | the name of the scene, as bytes; absent if the initial velocity was read from a file |
/// | `dt`, `step` | the length of a step, and the number of steps made |
/// | `velocity_0`, `velocity_1` | the velocity along both axes, at the cells or at the faces, as the scene needs |
/// | `density` | the smoke, if any |
/// | `pressure` | for fluids around obstacles, the start of the next solve |
pub struct Checkpoint {
    file: Npz,
    pub scene: Option<Scene>,
    pub dtype: DType,
    pub size: [usize; 2],
    pub dt: f64,
    pub step: usize,
}

/// The parts of a simulation's state that are saved.
pub struct State<'a, B: Backend, T: Precision> {
    pub velocity: &'a [B::Array<T>; 2],
    pub pressure: Option<&'a B::Array<T>>,
    pub density: Option<&'a B::Array<T>>,
    pub step: usize,
}

const VELOCITY: [&str; 2] = ["velocity_0", "velocity_1"];

impl Checkpoint {
    /// Opens a file and checks its arrays.
    pub fn open(path: &Path) -> Result<Checkpoint, Box<dyn Error>> {
        let file = Npz::open(path)?;
        let wrong = |why: &dyn Display| format!("{}: {why}", path.display());
        let name = file.get::<u8>("scene")?.iter().map(|byte| char::from(*byte)).collect::<String>();
        let scene = match name.as_str() {
            "" => None,
            name => Some(name.parse::<Scene>().map_err(|why| wrong(&format!("the scene is {name:?}; {why}")))?),
        };
        let dt = file.scalar("dt")?;
        let step = file.get::<i64>("step")?.first().copied().unwrap_or(-1);
        let step = usize::try_from(step).map_err(|_| wrong(&format!("`step` is {step}")))?;
        let (dtype, shape) = (file.dtype(VELOCITY[0])?, file.shape(VELOCITY[0])?);
        if !matches!(dtype, DType::Float32 | DType::Float64) {
            return Err(wrong(&format!("`{}` is of {dtype}, not float32 or float64", VELOCITY[0])).into());
        }
        let size = <[usize; 2]>::try_from(&shape[..]).ok().filter(|size| size.iter().all(|&n| n >= 4));
        let size = size.ok_or_else(|| wrong(&format!("`{}` has the shape {shape:?}", VELOCITY[0])))?;
        if !(dt.is_finite() && dt > 0.0) {
            return Err(wrong(&format!("`dt` is {dt}")).into());
        }
        Ok(Checkpoint { file, scene, dtype, size, dt, step })
    }

    /// Returns the options of the saved simulation. A restarted simulation may change some options, such as the number
    /// of steps; these are taken from `options`.
    pub fn options(&self, options: &Options) -> Result<Options, Box<dyn Error>> {
        let (scene, dtype, size, dt) = (self.scene, self.dtype, self.size, self.dt);
        if self.step >= options.steps {
            let (path, step, steps) = (self.file.path().display(), self.step, options.steps);
            return Err(format!("{path}: {step} steps were made, of {steps} that --steps asks for in all").into());
        }
        Ok(Options { scene, dtype, size, dt, ..options.clone() })
    }

    fn array<B: Backend, T: Precision>(&self, b: &B, name: &str) -> Result<B::Array<T>, Box<dyn Error>> {
        let array: ArrayD<T> = self.file.get(name)?;
        let path = self.file.path().display();
        if array.shape() != self.size {
            let (shape, size) = (array.shape(), self.size);
            return Err(format!("{path}: `{name}` has the shape {shape:?}, and the velocity {size:?}").into());
        }
        if let Some(value) = array.iter().map(|x| x.to_f64()).find(|x| !x.is_finite()) {
            return Err(format!("{path}: `{name}` has the value {value}").into());
        }
        Ok(b.asarray(array)?)
    }

    /// The saved velocity along both axes.
    pub fn velocity<B: Backend, T: Precision>(&self, b: &B) -> Result<[B::Array<T>; 2], Box<dyn Error>> {
        let [up, right] = VELOCITY;
        Ok([self.array::<B, T>(b, up)?, self.array::<B, T>(b, right)?])
    }

    /// The saved density of the smoke.
    pub fn density<B: Backend, T: Precision>(&self, b: &B) -> Result<B::Array<T>, Box<dyn Error>> {
        self.array::<B, T>(b, "density")
    }

    /// Sets the flow to the saved state.
    pub fn restore<B: Backend, T: Precision>(&self, b: &B, flow: &mut Flow<B, T>) -> Result<(), Box<dyn Error>> {
        let velocity = self.velocity::<B, T>(b)?;
        match flow {
            Flow::Free(fluid) => fluid.velocity = velocity,
            Flow::Walled(fluid) => {
                fluid.velocity = velocity;
                fluid.pressure = Some(self.array::<B, T>(b, "pressure")?);
            }
        }
        Ok(())
    }
}

/// Returns whether the state is saved after this step, which happens every `every` steps and after the last step.
fn is_kept(options: &Options, step: usize) -> bool {
    step.is_multiple_of(options.every) || step == options.steps
}

/// Writes the state, if a file is requested and this step is to be saved. All ranks must call this function; rank 0
/// writes.
pub fn keep<B: Backend, T: Precision>(
    b: &B,
    options: &Options,
    state: State<'_, B, T>,
    console: &Console,
) -> Result<(), Box<dyn Error>> {
    let Some(path) = options.checkpoint.as_deref().filter(|_| is_kept(options, state.step)) else { return Ok(()) };
    let [up, right] = state.velocity;
    let all =
        [(VELOCITY[0], Some(up)), (VELOCITY[1], Some(right)), ("density", state.density), ("pressure", state.pressure)];
    let there = all.into_iter().filter_map(|(name, array)| Some((name, array?)));
    let arrays =
        there.map(|(name, array)| Ok((name, host(b, options, array)?))).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    if console.is_heard() {
        let scene = options.scene.map_or("", Scene::name).as_bytes();
        output::replace(path, |path| {
            let mut file = NpzWriter::create(path)?;
            file.add("scene", &arr1(scene).into_dyn())?;
            file.add("dt", &arr0(options.dt).into_dyn())?;
            file.add("step", &arr0(state.step as i64).into_dyn())?;
            arrays.iter().try_for_each(|(name, array)| file.add(name, array))?;
            file.finish()
        })?;
    }
    Ok(())
}
