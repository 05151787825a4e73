// Kernels around the factorizations of cuSOLVER and cuBLAS: checks before and after them, and results that the
// libraries do not compute.

#define FOR_EACH(i, n)                                                                                                 \
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x))

__device__ inline float conjugate(float x) { return x; }
__device__ inline double conjugate(double x) { return x; }
template <typename R> __device__ complex<R> conjugate(complex<R> x) { return complex<R>(x.re, -x.im); }

__device__ inline float real_only(float x) { return x; }
__device__ inline double real_only(double x) { return x; }
template <typename R> __device__ complex<R> real_only(complex<R> x) { return complex<R>(x.re); }

template <typename T> __device__ bool is_zero(T x) { return x == T(0); }
template <typename R> __device__ bool is_zero(complex<R> x) { return x.re == 0 && x.im == 0; }

__device__ inline double over(double x, double by) { return x / by; }
__device__ inline complex<double> over(complex<double> x, double by) {
    return complex<double>(x.re / by, x.im / by);
}
__device__ inline double times(double x, double by) { return x * by; }
__device__ inline complex<double> times(complex<double> x, double by) {
    return complex<double>(x.re * by, x.im * by);
}

// The reasons why a call has no result. The kernels below set these flags for the host; several threads may set the
// same flag.
struct Notes {
    u32 not_finite, failed;
};

// Writes the addresses of n matrices. The first matrix is at the address `first`, and the addresses are `step` bytes
// apart.
__global__ void __launch_bounds__(256) addresses(u64* out, u64 n, u64 first, u64 step) {
    FOR_EACH(i, n) out[i] = first + i * step;
}

enum { ALL, LATER, EARLIER };
enum { REAL_DIAGONAL = 1, REFUSE_NOT_FINITE = 2, REFUSE_UNKNOWN_DIAGONAL = 4, REFUSE_ZERO_DIAGONAL = 8 };

// Checks and corrects matrices in place. Each matrix has `lines` lines of `length` elements. All elements are used, or
// only the elements whose position in their line is not before (LATER), or not after (EARLIER), the position of the
// line in its matrix. Unused elements and refused elements become 0.
template <typename T>
__global__ void __launch_bounds__(256) tidy(T* x, u64 n, u64 length, u64 lines, u32 kept, u32 what, Notes* notes) {
    FOR_EACH(i, n) {
        u64 place = i % length, line = i / length % lines;
        bool counts = kept == ALL || place == line || (kept == LATER) == (place > line);
        T value = x[i];
        if (!counts) {
            x[i] = zero<T>();
            continue;
        }
        if (what & REFUSE_NOT_FINITE && !op_is_finite(value)) {
            notes->not_finite = 1;
            x[i] = value = zero<T>();
        }
        if (place != line) continue;
        if (what & REAL_DIAGONAL) x[i] = value = real_only(value);
        if (what & REFUSE_UNKNOWN_DIAGONAL && op_is_nan(value)) notes->failed = 1;
        if (what & REFUSE_ZERO_DIAGONAL && is_zero(value)) notes->failed = 1;
    }
}

// Sets a flag if a library could not factorize a matrix. The library wrote one code per matrix.
__global__ void __launch_bounds__(256) note_codes(const int* codes, u64 n, Notes* notes) {
    FOR_EACH(i, n) {
        if (codes[i] != 0) notes->failed = 1;
    }
}

template <typename T> __global__ void __launch_bounds__(256) conjugates(T* x, u64 n) {
    FOR_EACH(i, n) x[i] = conjugate(x[i]);
}

// Unpacks the eigenvectors of real matrices with n rows. For a pair of conjugate eigenvectors, the real part is given
// in one column and the imaginary part in the next column. Matrices are in column-major order.
template <typename C, typename R>
__global__ void __launch_bounds__(256) unpack_pairs(C* out, u64 total, const R* packed, const C* values, u64 n) {
    FOR_EACH(i, total) {
        // `column` counts the columns of all matrices
        u64 column = i / n, row = i % n;
        R imag = values[column].im;
        // the library puts the vector with the positive imaginary part first
        bool first = imag > 0, second = imag < 0;
        u64 re = second && column % n > 0 ? column - 1 : column;
        R part = R(0);
        if (first && column % n + 1 < n) part = packed[(column + 1) * n + row];
        if (second) part = -packed[column * n + row];
        out[i] = C(packed[re * n + row], part);
    }
}

// The type in which the factors of a determinant are multiplied.
template <typename T> struct Wide { typedef double Type; };
template <typename R> struct Wide<complex<R>> { typedef complex<double> Type; };

// The contribution of some pivots (diagonal elements of the upper factor) to a determinant.
template <typename A> struct Part {
    A product, sign;
    double log;
    // whether an odd number of rows was exchanged; whether a pivot is 0; whether a pivot is infinite or NaN
    u32 odd, zero, strange;
};

template <typename A> __device__ Part<A> joined(const Part<A>& a, const Part<A>& b) {
    Part<A> out;
    out.product = op_times(a.product, b.product);
    out.sign = op_times(a.sign, b.sign);
    out.log = a.log + b.log;
    out.odd = a.odd ^ b.odd;
    out.zero = a.zero | b.zero;
    out.strange = a.strange | b.strange;
    return out;
}

// Determinants of matrices, from their LU factors and, for each row, the number (from 1) of the row that it was
// exchanged with. One block computes each matrix.
template <typename T, typename R, typename P>
__global__ void __launch_bounds__(128)
    determinants(T* values, T* signs, R* logs, u64 matrices, const T* factors, const P* pivots, u64 n) {
    typedef typename Wide<T>::Type A;
    __shared__ Part<A> parts[128];
    u32 me = threadIdx.x;
    for (u64 matrix = blockIdx.x; matrix < matrices; matrix += gridDim.x) {
        Part<A> part;
        part.product = part.sign = one<A>();
        part.log = 0;
        part.odd = part.zero = part.strange = 0;
        for (u64 i = me; i < n; i += blockDim.x) {
            Part<A> own;
            own.product = cast<A>(factors[(matrix * n + i) * n + i]);
            double size = op_abs(own.product);
            own.sign = over(own.product, size);
            own.log = op_log(size);
            own.odd = u64(pivots[matrix * n + i]) != i + 1;
            own.zero = size == 0;
            own.strange = !op_is_finite(size);
            part = joined(part, own);
        }
        parts[me] = part;
        __syncthreads();
        for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
            if (me < half) parts[me] = joined(parts[me], parts[me + half]);
            __syncthreads();
        }
        if (me == 0) {
            Part<A> all = parts[0];
            if (all.zero && !all.strange) {
                all.product = all.sign = zero<A>();
                all.log = op_log(0.0);
            } else if (!all.strange && (!op_is_finite(all.product) || is_zero(all.product))) {
                // a partial product overflowed or underflowed, but the whole product may not
                all.product = times(all.sign, op_exp(all.log));
            }
            double by = all.odd ? -1.0 : 1.0;
            values[matrix] = cast<T>(times(all.product, by));
            signs[matrix] = cast<T>(times(all.sign, by));
            logs[matrix] = R(all.log);
        }
        __syncthreads();
    }
}
