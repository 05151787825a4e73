//! The numbers of the formulas in `real`, for `f64`. Written by `real/constants.py`.

pub use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_E, PI};

/// Added and taken away again, it rounds to an integer, which is in the low bits between.
pub const ROUNDER: f64 = 6755399441055744.0;

/// ln 2 in so few bits that its product with any exponent is exact.
pub const LN_2_HIGH: f64 = 0.6931471805598903;

/// Low-order part of the constant above.
pub const LN_2_LOW: f64 = 5.497923018708371e-14;

/// From here down the exponential is 0.
pub const EXP_MIN: f64 = -746.0;

/// From here up the exponential is infinite.
pub const EXP_MAX: f64 = 710.0;

/// From here up half the exponential is infinite.
pub const SINH_MAX: f64 = 711.0;

/// `(e^r - 1 - r - r^2 / 2) / r^3` for `|r| <= ln(2) / 2`.
pub const EXP: [f64; 10] = [
    0.16666666666666677,
    0.04166666666666669,
    0.00833333333332162,
    0.0013888888888869838,
    0.00019841269886211198,
    2.480158735669221e-05,
    2.7557244077640206e-06,
    2.7557245126345326e-07,
    2.5109096050977908e-08,
    2.0923886473811102e-09,
];

/// `(sinh(x) - x) / x^3` by powers of `x^2`, for `|x| <= 1`.
pub const SINH: [f64; 8] = [
    0.16666666666666666,
    0.00833333333333357,
    0.00019841269841066548,
    2.7557319307086626e-06,
    2.505209021538844e-08,
    1.6061227943401397e-10,
    7.510977232814858e-13,
    6.263740140090446e-15,
];

/// `(tanh(x) - x) / x^3` by powers of `x^2`, for `|x| <= 5/8`.
pub const TANH: [f64; 11] = [
    -0.33333333333332876,
    0.13333333333264685,
    -0.053968253932375365,
    0.021869487599522036,
    -0.00886322128729914,
    0.003591991312886357,
    -0.0014549691511611602,
    0.0005863481369243992,
    -0.0002286244271218427,
    7.720912091019298e-05,
    -1.610260646220985e-05,
];

/// The bits of sqrt(1/2), the least mantissa of a logarithm.
pub const HALF_ROOT: u64 = 0x3fe6a09e667f3bcd;

/// `(log((1 + s) / (1 - s)) - 2 s) / s^3` by powers of `s^2`, for `(1 + s) / (1 - s)` in [sqrt(1/2), sqrt(2)].
pub const LOG: [f64; 7] = [
    0.6666666666666735,
    0.3999999999940939,
    0.28571428743625404,
    0.2222219844103445,
    0.1818357144590696,
    0.15313862027603004,
    0.14797899626093824,
];

/// The same less 2/3, divided by `s^2`: for logarithms in two words.
pub const LOG_NEXT: [f64; 8] = [
    0.3999999999999998,
    0.2857142857144522,
    0.2222222221751061,
    0.18181818873490738,
    0.15384556654094614,
    0.13336325772375893,
    0.11674648761672407,
    0.11990428403741818,
];

/// 2/3.
pub const TWO_THIRDS: f64 = 0.6666666666666666;

/// Low-order part of the constant above.
pub const TWO_THIRDS_LOW: f64 = 3.700743415417188e-17;

/// Low-order part of `LOG2_E`.
pub const LOG2_E_LOW: f64 = 2.0355273740931033e-17;

/// Low-order part of `LOG10_E`.
pub const LOG10_E_LOW: f64 = 1.098319650216765e-17;

/// log10(2) in so few bits that its product with any exponent is exact.
pub const LOG10_2_HIGH: f64 = 0.30102999566395283;

/// Low-order part of the constant above.
pub const LOG10_2_LOW: f64 = 2.8363394551044964e-14;

/// The cube root of 2.
pub const CBRT_2: f64 = 1.2599210498948732;

/// `(1 + f)^(-1/3)` to start from, for `1 + f` in [sqrt(1/2), sqrt(2)].
pub const INVERSE_CBRT: [f64; 7] = [
    1.0000007558108166,
    -0.3333432071118315,
    0.22207570812426758,
    -0.17206949438295358,
    0.14786965354065099,
    -0.14135007258402146,
    0.09327648047631097,
];

/// Magnitude from which sines need more of pi/2 than three words.
pub const FAR: f64 = 1073741824.0;

/// Low-order part of `FRAC_PI_2`.
pub const FRAC_PI_2_LOW: f64 = 6.123233995736766e-17;

/// Low-order part of the constant above.
pub const FRAC_PI_2_LOWEST: f64 = -1.4973849048591698e-33;

/// Low-order part of `PI`.
pub const PI_LOW: f64 = 1.2246467991473532e-16;

/// The bits of 2/pi, the first one of weight 1/2.
pub const FRAC_2_PI_BITS: [u64; 20] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
];

/// `(sin(r) - r) / r^3` by powers of `r^2`, for `|r| <= pi/4`.
pub const SIN: [f64; 6] = [
    -0.16666666666666627,
    0.008333333333321076,
    -0.00019841269828696777,
    2.7557313294459253e-06,
    -2.5050694229120158e-08,
    1.5893007411538926e-10,
];

/// `(cos(r) - 1 + r^2 / 2) / r^4` by powers of `r^2`, for `|r| <= pi/4`.
pub const COS: [f64; 6] = [
    0.04166666666666659,
    -0.0013888888888872056,
    2.4801587288144594e-05,
    -2.7557313954176855e-07,
    2.0875667739536983e-09,
    -1.1356707409556057e-11,
];

