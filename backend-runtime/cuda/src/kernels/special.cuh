// Linear interpolation between given points, as in `numpy.interp`.

struct Points {
    i64 x_stride, f_stride;
    u64 n;
    // results for `x` before the first point and after the last point, if these results are given
    double left, right;
    u32 has_left, has_right;
};

// Linear interpolation between the points (xp, fp), computed in double as in NumPy, and rounded once.
template <typename T>
__global__ void __launch_bounds__(256)
    interpolate(const T* __restrict__ x, const __grid_constant__ Walk<1> walk, const T* __restrict__ xp,
                const T* __restrict__ fp, const Points points, T* __restrict__ out) {
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < walk.n; i += gridDim.x * u64(blockDim.x)) {
        i64 at[1];
        locate(walk, i, at);
        const double at_x = x[at[0]];
        auto px = [&](u64 k) { return double(xp[i64(k) * points.x_stride]); };
        auto pf = [&](u64 k) { return double(fp[i64(k) * points.f_stride]); };
        if (at_x != at_x) {
            out[i] = x[at[0]];
            continue;
        }
        // the number of points at or before x
        u64 low = 0, high = points.n;
        while (low < high) {
            const u64 middle = low + (high - low) / 2;
            if (px(middle) <= at_x) low = middle + 1;
            else high = middle;
        }
        if (low == 0) {
            out[i] = T(points.has_left ? points.left : pf(0));
            continue;
        }
        const double x0 = px(low - 1), f0 = pf(low - 1);
        if (low == points.n) {
            out[i] = T(at_x > x0 ? points.has_right ? points.right : f0 : f0);
            continue;
        }
        if (at_x == x0) {
            // f0 is the result even if the slope is not finite
            out[i] = T(f0);
            continue;
        }
        const double x1 = px(low), f1 = pf(low), slope = (f1 - f0) / (x1 - x0);
        double y = slope * (at_x - x0) + f0;
        if (y != y) {
            y = slope * (at_x - x1) + f1;
            if (y != y && f0 == f1) y = f0;
        }
        out[i] = T(y);
    }
}
