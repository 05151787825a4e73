//! Small complete programs, each written op by op and with formulas, as the guides in `docs/` suggest.
//! `cargo xtask peers programs` runs them together with `tools/xtask/peers_programs.py`, which has the same programs in
//! NumPy and PyTorch, and compares the results.
//!
//! For each input line `PROGRAM TAB N TAB FORM`, with the form `ops` or `expr!`, the program prints `NANOSECONDS TAB
//! CHECKSUM TAB SCALE`, or `! WHY` for an error. `NANOSECONDS` is the minimum time of a run, `CHECKSUM` is a weighted
//! sum of the result, and `SCALE` is the sum of the absolute values of the terms of the checksum.
//!
//! RAYON_NUM_THREADS sets the number of threads.
#![allow(clippy::reversed_empty_ranges)] // `1..-1` selects all but the first and the last

mod grids;
mod images;
mod models;
#[path = "../noise.rs"]
mod noise;
mod points;

use backends::{Error, Result, prelude::*};
use noise::noise;
use std::{
    collections::BTreeMap,
    hint::black_box,
    io::{BufRead, Write, stdin, stdout},
    time::{Duration, Instant},
};

/// The recommended allocator for programs with large arrays.
#[global_allocator]
static PAGES: backends::alloc::Pages = backends::alloc::Pages::new();

/// Minimum duration of a measurement, which has at least two rounds.
const TIME: Duration = Duration::from_millis(30);

/// A prepared program, with the checksum of its result and the checksum's scale.
struct Ready<'b> {
    run: Box<dyn FnMut() -> Result<()> + 'b>,
    sums: [f64; 2],
}

/// The two forms of a program over data `D`: op by op, and with formulas.
type Forms<B, D, T> = [fn(&B, &D) -> Result<<B as Arrays>::Array<T>>; 2];

/// Prepares a program, and runs it once for its checksum.
fn ready<'b, B: Backend, D: 'b, T: Element>(
    b: &'b B,
    form: &str,
    data: D,
    [ops, formulas]: Forms<B, D, T>,
) -> Result<Ready<'b>> {
    let program = match form {
        "ops" => ops,
        "expr!" => formulas,
        _ => return Err(Error::argument("programs", format!("there is no form `{form}`"))),
    };
    let sums = checksum(&b.to_vec(program(b, &data)?)?);
    let run = Box::new(move || program(b, &data).map(|x| drop(black_box(x))));
    Ok(Ready { run, sums })
}

/// Returns a weighted sum, which depends on the order of the elements, and the sum of the absolute values of its terms,
/// which is the scale for its errors.
fn checksum<T: Element>(result: &[T]) -> [f64; 2] {
    let terms = result.iter().zip(noise(99, result.len())).map(|(x, weight)| x.cast::<f64>() * weight);
    terms.fold([0.0, 0.0], |[sum, scale], term| [sum + term, scale + term.abs()])
}

/// Pseudorandom numbers in 0..1.
fn numbers<B: Backend, T: Real>(b: &B, seed: u64, shape: &[usize]) -> Result<B::Array<T>> {
    let numbers: Vec<T> = noise(seed, shape.iter().product()).into_iter().map(T::from_f64).collect();
    b.reshape(b.asarray(numbers)?, shape)
}

/// An `n` by `n` array of random integers below a limit.
fn levels<B: Backend>(b: &B, n: usize, limit: f64) -> Result<B::Array<u8>> {
    b.astype::<u8, f64>(b.multiply(numbers::<B, f64>(b, 1, &[n, n])?, limit)?)
}

/// An `n` by `n` grid of points in the rectangle of the complex plane that contains the Mandelbrot set.
fn plane<B: Backend>(b: &B, n: usize) -> Result<B::Array<Complex<f64>>> {
    let (re, im) = (b.linspace(-2.0, 0.5, n)?, b.linspace(-1.25, 1.25, n)?);
    b.complex(re, b.expand_dims(im, 1)?)
}

/// A shifted image with a little noise, and the original image.
fn shifted<B: Backend>(b: &B, n: usize) -> Result<(B::Array<f32>, B::Array<f32>)> {
    let x = numbers::<B, f32>(b, 1, &[n, n])?;
    let noise = b.multiply(numbers::<B, f32>(b, 2, &[n, n])?, 0.1)?;
    let y = b.add(b.roll(&x, [5, 9], [0, 1])?, noise)?;
    Ok((y, x))
}

/// A network with layers of 784, 256, 128 and 10 units, and its `n` inputs. The outputs are far from 0 and 1.
fn network<B: Backend>(b: &B, n: usize) -> Result<models::Network<B>> {
    let sizes = [784, 256, 128, 10];
    let layers = sizes.windows(2).zip(2..).map(|(sizes, seed)| {
        let [from, to] = [sizes[0], sizes[1]];
        let of = |seed, shape: &[usize]| {
            b.multiply(b.subtract(numbers::<B, f32>(b, seed, shape)?, 0.5)?, 4.0 / (from as f64).sqrt())
        };
        Ok((of(seed, &[from, to])?, of(seed + 10, &[to])?))
    });
    Ok(models::Network { x: numbers(b, 1, &[n, sizes[0]])?, layers: layers.collect::<Result<_>>()? })
}

