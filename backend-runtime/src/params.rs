//! The types of parameters that are no arrays: axes, slices, and the closed choices (`norm`, `indexing`, `mode` ..).

use crate::{Error, Result};
use std::{
    fmt,
    ops::{Range, RangeFrom, RangeFull, RangeTo},
    str::FromStr,
};

/// How many axes a list of [`Axes`] holds; more are an error of the op that takes them.
const MOST: usize = 14;

/// Which axes an op runs over: `..` (all), `0`, `-1`, `[0, 2]`, a slice or a `Vec`. No allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// Every axis.
    All,
    /// The axes named, in the order given; negative ones count from the end.
    List(AxisList),
}

/// A list of axes, made by the conversions to [`Axes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisList {
    len: usize,
    axes: [i8; MOST],
}

impl Axes {
    /// A list of axes. One that does not fit (an axis beyond ±127, more than 14 axes) is kept as one that no array has.
    pub fn list(axes: impl IntoIterator<Item = isize>) -> Axes {
        let mut list = AxisList { len: 0, axes: [i8::MAX; MOST] };
        for axis in axes {
            if list.len == MOST {
                return Axes::List(AxisList { len: 1, axes: [i8::MAX; MOST] });
            }
            list.axes[list.len] = i8::try_from(axis).unwrap_or(i8::MAX);
            list.len += 1;
        }
        Axes::List(list)
    }

    /// The axes as indices into a shape of `ndim` axes, in the order given.
    pub fn resolve(self, op: &'static str, ndim: usize) -> Result<Vec<usize>> {
        let Axes::List(list) = self else {
            return Ok((0..ndim).collect());
        };
        let mut found: Vec<usize> = Vec::with_capacity(list.len);
        for &axis in &list.axes[..list.len] {
            let index = crate::shape::axis(op, axis.into(), ndim)?;
            if found.contains(&index) {
                return Err(Error::Axis { op, axis: axis.into(), ndim });
            }
            found.push(index);
        }
        Ok(found)
    }

    /// The list as given, or `None` for all axes.
    pub fn as_list(&self) -> Option<&[i8]> {
        match self {
            Axes::All => None,
            Axes::List(list) => Some(&list.axes[..list.len]),
        }
    }
}

impl From<RangeFull> for Axes {
    #[inline]
    fn from(_: RangeFull) -> Axes {
        Axes::All
    }
}

macro_rules! axes_from {
    ($($t:ty)*) => {$(
        impl From<$t> for Axes {
            #[inline]
            fn from(axis: $t) -> Axes {
                Axes::list([axis as isize])
            }
        }
        impl<const N: usize> From<[$t; N]> for Axes {
            #[inline]
            fn from(axes: [$t; N]) -> Axes {
                Axes::list(axes.map(|a| a as isize))
            }
        }
        impl From<&[$t]> for Axes {
            #[inline]
            fn from(axes: &[$t]) -> Axes {
                Axes::list(axes.iter().map(|&a| a as isize))
            }
        }
        impl From<Vec<$t>> for Axes {
            #[inline]
            fn from(axes: Vec<$t>) -> Axes {
                Axes::from(&axes[..])
            }
        }
    )*};
}
axes_from!(i32 isize usize);

/// Lengths of the transformed axes of a multi-dimensional transform: from an array, a slice or a `Vec`. No allocation.
///
/// More than 14 are kept as a list that fits no array, so that the op refuses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    len: usize,
    lengths: [usize; MOST],
}

impl Lengths {
    /// The lengths, in the order given; `None` if there were more than 14.
    pub fn as_slice(&self) -> Option<&[usize]> {
        self.lengths.get(..self.len)
    }
}

impl From<&[usize]> for Lengths {
    fn from(given: &[usize]) -> Lengths {
        let mut lengths = [0; MOST];
        lengths.iter_mut().zip(given).for_each(|(l, g)| *l = *g);
        Lengths { len: given.len(), lengths }
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

/// A part of one axis: `start..stop` with a step, negative numbers counting from the end, as in Python.
///
/// Made from ranges: `..`, `1..`, `..-1`, `1..-1`, with [`Slice::step`] for every n-th or a reversed part. An index alone
/// (`Slice::at(3)`) takes one element and drops the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// First index; `None` is the beginning (the end for a negative step).
    pub start: Option<isize>,
    /// One past the last index; `None` is the end (the beginning for a negative step).
    pub stop: Option<isize>,
    /// From one index to the next; not 0.
    pub step: isize,
    /// Whether one index was given, so that the axis goes.
    pub drop: bool,
}

impl Slice {
    /// The whole axis.
    pub const ALL: Slice = Slice { start: None, stop: None, step: 1, drop: false };

