//! Two algorithms that fold the elements of outputs (elements of the result of a reduction) in a given order: by
//! lanes, one output after another, and by rows, which have one element of each of several neighbouring outputs.

use super::{
    super::convert::Value,
    folding::{Folding, Pairwise, Rows},
    lanes::{Loop, StridedLanes},
    order::{BLOCK, LONGEST, MAX_ACCUMULATORS, Order, Stretches, sides},
    reading::{Block, Reading},
};
use std::{mem::MaybeUninit, ops::Range, ptr::null};

/// A fold, the elements to fold, and their order.
pub struct Folded<'a> {
    pub from: &'a Reading<'a>,
    pub folding: &'a Folding,
    pub order: &'a Order,
    /// The blocks of `order` that are folded.
    pub blocks: Range<usize>,
}

/// Maximum size in bytes of a row of values. Several rows fit the L1 cache.
const ROW: usize = 1 << 13;

type Row = [MaybeUninit<Value>; ROW / size_of::<Value>()];
const NO_ROW: Row = [const { MaybeUninit::uninit() }; ROW / size_of::<Value>()];

/// Number of rows of accumulators that [`Tile::tree`] needs: one for each level of the tree of sides, and one for the
/// values of a group of sides. A side is one of the accumulators of each output (see [`order`](super::order)).
const LEVELS: usize = MAX_ACCUMULATORS.ilog2() as usize + 1;

/// Maximum size in bytes of all rows that wait to be merged.
const WAITING: usize = 1 << 16;

type Waiting = [MaybeUninit<Value>; WAITING / size_of::<Value>()];

