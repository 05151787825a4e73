//! Sorts rows of integer keys: short rows in shared memory, and longer rows by radix sort. Each element has a key, and
//! the keys have the same order as the elements.

use crate::{
    Cuda,
    array::RawArray,
    copy::{copy_into, moved},
    kernel::{Argument, Grid},
    program::{Instance, KernelList, MOVERS, Program, ProgramSource, mover},
    walk::{Merged, Walk},
};
use backend_core::{DType, DTypeKind, Error, Result};

/// The kernels that sort, and the kernels that use sorted keys.
pub(crate) static PROGRAM: Program = Program {
    name: "sort",
    source: ProgramSource::File(concat!(
        include_str!("../kernels/locate.cuh"),
        include_str!("../kernels/keys.cuh"),
        include_str!("../kernels/sort.cuh")
    )),
};

/// The instances of the kernels in `PROGRAM`, for the list of all kernels in [`check`](crate::check).
pub(crate) const KERNELS: KernelList = (&PROGRAM, || {
    let ordered = || DType::ALL.into_iter().filter(|dtype| dtype.kind() != DTypeKind::Complex);
    let keys = || [DType::UInt32, DType::UInt64];
    let mut all = vec![Instance::new("sum_tiles", "", &[])];
    all.extend(["inverse", "run_lengths"].map(|name| Instance::new(name, "", &[])));
    for name in ["encode", "decode", "begins", "search"] {
        all.extend(ordered().map(|dtype| Instance::new(name, "", &[dtype])));
    }
    for name in ["unknown_parts", "pairs_begin"] {
        all.extend([DType::Float32, DType::Float64].map(|dtype| Instance::new(name, "", &[dtype])));
    }
    for name in ["outside", "quantiles"] {
        let real = ordered().filter(|dtype| dtype.kind() == DTypeKind::Real);
        all.extend(real.map(|dtype| Instance::new(name, "", &[dtype])));
    }
    all.extend(MOVERS.map(|dtype| Instance::new("gather", "", &[dtype])));
    for key in keys() {
        all.push(Instance::new("count_digits", "", &[key]));
        all.extend(
            [true, false]
                .into_iter()
                .flat_map(|pairs| ["sort_short", "scatter"].map(|name| key_instance(name, key, pairs))),
        );
    }
    all
});

/// The kernel for keys of dtype `key`. If `pairs` is true, the position of each element is moved together with its key.
fn key_instance(name: &'static str, key: DType, pairs: bool) -> Instance {
    let tag = match (key, pairs) {
        (DType::UInt32, true) => "u32, true",
        (DType::UInt32, false) => "u32, false",
        (_, true) => "u64, true",
        (_, false) => "u64, false",
    };
    Instance::new(name, tag, &[])
}

/// Length of the longest row that is sorted in a block's shared memory. The kernels have the same constant.
const SHORT: usize = 2048;

/// Number of keys that a block handles at a time. The two constants below are the number of values of a digit in the
/// radix sort, and the number of its bits. The kernels have the same constants.
const TILE: usize = 4096;
const DIGITS: usize = 256;
const DIGIT_BITS: usize = 8;

/// Sorted rows: the sorted keys, and optionally the original position of each element in its row.
pub(crate) struct Rows {
    op: &'static str,
    /// The unsorted elements. Each run of `length` elements in C order is a row.
    x: RawArray,
    walk: Walk<1>,
    rows: usize,
    length: usize,
    descending: bool,
    keys: RawArray,
    /// For each sorted key, the original position of its element in the row, if requested.
    order: Option<RawArray>,
}

/// The information about the sorted elements that the caller needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Only the values. The sign of a zero and the bits of a NaN may be lost.
    Values,
    /// The values and the original positions of the elements.
    Order,
}

