// Non-uniform points and a periodic grid: sorting of points by tiles of the grid, spreading (adding the values of
// points to the grid cells around them), and interpolation. The comments call the function that weights a point's value
// at each cell "the kernel". Axis 0 is the grid's contiguous axis.

#define FOR_EACH(i, n)                                                                                                 \
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x))

// Number of coefficients in a row of the polynomials: one for each cell of the widest kernel.
enum { COLUMNS = 16 };

inline float mul_add(float a, float b, float c) { return fma(a, b, c); }
inline double mul_add(double a, double b, double c) { return fma(a, b, c); }
template <typename R> complex<R> mul_add(complex<R> a, R b, complex<R> c) {
    return complex<R>(fma(a.re, b, c.re), fma(a.im, b, c.im));
}

// A grid that is cut into tiles, and the width of the kernel. The lengths of the tiles along an axis differ by at
// most 1.
struct Tiles {
    u32 length[3], tiles[3], axes, width;

    // Returns the first cell of a tile along an axis.
    u32 start(u32 axis, u32 tile) const {
        if (length[axis] < 65536) return tile * length[axis] / tiles[axis];
        return u32(u64(tile) * length[axis] / tiles[axis]);
    }

    // Returns the tile that contains a cell, along an axis.
    u32 tile_of(u32 axis, u32 cell) const {
        if (length[axis] < 65536) return ((cell + 1) * tiles[axis] - 1) / length[axis];
        return u32(((u64(cell) + 1) * tiles[axis] - 1) / length[axis]);
    }
};

// Moves a place (a position on an axis, in cells) into the cells `low` to `high` if it is outside of them. Sorted
// points may come from a caller, so that every bit pattern must be harmless.
inline double within(double place, u32 low, u32 high) {
    place = place > double(low) ? place : double(low);
    return place < double(high) + 1 ? place : double(high);
}

// ---- sorting ----

// Returns the place of an angle on an axis, minus half the kernel's width, folded to 0 <= place < length. The CPU
// computes the same bits.
inline double folded(double angle, double length, double half_width) {
    const double turns = angle * (0.5 / 3.14159265358979323846);
    double at = (turns - floor(turns)) * length - half_width;
    // folds again, because the kernel may be wider than the grid
    at = at - floor(at * (1.0 / length)) * length;
    // after rounding, the subtracted number of lengths may be too large by 1, or the place may equal `length`
    if (at < 0) at = at + length;
    return at >= length ? at - length : at;
}

template <typename T> double place_of(const T* point, u32 axis, const Tiles& on) {
    return folded(cast<double>(point[on.axes - 1 - axis]), double(on.length[axis]), double(on.width) / 2);
}

// Computes the number of each point's tile, which is the point's sort key. Sets the flag if a coordinate is not
// finite.
template <typename T, typename K>
__global__ void __launch_bounds__(256)
    point_keys(const T* __restrict__ points, K* __restrict__ keys, u64 n, const __grid_constant__ Tiles on,
               u64* not_finite) {
    FOR_EACH(i, n) {
        const T* point = points + i * on.axes;
        u32 key = 0, before = 1;
        bool finite = true;
        for (u32 axis = 0; axis < on.axes; axis++) {
            const double angle = cast<double>(point[axis]);
            finite = finite && angle - angle == 0;
            const u32 cell = u32(within(place_of(point, axis, on), 0, on.length[axis] - 1));
            key += on.tile_of(axis, cell) * before;
            before *= on.tiles[axis];
        }
        keys[i] = K(key);
        if (!finite) *not_finite = 1;
    }
}

// Writes a record for each sorted point: its place along each axis, as the bits of a double, and its index in
// `points`.
template <typename T>
__global__ void __launch_bounds__(256)
    point_records(const T* __restrict__ points, const u32* __restrict__ order, i64* __restrict__ records, u64 n,
                  const __grid_constant__ Tiles on) {
    FOR_EACH(i, n) {
        const u64 number = order[i];
        const T* point = points + number * on.axes;
        i64* record = records + i * (on.axes + 1);
        for (u32 axis = 0; axis < on.axes; axis++) record[axis] = __double_as_longlong(place_of(point, axis, on));
        record[on.axes] = i64(number);
    }
}

