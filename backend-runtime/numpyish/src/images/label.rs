//! Labels connected regions of nonzero elements, by union-find over the runs of nonzero elements along the last axis.

use backend_core::{
    DType, Result,
    numpyish::{
        OpContext,
        buffer::{self, Buffer},
        convert::nonzero_bytes,
        copy::{self, Ends},
        parallel::{self, CHEAP, Shared},
        raw::{RawArray, View},
    },
    rules::{self, Neighbours},
};
use std::{
    ops::Range,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// Labels the connected regions of nonzero elements. The first label is 1, and the labels have the order of the
/// regions' first elements. Also returns the number of regions.
pub fn label(_: OpContext<'_>, x: View<'_>, connectivity: usize, structure: Option<View<'_>>) -> Result<[RawArray; 2]> {
    label_of(x, connectivity, structure)
}

/// Like `label`, for an array whose dtype is known only at run time.
pub fn label_of(x: View<'_>, connectivity: usize, structure: Option<View<'_>>) -> Result<[RawArray; 2]> {
    const OP: &str = "label";
    let packed = structure.map(|structure| copy::pack(OP, structure)).transpose()?;
    // SAFETY: the packed copy has the bools of the structure.
    let flags = packed.as_ref().zip(structure).map(|(packed, of)| (of.shape, unsafe { packed.slice(of.len()) }));
    let neighbours = rules::neighbours(OP, x.shape, connectivity, flags)?;
    let out = Buffer::new(OP, rules::count(OP, x.shape, size_of::<i64>())?, DType::Int64)?;
    let mut count = 0;
    if out.len() > 0 {
        let elements = copy::pack(OP, x)?;
        let lines = Lines::new(elements.start(), x.dtype, &neighbours);
        let runs = lines.runs(OP)?;
        let mut parents = buffer::vec(OP, runs.starts.len())?;
        parents.extend((0..runs.starts.len()).map(AtomicUsize::new));
        lines.link(&runs, &parents);
        count = numbered(&mut parents);
        lines.write(&runs, &parents, out.start().cast());
    }
    let count = RawArray::from_vec(OP, Vec::new(), vec![count])?;
    // SAFETY: every line has been written.
    Ok([unsafe { RawArray::new(OP, x.shape.to_vec(), out) }?, count])
}

/// The lines (1-D slices along the last axis) of an array in C order.
struct Lines {
    start: Ends<u8>,
    dtype: DType,
    count: usize,
    len: usize,
    /// Lengths of all axes but the last.
    outer: Vec<usize>,
    /// True if adjacent nonzero elements of a line are connected.
    joins: bool,
    links: Vec<Link>,
}

/// The position of a neighbouring line relative to the current line, and the offsets of an element's neighbours in the
/// neighbouring line.
struct Link {
    /// Offset, in indices, of the neighbouring line along each axis but the last.
    steps: Vec<isize>,
    /// Number of lines by which the neighbouring line precedes the current line in C order.
    before: usize,
    /// The smallest and the largest offset, along the last axis, of each range of an element's neighbours in the
    /// neighbouring line.
    spans: Vec<(isize, isize)>,
}

/// The runs of all lines. A run is a stretch of connected elements of a line.
struct Runs {
    /// The index of the first run of each line, followed by the number of all runs.
    first: Vec<usize>,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Lines {
    fn new(start: *const u8, dtype: DType, neighbours: &Neighbours) -> Lines {
        let (outer, len) = neighbours.lengths.split_at(neighbours.lengths.len() - 1);
        let strides = rules::c_strides(outer);
        let joins = neighbours.before.last().is_some_and(|steps| steps[..outer.len()].iter().all(|&step| step == 0));
        let mut links: Vec<Link> = Vec::new();
        for steps in &neighbours.before {
            let (steps, along) = (&steps[..outer.len()], steps[outer.len()]);
            if steps.iter().all(|&step| step == 0) {
                continue;
            }
            match links.last_mut().filter(|link| link.steps == steps) {
                // adjacent offsets become one span, except if each run is a single element: runs widened by a longer
                // span would overlap by more than one element, which `touching` does not support
                Some(Link { spans, .. }) if joins && spans.last().is_some_and(|span| span.1 + 1 == along) => {
                    spans.last_mut().into_iter().for_each(|span| span.1 = along);
                }
                Some(link) => link.spans.push((along, along)),
                None => {
                    let before = -steps.iter().zip(&strides).map(|(step, stride)| step * stride).sum::<isize>();
                    let spans = vec![(along, along)];
                    links.push(Link { steps: steps.to_vec(), before: before as usize, spans });
                }
            }
        }
        let start = Ends { from: start, to: std::ptr::null_mut() };
        Lines { start, dtype, count: outer.iter().product(), len: len[0], outer: outer.to_vec(), joins, links }
    }

    /// Calls `f` for each line, on several threads. The arguments are the index of the line and one byte per element: 1
    /// if the element is nonzero, otherwise 0.
    fn for_each(&self, op: &'static str, f: impl Fn(usize, &[u8]) + Sync) -> Result<()> {
        let (failed, convert) = (OnceLock::new(), nonzero_bytes(self.dtype));
        parallel::parallel(self.count, self.grain(), |range| match buffer::zeros::<u8>(op, self.len) {
            Ok(mut bytes) => range.for_each(|line| {
                let start = &self.start;
                // SAFETY: the elements belong to a line, and `bytes` has one byte for each of them.
                unsafe { convert(start.from.add(line * self.len * self.dtype.size()), bytes.as_mut_ptr(), self.len) };
                f(line, &bytes);
            }),
            Err(e) => _ = failed.set(e),
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// Minimum number of lines per task.
    fn grain(&self) -> usize {
        (CHEAP / 4 / self.len.max(1)).max(1)
    }

    /// Calls `f` for 64 elements of a line at a time. `f` gets the index of the first of these elements and two bit
    /// masks: the first mask marks the elements at which a run begins, and the second mask the elements just after a
    /// run.
    fn edges(&self, bytes: &[u8], mut f: impl FnMut(usize, u64, u64)) {
        let mut before = 0;
        for (k, some) in bytes.chunks(64).enumerate() {
            let here = bits(some);
            // if neighbours along the line are not connected, each element is a run
            let (begins, ends) = if self.joins {
                let shifted = here << 1 | before;
                (here & !shifted, shifted & !here)
            } else {
                (here, here << 1 | before)
            };
            f(64 * k, begins, ends);
            before = here >> 63;
        }
        if before != 0 {
            f(bytes.len(), 0, before);
        }
    }

    fn runs(&self, op: &'static str) -> Result<Runs> {
        let mut first = buffer::repeated(op, self.count + 1, 0_usize)?;
        let shared = Shared::new(&mut first);
        self.for_each(op, |line, bytes| {
            let mut count = 0;
            self.edges(bytes, |_, begins, _| count += begins.count_ones() as usize);
            // SAFETY: nothing else writes the entry of this line.
            let place = unsafe { shared.part(line + 1..line + 2) };
            place[0] = count;
        })?;
        let mut total = 0;
        for count in &mut first {
            total += *count;
            *count = total;
        }
        let (mut starts, mut ends) = (buffer::repeated(op, total, 0)?, buffer::repeated(op, total, 0)?);
        let both = [Shared::new(&mut starts), Shared::new(&mut ends)];
        self.for_each(op, |line, bytes| {
            let places = first[line]..first[line + 1];
            // SAFETY: nothing else writes the runs of this line.
            let [starts, ends] = both.each_ref().map(|all| unsafe { all.part(places.clone()) });
            let (mut starts, mut ends) = (starts.iter_mut(), ends.iter_mut());
            self.edges(bytes, |first, begins, finishes| {
                each_bit(begins).zip(&mut starts).for_each(|(k, start)| *start = first + k);
                each_bit(finishes).zip(&mut ends).for_each(|(k, end)| *end = first + k);
            });
        })?;
        Ok(Runs { first, starts, ends })
    }

    /// Unites each run with the runs of earlier lines that it touches.
    fn link(&self, runs: &Runs, parents: &[AtomicUsize]) {
        if self.links.is_empty() && self.joins {
            return;
        }
        parallel::parallel(self.count, self.grain(), |range| {
            let mut index = vec![0; self.outer.len()];
            let mut rest = range.start;
            for (i, len) in index.iter_mut().zip(&self.outer).rev() {
                (*i, rest) = (rest % len, rest / len);
            }
            for line in range {
                for link in &self.links {
                    let inside = |((&i, &step), &len): ((&usize, &isize), &usize)| {
                        i.checked_add_signed(step).is_some_and(|there| there < len)
                    };
                    if index.iter().zip(&link.steps).zip(&self.outer).all(inside) {
                        let there = line - link.before;
                        let (here, there) = (first_to_last(runs, line), first_to_last(runs, there));
                        for &span in &link.spans {
                            touching(runs, here.clone(), there.clone(), span, parents);
                        }
                    }
                }
                for (i, &len) in index.iter_mut().zip(&self.outer).rev() {
                    *i += 1;
                    if *i < len {
                        break;
                    }
                    *i = 0;
                }
            }
        });
    }

    /// Writes the label of each run, and zeros between runs.
    fn write(&self, runs: &Runs, labels: &[AtomicUsize], out: *mut i64) {
        let out = Ends { from: std::ptr::null(), to: out };
        parallel::parallel(self.count, self.grain(), |range| {
            let out = &out;
            for line in range {
                // SAFETY: the line of the result belongs to this task, and zero bytes are valid integers.
                let to = unsafe {
                    let start = out.to.add(line * self.len);
                    start.write_bytes(0, self.len);
                    std::slice::from_raw_parts_mut(start, self.len)
                };
                for run in first_to_last(runs, line) {
                    to[runs.starts[run]..runs.ends[run]].fill(labels[run].load(Relaxed) as i64);
                }
            }
        });
    }
}

/// The range of runs of a line.
fn first_to_last(runs: &Runs, line: usize) -> Range<usize> {
    runs.first[line]..runs.first[line + 1]
}

/// Packs up to 64 bytes, each 0 or 1, into bits. The first byte becomes the lowest bit.
fn bits(bytes: &[u8]) -> u64 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let mut bits = 0;
    for (k, &eight) in eights.iter().enumerate() {
        // byte `i` times 2^(56 - 7 i) is bit 56 + i, and no two of these bits coincide
        bits |= (u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * k);
    }
    rest.iter().enumerate().fold(bits, |bits, (k, &byte)| bits | u64::from(byte) << (8 * eights.len() + k))
}

/// The indices of the bits that are set.
fn each_bit(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            number
        })
    })
}

