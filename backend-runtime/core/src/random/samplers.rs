//! Samplers of distributions for which the number of random draws varies from result to result. They compute one
//! element at a time, in `f64`.
//!
//! The code matches `cuda/kernels/samplers.cuh` operation by operation, with the same roundings, so both give the same
//! bits. It uses only IEEE arithmetic, square roots, and the exponentials and logarithms of `scalar::float64`, which in
//! turn use only IEEE arithmetic.

use super::{philox, philox_further, unit_f64};
use crate::scalar::float64::{exp, expm1, log, log1p};
use std::f64::consts::TAU;

/// Uniform and normal draws for one element, from the element's own sequence of blocks of random words.
#[derive(Clone, Debug)]
pub struct Draws {
    key: u64,
    block: u64,
    /// Number of blocks computed so far.
    made: u32,
    words: [u32; 4],
    /// Number of words used up.
    used: usize,
}

impl Draws {
    /// Creates the draws for the element with index `block`. The caller passes the first block of words.
    #[inline(always)]
    pub fn new(key: u64, block: u64, first: [u32; 4]) -> Draws {
        Draws { key, block, made: 1, words: first, used: 0 }
    }

    /// Creates the draws for the element with index `block`. Computes the first block of words.
    #[inline(always)]
    pub fn of_block(key: u64, block: u64) -> Draws {
        Draws::new(key, block, philox(key, block))
    }

    /// Draws a uniform number in `[0, 1)` with 53 random bits.
    #[inline(always)]
    pub fn unit(&mut self) -> f64 {
        if self.used == 4 {
            self.words = philox_further(self.key, self.block, self.made);
            self.made = self.made.wrapping_add(1);
            self.used = 0;
        }
        let unit = unit_f64(self.words[self.used], self.words[self.used + 1]);
        self.used += 2;
        unit
    }

    /// Draws a uniform number in `(0, 1]`.
    #[inline(always)]
    pub fn positive(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Draws two normally distributed numbers, by Marsaglia's polar method.
    #[inline(always)]
    pub fn normals(&mut self) -> [f64; 2] {
        loop {
            let (x, y) = Draws::around_0(self.unit(), self.unit());
            let square = x * x + y * y;
            if Draws::is_in_circle(square) {
                let scale = Draws::polar_scale(square);
                return [x * scale, y * scale];
            }
        }
    }

    /// Maps two numbers in `[0, 1)` to a point with coordinates in `[-1, 1)`. The polar method accepts the point if
    /// `is_in_circle` is true.
    #[inline(always)]
    pub fn around_0(x: f64, y: f64) -> (f64, f64) {
        (2.0 * x - 1.0, 2.0 * y - 1.0)
    }

    /// Returns whether the polar method accepts a point at this squared distance from 0.
    #[inline(always)]
    pub fn is_in_circle(square: f64) -> bool {
        (square < 1.0) & (square > 0.0)
    }

    /// Returns the factor by which the polar method multiplies both coordinates of a point at this squared distance
    /// from 0.
    #[inline(always)]
    pub fn polar_scale(square: f64) -> f64 {
        (-2.0 * log(square) / square).sqrt()
    }
}

/// A distribution with its parameters, prepared for many draws.
pub trait Sampler: Copy {
    /// Creates a distribution from the parameters of one element and the parameters that all elements share.
    fn new(own: [f64; 2], shared: [f64; 2]) -> Self;

    /// Draws one number; NaN if a parameter is out of range.
    fn draw(&self, draws: &mut Draws) -> f64;
}

/// The distributions as values of one type, so that the loop for a distribution can be chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// [`Exponential`]
    Exponential,
    /// [`Gamma`]
    Gamma,
    /// [`Beta`]
    Beta,
    /// [`Poisson`]
    Poisson,
    /// [`Binomial`]
    Binomial,
    /// [`TruncatedNormal`]
    TruncatedNormal,
}

/// Exponential distribution with the mean `shared[0]`.
#[derive(Clone, Copy, Debug)]
pub struct Exponential {
    scale: f64,
}

impl Sampler for Exponential {
    #[inline(always)]
    fn new(_: [f64; 2], shared: [f64; 2]) -> Exponential {
        Exponential { scale: shared[0] }
    }

    #[inline(always)]
    fn draw(&self, draws: &mut Draws) -> f64 {
        self.of_unit(draws.unit())
    }
}

