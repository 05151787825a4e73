// Products of integer matrices. A block of threads computes 64 x 64 elements of the result, and a thread 4 x 4 of
// these.

enum { SIDE = 64, DEPTH = 16 };

// The strides of a matrix, in elements: from one row to the next, and from one column to the next.
struct Strides {
    i64 row, column;
};

struct Sizes {
    u64 rows, inner, columns;
    // Number of blocks that share the terms of each element of the result, and number of terms for each of these
    // blocks.
    u64 parts, terms;
};

// The unsigned type for arithmetic modulo 2^bits. It is at least as wide as T.
template <typename T, bool WIDE = sizeof(T) == 8> struct Modular { typedef u32 Type; };
template <typename T> struct Modular<T, true> { typedef u64 Type; };

// Loads a part of a matrix, and zeros beyond the matrix. Neighbouring threads load neighbouring elements of memory.
template <typename T, int ROWS, int COLUMNS, typename M>
void load_tile(M (&tile)[ROWS][COLUMNS + 1], const T* x, Strides strides, u64 row, u64 rows, u64 column, u64 columns) {
    const bool along_rows = strides.column == 1;
    for (u32 i = threadIdx.x; i < ROWS * COLUMNS; i += 256) {
        u32 r = along_rows ? i / COLUMNS : i % ROWS, c = along_rows ? i % COLUMNS : i / ROWS;
        bool inside = row + r < rows && column + c < columns;
        tile[r][c] = inside ? M(x[i64(row + r) * strides.row + i64(column + c) * strides.column]) : M(0);
    }
}

// Multiplies matrices. `out` gets `size.parts` arrays, one after another; the result is their sum.
template <typename T>
__global__ void __launch_bounds__(256)
    matrix_product(const T* __restrict__ left, const T* __restrict__ right, T* __restrict__ out,
                   const __grid_constant__ Walk<2> batches, const Strides left_strides, const Strides right_strides,
                   const Sizes size) {
    typedef typename Modular<T>::Type M;
    __shared__ M a[SIDE][DEPTH + 1], b[DEPTH][SIDE + 1];
    const u64 across = (size.columns + SIDE - 1) / SIDE, tiles = (size.rows + SIDE - 1) / SIDE * across;
    const u64 blocks = tiles * batches.n * size.parts;
    const u32 x = threadIdx.x % 16, y = threadIdx.x / 16;
    for (u64 block = blockIdx.x; block < blocks; block += gridDim.x) {
        const u64 tile = block % tiles, batch = block / tiles % batches.n, part = block / tiles / batches.n;
        const u64 row = tile / across * SIDE, column = tile % across * SIDE;
        const u64 begin = part * size.terms, end = begin + size.terms < size.inner ? begin + size.terms : size.inner;
        i64 at[2];
        locate(batches, batch, at);
        M sums[4][4] = {};
        for (u64 k = begin; k < end; k += DEPTH) {
            load_tile<T, SIDE, DEPTH>(a, left + at[0], left_strides, row, size.rows, k, end);
            load_tile<T, DEPTH, SIDE>(b, right + at[1], right_strides, k, end, column, size.columns);
            __syncthreads();
#pragma unroll 4
            for (int d = 0; d < DEPTH; d++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
#pragma unroll
                    for (int j = 0; j < 4; j++) sums[i][j] += a[y + 16 * i][d] * b[d][x + 16 * j];
                }
            }
            __syncthreads();
        }
        T* to = out + (part * batches.n + batch) * size.rows * size.columns;
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                u64 r = row + y + 16 * i, c = column + x + 16 * j;
                if (r < size.rows && c < size.columns) to[r * size.columns + c] = T(sums[i][j]);
            }
        }
    }
}
