//! Matrix products of integers. They wrap: results are modulo 2^bits.

use super::{gemm::Matrix, operands::Operands};
use crate::{
    Cuda,
    array::RawArray,
    copy::copy_into,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    reduction,
    walk::Merged,
};
use backend_core::{DType, DTypeKind, Result};

static PROGRAM: Program = Program {
    name: "product",
    source: ProgramSource::File(concat!(include_str!("../kernels/locate.cuh"), include_str!("../kernels/product.cuh"))),
};

/// The kernels of this file, for the list of all kernels that [`check`](crate::check) compiles.
pub(crate) const KERNELS: KernelList = (&PROGRAM, || {
    let integer = |dtype: &DType| matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned);
    let instance = |dtype| Instance::new("matrix_product", "", &[dtype]);
    DType::ALL.into_iter().filter(integer).map(instance).collect()
});

/// Side length of the square tile of the result that one block computes.
const SIDE: usize = 64;

/// Minimum number of terms that a block adds if several blocks compute parts of one sum.
const TERMS: usize = 1024;

/// Number of blocks that keep a large device busy.
const ENOUGH: usize = 512;

/// Writes the product of `operands.left` and `operands.right` to `operands.out`.
pub(super) fn product(b: &Cuda, operands: &Operands) -> Result<()> {
    let op = operands.op;
    let [left, right, _] = operands.leading();
    let batches = Merged::new(&[&left, &right]);
    let (rows, inner, columns) = (operands.rows, operands.inner, operands.columns);
    let blocks = rows.div_ceil(SIDE).saturating_mul(columns.div_ceil(SIDE)).saturating_mul(batches.n());
    // if there are few results, each with many terms, the terms of each result are divided among several blocks, and
    // the sums of the blocks are added afterwards
    let parts = (ENOUGH / blocks.min(ENOUGH)).min(inner.div_ceil(TERMS)).max(1);
    let terms = inner.div_ceil(parts);
    let parts = inner.div_ceil(terms);
    let sums = match parts {
        1 => operands.out.clone(),
        _ => b.uninit_raw(op, operands.out.dtype, &[&[parts], &operands.out.shape[..]].concat())?,
    };
    let kernel = b.kernel(op, &PROGRAM, Instance::new("matrix_product", "", &[sums.dtype]))?;
    let most = i32::MAX as usize;
    let grid =
        Grid { blocks: [blocks.saturating_mul(parts).min(most) as u32, 1, 1], threads: Grid::THREADS, shared: 0 };
    let sizes = [rows, inner, columns, parts, terms];
    let walk = batches.walk::<2>(op)?;
    let strides = |m: Matrix| [m.row, m.column];
    let [left, right, _] = operands.matrices().map(strides);
    let (x1, x2, out) = (operands.left.pointer(), operands.right.pointer(), sums.pointer());
    let arguments: [&dyn Argument; 7] = [&x1, &x2, &out, &walk, &left, &right, &sizes];
    // SAFETY: the arguments match the parameters of the kernel. The matrices lie within the operands, and `sums` has an
    // element for each part, batch, row and column.
    unsafe { b.launch(op, kernel, grid, &arguments)? };
    if parts > 1 {
        let total: RawArray = reduction::sum_of_first_axis(b, op, &sums)?;
        copy_into(b, op, &total, &operands.out)?;
    }
    Ok(())
}