impl Exponential {
    /// Converts a uniform number in `[0, 1)` to an exponentially distributed number.
    #[inline(always)]
    pub fn of_unit(&self, unit: f64) -> f64 {
        // gives 0, and not -0, if `unit` is 0
        (0.0 - log(1.0 - unit)) * self.scale
    }
}

/// Returns whether `alpha` can be the shape of a gamma distribution: a finite number that is not negative.
pub fn is_shape(alpha: f64) -> bool {
    (0.0..f64::INFINITY).contains(&alpha)
}

/// A shape parameter of a gamma distribution, prepared for the method of Marsaglia and Tsang ("A simple method for
/// generating gamma variables", 2000). If the shape `alpha` is less than 1, the method draws a number for the larger
/// shape `alpha + 1`. This number times `u^(1 / alpha)`, with a uniform number `u`, is distributed with the shape
/// `alpha`.
#[derive(Clone, Copy, Debug)]
struct Shape {
    alpha: f64,
    d: f64,
    c: f64,
}

impl Shape {
    #[inline(always)]
    fn new(alpha: f64) -> Shape {
        let d = (if alpha < 1.0 { alpha + 1.0 } else { alpha }) - 1.0 / 3.0;
        Shape { alpha, d, c: 1.0 / (9.0 * d).sqrt() }
    }

    /// Draws a gamma distributed number of the larger shape, which is `alpha`, or `alpha + 1` if `alpha` is less than
    /// 1.
    #[inline(always)]
    fn large(&self, draws: &mut Draws) -> f64 {
        loop {
            for x in draws.normals() {
                let t = self.c * x;
                if t <= -1.0 {
                    continue;
                }
                let v = (1.0 + t) * (1.0 + t) * (1.0 + t);
                let u = draws.positive();
                let square = x * x;
                if u < 1.0 - 0.0331 * (square * square) || log(u) < self.bound(t, square, v) {
                    return self.d * v;
                }
            }
        }
    }

    /// Returns the upper bound of `log(u)` for which a uniform number `u` is accepted: `x^2 / 2 + d (1 - v + log v)`,
    /// which equals `3 d (log(1 + t) - t + t^2 / 2 - t^3 / 3)`. If the terms cancel, the bound is computed by a series.
    #[inline(always)]
    fn bound(&self, t: f64, square: f64, v: f64) -> f64 {
        if t.abs() >= 0.0625 {
            return 0.5 * square + self.d * (1.0 - v + log(v));
        }
        let mut sum = -1.0 / 12.0;
        for term in [1.0 / 11.0, -1.0 / 10.0, 1.0 / 9.0, -1.0 / 8.0, 1.0 / 7.0, -1.0 / 6.0, 1.0 / 5.0, -1.0 / 4.0] {
            sum = sum * t + term;
        }
        3.0 * self.d * (t * t) * (t * t) * sum
    }

    /// Returns whether the result of [`Shape::large`] needs no further factor, because `alpha` is at least 1 and
    /// finite.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.alpha >= 1.0 && self.alpha < f64::INFINITY
    }

    /// Returns the result of [`Shape::large`] if its first draws are the normal number `x` and the uniform number `u`.
    /// Returns NaN if the quick test of the method does not accept them.
    #[inline(always)]
    fn first_try(&self, x: f64, u: f64) -> f64 {
        let t = self.c * x;
        let v = (1.0 + t) * (1.0 + t) * (1.0 + t);
        let square = x * x;
        if (t > -1.0) & (u < 1.0 - 0.0331 * (square * square)) { self.d * v } else { f64::NAN }
    }

    /// Draws the logarithm of the factor that converts a number of the larger shape to the shape `alpha`.
    #[inline(always)]
    fn boost(&self, draws: &mut Draws) -> f64 {
        if self.alpha < 1.0 { log(draws.positive()) / self.alpha } else { 0.0 }
    }
}

/// Gamma distribution with the shape `own[0]` and the scale `shared[0]`.
#[derive(Clone, Copy, Debug)]
pub struct Gamma {
    shape: Shape,
    scale: f64,
}

impl Sampler for Gamma {
    #[inline(always)]
    fn new(own: [f64; 2], shared: [f64; 2]) -> Gamma {
        Gamma { shape: Shape::new(own[0]), scale: shared[0] }
    }

