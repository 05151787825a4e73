//! Collective calls for arrays of any backend, for programs in which each rank has its own arrays.

use crate::{Layout, Sharded, ShardedArray, array::LocalPart, failed};
use backends::{
    Arrays, Backend, Element, Error, HostArray, Result,
    runtime::{ArrayAttributes, bytes, rules},
};
use backends_world::{DType, Join, Pending, World};
use ndarray::{Axis, IxDyn};
use std::{marker::PhantomData, ops::Range};

/// The collective calls of a [`World`], for arrays of a backend instead of buffers of bytes.
///
/// Each rank passes arrays of its own backend, and gets new arrays. All ranks must make the same calls in the same
/// order, with the same dtype. [`Join::Max`] and [`Join::Min`] return NaN if any element is NaN; they are not defined
/// for complex numbers. [`Join::And`] and [`Join::Or`] are defined for bool.
///
/// ```
/// use backends::prelude::*;
/// use backends_sharded::{Collectives, world::{Join, threads}};
///
/// let sums = threads::run(3, |world| {
///     let b = Numpyish::new();
///     let x = b.full([2], world.rank() as f64)?;
///     b.to_vec(world.all_reduce_array(&b, &x, Join::Sum)?)
/// });
/// assert_eq!(sums[0], Ok(vec![3.0, 3.0]));
/// ```
pub trait Collectives {
    /// Joins the arrays of all ranks elementwise, for example by adding them. Every rank gets the result. All arrays
    /// must have the same shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes differ; [`Error::Library`] if the join is not defined for the dtype, or if a rank
    /// is lost.
    fn all_reduce_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, join: Join) -> Result<B::Array<T>>;

    /// Like [`Collectives::all_reduce_array`], but with a function that joins two elements. The function is applied in
    /// the order of the ranks.
    ///
    /// # Errors
    /// The errors of [`Collectives::all_reduce_array`].
    fn all_reduce_array_by<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        join: impl Fn(T, T) -> T,
    ) -> Result<B::Array<T>>;

    /// Joins the arrays of all ranks elementwise. Only rank `root` gets the result.
    ///
    /// # Errors
    /// The errors of [`Collectives::all_reduce_array`]; [`Error::Library`] if rank `root` does not exist.
    fn reduce_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        join: Join,
        root: usize,
    ) -> Result<Option<B::Array<T>>>;

    /// Joins the arrays of all ranks elementwise. The result is cut along an axis by [`cuts`], and rank r gets part r.
    ///
    /// # Errors
    /// The errors of [`Collectives::all_reduce_array`]; [`Error::Axis`] if the axis does not exist.
    fn reduce_scatter_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        axis: usize,
        join: Join,
    ) -> Result<B::Array<T>>;

    /// Computes running joins, such as running sums: rank r gets the elementwise join of the arrays of ranks 0 to r,
    /// including rank r.
    ///
    /// # Errors
    /// The errors of [`Collectives::all_reduce_array`].
    fn scan_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, join: Join) -> Result<B::Array<T>>;

    /// Like [`Collectives::scan_array`], but rank r gets the join of the arrays of ranks 0 to r - 1. Rank 0 gets the
    /// identity of the join (0 for a sum).
    ///
    /// # Errors
    /// The errors of [`Collectives::all_reduce_array`].
    fn exscan_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, join: Join) -> Result<B::Array<T>>;

    /// Sends the array of rank `root` to every rank. The arrays of the other ranks are ignored.
    ///
    /// # Errors
    /// [`Error::Argument`] if rank `root` passes no array; [`Error::Library`] if the communication fails.
    fn broadcast_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: Option<&B::Array<T>>,
        root: usize,
    ) -> Result<B::Array<T>>;

    /// Concatenates the arrays of all ranks along an axis. The length of this axis may differ between the ranks. Every
    /// rank gets the result.
    ///
    /// # Errors
    /// [`Error::Shapes`] if the lengths of other axes differ, [`Error::Axis`] if the axis does not exist,
    /// [`Error::Library`] if the communication fails.
    fn all_gather_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, axis: usize) -> Result<B::Array<T>>;

    /// Concatenates the arrays of all ranks along an axis. Only rank `root` gets the result.
    ///
    /// # Errors
    /// The errors of [`Collectives::all_gather_array`].
    fn gather_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        axis: usize,
        root: usize,
    ) -> Result<Option<B::Array<T>>>;

    /// Cuts the array of rank `root` along an axis by [`cuts`], and sends part r to rank r. The arrays of the other
    /// ranks are ignored.
    ///
    /// # Errors
    /// The errors of [`Collectives::broadcast_array`]; [`Error::Axis`] if the axis does not exist.
    fn scatter_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: Option<&B::Array<T>>,
        axis: usize,
        root: usize,
    ) -> Result<B::Array<T>>;

    /// Cuts each rank's array along the axis `cut`, and sends part r to rank r. Each rank gets the parts that it
    /// receives, concatenated along the axis `join`.
    ///
    /// # Errors
    /// [`Error::Axis`] if an axis does not exist, [`Error::Shapes`] if the parts cannot be concatenated,
    /// [`Error::Library`] if the communication fails.
    fn all_to_all_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        cut: usize,
        join: usize,
    ) -> Result<B::Array<T>>;

    /// Sends an array to one rank, which must receive it. The other ranks need not call this.
    ///
    /// # Errors
    /// [`Error::Library`] if `to` is not a rank, or is this rank.
    fn send_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, to: usize) -> Result<()>;

    /// Receives an array, together with its shape, from one rank.
    ///
    /// # Errors
    /// [`Error::Library`] if `from` is not a rank, or is this rank.
    fn recv_array<B: Arrays, T: Element>(&self, b: &B, from: usize) -> Result<B::Array<T>>;

    /// Starts [`Collectives::all_reduce_array`]. The method `wait` of the returned value returns the result.
    ///
    /// # Errors
    /// The errors of [`Collectives::all_reduce_array`].
    fn start_all_reduce_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        join: Join,
    ) -> Result<PendingArray<B, T>>;
}

