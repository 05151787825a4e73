//! Calls on `AnyBackend`, the backend that is chosen at run time, beside the same calls on `Numpyish`. For each call
//! and number of elements, prints both times and their difference in nanoseconds, and their ratio. `cargo xtask bench
//! any [NAME]` measures the calls whose name contains NAME.

use backends::{Result, prelude::*};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// Number of rounds; only the fastest round counts. Each round measures both calls one after the other, so that a
/// change in the speed of the machine affects both.
const ROUNDS: usize = 30;

/// Minimum duration of a round.
const ROUND: Duration = Duration::from_millis(1);

/// Returns the number of calls that take as long as a round.
fn calls_of_a_round(call: &mut dyn FnMut()) -> u32 {
    let mut many = 1;
    loop {
        let start = Instant::now();
        (0..many).for_each(|_| call());
        if start.elapsed() >= ROUND || many >= 1 << 20 {
            return many;
        }
        many *= 2;
    }
}

/// Returns the mean time of a call in nanoseconds.
fn time(many: u32, call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..many).for_each(|_| call());
    start.elapsed().as_nanos() as f64 / f64::from(many)
}

fn compare(name: &str, n: usize, direct: &mut dyn FnMut(), any: &mut dyn FnMut()) {
    let many = calls_of_a_round(direct);
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        least[0] = least[0].min(time(many, direct));
        least[1] = least[1].min(time(many, any));
    }
    let [direct, any] = least;
    println!("| {name} | {n} | {direct:.0} | {any:.0} | {:.0} | {:.2} |", any - direct, any / direct);
}

/// Measures each call with the array `x` and the backend `b`.
macro_rules! calls {
    ($wanted:expr, $n:expr, $b:ident, $x:ident: $($name:literal => $call:expr;)*) => {{
        let direct = Numpyish::seeded(0);
        let array = direct.random_uniform::<f64>([$n])?;
        let (any, any_array) = (AnyBackend::from(direct.clone()), AnyArray::from(array.clone()));
        $(
            if $name.contains($wanted) {
                let ($b, $x) = (&direct, &array);
                let mut on_direct = || drop(black_box($call));
                let ($b, $x) = (&any, &any_array);
                let mut on_any = || drop(black_box($call));
                compare($name, $n, &mut on_direct, &mut on_any);
            }
        )*
    }};
}

fn main() -> Result<()> {
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with("--")).unwrap_or_default();
    println!("| call | elements | Numpyish, ns | AnyBackend, ns | difference | ratio |\n|---|--:|--:|--:|--:|--:|");
    for n in [10_usize, 1000, 100_000] {
        calls! { wanted.as_str(), n, b, x:
            "add" => b.add(x, x);
            "multiply by a number" => b.multiply(x, 2.0);
            "exp" => b.exp(x);
            "sum" => b.sum(x, 0);
            "sort" => b.sort(x);
            "astype" => b.astype::<f32, _>(x);
            "softmax" => b.softmax(x, 0);
            "ptp" => b.ptp(x, 0);
            "dot" => b.dot(x, x);
            "vector_norm" => b.vector_norm(x);
            "trapezoid" => b.trapezoid(x);
            "layer_norm" => b.layer_norm(x);
            "nanmean" => b.nanmean(x, 0);
            "nansum" => b.nansum(x, 0);
            "around" => b.around(x);
            "huber_loss" => b.huber_loss(x, x);
            "nan_to_num" => b.nan_to_num(x);
        }
    }
    Ok(())
}
