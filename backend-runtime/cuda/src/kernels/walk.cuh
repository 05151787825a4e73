// Traverses the elements of several operands in one common order. Each operand has its own strides.

// Division by a number that is known before the launch, as a multiplication and a shift. Dividends must be below 2^31.
struct Divisor {
    u32 magic, shift;
    u32 divide(u32 x) const { return (__umulhi(x, magic) + x) >> shift; }
};

// Shape and strides of K operands, the innermost axis first. Functions that use it are compiled for a number of axes
// `R`; then all indices into the struct are known to the compiler, and the struct stays in the constant memory that a
// launch fills. R = 16 means any number of axes.
template <int K> struct Walk {
    u64 n;
    u32 ndim;
    u64 shape[16];
    Divisor divisor[16];
    i64 strides[K][16];

    // Sets `at[k]` to the offset of element `i` of operand `k` from its first element, in elements. There must be fewer
    // than 2^31 elements.
    template <int R> void locate(u32 i, i64 (&at)[K]) const {
        locate_by<R>(i, at, [&](u32 rest, int axis) { return divisor[axis].divide(rest); });
    }

    // Like the function above, for any number of elements.
    template <int R> void locate(u64 i, i64 (&at)[K]) const {
        locate_by<R>(i, at, [&](u64 rest, int axis) { return rest / shape[axis]; });
    }

  private:
    template <int R, typename I, typename F> void locate_by(I rest, i64 (&at)[K], F divide) const {
        for (int k = 0; k < K; k++) at[k] = 0;
#pragma unroll
        for (int axis = 0; axis < R; axis++) {
            bool is_last = axis + 1 == R || (R == 16 && axis + 1 == ndim);
            I quotient = is_last ? 0 : divide(rest, axis), index = rest - quotient * I(shape[axis]);
            for (int k = 0; k < K; k++) at[k] += i64(index) * strides[k][axis];
            if (is_last) break;
            rest = quotient;
        }
    }
};
