//! The command line of the program.

use backends::DType;
use examples_common::{cli, library::Library, plans::Plans};
use fluid::scene::Scene;
use lexopt::{Arg, Parser, ValueExt};
use std::{ffi::OsString, path::PathBuf};

/// The text of `--help`.
pub const HELP: &str = "\
Simulates an incompressible fluid with smoke in a periodic box.

usage: fluid [OPTIONS]

  --backend NAME      numpyish, torch, cuda, or auto: cuda if there is a GPU, otherwise numpyish [auto]
  --device NAME       cpu, cuda or cuda:NUMBER, depending on the backend
  --ranks             splits the arrays over all ranks that an MPI launcher has started (mpiexec -n 4 fluid --ranks);
                      the ranks of a machine share its GPUs
  --plan N            prints the messages and the time of the program on 1, 2, 4, 16 .. N ranks, which need not exist;
                      writes no files
  --latency US        latency of a message in a plan, in microseconds [2]
  --bandwidth GB      bandwidth of a rank in a plan, in 1e9 bytes per second [10]
  --dtype NAME        float32 or float64 [float32]
  --scene NAME        plume (smoke rises from a source), shear (two streams roll up), cylinder (a stream around an
                      obstacle), or inflow (searches for the inflow of smoke that produces a given picture) [plume]
  --initial PATH      used instead of a scene, without smoke: an .npz file, or a folder of .npy files, with the array
                      `velocity` of shape (rows, columns, 2), in cells per unit of time along rows and columns
  --size LENGTHS      number of cells along rows and columns of a scene [256x256; for inflow 48x48]
  --steps N           number of all steps, at least 1 [200; for inflow 40]; for inflow, all steps are kept in memory
  --dt TIME           time of a step [1]; the fluid may cross many cells in a step
  --frames N          number of pictures, 0 to 1000 [80]
  --seed N            seed of the small disturbances at the beginning [1]
  --checkpoint PATH   an .npz file to which the state is written after every --every steps, and after the last step
  --every STEPS       number of steps between checkpoints, at least 1 [50]
  --restart PATH      continues from a checkpoint, on any number of ranks, with the same results as without the
                      interruption. The file sets scene, size, dt and dtype. Only pictures of later steps are made
  --out DIR           the folder for velocity.npy (rows, columns, 2), smoke.npy, the pictures smoke_0001.png .. and
                      vorticity.png, and animation.png (an animated PNG); for the scene inflow, the folder for
                      inflow.npy (columns) and inverse.png; created if missing [out]
  --help              prints this text
";

/// The options on the command line.
#[derive(Clone)]
pub struct Options {
    pub backend: Library,
    pub device: Option<String>,
    pub ranks: bool,
    pub plans: Plans,
    pub dtype: DType,
    /// The scene; `None` if the initial velocity is read from a file.
    pub scene: Option<Scene>,
    pub initial: Option<PathBuf>,
    pub size: [usize; 2],
    pub steps: usize,
    pub dt: f64,
    pub frames: usize,
    pub seed: u64,
    pub checkpoint: Option<PathBuf>,
    pub every: usize,
    pub restart: Option<PathBuf>,
    pub out: PathBuf,
}

impl Options {
    /// Returns whether the program solves the inverse problem: the search for the inflow that makes a given picture.
    pub fn is_inverse(&self) -> bool {
        self.scene == Some(Scene::Inflow)
    }
}

