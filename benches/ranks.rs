//! Measures ops on arrays that are split over the ranks (processes) of an MPI launcher. A row of the list `ROWS` is a
//! call at several sizes. For each row and size, rank 0 prints a line `peer TAB row TAB elements TAB nanoseconds TAB
//! checksum TAB scale`. `tools/xtask/peers_heat.py` has the same rows in Heat; `cargo xtask peers heat` runs both
//! programs under one launcher, and compares the checksums. The argument selects the rows whose names contain it.
//!
//! On a single rank, each row also runs on a plain `Numpyish`, for comparison. All elements are float32, which is
//! Heat's default. RAYON_NUM_THREADS sets the number of threads of a rank.
#![allow(clippy::reversed_empty_ranges)] // `1..-1` selects all but the first and the last

use backends::{Error, Result, prelude::*};
use backends_sharded::{
    Sharded, World, run,
    world::{DType, Join, bytes},
};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// The recommended allocator for programs with large arrays.
#[global_allocator]
static PAGES: backends::alloc::Pages = backends::alloc::Pages::new();

/// Small sizes, at which call overhead takes most of the time.
const FEW: [usize; 2] = [10, 1000];

/// Number of elements of a large vector or matrix.
const MANY: usize = 1 << 22;

/// The measured calls. Each row has the name of a call, and the sizes at which it runs: the numbers of elements of its
/// first operand. `tools/xtask/peers_heat.py` has the same rows.
const ROWS: [(&str, &[usize]); 16] = [
    ("x + y", &FEW),
    ("sum(x)", &FEW),
    ("x[1:-1]", &FEW),
    ("x + y", &[MANY]),
    ("exp(-sqrt(x)) * y", &[MANY]),
    ("exp(-sqrt(x)) * y, expr!", &[MANY]),
    ("sum(x)", &[MANY]),
    ("sum(m, axis=0)", &[MANY]),
    ("sum(m, axis=1)", &[MANY]),
    ("a @ w", &[1 << 20]),
    ("fft(m, axis=1)", &[1 << 21]),
    ("fft2(m)", &[1 << 20]),
    ("sort(x)", &[1 << 20]),
    ("x[:-1] + x[1:]", &[MANY]),
    ("heat equation", &[1 << 22]),
    ("heat equation, expr!", &[1 << 22]),
];

/// Minimum duration of a measurement.
const TIME: Duration = Duration::from_millis(300);
/// Maximum duration of a measurement, even if it has fewer than `ROUNDS` rounds.
const LONGEST: Duration = Duration::from_secs(2);
/// Minimum number of rounds of a measurement.
const ROUNDS: u32 = 8;

/// Measures one call on all ranks at the same time.
struct Clock<'w> {
    world: &'w World,
    peer: &'static str,
    row: &'static str,
    n: usize,
}

impl Clock<'_> {
    /// Makes `calls` calls on each rank, and returns the time of the slowest rank. All ranks return the same time.
    fn slowest(&self, calls: u32, mut call: impl FnMut() -> Result<()>) -> Result<Duration> {
        let failed = |why: backends_sharded::world::Error| Error::library("ranks", "mpi", why.to_string());
        self.world.barrier().map_err(failed)?;
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        let mut nanos = [start.elapsed().as_nanos() as u64];
        self.world.all_reduce(bytes::of_mut(&mut nanos), DType::UInt64, Join::Max).map_err(failed)?;
        Ok(Duration::from_nanos(nanos[0]))
    }

    /// Prints the minimum time of a call, and the checksum of its result. Short calls are timed in groups. All ranks
    /// make the same number of calls, because the number is computed from the slowest rank's time.
    fn measure<B: Backend, T: Summed>(&self, b: &B, call: impl Fn() -> Result<B::Array<T>>) -> Result<()> {
        let run = || {
            black_box(call()?);
            Ok(())
        };
        self.slowest(1, run)?;
        let once = self.slowest(1, run)?;
        let many = (200_000 / once.as_nanos().max(1)).clamp(1, 2000) as u32;
        let (mut least, mut spent, mut rounds) = (Duration::MAX, Duration::ZERO, 0);
        while spent < if rounds < ROUNDS { LONGEST } else { TIME } {
            let time = self.slowest(many, run)?;
            least = least.min(time / many);
            spent += time;
            rounds += 1;
        }
        // `to_vec` is collective, so every rank calls it
        let [sum, scale] = checksum(&b.to_vec(call()?)?);
        if self.world.rank() == 0 {
            println!("{}\t{}\t{}\t{}\t{sum}\t{scale}", self.peer, self.row, self.n, least.as_nanos());
        }
        Ok(())
    }
}

/// Element types that have a checksum.
trait Summed: Element {
    fn number(self) -> f64;
}

impl Summed for f32 {
    fn number(self) -> f64 {
        self.into()
    }
}

impl Summed for Complex<f32> {
    fn number(self) -> f64 {
        f64::from(self.re) + 2.0 * f64::from(self.im)
    }
}

/// Returns a weighted sum, which depends on the order of the elements, and the sum of the absolute values of its terms,
/// which is the scale for its errors.
fn checksum<T: Summed>(all: &[T]) -> [f64; 2] {
    let terms = all.iter().enumerate().map(|(k, x)| x.number() * (1.0 + (k % 1009) as f64 / 1009.0));
    terms.fold([0.0, 0.0], |[sum, scale], term| [sum + term, scale + term.abs()])
}

