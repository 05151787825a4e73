//! Measures the calls of `benches/peers.txt` in other Rust libraries, for `cargo xtask bench peers`.
//!
//! For each input line `PEER TAB ARRAYS TAB CALL` the program prints `NANOSECONDS TAB TOTAL`: the minimum time of a
//! call, and the sum of the result's elements, which `xtask` compares between libraries. It prints `-` if the library
//! does not have the call, and `! WHY` for an error. For the input line `versions`, it prints the versions of the
//! libraries.
//!
//! RAYON_NUM_THREADS and MATMUL_NUM_THREADS set the number of threads.

mod arrays;
mod call;
#[path = "../../noise.rs"]
mod noise;
mod of_burn;
mod of_candle;
mod of_faer;
mod of_ndarray;
mod of_rstsr;

use arrays::Arrays;
use call::Call;
use rstsr::prelude::DeviceFaer;
use std::{
    collections::BTreeMap,
    error,
    io::{BufRead, Write, stdin, stdout},
    time::{Duration, Instant},
};

/// Minimum duration of a measurement, which has at least two rounds.
const TIME: Duration = Duration::from_millis(15);

/// A library's prepared call, and the sum of the elements of its result.
struct Ready {
    text: String,
    call: Option<Call>,
    total: f64,
}

/// State of the program: the arrays of the last request, and each library's last call.
struct Program {
    /// The device of rstsr, which owns a thread pool.
    device: DeviceFaer,
    arrays: Arrays,
    items: String,
    ready: BTreeMap<String, Ready>,
}

impl Program {
    fn answer(&mut self, peer: &str, items: &str, text: &str) -> Result<String, Box<dyn error::Error>> {
        if self.items != items {
            // frees the arrays of the last request before making new ones
            self.ready.clear();
            self.arrays.made(items)?;
            items.clone_into(&mut self.items);
        }
        if self.ready.get(peer).is_none_or(|ready| ready.text != text) {
            self.ready.remove(peer);
            let mut call = match peer {
                "burn" => of_burn::call(text, &self.arrays),
                "candle" => of_candle::call(text, &self.arrays),
                "faer" => of_faer::call(text, &self.arrays),
                "ndarray" => of_ndarray::call(text, &self.arrays),
                "rstsr" => of_rstsr::call(text, &self.arrays, &self.device),
                _ => return Err(format!("there is no library `{peer}`").into()),
            };
            let mut total = 0.0;
            if let Some(call) = &mut call {
                call(Some(&mut total));
            }
            self.ready.insert(peer.into(), Ready { text: text.into(), call, total });
        }
        let ready = self.ready.get_mut(peer).ok_or("it was made above")?;
        Ok(match &mut ready.call {
            Some(call) => format!("{:.1}\t{:e}", least(call), ready.total),
            None => "-".into(),
        })
    }
}

/// Minimum time of a call in nanoseconds. Short calls are timed in groups.
fn least(call: &mut Call) -> f64 {
    let begin = Instant::now();
    call(None);
    let many = (50_000 / begin.elapsed().as_nanos().max(1)).clamp(1, 1000) as u32;
    let (mut least, mut rounds) = (Duration::MAX, 0);
    let begin = Instant::now();
    while rounds < 2 || begin.elapsed() < TIME {
        let start = Instant::now();
        for _ in 0..many {
            call(None);
        }
        least = least.min(start.elapsed());
        rounds += 1;
    }
    least.as_nanos() as f64 / f64::from(many)
}

/// Returns the names of the libraries with their versions in the manifest, as one text.
fn versions() -> String {
    let version = |line: &str| {
        let (name, rest) = line.split_once(" = ")?;
        let version = rest.split_once("\"=")?.1.split('"').next()?;
        Some(format!("{name} {version}"))
    };
    include_str!("../Cargo.toml").lines().filter_map(version).collect::<Vec<_>>().join(", ")
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let threads = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    faer::set_global_parallelism(if threads == 1 { faer::Par::Seq } else { faer::Par::rayon(threads) });
    let (arrays, items, ready) = (Arrays::named(), String::new(), BTreeMap::new());
    let mut program = Program { device: DeviceFaer::new(threads), arrays, items, ready };
    for line in stdin().lock().lines() {
        let line = line?;
        let answer = match line.split('\t').collect::<Vec<_>>()[..] {
            ["versions"] => versions(),
            [peer, items, text] => {
                program.answer(peer, items, text).unwrap_or_else(|why| format!("! {why}").replace('\n', " "))
            }
            _ => format!("! `{line}` is no call"),
        };
        println!("{answer}");
        stdout().flush()?;
    }
    Ok(())
}
