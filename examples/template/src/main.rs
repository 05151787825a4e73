//! Smooths a noisy signal, on the backend that `--backend` names: `cargo run --release -- --backend torch`.

use backends::{Result, prelude::*};

/// Keeps freed memory for reuse, which makes programs with large arrays faster.
#[global_allocator]
static PAGES: backends::alloc::Pages = backends::alloc::Pages::new();

/// Removes the frequencies of a signal above `limit` (0 to 0.5 per sample), on any backend, in any precision.
fn smooth<B: Backend, T: Precision>(b: &B, x: &B::Array<T>, limit: f64) -> Result<B::Array<T>> {
    let n = x.len();
    expr!(b, irfft(where(rfftfreq::<T>(n) < limit, rfft(x), 0), n = n))
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let b: AnyBackend = match &args[..] {
        [] => Numpyish::new().into(),
        [option, name] if option == "--backend" => name.parse()?,
        _ => {
            eprintln!("usage: my-program [--backend numpyish|torch|cuda]");
            std::process::exit(2);
        }
    };
    b.seed(1);
    let time = b.linspace(0.0, 1.0, 1000)?;
    let signal = expr!(b, sin(20 * time))?;
    let noise = b.random_normal::<f64>([1000])?;
    let measured = expr!(b, signal + 0.5 * noise)?;
    let smoothed = smooth(&b, &measured, 0.01)?;
    let error = |x: &_| b.item(expr!(b, sqrt(mean(square(x - signal), ..)))?);
    println!("{}: error {:.3} before, {:.3} after", b.name(), error(&measured)?, error(&smoothed)?);
    Ok(())
}
