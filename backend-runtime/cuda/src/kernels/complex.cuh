// Scalar functions of complex numbers, by the formulas that the CPU uses. They have the branch cuts of C99 and NumPy.

#define C template <typename R> complex<R>

C op_plus(complex<R> x, complex<R> y) { return complex<R>(x.re + y.re, x.im + y.im); }
C op_minus(complex<R> x, complex<R> y) { return complex<R>(x.re - y.re, x.im - y.im); }
C op_negate(complex<R> x) { return complex<R>(-x.re, -x.im); }
C op_conj(complex<R> x) { return complex<R>(x.re, -x.im); }
C op_times(complex<R> x, complex<R> y) { return complex<R>(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re); }
template <typename R> R op_real(complex<R> x) { return x.re; }
template <typename R> R op_imag(complex<R> x) { return x.im; }
template <typename R> bool op_is_finite(complex<R> x) { return op_is_finite(x.re) && op_is_finite(x.im); }
template <typename R> bool op_is_inf(complex<R> x) { return op_is_inf(x.re) || op_is_inf(x.im); }
template <typename R> bool op_is_nan(complex<R> x) { return op_is_nan(x.re) || op_is_nan(x.im); }
C op_round(complex<R> x) { return complex<R>(op_round(x.re), op_round(x.im)); }
template <typename R> R op_abs(complex<R> x) { return op_hypot(x.re, x.im); }

