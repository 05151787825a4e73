//! Kernels: which program they are in, how they are named, compiled, kept and launched.

use super::{Cuda, cache::Entry, device::Device, error::Checked, nvrtc};
use crate::{DType, Result};
use cudarc::driver::{result, sys};
use std::{
    collections::HashMap,
    ffi::{CString, c_void},
    fmt::Write,
    sync::RwLock,
};

/// What every program begins with: dtypes and the scalar vocabulary.
pub const PRELUDE: &str = concat!(
    include_str!("kernels/dtypes.cuh"),
    include_str!("kernels/words.cuh"),
    include_str!("kernels/complex.cuh"),
    include_str!("kernels/walk.cuh"),
);

/// The C++ type of a dtype.
pub const fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "signed char",
        DType::Int16 => "short",
        DType::Int32 => "int",
        DType::Int64 => "long long",
        DType::UInt8 => "unsigned char",
        DType::UInt16 => "unsigned short",
        DType::UInt32 => "unsigned int",
        DType::UInt64 => "unsigned long long",
        DType::Float16 => "f16",
        DType::BFloat16 => "bf16",
        DType::Float32 => "float",
        DType::Float64 => "double",
        DType::Complex64 => "complex<float>",
        DType::Complex128 => "complex<double>",
    }
}

/// A source text with kernel templates: `template <typename T> __global__ void take(..)`.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// What tells it from every other program, together with the text of a row's expression.
    pub name: &'static str,
    /// Where its text comes from.
    pub source: Source,
}

/// Where the text of a [`Program`] comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A file with kernel templates.
    File(&'static str),
    /// A row's scalar expression.
    Each(Expression),
}

/// A row's scalar expression. It may name the inputs, the parameters, `T`, the dtype of the first input, and `U`, that
/// of the result.
#[derive(Clone, Copy, Debug)]
pub struct Expression {
    /// The expression.
    pub text: &'static str,
    /// Names of the inputs, in order.
    pub inputs: &'static [&'static str],
    /// Names of the scalar parameters, in order.
    pub params: &'static [&'static str],
}

impl Expression {
    /// The struct that the kernels around an expression take: its members are the parameters.
    pub fn functor(&self, name: &str) -> String {
        let list =
            |f: fn((usize, &&str)) -> String| self.inputs.iter().enumerate().map(f).collect::<Vec<_>>().join(", ");
        let types = list(|(i, _)| format!("typename X{i}"));
        let inputs = list(|(i, input)| format!("X{i} {input}"));
        let members: String = self.params.iter().map(|param| format!("double {param}; ")).collect();
        let t = if self.inputs.is_empty() { "" } else { "typedef X0 T; " };
        format!(
            "struct {name} {{ {members}template <typename U{comma}{types}> U apply({inputs}) const \
             {{ {t}return static_cast<U>({text}); }} }};\n",
            comma = if types.is_empty() { "" } else { ", " },
            text = self.text,
        )
    }
}

impl Program {
    /// The program of a row's expression.
    pub const fn each(name: &'static str, text: &'static str, inputs: &'static [&'static str]) -> Program {
        Program { name, source: Source::Each(Expression { text, inputs, params: &[] }) }
    }

    /// What tells programs of one name apart.
    fn variant(&self) -> &'static str {
        match self.source {
            Source::File(_) => "",
            Source::Each(expression) => expression.text,
        }
    }

    /// The whole text, ready to compile.
    pub fn text(&self) -> String {
        match self.source {
            Source::File(text) => format!("{PRELUDE}{text}"),
            Source::Each(expression) => format!("{PRELUDE}{EACH}{}", expression.functor("k_row")),
        }
    }
}

/// The kernels around a row's expression.
pub const EACH: &str = include_str!("kernels/each.cuh");

/// One kernel of a program's template: `template<tag, types..>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Name of the template.
    pub template: &'static str,
    /// Template arguments before the types, as C++ text; may be empty.
    pub tag: &'static str,
    types: [Option<DType>; 4],
}

impl Instance {
    /// The instance for these dtypes: at most four.
    pub const fn new(template: &'static str, tag: &'static str, dtypes: &[DType]) -> Instance {
        let mut types = [None; 4];
        let mut i = 0;
        while i < dtypes.len() && i < types.len() {
            types[i] = Some(dtypes[i]);
            i += 1;
        }
        Instance { template, tag, types }
    }

    /// Its name in C++: `take<float>`.
    pub fn expression(&self) -> String {
        let types = self.types.iter().flatten().map(|&dtype| c_type(dtype));
        let tag = (!self.tag.is_empty()).then_some(self.tag);
        let arguments: Vec<&str> = tag.into_iter().chain(types).collect();
        let mut text = self.template.to_string();
        if !arguments.is_empty() {
            // `>>` of nested templates is fine since C++11
            let _ = write!(text, "<{}>", arguments.join(", "));
        }
        text
    }
}

/// A kernel loaded on a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel(sys::CUfunction);

// SAFETY: a handle of a module that is never unloaded; the driver's functions that take it are thread-safe.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

type Key = (&'static str, &'static str, Instance);

