//! Measures calls on a GPU. `tools/xtask/peers_gpu.py` makes the same calls, under the same names and with the same
//! dtypes and sizes, in CuPy and PyTorch. `cargo xtask gpu-bundle` packs this program for a machine with a GPU.
//!
//! `gpu [--json FILE] [--once] [--small]`: prints a line of JSON for each call and size. `--once` makes each call once,
//! for a profiler; `--small` measures small sizes only.

use backends::{Result, prelude::*};
use std::{
    fs::File,
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

/// Approximate duration of one round, which repeats a call many times.
const ROUND: Duration = Duration::from_millis(5);
/// Approximate duration of all rounds of one call.
const TOTAL: Duration = Duration::from_millis(50);

/// A call whose operands are already prepared.
type Call = Box<dyn Fn() -> Result<()>>;

/// Returns all calls, each with its name. Their operands have about 2^24 elements if `large` is true, else about 1024.
#[allow(clippy::too_many_lines, reason = "it is a list")]
fn calls<B: Backend>(b: &B, large: bool) -> Result<Vec<(&'static str, Call)>> {
    b.seed(1);
    let pick = |large_one: usize, small: usize| if large { large_one } else { small };
    let (n, inner, side) = (pick(1 << 24, 1024), pick(1024, 16), pick(4096, 16));
    let rows = n / inner;
    let (x, y) = (b.random_uniform::<f32>([n])?, b.random_uniform::<f32>([n])?);
    let h = b.astype::<f16, f32>(&x)?;
    let m = b.random_uniform::<f32>([rows, inner])?;
    let mt = b.random_uniform::<f32>([inner, rows])?;
    let (row, column) = (b.random_uniform::<f32>([inner])?, b.random_uniform::<f32>([rows, 1])?);
    let (mh, rowh) = (b.astype::<f16, f32>(&m)?, b.astype::<f16, f32>(&row)?);
    let mb = b.random_integers::<u8>([rows, inner], 0, 255)?;
    let threes = b.random_uniform::<f32>([n / 3, 3])?;
    let m4 = b.reshape(&x, [-1, n.min(4096) as isize])?;
    let m6 = b.reshape(&x, [-1, n.min(65536) as isize])?;
    let k = b.random_integers::<i32>([n], 0, 1000)?;
    let mask = b.less(&y, 0.5)?;
    let i = b.random_integers::<i64>([n], 0, n as i64)?;
    let i8 = b.random_integers::<i64>([n], 0, 256)?;
    let ir = b.random_integers::<i64>([rows], 0, rows as i64)?;
    let few = b.zeros::<f32>([256])?;
    let a = b.random_uniform::<f32>([side, side])?;
    let (ah, av) = (b.astype::<f16, f32>(&a)?, b.random_uniform::<f32>([side])?);
    let ad = b.random_uniform::<f64>([side / 2, side / 2])?;
    let q = b.random_uniform::<f32>([n / 1024, 16, 16])?;
    let z = b.complex(&m, b.random_uniform::<f32>([rows, inner])?)?;
    let z2 = b.complex(&a, &a)?;
    let [batch, channels, height] = [pick(32, 1), pick(64, 4), pick(56, 8)];
    let ci = b.random_uniform::<f32>([batch, channels, height, height])?;
    let cw = b.random_uniform::<f32>([channels, channels, 3, 3])?;
    let (cih, cwh) = (b.astype::<f16, f32>(&ci)?, b.astype::<f16, f32>(&cw)?);
    let spd = b.add(b.matmul(&q, b.matrix_transpose(&q)?)?, b.eye::<f32>(16)?)?;
    let s5 = b.random_uniform::<f32>([side / 8, side / 8])?;
    let s2 = b.random_uniform::<f32>([side / 2, side / 2])?;
    let e1 = b.random_uniform::<f32>([side / 4, side / 4])?;
    let e1 = b.add(&e1, b.matrix_transpose(&e1)?)?;
    let q8 = b.random_uniform::<f32>([pick(1000, 8), 8, 8])?;
    let mask2 = b.less(&m, 0.5)?;

    let mut calls: Vec<(&'static str, Call)> = Vec::new();
    macro_rules! row {
        ($name:literal, |$b:ident $(, $x:ident)*| $call:expr) => {{
            let ($b, $($x),*) = (b.clone(), $($x.clone()),*);
            calls.push(($name, Box::new(move || { black_box($call?); Ok(()) })));
        }};
    }
    row!("add f32", |b, x, y| b.add(&x, &y));
    row!("exp f32", |b, x| b.exp(&x));
    row!("add f16", |b, h| b.add(&h, &h));
    row!("m + row f32", |b, m, row| b.add(&m, &row));
    row!("m + row f16", |b, mh, rowh| b.add(&mh, &rowh));
    row!("m - column f32", |b, m, column| b.subtract(&m, &column));
    row!("transpose copied f32", |b, m| b.copy(&b.transpose(&m)?));
    row!("transpose copied u8", |b, mb| b.copy(&b.transpose(&mb)?));
    row!("x + y.T f32", |b, m, mt| b.add(&m, &b.transpose(&mt)?));
    row!("sum f32", |b, x| b.sum(&x, ..));
    row!("sum f16", |b, h| b.sum(&h, ..));
    row!("sum rows 1024", |b, m| b.sum(&m, 1));
    row!("sum columns", |b, m| b.sum(&m, 0));
    row!("sum rows of 3", |b, threes| b.sum(&threes, 1));
    row!("var f32", |b, x| b.var(&x, ..));
    row!("argmax rows", |b, m| b.argmax(&m, 1));
    row!("softmax rows 1024", |b, m| b.softmax(&m, 1));
    row!("cumsum", |b, x| b.cumulative_sum(&x, 0));
    row!("cumsum rows", |b, m| b.cumulative_sum(&m, 1));
    row!("sort f32", |b, x| b.sort(&x));
    row!("argsort f32", |b, x| b.argsort(&x));
    row!("sort rows 1024", |b, m| b.sort(&m));
    row!("sort rows 4096", |b, m4| b.sort(&m4));
    row!("topk 50 of rows 65536", |b, m6| b.topk(&m6, 50));
    row!("unique i32", |b, k| b.unique_values(&k));
    row!("boolean mask", |b, x, mask| b.boolean_mask(&x, &mask));
    row!("nonzero", |b, mask| b.nonzero(&mask));
    row!("take random", |b, x, i| b.take(&x, &i, 0));
    row!("take rows", |b, m, ir| b.take(&m, &ir, 0));
    row!("scatter_add random", |b, x, i, y| b.scatter_add(&x, &i, &y, 0));
    row!("scatter_add 256 places", |b, few, i8, y| b.scatter_add(&few, &i8, &y, 0));
    row!("histogram 256", |b, x| b.histogram_with(&x, HistogramOptions::new().bins(256).low(0.0).high(1.0)));
    row!("matmul 4096 f32", |b, a| b.matmul(&a, &a));
    row!("matmul 4096 f16", |b, ah| b.matmul(&ah, &ah));
    row!("matmul 2048 f64", |b, ad| b.matmul(&ad, &ad));
    row!("matvec 4096 f32", |b, a, av| b.matmul(&a, &av));
    row!("dot", |b, x, y| b.dot(&x, &y));
    row!("bmm of 16x16", |b, q| b.matmul(&q, &q));
    row!("fft c64 rows 1024", |b, z| b.fft(&z));
    row!("irfft rows 1024", |b, z| b.irfft(&z));
    row!("fft2 4096", |b, z2| b.fft2(&z2));
    row!("conv 3x3 64-64 56x56 b32 f32", |b, ci, cw| b.conv_with(&ci, &cw, ConvOptions::new().padding(1)));
    row!("conv 3x3 64-64 56x56 b32 f16", |b, cih, cwh| b.conv_with(&cih, &cwh, ConvOptions::new().padding(1)));
    // backpropagation computes the gradient of the weights by this call too, with the batch and channel axes swapped
    row!("conv weight gradient f32", |b, ci| {
        let swapped = b.moveaxis(&ci, 0, 1)?;
        b.conv_with(&swapped, &swapped, ConvOptions::new().padding(1))
    });
    row!("max_pool 2x2", |b, ci| b.max_pool(&ci, [2, 2]));
    row!("normal f32", |b, x| b.random_normal::<f32>(b.shape(&x)));
    row!("cholesky of 16", |b, spd| b.cholesky(&spd));
    row!("svd 512 f32", |b, s5| b.svd(&s5));
    row!("eigh 1024 f32", |b, e1| b.eigh(&e1));
    row!("solve 2048 f32", |b, s2| b.solve(&s2, &s2));
    row!("qr of 8", |b, q8| b.qr(&q8));
    row!("gaussian sigma 3", |b, m| b.gaussian_filter(&m, 3.0));
    row!("label", |b, mask2| b.label(&mask2));
    Ok(calls)
}

/// Returns the minimum time of a call. Each round makes many calls, and then waits for the device.
fn least(call: &Call, wait: &dyn Fn() -> Result<()>) -> Result<Duration> {
    let round = |calls: u32| {
        let start = Instant::now();
        (0..calls).try_for_each(|_| call()).and_then(|()| wait())?;
        Ok(start.elapsed())
    };
    round(1)?;
    let many = (ROUND.as_nanos() / round(1)?.as_nanos().max(1)).clamp(1, 500) as u32;
    let (begin, mut least) = (Instant::now(), Duration::MAX);
    while least == Duration::MAX || begin.elapsed() < TOTAL {
        least = least.min(round(many)? / many);
    }
    Ok(least)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (mut out, mut once, mut small): (Box<dyn Write>, _, _) = (Box::new(io::stdout()), false, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => out = Box::new(File::create(args.next().ok_or("--json needs a file")?)?),
            "--once" => once = true,
            "--small" => small = true,
            // cargo passes this option
            "--bench" => {}
            other => return Err(format!("there is no option `{other}`: gpu [--json FILE] [--once] [--small]").into()),
        }
    }
    let b = Cuda::new(0)?;
    let wait = || b.synchronize();
    for (size, large) in [("small", false), ("large", true)] {
        // `--once` runs only the large sizes, unless `--small` is given too
        if (small && large) || (once && !large && !small) {
            continue;
        }
        for (row, call) in calls(&b, large)? {
            let outcome =
                if once { call().and_then(|()| wait()).map(|()| None) } else { least(&call, &wait).map(Some) };
            let head = format!("{{\"lib\":\"ours\",\"row\":\"{row}\",\"size\":\"{size}\"");
            match outcome {
                Ok(None) => {}
                Ok(Some(time)) => writeln!(out, "{head},\"ns\":{}}}", time.as_nanos())?,
                // if one call fails, the other calls are still measured
                Err(why) => writeln!(out, "{head},\"error\":{:?}}}", why.to_string())?,
            }
            out.flush()?;
        }
    }
    Ok(())
}
