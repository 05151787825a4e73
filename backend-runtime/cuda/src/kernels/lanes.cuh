// An array in C order, divided into lanes, the 1-D slices along one axis. A lane has `len` elements, which are
// `inner` elements apart in memory.
struct Lanes {
    u64 n, len, inner;
    Divisor by_len, by_inner;
    u32 is_small;

    // The index of element i along the axis.
    u64 index(u64 i) const {
        if (is_small) {
            const u32 outer = by_inner.divide(u32(i));
            return outer - by_len.divide(outer) * u32(len);
        }
        return i / inner % len;
    }
};
