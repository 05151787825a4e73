// Gathers and scatters along one axis. Arrays have shape (outer, axis, inner), and negative indices count from the end.
// An index out of range reads 0, and writes nothing.

struct Sizes {
    // number of elements to process; length of the axis; number of indices; number of elements after the axis
    u64 n, len, many, inner;
};

#define FOR_EACH(i, n)                                                                                                 \
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x))

// Returns the index, counted from the start of the axis. Returns `len` if the index is out of range.
inline i64 resolved(i64 index, i64 len) {
    i64 at = index < 0 ? index + len : index;
    return at < 0 || at >= len ? len : at;
}

// Finds the position of the first index out of range.
__global__ void __launch_bounds__(256) find_outside(u64* found, const i64* indices, u64 n, i64 len) {
    FOR_EACH(i, n) {
        if (resolved(indices[i], len) == len) atomicMin(found, i);
    }
}

// A record of an index out of range. `op` is 0 if no such index is recorded.
struct Outside {
    u64 op;
    i64 index;
    u64 axis, len;
};

// Records the index at the position `*found`, if there is such a position and nothing is recorded yet. Runs in one
// thread.
__global__ void note_outside(Outside* noted, const u64* found, const i64* indices, Walk<1> walk, Outside outside) {
    if (*found == ~u64(0) || noted->op != 0) return;
    i64 at[1];
    walk.template locate<16>(*found, at);
    outside.index = indices[at[0]];
    *noted = outside;
}

// The three indices of element i in an array of shape (outer, many, inner). They are computed in 32-bit arithmetic if
// possible, because its divisions are much faster.
struct Place {
    u64 outer, k, inner;
    Place(u64 i, const Sizes& sizes) {
        if (sizes.n < u64(1) << 32) {
            u32 row = u32(i) / u32(sizes.inner);
            inner = u32(i) - row * u32(sizes.inner);
            outer = row / u32(sizes.many);
            k = row - u32(outer) * u32(sizes.many);
        } else {
            u64 row = i / sizes.inner;
            inner = i - row * sizes.inner;
            outer = row / sizes.many;
            k = row - outer * sizes.many;
        }
    }
    u64 at(i64 index, const Sizes& sizes) const { return (outer * sizes.len + index) * sizes.inner + inner; }
};

template <typename T>
__global__ void __launch_bounds__(256) take(T* out, const T* x, const i64* indices, Sizes sizes) {
    FOR_EACH(i, sizes.n) {
        Place place(i, sizes);
        i64 index = resolved(indices[place.k], sizes.len);
        out[i] = index < i64(sizes.len) ? x[place.at(index, sizes)] : T();
    }
}

// Takes elements of `x` along the axis, with a separate index for each element of the result. The operands of `walk`
// are the result, `x` at index 0 of the axis, and the indices.
template <int R, typename I, typename T>
__global__ void __launch_bounds__(256)
    take_along(T* out, const T* x, const i64* indices, Walk<3> walk, i64 len, i64 stride) {
    I n = walk.n, step = I(gridDim.x) * blockDim.x;
    for (I i = I(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
        i64 at[3];
        walk.template locate<R>(i, at);
        i64 index = resolved(indices[at[2]], len);
        out[at[0]] = index < len ? x[at[1] + index * stride] : T();
    }
}

// Finds, for each index along the axis, the last position at which `indices` contains it.
__global__ void __launch_bounds__(256) last_of(i64* last, const i64* indices, ulonglong2 lengths) {
    FOR_EACH(k, lengths.x) {
        i64 index = resolved(indices[k], lengths.y);
        if (index < i64(lengths.y)) atomicMax(last + index, i64(k));
    }
}

template <typename T>
__global__ void __launch_bounds__(256)
    scatter(T* out, const i64* indices, const T* values, const i64* last, Sizes sizes) {
    FOR_EACH(i, sizes.n) {
        Place place(i, sizes);
        i64 index = resolved(indices[place.k], sizes.len);
        if (index < i64(sizes.len) && last[index] == i64(place.k)) out[place.at(index, sizes)] = values[i];
    }
}

// ---- scatters that combine elements with values, by the operations of atomics.cuh ----

template <typename T>
__global__ void __launch_bounds__(256) scatter_add(T* out, const i64* indices, const T* values, Sizes sizes) {
    FOR_EACH(i, sizes.n) {
        Place place(i, sizes);
        i64 index = resolved(indices[place.k], sizes.len);
        if (index < i64(sizes.len)) atomic_add(out + place.at(index, sizes), values[i]);
    }
}

#define SCATTER(name, F)                                                                                               \
    template <typename T>                                                                                              \
    __global__ void __launch_bounds__(256) name(T* out, const i64* indices, const T* values, Sizes sizes) {            \
        FOR_EACH(i, sizes.n) {                                                                                         \
            Place place(i, sizes);                                                                                     \
            i64 index = resolved(indices[place.k], sizes.len);                                                         \
            if (index < i64(sizes.len)) atomic_change(out + place.at(index, sizes), values[i], F());                   \
        }                                                                                                              \
    }
SCATTER(scatter_mul, Product)
SCATTER(scatter_max, Largest)
SCATTER(scatter_min, Smallest)

// Multiplies elements that are too wide for an atomic operation, so each element has a lock. A thread that gets a
// lock releases it before any thread of its warp tries again.
template <typename T>
__global__ void __launch_bounds__(256)
    scatter_mul_locked(T* out, u32* locks, const i64* indices, const T* values, Sizes sizes) {
    FOR_EACH(i, sizes.n) {
        Place place(i, sizes);
        i64 index = resolved(indices[place.k], sizes.len);
        if (index >= i64(sizes.len)) continue;
        const u64 at = place.at(index, sizes);
        volatile typename Types<T>::Real* parts = &out[at].re;
        for (bool waits = true; waits;) {
            if (atomicCAS(locks + at, 0u, 1u) == 0) {
                __threadfence();
                const T product = op_times(T(parts[0], parts[1]), values[i]);
                parts[0] = product.re;
                parts[1] = product.im;
                __threadfence();
                atomicExch(locks + at, 0u);
                waits = false;
            }
        }
    }
}
