//! A module: its variables, its kernels and their steps.

use super::{
    Error,
    parse::parse,
    step::{CallSite, Function, Step},
};
use crate::{
    exec::alu::Four,
    fault::Fault,
    memory::{Hint, Memory},
};
use std::collections::HashMap;

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
    /// Registers of each thread, one for each value: more than a compiler would use.
    pub registers: usize,
}

/// A variable in global or constant memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variable {
    pub name: String,
    pub initial: Vec<u8>,
    /// Where in it addresses of other variables stand: the offset, which variable, and what is added.
    pub pointers: Vec<(usize, usize, i64)>,
    /// Where it is once the module is loaded.
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
    /// How many accesses to memory are told apart.
    pub(crate) accesses: usize,
    pub(crate) variables: Vec<Variable>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) names: HashMap<String, usize>,
}

/// A kernel.
#[derive(Debug, Default)]
pub(crate) struct Kernel {
    pub info: KernelInfo,
    pub function: usize,
    /// Where dynamic shared memory begins.
    pub dynamic: usize,
}

impl Module {
    /// Reads a module.
    pub fn parse(text: &str) -> Result<Module, Error> {
        parse(text)
    }

    /// Allocates the module's variables and writes their first values.
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

    /// What a launch has to know of a kernel.
    pub fn kernel_info(&self, kernel: usize) -> &KernelInfo {
        &self.kernels[kernel].info
    }

    /// The line of the text that a step was made of, and its number.
    pub(crate) fn statement(&self, step: usize) -> (u32, &str) {
        let line = self.lines.get(step).copied().unwrap_or(0);
        (line, self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or("").trim())
    }
}
