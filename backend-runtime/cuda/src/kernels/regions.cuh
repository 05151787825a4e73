// Numbering of connected regions, and distances to the background, which are the false elements. In the program, this
// text follows `compact.cuh` and `lanes.cuh`.

// ---- connected regions ----

// Union-find over the elements: each element of a region has a parent, an element of the same region that is not after
// it in C order. So the first element of a region becomes the root of all its elements, in any order of the threads. A
// thread may load an outdated parent, which is also valid.

// The parent of an element that belongs to no region: the largest number.
template <typename P> P nothing() { return ~P(0); }

template <typename P> P root(const P* parents, P at) {
    for (P parent = parents[at]; parent != at; parent = parents[at]) at = parent;
    return at;
}

template <typename P> void unite(P* parents, P a, P b) {
    for (;;) {
        a = root(parents, a);
        b = root(parents, b);
        if (a == b) return;
        if (a < b) {
            P other = a;
            a = b;
            b = other;
        }
        const P old = atomicMin(parents + a, b);
        if (old == a) return;
        // another thread has set the parent of `a` in the meantime, so this parent is joined with `b` instead
        a = old;
    }
}

struct Neighbour {
    // distance to the neighbour in memory; the axes along which the neighbour is before the element, and the axes along
    // which it is after the element, as bits (the lowest bit is the innermost axis)
    i64 apart;
    u32 before, behind;
};

struct Lattice {
    u64 n;
    u32 ndim, is_small, count, joins;
    // the innermost axis first
    u64 lengths[8];
    Divisor divisors[8];
};

// A run consists of neighbouring non-zero elements of a line, within 32 elements. Makes the first element of each run
// the parent of all its elements. If neighbours along a line are not joined, each element is its own parent.
template <typename P, typename T>
__global__ void __launch_bounds__(256) label_runs(P* parents, const T* x, const Lattice lattice) {
    const u32 lane = threadIdx.x % 32;
    for (u64 base = blockIdx.x * u64(blockDim.x); base < lattice.n; base += gridDim.x * u64(blockDim.x)) {
        const u64 i = base + threadIdx.x;
        const bool is_set = i < lattice.n && op_is_nonzero(x[i]);
        const u32 set = __ballot_sync(0xffffffff, is_set);
        const u64 len = lattice.lengths[0];
        const u64 line = lattice.is_small && i < lattice.n ? lattice.divisors[0].divide(u32(i)) : i / len;
        const bool continues = lattice.joins && lane > 0 && i - line * len > 0 && (set >> (lane - 1) & 1);
        const u32 starts = __ballot_sync(0xffffffff, is_set && !continues);
        if (i >= lattice.n) continue;
        // the first elements of runs, up to and including this element
        const u32 before = starts & (0xffffffffu >> (31 - lane));
        parents[i] = is_set ? P(i - lane + (31 - __clz(before))) : nothing<P>();
    }
}

template <typename P>
__global__ void __launch_bounds__(256) label_join(P* parents, const Neighbour* neighbours, const Lattice lattice) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < lattice.n; i += gridDim.x * u64(blockDim.x)) {
        if (parents[i] == nothing<P>()) continue;
        u32 first = 0, last = 0;
        u64 rest = i, inner = 0;
        for (u32 axis = 0; axis < lattice.ndim; axis++) {
            const u64 len = lattice.lengths[axis];
            const u64 outer = lattice.is_small ? lattice.divisors[axis].divide(u32(rest)) : rest / len;
            const u64 index = rest - outer * len;
            first |= u32(index == 0) << axis;
            last |= u32(index == len - 1) << axis;
            if (axis == 0) inner = index;
            rest = outer;
        }
        const bool follows = lattice.joins && inner > 0 && parents[i - 1] != nothing<P>();
        if (follows && i % 32 == 0) unite(parents, P(i), P(i - 1));
        for (u32 k = 0; k < lattice.count; k++) {
            const Neighbour there = neighbours[k];
            if ((there.before & first) | (there.behind & last)) continue;
            const u64 j = i + there.apart;
            if (parents[j] == nothing<P>()) continue;
            // the elements before i and j along the line are neighbours, too, so i and j belong to the same region
            // without this join
            const u64 along = inner + (there.behind & 1) - (there.before & 1);
            if (follows && along > 0 && parents[j - 1] != nothing<P>()) continue;
            unite(parents, P(i), P(j));
        }
    }
}

