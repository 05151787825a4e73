//! Formats arrays as text, like NumPy.

use crate::{
    ArrayAttributes, Backend, Complex, DType, DTypeKind, Element, HostArray, IntoArray, Real, Result, bf16, f16,
};

const OP: &str = "show";

/// Arrays with more than this number of elements are abbreviated.
const MAX_ELEMENTS: usize = 1000;

/// Number of elements shown at each end of an abbreviated axis.
const EDGE: usize = 3;

/// Maximum width of a line that can be broken.
const WIDTH: usize = 75;

/// Maximum number of digits after the point.
const DIGITS: usize = 8;

/// Arrays as text, on every backend.
pub trait Show: Backend {
    /// The array as NumPy prints it: numbers in columns, with up to 8 digits after the point. If the array has more
    /// than 1000 elements, only the first three and the last three along each axis are shown.
    ///
    /// Only the elements that are shown are copied from the device.
    ///
    /// ```
    /// use backends::{Result, prelude::*};
    /// # fn main() -> Result<()> {
    /// let b = Numpyish::new();
    /// let x = b.asarray([[1.0, -0.5], [0.25, 10.0]])?;
    /// assert_eq!(b.show(&x)?, "[[ 1.   -0.5 ]\n [ 0.25 10.  ]]");
    /// assert_eq!(b.show(b.arange(0, 5000, 1)?)?, "[   0    1    2 ... 4997 4998 4999]");
    /// # Ok(())
    /// # }
    /// ```
    fn show<'a, T: Element>(&self, x: impl IntoArray<'a, Self::Array<T>>) -> Result<String> {
        let x = x.into_array();
        let elided: Vec<bool> = x.shape().iter().map(|&len| x.len() > MAX_ELEMENTS && len > 2 * EDGE).collect();
        let edges = edges(self, &x, &elided).map_err(|why| why.within(OP))?;
        Ok(text(&edges, &elided))
    }
}

impl<B: Backend> Show for B {}

/// The elements to be shown: each abbreviated axis is cut to its two ends, beginning with the longest axis.
fn edges<B: Backend, T: Element>(b: &B, x: &B::Array<T>, elided: &[bool]) -> Result<HostArray<T>> {
    let mut axes: Vec<usize> = (0..elided.len()).filter(|&axis| elided[axis]).collect();
    axes.sort_by_key(|&axis| std::cmp::Reverse(x.shape()[axis]));
    let mut part = x.clone();
    for axis in axes {
        let len = x.shape()[axis];
        let ends = b.from_iter((0..EDGE).chain(len - EDGE..len).map(|i| i as i64))?;
        part = b.take(part, ends, axis)?;
    }
    b.to_ndarray(&part)
}

/// Formats an array. Along the axes that `elided` marks as abbreviated, `x` has only the elements at the ends.
fn text<T: Element>(x: &HostArray<T>, elided: &[bool]) -> String {
    if x.is_empty() {
        return "[]".into();
    }
    if x.ndim() == 0 {
        let number = words(x).concat();
        let number = number.trim_start();
        return if number.ends_with('.') { format!("{number}0") } else { number.to_owned() };
    }
    let words = words(x);
    let mut lines = Lines { words: words.iter(), elided, shape: x.shape() };
    lines.axis(0)
}

/// Joins the texts of the elements (`words`), and adds brackets and line breaks.
struct Lines<'a> {
    words: std::slice::Iter<'a, String>,
    elided: &'a [bool],
    shape: &'a [usize],
}

impl Lines<'_> {
    /// The text of the next subarray, which has the axes from `axis` on.
    fn axis(&mut self, axis: usize) -> String {
        let innermost = axis + 1 == self.shape.len();
        let indent = " ".repeat(axis + 1);
        // leaves space for the closing brackets
        let width = WIDTH - (axis + 1).min(WIDTH / 2);
        let mut text = String::from("[");
        let mut column = axis + 1;
        for i in 0..self.shape[axis] {
            let part = if innermost { self.words.next().cloned().unwrap_or_default() } else { self.axis(axis + 1) };
            let dots = (self.elided[axis] && i == EDGE).then(|| "...".to_owned());
            for (part, first) in dots.into_iter().map(|dots| (dots, false)).chain([(part, i == 0)]) {
                let breaks = if innermost { column + 1 + part.len() > width } else { true };
                match (first, breaks) {
                    (true, _) => {}
                    (false, false) => {
                        text.push(' ');
                        column += 1;
                    }
                    (false, true) => {
                        // writes blank lines between the matrices of a stack
                        text.push_str(&"\n".repeat(if innermost { 1 } else { self.shape.len() - axis - 1 }));
                        text.push_str(&indent);
                        column = indent.len();
                    }
                }
                text.push_str(&part);
                column += part.len();
            }
        }
        text.push(']');
        text
    }
}

