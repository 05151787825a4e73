// Folds over some axes of an array. The walk `outer` traverses the kept axes, and the walk `inner` the reduced axes.

// How the work of a fold is divided. A block has 256 threads, which compute 2^width results at a time; block y takes
// `chunk` of the elements of each result. With `columns`, neighbouring threads handle neighbouring results; without
// it, they handle neighbouring elements of one result. With `vectors`, the elements of a result are contiguous, and
// all packs of 16 bytes are aligned. `over` is an argument of `finish`.
struct Split {
    u64 chunk;
    double over;
    u32 width, columns, vectors;
};

template <typename T> struct alignas(16) Packed {
    T at[16 / sizeof(T)];
};

// Access to the elements of one result by their number: along one axis with a stride, or in contiguous memory, or
// along several axes.
template <typename T> struct Line {
    const T* x;
    i64 stride;
    T operator()(u64 i) const { return x[i64(i) * stride]; }
};
template <typename T> struct Dense {
    const T* x;
    T operator()(u64 i) const { return x[i]; }
    Packed<T> pack(u64 p) const { return ((const Packed<T>*)x)[p]; }
};
template <typename T> struct Winding {
    const T* x;
    const Walk<1>& walk;
    T operator()(u64 i) const {
        i64 at[1];
        locate(walk, i, at);
        return x[at[0]];
    }
};

// Folds the elements from `i` to `end`, `step` apart. Several accumulators let several loads and sums run at the same
// time.
template <typename F, typename A> typename F::Acc fold_steps(A x, u64 i, u64 end, u32 step, typename F::Given given) {
    typename F::Acc acc[4] = {F::none(), F::none(), F::none(), F::none()};
    for (; i + 3 * u64(step) < end; i += 4 * u64(step)) {
#pragma unroll
        for (int k = 0; k < 4; k++) acc[k] = F::join(acc[k], F::load(x(i + k * u64(step)), i + k * u64(step), given));
    }
    for (; i < end; i += step) acc[0] = F::join(acc[0], F::load(x(i), i, given));
    return F::join(F::join(acc[0], acc[1]), F::join(acc[2], acc[3]));
}

// Like `fold_steps`, for elements that are loaded in packs.
template <typename F, typename T, typename A>
typename F::Acc fold_packs(A x, u64 begin, u64 end, u32 part, u32 step, typename F::Given given) {
    const int W = 16 / sizeof(T), lanes = W < 4 ? W : 4;
    typename F::Acc acc[lanes];
    for (int k = 0; k < lanes; k++) acc[k] = F::none();
#pragma unroll 4
    for (u64 p = begin / W + part; p < end / W; p += step) {
        Packed<T> pack = x.pack(p);
#pragma unroll
        for (int k = 0; k < W; k++) acc[k % lanes] = F::join(acc[k % lanes], F::load(pack.at[k], p * W + k, given));
    }
    for (u64 i = end / W * W + part; i < end; i += step) acc[0] = F::join(acc[0], F::load(x(i), i, given));
    for (int k = 1; k < lanes; k++) acc[0] = F::join(acc[0], acc[k]);
    return acc[0];
}

// Joins the accumulators of all threads that work on the same result, in a fixed order. The first of these threads
// gets the joined accumulator.
template <typename F> typename F::Acc join_threads(typename F::Acc acc, u32 part, u32 group, u32 step) {
    __shared__ typename F::Acc shared[256];
    if (group == 1) return acc;
    const bool one_warp = step == 1 && group <= 32;
    // other warps may still read the accumulators of the previous call
    if (!one_warp) __syncthreads();
    shared[threadIdx.x] = acc;
    if (one_warp) __syncwarp();
    else __syncthreads();
    for (u32 half = group / 2; half > 0; half /= 2) {
        if (part < half) shared[threadIdx.x] = F::join(shared[threadIdx.x], shared[threadIdx.x + half * step]);
        // in the next round, a thread reads only what its own warp has written
        if (step == 1 && half <= 32) __syncwarp();
        else __syncthreads();
    }
    return shared[threadIdx.x];
}

// The elements of an array, as the input of a fold.
template <typename T> struct OfArray {
    const T* x;
    const Walk<1>&outer, &inner;
    // Folds the elements of result `o` that belong to a thread.
    template <typename F>
    typename F::Acc fold(u64 o, u64 begin, u64 end, u32 part, u32 step, u32 vectors, typename F::Given given) const {
        i64 at[1];
        locate(outer, o, at);
        const T* from = x + at[0];
        if (vectors) return fold_packs<F, T>(Dense<T>{from}, begin, end, part, step, given);
        if (inner.ndim == 1) return fold_steps<F>(Line<T>{from, inner.strides[0][0]}, begin + part, end, step, given);
        return fold_steps<F>(Winding<T>{from, inner}, begin + part, end, step, given);
    }
};

// Folds the elements that `of` provides; each result has `n` elements. Writes the results to `out`. If several blocks
// share the elements of a result, writes their accumulators to `parts` instead.
template <typename Fold, typename S>
void reduce_all(const S& of, typename Fold::Out* out, typename Fold::Acc* parts, const typename Fold::Given* givens,
                u64 results, u64 n, const Split& split) {
    const u32 width = 1 << split.width, group = 256 >> split.width, thread = threadIdx.x;
    const u32 column = split.columns ? thread & (width - 1) : thread / group;
    const u32 part = split.columns ? thread >> split.width : thread & (group - 1);
    const u64 begin = blockIdx.y * split.chunk;
    const u64 end = begin + split.chunk < n ? begin + split.chunk : n;
    for (u64 first = u64(blockIdx.x) * width; first < results; first += u64(gridDim.x) * width) {
        const u64 o = first + column;
        typename Fold::Acc acc = Fold::none();
        if (o < results) {
            typename Fold::Given given = typename Fold::Given();
            if (givens) given = given_of(givens, o);
            acc = of.template fold<Fold>(o, begin, end, part, group, split.vectors, given);
        }
        acc = join_threads<Fold>(acc, part, group, split.columns ? width : 1);
        if (part == 0 && o < results) {
            if (parts) parts[o * gridDim.y + blockIdx.y] = acc;
            else out[o] = Fold::finish(acc, split.over);
        }
    }
}

template <template <typename> class F, typename T>
__global__ void __launch_bounds__(256)
    reduce(const T* __restrict__ x, typename F<T>::Out* __restrict__ out, typename F<T>::Acc* __restrict__ parts,
           const typename F<T>::Given* __restrict__ givens, const __grid_constant__ Walk<1> outer,
           const __grid_constant__ Walk<1> inner, const Split split) {
    reduce_all<F<T>>(OfArray<T>{x, outer, inner}, out, parts, givens, outer.n, inner.n, split);
}

// Joins the `n` accumulators of each result, which different blocks have written. One warp joins the accumulators of
// one result.
template <template <typename> class F, typename T>
__global__ void __launch_bounds__(256)
    join_parts(const typename F<T>::Acc* __restrict__ parts, typename F<T>::Out* __restrict__ out, u64 results, u64 n,
               double over) {
    typedef F<T> Fold;
    const u32 lane = threadIdx.x & 31;
    for (u64 first = u64(blockIdx.x) * 8; first < results; first += u64(gridDim.x) * 8) {
        const u64 o = first + threadIdx.x / 32;
        typename Fold::Acc acc = Fold::none();
        if (o < results) {
            for (u64 i = lane; i < n; i += 32) acc = Fold::join(acc, parts[o * n + i]);
        }
        acc = join_threads<Fold>(acc, lane, 32, 1);
        if (lane == 0 && o < results) out[o] = Fold::finish(acc, over);
    }
}
