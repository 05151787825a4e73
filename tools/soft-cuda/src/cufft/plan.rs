//! cuFFT plans: transforms of arrays in device memory. The memory layout of an array is cuFFT's advanced data layout.

use super::transform;
use crate::{
    fault::{Access, Fault},
    memory::{Hint, Memory, POISON},
    stored::{Computed, Stored, aligned},
};
use num_complex::Complex;

/// The kind of a transform, which determines the dtypes of its input and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransformKind {
    Complex64,
    Complex128,
    /// From real numbers to values at the non-negative frequencies of the last axis.
    ToHalf32,
    ToHalf64,
    /// From values at the non-negative frequencies of the last axis to real numbers.
    FromHalf32,
    FromHalf64,
}

impl TransformKind {
    /// Returns the kind for the number of a `cufftType`.
    pub(super) fn of(number: u32) -> Option<TransformKind> {
        match number {
            0x29 => Some(TransformKind::Complex64),
            0x69 => Some(TransformKind::Complex128),
            0x2a => Some(TransformKind::ToHalf32),
            0x6a => Some(TransformKind::ToHalf64),
            0x2c => Some(TransformKind::FromHalf32),
            0x6c => Some(TransformKind::FromHalf64),
            _ => None,
        }
    }

    /// Size of a complex number in bytes. All addresses, even those of real numbers, must be multiples of this size.
    fn complex_bytes(self) -> usize {
        match self {
            TransformKind::Complex64 | TransformKind::ToHalf32 | TransformKind::FromHalf32 => 8,
            TransformKind::Complex128 | TransformKind::ToHalf64 | TransformKind::FromHalf64 => 16,
        }
    }

    /// Returns the lengths of the input's axes. In transforms to real numbers, the last axis has only the non-negative
    /// frequencies.
    pub(super) fn lengths_before(self, lengths: &[i64]) -> Vec<i64> {
        if matches!(self, TransformKind::FromHalf32 | TransformKind::FromHalf64) {
            halved(lengths)
        } else {
            lengths.to_vec()
        }
    }

    /// Returns the lengths of the result's axes. In transforms of real numbers, the last axis has only the non-negative
    /// frequencies.
    pub(super) fn lengths_after(self, lengths: &[i64]) -> Vec<i64> {
        if matches!(self, TransformKind::ToHalf32 | TransformKind::ToHalf64) {
            halved(lengths)
        } else {
            lengths.to_vec()
        }
    }
}

fn halved(lengths: &[i64]) -> Vec<i64> {
    let mut lengths = lengths.to_vec();
    if let Some(last) = lengths.last_mut() {
        *last = *last / 2 + 1;
    }
    lengths
}

/// The direction of a transform, which determines the sign of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Inverse,
}

impl Direction {
    pub(super) fn of(sign: i32) -> Option<Direction> {
        match sign {
            -1 => Some(Direction::Forward),
            1 => Some(Direction::Inverse),
            _ => None,
        }
    }
}

/// One side of a transform, the input or the output, with its memory layout: element (i, j, k) of batch `b` is at `b *
/// distance + ((i * embed[1] + j) * embed[2] + k) * stride`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) embed: Vec<i64>,
    pub(super) stride: i64,
    pub(super) distance: i64,
    /// The lengths of the axes.
    pub(super) of: Vec<i64>,
}

impl Side {
    /// Returns the layout of an array whose elements and batches are consecutive in memory.
    pub(super) fn dense(of: Vec<i64>) -> Side {
        Side { embed: of.clone(), stride: 1, distance: of.iter().copied().fold(1, i64::saturating_mul), of }
    }

    /// Returns whether `stride` and `distance` are positive, and the lengths of all axes except the first are at most
    /// those in `embed`.
    fn is_valid(&self) -> bool {
        let inner = self.embed.iter().zip(&self.of).skip(1);
        self.stride > 0 && self.distance > 0 && inner.clone().all(|(embed, of)| embed >= of)
    }

