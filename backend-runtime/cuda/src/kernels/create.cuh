// New arrays whose elements are computed from their index.

#define FOR_EACH(i, n)                                                                                                 \
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x))

// Ranges of integers, which wrap around on overflow.
template <typename T> __global__ void __launch_bounds__(256) counted(T* out, u64 n, T start, T step) {
    FOR_EACH(i, n) out[i] = op_plus(start, op_times(step, cast<T>(i)));
}

// Ranges of real numbers, computed in the type R. No step is added to the first element, because an infinite step
// times 0 is NaN.
template <typename R, typename T>
__global__ void __launch_bounds__(256) stepped(T* out, u64 n, T start, double from, double by) {
    FOR_EACH(i, n) out[i] = i == 0 ? start : cast<T>(R(from) + R(i) * R(by));
}

struct Line {
    double re, im, step_re, step_im, divisor, times;
};

// Evenly spaced numbers. With `ends`, the last number is `last`.
template <typename T>
__global__ void __launch_bounds__(256) spaced(T* out, u64 n, Line line, T last, u32 ends) {
    FOR_EACH(i, n) {
        double at = double(i) / line.divisor;
        T x = From<T>::parts((line.step_re * at + line.re) * line.times, (line.step_im * at + line.im) * line.times);
        out[i] = ends && i == n - 1 ? last : x;
    }
}

// Keeps the lower or the upper triangle of each matrix, and writes zeros elsewhere.
template <typename T>
__global__ void __launch_bounds__(256)
    triangle(T* out, u64 n, const T* x, u64 rows, u64 columns, i64 k, u32 lower) {
    FOR_EACH(i, n) {
        i64 column = i % columns, row = i / columns % rows;
        // both indices are far below half the range of i64, so their difference cannot overflow, even with a k near the
        // ends of that range
        bool kept = lower ? column - row <= k : column - row >= k;
        out[i] = kept ? x[i] : T();
    }
}
