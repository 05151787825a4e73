//! Compares the scalar functions of `f32`, `f64` and complex numbers with correctly rounded values, the standard
//! library and C99. Each function is computed for single numbers and in a loop for AVX2 and FMA, and both must give the
//! same bits.

use super::{complex, float32, float64};
use crate::Complex;
use std::fmt::Debug;

/// Functions and constants of a precision that the tests need.
trait Float: Copy + PartialEq + Debug + 'static {
    const REAL: &'static str;
    const COMPLEX: &'static str;
    const LARGEST: f64;
    const EPSILON: f64;
    const SMALLEST: f64;
    fn parse(text: &str) -> Self;
    /// Maps a float to an integer, so that differences of integers count the floats between two numbers. NaN has a
    /// separate integer.
    fn rank(self) -> i64;
    fn wide(self) -> f64;
    fn unary(word: &str) -> Option<Forms<Self, Self>>;
    fn binary(word: &str) -> Option<Forms<(Self, Self), Self>>;
    fn complex_unary(word: &str) -> Option<Forms<Complex<Self>, Complex<Self>>>;
    fn complex_binary(word: &str) -> Option<Forms<Pair<Self>, Complex<Self>>>;
}

/// Two complex numbers, which are the arguments of a function.
type Pair<T> = (Complex<T>, Complex<T>);

/// A scalar function in two forms: for one number, and as a loop.
struct Forms<X, Y> {
    alone: fn(X) -> Y,
    looped: fn(&[X], &mut [Y]),
}

/// Makes the two forms of the expression `$f`: for one number, and in a loop that is compiled for AVX2 and FMA if the
/// machine has them.
macro_rules! forms {
    ($x:ident: $t:ty => $out:ty, $f:expr) => {{
        fn alone($x: $t) -> $out {
            $f
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn vector(x: &[$t], out: &mut [$out]) {
            for (out, &$x) in out.iter_mut().zip(x) {
                *out = $f;
            }
        }
        fn looped(x: &[$t], out: &mut [$out]) {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                // SAFETY: the check above ensures that the machine has the features.
                return unsafe { vector(x, out) };
            }
            for (out, &$x) in out.iter_mut().zip(x) {
                *out = $f;
            }
        }
        Some(Forms { alone, looped })
    }};
}

macro_rules! precision {
    ($t:ident $bits:ident $signed:ident $m:ident $complex:literal: $($unary:ident)*; $($binary:ident)*; $($complex_unary:ident)*) => {
        impl Float for $t {
            const REAL: &'static str = include_str!(concat!("testdata/", stringify!($m), ".txt"));
            const COMPLEX: &'static str = include_str!(concat!("testdata/", $complex, ".txt"));
            const LARGEST: f64 = $t::MAX as f64;
            const EPSILON: f64 = $t::EPSILON as f64;
            const SMALLEST: f64 = $t::MIN_POSITIVE as f64;
            fn parse(text: &str) -> $t {
                $t::from_bits($bits::from_str_radix(text, 16).unwrap())
            }
            fn rank(self) -> i64 {
                if self.is_nan() {
                    return i64::MAX;
                }
                let size = (self.to_bits() & !(1 << ($bits::BITS - 1))) as i64;
                if self.is_sign_negative() { -size } else { size }
            }
            fn wide(self) -> f64 {
                self as f64
            }
            fn unary(word: &str) -> Option<Forms<$t, $t>> {
                match word {
                    $(stringify!($unary) => forms!(x: $t => $t, $m::$unary(x)),)*
                    _ => None,
                }
            }
            fn binary(word: &str) -> Option<Forms<($t, $t), $t>> {
                match word {
                    $(stringify!($binary) => forms!(x: ($t, $t) => $t, $m::$binary(x.0, x.1)),)*
                    _ => None,
                }
            }
            fn complex_unary(word: &str) -> Option<Forms<Complex<$t>, Complex<$t>>> {
                match word {
                    $(stringify!($complex_unary) => forms!(x: Complex<$t> => Complex<$t>, complex::$complex_unary(x)),)*
                    _ => None,
                }
            }
            fn complex_binary(word: &str) -> Option<Forms<Pair<$t>, Complex<$t>>> {
                match word {
                    "pow" => forms!(x: Pair<$t> => Complex<$t>, complex::pow(x.0, x.1)),
                    "div" => forms!(x: Pair<$t> => Complex<$t>, complex::div(x.0, x.1)),
                    _ => None,
                }
            }
        }
    };
}
macro_rules! precisions {
    ($($words:tt)*) => {
        precision!(f32 u32 i32 float32 "complex64": $($words)*);
        precision!(f64 u64 i64 float64 "complex128": $($words)*);
    };
}
precisions!(
    exp expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc exp2 cbrt
        gamma lgamma digamma logit erfinv erfcinv j0 j1 i0 i0e i1 i1e;
    pow hypot atan2 floor_divide remainder fmod logaddexp beta betaln gammainc gammaincc;
    exp expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sign reciprocal
);