/// `(asin(x) - x) / x^3` by powers of `x^2`, for `|x| <= 1/2`.
pub const ASIN: [f64; 12] = [
    0.1666666666666538,
    0.07500000000343975,
    0.04464285682249282,
    0.03038195937885165,
    0.02237175225297295,
    0.017359791861730103,
    0.013884380170563974,
    0.012174787711134701,
    0.00650404549261442,
    0.019593227311483757,
    -0.01632536695933329,
    0.03198102335197102,
];

/// `(atan(t) - t) / t^3` by powers of `t^2`, for `|t| <= 7/16`.
pub const ATAN: [f64; 11] = [
    -0.33333333333332926,
    0.1999999999987511,
    -0.14285714272380645,
    0.11111110399932861,
    -0.09090886989387852,
    0.0769187387781063,
    -0.06661049088997052,
    0.0583341104389975,
    -0.04976226445840713,
    0.03651653359717731,
    -0.016270866147308848,
];

/// The same less -1/3, divided by `t^2`: for angles in two words.
pub const ATAN_NEXT: [f64; 12] = [
    0.19999999999999876,
    -0.14285714285685563,
    0.11111111108494887,
    -0.09090908961720282,
    0.07692303751513173,
    -0.06666587093922939,
    0.058812473895749895,
    -0.052523791433471155,
    0.046877889669781216,
    -0.03991501933601806,
    0.028299502450473336,
    -0.011790130390285,
];

/// 1/3.
pub const THIRD: f64 = 0.3333333333333333;

/// Low-order part of the constant above.
pub const THIRD_LOW: f64 = 1.850371707708594e-17;

/// atan(1/2).
pub const ATAN_1_2: f64 = 0.4636476090008061;

/// Low-order part of the constant above.
pub const ATAN_1_2_LOW: f64 = 2.2698777452961687e-17;

/// atan(3/2).
pub const ATAN_3_2: f64 = 0.982793723247329;

/// Low-order part of the constant above.
pub const ATAN_3_2_LOW: f64 = 1.3903311031230998e-17;

/// `erf(x) / x - 1` by powers of `x^2`, for `|x| <= 1`.
pub const ERF: [f64; 13] = [
    0.1283791670955126,
    -0.3761263890318375,
    0.11283791670954858,
    -0.02686617064507296,
    0.00522397762478137,
    -0.0008548326978765149,
    0.00012055331037551082,
    -1.4925593518727687e-05,
    1.6460972954145884e-06,
    -1.6350026192000367e-07,
    1.465788353043927e-08,
    -1.1365670670090166e-09,
    5.945255581458664e-11,
];

/// From here up the error function is 1.
pub const ERF_MAX: f64 = 6.0;

/// The M of `ERF_TAIL`.
pub const ERF_MIDDLE: f64 = 2.5;

/// `exp(x^2) erfc(x) (x + M)` by powers of `(x - M) / (x + M)`, from 1 on: the better the smaller `erfc(x)`.
pub const ERF_TAIL: [f64; 12] = [
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

/// From here up `erfc` is 0.
pub const ERFC_MAX: f64 = 27.3;

/// The M of `ERFC`.
pub const ERFC_MIDDLE: f64 = 4.0;

/// `exp(x^2) erfc(x) (2 x + 1)` by powers of `(x - M) / (x + M)`, from 1/2 to `ERFC_MAX`. The first coefficient.
pub const ERFC_FIRST: f64 = 1.2329951186255526;

/// Low-order part of the constant above.
pub const ERFC_FIRST_LOW: f64 = -4.5825411881334816e-17;

/// `exp(x^2) erfc(x) (2 x + 1)` by powers of `(x - M) / (x + M)`, from 1/2 to `ERFC_MAX`. The other coefficients.
pub const ERFC: [f64; 22] = [
    -0.1396211168405625,
    0.015379652102619847,
    0.06809705425468857,
    -0.10103906603631055,
    0.09373283499852943,
    -0.0663303658120724,
    0.037167515533885476,
    -0.016197734059575777,
    0.005031970017641195,
    -0.000757773275755154,
    -0.0001992569598946785,
    0.00015062161891273517,
    -2.4398078950874317e-05,
    -1.1221876587109176e-05,
    5.706546916247988e-06,
    2.9357078107539417e-07,
    -8.195856347301382e-07,
    7.482926551711999e-08,
    1.0332031674158207e-07,
    -1.798078877423097e-08,
    -9.674673837361196e-09,
    1.835751766947164e-09,
];

/// Squares of two larger numbers may overflow.
pub const SQUARE_HUGE: f64 = 3.3519519824856493e+153;

/// Factor that numbers beyond the limit above are multiplied by before they are squared.
pub const SQUARE_DOWN: f64 = 2.409919865102884e-181;

/// Squares of smaller numbers lose bits.
pub const SQUARE_TINY: f64 = 3.4395525670743494e-136;

/// Factor that numbers beyond the limit above are multiplied by before they are squared.
pub const SQUARE_UP: f64 = 4.149515568880993e+180;

/// A multiple of a larger number may overflow.
pub const ANGLE_HUGE: f64 = 1.0715086071862673e+301;

/// Factor that both coordinates are multiplied by above that limit: if the other one loses bits, the angle is 0.
pub const ANGLE_DOWN: f64 = 7.888609052210118e-31;

/// A multiple of a smaller number may lose bits.
pub const ANGLE_TINY: f64 = 1.1830521861667747e-271;

/// Factor that both coordinates are multiplied by below that limit.
pub const ANGLE_UP: f64 = 1.2676506002282294e+30;