    #[inline(always)]
    fn draw(&self, draws: &mut Draws) -> f64 {
        if !is_shape(self.shape.alpha) {
            return f64::NAN;
        }
        if self.shape.alpha == 0.0 {
            return 0.0;
        }
        let large = self.shape.large(draws);
        let boost = self.shape.boost(draws);
        let x = if boost == 0.0 { large } else { large * exp(boost) };
        x * self.scale
    }
}

impl Gamma {
    /// Returns whether the shape is at least 1. Then a result needs no further factor except the scale.
    pub fn is_plain(&self) -> bool {
        self.shape.is_plain()
    }

    /// Returns the result for the first normally distributed number `x` and the first uniform number `u`. Returns NaN
    /// if more draws are needed.
    #[inline(always)]
    pub fn first_try(&self, x: f64, u: f64) -> f64 {
        self.shape.first_try(x, u) * self.scale
    }
}

/// Smallest parameter of a beta distribution. Below this value, the logarithms of the factors in [`Beta`] overflow.
pub const MIN_BETA: f64 = 1e-300;

/// Returns whether a beta distribution can have this parameter.
pub fn is_beta(parameter: f64) -> bool {
    (MIN_BETA..f64::INFINITY).contains(&parameter)
}

/// Beta distribution with the parameters `own`. A result is `x / (x + y)` for two gamma distributed numbers `x` and
/// `y`. If shapes are less than 1, `x` and `y` have factors `u^(1 / shape)`. Both numbers are divided by the larger of
/// these factors, so that tiny shapes do not give 0 / 0.
#[derive(Clone, Copy, Debug)]
pub struct Beta {
    shapes: [Shape; 2],
}

impl Sampler for Beta {
    #[inline(always)]
    fn new(own: [f64; 2], _: [f64; 2]) -> Beta {
        Beta { shapes: own.map(Shape::new) }
    }

    #[inline(always)]
    fn draw(&self, draws: &mut Draws) -> f64 {
        if !is_beta(self.shapes[0].alpha) || !is_beta(self.shapes[1].alpha) {
            return f64::NAN;
        }
        let (x, x_boost) = (self.shapes[0].large(draws), self.shapes[0].boost(draws));
        let (y, y_boost) = (self.shapes[1].large(draws), self.shapes[1].boost(draws));
        let larger = if x_boost > y_boost { x_boost } else { y_boost };
        1.0 / (1.0 + (y * exp(y_boost - larger)) / (x * exp(x_boost - larger)))
    }
}

impl Beta {
    /// Returns whether both shapes are at least 1, so that neither gamma distributed number needs a further factor.
    pub fn is_plain(&self) -> bool {
        self.shapes[0].is_plain() && self.shapes[1].is_plain()
    }

    /// Returns the gamma distributed number with the shape `shapes[which]`, for the first draws `x` and `u`. Returns
    /// NaN if more draws are needed.
    #[inline(always)]
    pub fn first_try(&self, which: usize, x: f64, u: f64) -> f64 {
        self.shapes[which].first_try(x, u)
    }

    /// Computes `x / (x + y)`.
    #[inline(always)]
    pub fn share(x: f64, y: f64) -> f64 {
        1.0 / (1.0 + y / x)
    }
}

/// `log(k!)` minus Stirling's formula, for `k` below 16. Entry 0 is not used.
const STIRLING: [f64; 16] = [
    0.0,
    0.08106146679532726,
    0.0413406959554093,
    0.02767792568499834,
    0.020790672103765093,
    0.016644691189821193,
    0.013876128823070748,
    0.01189670994589177,
    0.010411265261972096,
    0.009255462182712733,
    0.00833056343336287,
    0.007573675487951841,
    0.00694284010720953,
    0.006408994188004207,
    0.0059513701127588475,
    0.005554733551962801,
];

/// `log(k!)` minus Stirling's formula, for any integer `k` of at least 1.
#[inline(always)]
fn stirling(k: f64) -> f64 {
    if k < 16.0 {
        return STIRLING[k as usize];
    }
    let square = k * k;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0) / square) / square) / square) / k
}

/// `x log(x / mean) + mean - x` without cancellation (Loader, "Fast and accurate computation of binomial
/// probabilities", 2000).
#[inline(always)]
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * log(x / mean) - difference;
    }
    let v = difference / (x + mean);
    let square = v * v;
    let mut sum = 1.0 / 19.0;
    for term in [1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0, 1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0] {
        sum = sum * square + term;
    }
    difference * v + 2.0 * x * v * square * sum
}

