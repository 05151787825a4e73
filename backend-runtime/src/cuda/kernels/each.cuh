// One result element per element of the inputs. `F` is the struct of a row's expression.

// An input: an array, one value given at the launch, or one element in memory for all results.
enum { ARRAY = 0, VALUE = 1, ELEMENT = 2 };
template <typename X> struct alignas(16) Input {
    const X* array;
    u32 kind;
    alignas(16) unsigned char value[16];
};

template <typename X, int W> struct alignas(W * sizeof(X)) Pack {
    X at[W];
};

// An input whose value, if it is one for all elements, is fetched once.
template <typename X> struct Reader {
    const X* array;
    X value;
    Reader(const Input<X>& input) : array(input.kind == ARRAY ? input.array : nullptr) {
        if (input.kind == VALUE) value = *(const X*)input.value;
        if (input.kind == ELEMENT) value = *input.array;
    }
    X one(i64 i) const { return array ? array[i] : value; }
    template <int W> Pack<X, W> pack(u64 i) const {
        if (array) return ((const Pack<X, W>*)array)[i];
        Pack<X, W> all;
        for (int k = 0; k < W; k++) all.at[k] = value;
        return all;
    }
};

template <int W, typename U, typename F, typename... X> Pack<U, W> apply(const F& f, Pack<X, W>... x) {
    Pack<U, W> result;
#pragma unroll
    for (int k = 0; k < W; k++) result.at[k] = f.template apply<U>(x.at[k]...);
    return result;
}

// Bytes of the largest of some types.
template <typename X, typename... Y> struct Largest {
    static const int rest = Largest<Y...>::size, size = sizeof(X) > rest ? int(sizeof(X)) : rest;
};
template <typename X> struct Largest<X> { static const int size = sizeof(X); };

template <typename F, typename U, typename... X>
void flat_readers(const F& f, U* __restrict__ out, u64 n, u32 vectors, Reader<X>... in) {
    const int W = 16 / Largest<U, X...>::size;
    u64 first = blockIdx.x * u64(blockDim.x) + threadIdx.x, step = gridDim.x * u64(blockDim.x);
    u64 packs = vectors ? n / W : 0;
    for (u64 i = first; i < packs; i += step) {
        ((Pack<U, W>*)out)[i] = apply<W, U>(f, in.template pack<W>(i)...);
    }
    for (u64 i = packs * W + first; i < n; i += step) out[i] = f.template apply<U>(in.one(i)...);
}

// Contiguous operands. `vectors`: all pointers are aligned for loads of 16 bytes of the largest dtype.
template <typename F, typename U, typename... X>
__global__ void __launch_bounds__(256) flat(F f, U* out, u64 n, u32 vectors, Input<X>... in) {
    flat_readers<F, U, X...>(f, out, n, vectors, Reader<X>(in)...);
}

template <typename F, typename U, int K, typename... X>
U at_places(const F& f, const i64 (&at)[K], Reader<X>... in) {
    int k = 0;
    // braces order the evaluation: k counts the inputs from left to right
    struct Call {
        U result;
        Call(const F& f, X... x) : result(f.template apply<U>(x...)) {}
    } call{f, in.one(at[++k])...};
    return call.result;
}

template <typename F, typename U, typename W, typename... X>
void strided_readers(const F& f, U* __restrict__ out, const W& walk, Reader<X>... in) {
    const int K = sizeof...(X) + 1, each = 4;
    u64 step = gridDim.x * u64(blockDim.x) * each;
    for (u64 base = blockIdx.x * u64(blockDim.x) * each; base < walk.n; base += step) {
        // all loads of a thread before its stores, for several to be under way at once
        U result[each];
        i64 place[each];
#pragma unroll
        for (int j = 0; j < each; j++) {
            u64 i = base + j * blockDim.x + threadIdx.x;
            if (i < walk.n) {
                i64 at[K];
                walk.locate(i, at);
                place[j] = at[0];
                result[j] = at_places<F, U, K, X...>(f, at, in...);
            }
        }
#pragma unroll
        for (int j = 0; j < each; j++) {
            u64 i = base + j * blockDim.x + threadIdx.x;
            if (i < walk.n) out[place[j]] = result[j];
        }
    }
}

// Operands of any strides. Operand 0 of the walk is the result.
template <typename F, typename U, typename... X>
__global__ void __launch_bounds__(256)
    strided(F f, U* out, const __grid_constant__ Walk<sizeof...(X) + 1> walk, Input<X>... in) {
    strided_readers<F, U, Walk<sizeof...(X) + 1>, X...>(f, out, walk, Reader<X>(in)...);
}
