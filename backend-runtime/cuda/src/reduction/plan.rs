//! The plan of a fold (reduction): the reduced axes, the order of the kept axes, and how the work is split into blocks.

use super::fold::{ACCUMULATOR, Fold, Names, REDUCE};
use crate::{
    Cuda,
    array::RawArray,
    kernel::{Argument, Grid},
    map::Members,
    program::{Formula, Instance, Program, ProgramSource},
    walk::Merged,
};
use backend_core::{DType, Error, Result, rules};
use std::cmp::Reverse;

/// The values of a formula. The kernel computes them while it reduces them.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    /// The formula's C++ text.
    pub(crate) formula: Formula,
    /// The members of the formula's C++ struct.
    pub(crate) members: Members<'a>,
    /// The arrays in the formula, broadcast to the shape of the formula's values.
    pub(crate) inputs: &'a [RawArray],
}

impl Values<'_> {
    /// Maximum size of the members in bytes, which leaves room for the other kernel arguments.
    pub(crate) const MAX_MEMBER_BYTES: usize = 1024;

    /// A common traversal of the inputs along `axes`.
    fn along(&self, axes: &[usize]) -> Merged {
        let part = |x: &RawArray| {
            let shape = axes.iter().map(|&axis| x.shape[axis]).collect();
            x.view(shape, axes.iter().map(|&axis| x.strides[axis]).collect(), x.offset)
        };
        Merged::new(&self.inputs.iter().map(part).collect::<Vec<_>>().iter().collect::<Vec<_>>())
    }
}

/// A fold of one array over some axes.
pub(crate) struct ReductionPlan {
    op: &'static str,
    x: RawArray,
    axes: Vec<usize>,
    /// The axes that are not reduced, by descending stride. In memory, the results have their axes in this order.
    kept: Vec<usize>,
    outer: Merged,
    inner: Merged,
}

impl ReductionPlan {
    /// Plans a fold of `x` over `axes`, which are distinct. If [`Values`] are reduced instead, only the layout of `x`
    /// matters.
    pub(crate) fn new(op: &'static str, x: &RawArray, axes: &[usize]) -> ReductionPlan {
        let part = |axes: &[usize]| {
            let shape = axes.iter().map(|&axis| x.shape[axis]).collect();
            Merged::new(&[&x.view(shape, axes.iter().map(|&axis| x.strides[axis]).collect(), x.offset)])
        };
        let kept = in_memory(x, (0..x.shape.len()).filter(|axis| !axes.contains(axis)).collect());
        let (outer, inner) = (part(&kept), part(&in_memory(x, axes.to_vec())));
        ReductionPlan { op, x: x.clone(), axes: axes.to_vec(), kept, outer, inner }
    }

    /// Number of results.
    pub(crate) fn outputs(&self) -> usize {
        self.outer.n()
    }

    /// Number of elements reduced to each result.
    pub(crate) fn inputs(&self) -> usize {
        self.inner.n()
    }

    /// Runs the fold, and returns the results as a 1-D array, in the memory order that `kept` describes. `given` has a
    /// value for each result (the means, for a variance), and `over` is the number by which the fold divides.
    pub(crate) fn run(&self, b: &Cuda, fold: Fold, given: Option<&RawArray>, over: f64) -> Result<RawArray> {
        self.run_kernels(b, &REDUCE, fold.names(), fold.result(self.x.dtype), given, over, None)
    }

    /// Like [`ReductionPlan::run`], but reduces the values of a formula.
    pub(crate) fn run_formula(
        &self,
        b: &Cuda,
        fold: Fold,
        given: Option<&RawArray>,
        over: f64,
        values: &Values<'_>,
    ) -> Result<RawArray> {
        let program = Program { name: self.op, source: ProgramSource::FormulaFold(values.formula, None) };
        self.run_kernels(b, &program, fold.names(), fold.result(self.x.dtype), given, over, Some(values))
    }

