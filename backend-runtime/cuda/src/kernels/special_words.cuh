// Special functions. Few expressions use them, and programs that use none are compiled without this file.
//
// They are computed in double, by CUDA's functions or as on the CPU, and then rounded to the dtype; results of 16-bit
// floats are first rounded to float.

#define SPECIAL1(word)                                                                                                 \
    inline float op_##word(float x) { return float(op_##word(double(x))); }                                            \
    inline f16 op_##word(f16 x) { return f16(op_##word(float(x))); }                                                   \
    inline bf16 op_##word(bf16 x) { return bf16(op_##word(float(x))); }

#define SPECIAL2(word)                                                                                                 \
    inline float op_##word(float x, float y) { return float(op_##word(double(x), double(y))); }                        \
    inline f16 op_##word(f16 x, f16 y) { return f16(op_##word(float(x), float(y))); }                                  \
    inline bf16 op_##word(bf16 x, bf16 y) { return bf16(op_##word(float(x), float(y))); }

inline double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
inline double not_a_number() { return __longlong_as_double(0x7ff8000000000000LL); }
inline bool is_whole(double x) { return trunc(x) == x; }

// ---- gamma functions ----

inline double op_gamma(double x) { return x == 0 ? 1 / x : tgamma(x); }
inline double op_lgamma(double x) { return lgamma(x); }

inline double op_digamma(double x) {
    if (x != x) return x;
    if (fabs(x) < 2.7e-17) return -1 / x;
    if (x < 0 && (is_whole(x) || x == -infinity())) return not_a_number();
    const double size = fabs(x);
    double value;
    if (size < 8) {
        // the argument is moved to [1.125, 2.125); `above / below` is the sum of the terms 1 / (size - i) that must be
        // added
        double at = size, above = 0, below = 1;
        for (; at >= 2.125; at -= 1) {
            above = above * (at - 1) + below;
            below *= at - 1;
        }
        for (; at < 1.125; at += 1) {
            above = above * at - below;
            below *= at;
        }
        const double root = 1.4616321449683623, low = 9.549995429965697e-17;
        value = ((at - root) - low) * poly_digamma(at - 1.625) + above / below;
    } else {
        const double inverse = 1 / size, square = inverse * inverse;
        value = log(size) - (0.5 * inverse + square * poly_digamma_tail(square));
    }
    // digamma(-x) = digamma(x) + 1 / x + pi cot(pi x)
    if (x < 0) value += 1 / size + 3.141592653589793 * (cospi(size) / sinpi(size));
    return value;
}

// ---- numbers as sums of two doubles, of which the second is within the rounding error of the first ----

struct Wide {
    double high, low;
};

inline Wide wide_ordered(double x, double y) {
    const double sum = x + y;
    return Wide{sum, y - (sum - x)};
}

inline Wide wide_of_sum(double x, double y) {
    const double sum = x + y, rest = sum - x;
    return Wide{sum, (x - (sum - rest)) + (y - rest)};
}

inline Wide wide_add(Wide x, Wide y) {
    const Wide sum = wide_of_sum(x.high, y.high);
    return wide_ordered(sum.high, sum.low + (x.low + y.low));
}

inline Wide wide_negate(Wide x) { return Wide{-x.high, -x.low}; }

inline Wide wide_multiply(Wide x, Wide y) {
    const double product = x.high * y.high;
    return wide_ordered(product, fma(x.high, y.high, -product) + fma(x.high, y.low, x.low * y.high));
}

inline Wide wide_divide(Wide x, Wide y) {
    const double ratio = x.high / y.high;
    const double left = fma(ratio, -y.high, x.high) + fma(ratio, -y.low, x.low);
    return wide_ordered(ratio, left / y.high);
}

// exp(x) for |x| <= ln(2) / 2, by its series.
__noinline__ Wide wide_exp_near(Wide x) {
    Wide sum = Wide{1, 0};
#pragma unroll 1
    for (int n = 24; n > 0; --n) sum = wide_add(Wide{1, 0}, wide_divide(wide_multiply(sum, x), Wide{double(n), 0}));
    return sum;
}