    /// Returns the offsets of all elements of all batches, in elements.
    fn offsets(&self, batches: i64) -> Vec<i64> {
        let mut all: Vec<i64> = vec![0];
        for (&embed, &len) in self.embed.iter().zip(&self.of) {
            all = all.iter().flat_map(|&at| (0..len).map(move |i| at * embed + i)).collect();
        }
        let one = |batch: i64| all.iter().map(move |&at| batch * self.distance + at * self.stride);
        (0..batches).flat_map(one).collect()
    }
}

/// The transforms of a plan: their kind, lengths and number, and the memory layouts of their inputs and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) kind: TransformKind,
    pub(super) lengths: Vec<i64>,
    pub(super) batches: i64,
    pub(super) from: Side,
    pub(super) to: Side,
}

impl Layout {
    /// A transform along a single axis needs no work area if the length of the axis is a power of two up to this
    /// number.
    const WITHOUT_WORK: i64 = 4096;

    /// Returns the size of the work area in bytes; `None` if the layout is not valid.
    pub(super) fn work(&self) -> Option<usize> {
        let sizes = self.lengths.iter().chain([&self.batches]);
        let valid = sizes.clone().all(|&size| size > 0) && self.from.is_valid() && self.to.is_valid();
        let count = sizes.copied().try_fold(1, i64::checked_mul).filter(|_| valid)?;
        let small = |n: i64| n <= Self::WITHOUT_WORK && n & (n - 1) == 0;
        let bytes = count.checked_mul(self.kind.complex_bytes() as i64)?;
        Some(if self.lengths.len() == 1 && small(self.lengths[0]) { 0 } else { bytes as usize })
    }

    /// Transforms the array at address `from`, and writes the result to address `to`. Overwrites the work area, and
    /// also the input of a transform to real numbers.
    pub(super) fn run(
        &self,
        direction: Direction,
        from: u64,
        to: u64,
        work: u64,
        memory: &mut Memory,
    ) -> Result<(), Fault> {
        aligned(Access::Read, from, self.kind.complex_bytes())?;
        aligned(Access::Write, to, self.kind.complex_bytes())?;
        self.spoil_work(work, memory)?;
        match self.kind {
            TransformKind::Complex64 => self.apply::<Complex<f32>, Complex<f32>>(direction, from, to, memory),
            TransformKind::Complex128 => self.apply::<Complex<f64>, Complex<f64>>(direction, from, to, memory),
            TransformKind::ToHalf32 => self.apply::<f32, Complex<f32>>(Direction::Forward, from, to, memory),
            TransformKind::ToHalf64 => self.apply::<f64, Complex<f64>>(Direction::Forward, from, to, memory),
            TransformKind::FromHalf32 => self.apply::<Complex<f32>, f32>(Direction::Inverse, from, to, memory),
            TransformKind::FromHalf64 => self.apply::<Complex<f64>, f64>(Direction::Inverse, from, to, memory),
        }?;
        // the work area is filled with poison twice: before the transform, to expose inputs that overlap it, and after
        // the transform, to expose results that overlap it
        self.spoil_work(work, memory)
    }

    fn spoil_work(&self, work: u64, memory: &mut Memory) -> Result<(), Fault> {
        if let Some(bytes) = self.work().filter(|&bytes| bytes > 0) {
            memory.write(&mut Hint::default(), work, bytes)?.fill(POISON);
        }
        Ok(())
    }

