// Sorts rows of keys: short rows in shared memory, and long rows digit by digit. A key is an unsigned integer that
// encodes an element and has the same order (see `Keys`).

#define FOR_EACH(i, n)                                                                                                 \
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x))

// ---- from elements to keys and back ----

// Writes the keys of all elements and, if `order` is not null, the position of each element in its row. `length` is the
// number of elements per row.
template <typename T>
__global__ void __launch_bounds__(256)
    encode(const T* __restrict__ x, const __grid_constant__ Walk<1> walk, typename Keys<T>::Key* __restrict__ keys,
           u32* __restrict__ order, u64 length, u32 descending) {
    FOR_EACH(i, walk.n) {
        i64 at[1];
        locate(walk, i, at);
        keys[i] = Keys<T>::of(x[at[0]], descending);
        if (order) order[i] = u32(i % length);
    }
}

// Writes the elements that the keys encode. The sign of a zero and the bits of a NaN are lost.
template <typename T>
__global__ void __launch_bounds__(256)
    decode(const typename Keys<T>::Key* __restrict__ keys, T* __restrict__ out, u64 n, u32 descending) {
    FOR_EACH(i, n) out[i] = Keys<T>::element(keys[i], descending);
}

// Writes the elements of each row in the order of the positions in `order`. `T` may be any type of the elements' size.
template <typename T>
__global__ void __launch_bounds__(256)
    gather(const T* __restrict__ x, const __grid_constant__ Walk<1> walk, const u32* __restrict__ order,
           T* __restrict__ out, u64 length) {
    FOR_EACH(i, walk.n) {
        i64 at[1];
        locate(walk, i - i % length + order[i], at);
        out[i] = x[at[0]];
    }
}

// ---- short rows ----

enum { SHORT = 2048 };

// Sorts each row by a bitonic sort. A block sorts as many rows together as fit in shared memory. Each row is padded to
// `padded` keys, a power of two, with keys that sort last. Equal keys are ordered by their positions, so that the sort
// is stable.
template <typename K, bool PAIRS>
__global__ void __launch_bounds__(256) sort_short(K* keys, u32* order, u64 rows, u32 length, u32 padded) {
    __shared__ K key[SHORT];
    __shared__ u32 place[PAIRS ? SHORT : 1];
    const u32 together = SHORT / padded;
    for (u64 first = u64(blockIdx.x) * together; first < rows; first += u64(gridDim.x) * together) {
        const u32 here = rows - first < together ? u32(rows - first) : together, total = here * padded;
        for (u32 i = threadIdx.x; i < total; i += 256) {
            const u32 column = i & (padded - 1);
            const u64 from = (first + i / padded) * length + column;
            key[i] = column < length ? keys[from] : ~K(0);
            if (PAIRS) place[i] = column < length ? order[from] : column;
        }
        __syncthreads();
        for (u32 size = 2; size <= padded; size *= 2) {
            for (u32 step = size / 2; step > 0; step /= 2) {
                for (u32 t = threadIdx.x; t < total / 2; t += 256) {
                    const u32 i = 2 * t - (t & (step - 1)), j = i + step;
                    const bool ascending = ((i & (padded - 1)) & size) == 0;
                    const bool greater = key[i] > key[j] || (PAIRS && key[i] == key[j] && place[i] > place[j]);
                    if (greater == ascending) {
                        K k = key[i];
                        key[i] = key[j];
                        key[j] = k;
                        if (PAIRS) {
                            u32 p = place[i];
                            place[i] = place[j];
                            place[j] = p;
                        }
                    }
                }
                __syncthreads();
            }
        }
        for (u32 i = threadIdx.x; i < total; i += 256) {
            const u32 column = i & (padded - 1);
            const u64 to = (first + i / padded) * length + column;
            if (column < length) {
                keys[to] = key[i];
                if (PAIRS) order[to] = place[i];
            }
        }
        __syncthreads();
    }
}

// ---- long rows: sorted by one digit after another, from the lowest digit; equal digits keep their order ----

// A digit has 8 bits. A tile is a part of a row: it has 16 keys for each of the 256 threads of a block.
enum { DIGITS = 256, TILE = 4096, ROUNDS = TILE / 256 };

template <typename K> u32 digit_of(K key, u32 shift) { return u32(key >> shift) & (DIGITS - 1); }

// Counts how often each digit occurs in each tile, and writes counts[row][digit][tile].
template <typename K>
__global__ void __launch_bounds__(256)
    count_digits(const K* __restrict__ keys, u32* __restrict__ counts, u64 rows, u64 length, u32 shift) {
    __shared__ u32 count[DIGITS];
    const u64 tiles = (length + TILE - 1) / TILE;
    for (u64 block = blockIdx.x; block < rows * tiles; block += gridDim.x) {
        const u64 row = block / tiles, tile = block % tiles;
        count[threadIdx.x] = 0;
        __syncthreads();
        for (u64 i = tile * TILE + threadIdx.x; i < length && i < (tile + 1) * TILE; i += 256) {
            atomicAdd(&count[digit_of(keys[row * length + i], shift)], 1u);
        }
        __syncthreads();
        counts[(row * DIGITS + threadIdx.x) * tiles + tile] = count[threadIdx.x];
        __syncthreads();
    }
}

