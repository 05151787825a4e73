//! The error type of all functions.

use std::{fmt, io, path::PathBuf, sync::Arc};

/// The largest number of pixels of a picture.
pub(crate) const MAX_PIXELS: u64 = 40_000_000;

/// The reason why a picture cannot be drawn or saved. The text names the call, and the shapes or values that it got.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The array has no elements.
    #[non_exhaustive]
    Empty {
        /// The call, such as `imshow`.
        call: &'static str,
    },
    /// No value can be drawn: all values are NaN or infinite, or none of them is positive on a logarithmic axis.
    #[non_exhaustive]
    NothingToDraw {
        /// The call, such as `plot`.
        call: &'static str,
        /// The property that at least one value needs: `finite` or `positive`.
        needs: &'static str,
    },
    /// The array has the wrong number of axes, or a wrong length along an axis.
    #[non_exhaustive]
    Shape {
        /// The call, such as `imshow`.
        call: &'static str,
        /// The shape of the array.
        shape: Vec<usize>,
        /// The shapes that the call takes.
        expected: &'static str,
    },
    /// Two lists of coordinates differ in length.
    #[non_exhaustive]
    Lengths {
        /// The call, such as `plot`.
        call: &'static str,
        /// The number of horizontal coordinates.
        x: usize,
        /// The number of vertical coordinates.
        y: usize,
    },
    /// The value of an argument is not allowed.
    #[non_exhaustive]
    Argument {
        /// The call, such as `range`.
        call: &'static str,
        /// The value, and the requirement.
        reason: String,
    },
    /// An option was set before the drawing to which it belongs.
    #[non_exhaustive]
    Option {
        /// The option, such as `cmap`.
        call: &'static str,
        /// The calls that must come before it.
        after: &'static str,
    },
    /// The picture would have no pixels, or too many.
    #[non_exhaustive]
    Size {
        /// The width in pixels.
        width: u64,
        /// The height in pixels.
        height: u64,
    },
    /// A file cannot be written.
    #[non_exhaustive]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: Arc<io::Error>,
    },
    /// A library that draws or encodes has failed.
    #[non_exhaustive]
    Library {
        /// The message of the library.
        reason: String,
    },
}

/// A result with the [`Error`] of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Empty { call } => write!(f, "{call}: the array has no elements"),
            Error::NothingToDraw { call, needs } => write!(f, "{call}: none of the values is {needs}"),
            Error::Shape { call, shape, expected } => {
                write!(f, "{call}: the array must have {expected}, but it has the shape {shape:?}")
            }
            Error::Lengths { call, x, y } => {
                write!(f, "{call}: x and y must have the same length, but x has the shape [{x}] and y the shape [{y}]")
            }
            Error::Argument { call, reason } => write!(f, "{call}: {reason}"),
            Error::Option { call, after } => write!(f, "{call}: this option must follow a call of {after}"),
            Error::Size { width, height } => write!(
                f,
                "draw: a picture must have between 1 and {} pixels, but it would have {width} x {height}",
                MAX_PIXELS
            ),
            Error::File { path, source } => write!(f, "save: cannot write to {}: {source}", path.display()),
            Error::Library { reason } => write!(f, "draw: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::File { source, .. } => Some(&**source),
            _ => None,
        }
    }
}
