// Distributions whose numbers take a varying number of draws, so that each element has its own stream of random
// numbers. The code matches the crate's `random::samplers` operation by operation, and the compiler must not contract
// multiplications and additions, so that both give the same bits. Exponentials and logarithms are therefore computed as
// on the CPU (`scalar/real/exp.rs`, `scalar/real/log.rs`), and not by the device's functions.

// ---- exponentials and logarithms ----

inline double infinite() { return __longlong_as_double(0x7ff0000000000000ll); }
inline double not_a_number() { return __longlong_as_double(0x7ff8000000000000ll); }

struct Sum {
    double high, low;
};

inline Sum sum_ordered(double x, double y) {
    double sum = x + y;
    return Sum{sum, y - (sum - x)};
}

inline double between(double low, double high, double x) {
    x = x > high ? high : x;
    return x < low ? low : x;
}

struct Parts {
    double n, high, low;
};

constexpr double ROUNDER = 6755399441055744.0, LN_2_HIGH = 0.6931471805598903, LN_2_LOW = 5.497923018708371e-14;

// (e^r - 1 - r) / r^2
inline double exp_series(double r) {
    double square = r * r, odd = 2.0923886473811102e-09, even = 2.5109096050977908e-08;
    odd = fma(odd, square, 2.7557245126345326e-07);
    even = fma(even, square, 2.7557244077640206e-06);
    odd = fma(odd, square, 2.480158735669221e-05);
    even = fma(even, square, 0.00019841269886211198);
    odd = fma(odd, square, 0.0013888888888869838);
    even = fma(even, square, 0.00833333333332162);
    odd = fma(odd, square, 0.04166666666666669);
    even = fma(even, square, 0.16666666666666677);
    return fma(r, fma(odd, r, even), 0.5);
}

inline Parts exp_parts(double x) {
    double n = fma(x, 1.4426950408889634, ROUNDER) - ROUNDER;
    double near = fma(n, -LN_2_HIGH, x);
    Sum r = sum_ordered(near, n * -LN_2_LOW);
    double tail = fma(r.high * r.high, exp_series(r.high), r.low);
    Sum value = sum_ordered(r.high, tail);
    return Parts{n, value.high, value.low};
}

inline double power_of_two(double rounded) { return __longlong_as_double((__double_as_longlong(rounded) + 1023) << 52); }

inline double scaled_by(double x, double n) {
    double half = fma(n, 0.5, ROUNDER), other = (n - (half - ROUNDER)) + ROUNDER;
    return x * power_of_two(half) * power_of_two(other);
}

inline double exact_exp(double x) {
    x = between(-746.0, 710.0, x);
    double n = fma(x, 1.4426950408889634, ROUNDER) - ROUNDER;
    double r = fma(n, -LN_2_LOW, fma(n, -LN_2_HIGH, x));
    return scaled_by(1.0 + fma(r * r, exp_series(r), r), n);
}

inline double exact_expm1(double x) {
    Parts parts = exp_parts(between(-40.0, 710.0, x));
    double most = parts.n > 1023.0 ? 1023.0 : parts.n, power = power_of_two(most + ROUNDER), less = power - 1.0;
    double value = fma(power, parts.high, less), lost = fma(power, parts.high, less - value);
    value = value + fma(power, parts.low, lost);
    return copysign(parts.n > most ? 2.0 * value : value, x);
}

// A positive normal number, as 2^k m.
struct Split {
    double k, m;
    u64 power;
};

inline Split split(double x) {
    const u64 one = u64(1023) << 52, half_root = 0x3fe6a09e667f3bcdull, exponent = 0x7ff0000000000000ull;
    u64 bits = u64(__double_as_longlong(x)) + (one - half_root), power = bits & exponent;
    const double whole = 4503599627370496.0;
    double k = __longlong_as_double(i64((power >> 52) | u64(__double_as_longlong(whole)))) - (whole + 1023.0);
    return Split{k, __longlong_as_double(i64((bits & ~exponent) + half_root)), power};
}

