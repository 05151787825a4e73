// Stream compaction: writes the elements for which a mask is true, in order. A block of threads processes one tile of
// the mask at a time, 256 elements at once.

const u64 TILE = 4096;
const int WARPS = 8;

#define FOR_EACH_TILE(tile, n) for (u64 tile = blockIdx.x; tile * TILE < n; tile += gridDim.x)

// Counts the threads whose `yes` is true. Returns the count of the threads before this one; `all` gets the count of the
// whole block.
inline u32 rank_in_block(bool yes, u32& all) {
    __shared__ u32 counts[WARPS];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 votes = __ballot_sync(0xffffffff, yes);
    if (lane == 0) counts[warp] = __popc(votes);
    __syncthreads();
    u32 before = 0;
    all = 0;
    for (int w = 0; w < WARPS; w++) {
        if (w < warp) before += counts[w];
        all += counts[w];
    }
    __syncthreads();
    return before + __popc(votes & ((u32(1) << lane) - 1));
}

// Calls `write(rank, i)` for every true element i of the tile, where `rank` is the number of true elements before i.
// The argument `place` is the number of true elements before the tile.
template <typename T, typename F> void for_true(const T* mask, u64 tile, u64 n, u64 place, F write) {
    for (u64 base = tile * TILE; base < (tile + 1) * TILE && base < n; base += blockDim.x) {
        u64 i = base + threadIdx.x;
        bool yes = i < n && op_is_nonzero(mask[i]);
        u32 all, rank = rank_in_block(yes, all);
        if (yes) write(place + rank, i);
        place += all;
    }
}

template <typename T> __global__ void __launch_bounds__(256) count(u64* counts, const T* mask, u64 n) {
    FOR_EACH_TILE(tile, n) {
        u64 total = 0;
        for (u64 base = tile * TILE; base < (tile + 1) * TILE && base < n; base += blockDim.x) {
            u64 i = base + threadIdx.x;
            u32 all;
            rank_in_block(i < n && op_is_nonzero(mask[i]), all);
            total += all;
        }
        if (threadIdx.x == 0) counts[tile] = total;
    }
}

// Runs in one block. Replaces each count by the sum of the counts before it, and writes the total after the last count.
__global__ void __launch_bounds__(1024) sum_counts(u64* counts, u64 n) {
    __shared__ u64 sums[1024];
    u64 each = (n + 1023) / 1024, first = threadIdx.x * each, end = first + each < n ? first + each : n;
    u64 own = 0;
    for (u64 i = first; i < end; i++) own += counts[i];
    sums[threadIdx.x] = own;
    __syncthreads();
    for (u32 distance = 1; distance < 1024; distance *= 2) {
        u64 left = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncthreads();
        sums[threadIdx.x] += left;
        __syncthreads();
    }
    u64 before = sums[threadIdx.x] - own;
    for (u64 i = first; i < end; i++) {
        u64 count = counts[i];
        counts[i] = before;
        before += count;
    }
    if (threadIdx.x == 1023) counts[n] = sums[1023];
}

template <typename T>
__global__ void __launch_bounds__(256) write_values(T* out, const T* x, const bool* mask, const u64* before, u64 n) {
    FOR_EACH_TILE(tile, n) {
        for_true(mask, tile, n, before[tile], [&](u64 place, u64 i) { out[place] = x[i]; });
    }
}

struct Shape {
    u64 n, ndim;
    // the innermost axis first
    u64 lengths[16];
    // distances in the result: from the indices of one true element to the indices of the next, and from the index
    // along one axis to the index along the next axis
    u64 row, column;
};

template <typename T>
__global__ void __launch_bounds__(256) write_places(i64* out, const T* x, const u64* before, Shape shape) {
    FOR_EACH_TILE(tile, shape.n) {
        for_true(x, tile, shape.n, before[tile], [&](u64 place, u64 i) {
#pragma unroll
            for (int axis = 0; axis < 16; axis++) {
                if (axis == shape.ndim) break;
                u64 rest = i / shape.lengths[axis];
                out[place * shape.row + (shape.ndim - 1 - axis) * shape.column] = i - rest * shape.lengths[axis];
                i = rest;
            }
        });
    }
}