// The quotient by Smith's formula, as in NumPy.
C op_div(complex<R> x, complex<R> y) {
    R a = op_abs(y.re), b = op_abs(y.im);
    if (a >= b) {
        if (a == 0 && b == 0) return complex<R>(x.re / a, x.im / a);
        R ratio = y.im / y.re, scale = R(1) / (y.re + y.im * ratio);
        return complex<R>((x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale);
    }
    R ratio = y.re / y.im, scale = R(1) / (y.im + y.re * ratio);
    return complex<R>((x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale);
}

// The reciprocal: the conjugate divided by the squared magnitude, scaled to avoid overflow and lost bits. The
// reciprocal of 0 is NaN, as in NumPy, and the reciprocal of an infinite number is 0.
C op_reciprocal(complex<R> x) {
    const bool wide = sizeof(R) == 8;
    const R huge = wide ? R(0x1p510) : R(0x1p62f), tiny = wide ? R(0x1p-450) : R(0x1p-50f);
    const R down = wide ? R(0x1p-600) : R(0x1p-70f), up = wide ? R(0x1p600) : R(0x1p100f);
    R larger = op_maximum(op_abs(x.re), op_abs(x.im));
    if (op_is_nan(x)) return complex<R>(larger, larger);
    if (op_is_inf(larger)) return complex<R>(op_copysign(R(0), x.re), -op_copysign(R(0), x.im));
    R scale = larger > huge ? down : larger < tiny ? up : R(1);
    R re = x.re * scale, im = x.im * scale, square = re * re + im * im;
    return complex<R>(re / square * scale, -im / square * scale);
}

C op_sign(complex<R> x) {
    R r = op_abs(x);
    return r == 0 ? complex<R>(R(0)) : complex<R>(x.re / r, x.im / r);
}

template <typename R> R angle(complex<R> x) { return op_atan2(x.im, x.re); }

// r (cos t + i sin t); the result is exactly real if t is 0.
C polar(R r, R t) { return t == 0 ? complex<R>(r, t) : complex<R>(r * op_cos(t), r * op_sin(t)); }

C op_exp(complex<R> x) {
    // an infinite or NaN angle does not change a magnitude of 0 or infinity
    if (!op_is_finite(x.im) && op_is_inf(x.re)) {
        return x.re > 0 ? complex<R>(x.re, x.im - x.im) : complex<R>(R(0), op_copysign(R(0), x.im));
    }
    return polar(op_exp(x.re), x.im);
}

C op_expm1(complex<R> x) {
    if (op_is_inf(x.re) || !op_is_finite(x.im) || x.im == 0) {
        complex<R> limit = op_exp(x);
        return complex<R>(op_is_inf(x.re) ? limit.re - R(1) : x.im == 0 ? op_expm1(x.re) : limit.re, limit.im);
    }
    R s = op_sin(x.im * R(0.5));
    return complex<R>(op_expm1(x.re) * op_cos(x.im) - R(2) * s * s, op_exp(x.re) * op_sin(x.im));
}

C op_log(complex<R> x) { return complex<R>(op_log(op_abs(x)), angle(x)); }

C op_log2(complex<R> x) {
    complex<R> y = op_log(x);
    return complex<R>(y.re * R(1.44269504088896340736), y.im * R(1.44269504088896340736));
}

C op_log10(complex<R> x) {
    complex<R> y = op_log(x);
    return complex<R>(y.re * R(0.434294481903251827651), y.im * R(0.434294481903251827651));
}

C op_log1p(complex<R> x) {
    // |1 + x|^2 - 1, which is small if x is small
    R small = x.re * (R(2) + x.re) + x.im * x.im;
    complex<R> one_plus(R(1) + x.re, x.im);
    R re = op_abs(small) < R(0.5) ? op_log1p(small) * R(0.5) : op_log(op_abs(one_plus));
    return complex<R>(re, angle(one_plus));
}

C op_sqrt(complex<R> x) {
    if (x.re == 0 && x.im == 0) return complex<R>(R(0), x.im);
    R t = op_sqrt((op_abs(x.re) + op_abs(x)) * R(0.5));
    R other = op_abs(x.im) / (R(2) * t);
    return x.re >= 0 ? complex<R>(t, op_copysign(other, x.im)) : complex<R>(other, op_copysign(t, x.im));
}

C integer_power(complex<R> base, int n) {
    complex<R> result(R(1));
    for (u32 left = n < 0 ? -n : n; left > 0; left >>= 1) {
        if (left & 1) result = op_times(result, base);
        base = op_times(base, base);
    }
    return n < 0 ? op_div(complex<R>(R(1)), result) : result;
}

template <typename R> complex<R> complex_power(complex<R> x, complex<R> y) {
    if (y.re == 0 && y.im == 0) return complex<R>(R(1));
    if (x.re == 0 && x.im == 0) return y.re > 0 ? complex<R>(R(0)) : complex<R>(R(0) / R(0), R(0) / R(0));
    // small integer exponents are computed by multiplication, which is exact if the products are exact
    R n = op_round(y.re);
    if (y.im == 0 && n == y.re && op_abs(n) < R(100)) return integer_power(x, int(n));
    return op_exp(op_times(op_log(x), y));
}

inline complex<double> op_pow(complex<double> x, complex<double> y) { return complex_power(x, y); }

// The power is computed in double, because the error of the logarithm grows with the exponent.
inline complex<float> op_pow(complex<float> x, complex<float> y) {
    const complex<double> z = complex_power(complex<double>(x.re, x.im), complex<double>(y.re, y.im));
    return complex<float>(float(z.re), float(z.im));
}

C op_sinh(complex<R> x) { return complex<R>(op_sinh(x.re) * op_cos(x.im), op_cosh(x.re) * op_sin(x.im)); }
C op_cosh(complex<R> x) { return complex<R>(op_cosh(x.re) * op_cos(x.im), op_sinh(x.re) * op_sin(x.im)); }

C op_tanh(complex<R> x) {
    // Kahan's form has no overflow, and no cancellation near the zeros of the denominator
    if (op_abs(x.re) > R(20)) {
        R e = op_exp(-op_abs(x.re));
        return complex<R>(op_copysign(R(1), x.re), R(4) * op_sin(x.im) * op_cos(x.im) * e * e);
    }
    R t = op_tan(x.im), s = op_sinh(x.re);
    R beta = R(1) + t * t, rho = op_sqrt(R(1) + s * s);
    R d = R(1) + beta * s * s;
    return complex<R>(beta * rho * s / d, t / d);
}

// i x and -i x, the rotations between circular and hyperbolic functions.
C turn(complex<R> x) { return complex<R>(-x.im, x.re); }
C turn_back(complex<R> x) { return complex<R>(x.im, -x.re); }

C op_sin(complex<R> x) { return turn_back(op_sinh(turn(x))); }
C op_cos(complex<R> x) { return op_cosh(turn(x)); }
C op_tan(complex<R> x) { return turn_back(op_tanh(turn(x))); }

// The inverse functions, by Kahan's formulas.
C op_asin(complex<R> x) {
    complex<R> p = op_sqrt(complex<R>(R(1) - x.re, -x.im)), m = op_sqrt(complex<R>(R(1) + x.re, x.im));
    return complex<R>(op_atan2(x.re, p.re * m.re - p.im * m.im), op_asinh(p.re * m.im - p.im * m.re));
}

C op_acos(complex<R> x) {
    complex<R> p = op_sqrt(complex<R>(R(1) - x.re, -x.im)), m = op_sqrt(complex<R>(R(1) + x.re, x.im));
    return complex<R>(R(2) * op_atan2(p.re, m.re), op_asinh(m.re * p.im - m.im * p.re));
}

C op_asinh(complex<R> x) { return turn_back(op_asin(turn(x))); }

C op_acosh(complex<R> x) {
    complex<R> p = op_sqrt(complex<R>(x.re - R(1), x.im)), m = op_sqrt(complex<R>(x.re + R(1), x.im));
    return complex<R>(op_asinh(p.re * m.re + p.im * m.im), R(2) * op_atan2(p.im, m.re));
}

C op_atanh(complex<R> x) {
    // the real part is computed from the magnitude, because the logarithm of a number slightly below 1 would lose bits
    R m = op_abs(x.re), d = R(1) - m, y2 = x.im * x.im;
    R re = op_log1p(R(4) * m / (d * d + y2)) / R(4);
    return complex<R>(op_copysign(re, x.re), op_atan2(R(2) * x.im, d * (R(1) + m) - y2) * R(0.5));
}

C op_atan(complex<R> x) { return turn_back(op_atanh(turn(x))); }

#undef C
