// Folds of the values of a formula, which are computed when they are needed and never stored in an array. They are
// folded in the same order as the elements of an array would be.

// The value of a formula. Its constructor is called with braces, which fix the order of its arguments.
template <typename T, typename... X> struct ValueOf {
    T value;
    template <typename E> ValueOf(const E& f, X... x) : value(f.template apply<T>(x...)) {}
};

// The values of a formula for one result, by number. `value` computes one of these values from the offsets of the
// inputs' elements.
template <typename T, int K, typename V> struct Computed {
    const V& value;
    const Walk<K>& walk;
    const i64 (&from)[K];
    T operator()(u64 i) const {
        i64 at[K];
        locate(walk, i, at);
        for (int k = 0; k < K; k++) at[k] += from[k];
        return value(at);
    }
    Packed<T> pack(u64 p) const {
        const int W = 16 / sizeof(T);
        Packed<T> some;
#pragma unroll
        for (int k = 0; k < W; k++) some.at[k] = (*this)(p * W + k);
        return some;
    }
};

template <typename T, int K, typename V> struct OfFormula {
    const V& value;
    const Walk<K>&outer, &inner;
    template <typename F>
    typename F::Acc fold(u64 o, u64 begin, u64 end, u32 part, u32 step, u32 vectors, typename F::Given given) const {
        i64 from[K];
        locate(outer, o, from);
        Computed<T, K, V> x{value, inner, from};
        if (vectors) return fold_packs<F, T>(x, begin, end, part, step, given);
        return fold_steps<F>(x, begin + part, end, step, given);
    }
};

// Like the kernel `reduce`, for the values of dtype `T` that `f` computes from the inputs. The inputs have the shape
// of the values, and each has its own strides.
template <template <typename> class F, typename E, typename T, typename... X>
__global__ void __launch_bounds__(256)
    reduce_formula(const __grid_constant__ E f, typename F<T>::Out* __restrict__ out,
                   typename F<T>::Acc* __restrict__ parts, const typename F<T>::Given* __restrict__ givens,
                   const __grid_constant__ Walk<sizeof...(X)> outer, const __grid_constant__ Walk<sizeof...(X)> inner,
                   const Split split, const X* __restrict__... x) {
    const int K = sizeof...(X);
    auto value = [&](const i64 (&at)[K]) {
        int k = 0;
        return ValueOf<T, X...>{f, x[at[k++]]...}.value;
    };
    OfFormula<T, K, decltype(value)> of{value, outer, inner};
    reduce_all<F<T>>(of, out, parts, givens, outer.n, inner.n, split);
}