/// Formats all elements, in C order, as texts of equal width.
fn words<T: Element>(x: &HostArray<T>) -> Vec<String> {
    let parts = || x.iter().map(|v| v.cast::<Complex<f64>>());
    match T::DTYPE.kind() {
        DTypeKind::Bool => x.iter().map(|v| if v.is_nonzero() { " True" } else { "False" }.to_owned()).collect(),
        DTypeKind::Signed | DTypeKind::Unsigned => aligned(x.iter().map(ToString::to_string).collect()),
        DTypeKind::Real => Floats::of(T::DTYPE, parts().map(|v| v.re), "").words(),
        DTypeKind::Complex => {
            let dtype = if T::DTYPE == DType::Complex64 { DType::Float32 } else { DType::Float64 };
            let (real, imag) =
                (Floats::of(dtype, parts().map(|v| v.re), ""), Floats::of(dtype, parts().map(|v| v.im), "+"));
            let both = real.words().into_iter().zip(imag.words());
            let with_unit = |imag: &str| {
                let number = imag.trim_end();
                format!("{number}j{}", " ".repeat(imag.len() - number.len()))
            };
            both.map(|(real, imag)| real + &with_unit(&imag)).collect()
        }
    }
}

/// Pads texts with leading spaces to equal width.
fn aligned(words: Vec<String>) -> Vec<String> {
    let width = words.iter().map(String::len).max().unwrap_or(0);
    words.into_iter().map(|word| format!("{word:>width$}")).collect()
}

/// Numbers to be formatted as texts of equal width.
struct Floats {
    numbers: Vec<f64>,
    /// The sign that is written before numbers that are not negative.
    plus: &'static str,
    /// Number of digits after the point of each number. In scientific notation, these are digits of the mantissa.
    digits: Vec<usize>,
    scientific: bool,
}

impl Floats {
    fn of(dtype: DType, numbers: impl Iterator<Item = f64>, plus: &'static str) -> Floats {
        let numbers: Vec<f64> = numbers.collect();
        let sizes = || numbers.iter().map(|v| v.abs()).filter(|v| v.is_finite() && *v != 0.0);
        let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
        let scientific = most > 0.0 && (most >= 1e8 || least < 1e-4 || most / least > 1000.0);
        let digits = numbers.iter().map(|&v| digits(dtype, v, scientific)).collect();
        Floats { numbers, plus, digits, scientific }
    }

    fn words(&self) -> Vec<String> {
        // splits each number into two parts: the text before the point, and the fraction with the exponent
        let halves = |(&v, &digits): (&f64, &usize)| {
            let sign = if v.is_sign_negative() && !v.is_nan() { "-" } else { self.plus };
            let size = v.abs();
            if !v.is_finite() {
                return (format!("{sign}{}", if v.is_nan() { "nan" } else { "inf" }), None);
            }
            let number = if self.scientific { format!("{size:.digits$e}") } else { format!("{size:.digits$}") };
            let (number, exponent) = number.split_once('e').unwrap_or((&number, ""));
            let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
            (format!("{sign}{whole}"), Some((fraction.trim_end_matches('0').to_owned(), exponent.to_owned())))
        };
        let halves: Vec<_> = self.numbers.iter().zip(&self.digits).map(halves).collect();
        let finite = || halves.iter().filter_map(|(whole, rest)| rest.as_ref().map(|rest| (whole, rest)));
        let fraction = finite().map(|(_, (fraction, _))| fraction.len()).max().unwrap_or(0);
        let exponent = finite().map(|(_, (_, e))| e.trim_start_matches('-').len()).max().unwrap_or(0).max(2);
        let tail = fraction + 1 + if self.scientific { exponent + 2 } else { 0 };
        let whole = finite().map(|(whole, _)| whole.len()).max().unwrap_or(0);
        let others = halves.iter().filter(|(_, rest)| rest.is_none()).map(|(word, _)| word.len()).max().unwrap_or(0);
        let width = (whole + tail).max(others);
        let word = |(whole, rest): &(String, Option<(String, String)>)| {
            let Some((digits, power)) = rest else { return format!("{whole:>width$}") };
            let head = width - tail;
            if !self.scientific {
                return format!("{whole:>head$}.{digits:<fraction$}");
            }
            let (sign, power) = power.strip_prefix('-').map_or(('+', power.as_str()), |power| ('-', power));
            format!("{whole:>head$}.{digits:0<fraction$}e{sign}{power:0>exponent$}")
        };
        halves.iter().map(word).collect()
    }
}

/// Number of digits after the point in the shortest text that identifies this number in `dtype`; at most [`DIGITS`].
fn digits(dtype: DType, v: f64, scientific: bool) -> usize {
    let shortest = match dtype {
        DType::Float32 => format!("{:e}", v as f32),
        DType::Float16 => of_16_bits(v, |v| f16::of(v).to_f64()),
        DType::BFloat16 => of_16_bits(v, |v| bf16::of(v).to_f64()),
        _ => format!("{v:e}"),
    };
    let Some((number, power)) = shortest.split_once('e') else { return 0 };
    let after = number.split_once('.').map_or(0, |(_, after)| after.len());
    let power: i64 = if scientific { 0 } else { power.parse().unwrap_or(0) };
    usize::try_from(after as i64 - power).unwrap_or(0).min(DIGITS)
}

/// The shortest decimal text that rounds to this 16-bit number.
fn of_16_bits(v: f64, rounded: fn(f64) -> f64) -> String {
    let texts = (0..DIGITS).map(|digits| format!("{v:.digits$e}"));
    texts
        .into_iter()
        .find(|text| text.parse().is_ok_and(|number| rounded(number) == v))
        .unwrap_or_else(|| format!("{v:e}"))
}
