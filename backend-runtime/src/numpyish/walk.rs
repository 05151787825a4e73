//! One walk over several operands of any layouts, broadcast to one shape.
//!
//! The result is cut into boxes of whole rows. In each box an operand is one slice, one scalar, or, where its layout is
//! odd, packed into a small buffer: so the loops of an op see only slices and scalars, whatever the layouts, and nothing
//! here is compiled more than once.

use super::{
    NdArray,
    buffer::{self, Shared},
    copy::{self, Axis},
};
use crate::{DType, Element, Result, shape};
use ndarray::IxDyn;
use std::{marker::PhantomData, mem::MaybeUninit, ops::Range};

/// An operand of a walk: an array or a scalar of any dtype.
#[derive(Clone)]
pub struct Source<'a> {
    start: *const u8,
    dtype: DType,
    shape: &'a [usize],
    strides: Vec<isize>,
}

// SAFETY: it stands for a shared borrow of elements, which are `Sync`.
unsafe impl Sync for Source<'_> {}

impl<'a> Source<'a> {
    /// An array.
    pub fn array<T: Element>(x: &'a NdArray<T>) -> Source<'a> {
        Source {
            start: x.as_ptr().cast(),
            dtype: T::DTYPE,
            shape: x.shape(),
            strides: x.strides().to_vec(),
        }
    }

    /// A scalar.
    pub fn scalar<T: Element>(x: &'a T) -> Source<'a> {
        Source {
            start: std::ptr::from_ref(x).cast(),
            dtype: T::DTYPE,
            shape: &[],
            strides: Vec::new(),
        }
    }

    /// The distance along every axis of a result of `ndim` axes: 0 where the operand is repeated.
    fn repeated(&self, ndim: usize) -> Vec<isize> {
        let new = ndim - self.shape.len();
        let own = self
            .shape
            .iter()
            .zip(&self.strides)
            .map(|(&d, &s)| if d == 1 { 0 } else { s });
        std::iter::repeat_n(0, new).chain(own).collect()
    }
}

/// What an operand is in one box.
#[derive(Clone, Copy)]
pub enum Input<'a, T> {
    /// One element per element of the result.
    Slice(&'a [T]),
    /// One element for all.
    Scalar(T),
}

/// An operand in one box, before its dtype is named.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    start: *const u8,
    dtype: DType,
    len: usize,
    scalar: bool,
    of: PhantomData<&'a u8>,
}

impl<'a> Part<'a> {
    /// No elements: what a walk begins with.
    const NONE: Part<'a> = Part {
        start: std::ptr::dangling(),
        dtype: DType::Bool,
        len: 0,
        scalar: false,
        of: PhantomData,
    };

    /// The operand's elements.
    ///
    /// # Panics
    /// If `T` is not the dtype of the source.
    #[inline]
    pub fn input<T: Element>(&self) -> Input<'a, T> {
        assert_eq!(T::DTYPE, self.dtype, "a source is read as what it is");
        let start: *const T = self.start.cast();
        // SAFETY: the walk points it to `len` elements, or to one, of this dtype, which live as long as the walk.
        unsafe {
            if self.scalar {
                Input::Scalar(*start)
            } else {
                Input::Slice(std::slice::from_raw_parts(start, self.len))
            }
        }
    }
}

/// Computes the part of a result in one box, of the operands in that box.
pub type Run<'r, U> = dyn Fn(&[Part<'_>], &mut [MaybeUninit<U>]) + Sync + 'r;

/// How many operands a walk takes.
const MOST: usize = 3;

/// Bytes of a buffer for one packed operand. Three of them lie on the stack.
const SCRATCH: usize = 1 << 15;

/// Rows of this length or more are worth a call each.
const LONG_ROW: usize = 128;

/// Elements of a box in which nothing is packed.
const SEGMENT: usize = 1 << 14;