impl Rows {
    /// Sorts rows of `x`: each run of `length` elements in C order is a row. `length` must divide the number of
    /// elements.
    pub(crate) fn sorted(
        b: &Cuda,
        op: &'static str,
        x: &RawArray,
        length: usize,
        descending: bool,
        wanted: Wanted,
    ) -> Result<Rows> {
        b.check(op, x)?;
        let n = x.size();
        if n > 0 && u32::try_from(length).is_err() {
            return Err(Error::shape(op, &x.shape, "must have at most 2^32 - 1 elements to be sorted on this backend"));
        }
        let walk = Merged::new(&[x]).walk::<1>(op)?;
        let rows = n.checked_div(length).unwrap_or(0);
        let keys = b.uninit_raw(op, key_dtype(x.dtype), &[rows, length])?;
        let order = match wanted {
            Wanted::Order => Some(b.uninit_raw(op, DType::UInt32, &[rows, length])?),
            Wanted::Values => None,
        };
        let mut sorted = Rows { op, x: x.clone(), walk, rows, length, descending, keys, order };
        if n == 0 {
            return Ok(sorted);
        }
        let order = sorted.order_pointer();
        let arguments: [&dyn Argument; 6] =
            [&x.pointer(), &sorted.walk, &sorted.keys.pointer(), &order, &(length as u64), &(descending as u32)];
        let encode = b.kernel(op, &PROGRAM, Instance::new("encode", "", &[x.dtype]))?;
        // SAFETY: the arguments match the parameters of `encode`; there are a key and a position for each element.
        unsafe { b.launch(op, encode, Grid::over(n), &arguments)? };
        if length <= SHORT {
            sorted.sort_short(b)?;
        } else {
            sorted.sort_long(b)?;
        }
        Ok(sorted)
    }

    /// The sorted keys, with shape (rows, length).
    pub(crate) fn keys(&self) -> &RawArray {
        &self.keys
    }

    /// Returns the original positions of the elements in their rows, with shape (rows, length). The positions are
    /// undefined unless [`Wanted::Order`] was requested.
    pub(crate) fn order(&self, b: &Cuda) -> Result<RawArray> {
        match &self.order {
            Some(order) => Ok(order.clone()),
            None => b.uninit_raw(self.op, DType::UInt32, &[self.rows, self.length]),
        }
    }

    /// Address of the original positions; 0 if they were not requested.
    pub(crate) fn order_pointer(&self) -> u64 {
        self.order.as_ref().map_or(0, RawArray::pointer)
    }

    fn key_kernel(&self, name: &'static str) -> Instance {
        key_instance(name, self.keys.dtype, self.order.is_some())
    }

    fn sort_short(&self, b: &Cuda) -> Result<()> {
        let padded = self.length.next_power_of_two();
        let kernel = b.kernel(self.op, &PROGRAM, self.key_kernel("sort_short"))?;
        let blocks = self.rows.div_ceil(SHORT / padded).min(i32::MAX as usize);
        let grid = Grid { blocks: [blocks as u32, 1, 1], threads: Grid::THREADS, shared: 0 };
        let (keys, order, rows) = (self.keys.pointer(), self.order_pointer(), self.rows as u64);
        let (length, padded) = (self.length as u32, padded as u32);
        // SAFETY: the arguments match the parameters of `sort_short`; a row fits in a block's shared memory.
        unsafe { b.launch(self.op, kernel, grid, &[&keys, &order, &rows, &length, &padded]) }
    }

