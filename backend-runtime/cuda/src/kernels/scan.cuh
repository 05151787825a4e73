// Running folds (such as cumulative sums) along one axis. A lane, a 1-D slice along the axis, is cut into chunks. The
// kernels compute first the fold of every chunk, then the fold of everything before each chunk in its lane, and then
// all results.

struct Scan {
    // Number of elements along the axis, number of elements per chunk, and number of chunks.
    u64 length, chunk, chunks;
    // Strides of the axis in the array and in the result, in elements.
    i64 from_stride, to_stride;
    // Whether the result of a lane begins with the fold of no elements, and has therefore one element more than the
    // lane.
    u32 initial;
};

// Returns the joined `x` of all threads of the block before this one. `all` gets the joined `x` of all threads.
template <typename F> typename F::Acc join_before(typename F::Acc x, typename F::Acc& all) {
    typedef typename F::Acc Acc;
    __shared__ Acc shared[256];
    const u32 thread = threadIdx.x, lane = thread & 31, warp = thread / 32;
    // wait until the previous use of shared memory has ended
    __syncthreads();
    shared[thread] = x;
    __syncwarp();
    for (u32 step = 1; step < 32; step *= 2) {
        Acc other = lane >= step ? shared[thread - step] : F::none();
        __syncwarp();
        shared[thread] = F::join(other, shared[thread]);
        __syncwarp();
    }
    __syncthreads();
    Acc before = F::none();
    all = F::none();
    for (u32 w = 0; w < 8; w++) {
        if (w < warp) before = F::join(before, shared[w * 32 + 31]);
        all = F::join(all, shared[w * 32 + 31]);
    }
    return lane == 0 ? before : F::join(before, shared[thread - 1]);
}

// Each chunk of each lane is computed by one block. If `out` is null, the block writes the fold of the chunk to
// `chunks`. Otherwise it writes the results to `out`; if there are several chunks, it begins with the fold of
// everything before the chunk, which it reads from `chunks`.
template <template <typename> class F, typename T>
__global__ void __launch_bounds__(256)
    scan_rows(const T* __restrict__ x, typename F<T>::Out* __restrict__ out, typename F<T>::Acc* __restrict__ chunks,
              const __grid_constant__ Walk<2> lanes, const Scan scan) {
    typedef F<T> Fold;
    typedef typename Fold::Acc Acc;
    const int EACH = 4;
    for (u64 job = blockIdx.x; job < lanes.n * scan.chunks; job += gridDim.x) {
        const u64 begin = job % scan.chunks * scan.chunk;
        const u64 end = begin + scan.chunk < scan.length ? begin + scan.chunk : scan.length;
        i64 at[2];
        locate(lanes, job / scan.chunks, at);
        const T* from = x + at[0];
        Acc carry = out && scan.chunks > 1 ? chunks[job] : Fold::none();
        if (out && scan.initial && begin == 0 && threadIdx.x == 0) out[at[1]] = Fold::finish(Fold::none(), 0);
        for (u64 first = begin; first < end; first += 256 * EACH) {
            const u64 mine = first + threadIdx.x * EACH;
            Acc items[EACH], sum = Fold::none();
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                const u64 i = mine + k;
                if (i < end) sum = Fold::join(sum, Fold::load(from[i64(i) * scan.from_stride], i, 0));
                items[k] = sum;
            }
            Acc all;
            const Acc before = Fold::join(carry, join_before<Fold>(sum, all));
            carry = Fold::join(carry, all);
            if (!out) continue;
#pragma unroll
            for (int k = 0; k < EACH; k++) {
                const u64 i = mine + k;
                if (i < end) {
                    out[at[1] + i64(i + scan.initial) * scan.to_stride] =
                        Fold::finish(Fold::join(before, items[k]), 0);
                }
            }
        }
        if (!out && threadIdx.x == 0) chunks[job] = carry;
    }
}

// Like `scan_rows`, but one thread computes a chunk of a lane, and neighbouring threads compute neighbouring lanes. It
// is used if neighbouring lanes are neighbours in memory. `blockIdx.y` is the number of the chunk.
template <template <typename> class F, typename T>
__global__ void __launch_bounds__(256)
    scan_columns(const T* __restrict__ x, typename F<T>::Out* __restrict__ out,
                 typename F<T>::Acc* __restrict__ chunks, const __grid_constant__ Walk<2> lanes, const Scan scan) {
    typedef F<T> Fold;
    typedef typename Fold::Acc Acc;
    const u64 begin = blockIdx.y * scan.chunk;
    const u64 end = begin + scan.chunk < scan.length ? begin + scan.chunk : scan.length;
    for (u64 lane = blockIdx.x * u64(256) + threadIdx.x; lane < lanes.n; lane += gridDim.x * u64(256)) {
        i64 at[2];
        locate(lanes, lane, at);
        const T* from = x + at[0];
        const u64 job = lane * scan.chunks + blockIdx.y;
        Acc sum = out && scan.chunks > 1 ? chunks[job] : Fold::none();
        if (out && scan.initial && begin == 0) out[at[1]] = Fold::finish(Fold::none(), 0);
#pragma unroll 4
        for (u64 i = begin; i < end; i++) {
            sum = Fold::join(sum, Fold::load(from[i64(i) * scan.from_stride], i, 0));
            if (out) out[at[1] + i64(i + scan.initial) * scan.to_stride] = Fold::finish(sum, 0);
        }
        if (!out) chunks[job] = sum;
    }
}

// Replaces the fold of each chunk of a lane by the fold of all chunks before it in the lane. `n` is the number of
// chunks per lane.
template <template <typename> class F, typename T>
__global__ void __launch_bounds__(256) scan_chunks(typename F<T>::Acc* chunks, u64 lanes, u64 n) {
    typedef F<T> Fold;
    for (u64 lane = blockIdx.x; lane < lanes; lane += gridDim.x) {
        typename Fold::Acc carry = Fold::none();
        for (u64 first = 0; first < n; first += 256) {
            const u64 i = first + threadIdx.x;
            typename Fold::Acc all;
            typename Fold::Acc before = join_before<Fold>(i < n ? chunks[lane * n + i] : Fold::none(), all);
            if (i < n) chunks[lane * n + i] = Fold::join(carry, before);
            carry = Fold::join(carry, all);
        }
    }
}