inline double join_log(double k, double f) {
    double s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f, fourth = z * z;
    double odd = 0.14797899626093824, even = 0.15313862027603004;
    odd = fma(odd, fourth, 0.1818357144590696);
    even = fma(even, fourth, 0.2222219844103445);
    odd = fma(odd, fourth, 0.28571428743625404);
    even = fma(even, fourth, 0.3999999999940939);
    double series = fma(even, z, fma(odd, fourth, 0.6666666666666735));
    double rest = s * fma(z, series, half_square);
    return fma(k, LN_2_HIGH, f - (half_square - fma(k, LN_2_LOW, rest)));
}

inline double log_limits(double x, double value) {
    value = x == infinite() ? x : value;
    value = x == 0.0 ? -infinite() : value;
    return x >= 0.0 ? value : not_a_number();
}

inline double exact_log(double x) {
    bool subnormal = x < 2.2250738585072014e-308;
    Split s = split(subnormal ? x * 9007199254740992.0 : x);
    return log_limits(x, join_log(subnormal ? s.k - 53.0 : s.k, s.m - 1.0));
}

inline double exact_log1p(double x) {
    double u = 1.0 + x, dropped = x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
    Split s = split(u);
    double inverse = __longlong_as_double(i64(0x7ff0000000000000ull - s.power)) * 0.5;
    return copysign(log_limits(u, join_log(s.k, (s.m - 1.0) + dropped * inverse)), x);
}

// ---- the random numbers that are drawn for an element ----

struct Draws {
    u64 key, block;
    u32 made;
    Words words;
    int used;

    Draws(u64 key, u64 block) : key(key), block(block), made(1), words(philox(key, block)), used(0) {}

    // Returns a uniform number in [0, 1).
    double unit() {
        if (used == 2) {
            words = philox(key, block, made++);
            used = 0;
        }
        return double(words.bits(used++) >> 11) * (1.0 / double(u64(1) << 53));
    }

    // Returns a uniform number in (0, 1].
    double positive() { return 1.0 - unit(); }

    void normals(double (&z)[2]) {
        for (;;) {
            double x = 2.0 * unit() - 1.0, y = 2.0 * unit() - 1.0, square = x * x + y * y;
            if (square < 1.0 && square > 0.0) {
                double scale = sqrt(-2.0 * exact_log(square) / square);
                z[0] = x * scale;
                z[1] = y * scale;
                return;
            }
        }
    }
};

// ---- distributions: a constructor takes two parameters of the element, and then two parameters that all elements
// share ----

struct Exponential {
    double scale;
    Exponential(double, double, double scale, double) : scale(scale) {}
    double draw(Draws& draws) const { return (0.0 - exact_log(draws.positive())) * scale; }
};

struct Shape {
    double alpha, d, c;
    Shape(double alpha) : alpha(alpha), d((alpha < 1.0 ? alpha + 1.0 : alpha) - 1.0 / 3.0), c(1.0 / sqrt(9.0 * d)) {}

    double large(Draws& draws) const {
        for (;;) {
            double z[2];
            draws.normals(z);
            for (int i = 0; i < 2; i++) {
                double x = z[i], t = c * x;
                if (t <= -1.0) continue;
                double v = (1.0 + t) * (1.0 + t) * (1.0 + t), u = draws.positive(), square = x * x;
                if (u < 1.0 - 0.0331 * (square * square) || exact_log(u) < bound(t, square, v)) return d * v;
            }
        }
    }

