// Elements of several operands, each with its own strides, in one order.

// Division by a number known before the launch, for dividends below 2^31: a multiplication and a shift.
struct Divisor {
    u32 magic, shift;
    u32 divide(u32 x) const { return (__umulhi(x, magic) + x) >> shift; }
};

// Shape and strides of K operands, the innermost axis first. `small`: fewer than 2^31 elements.
template <int K> struct Walk {
    u64 n;
    u32 ndim, small;
    u64 shape[16];
    Divisor divisor[16];
    i64 strides[K][16];

    // Where element `i` of each operand lies, in elements from its first.
    void locate(u64 i, i64 (&at)[K]) const {
        for (int k = 0; k < K; k++) at[k] = 0;
        u32 last = ndim - 1;
        if (small) {
            u32 rest = u32(i);
            for (u32 axis = 0; axis < last; axis++) {
                u32 quotient = divisor[axis].divide(rest), index = rest - quotient * u32(shape[axis]);
                for (int k = 0; k < K; k++) at[k] += i64(index) * strides[k][axis];
                rest = quotient;
            }
            for (int k = 0; k < K; k++) at[k] += i64(rest) * strides[k][last];
        } else {
            u64 rest = i;
            for (u32 axis = 0; axis < last; axis++) {
                u64 quotient = rest / shape[axis], index = rest - quotient * shape[axis];
                for (int k = 0; k < K; k++) at[k] += i64(index) * strides[k][axis];
                rest = quotient;
            }
            for (int k = 0; k < K; k++) at[k] += i64(rest) * strides[k][last];
        }
    }
};