// Writes the number of sorted points before each tile, and the number of all points, from the sorted keys.
__global__ void __launch_bounds__(256)
    tile_starts(const u32* __restrict__ keys, i64* __restrict__ starts, u64 n, u64 tiles) {
    FOR_EACH(tile, tiles + 1) {
        u64 low = 0, high = n;
        while (low < high) {
            const u64 middle = low + (high - low) / 2;
            if (keys[middle] < tile) low = middle + 1;
            else high = middle;
        }
        starts[tile] = i64(low);
    }
}

// ---- spreading ----

// The list of sorted points is cut every `part` points, and at the starts of tiles. The points between two cuts are a
// job: some threads of a block add the values of these points to a window in shared memory. The window is the part of
// the grid that the points of a tile touch. A job that begins with its tile adds its window to the grid; neighbouring
// tiles have different colours and run in different launches, so that no two jobs change the same cell at the same
// time. Jobs that begin within a tile, which exist for tiles with many points, run before, and leave their windows in
// memory.
//
// A point touches the cells of its neighbourhood, whose length along each axis is the width of the kernel. A thread
// owns the cells of the window whose indices have certain remainders by the width, and a neighbourhood has exactly
// one cell with each pair of remainders along axes 0 and 1. So all threads work on each point without waiting for
// each other, and the values of the points are added to each cell in the order of the points.

// Number of points whose kernel values are in shared memory at the same time.
enum { TOGETHER = 32 };

// The colour of the jobs that begin within a tile.
enum { LATER = 8 };

struct Spreading {
    Tiles on;
    // Maximum lengths of a window along the axes.
    u32 window[3];
    // The window is cut along axis 2 into `slabs` slabs of `slab` cells, each of which fits into shared memory. A job
    // handles one slab or, if `is_whole` is 1, all slabs, one after the other.
    u32 slab, slabs, is_whole;
    // A block runs `groups` jobs, each with `lanes` threads and `bytes` bytes of shared memory. `layers` threads share
    // the cells of the same remainders along axes 0 and 1.
    u32 groups, lanes, layers, bytes;
    // Number of jobs for each grid, number of all jobs, and number of blocks.
    u32 units, jobs, blocks;
    // Number of terms of the polynomials, and the axis that takes the second set of polynomials, which are
    // derivatives.
    u32 terms, derived;
    u32 colour;
    // Number of points, number of cells of a grid, number of points between two cuts, and number of windows in memory
    // for each grid.
    u64 points, cells, part, later;
};

// A job: some points of a tile. `low` and `high` are the tile's first and last cell along each axis.
template <int AXES> struct Job {
    // The job has the points from `start` to `end`; the points of the tile end at `last`.
    u64 start, end, last;
    u32 low[AXES], high[AXES];
    // The grid and the slab. If the job begins within its tile, `later` is the index of the job's window in memory;
    // otherwise, it is the index of the first window of the later jobs of the same tile.
    u32 grid, later, slab;

    u32 window(int axis, const Spreading& s) const {
        return axis < AXES ? high[axis % AXES] - low[axis % AXES] + s.on.width : 1;
    }

    // Returns the place of a record's point along an axis, moved into the tile. Loops over the axes, because an array
    // index that the compiler does not know would put the job into slow memory.
    double place(const i64* record, u32 axis) const {
        u32 first = low[0], last = high[0];
#pragma unroll
        for (int k = 1; k < AXES; k++) {
            if (axis == k) first = low[k], last = high[k];
        }
        return within(__longlong_as_double(record[axis]), first, last);
    }

    // Returns the cell of the grid at an index of the window. The neighbourhood of a point begins with the cell after
    // the point's cell.
    u32 on_grid(int axis, u32 index, const Spreading& s) const {
        return axis < AXES ? (low[axis % AXES] + 1 + index) % s.on.length[axis] : 0;
    }
};