    fn apply<I: Stored, O: Stored>(
        &self,
        direction: Direction,
        from: u64,
        to: u64,
        memory: &mut Memory,
    ) -> Result<(), Fault> {
        let place = |base: u64, offset: i64, size: usize| base.wrapping_add_signed(offset.wrapping_mul(size as i64));
        let (read, mut written) = (self.from.offsets(self.batches), self.to.offsets(self.batches));
        let mut hint = Hint::default();
        let elements = read
            .iter()
            .map(|&at| Ok(I::get(memory.read(&mut hint, place(from, at, I::SIZE), I::SIZE)?).complex()))
            .collect::<Result<Vec<_>, Fault>>()?;
        let out = self.transformed(direction, elements);
        if matches!(self.kind, TransformKind::FromHalf32 | TransformKind::FromHalf64) {
            for &at in &read {
                memory.write(&mut hint, place(from, at, I::SIZE), I::SIZE)?.fill(POISON);
            }
        }
        let mut hint = Hint::default();
        for (&at, &value) in written.iter().zip(&out) {
            O::put(O::In::of(value), memory.write(&mut hint, place(to, at, O::SIZE), O::SIZE)?);
        }
        written.sort_unstable();
        if written.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Fault::Failed("two results are in one place".to_string()));
        }
        Ok(())
    }

    /// Returns the transforms of all batches. Neither direction divides by the length.
    fn transformed(&self, direction: Direction, mut x: Vec<Complex<f64>>) -> Vec<Complex<f64>> {
        let sign = if direction == Direction::Forward { -1.0 } else { 1.0 };
        let shape = |lengths: &[i64]| {
            std::iter::once(self.batches).chain(lengths.iter().copied()).map(|n| n as usize).collect()
        };
        let (before, whole): (Vec<usize>, Vec<usize>) = (shape(&self.from.of), shape(&self.lengths));
        let last = whole.len() - 1;
        // transforms along the axes before the last one, while the last axis may have only its non-negative frequencies
        (1..last).for_each(|axis| transform::along(&mut x, &before, axis, sign));
        if before != whole {
            x = x.chunks_exact(before[last]).flat_map(|half| with_negative_frequencies(half, whole[last])).collect();
        }
        transform::along(&mut x, &whole, last, sign);
        let kept = self.to.of.last().map_or(0, |&kept| kept as usize);
        x.chunks_exact(whole[last]).flat_map(|line| &line[..kept]).copied().collect()
    }
}