/// Parses the arguments; `None` if help is requested.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        backend: Library::Auto,
        device: None,
        ranks: false,
        plans: Plans::default(),
        dtype: DType::Float32,
        scene: Some(Scene::Plume),
        initial: None,
        size: [256, 256],
        steps: 200,
        dt: 1.0,
        frames: 80,
        seed: 1,
        checkpoint: None,
        every: 50,
        restart: None,
        out: "out".into(),
    };
    let (mut size, mut steps) = (None, None);
    let mut given: Vec<String> = Vec::new();
    let mut parser = Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        let Arg::Long(name) = argument else {
            return Err(argument.unexpected());
        };
        let name = name.to_owned();
        given.push(name.clone());
        match name.as_str() {
            "help" => return Ok(None),
            "ranks" => options.ranks = true,
            "checkpoint" => options.checkpoint = Some(cli::path(&name, parser.value()?)?),
            "restart" => options.restart = Some(cli::path(&name, parser.value()?)?),
            "initial" => options.initial = Some(cli::path(&name, parser.value()?)?),
            "out" => options.out = cli::path(&name, parser.value()?)?,
            "size" => size = Some(set_to(&name, parser.value()?.string()?, lengths)?),
            "steps" => steps = Some(set_to(&name, parser.value()?.string()?, count)?),
            "backend" | "device" | "dtype" | "scene" | "dt" | "frames" | "seed" | "every" => {
                let value = parser.value()?.string()?;
                let set = set(&mut options, &name, &value);
                set.map_err(|why| lexopt::Error::Custom(format!("--{name} {value}: {why}").into()))?;
            }
            name if Plans::has(name) => {
                let value = parser.value()?.string()?;
                let set = options.plans.set(name, &value);
                set.map_err(|why| lexopt::Error::Custom(format!("--{name} {value}: {why}").into()))?;
            }
            _ => return Err(Arg::Long(&name).unexpected()),
        }
    }
    if options.initial.is_some() {
        options.scene = None;
    }
    options.plans.check(options.ranks).map_err(|why| lexopt::Error::Custom(why.into()))?;
    check(&options, &given).map_err(|why| lexopt::Error::Custom(why.into()))?;
    let (usual_size, usual_steps) = if options.is_inverse() { ([48, 48], 40) } else { ([256, 256], 200) };
    options.size = size.unwrap_or(usual_size);
    options.steps = steps.unwrap_or(usual_steps);
    options.frames = options.frames.min(options.steps);
    Ok(Some(options))
}

/// Checks that the options fit together. `given` has the names of the options on the command line.
fn check(options: &Options, given: &[String]) -> Result<(), String> {
    let has = |name: &str| given.iter().any(|given| given == name);
    if options.restart.is_some()
        && let Some(name) = ["scene", "initial", "size", "dt", "dtype", "seed"].into_iter().find(|name| has(name))
    {
        return Err(format!("--{name} cannot be combined with --restart, whose file determines it"));
    }
    if options.plans.are_asked_for() && options.is_inverse() {
        return Err("--plan: the scene inflow has no plan, because its steps depend on values".into());
    }
    if options.plans.are_asked_for() && options.checkpoint.is_some() {
        return Err("--checkpoint: a plan has no state to save".into());
    }
    if options.checkpoint.is_none() && has("every") {
        return Err("--every needs --checkpoint".into());
    }
    if options.checkpoint.is_some() && options.is_inverse() {
        return Err("--checkpoint: the scene inflow writes no checkpoints".into());
    }
    Ok(())
}

/// Parses the value of an option. The error message names the option and the value.
fn set_to<V>(name: &str, value: String, parse: fn(&str) -> Result<V, String>) -> Result<V, lexopt::Error> {
    parse(&value).map_err(|why| lexopt::Error::Custom(format!("--{name} {value}: {why}").into()))
}

fn lengths(value: &str) -> Result<[usize; 2], String> {
    let lengths = value.split('x').map(|n| n.parse().ok().filter(|n| (4..=1 << 16).contains(n)));
    let lengths = lengths.collect::<Option<Vec<usize>>>().and_then(|l| l.try_into().ok());
    lengths.ok_or_else(|| "a size is 256x256, of 4 to 65536 cells each".into())
}

fn count(value: &str) -> Result<usize, String> {
    value.parse().ok().filter(|&n| n > 0).ok_or_else(|| "a number of steps is needed, at least 1".into())
}

fn set(options: &mut Options, name: &str, value: &str) -> Result<(), String> {
    match name {
        "backend" => options.backend = value.parse()?,
        "device" => options.device = Some(value.into()),
        "dtype" => {
            let known = value.parse().ok().filter(|d| matches!(d, DType::Float32 | DType::Float64));
            options.dtype = known.ok_or("the dtypes are float32 and float64")?;
        }
        "scene" => options.scene = Some(value.parse()?),
        "every" => options.every = count(value)?,
        "dt" => {
            let time = value.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
            options.dt = time.ok_or("a positive number is needed")?;
        }
        "frames" => {
            let count = value.parse().ok().filter(|&n| n <= 1000);
            options.frames = count.ok_or("a number of pictures is needed, at most 1000")?;
        }
        _ => options.seed = value.parse().map_err(|_| "an integer is needed, at least 0")?,
    }
    Ok(())
}
