//! Kernels: compiled, kept and launched.

use super::{
    asked,
    backend::Cuda,
    cache::Entry,
    device::Device,
    error::Checked,
    loaded::Kernel,
    nvrtc,
    program::{Instance, Program},
};
use crate::{Element, Result};
use cudarc::driver::result;
use std::{
    borrow::Borrow,
    ffi::{CString, c_void},
};

impl Device {
    fn load_kernel(&self, op: &'static str, program: &Program, instance: Instance) -> Result<Kernel> {
        let (text, expression) = (program.text(), instance.expression());
        let entry = Entry::of(&[&nvrtc::fingerprint(&self.target)?, &text, &expression]);
        asked::note(&text, &expression);
        if let Some(stored) = entry.read() {
            // a stored image that the driver refuses is compiled again
            if let Ok(kernel) = self.load_image(op, &stored) {
                return Ok(kernel);
            }
        }
        asked::note_compiled(&text, &expression);
        let compiled = nvrtc::compile(&text, &[expression], &self.target)?;
        entry.write(&compiled);
        self.load_image(op, &compiled)
    }

    fn load_image(&self, op: &'static str, compiled: &nvrtc::Compiled) -> Result<Kernel> {
        let name = compiled.names.first().and_then(|name| CString::new(name.as_str()).ok()).unwrap_or_default();
        self.bind(op)?;
        // SAFETY: the image is a whole cubin, or PTX with its NUL.
        let module = unsafe { result::module::load_data(compiled.image.as_ptr().cast()) }.checked(op)?;
        // SAFETY: the module is loaded, and the name ends with a NUL.
        match unsafe { result::module::get_function(module, name) }.checked(op) {
            Ok(function) => Ok(Kernel::new(function, module, self.context_and_stream())),
            Err(error) => {
                // SAFETY: nothing uses the module.
                let _ = unsafe { result::module::unload(module) };
                Err(error)
            }
        }
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
    /// Address of the value.
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

/// The bytes of an element, and zeros; as a kernel's argument, the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Bytes([u8; 16]);

// SAFETY: a parameter of the element's type takes the first bytes.
unsafe impl Argument for Bytes {}

impl Bytes {
    pub(crate) const NONE: Bytes = Bytes([0; 16]);

    pub(crate) fn of<T: Element>(x: T) -> Bytes {
        let mut bytes = [0; 16];
        // SAFETY: an element is at most 16 bytes and has no padding.
        unsafe { std::ptr::copy_nonoverlapping((&raw const x).cast(), bytes.as_mut_ptr(), size_of::<T>()) };
        Bytes(bytes)
    }
}

impl From<[u8; 16]> for Bytes {
    fn from(bytes: [u8; 16]) -> Bytes {
        Bytes(bytes)
    }
}

impl Cuda {
    /// The kernel, compiled and loaded if it is not yet.
    pub(crate) fn kernel(&self, op: &'static str, program: &Program, instance: Instance) -> Result<Kernel> {
        let key = (program.name, program.variant(), instance);
        let kernels = &self.device.kernels;
        if let Some(kernel) = kernels.get(&key) {
            return Ok(kernel);
        }
        let kernel = self.device.load_kernel(op, program, instance)?;
        kernels.insert(key, kernel.clone());
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
        kernel: impl Borrow<Kernel>,
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
                kernel.borrow().function(),
                blocks,
                (grid.threads, 1, 1),
                grid.shared,
                self.device.stream(),
                &mut pointers,
            )
        }
        .checked(op)?;
        self.device.after_put(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_stay_in_limits() {
        assert_eq!(Grid::over(0).blocks[0], 1);
        assert_eq!(Grid::over(257).blocks[0], 2);
        assert_eq!(Grid::over(usize::MAX).blocks[0], 1 << 20);
    }
}
