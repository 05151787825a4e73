//! The type `Out`, with which ops write their results to an existing array: `b.out(&mut y).exp(&x)?`.

use super::{expression::Call, mixed::CallOf, text::OfOp};
use crate::{
    ArrayAttributes, Arrays, DType, EachSource, Element, Elements, Error, Operand, Result,
    numpyish::{
        kernel::{Kernel, kernel, kernel_of},
        raw::View,
        run,
    },
    rules,
    wrap::AnyTyped,
};
use std::{any::Any, ptr};

/// An existing array to which the result of an op with a scalar expression is written.
pub struct Out<'y, B: Arrays, U: Element> {
    b: &'y B,
    y: &'y mut B::Array<U>,
}

/// An operand in a form that does not depend on its static dtype.
pub struct ErasedOperand<'a> {
    shape: &'a [usize],
    /// The operand's elements; `None` if they are not in host memory.
    view: Option<View<'a>>,
    input: Option<Input<'a>>,
    /// The array, whose dtype and shape are reported to backends that watch calls ([`Arrays::WATCHES`]).
    typed: Option<&'a dyn AnyTyped>,
}

/// An operand, converted for the backend's kernels.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// An array, converted by [`Arrays::fused_input`].
    Array(&'a dyn Any),
    /// One value for all elements: its dtype, and its bytes padded with zeros.
    Scalar(DType, [u8; 16]),
}

impl<'a> ErasedOperand<'a> {
    fn of<B: Arrays, T: Element>(b: &B, x: &'a Operand<'_, B, T>) -> ErasedOperand<'a> {
        match x {
            Operand::Array(x) => ErasedOperand {
                shape: ArrayAttributes::shape(&**x),
                view: b.host_view(&**x).map(|view| view.view()),
                input: b.fused_input(&**x).map(Input::Array),
                typed: Some(&**x),
            },
            Operand::Scalar(x) => ErasedOperand {
                shape: &[],
                // a number has the bytes of its dtype only if the dtype is known at compile time
                view: (!T::IS_DYNAMIC).then(|| View::number(x)),
                input: Some(Input::Scalar(T::dtype(), x.to_raw().byte_array())),
                typed: None,
            },
        }
    }
}

/// Reports the beginning of an op over these operands, if the backend watches calls.
#[inline]
fn begin<B: Arrays>(b: &B, op: &'static str, of: DType, given: &[ErasedOperand<'_>]) -> Result<Option<Box<dyn Any>>> {
    if const { B::WATCHES } {
        return b.begin_fused(op, of, &OfOp(given.iter().filter_map(|x| x.typed).collect()));
    }
    Ok(None)
}

impl<'y, B: Arrays, U: Element> Out<'y, B, U> {
    /// Makes an `Out` that writes the result of an op of `b` to `y`.
    #[inline(always)]
    pub fn new(b: &'y B, y: &'y mut B::Array<U>) -> Self {
        Out { b, y }
    }

