//! The mapping from values to positions along an axis, and the marked positions (ticks).

/// The interval of an axis. `from` may be larger than `to`: the axis then runs in the other direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub from: f64,
    pub to: f64,
    pub is_log: bool,
}

/// The largest magnitude of a limit, so that the difference of two limits is finite.
const LARGEST: f64 = 8e307;

/// The shortest interval of an axis, so that the distance of two ticks is a normal number.
const SHORTEST: f64 = 1e-290;

impl Scale {
    /// An axis between two limits. Intervals that are too short to be divided are extended.
    pub fn new(from: f64, to: f64, is_log: bool) -> Scale {
        let [from, to] = [from, to].map(|limit| limit.clamp(-LARGEST, LARGEST));
        if is_log {
            let [from, to] = [from, to].map(|limit| limit.max(f64::MIN_POSITIVE));
            let same = (from / to - 1.0).abs() < 1e-9;
            return if same { Scale { from: from / 2.0, to: to * 2.0, is_log } } else { Scale { from, to, is_log } };
        }
        let magnitude = from.abs().max(to.abs());
        if (to - from).abs() > SHORTEST.max(magnitude * 1e-14) {
            return Scale { from, to, is_log };
        }
        let half = if magnitude < SHORTEST { 1.0 } else { magnitude / 2.0 };
        let middle = from / 2.0 + to / 2.0;
        Scale { from: middle - half, to: middle + half, is_log }
    }

    /// The position of a value, from 0 at the first limit to 1 at the second. `None` if the value is not finite, or if
    /// it has no logarithm.
    pub fn fraction(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.is_log && value <= 0.0) {
            return None;
        }
        let [from, to, value] = [self.from, self.to, value].map(|v| if self.is_log { v.log10() } else { v / 2.0 });
        // limits far positions, so that their pixels can be computed
        Some(((value - from) / (to - from)).clamp(-1e6, 1e6))
    }

    /// The value at a position.
    pub fn value(&self, fraction: f64) -> f64 {
        if self.is_log {
            let [from, to] = [self.from.log10(), self.to.log10()];
            return 10_f64.powf(from + (to - from) * fraction);
        }
        self.from + (self.to - self.from) * fraction
    }

    /// The ticks of the axis: about `most` of them, up to a quarter more.
    pub fn ticks(&self, most: usize) -> Ticks {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        let decades = high.log10() - low.log10();
        if self.is_log && decades >= 1.0 { self.decades(low, high, most) } else { self.steps(low, high, most) }
    }

    fn steps(&self, low: f64, high: f64, most: usize) -> Ticks {
        let raw = (high - low) / most.max(1) as f64;
        let power = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * 0.8).unwrap_or(raw);
        let numbers = Numbers::new(low.abs().max(high.abs()), step);
        let first = (low / step - 1e-6).ceil();
        let last = (high / step + 1e-6).floor();
        let count = (last - first).clamp(0.0, 100.0) as usize + 1;
        let values = (0..count).map(|k| (first + k as f64) * step).filter(|_| last >= first);
        let major = values.filter_map(|v| Some((self.fraction(v)?, numbers.show(v)))).collect();
        Ticks { major, minor: Vec::new() }
    }

    fn decades(&self, low: f64, high: f64, most: usize) -> Ticks {
        let first = (low.log10() - 1e-9).ceil() as i32;
        let last = (high.log10() + 1e-9).floor() as i32;
        let needed = ((last - first + 1).max(1) as usize).div_ceil(most.max(1)) as i32;
        let stride = [1, 2, 3, 5, 10, 20, 50, 100, 200].into_iter().find(|s| *s >= needed).unwrap_or(needed);
        let power = |k: i32| 10_f64.powi(k);
        let major: Vec<_> = (first..=last)
            .filter(|k| k.rem_euclid(stride) == 0)
            .filter_map(|k| Some((self.fraction(power(k))?, format!("10{}", superscript(k)))))
            .collect();
        let between = |k: i32| (2..10).map(move |m| f64::from(m) * power(k));
        let minor = (first - 1..=last).filter(|_| stride == 1).flat_map(between);
        let minor = minor.filter(|v| (low..=high).contains(v)).filter_map(|v| self.fraction(v)).collect();
        Ticks { major, minor }
    }
}

