// Converts elements to unsigned integers (keys) that have the same order. NaN has the largest key, also in descending
// order, and -0.0 has the key of 0.0.

template <typename T> struct Keys {
    typedef u32 Key;
    enum { BITS = 8 * sizeof(T) };
    // the sign bit is flipped, so that negative numbers come first
    static const u32 sign = T(-1) < T(0) ? 1u << (BITS - 1) : 0, mask = u32((u64(1) << BITS) - 1);
    static u32 of(T x, bool descending) { return ((descending ? ~u32(x) : u32(x)) ^ sign) & mask; }
    static T element(u32 key, bool descending) { return T((descending ? ~key : key) ^ sign); }
    static bool is_nan(u32) { return false; }
};

template <> struct Keys<bool> {
    typedef u32 Key;
    enum { BITS = 8 };
    static u32 of(bool x, bool descending) { return x != descending; }
    static bool element(u32 key, bool descending) { return bool(key) != descending; }
    static bool is_nan(u32) { return false; }
};

template <typename T, u64 SIGN> struct WideKeys {
    typedef u64 Key;
    enum { BITS = 64 };
    static u64 of(T x, bool descending) { return (descending ? ~u64(x) : u64(x)) ^ SIGN; }
    static T element(u64 key, bool descending) { return T((descending ? ~key : key) ^ SIGN); }
    static bool is_nan(u64) { return false; }
};
template <> struct Keys<i64> : WideKeys<i64, u64(1) << 63> {};
template <> struct Keys<u64> : WideKeys<u64, 0> {};

// Converts floats with `B` bits to keys of type `K`.
template <typename T, typename K, int B> struct FloatKeys {
    typedef K Key;
    enum { BITS = B };
    static const K sign = K(1) << (B - 1), mask = sign - 1 + sign;
    static K of(K bits, bool nan, bool zero, bool descending) {
        if (nan) return mask;
        K key = zero ? sign : bits & sign ? ~bits & mask : bits | sign;
        return descending ? ~key & mask : key;
    }
    static K bits(K key, bool descending) {
        K of = descending ? ~key & mask : key;
        return of & sign ? of ^ sign : ~of & mask;
    }
    static bool is_nan(K key) { return key == mask; }
};

template <typename T> struct HalfKeys : FloatKeys<T, u32, 16> {
    typedef FloatKeys<T, u32, 16> Base;
    static u32 of(T x, bool descending) { return Base::of(x.bits, float(x) != float(x), float(x) == 0, descending); }
    static T element(u32 key, bool descending) {
        T x;
        x.bits = Base::is_nan(key) ? 0x7fff : u16(Base::bits(key, descending));
        return x;
    }
};
template <> struct Keys<f16> : HalfKeys<f16> {};
template <> struct Keys<bf16> : HalfKeys<bf16> {};

template <> struct Keys<float> : FloatKeys<float, u32, 32> {
    typedef FloatKeys<float, u32, 32> Base;
    static u32 of(float x, bool descending) { return Base::of(__float_as_uint(x), x != x, x == 0, descending); }
    static float element(u32 key, bool descending) {
        return __uint_as_float(Base::is_nan(key) ? 0x7fffffff : Base::bits(key, descending));
    }
};
template <> struct Keys<double> : FloatKeys<double, u64, 64> {
    typedef FloatKeys<double, u64, 64> Base;
    static u64 of(double x, bool descending) {
        return Base::of(u64(__double_as_longlong(x)), x != x, x == 0, descending);
    }
    static double element(u64 key, bool descending) {
        return __longlong_as_double(i64(Base::is_nan(key) ? 0x7fffffffffffffff : Base::bits(key, descending)));
    }
};
