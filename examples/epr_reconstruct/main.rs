//! Reconstructs the image of an electron paramagnetic resonance measurement, on the backend chosen at run time.
//!
//!     cargo run --release --example epr_reconstruct
//!     cargo run --release --example epr_reconstruct -- --help
//!
//! The numerics, in the crate `backends-epr`, are written once for every backend.

mod canvas;
mod cli;
mod figure;
mod measurement;
mod output;
mod reconstruct;
mod reference;

use backends::{AnyBackend, Cuda, Numpyish, Torch, dispatch};
use cli::{Command, Library, Options};
use measurement::Measurement;
use std::{error::Error, process::ExitCode};

fn main() -> ExitCode {
    let options = match cli::parse(std::env::args_os().skip(1)) {
        Ok(Command::Run(options)) => options,
        Ok(Command::Help) => {
            print!("{}", cli::HELP);
            return ExitCode::SUCCESS;
        }
        Err(e) => {
            eprintln!("error: {e}\n\nTry --help.");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    output::check(&options.out)?;
    let measured = Measurement::read(&options.data)?;
    let references = options.reference.as_deref().map(reference::read).transpose()?.unwrap_or_default();
    let backend = backend(options.backend, options.device.as_deref())?;
    println!("{measured}");
    let shape = options.shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
    let (library, device) = (backend.name(), backends::Arrays::device(&backend));
    println!("image of {shape} pixels of {} cm, {}, on {library} ({device})", options.delta, options.dtype);
    let files = dispatch!(options.dtype, T: [Float32, Float64] => {
        reconstruct::run::<_, T>(&backend, options, &measured, &references)
    })?;
    output::write(&options.out, &files)?;
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    println!("wrote {} to {}", names.join(", "), options.out.display());
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
