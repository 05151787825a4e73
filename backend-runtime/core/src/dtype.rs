//! The enum `DType`, which names a dtype at run time: names, kinds and sizes of dtypes, and functions from dtype to
//! dtype.

use crate::Error;
use std::{fmt, str::FromStr};

/// The dtype of an array, known at run time. At compile time, dtypes are Rust types that implement
/// [`Element`](crate::Element).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DType {
    /// `bool`
    Bool,
    /// `i8`
    Int8,
    /// `i16`
    Int16,
    /// `i32`
    Int32,
    /// `i64`
    Int64,
    /// `u8`
    UInt8,
    /// `u16`
    UInt16,
    /// `u32`
    UInt32,
    /// `u64`
    UInt64,
    /// `half::f16`
    Float16,
    /// `half::bf16`
    BFloat16,
    /// `f32`
    Float32,
    /// `f64`
    Float64,
    /// `Complex<f32>`
    Complex64,
    /// `Complex<f64>`
    Complex128,
}

/// The kind of a dtype. The kinds are in the order of NumPy's type promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DTypeKind {
    /// `bool`
    Bool,
    /// `u8` to `u64`
    Unsigned,
    /// `i8` to `i64`
    Signed,
    /// `f16`, `bf16`, `f32`, `f64`
    Real,
    /// `Complex<f32>`, `Complex<f64>`
    Complex,
}

/// The arithmetic of a dtype. Signed and unsigned integers of the same size share an arithmetic, and so does bool with
/// bytes, because their sums, differences and products have the same bits.
#[doc(hidden)]
#[allow(missing_docs)] // each variant is named after a dtype with this arithmetic
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
}

impl DType {
    /// The arithmetic of the dtype.
    #[doc(hidden)]
    pub const fn arithmetic(self) -> Arithmetic {
        match self {
            DType::Bool | DType::Int8 | DType::UInt8 => Arithmetic::UInt8,
            DType::Int16 | DType::UInt16 => Arithmetic::UInt16,
            DType::Int32 | DType::UInt32 => Arithmetic::UInt32,
            DType::Int64 | DType::UInt64 => Arithmetic::UInt64,
            DType::Float16 => Arithmetic::Float16,
            DType::BFloat16 => Arithmetic::BFloat16,
            DType::Float32 => Arithmetic::Float32,
            DType::Float64 => Arithmetic::Float64,
            DType::Complex64 => Arithmetic::Complex64,
            DType::Complex128 => Arithmetic::Complex128,
        }
    }

    /// Every dtype, in the order of the variants.
    pub const ALL: [DType; 15] = [
        DType::Bool,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::UInt8,
        DType::UInt16,
        DType::UInt32,
        DType::UInt64,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
        DType::Complex64,
        DType::Complex128,
    ];

    /// Returns whether the dtype can represent the integer `x`. The result is true for floats, which round, and for
    /// bool, which converts by `x != 0`.
    #[inline(always)]
    pub(crate) fn holds(self, x: i128) -> bool {
        let bits = 8 * self.size() as u32;
        match self.kind() {
            DTypeKind::Signed => x >> (bits - 1) == if x < 0 { -1 } else { 0 },
            DTypeKind::Unsigned => x >= 0 && x >> bits == 0,
            _ => true,
        }
    }

