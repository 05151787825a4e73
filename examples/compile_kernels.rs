//! Compiles the kernels of the CUDA backend ahead of time, on a machine without a GPU: `compile_kernels sm_90`.
//!
//! The kernels are written to `$BACKENDS_CACHE`. If this folder is copied to a machine with a GPU, that machine need
//! not compile the kernels at their first use. A second argument `PART/PARTS` selects one part of the kernels, so that
//! several processes can compile in parallel. A third argument names a folder of kernels, including kernels of
//! formulas, that programs recorded while `BACKENDS_CUDA_KERNELS` was set. These kernels are compiled as well.

use backends::{
    Error, OPS, Result,
    runtime::cuda::{ahead, asked, nvrtc::Target},
};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let usage = || Error::argument("compile_kernels", "usage: compile_kernels ARCH [PART/PARTS [FOLDER]]");
    let [arch, part @ ..] = &args[..] else { return Err(usage()) };
    let share = part.first().map_or(Some((0, 1)), |part| {
        let (part, parts) = part.split_once('/')?;
        Some((part.parse().ok()?, parts.parse().ok()?))
    });
    let (part_of, parts): (usize, usize) = share.filter(|&(part, parts)| part < parts).ok_or_else(usage)?;
    let target = Target::named(arch);
    let kernels = ahead::kernels(OPS);
    let mine: Vec<_> = kernels.iter().skip(part_of).step_by(parts).collect();
    mine.iter().try_for_each(|kernel| kernel.compile(&target))?;
    let noted = part.get(1).map_or(Ok(Vec::new()), |folder| asked::read(folder.as_ref()))?;
    let of_these: Vec<_> = noted.iter().skip(part_of).step_by(parts).collect();
    of_these.iter().try_for_each(|(text, name)| ahead::compile(text, name, &target))?;
    println!("{} kernels for {arch}, {} of them noted by programs", mine.len() + of_these.len(), of_these.len());
    Ok(())
}
