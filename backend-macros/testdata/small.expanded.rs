const _: &[u8] = ::core::include_bytes!("ops.toml");
const _: () = assert!(
    crate ::runtime::same_names(crate ::runtime::Side::NAMES, & ["left", "right"]),
    "`[choice.side]` has other names than the runtime's `Side`"
);
/**Element by element.

| op | does | dtypes |
|---|---|---|
| [`add`](Self::add) | x1 + x2. | float |
| [`leaky`](Self::leaky) | x where positive, slope * x elsewhere. | real |
| [`threshold`](Self::threshold) | x where it is above the limit, the value elsewhere. | real |
| [`sum`](Self::sum) | Sum. | float |
| [`rms`](Self::rms) | A composition. | float |
| [`ends`](Self::ends) | The ends along an axis, and how many elements are equal to them. | float |
| [`is_flat`](Self::is_flat) | Whether all elements are equal. | float32, complex64 |
*/
pub trait Elementwise: crate::runtime::Arrays {
    /**x1 + x2.

- `x1`: array or scalar, broadcast with the others
- `x2`: array or scalar, broadcast with the others

Dtypes: float. Accuracy: exact.

| library | runs |
|---|---|
| Numpyish | `x1 + x2` per element |
| Torch | `aten::add.Tensor(x1, x2)` |

# Errors

Shapes that do not fit, axes or indices out of range, memory that is refused, and what the library reports.

# Example

```
# use backends::prelude::*;
# fn main() -> Result<()> {
let b = Numpyish::new();
assert_eq!(b.add(1.0, &b.asarray([1.0, 2.0])?)?, b.asarray([2.0, 3.0])?);
# Ok(())
# }
```*/
    #[doc(alias = "plus")]
    fn add<T: crate::runtime::Float, K1, K2>(
        &self,
        x1: impl crate::runtime::IntoOperand<Self, T, K1>,
        x2: impl crate::runtime::IntoOperand<Self, T, K2>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x1, x2);
        Err(
            crate::runtime::Error::unsupported(
                "add",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**x where positive, slope * x elsewhere.

- `x`: array
- `slope`: `f64`; default `0.01`, set by [`leaky_with`](Self::leaky_with)

Dtypes: real. Accuracy: exact.

| library | runs |
|---|---|
| Numpyish | `if x < 0.0 { slope * x } else { x }` per element |
| Torch | `aten::leaky_relu(x, slope)` |

# Errors

A shape or argument the op cannot take, memory that is refused, and what the library reports.

# Example

```
# use backends::prelude::*;
# fn main() -> Result<()> {
let b = Numpyish::new();
assert_eq!(b.leaky(&b.asarray([1.0, -1.0])?)?, b.asarray([1.0, -0.01])?);
# Ok(())
# }
```*/
    #[inline]
    fn leaky<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        self.leaky_with(x, LeakyOptions::new())
    }
    ///[`leaky`](Self::leaky) with [options](LeakyOptions) by name.
    fn leaky_with<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
        options: LeakyOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x, options);
        Err(
            crate::runtime::Error::unsupported(
                "leaky",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**x where it is above the limit, the value elsewhere.

- `x`: array
- `limit`: a value of the dtype
- `value`: a value of the dtype

Dtypes: real. Accuracy: exact.

| library | runs |
|---|---|
| Numpyish | `select::threshold` |
| Torch | `aten::threshold(x, limit, value)` |

# Errors

A shape or argument the op cannot take, memory that is refused, and what the library reports.

# Example

```
# use backends::prelude::*;
# fn main() -> Result<()> {
let b = Numpyish::new();
assert_eq!(b.threshold(&b.asarray([1.0, 2.0])?, 1.0, 0.0)?, b.asarray([0.0, 2.0])?);
# Ok(())
# }
```*/
    fn threshold<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
        limit: T,
        value: T,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x, limit, value);
        Err(
            crate::runtime::Error::unsupported(
                "threshold",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**Sum.

- `x`: array
- `axis`: axes: `..` for all, `0`, `-1`, `[0, 2]`
- `keepdims`: `bool`; default `false`, set by [`sum_with`](Self::sum_with)

Dtypes: float. Accuracy: exact.

| library | runs |
|---|---|
| Numpyish | `reduce::sum` |
| Torch | `reduce::sum` |

# Errors

An axis out of range or given twice, a shape the op cannot take, memory that is refused, and what the library reports.

# Example

```
# use backends::prelude::*;
# fn main() -> Result<()> {
let b = Numpyish::new();
assert_eq!(b.sum(&b.asarray([1.0, 2.0])?, ..)?, b.asarray(3.0)?);
# Ok(())
# }
```*/
    #[inline]
    fn sum<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        self.sum_with(x, axis, SumOptions::new())
    }
    ///[`sum`](Self::sum) with [options](SumOptions) by name.
    fn sum_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
        options: SumOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x, axis, options);
        Err(
            crate::runtime::Error::unsupported(
                "sum",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**A composition.

- `x`: array
- `axis`: axes: `..` for all, `0`, `-1`, `[0, 2]`
- `keepdims`: `bool`; default `false`, set by [`rms_with`](Self::rms_with)

Dtypes: float. Accuracy: exact.

| library | runs |
|---|---|
| Numpyish | `{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }` |
| Torch | `{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }` |

# Errors

An axis out of range or given twice, a shape the op cannot take, memory that is refused, and what the library reports.

# Example

```
# use backends::prelude::*;
# fn main() -> Result<()> {
let b = Numpyish::new();
let x = b.asarray([1.0, 2.0])?;
assert_eq!(b.rms(&x, ..)?, b.asarray(6.0)?);
# Ok(())
# }
```*/
    #[inline]
    fn rms<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        self.rms_with(x, axis, RmsOptions::new())
    }
    ///[`rms`](Self::rms) with [options](RmsOptions) by name.
    fn rms_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
        options: RmsOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let _ = (x, axis, options);
        Err(
            crate::runtime::Error::unsupported(
                "rms",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**The ends along an axis, and how many elements are equal to them.

- `x`: array
- `weights`: array of the real dtype; default `none`, set by [`ends_with`](Self::ends_with)
- `first`: array of `i32`; default `none`, set by [`ends_with`](Self::ends_with)
- `side`: a choice of [`Side`](crate::Side); default `left`, set by [`ends_with`](Self::ends_with)

Dtypes: float. Accuracy: exact (either zero may stand for both). It waits for 8 bytes from the device: how many there are.

| library | runs |
|---|---|
| Numpyish | `sort::ends` |
| Torch | `sort::ends` |

# Errors

A shape or argument the op cannot take, memory that is refused, and what the library reports.

# Example

```
# use backends::prelude::*;
# fn main() -> Result<()> {
let b = Numpyish::new();
assert_eq!(b.ends(&b.asarray([2.0, 2.0])?)?.counts, b.asarray([2_i64])?);
# Ok(())
# }
```*/
    #[inline]
    fn ends<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
    ) -> crate::runtime::Result<EndsResult<Self, T>> {
        self.ends_with(x, EndsOptions::new())
    }
    ///[`ends`](Self::ends) with [options](EndsOptions) by name.
    fn ends_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        options: EndsOptions<'_, Self::Array<T::Real>, Self::Array<i32>>,
    ) -> crate::runtime::Result<EndsResult<Self, T>> {
        let _ = (x, options);
        Err(
            crate::runtime::Error::unsupported(
                "ends",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
    /**Whether all elements are equal.

- `x`: array

Dtypes: float32, complex64. Accuracy: exact.

| library | runs |
|---|---|
| Numpyish | `is_flat`, over any backend |
| Torch | `is_flat`, over any backend |

# Errors

A shape or argument the op cannot take, memory that is refused, and what the library reports.

# Example

```
# use backends::prelude::*;
# fn main() -> Result<()> {
let b = Numpyish::new();
assert!(b.is_flat(&b.asarray([2.0, 2.0])?)?);
# Ok(())
# }
```*/
    fn is_flat<T: IsFlatDtypes>(
        &self,
        x: &Self::Array<T>,
    ) -> crate::runtime::Result<bool> {
        let _ = (x,);
        Err(
            crate::runtime::Error::unsupported(
                "is_flat",
                <Self as crate::runtime::Arrays>::NAME,
            ),
        )
    }
}
///Options of `leaky_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeakyOptions {
    ///Default: `0.01`.
    pub slope: f64,
}
impl LeakyOptions {
    /// The defaults.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self { slope: 0.01f64 }
    }
    ///Sets `slope` (default `0.01`).
    #[inline]
    #[must_use]
    pub fn slope(mut self, slope: f64) -> Self {
        self.slope = slope;
        self
    }
}
impl Default for LeakyOptions {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}
///Options of `sum_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SumOptions {
    ///Default: `false`.
    pub keepdims: bool,
}
impl SumOptions {
    /// The defaults.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self { keepdims: false }
    }
    ///Sets `keepdims` (default `false`).
    #[inline]
    #[must_use]
    pub fn keepdims(mut self, keepdims: bool) -> Self {
        self.keepdims = keepdims;
        self
    }
}
impl Default for SumOptions {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}
///Options of `rms_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RmsOptions {
    ///Default: `false`.
    pub keepdims: bool,
}
impl RmsOptions {
    /// The defaults.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self { keepdims: false }
    }
    ///Sets `keepdims` (default `false`).
    #[inline]
    #[must_use]
    pub fn keepdims(mut self, keepdims: bool) -> Self {
        self.keepdims = keepdims;
        self
    }
}
impl Default for RmsOptions {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}
///Options of `ends_with`.
#[derive(Debug)]
#[non_exhaustive]
pub struct EndsOptions<'a, A0, A1> {
    ///Default: `none`.
    pub weights: Option<&'a A0>,
    ///Default: `none`.
    pub first: Option<&'a A1>,
    ///Default: `left`.
    pub side: crate::runtime::Side,
}
impl<'a, A0, A1> EndsOptions<'a, A0, A1> {
    /// The defaults.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self {
            weights: None,
            first: None,
            side: crate::runtime::Side::Left,
        }
    }
    ///Sets `weights` (default `none`).
    #[inline]
    #[must_use]
    pub fn weights(mut self, weights: &'a A0) -> Self {
        self.weights = Some(weights);
        self
    }
    ///Sets `first` (default `none`).
    #[inline]
    #[must_use]
    pub fn first(mut self, first: &'a A1) -> Self {
        self.first = Some(first);
        self
    }
    ///Sets `side` (default `left`).
    #[inline]
    #[must_use]
    pub fn side(mut self, side: crate::runtime::Side) -> Self {
        self.side = side;
        self
    }
}
impl<'a, A0, A1> Default for EndsOptions<'a, A0, A1> {
    #[inline]
    fn default() -> Self {
        Self::new()
    }
}
impl<'a, A0, A1> Clone for EndsOptions<'a, A0, A1> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<'a, A0, A1> Copy for EndsOptions<'a, A0, A1> {}
///What `ends` gives.
#[derive(Clone)]
pub struct EndsResult<B: crate::runtime::Arrays, T: crate::runtime::Float> {
    ///array
    pub values: B::Array<T>,
    ///array of `i64`
    pub counts: B::Array<i64>,
}
impl<B: crate::runtime::Arrays, T: crate::runtime::Float> EndsResult<B, T> {
    ///The arrays, in the order of the fields.
    pub fn into_parts(self) -> (B::Array<T>, B::Array<i64>) {
        (self.values, self.counts)
    }
}
impl<
    B: crate::runtime::Arrays,
    T: crate::runtime::Float,