/// Applies both forms of a function, which must give the same bits.
fn apply<X: Copy + Debug, Y: Copy + Debug>(word: &str, forms: Forms<X, Y>, x: &[X]) -> Vec<Y> {
    let alone: Vec<Y> = x.iter().map(|&x| (forms.alone)(x)).collect();
    let mut looped = alone.clone();
    looped.reverse();
    (forms.looped)(x, &mut looped);
    for ((x, a), b) in x.iter().zip(&alone).zip(&looped) {
        // compares the results as text, which shows the sign of a number but no difference between NaNs
        assert_eq!(format!("{a:?}"), format!("{b:?}"), "{word}({x:?}), alone and in a loop");
    }
    alone
}

/// Returns the lines of the data that contain reference values of a scalar function.
fn lines<'a>(data: &'a str, word: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    data.lines().map(|line| line.split(' ').collect::<Vec<_>>()).filter(move |line| line[0] == word)
}

/// Returns the maximum distance of a result from the correctly rounded value, counted in floats. A distance of 1 means
/// an error below 1.5 ulp, and in most cases below 1 ulp.
fn allowed(word: &str) -> i64 {
    match word {
        "acosh" | "erfc" | "gamma" | "erfinv" | "erfcinv" | "i0" | "i0e" | "i1" | "i1e" | "beta" => 2,
        "lgamma" | "digamma" | "betaln" => 4,
        "gammainc" | "gammaincc" => 8,
        _ => 1,
    }
}

fn real_words<T: Float>() {
    let mut words: Vec<&str> = T::REAL.lines().map(|line| line.split(' ').next().unwrap()).collect();
    words.dedup();
    assert_eq!(words.len(), 42);
    let mut far = Vec::new();
    for word in words {
        let lines: Vec<Vec<T>> =
            lines(T::REAL, word).map(|line| line[1..].iter().map(|&text| T::parse(text)).collect()).collect();
        assert!(lines.len() >= 50, "{word}");
        let got = match T::unary(word) {
            Some(forms) => apply(word, forms, &lines.iter().map(|line| line[0]).collect::<Vec<_>>()),
            None => {
                let pairs: Vec<_> = lines.iter().map(|line| (line[0], line[1])).collect();
                apply(word, T::binary(word).unwrap(), &pairs)
            }
        };
        for (line, got) in lines.iter().zip(got) {
            let (x, want) = line.split_at(line.len() - 1);
            let apart = match word {
                // near a root, the error is relative to the values in its neighbourhood
                "j0" | "j1" => {
                    let around = want[0].wide().abs().max((0.5 / x[0].wide().abs()).sqrt().min(x[0].wide().abs()));
                    ((got.wide() - want[0].wide()).abs() / (around.max(T::SMALLEST) * T::EPSILON) / 3.0) as u64
                }
                _ => got.rank().abs_diff(want[0].rank()),
            };
            if apart > allowed(word) as u64 {
                far.push((word, apart, format!("{word}({x:?}) is {:?}, not {got:?}: {apart} apart", want[0])));
            }
        }
    }
    // keeps the worst result of each function
    far.sort_by_key(|&(word, apart, _)| (word, std::cmp::Reverse(apart)));
    far.dedup_by_key(|(word, ..)| *word);
    let worst: Vec<&str> = far.iter().map(|(.., text)| text.as_str()).collect();
    assert!(worst.is_empty(), "{}", worst.join("\n"));
}

