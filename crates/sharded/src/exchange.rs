//! Exchanges arrays between ranks. If the inner backends have a link, such as NCCL, it sends the parts directly from
//! device to device. Otherwise the parts are packed into the bytes of one message, which the receiver unpacks.

use crate::{LocalPart, Sharded, failed};
use backends::{
    Arrays, Backend, Element, Error, HostArray, Result, Slice,
    runtime::{ArrayAttributes, bytes, numpyish::typed::copied, rules},
};
use backends_world::Tag;
use ndarray::{Array1, IxDyn};

/// A tag that identifies an exchange. It consists of the op, the dtype, and lengths that are the same on all ranks.
fn tag<T: Element>(op: &'static str, lengths: &[usize]) -> Tag {
    let mut numbers = [0; 17];
    // the first 16 lengths are enough, because all parts are derived from one shape
    let some = lengths.len().min(16);
    numbers[0] = T::DTYPE as usize;
    numbers[1..=some].copy_from_slice(&lengths[..some]);
    Tag::new(op, &numbers[..=some])
}

/// Received elements, on the host or in the memory of the backend. `next` reads one array after another from them.
pub struct Received<B: Arrays, T: Element> {
    elements: Elements<B, T>,
    at: usize,
}

enum Elements<B: Arrays, T: Element> {
    Host(HostArray<T>),
    There(LocalPart<B, T>),
}

impl<B: Backend, T: Element> Received<B, T> {
    fn new(elements: Vec<T>) -> Received<B, T> {
        Received { elements: Elements::Host(Array1::from_vec(elements).into_dyn().into_shared()), at: 0 }
    }

    fn there(elements: LocalPart<B, T>) -> Received<B, T> {
        Received { elements: Elements::There(elements), at: 0 }
    }

    /// Reads the next elements as an array of this shape, in C order. The array stays in the memory in which the
    /// elements arrived.
    pub fn next(&mut self, b: &B, shape: &[usize]) -> Result<LocalPart<B, T>> {
        let (start, end) = (self.at, self.at + shape.iter().product::<usize>());
        self.at = end;
        match &self.elements {
            Elements::Host(elements) => {
                let part = elements.clone().slice_move(ndarray::s![start..end]);
                let part = part.into_dyn().into_shape_with_order(IxDyn(shape));
                // contiguous elements can be viewed as an array of any shape with the same number of elements
                b.from_ndarray(
                    part.map_err(|why| Error::shape("from_ndarray", shape, format!("does not match the part: {why}")))?,
                )
            }
            Elements::There(elements) => {
                let part = b.getitem(elements, vec![Slice::from(start as isize..end as isize)])?;
                b.reshape(&part, shape.iter().map(|&n| n as isize).collect::<Vec<_>>())
            }
        }
    }
}

impl<B: Backend> Sharded<B> {
    /// Packs the elements of several arrays, one array after another, each in C order.
    fn packed<T: Element>(&self, op: &'static str, parts: &[LocalPart<B, T>]) -> Result<Packed<T>> {
        if let [one] = parts {
            let host = self.within.to_ndarray(one)?;
            if host.is_standard_layout() {
                return Ok(Packed::One(host));
            }
        }
        let count = parts.iter().map(ArrayAttributes::len).sum();
        let mut all = rules::list::<T>(op, count)?;
        for part in parts {
            let host = self.within.to_ndarray(part)?;
            match host.as_slice() {
                Some(elements) => all.extend_from_slice(elements),
                None => all.extend_from_slice(copied(op, host.view())?.as_slice().unwrap_or_default()),
            }
        }
        Ok(Packed::Many(all))
    }

    /// Gathers the parts of all ranks on every rank. `counts[r]` is the number of elements of rank r's part.
    pub(crate) fn gather_parts<T: Element>(
        &self,
        op: &'static str,
        part: &LocalPart<B, T>,
        counts: &[usize],
    ) -> Result<Received<B, T>> {
        self.agree(op, || format!("all parts of {counts:?} elements of {}", T::DTYPE))?;
        if let Ok(link) = &self.link {
            let others = (self.ranks() - 1) * part.len();
            self.count_linked(others * size_of::<T>());
            return Ok(Received::there(self.within.gather_linked(op, link, part, counts)?));
        }
        let tag = tag::<T>(op, counts);
        let mut through =
            |own: &[u8], to: &mut [u8]| self.world.all_gather_for(tag, own, to, counts, T::DTYPE).map_err(failed(op));
        let part_alone = std::slice::from_ref(part);
        if let Some(all) = self.within.staged(op, part_alone, counts.iter().sum(), &mut through) {
            return Ok(Received::there(all?));
        }
        let own = self.packed(op, part_alone)?;
        Ok(Received::new(bytes::written(op, counts.iter().sum(), |to| through(own.bytes(), to))?))
    }