    /// Like [`ReductionPlan::run`], but runs the kernels of `program` with the fold `names`. For a fold that an op
    /// defines, `given` has the op's parameters. If `values` is given, they are reduced instead of the array.
    #[allow(clippy::too_many_arguments)] // the kernels, and their arguments
    pub(crate) fn run_kernels(
        &self,
        b: &Cuda,
        program: &Program,
        names: Names,
        result: DType,
        given: Option<&RawArray>,
        over: f64,
        values: Option<&Values<'_>>,
    ) -> Result<RawArray> {
        let op = self.op;
        let (x, results) = (&self.x, self.outputs());
        let out = b.uninit_raw(op, result, &[results])?;
        if results == 0 {
            return Ok(out);
        }
        let split = Split::new(results, self.inputs(), self.columns(), self.elements_per_pack());
        let parts = match split.parts {
            1 => None,
            n => Some(b.scratch(op, results, n as usize * ACCUMULATOR)?),
        };
        let grid = Grid { blocks: [split.blocks, split.parts, 1], threads: Grid::THREADS, shared: 0 };
        let to = out.pointer();
        let (parts, given) = (parts.as_ref().map_or(0, RawArray::pointer), given.map_or(0, RawArray::pointer));
        let split_argument = split.argument(over);
        match values {
            None => {
                let kernel = b.kernel(op, program, Instance::new("reduce", names.fold, &[x.dtype]))?;
                let from = x.pointer();
                let (outer, inner) = (self.outer.walk::<1>(op)?, self.inner.walk::<1>(op)?);
                // SAFETY: the arguments match the parameters of `reduce`. Both walks stay within `x`. For each position
                // of `outer` there is a result and, if values are given, a given value. If the work is split into
                // several parts, there is an accumulator for each part of each result.
                unsafe { b.launch(op, kernel, grid, &[&from, &to, &parts, &given, &outer, &inner, &split_argument])? };
            }
            Some(values) => {
                let dtypes: Vec<DType> =
                    std::iter::once(x.dtype).chain(values.inputs.iter().map(|input| input.dtype)).collect();
                let kernel = b.kernel(op, program, Instance::new("reduce_formula", names.of_formula, &dtypes))?;
                let pointers: Vec<u64> = values.inputs.iter().map(RawArray::pointer).collect();
                let outer = values.along(&self.kept);
                let inner = values.along(&in_memory(x, self.axes.clone()));
                macro_rules! launch {
                    ($($k:literal)*) => {
                        match pointers.len() {
                            $($k => {
                                let (outer, inner) = (outer.walk::<$k>(op)?, inner.walk::<$k>(op)?);
                                let first: [&dyn Argument; 7] =
                                    [&values.members, &to, &parts, &given, &outer, &inner, &split_argument];
                                let inputs = pointers.iter().map(|pointer| pointer as &dyn Argument);
                                let arguments: Vec<&dyn Argument> = first.into_iter().chain(inputs).collect();
                                // SAFETY: the arguments match the parameters of `reduce_formula`. Both walks stay
                                // within every input. Results, given values and accumulators have the sizes that
                                // `reduce` needs.
                                unsafe { b.launch(op, kernel, grid, &arguments)? }
                            })*
                            more => return Err(Error::argument(op, format!("one formula has {more} arrays, but must have at most 8"))),
                        }
                    };
                }
                launch!(1 2 3 4 5 6 7 8);
            }
        }
        if parts != 0 {
            let kernel = b.kernel(op, program, Instance::new("join_parts", names.fold, &[x.dtype]))?;
            let grid = Grid::over(results.saturating_mul(32));
            // SAFETY: the arguments match the parameters of `join_parts`; `reduce` has written all parts of all
            // results.
            unsafe {
                let (results, n) = (results as u64, split.parts as u64);
                b.launch(op, kernel, grid, &[&parts, &to, &results, &n, &over])?;
            }
        }
        Ok(out)
    }

    /// Returns whether the elements of adjacent results are closer together in memory than adjacent elements of the
    /// same result.
    fn columns(&self) -> bool {
        let nearest = |merged: &Merged| merged.strides(0).last().map_or(usize::MAX, |stride| stride.unsigned_abs());
        self.outputs() > 1 && (self.inputs() == 1 || nearest(&self.outer) < nearest(&self.inner))
    }

    /// Number of elements that a thread can load at once, as 16 bytes. It is 1 unless the elements of every result are
    /// contiguous and begin at a multiple of 16 bytes.
    fn elements_per_pack(&self) -> usize {
        let per_pack = 16 / self.x.dtype.size();
        let aligned = self.x.pointer().is_multiple_of(16)
            && self.outer.strides(0).iter().all(|stride| stride.unsigned_abs().is_multiple_of(per_pack));
        let follow = self.inner.is_flat(0) && self.inputs() >= per_pack;
        if aligned && follow && !self.columns() { per_pack } else { 1 }
    }

    /// Returns the results as an array of the reduced shape. `values` is the 1-D array that [`ReductionPlan::run`]
    /// returned.
    pub(crate) fn shaped(&self, values: RawArray, keepdims: bool) -> RawArray {
        let in_memory: Vec<usize> = self.kept.iter().map(|&axis| self.x.shape[axis]).collect();
        let memory_strides = rules::c_strides(&in_memory);
        let mut strides = vec![0; self.x.shape.len()];
        self.kept.iter().zip(memory_strides).for_each(|(&axis, stride)| strides[axis] = stride);
        let lengths = rules::reduced(&self.x.shape, &self.axes, keepdims);
        if !keepdims {
            let mut axis = 0;
            strides.retain(|_| {
                axis += 1;
                !self.axes.contains(&(axis - 1))
            });
        }
        values.view(lengths, strides, values.offset)
    }
}

