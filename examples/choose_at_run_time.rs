//! A program that takes the backend and the dtype from the command line.
//!
//! `cargo run --example choose_at_run_time -- torch float32`

use backends::{Error, Result, dispatch, prelude::*};

/// Opens the backend of this name.
fn backend(name: &str) -> Result<AnyBackend> {
    Ok(match name {
        "numpyish" => Numpyish::new().into(),
        "torch" => Torch::cpu()?.into(),
        other => {
            return Err(Error::unavailable("any", format!("there is no backend `{other}`")));
        }
    })
}

/// The root mean square of equally spaced numbers, in any real dtype and on any backend.
fn rms<B: Backend, T: Real>(b: &B, n: usize) -> Result<f64> {
    let x = b.linspace(T::ZERO, T::ONE, n)?;
    let y = expr!(b, sqrt(mean(square(x), ..)))?;
    Ok(b.item(y)?.to_f64())
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let b = backend(args.next().as_deref().unwrap_or("numpyish"))?;
    let dtype: DType = args.next().as_deref().unwrap_or("float64").parse()?;
    // `dispatch!` makes `T` the Rust type of the dtype
    let result: Result<f64> = dispatch!(dtype, T: [Float16, BFloat16, Float32, Float64] => rms::<_, T>(&b, 1000));
    println!("rms of {dtype} on {} ({}) = {}", b.name(), Arrays::device(&b), result?);
    Ok(())
}
