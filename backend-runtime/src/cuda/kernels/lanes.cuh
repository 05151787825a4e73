// An array in C order as lanes of `len` elements along one axis, with `inner` elements after the axis.
struct Lanes {
    u64 n, len, inner;
    Divisor by_len, by_inner;
    u32 is_small;

    // The index along the axis.
    u64 index(u64 i) const {
        if (is_small) {
            const u32 outer = by_inner.divide(u32(i));
            return outer - by_len.divide(outer) * u32(len);
        }
        return i / inner % len;
    }
};
