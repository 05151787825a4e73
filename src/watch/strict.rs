//! A backend for tests of programs: it rejects calls that some backends lack, and reports the op that first returned
//! NaN or infinite values.

use super::{Call, Running, Seen, Watch, Watched, refused};
use crate::{Backend, DType, Error, Result, choose};

/// Rejects calls that other backends would refuse, so that a test on the CPU finds these calls.
///
/// ```
/// use backends::{Error, Strict, prelude::*};
///
/// // behaves like a device without float64
/// let b = Strict::new().without_dtype(DType::Float64).watch(Numpyish::new())?;
/// assert!(b.ones::<f32>([3]).is_ok());
/// assert!(matches!(b.ones::<f64>([3]), Err(Error::DType { op: "ones", .. })));
///
/// // finds the call that computes a NaN
/// let b = Strict::new().finite().watch(Numpyish::new())?;
/// let x = b.asarray([1.0, -1.0])?;
/// let why = b.sqrt(&x).unwrap_err().to_string();
/// assert_eq!(why, "sqrt: 1 element of its result float64[2] is NaN or infinite, the first at [1]");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Strict {
    runs_on: Vec<&'static str>,
    dtypes: Vec<DType>,
    devices: Vec<String>,
    names: Vec<String>,
    is_finite: bool,
}

impl Strict {
    /// Rejects every op that `Numpyish`, `Cuda` or `Torch` lacks. `Cuda` and `Torch` are considered only if the
    /// features `cuda` and `torch` of this crate are on.
    #[must_use]
    pub fn new() -> Strict {
        Strict { runs_on: choose::built().collect(), ..Strict::default() }
    }