    /// One index: the axis goes.
    pub const fn at(index: isize) -> Slice {
        Slice { start: Some(index), stop: None, step: 1, drop: true }
    }

    /// Every `step`-th index; backwards where it is negative.
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

macro_rules! slice_from {
    ($($t:ty)*) => {$(
        impl From<Range<$t>> for Slice {
            fn from(r: Range<$t>) -> Slice {
                Slice { start: Some(r.start as isize), stop: Some(r.end as isize), ..Slice::ALL }
            }
        }
        impl From<RangeFrom<$t>> for Slice {
            fn from(r: RangeFrom<$t>) -> Slice {
                Slice { start: Some(r.start as isize), ..Slice::ALL }
            }
        }
        impl From<RangeTo<$t>> for Slice {
            fn from(r: RangeTo<$t>) -> Slice {
                Slice { stop: Some(r.end as isize), ..Slice::ALL }
            }
        }
        impl From<$t> for Slice {
            fn from(index: $t) -> Slice {
                Slice::at(index as isize)
            }
        }
    )*};
}
slice_from!(i32 isize usize);

/// A closed choice, with its names.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $v:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $v,)*
        }

        impl $name {
            /// The names of all choices.
            pub const NAMES: &[&str] = &[$($text),*];

            /// NumPy's name of it.
            pub const fn name(self) -> &'static str {
                match self { $($name::$v => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = Error;
            fn from_str(text: &str) -> Result<Self> {
                match text {
                    $($text => Ok($name::$v),)*
                    other => Err(Error::argument(
                        stringify!($name),
                        format!("`{other}` is none of {}", $name::NAMES.join(", ")),
                    )),
                }
            }
        }
    };
}

choice! {
    /// Scaling of a Fourier transform of n points.
    Norm {
        /// 1 forward, 1/n inverse.
        Backward = "backward",
        /// 1/sqrt(n) both ways.
        Ortho = "ortho",
        /// 1/n forward, 1 inverse.
        Forward = "forward",
    }
}

choice! {
    /// Order of the axes of coordinate grids.
    MeshIndexing {
        /// Cartesian: the first two axes are swapped.
        Xy = "xy",
        /// Matrix: axis k belongs to coordinate k.
        Ij = "ij",
    }
}

choice! {
    /// Which insertion point to take among equal elements.
    Side {
        /// Before the first.
        Left = "left",
        /// After the last.
        Right = "right",
    }
}

choice! {
    /// What a quantile is where it falls between two elements.
    Interpolation {
        /// Linear between the two.
        Linear = "linear",
        /// The lower of the two.
        Lower = "lower",
        /// The higher of the two.
        Higher = "higher",
        /// The mean of the two.
        Midpoint = "midpoint",
        /// The nearer of the two, the even index at a tie.
        Nearest = "nearest",
    }
}

choice! {
    /// What fills the border of a padded array.
    PadMode {
        /// One value.
        Constant = "constant",
        /// The edge element.
        Edge = "edge",
        /// Mirrored about the edge element, which is not repeated.
        Reflect = "reflect",
        /// Mirrored about the edge, the edge element repeated.
        Symmetric = "symmetric",
        /// Periodic.
        Wrap = "wrap",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_resolve_and_refuse() {
        assert_eq!(Axes::from(..).resolve("sum", 2).unwrap(), [0, 1]);
        assert_eq!(Axes::from([-1, 0]).resolve("sum", 3).unwrap(), [2, 0]);
        assert_eq!(Axes::from(2).resolve("sum", 2), Err(Error::Axis { op: "sum", axis: 2, ndim: 2 }));
        assert!(Axes::from([0, -2]).resolve("sum", 2).is_err(), "one axis twice");
        assert!(Axes::from(vec![0_usize; 15]).resolve("sum", 20).is_err(), "more axes than a list holds");
        assert!(Axes::from(1000).resolve("sum", 20).is_err());
    }

    #[test]
    fn choices_have_names() {
        assert_eq!("ortho".parse::<Norm>().unwrap(), Norm::Ortho);
        assert!("orto".parse::<Norm>().unwrap_err().to_string().contains("backward, ortho, forward"));
    }
}