#[test]
fn real_words_are_near_the_exact_values() {
    real_words::<f32>();
    real_words::<f64>();
}

fn complex_words<T: Float>(epsilon: f64) {
    let mut words: Vec<&str> = T::COMPLEX.lines().map(|line| line.split(' ').next().unwrap()).collect();
    words.dedup();
    assert_eq!(words.len(), 20);
    for word in words {
        let lines: Vec<Vec<Complex<T>>> = lines(T::COMPLEX, word)
            .map(|line| line[1..].chunks(2).map(|z| Complex::new(T::parse(z[0]), T::parse(z[1]))).collect())
            .collect();
        assert!(lines.len() >= 30, "{word}");
        let got = match T::complex_unary(word) {
            Some(forms) => apply(word, forms, &lines.iter().map(|line| line[0]).collect::<Vec<_>>()),
            None => {
                let pairs: Vec<_> = lines.iter().map(|line| (line[0], line[1])).collect();
                apply(word, T::complex_binary(word).unwrap(), &pairs)
            }
        };
        for (line, got) in lines.iter().zip(got) {
            let (x, want) = line.split_at(line.len() - 1);
            let wide = |z: Complex<T>| Complex::new(z.re.wide(), z.im.wide());
            let (got, want) = (wide(got), wide(want[0]));
            let size = want.re.hypot(want.im);
            let apart = |x: f64, y: f64| if x == y { 0.0 } else { x - y };
            let error = apart(got.re, want.re).hypot(apart(got.im, want.im));
            // the unit of the last bit of the magnitude, or of the smallest normal number if that is larger
            let ulp = epsilon * 2f64.powi(size.min(T::LARGEST).max(T::SMALLEST).log2().floor() as i32);
            assert!(error <= 3.0 * ulp, "{word}({x:?}) is {want}, not {got}: {} ulp", error / ulp);
        }
    }
}

#[test]
fn complex_words_are_near_the_exact_values() {
    complex_words::<f32>(f32::EPSILON as f64);
    complex_words::<f64>(f64::EPSILON);
}

/// Returns the function of this name in the standard library or in `libm`.
fn standard(word: &str) -> Option<fn(f64) -> f64> {
    Some(match word {
        "exp" => f64::exp,
        "expm1" => f64::exp_m1,
        "log" => f64::ln,
        "log2" => f64::log2,
        "log10" => f64::log10,
        "log1p" => f64::ln_1p,
        "sqrt" => f64::sqrt,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "asin" => f64::asin,
        "acos" => f64::acos,
        "atan" => f64::atan,
        "sinh" => f64::sinh,
        "cosh" => f64::cosh,
        "tanh" => f64::tanh,
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        "exp2" => f64::exp2,
        "cbrt" => f64::cbrt,
        _ => return None,
    })
}

const WORDS: [&str; 20] = [
    "exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
    "cosh", "tanh", "erf", "erfc", "exp2", "cbrt",
];

/// Returns a generator of pseudo-random bits.
fn dice() -> impl FnMut() -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

#[test]
fn many_arguments_agree_with_the_standard_library() {
    let mut dice = dice();
    // the arguments have all magnitudes, with additional arguments where most functions change quickly
    let arguments: Vec<f64> = (0..6000)
        .map(|i| {
            let bits = dice();
            let near = (bits >> 11) as f64 / (1u64 << 50) as f64 - 4.0;
            if i % 3 == 0 { f64::from_bits(bits) } else { near * [1.0, 0.25, 10.0, 100.0][i % 4] }
        })
        .collect();
    for word in WORDS {
        let std = standard(word).unwrap();
        for (&x, got) in arguments.iter().zip(apply(word, f64::unary(word).unwrap(), &arguments)) {
            let want = std(x);
            // both results may have rounding errors
            assert!(got.rank().abs_diff(want.rank()) <= 3, "{word}({x:?}) is {want:?}, not {got:?}");
        }
        let narrow: Vec<f32> = arguments.iter().map(|&x| x as f32).collect();
        for (&x, got) in narrow.iter().zip(apply(word, f32::unary(word).unwrap(), &narrow)) {
            let want = std(x as f64) as f32;
            assert!(got.rank().abs_diff(want.rank()) <= allowed(word) as u64, "{word}({x:?}) is {want:?}, not {got:?}");
        }
    }
}