/// The pending result of a call that was started. Dropping it waits for the end of the call.
#[must_use = "the call has not ended before it is waited for"]
pub struct PendingArray<B, T> {
    b: B,
    op: &'static str,
    shape: Vec<usize>,
    pending: Pending,
    of: PhantomData<fn() -> T>,
}

impl<B: Arrays, T: Element> PendingArray<B, T> {
    /// Waits for the array and returns it.
    ///
    /// # Errors
    /// Errors of the call.
    pub fn wait(self) -> Result<B::Array<T>> {
        let elements = self.pending.wait().map_err(failed(self.op))?;
        self.b.from_ndarray(bytes::to_array(self.op, &self.shape, &elements)?)
    }

    /// Returns whether the array has arrived.
    ///
    /// # Errors
    /// Errors of the call.
    pub fn is_done(&mut self) -> Result<bool> {
        self.pending.is_done().map_err(failed(self.op))
    }
}

/// Cuts an axis of length `n` into `ranks` ranges, one for each rank. If the ranges cannot have equal lengths, the
/// first ones are longer by one, as in `np.array_split`.
pub fn cuts(n: usize, ranks: usize) -> Vec<Range<usize>> {
    let ranks = ranks.max(1);
    let at = |r: usize| n / ranks * r + r.min(n % ranks);
    (0..ranks).map(|r| at(r)..at(r + 1)).collect()
}

/// Maximum number of axes of an array that is sent. A shape is sent as the number of axes, followed by the lengths of
/// the axes.
const AXES: usize = 32;

fn packed_shape(op: &'static str, shape: &[usize]) -> Result<[u64; AXES + 1]> {
    let mut packed = [0; AXES + 1];
    if shape.len() > AXES {
        return Err(Error::shape(op, shape, format!("must have at most {AXES} axes to be exchanged by ranks")));
    }
    packed[0] = shape.len() as u64;
    packed[1..].iter_mut().zip(shape).for_each(|(to, &n)| *to = n as u64);
    Ok(packed)
}

fn unpacked_shape(packed: &[u64]) -> Vec<usize> {
    packed[1..].iter().take(packed[0] as usize).map(|&n| n as usize).collect()
}

/// Gathers the shapes that all ranks pass, in the order of the ranks. Collective: all ranks must call this.
fn shapes(world: &World, op: &'static str, shape: &[usize]) -> Result<Vec<Vec<usize>>> {
    let own = packed_shape(op, shape)?;
    let counts = vec![AXES + 1; world.size()];
    let all = bytes::written::<u64>(op, (AXES + 1) * world.size(), |to| {
        world.all_gather(bytes::as_bytes(&own), to, &counts, DType::UInt64).map_err(failed(op))
    })?;
    Ok(all.chunks(AXES + 1).map(unpacked_shape).collect())
}

