//! Entries of rows. An entry is the function of a row for one library. It takes arrays of any dtype, so it is compiled
//! once, not once per dtype. Backends whose library is chosen at run time run ops by their entries, and so do calls by
//! name. Programs with a static backend call the row's method instead.

mod arg;
mod array;
mod described;
mod direct;
mod finish;
mod generic;
mod library;
mod read;
mod steps;
mod value;

pub use arg::{Arg, ArrayMut, ArrayRef, IndexItem};
pub use array::{AnyArray, AnyLibrary, indices};
pub use described::described;
pub use direct::{array_view, operand_view, run_loop};
pub use finish::{field, fields, list, one, run};
pub use generic::{backend, of_elements, of_raw, to_elements};
pub use library::{Library, LibraryArray, RawLibrary};
pub use steps::run_steps;
pub use value::{ArrayValue, Outputs, ToValue};

use crate::{
    DType, Each, EachOf, EachSource, Element, Elements, OpInfo, Result,
    each::is_identity,
    numpyish::{
        Numpyish,
        kernel::{self, Kernel},
    },
};
use std::any::{Any, TypeId};

/// The entry of a row for the CPU.
pub type CpuEntry = fn(&Numpyish, &mut Call<'_, '_>) -> Result<Outputs>;

/// An entry for a backend of any type, which is its first argument.
pub type AnyEntry = fn(&dyn Any, &mut Call<'_, '_>) -> Result<Outputs>;

/// A row of an op table, with its entries.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Description of the op.
    pub info: &'static OpInfo,
    /// The loops of an elementwise op on the CPU; `None` for other ops.
    pub loops: Option<fn(DType) -> Option<EachLoop>>,
    /// The entry for libraries on which the op is computed by other ops. Its first argument is the backend on which
    /// these ops run, which is chosen at run time.
    pub generic: Option<AnyEntry>,
    /// The entry for the CPU.
    pub numpyish: Option<CpuEntry>,
    /// The entries for other libraries, each with the name of the library's backend.
    pub libraries: &'static [(&'static str, AnyEntry)],
}

impl Row {
    /// A row without entries.
    pub const fn new(info: &'static OpInfo) -> Row {
        Row { info, loops: None, generic: None, numpyish: None, libraries: &[] }
    }

    /// Sets the loops of an elementwise op.
    #[must_use]
    pub const fn with_loops(self, loops: fn(DType) -> Option<EachLoop>) -> Row {
        Row { loops: Some(loops), ..self }
    }

    /// Sets the entry for libraries on which the op is computed by other ops.
    #[must_use]
    pub const fn with_generic(self, entry: AnyEntry) -> Row {
        Row { generic: Some(entry), ..self }
    }

    /// Sets the entry for the CPU.
    #[must_use]
    pub const fn with_numpyish(self, entry: CpuEntry) -> Row {
        Row { numpyish: Some(entry), ..self }
    }

    /// Sets the entries for libraries other than the CPU, each with the name of the library's backend.
    #[must_use]
    pub const fn with_libraries(self, libraries: &'static [(&'static str, AnyEntry)]) -> Row {
        Row { libraries, ..self }
    }

    /// The entry for the library of the backend with this name, which is not the CPU.
    pub fn library(&self, backend: &str) -> Option<AnyEntry> {
        self.libraries.iter().find(|(name, _)| *name == backend).map(|(_, entry)| *entry)
    }
}

/// A call of a row's entry.
pub struct Call<'c, 'a> {
    /// Name of the op, for error messages.
    pub op: &'static str,
    /// The dtype `T` of the call.
    pub dtype: DType,
    /// The second dtype `U` of an op with two dtypes; for other ops, the dtype of the call.
    pub to: DType,
    /// The loop of an elementwise op for this dtype; `None` for other ops.
    pub each: Option<EachLoop>,
    /// The arguments, in the order of the row's parameters.
    args: &'c mut [Arg<'a>],
}

impl<'c, 'a> Call<'c, 'a> {
    /// Describes a call of a row in the dtype `dtype`, with an argument for each parameter.
    #[inline]
    pub fn new(row: &'static Row, dtype: DType, args: &'c mut [Arg<'a>]) -> Call<'c, 'a> {
        let each = row.loops.and_then(|loops| loops(dtype));
        Call { op: row.info.name, dtype, to: dtype, each, args }
    }

    /// Sets the second dtype of the call.
    #[inline]
    #[must_use]
    pub fn with_to(self, to: DType) -> Call<'c, 'a> {
        Call { to, ..self }
    }

    /// The loop of an elementwise op for the dtype of the call.
    ///
    /// # Panics
    /// If the call is not of an elementwise op. Only a mistake in generated code can cause this.
    pub fn each_loop(&self) -> EachLoop {
        self.each.expect("a call of an elementwise op has its loop")
    }

    /// The arguments, in the order of the row's parameters.
    pub fn args(&self) -> &[Arg<'a>] {
        self.args
    }
}

/// The loop of an elementwise op for one dtype on the CPU.
#[derive(Clone, Copy)]
pub struct EachLoop {
    kernel: &'static Kernel,
    /// The type of the op to which the kernel belongs.
    of: TypeId,
    /// True if the elements of the result equal the elements of the operand.
    is_identity: bool,
}

impl EachLoop {
    /// The loop of an op over `N` operands of the dtype `T`.
    #[inline(always)]
    pub fn new<const N: usize, T: Element, F: Each<N, T> + EachSource>() -> EachLoop {
        let is_identity = const { is_identity::<F>(T::DTYPE, <F::Out as Element>::DTYPE) };
        EachLoop { kernel: kernel::kernel::<N, T, F>(), of: TypeId::of::<F>(), is_identity }
    }

    /// The loop of an op over operands of the dtypes `X`.
    #[inline(always)]
    pub fn of_mixed<X: Elements, F: EachOf<X> + EachSource>() -> EachLoop {
        EachLoop { kernel: kernel::kernel_of::<X, F>(), of: TypeId::of::<F>(), is_identity: false }
    }

    /// Returns whether the elements of the result equal the elements of the operand.
    pub fn is_identity(&self) -> bool {
        self.is_identity
    }

    /// Returns the kernel.
    pub(crate) fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// Returns the kernel, which belongs to ops of the type `F`.
    ///
    /// # Panics
    /// If the loop was made for another type. Only a mistake in generated code can cause this.
    pub fn kernel_of<F: EachSource>(&self) -> &'static Kernel {
        assert!(self.of == TypeId::of::<F>(), "the loop belongs to the op {}", F::NAME);
        self.kernel
    }
}