const SPECIAL: [f64; 19] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -7.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MAX,
    f64::MIN,
    5e-324,
    -5e-324,
    f64::MIN_POSITIVE,
    1e22,
];

/// Returns whether both numbers are NaN, or equal including the sign of zero, or at most 2 floats apart.
fn agree(x: f64, y: f64) -> bool {
    let zeros = x.is_sign_negative() == y.is_sign_negative() || x != 0.0 || y != 0.0;
    x.is_nan() && y.is_nan() || zeros && x.rank().abs_diff(y.rank()) <= 2
}

#[test]
fn special_values_are_those_of_c99() {
    for word in WORDS {
        let std = standard(word).unwrap();
        for (x, got) in SPECIAL.into_iter().zip(apply(word, f64::unary(word).unwrap(), &SPECIAL)) {
            assert!(agree(got, std(x)), "{word}({x:?}) is {:?}, not {got:?}", std(x));
        }
        let narrow = SPECIAL.map(|x| x as f32);
        for (x, got) in narrow.into_iter().zip(apply(word, f32::unary(word).unwrap(), &narrow)) {
            let want = std(x as f64) as f32;
            assert!(
                agree(got as f64, want as f64) || got.rank().abs_diff(want.rank()) <= 2,
                "{word}({x:?}) is not {got:?}"
            );
        }
    }
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (word, x, want) in [
        ("asinh", inf, inf),
        ("asinh", -0.0, -0.0),
        ("asinh", -inf, -inf),
        ("asinh", 1e300, 691.4686750787737),
        ("acosh", inf, inf),
        ("acosh", 1.0, 0.0),
        ("acosh", 0.99, nan),
        ("acosh", -2.0, nan),
        ("acosh", -inf, nan),
        ("acosh", 1e300, 691.4686750787737),
        ("atanh", 1.0, inf),
        ("atanh", -1.0, -inf),
        ("atanh", -0.0, -0.0),
        ("atanh", 1.5, nan),
        ("atanh", -inf, nan),
        ("atanh", nan, nan),
    ] {
        let got = (f64::unary(word).unwrap().alone)(x);
        assert!(agree(got, want), "{word}({x:?}) is {want:?}, not {got:?}");
        let got = (f32::unary(word).unwrap().alone)(x.min(1e38) as f32);
        let same = agree(got as f64, want) || x == 1e300 && got > 80.0 || x == inf;
        assert!(same, "{word}({x:?}) is {want:?}, not {got:?}");
    }
    let pairs: Vec<(f64, f64)> = SPECIAL.into_iter().flat_map(|x| SPECIAL.map(|y| (x, y))).collect();
    let known = [("pow", f64::powf as fn(f64, f64) -> f64), ("hypot", f64::hypot), ("atan2", f64::atan2)];
    for (word, std) in known {
        for (&(x, y), got) in pairs.iter().zip(apply(word, f64::binary(word).unwrap(), &pairs)) {
            assert!(agree(got, std(x, y)), "{word}({x:?}, {y:?}) is {:?}, not {got:?}", std(x, y));
        }
    }
}

#[test]
fn powers_of_two_and_ten_have_whole_logarithms() {
    for n in -1074..1024 {
        assert_eq!(float64::log2(2f64.powi(n.max(-1022)) * 2f64.powi(n - n.max(-1022))), n as f64);
    }
    for n in -22..23i32 {
        let text = format!("1e{n}");
        assert_eq!(float64::log10(text.parse().unwrap()), n as f64);
        assert!(n.abs() > 10 || float32::log10(text.parse().unwrap()) == n as f32);
    }
}