/// Features between -1 and 1, and classes that depend on the first two features and on random noise.
fn samples<B: Backend>(b: &B, n: usize) -> Result<(B::Array<f64>, B::Array<f64>)> {
    let x = b.subtract(b.multiply(numbers::<B, f64>(b, 1, &[n, 32])?, 2.0)?, 1.0)?;
    let chance = b.subtract(numbers::<B, f64>(b, 2, &[n])?, 0.5)?;
    let sum = b.sum(b.get(&x, backends::ix![.., ..2])?, 1)?;
    let y = b.astype::<f64, bool>(b.greater(b.add(sum, chance)?, 0.0)?)?;
    Ok((x, y))
}

fn links<B: Backend>(b: &B, n: usize) -> Result<B::Array<f64>> {
    let x = numbers::<B, f64>(b, 1, &[n, n])?;
    let sums = b.sum(&x, 0)?;
    b.divide(x, sums)
}

/// Prepares the program with the given name, on data of size `n`.
fn program<'b, B: Backend>(b: &'b B, name: &str, n: usize, form: &str) -> Result<Ready<'b>> {
    match name {
        "heat equation" => ready(b, form, numbers(b, 1, &[n, n])?, [grids::heat, grids::heat_formulas]),
        "Poisson, 3-D" => {
            let data = (numbers(b, 1, &[n; 3])?, numbers(b, 2, &[n; 3])?);
            ready(b, form, data, [grids::poisson, grids::poisson_formulas])
        }
        "game of life" => ready(b, form, levels(b, n, 2.0)?, [grids::life, grids::life_formulas]),
        "Mandelbrot set" => ready(b, form, plane(b, n)?, [grids::mandelbrot, grids::mandelbrot_formulas]),
        "k-means" => {
            let data = (numbers(b, 1, &[n, 8])?, numbers(b, 2, &[16, 8])?);
            ready(b, form, data, [points::k_means, points::k_means_formulas])
        }
        "nearest neighbours" => {
            let data = (numbers(b, 1, &[n / 4, 16])?, numbers(b, 2, &[n, 16])?);
            ready(b, form, data, [points::neighbours, points::neighbours_formulas])
        }
        "n bodies" => {
            let data = (numbers(b, 1, &[n, 3])?, numbers(b, 2, &[n])?);
            ready(b, form, data, [points::bodies, points::bodies_formulas])
        }
        "edges" => ready(b, form, numbers(b, 1, &[n, n])?, [images::edges, images::edges_formulas]),
        "unsharp mask" => ready(b, form, numbers(b, 1, &[n, n])?, [images::unsharp, images::unsharp_formulas]),
        "histogram equalisation" => {
            ready(b, form, levels(b, n, 200.0)?, [images::equalised, images::equalised_formulas])
        }
        "low-pass filter" => ready(b, form, numbers(b, 1, &[n, n])?, [images::low_pass, images::low_pass_formulas]),
        "phase correlation" => ready(b, form, shifted(b, n)?, [images::shift, images::shift_formulas]),
        "pi by chance" => ready(b, form, n, [models::pi, models::pi_formulas]),
        "option price" => ready(b, form, n, [models::option, models::option_formulas]),
        "network" => ready(b, form, network(b, n)?, [models::classes, models::classes_formulas]),
        "logistic regression" => ready(b, form, samples(b, n)?, [models::logistic, models::logistic_formulas]),
        "PageRank" => ready(b, form, links(b, n)?, [models::page_rank, models::page_rank_formulas]),
        other => Err(Error::argument("programs", format!("there is no program `{other}`"))),
    }
}

/// Minimum time of a run in nanoseconds. Short runs are timed in groups.
fn least(run: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let mut timed = |many: u32| {
        let start = Instant::now();
        for _ in 0..many {
            run()?;
        }
        Ok::<f64, Error>(start.elapsed().as_nanos() as f64 / f64::from(many))
    };
    let begin = Instant::now();
    let mut least = timed(1)?;
    let many = (1e5 / least.max(1.0)).clamp(1.0, 1000.0) as u32;
    let mut rounds = 1;
    while rounds < 2 || begin.elapsed() < TIME {
        least = least.min(timed(many)?);
        rounds += 1;
    }
    Ok(least)
}

/// The prepared forms, by name, of the program that ran last.
type Kept<'b> = BTreeMap<String, Ready<'b>>;

fn answer<'b, B: Backend>(b: &'b B, line: &str, last: &mut (String, Kept<'b>)) -> Result<String> {
    let wrong = || Error::argument("programs", format!("`{line}` asks for nothing"));
    let (what, form) = line.rsplit_once('\t').ok_or_else(wrong)?;
    if last.0 != what {
        // frees the memory of the last program before preparing the next one
        *last = (what.to_owned(), BTreeMap::new());
    }
    if !last.1.contains_key(form) {
        let (name, n) = what.split_once('\t').ok_or_else(wrong)?;
        let made = program(b, name, n.parse().map_err(|_| wrong())?, form)?;
        last.1.insert(form.to_owned(), made);
    }
    let Ready { run, sums: [sum, scale] } = last.1.get_mut(form).ok_or_else(wrong)?;
    Ok(format!("{:.1}\t{sum}\t{scale}", least(run)?))
}

fn main() -> std::io::Result<()> {
    let b = Numpyish::seeded(1);
    let mut last = (String::new(), BTreeMap::new());
    for line in stdin().lock().lines() {
        let answer = answer(&b, &line?, &mut last);
        println!("{}", answer.unwrap_or_else(|why| format!("! {why}").replace('\n', " ")));
        stdout().flush()?;
    }
    Ok(())
}