/// The result of `run` over boxes of the broadcast operands: it gets the operands in the box, and where the result goes.
/// The layout of the result follows that of the operands, as NumPy's does.
///
/// # Safety
/// `run` writes every element of the slice it is given.
pub unsafe fn walk<U: Element>(
    op: &'static str,
    mut sources: Vec<Source<'_>>,
    run: &Run<'_, U>,
) -> Result<NdArray<U>> {
    let mut plan = Plan::new(op, &sources)?;
    let mut held = Vec::new();
    for i in 0..sources.len() {
        if plan.transposes_long_rows(i) {
            held.push(plan.reorder(op, &mut sources[i])?);
            plan = Plan::new(op, &sources)?;
        }
    }
    let shape: Vec<usize> = plan.order.iter().map(|&k| plan.shape[k]).collect();
    // SAFETY: the boxes cover the result, and `run` writes each.
    let array = unsafe {
        buffer::build(op, &shape, |out: &mut [MaybeUninit<U>]| {
            if out.is_empty() {
                return;
            }
            let out = Shared::new(out);
            plan.boxes(&sources, &|parts, range| run(parts, out.part(range)));
        })
    }?;
    Ok(if plan.order.is_sorted() {
        array
    } else {
        array.permuted_axes(IxDyn(&inverse(&plan.order)))
    })
}

/// The permutation that undoes `order`.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(i, &k)| back[k] = i);
    back
}

/// How an operand becomes a part of a box.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// The box is contiguous in the operand.
    Whole,
    /// The operand is one element in the box.
    One,
    /// The elements are copied together first.
    Pack,
}

/// The order of a walk, and its boxes.
struct Plan {
    /// Shape of the result.
    shape: Vec<usize>,
    /// The result's axes in the order of the walk, the innermost last.
    order: Vec<usize>,
    /// Lengths of the walk's axes: the result's, in order, neighbours joined where all operands allow it.
    dims: Vec<usize>,
    /// Distances of each operand along the walk's axes.
    strides: Vec<Vec<isize>>,
    /// A box is `step` indices of this axis, and all of the axes after it.
    axis: usize,
    step: usize,
    modes: Vec<Mode>,
}