/// Unites each run of one line with the runs of another line that it touches. Two runs touch if an element of the first
/// run has a neighbour in the second run at an offset within `span`. Runs of one line do not overlap. Even if they are
/// widened by the span, they overlap by at most one element. Therefore the run that ends first touches no later run of
/// the other line, and the loop can move on to the next run.
fn touching(runs: &Runs, here: Range<usize>, there: Range<usize>, span: (isize, isize), parents: &[AtomicUsize]) {
    let (mut i, mut j) = (here.start, there.start);
    while i < here.end && j < there.end {
        let (start, end) = (runs.starts[i] as isize + span.0, runs.ends[i] as isize + span.1);
        let (from, to) = (runs.starts[j] as isize, runs.ends[j] as isize);
        if start < to && from < end {
            unite(parents, i, j);
        }
        // there is no branch here, because the processor could not predict it
        let is_over = end <= to;
        i += usize::from(is_over);
        j += usize::from(!is_over);
    }
}

/// Returns the root of the region of `run`: the first of the runs that are known to belong to the same region. Also
/// shortens the path from `run` to the root.
fn root(parents: &[AtomicUsize], mut run: usize) -> usize {
    loop {
        let parent = parents[run].load(Relaxed);
        if parent == run {
            return run;
        }
        let next = parents[parent].load(Relaxed);
        // another thread may overwrite this entry with an older parent, but that parent belongs to the same region
        parents[run].store(next, Relaxed);
        run = next;
    }
}