/// Counts are drawn by rejection if the mean is at least this value, and otherwise by a search upward from 0.
const SEARCHED: f64 = 10.0;

/// log(2 pi) / 2
const HALF_LOG_TAU: f64 = 0.9189385332046728;

/// A search ends once the probability is below this value, because a draw of 53 bits cannot distinguish smaller
/// probabilities.
const MIN_PROBABILITY: f64 = 1e-17;

/// Largest mean of a Poisson distribution, as in NumPy, so that counts fit `i64`.
pub const LARGEST_RATE: f64 = 9.223372006484771e18;

/// Returns whether a Poisson distribution can have this mean.
pub fn is_rate(rate: f64) -> bool {
    (0.0..=LARGEST_RATE).contains(&rate)
}

/// Poisson distribution with the mean `own[0]`, drawn by Hörmann's method PTRS ("The transformed rejection method for
/// generating Poisson random variables", 1993).
#[derive(Clone, Copy, Debug)]
pub struct Poisson {
    rate: f64,
    /// Probability of the count 0, at which the search begins.
    none: f64,
    a: f64,
    b: f64,
    squeeze: f64,
    inverse_alpha: f64,
}

impl Sampler for Poisson {
    #[inline(always)]
    fn new(own: [f64; 2], _: [f64; 2]) -> Poisson {
        let rate = own[0];
        if !is_rate(rate) || rate < SEARCHED {
            return Poisson { rate, none: exp(-rate), a: 0.0, b: 0.0, squeeze: 0.0, inverse_alpha: 0.0 };
        }
        let b = 0.931 + 2.53 * rate.sqrt();
        Poisson {
            rate,
            none: 0.0,
            a: -0.059 + 0.02483 * b,
            b,
            squeeze: 0.9277 - 3.6224 / (b - 2.0),
            inverse_alpha: 1.1239 + 1.1328 / (b - 3.4),
        }
    }

    #[inline(always)]
    fn draw(&self, draws: &mut Draws) -> f64 {
        let rate = self.rate;
        if !is_rate(rate) {
            return f64::NAN;
        }
        if rate < SEARCHED {
            let (mut u, mut k, mut probability) = (draws.unit(), 0.0, self.none);
            while u >= probability && (probability >= MIN_PROBABILITY || k < rate) {
                u -= probability;
                k += 1.0;
                probability *= rate / k;
            }
            return k;
        }
        loop {
            let u = draws.unit() - 0.5;
            let v = draws.unit();
            let from_end = 0.5 - u.abs();
            let k = ((2.0 * self.a / from_end + self.b) * u + rate + 0.43).floor();
            if from_end >= 0.07 && v <= self.squeeze {
                return k;
            }
            if k < 0.0 || (from_end < 0.013 && v > from_end) {
                continue;
            }
            let density = if k < 1.0 { -rate } else { -stirling(k) - deviance(k, rate) - 0.5 * log(TAU * k) };
            if log(v * self.inverse_alpha / (self.a / (from_end * from_end) + self.b)) <= density {
                return k;
            }
        }
    }
}

/// Largest number of trials. Above this number, `f64` cannot represent every count.
pub const MAX_TRIALS: i64 = 1 << 53;

/// Returns whether `p` is between 0 and 1.
pub fn is_probability(p: f64) -> bool {
    (0.0..=1.0).contains(&p)
}

/// Binomial distribution: the number of successes in several trials. [`Sampler::new`] takes the number of trials, an
/// integer up to [`MAX_TRIALS`], as `shared[0]`, and the success probability as `own[0]`. If the mean is at least
/// `SEARCHED`, numbers are drawn by Hörmann's method BTRS ("The generation of binomial random variates", 1993).
#[derive(Clone, Copy, Debug)]
pub struct Binomial {
    n: f64,
    given: f64,
    /// The smaller of the probabilities of success and of failure.
    p: f64,
    odds: f64,
    mean: f64,
    /// Probability of the count 0, at which the search begins.
    none: f64,
    a: f64,
    b: f64,
    squeeze: f64,
    alpha: f64,
    /// The logarithm of the probability of the most probable count, as computed by [`Binomial::density`].
    top: f64,
}

