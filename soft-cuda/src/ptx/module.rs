//! A module: its variables and its kernels.

use super::Error;
use crate::{fault::Fault, memory::Memory};

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Where it begins among the bytes of all parameters.
    pub offset: usize,
    /// Its bytes.
    pub size: usize,
    /// What its offset is a multiple of.
    pub align: usize,
}

/// What a launch has to know of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name in the module.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The bytes of all parameters.
    pub param_bytes: usize,
    /// Shared memory that it declares itself.
    pub shared_bytes: usize,
    /// The most threads a block of it may have, if it says so.
    pub max_threads: Option<u32>,
    /// Memory of each thread on its stack.
    pub local_bytes: usize,
    /// Registers of each thread, as the text numbers them: more than a compiler would use.
    pub registers: usize,
}

/// A module, ready to run once it is loaded.
#[derive(Debug, Default)]
pub struct Module {
    kernels: Vec<KernelInfo>,
}

impl Module {
    /// Reads a module.
    pub fn parse(text: &str) -> Result<Module, Error> {
        let _ = text;
        Ok(Module::default())
    }

    /// Allocates the module's variables and writes their first values.
    pub fn load(&mut self, memory: &mut Memory) -> Result<(), Fault> {
        let _ = memory;
        Ok(())
    }

    /// Frees the module's variables.
    pub fn unload(&self, memory: &mut Memory) {
        let _ = memory;
    }

    /// The index of a kernel.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// What a launch has to know of a kernel.
    pub fn kernel_info(&self, kernel: usize) -> &KernelInfo {
        &self.kernels[kernel]
    }
}
