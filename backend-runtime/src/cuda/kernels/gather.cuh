// Gathers and puts by arrays of indices. An offset leads from an element to another of the same array; that of an index
// outside, or of a value that a later one replaces, is NOWHERE.

#define NOWHERE i64(u64(1) << 63)

struct AlongAxis {
    // length of the axis; distance of neighbours in the array, and among the places that all indices together choose from
    i64 len, stride, place;
};

// Adds where indices along one axis lead. Walk: the offsets, the indices. `found` has the first place of one outside, `any` one of
// any axis.
template <int R, typename I>
__global__ void __launch_bounds__(256)
    add_offsets(i64* offsets, i64* places, const i64* indices, u64* found, u64* any, Walk<2> walk, AlongAxis along) {
    I n = walk.n, step = I(gridDim.x) * blockDim.x;
    for (I i = I(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        i64 at[2];
        walk.template locate<R>(i, at);
        i64 index = resolved(indices[at[1]], along.len);
        if (index == along.len) {
            atomicMin(found, u64(i));
            atomicMin(any, u64(i));
            offsets[at[0]] = NOWHERE;
        } else if (offsets[at[0]] != NOWHERE) {
            offsets[at[0]] += index * along.stride;
            if (places) places[at[0]] += index * along.place;
        }
    }
}

// Only the last of those that lead to one place is left.
__global__ void __launch_bounds__(256) drop_earlier(i64* offsets, const i64* places, const i64* last, u64 n) {
    FOR_EACH(i, n) {
        if (last[places[i]] != i64(i)) offsets[i] = NOWHERE;
    }
}

// Walk: the result, the array at index 0 of the axes that are chosen from, the offsets. What is nowhere is 0.
template <int R, typename I, typename T>
__global__ void __launch_bounds__(256) gather(T* out, const T* x, const i64* offsets, Walk<3> walk) {
    I n = walk.n, step = I(gridDim.x) * blockDim.x;
    for (I i = I(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        i64 at[3];
        walk.template locate<R>(i, at);
        i64 offset = offsets[at[2]];
        out[at[0]] = offset != NOWHERE ? x[at[1] + offset] : T();
    }
}

// Walk: the array as above, the values, the offsets. Nothing is put anywhere if any index is outside.
template <int R, typename I, typename T>
__global__ void __launch_bounds__(256) put(T* x, const T* values, const i64* offsets, Walk<3> walk, const u64* any) {
    if (*any != ~u64(0)) return;
    I n = walk.n, step = I(gridDim.x) * blockDim.x;
    for (I i = I(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        i64 at[3];
        walk.template locate<R>(i, at);
        i64 offset = offsets[at[2]];
        if (offset != NOWHERE) x[at[0] + offset] = values[at[1]];
    }
}

// The same walk.
template <int R, typename I, typename T>
__global__ void __launch_bounds__(256) put_sum(T* x, const T* values, const i64* offsets, Walk<3> walk, const u64* any) {
    if (*any != ~u64(0)) return;
    I n = walk.n, step = I(gridDim.x) * blockDim.x;
    for (I i = I(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        i64 at[3];
        walk.template locate<R>(i, at);
        i64 offset = offsets[at[2]];
        if (offset != NOWHERE) atomic_add(x + at[0] + offset, values[at[1]]);
    }
}