impl Sampler for Binomial {
    #[inline(always)]
    fn new(own: [f64; 2], shared: [f64; 2]) -> Binomial {
        let (n, given) = (shared[0], own[0]);
        let p = if given > 0.5 { 1.0 - given } else { given };
        let q = 1.0 - p;
        let mean = n * p;
        let (odds, none) = (p / q, exp(n * log1p(-p)));
        if !is_probability(given) || mean < SEARCHED {
            return Binomial { n, given, p, odds, mean, none, a: 0.0, b: 0.0, squeeze: 0.0, alpha: 0.0, top: 0.0 };
        }
        let deviation = (mean * q).sqrt();
        let b = 1.15 + 2.53 * deviation;
        let made = Binomial {
            n,
            given,
            p,
            odds,
            mean,
            none,
            a: -0.0873 + 0.0248 * b + 0.01 * p,
            b,
            squeeze: 0.92 - 4.2 / b,
            alpha: (2.83 + 5.1 / b) * deviation,
            top: 0.0,
        };
        Binomial { top: made.density(((n + 1.0) * p).floor()), ..made }
    }

    #[inline(always)]
    fn draw(&self, draws: &mut Draws) -> f64 {
        if !is_probability(self.given) {
            return f64::NAN;
        }
        let k = if self.mean < SEARCHED { self.searched(draws) } else { self.rejected(draws) };
        if self.given > 0.5 { self.n - k } else { k }
    }
}

impl Binomial {
    #[inline(always)]
    fn searched(&self, draws: &mut Draws) -> f64 {
        let (mut u, mut k, mut probability) = (draws.unit(), 0.0, self.none);
        while k < self.n && u >= probability && (probability >= MIN_PROBABILITY || k < self.mean) {
            u -= probability;
            k += 1.0;
            probability *= (self.n - k + 1.0) / k * self.odds;
        }
        k
    }

    #[inline(always)]
    fn rejected(&self, draws: &mut Draws) -> f64 {
        loop {
            let u = draws.unit() - 0.5;
            let v = draws.unit();
            let from_end = 0.5 - u.abs();
            let k = ((2.0 * self.a / from_end + self.b) * u + self.mean + 0.5).floor();
            // the condition is also true for an infinite `k`, which results if `from_end` is 0
            if !(k >= 0.0 && k <= self.n) {
                continue;
            }
            if from_end >= 0.07 && v <= self.squeeze {
                return k;
            }
            let ratio = self.alpha * v / (self.a / (from_end * from_end) + self.b);
            if log(ratio) <= self.density(k) - self.top {
                return k;
            }
        }
    }

    /// Logarithm of the probability of `k`, without the terms that do not depend on `k`.
    #[inline(always)]
    fn density(&self, k: f64) -> f64 {
        let n = self.n;
        let rest = n - k;
        if k < 1.0 || rest < 1.0 {
            let all = if k < 1.0 { n * log1p(-self.p) } else { n * log(self.p) };
            return all - stirling(n) - 0.5 * log(n) + HALF_LOG_TAU;
        }
        let q = 1.0 - self.p;
        -stirling(k) - stirling(rest) - deviance(k, self.mean) - deviance(rest, n * q) - 0.5 * log(k) - 0.5 * log(rest)
    }
}

/// Replaces the weight of each category by its share of the sum of this weight and all later weights. All shares are
/// NaN if a weight is negative or not finite, or if the sum of all weights is 0 or infinite.
pub fn to_shares(weights: &mut [f64]) {
    let (mut rest, mut valid) = (0.0, true);
    for weight in weights.iter_mut().rev() {
        valid &= (0.0..f64::INFINITY).contains(weight);
        rest += *weight;
        *weight = if rest > 0.0 { *weight / rest } else { 0.0 };
    }
    if !(valid && rest > 0.0 && rest < f64::INFINITY) {
        weights.fill(f64::NAN);
    }
}

/// Distributes `n` trials among categories with these shares (see [`to_shares`]), by drawing one binomial number after
/// the other. Writes the count of each category to `out`, or -1 if its share is NaN.
#[inline(always)]
pub fn multinomial(n: f64, shares: &[f64], draws: &mut Draws, out: &mut [i64]) {
    let mut rest = n;
    for (&share, out) in shares.iter().zip(out) {
        if share.is_nan() {
            *out = -1;
            continue;
        }
        let k = if rest > 0.0 { Binomial::new([share, 0.0], [rest, 0.0]).draw(draws) } else { 0.0 };
        rest -= k;
        *out = k as i64;
    }
}

/// Returns whether a normal distribution can be truncated at these bounds.
pub fn are_bounds(lower: f64, upper: f64) -> bool {
    lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY
}

