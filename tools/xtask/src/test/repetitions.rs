//! Repetitions of tests with other settings. Each kind of repetition either runs in full or is sampled.

/// Dtypes in which ops are always tested on the software device: one of each kind, and both precisions of real floats.
const ALWAYS: [&str; 5] = ["bool", "int64", "float32", "float64", "complex64"];

/// The other dtypes. Each day, two of these are tested.
const IN_TURN: [&str; 10] =
    ["int8", "float16", "int16", "complex128", "int32", "uint8", "bfloat16", "uint16", "uint32", "uint64"];

/// The kinds of repetitions that run in full. The other kinds are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repetitions {
    /// Tests of ops on each number of ranks, under each launcher.
    pub ranks: bool,
    /// Tests of kernels with the threads of the software device in other orders, and in reused memory.
    pub orders: bool,
    /// Tests of ops in every dtype on the software device.
    pub dtypes: bool,
    /// The number of days since the beginning of 1970.
    days: u64,
}

impl Repetitions {
    /// The repetitions that the task's arguments select, on the day that is `days` days after the beginning of 1970.
    pub fn asked_for(args: &[String], days: u64) -> Repetitions {
        let has = |option: &str| args.iter().any(|arg| arg == option);
        let is_whole = |kind| has("--exhaustive") || has("--in-turn") && days % 3 == kind;
        Repetitions { ranks: is_whole(0), orders: is_whole(1), dtypes: is_whole(2), days }
    }

    /// Returns whether an argument of the task is an option for repetitions.
    pub fn is_option(arg: &str) -> bool {
        matches!(arg, "--exhaustive" | "--in-turn")
    }

    /// The dtypes that are not tested on the software device.
    pub fn left_out(&self) -> Vec<&'static str> {
        let day = (self.days % (IN_TURN.len() as u64 / 2)) as usize;
        let is_tested = |place: usize| self.dtypes || place / 2 == day;
        IN_TURN.iter().enumerate().filter(|(place, _)| !is_tested(*place)).map(|(_, dtype)| *dtype).collect()
    }

    /// The dtypes that are tested on the software device.
    pub fn dtypes(&self) -> Vec<&'static str> {
        let left_out = self.left_out();
        ALWAYS.iter().chain(&IN_TURN).copied().filter(|dtype| !left_out.contains(dtype)).collect()
    }

    /// Descriptions of the repetitions that are only sampled.
    pub fn sampled(&self) -> Vec<&'static str> {
        let kinds = [
            (self.ranks, "numbers of ranks"),
            (self.orders, "orders of a kernel's threads"),
            (self.dtypes, "dtypes on the software device"),
        ];
        kinds.iter().filter(|(is_whole, _)| !is_whole).map(|(_, what)| *what).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(option: &str, days: u64) -> Repetitions {
        Repetitions::asked_for(&[option.into()], days)
    }

    #[test]
    fn three_days_in_turn_are_exhaustive() {
        for kind in [|r: &Repetitions| r.ranks, |r: &Repetitions| r.orders, |r: &Repetitions| r.dtypes] {
            let days = (20_000..20_003).filter(|day| kind(&of("--in-turn", *day)));
            assert_eq!(days.count(), 1);
            assert!(kind(&of("--exhaustive", 20_000)) && !kind(&of("--no-fail-fast", 20_000)));
        }
        assert!(of("--exhaustive", 20_000).sampled().is_empty());
    }

    #[test]
    fn each_dtype_has_its_day() {
        let tested: Vec<_> = (20_000..20_005).flat_map(|day| of("", day).dtypes()).collect();
        for dtype in ALWAYS.iter().chain(&IN_TURN) {
            let days = tested.iter().filter(|tested| *tested == dtype).count();
            assert_eq!(days, if ALWAYS.contains(dtype) { 5 } else { 1 }, "{dtype}");
        }
        assert!(of("--exhaustive", 20_000).left_out().is_empty());
    }
}
