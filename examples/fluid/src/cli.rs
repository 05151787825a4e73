//! The command line.

use crate::scene::Scene;
use backends::DType;
use examples_common::{cli, library::Library};
use lexopt::{Arg, Parser, ValueExt};
use std::{ffi::OsString, path::PathBuf};

/// What `--help` prints.
pub const HELP: &str = "\
Simulates an incompressible fluid in a periodic box, with smoke in it.

usage: fluid [OPTIONS]

  --backend NAME      numpyish, torch, cuda, or auto: the GPU if there is one, else numpyish [auto]
  --device NAME       cpu, cuda or cuda:NUMBER, as the backend has it
  --dtype NAME        float32 or float64 [float32]
  --scene NAME        plume (smoke rises from a source), shear (two streams roll up), cylinder (a stream around an
                      obstacle), or inflow: looks for the inflow of smoke that makes a given picture [plume]
  --initial PATH      instead of a scene: an .npz file, or a folder of .npy files, with the array `velocity` of shape
                      (rows, columns, 2), in cells per unit of time along rows and columns; there is no smoke then
  --size LENGTHS      cells along rows and columns, of a scene [256x256; for inflow 48x48]
  --steps N           how many steps are made, at least 1 [200; for inflow 40]: on the way back of a gradient all of
                      them are in memory
  --dt TIME           how long a step takes; as fast as fluid goes, it may cross many cells in that time [1]
  --frames N          how many pictures are made meanwhile, 0 to 1000 [80]
  --seed N            of the small disturbances at the beginning [1]
  --out DIR           the folder, made if need be, for velocity.npy (rows, columns, 2), smoke.npy, the pictures
                      smoke_0001.png .. and vorticity.png, and animation.png, which browsers show; of the scene inflow,
                      for inflow.npy (columns) and inverse.png [out]
  --help              this text
";

/// What is asked for.
pub struct Options {
    pub backend: Library,
    pub device: Option<String>,
    pub dtype: DType,
    pub scene: Scene,
    pub initial: Option<PathBuf>,
    pub size: [usize; 2],
    pub steps: usize,
    pub dt: f64,
    pub frames: usize,
    pub seed: u64,
    pub out: PathBuf,
}

impl Options {
    /// Whether an inflow is looked for.
    pub fn is_inverse(&self) -> bool {
        self.initial.is_none() && self.scene == Scene::Inflow
    }
}

/// Reads the arguments; nothing where help is asked for.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        backend: Library::Auto,
        device: None,
        dtype: DType::Float32,
        scene: Scene::Plume,
        initial: None,
        size: [256, 256],
        steps: 200,
        dt: 1.0,
        frames: 80,
        seed: 1,
        out: "out".into(),
    };
    let (mut size, mut steps) = (None, None);
    let mut parser = Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        let Arg::Long(name) = argument else {
            return Err(argument.unexpected());
        };
        let name = name.to_owned();
        match name.as_str() {
            "help" => return Ok(None),
            "initial" => options.initial = Some(cli::path(&name, parser.value()?)?),
            "out" => options.out = cli::path(&name, parser.value()?)?,
            "size" => size = Some(set_to(&name, parser.value()?.string()?, lengths)?),
            "steps" => steps = Some(set_to(&name, parser.value()?.string()?, count)?),
            "backend" | "device" | "dtype" | "scene" | "dt" | "frames" | "seed" => {
                let value = parser.value()?.string()?;
                let set = set(&mut options, &name, &value);
                set.map_err(|why| lexopt::Error::Custom(format!("--{name} {value}: {why}").into()))?;
            }
            _ => return Err(Arg::Long(&name).unexpected()),
        }
    }
    let (usual_size, usual_steps) = if options.is_inverse() { ([48, 48], 40) } else { ([256, 256], 200) };
    options.size = size.unwrap_or(usual_size);
    options.steps = steps.unwrap_or(usual_steps);
    options.frames = options.frames.min(options.steps);
    Ok(Some(options))
}

/// The value of an argument, or an error that names both.
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
        "scene" => options.scene = value.parse()?,
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
