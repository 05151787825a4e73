// Images: interpolation, and filters along an axis.

enum { B_CONSTANT, B_NEAREST, B_REFLECT, B_MIRROR, B_WRAP, B_GRID_CONSTANT, B_GRID_WRAP };

// ---- interpolation ----

struct SampledAxis {
    // length and stride of the array of coefficients, including its border
    i64 len, stride;
    // lengths of the result's grid and of the array
    u64 to, from;
    Divisor by_to;
};

struct Sampling {
    // number of all points; number of points for each array of the stack; number of elements at each point
    u64 n, points, channels;
    // distance, in coefficients, from one array of the stack to the next
    i64 apart;
    double border, cval;
    u32 count, order, mode, source, cells, is_small;
    Divisor by_points;
    SampledAxis axes[8];
};

// The origin of the sampled positions: coordinates (with strides from one component, point or batch entry to the
// next), a matrix (with strides of its rows and columns) and an optional offset, or another grid.
enum { POINTS, MAP, GRID };
template <typename R> struct Places {
    const R* numbers;
    const R* offset;
    i64 strides[3];
    i64 offset_stride;
};

const i64 BEYOND = i64(1) << 62;

inline double wrapped(double at, double period) {
    if (!(period > 0)) return at * 0.0;
    double rest = fmod(at, period);
    return rest < 0 ? rest + period : rest;
}

// Maps a position beyond the ends to a position within them. Returns false if the value at the position is instead
// the constant value of the mode.
inline bool folded(double& at, double last, u32 mode, u32 order) {
    const double far = order + 1;
    if (at != at) return true;
    switch (mode) {
    case B_CONSTANT: return false;
    case B_GRID_CONSTANT: return !(at < -far || at > last + far);
    case B_NEAREST: at = at < -far ? -far : at > last + far ? last + far : at; return true;
    case B_MIRROR:
        at = wrapped(at, 2 * last);
        if (at > last) at = 2 * last - at;
        return true;
    case B_REFLECT:
        at = wrapped(at + 0.5, 2 * (last + 1));
        at = (at > last + 1 ? 2 * (last + 1) - at : at) - 0.5;
        return true;
    case B_WRAP:
        if (last == 0) at = at * 0.0;
        else if (at < 0) at = at + last * (floor(-at / last) + 1);
        else at = at - last * floor(at / last);
        return true;
    default: at = wrapped(at, last + 1); return true;
    }
}

inline i64 floored_rest(i64 x, i64 period) {
    i64 rest = x % period;
    return rest < 0 ? rest + period : rest;
}

inline i64 folded_index(i64 index, i64 len, u32 mode) {
    if (index >= 0 && index < len) return index;
    switch (mode) {
    case B_GRID_CONSTANT: return BEYOND;
    case B_NEAREST: return index < 0 ? 0 : len - 1;
    case B_GRID_WRAP: return floored_rest(index, len);
    case B_REFLECT: {
        i64 at = floored_rest(index, 2 * len);
        return at < len ? at : 2 * len - 1 - at;
    }
    default: {
        if (len == 1) return 0;
        i64 at = floored_rest(index, 2 * len - 2);
        return at < len ? at : 2 * len - 2 - at;
    }
    }
}