template <typename P> __global__ void __launch_bounds__(256) label_roots(P* parents, u64* counts, u64 n) {
    FOR_EACH_TILE(tile, n) {
        u64 total = 0;
        for (u64 base = tile * TILE; base < (tile + 1) * TILE && base < n; base += blockDim.x) {
            const u64 i = base + threadIdx.x;
            bool is_root = false;
            if (i < n && parents[i] != nothing<P>()) {
                const P of = root(parents, P(i));
                is_root = of == P(i);
                parents[i] = of;
            }
            u32 all;
            rank_in_block(is_root, all);
            total += all;
        }
        if (threadIdx.x == 0) counts[tile] = total;
    }
}

// Numbers the regions in the order of their roots, and writes the number of each region at its root.
template <typename P>
__global__ void __launch_bounds__(256) label_numbers(i64* out, const P* parents, const u64* before, u64 n) {
    FOR_EACH_TILE(tile, n) {
        u64 place = before[tile];
        for (u64 base = tile * TILE; base < (tile + 1) * TILE && base < n; base += blockDim.x) {
            const u64 i = base + threadIdx.x;
            const bool is_root = i < n && parents[i] == P(i);
            u32 all, rank = rank_in_block(is_root, all);
            if (is_root) out[i] = i64(place + rank + 1);
            place += all;
        }
    }
}

template <typename P> __global__ void __launch_bounds__(256) label_spread(i64* out, const P* parents, u64 n) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x)) {
        const P of = parents[i];
        if (of == nothing<P>()) out[i] = 0;
        else if (of != P(i)) out[i] = out[of];
    }
}

// ---- distances to the background ----

inline double far_away() { return __longlong_as_double(0x7ff0000000000000); }

// Returns the largest value among this thread and the threads before it. `all` gets the largest value of the block.
inline i64 largest_so_far(i64 value, i64& all) {
    __shared__ i64 ends[WARPS];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (u32 step = 1; step < 32; step *= 2) {
        const i64 other = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step && other > value) value = other;
    }
    if (lane == 31) ends[warp] = value;
    __syncthreads();
    all = ends[0];
    for (int w = 0; w < WARPS; w++) {
        if (w < warp && ends[w] > value) value = ends[w];
        if (ends[w] > all) all = ends[w];
    }
    __syncthreads();
    return value;
}

// Squared distances to the background along the last axis. They are infinite on lines without background. One block
// of threads computes each line.
__global__ void __launch_bounds__(256) distance_lines(double* out, const bool* x, u64 lines, u64 len, double step) {
    const i64 n = i64(len), none = -1;
    for (u64 line = blockIdx.x; line < lines; line += gridDim.x) {
        const bool* from = x + line * len;
        double* to = out + line * len;
        i64 carried = none;
        for (i64 base = 0; base < n; base += blockDim.x) {
            const i64 i = base + threadIdx.x;
            i64 all, before = largest_so_far(i < n && !from[i] ? i : none, all);
            before = before > carried ? before : carried;
            carried = all > carried ? all : carried;
            if (i < n) to[i] = before == none ? far_away() : double(i - before);
        }
        // repeats the scan from the end, with indices that count down; the barriers of the scan come after the writes
        // above
        carried = none;
        for (i64 base = 0; base < n; base += blockDim.x) {
            const i64 k = base + threadIdx.x, i = n - 1 - k;
            i64 all, before = largest_so_far(k < n && !from[i] ? k : none, all);
            before = before > carried ? before : carried;
            carried = all > carried ? all : carried;
            if (k < n) {
                const double behind = before == none ? far_away() : double(k - before);
                const double distance = (to[i] < behind ? to[i] : behind) * step;
                to[i] = distance * distance;
            }
        }
    }
}