/// Returns this rank's elements in C order, or an error if the shapes of the ranks' arrays differ.
fn alike<B: Arrays, T: Element>(world: &World, op: &'static str, b: &B, x: &B::Array<T>) -> Result<Vec<T>> {
    let all = shapes(world, op, x.shape())?;
    match all.iter().position(|shape| shape != &all[0]) {
        Some(rank) => {
            Err(Error::shape(op, &all[rank], format!("of rank {rank} must be {:?}, the shape of rank 0", all[0])))
        }
        None => b.to_vec(x),
    }
}

/// Makes an array from elements in C order.
fn shaped<B: Arrays, T: Element>(op: &'static str, b: &B, shape: &[usize], elements: Vec<T>) -> Result<B::Array<T>> {
    b.from_ndarray(crate::tree::shaped(op, shape, elements)?)
}

/// Concatenates arrays of these shapes along an axis. `elements` contains their elements, one array after another.
fn joined<B: Arrays, T: Element>(
    op: &'static str,
    b: &B,
    shapes: &[Vec<usize>],
    axis: usize,
    elements: &[T],
) -> Result<B::Array<T>> {
    let all: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
    let (axis, shape) = rules::joined(op, &all, axis.try_into().unwrap_or(isize::MAX), size_of::<T>())?;
    let mut out = HostArray::<T>::default(IxDyn(&shape));
    let (mut at, mut row) = (0, 0);
    for shape in shapes {
        let len: usize = shape.iter().product();
        let part = ndarray::ArrayViewD::from_shape(IxDyn(shape), &elements[at..at + len]);
        let part = part.map_err(|_| Error::shape(op, shape, "does not match the elements received"))?;
        out.slice_axis_mut(Axis(axis), (row..row + shape[axis]).into()).assign(&part);
        (at, row) = (at + len, row + shape[axis]);
    }
    b.from_ndarray(out)
}

/// Cuts an array along an axis into one part per rank. Returns the elements, one part after another, and the shapes of
/// the parts.
fn cut<B: Arrays, T: Element>(
    op: &'static str,
    b: &B,
    x: &B::Array<T>,
    axis: usize,
    ranks: usize,
) -> Result<(Vec<T>, Vec<Vec<usize>>)> {
    let axis = rules::axis(op, axis.try_into().unwrap_or(isize::MAX), x.ndim())?;
    let host = b.to_ndarray(x)?;
    let mut elements = rules::list(op, host.len())?;
    let shapes = cuts(host.shape()[axis], ranks).into_iter().map(|rows| {
        let part = host.slice_axis(Axis(axis), rows.into());
        elements.extend(part.iter().copied());
        part.shape().to_vec()
    });
    let shapes = shapes.collect();
    Ok((elements, shapes))
}

fn sizes(shapes: &[Vec<usize>]) -> Vec<usize> {
    shapes.iter().map(|shape| shape.iter().product()).collect()
}

/// Copies elements, lets `call` change the bytes of the copy in place, and returns the changed elements.
fn changed<T: Element>(
    op: &'static str,
    elements: &[T],
    call: impl FnOnce(&mut [u8], DType) -> backends_world::Result<()>,
) -> Result<Vec<T>> {
    let dtype = T::DTYPE;
    bytes::written(op, elements.len(), |to| {
        to.copy_from_slice(bytes::as_bytes(elements));
        call(to, dtype).map_err(failed(op))
    })
}

