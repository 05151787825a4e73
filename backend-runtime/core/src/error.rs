//! The crate's only error type. If an op fails, the error names the op and the offending values.

use crate::DType;
use std::{fmt, io, panic::Location, sync::Arc};

/// The result of every op.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why an op failed. The operands are unchanged.
///
/// `Debug` prints the text of `Display`, the name of the variant, and the file and line of the call. A program whose
/// `main` returns the error therefore ends with a sentence and the location of the call. Patterns of a variant must end
/// with `..`, because a later version may add fields. Functions such as [`Error::argument`] make errors.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Two shapes that do not broadcast, or that differ but must be equal.
    #[non_exhaustive]
    Shapes {
        /// The op.
        op: &'static str,
        /// Shape of the first operand.
        left: Vec<usize>,
        /// Shape of the second operand.
        right: Vec<usize>,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// A shape that the op does not accept; `why` states the requirement.
    #[non_exhaustive]
    Shape {
        /// The op.
        op: &'static str,
        /// The shape of the argument.
        shape: Vec<usize>,
        /// The rest of a sentence that begins with "shape [2, 3]", such as "must have three axes".
        why: String,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// An axis that the array does not have.
    #[non_exhaustive]
    Axis {
        /// The op.
        op: &'static str,
        /// The axis that the caller passed.
        axis: i128,
        /// The number of axes that the array has.
        ndim: usize,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// An axis that occurs twice in a list of axes.
    #[non_exhaustive]
    RepeatedAxis {
        /// The op.
        op: &'static str,
        /// The axis, counted from the first axis, which is 0.
        axis: usize,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// An index that is out of range for its axis.
    #[non_exhaustive]
    Index {
        /// The op.
        op: &'static str,
        /// The index that the caller passed.
        index: i128,
        /// The axis that the index belongs to.
        axis: usize,
        /// The length of the axis.
        len: usize,
        /// True if the index belongs to an earlier call than the call that returns the error.
        earlier: Earlier,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// A parameter with a value that the op cannot use.
    #[non_exhaustive]
    Argument {
        /// The op.
        op: &'static str,
        /// The value and the requirement, such as "p is 1.5, but must be between 0 and 1".
        why: String,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// A dtype, known only at run time, that the op does not support.
    #[non_exhaustive]
    DType {
        /// The op.
        op: &'static str,
        /// The dtype that the caller passed.
        dtype: DType,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// A name that is not the name of a dtype.
    #[non_exhaustive]
    UnknownDType {
        /// The name that the caller passed.
        name: String,
    },
    /// An array of one backend that was passed to another backend.
    #[non_exhaustive]
    Backend {
        /// The op.
        op: &'static str,
        /// The backend that was called.
        expected: &'static str,
        /// The backend that the array belongs to.
        found: &'static str,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// An array that is on another device than the backend.
    #[non_exhaustive]
    Device {
        /// The op.
        op: &'static str,
        /// The device of the backend.
        expected: String,
        /// The device of the array.
        found: String,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// The backend has no such op.
    #[non_exhaustive]
    Unsupported {
        /// The op.
        op: &'static str,
        /// The backend.
        backend: &'static str,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// Memory for the result could not be allocated, or the size of the result exceeds `isize::MAX` bytes.
    #[non_exhaustive]
    Memory {
        /// The op.
        op: &'static str,
        /// Number of bytes requested; `usize::MAX` if the size itself overflows.
        bytes: usize,
        /// The source location of the call, if it is known.
        at: At,
    },
    /// A library or device is missing; `why` says where the program searched, and how to get it.
    #[non_exhaustive]
    Unavailable {
        /// The backend.
        backend: &'static str,
        /// Text that names the missing library or device and the searched folders, and explains the installation.
        why: String,
        /// The underlying error, if any.
        cause: Cause,
    },
    /// A library refused the call; `message` is the library's text.
    #[non_exhaustive]
    Library {
        /// The op.
        op: &'static str,
        /// The backend.
        backend: &'static str,
        /// The library's message.
        message: String,
        /// The underlying error of the library, if any.
        cause: Cause,
        /// The source location of the call, if it is known.
        at: At,
    },
}

/// The error of another library that caused an [`Error`]. [`source`](std::error::Error::source) returns it. Comparisons
/// of errors ignore the cause.
#[derive(Clone, Default)]
pub struct Cause(Option<Arc<dyn std::error::Error + Send + Sync>>);

impl PartialEq for Cause {
    fn eq(&self, _: &Cause) -> bool {
        true
    }
}

/// True if an [`Error::Index`] is due to an earlier call, because the program did not wait for the result of that call.
/// Then [`Error::op`] is the op of the earlier call. Comparisons of errors ignore this value.
#[derive(Clone, Copy, Default)]
pub struct Earlier(pub bool);

impl PartialEq for Earlier {
    fn eq(&self, _: &Earlier) -> bool {
        true
    }
}

/// The source location of the call of an op. Comparisons of errors ignore the location.
#[derive(Clone, Copy, Default)]
pub struct At(Option<&'static Location<'static>>);

impl At {
    /// Returns the location at which the calling function was called. That function must be `#[track_caller]`.
    #[track_caller]
    #[inline(always)]
    pub(crate) fn caller() -> At {
        At(Some(Location::caller()))
    }
}

impl PartialEq for At {
    fn eq(&self, _: &At) -> bool {
        true
    }
}

/// Stores in an error the source location of the op's call: the line that calls the caller of this function. If this is
/// the line `generated`, the call is in code that a macro generated there, and no location is stored.
#[track_caller]
#[inline]
pub fn locate<T>(result: &mut Result<T>, generated: (&str, u32)) {
    if let Err(why) = result {
        why.set_location(Location::caller(), generated);
    }
}

/// Like [`locate`], for a result that is passed by value.
#[track_caller]
#[inline]
pub fn located<T>(mut result: Result<T>, generated: (&str, u32)) -> Result<T> {
    locate(&mut result, generated);
    result
}

/// Returns references to the op and to the location in an error of a call, or `None` if the error does not belong to a
/// call. The references are mutable if the error is given by a mutable reference.
macro_rules! failed_call {
    ($error:expr) => {
        match $error {
            Error::Shapes { op, at, .. }
            | Error::Shape { op, at, .. }
            | Error::Axis { op, at, .. }
            | Error::RepeatedAxis { op, at, .. }
            | Error::Index { op, at, .. }
            | Error::Argument { op, at, .. }
            | Error::DType { op, at, .. }
            | Error::Backend { op, at, .. }
            | Error::Device { op, at, .. }
            | Error::Unsupported { op, at, .. }
            | Error::Memory { op, at, .. }
            | Error::Library { op, at, .. } => Some((op, at)),
            Error::UnknownDType { .. } | Error::Unavailable { .. } => None,
        }
    };
}

impl Error {
    /// Makes an [`Error::Index`] of the current call.
    #[cold]
    pub fn index(op: &'static str, index: impl Into<i128>, axis: usize, len: usize) -> Error {
        Error::Index { op, index: index.into(), axis, len, earlier: Earlier(false), at: At::default() }
    }

    /// Makes an [`Error::Index`] due to an earlier call, for whose result the program did not wait.
    #[cold]
    pub fn earlier_index(op: &'static str, index: impl Into<i128>, axis: usize, len: usize) -> Error {
        Error::Index { op, index: index.into(), axis, len, earlier: Earlier(true), at: At::default() }
    }

    /// Returns the source location of the call of the failed op, if it is known. It is unknown if the op was called by
    /// name.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        failed_call!(self).and_then(|(_, at)| at.0)
    }

    /// Stores the location of the call, unless it is the line `generated`. An error due to an earlier call is left
    /// unchanged.
    #[cold]
    #[inline(never)]
    fn set_location(&mut self, location: &'static Location<'static>, generated: (&str, u32)) {
        if self.is_earlier() {
            return;
        }
        if let Some((_, at)) = failed_call!(self) {
            *at = At(Some(location).filter(|at| (at.file(), at.line()) != generated));
        }
    }

    /// Returns whether the error is due to an earlier call.
    fn is_earlier(&self) -> bool {
        matches!(self, Error::Index { earlier: Earlier(true), .. })
    }

    /// Stores the location of the call, if it is known.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub(crate) fn placed(mut self, at: At) -> Error {
        if let Some(location) = at.0 {
            self.set_location(location, ("", 0));
        }
        self
    }

    /// Returns the op that failed; `None` if no op was running.
    pub fn op(&self) -> Option<&'static str> {
        failed_call!(self).map(|(op, _)| *op)
    }

    /// Returns the name of the variant.
    fn variant(&self) -> &'static str {
        match self {
            Error::Shapes { .. } => "Shapes",
            Error::Shape { .. } => "Shape",
            Error::Axis { .. } => "Axis",
            Error::RepeatedAxis { .. } => "RepeatedAxis",
            Error::Index { .. } => "Index",
            Error::Argument { .. } => "Argument",
            Error::DType { .. } => "DType",
            Error::UnknownDType { .. } => "UnknownDType",
            Error::Backend { .. } => "Backend",
            Error::Device { .. } => "Device",
            Error::Unsupported { .. } => "Unsupported",
            Error::Memory { .. } => "Memory",
            Error::Unavailable { .. } => "Unavailable",
            Error::Library { .. } => "Library",
        }
    }

    /// Replaces the name of the failed op by `outer`, the op that the user called.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn within(mut self, outer: &'static str) -> Error {
        // an error due to an earlier call keeps the op of that call; an `Unsupported` error keeps the name of the inner
        // op, which the backend does not have
        if self.is_earlier() || matches!(self, Error::Unsupported { .. }) {
            return self;
        }
        if let Some((op, _)) = failed_call!(&mut self) {
            *op = outer;
        }
        self
    }

    /// Makes an [`Error::Shapes`] out of line (not inlined), so that the calling op stays small.
    #[cold]
    #[inline(never)]
    pub fn shapes(op: &'static str, left: &[usize], right: &[usize]) -> Error {
        Error::Shapes { op, left: left.to_vec(), right: right.to_vec(), at: At::default() }
    }

    /// Makes an [`Error::Shape`] out of line.
    #[cold]
    #[inline(never)]
    pub fn shape(op: &'static str, shape: &[usize], why: impl Into<String>) -> Error {
        Error::Shape { op, shape: shape.to_vec(), why: why.into(), at: At::default() }
    }

    /// Makes an [`Error::Axis`] out of line.
    #[cold]
    #[inline(never)]
    pub fn axis(op: &'static str, axis: impl Into<i128>, ndim: usize) -> Error {
        Error::Axis { op, axis: axis.into(), ndim, at: At::default() }
    }

    /// Makes an [`Error::RepeatedAxis`] out of line. `axis` is counted from the first axis, which is 0.
    #[cold]
    #[inline(never)]
    pub fn repeated_axis(op: &'static str, axis: usize) -> Error {
        Error::RepeatedAxis { op, axis, at: At::default() }
    }

    /// Makes an [`Error::UnknownDType`] out of line.
    #[cold]
    #[inline(never)]
    pub fn unknown_dtype(name: impl Into<String>) -> Error {
        Error::UnknownDType { name: name.into() }
    }

    /// Makes an [`Error::DType`] out of line.
    #[cold]
    #[inline(never)]
    pub fn dtype(op: &'static str, dtype: DType) -> Error {
        Error::DType { op, dtype, at: At::default() }
    }

    /// Makes an [`Error::Device`] out of line.
    #[cold]
    #[inline(never)]
    pub fn device(op: &'static str, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::Device { op, expected: expected.into(), found: found.into(), at: At::default() }
    }

    /// Makes an [`Error::Memory`] out of line. `bytes` is `usize::MAX` if the number of bytes itself overflows.
    #[cold]
    #[inline(never)]
    pub fn memory(op: &'static str, bytes: usize) -> Error {
        Error::Memory { op, bytes, at: At::default() }
    }

    /// Makes an [`Error::Argument`] out of line.
    #[cold]
    #[inline(never)]
    pub fn argument(op: &'static str, why: impl Into<String>) -> Error {
        Error::Argument { op, why: why.into(), at: At::default() }
    }

    /// Makes an [`Error::Unsupported`], which the default body of every generated method returns.
    #[cold]
    #[inline(never)]
    pub fn unsupported(op: &'static str, backend: &'static str) -> Error {
        Error::Unsupported { op, backend, at: At::default() }
    }

    /// Makes an [`Error::Library`] out of line.
    #[cold]
    #[inline(never)]
    pub fn library(op: &'static str, backend: &'static str, message: impl Into<String>) -> Error {
        Error::Library { op, backend, message: message.into(), cause: Cause::default(), at: At::default() }
    }

    /// Makes an [`Error::Unavailable`] out of line.
    #[cold]
    #[inline(never)]
    pub fn unavailable(backend: &'static str, why: impl Into<String>) -> Error {
        Error::Unavailable { backend, why: why.into(), cause: Cause::default() }
    }

    /// Adds the error that caused an [`Error::Library`] or [`Error::Unavailable`]. Other errors are unchanged.
    #[cold]
    #[inline(never)]
    #[must_use]
    pub fn caused_by(mut self, error: impl std::error::Error + Send + Sync + 'static) -> Error {
        if let Error::Library { cause, .. } | Error::Unavailable { cause, .. } = &mut self {
            *cause = Cause(Some(Arc::new(error)));
        }
        self
    }

    /// Makes an [`Error::Backend`] out of line.
    #[cold]
    #[inline(never)]
    pub fn backend(op: &'static str, expected: &'static str, found: &'static str) -> Error {
        Error::Backend { op, expected, found, at: At::default() }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} (Error::{})", self.variant())?;
        self.location().map_or(Ok(()), |at| write!(f, " at {at}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Shapes { op, left, right, .. } => {
                write!(f, "{op}: shapes {left:?} and {right:?} do not fit")
            }
            Error::Shape { op, shape, why, .. } => write!(f, "{op}: shape {shape:?} {why}"),
            Error::Axis { op, axis, ndim, .. } => {
                write!(f, "{op}: axis {axis} is out of range for {ndim} dimensions")
            }
            Error::RepeatedAxis { op, axis, .. } => write!(f, "{op}: axis {axis} is given twice"),
            Error::Index { op, index, axis, len, .. } => {
                write!(f, "{op}: index {index} is out of range for axis {axis} of length {len}")
            }
            Error::Argument { op, why, .. } => write!(f, "{op}: {why}"),
            Error::DType { op, dtype, .. } => write!(f, "{op}: the op is not available in {dtype}"),
            Error::UnknownDType { name } => {
                write!(f, "`{name}` is not a dtype; the dtypes are")?;
                DType::ALL.iter().try_for_each(|d| write!(f, " {d}"))
            }
            Error::Backend { op, expected, found, .. } => {
                write!(
                    f,
                    "{op}: the array belongs to the {found} backend, but must belong to {expected}; convert it with to_backend"
                )
            }
            Error::Device { op, expected, found, .. } => {
                write!(f, "{op}: the array is on {found}, but the backend is on {expected}; move it with to_backend")
            }
            Error::Unsupported { op, backend, .. } => write!(f, "{op}: the op is not available on {backend}"),
            Error::Memory { op, bytes: usize::MAX, .. } => write!(f, "{op}: the result is larger than any memory"),
            Error::Memory { op, bytes, .. } => write!(f, "{op}: {bytes} bytes of memory could not be allocated"),
            Error::Unavailable { backend, why, .. } => write!(f, "{backend}: {why}"),
            Error::Library { op, backend, message, .. } => write!(f, "{op}: {backend} failed: {message}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Unavailable { cause, .. } | Error::Library { cause, .. } => {
                cause.0.as_ref().map(|cause| &**cause as &(dyn std::error::Error + 'static))
            }
            _ => None,
        }
    }
}

/// This conversion lets functions that read or write files use `?`.
impl From<Error> for io::Error {
    fn from(why: Error) -> io::Error {
        let kind = match &why {
            Error::Memory { .. } => io::ErrorKind::OutOfMemory,
            Error::Unsupported { .. } | Error::Unavailable { .. } => io::ErrorKind::Unsupported,
            Error::Library { .. } => io::ErrorKind::Other,
            _ => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn errors_of_files_carry_it() {
        let why = io::Error::from(Error::shapes("add", &[2], &[3]));
        assert_eq!(
            (why.kind(), why.to_string().as_str()),
            (io::ErrorKind::InvalidInput, "add: shapes [2] and [3] do not fit")
        );
        assert_eq!(io::Error::from(Error::memory("add", 8)).kind(), io::ErrorKind::OutOfMemory);
        assert!(why.downcast::<Error>().is_ok());
    }

    #[test]
    fn debug_shows_the_sentence_and_the_variant() {
        let error = Error::shapes("add", &[2], &[3]);
        assert_eq!(error.to_string(), "add: shapes [2] and [3] do not fit");
        assert_eq!(format!("{error:?}"), "add: shapes [2] and [3] do not fit (Error::Shapes)");
        assert_eq!(
            format!("{:?}", Error::memory("add", 8)),
            "add: 8 bytes of memory could not be allocated (Error::Memory)"
        );
    }

    #[test]
    fn what_is_behind_an_error_is_its_source() {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such file");
        let error = Error::unavailable("torch", "libtorch does not load").caused_by(missing());
        assert_eq!(error.source().unwrap().to_string(), "no such file");
        assert_eq!(error, Error::unavailable("torch", "libtorch does not load"));
        let error = Error::library("fft", "cuda", "invalid value").caused_by(missing()).within("rfft");
        assert!(error.source().is_some_and(|cause| cause.is::<io::Error>()));
        assert!(Error::shapes("add", &[2], &[3]).caused_by(missing()).source().is_none());
    }
}