/// The method that draws from a truncated normal distribution. In a tail, the distance from the bound is drawn from an
/// exponential distribution, and may then be rejected (Robert, "Simulation of truncated normal variables", 1995). This
/// exponential distribution is truncated at the other bound, so that a narrow range causes no further rejections.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Invalid,
    Fixed,
    /// For ranges in which `lower` is not below the mean.
    Above,
    /// For ranges in which `upper` is not above the mean.
    Below,
    /// For short ranges around the mean. Draws uniform numbers in the range, and rejects some of them.
    Uniform,
    /// For longer ranges around the mean. Draws normal numbers, and rejects those outside the range.
    Normal,
}

/// Normal distribution with the mean and standard deviation `shared`, truncated at the bounds `own`.
#[derive(Clone, Copy, Debug)]
pub struct TruncatedNormal {
    method: Method,
    lower: f64,
    upper: f64,
    mean: f64,
    std: f64,
    /// Rate of the exponential distribution. The field `shift` is the distance from the mean to the nearest bound,
    /// minus this rate. Both fields are in units of the standard deviation.
    rate: f64,
    shift: f64,
    /// `exp(-rate * length) - 1`
    cut: f64,
}

impl Sampler for TruncatedNormal {
    #[inline(always)]
    fn new(own: [f64; 2], shared: [f64; 2]) -> TruncatedNormal {
        let ([lower, upper], [mean, std]) = (own, shared);
        let from = (lower - mean) / std;
        let to = (upper - mean) / std;
        let length = (upper - lower) / std;
        let method = if !are_bounds(lower, upper) {
            Method::Invalid
        } else if lower == upper {
            Method::Fixed
        } else if from >= 0.0 {
            Method::Above
        } else if to <= 0.0 {
            Method::Below
        } else if length < 2.5 {
            Method::Uniform
        } else {
            Method::Normal
        };
        let nearest = if method == Method::Below { -to } else { from };
        let root = nearest + (nearest * nearest + 4.0).sqrt();
        let rate = 0.5 * root;
        // a length that was rounded to 0 would give NaN when multiplied by an infinite rate
        let length = if length < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { length };
        TruncatedNormal { method, lower, upper, mean, std, rate, shift: -2.0 / root, cut: expm1(-rate * length) }
    }

    #[inline(always)]
    fn draw(&self, draws: &mut Draws) -> f64 {
        let x = match self.method {
            Method::Invalid => f64::NAN,
            Method::Fixed => self.lower,
            Method::Above => self.lower + self.std * self.beyond(draws),
            Method::Below => self.upper - self.std * self.beyond(draws),
            Method::Uniform => self.around(draws),
            Method::Normal => self.normal(draws),
        };
        let x = if x > self.upper { self.upper } else { x };
        if x < self.lower { self.lower } else { x }
    }
}

impl TruncatedNormal {
    /// Draws the distance of a number from the bound nearest to the mean, in units of the standard deviation.
    #[inline(always)]
    fn beyond(&self, draws: &mut Draws) -> f64 {
        loop {
            let t = -log1p(draws.unit() * self.cut) / self.rate;
            let from_top = t + self.shift;
            if -2.0 * log(draws.positive()) >= from_top * from_top {
                return t;
            }
        }
    }

    #[inline(always)]
    fn around(&self, draws: &mut Draws) -> f64 {
        loop {
            let x = self.lower + (self.upper - self.lower) * draws.unit();
            let z = (x - self.mean) / self.std;
            if -2.0 * log(draws.positive()) >= z * z {
                return x;
            }
        }
    }

    #[inline(always)]
    fn normal(&self, draws: &mut Draws) -> f64 {
        loop {
            let x = self.of_normals(draws.normals());
            if !x.is_nan() {
                return x;
            }
        }
    }

    /// Returns whether the method draws from the normal distribution until a number is in the range.
    pub fn is_normal(&self) -> bool {
        self.method == Method::Normal
    }

    /// Scales two standard normal numbers, and returns the first of them that is in the range; NaN if neither is.
    #[inline(always)]
    pub fn of_normals(&self, pair: [f64; 2]) -> f64 {
        let (x, y) = (self.mean + self.std * pair[0], self.mean + self.std * pair[1]);
        let y = if (y >= self.lower) & (y <= self.upper) { y } else { f64::NAN };
        if (x >= self.lower) & (x <= self.upper) { x } else { y }
    }
}
