//! Types of parameters other than arrays: axes, lengths, slices.

use crate::{Error, Result};
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};

/// Maximum number of axes in a list of [`Axes`]. For longer lists the op returns an error.
const MAX_AXES: usize = 14;

/// The axes that an op works on: `..` (all), `0`, `-1`, `[0, 2]`, a slice or a `Vec`, of any integer type. The
/// conversion does not allocate.
///
/// # What `..` means
///
/// The meaning is the same on every backend. In NumPy, `None` and omitted axes have this meaning:
///
/// | op | `..` |
/// |---|---|
/// | reductions, `flip`, `fftn` and the like, `fftshift`, `moveaxis`, `tensordot` | all axes, in order |
/// | `permute_dims`, whose argument lists the axes of the result | all axes, in reverse order |
/// | `squeeze` | the axes of length 1 |
/// | `roll` | none: the elements are rolled in flattened C order |
/// | ops along one axis (`argmax`, `cumulative_sum`, `take`, `concat`, `repeat` ..) | none: the array is flattened, in C order |
/// | `expand_dims`, which needs the indices of the new axes | an error |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// Every axis.
    All,
    /// The listed axes, in this order. Negative axes count from the end.
    List(AxisList),
}

/// A list of axes, made by the conversions to [`Axes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisList {
    len: u8,
    axes: [i8; MAX_AXES],
    /// The reason why the list cannot be stored; `None` if it is stored. The op that takes an unfit list returns an
    /// error.
    unfit: Option<Unfit>,
}

/// The reason why no array can have these axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit {
    /// An axis that is out of range for every array.
    Axis(i128),
    /// The number of axes in a list that is too long.
    Count(usize),
}

impl Axes {
    /// Makes a list of axes. If the list does not fit (an axis beyond ±127, more than 14 axes), the op that takes it
    /// returns an error.
    pub fn list(axes: impl IntoIterator<Item = isize>) -> Axes {
        Axes::exact(axes.into_iter().map(|axis| axis as i128))
    }

    fn exact(axes: impl IntoIterator<Item = i128>) -> Axes {
        let mut list = AxisList { len: 0, axes: [0; MAX_AXES], unfit: None };
        for (count, axis) in axes.into_iter().enumerate() {
            match (list.axes.get_mut(count), i8::try_from(axis)) {
                (Some(place), Ok(axis)) => (*place, list.len) = (axis, list.len + 1),
                (Some(_), Err(_)) => list.unfit = list.unfit.or(Some(Unfit::Axis(axis))),
                (None, _) => list.unfit = Some(Unfit::Count(count + 1)),
            }
        }
        Axes::List(list)
    }

    /// Returns the axes as indices from 0 to `ndim - 1`, in the order of the list. Returns an error if an axis is out
    /// of range or occurs twice.
    pub fn resolve(self, op: &'static str, ndim: usize) -> Result<Vec<usize>> {
        let Axes::List(list) = self else {
            return Ok((0..ndim).collect());
        };
        let found = list.resolve(op, ndim)?;
        match (1..found.len()).find(|&i| found[..i].contains(&found[i])) {
            Some(i) => Err(Error::repeated_axis(op, found[i])),
            None => Ok(found),
        }
    }

    /// Returns the axes of the list; `None` if all axes are meant.
    pub fn as_list(&self) -> Option<&[i8]> {
        match self {
            Axes::All => None,
            Axes::List(list) => Some(list.named()),
        }
    }
}

impl AxisList {
    /// Returns the axes as indices from 0 to `ndim - 1`, in the order of the list. An axis may occur several times.
    /// Returns an error if an axis is out of range.
    pub fn resolve(&self, op: &'static str, ndim: usize) -> Result<Vec<usize>> {
        match self.unfit {
            Some(Unfit::Axis(axis)) => Err(Error::axis(op, axis, ndim)),
            Some(Unfit::Count(n)) => {
                Err(Error::argument(op, format!("{n} axes were given, but there must be at most {MAX_AXES}")))
            }
            None => self.named().iter().map(|&axis| crate::rules::axis(op, axis.into(), ndim)).collect(),
        }
    }

