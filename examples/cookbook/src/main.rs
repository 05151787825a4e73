//! Runs programs of the cookbook, on the backend chosen at run time, and draws their pictures.
//!
//!     cargo run --release -p cookbook -- deconvolution
//!     cargo run --release -p cookbook -- --help

use backends_npz::Npz;
use cookbook::programs::{Inputs, PROGRAMS};
use examples_common::{
    cli,
    console::{self, Console},
    library::Library,
    output::{Files, Output},
};
use lexopt::{Arg, Parser, ValueExt};
use std::{error::Error, ffi::OsString, path::PathBuf, process::ExitCode, time::Instant};

/// The text of `--help`.
const HELP: &str = "\
Runs the programs of the cookbook and draws their pictures.

usage: cookbook [NAME..] [OPTIONS]

  NAME                the programs to run, such as deconvolution; without a name, all of them
  --backend NAME      numpyish, torch, cuda, or auto: cuda if there is a GPU, otherwise numpyish [auto]
  --device NAME       cpu, cuda or cuda:NUMBER, depending on the backend
  --data DIR          the folder with the inputs, NAME.npz for each program [the inputs of this folder]
  --out DIR           the folder for the pictures, NAME.png for each program; created if missing [out]
  --help              prints this text
";

/// The options on the command line.
struct Options {
    names: Vec<String>,
    backend: Library,
    device: Option<String>,
    data: PathBuf,
    out: PathBuf,
}

fn main() -> ExitCode {
    console::main(parse(std::env::args_os().skip(1)), HELP, run)
}

/// Parses the arguments; `None` if help is requested.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Options>, lexopt::Error> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/data").into();
    let mut options = Options { names: vec![], backend: Library::Auto, device: None, data, out: "out".into() };
    let mut parser = Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Value(name) => {
                let name = name.string()?;
                if !PROGRAMS.iter().any(|program| program.name == name) {
                    let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
                    let why = format!("there is no program `{name}`; the programs are {}", names.join(", "));
                    return Err(lexopt::Error::Custom(why.into()));
                }
                options.names.push(name);
            }
            Arg::Long("help") => return Ok(None),
            Arg::Long("data") => options.data = cli::path("data", parser.value()?)?,
            Arg::Long("out") => options.out = cli::path("out", parser.value()?)?,
            Arg::Long("device") => options.device = Some(parser.value()?.string()?),
            Arg::Long("backend") => {
                let value = parser.value()?.string()?;
                let backend = value.parse();
                let wrong = |why| lexopt::Error::Custom(format!("--backend {value}: {why}").into());
                options.backend = backend.map_err(wrong)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}

fn run(options: &Options, console: &mut Console) -> Result<(), Box<dyn Error>> {
    let b = options.backend.open(options.device.as_deref(), 0)?;
    let is_wanted = |name: &str| options.names.is_empty() || options.names.iter().any(|wanted| wanted == name);
    let programs: Vec<_> = PROGRAMS.iter().filter(|program| is_wanted(program.name)).collect();
    let names: Vec<String> = programs.iter().map(|program| format!("{}.png", program.name)).collect();
    let output = Output::prepare(&options.out, &names)?;
    for (program, name) in programs.into_iter().zip(names) {
        let file = Npz::open(options.data.join(program.name).with_extension("npz"))?;
        let start = Instant::now();
        let outcome = (program.run)(&Inputs { b: &b, file: &file })?;
        console.say(format!("{} on {} in {:.2} s", program.name, b.name(), start.elapsed().as_secs_f64()));
        let mut files = Files::new(true);
        files.add(name, || Ok(outcome.picture.png()?))?;
        output.write(files.as_slice(), vec![])?;
    }
    Ok(())
}
