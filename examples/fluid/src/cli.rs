//! The command line of the program.

use crate::scene::Scene;
use backends::DType;
use examples_common::{cli, library::Library, plans::Plans};
use lexopt::{Arg, Parser, ValueExt};
use std::{ffi::OsString, path::PathBuf};

/// The text of `--help`.
pub const HELP: &str = "\
Simulates an incompressible fluid in a periodic box, with smoke in it.

usage: fluid [OPTIONS]

  --backend NAME      numpyish, torch, cuda, or auto: the GPU if there is one, else numpyish [auto]
  --device NAME       cpu, cuda or cuda:NUMBER, as the backend has it
  --ranks             on all ranks that an MPI launcher has started (mpiexec -n 4 fluid --ranks): arrays are split over them, GPUs of a machine
                      dealt out
  --plan N            what the program would send and take on 1, 2, 4, 16 .. N ranks that are not there, one after the other; nothing is written
  --latency US        microseconds of a message, of a plan [2]
  --bandwidth GB      1e9 bytes that a rank sends and gets in a second, of a plan [10]
  --dtype NAME        float32 or float64 [float32]
  --scene NAME        plume (smoke rises from a source), shear (two streams roll up), cylinder (a stream around an
                      obstacle), or inflow: looks for the inflow of smoke that makes a given picture [plume]
  --initial PATH      instead of a scene: an .npz file, or a folder of .npy files, with the array `velocity` of shape
                      (rows, columns, 2), in cells per unit of time along rows and columns; there is no smoke then
  --size LENGTHS      cells along rows and columns, of a scene [256x256; for inflow 48x48]
  --steps N           how many steps are made in all, at least 1 [200; for inflow 40]: on the way back of a gradient all of
                      them are in memory
  --dt TIME           how long a step takes; as fast as fluid goes, it may cross many cells in that time [1]
  --frames N          how many pictures are made meanwhile, 0 to 1000 [80]
  --seed N            of the small disturbances at the beginning [1]
  --checkpoint PATH   an .npz file to which the state is written now and then, and after the last step
  --every STEPS       how often, at least 1 [50]
  --restart PATH      goes on from such a file, on any number of ranks: the numbers are those of a simulation that was not interrupted. Scene, size,
                      dt and dtype are the file's; of the pictures, those of later steps are made
  --out DIR           the folder, made if need be, for velocity.npy (rows, columns, 2), smoke.npy, the pictures
                      smoke_0001.png .. and vorticity.png, and animation.png, which browsers show; of the scene inflow,
                      for inflow.npy (columns) and inverse.png [out]
  --help              this text
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
        return Err(format!("--{name} is what the file of --restart says"));
    }
    if options.plans.are_asked_for() && options.is_inverse() {
        return Err("--plan: the scene inflow has none, its course depends on values".into());
    }
    if options.plans.are_asked_for() && options.checkpoint.is_some() {
        return Err("--checkpoint: a plan has nothing to keep".into());
    }
    if options.checkpoint.is_none() && has("every") {
        return Err("--every is for --checkpoint".into());
    }
    if options.checkpoint.is_some() && options.is_inverse() {
        return Err("--checkpoint: the scene inflow has none".into());
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
