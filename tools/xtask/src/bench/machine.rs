//! Describes the machine of a run: the processor, its instruction sets and caches, and its peak rates.

use crate::run::Outcome;
use serde_json::{Value, json};
use std::{fs, time::SystemTime};

/// Instruction sets that matter for numeric loops.
const SETS: [&str; 9] = ["sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512_bf16", "avx512_fp16"];

/// Value of [`Machine::simd`] if the environment does not limit the instruction set.
pub const ALL: &str = "all";

/// The machine as the system describes it. A field is empty if the system does not report it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    pub name: String,
    pub sets: Vec<String>,
    pub caches: Vec<String>,
    pub processors: usize,
    /// The instruction set to which the environment limits this library, or [`ALL`].
    pub simd: String,
}

impl Machine {
    pub fn here() -> Machine {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cache = |index: usize| {
            let of = |what: &str| fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}"));
            let (level, kind, size) = (of("level").ok()?, of("type").ok()?, of("size").ok()?);
            let kind = match kind.trim() {
                "Unified" => "",
                "Instruction" => return None,
                _ => "d",
            };
            Some(format!("L{}{kind} {}", level.trim(), size.trim()))
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let simd = std::env::var("BACKENDS_SIMD").ok().filter(|word| !word.is_empty());
        let caches = (0..8).filter_map(cache).collect();
        Machine { caches, processors, simd: simd.unwrap_or_else(|| ALL.into()), ..Machine::read(&text) }
    }

    /// Parses the text of Linux's `/proc/cpuinfo`.
    fn read(text: &str) -> Machine {
        let value = |key: &str| {
            let line = text.lines().find(|line| line.starts_with(key))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let flags = value("flags").unwrap_or_default();
        let has = |set: &&str| flags.split(' ').any(|flag| flag == *set);
        let sets = SETS.into_iter().filter(has).map(String::from).collect();
        let name = value("model name").unwrap_or_else(|| std::env::consts::ARCH.into());
        Machine { name, sets, ..Machine::default() }
    }

    pub fn json(&self) -> Value {
        let Machine { name, sets, caches, processors, simd } = self;
        json!({ "name": name, "sets": sets, "caches": caches, "processors": processors, "simd": simd })
    }

    /// A description of the machine for the tables, as Markdown.
    pub fn text(&self) -> String {
        let simd = if self.simd == ALL { String::new() } else { format!("; `BACKENDS_SIMD={}`", self.simd) };
        let (sets, caches) = (self.sets.join(" "), self.caches.join(", "));
        format!("{}, {} processors, {caches}; {sets}{simd}", self.name, self.processors)
    }

    /// The processor's name, for use in a file name.
    pub fn slug(&self) -> String {
        let words = self.name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-")
    }
}

/// Peak rates of the machine with a given number of threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// GFLOP/s of fused multiply-adds, in float64 and float32.
    pub fma: [f64; 2],
    /// Pairs of a size in bytes and a bandwidth in GB/s, which holds for working sets up to this size. The sizes
    /// ascend.
    pub bandwidth: Vec<(f64, f64)>,
}

impl Limits {
    /// Parses the answer of the program `peers` to the input line `limits`.
    pub fn parse(line: &str) -> Outcome<Limits> {
        let mut limits = Limits::default();
        for item in line.split('\t') {
            let words: Vec<&str> = item.split(' ').collect();
            let numbers: Vec<f64> = words[1..].iter().filter_map(|word| word.parse().ok()).collect();
            match (words[0], &numbers[..]) {
                ("fma64", &[rate]) => limits.fma[0] = rate,
                ("fma32", &[rate]) => limits.fma[1] = rate,
                ("at", &[bytes, rate]) => limits.bandwidth.push((bytes, rate)),
                _ => return Err(format!("`{item}` is no limit")),
            }
        }
        Ok(limits)
    }

    /// The minimum time in nanoseconds in which the machine can move `bytes` bytes (at the bandwidth for a working set
    /// of this size) and compute `flops` floating-point operations. `None` if `flops` is not given and there are so few
    /// bytes that call overhead dominates.
    pub fn least(&self, bytes: f64, flops: Option<f64>, dtype: &str) -> Option<f64> {
        let single = ["float32", "complex64"].contains(&dtype);
        let computing = flops.map(|flops| flops / self.fma[usize::from(single)]);
        let (_, rate) = self.bandwidth.iter().find(|(size, _)| bytes <= *size).or(self.bandwidth.last())?;
        let moving = (bytes >= 1e5).then_some(bytes / rate);
        let least = moving.unwrap_or(0.0).max(computing.unwrap_or(0.0));
        (least > 0.0).then_some(least)
    }

    pub fn json(&self) -> Value {
        let pairs: Vec<Value> = self.bandwidth.iter().map(|(bytes, rate)| json!([bytes, rate])).collect();
        json!({ "fma64": self.fma[0], "fma32": self.fma[1], "bandwidth": pairs })
    }

    pub fn text(&self) -> String {
        let rates = self.bandwidth.iter().map(|(bytes, rate)| format!("{rate:.0} up to {:.1} MB", bytes / 1e6));
        let rates: Vec<String> = rates.collect();
        format!("{:.0} GFLOP/s in float64, {:.0} in float32; GB/s: {}", self.fma[0], self.fma[1], rates.join(", "))
    }
}

/// The current time in UTC, as `2026-11-24T2345`.
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds)
}

fn date(seconds: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut days, mut year, mut month) = (seconds / 86_400, 1970, 0);
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let minutes = seconds / 60 % 1440;
    format!("{year}-{:02}-{:02}T{:02}{:02}", month + 1, days + 1, minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01T0000");
        assert_eq!(date(951_827_640), "2000-02-29T1234");
        assert_eq!(date(1_798_761_599), "2026-12-31T2359");
    }

    #[test]
    fn the_processor_says_its_name_and_sets() {
        let machine =
            Machine::read("processor : 0\nmodel name\t: Some (R) CPU 7\nflags\t\t: fpu avx2 fma avx512vl avx\n");
        assert_eq!((machine.slug().as_str(), machine.sets.join(" ").as_str()), ("Some-R-CPU-7", "avx avx2 fma"));
        assert!(!Machine::read("").name.is_empty());
    }

    #[test]
    fn the_limit_is_of_bytes_or_of_operations() {
        let limits = Limits::parse("fma64 50\tfma32 100\tat 1000000 40\tat 100000000 20").expect("limits");
        assert_eq!(limits.least(8e5, None, "float64"), Some(2e4));
        assert_eq!(limits.least(8e6, None, "float64"), Some(4e5));
        assert_eq!(limits.least(8e2, None, "float64"), None);
        assert_eq!(limits.least(8e2, Some(1e6), "float32"), Some(1e4));
        assert_eq!(limits.least(8e6, Some(1e6), "float64"), Some(4e5));
        assert!(Limits::parse("fma64").is_err());
    }
}