impl Collectives for World {
    fn all_reduce_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, join: Join) -> Result<B::Array<T>> {
        let op = "all_reduce";
        let own = alike(self, op, b, x)?;
        shaped(op, b, x.shape(), changed(op, &own, |to, dtype| self.all_reduce(to, dtype, join))?)
    }

    fn all_reduce_array_by<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        join: impl Fn(T, T) -> T,
    ) -> Result<B::Array<T>> {
        let op = "all_reduce";
        let own = alike(self, op, b, x)?;
        let (counts, dtype) = (vec![own.len(); self.size()], T::DTYPE);
        let all = bytes::written(op, own.len() * self.size(), |to| {
            self.all_gather(bytes::as_bytes(&own), to, &counts, dtype).map_err(failed(op))
        })?;
        shaped(op, b, x.shape(), crate::tree::joined(all, own.len(), join))
    }

    fn reduce_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        join: Join,
        root: usize,
    ) -> Result<Option<B::Array<T>>> {
        let op = "reduce";
        let own = alike(self, op, b, x)?;
        let all = changed(op, &own, |to, dtype| self.reduce(to, dtype, join, root))?;
        (self.rank() == root).then(|| shaped(op, b, x.shape(), all)).transpose()
    }

    fn reduce_scatter_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        axis: usize,
        join: Join,
    ) -> Result<B::Array<T>> {
        let op = "reduce_scatter";
        alike(self, op, b, x)?;
        let (own, shapes) = cut(op, b, x, axis, self.size())?;
        let (counts, dtype) = (sizes(&shapes), T::DTYPE);
        let mine = bytes::written(op, counts[self.rank()], |to| {
            self.reduce_scatter(bytes::as_bytes(&own), to, &counts, dtype, join).map_err(failed(op))
        })?;
        shaped(op, b, &shapes[self.rank()], mine)
    }

    fn scan_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, join: Join) -> Result<B::Array<T>> {
        let op = "scan";
        let own = alike(self, op, b, x)?;
        shaped(op, b, x.shape(), changed(op, &own, |to, dtype| self.scan(to, dtype, join))?)
    }

    fn exscan_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, join: Join) -> Result<B::Array<T>> {
        let op = "exscan";
        let own = alike(self, op, b, x)?;
        shaped(op, b, x.shape(), changed(op, &own, |to, dtype| self.exscan(to, dtype, join))?)
    }

    fn broadcast_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: Option<&B::Array<T>>,
        root: usize,
    ) -> Result<B::Array<T>> {
        let op = "broadcast";
        // if the root has no array, it reports this to all ranks, which would otherwise wait for the array
        let given = x.filter(|_| self.rank() == root);
        let mut shape = [u64::MAX; AXES + 1];
        if let Some(x) = given {
            shape = packed_shape(op, x.shape())?;
        }
        let shape = changed(op, &shape, |to, dtype| self.broadcast(to, dtype, root))?;
        if shape[0] == u64::MAX {
            return Err(Error::argument(op, format!("rank {root} must give an array")));
        }
        let shape = unpacked_shape(&shape);
        let own = given.map(|x| b.to_vec(x)).transpose()?;
        let dtype = T::DTYPE;
        let all = bytes::written::<T>(op, rules::count(op, &shape, size_of::<T>())?, |to| {
            if let Some(own) = &own {
                to.copy_from_slice(bytes::as_bytes(own));
            }
            self.broadcast(to, dtype, root).map_err(failed(op))
        })?;
        shaped(op, b, &shape, all)
    }

    fn all_gather_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, axis: usize) -> Result<B::Array<T>> {
        let op = "all_gather";
        let shapes = shapes(self, op, x.shape())?;
        let (counts, own, dtype) = (sizes(&shapes), b.to_vec(x)?, T::DTYPE);
        let all = bytes::written::<T>(op, counts.iter().sum(), |to| {
            self.all_gather(bytes::as_bytes(&own), to, &counts, dtype).map_err(failed(op))
        })?;
        joined(op, b, &shapes, axis, &all)
    }

    fn gather_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        axis: usize,
        root: usize,
    ) -> Result<Option<B::Array<T>>> {
        let op = "gather";
        let shapes = shapes(self, op, x.shape())?;
        let (counts, own, dtype) = (sizes(&shapes), b.to_vec(x)?, T::DTYPE);
        if self.rank() != root {
            self.gather(bytes::as_bytes(&own), None, &counts, dtype, root).map_err(failed(op))?;
            return Ok(None);
        }
        let all = bytes::written::<T>(op, counts.iter().sum(), |to| {
            self.gather(bytes::as_bytes(&own), Some(to), &counts, dtype, root).map_err(failed(op))
        })?;
        joined(op, b, &shapes, axis, &all).map(Some)
    }

    fn scatter_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: Option<&B::Array<T>>,
        axis: usize,
        root: usize,
    ) -> Result<B::Array<T>> {
        let op = "scatter";
        let given = x.filter(|_| self.rank() == root);
        let mut shape = [u64::MAX; AXES + 1];
        if let Some(x) = given {
            shape = packed_shape(op, x.shape())?;
        }
        let shape = changed(op, &shape, |to, dtype| self.broadcast(to, dtype, root))?;
        if shape[0] == u64::MAX {
            return Err(Error::argument(op, format!("rank {root} must give an array")));
        }
        let mut own = unpacked_shape(&shape);
        let axis = rules::axis(op, axis.try_into().unwrap_or(isize::MAX), own.len())?;
        let rest: usize = own.iter().enumerate().filter(|(k, _)| *k != axis).map(|(_, n)| n).product();
        let rows = cuts(own[axis], self.size());
        let counts: Vec<usize> = rows.iter().map(|rows| rows.len() * rest).collect();
        let all = given.map(|x| cut(op, b, x, axis, self.size())).transpose()?;
        let send = all.as_ref().map(|(elements, _)| bytes::as_bytes(elements));
        let dtype = T::DTYPE;
        let mine = bytes::written(op, counts[self.rank()], |to| {
            self.scatter(send, &counts, to, dtype, root).map_err(failed(op))
        })?;
        own[axis] = rows[self.rank()].len();
        shaped(op, b, &own, mine)
    }

    fn all_to_all_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        cut_axis: usize,
        join: usize,
    ) -> Result<B::Array<T>> {
        let op = "all_to_all";
        let all = shapes(self, op, x.shape())?;
        let (own, parts) = cut(op, b, x, cut_axis, self.size())?;
        let part = |shape: &Vec<usize>| {
            let mut part = shape.clone();
            let length = part.get_mut(cut_axis).ok_or_else(|| Error::axis(op, cut_axis as i128, shape.len()))?;
            *length = cuts(*length, self.size())[self.rank()].len();
            Ok(part)
        };
        let come = all.iter().map(part).collect::<Result<Vec<_>>>()?;
        let (to, from, dtype) = (sizes(&parts), sizes(&come), T::DTYPE);
        let elements = bytes::written::<T>(op, from.iter().sum(), |recv| {
            self.all_to_all(bytes::as_bytes(&own), &to, recv, &from, dtype).map_err(failed(op))
        })?;
        joined(op, b, &come, join, &elements)
    }

    fn send_array<B: Arrays, T: Element>(&self, b: &B, x: &B::Array<T>, to: usize) -> Result<()> {
        let op = "send";
        let (shape, own, dtype) = (packed_shape(op, x.shape())?, b.to_vec(x)?, T::DTYPE);
        self.send(bytes::as_bytes(&shape), DType::UInt64, to).map_err(failed(op))?;
        self.send(bytes::as_bytes(&own), dtype, to).map_err(failed(op))
    }

    fn recv_array<B: Arrays, T: Element>(&self, b: &B, from: usize) -> Result<B::Array<T>> {
        let op = "recv";
        let shape = bytes::written::<u64>(op, AXES + 1, |to| self.recv(to, DType::UInt64, from).map_err(failed(op)))?;
        let (shape, dtype) = (unpacked_shape(&shape), T::DTYPE);
        let count = rules::count(op, &shape, size_of::<T>())?;
        let elements = bytes::written(op, count, |to| self.recv(to, dtype, from).map_err(failed(op)))?;
        shaped(op, b, &shape, elements)
    }

    fn start_all_reduce_array<B: Arrays, T: Element>(
        &self,
        b: &B,
        x: &B::Array<T>,
        join: Join,
    ) -> Result<PendingArray<B, T>> {
        let op = "all_reduce";
        let own = b.to_bytes(x)?;
        let pending = self.start_all_reduce(own, T::DTYPE, join).map_err(failed(op))?;
        Ok(PendingArray { b: b.clone(), op, shape: x.shape().to_vec(), pending, of: PhantomData })
    }
}

