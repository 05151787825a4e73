// Transposes matrices in tiles, so that both the source and the result are accessed in order of memory.

struct Matrix {
    u32 rows, columns, row_tiles, column_tiles;
    // distances from one row of the result to the next, and from one column of the source to the next
    i64 out_row, source_column;
};

// `walk` gives the offset of each matrix in the result and in the source.
template <int R, typename T>
__global__ void __launch_bounds__(256) transpose(T* out, const T* x, Matrix matrix, Walk<2> walk) {
    const u32 TILE = 32, STEP = 8;
    // one more element per line puts the elements of a column into different memory banks
    __shared__ T tile[TILE][TILE + 1];
    u32 block = blockIdx.x, column_tile = block % matrix.column_tiles;
    block /= matrix.column_tiles;
    u32 row_tile = block % matrix.row_tiles, which = block / matrix.row_tiles;
    i64 at[2];
    walk.template locate<R>(which, at);
    u32 lane = threadIdx.x % TILE, line = threadIdx.x / TILE;
    u32 row = row_tile * TILE + lane, column = column_tile * TILE + line;
    for (u32 j = 0; j < TILE; j += STEP) {
        if (row < matrix.rows && column + j < matrix.columns) {
            tile[line + j][lane] = x[at[1] + row + (column + j) * matrix.source_column];
        }
    }
    __syncthreads();
    row = row_tile * TILE + line, column = column_tile * TILE + lane;
    for (u32 j = 0; j < TILE; j += STEP) {
        if (row + j < matrix.rows && column < matrix.columns) {
            out[at[0] + (row + j) * matrix.out_row + column] = tile[lane][line + j];
        }
    }
}