inline u64 bounded(i64 start, u64 points) { return u64(start) < points ? u64(start) : points; }

// Returns the tile of a sorted point: the last tile that does not start after the point.
inline u32 tile_with(const i64* starts, u64 point, u32 tiles) {
    u32 low = 0, high = tiles;
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (u64(starts[middle]) <= point) low = middle;
        else high = middle;
    }
    return low;
}

template <int AXES> Job<AXES> job_of(u32 number, const i64* starts, const Spreading& s) {
    Job<AXES> job = {};
    u32 rest = number;
    if (!s.is_whole) job.slab = rest % s.slabs, rest = rest / s.slabs;
    job.grid = rest / s.units;
    job.later = rest % s.units;
    u32 all = 1, flat = 0;
    const u64 first = (job.later + 1) * s.part;
    for (int axis = 0; axis < AXES; axis++) all *= s.on.tiles[axis];
    if (s.colour == LATER) flat = tile_with(starts, first, all);
    u32 unit = s.colour == LATER ? flat : job.later, before = 1;
#pragma unroll
    for (int axis = 0; axis < AXES; axis++) {
        // along an axis with several tiles, a launch contains every second tile
        const u32 every = s.colour != LATER && s.on.tiles[axis] > 1 ? 2 : 1, n = s.on.tiles[axis] / every;
        const u32 tile = unit % n * every + (every == 2 ? s.colour >> axis & 1 : 0);
        unit /= n;
        if (s.colour != LATER) flat += tile * before;
        before *= s.on.tiles[axis];
        job.low[axis] = s.on.start(axis, tile);
        job.high[axis] = s.on.start(axis, tile + 1) - 1;
    }
    const u64 start = bounded(starts[flat], s.points), last = bounded(starts[flat + 1], s.points);
    if (s.colour == LATER && !(start < first && first < last)) return job;
    job.start = s.colour == LATER ? first : start;
    const u64 before_cut = job.start / s.part, cut = (before_cut + 1) * s.part;
    job.end = last < cut ? last : cut;
    job.last = last;
    if (s.colour != LATER) job.later = u32(before_cut);
    return job;
}

// The indices, in the window, of the first cell of a point's neighbourhood, and the remainders of these indices by
// the width (along axis 2, by the number of layers). The three numbers of each kind are packed into 16, 8 and 8 bits.
struct alignas(8) Spot {
    u32 cell, rest;
};

// The shared memory of a job, which contains these arrays.
template <int AXES, typename R> struct Memory {
    complex<R>* window;
    // For each point and cell along axis 0, the point's value times the kernel's value.
    complex<R>* lines;
    // For each point, each other axis and each cell along it, the kernel's value.
    R* weights;
    Spot* spots;

    Memory(char* from, const Spreading& s) {
        window = (complex<R>*)from;
        lines = window + s.window[0] * s.window[1] * s.slab;
        weights = (R*)(lines + TOGETHER * s.on.width);
        spots = (Spot*)(weights + TOGETHER * (AXES - 1) * s.on.width);
    }
};

// Writes the spots of `here` points: where their neighbourhoods begin.
template <int AXES, typename R>
void find_spots(const Job<AXES>& job, const i64* records, u32 here, u32 item, const Memory<AXES, R>& to,
                const Spreading& s) {
    for (u32 q = item; q < here; q += s.lanes) {
        u32 at[3] = {};
#pragma unroll
        for (int axis = 0; axis < AXES; axis++) {
            at[axis] = u32(job.place(records + q * (AXES + 1), axis)) - job.low[axis];
        }
        Spot spot;
        spot.cell = at[0] | at[1] << 16 | at[2] << 24;
        spot.rest = at[0] % s.on.width | at[1] % s.on.width << 16 | at[2] % s.layers << 24;
        to.spots[q] = spot;
    }
}

