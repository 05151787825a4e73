//! The numbers of the formulas in `real`, for `f32`. Written by `real/constants.py`.

pub use std::f32::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_E, PI};

/// Added and taken away again, it rounds to an integer, which is in the low bits between.
pub const ROUNDER: f32 = 1.2582912e+07;

/// ln 2 in so few bits that its product with any exponent is exact.
pub const LN_2_HIGH: f32 = 0.69314575;

/// Low-order part of the constant above.
pub const LN_2_LOW: f32 = 1.4286068e-06;

/// From here down the exponential is 0.
pub const EXP_MIN: f32 = -104.0;

/// From here up the exponential is infinite.
pub const EXP_MAX: f32 = 89.0;

/// From here up half the exponential is infinite.
pub const SINH_MAX: f32 = 90.0;

/// `(e^r - 1 - r - r^2 / 2) / r^3` for `|r| <= ln(2) / 2`.
pub const EXP: [f32; 5] = [0.16666667, 0.04166648, 0.008333282, 0.0013933397, 0.00019909946];

/// `(sinh(x) - x) / x^3` by powers of `x^2`, for `|x| <= 1`.
pub const SINH: [f32; 4] = [0.16666667, 0.008333311, 0.00019842635, 2.7839199e-06];

/// `(tanh(x) - x) / x^3` by powers of `x^2`, for `|x| <= 5/8`.
pub const TANH: [f32; 5] = [-0.33333284, 0.13331483, -0.053742826, 0.020648288, -0.005714357];

/// The bits of sqrt(1/2), the least mantissa of a logarithm.
pub const HALF_ROOT: u32 = 0x3f3504f3;

/// `(log((1 + s) / (1 - s)) - 2 s) / s^3` by powers of `s^2`, for `(1 + s) / (1 - s)` in [sqrt(1/2), sqrt(2)].
pub const LOG: [f32; 3] = [0.66666776, 0.39977568, 0.2987155];

/// The same less 2/3, divided by `s^2`: for logarithms in two words.
pub const LOG_NEXT: [f32; 3] = [0.40000153, 0.28547102, 0.23419522];

/// 2/3.
pub const TWO_THIRDS: f32 = 0.6666667;

/// Low-order part of the constant above.
pub const TWO_THIRDS_LOW: f32 = -1.9868216e-08;

/// Low-order part of `LOG2_E`.
pub const LOG2_E_LOW: f32 = 1.925963e-08;

/// Low-order part of `LOG10_E`.
pub const LOG10_E_LOW: f32 = -1.010305e-08;

/// log10(2) in so few bits that its product with any exponent is exact.
pub const LOG10_2_HIGH: f32 = 0.3010254;

/// Low-order part of the constant above.
pub const LOG10_2_LOW: f32 = 4.605039e-06;

/// The cube root of 2.
pub const CBRT_2: f32 = 1.2599211;

/// `(1 + f)^(-1/3)` to start from, for `1 + f` in [sqrt(1/2), sqrt(2)].
pub const INVERSE_CBRT: [f32; 4] = [0.99977666, -0.33467814, 0.2377593, -0.15851475];

/// Magnitude from which sines need more of pi/2 than three words.
pub const FAR: f32 = 131072.0;

/// Low-order part of `FRAC_PI_2`.
pub const FRAC_PI_2_LOW: f32 = -4.371139e-08;

/// Low-order part of the constant above.
pub const FRAC_PI_2_LOWEST: f32 = -1.7151245e-15;

/// Low-order part of `PI`.
pub const PI_LOW: f32 = -8.742278e-08;

/// `(sin(r) - r) / r^3` by powers of `r^2`, for `|r| <= pi/4`.
pub const SIN: [f32; 3] = [-0.16666654, 0.008332102, -0.00019506787];

/// `(cos(r) - 1 + r^2 / 2) / r^4` by powers of `r^2`, for `|r| <= pi/4`.
pub const COS: [f32; 3] = [0.041666646, -0.0013887301, 2.4430661e-05];

