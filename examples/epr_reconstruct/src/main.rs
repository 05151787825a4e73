//! Reconstructs the image of an electron paramagnetic resonance measurement, on the backend chosen at run time.
//!
//!     cargo run --release -p epr_reconstruct
//!     cargo run --release -p epr_reconstruct -- --help
//!
//! The numerics, in the crate `backends-epr`, are written once for every backend.

mod canvas;
mod cli;
mod console;
mod figure;
mod measurement;
mod memory;
mod output;
mod reconstruct;
mod reference;

use backends::{AnyBackend, Cuda, Numpyish, Torch, dispatch};
use cli::{Command, Library, Options};
use console::Console;
use measurement::Measurement;
use output::Output;
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    let mut console = Console::default();
    let outcome = match cli::parse(std::env::args_os().skip(1)) {
        Ok(Command::Run(options)) => run(&options, &mut console),
        Ok(Command::Help) => {
            console.say(cli::HELP.trim_end());
            Ok(())
        }
        Err(e) => {
            console::complain(format!("{e}\n\nTry --help."));
            return ExitCode::from(2);
        }
    };
    match outcome.and_then(|()| Ok(console.finish()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            console::complain(e);
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options, console: &mut Console) -> Result<(), Box<dyn Error>> {
    let measured = Measurement::read(&options.data)?;
    let expected = reconstruct::results(options);
    let references = options.reference.as_deref().map(|path| reference::read(path, &expected, console));
    let references = references.transpose()?.unwrap_or_default();
    let backend = backend(options.backend, options.device.as_deref())?;
    let names = reconstruct::file_names(options);
    let output = Output::prepare(&options.out, &names)?;
    console.say(&measured);
    let (library, device, shape) = (backend.name(), backends::Arrays::device(&backend), options.shape_text());
    console
        .say(format!("image of {shape} pixels of {:?} cm, {}, on {library} ({device})", options.delta, options.dtype));
    let files = dispatch!(options.dtype, T: [Float32, Float64] => {
        reconstruct::run::<_, T>(&backend, options, &measured, &references, console)
    })?;
    output.write(&files)?;
    console.say(format!("wrote {} to {}", names.join(", "), options.out.display()));
    Ok(())
}

/// The backend asked for; `auto` is the first GPU where there is one, else the CPU.
fn backend(library: Library, device: Option<&str>) -> Result<AnyBackend, Box<dyn Error>> {
    let gpu = |device: &str| -> Result<AnyBackend, Box<dyn Error>> {
        let number = device.strip_prefix("cuda:").or_else(|| (device == "cuda").then_some("0"));
        let number = number.and_then(|n| n.parse().ok());
        let number =
            number.ok_or_else(|| format!("--device {device}: this backend runs on `cuda` or `cuda:NUMBER`"))?;
        Ok(Cuda::new(number)?.into())
    };
    match (library, device) {
        (Library::Torch, device) => Ok(Torch::new(device.unwrap_or("cpu"))?.into()),
        (Library::Cuda, device) => gpu(device.unwrap_or("cuda")),
        (Library::Auto, Some(device)) if device != "cpu" => gpu(device),
        (Library::Auto, None) => Ok(gpu("cuda").unwrap_or_else(|_| Numpyish::new().into())),
        (Library::Auto | Library::Numpyish, None | Some("cpu")) => Ok(Numpyish::new().into()),
        (_, Some(device)) => Err(format!("--device {device}: numpyish runs on `cpu`").into()),
    }
}
