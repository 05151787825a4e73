// Gathers and writes elements by arrays of indices. An offset is the distance, in elements, from index 0 of the
// indexed axes to the selected element. The offset is NOWHERE if the index is out of range, or if a later value
// replaces the value.

#define NOWHERE i64(u64(1) << 63)

struct AlongAxis {
    // length of the axis; distance from one index of the axis to the next, in the array, and in the numbering of all
    // elements that the index arrays can select
    i64 len, stride, place;
};

// Adds to each offset the part that comes from the index along one axis. The operands of `walk` are the offsets and
// the indices. `found` gets the position of the first index out of range on this axis, and `any` the first such
// position on all axes.
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

// Keeps only the last of the offsets that lead to the same element.
__global__ void __launch_bounds__(256) drop_earlier(i64* offsets, const i64* places, const i64* last, u64 n) {
    FOR_EACH(i, n) {
        if (last[places[i]] != i64(i)) offsets[i] = NOWHERE;
    }
}

// Gathers elements. The operands of `walk` are the result, the array at index 0 of the indexed axes, and the offsets.
// For the offset NOWHERE, the element of the result is 0.
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

// Writes values. The operands of `walk` are the array at index 0 of the indexed axes, the values, and the offsets.
// Nothing is written if any index is out of range.
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

// Adds values. The operands of `walk` are the same as in `put`.
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