/// `(asin(x) - x) / x^3` by powers of `x^2`, for `|x| <= 1/2`.
pub const ASIN: [f32; 5] = [0.16666754, 0.07495249, 0.04547664, 0.024148317, 0.042219337];

/// `(atan(t) - t) / t^3` by powers of `t^2`, for `|t| <= 7/16`.
pub const ATAN: [f32; 5] = [-0.33333305, 0.19997787, -0.14230314, 0.10495158, -0.058281];

/// The same less -1/3, divided by `t^2`: for angles in two words.
pub const ATAN_NEXT: [f32; 5] = [0.19999938, -0.1428229, 0.11042856, -0.08445547, 0.046503443];

/// 1/3.
pub const THIRD: f32 = 0.33333334;

/// Low-order part of the constant above.
pub const THIRD_LOW: f32 = -9.934108e-09;

/// atan(1/2).
pub const ATAN_1_2: f32 = 0.4636476;

/// Low-order part of the constant above.
pub const ATAN_1_2_LOW: f32 = 5.0121587e-09;

/// atan(3/2).
pub const ATAN_3_2: f32 = 0.98279375;

/// Low-order part of the constant above.
pub const ATAN_3_2_LOW: f32 = -2.5131424e-08;

/// `erf(x) / x - 1` by powers of `x^2`, for `|x| <= 1`.
pub const ERF: [f32; 7] =
    [0.12837917, -0.37612626, 0.112835854, -0.026853815, 0.0051883305, -0.00080102024, 7.85385e-05];

/// From here up the error function is 1.
pub const ERF_MAX: f32 = 4.0;

/// The M of `ERF_TAIL`.
pub const ERF_MIDDLE: f32 = 2.0;

/// `exp(x^2) erfc(x) (x + M)` by powers of `(x - M) / (x + M)`, from 1 on: the better the smaller `erfc(x)`.
pub const ERF_TAIL: [f32; 6] = [1.0215827, -0.6871597, 0.27947104, -0.036590867, -0.02265426, 0.0031886604];

/// From here up `erfc` is 0.
pub const ERFC_MAX: f32 = 10.15;

/// The M of `ERFC`.
pub const ERFC_MIDDLE: f32 = 3.0;

/// `exp(x^2) erfc(x) (2 x + 1)` by powers of `(x - M) / (x + M)`, from 1/2 to `ERFC_MAX`. The first coefficient.
pub const ERFC_FIRST: f32 = 1.253008;

/// Low-order part of the constant above.
pub const ERFC_FIRST_LOW: f32 = 5.0178574e-08;

/// `exp(x^2) erfc(x) (2 x + 1)` by powers of `(x - M) / (x + M)`, from 1/2 to `ERFC_MAX`. The other coefficients.
pub const ERFC: [f32; 9] = [
    -0.13562104,
    -0.047562286,
    0.12964243,
    -0.11927427,
    0.06833928,
    -0.023759862,
    0.002389301,
    0.0018285821,
    -0.00053145364,
];

/// Squares of two larger numbers may overflow.
pub const SQUARE_HUGE: f32 = 4.611686e+18;

/// Factor that numbers beyond the limit above are multiplied by before they are squared.
pub const SQUARE_DOWN: f32 = 8.4703295e-22;

/// Squares of smaller numbers lose bits.
pub const SQUARE_TINY: f32 = 8.881784e-16;

/// Factor that numbers beyond the limit above are multiplied by before they are squared.
pub const SQUARE_UP: f32 = 1.2676506e+30;

/// A multiple of a larger number may overflow.
pub const ANGLE_HUGE: f32 = 1.329228e+36;

/// Factor that both coordinates are multiplied by above that limit: if the other one loses bits, the angle is 0.
pub const ANGLE_DOWN: f32 = 5.9604645e-08;

/// A multiple of a smaller number may lose bits.
pub const ANGLE_TINY: f32 = 8.077936e-28;

/// Factor that both coordinates are multiplied by below that limit.
pub const ANGLE_UP: f32 = 1.1529215e+18;