// Writes the kernel's values of `here` points. A thread computes the value at one cell, for four points, with one
// polynomial.
template <int AXES, typename R>
void find_weights(const Job<AXES>& job, const i64* records, const complex<R>* values, const R* polynomials, u32 here,
                  u32 item, const Memory<AXES, R>& to, const Spreading& s) {
    const u32 width = s.on.width, tasks = (here + 3) / 4 * AXES * width;
    for (u32 task = item; task < tasks; task += s.lanes) {
        const u32 column = task % width, axis = task / width % AXES, first = task / width / AXES * 4;
        const R* from = polynomials + (axis == s.derived ? s.terms * COLUMNS : 0) + column;
        R t[4], value[4];
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            const u32 q = first + i < here ? first + i : here - 1;
            const double place = job.place(records + q * (AXES + 1), axis);
            t[i] = R((place - double(u32(place))) * 2 - 1);
            value[i] = from[0];
        }
        for (u32 term = 1; term < s.terms; term++) {
            const R c = from[term * COLUMNS];
#pragma unroll
            for (u32 i = 0; i < 4; i++) value[i] = mul_add(value[i], t[i], c);
        }
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            const u32 q = first + i;
            if (q >= here) break;
            if (axis == 0) {
                const u64 number = u64(records[q * (AXES + 1) + AXES]);
                const complex<R> x = values[number < s.points ? number : s.points - 1];
                to.lines[q * width + column] = complex<R>(x.re * value[i], x.im * value[i]);
            } else {
                to.weights[(q * (AXES - 1) + axis - 1) * width + column] = value[i];
            }
        }
    }
}

// Returns the number of cells from the first cell of a neighbourhood to the cell of this thread. Their indices have the
// remainders `first` and `mine` after division by `by`.
inline u32 distance(u32 mine, u32 first, u32 by) { return mine >= first ? mine - first : mine + by - first; }

// Adds the weighted values of `here` points to those cells of a slab that the thread owns. The slab has the indices
// from `from` to before `to` along axis 2.
template <int AXES, typename R>
void add_points(const Memory<AXES, R>& memory, u32 here, u32 item, u32 from, u32 to, const Spreading& s) {
    const u32 width = s.on.width, row = s.window[0], plane = s.window[0] * s.window[1];
    const u32 mine_x = item % width, mine_y = item / width % width, mine_z = item / width / width;
    for (u32 q = 0; q < here; q++) {
        const Spot spot = memory.spots[q];
        const u32 x = distance(mine_x, spot.rest & 0xffff, width);
        complex<R> value = memory.lines[q * width + x];
        if (AXES == 1) {
            complex<R>& cell = memory.window[spot.cell + x];
            cell = op_plus(cell, value);
            continue;
        }
        const R* weights = memory.weights + q * (AXES - 1) * width;
        const u32 y = distance(mine_y, spot.rest >> 16 & 0xff, width);
        complex<R>* cells = memory.window + (spot.cell & 0xffff) + x + ((spot.cell >> 16 & 0xff) + y) * row;
        if (AXES == 2) {
            *cells = mul_add(value, weights[y], *cells);
            continue;
        }
        value = complex<R>(value.re * weights[y], value.im * weights[y]);
        const u32 low = spot.cell >> 24, start = low > from ? low : from, end = low + width < to ? low + width : to;
        const u32 skipped = start == low ? spot.rest >> 24 : start % s.layers;
        for (u32 z = start + distance(mine_z, skipped, s.layers); z < end; z += s.layers) {
            complex<R>& cell = cells[(z - from) * plane];
            cell = mul_add(value, weights[width + z - low], cell);
        }
    }
}

