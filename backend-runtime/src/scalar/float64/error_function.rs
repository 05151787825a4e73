//! `erf` and `erfc`.

use super::exact::{polynomial, product, sum, sum_ordered};
use super::exp::{Parts, between, exp, parts_of, scale};

/// `erf(x) / x - 1` by powers of `x^2`, for `|x| <= 1`.
const ERF: [f64; 13] = [
    0.1283791670955126,
    -0.3761263890318375,
    0.11283791670954858,
    -0.02686617064507296,
    0.00522397762478137,
    -0.0008548326978765149,
    0.00012055331037551108,
    -1.4925593518728226e-05,
    1.6460972954153765e-06,
    -1.635002619207727e-07,
    1.4657883530919653e-08,
    -1.136567067182716e-09,
    5.945255584223488e-11,
];

/// `exp(x^2) erfc(x) (x + 5/2)` by powers of `(x - 5/2) / (x + 5/2)`, for `1 <= x <= 6`: the better the smaller x.
const ERF_TAIL: [f64; 12] = [
    1.0540318203057188,
    -0.8046518494391532,
    0.453914116646757,
    -0.17125114526721494,
    0.02836155013851924,
    0.008393046841154932,
    -0.00481876382151057,
    -0.00043916161399419433,
    0.0007023456575792436,
    5.5399474377017596e-05,
    -0.00012250392899254746,
    -3.794946079918196e-05,
];

/// `exp(x^2) erfc(x) (2 x + 1)` by powers of `(x - 4) / (x + 4)`, for `0 <= x <= 28`: the first coefficient and the others.
const ERFC_FIRST: f64 = 1.2329951186255526;
const ERFC_FIRST_LOW: f64 = -4.516586628517401e-17;
const ERFC: [f64; 12] = [
    -0.13962111684056253,
    0.015379652102619622,
    0.06809705425469532,
    -0.10103906603629774,
    0.09373283499825619,
    -0.06633036581235967,
    0.03716751553897872,
    -0.01619773405621195,
    0.005031969964872724,
    -0.000757773299223129,
    -0.00019925662545783432,
    0.00015062172342759434,
];
/// The coefficients from the thirteenth of those on.
const ERFC_HIGH: [f64; 11] = [
    -2.439944247340637e-05,
    -1.1222182987004859e-05,
    5.710197286065256e-06,
    2.941619422244425e-07,
    -8.25967108245305e-07,
    7.410498530775314e-08,
    1.1033331664305656e-07,
    -1.746930555515815e-08,
    -1.4070620474727555e-08,
    1.6771377582018808e-09,
    1.1980967963974591e-09,
];

/// The error function up to 1.
#[inline(always)]
fn near_0(x: f64) -> f64 {
    x.mul_add(polynomial(x * x, &ERF), x)
}

/// Error function. Within 1 ulp.
#[inline(always)]
pub fn erf(x: f64) -> f64 {
    let size = x.abs();
    let small = near_0(size);
    // 1 - erfc(x), which from 6 on is 1
    let large = between(1.0, 6.0, size);
    let inverse = 1.0 / (large + 2.5);
    let tail = inverse * polynomial((large - 2.5) * inverse, &ERF_TAIL);
    let large = exp(-large * large).mul_add(-tail, 1.0);
    (if size < 1.0 { small } else { large }).copysign(x)
}

/// `1 - erf(x)`, accurate for large x. Within 1 ulp.
#[inline(always)]
pub fn erfc(x: f64) -> f64 {
    // from 27.3 on it is 0
    let size = between(0.0, 27.3, x.abs());
    let t = (size - 4.0) / (size + 4.0);
    let twelfth = ((t * t) * (t * t)) * ((t * t) * (t * t)) * ((t * t) * (t * t));
    let series = twelfth.mul_add(polynomial(t, &ERFC_HIGH), polynomial(t, &ERFC));
    let (above, above_low) = sum_ordered(ERFC_FIRST, t.mul_add(series, ERFC_FIRST_LOW));
    let (below, below_low) = sum(1.0, 2.0 * size);
    let inverse = 1.0 / below;
    let ratio = above * inverse;
    let ratio_low = (ratio.mul_add(-below, above) + ratio.mul_add(-below_low, above_low)) * inverse;
    let (square, square_low) = product(size, size);
    let Parts { n, high, low } = parts_of(-square, -square_low);
    let tail = scale(ratio + ratio.mul_add(high, ratio.mul_add(low, ratio_low)), n);
    let value = if x < 0.0 { 2.0 - tail } else { tail };
    if size < 0.5 { 1.0 - near_0(x) } else { value }
}