    /// Returns the only axis of the list, which may be negative.
    ///
    /// # Errors
    /// [`Error::Argument`] if the list does not have exactly one axis.
    pub(crate) fn one(&self, op: &'static str) -> Result<isize> {
        match (self.unfit, self.named()) {
            (Some(Unfit::Axis(axis)), []) => Ok(clamped(axis)),
            (None, [axis]) => Ok((*axis).into()),
            _ => Err(Error::argument(op, "exactly one axis must be given")),
        }
    }

    fn named(&self) -> &[i8] {
        &self.axes[..self.len.into()]
    }
}

/// One axis, of any integer type. Negative axes count from the end. An axis beyond the range of `isize` is out of range
/// for every array.
#[diagnostic::on_unimplemented(
    message = "an axis is an integer, and not `{Self}`",
    note = "this op works along one axis; ops that take several axes, or `..`, have a parameter `impl Into<Axes>`"
)]
pub trait IntoAxis {
    /// Returns the axis, clamped to the range of `isize`.
    fn axis(self) -> isize;
}

/// One axis, of any integer type, or `..`, which flattens the array in C order.
#[diagnostic::on_unimplemented(
    message = "this op takes one axis (an integer), or `..` for the flattened array, and not `{Self}`",
    note = "ops that take several axes have a parameter `impl Into<Axes>`"
)]
pub trait IntoAxisOrAll {
    /// Returns the axis; `None` if the array is to be flattened.
    fn axis_or_all(self) -> Option<isize>;
}

impl IntoAxisOrAll for RangeFull {
    #[inline(always)]
    fn axis_or_all(self) -> Option<isize> {
        None
    }
}

/// An axis that has already been converted.
impl IntoAxisOrAll for Option<isize> {
    #[inline(always)]
    fn axis_or_all(self) -> Option<isize> {
        self
    }
}

/// `None` means all axes.
impl From<Option<isize>> for Axes {
    fn from(axis: Option<isize>) -> Axes {
        axis.map_or(Axes::All, Axes::from)
    }
}

/// One number, or a list of them: `3`, `[2, 3]`, a slice or a `Vec`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a `{N}` nor a list of `{N}`",
    note = "write a number, an array such as `[2, 3]`, a slice or a `Vec`"
)]
pub trait Numbers<N> {
    /// Returns the numbers, in order.
    fn numbers(&self) -> &[N];
}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        impl Numbers<$t> for $t {
            #[inline]
            fn numbers(&self) -> &[$t] {
                std::slice::from_ref(self)
            }
        }
        impl Numbers<$t> for [$t] {
            #[inline]
            fn numbers(&self) -> &[$t] {
                self
            }
        }
        impl<const K: usize> Numbers<$t> for [$t; K] {
            #[inline]
            fn numbers(&self) -> &[$t] {
                self
            }
        }
        impl Numbers<$t> for Vec<$t> {
            #[inline]
            fn numbers(&self) -> &[$t] {
                self
            }
        }
    )*};
}
numbers!(usize);

impl<N, S: Numbers<N> + ?Sized> Numbers<N> for &S {
    #[inline]
    fn numbers(&self) -> &[N] {
        (**self).numbers()
    }
}