    /// Returns the name in NumPy and the Array API, such as `"float32"`.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::Int8 => "int8",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::UInt8 => "uint8",
            DType::UInt16 => "uint16",
            DType::UInt32 => "uint32",
            DType::UInt64 => "uint64",
            DType::Float16 => "float16",
            DType::BFloat16 => "bfloat16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Complex64 => "complex64",
            DType::Complex128 => "complex128",
        }
    }

    /// Returns the size of an element in bytes.
    pub const fn size(self) -> usize {
        match self {
            DType::Bool | DType::Int8 | DType::UInt8 => 1,
            DType::Int16 | DType::UInt16 | DType::Float16 | DType::BFloat16 => 2,
            DType::Int32 | DType::UInt32 | DType::Float32 => 4,
            DType::Int64 | DType::UInt64 | DType::Float64 | DType::Complex64 => 8,
            DType::Complex128 => 16,
        }
    }

    /// Returns the alignment of an element in bytes. A complex number has the alignment of its parts.
    pub const fn align(self) -> usize {
        match self {
            DType::Complex64 => align_of::<f32>(),
            DType::Int64 | DType::UInt64 => align_of::<i64>(),
            DType::Float64 | DType::Complex128 => align_of::<f64>(),
            other => other.size(),
        }
    }

    /// Returns the kind of number.
    pub const fn kind(self) -> DTypeKind {
        match self {
            DType::Bool => DTypeKind::Bool,
            DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => DTypeKind::Unsigned,
            DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => DTypeKind::Signed,
            DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64 => DTypeKind::Real,
            DType::Complex64 | DType::Complex128 => DTypeKind::Complex,
        }
    }

    /// Returns the complex dtype that corresponds to this dtype: `complex128` for `float64`, `complex128` and 64-bit
    /// integers, and `complex64` for all others. The Fourier transform of an array of this dtype has this complex
    /// dtype.
    pub const fn to_complex(self) -> DType {
        match self {
            DType::Int64 | DType::UInt64 | DType::Float64 | DType::Complex128 => DType::Complex128,
            _ => DType::Complex64,
        }
    }

    /// Returns the dtype of a sum of elements: int64 for bool and signed integers, uint64 for unsigned integers, and
    /// the dtype itself otherwise.
    pub const fn to_sum(self) -> DType {
        match self.kind() {
            DTypeKind::Bool | DTypeKind::Signed => DType::Int64,
            DTypeKind::Unsigned => DType::UInt64,
            DTypeKind::Real | DTypeKind::Complex => self,
        }
    }

    /// Returns the dtype of the real part of a complex dtype: `float64` for `complex128`. Other dtypes return
    /// themselves.
    pub const fn to_real(self) -> DType {
        match self {
            DType::Complex64 => DType::Float32,
            DType::Complex128 => DType::Float64,
            other => other,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Reads a dtype's name in NumPy, such as `"float32"`, `"complex128"`, `"int8"` or `"bool"`.
    fn from_str(name: &str) -> Result<DType, Error> {
        DType::ALL.into_iter().find(|d| d.name() == name).ok_or_else(|| Error::unknown_dtype(name))
    }
}

/// Runs the body with `T` bound to the Rust type of a [`DType`] that is known at run time: `dispatch!(dtype, T =>
/// b.zeros::<T>([3]).map(drop))`.
///
/// A list in brackets limits the dtypes: `dispatch!(dtype, T: [Float32, Float64] => run::<T>())`. Any other dtype gives
/// `Err(Error::DType)`, which names the function that contains the macro call. With a list, the body must therefore
/// return a `Result`.
#[macro_export]
macro_rules! dispatch {
    ($dtype:expr, $t:ident => $body:expr) => {
        $crate::dispatch!($dtype, $t: [
            Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64,
            Float16, BFloat16, Float32, Float64, Complex64, Complex128
        ] => $body)
    };
    ($dtype:expr, $t:ident : [$($d:ident),* $(,)?] => $body:expr) => {
        match $dtype {
            $($crate::DType::$d => { type $t = $crate::dtype_type!($d); $body })*
            #[allow(unreachable_patterns)]
            other => {
                fn here() {}
                Err($crate::Error::dtype($crate::function_around(&here), other).into())
            }
        }
    };
}

/// Returns the name of the function in which `F`, a nested function or a closure, is defined.
#[doc(hidden)]
pub fn function_around<F>(_: &F) -> &'static str {
    let path = std::any::type_name::<F>();
    let mut names = path.rsplit("::").filter(|name| *name != "{{closure}}");
    names.next();
    names.next().unwrap_or("dispatch")
}

/// The Rust type of the [`DType`] variant with this name.
#[doc(hidden)]
#[macro_export]
macro_rules! dtype_type {
    (Bool) => { bool };
    (Int8) => { i8 };
    (Int16) => { i16 };
    (Int32) => { i32 };
    (Int64) => { i64 };
    (UInt8) => { u8 };
    (UInt16) => { u16 };
    (UInt32) => { u32 };
    (UInt64) => { u64 };
    (Float16) => { $crate::f16 };
    (BFloat16) => { $crate::bf16 };
    (Float32) => { f32 };
    (Float64) => { f64 };
    (Complex64) => { $crate::Complex<f32> };
    (Complex128) => { $crate::Complex<f64> };
}

/// An unsigned integer type (or complex type) of the same size and alignment, for code that only moves elements.
#[doc(hidden)]
#[macro_export]
macro_rules! mover_type {
    (Bool) => { u8 };
    (Int8) => { u8 };
    (Int16) => { u16 };
    (Int32) => { u32 };
    (Int64) => { u64 };
    (UInt8) => { u8 };
    (UInt16) => { u16 };
    (UInt32) => { u32 };
    (UInt64) => { u64 };
    (Float16) => { u16 };
    (BFloat16) => { u16 };
    (Float32) => { u32 };
    (Float64) => { u64 };
    (Complex64) => { $crate::Complex<f32> };
    (Complex128) => { $crate::Complex<f64> };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_dtypes_map_both_ways() {
        for d in DType::ALL {
            assert_eq!(d.name().parse::<DType>().unwrap(), d);
        }
        assert!("float128".parse::<DType>().unwrap_err().to_string().contains("float128"));
    }

    #[test]
    fn dispatch_binds_the_type() {
        let size = |d: DType| -> Result<usize, Error> { dispatch!(d, T => Ok(size_of::<T>())) };
        for d in DType::ALL {
            assert_eq!(size(d).unwrap(), d.size());
            let align = |d: DType| -> Result<usize, Error> { dispatch!(d, T => Ok(align_of::<T>())) };
            assert_eq!(align(d).unwrap(), d.align());
        }
        let limited: Result<usize, Error> = dispatch!(DType::Int8, T: [Float32] => Ok(size_of::<T>()));
        assert_eq!(limited, Err(Error::dtype("dispatch_binds_the_type", DType::Int8)));
        assert_eq!(limited.unwrap_err().to_string(), "dispatch_binds_the_type: the op is not available in int8");
        let in_closure = || -> Result<usize, Error> { dispatch!(DType::Bool, T: [Float32] => Ok(size_of::<T>())) };
        assert_eq!(in_closure(), Err(Error::dtype("dispatch_binds_the_type", DType::Bool)));
    }
}