// The logarithm by one step of Newton's method, y + x exp(-y) - 1, with the exponential as a sum of two doubles.
__noinline__ Wide wide_log(Wide x) {
    int exponent;
    double mantissa = frexp(x.high, &exponent);
    if (mantissa < 0.7071067811865476) {
        mantissa *= 2;
        exponent -= 1;
    }
    const double low = ldexp(x.low, -exponent), y = log(mantissa);
    // mantissa exp(-y) - 1, which is tiny
    const Wide rest = wide_add(wide_multiply(Wide{mantissa, low}, wide_exp_near(Wide{-y, 0})), Wide{-1, 0});
    const Wide near = wide_add(Wide{y, 0}, rest);
    const Wide two = Wide{0.6931471805599453, 2.3190468138462996e-17};
    return wide_add(wide_multiply(two, Wide{double(exponent), 0}), near);
}

inline double exp_of(Wide x) {
    const double value = exp(x.high);
    return value == 0 || value == infinity() ? value : fma(value, x.low, value);
}

// The difference between log(gamma(x)) and Stirling's formula, for x from 8 on.
inline double stirling_rest(double x) {
    const double inverse = 1 / x;
    return inverse * poly_stirling(inverse * inverse);
}

// ---- beta ----

__noinline__ Wide rising(Wide x, double n) {
    Wide product = Wide{1, 0};
#pragma unroll 1
    for (double i = 0; i < n; i += 1) product = wide_multiply(product, wide_add(x, Wide{i, 0}));
    return product;
}

__noinline__ Wide log1p_ratio(Wide above, Wide below) {
    const Wide ratio = wide_divide(above, below);
    // added to 1, a small number keeps its digits, because the sum is a `Wide`
    return ratio.high < 1e-9 ? wide_add(ratio, Wide{-0.5 * ratio.high * ratio.high, 0}) : wide_log(wide_add(Wide{1, 0}, ratio));
}

// The logarithm of the beta function of positive finite arguments.
__noinline__ Wide beta_log(double x, double y) {
    const double small = x < y ? x : y, large = x < y ? y : x;
    const double up = large < 8 ? ceil(8 - large) : 0, more = small < 8 ? ceil(8 - small) : 0;
    const Wide a = wide_of_sum(large, up), b = wide_of_sum(small, more);
    const Wide below = wide_multiply(rising(Wide{large, 0}, up), rising(Wide{small, 0}, more));
    const Wide above = large > 1e20 ? wide_multiply(wide_log(Wide{large, 0}), Wide{up + more, 0})
                                    : wide_log(rising(wide_of_sum(large, small), up + more));
    const Wide first = wide_multiply(log1p_ratio(b, a), wide_add(a, Wide{-0.5, 0}));
    const Wide second = wide_multiply(log1p_ratio(a, b), b);
    const Wide half = wide_multiply(wide_log(b), Wide{0.5, 0});
    const double rest = stirling_rest(a.high) + (stirling_rest(b.high) - stirling_rest(a.high + b.high));
    const Wide main = wide_add(Wide{0.9189385332046728, -3.878294158067242e-17}, Wide{rest, 0});
    const Wide factors = wide_add(above, wide_negate(wide_log(below)));
    return wide_add(wide_add(main, wide_negate(wide_add(wide_add(first, second), half))), factors);
}

inline bool is_pole(double x) { return x <= 0 && is_whole(x); }

// Returns a factor and sets `log`: the beta function is the factor times exp(log).
__noinline__ double beta_factor(double x, double y, Wide* log) {
    *log = Wide{0, 0};
    if (x != x || y != y) return not_a_number();
    if (is_pole(y) || (y < x && !is_pole(x))) {
        const double other = x;
        x = y;
        y = other;
    }
    if (is_pole(x)) {
        const bool finite = is_whole(y) && 1 - x - y > 0;
        const double sign = is_whole(0.5 * y) ? 1 : -1;
        if (finite && y > 0 && x != -infinity()) {
            // both numbers are positive integers
            *log = beta_log(1 - x - y, y);
            return sign;
        }
        return finite ? sign * infinity() : infinity();
    }
    const double both = x + y;
    if (x > 0) {
        if (y == infinity()) return x == y ? not_a_number() : 0;
        if (x < 1e-20) return 1 / x + 1 / y;
        *log = beta_log(x, y);
        return 1;
    }
    if (y == infinity()) return not_a_number();
    if (-x < 1e-20 && (fabs(y) < 1e-20 || y > 0)) return 1 / x + 1 / y;
    if (y > 0 && both > 0) {
        *log = wide_negate(beta_log(1 - x, both));
        return 3.141592653589793 / (sinpi(x) * y);
    }
    if (is_pole(both)) return 0;
    if (y > 0) {
        *log = beta_log(y, 1 - both);
        return sinpi(both) / sinpi(x);
    }
    *log = wide_negate(beta_log(1 - x, 1 - y));
    return 3.141592653589793 * sinpi(both) / (sinpi(x) * sinpi(y) * (1 - both));
}

