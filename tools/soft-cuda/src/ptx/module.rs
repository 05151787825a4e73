//! A module: its variables, its kernels and their steps.

use super::step::{CallSite, Function, Step};
use crate::{
    exec::alu::Four,
    fault::Fault,
    memory::{Hint, Memory},
};
use std::collections::HashMap;

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Offset of the parameter among the bytes of all parameters.
    pub offset: usize,
    /// Size of the parameter in bytes.
    pub size: usize,
    /// Alignment of the parameter in bytes.
    pub align: usize,
}

/// The properties of a kernel that a launch needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name of the kernel in the module.
    pub name: String,
    /// Parameters of the kernel, in order.
    pub params: Vec<Param>,
    /// The size of all parameters in bytes.
    pub param_bytes: usize,
    /// Shared memory in bytes that the kernel declares.
    pub shared_bytes: usize,
    /// The largest number of threads of a block, if the kernel declares it.
    pub max_threads: Option<u32>,
    /// Stack memory of each thread in bytes.
    pub local_bytes: usize,
    /// The number of registers of each thread. Each value of the PTX has its own register, so this number is larger
    /// than the number that NVIDIA's compiler would use.
    pub registers: usize,
}

/// A variable in global or constant memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variable {
    pub name: String,
    pub initial: Vec<u8>,
    /// The elements that hold addresses of other variables: the offset of the element in bytes, the index of the other
    /// variable, and the number to add to its address.
    pub pointers: Vec<(usize, usize, i64)>,
    /// The device address, or 0 before the module is loaded.
    pub address: u64,
}

/// A parsed module. Its kernels can run after [`Module::load`].
#[derive(Debug, Default)]
pub struct Module {
    pub(crate) text: String,
    pub(crate) steps: Vec<Step>,
    /// The line number of each step in `text`.
    pub(crate) lines: Vec<u32>,
    pub(crate) functions: Vec<Function>,
    pub(crate) sites: Vec<CallSite>,
    pub(crate) tables: Vec<Vec<u32>>,
    pub(crate) atomics: Vec<Four>,
    /// The number of instructions that access memory.
    pub(crate) accesses: usize,
    pub(crate) variables: Vec<Variable>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) names: HashMap<String, usize>,
}

/// A kernel: its properties, the index of its function, and the offset of its dynamic shared memory.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub info: KernelInfo,
    pub function: usize,
    /// The offset in bytes at which dynamic shared memory begins.
    pub dynamic: usize,
}

impl Module {
    /// Allocates the module's variables and writes their initial values.
    pub fn load(&mut self, memory: &mut Memory) -> Result<(), Fault> {
        for variable in &mut self.variables {
            let address = memory.allocate(variable.initial.len().max(1) as u64);
            let none = || Fault::Failed(format!("there is no memory for the variable {}", variable.name));
            variable.address = address.ok_or_else(none)?;
        }
        let addresses: Vec<u64> = self.variables.iter().map(|variable| variable.address).collect();
        let hint = &mut Hint::default();
        for variable in &self.variables {
            let mut value = variable.initial.clone();
            for &(offset, target, addend) in &variable.pointers {
                let address = addresses[target].wrapping_add_signed(addend);
                value[offset..offset + 8].copy_from_slice(&address.to_le_bytes());
            }
            memory.write(hint, variable.address, value.len())?.copy_from_slice(&value);
        }
        for function in &mut self.functions {
            for &(slot, variable, addend) in &function.variables {
                function.registers[slot as usize] = addresses[variable].wrapping_add_signed(addend);
            }
        }
        Ok(())
    }

    /// Frees the module's variables.
    pub fn unload(&self, memory: &mut Memory) {
        for variable in &self.variables {
            memory.free(variable.address);
        }
    }

    /// Returns the index of the kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// The properties of a kernel that a launch needs.
    pub fn kernel_info(&self, kernel: usize) -> &KernelInfo {
        &self.kernels[kernel].info
    }

    /// Returns the number and the text of the line from which a step was decoded.
    pub(crate) fn statement(&self, step: usize) -> (u32, &str) {
        let line = self.lines.get(step).copied().unwrap_or(0);
        (line, self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("").trim())
    }
}
