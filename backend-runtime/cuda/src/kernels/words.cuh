// The scalar functions ("words") of the ops: one overload of `op_word` for every dtype that has the word. It computes
// the same function as the method `word` of the Rust traits. Programs are compiled without contraction of products and
// sums (fused multiply-add), so that results of exact functions equal the CPU's.

// ---- every dtype but the complex ones ----

#define ORDERED(T)                                                                                                     \
    inline bool op_equal(T x, T y) { return x == y; }                                                                  \
    inline bool op_less(T x, T y) { return x < y; }                                                                    \
    inline bool op_less_equal(T x, T y) { return x <= y; }

ORDERED(bool)
ORDERED(i8)
ORDERED(short)
ORDERED(int)
ORDERED(i64)
ORDERED(u8)
ORDERED(u16)
ORDERED(u32)
ORDERED(u64)
ORDERED(float)
ORDERED(double)
inline bool op_equal(f16 x, f16 y) { return float(x) == float(y); }
inline bool op_less(f16 x, f16 y) { return float(x) < float(y); }
inline bool op_less_equal(f16 x, f16 y) { return float(x) <= float(y); }
inline bool op_equal(bf16 x, bf16 y) { return float(x) == float(y); }
inline bool op_less(bf16 x, bf16 y) { return float(x) < float(y); }
inline bool op_less_equal(bf16 x, bf16 y) { return float(x) <= float(y); }
template <typename R> bool op_equal(complex<R> x, complex<R> y) { return x.re == y.re && x.im == y.im; }

// True if `x` is not zero; NaN counts as true.
template <typename T> bool op_is_nonzero(T x) { return !op_equal(x, zero<T>()); }

// ---- bool ----

inline bool op_maximum(bool x, bool y) { return x || y; }
inline bool op_minimum(bool x, bool y) { return x && y; }
inline bool op_bit_and(bool x, bool y) { return x && y; }
inline bool op_bit_or(bool x, bool y) { return x || y; }
inline bool op_bit_xor(bool x, bool y) { return x != y; }
inline bool op_bit_not(bool x) { return !x; }

// ---- integers ----

// `U` is the unsigned type of the arithmetic, so that overflow wraps. It is at least as wide as T and as int, because
// narrower types would be promoted to a signed type.
#define INTEGER(T, U)                                                                                                  \
    inline T op_plus(T x, T y) { return T(U(x) + U(y)); }                                                              \
    inline T op_minus(T x, T y) { return T(U(x) - U(y)); }                                                             \
    inline T op_times(T x, T y) { return T(U(x) * U(y)); }                                                             \
    inline T op_negate(T x) { return T(U(0) - U(x)); }                                                                 \
    inline T op_maximum(T x, T y) { return x > y ? x : y; }                                                            \
    inline T op_minimum(T x, T y) { return x < y ? x : y; }                                                            \
    inline T op_bit_and(T x, T y) { return T(x & y); }                                                                 \
    inline T op_bit_or(T x, T y) { return T(x | y); }                                                                  \
    inline T op_bit_xor(T x, T y) { return T(x ^ y); }                                                                 \
    inline T op_bit_not(T x) { return T(~x); }                                                                         \
    inline T op_conj(T x) { return x; }                                                                                \
    inline T op_real(T x) { return x; }                                                                                \
    inline T op_imag(T) { return T(0); }                                                                               \
    inline bool op_is_finite(T) { return true; }                                                                       \
    inline bool op_is_inf(T) { return false; }                                                                         \
    inline bool op_is_nan(T) { return false; }                                                                         \
    inline T op_round(T x) { return x; }                                                                               \
    inline T op_ceil(T x) { return x; }                                                                                \
    inline T op_floor(T x) { return x; }                                                                               \
    inline T op_trunc(T x) { return x; }                                                                               \
    inline T op_shift_left(T x, T by) { return by >= T(0) && u64(by) < 8 * sizeof(T) ? T(U(x) << int(by)) : T(0); }    \
    inline T op_gcd(T x, T y) {                                                                                        \
        U a = magnitude(x), b = magnitude(y);                                                                          \
        while (b != 0) {                                                                                               \
            const U rest = a % b;                                                                                      \
            a = b;                                                                                                     \
            b = rest;                                                                                                  \
        }                                                                                                              \
        return T(a);                                                                                                   \
    }                                                                                                                  \
    inline T op_lcm(T x, T y) {                                                                                        \
        const U a = magnitude(x), b = magnitude(y), divisor = magnitude(op_gcd(x, y));                                 \
        return divisor == 0 ? T(0) : T(a / divisor * b);                                                               \
    }                                                                                                                  \
    inline u8 op_popcount(T x) { return u8(__popcll(magnitude(x))); }                                                  \
    inline T power(T base, T exponent) {                                                                               \
        T result = 1;                                                                                                  \
        for (; exponent > 0; exponent = T(exponent >> 1)) {                                                            \
            if (exponent & 1) result = op_times(result, base);                                                         \
            base = op_times(base, base);                                                                               \
        }                                                                                                              \
        return result;                                                                                                 \
    }