/// Returns the complete spectrum of `n` real numbers, computed from the values at its non-negative frequencies. Values
/// at frequencies 0 and n / 2 become real, because these frequencies equal their own negatives.
fn with_negative_frequencies(half: &[Complex<f64>], n: usize) -> Vec<Complex<f64>> {
    let frequency = |k: usize| {
        let (at, is_negative) = if k < half.len() { (k, false) } else { (n - k, true) };
        let value = if (2 * at).is_multiple_of(n) { half[at].re.into() } else { half[at] };
        if is_negative { value.conj() } else { value }
    };
    (0..n).map(frequency).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::testing::{download, upload};
    use std::f64::consts::TAU;

    type C = Complex<f64>;

    fn number(i: usize) -> C {
        C::new((i as f64 * 1.7).sin(), (i as f64).cos())
    }

    fn layout(kind: TransformKind, lengths: &[i64], batches: i64) -> Layout {
        let (from, to) = (Side::dense(kind.lengths_before(lengths)), Side::dense(kind.lengths_after(lengths)));
        Layout { kind, lengths: lengths.to_vec(), batches, from, to }
    }

    /// Computes element (k, l) of the transform of an n x m array `x` along two axes, by the definition.
    fn expected(x: &dyn Fn(i64, i64) -> C, [n, m]: [i64; 2], [k, l]: [i64; 2], sign: f64) -> C {
        let turns = |i: i64, j: i64| (i * k % n) as f64 / n as f64 + (j * l % m) as f64 / m as f64;
        let term = |i: i64, j: i64| x(i, j) * C::from_polar(1.0, sign * TAU * turns(i, j));
        (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| term(i, j)).sum()
    }

    #[test]
    fn transforms_are_those_of_the_definition_wherever_the_data_lies() {
        for (direction, sign) in [(Direction::Forward, -1.0), (Direction::Inverse, 1.0)] {
            let mut memory = Memory::new(0, 1 << 20);
            let mut plan = layout(TransformKind::Complex128, &[3, 4], 2);
            plan.from = Side { embed: vec![3, 5], stride: 2, distance: 35, of: vec![3, 4] };
            plan.to = Side { embed: vec![0, 6], stride: 2, distance: 1, of: vec![3, 4] };
            let x: Vec<C> = (0..70).map(number).collect();
            let (from, to) = (upload::<C>(&mut memory, &x), upload::<C>(&mut memory, &[C::new(7.0, 7.0); 40]));
            let work = memory.allocate(plan.work().unwrap() as u64).unwrap();
            plan.run(direction, from, to, work, &mut memory).unwrap();
            let out = download::<C>(&memory, to, 40);
            let mut others = out.clone();
            for batch in 0..2 {
                for k in 0..3 {
                    for l in 0..4 {
                        let at = (batch + (k * 6 + l) * 2) as usize;
                        let data = |i: i64, j: i64| x[(batch * 35 + (i * 5 + j) * 2) as usize];
                        assert!((out[at] - expected(&data, [3, 4], [k, l], sign)).norm() < 1e-12);
                        others[at] = C::new(7.0, 7.0);
                    }
                }
            }
            assert_eq!(others, [C::new(7.0, 7.0); 40], "nothing else is written");
            assert_eq!(download::<C>(&memory, from, 70), x);
        }
    }

    #[test]
    fn real_transforms_go_there_and_back() {
        let mut memory = Memory::new(0, 1 << 20);
        let x: Vec<f64> = (0..20).map(|i| f64::from(number(i).re as f32)).collect();
        let from = upload::<f32>(&mut memory, &x);
        let half = memory.allocate(8 * 2 * 2 * 3).unwrap();
        let back = memory.allocate(4 * 20).unwrap();
        let plan = layout(TransformKind::ToHalf32, &[2, 5], 2);
        let work = memory.allocate(plan.work().unwrap() as u64).unwrap();
        plan.run(Direction::Forward, from, half, work, &mut memory).unwrap();
        let sum: f64 = x[..10].iter().sum();
        let first = download::<Complex<f32>>(&memory, half, 1)[0];
        assert!((first - sum).norm() < 1e-5, "{first} {sum}");
        layout(TransformKind::FromHalf32, &[2, 5], 2).run(Direction::Inverse, half, back, work, &mut memory).unwrap();
        for (x, y) in x.iter().zip(download::<f32>(&memory, back, 20)) {
            assert!((10.0 * x - y).abs() < 1e-4, "{x} {y}: not scaled");
        }
        let spoiled = download::<Complex<f32>>(&memory, half, 12);
        assert!(spoiled.iter().all(|x| x.re.is_nan()), "what it was made of is gone");
    }

    #[test]
    fn what_is_too_small_or_not_aligned_is_seen() {
        let mut memory = Memory::new(0, 1 << 20);
        let plan = layout(TransformKind::Complex64, &[6], 2);
        let bytes = 8 * 12;
        let [whole, short] = [bytes, bytes - 1].map(|bytes| memory.allocate(bytes).unwrap());
        let other = memory.allocate(bytes).unwrap();
        assert_eq!(plan.work(), Some(bytes as usize));
        let mut run =
            |from, to, work| plan.run(Direction::Forward, from, to, work, &mut memory).map_err(|fault| fault.code());
        assert_eq!(run(whole, whole, other), Ok(()));
        for (from, to, work) in [(short, whole, other), (whole, short, other), (whole, whole, short), (whole, whole, 0)]
        {
            assert_eq!(run(from, to, work), Err(700));
        }
        assert_eq!(run(whole + 4, whole, other), Err(716));
        let mut overlapping = layout(TransformKind::Complex64, &[2], 2);
        overlapping.to.distance = 1;
        let fault = overlapping.run(Direction::Forward, whole, other, 0, &mut memory).unwrap_err();
        assert_eq!(fault.code(), 719);
    }

    #[test]
    fn layouts_that_there_are_not() {
        assert_eq!(layout(TransformKind::Complex64, &[8], 3).work(), Some(0));
        assert_eq!(layout(TransformKind::Complex64, &[0], 3).work(), None);
        assert_eq!(layout(TransformKind::Complex64, &[8], 0).work(), None);
        assert_eq!(layout(TransformKind::Complex64, &[i64::MAX, 8], 1).work(), None);
        let mut rows_overlap = layout(TransformKind::Complex64, &[3, 8], 1);
        rows_overlap.to.embed[1] = 7;
        assert_eq!(rows_overlap.work(), None);
        assert_eq!(TransformKind::of(0x2b), None);
        assert_eq!(Direction::of(0), None);
    }
}