    /// Rejects every op that one of `backends` lacks. These backends replace the default set. The names are
    /// `"numpyish"`, `"cuda"`, `"torch"`.
    #[must_use]
    pub fn runs_on(self, backends: &[&'static str]) -> Strict {
        Strict { runs_on: backends.to_vec(), ..self }
    }

    /// Rejects every op that has this dtype as source or target dtype, with [`Error::DType`].
    #[must_use]
    pub fn without_dtype(mut self, dtype: DType) -> Strict {
        self.dtypes.push(dtype);
        self
    }

    /// Excludes a device, such as `"cuda:0"`, or all devices whose names begin with a text, such as `"cuda"`. For a
    /// backend on an excluded device, [`Strict::watch`] returns [`Error::Unavailable`].
    #[must_use]
    pub fn without_device(mut self, device: &str) -> Strict {
        self.devices.push(device.into());
        self
    }

    /// Rejects an op, or all ops of a group, with [`Error::Unsupported`].
    #[must_use]
    pub fn without(mut self, op_or_group: &str) -> Strict {
        self.names.push(op_or_group.into());
        self
    }

    /// Rejects results with NaN or infinite elements. The error, an [`Error::Argument`], names the indices of the first
    /// of these elements. Copies every result to the host.
    #[must_use]
    pub fn finite(self) -> Strict {
        Strict { is_finite: true, ..self }
    }

    /// Wraps a backend. The wrapped backend makes these checks.
    ///
    /// # Errors
    /// [`Error::Unavailable`] for a backend on an excluded device, or if this build does not include one of the
    /// libraries on which programs must run, because the ops of that library are then unknown.
    pub fn watch<B: Backend>(&self, backend: B) -> Result<Watched<B>> {
        if let Some(library) = self.runs_on.iter().find(|library| choose::is_left_out(library)) {
            return Err(choose::left_out(library));
        }
        let device = backend.device();
        if self.devices.iter().any(|lacking| device.starts_with(lacking.as_str())) {
            return Err(Error::unavailable(B::NAME, format!("the strict backend is without the device `{device}`")));
        }
        Ok(Watched::new(backend, self.clone()))
    }
}

impl Watch for Strict {
    fn begin(&self, call: &Call<'_>) -> Result<Box<dyn Running>> {
        let dtypes = [Some(call.dtype), call.to];
        if let Some(dtype) = dtypes.into_iter().flatten().find(|dtype| self.dtypes.contains(dtype)) {
            return Err(Error::dtype(call.op, dtype));
        }
        if let Some(info) = call.info {
            let has = |backend: &&str| info.backends.iter().any(|(name, _)| name == backend);
            if let Some(lacks) = self.runs_on.iter().find(|backend| !has(backend)) {
                return Err(Error::unsupported(call.op, lacks));
            }
            if self.names.iter().any(|name| name == info.name || name == info.group) {
                return Err(Error::unsupported(call.op, "strict"));
            }
        }
        let formula = call.formula.map(Into::into);
        Ok(Box::new(Checked { op: call.op, formula, is_finite: self.is_finite }))
    }
}

/// A running call whose results are checked.
struct Checked {
    op: &'static str,
    formula: Option<Box<str>>,
    is_finite: bool,
}

impl Running for Checked {
    fn result(&mut self, x: &Seen<'_>) -> Result<()> {
        let found = if self.is_finite { x.outliers()? } else { None };
        found.map_or(Ok(()), |found| Err(refused(self.op, self.formula.as_deref(), x.array, &found)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Casting, Creation, DType, Elementwise, Error, Fft, Indexing, Numpyish, Reduction, Result, Sorting, slices,
    };

    #[test]
    fn what_is_refused() {
        let b = Strict::new().without("fft").without("sort").without_dtype(DType::Int8).watch(Numpyish::new()).unwrap();
        let x = b.ones::<f64>([4]).unwrap();
        assert_eq!(b.sort(&x).unwrap_err(), Error::unsupported("sort", "strict"));
        assert!(matches!(b.fft(&x), Err(Error::Unsupported { .. })));
        assert_eq!(b.astype::<i8, _>(&x).unwrap_err(), Error::dtype("astype", DType::Int8));
        assert!(b.sum(&x, ..).is_ok());
        assert!(Strict::new().without_device("cpu").watch(Numpyish::new()).is_err());
        assert!(Strict::new().without_device("cuda").watch(Numpyish::new()).is_ok());
        for library in ["cuda", "torch"] {
            let b = Strict::new().runs_on(&[library]).watch(Numpyish::new());
            assert_eq!(b.is_err(), choose::is_left_out(library), "{library}");
        }
    }

    #[test]
    fn every_kind_of_result_is_checked() {
        let b = Strict::new().finite().watch(Numpyish::new()).unwrap();
        let x = b.asarray([[1.0_f32, 0.0], [2.0, 0.0]]).unwrap();
        let why = expect(b.reciprocal(&x));
        assert!(
            why.contains("2 elements of its result float32[2, 2] are NaN or infinite, the first at [0, 1]"),
            "{why}"
        );
        assert!(expect(b.asarray([1.0, f64::NAN])).contains("[1]"));
        let why = expect(expr!(b, 1.0 / x));
        assert!(why.contains("expr!: 2 elements of the result float32[2, 2] of `1.0 / x` are NaN"), "a formula: {why}");
        let why = expect(expr!(b, sum(1.0 / x, 0)));
        assert!(why.contains("sum: 1 element of the result float32[2] of `sum(1.0 / x, 0)` is NaN"), "{why}");
        let without = Strict::new().without("sum").watch(Numpyish::new()).unwrap();
        assert_eq!(expr!(without, sum(1.0 / x, 0)).unwrap_err(), Error::unsupported("sum", "strict"));
        // the formula's result is finite, but its gradient is not
        let why = expect(crate::grad::grad(&b, |b, x| expr!(b, sum(sqrt(x), ..)), &x));
        assert!(why.contains("of `gradient of sqrt(x)` are NaN or infinite"), "{why}");
        let mut y = b.ones::<f64>([3]).unwrap();
        assert!(b.set(&mut y, slices![1], f64::INFINITY).is_err(), "an array that is changed");
        assert!(b.isfinite(&x).is_ok() && b.argsort(&x).is_ok());
    }

    fn expect<X>(result: Result<X>) -> String {
        result.err().map(|why| why.to_string()).unwrap_or_default()
    }
}
