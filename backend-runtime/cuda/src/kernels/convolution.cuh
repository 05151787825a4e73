// Convolutions with channels, and pooling. A thread computes one position in a few channels of the result, so that each
// element that it reads is used for all of these channels. Neighbouring threads compute results that are neighbours in
// memory.

enum { CHANNELS = 4 };

// A window that slides along an axis: tap k of window i is element i * stride + k * dilation - padding.
struct Sliding {
    i64 len, windows, taps, stride, padding, dilation;
    Divisor by_windows, by_len;
};

struct Convolution {
    // number of work items, where an item is one position in a part of a group's channels; and number of parts per
    // group
    u64 n, parts;
    u64 groups, inputs, outputs;
    Divisor by_parts, by_groups;
    u32 is_small, biased;
    Sliding axes[3];
};

inline float mul_add(float a, float b, float c) { return fma(a, b, c); }
inline double mul_add(double a, double b, double c) { return fma(a, b, c); }
template <typename T> T mul_add(T a, T b, T c) { return op_plus(op_times(a, b), c); }
template <typename R> complex<R> mul_add(complex<R> a, complex<R> b, complex<R> c) {
    return complex<R>(fma(a.re, b.re, fma(-a.im, b.im, c.re)), fma(a.re, b.im, fma(a.im, b.re, c.im)));
}

// Divides `rest` by `by`: returns the remainder, and replaces `rest` by the quotient.
inline u64 split(u64& rest, u64 by, Divisor divisor, bool is_small) {
    const u64 quotient = is_small ? divisor.divide(u32(rest)) : rest / by;
    const u64 least = rest - quotient * by;
    rest = quotient;
    return least;
}

// The channels and the position of a work item.
struct Where {
    u64 batch, group, first, few, plane;
    i64 at[3];
};

// Returns the channels and the position of work item `i`. `over_results` says whether the window slides over the
// result.
inline Where located(const Convolution& c, u64 i, bool over_results) {
    Where where;
    u64 rest = i, size = 1;
    for (int k = 2; k >= 0; k--) {
        const u64 len = over_results ? c.axes[k].len : c.axes[k].windows;
        where.at[k] = split(rest, len, over_results ? c.axes[k].by_len : c.axes[k].by_windows, c.is_small);
        size *= len;
    }
    where.first = split(rest, c.parts, c.by_parts, c.is_small) * CHANNELS;
    where.group = split(rest, c.groups, c.by_groups, c.is_small);
    where.batch = rest;
    where.few = c.outputs - where.first < CHANNELS ? c.outputs - where.first : CHANNELS;
    where.plane = size;
    return where;
}

template <typename Acc, typename T>
void begin(Acc (&sums)[CHANNELS], const Convolution& c, const Where& where, const T* bias) {
    const u64 channel = where.group * c.outputs + where.first;
    for (u64 o = 0; o < CHANNELS; o++) sums[o] = c.biased && o < where.few ? cast<Acc>(bias[channel + o]) : zero<Acc>();
}

template <typename Acc, typename T> void end(T* out, const Acc (&sums)[CHANNELS], const Convolution& c, const Where& where, bool over_results) {
    u64 place = 0;
    for (int k = 0; k < 3; k++) place = place * u64(over_results ? c.axes[k].len : c.axes[k].windows) + where.at[k];
    T* to = out + ((where.batch * c.groups + where.group) * c.outputs + where.first) * where.plane + place;
    for (u64 o = 0; o < CHANNELS; o++) {
        if (o < where.few) to[o * where.plane] = cast<T>(sums[o]);
    }
}

