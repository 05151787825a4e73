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

/// Properties of a kernel that a launch needs.
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
    /// The number of registers of each thread. Each value of the PTX has its own register, so this is more than a
    /// compiler would use.
    pub registers: usize,
}

/// A variable in global or constant memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variable {
    pub name: String,
    pub initial: Vec<u8>,
    /// The elements that hold addresses of other variables: the offset of the element, the index of the other variable,
    /// and the addend.
    pub pointers: Vec<(usize, usize, i64)>,
    /// The address after the module is loaded.
    pub address: u64,
}

/// A module, ready to run once it is loaded.
#[derive(Debug, Default)]
pub struct Module {
    pub(crate) text: String,
    pub(crate) steps: Vec<Step>,
    /// The line of each step.
    pub(crate) lines: Vec<u32>,
    pub(crate) functions: Vec<Function>,
    pub(crate) sites: Vec<CallSite>,
    pub(crate) tables: Vec<Vec<u32>>,
    pub(crate) atomics: Vec<Four>,
    /// The number of distinct access instructions.
    pub(crate) accesses: usize,
    pub(crate) variables: Vec<Variable>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) names: HashMap<String, usize>,
}

/// A kernel: its properties, the index of its function, and the place of its dynamic shared memory.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub info: KernelInfo,
    pub function: usize,
    /// The offset in shared memory at which dynamic shared memory begins.
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

    /// The index of a kernel.
    pub fn kernel(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Properties of a kernel that a launch needs.
    pub fn kernel_info(&self, kernel: usize) -> &KernelInfo {
        &self.kernels[kernel].info
    }

    /// The number and the text of the line from which a step was decoded.
    pub(crate) fn statement(&self, step: usize) -> (u32, &str) {
        let line = self.lines.get(step).copied().unwrap_or(0);
        (line, self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("").trim())
    }
}