impl Plan {
    fn new(op: &'static str, sources: &[Source<'_>]) -> Result<Plan> {
        let shape = match sources {
            [a, b] => shape::broadcast(op, a.shape, b.shape)?,
            _ => shape::broadcast_all(op, sources.iter().map(|s| s.shape))?,
        };
        // all sums and products below are of indices and lengths inside this size
        shape::count(op, &shape, 1)?;
        let full: Vec<Vec<isize>> = sources.iter().map(|s| s.repeated(shape.len())).collect();
        let order = memory_order(&full, shape.len());
        let (dims, strides) = joined(&shape, &order, &full);
        let widest = sources.iter().map(|s| s.dtype.size()).max().unwrap_or(1);
        let (axis, step) = box_of(&dims, &strides, SCRATCH / widest);
        let modes = strides
            .iter()
            .map(|s| mode(&dims[axis..], &s[axis..]))
            .collect();
        Ok(Plan {
            shape,
            order,
            dims,
            strides,
            axis,
            step,
            modes,
        })
    }

    /// Whether a box of this operand would be a long row read across memory, a cache line for each element.
    fn transposes_long_rows(&self, source: usize) -> bool {
        let (inner, strides) = (self.dims.len() - 1, &self.strides[source]);
        let nearer = |&s: &isize| s != 0 && s.unsigned_abs() < strides[inner].unsigned_abs();
        self.axis == inner && self.modes[source] == Mode::Pack && strides.iter().any(nearer)
    }

    /// Copies an operand so that it lies in the order of the walk; the memory is what is returned.
    fn reorder(
        &self,
        op: &'static str,
        source: &mut Source<'_>,
    ) -> Result<Vec<MaybeUninit<[u64; 2]>>> {
        let new = self.shape.len() - source.shape.len();
        let own: Vec<usize> = self
            .order
            .iter()
            .filter_map(|&k| k.checked_sub(new))
            .collect();
        let lengths: Vec<usize> = own.iter().map(|&k| source.shape[k]).collect();
        let n = shape::count(op, &lengths, source.dtype.size())?;
        let mut memory: Vec<MaybeUninit<[u64; 2]>> = buffer::vec(
            op,
            (n * source.dtype.size()).div_ceil(size_of::<[u64; 2]>()),
        )?;
        let mut strides = source.strides.clone();
        own.iter()
            .zip(shape::c_strides(&lengths))
            .for_each(|(&k, s)| strides[k] = s);
        let axes = source.shape.iter().zip(&source.strides).zip(&strides);
        let axes = axes
            .map(|((&len, &from), &to)| Axis { len, from, to })
            .collect();
        let start: *mut u8 = memory.as_mut_ptr().cast();
        // SAFETY: the source's elements may be read; the memory has room for them, aligned for any dtype.
        unsafe { copy::bits(source.dtype, axes, source.start, start) };
        (source.start, source.strides) = (start, strides);
        Ok(memory)
    }

    /// Calls `run` for every box, on several threads where that pays.
    fn boxes(&self, sources: &[Source<'_>], run: &(dyn Fn(&[Part<'_>], Range<usize>) + Sync)) {
        let segments = self.dims[self.axis].div_ceil(self.step);
        let outer: usize = self.dims[..self.axis].iter().product();
        let rest: usize = self.dims[self.axis + 1..].iter().product();
        buffer::parallel_timed(outer * segments, self.step * rest, |range| {
            let mut scratch = [[const { MaybeUninit::<[u64; 2]>::uninit() }; SCRATCH / 16]; MOST];
            let mut at = Position::new(self, range.start / segments);
            for i in range {
                let (row, first) = (i / segments, i % segments * self.step);
                at.advance_to(row);
                let len = self.step.min(self.dims[self.axis] - first);
                let begin = (row * self.dims[self.axis] + first) * rest;
                let mut parts = [Part::NONE; MOST];
                for (k, scratch) in scratch.iter_mut().enumerate().take(sources.len()) {
                    let offset = at.offsets[k] + first as isize * self.strides[k][self.axis];
                    // SAFETY: the offset is that of an index of the walk.
                    parts[k] = unsafe { self.part(&sources[k], k, offset, len * rest, scratch) };
                }
                run(&parts[..sources.len()], begin..begin + len * rest);
            }
        });
    }

    /// An operand in the box of `n` elements that begins `offset` elements from its start.
    ///
    /// # Safety
    /// The offset is that of an index of the walk, and the box lies in the result.
    unsafe fn part<'a>(
        &self,
        source: &Source<'a>,
        k: usize,
        offset: isize,
        n: usize,
        scratch: &'a mut [MaybeUninit<[u64; 2]>],
    ) -> Part<'a> {
        // SAFETY: as the caller promises.
        let start = unsafe { source.start.offset(offset * source.dtype.size() as isize) };
        let part = Part {
            start,
            dtype: source.dtype,
            len: n,
            scalar: self.modes[k] == Mode::One,
            of: PhantomData,
        };
        if self.modes[k] != Mode::Pack {
            return part;
        }
        assert!(
            n * source.dtype.size() <= size_of_val(scratch),
            "a box fits its buffer"
        );
        let mut left = n;
        let mut to = n as isize;
        let mut axes = Vec::with_capacity(self.dims.len() - self.axis);
        for i in self.axis..self.dims.len() {
            let inner: usize = self.dims[i + 1..].iter().product();
            let len = left / inner;
            to /= len as isize;
            left = inner;
            axes.push(Axis {
                len,
                from: self.strides[k][i],
                to,
            });
        }
        let packed: *mut u8 = scratch.as_mut_ptr().cast();
        // SAFETY: the box's elements may be read; the buffer has room for them, as just checked.
        unsafe { copy::bits(source.dtype, axes, start, packed) };
        Part {
            start: packed,
            ..part
        }
    }
}

/// The axes in the order in which the operands lie in memory: those of the operand with most axes first, C order where
/// nothing decides.
fn memory_order(strides: &[Vec<isize>], ndim: usize) -> Vec<usize> {
    let mut fullest: Vec<&Vec<isize>> = strides.iter().collect();
    fullest.sort_by_key(|s| std::cmp::Reverse(s.iter().filter(|&&s| s != 0).count()));
    let key = |k: usize| {
        fullest
            .iter()
            .map(|s| s[k].unsigned_abs())
            .find(|&s| s != 0)
            .unwrap_or(usize::MAX)
    };
    let mut order: Vec<usize> = (0..ndim).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(key(k)));
    order
}