template <typename T>
__global__ void __launch_bounds__(256)
    convolved(T* __restrict__ out, const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
              const __grid_constant__ Convolution c) {
    typedef Widened<T> Acc;
    const i64 taps = c.axes[0].taps * c.axes[1].taps * c.axes[2].taps;
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < c.n; i += gridDim.x * u64(blockDim.x)) {
        const Where where = located(c, i, false);
        Acc sums[CHANNELS];
        begin(sums, c, where, bias);
        i64 start[3];
        for (int k = 0; k < 3; k++) start[k] = where.at[k] * c.axes[k].stride - c.axes[k].padding;
        // a part may have fewer channels: beyond its last channel, the last channel's kernel is used, and the sums
        // are not stored
        const u64 kernel = c.inputs * u64(taps);
        const T* kernels[CHANNELS];
        for (u64 o = 0; o < CHANNELS; o++) {
            const u64 channel = where.group * c.outputs + where.first + (o < where.few ? o : where.few - 1);
            kernels[o] = weight + channel * kernel;
        }
        const T* from = x + (where.batch * c.groups + where.group) * c.inputs * u64(c.axes[0].len * c.axes[1].len * c.axes[2].len);
        for (u64 input = 0; input < c.inputs; input++) {
            for (i64 deep = 0; deep < c.axes[0].taps; deep++) {
                const i64 z = start[0] + deep * c.axes[0].dilation;
                if (z < 0 || z >= c.axes[0].len) continue;
                for (i64 high = 0; high < c.axes[1].taps; high++) {
                    const i64 y = start[1] + high * c.axes[1].dilation;
                    if (y < 0 || y >= c.axes[1].len) continue;
                    const T* line = from + ((i64(input) * c.axes[0].len + z) * c.axes[1].len + y) * c.axes[2].len;
                    const i64 tap = i64(input) * taps + (deep * c.axes[1].taps + high) * c.axes[2].taps;
                    for (i64 wide = 0; wide < c.axes[2].taps; wide++) {
                        const i64 at = start[2] + wide * c.axes[2].dilation;
                        if (at < 0 || at >= c.axes[2].len) continue;
                        const Acc element = cast<Acc>(line[at]);
#pragma unroll
                        for (int o = 0; o < CHANNELS; o++) sums[o] = mul_add(cast<Acc>(kernels[o][tap + wide]), element, sums[o]);
                    }
                }
            }
        }
        end(out, sums, c, where, false);
    }
}

// The quotient of non-negative numbers. It is computed in 32 bits if possible, which takes a fraction of the time.
inline i64 quotient(i64 x, i64 by) { return (x | by) >> 32 ? i64(u64(x) / u64(by)) : i64(u32(x) / u32(by)); }

// The taps that may lie on the index `at` of an axis, for some window: from `first` to before `end`, in steps of
// `step`. Only these taps are visited, because a kernel may be much longer than the array.
struct Taps {
    i64 first, end, step;
};

inline Taps taps_on(const Sliding& axis, i64 at) {
    const i64 place = at + axis.padding, last = (axis.windows - 1) * axis.stride;
    Taps taps = {0, quotient(place, axis.dilation) + 1, 1};
    if (place > last) taps.first = quotient(place - last + axis.dilation - 1, axis.dilation);
    if (taps.end > axis.taps) taps.end = axis.taps;
    // only taps in these steps can lie on the index, because windows begin at multiples of the stride
    if (axis.dilation == 1 && axis.stride > 1 && taps.first < taps.end) {
        const i64 from = place - taps.first;
        taps.first += from - quotient(from, axis.stride) * axis.stride;
        taps.step = axis.stride;
    }
    return taps;
}

// The window whose tap `tap` lies on the index `at`; -1 if no window has this tap there.
inline i64 window(const Sliding& axis, i64 at, i64 tap) {
    const i64 from = at + axis.padding - tap * axis.dilation;
    if (axis.stride == 1) return from;
    const i64 window = quotient(from, axis.stride);
    return window * axis.stride == from ? window : -1;
}

