// Elementwise kernels: each element of the result is computed from one element of each input. `F` is the struct with
// the scalar expression of an op or of a formula.

// The kinds of inputs: an array, a value that is an argument of the launch, or one element in memory that is used for
// all results.
enum { ARRAY = 0, VALUE = 1, ELEMENT = 2 };
template <typename X> struct alignas(16) Input {
    const X* array;
    u32 kind;
    alignas(16) unsigned char value[16];
};

template <typename X, int W> struct alignas(W * sizeof(X)) Pack {
    X at[W];
};

// Reads an input. If the input has one value for all elements, that value is read only once.
template <typename X> struct Reader {
    // this pointer is not declared `__restrict__`, because the result may be written over the input
    const X* array;
    bool is_array;
    X value;
    Reader(const Input<X>& input) : array(input.array), is_array(input.kind == ARRAY) {
        if (input.kind == VALUE) value = *(const X*)input.value;
        if (input.kind == ELEMENT) value = *input.array;
    }
    // Returns `is_array`, but the compiler cannot know the value in advance. Otherwise it would copy the whole loop for
    // each combination of kinds of inputs, with several times the code and compile time.
    bool asks() const {
        u32 flag = is_array;
        asm volatile("" : "+r"(flag));
        return flag;
    }
    X one(i64 i) const { return asks() ? array[i] : value; }
    template <int W> Pack<X, W> pack(u64 i) const {
        if (asks()) return ((const Pack<X, W>*)array)[i];
        return repeated<W>();
    }
    // Reads the elements of operand k at W positions.
    template <int W, int K> Pack<X, W> gather(const i64 (&at)[W][K], int k) const {
        if (!asks()) return repeated<W>();
        Pack<X, W> some;
        for (int j = 0; j < W; j++) some.at[j] = array[at[j][k]];
        return some;
    }

  private:
    template <int W> Pack<X, W> repeated() const {
        Pack<X, W> all;
        for (int j = 0; j < W; j++) all.at[j] = value;
        return all;
    }
};

template <int W, typename U, typename F, typename... X> Pack<U, W> apply(const F& f, Pack<X, W>... x) {
    Pack<U, W> result;
#pragma unroll
    for (int k = 0; k < W; k++) result.at[k] = f.template apply<U>(x.at[k]...);
    return result;
}

// Size in bytes of the largest of some types.
template <typename X, typename... Y> struct Largest {
    enum { rest = Largest<Y...>::size, size = sizeof(X) > rest ? int(sizeof(X)) : rest };
};
template <typename X> struct Largest<X> {
    enum { size = sizeof(X) };
};

template <typename F, typename U, typename... X>
void flat_readers(const F& f, U* out, u64 n, u32 vectors, Reader<X>... in) {
    const int W = 16 / Largest<U, X...>::size;
    u64 first = blockIdx.x * u64(blockDim.x) + threadIdx.x, step = gridDim.x * u64(blockDim.x);
    u64 packs = vectors ? n / W : 0;
    for (u64 i = first; i < packs; i += step) {
        ((Pack<U, W>*)out)[i] = apply<W, U>(f, in.template pack<W>(i)...);
    }
    for (u64 i = packs * W + first; i < n; i += step) out[i] = f.template apply<U>(in.one(i)...);
}

// The kernel for contiguous operands. `vectors` says whether all pointers are aligned for loads of 16 bytes of the
// largest dtype.
template <typename F, typename U, typename... X>
__global__ void __launch_bounds__(256) flat(F f, U* out, u64 n, u32 vectors, Input<X>... in) {
    flat_readers<F, U, X...>(f, out, n, vectors, Reader<X>(in)...);
}

// The results at W positions. The constructor is called with braces, which fix the order in which its arguments are
// read, so that k counts the inputs from left to right.
template <int W, typename U, typename... X> struct Gathered {
    Pack<U, W> results;
    template <typename F> Gathered(const F& f, Pack<X, W>... x) : results(apply<W, U>(f, x...)) {}
};

template <int R, typename I, typename F, typename U, int K, typename... X>
void strided_readers(const F& f, U* out, const Walk<K>& walk, Reader<X>... in) {
    // a thread makes all its loads before its stores, so that several loads are in flight at once
    const int each = 4;
    I n = walk.n, step = I(gridDim.x) * blockDim.x * each;
    for (I base = I(blockIdx.x) * blockDim.x * each + threadIdx.x; base < n; base += step) {
        i64 at[each][K];
#pragma unroll
        for (int j = 0; j < each; j++) {
            I i = base + j * blockDim.x;
            walk.template locate<R>(i < n ? i : base, at[j]);
        }
        int k = 0;
        Gathered<each, U, X...> gathered{f, in.template gather<each, K>(at, ++k)...};
#pragma unroll
        for (int j = 0; j < each; j++) {
            // positions beyond the end are replaced by the position `base`, whose result is computed and written
            // again
            out[at[j][0]] = gathered.results.at[j];
        }
    }
}

// The kernel for operands with any strides, R axes and fewer than 2^31 elements. `walk` traverses the operands;
// operand 0 is the result.
template <int R, typename F, typename U, typename... X>
__global__ void __launch_bounds__(256) strided(F f, U* out, Walk<sizeof...(X) + 1> walk, Input<X>... in) {
    strided_readers<R, u32, F, U, sizeof...(X) + 1, X...>(f, out, walk, Reader<X>(in)...);
}

// Like `strided`, for any number of elements.
template <int R, typename F, typename U, typename... X>
__global__ void __launch_bounds__(256) strided_wide(F f, U* out, Walk<sizeof...(X) + 1> walk, Input<X>... in) {
    strided_readers<R, u64, F, U, sizeof...(X) + 1, X...>(f, out, walk, Reader<X>(in)...);
}