/// The axes in order, without those of length 1, neighbours joined that are one axis in every operand. At least one.
fn joined(shape: &[usize], order: &[usize], full: &[Vec<isize>]) -> (Vec<usize>, Vec<Vec<isize>>) {
    let mut dims: Vec<usize> = Vec::with_capacity(order.len());
    let mut strides: Vec<Vec<isize>> = vec![Vec::with_capacity(order.len()); full.len()];
    for &k in order.iter().filter(|&&k| shape[k] != 1) {
        let joins = |(s, full): (&Vec<isize>, &Vec<isize>)| {
            s.last() == Some(&(full[k] * shape[k] as isize))
        };
        if !dims.is_empty() && strides.iter().zip(full).all(joins) {
            *dims.last_mut().expect("just checked") *= shape[k];
            strides
                .iter_mut()
                .zip(full)
                .for_each(|(s, full)| *s.last_mut().expect("as many as dims") = full[k]);
        } else {
            dims.push(shape[k]);
            strides
                .iter_mut()
                .zip(full)
                .for_each(|(s, full)| s.push(full[k]));
        }
    }
    if dims.is_empty() {
        dims.push(1);
        strides.iter_mut().for_each(|s| s.push(0));
    }
    (dims, strides)
}

/// Which axis is cut into boxes, and how many of its indices are in one: at most `room` elements where operands are packed.
fn box_of(dims: &[usize], strides: &[Vec<isize>], room: usize) -> (usize, usize) {
    let mut axis = dims.len() - 1;
    let long_rows = dims.len() == 1 || dims[axis] >= LONG_ROW;
    if long_rows && strides.iter().all(|s| matches!(s[axis], 0 | 1)) {
        return (axis, dims[axis].clamp(1, SEGMENT));
    }
    let mut rest = 1;
    while axis > 0 && rest * dims[axis] <= room {
        rest *= dims[axis];
        axis -= 1;
    }
    (axis, (room / rest.max(1)).clamp(1, dims[axis].max(1)))
}

/// What an operand is in a box of these axes.
fn mode(dims: &[usize], strides: &[isize]) -> Mode {
    let mut expected = 1;
    let dense = dims
        .iter()
        .zip(strides)
        .rev()
        .all(|(&d, &s)| std::mem::replace(&mut expected, s * d as isize) == s);
    match () {
        () if strides.iter().all(|&s| s == 0) => Mode::One,
        () if dense => Mode::Whole,
        () => Mode::Pack,
    }
}

/// Where a walk is: the index of the axes outside the boxes, as one number and as every operand's offset.
struct Position<'a> {
    plan: &'a Plan,
    row: usize,
    index: Vec<usize>,
    offsets: [isize; MOST],
}

impl<'a> Position<'a> {
    fn new(plan: &'a Plan, row: usize) -> Position<'a> {
        let mut index = vec![0; plan.axis];
        let mut left = row;
        for (i, &d) in index.iter_mut().zip(&plan.dims).rev() {
            *i = left % d;
            left /= d;
        }
        let offset = |s: &Vec<isize>| index.iter().zip(s).map(|(&i, &s)| i as isize * s).sum();
        let mut offsets = [0; MOST];
        offsets
            .iter_mut()
            .zip(&plan.strides)
            .for_each(|(o, s)| *o = offset(s));
        Position {
            plan,
            row,
            index,
            offsets,
        }
    }

    /// Moves to a row that is this one or the next.
    fn advance_to(&mut self, row: usize) {
        if self.row == row {
            return;
        }
        self.row = row;
        for k in (0..self.index.len()).rev() {
            self.index[k] += 1;
            let wraps = self.index[k] == self.plan.dims[k];
            let steps = if wraps {
                1 - self.plan.dims[k] as isize
            } else {
                1
            };
            self.offsets
                .iter_mut()
                .zip(&self.plan.strides)
                .for_each(|(o, s)| *o += steps * s[k]);
            if !wraps {
                return;
            }
            self.index[k] = 0;
        }
    }
}