template <typename T>
__global__ void __launch_bounds__(256)
    spread(T* __restrict__ out, const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
           const __grid_constant__ Convolution c) {
    typedef Widened<T> Acc;
    const u64 taps = c.axes[0].taps * c.axes[1].taps * c.axes[2].taps;
    const u64 elements = c.axes[0].windows * c.axes[1].windows * c.axes[2].windows;
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < c.n; i += gridDim.x * u64(blockDim.x)) {
        const Where where = located(c, i, true);
        Acc sums[CHANNELS];
        begin(sums, c, where, bias);
        u64 channels[CHANNELS];
        for (u64 o = 0; o < CHANNELS; o++) channels[o] = (where.first + (o < where.few ? o : where.few - 1)) * taps;
        const T* from = x + (where.batch * c.groups + where.group) * c.inputs * elements;
        const T* kernel = weight + where.group * c.inputs * c.outputs * taps;
        const Taps depths = taps_on(c.axes[0], where.at[0]), heights = taps_on(c.axes[1], where.at[1]),
                   widths = taps_on(c.axes[2], where.at[2]);
        for (i64 deep = depths.first; deep < depths.end; deep += depths.step) {
            const i64 z = window(c.axes[0], where.at[0], deep);
            if (z < 0) continue;
            for (i64 high = heights.first; high < heights.end; high += heights.step) {
                const i64 y = window(c.axes[1], where.at[1], high);
                if (y < 0) continue;
                for (i64 wide = widths.first; wide < widths.end; wide += widths.step) {
                    const i64 at = window(c.axes[2], where.at[2], wide);
                    if (at < 0) continue;
                    const T* element = from + (z * c.axes[1].windows + y) * c.axes[2].windows + at;
                    const T* tap = kernel + (deep * c.axes[1].taps + high) * c.axes[2].taps + wide;
                    for (u64 input = 0; input < c.inputs; input++) {
                        const Acc value = cast<Acc>(element[input * elements]);
                        const T* row = tap + input * c.outputs * taps;
#pragma unroll
                        for (int o = 0; o < CHANNELS; o++) sums[o] = mul_add(cast<Acc>(row[channels[o]]), value, sums[o]);
                    }
                }
            }
        }
        end(out, sums, c, where, true);
    }
}

// The result for each window: its largest element, its mean over all taps, or its mean over the taps that lie on
// elements of the array.
enum { LARGEST, MEAN, MEAN_INSIDE };
template <int REDUCE, typename T>
__global__ void __launch_bounds__(256) pooled(T* __restrict__ out, const T* __restrict__ x, const __grid_constant__ Convolution c) {
    typedef Widened<T> Acc;
    const i64 taps = c.axes[0].taps * c.axes[1].taps * c.axes[2].taps;
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < c.n; i += gridDim.x * u64(blockDim.x)) {
        const Where where = located(c, i, false);
        i64 start[3];
        for (int k = 0; k < 3; k++) start[k] = where.at[k] * c.axes[k].stride - c.axes[k].padding;
        const T* from = x + where.batch * u64(c.axes[0].len * c.axes[1].len * c.axes[2].len);
        Acc result = REDUCE == LARGEST ? Acc(__uint_as_float(0xff800000)) : Acc(0);
        i64 inside = 0;
        for (i64 deep = 0; deep < c.axes[0].taps; deep++) {
            const i64 z = start[0] + deep * c.axes[0].dilation;
            if (z < 0 || z >= c.axes[0].len) continue;
            for (i64 high = 0; high < c.axes[1].taps; high++) {
                const i64 y = start[1] + high * c.axes[1].dilation;
                if (y < 0 || y >= c.axes[1].len) continue;
                const T* line = from + (z * c.axes[1].len + y) * c.axes[2].len;
                for (i64 wide = 0; wide < c.axes[2].taps; wide++) {
                    const i64 at = start[2] + wide * c.axes[2].dilation;
                    if (at < 0 || at >= c.axes[2].len) continue;
                    const Acc element = cast<Acc>(line[at]);
                    result = REDUCE == LARGEST ? op_maximum(result, element) : result + element;
                    inside++;
                }
            }
        }
        if (REDUCE == MEAN) result = result / Acc(taps);
        if (REDUCE == MEAN_INSIDE) result = result / Acc(inside);
        out[i] = cast<T>(result);
    }
}