// `W` is the unsigned type of T's width, in which a magnitude fits.
#define SIGNED(T, U, W)                                                                                                \
    inline U magnitude(T x) { return W(x < 0 ? U(0) - U(x) : U(x)); }                                                  \
    inline T op_fmod(T x, T y) { return y == 0 || y == -1 ? T(0) : T(x % y); }                                         \
    INTEGER(T, U)                                                                                                      \
    inline T op_abs(T x) { return x < 0 ? op_negate(x) : x; }                                                          \
    inline T op_sign(T x) { return T((x > 0) - (x < 0)); }                                                             \
    inline T op_pow(T x, T y) {                                                                                        \
        if (y >= 0) return power(x, y);                                                                                \
        return x == 1 ? T(1) : x == -1 ? T(y & 1 ? -1 : 1) : T(0);                                                     \
    }                                                                                                                  \
    inline T op_floor_divide(T x, T y) {                                                                               \
        if (y == 0) return 0;                                                                                          \
        /* the smallest value by -1 overflows: it wraps, as every negation does */                                     \
        if (y == -1) return op_negate(x);                                                                              \
        T q = T(x / y), r = T(x % y);                                                                                  \
        return r != 0 && (r < 0) != (y < 0) ? T(q - 1) : q;                                                            \
    }                                                                                                                  \
    inline T op_remainder(T x, T y) {                                                                                  \
        if (y == 0 || y == -1) return 0;                                                                               \
        T r = T(x % y);                                                                                                \
        return r != 0 && (r < 0) != (y < 0) ? T(r + y) : r;                                                            \
    }                                                                                                                  \
    inline T op_shift_right(T x, T by) {                                                                               \
        const int width = 8 * sizeof(T);                                                                               \
        return T(x >> (by >= 0 && by < width ? int(by) : width - 1));                                                  \
    }

#define UNSIGNED(T, U)                                                                                                 \
    inline U magnitude(T x) { return x; }                                                                              \
    inline T op_fmod(T x, T y) { return y == 0 ? T(0) : T(x % y); }                                                    \
    INTEGER(T, U)                                                                                                      \
    inline T op_abs(T x) { return x; }                                                                                 \
    inline T op_sign(T x) { return T(x != 0); }                                                                        \
    inline T op_pow(T x, T y) { return power(x, y); }                                                                  \
    inline T op_floor_divide(T x, T y) { return y == 0 ? T(0) : T(x / y); }                                            \
    inline T op_remainder(T x, T y) { return y == 0 ? T(0) : T(x % y); }                                               \
    inline T op_shift_right(T x, T by) { return by < 8 * sizeof(T) ? T(x >> int(by)) : T(0); }

SIGNED(i8, u32, u8)
SIGNED(short, u32, u16)
SIGNED(int, u32, u32)
SIGNED(i64, u64, u64)
UNSIGNED(u8, u32)
UNSIGNED(u16, u32)
UNSIGNED(u32, u32)
UNSIGNED(u64, u64)

// ---- float and double: `f` is the suffix of C's functions ----