impl Folded<'_> {
    /// Folds one output.
    ///
    /// # Safety
    /// `start` must be the offset of the output's first element, `given` must be its operand, and `acc` must have room
    /// for a value.
    pub unsafe fn lane(&self, start: isize, given: *const u8, acc: *mut u8, scratch: &mut Block) {
        let first = self.order.block(self.blocks.start);
        let mut elements = self.order.stretches(first.start);
        if self.blocks.len() == 1 {
            // SAFETY: the caller guarantees the elements, the operand and enough room.
            return unsafe { self.block(start, &mut elements, first.len(), given, acc, scratch) };
        }
        let mut tree = Pairwise::new(self.folding);
        for n in self.order.lengths(self.blocks.clone()) {
            let mut value = Value::ZERO;
            // SAFETY: the caller guarantees the elements, the operand and enough room.
            unsafe {
                self.block(start, &mut elements, n, given, value.start_mut(), scratch);
                tree.push(value);
            }
        }
        // SAFETY: the caller guarantees room for a value.
        unsafe { tree.finish().unwrap_or(Value::ZERO).fill(self.folding.acc, acc, 1) };
    }

    /// Folds one block of an output.
    #[inline]
    unsafe fn block(
        &self,
        start: isize,
        elements: &mut Stretches<'_>,
        n: usize,
        given: *const u8,
        acc: *mut u8,
        scratch: &mut Block,
    ) {
        let step = elements.step();
        if elements.at_hand() >= n {
            let (at, _) = elements.take(n);
            // SAFETY: the caller guarantees the elements, the operand and enough room.
            return unsafe {
                if step == 1
                    && sides(n) > 1
                    && let Some(products) = self.folding.products
                    && let Some([x, y]) = self.from.factors(start + at, n)
                {
                    return products(&StridedLanes { y, ..StridedLanes::one(x, n, given, acc) });
                }
                let x = self.from.load(start + at, step, n, scratch);
                (self.folding.lanes)(&StridedLanes::one(x, n, given, acc))
            };
        }
        let to = scratch.start_mut();
        let mut done = 0;
        while done < n {
            let (at, many) = elements.take(n - done);
            // SAFETY: the caller guarantees the elements, and a block has room for `n` elements.
            unsafe { self.from.fetch(start + at, step, many, to.add(done * self.from.wide())) };
            done += many;
        }
        // SAFETY: `n` elements have been written.
        unsafe { (self.folding.lanes)(&StridedLanes::one(to, n, given, acc)) };
    }

    /// Returns whether [`Folded::lanes`] can fold the lanes.
    pub fn has_dense_lanes(&self) -> bool {
        self.order.is_dense() && (self.from.direct() || self.order.len() <= BLOCK || self.products().is_some())
    }

    /// If the elements are products of two arrays: the loop over products, and the addresses of both factors. `None`
    /// for short lanes, because for these it is faster to compute the products first, and then fold several lanes at
    /// a time.
    fn products(&self) -> Option<(Loop, [*const u8; 2])> {
        if sides(self.order.len()) == 1 {
            return None;
        }
        self.folding.products.zip(self.from.dense_factors())
    }

    /// Folds neighbouring outputs, one after another. The elements of each output are contiguous.
    ///
    /// # Safety
    /// The conditions of [`Folded::rows`] hold, but for any number of outputs, and the lanes must be dense.
    pub unsafe fn lanes(&self, outputs: Outputs, given: *const u8, to: *mut u8, scratch: &mut Block) {
        let Outputs { start, stride, width } = outputs;
        let first = self.order.block(self.blocks.start).start;
        let n = self.order.block(self.blocks.end - 1).end - first;
        let start = start + first as isize;
        if self.from.direct() {
            let lanes = StridedLanes { x: self.from.place(start), y: null(), n, step: stride, count: width, given, to };
            // SAFETY: the caller guarantees the lanes, the operands and enough room.
            return unsafe { (self.folding.lanes)(&lanes) };
        }
        if let Some((products, factors)) = self.products() {
            let [x, y] = factors.map(|at| at.wrapping_offset(start * self.from.wide() as isize));
            // SAFETY: the caller guarantees the lanes, the operands and enough room, and both factors have the same
            // offsets.
            return unsafe { products(&StridedLanes { x, y, n, step: stride, count: width, given, to }) };
        }
        // fetches so many outputs at a time that their elements fill a block
        let many = if stride == n as isize { BLOCK / n } else { 1 };
        for done in (0..width).step_by(many) {
            let count = many.min(width - done);
            // SAFETY: the caller guarantees the lanes, the operands and enough room, and a block has room for these
            // elements.
            unsafe {
                let x = self.from.load(start + done as isize * stride, 1, count * n, scratch);
                let given = given.wrapping_add(done * self.folding.given);
                let to = to.add(done * self.folding.acc.size());
                (self.folding.lanes)(&StridedLanes { x, y: null(), n, step: n as isize, count, given, to });
            }
        }
    }

    /// Maximum number of neighbouring outputs that are folded together.
    pub fn widest(&self) -> usize {
        let waiting = match self.blocks.len() {
            0 | 1 => usize::MAX,
            blocks => WAITING / (self.folding.acc.size() * slots(blocks)),
        };
        (ROW / self.size()).min(BLOCK).min(waiting)
    }

    /// Size in bytes of an element, of an accumulator, or of an operand `given`, whichever is largest.
    fn size(&self) -> usize {
        self.from.wide().max(self.folding.acc.size()).max(self.folding.given)
    }

    /// Folds neighbouring outputs, by rows that have one element of each output.
    ///
    /// # Safety
    /// `row` must give the offsets of the outputs' first elements, for at most [`Folded::widest`] outputs. `given` must
    /// have an operand for each output, and `total` must have room for a value of each output.
    pub unsafe fn rows(&self, row: Outputs, given: *const u8, total: *mut u8, scratch: &mut Block) {
        let tile = Tile { of: self, row, given, acc: self.folding.acc.size() };
        let first = self.order.block(self.blocks.start);
        let mut rows = self.order.stretches(first.start);
        if self.blocks.len() == 1 {
            // SAFETY: the caller guarantees the elements, the operands and enough room.
            return unsafe { tile.block(&mut rows, first.len(), total, scratch) };
        }
        let mut next = self.order.lengths(self.blocks.clone());
        // SAFETY: the caller guarantees the elements and operands, and rows are not wider than [`Folded::widest`].
        unsafe {
            pairwise(self.folding, row.width, self.blocks.len(), total, |to| {
                let n = next.next().unwrap_or(0);
                tile.block(&mut rows, n, to, scratch);
            });
        }
    }
}

