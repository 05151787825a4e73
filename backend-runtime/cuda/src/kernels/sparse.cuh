// Products with compressed sparse row (CSR) matrices. Nothing is read or written at an index out of range, and a row
// with invalid pointers has no elements. The kernels report both kinds of mistakes in `Found`.

struct Sizes {
    // number of compressed rows; upper limit of the indices (exclusive); number of stored elements; number of columns
    // of the dense operand
    u64 rows, columns, stored, width;
};

// The mistakes found: the row of the first invalid pointer, and the position of the first index out of range. If there
// is no such mistake, all bits of the number are set.
struct Found {
    u64 pointer, index;
};

// The type in which elements of type `T` are summed.
template <typename T> struct Wide { typedef T Type; };
template <> struct Wide<f16> { typedef float Type; };
template <> struct Wide<bf16> { typedef float Type; };

// Returns `x` of the thread whose number in the warp is larger by `lanes`.
template <typename A> A from_lane(A x, int lanes) {
    if constexpr (sizeof(A) < 4) {
        return A(__shfl_down_sync(0xffffffff, int(x), lanes));
    } else {
        A other;
        for (int i = 0; i < sizeof(A) / 4; i++) ((u32*)&other)[i] = __shfl_down_sync(0xffffffff, ((u32*)&x)[i], lanes);
        return other;
    }
}

// The range of a row's stored elements in `values` and `indices`.
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

// Returns the index of stored element `k`, or -1 if the index is out of range.
inline i64 index_of(const i64* indices, u64 k, const Sizes& size, Found* found) {
    const i64 index = indices[k];
    if (index >= 0 && index < i64(size.columns)) return index;
    atomicMin(&found->index, k);
    return -1;
}

// Checks the pointers of a matrix without rows: there is one pointer, which must be 0.
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

// Computes the product of a CSR matrix and a vector. `G` neighbouring threads share the elements of a row.
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

// Computes the product of a CSR matrix and a dense matrix. Neighbouring threads compute neighbouring columns of a row
// of the result.
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

// Computes the product of a transposed CSR matrix and the dense matrix `x`. For each stored element, a multiple of a
// row of `x` is added to a row of the result, which must be 0 before. `G` neighbouring threads share the stored
// elements of one row, for one column of `x`.
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

// Computes selected elements of the product of `x1` and the transpose of `x2`, which are dense. `indptr` and `indices`
// select the elements. `G` neighbouring threads share a row of the result.
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