/// One integer, or a list of integers, of any integer type: `3`, `[2, -1]`, `[n / 10, 10]`, `x.shape()`. Examples are
/// shifts, and lengths of which one may be -1. An empty list needs a type, like any list in Rust: `[0_usize; 0]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither an integer nor a list of integers",
    note = "write a number, an array such as `[2, -1]`, a slice or a `Vec`; a list with -1 needs a signed type: `[n as isize, -1]`"
)]
pub trait SignedNumbers {
    /// Returns the numbers, in order.
    ///
    /// # Errors
    /// [`Error::Argument`] for a number out of the range of `isize`.
    fn signed(&self, op: &'static str) -> Result<Vec<isize>>;
}

impl<S: SignedNumbers + ?Sized> SignedNumbers for &S {
    #[inline]
    fn signed(&self, op: &'static str) -> Result<Vec<isize>> {
        (**self).signed(op)
    }
}

fn signed<T: Exact>(op: &'static str, numbers: &[T]) -> Result<Vec<isize>> {
    let number = |number: &T| {
        let number = number.exact();
        isize::try_from(number)
            .map_err(|_| Error::argument(op, format!("{number} is given, but must be within the range of lengths")))
    };
    numbers.iter().map(number).collect()
}

/// Widths of borders. There is one number for all borders, or a pair (before, after) for all axes, or such a pair for
/// each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widths(pub(crate) Vec<usize>);

impl Widths {
    /// Returns the numbers as the caller passed them: one, two, or two for each axis.
    #[inline]
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }
}

/// Types that convert to border widths: `1`, a pair `(1, 2)` for all axes, or a pair for each axis, `[(1, 2), (0, 1)]`.
/// A single width may also be in brackets.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a width of borders",
    note = "write a number, a pair such as `(1, 2)`, or a pair for each axis: `[(1, 2), (0, 1)]`"
)]
pub trait IntoWidths {
    /// Converts this value to widths.
    fn into_widths(self) -> Widths;
}

impl IntoWidths for Widths {
    fn into_widths(self) -> Widths {
        self
    }
}

impl<S: Numbers<usize>> IntoWidths for S {
    fn into_widths(self) -> Widths {
        Widths(self.numbers().to_vec())
    }
}

impl IntoWidths for (usize, usize) {
    fn into_widths(self) -> Widths {
        Widths(vec![self.0, self.1])
    }
}

macro_rules! pairs {
    ($([$($k:tt)*] $t:ty, |$pair:ident| $both:expr;)*) => {$(
        impl<$($k)*> IntoWidths for $t {
            fn into_widths(self) -> Widths {
                Widths(self.iter().flat_map(|$pair| $both).collect())
            }
        }
    )*};
}
pairs! {
    [const K: usize] [(usize, usize); K], |pair| [pair.0, pair.1];
    [] &[(usize, usize)], |pair| [pair.0, pair.1];
    [] Vec<(usize, usize)>, |pair| [pair.0, pair.1];
    [] &Vec<(usize, usize)>, |pair| [pair.0, pair.1];
    [const K: usize] [[usize; 2]; K], |pair| *pair;
    [] &[[usize; 2]], |pair| *pair;
    [] Vec<[usize; 2]>, |pair| *pair;
}

impl From<RangeFull> for Axes {
    #[inline]
    fn from(_: RangeFull) -> Axes {
        Axes::All
    }
}

/// Exact conversion of an axis or index to an `i128`, which can represent every integer that a user can pass.
trait Exact: Copy {
    fn exact(self) -> i128;
}