    double bound(double t, double square, double v) const {
        if (fabs(t) >= 0.0625) return 0.5 * square + d * (1.0 - v + exact_log(v));
        double sum = -1.0 / 12.0;
        sum = sum * t + 1.0 / 11.0;
        sum = sum * t + -1.0 / 10.0;
        sum = sum * t + 1.0 / 9.0;
        sum = sum * t + -1.0 / 8.0;
        sum = sum * t + 1.0 / 7.0;
        sum = sum * t + -1.0 / 6.0;
        sum = sum * t + 1.0 / 5.0;
        sum = sum * t + -1.0 / 4.0;
        return 3.0 * d * (t * t) * (t * t) * sum;
    }

    double boost(Draws& draws) const { return alpha < 1.0 ? exact_log(draws.positive()) / alpha : 0.0; }
};

struct Gamma {
    Shape shape;
    double scale;
    Gamma(double alpha, double, double scale, double) : shape(alpha), scale(scale) {}

    double draw(Draws& draws) const {
        if (!(shape.alpha >= 0.0 && shape.alpha < infinite())) return not_a_number();
        if (shape.alpha == 0.0) return 0.0;
        double large = shape.large(draws), boost = shape.boost(draws);
        return (boost == 0.0 ? large : large * exact_exp(boost)) * scale;
    }
};

struct Beta {
    Shape first, second;
    Beta(double alpha, double beta, double, double) : first(alpha), second(beta) {}

    static bool is_parameter(double x) { return x >= 1e-300 && x < infinite(); }

    double draw(Draws& draws) const {
        if (!is_parameter(first.alpha) || !is_parameter(second.alpha)) return not_a_number();
        double x = first.large(draws), x_boost = first.boost(draws);
        double y = second.large(draws), y_boost = second.boost(draws);
        double larger = x_boost > y_boost ? x_boost : y_boost;
        return 1.0 / (1.0 + (y * exact_exp(y_boost - larger)) / (x * exact_exp(x_boost - larger)));
    }
};

__constant__ double STIRLING[16] = {
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
};

inline double stirling(double k) {
    if (k < 16.0) return STIRLING[int(k)];
    double square = k * k;
    return (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0) / square) / square) / square) / k;
}

inline double deviance(double x, double mean) {
    double difference = x - mean;
    if (fabs(difference) >= 0.1 * (x + mean)) return x * exact_log(x / mean) - difference;
    double v = difference / (x + mean), square = v * v, sum = 1.0 / 19.0;
    sum = sum * square + 1.0 / 17.0;
    sum = sum * square + 1.0 / 15.0;
    sum = sum * square + 1.0 / 13.0;
    sum = sum * square + 1.0 / 11.0;
    sum = sum * square + 1.0 / 9.0;
    sum = sum * square + 1.0 / 7.0;
    sum = sum * square + 1.0 / 5.0;
    sum = sum * square + 1.0 / 3.0;
    return difference * v + 2.0 * x * v * square * sum;
}

constexpr double SEARCHED = 10.0, MIN_PROBABILITY = 1e-17, TAU = 6.283185307179586, HALF_LOG_TAU = 0.9189385332046728;

struct Poisson {
    double rate, none, a, b, squeeze, inverse_alpha;

    Poisson(double rate, double, double, double) : rate(rate) {
        none = a = b = squeeze = inverse_alpha = 0.0;
        if (!is_rate() || rate < SEARCHED) {
            none = exact_exp(-rate);
            return;
        }
        b = 0.931 + 2.53 * sqrt(rate);
        a = -0.059 + 0.02483 * b;
        squeeze = 0.9277 - 3.6224 / (b - 2.0);
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    }

    bool is_rate() const { return rate >= 0.0 && rate <= 9.223372006484771e18; }

