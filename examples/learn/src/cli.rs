//! The command line of the program.

use crate::network::Kind;
use backends::DType;
use examples_common::{cli, library::Library};
use lexopt::{Arg, Parser, ValueExt};
use std::{ffi::OsString, path::PathBuf};

/// The text of `--help`.
pub const HELP: &str = "\
Trains a neural network to read digits. The program draws the digits: rotated, moved, slanted and noisy.

usage: learn [OPTIONS]

  --backend NAME      numpyish, torch, cuda, or auto: cuda if there is a GPU, otherwise numpyish [auto]
  --device NAME       cpu, cuda or cuda:NUMBER, depending on the backend
  --dtype NAME        float32 or float64 [float32]
  --model NAME        mlp (a hidden layer) or cnn (two convolutions, each with a pool, and a layer) [cnn]
  --train N           number of training digits [4000]
  --test N            number of test digits, which are not used in training [1000]
  --epochs N          number of passes over the training digits; 0 only tests the network [8]
  --batch N           number of digits in a step [64]
  --rate RATE         initial learning rate of Adam; it decreases to a tenth [0.005]
  --seed N            seed of digits and weights [1]
  --weights PATH      an .npz file with the initial weights [random weights]
  --out DIR           the folder for weights.npz, losses.npy (one number for each step), losses.png and digits.png (test
                      digits with the answers of the network); created if missing [out]
  --help              prints this text
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