/// Clamps an axis to `isize`. An axis beyond this range is still out of range for every array.
fn clamped(axis: i128) -> isize {
    axis.clamp(isize::MIN as i128, isize::MAX as i128) as isize
}

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Exact for $t {
            #[inline(always)]
            fn exact(self) -> i128 {
                const { assert!(<$t>::BITS < i128::BITS) };
                self as i128
            }
        }
        impl SignedNumbers for $t {
            fn signed(&self, op: &'static str) -> Result<Vec<isize>> {
                signed(op, std::slice::from_ref(self))
            }
        }
        impl SignedNumbers for [$t] {
            fn signed(&self, op: &'static str) -> Result<Vec<isize>> {
                signed(op, self)
            }
        }
        impl<const K: usize> SignedNumbers for [$t; K] {
            fn signed(&self, op: &'static str) -> Result<Vec<isize>> {
                signed(op, self)
            }
        }
        impl SignedNumbers for Vec<$t> {
            fn signed(&self, op: &'static str) -> Result<Vec<isize>> {
                signed(op, self)
            }
        }
        impl IntoAxis for $t {
            #[inline(always)]
            fn axis(self) -> isize {
                clamped(self.exact())
            }
        }
        impl IntoAxisOrAll for $t {
            #[inline(always)]
            fn axis_or_all(self) -> Option<isize> {
                Some(self.axis())
            }
        }
        impl From<$t> for Axes {
            #[inline]
            fn from(axis: $t) -> Axes {
                Axes::exact([axis.exact()])
            }
        }
        impl<const N: usize> From<[$t; N]> for Axes {
            #[inline]
            fn from(axes: [$t; N]) -> Axes {
                Axes::from(&axes[..])
            }
        }
        impl From<&[$t]> for Axes {
            #[inline]
            fn from(axes: &[$t]) -> Axes {
                Axes::exact(axes.iter().map(|axis| axis.exact()))
            }
        }
        impl From<Vec<$t>> for Axes {
            #[inline]
            fn from(axes: Vec<$t>) -> Axes {
                Axes::from(&axes[..])
            }
        }
        impl From<Range<$t>> for Slice {
            fn from(r: Range<$t>) -> Slice {
                Slice { start: Some(r.start.exact()), stop: Some(r.end.exact()), ..Slice::ALL }
            }
        }
        impl From<RangeFrom<$t>> for Slice {
            fn from(r: RangeFrom<$t>) -> Slice {
                Slice { start: Some(r.start.exact()), ..Slice::ALL }
            }
        }
        impl From<RangeTo<$t>> for Slice {
            fn from(r: RangeTo<$t>) -> Slice {
                Slice { stop: Some(r.end.exact()), ..Slice::ALL }
            }
        }
        impl From<$t> for Slice {
            fn from(index: $t) -> Slice {
                Slice { start: Some(index.exact()), drop: true, ..Slice::ALL }
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// Lengths of the transformed axes of a multi-dimensional transform, made from an array, a slice or a `Vec` without
/// allocation.
///
/// If there are more than 14 lengths, [`Lengths::as_slice`] returns `None`, so that the op returns an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    len: usize,
    lengths: [usize; MAX_AXES],
}

impl Lengths {
    /// Returns the number of lengths.
    pub fn count(&self) -> usize {
        self.len
    }

    /// Returns the lengths, in order; `None` if there are more than 14.
    pub fn as_slice(&self) -> Option<&[usize]> {
        self.lengths.get(..self.len)
    }
}

impl From<&[usize]> for Lengths {
    fn from(given: &[usize]) -> Lengths {
        let mut lengths = [0; MAX_AXES];
        lengths.iter_mut().zip(given).for_each(|(l, g)| *l = *g);
        Lengths { len: given.len(), lengths }
    }
}

impl From<usize> for Lengths {
    fn from(given: usize) -> Lengths {
        Lengths::from(&[given][..])
    }
}

impl<const N: usize> From<[usize; N]> for Lengths {
    fn from(given: [usize; N]) -> Lengths {
        Lengths::from(&given[..])
    }
}

impl From<Vec<usize>> for Lengths {
    fn from(given: Vec<usize>) -> Lengths {
        Lengths::from(&given[..])
    }
}

/// A range of one axis: `start..stop` with a step. Negative numbers count from the end, as in Python.
///
/// Slices are made from the ranges `..`, `1..`, `..-1`, `1..-1`. [`Slice::step`] takes every n-th index of a range, or
/// reverses the order. A single index (`Slice::at(3)`) takes one element and drops the axis. Bounds beyond an axis are
/// clamped to the axis, and a single index must lie within the axis. Bounds and indices are stored without conversion.
/// So `usize::MAX` is out of range for every axis, and does not become -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// First index; `None` for the beginning of the axis (or its end if the step is negative).
    pub start: Option<i128>,
    /// One past the last index; `None` for the end of the axis (or its beginning if the step is negative).
    pub stop: Option<i128>,
    /// The distance from one index to the next. It must not be 0.
    pub step: isize,
    /// True if the slice is a single index, which drops the axis.
    pub drop: bool,
}