// The weights of the coefficients around a position: values of B-splines. `t` is the distance from the middle
// coefficient to the position, or from the first of the two middle coefficients if their number is even.
template <int W, typename R> void spline_weights(u32 order, R t, R (&w)[W]) {
    if (W == 2) {
        w[0] = 1 - t;
        w[W > 1] = t;
        return;
    }
    const R u = 1 - t;
    if (W == 4) {
        w[0] = u * u * u / 6;
        w[1 % W] = (t * t * (t - 2) * 3 + 4) / 6;
        w[2 % W] = (u * u * (u - 2) * 3 + 4) / 6;
        w[3 % W] = 1 - w[0] - w[1 % W] - w[2 % W];
        return;
    }
    if (order == 0) w[0] = 1;
    if (order == 2) {
        w[1 % W] = R(0.75) - t * t;
        w[2 % W] = R(0.5) * (t + R(0.5)) * (t + R(0.5));
        w[0] = 1 - w[1 % W] - w[2 % W];
    }
    if (order == 4) {
        auto beside = [](R u) { return u * (u * (u * (5 - u) / 6 - R(1.25)) + R(5) / 24) + R(55) / 96; };
        const R square = t * t, outer = (R(0.5) - t) * (R(0.5) - t);
        w[0] = outer * outer / 24;
        w[1 % W] = beside(1 + t);
        w[2 % W] = square * (square * R(0.25) - R(0.625)) + R(115) / 192;
        w[3 % W] = beside(u);
        w[4 % W] = 1 - w[0] - w[1 % W] - w[2 % W] - w[3 % W];
    }
    if (order == 5) {
        auto near = [](R u) { return u * u * (u * u * (R(0.25) - u / 12) - R(0.5)) + R(0.55); };
        auto far = [](R u) {
            return u * (u * (u * (u * (u / 24 - R(0.375)) + R(1.25)) - R(1.75)) + R(0.625)) + R(0.425);
        };
        w[0] = u * u * u * u * u / 120;
        w[1 % W] = far(t + 1);
        w[2 % W] = near(t);
        w[3 % W] = near(u);
        w[4 % W] = far(2 - t);
        w[5 % W] = 1 - w[0] - w[1 % W] - w[2 % W] - w[3 % W] - w[4 % W];
    }
}

template <typename R> R scaled(R x, R by) { return x * by; }
template <typename R> complex<R> scaled(complex<R> x, R by) { return complex<R>(x.re * by, x.im * by); }

// The type in which weighted sums are computed. It is double for splines of higher orders, whose large coefficients
// cancel each other.
template <int W, typename T> struct Total { typedef T Type; };
template <> struct Total<6, float> { typedef double Type; };
template <> struct Total<6, complex<float>> { typedef complex<double> Type; };

// Computes the weighted sum of the coefficients around a position, axis by axis.
template <int A, int N, int W, typename T, typename S, typename R> struct Weighted {
    static S sum(const T* x, const i64 (&at)[N][W], const R (&w)[N][W], u32 taps, S beyond) {
        S total = zero<S>();
#pragma unroll
        for (int k = 0; k < W; k++) {
            if (W == 6 && k >= taps) break;
            S value = beyond;
            if (at[A][k] != BEYOND) value = Weighted<A + 1, N, W, T, S, R>::sum(x + at[A][k], at, w, taps, beyond);
            total = op_plus(total, scaled(value, w[A][k]));
        }
        return total;
    }
};
template <int N, int W, typename T, typename S, typename R> struct Weighted<N, N, W, T, S, R> {
    static S sum(const T* x, const i64 (&)[N][W], const R (&)[N][W], u32, S) { return cast<S>(*x); }
};