    /// Computes an op whose operands have one dtype, and writes the result to the array.
    ///
    /// # Errors
    /// Returns an error if the shape of the result differs from the shape of the array, or if the op refuses its
    /// operands. After an error, the array is unchanged.
    pub fn each<const N: usize, T: Element, F>(mut self, op: &F, x: [Operand<'_, B, T>; N]) -> Result<()>
    where
        F: Call<N, B, T, Out = U> + EachSource,
    {
        let given = x.each_ref().map(|x| ErasedOperand::of(self.b, x));
        // SAFETY: the kernel belongs to the op with `N` operands of this dtype.
        if !unsafe { self.is_done(op, kernel::<N, T, F>(), T::DTYPE, &given)? } {
            *self.y = op.call(self.b, x)?;
        }
        Ok(())
    }

    /// Returns the backend that computes the ops.
    #[inline(always)]
    pub fn backend(&self) -> &'y B {
        self.b
    }

    /// Replaces the array by `value`, the result of the op `op`.
    ///
    /// # Errors
    /// Returns an error if the shape of `value` differs from the shape of the array, which is then unchanged.
    pub fn set(self, op: &'static str, value: B::Array<U>) -> Result<()> {
        self.check(op, ArrayAttributes::shape(&value))?;
        *self.y = value;
        Ok(())
    }

    /// Returns an error unless the array has the shape `shape` of the result.
    fn check(&self, op: &'static str, shape: &[usize]) -> Result<()> {
        let expected = ArrayAttributes::shape(&*self.y);
        if shape == expected {
            return Ok(());
        }
        let why = format!("does not fit the array that it is written to, whose shape is {expected:?}");
        Err(Error::shape(op, shape, why))
    }

    /// Tries to compute the result in one loop on the host or in one kernel, and to write it to the array. Returns
    /// false if neither is possible; the array is then unchanged.
    ///
    /// # Safety
    /// `kernel` is the kernel of the op `F` for operands of the dtypes of `given`.
    unsafe fn is_done<F: EachSource>(
        &mut self,
        op: &F,
        kernel: &'static Kernel,
        of: DType,
        given: &[ErasedOperand<'_>],
    ) -> Result<bool> {
        self.check(F::NAME, &rules::broadcast_all(F::NAME, given.iter().map(|x| x.shape))?)?;
        let Out { b, y } = self;
        let alone = b.is_alone(y);
        let views: Option<Vec<View<'_>>> = given.iter().map(|x| x.view).collect();
        if let (Some(views), Some(out)) = (views, b.host_view(&**y)) {
            let begun = begin(*b, F::NAME, of, given)?;
            let op = ptr::from_ref(op).cast();
            // SAFETY: the caller guarantees that the kernel fits the op and the operands. If `alone` is true, the array
            // is the only handle of its memory, so no operand uses that memory.
            unsafe {
                if !alone || !run::run_over(kernel, op, &views, out.view()) {
                    **y = b.of_loop(U::numpyish_run(kernel, op, &views, crate::At::default())?)?;
                }
            }
            begun.map_or(Ok(()), |begun| b.end_fused(begun, &**y))?;
            return Ok(true);
        }
        let inputs: Option<Vec<Input<'_>>> = given.iter().map(|x| x.input).collect();
        if const { B::FUSES }
            && alone
            && let (Some(inputs), Some(out)) = (inputs, b.fused_input(&**y))
            && let begun = begin(*b, F::NAME, of, given)?
            && let Some(done) = b.fused_each(op, of, &inputs, out)
        {
            done?;
            begun.map_or(Ok(()), |begun| b.end_fused(begun, &**y))?;
            return Ok(true);
        }
        Ok(false)
    }
}

/// Defines methods of `Out` for ops whose operands have different dtypes.
macro_rules! of_several {
    ($($name:ident $($t:ident $at:tt),*;)*) => {
        impl<B: Arrays, V: Element> Out<'_, B, V> {$(
            /// Like [`Out::each`], over operands of these dtypes.
            ///
            /// # Errors
            /// The errors of [`Out::each`].
            pub fn $name<$($t: Element,)* F>(mut self, op: &F, x: ($(Operand<'_, B, $t>,)*)) -> Result<()>
            where
                F: CallOf<B, ($($t,)*), Out = V> + EachSource,
            {
                let given = [$(ErasedOperand::of(self.b, &x.$at)),*];
                let of = <($($t,)*)>::DTYPES[F::INPUT_OF_T];
                // SAFETY: the kernel belongs to the op with operands of these dtypes.
                if !unsafe { self.is_done(op, kernel_of::<($($t,)*), F>(), of, &given)? } {
                    *self.y = op.call_of(self.b, x)?;
                }
                Ok(())
            }
        )*}
    };
}
of_several! {
    each_of1 X 0;
    each_of2 X 0, Y 1;
    each_of3 X 0, Y 1, Z 2;
}