/// The kernels that a device has loaded.
#[derive(Debug, Default)]
pub(super) struct Kernels(RwLock<HashMap<Key, Kernel>>);

impl Device {
    fn load_kernel(&self, op: &'static str, program: &Program, instance: Instance) -> Result<Kernel> {
        let (text, expression) = (program.text(), instance.expression());
        let entry = Entry::of(&[&nvrtc::fingerprint(&self.target)?, &text, &expression]);
        if let Some(stored) = entry.read() {
            // a stored image that the driver refuses is compiled again
            if let Ok(kernel) = self.load_image(op, &stored) {
                return Ok(kernel);
            }
        }
        let compiled = nvrtc::compile(&text, &[expression], &self.target)?;
        entry.write(&compiled);
        self.load_image(op, &compiled)
    }

    fn load_image(&self, op: &'static str, compiled: &nvrtc::Compiled) -> Result<Kernel> {
        let name = compiled.names.first().and_then(|name| CString::new(name.as_str()).ok()).unwrap_or_default();
        self.bind(op)?;
        // SAFETY: the image is a whole cubin, or PTX with its NUL; the module is never unloaded.
        let module = unsafe { result::module::load_data(compiled.image.as_ptr().cast()) }.checked(op)?;
        // SAFETY: the module is loaded, and the name ends with a NUL.
        unsafe { result::module::get_function(module, name) }.checked(op).map(Kernel)
    }
}

/// How many blocks and threads a kernel runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Blocks along x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block along x.
    pub threads: u32,
    /// Bytes of dynamic shared memory of a block.
    pub shared: u32,
}

impl Grid {
    /// Threads of a block of the kernels that go over elements.
    pub(crate) const THREADS: u32 = 256;

    /// Most blocks that are launched for elements: the kernels take further elements in strides of the whole grid.
    const MOST: usize = 1 << 20;

    /// One thread for each of `n` items, up to a limit beyond which threads take several.
    pub(crate) fn over(n: usize) -> Grid {
        let blocks = n.div_ceil(Grid::THREADS as usize).clamp(1, Grid::MOST);
        Grid { blocks: [blocks as u32, 1, 1], threads: Grid::THREADS, shared: 0 }
    }
}

/// What a kernel takes as an argument by value.
///
/// # Safety
/// The type has the layout of the kernel's parameter.
pub(crate) unsafe trait Argument {
    /// Where the value lies.
    fn pointer(&self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }
}

macro_rules! arguments {
    ($($t:ty)*) => {$(
        // SAFETY: the C++ type of the same size and representation.
        unsafe impl Argument for $t {}
    )*};
}
// `u64` is also every pointer, `bool` is C++'s, an array is a struct of its elements.
arguments!(bool i32 u32 i64 u64 f32 f64 usize isize);
// SAFETY: a C++ struct of `N` elements of `T`.
unsafe impl<T: Argument, const N: usize> Argument for [T; N] {}

impl Cuda {
    /// The kernel, compiled and loaded if it is not yet.
    pub(crate) fn kernel(&self, op: &'static str, program: &Program, instance: Instance) -> Result<Kernel> {
        let key = (program.name, program.variant(), instance);
        let kernels = &self.device.kernels.0;
        let found = kernels.read().unwrap_or_else(|poisoned| poisoned.into_inner()).get(&key).copied();
        if let Some(kernel) = found {
            return Ok(kernel);
        }
        let kernel = self.device.load_kernel(op, program, instance)?;
        kernels.write().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(key, kernel);
        Ok(kernel)
    }

    /// Puts the kernel on the stream.
    ///
    /// # Safety
    /// The arguments are those of the kernel in number, order and layout. Pointers among them are to live memory of
    /// this device that is large enough for what the kernel does on this grid.
    pub(crate) unsafe fn launch(
        &self,
        op: &'static str,
        kernel: Kernel,
        grid: Grid,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        const MOST: usize = 24;
        let mut pointers = [std::ptr::null_mut(); MOST];
        debug_assert!(arguments.len() <= MOST);
        pointers.iter_mut().zip(arguments).for_each(|(pointer, argument)| *pointer = argument.pointer());
        self.device.bind(op)?;
        let blocks = (grid.blocks[0], grid.blocks[1], grid.blocks[2]);
        // SAFETY: the function and the stream are alive; the rest is the caller's promise.
        unsafe {
            result::launch_kernel(
                kernel.0,
                blocks,
                (grid.threads, 1, 1),
                grid.shared,
                self.device.stream(),
                &mut pointers,
            )
        }
        .checked(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_named_as_in_cpp() {
        let dtypes = [DType::Float32, DType::Complex64];
        assert_eq!(Instance::new("cast", "", &dtypes).expression(), "cast<float, complex<float>>");
        assert_eq!(Instance::new("each", "2, k_row", &[DType::Int8]).expression(), "each<2, k_row, signed char>");
        assert_eq!(Instance::new("iota", "", &[]).expression(), "iota");
    }

    #[test]
    fn grids_stay_in_limits() {
        assert_eq!(Grid::over(0).blocks[0], 1);
        assert_eq!(Grid::over(257).blocks[0], 2);
        assert_eq!(Grid::over(usize::MAX).blocks[0], 1 << 20);
    }
}
