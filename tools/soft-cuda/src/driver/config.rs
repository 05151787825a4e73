//! Settings from environment variables.

use crate::exec::Order;
use std::{
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

/// The destination of the counts of launches, allocations and copies, which are written at exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// To stderr.
    Stderr,
    /// To a file, which is overwritten.
    File(PathBuf),
}

/// The settings of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The number of devices.
    pub devices: usize,
    /// Memory of each device in bytes.
    pub memory: u64,
    /// The order in which blocks and threads run.
    pub order: Order,
    /// The number of the allocation that fails. The first allocation has number 1.
    pub fail_allocation: Option<u64>,
    /// The destination of the counts of operations; `None` if the counts are not written.
    pub counts: Option<Output>,
    /// Whether allocations that were never freed are listed at exit.
    pub leaks: bool,
    /// The planted mistakes. Each has a text; a kernel or library call makes the mistake if its name contains this
    /// text.
    pub plants: Vec<(Plant, String)>,
}

/// A planted mistake, which tests should detect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// The kernel or call writes nothing, so the previous contents remain.
    Wrong,
    /// The kernel or call accesses unallocated memory.
    Bounds,
    /// The kernel or call never ends.
    Hang,
}

impl Plant {
    /// Parses a list such as `bounds:scan_rows wrong:triangle`.
    fn list(text: &str) -> Option<Vec<(Plant, String)>> {
        let one = |word: &str| {
            let (kind, name) = word.split_once(':')?;
            let kind = match kind {
                "wrong" => Plant::Wrong,
                "bounds" => Plant::Bounds,
                "hang" => Plant::Hang,
                _ => return None,
            };
            (!name.is_empty()).then(|| (kind, name.into()))
        };
        text.split_whitespace().map(one).collect()
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            devices: 1,
            memory: 4 << 30,
            order: Order::Forward,
            fail_allocation: None,
            counts: None,
            leaks: false,
            plants: Vec::new(),
        }
    }
}

impl Config {
    /// The maximum number of devices. It is limited because each address contains the index of its device in a few
    /// bits.
    const MAX_DEVICES: usize = 64;

    /// Reads the settings. `get` returns the value of an environment variable. The error describes the first invalid
    /// variable.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Config, String> {
        fn number(name: &str, text: &str) -> Result<u64, String> {
            text.parse().map_err(|_| format!("{name} is {text:?}, which is not a number"))
        }
        let number_of = |name: &str| get(name).map(|text| number(name, &text)).transpose();
        let mut config = Config::default();
        if let Some(devices) = number_of("SOFT_CUDA_DEVICES")? {
            config.devices = usize::try_from(devices).unwrap_or(usize::MAX);
        }
        if config.devices > Config::MAX_DEVICES {
            return Err(format!("SOFT_CUDA_DEVICES is more than {}", Config::MAX_DEVICES));
        }
        config.memory = number_of("SOFT_CUDA_MEMORY")?.unwrap_or(config.memory);
        config.fail_allocation = number_of("SOFT_CUDA_FAIL_ALLOCATION")?.filter(|&n| n > 0);
        if let Some(text) = get("SOFT_CUDA_ORDER") {
            config.order = match text.split_once(':').unwrap_or((&text, "")) {
                ("forward", "") => Order::Forward,
                ("reverse", "") => Order::Reverse,
                ("random", "") => Order::Random(entropy()),
                ("random", seed) => Order::Random(number("SOFT_CUDA_ORDER", seed)?),
                _ => return Err(format!("SOFT_CUDA_ORDER is {text:?}: not forward, reverse, random or random:seed")),
            };
        }
        config.counts = get("SOFT_CUDA_COUNTS").filter(|text| !text.is_empty()).map(|text| match text.as_str() {
            "stderr" => Output::Stderr,
            path => Output::File(path.into()),
        });
        if let Some(text) = get("SOFT_CUDA_PLANT") {
            let wrong =
                || format!("SOFT_CUDA_PLANT is {text:?}: not a list such as bounds:scan_rows wrong:triangle hang:sort");
            config.plants = Plant::list(&text).ok_or_else(wrong)?;
        }
        config.leaks = get("SOFT_CUDA_LEAKS").is_some_and(|text| text == "1");
        Ok(config)
    }
}

/// A seed that differs in each run: the current time in nanoseconds.
fn entropy() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<Config, String> {
        Config::read(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()))
    }

    #[test]
    fn nothing_set_is_the_default() {
        assert_eq!(read(&[]), Ok(Config::default()));
    }

    #[test]
    fn variables_are_read() {
        let config = read(&[
            ("SOFT_CUDA_DEVICES", "2"),
            ("SOFT_CUDA_MEMORY", "1000"),
            ("SOFT_CUDA_ORDER", "random:7"),
            ("SOFT_CUDA_FAIL_ALLOCATION", "3"),
            ("SOFT_CUDA_COUNTS", "stderr"),
            ("SOFT_CUDA_LEAKS", "1"),
            ("SOFT_CUDA_PLANT", "bounds:scan wrong:tri hang:x"),
        ]);
        let expected = Config {
            devices: 2,
            memory: 1000,
            order: Order::Random(7),
            fail_allocation: Some(3),
            counts: Some(Output::Stderr),
            leaks: true,
            plants: vec![(Plant::Bounds, "scan".into()), (Plant::Wrong, "tri".into()), (Plant::Hang, "x".into())],
        };
        assert_eq!(config, Ok(expected));
        assert_eq!(read(&[("SOFT_CUDA_ORDER", "reverse")]).unwrap().order, Order::Reverse);
        assert!(matches!(read(&[("SOFT_CUDA_ORDER", "random")]).unwrap().order, Order::Random(_)));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (name, value) in [
            ("SOFT_CUDA_DEVICES", "two"),
            ("SOFT_CUDA_DEVICES", "65"),
            ("SOFT_CUDA_ORDER", "sorted"),
            ("SOFT_CUDA_PLANT", "late:x"),
        ] {
            assert!(read(&[(name, value)]).unwrap_err().contains(name));
        }
    }
}