/// Pseudorandom number `k` in 0 .. 1, by the last step of MurmurHash3. `tools/xtask/peers_heat.py` makes the same
/// numbers.
fn number(k: usize) -> f32 {
    let mut h = k as u32;
    h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
    h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    ((h ^ h >> 16) >> 8) as f32 / (1 << 24) as f32
}

fn vector<B: Backend>(b: &B, from: usize, n: usize) -> Result<B::Array<f32>> {
    b.asarray((from..from + n).map(number).collect::<Vec<f32>>())
}

/// A matrix of `n` elements, which is square or has twice as many rows as columns.
fn matrix<B: Backend>(b: &B, from: usize, n: usize) -> Result<B::Array<f32>> {
    let columns = 1 << (n.ilog2() / 2);
    let numbers = (from..from + n).map(number).collect();
    let array = ndarray::ArrayD::from_shape_vec(vec![n / columns, columns], numbers);
    b.asarray(array.map_err(|why| Error::argument("ranks", why.to_string()))?)
}

/// The inner elements of a matrix, and their neighbours above, below, left and right.
fn stencil<B: Backend>(b: &B, u: &B::Array<f32>) -> Result<[B::Array<f32>; 5]> {
    Ok([
        b.getitem(u, slices![1..-1, 1..-1])?,
        b.getitem(u, slices![..-2, 1..-1])?,
        b.getitem(u, slices![2.., 1..-1])?,
        b.getitem(u, slices![1..-1, ..-2])?,
        b.getitem(u, slices![1..-1, 2..])?,
    ])
}

fn heat<B: Backend>(b: &B, u: &B::Array<f32>) -> Result<B::Array<f32>> {
    let [inner, above, below, left, right] = stencil(b, u)?;
    let around = b.add(b.add(b.add(above, below)?, left)?, right)?;
    b.add(&inner, b.multiply(b.subtract(around, b.multiply(&inner, 4.0)?)?, 0.1)?)
}

fn heat_formula<B: Backend>(b: &B, u: &B::Array<f32>) -> Result<B::Array<f32>> {
    let [inner, above, below, left, right] = stencil(b, u)?;
    expr!(b, inner + (above + below + left + right - inner * 4.0) * 0.1)
}

/// Measures the call of the row `clock.row`. A reduction to a single number returns an array without axes, not a number
/// on the host.
fn measure<B: Backend>(b: &B, clock: &Clock<'_>) -> Result<()> {
    let n = clock.n;
    let x = || vector(b, 0, n);
    let y = || vector(b, n, n);
    let m = || matrix(b, 0, n);
    match clock.row {
        "x + y" => {
            let (x, y) = (x()?, y()?);
            clock.measure(b, || b.add(&x, &y))
        }
        "sum(x)" => {
            let x = x()?;
            clock.measure(b, || b.sum(&x, ..))
        }
        "x[1:-1]" => {
            let x = x()?;
            clock.measure(b, || b.getitem(&x, slices![1..-1]))
        }
        "exp(-sqrt(x)) * y" => {
            let (x, y) = (x()?, y()?);
            clock.measure(b, || b.multiply(b.exp(b.negative(b.sqrt(&x)?)?)?, &y))
        }
        "exp(-sqrt(x)) * y, expr!" => {
            let (x, y) = (x()?, y()?);
            clock.measure(b, || expr!(b, exp(-sqrt(x)) * y))
        }
        "sum(m, axis=0)" => {
            let m = m()?;
            clock.measure(b, || b.sum(&m, 0))
        }
        "sum(m, axis=1)" => {
            let m = m()?;
            clock.measure(b, || b.sum(&m, 1))
        }
        "a @ w" => {
            let (a, w) = (m()?, matrix(b, n, n)?);
            clock.measure(b, || b.matmul(&a, &w))
        }
        "fft(m, axis=1)" => {
            let m = m()?;
            clock.measure(b, || b.fft(&m))
        }
        "fft2(m)" => {
            let m = m()?;
            clock.measure(b, || b.fft2(&m))
        }
        "sort(x)" => {
            let x = x()?;
            clock.measure(b, || b.sort(&x))
        }
        "x[:-1] + x[1:]" => {
            let x = x()?;
            clock.measure(b, || b.add(b.getitem(&x, slices![..-1])?, b.getitem(&x, slices![1..])?))
        }
        "heat equation" => {
            let m = m()?;
            clock.measure(b, || heat(b, &m))
        }
        "heat equation, expr!" => {
            let m = m()?;
            clock.measure(b, || heat_formula(b, &m))
        }
        other => Err(Error::argument("ranks", format!("no row `{other}`"))),
    }
}

fn main() {
    let part = std::env::args().nth(1).filter(|part| part != "--bench").unwrap_or_default();
    run(|world| -> Result<()> {
        for (row, sizes) in ROWS.into_iter().filter(|(row, _)| row.contains(&part)) {
            for &n in sizes {
                if world.size() == 1 {
                    measure(&Numpyish::new(), &Clock { world, peer: "Numpyish", row, n })?;
                }
                let b = Sharded::new(Numpyish::new(), world.clone())?;
                measure(&b, &Clock { world, peer: "ours", row, n })?;
            }
        }
        Ok(())
    })
}
