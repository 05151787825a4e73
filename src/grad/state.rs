//! The arrays of parameters by name, for files. The names and functions follow PyTorch's state dicts.

use super::{api::Params, leaves::MapArrays};
use crate::{Arrays, Backend, DynArray, Element, Error, Float, HostArray, Numpyish, Result, dispatch};
use std::collections::BTreeMap;

/// Copies of arrays on the host, by name.
pub type StateDict = BTreeMap<String, DynArray<Numpyish>>;

const OP: &str = "load_state_dict";

/// Returns the names of the arrays of parameters, in order. The name of an array consists of the fields of structs and
/// the indices of vectors and tuples that lead to it, with dots between them: `layers.0.weights`. If the parameters are
/// a single array, its name is `array`.
pub fn names<B: Backend, K, P: Params<B, K>>(params: &P) -> Vec<String> {
    let mut names = Vec::new();
    params.names("", &mut names);
    names
}

/// Copies the arrays of parameters to the host, by their [names]. Fields marked with `#[constant]` are left out. The
/// crates `backends-npz` and `backends-safetensors` write the result to a file.
///
/// ```
/// use backends::{Result, grad::{Params, load_state_dict, state_dict}, prelude::*};
///
/// #[derive(Params)]
/// struct Layer<B: Backend> {
///     weights: B::Array<f32>,
///     offsets: B::Array<f32>,
/// }
///
/// # fn main() -> Result<()> {
/// let b = Numpyish::new();
/// let layer = Layer::<Numpyish> { weights: b.ones([2, 3])?, offsets: b.zeros(3)? };
/// let state = state_dict(&b, &layer)?;
/// assert_eq!(state.keys().collect::<Vec<_>>(), ["offsets", "weights"]);
/// // an untrained layer of the same structure gets the arrays
/// let other = Layer::<Numpyish> { weights: b.zeros([2, 3])?, offsets: b.zeros(3)? };
/// assert_eq!(load_state_dict(&b, &other, &state)?.weights, layer.weights);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of the copies.
pub fn state_dict<B: Backend, K, P: Params<B, K>>(b: &B, params: P) -> Result<StateDict> {
    let mut save = Save { b, names: names(&params).into_iter(), state: StateDict::new() };
    params.map(&mut save)?;
    Ok(save.state)
}

/// Returns parameters with the structure of `params` and the arrays of `state`, which [`state_dict`] or a file
/// contains. Real arrays are converted to the dtypes of `params`, and complex arrays to complex dtypes.
///
/// # Errors
/// [`Error::Argument`] that names the array, if an array of `params` is missing in `state` or has another shape there,
/// if its dtype does not convert, or if `state` has further arrays.
pub fn load_state_dict<B: Backend, K, P: Params<B, K>>(b: &B, params: P, state: &StateDict) -> Result<P::Grads> {
    let names = names(&params);
    if let Some(name) = state.keys().find(|name| !names.contains(name)) {
        let all = names.join("`, `");
        return Err(Error::argument(OP, format!("the parameters have no array `{name}`, but `{all}`")));
    }
    params.map(&mut Load { b, names: names.into_iter(), state })
}

/// Returns an array of `state`, converted to the dtype `T`.
///
/// # Errors
/// As [`load_state_dict`], with `op` as the name of the op.
#[doc(hidden)]
pub fn stored<B: Arrays, T: Element>(
    b: &B,
    op: &'static str,
    state: &StateDict,
    name: &str,
    shape: &[usize],
) -> Result<B::Array<T>> {
    let Some(x) = state.get(name) else { return Err(Error::argument(op, format!("there is no array `{name}`"))) };
    let host = Numpyish::new();
    let found = x.shape(&host);
    if found != shape {
        return Err(Error::argument(op, format!("the array `{name}` has the shape {found:?} instead of {shape:?}")));
    }
    let x: HostArray<T> = match x.get::<T>() {
        Some(x) => x.clone(),
        None if x.dtype().kind() == T::dtype().kind() => dispatch!(x.dtype(), U => match x.get::<U>() {
            Some(x) => Ok(x.mapv(|v| v.cast::<T>()).into_shared()),
            None => Err(Error::dtype(op, x.dtype())),
        })?,
        None => {
            let (from, to) = (x.dtype(), T::dtype());
            return Err(Error::argument(op, format!("the array `{name}` has the dtype {from} instead of {to}")));
        }
    };
    b.from_ndarray(x)
}

struct Save<'s, B> {
    b: &'s B,
    names: std::vec::IntoIter<String>,
    state: StateDict,
}

impl<B: Backend> MapArrays<B> for Save<'_, B> {
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let name = self.names.next().unwrap_or_default();
        self.state.insert(name, DynArray::of::<T>(self.b.to_ndarray(x)?));
        Ok(x.clone())
    }
}

struct Load<'s, B> {
    b: &'s B,
    names: std::vec::IntoIter<String>,
    state: &'s StateDict,
}

impl<B: Backend> MapArrays<B> for Load<'_, B> {
    fn map<T: Float>(&mut self, x: &B::Array<T>) -> Result<B::Array<T>> {
        let name = self.names.next().unwrap_or_default();
        stored(self.b, OP, self.state, &name, self.b.shape(x))
    }
}