__noinline__ double op_beta(double x, double y) {
    if ((x == 1 && y > 0) || (y == 1 && x > 0)) return 1 / (x * y);
    Wide log;
    const double factor = beta_factor(x, y, &log);
    return factor == 0 || factor - factor != 0 ? factor : factor * exp_of(log);
}

__noinline__ double op_betaln(double x, double y) {
    if ((x == 1 && y > 0) || (y == 1 && x > 0)) return -::log(x * y);
    Wide main;
    const double factor = beta_factor(x, y, &main);
    return main.high + (main.low + ::log(fabs(factor)));
}

// ---- incomplete gamma functions ----

// x^a exp(-x) / gamma(a + 1)
__noinline__ double incomplete_factor(double a, double x) {
    if (a < 8) {
        const Wide power = wide_multiply(wide_log(Wide{x, 0}), Wide{a, 0});
        return exp_of(wide_add(power, Wide{-x, 0})) / tgamma(a + 1);
    }
    const Wide log = wide_log(wide_divide(Wide{x, 0}, Wide{a, 0}));
    const Wide apart = wide_of_sum(x, -a);
    const Wide power = wide_add(wide_multiply(log, Wide{a, 0}), wide_negate(apart));
    return exp_of(wide_add(power, Wide{-stirling_rest(a), 0})) / sqrt(6.283185307179586 * a);
}

__noinline__ double incomplete_series(double a, double x) {
    double term = 1, total = 1, at = a;
#pragma unroll 1
    for (int i = 0; i < 10000; ++i) {
        at += 1;
        term *= x / at;
        total += term;
        if (term <= total * 2.8e-17) break;
    }
    return incomplete_factor(a, x) * total;
}

__noinline__ double incomplete_fraction(double a, double x) {
    const double least = 1e-300;
    double b = x + 1 - a, c = 1 / least, d = 1 / b, value = d;
#pragma unroll 1
    for (double i = 1; i < 10000; i += 1) {
        const double an = i * (a - i);
        b += 2;
        d = fma(an, d, b);
        if (fabs(d) < least) d = least;
        c = b + an / c;
        if (fabs(c) < least) c = least;
        d = 1 / d;
        const double step = d * c;
        value *= step;
        if (fabs(step - 1) <= 2.3e-16) break;
    }
    return incomplete_factor(a, x) * a * value;
}

__noinline__ double incomplete_upper_series(double a, double x) {
    double power = 1, total = 0;
#pragma unroll 1
    for (double n = 1; n < 10000; n += 1) {
        power *= -x / n;
        const double term = power * (a / (a + n));
        total += term;
        if (fabs(term) <= fabs(total) * 2.8e-17) break;
    }
    // log(gamma(1 + a)), which is small if a is small
    const double rest = a < 0.5 ? a : a - 1;
    const double log_gamma = rest * poly_lgamma(rest) - (a < 0.5 ? log1p(a) : 0);
    const double exponent = fma(a, log(x), -log_gamma);
    return -expm1(exponent) - exp(exponent) * total;
}

// The incomplete gamma function for large `a` and for `x` near `a`. `sign` is 1 for the upper function and -1 for the
// lower function.
__noinline__ double incomplete_near(double a, double x, double sign) {
    const double mu = (x - a) / a, r = mu / (2 + mu), square = r * r;
    double tail = 1.0 / 25;
    for (int i = 23; i >= 3; i -= 2) tail = fma(tail, square, 1.0 / i);
    const double half = fma(r, mu, -2 * (square * r) * tail), eta = copysign(sqrt(2 * half), mu);
    const double rest = exp(-a * half) / sqrt(6.283185307179586 * a) * temme(eta, 1 / a);
    return 0.5 * erfc(sign * eta * sqrt(0.5 * a)) + sign * rest;
}

// The regularised incomplete gamma function: the upper function if `upper` is true, else the lower function.
__noinline__ double incomplete_gamma(double a, double x, bool upper) {
    if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (a == infinity() && x == infinity())) return not_a_number();
    if (a == 0 || x == infinity()) return upper ? 0 : 1;
    if (x == 0 || a == infinity()) return upper ? 1 : 0;
    if (a > 100 && fabs(x - a) < 0.3 * a) return incomplete_near(a, x, upper ? 1 : -1);
    if (x > 1.1 && x > a) {
        const double value = incomplete_fraction(a, x);
        return upper ? value : 1 - value;
    }
    if (upper && x <= 1.1 && (x <= 0.5 ? -0.4 / log(x) >= a : x * 1.1 >= a)) return incomplete_upper_series(a, x);
    const double value = incomplete_series(a, x);
    return upper ? 1 - value : value;
}

