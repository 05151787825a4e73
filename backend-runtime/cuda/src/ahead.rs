//! Ahead-of-time compilation of kernels into the cache on disk, for a machine that should not wait for the compiler.

use super::{
    cache::Entry,
    check::{PROGRAMS, kernel_dtypes},
    map,
    nvrtc::{self, Target},
    program::{Expression, Instance, Program, ProgramSource},
};
use backend_core::{DType, DTypeKind, OpInfo, Result};

/// A kernel that a program may request at run time.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    program: Program,
    instance: Instance,
}

/// Lists the kernels of `ops` and of the backend's own programs. Rare kernels are left out: kernels for arrays of 2^31
/// or more elements, and kernels for arrays that have more than three axes even after neighbouring axes were merged.
pub fn kernels(ops: &[OpInfo]) -> Vec<Ahead> {
    let rows = ops.iter().filter_map(|op| Some((op.name, op.kernel?))).flat_map(|(name, kernel)| {
        kernel.dtypes.iter().flat_map(move |&(input, result)| {
            let text = if input.kind() == DTypeKind::Complex { kernel.complex } else { kernel.source };
            let input_of_t = kernel.input_of_t();
            let expression = Expression { text, inputs: kernel.inputs, params: kernel.params, input_of_t };
            let source = ProgramSource::Each(expression);
            let dtypes = kernel_dtypes(&kernel, input, result);
            let instances: Vec<Instance> = map::instances(&dtypes).collect();
            instances.into_iter().map(move |instance| Ahead { program: Program { name, source }, instance })
        })
    });
    let folds = ops.iter().filter_map(|op| Some((op, op.fold?))).flat_map(|(op, fold)| {
        let program = Program { name: op.name, source: ProgramSource::Fold(fold) };
        let instances = |dtype: &DType| ["reduce", "join_parts"].map(|name| Instance::new(name, "k_fold", &[*dtype]));
        op.dtypes.iter().flat_map(instances).map(move |instance| Ahead { program, instance })
    });
    let own = PROGRAMS.iter().flat_map(|(program, instances)| {
        instances().into_iter().map(|instance| Ahead { program: **program, instance })
    });
    rows.chain(folds).chain(own).filter(|kernel| map::is_usual(&kernel.instance)).collect()
}

/// Compiles a kernel into the cache on disk, unless the cache already contains the kernel. `text` is the source text
/// that defines the kernel, and `expression` is the kernel's C++ name.
pub fn compile(text: &str, expression: &str, target: &Target) -> Result<()> {
    let entry = Entry::of(&[&nvrtc::fingerprint(target)?, text, expression]);
    if entry.read().is_none() {
        entry.write(&nvrtc::compile(text, &[expression.into()], target)?);
    }
    Ok(())
}

impl Ahead {
    /// Compiles the kernel into the cache on disk, unless the cache has it.
    pub fn compile(&self, target: &Target) -> Result<()> {
        compile(&self.program.text(), &self.instance.expression(), target)
    }
}