// Returns the sum of `x` over the threads of the block before this one. `all` gets the sum over all threads.
u32 sum_before(u32 x, u32& all) {
    __shared__ u32 shared[8];
    const u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    u32 sum = x;
    for (u32 step = 1; step < 32; step *= 2) {
        u32 other = __shfl_up_sync(0xffffffff, sum, step);
        if (lane >= step) sum += other;
    }
    // wait until the previous use of shared memory has ended
    __syncthreads();
    if (lane == 31) shared[warp] = sum;
    __syncthreads();
    u32 before = 0;
    all = 0;
    for (u32 w = 0; w < 8; w++) {
        if (w < warp) before += shared[w];
        all += shared[w];
    }
    return before + sum - x;
}

// Replaces the count of a digit in each tile by the digit's count in all earlier tiles. Also writes the digit's count
// in the whole row.
__global__ void __launch_bounds__(256) sum_tiles(u32* counts, u32* __restrict__ totals, u64 digits, u64 tiles) {
    for (u64 digit = blockIdx.x; digit < digits; digit += gridDim.x) {
        u32 before = 0;
        for (u64 first = 0; first < tiles; first += 256) {
            const u64 tile = first + threadIdx.x;
            u32 all;
            u32 sum = sum_before(tile < tiles ? counts[digit * tiles + tile] : 0, all);
            if (tile < tiles) counts[digit * tiles + tile] = before + sum;
            before += all;
        }
        if (threadIdx.x == 0) totals[digit] = before;
    }
}

// Moves every key to its position in the row sorted by this digit. Each warp has a consecutive part of a tile and takes
// 32 consecutive keys at a time, so that keys with equal digits keep their order.
template <typename K, bool PAIRS>
__global__ void __launch_bounds__(256)
    scatter(const K* __restrict__ keys, const u32* __restrict__ order, K* __restrict__ keys_out,
            u32* __restrict__ order_out, const u32* __restrict__ counts, const u32* __restrict__ totals, u64 rows,
            u64 length, u32 shift) {
    __shared__ u32 place[8][DIGITS];
    const u64 tiles = (length + TILE - 1) / TILE;
    const u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (u64 block = blockIdx.x; block < rows * tiles; block += gridDim.x) {
        const u64 row = block / tiles, tile = block % tiles;
        const u64 begin = tile * TILE + warp * (TILE / 8);
        for (u32 w = 0; w < 8; w++) place[w][threadIdx.x] = 0;
        __syncthreads();
        K key[ROUNDS];
        u32 rank[ROUNDS];
#pragma unroll
        for (u32 round = 0; round < ROUNDS; round++) {
            const u64 i = begin + round * 32 + lane;
            const bool inside = i < length;
            key[round] = inside ? keys[row * length + i] : K(0);
            const u32 digit = inside ? digit_of(key[round], shift) : DIGITS;
            const u32 equals = __match_any_sync(0xffffffff, digit);
            const u32 before = __popc(equals & ((1u << lane) - 1));
            const u32 already = inside ? place[warp][digit] : 0;
            __syncwarp();
            if (inside && before == 0) place[warp][digit] = already + __popc(equals);
            __syncwarp();
            rank[round] = already + before;
        }
        __syncthreads();
        u32 all;
        u32 next = sum_before(totals[row * DIGITS + threadIdx.x], all);
        next += counts[(row * DIGITS + threadIdx.x) * tiles + tile];
        for (u32 w = 0; w < 8; w++) {
            const u32 count = place[w][threadIdx.x];
            place[w][threadIdx.x] = next;
            next += count;
        }
        __syncthreads();
#pragma unroll
        for (u32 round = 0; round < ROUNDS; round++) {
            const u64 i = begin + round * 32 + lane;
            if (i < length) {
                const u64 to = row * length + place[warp][digit_of(key[round], shift)] + rank[round];
                keys_out[to] = key[round];
                if (PAIRS) order_out[to] = order[row * length + i];
            }
        }
        __syncthreads();
    }
}

// ---- ops on sorted keys ----

// Marks each sorted key that is the first with its value. Every NaN counts as a new value.
template <typename T>
__global__ void __launch_bounds__(256)
    begins(const typename Keys<T>::Key* __restrict__ keys, bool* __restrict__ out, u64 n) {
    FOR_EACH(i, n) out[i] = i == 0 || keys[i] != keys[i - 1] || Keys<T>::is_nan(keys[i]);
}