/// The marked positions of an axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ticks {
    /// Positions from 0 to 1, with their texts.
    pub major: Vec<(f64, String)>,
    /// Positions without texts.
    pub minor: Vec<f64>,
}

/// The number format of an axis. All numbers of an axis have the same number of digits after the point.
struct Numbers {
    digits: usize,
    power: i32,
}

impl Numbers {
    fn new(largest: f64, step: f64) -> Numbers {
        let exponent = |v: f64| (v.log10() + 1e-9).floor() as i32;
        let power = if (1e-3..1e6).contains(&largest) { 0 } else { exponent(largest) };
        let digits = (power - exponent(step)).clamp(0, 17) as usize;
        Numbers { digits, power }
    }

    fn show(&self, value: f64) -> String {
        let digits = self.digits;
        let mantissa = value / 10_f64.powi(self.power);
        // a power below the smallest number is 0
        let mantissa = if mantissa.is_finite() { mantissa } else { 0.0 };
        let text = format!("{mantissa:.digits$}");
        let is_zero = text.chars().all(|c| "-0.".contains(c));
        let text = if is_zero { text.trim_start_matches('-').to_owned() } else { text.replace('-', "\u{2212}") };
        match self.power {
            0 => text,
            _ if is_zero => "0".into(),
            power => format!("{text}\u{d7}10{}", superscript(power)),
        }
    }
}

/// A number in raised digits.
fn superscript(number: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    number.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(from: f64, to: f64, is_log: bool) -> Vec<String> {
        Scale::new(from, to, is_log).ticks(6).major.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(texts(0.0, 1.0, false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-0.5, 63.5, false), ["0", "10", "20", "30", "40", "50", "60"]);
        assert_eq!(texts(9.5, -0.5, false), ["0", "2", "4", "6", "8"]);
        assert_eq!(texts(-1.0, 1.0, false), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(texts(0.0, 3e7, false), ["0", "0.5×10⁷", "1.0×10⁷", "1.5×10⁷", "2.0×10⁷", "2.5×10⁷", "3.0×10⁷"]);
        assert_eq!(texts(0.0, 2e-12, false).last().unwrap(), "2.0×10⁻¹²");
    }

    #[test]
    fn logarithmic_ticks_are_powers() {
        assert_eq!(texts(0.01, 100.0, true), ["10⁻²", "10⁻¹", "10⁰", "10¹", "10²"]);
        assert_eq!(texts(1e-300, 1e300, true), ["10⁻²⁰⁰", "10⁰", "10²⁰⁰"]);
        assert_eq!(texts(2.0, 7.0, true), ["2", "3", "4", "5", "6", "7"]);
        assert_eq!(Scale::new(1.0, 10.0, true).ticks(6).minor.len(), 8);
    }

    #[test]
    fn extreme_intervals_have_few_ticks_and_finite_positions() {
        let ends = [0.0, 5e-324, 1e-300, 1e-9, 1.0, 1e9, 1e300, f64::MAX];
        let all: Vec<f64> = ends.iter().flat_map(|v| [*v, -*v, v * (1.0 + f64::EPSILON)]).collect();
        for (from, to) in all.iter().flat_map(|from| all.iter().map(move |to| (*from, *to))) {
            for is_log in [false, true] {
                let scale = Scale::new(from, to, is_log);
                let ticks = scale.ticks(6);
                assert!(ticks.major.len() <= 9 && ticks.minor.len() < 100, "{scale:?}: {ticks:?}");
                assert!(ticks.major.iter().all(|(at, _)| (-1e-3..=1.001).contains(at)), "{scale:?}: {ticks:?}");
                assert!(scale.fraction(from).is_none_or(f64::is_finite), "{scale:?}");
                assert!(scale.value(0.5).is_finite(), "{scale:?}");
            }
        }
    }
}