#define REAL(T, f)                                                                                                     \
    inline T op_plus(T x, T y) { return x + y; }                                                                       \
    inline T op_minus(T x, T y) { return x - y; }                                                                      \
    inline T op_times(T x, T y) { return x * y; }                                                                      \
    inline T op_div(T x, T y) { return x / y; }                                                                       \
    inline T op_negate(T x) { return -x; }                                                                             \
    /* the second of two zeros */                                                                                      \
    inline T op_maximum(T x, T y) { return x > y || x != x ? x : y; }                                                  \
    inline T op_minimum(T x, T y) { return x < y || x != x ? x : y; }                                                  \
    inline T op_abs(T x) { return fabs##f(x); }                                                                        \
    inline T op_sign(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x; }                                 \
    inline T op_pow(T x, T y) { return pow##f(x, y); }                                                                 \
    inline T op_conj(T x) { return x; }                                                                                \
    inline T op_real(T x) { return x; }                                                                                \
    inline T op_imag(T) { return T(0); }                                                                               \
    inline bool op_is_nan(T x) { return x != x; }                                                                      \
    inline bool op_is_finite(T x) { return x - x == 0; }                                                               \
    inline bool op_is_inf(T x) { return x == x && x - x != 0; }                                                        \
    inline T op_round(T x) { return rint##f(x); }                                                                      \
    inline T op_ceil(T x) { return ceil##f(x); }                                                                       \
    inline T op_floor(T x) { return floor##f(x); }                                                                     \
    inline T op_trunc(T x) { return trunc##f(x); }                                                                     \
    inline T op_reciprocal(T x) { return T(1) / x; }                                                                   \
    inline T op_exp(T x) { return exp##f(x); }                                                                         \
    inline T op_exp2(T x) { return exp2##f(x); }                                                                       \
    inline T op_cbrt(T x) { return cbrt##f(x); }                                                                       \
    inline T op_fmod(T x, T y) { return fmod##f(x, y); }                                                               \
    inline T op_expm1(T x) { return expm1##f(x); }                                                                     \
    inline T op_log(T x) { return log##f(x); }                                                                         \
    inline T op_log2(T x) { return log2##f(x); }                                                                       \
    inline T op_log10(T x) { return log10##f(x); }                                                                     \
    inline T op_log1p(T x) { return log1p##f(x); }                                                                     \
    inline T op_sqrt(T x) { return sqrt##f(x); }                                                                       \
    inline T op_sin(T x) { return sin##f(x); }                                                                         \
    inline T op_cos(T x) { return cos##f(x); }                                                                         \
    inline T op_tan(T x) { return tan##f(x); }                                                                         \
    inline T op_asin(T x) { return asin##f(x); }                                                                       \
    inline T op_acos(T x) { return acos##f(x); }                                                                       \
    inline T op_atan(T x) { return atan##f(x); }                                                                       \
    inline T op_sinh(T x) { return sinh##f(x); }                                                                       \
    inline T op_cosh(T x) { return cosh##f(x); }                                                                       \
    inline T op_tanh(T x) { return tanh##f(x); }                                                                       \
    inline T op_asinh(T x) { return asinh##f(x); }                                                                     \
    inline T op_acosh(T x) { return acosh##f(x); }                                                                     \
    inline T op_atanh(T x) { return atanh##f(x); }                                                                     \
    inline T op_erf(T x) { return erf##f(x); }                                                                         \
    inline T op_erfc(T x) { return erfc##f(x); }                                                                       \
    inline T op_atan2(T y, T x) { return atan2##f(y, x); }                                                             \
    inline T op_hypot(T x, T y) { return hypot##f(x, y); }                                                             \
    inline T op_copysign(T x, T y) { return copysign##f(x, y); }                                                       \
    inline T op_nextafter(T x, T y) { return nextafter##f(x, y); }                                                     \
    inline T op_logaddexp(T x, T y) {                                                                                  \
        if (x == y) return x + T(0.693147180559945309417);                                                             \
        return op_maximum(x, y) + op_log1p(op_exp(-op_abs(x - y)));                                                    \
    }                                                                                                                  \
    /* NumPy's floored quotient: computed from the exact remainder, so that it fits it */                              \
    inline T op_floor_divide(T x, T y) {                                                                               \
        if (y == 0) return x / y;                                                                                      \
        T r = fmod##f(x, y), q = (x - r) / y;                                                                          \
        if (r != 0 && (r < 0) != (y < 0)) q -= 1;                                                                      \
        if (q == 0) return op_copysign(T(0), x / y);                                                                   \
        T below = op_floor(q);                                                                                         \
        return q - below > T(0.5) ? below + 1 : below;                                                                 \
    }                                                                                                                  \
    inline T op_remainder(T x, T y) {                                                                                  \
        T r = fmod##f(x, y);                                                                                           \
        if (r == 0) return op_copysign(T(0), y);                                                                       \
        return (r < 0) != (y < 0) ? r + y : r;                                                                         \
    }

REAL(float, f)
REAL(double, )
inline bool op_signbit(float x) { return __float_as_uint(x) >> 31; }
inline bool op_signbit(double x) { return u64(__double_as_longlong(x)) >> 63; }

// ---- 16-bit floats: computed as float, rounded once ----

#define HALF1(T, word)                                                                                                 \
    inline T op_##word(T x) { return T(op_##word(float(x))); }
#define HALF2(T, word)                                                                                                 \
    inline T op_##word(T x, T y) { return T(op_##word(float(x), float(y))); }
#define HALF(T)                                                                                                        \
    HALF2(T, plus) HALF2(T, minus) HALF2(T, times) HALF2(T, div) HALF2(T, maximum) HALF2(T, minimum) HALF2(T, pow)    \
    HALF2(T, floor_divide) HALF2(T, remainder) HALF2(T, fmod) HALF2(T, atan2) HALF2(T, hypot) HALF2(T, logaddexp) HALF1(T, sign)      \
    HALF1(T, round) HALF1(T, ceil) HALF1(T, floor) HALF1(T, trunc) HALF1(T, reciprocal) HALF1(T, cbrt) HALF1(T, exp) HALF1(T, exp2) HALF1(T, expm1)  \
    HALF1(T, log) HALF1(T, log2) HALF1(T, log10) HALF1(T, log1p) HALF1(T, sqrt) HALF1(T, sin) HALF1(T, cos)            \
    HALF1(T, tan) HALF1(T, asin) HALF1(T, acos) HALF1(T, atan) HALF1(T, sinh) HALF1(T, cosh) HALF1(T, tanh)            \
    HALF1(T, asinh) HALF1(T, acosh) HALF1(T, atanh) HALF1(T, erf) HALF1(T, erfc)                                       \
    inline T from_bits(T, int bits) { T x; x.bits = u16(bits); return x; }                                             \
    inline T op_negate(T x) { return from_bits(x, x.bits ^ 0x8000); }                                                  \
    inline T op_abs(T x) { return from_bits(x, x.bits & 0x7fff); }                                                     \
    inline T op_copysign(T x, T y) { return from_bits(x, (x.bits & 0x7fff) | (y.bits & 0x8000)); }                     \
    inline T op_conj(T x) { return x; }                                                                                \
    inline T op_real(T x) { return x; }                                                                                \
    inline T op_imag(T) { return T(0.0f); }                                                                            \
    inline bool op_is_nan(T x) { return op_is_nan(float(x)); }                                                         \
    inline bool op_is_finite(T x) { return op_is_finite(float(x)); }                                                   \
    inline bool op_is_inf(T x) { return op_is_inf(float(x)); }                                                         \
    inline bool op_signbit(T x) { return x.bits >> 15; }                                                               \
    inline T op_nextafter(T x, T y) {                                                                                  \
        float a = x, b = y;                                                                                            \
        if (a != a || b != b) return from_bits(x, 0x7fff);                                                             \
        if (a == b) return y;                                                                                          \
        if (a == 0) return from_bits(x, (y.bits & 0x8000) | 1);                                                        \
        return from_bits(x, (b > a) == (a > 0) ? x.bits + 1 : x.bits - 1);                                             \
    }

HALF(f16)
HALF(bf16)

inline complex<float> op_complex(float re, float im) { return complex<float>(re, im); }
inline complex<double> op_complex(double re, double im) { return complex<double>(re, im); }
inline complex<float> op_complex(f16 re, f16 im) { return complex<float>(re, im); }
inline complex<float> op_complex(bf16 re, bf16 im) { return complex<float>(re, im); }

// Conversion to the dtype of the result, by the rules of `astype`.
template <typename U, typename T> U op_cast(T x) { return cast<U>(x); }
