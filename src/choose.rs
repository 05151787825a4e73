//! Selects a backend by its name, which a program reads from an argument, a configuration file or an environment
//! variable.

use crate::{AnyBackend, Error, Numpyish, Result};
use std::str::FromStr;

const OP: &str = "AnyBackend::from_str";

/// The environment variable that names a program's default backend.
pub const VARIABLE: &str = "BACKENDS_DEFAULT";

/// The supported libraries, with a flag that is true if this build includes the library.
const LIBRARIES: [(&str, bool); 3] =
    [("numpyish", true), ("cuda", cfg!(feature = "cuda")), ("torch", cfg!(feature = "torch"))];

/// Names of the libraries included in this build.
pub(crate) fn built() -> impl Iterator<Item = &'static str> {
    LIBRARIES.into_iter().filter_map(|(name, is_built)| is_built.then_some(name))
}

/// Returns whether `library` names a supported library that this build leaves out.
pub(crate) fn is_left_out(library: &str) -> bool {
    LIBRARIES.contains(&(library, false))
}

/// The error for a library that this build leaves out.
pub(crate) fn left_out(library: &'static str) -> Error {
    let why = format!("this build leaves the library out: the crate `backends` is without its feature `{library}`");
    Error::unavailable(library, why)
}

/// Returns the backend on the GPU with this ordinal.
#[cfg(feature = "cuda")]
pub(crate) fn cuda(ordinal: usize) -> Result<AnyBackend> {
    crate::Cuda::new(ordinal).map(AnyBackend::from)
}

#[cfg(not(feature = "cuda"))]
pub(crate) fn cuda(_: usize) -> Result<AnyBackend> {
    Err(left_out("cuda"))
}

/// Returns the backend on the libtorch device with this name, such as `cuda:1`.
#[cfg(feature = "torch")]
pub(crate) fn torch(device: &str) -> Result<AnyBackend> {
    crate::Torch::new(device).map(AnyBackend::from)
}

#[cfg(not(feature = "torch"))]
pub(crate) fn torch(_: &str) -> Result<AnyBackend> {
    Err(left_out("torch"))
}

/// Parses `numpyish` or `cpu`, `cuda` (the first GPU), `cuda:1`, `torch` (libtorch on the CPU), `torch:cuda`,
/// `torch:cuda:1` or `torch:mps` (the GPU of a Mac).
///
/// # Errors
/// [`Argument`](Error::Argument) for any other text; [`Unavailable`](Error::Unavailable), with the reason, if the
/// library or the device is missing or the build leaves the library out (features `cuda` and `torch`).
///
/// ```
/// use backends::{Error, prelude::*};
///
/// let b: AnyBackend = "numpyish".parse()?;
/// assert_eq!((b.name(), b.device().as_str()), ("numpyish", "cpu"));
/// assert!("cupy".parse::<AnyBackend>().is_err());
/// # Ok::<(), Error>(())
/// ```
impl FromStr for AnyBackend {
    type Err = Error;

    fn from_str(name: &str) -> Result<AnyBackend> {
        let (library, device) = match name.split_once(':') {
            Some((library, device)) => (library, Some(device)),
            None => (name, None),
        };
        let unknown = || {
            let known = "numpyish (or cpu), cuda, cuda:1, torch, torch:cpu, torch:cuda, torch:cuda:1 and torch:mps";
            Error::argument(OP, format!("`{name}` is not a backend; the backends are {known}"))
        };
        match (library, device) {
            ("numpyish", None | Some("cpu")) | ("cpu", None) => Ok(Numpyish::new().into()),
            ("torch", device) => match torch(device.unwrap_or("cpu")) {
                Err(Error::Argument { .. }) => Err(unknown()),
                found => found,
            },
            ("cuda", None) => cuda(0),
            ("cuda", Some(ordinal)) if !ordinal.is_empty() && ordinal.bytes().all(|c| c.is_ascii_digit()) => {
                cuda(ordinal.parse().map_err(|_| unknown())?)
            }
            _ => Err(unknown()),
        }
    }
}

impl AnyBackend {
    /// The backend named by the environment variable `BACKENDS_DEFAULT`, or [`Numpyish`] if the variable is not set.
    ///
    /// # Errors
    /// The errors of parsing the name, but the text also names the variable, as in "BACKENDS_DEFAULT: `cupy` is not a
    /// backend".
    ///
    /// ```
    /// let b = backends::AnyBackend::from_env()?;
    /// println!("{} on {}", b.name(), backends::Arrays::device(&b));
    /// # Ok::<(), backends::Error>(())
    /// ```
    pub fn from_env() -> Result<AnyBackend> {
        match std::env::var(VARIABLE) {
            Ok(name) if !name.is_empty() => name.parse().map_err(|why| in_variable(&name, why)),
            Ok(_) | Err(std::env::VarError::NotPresent) => Ok(Numpyish::new().into()),
            Err(why) => Err(Error::argument(OP, format!("{VARIABLE}: {why}"))),
        }
    }
}

fn in_variable(name: &str, why: Error) -> Error {
    match why {
        Error::Argument { why, .. } => Error::argument(OP, format!("{VARIABLE}: {why}")),
        why => Error::unavailable("backends", format!("{VARIABLE} is `{name}`: {why}")).caused_by(why),
    }
}

/// All supported libraries, each with a backend on its first device or the reason why it is unavailable.
///
/// [`devices`](crate::devices) lists the devices of the available libraries.
///
/// ```
/// for (library, found) in backends::libraries() {
///     match found {
///         Ok(b) => println!("{library}: {}", backends::Arrays::device(&b)),
///         Err(why) => println!("{library} cannot be used: {why}"),
///     }
/// }
/// ```
#[must_use]
pub fn libraries() -> Vec<(&'static str, Result<AnyBackend>)> {
    LIBRARIES.map(|(name, _)| (name, name.parse())).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arrays;

    #[test]
    fn names_and_devices() {
        for name in ["numpyish", "numpyish:cpu", "cpu"] {
            assert_eq!(name.parse::<AnyBackend>().map(|b| (b.name(), b.device())), Ok(("numpyish", "cpu".into())));
        }
        let devices = if is_left_out("torch") { [].iter() } else { ["torch:tpu"].iter() };
        let others =
            ["", "cupy", "Numpyish", "numpyish:1", "cpu:1", "cuda:", "cuda:-1", "cuda:99999999999999999999999", ":"];
        for name in others.iter().chain(devices) {
            let why = name.parse::<AnyBackend>().unwrap_err();
            assert!(matches!(why, Error::Argument { .. }), "{name}: {why}");
            assert!(why.to_string().contains(&format!("`{name}`")), "{why}");
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        let all = libraries();
        assert_eq!(all.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["numpyish", "cuda", "torch"]);
        for (name, found) in all {
            match found {
                Ok(b) => assert_eq!(b.name(), name),
                Err(why) => {
                    assert!(matches!(why, Error::Unavailable { .. }), "{why}");
                    let feature = format!("without its feature `{name}`");
                    assert_eq!(why.to_string().contains(&feature), !built().any(|built| built == name), "{why}");
                }
            }
        }
        let why = in_variable("cupy", "cupy".parse::<AnyBackend>().unwrap_err());
        assert!(why.to_string().contains("BACKENDS_DEFAULT: `cupy` is not a backend"), "{why}");
    }
}