/// Unites the regions of two runs: the root that comes first becomes the parent of the other root. So the parent of a
/// run never comes after the run.
fn unite(parents: &[AtomicUsize], a: usize, b: usize) {
    let (mut a, mut b) = (root(parents, a), root(parents, b));
    while a != b {
        let (first, last) = (a.min(b), a.max(b));
        match parents[last].compare_exchange(last, first, Relaxed, Relaxed) {
            Ok(_) => return,
            Err(_) => (a, b) = (root(parents, first), root(parents, last)),
        }
    }
}

/// Replaces the parent of each run by the label of the run's region, from 1 on. Returns the number of regions.
fn numbered(parents: &mut [AtomicUsize]) -> i64 {
    let mut count = 0;
    for run in 0..parents.len() {
        let parent = *parents[run].get_mut();
        *parents[run].get_mut() = if parent == run {
            count += 1;
            count
        } else {
            // the parent comes before this run, so its entry is a label already
            *parents[parent].get_mut()
        };
    }
    count as i64
}

#[cfg(test)]
mod tests {
    use super::{super::typed::label, *};
    use backend_core::numpyish::{Numpyish, testing::Dice, testing::layouts};
    use ndarray::{ArrayD, Dimension, IxDyn};

    /// Computes a reference result by flooding each region from its first element.
    fn flooded(x: &ArrayD<bool>, steps: &[Vec<isize>]) -> (ArrayD<i64>, i64) {
        let (mut labels, mut count) = (ArrayD::zeros(x.raw_dim()), 0);
        for (start, &is_set) in x.indexed_iter() {
            if !is_set || labels[&start] != 0 {
                continue;
            }
            count += 1;
            labels[&start] = count;
            let mut open = vec![start];
            while let Some(at) = open.pop() {
                for steps in steps {
                    for sign in [-1, 1] {
                        let there: Vec<usize> =
                            at.slice().iter().zip(steps).map(|(&i, step)| i.wrapping_add_signed(sign * step)).collect();
                        let there = IxDyn(&there);
                        if x.get(&there) == Some(&true) && labels[&there] == 0 {
                            labels[&there] = count;
                            open.push(there);
                        }
                    }
                }
            }
        }
        (labels, count)
    }

