//! The command line of the program.

use backends::DType;
use examples_common::{cli, library::Library, plans::Plans};
use lexopt::{Arg, Parser, ValueExt};
use std::{ffi::OsString, path::PathBuf};

/// The text of `--help`.
pub const HELP: &str = "\
Reconstructs an image from an electron paramagnetic resonance measurement.

usage: epr_reconstruct [OPTIONS]

  --backend NAME      numpyish, torch, cuda, or auto: cuda if there is a GPU, otherwise numpyish [auto]
  --device NAME       cpu, cuda or cuda:NUMBER, depending on the backend
  --ranks             splits the arrays over all ranks that an MPI launcher has started (mpiexec -n 4 epr_reconstruct
                      --ranks); the ranks of a machine share its GPUs
  --plan N            prints the messages and the time of the program on 1, 2, 4, 16 .. N ranks, which need not exist;
                      writes no files
  --latency US        latency of a message in a plan, in microseconds [2]
  --bandwidth GB      bandwidth of a rank in a plan, in 1e9 bytes per second [10]
  --dtype NAME        float32 or float64 [float64]
  --data PATH         an .npz file, or a folder of .npy files, with the arrays proj (projections, samples), B (samples),
                      h (samples) and fgrad (2 or 3, projections) [a measured phalanx]
  --method NAME       fbp (filtered back-projection), tv (total variation), or both [both]
  --shape LENGTHS     pixels along Y and X, or along Y, X and Z [400x200]
  --delta CM          size of a pixel in cm [0.008]
  --cutoff FRACTION   cutoff of fbp, as a fraction of the highest frequency [0.1]
  --lambda WEIGHT     weight of the total variation [1]
  --iterations N      number of iterations of tv, at least 1 [1000]
  --reference PATH    an .npz file, or a folder of .npz and .npy files, with reference arrays fbp, tv_u and tv_E of the
                      shapes of the results; prints the differences to the results
  --out DIR           the folder for fbp.npy, tv.npy, tv_energy.npy and the pictures; created if missing [out]
  --help              prints this text
";

/// The options on the command line.
pub struct Options {
    pub backend: Library,
    pub device: Option<String>,
    pub ranks: bool,
    pub plans: Plans,
    pub dtype: DType,
    pub data: PathBuf,
    pub fbp: bool,
    pub tv: bool,
    pub shape: Vec<usize>,
    pub delta: f64,
    pub cutoff: f64,
    pub lambda: f64,
    pub iterations: usize,
    pub reference: Option<PathBuf>,
    pub out: PathBuf,
}

impl Options {
    /// The lengths of the image's axes as text.
    pub fn shape_text(&self) -> String {
        self.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
    }
}

/// Parses the arguments; `None` if help is requested.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        backend: Library::Auto,
        device: None,
        ranks: false,
        plans: Plans::default(),
        dtype: DType::Float64,
        data: concat!(env!("CARGO_MANIFEST_DIR"), "/../data/phalanx.npz").into(),
        fbp: true,
        tv: true,
        shape: vec![400, 200],
        delta: 0.008,
        cutoff: 0.1,
        lambda: 1.0,
        iterations: 1000,
        reference: None,
        out: "out".into(),
    };
    let mut parser = Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        let Arg::Long(name) = argument else {
            return Err(argument.unexpected());
        };
        let name = name.to_owned();
        match name.as_str() {
            "help" => return Ok(None),
            "ranks" => options.ranks = true,
            "data" => options.data = cli::path(&name, parser.value()?)?,
            "reference" => options.reference = Some(cli::path(&name, parser.value()?)?),
            "out" => options.out = cli::path(&name, parser.value()?)?,
            "backend" | "device" | "dtype" | "method" | "shape" | "delta" | "cutoff" | "lambda" | "iterations" => {
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
    Ok(Some(options))
}

fn set(options: &mut Options, name: &str, value: &str) -> Result<(), String> {
    match name {
        "backend" => options.backend = value.parse()?,
        "device" => options.device = Some(value.into()),
        "dtype" => {
            let known = value.parse().ok().filter(|d| matches!(d, DType::Float32 | DType::Float64));
            options.dtype = known.ok_or("the dtypes are float32 and float64")?;
        }
        "method" => {
            (options.fbp, options.tv) = match value {
                "fbp" => (true, false),
                "tv" => (false, true),
                "both" => (true, true),
                _ => return Err("the methods are fbp, tv and both".into()),
            }
        }
        "shape" => {
            let lengths = value.split('x').map(|n| n.parse().ok().filter(|&n| n > 0)).collect::<Option<Vec<usize>>>();
            let lengths = lengths.filter(|l| matches!(l.len(), 2 | 3));
            options.shape = lengths.ok_or("a shape is 400x200, or 50x25x25 in three dimensions")?;
        }
        "delta" => options.delta = positive(value)?,
        "cutoff" => options.cutoff = positive(value).ok().filter(|c| *c <= 1.0).ok_or("it lies in 0 .. 1")?,
        "lambda" => options.lambda = positive(value)?,
        _ => {
            let count = value.parse().ok().filter(|&n| n > 0);
            options.iterations = count.ok_or("a number of iterations is needed, at least 1")?;
        }
    }
    Ok(())
}

fn positive(value: &str) -> Result<f64, String> {
    let number = value.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
    number.ok_or_else(|| "a positive number is needed".into())
}