/// Maximum number of rows that wait to be merged at the same time, if `rows` rows are merged pairwise.
const fn slots(rows: usize) -> usize {
    rows.ilog2() as usize + 1
}

/// Merges `count` rows of `width` values in the order of [`Pairwise`]. Each call of `row` writes one of these rows.
///
/// # Safety
/// `row` must write values of the fold, the waiting rows must fit [`WAITING`] bytes, and `total` must have room for one
/// row.
#[inline(never)] // not inlined, because the waiting rows need much of the stack
pub unsafe fn pairwise(folding: &Folding, width: usize, count: usize, total: *mut u8, mut row: impl FnMut(*mut u8)) {
    let size = width * folding.acc.size();
    assert!(slots(count) * size <= WAITING, "rows that wait have room");
    let mut waiting = [const { MaybeUninit::<Value>::uninit() }; WAITING / size_of::<Value>()];
    let waiting: &mut Waiting = &mut waiting;
    let start = waiting.as_mut_ptr().cast::<u8>();
    for k in 0..count {
        // bit `l` of `k` is set if a merged row of 2^l rows waits in slot `l`
        let level = k.trailing_ones() as usize;
        // SAFETY: the slots exist, and the slots below the level have been written.
        unsafe {
            let own = start.add(level * size);
            row(own);
            let mut late = own;
            for l in 0..level {
                let early = start.add(l * size);
                (folding.merge)(early, late, width);
                late = early;
            }
            if level > 0 {
                own.copy_from_nonoverlapping(late, size);
            }
        }
    }
    let mut late: Option<*mut u8> = None;
    for l in (0..slots(count)).filter(|l| count >> l & 1 == 1) {
        // SAFETY: the slot has been written.
        unsafe {
            let early = start.add(l * size);
            if let Some(late) = late {
                (folding.merge)(early, late, width);
            }
            late = Some(early);
        }
    }
    if let Some(late) = late {
        // SAFETY: `late` is a row, and `total` has room for it.
        unsafe { total.copy_from_nonoverlapping(late, size) };
    }
}

/// The offsets of the first elements of neighbouring outputs.
#[derive(Clone, Copy)]
pub struct Outputs {
    /// Offset of the first element of the first output.
    pub start: isize,
    /// Distance from one output to the next, in elements.
    pub stride: isize,
    /// Number of outputs.
    pub width: usize,
}

/// Neighbouring outputs that are folded by rows: each row has one element of each output.
struct Tile<'a> {
    of: &'a Folded<'a>,
    row: Outputs,
    given: *const u8,
    /// Size of a value in bytes.
    acc: usize,
}

/// The rows that are folded into one side of a block (a row of accumulators), or into several neighbouring sides.
#[derive(Clone, Copy)]
struct Chain<'a> {
    /// Offset of the first element, to which the offset of each row is added.
    start: isize,
    offsets: &'a [isize],
    /// Number of elements of a row.
    width: usize,
    /// The operands of these elements.
    given: *const u8,
}

/// Number of rows that are folded at once. The accumulators of their columns stay in registers.
const AT_ONCE: usize = 16;

/// Number of rows that are folded at once if they collide in the L1 cache, because the distance between rows is a
/// multiple of `COLLISION` bytes.
const COLLIDING: usize = 4;
const COLLISION: usize = 1 << 12;

/// The treatment of the values that are already at the destination of a fold.
#[derive(Clone, Copy)]
enum How {
    /// Overwrites the values at the destination.
    Begin,
    /// Folds the rows into the values at the destination.
    Add,
    /// Folds the rows into this memory, and merges the result into the values at the destination.
    Join(*mut u8),
}