impl<B: Backend> Sharded<B> {
    /// Applies a function to this rank's part, which is an array of the inner backend. The result keeps the layout of
    /// `x`, so the function must not change the length of the split axis.
    ///
    /// This method is for computations that are easier to write for a part than for the whole array. The function runs
    /// on every rank. It may make collective calls of [`Sharded::world`], if all ranks make the same ones.
    ///
    /// # Errors
    /// The errors of the function; [`Error::Shape`] if the function changes the length of the split axis.
    pub fn map_parts<T: Element, U: Element>(
        &self,
        x: &ShardedArray<B, T>,
        f: impl FnOnce(&B, &LocalPart<B, T>) -> Result<LocalPart<B, U>>,
    ) -> Result<ShardedArray<B, U>> {
        const OP: &str = "map_parts";
        let part = f(&self.within, &x.part)?;
        let mut shape = part.shape().to_vec();
        if let Some(axis) = x.split() {
            if shape.get(axis) != x.part.shape().get(axis) {
                let why = format!(
                    "must have as many rows along axis {axis} as the part that was given, {:?}",
                    x.part.shape()
                );
                return Err(Error::shape(OP, &shape, why));
            }
            shape[axis] = x.layout.shape[axis];
        }
        Ok(self.array(Layout::new(shape, x.layout.split.clone()), part))
    }
}