    /// Sends the arrays `send[r]` to each rank r, and receives `counts[r]` elements from it. The received elements are
    /// in the order of the ranks.
    pub(crate) fn exchange<T: Element>(
        &self,
        op: &'static str,
        send: &[Vec<LocalPart<B, T>>],
        counts: &[usize],
    ) -> Result<Received<B, T>> {
        self.agree(op, || format!("parts to each rank, of {}", T::DTYPE))?;
        let to: Vec<usize> = send.iter().map(|parts| parts.iter().map(ArrayAttributes::len).sum()).collect();
        if let Ok(link) = &self.link {
            self.world.agree_counts(&to, counts).map_err(failed(op))?;
            let others = to.iter().sum::<usize>() - to[self.rank()];
            self.count_linked(others * size_of::<T>());
            return Ok(Received::there(self.within.exchange_linked(op, link, send, counts)?));
        }
        let pieces: Vec<LocalPart<B, T>> = send.iter().flatten().cloned().collect();
        let mut through = |own: &[u8], from: &mut [u8]| {
            self.world.all_to_all_for(tag::<T>(op, &[]), own, &to, from, counts, T::DTYPE).map_err(failed(op))
        };
        if let Some(all) = self.within.staged(op, &pieces, counts.iter().sum(), &mut through) {
            return Ok(Received::there(all?));
        }
        let own = self.packed(op, &pieces)?;
        Ok(Received::new(bytes::written(op, counts.iter().sum(), |from| through(own.bytes(), from))?))
    }

    /// Gathers the elements of all ranks on the host. All ranks must pass the same number of elements.
    pub(crate) fn gather_elements<T: Element>(&self, op: &'static str, own: &[T]) -> Result<Vec<T>> {
        self.agree(op, || format!("{} elements of {} of each rank", own.len(), T::DTYPE))?;
        let counts = vec![own.len(); self.ranks()];
        self.gather_counted(op, own, &counts)
    }

    /// Gathers `counts[r]` elements of each rank r, on the host.
    pub(crate) fn gather_counted<T: Element>(&self, op: &'static str, own: &[T], counts: &[usize]) -> Result<Vec<T>> {
        let tag = tag::<T>(op, counts);
        bytes::written(op, counts.iter().sum(), |to| {
            self.world.all_gather_for(tag, bytes::as_bytes(own), to, counts, T::DTYPE).map_err(failed(op))
        })
    }

    /// Exchanges elements on the host. `own` contains the elements for rank 0, followed by those for rank 1 and so on:
    /// `to[r]` elements for rank r. Each rank r sends `from[r]` elements to this rank.
    pub(crate) fn exchange_elements<T: Element>(
        &self,
        op: &'static str,
        own: &[T],
        to: &[usize],
        from: &[usize],
    ) -> Result<Vec<T>> {
        self.agree(op, || format!("elements of {} to each rank", T::DTYPE))?;
        let tag = tag::<T>(op, &[]);
        bytes::written(op, from.iter().sum(), |all| {
            let own = bytes::as_bytes(own);
            self.world.all_to_all_for(tag, own, to, all, from, T::DTYPE).map_err(failed(op))
        })
    }

    /// If checks are enabled, checks that all ranks are about to make the same call.
    pub(crate) fn agree(&self, op: &'static str, what: impl FnOnce() -> String) -> Result<()> {
        self.world.agree(op, what).map_err(failed(op))
    }
}

enum Packed<T: Element> {
    One(HostArray<T>),
    Many(Vec<T>),
}

impl<T: Element> Packed<T> {
    fn bytes(&self) -> &[u8] {
        bytes::as_bytes(match self {
            Packed::One(host) => host.as_slice().unwrap_or_default(),
            Packed::Many(all) => all,
        })
    }
}