#[test]
fn division_rounds_down() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (x, y, quotient, rest) in [
        (7.0, 3.0, 2.0, 1.0),
        (-7.0, 3.0, -3.0, 2.0),
        (7.0, -3.0, -3.0, -2.0),
        (-6.0, 3.0, -2.0, 0.0),
        (6.0, -3.0, -2.0, -0.0),
        (-0.0, 3.0, -0.0, 0.0),
        (1.0, inf, 0.0, 1.0),
        (-1.0, inf, -1.0, inf),
        (1.0, 0.0, inf, nan),
        (-1.0, 0.0, -inf, nan),
        (0.0, 0.0, nan, nan),
        (inf, 2.0, nan, nan),
        (1.0, nan, nan, nan),
        (1.0, 0.1, 9.0, 0.09999999999999995),
        (1e300, 7e-3, 1e300 / 7e-3, 1e300 % 7e-3),
        (5e-324, 1.0, 0.0, 5e-324),
        (-5e-324, 1.0, -1.0, 1.0),
    ] {
        let got = (float64::floor_divide(x, y), float64::remainder(x, y));
        assert!(agree(got.0, quotient) && agree(got.1, rest), "{x:?} by {y:?} is {quotient:?}, {rest:?}, not {got:?}");
    }
    // the remainder is exact for any quotient
    let mut dice = dice();
    let pairs: Vec<(f64, f64)> = (0..3000)
        .map(|i| {
            let (x, y) = (f64::from_bits(dice()), f64::from_bits(dice()));
            (x, if i % 2 == 0 { y } else { x * ((dice() % 1000) as f64 / 300.0 - 1.5) })
        })
        .collect();
    for (&(x, y), got) in pairs.iter().zip(apply("remainder", f64::binary("remainder").unwrap(), &pairs)) {
        let rest = x % y;
        let want = if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest };
        assert!(got == want || got.is_nan() && want.is_nan(), "{x:?} mod {y:?} is {want:?}, not {got:?}");
    }
}

#[test]
fn logarithms_of_sums() {
    let (inf, ln_2) = (f64::INFINITY, std::f64::consts::LN_2);
    for (x, y, want) in [
        (0.0, 0.0, ln_2),
        (1000.0, 1000.0, 1000.0 + ln_2),
        (-inf, -inf, -inf),
        (inf, -inf, inf),
        (-inf, 3.0, 3.0),
        (-1000.0, -1001.0, -999.6867383124818),
        (f64::NAN, 1.0, f64::NAN),
    ] {
        let got = float64::logaddexp(x, y);
        assert!(agree(got, want), "{x:?}, {y:?}: {want:?}, not {got:?}");
    }
}

#[test]
fn selections_and_signs() {
    let nan = f64::NAN;
    assert_eq!((float64::maximum(1.0, 2.0), float64::minimum(1.0, 2.0)), (2.0, 1.0));
    for (x, y) in [(nan, 1.0), (1.0, nan), (nan, nan)] {
        assert!(float64::maximum(x, y).is_nan() && float64::minimum(x, y).is_nan());
        assert!(float32::maximum(x as f32, y as f32).is_nan() && float64::nextafter(x, y).is_nan());
    }
    assert_eq!([-3.0, -0.0, 0.0, 2.0].map(float64::sign).map(f64::to_bits), [-1.0, 0.0, 0.0, 1.0].map(f64::to_bits));
    assert!(float64::sign(nan).is_nan());
    assert_eq!(float64::nextafter(0.0, -1.0), -5e-324);
    assert_eq!(float64::nextafter(1.0, 2.0), 1.0 + f64::EPSILON);
    assert!(float64::nextafter(0.0, -0.0).is_sign_negative());
    assert_eq!(float64::round(2.5), 2.0);
}

