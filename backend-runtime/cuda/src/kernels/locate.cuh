// Finds the offset of element `i` of each operand of a walk (a traversal of several operands in the same order), in a
// loop over the axes. It is for kernels that need few offsets, and would not gain from being compiled for each number
// of axes.

template <int K, typename I, typename F> void locate_by(const Walk<K>& walk, I rest, i64 (&at)[K], F divide) {
    for (int k = 0; k < K; k++) at[k] = 0;
    for (u32 axis = 0; axis < walk.ndim; axis++) {
        I quotient = axis + 1 == walk.ndim ? 0 : divide(rest, axis), index = rest - quotient * I(walk.shape[axis]);
        for (int k = 0; k < K; k++) at[k] += i64(index) * walk.strides[k][axis];
        rest = quotient;
    }
}

template <int K> void locate(const Walk<K>& walk, u64 i, i64 (&at)[K]) {
    if (walk.ndim == 1) {
        for (int k = 0; k < K; k++) at[k] = i64(i) * walk.strides[k][0];
    } else if (walk.n >> 31) {
        locate_by(walk, i, at, [&](u64 rest, u32 axis) { return rest / walk.shape[axis]; });
    } else {
        locate_by(walk, u32(i), at, [&](u32 rest, u32 axis) { return walk.divisor[axis].divide(rest); });
    }
}
