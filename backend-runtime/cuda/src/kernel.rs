//! Compilation, caching and launching of kernels.

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
use backend_core::{Element, Result, raw::RawElement};
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
            // if the driver refuses the stored image, the kernel is compiled again
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
        // SAFETY: the image is a whole cubin, or PTX with its final NUL.
        let module = unsafe { result::module::load_data(compiled.image.as_ptr().cast()) }.checked(op)?;
        // SAFETY: the module is loaded, and the name ends with a NUL.
        match unsafe { result::module::get_function(module, name) }.checked(op) {
            Ok(function) => Ok(Kernel::new(function, module, self.context_and_stream())),
            Err(error) => {
                // SAFETY: the module is loaded, and nothing uses it.
                let _ = unsafe { result::module::unload(module) };
                Err(error)
            }
        }
    }
}

/// The numbers of blocks and threads that run a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Number of blocks along x, y and z.
    pub blocks: [u32; 3],
    /// Threads per block, along x.
    pub threads: u32,
    /// Bytes of dynamic shared memory per block.
    pub shared: u32,
}

impl Grid {
    /// Threads per block of most kernels.
    pub(crate) const THREADS: u32 = 256;

    /// Maximum number of blocks. If there are more elements than threads, each thread processes several elements, and
    /// the distance between their indices is the total number of threads.
    const MAX_BLOCKS: usize = 1 << 20;

    /// Returns a grid with one thread for each of `n` elements. If this needs more than the maximum number of blocks,
    /// each thread processes several elements.
    pub(crate) fn over(n: usize) -> Grid {
        let blocks = n.div_ceil(Grid::THREADS as usize).clamp(1, Grid::MAX_BLOCKS);
        Grid { blocks: [blocks as u32, 1, 1], threads: Grid::THREADS, shared: 0 }
    }
}

/// A value that can be passed to a kernel as an argument.
///
/// # Safety
/// The type must have the layout of the kernel's parameter.
pub(crate) unsafe trait Argument {
    /// Address of the value.
    fn pointer(&self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }
}

macro_rules! arguments {
    ($($t:ty)*) => {$(
        // SAFETY: the C++ type has the same size and representation.
        unsafe impl Argument for $t {}
    )*};
}
// `u64` also stands for every pointer, `bool` is C++'s `bool`, and an array is a struct of its elements.
arguments!(bool i32 u32 i64 u64 f32 f64 usize isize);
// SAFETY: an array of `N` elements has the same layout as a C++ struct of `N` members of type `T`.
unsafe impl<T: Argument, const N: usize> Argument for [T; N] {}

/// The bytes of an element, padded with zeros. They can be passed to a kernel as the argument for a parameter of the
/// element's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Bytes([u8; 16]);

// SAFETY: a parameter of the element's type reads only the first bytes, which are the element.
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

impl From<RawElement> for Bytes {
    fn from(x: RawElement) -> Bytes {
        let [first, second] = x.bytes();
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&first.to_ne_bytes());
        bytes[8..].copy_from_slice(&second.to_ne_bytes());
        Bytes(bytes)
    }
}

impl From<[u8; 16]> for Bytes {
    fn from(bytes: [u8; 16]) -> Bytes {
        Bytes(bytes)
    }
}

impl Cuda {
    /// Returns a kernel of a program. It is compiled and loaded on first use.
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

    /// Launches the kernel on the stream.
    ///
    /// # Safety
    /// The arguments match the kernel's parameters in number, order and layout. Pointers among the arguments refer to
    /// live memory of this device, large enough for all accesses of the kernel on this grid.
    pub(crate) unsafe fn launch(
        &self,
        op: &'static str,
        kernel: impl Borrow<Kernel>,
        grid: Grid,
        arguments: &[&dyn Argument],
    ) -> Result<()> {
        const MAX_ARGUMENTS: usize = 24;
        let mut pointers = [std::ptr::null_mut(); MAX_ARGUMENTS];
        debug_assert!(arguments.len() <= MAX_ARGUMENTS);
        pointers.iter_mut().zip(arguments).for_each(|(pointer, argument)| *pointer = argument.pointer());
        self.device.bind(op)?;
        let blocks = (grid.blocks[0], grid.blocks[1], grid.blocks[2]);
        // SAFETY: the function and the stream are alive, and the caller guarantees that the arguments match the kernel.
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