// Samples arrays of N axes at positions, with W coefficients along each axis. W = 6 stands for any number of
// coefficients up to 6, and N = 8 for any number of axes up to 8.
template <int N, int W, typename T>
__global__ void __launch_bounds__(256)
    sampled(T* __restrict__ out, const T* __restrict__ x, const __grid_constant__ Sampling s,
            const __grid_constant__ Places<typename Types<T>::Real> places) {
    typedef typename Total<W, T>::Type S;
    typedef typename Types<S>::Real R;
    const u32 count = N < 8 ? N : s.count, taps = W < 6 ? W : s.order + 1;
    const S beyond = cast<S>(s.cval);
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < s.n; i += gridDim.x * u64(blockDim.x)) {
        const u64 stack = s.is_small ? s.by_points.divide(u32(i)) : i / s.points;
        const u64 point = i - stack * s.points;
        double place[N];
        if (s.source == POINTS) {
            const auto* from = places.numbers + i64(stack) * places.strides[2] + i64(point) * places.strides[1];
#pragma unroll
            for (int axis = 0; axis < N; axis++) {
                if (N == 8 && axis >= count) break;
                place[axis] = from[axis * places.strides[0]];
            }
        } else {
            u64 index[N], rest = point;
#pragma unroll
            for (int k = 0; k < N; k++) {
                const int axis = int(count) - 1 - k;
                if (N == 8 && axis < 0) break;
                const SampledAxis& along = s.axes[axis];
                u64 outer = s.is_small ? along.by_to.divide(u32(rest)) : rest / along.to;
                index[axis] = rest - outer * along.to;
                rest = outer;
            }
#pragma unroll
            for (int axis = 0; axis < N; axis++) {
                if (N == 8 && axis >= count) break;
                const SampledAxis& along = s.axes[axis];
                const double at = double(index[axis]);
                if (s.source == MAP) {
                    double sum = 0;
#pragma unroll
                    for (int k = 0; k < N; k++) {
                        if (N == 8 && k >= count) break;
                        // the product and the sum are rounded separately, as on the CPU, so that a position on an edge
                        // stays on it
                        const double by = places.numbers[axis * places.strides[0] + k * places.strides[1]];
                        sum = __dadd_rn(sum, __dmul_rn(double(index[k]), by));
                    }
                    place[axis] = places.offset ? __dadd_rn(sum, double(places.offset[axis * places.offset_stride])) : sum;
                } else if (s.cells) {
                    place[axis] = __dadd_rn(__dmul_rn(at + 0.5, double(along.from) / double(along.to)), -0.5);
                } else {
                    place[axis] = along.to > 1 ? at * (double(along.from) - 1) / (double(along.to) - 1) : at;
                }
            }
        }
        i64 at[N][W];
        R w[N][W];
        bool outside = false;
#pragma unroll
        for (int axis = 0; axis < N; axis++) {
            if (N == 8 && axis >= count) break;
            const SampledAxis& along = s.axes[axis];
            double here = place[axis] + s.border;
            const double last = double(along.len - 1);
            if (!(here >= 0 && here <= last) && !folded(here, last, s.mode, s.order)) {
                outside = true;
                continue;
            }
            if (!(here - here == 0)) {
                // the value at a NaN or infinite position is NaN
#pragma unroll
                for (int k = 0; k < W; k++) at[axis][k] = 0, w[axis][k] = R(here - here);
                continue;
            }
            const double middle = floor(s.order & 1 ? here : here + 0.5);
            spline_weights<W, R>(s.order, R(here - middle), w[axis]);
            const i64 start = i64(middle) - s.order / 2;
            const bool inside = start >= 0 && start + s.order < along.len;
#pragma unroll
            for (int k = 0; k < W; k++) {
                if (W == 6 && k >= taps) break;
                i64 index = inside ? start + k : folded_index(start + k, along.len, s.mode);
                at[axis][k] = index == BEYOND ? BEYOND : index * along.stride;
            }
        }
        const T* from = x + i64(stack) * s.apart;
        for (u64 channel = 0; channel < s.channels; channel++) {
            S value = beyond;
            if (!outside && N < 8) value = Weighted<0, N, W, T, S, R>::sum(from + channel, at, w, taps, beyond);
            if (!outside && N == 8) {
                u32 tap[N] = {};
                S sum = zero<S>();
                for (bool more = true; more;) {
                    R weight = 1;
                    i64 offset = 0;
                    bool is_beyond = false;
                    for (u32 axis = 0; axis < count; axis++) {
                        weight *= w[axis][tap[axis]];
                        is_beyond |= at[axis][tap[axis]] == BEYOND;
                        if (!is_beyond) offset += at[axis][tap[axis]];
                    }
                    sum = op_plus(sum, scaled(is_beyond ? beyond : cast<S>(from[offset + i64(channel)]), weight));
                    more = false;
                    for (u32 axis = count; axis-- > 0 && !more;) {
                        more = ++tap[axis] < taps;
                        if (!more) tap[axis] = 0;
                    }
                }
                value = sum;
            }
            out[i * s.channels + channel] = cast<T>(value);
        }
    }
}

// ---- filters along an axis ----

enum { MIRROR_ENDS, REFLECT_ENDS, WRAP_ENDS };

struct Poles {
    double z[2];
    u32 count, ends;
};