// Adds a slab of a window, and the windows of the later jobs of the same tile, to a grid. If a window is longer than
// the grid, several of its cells belong to the same cell of the grid.
template <int AXES, typename R>
void add_to_grid(const Job<AXES>& job, const complex<R>* window, const complex<R>* later, complex<R>* grid, u32 item,
                 u32 from, u32 to, const Spreading& s) {
    const u32 row = s.window[0], plane = s.window[0] * s.window[1];
    const u32 across = job.window(0, s), down = job.window(1, s), deep = job.window(2, s) < to ? job.window(2, s) : to;
    if (deep <= from) return;
    const u32 columns = across < s.on.length[0] ? across : s.on.length[0];
    const u32 rows = down < s.on.length[1] ? down : s.on.length[1];
    const u32 planes = deep - from < s.on.length[2] ? deep - from : s.on.length[2];
    for (u32 i = item; i < columns * rows * planes; i += s.lanes) {
        const u32 first_x = i % columns, first_y = i / columns % rows, first_z = i / columns / rows + from;
        complex<R> sum(0);
        for (u32 z = first_z; z < deep; z += s.on.length[2]) {
            for (u32 y = first_y; y < down; y += s.on.length[1]) {
                for (u32 x = first_x; x < across; x += s.on.length[0]) {
                    const u32 cell = z * plane + y * row + x;
                    sum = op_plus(sum, window[cell - from * plane]);
                    const complex<R>* also = later + job.later * (u64(plane) * s.window[2]) + cell;
#pragma unroll 4
                    for (u64 cut = job.end; cut < job.last; cut += s.part) {
                        sum = op_plus(sum, *also);
                        also += plane * s.window[2];
                    }
                }
            }
        }
        const u64 line = u64(job.on_grid(2, first_z, s)) * s.on.length[1] + job.on_grid(1, first_y, s);
        complex<R>& cell = grid[line * s.on.length[0] + job.on_grid(0, first_x, s)];
        cell = op_plus(cell, sum);
    }
}

struct alignas(16) Aligned {
    u64 words[2];
};
extern __shared__ Aligned shared_memory[];

// Spreads the values of sorted points over grids. `windows` has the windows of the jobs that begin within tiles:
// `s.later` windows for each grid.
template <int AXES, typename R>
__global__ void __launch_bounds__(256)
    spread(const i64* __restrict__ sorted, const complex<R>* __restrict__ values, complex<R>* grids,
           complex<R>* windows, const R* __restrict__ polynomials, const __grid_constant__ Spreading s) {
    const u32 group = threadIdx.x / s.lanes, item = threadIdx.x % s.lanes, plane = s.window[0] * s.window[1];
    const Memory<AXES, R> memory((char*)shared_memory + (group < s.groups ? group : 0) * s.bytes, s);
    for (u32 block = blockIdx.x; block < s.blocks; block += gridDim.x) {
        const u32 number = block * s.groups + group;
        Job<AXES> job = {};
        if (group < s.groups && number < s.jobs) job = job_of<AXES>(number, sorted + s.points * (AXES + 1), s);
        const bool is_some = job.start < job.end;
        for (u32 k = 0; k < (s.is_whole ? s.slabs : 1); k++) {
            const u32 from = (job.slab + k) * s.slab;
            const u32 to = from + s.slab < s.window[2] ? from + s.slab : s.window[2];
            if (is_some) {
                for (u32 i = item; i < s.slab * plane; i += s.lanes) memory.window[i] = complex<R>(0);
            }
            u64 at = job.start;
            while (__syncthreads_or(at < job.end)) {
                const u32 here = at >= job.end ? 0 : job.end - at < TOGETHER ? u32(job.end - at) : TOGETHER;
                const i64* records = sorted + at * (AXES + 1);
                find_spots(job, records, here, item, memory, s);
                find_weights(job, records, values + job.grid * s.points, polynomials, here, item, memory, s);
                __syncthreads();
                add_points(memory, here, item, from, to, s);
                at += here;
            }
            if (is_some) {
                complex<R>* later = windows + job.grid * s.later * (u64(plane) * s.window[2]);
                if (s.colour == LATER) {
                    complex<R>* mine = later + job.later * (u64(plane) * s.window[2]) + from * plane;
                    for (u32 i = item; i < (to - from) * plane; i += s.lanes) mine[i] = memory.window[i];
                } else {
                    add_to_grid(job, memory.window, later, grids + job.grid * s.cells, item, from, to, s);
                }
            }
            // all threads wait here, because the next slab uses the same window, and may contain the same cells of the
            // grid
            __syncthreads();
        }
    }
}

