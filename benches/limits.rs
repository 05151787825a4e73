//! Measures the limits of the machine: memory bandwidth for several working sets, and multiply-adds per second.

use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

/// Total sizes of the arrays of each thread, in bytes. The smallest size fits into a fast cache, the largest one only
/// into memory.
const SIZES: [usize; 4] = [96 << 10, 768 << 10, 8 << 20, 192 << 20];

/// Minimum number of rounds.
const ROUNDS: usize = 12;

/// Number of independent sums in a loop that reads memory; they fill several registers.
const LANES: usize = 64;

/// Number of registers with independent sums in a loop of multiply-adds. A core starts two multiply-adds per cycle, and
/// each has a latency of four or five cycles. Together with the two factors, the sums fit into the 16 registers of
/// AVX2.
const REGISTERS: usize = 12;

/// Returns `name value` pairs separated by TABs: `fma64` and `fma32` in GFLOP/s, and `at BYTES` in GB/s for each size.
/// All rates are totals of all threads.
pub fn line(threads: usize) -> String {
    let mut found =
        vec![format!("fma64 {:.1}", flops(threads, of_f64)), format!("fma32 {:.1}", flops(threads, of_f32))];
    found.extend(SIZES.map(|bytes| format!("at {} {:.1}", bytes * threads, bandwidth(threads, bytes))));
    found.join("\t")
}

/// Runs `work` on all threads at once, after each thread has called `prepare`. The time of a thread is the minimum of
/// its rounds. Returns the time of the slowest thread in seconds.
fn least<P>(threads: usize, prepare: impl Fn() -> P + Sync, work: impl Fn(&mut P) + Sync) -> f64 {
    let one = || {
        let mut with = prepare();
        let (mut least, begin) = (Duration::MAX, Instant::now());
        for round in 0.. {
            let start = Instant::now();
            work(&mut with);
            least = least.min(start.elapsed());
            if round > ROUNDS && begin.elapsed() > Duration::from_millis(150) {
                break;
            }
        }
        least.as_secs_f64()
    };
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        // a thread that panicked has no measurement
        all.into_iter().filter_map(|thread| thread.join().ok()).fold(0.0, f64::max)
    })
}

/// Returns the bandwidth in GB/s: the rate of the faster of two loops. A triad reads two arrays and writes one; a sum
/// reads one array.
fn bandwidth(threads: usize, bytes: usize) -> f64 {
    let n = bytes / 24;
    let again = (1 << 20) / bytes + 1;
    let arrays = || [vec![1.0_f64; n], vec![2.0; n], vec![0.0; n]];
    let triad = least(threads, arrays, |[a, b, c]| {
        for _ in 0..again {
            for ((c, a), b) in c.iter_mut().zip(&*a).zip(&*b) {
                *c = a + 3.0 * b;
            }
            black_box(&mut *c);
        }
    });
    let read = least(
        threads,
        || vec![1.0_f64; 3 * n],
        |a| {
            for _ in 0..again {
                let mut sums = [0.0; LANES];
                for block in black_box(&*a).chunks_exact(LANES) {
                    sums.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
                }
                black_box(sums);
            }
        },
    );
    (24 * n * again * threads) as f64 / triad.min(read) / 1e9
}

/// Number of iterations of the loop of multiply-adds.
const STEPS: usize = 100_000;

/// GFLOP/s of `work`, which returns its number of multiply-adds per iteration.
fn flops(threads: usize, work: fn() -> usize) -> f64 {
    let time = least(
        threads,
        || (),
        |()| {
            black_box(work());
        },
    );
    (2 * STEPS * work() * threads) as f64 / time / 1e9
}

macro_rules! multiply_add {
    ($name:ident, $t:ty) => {
        fn $name() -> usize {
            /// Computes multiply-adds in registers of `LANES` elements each.
            #[inline(always)]
            fn text<const LANES: usize>(fused: impl Fn($t, $t, $t) -> $t) -> usize {
                let (mut sums, a, b) = ([[0.5; LANES]; REGISTERS], black_box(0.999), black_box(0.001));
                for _ in 0..STEPS {
                    sums.as_flattened_mut().iter_mut().for_each(|sum| *sum = fused(*sum, a, b));
                }
                black_box(sums.as_flattened().iter().sum::<$t>());
                REGISTERS * LANES
            }
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2() -> usize {
                    text::<{ 32 / size_of::<$t>() }>(<$t>::mul_add)
                }
                #[target_feature(enable = "avx2,fma,avx512f")]
                fn avx512() -> usize {
                    text::<{ 64 / size_of::<$t>() }>(<$t>::mul_add)
                }
                if is_x86_feature_detected!("avx512f") {
                    // SAFETY: the check above ensures that the processor has these instructions.
                    return unsafe { avx512() };
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the check above ensures that the processor has these instructions.
                    return unsafe { avx2() };
                }
            }
            text::<{ 16 / size_of::<$t>() }>(|sum, a, b| sum * a + b)
        }
    };
}

multiply_add!(of_f64, f64);
multiply_add!(of_f32, f32);
