//! Measures the time of calls, for the programs that `cargo xtask peers` runs.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

/// Minimum duration of a measurement.
const TIME: Duration = Duration::from_millis(300);
/// Maximum duration of a measurement, even if it has fewer than `ROUNDS` rounds.
const LONGEST: Duration = Duration::from_secs(2);
/// Minimum number of rounds of a measurement.
const ROUNDS: usize = 8;

/// Prints the minimum wall-clock time of a call. Short calls are timed in groups.
pub fn measure<R>(peer: &str, call: &str, n: usize, mut run: impl FnMut() -> R) {
    let begin = Instant::now();
    black_box(run());
    let many = (50_000 / begin.elapsed().as_nanos().max(1)).clamp(1, 1000) as u32;
    let (mut least, mut rounds) = (Duration::MAX, 0);
    let begin = Instant::now();
    while begin.elapsed() < if rounds < ROUNDS { LONGEST } else { TIME } {
        let start = Instant::now();
        for _ in 0..many {
            black_box(run());
        }
        least = least.min(start.elapsed() / many);
        rounds += 1;
    }
    println!("{peer}\t{call}\t{n}\t{}", least.as_nanos());
}
