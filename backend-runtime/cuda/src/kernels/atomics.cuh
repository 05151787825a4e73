// Atomic changes of an element: no change by another thread comes in between.

struct Sum {
    template <typename T> T operator()(T a, T b) const { return op_plus(a, b); }
};
struct Product {
    template <typename T> T operator()(T a, T b) const { return op_times(a, b); }
};
struct Largest {
    template <typename T> T operator()(T a, T b) const { return op_maximum(a, b); }
};
struct Smallest {
    template <typename T> T operator()(T a, T b) const { return op_minimum(a, b); }
};

// Changes the element that begins at bit `shift` of a word: replaces it by `f(element, x)`. Writes nothing if the
// element does not change.
template <typename W, typename T, typename F> void atomic_change(W* word, const u32 shift, T x, F f) {
    const W mask = (~W(0) >> (8 * (sizeof(W) - sizeof(T)))) << shift;
    W old = *(volatile W*)word, seen;
    do {
        seen = old;
        T current;
        for (int k = 0; k < sizeof(T); k++) ((u8*)&current)[k] = u8(seen >> (shift + 8 * k));
        T next = f(current, x);
        W bits = 0;
        for (int k = 0; k < sizeof(T); k++) bits |= W(((u8*)&next)[k]) << (8 * k);
        W wanted = (seen & ~mask) | bits << shift;
        if (wanted == seen) return;
        old = atomicCAS(word, seen, wanted);
    } while (old != seen);
}

// Changes an element. If it is narrow, changes the 32-bit word that contains it.
template <typename T, typename F> void atomic_change(T* to, T x, F f) {
    if constexpr (sizeof(T) == 8) {
        atomic_change((u64*)to, 0, x, f);
    } else {
        u64 address = (u64)to;
        atomic_change((u32*)(address & ~u64(3)), (address & 3) * 8, x, f);
    }
}

inline void atomic_add(float* to, float x) { atomicAdd(to, x); }
inline void atomic_add(double* to, double x) { atomicAdd(to, x); }
inline void atomic_add(int* to, int x) { atomicAdd(to, x); }
inline void atomic_add(u32* to, u32 x) { atomicAdd(to, x); }
inline void atomic_add(u64* to, u64 x) { atomicAdd(to, x); }
inline void atomic_add(i64* to, i64 x) { atomicAdd((u64*)to, u64(x)); }
template <typename R> void atomic_add(complex<R>* to, complex<R> x) {
    atomicAdd(&to->re, x.re);
    atomicAdd(&to->im, x.im);
}
template <typename T> void atomic_add(T* to, T x) { atomic_change(to, x, Sum()); }

