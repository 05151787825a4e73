//! Methods of `OpContext` for operations that most functions of this backend need.

use super::{
    TorchArray,
    call::{OpContext, args},
    ops,
    strategy::{Detour, DtypeStrategy},
    tensor::{Arg, Number, Tensor},
};
use backend_core::{
    DType, Error, Result,
    raw::{RawElement, RawOperand},
    rules,
};

impl OpContext<'_> {
    /// Converts an array of the call's dtype to the dtype in which the strategy `via` computes it.
    pub fn enter(self, via: DtypeStrategy, x: &Tensor) -> Result<Tensor> {
        via.detour(self.dtype).enter(self, x)
    }

    /// Converts the result of an op whose argument came from [`OpContext::enter`] back to the call's dtype.
    pub fn leave(self, via: DtypeStrategy, x: Tensor) -> Result<Tensor> {
        via.detour(self.dtype).leave(self, x)
    }

    /// Checks that the operands broadcast to each other, and returns them as tensors of this device, each converted by
    /// the strategy `via`.
    pub fn operands<const N: usize>(self, via: DtypeStrategy, xs: [RawOperand<'_, Tensor>; N]) -> Result<[Tensor; N]> {
        let shapes = xs.iter().map(|x| if let RawOperand::Array(x) = x { x.shape() } else { &[] });
        rules::broadcast_all(self.op, shapes)?;
        let mut tensors = Vec::with_capacity(N);
        for x in xs {
            let tensor = match x {
                RawOperand::Array(x) => x.clone(),
                RawOperand::Scalar(x) => self.number(x.into())?,
            };
            tensors.push(self.enter(via, &tensor)?);
        }
        tensors.try_into().map_err(|_| Error::argument(self.op, "operands"))
    }

    /// A new tensor filled with `value`, in the dtype of `value`.
    pub fn full(self, shape: &[usize], value: RawElement) -> Result<Tensor> {
        rules::count(self.op, shape, value.dtype().size())?;
        let detour = DtypeStrategy::Wrap.detour(value.dtype());
        let (dtype, value) = (detour.carrier(value.dtype()), detour.enter_number(value.into()));
        detour.leave(self, self.call(&ops::FULL, args![shape, value, dtype, Arg::None, Arg::Device])?)
    }

    /// A bool tensor that is true where `x`, a tensor of the call's dtype, is not 0.
    pub fn is_nonzero(self, x: &Tensor) -> Result<Tensor> {
        self.cast(&self.enter(DtypeStrategy::Wrap, x)?, DType::Bool)
    }

    /// A number as a 0-dimensional tensor on this device.
    pub fn number(self, x: Number) -> Result<Tensor> {
        self.call(&ops::ALIAS, args![x])
    }

    /// `x` times a number, in the dtype of `x`, which must be float32 or float64. The number is converted to this
    /// dtype, because the product of a 0-dimensional `x` would otherwise get the dtype of the number.
    pub fn scaled(self, x: &Tensor, by: f64) -> Result<Tensor> {
        self.call(&ops::MUL, args![x, Number::real(by, x.is(DType::Float64))])
    }

    /// Converts to another dtype, as C does; returns the same tensor if it already has this dtype.
    pub fn cast(self, x: &Tensor, dtype: DType) -> Result<Tensor> {
        if x.is(dtype) { Ok(x.clone()) } else { self.call(&ops::TO_DTYPE, args![x, dtype]) }
    }

    /// The numbers 0, 1 .. n - 1 as int64. If they do not fit in memory, this is an error even if the final result has
    /// smaller elements and would fit.
    pub fn count_up(self, n: usize) -> Result<Tensor> {
        let refused = |_| Error::memory(self.op, isize::MAX as usize);
        rules::count(self.op, &[n], size_of::<i64>()).map_err(refused)?;
        self.call(&ops::ARANGE, args![Number::of(n as i64), DType::Int64, Arg::None, Arg::Device])
    }

    /// The elements in another shape. They keep their C order.
    pub fn reshape(self, x: &Tensor, shape: &[usize]) -> Result<Tensor> {
        self.call(&ops::RESHAPE, args![x, shape])
    }

    /// The tensor with its axes in this order.
    pub fn permute(self, x: &Tensor, axes: &[usize]) -> Result<Tensor> {
        self.call(&ops::PERMUTE, args![x, axes])
    }

    /// The part of the tensor with the indices `start .. start + len` along one axis.
    pub fn narrow(self, x: &Tensor, axis: usize, start: usize, len: usize) -> Result<Tensor> {
        self.call(&ops::NARROW, args![x, axis, start, len])
    }

    /// `x` where the condition is true, `y` elsewhere.
    pub fn select<'a>(self, condition: &Tensor, x: impl Into<Arg<'a>>, y: impl Into<Arg<'a>>) -> Result<Tensor> {
        self.call(&ops::WHERE, &[condition.into(), x.into(), y.into()])
    }

    /// The elements at these non-negative int64 indices along one axis.
    pub fn pick(self, x: &Tensor, axis: usize, indices: &Tensor) -> Result<Tensor> {
        self.on_bits(x, |x| self.call(&ops::INDEX_SELECT, args![x, axis, indices]))
    }

    /// Reverses the order of elements along axes.
    pub fn reverse(self, x: &Tensor, axes: &[usize]) -> Result<Tensor> {
        if axes.is_empty() { Ok(x.clone()) } else { self.on_bits(x, |x| self.call(&ops::FLIP, args![x, axes])) }
    }

    /// Applies `run`, an op that only moves elements, to a tensor of any dtype. This also works for wide unsigned
    /// integers, which libtorch's op may not support.
    pub fn on_bits(self, x: &Tensor, run: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        let unsigned = DType::ALL.into_iter().find(|d| is_wide_unsigned(*d) && x.is(*d));
        let detour = unsigned.map_or(Detour::None, |d| DtypeStrategy::Wrap.detour(d));
        detour.leave(self, run(&detour.enter(self, x)?)?)
    }

    /// The integer or boolean value of a tensor with one element. If the tensor is on a GPU, the call waits for the
    /// GPU.
    pub fn item(self, x: &Tensor) -> Result<i64> {
        let x = TorchArray::<i64>::new(self.op, self.cast(x, DType::Int64)?)?;
        super::array::to_host(x.tensor())?
            .first()
            .copied()
            .ok_or_else(|| Error::shape(self.op, x.shape(), "must have an element"))
    }
}

/// The dtype in which arrays of this dtype are computed: float32 for 16-bit floats, otherwise the dtype itself.
pub fn computed_in(dtype: DType) -> DType {
    match dtype {
        DType::Float16 | DType::BFloat16 => DType::Float32,
        other => other,
    }
}

/// Returns whether the dtype is an unsigned integer other than uint8. libtorch has few ops for these dtypes.
pub fn is_wide_unsigned(dtype: DType) -> bool {
    matches!(dtype, DType::UInt16 | DType::UInt32 | DType::UInt64)
}
