//! The numbers of the special functions in `real`, for `f32`. Written by `real/special_constants.py`.

/// log(2 pi) / 2.
pub const HALF_LN_2_PI: f32 = 0.9189385;

/// Low-order part of the constant above.
pub const HALF_LN_2_PI_LOW: f32 = 1.5634177e-08;

/// log(pi).
pub const LN_PI: f32 = 1.1447299;

/// From here up the gamma function is infinite.
pub const GAMMA_MAX: f32 = 36.0;

/// Below minus this it is 0.
pub const GAMMA_MIN: f32 = 44.0;

/// From here up its logarithm is infinite.
pub const LGAMMA_MAX: f32 = 4.0850034e+36;

/// `(gamma(2 + t) - 1) / t` for `|t| <= 1/2`.
pub const GAMMA: [f32; 10] = [
    0.42278433,
    0.41184035,
    0.08157715,
    0.074248694,
    -0.00027221662,
    0.011159094,
    -0.002805053,
    0.002068611,
    -0.0011044655,
    0.0006020767,
];

/// `log(gamma(2 + t)) / t` for `|t| <= 1/2`.
pub const LGAMMA: [f32; 9] = [
    0.42278433,
    0.32246703,
    -0.06735222,
    0.020581603,
    -0.00738743,
    0.0028790536,
    -0.0011778318,
    0.00056983053,
    -0.00026986242,
];

/// What Stirling's formula leaves of `log(gamma(x))`, times `x`, by powers of `1 / x^2`, from 8 on.
pub const STIRLING: [f32; 2] = [0.083333276, -0.0027624683];

/// The positive root of the digamma function.
pub const DIGAMMA_ROOT: f32 = 1.4616321;

/// Low-order part of the constant above.
pub const DIGAMMA_ROOT_LOW: f32 = 1.243815e-08;

/// The digamma function of `1.625 + t` over the distance from its root, for `|t| <= 1/2`.
pub const DIGAMMA: [f32; 11] = [
    0.9015925,
    -0.369775,
    0.19272017,
    -0.10919475,
    0.06426029,
    -0.038607158,
    0.023420338,
    -0.013823819,
    0.008417352,
    -0.0070148166,
    0.004379706,
];

/// `x^2 (log(x) - 1 / (2 x) - digamma(x))` by powers of `1 / x^2`, from 8 on.
pub const DIGAMMA_TAIL: [f32; 2] = [0.083332926, -0.008248598];

/// Root 1 of `J0`.
pub const J0_ROOT_1: f32 = 2.4048254;

/// Low-order part of the constant above.
pub const J0_ROOT_1_LOW: f32 = 1.08705905e-07;

/// Root 2 of `J0`.
pub const J0_ROOT_2: f32 = 5.520078;

/// Low-order part of the constant above.
pub const J0_ROOT_2_LOW: f32 = -7.1934146e-08;

/// The square of root 3 of `J0`.
pub const J0_SQUARE_3: f32 = 74.88701;

/// The square of root 4 of `J0`.
pub const J0_SQUARE_4: f32 = 139.04028;

/// `J0(x) / x^0` over its roots and factors of the next ones, by powers of `x^2 / 32 - 1`, up to 8.
pub const J0_NEAR: [f32; 8] = [
    2.4909258e-07,
    -2.0143813e-07,
    7.4529545e-08,
    -1.6925307e-08,
    2.6686573e-09,
    -3.1327985e-10,
    2.8868073e-11,
    -2.0726146e-12,
];

/// The factor of the cosine in `J0(x) sqrt(pi x / 2)`, by powers of `64 / x^2`, from 8 on.
pub const J0_COSINE: [f32; 5] = [1.0, -0.0010986286, 2.7345115e-05, -2.0733723e-06, 2.0938417e-07];

/// That of minus the sine, times `x`.
pub const J0_SINE: [f32; 5] = [-0.125, 0.001144391, -5.528924e-05, 6.096881e-06, -7.479274e-07];

/// `I0(x) / x^0` by powers of `x^2 / 64`, up to 8.
pub const I0_NEAR: [f32; 11] =
    [1.0, 16.0, 64.00001, 113.777565, 113.780235, 72.80222, 32.42184, 10.4327755, 2.834331, 0.35872722, 0.15640981];

/// `I0(x) exp(-x) sqrt(x)` by powers of `8 / x`, from 8 on.
pub const I0_FAR: [f32; 10] = [
    0.3989423,
    0.0062334705,
    0.00043836597,
    5.619514e-05,
    1.6018528e-05,
    -1.3844606e-05,
    3.2431475e-05,
    -3.4136807e-05,
    1.988711e-05,
    -4.325529e-06,
];