    fn sort_long(&mut self, b: &Cuda) -> Result<()> {
        let op = self.op;
        let tiles = self.length.div_ceil(TILE);
        let digits = self.rows * DIGITS;
        let counts = b.uninit_raw(op, DType::UInt32, &[digits, tiles])?;
        let totals = b.uninit_raw(op, DType::UInt32, &[digits])?;
        let shape = [self.rows, self.length];
        let mut spare_keys = b.uninit_raw(op, self.keys.dtype, &shape)?;
        let mut spare_order = match self.order {
            Some(_) => Some(b.uninit_raw(op, DType::UInt32, &shape)?),
            None => None,
        };
        let count = b.kernel(op, &PROGRAM, Instance::new("count_digits", "", &[self.keys.dtype]))?;
        let sum = b.kernel(op, &PROGRAM, Instance::new("sum_tiles", "", &[]))?;
        let scatter = b.kernel(op, &PROGRAM, self.key_kernel("scatter"))?;
        let grid = |blocks: usize| Grid {
            blocks: [blocks.min(i32::MAX as usize) as u32, 1, 1],
            threads: Grid::THREADS,
            shared: 0,
        };
        let (rows, length) = (self.rows as u64, self.length as u64);
        let (counts, totals) = (counts.pointer(), totals.pointer());
        for pass in 0..self.x.dtype.size() {
            let shift = (pass * DIGIT_BITS) as u32;
            let (keys, order) = (self.keys.pointer(), self.order_pointer());
            let (to, order_to) = (spare_keys.pointer(), spare_order.as_ref().map_or(0, RawArray::pointer));
            let all = grid(self.rows * tiles);
            // SAFETY: the arguments match the parameters of the kernels. There is a count for each row, digit and tile,
            // and a total for each row and digit. Keys and positions are read from one pair of arrays and written to
            // another pair.
            unsafe {
                b.launch(op, &count, all, &[&keys, &counts, &rows, &length, &shift])?;
                b.launch(op, &sum, grid(digits), &[&counts, &totals, &(digits as u64), &(tiles as u64)])?;
                let arguments: [&dyn Argument; 9] =
                    [&keys, &order, &to, &order_to, &counts, &totals, &rows, &length, &shift];
                b.launch(op, &scatter, all, &arguments)?;
            }
            std::mem::swap(&mut self.keys, &mut spare_keys);
            std::mem::swap(&mut self.order, &mut spare_order);
        }
        Ok(())
    }

    /// Returns the elements of `x`, another contiguous array of the same size, in the sorted order of these rows.
    pub(crate) fn gathered(&self, b: &Cuda, x: &RawArray) -> Result<RawArray> {
        let out = b.uninit_raw(self.op, x.dtype, &[self.rows, self.length])?;
        if out.size() > 0 {
            let walk = Merged::new(&[x]).walk::<1>(self.op)?;
            self.gather(b, x, &walk, &out)?;
        }
        Ok(out)
    }

    /// Writes the elements of `x` to `out` in the order of the sorted keys. `walk` traverses `x` in C order.
    fn gather(&self, b: &Cuda, x: &RawArray, walk: &Walk<1>, out: &RawArray) -> Result<()> {
        let (from, order, to) = (moved(x).pointer(), self.order_pointer(), out.pointer());
        let gather = b.kernel(self.op, &PROGRAM, Instance::new("gather", "", &[mover(x.dtype)]))?;
        let length = self.length as u64;
        // SAFETY: the arguments match the parameters of `gather`; positions are within the rows.
        unsafe { b.launch(self.op, gather, Grid::over(out.size()), &[&from, walk, &order, &to, &length]) }
    }

    /// The elements in sorted order, with shape (rows, length).
    pub(crate) fn values(&self, b: &Cuda) -> Result<RawArray> {
        let out = b.uninit_raw(self.op, self.x.dtype, &[self.rows, self.length])?;
        let n = out.size();
        if n == 0 {
            return Ok(out);
        }
        match &self.order {
            Some(_) => self.gather(b, &self.x, &self.walk, &out)?,
            None => {
                let to = out.pointer();
                let decode = b.kernel(self.op, &PROGRAM, Instance::new("decode", "", &[self.x.dtype]))?;
                let (keys, n64, descending) = (self.keys.pointer(), n as u64, self.descending as u32);
                // SAFETY: the arguments match the parameters of `decode`; there is a key for each element.
                unsafe { b.launch(self.op, decode, Grid::over(n), &[&keys, &to, &n64, &descending])? };
            }
        }
        Ok(out)
    }

    /// The original positions of the elements in their rows, converted to `dtype`, with shape (rows, length).
    pub(crate) fn order_as(&self, b: &Cuda, dtype: DType) -> Result<RawArray> {
        let out = b.uninit_raw(self.op, dtype, &[self.rows, self.length])?;
        if let Some(order) = &self.order {
            copy_into(b, self.op, order, &out)?;
        }
        Ok(out)
    }
}

/// The dtype of the keys for elements of a dtype.
fn key_dtype(dtype: DType) -> DType {
    if dtype.size() == 8 { DType::UInt64 } else { DType::UInt32 }
}