impl Tile<'_> {
    /// Folds a block of `n` rows to one row of values.
    ///
    /// # Safety
    /// The rows must belong to the array, and `to` must have room for a value of each output.
    unsafe fn block(&self, rows: &mut Stretches<'_>, n: usize, to: *mut u8, scratch: &mut Block) {
        let Outputs { stride, width, .. } = self.row;
        // true if the rows are contiguous and follow each other without gaps
        let dense = stride == 1 && rows.step() == width as isize;
        let most = (ROW / self.of.size()).min(BLOCK);
        // SAFETY: the caller guarantees the rows and enough room.
        unsafe {
            match sides(n) {
                1 => self.one_side(rows, n, to, scratch),
                sides if dense && sides * width <= most => self.side_by_side(sides, rows, n, to, scratch),
                _ if self.of.folding.is_exact => self.spread(1, 1, rows, n, to, scratch),
                sides if dense && rows.at_hand() >= n => self.spread(sides, most / width, rows, n, to, scratch),
                sides => self.spread(sides, 1, rows, n, to, scratch),
            }
        }
    }

    /// Folds a few rows, one after another, into a single row of accumulators.
    unsafe fn one_side(&self, rows: &mut Stretches<'_>, n: usize, to: *mut u8, scratch: &mut Block) {
        let mut offsets = [0; LONGEST];
        let step = rows.step();
        let mut done = 0;
        while done < n {
            let (at, many) = rows.take(n - done);
            (0..many).for_each(|i| offsets[done + i] = at + i as isize * step);
            done += many;
        }
        let chain = Chain { start: self.row.start, offsets: &offsets[..n], width: self.row.width, given: self.given };
        // SAFETY: the caller guarantees the rows and enough room.
        unsafe { self.fold(How::Begin, &chain, to, scratch) };
    }

    /// Folds rows without gaps between them. The rows are so narrow that the accumulators of all sides (see
    /// [`order`](super::order)) fit one row. The rows are added in the order of memory.
    #[inline(never)] // not inlined, because its rows need much of the stack
    unsafe fn side_by_side(&self, sides: usize, rows: &mut Stretches<'_>, n: usize, to: *mut u8, scratch: &mut Block) {
        let width = self.row.width;
        let (mut values, mut given) = (NO_ROW, NO_ROW);
        let values = values.as_mut_ptr().cast::<u8>();
        let offsets: [isize; LONGEST] = std::array::from_fn(|turn| (turn * sides * width) as isize);
        let mut done = 0;
        // SAFETY: the caller guarantees the rows, and a row has room for the accumulators of all sides.
        unsafe {
            let given = self.given_to(sides, &mut given);
            while done < n {
                let (at, many) = rows.take(n - done);
                let end = done + many;
                let mut start = self.row.start + at;
                while done < end {
                    let side = done % sides;
                    // a turn consists of one row for each side; folds all whole turns if the next row belongs to side
                    // 0; otherwise, or if no whole turn is left, folds the rows up to the last side or up to the end
                    let (count, turns) = match end - done {
                        left if side == 0 && left >= sides => (sides, left / sides),
                        left => (left.min(sides - side), 1),
                    };
                    let given = self.of_side(given, side);
                    let chain = Chain { start, offsets: &offsets[..turns], width: count * width, given };
                    let how = if done < sides { How::Begin } else { How::Add };
                    self.fold(how, &chain, values.add(side * width * self.acc), scratch);
                    done += count * turns;
                    start += (count * turns * width) as isize;
                }
            }
            self.halve(values, sides);
            to.copy_from_nonoverlapping(values, width * self.acc);
        }
    }

    /// Folds rows at any offsets into the sides of a block (rows of accumulators), one side after another. If the rows
    /// are at equal distances, up to `group` sides may be folded together.
    #[inline(never)] // not inlined, because its offsets need much of the stack
    unsafe fn spread(
        &self,
        sides: usize,
        group: usize,
        rows: &mut Stretches<'_>,
        n: usize,
        to: *mut u8,
        scratch: &mut Block,
    ) {
        let (turns, rest) = (n / sides, n % sides);
        let step = rows.step();
        let mut offsets = [const { MaybeUninit::<isize>::uninit() }; BLOCK];
        let even = rows.at_hand() >= n;
        let mut start = self.row.start;
        // index of the first offset of each side; the offsets of a side are stored together
        let first = |side: usize| side * turns + side.min(rest);
        if even {
            // offsets relative to the first row of a side, which are the same for all sides
            let longest = n.div_ceil(sides);
            offsets[..longest]
                .iter_mut()
                .enumerate()
                .for_each(|(turn, to)| _ = to.write((turn * sides) as isize * step));
            start += rows.take(n).0;
        } else {
            let mut done = 0;
            while done < n {
                let (at, many) = rows.take(n - done);
                for i in 0..many {
                    let (side, turn) = ((done + i) % sides, (done + i) / sides);
                    offsets[first(side) + turn].write(at + i as isize * step);
                }
                done += many;
            }
        }
        let offsets = offsets.as_ptr().cast::<isize>();
        let mut given = NO_ROW;
        // SAFETY: the caller guarantees the rows, and the offsets that are read have been written.
        unsafe {
            let group = if even { sides.min(1 << group.max(1).ilog2()) } else { 1 };
            let given = self.given_to(group, &mut given);
            let leaf = |how: How, side: usize, to: *mut u8, scratch: &mut Block| {
                let width = self.row.width;
                if !even {
                    let offsets = std::slice::from_raw_parts(offsets.add(first(side)), first(side + 1) - first(side));
                    return self.fold(how, &Chain { start, offsets, width, given }, to, scratch);
                }
                // the first sides have one row more than the others
                let longer = rest.saturating_sub(side).min(group);
                for (from, until, count) in [(0, longer, turns + 1), (longer, group, turns)] {
                    if from < until {
                        let chain = Chain {
                            start: start + (side + from) as isize * step,
                            offsets: std::slice::from_raw_parts(offsets, count),
                            width: (until - from) * width,
                            given: self.of_side(given, from),
                        };
                        let at = from * width * self.acc;
                        let how = if let How::Join(own) = how { How::Join(own.add(at)) } else { how };
                        self.fold(how, &chain, to.add(at), scratch);
                    }
                }
            };
            if group == sides && group == 1 {
                leaf(How::Begin, 0, to, scratch)
            } else {
                self.tree(sides, group, to, &leaf, scratch)
            }
        }
    }

    /// Merges the accumulators of all sides into one row. `leaf` folds a group of sides; its second argument is the
    /// index of the first of these sides.
    #[inline(never)] // not inlined, because its rows need much of the stack
    unsafe fn tree(
        &self,
        sides: usize,
        group: usize,
        to: *mut u8,
        leaf: &impl Fn(How, usize, *mut u8, &mut Block),
        scratch: &mut Block,
    ) {
        let mut levels = [NO_ROW; LEVELS];
        let [first, levels @ ..] = &mut levels;
        let values = if group == 1 { to } else { first.as_mut_ptr().cast() };
        // SAFETY: a row has room for the accumulators of a group, and there are as many levels as halvings.
        unsafe {
            self.node(Node { side: 0, step: group, sides, group }, values, levels, leaf, scratch);
            if group > 1 {
                self.halve(values, group);
                to.copy_from_nonoverlapping(values, self.row.width * self.acc);
            }
        }
    }

    /// Folds all sides of a tree node into the accumulators of one group of sides.
    unsafe fn node(
        &self,
        node: Node,
        to: *mut u8,
        levels: &mut [Row],
        leaf: &impl Fn(How, usize, *mut u8, &mut Block),
        scratch: &mut Block,
    ) {
        let (Some([early, late]), [own, below @ ..]) = (node.halves(), levels) else {
            return leaf(How::Begin, node.side, to, scratch);
        };
        let own = own.as_mut_ptr().cast();
        // SAFETY: the caller guarantees room for the accumulators at every level.
        unsafe {
            self.node(early, to, below, leaf, scratch);
            if late.halves().is_none() {
                return leaf(How::Join(own), late.side, to, scratch);
            }
            self.node(late, own, below, leaf, scratch);
            (self.of.folding.merge)(to, own, node.group * self.row.width);
        }
    }

    /// Merges the adjacent accumulators of `sides` sides into the accumulators of the first side.
    unsafe fn halve(&self, values: *mut u8, sides: usize) {
        let mut half = sides / 2;
        while half > 0 {
            let n = half * self.row.width;
            // SAFETY: both halves have been written.
            unsafe { (self.of.folding.merge)(values, values.add(n * self.acc), n) };
            half /= 2;
        }
    }

    /// Returns the address of the operands, repeated for `rows` adjacent rows. Repeated operands are stored in `room`.
    unsafe fn given_to(&self, rows: usize, room: &mut Row) -> *const u8 {
        let size = self.of.folding.given * self.row.width;
        if rows == 1 || size == 0 {
            return self.given;
        }
        let to = room.as_mut_ptr().cast::<u8>();
        for row in 0..rows {
            // SAFETY: a row has room for the operands of all its values.
            unsafe { to.add(row * size).copy_from_nonoverlapping(self.given, size) };
        }
        to
    }

    /// Address of the operands of a side.
    fn of_side(&self, given: *const u8, side: usize) -> *const u8 {
        given.wrapping_add(side * self.row.width * self.of.folding.given)
    }

    /// Folds the rows of a chain to one row of values. `how` says how `to` gets these values.
    unsafe fn fold(&self, how: How, chain: &Chain<'_>, to: *mut u8, scratch: &mut Block) {
        let Chain { start, offsets, width, given } = *chain;
        let from = self.of.from;
        let direct = self.row.stride == 1 && from.direct();
        let collide = match *offsets {
            [a, b, ..] => ((b - a).unsigned_abs() * from.wide()).is_multiple_of(COLLISION),
            _ => false,
        };
        let many = if !direct {
            1
        } else if collide {
            COLLIDING
        } else {
            AT_ONCE
        };
        let values = if let How::Join(own) = how { own } else { to };
        let mut rows = Rows {
            x: from.place(start),
            offsets: offsets.as_ptr(),
            count: 0,
            width,
            given,
            before: null(),
            to,
            joins: false,
        };
        if let How::Add = how {
            rows.before = values;
        }
        let last = offsets.len().div_ceil(many) - 1;
        for (k, offsets) in offsets.chunks(many).enumerate() {
            rows.joins = k == last && matches!(how, How::Join(_));
            rows.to = if rows.joins { to } else { values };
            // SAFETY: the caller guarantees the rows, the operands and enough room.
            unsafe {
                if direct {
                    (rows.offsets, rows.count) = (offsets.as_ptr(), offsets.len());
                } else {
                    rows.x = from.load(start + offsets[0], self.row.stride, width, scratch);
                    (rows.offsets, rows.count) = (&0, 1);
                }
                (self.of.folding.rows)(&rows);
            }
            rows.before = values;
        }
    }
}

/// A node of the tree of sides. It has the sides `side`, `side + step`, `side + 2 * step`, and so on. Each of these
/// sides stands for the whole group of sides that begins with it.
#[derive(Clone, Copy)]
struct Node {
    side: usize,
    step: usize,
    sides: usize,
    group: usize,
}

impl Node {
    /// The two nodes that are merged into this node, or `None` if the node is a single group.
    fn halves(self) -> Option<[Node; 2]> {
        let half = |side: usize| Node { side, step: 2 * self.step, ..self };
        (self.step < self.sides).then(|| [half(self.side), half(self.side + self.step)])
    }
}
