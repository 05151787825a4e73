//! Devices, default dtypes and broadcast shapes: functions of the Python Array API standard that are not ops.

use crate::{
    AnyBackend, Arrays, Complex, DType, DeviceKind, Element, Numbers, Numpyish, Result, choose, runtime::rules,
};

/// The shape to which arrays of these shapes broadcast; `[]` for an empty list.
///
/// # Errors
/// [`Shapes`](crate::Error::Shapes) if two of the shapes do not broadcast.
///
/// ```
/// assert_eq!(backends::broadcast_shapes([&[8, 1, 6][..], &[7, 1]])?, [8, 7, 6]);
/// assert!(backends::broadcast_shapes([[2], [3]]).is_err());
/// # Ok::<(), backends::Error>(())
/// ```
pub fn broadcast_shapes<S: Numbers<usize>>(shapes: impl IntoIterator<Item = S>) -> Result<Vec<usize>> {
    let op = "broadcast_shapes";
    shapes.into_iter().try_fold(Vec::new(), |shape, next| rules::broadcast(op, &shape, next.numbers()))
}

/// All available devices, each as a backend: the CPU, the GPUs, and the devices of libtorch, if it is installed.
///
/// A library that is not installed contributes no devices. The search for libtorch loads the library, and the first
/// search on a machine may compile the shim for it.
///
/// ```
/// use backends::Arrays;
///
/// let names: Vec<String> = backends::devices().iter().map(|b| b.device()).collect();
/// assert_eq!(names[0], "cpu");
/// ```
#[must_use]
pub fn devices() -> Vec<AnyBackend> {
    // no machine has as many as 256 GPUs
    let cuda = (0..256).map_while(|ordinal| choose::cuda(ordinal).ok());
    let names = std::iter::once("cpu".to_string()).chain((0..256).map(|n| format!("cuda:{n}")));
    let torch = names.map_while(|name| choose::torch(&name).ok());
    std::iter::once(AnyBackend::from(Numpyish::new())).chain(cuda).chain(torch).collect()
}

/// All available devices of a kind, each as a backend: the GPUs of `Cuda` and of libtorch, or the CPU with ndarray and
/// with libtorch.
///
/// ```
/// use backends::{Arrays, DeviceKind};
///
/// for b in backends::devices_of(DeviceKind::Cpu) {
///     let info = b.device_info()?; // its `Display` is one line: hardware, processors, memory, library
///     println!("{info}");
///     assert_eq!((info.device.as_str(), info.backend), ("cpu", b.name()));
/// }
/// # Ok::<(), backends::Error>(())
/// ```
#[must_use]
pub fn devices_of(kind: DeviceKind) -> Vec<AnyBackend> {
    devices().into_iter().filter(|b| b.device_info().is_ok_and(|info| info.kind == kind)).collect()
}

/// The dtypes that numbers have if no dtype is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefaultDTypes {
    /// Dtype of `1.0`.
    pub real_floating: DType,
    /// Dtype of complex numbers whose parts have the dtype `real_floating`.
    pub complex_floating: DType,
    /// Dtype of `1`.
    pub integral: DType,
    /// Dtype of the indices that ops take and return.
    pub indexing: DType,
}

/// The dtypes of Rust's literals and of indices, which are the same on every device.
///
/// ```
/// use backends::prelude::*;
///
/// let b = Numpyish::new();
/// assert_eq!(b.asarray([1.0])?.dtype(), backends::default_dtypes().real_floating);
/// assert_eq!(b.asarray([1])?.dtype(), backends::default_dtypes().integral);
/// # Ok::<(), backends::Error>(())
/// ```
#[must_use]
pub const fn default_dtypes() -> DefaultDTypes {
    DefaultDTypes {
        real_floating: <f64 as Element>::DTYPE,
        complex_floating: <Complex<f64> as Element>::DTYPE,
        integral: <i32 as Element>::DTYPE,
        indexing: <i64 as Element>::DTYPE,
    }
}

/// Optional features of the Python Array API standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// True if an array may be indexed by a mask.
    pub boolean_indexing: bool,
    /// True if the shape of a result may depend on the values of elements, as for `nonzero`.
    pub data_dependent_shapes: bool,
}

/// The optional features that the backends support: all of them, on every device.
#[must_use]
pub const fn capabilities() -> Capabilities {
    Capabilities { boolean_indexing: true, data_dependent_shapes: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn shapes_broadcast_as_arrays_do() {
        assert_eq!(broadcast_shapes::<[usize; 1]>([]).unwrap(), [0; 0]);
        assert_eq!(broadcast_shapes([vec![2, 1], vec![], vec![3]]).unwrap(), [2, 3]);
        let refused = broadcast_shapes([[2, 3], [3, 3]]);
        assert_eq!(refused, Err(Error::shapes("broadcast_shapes", &[2, 3], &[3, 3])));
    }

    #[test]
    fn every_device_has_a_kind_and_says_what_its_memory_holds() {
        let all = devices();
        let names = |list: &[AnyBackend]| list.iter().map(|b| (b.name(), b.device())).collect::<Vec<_>>();
        let by_kind = [DeviceKind::Cpu, DeviceKind::Gpu].map(devices_of);
        assert_eq!(
            by_kind.iter().map(Vec::len).sum::<usize>(),
            all.len(),
            "{:?}",
            by_kind.each_ref().map(|l| names(l))
        );
        for (b, info) in all.iter().map(|b| (b, b.device_info().unwrap())) {
            assert_eq!((info.backend, &info.device), (b.name(), &b.device()));
            assert_eq!(info.kind == DeviceKind::Cpu, info.device == "cpu", "{info}");
            match b.memory() {
                Ok(memory) => {
                    assert!(memory.in_use <= memory.peak && memory.available <= memory.total, "{info}: {memory}")
                }
                // the memory is unknown on systems other than Linux, and on GPUs with an old libtorch
                Err(error) => {
                    assert!(matches!(error, Error::Unavailable { .. } | Error::Unsupported { .. }), "{error}")
                }
            }
        }
    }

    #[test]
    fn every_device_computes() {
        use crate::{Creation, Reduction};
        for b in devices() {
            assert_eq!(b.item(b.sum(b.ones::<f64>([3]).unwrap(), ..).unwrap()), Ok(3.0), "{}", b.device());
        }
    }
}