// Replaces elements by the coefficients of a spline. A thread filters one lane (a 1-D slice along the axis), forward
// and backward for each pole.
template <typename R>
__global__ void __launch_bounds__(256) spline_lanes(R* x, u64 lanes, u64 len, u64 inner, const Poles poles) {
    for (u64 lane = blockIdx.x * u64(blockDim.x) + threadIdx.x; lane < lanes; lane += gridDim.x * u64(blockDim.x)) {
        R* c = x + lane / inner * len * inner + lane % inner;
        const i64 n = len, step = inner;
        for (u32 p = 0; p < poles.count; p++) {
            const double z = poles.z[p], gain = (1 - z) * (1 - 1 / z), all = pow(z, double(n));
            const i64 few = n < 60 ? n : 60;
            double power = 1, first = 0;
            if (poles.ends == MIRROR_ENDS) {
                const double end = all / z;
                first = c[0] + double(c[(n - 1) * step]) * end;
                for (i64 i = 1; i < few && i + 1 < n; i++) {
                    power *= z;
                    first += power * c[i * step] + power * end * c[(n - 1 - i) * step];
                }
                first /= 1 - end * end;
            } else if (poles.ends == REFLECT_ENDS) {
                for (i64 i = 0; i < few; i++) {
                    first += power * c[i * step] + power * all * c[(n - 1 - i) * step];
                    power *= z;
                }
                first = c[0] + first * z / (1 - all * all);
            } else {
                first = c[0];
                for (i64 i = 1; i < few; i++) {
                    power *= z;
                    first += power * c[(n - i) * step];
                }
                first /= 1 - all;
            }
            double before = first * gain, last = before, previous = before;
            c[0] = R(before);
            for (i64 i = 1; i < n; i++) {
                previous = before;
                before = last = gain * c[i * step] + z * before;
                c[i * step] = R(before);
            }
            if (poles.ends == MIRROR_ENDS) {
                last = (z * previous + last) * z / (z * z - 1);
            } else if (poles.ends == REFLECT_ENDS) {
                last *= z / (z - 1);
            } else {
                power = 1;
                for (i64 i = 0; i < few && i < n - 1; i++) {
                    power *= z;
                    last += power * c[i * step];
                }
                last *= z / (all - 1);
            }
            c[(n - 1) * step] = R(last);
            for (i64 i = n - 2; i >= 0; i--) {
                last = z * (last - c[i * step]);
                c[i * step] = R(last);
            }
        }
    }
}

// Maps an index beyond the ends to an index within them, by the boundary mode of a filter. Returns BEYOND if the
// value at the index is the constant value.
inline i64 extended(i64 index, i64 len, u32 mode) {
    if (index >= 0 && index < len) return index;
    if (mode == B_CONSTANT) return BEYOND;
    return folded_index(index, len, mode == B_WRAP ? u32(B_GRID_WRAP) : mode);
}

struct Window {
    u64 size, before;
    u32 mode, parts;
    double cval;
};

// Weighted sums of neighbours along an axis. The two parts of a complex number are neighbours on an inner axis.
template <typename R>
__global__ void __launch_bounds__(256)
    correlated(R* __restrict__ out, const R* __restrict__ x, const Lanes lanes, const R* __restrict__ weights, const Window window) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < lanes.n; i += gridDim.x * u64(blockDim.x)) {
        const i64 at = lanes.index(i), len = lanes.len, start = at - i64(window.before);
        const R* lane = x + (i - u64(at) * lanes.inner);
        R sum = 0;
        if (start >= 0 && start + i64(window.size) <= len) {
            for (u64 k = 0; k < window.size; k++) sum += weights[k] * lane[(u64(start) + k) * lanes.inner];
        } else {
            const R beyond = window.parts == 2 && i % 2 ? R(0) : R(window.cval);
            for (u64 k = 0; k < window.size; k++) {
                const i64 index = extended(start + i64(k), len, window.mode);
                sum += weights[k] * (index == BEYOND ? beyond : lane[u64(index) * lanes.inner]);
            }
        }
        out[i] = sum;
    }
}

struct Largest {
    template <typename T> static T of(T a, T b) { return op_maximum(a, b); }
};
struct Smallest {
    template <typename T> static T of(T a, T b) { return op_minimum(a, b); }
};

// The largest or smallest element of the window around each element, along one axis.
template <typename F, typename T>
__global__ void __launch_bounds__(256)
    extremes(T* __restrict__ out, const T* __restrict__ x, const Lanes lanes, const Window window) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < lanes.n; i += gridDim.x * u64(blockDim.x)) {
        const i64 at = lanes.index(i), len = lanes.len, start = at - i64(window.before);
        const T* lane = x + (i - u64(at) * lanes.inner);
        T best = x[i];
        const T beyond = cast<T>(window.cval);
        for (u64 k = 0; k < window.size; k++) {
            const i64 index = extended(start + i64(k), len, window.mode);
            best = F::of(best, index == BEYOND ? beyond : lane[u64(index) * lanes.inner]);
        }
        out[i] = best;
    }
}