// Like `begins`, for complex numbers, which are pairs of `R`.
template <typename R>
__global__ void __launch_bounds__(256) pairs_begin(const R* __restrict__ x, bool* __restrict__ out, u64 n) {
    FOR_EACH(i, n) out[i] = i == 0 || !(x[2 * i] == x[2 * i - 2] && x[2 * i + 1] == x[2 * i - 1]);
}

// Flags for the parts of complex numbers that are NaN: 1 for the imaginary part, and 2 for the real part.
template <typename R>
__global__ void __launch_bounds__(256) unknown_parts(const R* __restrict__ x, u8* __restrict__ out, u64 n) {
    FOR_EACH(i, n) out[i] = u8((x[2 * i] != x[2 * i] ? 2 : 0) + (x[2 * i + 1] != x[2 * i + 1] ? 1 : 0));
}

// Element `i` of the sorted order has the value number `number[i] - 1`, counted from 0. Writes this number at the
// element's original position.
__global__ void __launch_bounds__(256)
    inverse(const i64* __restrict__ number, const u32* __restrict__ order, i64* __restrict__ out, u64 n) {
    FOR_EACH(i, n) out[order[i]] = number[i] - 1;
}

// Computes the lengths of runs from the positions at which they begin.
__global__ void __launch_bounds__(256)
    run_lengths(const i64* __restrict__ starts, i64* __restrict__ out, u64 runs, i64 n) {
    FOR_EACH(k, runs) out[k] = (k + 1 < runs ? starts[k + 1] : n) - starts[k];
}

// The number of sorted elements that are less than x or, if `right` is 1, not greater than x.
template <typename T>
__global__ void __launch_bounds__(256)
    search(const T* __restrict__ sorted, i64 stride, u64 n, const T* __restrict__ x,
           const __grid_constant__ Walk<1> walk, i64* __restrict__ out, u32 right) {
    FOR_EACH(i, walk.n) {
        i64 at[1];
        locate(walk, i, at);
        const typename Keys<T>::Key key = Keys<T>::of(x[at[0]], false);
        u64 low = 0, high = n;
        while (low < high) {
            const u64 middle = low + (high - low) / 2;
            const typename Keys<T>::Key other = Keys<T>::of(sorted[i64(middle) * stride], false);
            if (right ? other <= key : other < key) low = middle + 1;
            else high = middle;
        }
        out[i] = low;
    }
}

// ---- quantiles ----

template <typename T> struct Precise { typedef float Type; };
template <> struct Precise<double> { typedef double Type; };

// Sets the flag if an element of `q` is not within 0 ..= 1.
template <typename T> __global__ void __launch_bounds__(256) outside(const T* __restrict__ q, u64 n, u32* flag) {
    FOR_EACH(i, n) {
        const double x = cast<double>(q[i]);
        if (!(x >= 0 && x <= 1)) *flag = 1;
    }
}

enum { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST };

// Computes the quantiles `q` of each sorted row, and writes out[q][row].
template <typename T>
__global__ void __launch_bounds__(256)
    quantiles(const typename Keys<T>::Key* __restrict__ keys, const T* __restrict__ q, T* __restrict__ out, u64 rows,
              u64 length, u64 n_q, u32 method) {
    typedef typename Precise<T>::Type R;
    FOR_EACH(i, rows * n_q) {
        const u64 row = i % rows, last = length - 1;
        const typename Keys<T>::Key* from = keys + row * length;
        if (Keys<T>::is_nan(from[last])) {
            out[i] = Keys<T>::element(from[last], false);
            continue;
        }
        // the position is rounded to the precision of the elements, as in NumPy, so that the quantile 0.3 of eleven
        // elements is exactly the fourth element also for `float`
        const double exact = cast<double>(q[i / rows]) * double(last);
        const double index = last < (1 << 24) ? double(R(exact)) : exact;
        const double below = floor(index), above = ceil(index);
        u64 low = u64(below);
        if (method == HIGHER) low = u64(above);
        if (method == NEAREST) low = u64(rint(index));
        if (low > last) low = last;
        const R first = cast<R>(Keys<T>::element(from[low], false));
        if (method != LINEAR && method != MIDPOINT) {
            out[i] = cast<T>(first);
            continue;
        }
        const u64 high = low < last ? low + 1 : last;
        const R second = cast<R>(Keys<T>::element(from[high], false)), step = second - first;
        const R part = method == LINEAR ? R(index - below) : below == above ? R(0) : R(0.5);
        if (!isfinite(step)) {
            // one of the two neighbouring elements is infinite, or both are large and have opposite signs
            const bool is_first = part == R(0) || first == second;
            out[i] = cast<T>(is_first ? first : part == R(1) ? second : first * (R(1) - part) + second * part);
            continue;
        }
        // interpolates from the nearer element, so that both elements are reproduced exactly
        out[i] = cast<T>(part >= R(0.5) ? second - step * (R(1) - part) : first + step * part);
    }
}