    double draw(Draws& draws) const {
        if (!is_rate()) return not_a_number();
        if (rate < SEARCHED) {
            double u = draws.unit(), k = 0.0, probability = none;
            while (u >= probability && (probability >= MIN_PROBABILITY || k < rate)) {
                u -= probability;
                k += 1.0;
                probability *= rate / k;
            }
            return k;
        }
        for (;;) {
            double u = draws.unit() - 0.5, v = draws.unit(), from_end = 0.5 - fabs(u);
            double k = floor((2.0 * a / from_end + b) * u + rate + 0.43);
            if (from_end >= 0.07 && v <= squeeze) return k;
            if (k < 0.0 || (from_end < 0.013 && v > from_end)) continue;
            double density = k < 1.0 ? -rate : -stirling(k) - deviance(k, rate) - 0.5 * exact_log(TAU * k);
            if (exact_log(v * inverse_alpha / (a / (from_end * from_end) + b)) <= density) return k;
        }
    }
};

struct Binomial {
    double n, given, p, odds, mean, none, a, b, squeeze, alpha, top;

    Binomial(double given, double, double n, double) : n(n), given(given) {
        p = given > 0.5 ? 1.0 - given : given;
        double q = 1.0 - p;
        mean = n * p;
        odds = p / q;
        none = exact_exp(n * exact_log1p(-p));
        a = b = squeeze = alpha = top = 0.0;
        if (!is_probability() || mean < SEARCHED) return;
        double deviation = sqrt(mean * q);
        b = 1.15 + 2.53 * deviation;
        a = -0.0873 + 0.0248 * b + 0.01 * p;
        squeeze = 0.92 - 4.2 / b;
        alpha = (2.83 + 5.1 / b) * deviation;
        top = density(floor((n + 1.0) * p));
    }

    bool is_probability() const { return given >= 0.0 && given <= 1.0; }

    double draw(Draws& draws) const {
        if (!is_probability()) return not_a_number();
        double k = mean < SEARCHED ? searched(draws) : rejected(draws);
        return given > 0.5 ? n - k : k;
    }

    double searched(Draws& draws) const {
        double u = draws.unit(), k = 0.0, probability = none;
        while (k < n && u >= probability && (probability >= MIN_PROBABILITY || k < mean)) {
            u -= probability;
            k += 1.0;
            probability *= (n - k + 1.0) / k * odds;
        }
        return k;
    }

    double rejected(Draws& draws) const {
        for (;;) {
            double u = draws.unit() - 0.5, v = draws.unit(), from_end = 0.5 - fabs(u);
            double k = floor((2.0 * a / from_end + b) * u + mean + 0.5);
            if (!(k >= 0.0 && k <= n)) continue;
            if (from_end >= 0.07 && v <= squeeze) return k;
            double ratio = alpha * v / (a / (from_end * from_end) + b);
            if (exact_log(ratio) <= density(k) - top) return k;
        }
    }

    double density(double k) const {
        double rest = n - k;
        if (k < 1.0 || rest < 1.0) {
            double all = k < 1.0 ? n * exact_log1p(-p) : n * exact_log(p);
            return all - stirling(n) - 0.5 * exact_log(n) + HALF_LOG_TAU;
        }
        double q = 1.0 - p;
        return -stirling(k) - stirling(rest) - deviance(k, mean) - deviance(rest, n * q) - 0.5 * exact_log(k) -
               0.5 * exact_log(rest);
    }
};

struct TruncatedNormal {
    enum Method { INVALID, FIXED, ABOVE, BELOW, UNIFORM, NORMAL } method;
    double lower, upper, mean, std, rate, shift, cut;

    TruncatedNormal(double lower, double upper, double mean, double std)
        : lower(lower), upper(upper), mean(mean), std(std) {
        double from = (lower - mean) / std, to = (upper - mean) / std, length = (upper - lower) / std;
        if (!(lower <= upper && lower < infinite() && upper > -infinite())) method = INVALID;
        else if (lower == upper) method = FIXED;
        else if (from >= 0.0) method = ABOVE;
        else if (to <= 0.0) method = BELOW;
        else if (length < 2.5) method = UNIFORM;
        else method = NORMAL;
        double nearest = method == BELOW ? -to : from, root = nearest + sqrt(nearest * nearest + 4.0);
        rate = 0.5 * root;
        length = length < 2.2250738585072014e-308 ? 2.2250738585072014e-308 : length;
        shift = -2.0 / root;
        cut = exact_expm1(-rate * length);
    }

