//! With `WORLD_CHECK=1`, checks that all ranks make each call with the same arguments. The ranks compare lengths,
//! dtypes, layouts, and hashes of the values of scalars, options, indices and host data. All NaNs count as equal; -0
//! and 0 count as different.

use crate::{Layout, Sharded};
use backends::{
    Backend, DType, Element, HostArray, Result,
    runtime::{AnyTyped, Arg, Call, IndexArg, Number, bytes, formula, numpyish::typed::copied},
};
use std::{
    any::type_name,
    fmt::{Debug, Write},
    sync::atomic::Ordering::Relaxed,
};

impl<B: Backend> Sharded<B> {
    /// Returns whether the ranks compare the arguments of their calls.
    #[doc(hidden)]
    #[inline]
    pub fn compares(&self) -> bool {
        self.world.checks()
    }

    /// Checks that all ranks make this call with these arguments. Collective: all ranks must call this.
    #[doc(hidden)]
    pub fn compare_call(&self, call: &Call<'_>) -> Result<()> {
        self.agree(call.op, || {
            let mut text = described(call);
            if call.op.starts_with("random") || call.info.is_some_and(|info| info.group == "random") {
                let _ = write!(text, ", seed {}", self.seen.seed.load(Relaxed));
                if let Ok((key, block)) = self.within.random_state() {
                    let _ = write!(text, ", random numbers of key {key} from block {block} on");
                }
            }
            text
        })
    }

    /// Checks that all ranks run the same formula with the same scalars. Like [`Sharded::compare_host`], this does
    /// nothing if the ranks do not compare their arguments.
    #[inline]
    pub(crate) fn compare_formula<E>(&self, layouts: &[Option<&Layout>], scalars: &impl Debug) -> Result<()> {
        if !self.compares() {
            return Ok(());
        }
        let shapes: Vec<&[usize]> = layouts.iter().flatten().map(|layout| &layout.shape[..]).collect();
        self.agree(formula::NAME, || format!("{} of arrays of {shapes:?}, scalars {scalars:?}", type_name::<E>()))
    }

    /// If the ranks compare their arguments, checks that all ranks pass the same host data.
    pub(crate) fn compare_host<T: Element>(&self, op: &'static str, x: &HostArray<T>) -> Result<()> {
        if !self.compares() {
            return Ok(());
        }
        self.agree(op, || format!("of host data {}", host(x)))
    }
}

/// The dtypes and arguments of a call as text, such as `of float64: x float64[1000], y = 2.0`.
fn described(call: &Call<'_>) -> String {
    let mut text = format!("of {}", call.dtype);
    if let Some(to) = call.to {
        let _ = write!(text, " to {to}");
    }
    for (name, arg) in call.args {
        let _ = match arg {
            Arg::Array(x) => write!(text, ", {name} {x:?}"),
            Arg::Host(x) => write!(text, ", {name} host data {}", typed_host(*x)),
            Arg::Arrays(xs) => write!(text, ", {name} {xs:?}"),
            Arg::Index(items) => {
                let items: Vec<String> = items.iter().map(index).collect();
                write!(text, ", {name} [{}]", items.join(", "))
            }
            Arg::Number(number) => write!(text, ", {name} = {}", scalar(number)),
            Arg::Plain(value) => write!(text, ", {name} = {}", value.text()),
            Arg::Absent => Ok(()),
        };
    }
    text
}

fn index(item: &IndexArg<'_>) -> String {
    match item {
        IndexArg::Array(x) => format!("{x:?}"),
        IndexArg::Plain(text) => text.clone(),
    }
}

/// Formats a number with all its digits. All NaNs have the same text, regardless of sign and payload.
fn scalar(number: &Number) -> String {
    match number {
        Number::Bool(value) => value.to_string(),
        Number::Integer(value) => value.to_string(),
        Number::Real(value) => format!("{value:?}"),
        Number::Complex(value) => format!("{:?} + {:?}i", value.re, value.im),
        other => format!("{other:?}"),
    }
}

/// Describes host data whose dtype is known only at run time.
fn typed_host(x: &dyn AnyTyped) -> String {
    macro_rules! of {
        ($($dtype:ident $t:ty,)*) => {
            match x.element() {
                $(DType::$dtype => x.as_any().downcast_ref::<HostArray<$t>>().map(host),)*
                _ => None,
            }
        };
    }
    let text = of! {
        Bool bool, Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64,
        Float16 backends::f16, BFloat16 backends::bf16, Float32 f32, Float64 f64,
        Complex64 backends::Complex<f32>, Complex128 backends::Complex<f64>,
    };
    text.unwrap_or_else(|| format!("{x:?}"))
}

/// Describes host data, for example `float64[1000] with the hash 0123456789abcdef`.
fn host<T: Element>(x: &HostArray<T>) -> String {
    format!("{}{:?} with the hash {:016x}", T::DTYPE, x.shape(), hash(x))
}

/// Hashes all elements in C order, regardless of their order in memory.
fn hash<T: Element>(x: &HostArray<T>) -> u64 {
    let of = |elements: &[T]| {
        // each step of FxHash processes 8 bytes, so the hash is computed as fast as memory can be read
        let bytes = bytes::as_bytes(elements);
        let (words, rest) = bytes.as_chunks::<8>();
        let step = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| step(hash, u64::from_le_bytes(*word)));
        rest.iter().fold(hash, |hash, byte| step(hash, u64::from(*byte)))
    };
    // before hashing, NaNs are replaced by one value, and their positions are added, so that all NaNs have the same
    // hash
    #[allow(clippy::eq_op)]
    let is_nan = |x: &T| x != x;
    if x.iter().any(is_nan) {
        let canonical: Vec<T> = x.iter().map(|x| if is_nan(x) { T::default() } else { *x }).collect();
        let places: Vec<u64> = (0_u64..).zip(x.iter()).filter(|(_, x)| is_nan(x)).map(|(k, _)| k).collect();
        return of(&canonical) ^ places.iter().fold(1, |hash: u64, k| (hash ^ k).wrapping_mul(0x0000_0100_0000_01b3));
    }
    match x.as_slice() {
        Some(elements) => of(elements),
        None => copied("hash", x.view()).map_or(0, |x| x.as_slice().map_or(0, of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr1;

    #[test]
    fn equal_elements_have_equal_hashes_in_any_order_of_memory() {
        let of = |x: &[f64]| hash(&arr1(x).into_dyn().into_shared());
        assert_eq!(of(&[1.0, f64::NAN]), of(&[1.0, -f64::NAN]));
        assert_ne!(of(&[f64::NAN, 1.0]), of(&[1.0, f64::NAN]));
        assert_ne!(of(&[f64::NAN, 1.0]), of(&[0.0, 1.0]));
        assert_ne!(of(&[0.0]), of(&[-0.0]));
        assert_ne!(of(&[1.0, 2.0]), of(&[2.0, 1.0]));
        let x = ndarray::array![[1.0, 2.0], [3.0, 4.0]].into_dyn().into_shared();
        let turned = ndarray::array![[1.0, 3.0], [2.0, 4.0]].reversed_axes().into_dyn().into_shared();
        assert_eq!(hash(&x), hash(&turned));
        assert_eq!(scalar(&Number::Real(f64::NAN)), scalar(&Number::Real(-f64::NAN)));
        assert_ne!(scalar(&Number::Real(0.0)), scalar(&Number::Real(-0.0)));
    }
}
