//! Connected regions: union-find over the runs of elements along the last axis.

use crate::{
    DType, Element, Result,
    numpyish::{
        NdArray, Numpyish,
        buffer::{self, Buffer},
        convert::nonzero_bytes,
        copy::{self, Ends},
        parallel::{self, CHEAP, Shared},
        raw::{RawArray, View, view},
        typed::typed,
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

/// The regions of elements that are not zero, numbered from 1 on in the order of their first elements, and how many there are.
pub fn label<T: Element>(
    _: &Numpyish,
    x: &NdArray<T>,
    connectivity: usize,
    structure: Option<&NdArray<bool>>,
) -> Result<(NdArray<i64>, NdArray<i64>)> {
    let (labels, count) = label_of(view(x), connectivity, structure.map(view))?;
    Ok((typed(Ok(labels))?, typed(Ok(count))?))
}

/// The same of an array of any dtype.
pub fn label_of(x: View<'_>, connectivity: usize, structure: Option<View<'_>>) -> Result<(RawArray, RawArray)> {
    const OP: &str = "label";
    let packed = structure.map(|structure| copy::pack(OP, structure)).transpose()?;
    // SAFETY: the bools of the structure, packed.
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
    Ok((unsafe { RawArray::new(OP, x.shape.to_vec(), out) }?, count))
}

/// The lines of an array in C order along its last axis.
struct Lines {
    start: Ends<u8>,
    dtype: DType,
    count: usize,
    len: usize,
    /// Lengths of the axes before.
    outer: Vec<usize>,
    /// Whether neighbours along a line belong together.
    joins: bool,
    links: Vec<Link>,
}

/// A line in which elements have neighbours.
struct Link {
    /// The way to it along each of the axes before the last.
    steps: Vec<isize>,
    /// How many lines it is before.
    before: usize,
    /// Least and greatest way of the neighbours along the line.
    spans: Vec<(isize, isize)>,
}

/// Where elements that follow each other on a line and belong together begin and end.
struct Runs {
    /// The number of the first run of each line, and that of all runs.
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
                // single elements that touch would overlap once they are wider
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

    /// Calls `f` with lines and bytes that say which of their elements are not zero, on several threads.
    fn for_each(&self, op: &'static str, f: impl Fn(usize, &[u8]) + Sync) -> Result<()> {
        let (failed, convert) = (OnceLock::new(), nonzero_bytes(self.dtype));
        parallel::parallel(self.count, self.grain(), |range| match buffer::zeros::<u8>(op, self.len) {
            Ok(mut bytes) => range.for_each(|line| {
                let start = &self.start;
                // SAFETY: the elements of a line, for each of which there is a byte.
                unsafe { convert(start.from.add(line * self.len * self.dtype.size()), bytes.as_mut_ptr(), self.len) };
                f(line, &bytes);
            }),
            Err(e) => _ = failed.set(e),
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// Lines that are worth a task.
    fn grain(&self) -> usize {
        (CHEAP / 4 / self.len.max(1)).max(1)
    }

    /// Calls `f` for 64 elements of a line at a time: with the number of the first, a bit for each at which a run begins, and one for
    /// each that is the end of one.
    fn edges(&self, bytes: &[u8], mut f: impl FnMut(usize, u64, u64)) {
        let mut before = 0;
        for (k, some) in bytes.chunks(64).enumerate() {
            let here = bits(some);
            // of elements that do not belong together, each is a run
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
            // SAFETY: the place of this line, to which nothing else writes.
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
            // SAFETY: the runs of this line, to which nothing else writes.
            let [starts, ends] = both.each_ref().map(|all| unsafe { all.part(places.clone()) });
            let (mut starts, mut ends) = (starts.iter_mut(), ends.iter_mut());
            self.edges(bytes, |first, begins, finishes| {
                each_bit(begins).zip(&mut starts).for_each(|(k, start)| *start = first + k);
                each_bit(finishes).zip(&mut ends).for_each(|(k, end)| *end = first + k);
            });
        })?;
        Ok(Runs { first, starts, ends })
    }

    /// Joins the runs of lines with those of the lines before that they touch.
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

    /// Writes the number of each run, and zeros between.
    fn write(&self, runs: &Runs, labels: &[AtomicUsize], out: *mut i64) {
        let out = Ends { from: std::ptr::null(), to: out };
        parallel::parallel(self.count, self.grain(), |range| {
            let out = &out;
            for line in range {
                // SAFETY: a line of the result, which is this thread's; a slice of numbers of any value.
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

/// The runs of a line.
fn first_to_last(runs: &Runs, line: usize) -> Range<usize> {
    runs.first[line]..runs.first[line + 1]
}

/// Up to 64 bytes, each 0 or 1, as bits, the first the lowest.
fn bits(bytes: &[u8]) -> u64 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let mut bits = 0;
    for (k, &eight) in eights.iter().enumerate() {
        // byte number i times 2^(56 - 7 i) is bit 56 + i, and no two of them meet
        bits |= (u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * k);
    }
    rest.iter().enumerate().fold(bits, |bits, (k, &byte)| bits | u64::from(byte) << (8 * eights.len() + k))
}

/// The numbers of the bits that are set.
fn each_bit(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = bits.trailing_zeros() as usize;
        (bits != 0).then(|| {
            bits &= bits - 1;
            number
        })
    })
}

/// Joins the runs of two lines that touch: of which an element of the first has one of the second `span` further on. Neither the runs of
/// a line nor, but for one element at their ends, those that are widened by the span overlap.
fn touching(runs: &Runs, here: Range<usize>, there: Range<usize>, span: (isize, isize), parents: &[AtomicUsize]) {
    let (mut i, mut j) = (here.start, there.start);
    while i < here.end && j < there.end {
        let (start, end) = (runs.starts[i] as isize + span.0, runs.ends[i] as isize + span.1);
        let (from, to) = (runs.starts[j] as isize, runs.ends[j] as isize);
        if start < to && from < end {
            unite(parents, i, j);
        }
        // no branch, which nobody could foresee
        let is_over = end <= to;
        i += usize::from(is_over);
        j += usize::from(!is_over);
    }
}

/// The first run of those that are joined with this one, as far as is known; ways to it become shorter.
fn root(parents: &[AtomicUsize], mut run: usize) -> usize {
    loop {
        let parent = parents[run].load(Relaxed);
        if parent == run {
            return run;
        }
        let next = parents[parent].load(Relaxed);
        // an older value that another thread's is lost to is one of the same region, too
        parents[run].store(next, Relaxed);
        run = next;
    }
}

/// Joins two runs, and all that are joined with them: a parent is never behind its run, and only one without a parent gets one.
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

/// Makes of parents the numbers of regions, from 1 on; how many there are.
fn numbered(parents: &mut [AtomicUsize]) -> i64 {
    let mut count = 0;
    for run in 0..parents.len() {
        let parent = *parents[run].get_mut();
        *parents[run].get_mut() = if parent == run {
            count += 1;
            count
        } else {
            // before this run, and so a number already
            *parents[parent].get_mut()
        };
    }
    count as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numpyish::{copy::tests::Dice, layout::tests::layouts};
    use ndarray::{ArrayD, Dimension, IxDyn};

    /// The same by flooding each region from its first element.
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