    double draw(Draws& draws) const {
        if (method == INVALID) return not_a_number();
        double x = lower;
        if (method == ABOVE) x = lower + std * beyond(draws);
        if (method == BELOW) x = upper - std * beyond(draws);
        if (method == UNIFORM) x = around(draws);
        if (method == NORMAL) x = normal(draws);
        x = x > upper ? upper : x;
        return x < lower ? lower : x;
    }

    double beyond(Draws& draws) const {
        for (;;) {
            double t = -exact_log1p(draws.unit() * cut) / rate, from_top = t + shift;
            if (-2.0 * exact_log(draws.positive()) >= from_top * from_top) return t;
        }
    }

    double around(Draws& draws) const {
        for (;;) {
            double x = lower + (upper - lower) * draws.unit(), z = (x - mean) / std;
            if (-2.0 * exact_log(draws.positive()) >= z * z) return x;
        }
    }

    double normal(Draws& draws) const {
        for (;;) {
            double z[2];
            draws.normals(z);
            for (int i = 0; i < 2; i++) {
                double x = mean + std * z[i];
                if (x >= lower && x <= upper) return x;
            }
        }
    }
};

// ---- kernels ----

// The parameters that each element has: arrays, or one number for all elements if the address of the array is 0.
struct Own {
    u64 array[2];
    double number[2];
};

// Converts a number to an element. A NaN becomes the count -1.
template <typename T> T stored(double x) { return T(x); }
template <> i64 stored<i64>(double x) { return x != x ? -1 : cast<i64>(x); }

template <typename S, typename P, typename T>
__global__ void __launch_bounds__(256) sampled(T* out, const Position from, const Own own,
                                               const __grid_constant__ Walk<2> walk, double first, double second) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < walk.n; i += gridDim.x * u64(blockDim.x)) {
        i64 at[2];
        locate(walk, i, at);
        double given[2];
        for (int k = 0; k < 2; k++) given[k] = own.array[k] ? double(((const P*)own.array[k])[at[k]]) : own.number[k];
        const S sampler(given[0], given[1], first, second);
        Draws draws(from.key, from.first + i);
        out[i] = stored<T>(sampler.draw(draws));
    }
}

// Computes for each category its probability among this category and all later categories. One thread does this, in
// the order of the CPU.
template <typename P> __global__ void to_shares(const P* weights, i64 stride, u64 count, double* shares) {
    double rest = 0.0;
    bool valid = true;
    for (u64 left = count; left > 0; left--) {
        const double weight = weights[i64(left - 1) * stride];
        valid &= weight >= 0.0 && weight < infinite();
        rest += weight;
        shares[left - 1] = rest > 0.0 ? weight / rest : 0.0;
    }
    if (valid && rest > 0.0 && rest < infinite()) return;
    for (u64 i = 0; i < count; i++) shares[i] = not_a_number();
}

// Draws rows of multinomial counts, with one thread per row. The count of a category is a binomial number; its number
// of trials is reduced by the counts of the earlier categories.
__global__ void __launch_bounds__(256)
    multinomial(i64* out, u64 rows, const Position from, const double* shares, u64 count, double n) {
    for (u64 row = blockIdx.x * u64(blockDim.x) + threadIdx.x; row < rows; row += gridDim.x * u64(blockDim.x)) {
        Draws draws(from.key, from.first + row);
        double rest = n;
        for (u64 j = 0; j < count; j++) {
            const double share = shares[j];
            if (share != share) {
                out[row * count + j] = -1;
                continue;
            }
            const double k = rest > 0.0 ? Binomial(share, 0.0, rest, 0.0).draw(draws) : 0.0;
            rest -= k;
            out[row * count + j] = i64(k);
        }
    }
}