    #[test]
    fn regions_are_those_of_a_flood() {
        let mut dice = Dice(5);
        for shape in [&[41, 67][..], &[300, 3], &[9, 10, 11], &[5, 4, 3, 6], &[90], &[2, 20_000], &[400, 500]] {
            for connectivity in 1..=shape.len() {
                let density = 2 + dice.below(3);
                let x = ArrayD::from_shape_fn(IxDyn(shape), |_| dice.below(density + 1) < density);
                let steps = rules::neighbours("label", shape, connectivity, None).unwrap().before;
                let (expected, count) = flooded(&x, &steps);
                let layouts = if x.len() < 3000 { layouts(&x) } else { vec![x.into_shared()] };
                for x in layouts {
                    let (labels, n) = label(&Numpyish::new(), &x, connectivity, None).unwrap();
                    assert_eq!((labels, n.sum()), (expected.to_shared(), count));
                }
            }
        }
    }

    #[test]
    fn structures_without_the_last_axis() {
        let mut dice = Dice(6);
        for _ in 0..60 {
            let half: Vec<bool> = (0..13).map(|_| dice.below(3) == 0).collect();
            let flags = [&half[..], &[true], &half.iter().rev().copied().collect::<Vec<_>>()].concat();
            let x = ArrayD::from_shape_fn(IxDyn(&[6, 7, 8]), |_| dice.below(3) > 0);
            let steps = rules::neighbours("label", x.shape(), 1, Some((&[3; 3], &flags))).unwrap().before;
            let structure = ArrayD::from_shape_vec(IxDyn(&[3; 3]), flags).unwrap().into_shared();
            let (expected, count) = flooded(&x, &steps);
            let (labels, n) = label(&Numpyish::new(), &x.into_shared(), 1, Some(&structure)).unwrap();
            assert_eq!((labels, n.sum()), (expected.into_shared(), count));
        }
    }
}
