//! The backend that a text names: an argument of a program, a line of its configuration, an environment variable.

use crate::{AnyBackend, Cuda, Error, Numpyish, Result, Torch};
use std::str::FromStr;

const OP: &str = "AnyBackend::from_str";

/// The environment variable that names a program's default backend.
pub const VARIABLE: &str = "BACKENDS_DEFAULT";

/// `numpyish`, `cuda` (the first GPU), `cuda:1`, `torch` (libtorch on the CPU), `torch:cuda`, `torch:cuda:1`.
///
/// # Errors
/// [`Argument`](Error::Argument) for any other text, [`Unavailable`](Error::Unavailable) with the reason where the library or the device is missing.
///
/// ```
/// use backends::prelude::*;
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
            let known = "numpyish, cuda, cuda:1, torch, torch:cpu, torch:cuda and torch:cuda:1";
            Error::argument(OP, format!("`{name}` is not a backend; the backends are {known}"))
        };
        match (library, device) {
            ("numpyish", None | Some("cpu")) => Ok(Numpyish::new().into()),
            ("torch", device) => {
                let device = device.unwrap_or("cpu");
                match Torch::new(device) {
                    Err(Error::Argument { .. }) => Err(unknown()),
                    found => found.map(AnyBackend::from),
                }
            }
            ("cuda", None) => Cuda::new(0).map(AnyBackend::from),
            ("cuda", Some(ordinal)) if !ordinal.is_empty() && ordinal.bytes().all(|c| c.is_ascii_digit()) => {
                let ordinal = ordinal.parse().map_err(|_| unknown())?;
                Cuda::new(ordinal).map(AnyBackend::from)
            }
            _ => Err(unknown()),
        }
    }
}

impl AnyBackend {
    /// The backend that the environment variable `BACKENDS_DEFAULT` names, and [`Numpyish`] where it is not set.
    ///
    /// # Errors
    /// Those of its name, with the variable: `BACKENDS_DEFAULT=cupy` names no backend.
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

/// The libraries, each with a backend on its first device, or with the reason why there is none.
///
/// [`devices`](crate::devices) lists the devices of those that are there.
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
    ["numpyish", "cuda", "torch"].map(|name| (name, name.parse())).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arrays;

    #[test]
    fn names_and_devices() {
        for name in ["numpyish", "numpyish:cpu"] {
            assert_eq!(name.parse::<AnyBackend>().map(|b| (b.name(), b.device())), Ok(("numpyish", "cpu".into())));
        }
        for name in
            ["", "cupy", "Numpyish", "numpyish:1", "cuda:", "cuda:-1", "cuda:99999999999999999999999", "torch:tpu", ":"]
        {
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
                Err(why) => assert!(matches!(why, Error::Unavailable { .. }), "{why}"),
            }
        }
        let why = in_variable("cupy", "cupy".parse::<AnyBackend>().unwrap_err());
        assert!(why.to_string().contains("BACKENDS_DEFAULT: `cupy` is not a backend"), "{why}");
    }
}
