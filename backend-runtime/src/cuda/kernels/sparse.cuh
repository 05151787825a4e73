// Products with compressed sparse row matrices. Nothing is read or written at an index out of range, and a row with
// invalid pointers has no elements. The kernels report both kinds of mistakes.

struct Sizes {
    // number of compressed rows; limit of the indices; number of stored elements; number of right-hand sides
    u64 rows, columns, stored, width;
};

// The reported mistakes: the position of a pointer that does not ascend, and the first position of an index out of
// range. All bits of a position are set if no such mistake was found.
struct Found {
    u64 pointer, index;
};

// The type in which a dtype is summed.
template <typename T> struct Wide { typedef T Type; };
template <> struct Wide<f16> { typedef float Type; };
template <> struct Wide<bf16> { typedef float Type; };

// Returns `x` of the thread that is `lanes` lanes further in the warp.
template <typename A> A from_lane(A x, int lanes) {
    if constexpr (sizeof(A) < 4) {
        return A(__shfl_down_sync(0xffffffff, int(x), lanes));
    } else {
        A other;
        for (int i = 0; i < sizeof(A) / 4; i++) ((u32*)&other)[i] = __shfl_down_sync(0xffffffff, ((u32*)&x)[i], lanes);
        return other;
    }
}

// The elements of a row.
struct Row {
    u64 begin, end;
};

inline Row row_of(const i64* indptr, u64 row, const Sizes& size, Found* found) {
    const i64 begin = indptr[row], end = indptr[row + 1];
    const bool first = row == 0 && begin != 0, last = row + 1 == size.rows && end != i64(size.stored);
    if (begin < 0 || end < begin || end > i64(size.stored) || first || last) {
        atomicMin(&found->pointer, row);
        return Row{0, 0};
    }
    return Row{u64(begin), u64(end)};
}

// The index of element k, or -1 if it is out of range.
inline i64 index_of(const i64* indices, u64 k, const Sizes& size, Found* found) {
    const i64 index = indices[k];
    if (index >= 0 && index < i64(size.columns)) return index;
    atomicMin(&found->index, k);
    return -1;
}

// Checks the pointer of a matrix without rows.
__global__ void check_no_rows(const i64* indptr, const Sizes size, Found* found) {
    if (indptr[0] != 0 || size.stored != 0) found->pointer = 0;
}

// Checks pointers and indices only, for a product with an empty result.
__global__ void __launch_bounds__(256)
    check_rows(const i64* indptr, const i64* indices, const Sizes size, Found* found) {
    for (u64 row = blockIdx.x * u64(blockDim.x) + threadIdx.x; row < size.rows; row += gridDim.x * u64(blockDim.x)) {
        const Row r = row_of(indptr, row, size, found);
        for (u64 k = r.begin; k < r.end; k++) index_of(indices, k, size, found);
    }
}

// The product with a vector. `G` neighbouring threads share a row.
template <int G, typename T>
__global__ void __launch_bounds__(256)
    csr_vector(T* __restrict__ out, const T* __restrict__ values, const i64* __restrict__ indices,
               const i64* __restrict__ indptr, const T* __restrict__ x, const Sizes size, Found* found) {
    typedef typename Wide<T>::Type A;
    const u64 n = size.rows * G, step = gridDim.x * u64(blockDim.x);
    // all threads of a block run the loop equally often, because the threads of a warp take part in each other's sums
    for (u64 first = blockIdx.x * u64(blockDim.x); first < n; first += step) {
        const u64 i = first + threadIdx.x, row = i / G, lane = i % G;
        A sum = zero<A>();
        if (row < size.rows) {
            const Row r = row_of(indptr, row, size, found);
            for (u64 k = r.begin + lane; k < r.end; k += G) {
                const i64 index = index_of(indices, k, size, found);
                if (index >= 0) sum = op_plus(sum, op_times(A(values[k]), A(x[index])));
            }
        }
        for (int lanes = G / 2; lanes > 0; lanes /= 2) sum = op_plus(sum, from_lane(sum, lanes));
        if (row < size.rows && lane == 0) out[row] = T(sum);
    }
}

// The product with a matrix. Neighbouring threads compute neighbouring columns of a row.
template <typename T>
__global__ void __launch_bounds__(256)
    csr_matrix(T* __restrict__ out, const T* __restrict__ values, const i64* __restrict__ indices,
               const i64* __restrict__ indptr, const T* __restrict__ x, const Sizes size, Found* found) {
    typedef typename Wide<T>::Type A;
    const u64 n = size.rows * size.width;
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x)) {
        const u64 row = i / size.width, column = i % size.width;
        const Row r = row_of(indptr, row, size, found);
        A sum = zero<A>();
        for (u64 k = r.begin; k < r.end; k++) {
            const i64 index = index_of(indices, k, size, found);
            if (index >= 0) sum = op_plus(sum, op_times(A(values[k]), A(x[index * size.width + column])));
        }
        out[i] = T(sum);
    }
}

// The product of the transpose. Every row of `x` is added to rows of the result, which must be 0 before. `G`
// neighbouring threads share a row and a column of `x`.
template <int G, typename T>
__global__ void __launch_bounds__(256)
    csc_product(T* out, const T* __restrict__ values, const i64* __restrict__ indices, const i64* __restrict__ indptr,
                const T* __restrict__ x, const Sizes size, Found* found) {
    const u64 n = size.rows * size.width * G;
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x)) {
        const u64 lane = i % G, row = i / G / size.width, column = i / G % size.width;
        const Row r = row_of(indptr, row, size, found);
        const T factor = x[row * size.width + column];
        for (u64 k = r.begin + lane; k < r.end; k += G) {
            const i64 index = index_of(indices, k, size, found);
            if (index >= 0) atomic_add(out + index * size.width + column, op_times(values[k], factor));
        }
    }
}

// Selected elements of a product of dense matrices. `G` neighbouring threads share a row.
template <int G, typename T>
__global__ void __launch_bounds__(256)
    sampled_product(T* __restrict__ out, const T* __restrict__ x1, const i64* __restrict__ indices,
                    const i64* __restrict__ indptr, const T* __restrict__ x2, const Sizes size, Found* found) {
    typedef typename Wide<T>::Type A;
    const u64 n = size.rows * G;
    for (u64 i = blockIdx.x * u64(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * u64(blockDim.x)) {
        const u64 row = i / G, lane = i % G;
        const Row r = row_of(indptr, row, size, found);
        for (u64 k = r.begin + lane; k < r.end; k += G) {
            const i64 index = index_of(indices, k, size, found);
            A sum = zero<A>();
            for (u64 c = 0; index >= 0 && c < size.width; c++) {
                sum = op_plus(sum, op_times(A(x1[row * size.width + c]), A(x2[index * size.width + c])));
            }
            out[k] = T(sum);
        }
    }
}