impl Slice {
    /// The whole axis.
    pub const ALL: Slice = Slice { start: None, stop: None, step: 1, drop: false };

    /// A single index, which drops the axis.
    pub const fn at(index: isize) -> Slice {
        Slice { start: Some(index as i128), stop: None, step: 1, drop: true }
    }

    /// Takes every `step`-th index, in reverse order if `step` is negative.
    #[must_use]
    pub const fn step(mut self, step: isize) -> Slice {
        self.step = step;
        self
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Slice {
        Slice::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_resolve_and_refuse() {
        assert_eq!(Axes::from(..).resolve("sum", 2).unwrap(), [0, 1]);
        assert_eq!(Axes::from([-1, 0]).resolve("sum", 3).unwrap(), [2, 0]);
        assert_eq!(Axes::from(2).resolve("sum", 2), Err(Error::axis("sum", 2, 2)));
        assert_eq!(Axes::from([0, -2]).resolve("sum", 2), Err(Error::repeated_axis("sum", 0)));
        assert!(Axes::from(vec![0_usize; 15]).resolve("sum", 20).is_err(), "more axes than a list holds");
        assert_eq!(Axes::from([0, 1000]).resolve("sum", 20), Err(Error::axis("sum", 1000, 20)));
        assert_eq!(
            Axes::list([isize::MIN]).resolve("sum", 1).unwrap_err().to_string(),
            format!("sum: axis {} is out of range for 1 dimensions", isize::MIN)
        );
    }

    #[test]
    fn numbers_of_any_type_are_what_they_were() {
        // an unsigned index that wrapped below 0 does not count from the end
        let last = usize::MAX;
        assert_eq!(Axes::from(last).resolve("sum", 2), Err(Error::axis("sum", last as i128, 2)));
        assert_eq!(Axes::from([0, last]).resolve("sum", 2), Err(Error::axis("sum", last as i128, 2)));
        assert_eq!(Axes::from(vec![u64::MAX]).resolve("sum", 2), Err(Error::axis("sum", u64::MAX, 2)));
        assert_eq!(Axes::from(1_u8).resolve("sum", 2).unwrap(), [1]);
        assert_eq!(Axes::from(-1_i64).resolve("sum", 2).unwrap(), [1]);
        assert_eq!((Slice::from(0..last).start, Slice::from(0..last).stop), (Some(0), Some(last as i128)));
        assert_eq!(Slice::from(last..).start, Some(last as i128));
        assert_eq!(Slice::from(..last).stop, Some(last as i128));
        assert_eq!(Slice::from(last), Slice { start: Some(last as i128), stop: None, step: 1, drop: true });
        assert_eq!(Slice::from(-1_i8), Slice::at(-1));
    }

    #[test]
    fn a_number_is_a_list_of_one() {
        fn of<N: Clone>(list: impl Numbers<N>) -> Vec<N> {
            list.numbers().to_vec()
        }
        assert_eq!(of::<usize>(3), [3]);
        let of_signed = |list: &dyn SignedNumbers| list.signed("reshape").unwrap();
        assert_eq!((of_signed(&[-1, 2]), of_signed(&-3_i8), of_signed(&vec![7_u16])), (vec![-1, 2], vec![-3], vec![7]));
        assert_eq!(of_signed(&&[3_usize, 4][..]), [3, 4]);
        let beyond = [1, u64::MAX].signed("reshape").unwrap_err().to_string();
        assert_eq!(beyond, format!("reshape: {} is given, but must be within the range of lengths", u64::MAX));
        assert_eq!(of::<usize>(&vec![4, 5][..]), [4, 5]);
        assert_eq!(of::<usize>([]), [0; 0]);
        assert_eq!((IntoAxis::axis(-1_i8), IntoAxis::axis(2_u32)), (-1, 2));
        assert_eq!(IntoAxis::axis(u64::MAX), isize::MAX, "beyond every axis, and not -1");
        assert_eq!(Lengths::from(7).as_slice(), Some(&[7][..]));
    }
}