/// Root 1 of `J1`.
pub const J1_ROOT_1: f32 = 3.831706;

/// Low-order part of the constant above.
pub const J1_ROOT_1_LOW: f32 = -7.685059e-08;

/// Root 2 of `J1`.
pub const J1_ROOT_2: f32 = 7.015587;

/// Low-order part of the constant above.
pub const J1_ROOT_2_LOW: f32 = -1.8321172e-07;

/// The square of root 3 of `J1`.
pub const J1_SQUARE_3: f32 = 103.49945;

/// The square of root 4 of `J1`.
pub const J1_SQUARE_4: f32 = 177.52077;

/// `J1(x) / x^1` over its roots and factors of the next ones, by powers of `x^2 / 32 - 1`, up to 8.
pub const J1_NEAR: [f32; 8] = [
    1.874059e-08,
    -1.34175995e-08,
    4.4431383e-09,
    -9.1155133e-10,
    1.3089667e-10,
    -1.4091779e-11,
    1.1970871e-12,
    -7.99202e-14,
];

/// The factor of the cosine in `J1(x) sqrt(pi x / 2)`, by powers of `64 / x^2`, from 8 on.
pub const J1_COSINE: [f32; 5] = [1.0, 0.00183105, -3.5163976e-05, 2.4575222e-06, -2.4033213e-07];

/// That of minus the sine, times `x`.
pub const J1_SINE: [f32; 5] = [0.375, -0.0016021527, 6.759365e-05, -7.058324e-06, 8.4626845e-07];

/// `I1(x) / x^1` by powers of `x^2 / 64`, up to 8.
pub const I1_NEAR: [f32; 11] = [
    0.5,
    4.0,
    10.666667,
    14.222208,
    11.377923,
    6.0673056,
    2.3146274,
    0.65403986,
    0.15552571,
    0.018965267,
    0.0068800896,
];

/// `I1(x) exp(-x) sqrt(x)` by powers of `8 / x`, from 8 on.
pub const I1_FAR: [f32; 10] = [
    0.3989423,
    -0.018700417,
    -0.00073056715,
    -7.8945006e-05,
    -1.95643e-05,
    1.4527572e-05,
    -3.4893124e-05,
    3.6417692e-05,
    -2.1119882e-05,
    4.5470965e-06,
];

/// From here up `I0` and `I1` are infinite.
pub const I_MAX: f32 = 93.0;

/// 1 / sqrt(pi).
pub const FRAC_1_SQRT_PI: f32 = 0.5641896;

/// The least `sqrt(w)` of `INVERSE_3`.
pub const INVERSE_3_START: f32 = 5.0;

/// The M of `INVERSE_3`.
pub const INVERSE_3_MIDDLE: f32 = 7.1414285;

/// `erfinv(x) / (x sqrt(w))` by powers of `(sqrt(w) - M) / (sqrt(w) + M)`, for the least `1 - x`.
pub const INVERSE_3: [f32; 7] =
    [0.98182786, 0.053246126, -0.067793734, 0.057142247, -0.034998596, 0.00108655, 0.036135133];

/// The middle of the range of the polynomial below.
pub const INVERSE_0_MIDDLE: f32 = 3.125;

/// `erfinv(x) / x` by powers of `w` less the middle, where `w = -log(1 - x^2)`, from 0.0 to 6.25.
pub const INVERSE_0: [f32; 12] = [
    1.6536546,
    0.24015817,
    -0.006033706,
    -0.00074066705,
    0.00018677798,
    -1.39059475e-05,
    -1.3852898e-06,
    4.3022692e-07,
    -2.5031992e-08,
    -5.0855538e-09,
    6.729753e-10,
    1.8106645e-11,
];

/// The middle of the range of the polynomial below.
pub const INVERSE_1_MIDDLE: f32 = 3.25;

/// `erfinv(x) / x` by powers of `sqrt(w)` less the middle, where `w = -log(1 - x^2)`, from 2.5 to 4.0.
pub const INVERSE_1: [f32; 9] = [
    3.0838857,
    1.0052587,
    0.0053719077,
    -0.0037448213,
    0.0024803798,
    -0.0017293884,
    0.0009976362,
    -0.00025919982,
    -5.079418e-05,
];

/// The middle of the range of the polynomial below.
pub const INVERSE_2_MIDDLE: f32 = 4.5;

/// `erfinv(x) / x` by powers of `sqrt(w)` less the middle, where `w = -log(1 - x^2)`, from 4.0 to 5.0.
pub const INVERSE_2: [f32; 6] = [4.3447537, 1.0102328, 0.00032702993, -0.00042983016, 0.00015228777, -4.3351516e-05];
