// Dtypes: 16-bit floats, complex numbers, and conversions between dtypes. No header is included, because at run time
// the headers may be missing.

typedef signed char i8;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

// A half-precision float. It is computed as a float, and every scalar function rounds its result once.
struct f16 {
    u16 bits;
    f16() = default;
    explicit f16(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
    explicit f16(double x) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x)); }
    explicit f16(int x) : f16(float(x)) {}
    operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
};

// A float with 8 bits of precision. It is computed as a float, like f16.
struct bf16 {
    u16 bits;
    bf16() = default;
    explicit bf16(float x) {
        u32 wide = __float_as_uint(x);
        // rounds to nearest, and halves to even; any NaN stays NaN
        bits = x != x ? 0x7fff : u16((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
    }
    explicit bf16(double x) : bf16(odd(x)) {}
    explicit bf16(int x) : bf16(double(x)) {}
    operator float() const { return __uint_as_float(u32(bits) << 16); }

  private:
    // Rounds to odd, so that the second rounding knows on which side of a tie x was.
    static float odd(double x) {
        float down = __double2float_rz(x);
        bool inexact = double(down) != x && x == x;
        return inexact ? __uint_as_float(__float_as_uint(down) | 1) : down;
    }
};

template <typename R> struct alignas(2 * sizeof(R)) complex {
    R re, im;
    complex() = default;
    explicit complex(R re, R im = R(0)) : re(re), im(im) {}
};

// For a dtype: the real dtype of its magnitude and of its real and imaginary parts (`Types`), and the complex dtype
// (`ComplexOf`).
template <typename T> struct Types { typedef T Real; };
template <typename R> struct Types<complex<R>> { typedef R Real; };
template <typename T> struct ComplexOf { typedef complex<float> Type; };
template <> struct ComplexOf<double> { typedef complex<double> Type; };

// The dtype in which an expression of several operations is computed: float for 16-bit floats, and the dtype itself
// otherwise.
template <typename T> struct WidenedOf { typedef T Type; };
template <> struct WidenedOf<f16> { typedef float Type; };
template <> struct WidenedOf<bf16> { typedef float Type; };
template <typename T> using Widened = typename WidenedOf<T>::Type;

// The dtype in which sums and products of a dtype are accumulated and returned.
template <typename T> struct SumOf { typedef T Type; };
template <> struct SumOf<bool> { typedef i64 Type; };
template <> struct SumOf<i8> { typedef i64 Type; };
template <> struct SumOf<short> { typedef i64 Type; };
template <> struct SumOf<int> { typedef i64 Type; };
template <> struct SumOf<u8> { typedef u64 Type; };
template <> struct SumOf<u16> { typedef u64 Type; };
template <> struct SumOf<u32> { typedef u64 Type; };

// ---- conversions between dtypes, as `astype` makes them ----

// Conversions from each of the four widest dtypes. Reals become integers by truncation toward 0 and saturation, and NaN
// becomes 0. Integers keep the low bits, complex numbers lose the imaginary part, and the conversion to bool is `x !=
// 0`.
template <typename U> struct From {
    static U integer(i64 x) { return U(x); }
    static U integer(u64 x) { return U(x); }
    template <typename R> static U real(R x) {
        const bool is_signed = U(-1) < U(0);
        const u64 half = u64(1) << (8 * sizeof(U) - 1);
        // both limits are powers of two or 0, so they are exact in every float dtype
        const R low = is_signed ? -R(half) : R(0), high = is_signed ? R(half) : R(half) * R(2);
        if (x != x) return U(0);
        if (x <= low) return is_signed ? U(half) : U(0);
        if (x >= high) return is_signed ? U(half - 1) : U(half - 1 + half);
        return U(x);
    }
    template <typename R> static U parts(R re, R) { return real(re); }
};

template <> struct From<bool> {
    template <typename T> static bool integer(T x) { return x != 0; }
    template <typename R> static bool real(R x) { return x != R(0); }
    template <typename R> static bool parts(R re, R im) { return re != R(0) || im != R(0); }
};

template <typename U> struct FromToReal {
    template <typename T> static U integer(T x) { return U(x); }
    template <typename R> static U real(R x) { return U(x); }
    template <typename R> static U parts(R re, R) { return U(re); }
};
template <> struct From<float> : FromToReal<float> {};
template <> struct From<double> : FromToReal<double> {};

// An integer rounded to odd in the 53 bits of a double, so that rounding the double gives the same result as rounding
// the integer.
inline double odd_double(u64 x) {
    const u64 low = x & 0x7ff;
    return double(x >> 53 ? x - low | u64(low != 0) << 11 : x);
}
inline double odd_double(i64 x) { return x < 0 ? -odd_double(u64(0) - u64(x)) : odd_double(u64(x)); }

template <typename U> struct FromToHalf : FromToReal<U> {
    template <typename T> static U integer(T x) { return U(odd_double(x)); }
};
template <> struct From<f16> : FromToHalf<f16> {};
template <> struct From<bf16> : FromToHalf<bf16> {};

template <typename P> struct From<complex<P>> {
    template <typename T> static complex<P> integer(T x) { return complex<P>(P(x)); }
    template <typename R> static complex<P> real(R x) { return complex<P>(P(x)); }
    template <typename R> static complex<P> parts(R re, R im) { return complex<P>(P(re), P(im)); }
};

template <typename U> U cast(bool x) { return From<U>::integer(u64(x)); }
template <typename U> U cast(i8 x) { return From<U>::integer(i64(x)); }
template <typename U> U cast(short x) { return From<U>::integer(i64(x)); }
template <typename U> U cast(int x) { return From<U>::integer(i64(x)); }
template <typename U> U cast(i64 x) { return From<U>::integer(x); }
template <typename U> U cast(u8 x) { return From<U>::integer(u64(x)); }
template <typename U> U cast(u16 x) { return From<U>::integer(u64(x)); }
template <typename U> U cast(u32 x) { return From<U>::integer(u64(x)); }
template <typename U> U cast(u64 x) { return From<U>::integer(x); }
template <typename U> U cast(float x) { return From<U>::real(x); }
template <typename U> U cast(double x) { return From<U>::real(x); }
template <typename U> U cast(f16 x) { return From<U>::real(float(x)); }
template <typename U> U cast(bf16 x) { return From<U>::real(float(x)); }
template <typename U, typename R> U cast(complex<R> x) { return From<U>::parts(x.re, x.im); }

// The numbers 0 and 1 in every dtype.
template <typename T> T zero() { return cast<T>(false); }
template <typename T> T one() { return cast<T>(true); }

// A number that is written in an expression, or that is a parameter of it.
template <typename T> T op_of(double x) { return cast<T>(x); }
