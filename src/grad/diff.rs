//! Implements the traits of backends for [`Diff`]. The ops of `Diff` are not in this file: they are generated from the
//! op table.

use super::{
    custom::custom,
    formula::formula,
    implicit::implicit,
    tape::{Diff, Var},
};
use crate::{
    Arrays, Backend, DType, Element, Float, HostArray, IntoArray, LinearMap, Result,
    runtime::{
        Call, CustomGradient, Wrap,
        dlpack::{CopyMode, DLDevice, ManagedTensor},
        formula::{Leaves, Run, Told, Typed},
    },
};
use std::{any::Any, borrow::Cow};

impl<B: Backend> Wrap for Diff<B> {
    type Within = B;

    type Running = ();

    #[inline]
    fn within(&self) -> &B {
        Diff::within(self)
    }

    fn begin(&self, _call: &Call<'_>) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn open<'a, T: Element>(&'a self, _op: &'static str, x: &'a Var<B, T>) -> Result<&'a B::Array<T>> {
        Ok(x.value())
    }

    #[inline]
    fn close<T: Element>(&self, _running: &mut (), x: B::Array<T>) -> Result<Var<B, T>> {
        Ok(self.constant(x))
    }
}

impl<B: Backend> Arrays for Diff<B> {
    type Array<T: Element> = Var<B, T>;

    const NAME: &'static str = B::NAME;

    fn in_complex<'a, T: Float, C: Element>(&self, x: Cow<'a, Self::Array<T>>) -> Result<Cow<'a, Self::Array<C>>> {
        crate::Casting::astype::<C, T>(self, x).map(Cow::Owned)
    }

    fn to_ndarray<T: Element>(&self, x: &Var<B, T>) -> Result<HostArray<T>> {
        self.within().to_ndarray(x.value())
    }

    fn from_ndarray<T: Element>(&self, x: HostArray<T>) -> Result<Var<B, T>> {
        Ok(self.constant(self.within().from_ndarray(x)?))
    }

    crate::runtime::forward_to_within!();

    const TAKES_ANY_DTYPE: bool = B::TAKES_ANY_DTYPE;

    #[inline(always)]
    fn by_dtype<R>(typed: impl FnOnce() -> R, dynamic: impl FnOnce() -> R) -> R {
        B::by_dtype(typed, dynamic)
    }

    fn retyped<T: Element, U: Element>(x: Var<B, T>) -> Option<Var<B, U>> {
        x.retyped()
    }

    const WATCHES: bool = B::WATCHES;

    fn begin_fused(&self, op: &'static str, dtype: DType, told: &dyn Told) -> Result<Option<Box<dyn Any>>> {
        self.within().begin_fused(op, dtype, told)
    }

    fn end_fused<T: Element>(&self, begun: Box<dyn Any>, x: &Var<B, T>) -> Result<()> {
        self.within().end_fused(begun, x.value())
    }

    fn to_dlpack_with<'a, T: Element>(
        &self,
        x: impl IntoArray<'a, Var<B, T>>,
        copy: CopyMode,
    ) -> Result<ManagedTensor> {
        self.within().to_dlpack_with(x.into_array().into_owned().into_value(), copy)
    }

    fn from_dlpack_with<T: Element>(&self, tensor: ManagedTensor, copy: CopyMode) -> Result<Var<B, T>> {
        Ok(self.constant(self.within().from_dlpack_with(tensor, copy)?))
    }

    fn dlpack_device(&self) -> DLDevice {
        self.within().dlpack_device()
    }

    fn seed(&self, seed: u64) {
        self.within().seed(seed);
    }

    fn seed_at(&self, seed: u64, block: u64) -> Result<()> {
        self.within().seed_at(seed, block)
    }

    fn random_state(&self) -> Result<(u64, u64)> {
        self.within().random_state()
    }

    fn formula<'a, L: Leaves<'a, Self>, E, T: Element>(&self, e: &E, leaves: &L) -> Result<Var<B, T>>
    where
        E: Run<'a, Self, L> + Typed<Out = T>,
    {
        formula(self, e, leaves)
    }

    fn custom<T: Float, U: Float>(
        &self,
        op: &'static str,
        x: &[&Var<B, T>],
        forward: impl Fn(&Self, &[&Var<B, T>]) -> Result<Var<B, U>>,
        pull: impl CustomGradient<Self, T, U>,
    ) -> Result<Var<B, U>> {
        custom(self, op, x, forward, pull)
    }

    fn implicit<T: Float>(
        &self,
        op: &'static str,
        solve: impl Fn(&Self) -> Result<Var<B, T>>,
        residual: impl Fn(&Self, &Var<B, T>) -> Result<Var<B, T>>,
        adjoint: impl Fn(&Self, &LinearMap<'_, Self, T>, &Var<B, T>) -> Result<Var<B, T>> + Send + Sync + 'static,
    ) -> Result<Var<B, T>> {
        implicit(self, op, solve, residual, adjoint)
    }
}
