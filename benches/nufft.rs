//! Measures non-uniform Fourier transforms. Prints lines `peer TAB case TAB part TAB nanoseconds`, with the minimum
//! time of several rounds. The part `all` is the time to make a plan, set the points, and execute the transform; the
//! part `execute` is the time of the execution alone. For the part `sum`, the line has the sum of the squares of the
//! result instead of a time. `cargo xtask peers nufft` runs this program together with FINUFFT. An argument selects the
//! cases whose names contain it.
//!
//! RAYON_NUM_THREADS sets the number of threads.

use backends::{ComplexFloat, Result, prelude::*};
use backends::{NufftPlan, NufftType};
use std::time::{Duration, Instant};

/// The distance from one point to the next along each axis, in periods.
const STEPS: [f64; 3] = [0.819_172_513_396_164_4, 0.671_043_606_703_789_2, 0.549_700_477_901_797];

/// Number of rounds in one run of the program.
const ROUNDS: usize = 4;

fn run<T: Precision>(name: &str, modes: &[usize], count: usize, eps: f64) -> Result<()>
where
    T::Complex: ComplexFloat<Real = T>,
{
    let b = Numpyish::new();
    let along = |step: f64| {
        let angle = |j: usize| T::of((j as f64 * step).fract() * std::f64::consts::TAU - std::f64::consts::PI);
        b.asarray((0..count).map(angle).collect::<Vec<T>>())
    };
    let points = STEPS[..modes.len()].iter().map(|&step| along(step)).collect::<Result<Vec<_>>>()?;
    for (kind, isign) in [(NufftType::One, 1), (NufftType::Two, -1)] {
        let n = if kind == NufftType::One { count } else { modes.iter().product() };
        let number = |j: usize| T::Complex::from_parts(T::of((j as f64).cos()), T::of((0.5 * j as f64).sin()));
        let data = b.asarray((0..n).map(number).collect::<Vec<T::Complex>>())?;
        let data = if kind == NufftType::Two {
            b.reshape(data, modes.iter().map(|&n| n as isize).collect::<Vec<_>>())?
        } else {
            data
        };
        let (mut least, mut sum) = ([Duration::MAX; 2], 0.0);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let mut plan = NufftPlan::<_, T::Complex>::new(&b, kind, modes, eps, isign)?;
            plan.set_points(&points.iter().collect::<Vec<_>>())?;
            let planned = start.elapsed();
            let result = plan.execute(&data)?;
            let whole = start.elapsed();
            least = [least[0].min(whole), least[1].min(whole - planned)];
            sum = b.to_vec(&result)?.iter().map(|z| z.cast::<Complex<f64>>().norm_sqr()).sum();
        }
        let kind = if kind == NufftType::One { "type 1" } else { "type 2" };
        for (part, time) in ["all", "execute"].into_iter().zip(least) {
            println!("ours\t{name} {kind}\t{part}\t{}", time.as_nanos());
        }
        println!("ours\t{name} {kind}\tsum\t{sum:e}");
    }
    Ok(())
}

fn main() -> Result<()> {
    let filter = std::env::args().nth(1).filter(|arg| !arg.starts_with("--")).unwrap_or_default();
    const MANY: usize = 1_000_000;
    for (name, modes, count, eps) in [
        ("1-D 1e6, 1e-6", &[1_000_000][..], MANY, 1e-6),
        ("2-D 512, 1e-6", &[512, 512], MANY, 1e-6),
        ("2-D 512, 1e-12", &[512, 512], MANY, 1e-12),
        ("2-D 512, 1e-4, f32", &[512, 512], MANY, 1e-4),
        ("3-D 64, 1e-6", &[64, 64, 64], MANY, 1e-6),
        ("2-D 128, 2e4 points", &[128, 128], 20_000, 1e-6),
    ] {
        match name.contains(&filter) {
            true if name.ends_with("f32") => run::<f32>(name, modes, count, eps)?,
            true => run::<f64>(name, modes, count, eps)?,
            false => {}
        }
    }
    Ok(())
}
