//! The command line of the program.

use backends::DType;
use examples_common::{cli, library::Library, plans::Plans};
use lexopt::{Arg, Parser, ValueExt};
use std::{ffi::OsString, path::PathBuf};
use template_match::matching::Score;

/// The text of `--help`.
pub const HELP: &str = "\
Finds copies of a template in a volume, in any orientation.

usage: template_match [OPTIONS]

  --backend NAME      numpyish, torch, cuda, or auto: cuda if there is a GPU, otherwise numpyish [auto]
  --device NAME       cpu, cuda or cuda:NUMBER, depending on the backend
  --ranks             divides the work among all ranks that an MPI launcher has started (mpiexec -n 4 template_match
                      --ranks); the ranks of a machine share its GPUs
  --split NAME        volume: each rank holds a part of every array, so the volume may be larger than the memory of a
                      rank; rotations: each rank searches the whole volume for some of the rotations (faster) [volume]
  --plan N            prints the messages and the time of the program on 1, 2, 4, 16 .. N ranks, which need not exist;
                      writes no files
  --latency US        latency of a message in a plan, in microseconds [2]
  --bandwidth GB      bandwidth of a rank in a plan, in 1e9 bytes per second [10]
  --dtype NAME        float32 or float64 [float32]
  --target PATH       the volume, a .npy or .mrc file [a synthetic volume with six particles and noise]
  --template PATH     the template, a smaller volume [the particle]
  --mask PATH         an array of the template's shape, 1 where the template counts [1 within the largest sphere]
  --score NAME        CC (correlation), FLC (correlation coefficient under the mask, which rotates with the template),
                      or FLCSphericalMask (like FLC, with a mask that need not rotate) [FLCSphericalMask]
  --order N           order of the interpolation of rotated templates, 1 (linear) or 3 (cubic spline) [3]
  --step DEGREES      angle between neighbouring rotations, 2 to 360 [25]
  --cone DEGREES      largest tilt of axis z by a rotation, 0 to 180 [all rotations]
  --rotations PATH    a .npy file with rotations to use instead, of shape (n, 3, 3): matrices over the axes z, y, x that
                      map positions in the rotated template to positions in the template
  --peaks N           maximum number of positions in the list [20]
  --min-score SCORE   minimum score of a position in the list [half of the best]
  --distance N        minimum distance of these positions, in elements [half the template's shortest side]
  --threads N         number of CPU threads [all; ranks share them]; for libtorch, set OMP_NUM_THREADS
  --memory MIB        memory of each rank for the search; the volume is divided into parts that fit [half of the free
                      memory, divided among the ranks]
  --out DIR           the folder for scores.npy, rotation.npy (the number of the best rotation at each position),
                      rotations.npy (the matrices), peaks.csv, target.png and scores.png; created if missing [out]
  --help              prints this text
";

/// The division of the work among ranks: each rank searches a part of the volume, or some of the rotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    Volume,
    Rotations,
}

/// The options on the command line.
pub struct Options {
    pub backend: Library,
    pub device: Option<String>,
    pub ranks: bool,
    pub plans: Plans,
    pub split: Split,
    pub dtype: DType,
    pub target: PathBuf,
    pub template: PathBuf,
    pub mask: Option<PathBuf>,
    pub score: Score,
    pub order: usize,
    pub step: f64,
    pub cone: Option<f64>,
    pub rotations: Option<PathBuf>,
    pub peaks: usize,
    pub min_score: Option<f64>,
    pub distance: Option<f64>,
    pub threads: Option<usize>,
    /// The memory in bytes for the arrays of the search; `None` for half of the available memory.
    pub memory: Option<u64>,
    pub out: PathBuf,
}

/// Parses the arguments; `None` if help is requested.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        backend: Library::Auto,
        device: None,
        ranks: false,
        plans: Plans::default(),
        split: Split::Volume,
        dtype: DType::Float32,
        target: concat!(env!("CARGO_MANIFEST_DIR"), "/../data/particles.mrc").into(),
        template: concat!(env!("CARGO_MANIFEST_DIR"), "/../data/particle.mrc").into(),
        mask: None,
        score: Score::FlcSphericalMask,
        order: 3,
        step: 25.0,
        cone: None,
        rotations: None,
        peaks: 20,
        min_score: None,
        distance: None,
        threads: None,
        memory: None,
        out: "out".into(),
    };
    let mut is_split = false;
    let mut parser = Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        let Arg::Long(name) = argument else {
            return Err(argument.unexpected());
        };
        let name = name.to_owned();
        match name.as_str() {
            "help" => return Ok(None),
            "ranks" => options.ranks = true,
            "target" => options.target = cli::path(&name, parser.value()?)?,
            "template" => options.template = cli::path(&name, parser.value()?)?,
            "mask" => options.mask = Some(cli::path(&name, parser.value()?)?),
            "rotations" => options.rotations = Some(cli::path(&name, parser.value()?)?),
            "out" => options.out = cli::path(&name, parser.value()?)?,
            "backend" | "device" | "split" | "dtype" | "score" | "order" | "step" | "cone" | "peaks" | "min-score"
            | "distance" | "threads" | "memory" => {
                is_split |= name == "split";
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
    options.plans.check(options.ranks).map_err(|why| lexopt::Error::Custom(why.into()))?;
    if is_split && !options.ranks && !options.plans.are_asked_for() {
        return Err(lexopt::Error::Custom("--split needs --ranks or --plan".into()));
    }
    Ok(Some(options))
}

fn set(options: &mut Options, name: &str, value: &str) -> Result<(), String> {
    let between = |from: f64, to: f64| {
        let number = value.parse().ok().filter(|x: &f64| (from..=to).contains(x));
        number.ok_or_else(|| format!("a number of {from} to {to} is needed"))
    };
    let count = || {
        let number = value.parse().ok().filter(|&n: &usize| n > 0);
        number.ok_or("an integer is needed, at least 1")
    };
    match name {
        "backend" => options.backend = value.parse()?,
        "device" => options.device = Some(value.into()),
        "split" => {
            options.split = match value {
                "volume" => Split::Volume,
                "rotations" => Split::Rotations,
                _ => return Err("ranks divide volume or rotations".into()),
            }
        }
        "dtype" => {
            let known = value.parse().ok().filter(|d| matches!(d, DType::Float32 | DType::Float64));
            options.dtype = known.ok_or("the dtypes are float32 and float64")?;
        }
        "score" => options.score = value.parse()?,
        "order" => {
            let known = value.parse().ok().filter(|n| matches!(n, 1 | 3));
            options.order = known.ok_or("the orders are 1 and 3")?;
        }
        "step" => options.step = between(2.0, 360.0)?,
        "cone" => options.cone = Some(between(0.0, 180.0)?),
        "peaks" => options.peaks = count()?,
        "min-score" => {
            let number = value.parse().ok().filter(|x: &f64| x.is_finite());
            options.min_score = Some(number.ok_or("a number is needed")?);
        }
        "distance" => options.distance = Some(between(1.0, 1e6)?),
        "threads" => options.threads = Some(count()?),
        _ => options.memory = Some((count()? as u64).saturating_mul(1 << 20)),
    }
    Ok(())
}
