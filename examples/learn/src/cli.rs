//! The command line of the program.

use crate::network::Kind;
use backends::DType;
use examples_common::{cli, library::Library};
use lexopt::{Arg, Parser, ValueExt};
use std::{ffi::OsString, path::PathBuf};

/// The text of `--help`.
pub const HELP: &str = "\
Trains a neural network to read digits, which the program draws itself: turned, moved, slanted and noisy.

usage: learn [OPTIONS]

  --backend NAME      numpyish, torch, cuda, or auto: the GPU if there is one, else numpyish [auto]
  --device NAME       cpu, cuda or cuda:NUMBER, as the backend has it
  --dtype NAME        float32 or float64 [float32]
  --model NAME        mlp (a hidden layer) or cnn (two convolutions, each with a pool, and a layer) [cnn]
  --train N           digits to learn from [4000]
  --test N            digits that are kept apart, to see what was learned [1000]
  --epochs N          how often all of them are gone through; with 0 the network is only tested [8]
  --batch N           digits in a step [64]
  --rate RATE         the learning rate of Adam at first; it falls to a tenth [0.005]
  --seed N            of digits and weights [1]
  --weights PATH      begins with the weights of this .npz file, instead of random ones
  --out DIR           the folder, made if need be, for weights.npz, losses.npy (a number for each step), losses.png and
                      digits.png (digits of the test, and what the network reads) [out]
  --help              this text
";

/// The options on the command line.
pub struct Options {
    pub backend: Library,
    pub device: Option<String>,
    pub dtype: DType,
    pub model: Kind,
    pub train: usize,
    pub test: usize,
    pub epochs: usize,
    pub batch: usize,
    pub rate: f64,
    pub seed: u64,
    pub weights: Option<PathBuf>,
    pub out: PathBuf,
}

/// Parses the arguments; `None` if help is requested.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    let mut options = Options {
        backend: Library::Auto,
        device: None,
        dtype: DType::Float32,
        model: Kind::Cnn,
        train: 4000,
        test: 1000,
        epochs: 8,
        batch: 64,
        rate: 0.005,
        seed: 1,
        weights: None,
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
            "weights" => options.weights = Some(cli::path(&name, parser.value()?)?),
            "out" => options.out = cli::path(&name, parser.value()?)?,
            "backend" | "device" | "dtype" | "model" | "train" | "test" | "epochs" | "batch" | "rate" | "seed" => {
                let value = parser.value()?.string()?;
                let set = set(&mut options, &name, &value);
                set.map_err(|why| lexopt::Error::Custom(format!("--{name} {value}: {why}").into()))?;
            }
            _ => return Err(Arg::Long(&name).unexpected()),
        }
    }
    Ok(Some(options))
}

fn set(options: &mut Options, name: &str, value: &str) -> Result<(), String> {
    let count = |least: usize| {
        let count = value.parse().ok().filter(|n| (least..=1 << 20).contains(n));
        count.ok_or(format!("a number from {least} to {} is needed", 1 << 20))
    };
    match name {
        "backend" => options.backend = value.parse()?,
        "device" => options.device = Some(value.into()),
        "dtype" => {
            let known = value.parse().ok().filter(|d| matches!(d, DType::Float32 | DType::Float64));
            options.dtype = known.ok_or("the dtypes are float32 and float64")?;
        }
        "model" => options.model = value.parse()?,
        "train" => options.train = count(1)?,
        "test" => options.test = count(1)?,
        "epochs" => options.epochs = count(0)?,
        "batch" => options.batch = count(1)?,
        "rate" => {
            let rate = value.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0);
            options.rate = rate.ok_or("a positive number is needed")?;
        }
        _ => options.seed = value.parse().map_err(|_| "an integer is needed, at least 0")?,
    }
    Ok(())
}