> From<(B::Array<T>, B::Array<i64>)> for EndsResult<B, T> {
    fn from((values, counts): (B::Array<T>, B::Array<i64>)) -> Self {
        Self { values, counts }
    }
}
impl<B: crate::runtime::Arrays, T: crate::runtime::Float> ::core::fmt::Debug
for EndsResult<B, T> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("EndsResult")
            .field("values", &self.values)
            .field("counts", &self.counts)
            .finish()
    }
}
impl Elementwise for crate::runtime::numpyish::Numpyish {
    #[inline]
    fn add<T: crate::runtime::Float, K1, K2>(
        &self,
        x1: impl crate::runtime::IntoOperand<Self, T, K1>,
        x2: impl crate::runtime::IntoOperand<Self, T, K2>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x1 = x1.operand();
        let x2 = x2.operand();
        crate::runtime::numpyish::elementwise::each2(self, &__each::Add {}, x1, x2)
    }
    #[inline]
    fn leaky_with<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
        options: LeakyOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let LeakyOptions { slope, .. } = options;
        crate::runtime::numpyish::elementwise::each1(
            self,
            &__each::Leaky { slope },
            crate::runtime::Operand::Array(x),
        )
    }
    #[inline]
    fn threshold<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
        limit: T,
        value: T,
    ) -> crate::runtime::Result<Self::Array<T>> {
        crate::runtime::numpyish::select::threshold(self, x, limit, value)
    }
    #[inline]
    fn sum_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
        options: SumOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let axis: crate::runtime::Axes = axis.into();
        let SumOptions { keepdims, .. } = options;
        crate::runtime::numpyish::reduce::sum(self, x, axis, keepdims)
    }
    #[inline]
    fn rms_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
        options: RmsOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let axis: crate::runtime::Axes = axis.into();
        let RmsOptions { keepdims, .. } = options;
        __compose::rms(self, x, axis, keepdims).map_err(|why| why.within("rms"))
    }
    #[inline]
    fn ends_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        options: EndsOptions<'_, Self::Array<T::Real>, Self::Array<i32>>,
    ) -> crate::runtime::Result<EndsResult<Self, T>> {
        let EndsOptions { weights, first, side, .. } = options;
        crate::runtime::numpyish::sort::ends(self, x, weights, first, side)
            .map(::core::convert::From::from)
    }
    #[inline]
    fn is_flat<T: IsFlatDtypes>(
        &self,
        x: &Self::Array<T>,
    ) -> crate::runtime::Result<bool> {
        crate::is_flat(self, x).map_err(|why| why.within("is_flat"))
    }
}
impl Elementwise for crate::runtime::torch::Torch {
    #[inline]
    fn add<T: crate::runtime::Float, K1, K2>(
        &self,
        x1: impl crate::runtime::IntoOperand<Self, T, K1>,
        x2: impl crate::runtime::IntoOperand<Self, T, K2>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x1 = x1.operand();
        let x2 = x2.operand();
        static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
            "add",
            "aten::add",
            "Tensor",
            crate::runtime::torch::DtypeStrategy::Direct,
        );
        crate::runtime::torch::aten::<
            T,
            _,
        >(
            self,
            &ATEN,
            &[crate::runtime::torch::Arg::from(x1), crate::runtime::torch::Arg::from(x2)],
        )
    }
    #[inline]
    fn leaky_with<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
        options: LeakyOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let LeakyOptions { slope, .. } = options;
        static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
            "leaky",
            "aten::leaky_relu",
            "",
            crate::runtime::torch::DtypeStrategy::Float32,
        );
        crate::runtime::torch::aten::<
            T,
            _,
        >(
            self,
            &ATEN,
            &[
                crate::runtime::torch::Arg::from(x),
                crate::runtime::torch::Arg::from(slope),
            ],
        )
    }
    #[inline]
    fn threshold<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
        limit: T,
        value: T,
    ) -> crate::runtime::Result<Self::Array<T>> {
        static ATEN: crate::runtime::torch::Aten = crate::runtime::torch::Aten::new(
            "threshold",
            "aten::threshold",
            "",
            crate::runtime::torch::DtypeStrategy::Direct,
        );
        crate::runtime::torch::aten::<
            T,
            _,
        >(
            self,
            &ATEN,
            &[
                crate::runtime::torch::Arg::from(x),
                crate::runtime::torch::Arg::element(limit),
                crate::runtime::torch::Arg::element(value),
            ],
        )
    }
    #[inline]
    fn sum_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
        options: SumOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let axis: crate::runtime::Axes = axis.into();
        let SumOptions { keepdims, .. } = options;
        crate::runtime::torch::reduce::sum(self, x, axis, keepdims)
    }
    #[inline]
    fn rms_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
        options: RmsOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let axis: crate::runtime::Axes = axis.into();
        let RmsOptions { keepdims, .. } = options;
        __compose::rms(self, x, axis, keepdims).map_err(|why| why.within("rms"))
    }
    #[inline]
    fn ends_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        options: EndsOptions<'_, Self::Array<T::Real>, Self::Array<i32>>,
    ) -> crate::runtime::Result<EndsResult<Self, T>> {
        let EndsOptions { weights, first, side, .. } = options;
        crate::runtime::torch::sort::ends(self, x, weights, first, side)
            .map(::core::convert::From::from)
    }
    #[inline]
    fn is_flat<T: IsFlatDtypes>(
        &self,
        x: &Self::Array<T>,
    ) -> crate::runtime::Result<bool> {
        crate::is_flat(self, x).map_err(|why| why.within("is_flat"))
    }
}
impl Elementwise for crate::AnyBackend {
    #[inline]
    fn add<T: crate::runtime::Float, K1, K2>(
        &self,
        x1: impl crate::runtime::IntoOperand<Self, T, K1>,
        x2: impl crate::runtime::IntoOperand<Self, T, K2>,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let x1 = x1.operand();
        let x2 = x2.operand();
        match self {
            crate::AnyBackend::Numpyish(b) => {
                let r = b
                    .add(
                        crate::AnyArray::numpyish_operand(x1, "add")?,
                        crate::AnyArray::numpyish_operand(x2, "add")?,
                    )?;
                Ok(crate::AnyArray::Numpyish(r))
            }
            crate::AnyBackend::Torch(b) => {
                let r = b
                    .add(
                        crate::AnyArray::torch_operand(x1, "add")?,
                        crate::AnyArray::torch_operand(x2, "add")?,
                    )?;
                Ok(crate::AnyArray::Torch(r))
            }
        }
    }
    #[inline]
    fn leaky_with<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
        options: LeakyOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        match self {
            crate::AnyBackend::Numpyish(b) => {
                let r = b.leaky_with(x.numpyish("leaky")?, options)?;
                Ok(crate::AnyArray::Numpyish(r))
            }
            crate::AnyBackend::Torch(b) => {
                let r = b.leaky_with(x.torch("leaky")?, options)?;
                Ok(crate::AnyArray::Torch(r))
            }
        }
    }
    #[inline]
    fn threshold<T: crate::runtime::Real>(
        &self,
        x: &Self::Array<T>,
        limit: T,
        value: T,
    ) -> crate::runtime::Result<Self::Array<T>> {
        match self {
            crate::AnyBackend::Numpyish(b) => {
                let r = b.threshold(x.numpyish("threshold")?, limit, value)?;
                Ok(crate::AnyArray::Numpyish(r))
            }
            crate::AnyBackend::Torch(b) => {
                let r = b.threshold(x.torch("threshold")?, limit, value)?;
                Ok(crate::AnyArray::Torch(r))
            }
        }
    }
    #[inline]
    fn sum_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
        options: SumOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let axis: crate::runtime::Axes = axis.into();
        match self {
            crate::AnyBackend::Numpyish(b) => {
                let r = b.sum_with(x.numpyish("sum")?, axis, options)?;
                Ok(crate::AnyArray::Numpyish(r))
            }
            crate::AnyBackend::Torch(b) => {
                let r = b.sum_with(x.torch("sum")?, axis, options)?;
                Ok(crate::AnyArray::Torch(r))
            }
        }
    }
    #[inline]
    fn rms_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        axis: impl Into<crate::runtime::Axes>,
        options: RmsOptions,
    ) -> crate::runtime::Result<Self::Array<T>> {
        let axis: crate::runtime::Axes = axis.into();
        match self {
            crate::AnyBackend::Numpyish(b) => {
                let r = b.rms_with(x.numpyish("rms")?, axis, options)?;
                Ok(crate::AnyArray::Numpyish(r))
            }
            crate::AnyBackend::Torch(b) => {
                let r = b.rms_with(x.torch("rms")?, axis, options)?;
                Ok(crate::AnyArray::Torch(r))
            }
        }
    }
    #[inline]
    fn ends_with<T: crate::runtime::Float>(
        &self,
        x: &Self::Array<T>,
        options: EndsOptions<'_, Self::Array<T::Real>, Self::Array<i32>>,
    ) -> crate::runtime::Result<EndsResult<Self, T>> {
        match self {
            crate::AnyBackend::Numpyish(b) => {
                let r = b
                    .ends_with(
                        x.numpyish("ends")?,
                        {
                            let mut own = EndsOptions::new();
                            own.weights = options
                                .weights
                                .map(|x| x.numpyish("ends"))
                                .transpose()?;
                            own.first = options
                                .first
                                .map(|x| x.numpyish("ends"))
                                .transpose()?;
                            own.side = options.side;
                            own
                        },
                    )?;
                Ok(EndsResult {
                    values: crate::AnyArray::Numpyish(r.values),
                    counts: crate::AnyArray::Numpyish(r.counts),
                })
            }
            crate::AnyBackend::Torch(b) => {
                let r = b
                    .ends_with(
                        x.torch("ends")?,
                        {
                            let mut own = EndsOptions::new();
                            own.weights = options
                                .weights
                                .map(|x| x.torch("ends"))
                                .transpose()?;
                            own.first = options
                                .first
                                .map(|x| x.torch("ends"))
                                .transpose()?;
                            own.side = options.side;
                            own
                        },
                    )?;
                Ok(EndsResult {
                    values: crate::AnyArray::Torch(r.values),
                    counts: crate::AnyArray::Torch(r.counts),
                })
            }
        }
    }
    #[inline]
    fn is_flat<T: IsFlatDtypes>(
        &self,
        x: &Self::Array<T>,
    ) -> crate::runtime::Result<bool> {
        match self {
            crate::AnyBackend::Numpyish(b) => {
                let r = b.is_flat(x.numpyish("is_flat")?)?;
                Ok(r)
            }
            crate::AnyBackend::Torch(b) => {
                let r = b.is_flat(x.torch("is_flat")?)?;
                Ok(r)
            }
        }
    }
}
/// The backend chosen at run time; itself a [`Backend`], at the cost of one `match` per op.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyBackend {
    ///The CPU.
    Numpyish(crate::runtime::numpyish::Numpyish),
    ///libtorch.
    Torch(crate::runtime::torch::Torch),
}
/// An array of [`AnyBackend`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyArray<T: crate::runtime::Element> {
    ///The CPU.
    Numpyish(<crate::runtime::numpyish::Numpyish as crate::runtime::Arrays>::Array<T>),
    ///libtorch.
    Torch(<crate::runtime::torch::Torch as crate::runtime::Arrays>::Array<T>),
}
impl AnyBackend {
    /// Name of the library: `"numpyish"`, `"cuda"`, `"torch"`.
    pub fn name(&self) -> &'static str {
        match self {
            AnyBackend::Numpyish(_) => "numpyish",
            AnyBackend::Torch(_) => "torch",
        }
    }
}
impl From<crate::runtime::numpyish::Numpyish> for AnyBackend {
    fn from(backend: crate::runtime::numpyish::Numpyish) -> Self {
        AnyBackend::Numpyish(backend)
    }
}
impl From<crate::runtime::torch::Torch> for AnyBackend {
    fn from(backend: crate::runtime::torch::Torch) -> Self {
        AnyBackend::Torch(backend)
    }
}
impl<T: crate::runtime::Element> AnyArray<T> {
    /// Name of the library the array lives on.
    pub fn backend(&self) -> &'static str {
        match self {
            AnyArray::Numpyish(_) => "numpyish",
            AnyArray::Torch(_) => "torch",
        }
    }
    #[doc(hidden)]
    #[inline]
    #[allow(unreachable_patterns)]
    pub fn numpyish(
        &self,
        op: &'static str,
    ) -> crate::runtime::Result<
        &<crate::runtime::numpyish::Numpyish as crate::runtime::Arrays>::Array<T>,
    > {
        match self {
            AnyArray::Numpyish(x) => Ok(x),
            other => Err(crate::runtime::Error::backend(op, "numpyish", other.backend())),
        }
    }
    #[doc(hidden)]
    #[inline]
    pub fn numpyish_operand<'a>(
        x: crate::runtime::Operand<'a, AnyBackend, T>,
        op: &'static str,
    ) -> crate::runtime::Result<
        crate::runtime::Operand<'a, crate::runtime::numpyish::Numpyish, T>,
    > {
        Ok(
            match x {
                crate::runtime::Operand::Scalar(s) => crate::runtime::Operand::Scalar(s),
                crate::runtime::Operand::Array(x) => {
                    crate::runtime::Operand::Array(x.numpyish(op)?)
                }
            },
        )
    }
    #[doc(hidden)]
    #[inline]
    #[allow(unreachable_patterns)]
    pub fn torch(
        &self,
        op: &'static str,
    ) -> crate::runtime::Result<
        &<crate::runtime::torch::Torch as crate::runtime::Arrays>::Array<T>,
    > {
        match self {
            AnyArray::Torch(x) => Ok(x),
            other => Err(crate::runtime::Error::backend(op, "torch", other.backend())),
        }
    }
    #[doc(hidden)]
    #[inline]
    pub fn torch_operand<'a>(
        x: crate::runtime::Operand<'a, AnyBackend, T>,
        op: &'static str,
    ) -> crate::runtime::Result<
        crate::runtime::Operand<'a, crate::runtime::torch::Torch, T>,
    > {
        Ok(
            match x {
                crate::runtime::Operand::Scalar(s) => crate::runtime::Operand::Scalar(s),
                crate::runtime::Operand::Array(x) => {
                    crate::runtime::Operand::Array(x.torch(op)?)
                }
            },
        )
    }
}
impl crate::runtime::Arrays for AnyBackend {
    type Array<T: crate::runtime::Element> = AnyArray<T>;
    const NAME: &'static str = "any";
    #[inline]
    fn shape<'a, T: crate::runtime::Element>(&self, x: &'a AnyArray<T>) -> &'a [usize] {
        match (self, x) {
            (AnyBackend::Numpyish(b), AnyArray::Numpyish(x)) => b.shape(x),
            (AnyBackend::Torch(b), AnyArray::Torch(x)) => b.shape(x),
            #[allow(unreachable_patterns)]
            (_, x) => x.shape(),
        }
    }
    fn to_ndarray<T: crate::runtime::Element>(
        &self,
        x: &AnyArray<T>,
    ) -> crate::runtime::Result<crate::runtime::HostArray<T>> {
        match self {
            AnyBackend::Numpyish(b) => b.to_ndarray(x.numpyish("to_ndarray")?),
            AnyBackend::Torch(b) => b.to_ndarray(x.torch("to_ndarray")?),
        }
    }
    fn from_ndarray<T: crate::runtime::Element>(
        &self,
        x: crate::runtime::HostArray<T>,
    ) -> crate::runtime::Result<AnyArray<T>> {
        match self {
            AnyBackend::Numpyish(b) => b.from_ndarray(x).map(AnyArray::Numpyish),
            AnyBackend::Torch(b) => b.from_ndarray(x).map(AnyArray::Torch),
        }
    }
    fn device(&self) -> String {
        match self {
            AnyBackend::Numpyish(b) => crate::runtime::Arrays::device(b),
            AnyBackend::Torch(b) => crate::runtime::Arrays::device(b),
        }
    }
    fn synchronize(&self) -> crate::runtime::Result<()> {
        match self {
            AnyBackend::Numpyish(b) => crate::runtime::Arrays::synchronize(b),
            AnyBackend::Torch(b) => crate::runtime::Arrays::synchronize(b),
        }
    }
    fn seed(&self, seed: u64) {
        match self {
            AnyBackend::Numpyish(b) => crate::runtime::Arrays::seed(b, seed),
            AnyBackend::Torch(b) => crate::runtime::Arrays::seed(b, seed),
        }
    }
}
impl<T: crate::runtime::Element> AnyArray<T> {
    /// Lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        match self {
            AnyArray::Numpyish(x) => x.shape(),
            AnyArray::Torch(x) => x.shape(),
        }
    }
}
#[doc(hidden)]
#[allow(unused_imports, unused_parens, clippy::all)]
pub mod __each {
    use crate::runtime as rt;
    #[derive(Clone, Copy, Debug)]
    pub struct Add {}
    impl<T: crate::runtime::Float> rt::Each<2usize, T> for Add {
        type Out = T;
        #[inline(always)]
        fn apply(&self, [x1, x2]: [T; 2usize]) -> T {
            rt::Float::plus(x1, x2)
        }
    }
    impl rt::EachSource for Add {
        const NAME: &'static str = "add";
        const CUDA: &'static str = "op_plus(x0, x1)";
        const INPUTS: &'static [&'static str] = &["x0", "x1"];
        const PARAMS: &'static [&'static str] = &[];
        fn params(&self) -> Vec<f64> {
            vec![]
        }
        const TABLED: &'static [rt::DType] = &[
            rt::DType::Float32,
            rt::DType::Float64,
            rt::DType::Complex64,
        ];
        fn table() -> Option<&'static rt::numpyish::kernel::Table<Add>> {
            static TABLE: rt::numpyish::kernel::Table<Add> = rt::numpyish::kernel::Table::new(
                &[
                    rt::numpyish::kernel::Of::<
                        2usize,
                        rt::dtype_type!(Float32),
                        Add,
                    >::KERNEL,
                    rt::numpyish::kernel::Of::<
                        2usize,
                        rt::dtype_type!(Float64),
                        Add,
                    >::KERNEL,
                    rt::numpyish::kernel::Of::<
                        2usize,
                        rt::dtype_type!(Complex64),
                        Add,
                    >::KERNEL,
                ],
            );
            Some(&TABLE)
        }
    }
    #[derive(Clone, Copy, Debug)]
    pub struct Leaky {
        pub slope: f64,
    }
    impl<T: crate::runtime::Real> rt::Each<1usize, T> for Leaky {
        type Out = T;
        #[inline(always)]
        fn apply(&self, [x]: [T; 1usize]) -> T {
            let Leaky { slope, .. } = *self;
            if PartialOrd::lt(&x, &rt::Element::from_f64(0f64)) {
                rt::Float::times(rt::Element::from_f64(slope), x)
            } else {
                x
            }
        }
    }
    impl rt::EachSource for Leaky {
        const NAME: &'static str = "leaky";
        const CUDA: &'static str = "((x0 < op_of<T>(0.0)) ? op_times(op_of<T>(p0), x0) : x0)";
        const INPUTS: &'static [&'static str] = &["x0"];
        const PARAMS: &'static [&'static str] = &["p0"];
        fn params(&self) -> Vec<f64> {
            vec![self.slope]
        }
        const TABLED: &'static [rt::DType] = &[rt::DType::Float32, rt::DType::Float64];
        fn table() -> Option<&'static rt::numpyish::kernel::Table<Leaky>> {
            static TABLE: rt::numpyish::kernel::Table<Leaky> = rt::numpyish::kernel::Table::new(
                &[
                    rt::numpyish::kernel::Of::<
                        1usize,
                        rt::dtype_type!(Float32),
                        Leaky,
                    >::KERNEL,
                    rt::numpyish::kernel::Of::<
                        1usize,
                        rt::dtype_type!(Float64),
                        Leaky,
                    >::KERNEL,
                ],
            );
            Some(&TABLE)
        }
    }
}
#[doc(hidden)]
#[allow(unused_imports, clippy::all)]
pub mod __compose {
    use super::*;
    pub fn rms<B: crate::Backend, T: crate::runtime::Float>(
        b: &B,
        x: &B::Array<T>,
        axis: crate::runtime::Axes,
        keepdims: bool,
    ) -> crate::runtime::Result<B::Array<T>> {
        Ok({
            let s = b.add(x, x)?;
            b.sum_with(
                &s,
                axis,
                {
                    #[allow(unused_mut)]
                    let mut options = SumOptions::new();
                    options.keepdims = keepdims;
                    options
                },
            )?
        })
    }
}
///The dtypes of the set `is_flat_dtypes`: float32, complex64.
#[diagnostic::on_unimplemented(
    message = "the dtypes of this op are float32, complex64, and `{Self}` is none of them"
)]
pub trait IsFlatDtypes: crate::runtime::Float {}
impl IsFlatDtypes for f32 {}
impl IsFlatDtypes for crate::runtime::Complex<f32> {}
/// Every op of the table, as data.
pub const OPS: &[crate::runtime::OpInfo] = &[
    crate::runtime::OpInfo::new(
            "add",
            "elementwise",
            "x1 + x2.",
            "add(x1: operand, x2: operand) -> array",
            &[
                crate::runtime::DType::Float32,
                crate::runtime::DType::Float64,
                crate::runtime::DType::Complex64,
            ],
            &[
                ("numpyish", "`x1 + x2` per element"),
                ("torch", "`aten::add.Tensor(x1, x2)`"),
            ],
            "",
            "exact",
            "x1 + x2.\n\n- `x1`: array or scalar, broadcast with the others\n- `x2`: array or scalar, broadcast with the others\n\nDtypes: float. Accuracy: exact.\n\n| library | runs |\n|---|---|\n| Numpyish | `x1 + x2` per element |\n| Torch | `aten::add.Tensor(x1, x2)` |\n\n# Errors\n\nShapes that do not fit, axes or indices out of range, memory that is refused, and what the library reports.\n\n# Example\n\n```\n# use backends::prelude::*;\n# fn main() -> Result<()> {\nlet b = Numpyish::new();\nassert_eq!(b.add(1.0, &b.asarray([1.0, 2.0])?)?, b.asarray([2.0, 3.0])?);\n# Ok(())\n# }\n```",
            Some(
                crate::runtime::KernelInfo::new(
                    "op_plus(x0, x1)",
                    "op_plus(x0, x1)",
                    &["x0", "x1"],
                    &[crate::runtime::ElementInfo::T, crate::runtime::ElementInfo::T],
                    &[],
                    &[
                        (crate::runtime::DType::Float32, crate::runtime::DType::Float32),
                        (crate::runtime::DType::Float64, crate::runtime::DType::Float64),
                        (
                            crate::runtime::DType::Complex64,
                            crate::runtime::DType::Complex64,
                        ),
                    ],
                ),
            ),
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x1",
                    crate::runtime::ParamKind::Operand(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "x2",
                    crate::runtime::ParamKind::Operand(crate::runtime::ElementInfo::T),
                    None,
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(Some(("aten::add", "Tensor", 2usize))),
    crate::runtime::OpInfo::new(
            "leaky",
            "elementwise",
            "x where positive, slope * x elsewhere.",
            "leaky(x: array, slope: f64 = 0.01) -> array",
            &[crate::runtime::DType::Float32, crate::runtime::DType::Float64],
            &[
                ("numpyish", "`if x < 0.0 { slope * x } else { x }` per element"),
                ("torch", "`aten::leaky_relu(x, slope)`"),
            ],
            "",
            "exact",
            "x where positive, slope * x elsewhere.\n\n- `x`: array\n- `slope`: `f64`; default `0.01`, set by [`leaky_with`](Self::leaky_with)\n\nDtypes: real. Accuracy: exact.\n\n| library | runs |\n|---|---|\n| Numpyish | `if x < 0.0 { slope * x } else { x }` per element |\n| Torch | `aten::leaky_relu(x, slope)` |\n\n# Errors\n\nA shape or argument the op cannot take, memory that is refused, and what the library reports.\n\n# Example\n\n```\n# use backends::prelude::*;\n# fn main() -> Result<()> {\nlet b = Numpyish::new();\nassert_eq!(b.leaky(&b.asarray([1.0, -1.0])?)?, b.asarray([1.0, -0.01])?);\n# Ok(())\n# }\n```",
            Some(
                crate::runtime::KernelInfo::new(
                    "((x0 < op_of<T>(0.0)) ? op_times(op_of<T>(p0), x0) : x0)",
                    "((x0 < op_of<T>(0.0)) ? op_times(op_of<T>(p0), x0) : x0)",
                    &["x0"],
                    &[crate::runtime::ElementInfo::T],
                    &["p0"],
                    &[
                        (crate::runtime::DType::Float32, crate::runtime::DType::Float32),
                        (crate::runtime::DType::Float64, crate::runtime::DType::Float64),
                    ],
                ),
            ),
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "slope",
                    crate::runtime::ParamKind::Plain(crate::runtime::PlainInfo::F64),
                    Some(crate::runtime::DefaultInfo::Number(0.01f64)),
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(Some(("aten::leaky_relu", "", 2usize))),
    crate::runtime::OpInfo::new(
            "threshold",
            "elementwise",
            "x where it is above the limit, the value elsewhere.",
            "threshold(x: array, limit: scalar, value: scalar) -> array",
            &[crate::runtime::DType::Float32, crate::runtime::DType::Float64],
            &[
                ("numpyish", "`select::threshold`"),
                ("torch", "`aten::threshold(x, limit, value)`"),
            ],
            "",
            "exact",
            "x where it is above the limit, the value elsewhere.\n\n- `x`: array\n- `limit`: a value of the dtype\n- `value`: a value of the dtype\n\nDtypes: real. Accuracy: exact.\n\n| library | runs |\n|---|---|\n| Numpyish | `select::threshold` |\n| Torch | `aten::threshold(x, limit, value)` |\n\n# Errors\n\nA shape or argument the op cannot take, memory that is refused, and what the library reports.\n\n# Example\n\n```\n# use backends::prelude::*;\n# fn main() -> Result<()> {\nlet b = Numpyish::new();\nassert_eq!(b.threshold(&b.asarray([1.0, 2.0])?, 1.0, 0.0)?, b.asarray([0.0, 2.0])?);\n# Ok(())\n# }\n```",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "limit",
                    crate::runtime::ParamKind::Scalar,
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "value",
                    crate::runtime::ParamKind::Scalar,
                    None,
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(Some(("aten::threshold", "", 3usize))),
    crate::runtime::OpInfo::new(
            "sum",
            "elementwise",
            "Sum.",
            "sum(x: array, axis: axes, keepdims: bool = false) -> array",
            &[
                crate::runtime::DType::Float32,
                crate::runtime::DType::Float64,
                crate::runtime::DType::Complex64,
            ],
            &[("numpyish", "`reduce::sum`"), ("torch", "`reduce::sum`")],
            "",
            "exact",
            "Sum.\n\n- `x`: array\n- `axis`: axes: `..` for all, `0`, `-1`, `[0, 2]`\n- `keepdims`: `bool`; default `false`, set by [`sum_with`](Self::sum_with)\n\nDtypes: float. Accuracy: exact.\n\n| library | runs |\n|---|---|\n| Numpyish | `reduce::sum` |\n| Torch | `reduce::sum` |\n\n# Errors\n\nAn axis out of range or given twice, a shape the op cannot take, memory that is refused, and what the library reports.\n\n# Example\n\n```\n# use backends::prelude::*;\n# fn main() -> Result<()> {\nlet b = Numpyish::new();\nassert_eq!(b.sum(&b.asarray([1.0, 2.0])?, ..)?, b.asarray(3.0)?);\n# Ok(())\n# }\n```",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "axis",
                    crate::runtime::ParamKind::Axes,
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "keepdims",
                    crate::runtime::ParamKind::Plain(crate::runtime::PlainInfo::Bool),
                    Some(crate::runtime::DefaultInfo::Bool(false)),
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(None),
    crate::runtime::OpInfo::new(
            "rms",
            "elementwise",
            "A composition.",
            "rms(x: array, axis: axes, keepdims: bool = false) -> array",
            &[
                crate::runtime::DType::Float32,
                crate::runtime::DType::Float64,
                crate::runtime::DType::Complex64,
            ],
            &[
                (
                    "numpyish",
                    "`{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }`",
                ),
                ("torch", "`{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }`"),
            ],
            "",
            "exact",
            "A composition.\n\n- `x`: array\n- `axis`: axes: `..` for all, `0`, `-1`, `[0, 2]`\n- `keepdims`: `bool`; default `false`, set by [`rms_with`](Self::rms_with)\n\nDtypes: float. Accuracy: exact.\n\n| library | runs |\n|---|---|\n| Numpyish | `{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }` |\n| Torch | `{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }` |\n\n# Errors\n\nAn axis out of range or given twice, a shape the op cannot take, memory that is refused, and what the library reports.\n\n# Example\n\n```\n# use backends::prelude::*;\n# fn main() -> Result<()> {\nlet b = Numpyish::new();\nlet x = b.asarray([1.0, 2.0])?;\nassert_eq!(b.rms(&x, ..)?, b.asarray(6.0)?);\n# Ok(())\n# }\n```",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "axis",
                    crate::runtime::ParamKind::Axes,
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "keepdims",
                    crate::runtime::ParamKind::Plain(crate::runtime::PlainInfo::Bool),
                    Some(crate::runtime::DefaultInfo::Bool(false)),
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::One(crate::runtime::ElementInfo::T))
        .with_aten(None),
    crate::runtime::OpInfo::new(
            "ends",
            "elementwise",
            "The ends along an axis, and how many elements are equal to them.",
            "ends(x: array, weights: array<real> = none, first: array<int32> = none, side: side = left) -> { values: array, counts: array<int64> }",
            &[
                crate::runtime::DType::Float32,
                crate::runtime::DType::Float64,
                crate::runtime::DType::Complex64,
            ],
            &[("numpyish", "`sort::ends`"), ("torch", "`sort::ends`")],
            "",
            "exact",
            "The ends along an axis, and how many elements are equal to them.\n\n- `x`: array\n- `weights`: array of the real dtype; default `none`, set by [`ends_with`](Self::ends_with)\n- `first`: array of `i32`; default `none`, set by [`ends_with`](Self::ends_with)\n- `side`: a choice of [`Side`](crate::Side); default `left`, set by [`ends_with`](Self::ends_with)\n\nDtypes: float. Accuracy: exact (either zero may stand for both). It waits for 8 bytes from the device: how many there are.\n\n| library | runs |\n|---|---|\n| Numpyish | `sort::ends` |\n| Torch | `sort::ends` |\n\n# Errors\n\nA shape or argument the op cannot take, memory that is refused, and what the library reports.\n\n# Example\n\n```\n# use backends::prelude::*;\n# fn main() -> Result<()> {\nlet b = Numpyish::new();\nassert_eq!(b.ends(&b.asarray([2.0, 2.0])?)?.counts, b.asarray([2_i64])?);\n# Ok(())\n# }\n```",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
                crate::runtime::ParamInfo::new(
                    "weights",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::Real),
                    Some(crate::runtime::DefaultInfo::None),
                ),
                crate::runtime::ParamInfo::new(
                    "first",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::Int32),
                    Some(crate::runtime::DefaultInfo::None),
                ),
                crate::runtime::ParamInfo::new(
                    "side",
                    crate::runtime::ParamKind::Choice(&["left", "right"]),
                    Some(crate::runtime::DefaultInfo::Choice("left")),
                ),
            ],
        )
        .with_result(
            crate::runtime::ResultInfo::Fields(
                &[
                    ("values", crate::runtime::ElementInfo::T),
                    ("counts", crate::runtime::ElementInfo::Int64),
                ],
            ),
        )
        .with_aten(None),
    crate::runtime::OpInfo::new(
            "is_flat",
            "elementwise",
            "Whether all elements are equal.",
            "is_flat(x: array) -> bool",
            &[crate::runtime::DType::Float32, crate::runtime::DType::Complex64],
            &[
                ("numpyish", "`is_flat`, over any backend"),
                ("torch", "`is_flat`, over any backend"),
            ],
            "",
            "exact",
            "Whether all elements are equal.\n\n- `x`: array\n\nDtypes: float32, complex64. Accuracy: exact.\n\n| library | runs |\n|---|---|\n| Numpyish | `is_flat`, over any backend |\n| Torch | `is_flat`, over any backend |\n\n# Errors\n\nA shape or argument the op cannot take, memory that is refused, and what the library reports.\n\n# Example\n\n```\n# use backends::prelude::*;\n# fn main() -> Result<()> {\nlet b = Numpyish::new();\nassert!(b.is_flat(&b.asarray([2.0, 2.0])?)?);\n# Ok(())\n# }\n```",
            None,
        )
        .with_to_dtypes(&[])
        .with_params(
            &[
                crate::runtime::ParamInfo::new(
                    "x",
                    crate::runtime::ParamKind::Array(crate::runtime::ElementInfo::T),
                    None,
                ),
            ],
        )
        .with_result(crate::runtime::ResultInfo::Plain(crate::runtime::PlainInfo::Bool))
        .with_aten(None),
];
#[doc(hidden)]
#[allow(unused_imports, clippy::all)]
pub mod __by_name {
    use super::*;
    pub fn add<B: crate::Backend>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        fn typed<B: crate::Backend, T: crate::runtime::Float>(
            args: &crate::runtime::by_name::Args<'_, B>,
        ) -> crate::runtime::Result<crate::runtime::Value<B>> {
            let result = args
                .b
                .add(args.operand::<T>(0usize)?, args.operand::<T>(1usize)?)?;
            Ok(crate::runtime::Value::array::<T>(result))
        }
        match args.dtype()? {
            crate::runtime::DType::Float32 => typed::<B, f32>(args),
            crate::runtime::DType::Float64 => typed::<B, f64>(args),
            crate::runtime::DType::Complex64 => {
                typed::<B, crate::runtime::Complex<f32>>(args)
            }
            other => args.no_dtype(other),
        }
    }
    pub fn leaky<B: crate::Backend>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        fn typed<B: crate::Backend, T: crate::runtime::Real>(
            args: &crate::runtime::by_name::Args<'_, B>,
        ) -> crate::runtime::Result<crate::runtime::Value<B>> {
            #[allow(unused_mut)]
            let mut options = LeakyOptions::new();
            if let Some(value) = args.option::<f64>(1usize)? {
                options = options.slope(value);
            }
            let result = args.b.leaky_with(args.array::<T>(0usize)?, options)?;
            Ok(crate::runtime::Value::array::<T>(result))
        }
        match args.dtype()? {
            crate::runtime::DType::Float32 => typed::<B, f32>(args),
            crate::runtime::DType::Float64 => typed::<B, f64>(args),
            other => args.no_dtype(other),
        }
    }
    pub fn threshold<B: crate::Backend>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        fn typed<B: crate::Backend, T: crate::runtime::Real>(
            args: &crate::runtime::by_name::Args<'_, B>,
        ) -> crate::runtime::Result<crate::runtime::Value<B>> {
            let result = args
                .b
                .threshold(
                    args.array::<T>(0usize)?,
                    args.scalar::<T>(1usize)?,
                    args.scalar::<T>(2usize)?,
                )?;
            Ok(crate::runtime::Value::array::<T>(result))
        }
        match args.dtype()? {
            crate::runtime::DType::Float32 => typed::<B, f32>(args),
            crate::runtime::DType::Float64 => typed::<B, f64>(args),
            other => args.no_dtype(other),
        }
    }
    pub fn sum<B: crate::Backend>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        fn typed<B: crate::Backend, T: crate::runtime::Float>(
            args: &crate::runtime::by_name::Args<'_, B>,
        ) -> crate::runtime::Result<crate::runtime::Value<B>> {
            #[allow(unused_mut)]
            let mut options = SumOptions::new();
            if let Some(value) = args.option::<bool>(2usize)? {
                options = options.keepdims(value);
            }
            let result = args
                .b
                .sum_with(
                    args.array::<T>(0usize)?,
                    args.get::<crate::runtime::Axes>(1usize)?,
                    options,
                )?;
            Ok(crate::runtime::Value::array::<T>(result))
        }
        match args.dtype()? {
            crate::runtime::DType::Float32 => typed::<B, f32>(args),
            crate::runtime::DType::Float64 => typed::<B, f64>(args),
            crate::runtime::DType::Complex64 => {
                typed::<B, crate::runtime::Complex<f32>>(args)
            }
            other => args.no_dtype(other),
        }
    }
    pub fn rms<B: crate::Backend>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        fn typed<B: crate::Backend, T: crate::runtime::Float>(
            args: &crate::runtime::by_name::Args<'_, B>,
        ) -> crate::runtime::Result<crate::runtime::Value<B>> {
            #[allow(unused_mut)]
            let mut options = RmsOptions::new();
            if let Some(value) = args.option::<bool>(2usize)? {
                options = options.keepdims(value);
            }
            let result = args
                .b
                .rms_with(
                    args.array::<T>(0usize)?,
                    args.get::<crate::runtime::Axes>(1usize)?,
                    options,
                )?;
            Ok(crate::runtime::Value::array::<T>(result))
        }
        match args.dtype()? {
            crate::runtime::DType::Float32 => typed::<B, f32>(args),
            crate::runtime::DType::Float64 => typed::<B, f64>(args),
            crate::runtime::DType::Complex64 => {
                typed::<B, crate::runtime::Complex<f32>>(args)
            }
            other => args.no_dtype(other),
        }
    }
    pub fn ends<B: crate::Backend>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        fn typed<B: crate::Backend, T: crate::runtime::Float>(
            args: &crate::runtime::by_name::Args<'_, B>,
        ) -> crate::runtime::Result<crate::runtime::Value<B>> {
            #[allow(unused_mut)]
            let mut options = EndsOptions::new();
            if let Some(value) = args.optional_array::<T::Real>(1usize)? {
                options = options.weights(value);
            }
            if let Some(value) = args.optional_array::<i32>(2usize)? {
                options = options.first(value);
            }
            if let Some(value) = args.option::<crate::runtime::Side>(3usize)? {
                options = options.side(value);
            }
            let result = args.b.ends_with(args.array::<T>(0usize)?, options)?;
            Ok(
                crate::runtime::Value::List(
                    vec![
                        crate ::runtime::Value::array:: < T > (result.values), crate
                        ::runtime::Value::array:: < i64 > (result.counts)
                    ],
                ),
            )
        }
        match args.dtype()? {
            crate::runtime::DType::Float32 => typed::<B, f32>(args),
            crate::runtime::DType::Float64 => typed::<B, f64>(args),
            crate::runtime::DType::Complex64 => {
                typed::<B, crate::runtime::Complex<f32>>(args)
            }
            other => args.no_dtype(other),
        }
    }
    pub fn is_flat<B: crate::Backend>(
        args: &crate::runtime::by_name::Args<'_, B>,
    ) -> crate::runtime::Result<crate::runtime::Value<B>> {
        fn typed<B: crate::Backend, T: IsFlatDtypes>(
            args: &crate::runtime::by_name::Args<'_, B>,
        ) -> crate::runtime::Result<crate::runtime::Value<B>> {
            let result = args.b.is_flat(args.array::<T>(0usize)?)?;
            Ok(crate::runtime::Value::from(result))
        }
        match args.dtype()? {
            crate::runtime::DType::Float32 => typed::<B, f32>(args),
            crate::runtime::DType::Complex64 => {
                typed::<B, crate::runtime::Complex<f32>>(args)
            }
            other => args.no_dtype(other),
        }
    }
}
/**Calls an op by its name: `call(&b, "sum", &[x.into()], &[("axis", 0.into())])`.

Values without a name are the parameters in their order, the others are named. The dtype of the call is that of its arrays; where there are none it is that of the option `dtype`, or of the numbers, else float64. A number beside an array has to fit its dtype. Axes that are not given are all. The result is an array, or a list of them. [`OPS`] lists the ops with their parameters.

Every op is compiled in all of its dtypes for a backend that this is called for, and for no other.

# Errors
Those of the op; [`Error::Argument`](crate::Error::Argument) for a name that is no op, and for arguments that are not those of its parameters.*/
pub fn call<B: crate::Backend>(
    b: &B,
    op: &str,
    args: &[crate::runtime::Value<B>],
    options: &[(&str, crate::runtime::Value<B>)],
) -> crate::runtime::Result<crate::runtime::Value<B>> {
    match op {
        "add" => {
            __by_name::add(
                &crate::runtime::by_name::Args::new(b, &OPS[0usize], args, options)?,
            )
        }
        "leaky" => {
            __by_name::leaky(
                &crate::runtime::by_name::Args::new(b, &OPS[1usize], args, options)?,
            )
        }
        "threshold" => {
            __by_name::threshold(
                &crate::runtime::by_name::Args::new(b, &OPS[2usize], args, options)?,
            )
        }
        "sum" => {
            __by_name::sum(
                &crate::runtime::by_name::Args::new(b, &OPS[3usize], args, options)?,
            )
        }
        "rms" => {
            __by_name::rms(
                &crate::runtime::by_name::Args::new(b, &OPS[4usize], args, options)?,
            )
        }
        "ends" => {
            __by_name::ends(
                &crate::runtime::by_name::Args::new(b, &OPS[5usize], args, options)?,
            )
        }
        "is_flat" => {
            __by_name::is_flat(
                &crate::runtime::by_name::Args::new(b, &OPS[6usize], args, options)?,
            )
        }
        other => Err(crate::runtime::by_name::unknown(other, &[OPS])),
    }
}
/**Every op group: what generic code asks for.

- [`Elementwise`]: Element by element.*/
pub trait Backend: Elementwise {}
impl<B: Elementwise> Backend for B {}
/// Your own ops on every backend, or a backend of your own, from a table of yours.
///
/// `backend! { table = "my_ops.toml", trait = MyOps }` makes an extension trait of the rows of `my_ops.toml` (a
/// path from your `Cargo.toml`), implemented for every backend, with the checks and documentation of the base
/// table. `backend! { overlay = "naive.toml" }` adds a column: one more backend for the ops that exist
/// (`partial = true` where it has only some).
#[macro_export]
macro_rules! backend {
    ($($t:tt)*) => {
        $crate::__private::table! { root = $crate, base =
        "# A table of every kind of row, small enough to read its expansion.\n\n[backend.numpyish]\ntype    = \"Numpyish\"\nmodule  = \"numpyish\"\nsummary = \"The CPU.\"\neach    = true\n\n[backend.torch]\ntype    = \"Torch\"\nmodule  = \"torch\"\nsummary = \"libtorch.\"\naten    = true\n\n[dtype]\nfloat32   = { rust = \"f32\" }\nfloat64   = { rust = \"f64\" }\ncomplex64 = { rust = \"Complex<f32>\" }\n\n[dtypes]\nfloat = { bound = \"Float\", of = [\"real\", \"complex64\"] }\nreal  = { bound = \"Real\", of = [\"float32\", \"float64\"] }\n\n[choice.side]\ntype    = \"Side\"\nsummary = \"Which end comes first.\"\nnames   = { left = \"The lower one.\", right = \"The upper one.\" }\n\n[words]\nplus    = { set = \"float\", args = 2, op = \"add\" }\ntimes   = { set = \"float\", args = 2 }\nover    = { set = \"float\", args = 2 }\nnegate  = { set = \"float\" }\nabs     = { set = \"float\", result = \"real\" }\ncast    = { set = \"float\", result = \"second\" }\nexp     = { set = \"float\", range_reduction = [\"complex\"] }\nmaximum = { set = \"real\", args = 2 }\natan2   = { set = \"real\", args = 2 }\n\n[accuracy.exact]\nsummary = \"exact\"\nulp     = 0\n\n[cases]\n\"array\" = [\"m\", \"s\"]\n\n[group.elementwise]\nsummary  = \"Element by element.\"\naccuracy = \"exact\"\n\n[op.add]\ngroup   = \"elementwise\"\nsummary = \"x1 + x2.\"\nparams  = [\"x1: operand\", \"x2: operand\"]\ndtypes  = \"float\"\neach    = \"x1 + x2\"\ntorch   = { aten = \"add.Tensor(x1, x2)\" }\nalias   = [\"plus\"]\nexample = 'assert_eq!(b.add(1.0, &b.asarray([1.0, 2.0])?)?, b.asarray([2.0, 3.0])?);'\n\n[op.leaky]\ngroup   = \"elementwise\"\nsummary = \"x where positive, slope * x elsewhere.\"\nparams  = [\"x: array\", \"slope: f64 = 0.01\"]\ndtypes  = \"real\"\neach    = \"if x < 0.0 { slope * x } else { x }\"\ntorch   = { aten = \"leaky_relu(x, slope)\", via = \"float32\" }\nexample = 'assert_eq!(b.leaky(&b.asarray([1.0, -1.0])?)?, b.asarray([1.0, -0.01])?);'\n\n[op.threshold]\ngroup   = \"elementwise\"\nsummary = \"x where it is above the limit, the value elsewhere.\"\nparams  = [\"x: array\", \"limit: scalar\", \"value: scalar\"]\ndtypes  = \"real\"\ncall    = \"select::threshold\"\ntorch   = { aten = \"threshold(x, limit, value)\" }\nexample = 'assert_eq!(b.threshold(&b.asarray([1.0, 2.0])?, 1.0, 0.0)?, b.asarray([0.0, 2.0])?);'\n\n[op.sum]\ngroup   = \"elementwise\"\nsummary = \"Sum.\"\nparams  = [\"x: array\", \"axis: axes\", \"keepdims: bool = false\"]\ndtypes  = \"float\"\ncall    = \"reduce::sum\"\nexample = 'assert_eq!(b.sum(&b.asarray([1.0, 2.0])?, ..)?, b.asarray(3.0)?);'\n\n[op.rms]\ngroup   = \"elementwise\"\nsummary = \"A composition.\"\nparams  = [\"x: array\", \"axis: axes\", \"keepdims: bool = false\"]\ndtypes  = \"float\"\ncompose = \"{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }\"\nexample = '''\nlet x = b.asarray([1.0, 2.0])?;\nassert_eq!(b.rms(&x, ..)?, b.asarray(6.0)?);\n'''\n\n[op.ends]\ngroup   = \"elementwise\"\nsummary = \"The ends along an axis, and how many elements are equal to them.\"\nparams  = [\"x: array\", \"weights: array<real> = none\", \"first: array<int32> = none\", \"side: side = left\"]\ndtypes  = \"float\"\nresult  = { values = \"array\", counts = \"array<int64>\" }\nzero    = \"any\"\nreason  = \"either zero may stand for both\"\nwaits   = { bytes = 8, why = \"how many there are\" }\nraises  = [\"e\"]\nseed    = 7\ncall    = \"sort::ends\"\nexample = 'assert_eq!(b.ends(&b.asarray([2.0, 2.0])?)?.counts, b.asarray([2_i64])?);'\n\n[op.is_flat]\ngroup   = \"elementwise\"\nsummary = \"Whether all elements are equal.\"\nparams  = [\"x: array\"]\ndtypes  = [ \"float32\", \"complex64\" ]\nresult  = \"bool\"\ngeneric = \"is_flat\"\nexample = 'assert!(b.is_flat(&b.asarray([2.0, 2.0])?)?);'\n",
        $($t)* }
    };
}
/// The conformance tests of a backend: a `#[test]` for every row and dtype, against NumPy's results.
///
/// `conformance! { backend = Numpyish::new(), type = Numpyish }` is a backend's whole test file; `backend` may also
/// be a `Result`. `groups = ["fft"]` and `dtypes = ["float64"]` limit it. Of a backend with only some ops
/// `overlay = "naive.toml", partial = true` tells which: tests of the others, and of those in
/// `without = ["matmul"]`, are ignored. With `table = "my_ops.toml", trait = MyOps, golden =
/// "tests/golden/my_ops.golden"` it tests the rows of a table of yours.
#[cfg(feature = "conformance")]
#[macro_export]
macro_rules! conformance {
    ($($t:tt)*) => {
        $crate::__private::conformance! { root = $crate, base =
        "# A table of every kind of row, small enough to read its expansion.\n\n[backend.numpyish]\ntype    = \"Numpyish\"\nmodule  = \"numpyish\"\nsummary = \"The CPU.\"\neach    = true\n\n[backend.torch]\ntype    = \"Torch\"\nmodule  = \"torch\"\nsummary = \"libtorch.\"\naten    = true\n\n[dtype]\nfloat32   = { rust = \"f32\" }\nfloat64   = { rust = \"f64\" }\ncomplex64 = { rust = \"Complex<f32>\" }\n\n[dtypes]\nfloat = { bound = \"Float\", of = [\"real\", \"complex64\"] }\nreal  = { bound = \"Real\", of = [\"float32\", \"float64\"] }\n\n[choice.side]\ntype    = \"Side\"\nsummary = \"Which end comes first.\"\nnames   = { left = \"The lower one.\", right = \"The upper one.\" }\n\n[words]\nplus    = { set = \"float\", args = 2, op = \"add\" }\ntimes   = { set = \"float\", args = 2 }\nover    = { set = \"float\", args = 2 }\nnegate  = { set = \"float\" }\nabs     = { set = \"float\", result = \"real\" }\ncast    = { set = \"float\", result = \"second\" }\nexp     = { set = \"float\", range_reduction = [\"complex\"] }\nmaximum = { set = \"real\", args = 2 }\natan2   = { set = \"real\", args = 2 }\n\n[accuracy.exact]\nsummary = \"exact\"\nulp     = 0\n\n[cases]\n\"array\" = [\"m\", \"s\"]\n\n[group.elementwise]\nsummary  = \"Element by element.\"\naccuracy = \"exact\"\n\n[op.add]\ngroup   = \"elementwise\"\nsummary = \"x1 + x2.\"\nparams  = [\"x1: operand\", \"x2: operand\"]\ndtypes  = \"float\"\neach    = \"x1 + x2\"\ntorch   = { aten = \"add.Tensor(x1, x2)\" }\nalias   = [\"plus\"]\nexample = 'assert_eq!(b.add(1.0, &b.asarray([1.0, 2.0])?)?, b.asarray([2.0, 3.0])?);'\n\n[op.leaky]\ngroup   = \"elementwise\"\nsummary = \"x where positive, slope * x elsewhere.\"\nparams  = [\"x: array\", \"slope: f64 = 0.01\"]\ndtypes  = \"real\"\neach    = \"if x < 0.0 { slope * x } else { x }\"\ntorch   = { aten = \"leaky_relu(x, slope)\", via = \"float32\" }\nexample = 'assert_eq!(b.leaky(&b.asarray([1.0, -1.0])?)?, b.asarray([1.0, -0.01])?);'\n\n[op.threshold]\ngroup   = \"elementwise\"\nsummary = \"x where it is above the limit, the value elsewhere.\"\nparams  = [\"x: array\", \"limit: scalar\", \"value: scalar\"]\ndtypes  = \"real\"\ncall    = \"select::threshold\"\ntorch   = { aten = \"threshold(x, limit, value)\" }\nexample = 'assert_eq!(b.threshold(&b.asarray([1.0, 2.0])?, 1.0, 0.0)?, b.asarray([0.0, 2.0])?);'\n\n[op.sum]\ngroup   = \"elementwise\"\nsummary = \"Sum.\"\nparams  = [\"x: array\", \"axis: axes\", \"keepdims: bool = false\"]\ndtypes  = \"float\"\ncall    = \"reduce::sum\"\nexample = 'assert_eq!(b.sum(&b.asarray([1.0, 2.0])?, ..)?, b.asarray(3.0)?);'\n\n[op.rms]\ngroup   = \"elementwise\"\nsummary = \"A composition.\"\nparams  = [\"x: array\", \"axis: axes\", \"keepdims: bool = false\"]\ndtypes  = \"float\"\ncompose = \"{ let s = add(x, x); sum(s, axis, keepdims = keepdims) }\"\nexample = '''\nlet x = b.asarray([1.0, 2.0])?;\nassert_eq!(b.rms(&x, ..)?, b.asarray(6.0)?);\n'''\n\n[op.ends]\ngroup   = \"elementwise\"\nsummary = \"The ends along an axis, and how many elements are equal to them.\"\nparams  = [\"x: array\", \"weights: array<real> = none\", \"first: array<int32> = none\", \"side: side = left\"]\ndtypes  = \"float\"\nresult  = { values = \"array\", counts = \"array<int64>\" }\nzero    = \"any\"\nreason  = \"either zero may stand for both\"\nwaits   = { bytes = 8, why = \"how many there are\" }\nraises  = [\"e\"]\nseed    = 7\ncall    = \"sort::ends\"\nexample = 'assert_eq!(b.ends(&b.asarray([2.0, 2.0])?)?.counts, b.asarray([2_i64])?);'\n\n[op.is_flat]\ngroup   = \"elementwise\"\nsummary = \"Whether all elements are equal.\"\nparams  = [\"x: array\"]\ndtypes  = [ \"float32\", \"complex64\" ]\nresult  = \"bool\"\ngeneric = \"is_flat\"\nexample = 'assert!(b.is_flat(&b.asarray([2.0, 2.0])?)?);'\n",
        $($t)* }
    };
}