// Computes squared distances over one more axis: the shortest path may first lead along this axis, to any element of
// the lane (the 1-D slice along the axis), and then to the background nearest to that element. The search stops at
// elements that are further away than the best distance so far.
__global__ void __launch_bounds__(256) distance_near(double* __restrict__ out, const double* __restrict__ x, const Lanes lanes, double step) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < lanes.n; i += gridDim.x * u64(blockDim.x)) {
        const u64 at = lanes.index(i), left = at, right = lanes.len - 1 - at;
        double best = x[i];
        for (u64 k = 1; k <= left || k <= right; k++) {
            const double distance = double(k) * step, square = distance * distance;
            if (!(square < best)) break;
            if (k <= left) best = fmin(best, __dadd_rn(x[i - k * lanes.inner], square));
            if (k <= right) best = fmin(best, __dadd_rn(x[i + k * lanes.inner], square));
        }
        out[i] = best;
    }
}

// Like `distance_near`, for long axes, with one thread per lane. It finds the lower envelope of the parabolas over
// the elements of the lane, which give the squared distance of a path through this element. `at` gets the parabolas
// of the envelope, and `start` the positions from which on each of them is the lowest.
__global__ void __launch_bounds__(256)
    distance_lanes(double* __restrict__ out, const double* __restrict__ x, u64* at, double* start, const Lanes lanes, double step) {
    const u64 count = lanes.n / lanes.len;
    const double scale = 1 / (step * step);
    for (u64 lane = blockIdx.x * u64(blockDim.x) + threadIdx.x; lane < count; lane += gridDim.x * u64(blockDim.x)) {
        const u64 first = lane / lanes.inner * lanes.len * lanes.inner + lane % lanes.inner;
        u64 seen = 0;
        for (u64 i = 0; i < lanes.len; i++) {
            const double height = x[first + i * lanes.inner];
            if (height == far_away()) continue;
            double from = -far_away();
            while (seen > 0) {
                const u64 last = at[(seen - 1) * count + lane];
                const double apart = double(i - last);
                const double rise = __dadd_rn(__dmul_rn(height - x[first + last * lanes.inner], scale), __dmul_rn(apart, double(i + last)));
                from = rise / (2 * apart);
                if (from > start[(seen - 1) * count + lane]) break;
                seen--;
                from = -far_away();
            }
            at[seen * count + lane] = i;
            start[seen * count + lane] = from;
            seen++;
        }
        u64 now = 0;
        for (u64 i = 0; i < lanes.len; i++) {
            while (now + 1 < seen && start[(now + 1) * count + lane] < double(i)) now++;
            double square = far_away();
            if (seen > 0) {
                const u64 nearest = at[now * count + lane];
                const double distance = (double(i) - double(nearest)) * step;
                square = __dadd_rn(x[first + nearest * lanes.inner], __dmul_rn(distance, distance));
            }
            out[first + i * lanes.inner] = square;
        }
    }
}

struct Steps {
    u64 n;
    u32 ndim;
    // the innermost axis first
    u64 lengths[8];
    double steps[8];
};

// Square roots of squared distances. If the whole array has no background, the distance is measured to the position
// with index -1 along the first axis and 0 along all other axes.
template <typename T> __global__ void __launch_bounds__(256) distance_roots(T* out, const double* x, const Steps steps) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < steps.n; i += gridDim.x * u64(blockDim.x)) {
        double square = x[i];
        if (square == far_away()) {
            square = 0;
            u64 rest = i;
            for (u32 axis = 0; axis < steps.ndim; axis++) {
                const u64 outer = rest / steps.lengths[axis], index = rest - outer * steps.lengths[axis];
                const double distance = double(index + (axis + 1 == steps.ndim)) * steps.steps[axis];
                square += distance * distance;
                rest = outer;
            }
        }
        out[i] = T(sqrt(square));
    }
}
