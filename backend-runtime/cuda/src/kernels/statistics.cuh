// Counts of elements, for histograms. If there are few counters, a block counts in its shared memory, and adds its
// counts to the global counts at the end.

const u64 FEW = 8192;

// The type in which elements are compared.
template <typename T> struct Wide { typedef float Type; };
template <> struct Wide<double> { typedef double Type; };

// Counts the elements of `x` in `places` counters. `place` returns the index of an element's counter, or `places` if
// the element is not counted.
template <typename T, typename F> void count_places(u64* counts, u64 places, const T* x, u64 n, F place) {
    __shared__ u32 own[FEW];
    const bool is_few = places <= FEW;
    if (is_few) {
        for (u64 k = threadIdx.x; k < places; k += blockDim.x) own[k] = 0;
        __syncthreads();
    }
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x)) {
        const u64 at = place(x[i]);
        if (at == places) continue;
        if (is_few) atomicAdd(own + at, 1u);
        else atomicAdd(counts + at, u64(1));
    }
    if (is_few) {
        __syncthreads();
        for (u64 k = threadIdx.x; k < places; k += blockDim.x) {
            if (own[k] > 0) atomicAdd(counts + k, u64(own[k]));
        }
    }
}

// Counts the elements in the bins between ascending edges. The bin of an element is guessed as if all bins had equal
// width. If the guess is wrong, the bin is found by a binary search.
template <typename T> __global__ void __launch_bounds__(256) histogram(u64* counts, u64 bins, const T* x, u64 n, const T* edges) {
    typedef typename Wide<T>::Type R;
    const R first = R(edges[0]), last = R(edges[bins]), density = R(bins) / (last - first);
    count_places(counts, bins, x, n, [&](T element) {
        const R value = R(element);
        if (!(first <= value && value <= last)) return bins;
        if (value == last) return bins - 1;
        const R guess = (value - first) * density;
        u64 low = guess >= 0 && guess < R(bins) ? u64(guess) : 0;
        if (R(edges[low]) <= value && value < R(edges[low + 1])) return low;
        low = 0;
        for (u64 high = bins; high - low > 1;) {
            const u64 middle = low + (high - low) / 2;
            if (R(edges[middle]) <= value) low = middle;
            else high = middle;
        }
        return low;
    });
}

template <typename T> __global__ void __launch_bounds__(256) find_fall(u64* found, const T* edges, u64 n) {
    typedef typename Wide<T>::Type R;
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i + 1 < n; i += gridDim.x * u64(blockDim.x)) {
        if (!(R(edges[i]) <= R(edges[i + 1]))) atomicMax(found, u64(1));
    }
}

__global__ void __launch_bounds__(256) bincount(u64* counts, u64 places, const i64* x, u64 n) {
    count_places(counts, places, x, n, [&](i64 number) { return u64(number); });
}