/// Sorts axes of `x` by descending stride.
fn in_memory(x: &RawArray, mut axes: Vec<usize>) -> Vec<usize> {
    axes.sort_by_key(|&axis| Reverse(x.strides[axis].unsigned_abs()));
    axes
}

/// A division of the work into blocks and threads. The split depends only on sizes and never on the device, so that the
/// results do not depend on the device either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Split {
    /// Binary logarithm of the number of results that a block computes.
    width: u32,
    /// Whether adjacent threads work on adjacent results, and not on adjacent elements of one result.
    columns: bool,
    /// Whether a thread loads several elements at once.
    vectors: bool,
    /// Number of blocks that are needed for all results, if each result has one part.
    blocks: u32,
    /// Number of parts into which the elements of each result are split; each part has its own block.
    parts: u32,
    /// Number of elements per part.
    chunk: usize,
}

impl Split {
    /// Number of blocks that keep a large device busy.
    const ENOUGH: usize = 1024;

    /// Plans the reduction of `n` elements to each of `results` results. `columns` says whether the elements of
    /// adjacent results are closer together in memory than adjacent elements of the same result. `per_pack` is the
    /// number of elements that a thread loads at once.
    fn new(results: usize, n: usize, columns: bool, per_pack: usize) -> Split {
        // number of threads per result: each thread gets a few elements, and adjacent threads of a warp read adjacent
        // memory
        let wanted = n.div_ceil(per_pack.max(4)).next_power_of_two();
        let most = if !columns {
            256
        } else if results >= 1 << 18 {
            1
        } else {
            256 / results.next_power_of_two().min(32)
        };
        let group = wanted.clamp(1, most);
        let per_block = 256 / group;
        let blocks = results.div_ceil(per_block);
        let parts = Split::ENOUGH.div_ceil(blocks).min(n.div_ceil(16 * group)).clamp(1, Split::ENOUGH);
        let parts = if blocks >= Split::ENOUGH / 2 { 1 } else { parts };
        // a multiple of the number of elements in 16 bytes, for any dtype; the beginning of every part is then aligned
        let chunk = n.div_ceil(parts).max(1).next_multiple_of(16);
        Split {
            width: per_block.trailing_zeros(),
            columns,
            vectors: per_pack > 1,
            blocks: blocks.min(i32::MAX as usize) as u32,
            parts: n.div_ceil(chunk).max(1) as u32,
            chunk,
        }
    }

    fn argument(&self, over: f64) -> KernelSplit {
        KernelSplit {
            chunk: self.chunk as u64,
            over,
            width: self.width,
            columns: self.columns as u32,
            vectors: self.vectors as u32,
        }
    }
}

/// Counterpart of the C++ struct `Split` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct KernelSplit {
    chunk: u64,
    over: f64,
    width: u32,
    columns: u32,
    vectors: u32,
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for KernelSplit {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_parts_cover_everything_once() {
        let sizes = [1, 2, 3, 31, 32, 33, 255, 1000, 4096, 100_003, 1 << 20, (1 << 33) + 1];
        for results in sizes {
            for n in sizes.into_iter().chain([0]) {
                for (columns, per_pack) in [(false, 1), (false, 4), (false, 16), (true, 1)] {
                    let s = Split::new(results, n, columns, per_pack);
                    let what = format!("{results} results of {n}: {s:?}");
                    let width = 1 << s.width;
                    assert!(width <= 256, "{what}");
                    // if there are more blocks than a launch may have, each block computes several groups of results
                    let blocks = results.div_ceil(width).min(i32::MAX as usize);
                    assert_eq!(s.blocks as usize, blocks, "{what}");
                    assert!(s.chunk.is_multiple_of(16) && s.parts as usize * s.chunk >= n, "{what}");
                    assert!((s.parts as usize - 1) * s.chunk <= n && s.parts <= 1024, "{what}");
                    assert_eq!(s.vectors, per_pack > 1);
                }
            }
        }
    }

    #[test]
    fn work_is_spread() {
        let all = Split::new(1, 1 << 26, false, 4);
        assert_eq!((all.width, all.parts), (0, 1024), "one result: many parts, whole blocks");
        let rows = Split::new(1 << 20, 64, false, 4);
        assert_eq!((rows.width, rows.parts), (4, 1), "short rows: sixteen to a block");
        let few = Split::new(64, 1 << 20, true, 1);
        assert!(few.parts > 100, "few columns: many parts");
        let many = Split::new(1 << 20, 100, true, 1);
        assert_eq!((many.width, many.parts), (8, 1), "many columns: a thread for each");
    }
}
