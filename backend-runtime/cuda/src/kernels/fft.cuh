// Kernels around cuFFT's transforms. cuFFT does not scale results, and has only one direction of each transform from or
// to real numbers.

#define FOR_EACH(i, n)                                                                                                 \
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x))

__device__ inline float conjugate(float x) { return x; }
__device__ inline double conjugate(double x) { return x; }
template <typename R> __device__ complex<R> conjugate(complex<R> x) { return complex<R>(x.re, -x.im); }

__device__ inline float times(float x, double by) { return x * float(by); }
__device__ inline double times(double x, double by) { return x * by; }
template <typename R> __device__ complex<R> times(complex<R> x, double by) {
    return complex<R>(x.re * R(by), x.im * R(by));
}

// Scales the elements in place, and conjugates them if requested.
template <typename T> __global__ void __launch_bounds__(256) scaled(T* x, u64 n, double by, u32 conj) {
    FOR_EACH(i, n) x[i] = times(conj ? conjugate(x[i]) : x[i], by);
}

// Changes half spectra of `m` frequencies in place into spectra of real signals of `points` points: the imaginary
// parts of the zero frequency and, for an even number of points, of the last frequency become 0.
template <typename T> __global__ void __launch_bounds__(256) hermitian(T* x, u64 n, u64 m, u64 points, u32 conj) {
    FOR_EACH(i, n) {
        u64 k = i % m;
        T value = conj ? conjugate(x[i]) : x[i];
        if (k == 0 || 2 * k == points) value.im = 0;
        x[i] = value;
    }
}

// Sample frequencies. From index `negative` on, the frequencies are negative.
template <typename T> __global__ void __launch_bounds__(256) frequencies(T* out, u64 n, u64 negative, u64 points, double step) {
    FOR_EACH(i, n) {
        double cycle = i < negative ? double(i) : -double(points - i);
        out[i] = cast<T>(cycle * step);
    }
}