#[test]
fn complex_special_values_are_those_of_c99() {
    let (inf, nan, pi) = (f64::INFINITY, f64::NAN, std::f64::consts::PI);
    let z = Complex::new;
    for (word, x, want) in [
        ("sqrt", z(-4.0, 0.0), z(0.0, 2.0)),
        ("sqrt", z(-4.0, -0.0), z(0.0, -2.0)),
        ("sqrt", z(nan, -inf), z(inf, -inf)),
        ("sqrt", z(-inf, 1.0), z(0.0, inf)),
        ("sqrt", z(1e308, 1e308), z(1.0986841134678098e154, 4.550898605622274e153)),
        ("exp", z(-inf, nan), z(0.0, 0.0)),
        ("exp", z(inf, 0.0), z(inf, 0.0)),
        ("exp", z(inf, 3.0), z(-inf, inf)),
        ("exp", z(inf, nan), z(inf, nan)),
        ("exp", z(nan, 0.0), z(nan, 0.0)),
        ("exp", z(0.0, -0.0), z(1.0, -0.0)),
        ("expm1", z(1e-300, -0.0), z(1e-300, -0.0)),
        ("expm1", z(-inf, 2.0), z(-1.0, 0.0)),
        ("expm1", z(-inf, -inf), z(-1.0, -0.0)),
        ("expm1", z(-inf, nan), z(-1.0, 0.0)),
        ("expm1", z(inf, nan), z(inf, nan)),
        ("reciprocal", z(-2.0, 0.0), z(-0.5, -0.0)),
        ("reciprocal", z(0.0, -5e-324), z(0.0, inf)),
        ("reciprocal", z(1e308, 1e308), z(5e-309, -5e-309)),
        ("reciprocal", z(-inf, inf), z(-0.0, -0.0)),
        ("reciprocal", z(inf, nan), z(nan, nan)),
        ("log", z(-0.0, 0.0), z(-inf, pi)),
        ("log", z(0.0, -0.0), z(-inf, -0.0)),
        ("log", z(-1.0, -0.0), z(0.0, -pi)),
        ("log", z(-inf, inf), z(inf, 0.75 * pi)),
        ("log", z(inf, nan), z(inf, nan)),
        ("log", z(1.5e308, 1.5e308), z(709.9482473405542, pi / 4.0)),
        ("log1p", z(1e-300, 1e-300), z(1e-300, 1e-300)),
        ("sinh", z(-0.0, inf), z(-0.0, nan)),
        ("sinh", z(inf, 0.0), z(inf, 0.0)),
        ("sinh", z(-inf, 2.0), z(inf, inf)),
        ("cosh", z(inf, 0.0), z(inf, 0.0)),
        ("cosh", z(-inf, 2.0), z(-inf, -inf)),
        ("cosh", z(nan, 0.0), z(nan, 0.0)),
        ("tanh", z(inf, 2.0), z(1.0, -0.0)),
        ("tanh", z(-inf, nan), z(-1.0, 0.0)),
        ("tanh", z(2.0, inf), z(nan, nan)),
        ("sin", z(2.0, 0.0), z(2f64.sin(), -0.0)),
        ("cos", z(2.0, 0.0), z(2f64.cos(), -0.0)),
        ("asin", z(2.0, 0.0), z(pi / 2.0, 1.3169578969248166)),
        ("asin", z(2.0, -0.0), z(pi / 2.0, -1.3169578969248166)),
        ("asin", z(-0.0, nan), z(-0.0, nan)),
        ("acos", z(-2.0, 0.0), z(pi, -1.3169578969248166)),
        ("acos", z(-2.0, -0.0), z(pi, 1.3169578969248166)),
        ("acos", z(-inf, inf), z(0.75 * pi, -inf)),
        ("acos", z(0.0, 0.0), z(pi / 2.0, -0.0)),
        ("asinh", z(0.0, 2.0), z(1.3169578969248166, pi / 2.0)),
        ("asinh", z(-0.0, 2.0), z(-1.3169578969248166, pi / 2.0)),
        ("asinh", z(nan, inf), z(inf, nan)),
        ("acosh", z(-2.0, -0.0), z(1.3169578969248166, -pi)),
        ("acosh", z(1.0, 0.0), z(0.0, 0.0)),
        ("acosh", z(0.0, nan), z(nan, pi / 2.0)),
        ("atanh", z(1.0, 0.0), z(inf, 0.0)),
        ("atanh", z(2.0, 0.0), z(0.5493061443340549, pi / 2.0)),
        ("atanh", z(2.0, -0.0), z(0.5493061443340549, -pi / 2.0)),
        ("atanh", z(inf, nan), z(0.0, nan)),
        ("atan", z(0.0, 2.0), z(pi / 2.0, 0.5493061443340549)),
        ("atan", z(-0.0, 2.0), z(-pi / 2.0, 0.5493061443340549)),
        ("sign", z(0.0, -0.0), z(0.0, 0.0)),
        ("sign", z(-inf, 3.0), z(-1.0, 0.0)),
        ("sign", z(3e300, 4e300), z(0.6, 0.8)),
    ] {
        let got = apply(word, f64::complex_unary(word).unwrap(), &[x])[0];
        // if the other part is NaN, the sign of an infinity or zero is not specified
        let part = |got: f64, want: f64, other: f64| agree(got, want) || other.is_nan() && got.abs() == want.abs();
        assert!(
            part(got.re, want.re, want.im) && part(got.im, want.im, want.re),
            "{word}({x:?}) is {want:?}, not {got:?}"
        );
    }
    for (x, y, want) in [
        (z(0.0, 0.0), z(0.0, 0.0), z(1.0, 0.0)),
        (z(nan, 1.0), z(0.0, 0.0), z(1.0, 0.0)),
        (z(0.0, 0.0), z(2.5, 0.0), z(0.0, 0.0)),
        (z(0.0, -0.0), z(1.0, -2.0), z(0.0, 0.0)),
        (z(0.0, 0.0), z(-1.0, 0.0), z(nan, nan)),
        (z(1.0, 1.0), z(20.0, 0.0), z(-1024.0, 0.0)),
        (z(0.0, 1.0), z(2.0, 0.0), z(-1.0, 0.0)),
        (z(1.0, 1.0), z(-2.0, 0.0), z(0.0, -0.5)),
        (z(inf, 2.0), z(1.0, 0.0), z(inf, 2.0)),
    ] {
        let got = apply("pow", f64::complex_binary("pow").unwrap(), &[(x, y)])[0];
        assert!(agree(got.re, want.re) && agree(got.im, want.im), "{x:?}^{y:?} is {want:?}, not {got:?}");
    }
    let quotients = [(z(1.0, 2.0), z(3.0, -4.0), z(-0.2, 0.4)), (z(1.0, -1.0), z(0.0, 0.0), z(inf, -inf))];
    for (x, y, want) in quotients {
        let got = apply("div", f64::complex_binary("div").unwrap(), &[(x, y)])[0];
        assert!(agree(got.re, want.re) && agree(got.im, want.im), "{x:?} / {y:?} is {want:?}, not {got:?}");
    }
    assert_eq!(complex::abs(z(3e300, 4e300)), 5e300);
    assert_eq!(complex::round(z(2.5, -1.5)), z(2.0, -2.0));
    assert_eq!(complex::times(z(1.0, 2.0), z(3.0, 4.0)), z(-5.0, 10.0));
}

#[test]
fn only_large_numbers_are_far() {
    use super::needs_range_reduction;
    assert!(needs_range_reduction(1e10) && needs_range_reduction(-1e6f32) && needs_range_reduction(crate::bf16::MAX));
    assert!(needs_range_reduction(Complex::new(0.0, 1e300)) && needs_range_reduction(Complex::new(1e30f32, 0.0)));
    assert!(
        !needs_range_reduction(1e9)
            && !needs_range_reduction(-1e5f32)
            && !needs_range_reduction(crate::f16::MAX)
            && !needs_range_reduction(i64::MAX)
    );
    assert!(
        !needs_range_reduction(f64::INFINITY)
            && !needs_range_reduction(f32::NAN)
            && !needs_range_reduction(Complex::new(1e9, -1e9))
    );
}
