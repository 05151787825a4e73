// Padding with borders that repeat elements of the array, as in `numpy.pad`.

struct Border {
    u64 n;
    u32 ndim, mode;
    // for each axis: length of the result, width of the border before the array, and length of the array
    u64 shape[16];
    Divisor divisor[16];
    u64 before[16];
    u64 lengths[16];
    i64 strides[16];
};

enum { CONSTANT, EDGE, REFLECT, SYMMETRIC, WRAP };

// Returns the index of the element that is repeated at index `i` of an axis of length `n`. `i` counts from the array's
// first element; in the border it is negative, or at least `n`.
inline i64 repeated_index(i64 i, i64 n, u32 mode) {
    if (i >= 0 && i < n) return i;
    if (mode == EDGE || n == 1) return i < 0 ? 0 : n - 1;
    i64 period = mode == WRAP ? n : mode == SYMMETRIC ? 2 * n : 2 * n - 2;
    i64 at = i % period;
    if (at < 0) at += period;
    if (at < n) return at;
    return mode == SYMMETRIC ? period - 1 - at : period - at;
}

inline u32 quotient(const Border& border, int axis, u32 x) { return border.divisor[axis].divide(x); }
inline u64 quotient(const Border& border, int axis, u64 x) { return x / border.shape[axis]; }

template <typename I, typename T> __global__ void __launch_bounds__(256) bordered(T* out, const T* x, Border border) {
    I n = border.n, step = I(gridDim.x) * blockDim.x;
    for (I i = I(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        I rest = i;
        i64 place = 0;
#pragma unroll
        for (int axis = 0; axis < 16; axis++) {
            if (axis == border.ndim) break;
            I outer = quotient(border, axis, rest), index = rest - outer * I(border.shape[axis]);
            i64 from = i64(index) - i64(border.before[axis]);
            place += repeated_index(from, border.lengths[axis], border.mode) * border.strides[axis];
            rest = outer;
        }
        out[i] = x[place];
    }
}