inline double op_gammainc(double a, double x) { return incomplete_gamma(a, x, false); }
inline double op_gammaincc(double a, double x) { return incomplete_gamma(a, x, true); }

// ---- the inverse of the logistic function ----

// Near 1/2, the quotient is near 1, and its logarithm would lose digits.
inline double op_logit(double x) {
    return x < 0.25 || !(x <= 0.75) ? log(x / (1 - x)) : 2 * atanh(2 * (x - 0.5));
}

// ---- the inverses of the error function ----

inline double op_erfinv(double x) { return erfinv(x); }
inline double op_erfcinv(double x) { return erfcinv(x); }

// ---- Bessel functions ----

inline double from_root(double x, double root, double low) { return ((x - root) - low) * (x + root); }

inline double op_j0(double x) {
    const double size = fabs(x);
    if (size < 8) {
        const double z = size * size;
        const double roots = from_root(size, J0_ROOT_1, J0_ROOT_1_LOW) * from_root(size, J0_ROOT_2, J0_ROOT_2_LOW);
        return roots * ((J0_SQUARE_3 - z) * (J0_SQUARE_4 - z) * poly_j0_near(fma(z, 1.0 / 32, -1.0)));
    }
    const double inverse = 8 / size, square = inverse * inverse, s = sin(size), c = cos(size);
    const double p = poly_j0_cosine(square), q = poly_j0_sine(square) * (inverse / 8);
    return (p * (c + s) - q * (s - c)) * (0.5641895835477563 / sqrt(size));
}

inline double op_j1(double x) {
    const double size = fabs(x);
    double value;
    if (size < 8) {
        const double z = size * size;
        const double roots = from_root(size, J1_ROOT_1, J1_ROOT_1_LOW) * from_root(size, J1_ROOT_2, J1_ROOT_2_LOW);
        value = size * (roots * ((J1_SQUARE_3 - z) * (J1_SQUARE_4 - z) * poly_j1_near(fma(z, 1.0 / 32, -1.0))));
    } else {
        const double inverse = 8 / size, square = inverse * inverse, s = sin(size), c = cos(size);
        const double p = poly_j1_cosine(square), q = poly_j1_sine(square) * (inverse / 8);
        value = (p * (s - c) + q * (s + c)) * (0.5641895835477563 / sqrt(size));
    }
    // the function is odd: the result has the sign of x, also for -0
    return op_signbit(x) ? -value : value;
}

// Returns a modified Bessel function for size >= 8, where `far` is its value scaled by sqrt(size) exp(-size). The
// factor exp(size) is applied as exp(size / 2) twice, because exp(size) may overflow although the result does not. At
// infinity the result is NaN.
inline double modified_far(double size, double far) {
    const double half = exp(0.5 * size);
    return half * (far / sqrt(size)) * half + (size - size);
}

inline double op_i0(double x) {
    const double size = fabs(x);
    return size < 8 ? poly_i0_near(size * size / 64) : modified_far(size, poly_i0_far(8 / size));
}

inline double op_i0e(double x) {
    const double size = fabs(x);
    return size < 8 ? poly_i0_near(size * size / 64) * exp(-size) : poly_i0_far(8 / size) / sqrt(size);
}

inline double op_i1(double x) {
    const double size = fabs(x);
    return copysign(size < 8 ? size * poly_i1_near(size * size / 64) : modified_far(size, poly_i1_far(8 / size)), x);
}

inline double op_i1e(double x) {
    const double size = fabs(x);
    return copysign(size < 8 ? size * poly_i1_near(size * size / 64) * exp(-size) : poly_i1_far(8 / size) / sqrt(size), x);
}

SPECIAL1(gamma)
SPECIAL1(lgamma)
SPECIAL1(digamma)
SPECIAL1(logit)
SPECIAL1(erfinv)
SPECIAL1(erfcinv)
SPECIAL1(j0)
SPECIAL1(j1)
SPECIAL1(i0)
SPECIAL1(i0e)
SPECIAL1(i1)
SPECIAL1(i1e)
SPECIAL2(beta)
SPECIAL2(betaln)
SPECIAL2(gammainc)
SPECIAL2(gammaincc)