// ---- interpolation ----

struct Interpolation {
    Tiles on;
    u32 terms, derived;
    // Number of points, number of cells of a grid, and number of grids.
    u64 points, cells, batch;
};

// Returns the value of a polynomial at `t`, by Horner's scheme. Each thread has its own column of coefficients.
template <typename R> R horner(const R* polynomials, u32 terms, R t) {
    R value = polynomials[0];
    for (u32 term = 1; term < terms; term++) value = mul_add(value, t, polynomials[term * COLUMNS]);
    return value;
}

// Interpolates grids at sorted points. `LANES` threads share a point, each with one cell along axis 0; `LANES` is the
// smallest power of two that is at least the width.
template <int AXES, int LANES, typename R>
__global__ void __launch_bounds__(256)
    interpolate(const i64* __restrict__ records, const complex<R>* __restrict__ grids, complex<R>* __restrict__ out,
                const R* __restrict__ polynomials, const __grid_constant__ Interpolation s) {
    const u32 all = 0xffffffff, lane = threadIdx.x % LANES, together = blockDim.x / LANES, width = s.on.width;
    for (u64 first = u64(blockIdx.x) * together; first < s.points; first += u64(gridDim.x) * together) {
        const u64 at = first + threadIdx.x / LANES;
        const i64* record = records + (at < s.points ? at : s.points - 1) * (AXES + 1);
        u32 start[3] = {};
        R weight[AXES];
#pragma unroll
        for (int axis = 0; axis < AXES; axis++) {
            const double place = within(__longlong_as_double(record[axis]), 0, s.on.length[axis] - 1);
            const u32 cell = u32(place);
            const R* from = polynomials + (axis == s.derived ? s.terms * COLUMNS : 0) + lane;
            weight[axis] = horner(from, s.terms, R((place - double(cell)) * 2 - 1));
            start[axis] = cell + 1 < s.on.length[axis] ? cell + 1 : 0;
        }
        R down[LANES];
#pragma unroll
        for (int k = 0; k < LANES; k++) down[k] = AXES > 1 ? __shfl_sync(all, weight[1 % AXES], k, LANES) : R(1);
        const u32 x = (start[0] + lane) % s.on.length[0];
        for (u64 grid = blockIdx.y; grid < s.batch; grid += gridDim.y) {
            const complex<R>* cells = grids + grid * s.cells + x;
            complex<R> sum(0);
            u32 z = start[2];
            for (u32 k = 0; k < (AXES == 3 ? width : 1); k++) {
                complex<R> plane(0);
                u32 y = start[1];
                const complex<R>* rows = cells + u64(z) * s.on.length[1] * s.on.length[0];
#pragma unroll
                for (int j = 0; j < (AXES > 1 ? LANES : 1); j++) {
                    // skips cells beyond the neighbourhood, because they may be infinite or NaN, and a weight of 0
                    // would not remove them
                    if ((j <= LANES / 2 || j < width) && lane < width) {
                        plane = mul_add(rows[u64(y) * s.on.length[0]], down[j], plane);
                    }
                    y = y + 1 < s.on.length[1] ? y + 1 : 0;
                }
                sum = AXES == 3 ? mul_add(plane, __shfl_sync(all, weight[2 % AXES], k, LANES), sum) : plane;
                z = z + 1 < s.on.length[2] ? z + 1 : 0;
            }
            sum = complex<R>(sum.re * weight[0], sum.im * weight[0]);
#pragma unroll
            for (int step = LANES / 2; step > 0; step /= 2) {
                sum.re += __shfl_xor_sync(all, sum.re, step, LANES);
                sum.im += __shfl_xor_sync(all, sum.im, step, LANES);
            }
            if (lane == 0 && at < s.points) {
                const u64 number = u64(record[AXES]);
                out[grid * s.points + (number < s.points ? number : s.points - 1)] = sum;
            }
        }
    }
}
