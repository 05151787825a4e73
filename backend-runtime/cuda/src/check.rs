//! All kernels of this backend as source text, for checking on a machine without a GPU that they compile.

use super::{
    nvrtc::{Compiled, Target, compile},
    program::{EACH, Expression, Instance, KernelList, PRELUDE, around_folds, fold_struct, mover, special_words},
};
use backend_core::{DType, DTypeKind, KernelInfo, OpInfo, Result};
use std::fmt::Write;

/// A source text, and the kernels in it that are compiled together.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The name of the unit, for reports.
    pub name: String,
    /// The whole source text.
    pub text: String,
    /// The C++ names of the kernels.
    pub kernels: Vec<String>,
}

impl Unit {
    /// Compiles the unit; an error contains the compiler's messages.
    pub fn compile(&self, target: &Target) -> Result<Compiled> {
        compile(&self.text, &self.kernels, target)
    }
}

/// The kernels of the op table's rows: the elementwise kernels, with one unit per input dtype, and one unit with all
/// reductions. Of the elementwise kernels for non-contiguous operands, only the kernel for two axes is included,
/// because the kernels for other numbers of axes differ only in the computation of offsets.
pub fn rows(ops: &[OpInfo]) -> Vec<Unit> {
    let unit = |dtype: DType| {
        let kernels =
            ops.iter().filter_map(|op| op.kernel.filter(|k| k.dtypes.iter().any(|(input, _)| *input == dtype)));
        let special = special_words(&kernels.map(|kernel| kernel.source).collect::<Vec<_>>().join(" "));
        let text = format!("{PRELUDE}{special}{EACH}");
        let mut unit = Unit { name: format!("rows of {dtype}"), text, kernels: Vec::new() };
        for op in ops {
            let Some(kernel) = op.kernel else { continue };
            for &(_, result) in kernel.dtypes.iter().filter(|(input, _)| *input == dtype) {
                let text = if dtype.kind() == DTypeKind::Complex { kernel.complex } else { kernel.source };
                let input_of_t = kernel.input_of_t();
                let expression = Expression { text, inputs: kernel.inputs, params: kernel.params, input_of_t };
                // row names are also names of C++ functions, so each row gets its own namespace
                let place = format!("row_{}", op.name);
                let _ = writeln!(unit.text, "namespace {place} {{ {} }}", expression.functor("k_row").trim_end());
                let dtypes = kernel_dtypes(&kernel, dtype, result);
                let kernels = [("flat", "k_row"), ("strided", "2, k_row")];
                let kernels = kernels.map(|(template, tag)| Instance::new(template, tag, &dtypes).expression());
                unit.kernels.extend(kernels.map(|name| name.replace("k_row", &format!("{place}::k_row"))));
            }
        }
        unit
    };
    let each = DType::ALL.into_iter().map(unit).filter(|unit| !unit.kernels.is_empty());
    each.chain(folds(ops)).collect()
}

/// The dtypes of a kernel's result and inputs, given the op's input dtype and result dtype.
pub(super) fn kernel_dtypes(kernel: &KernelInfo, dtype: DType, result: DType) -> Vec<DType> {
    let inputs = kernel.elements.iter().enumerate().map(|(at, element)| match element.dtype(dtype) {
        dtype if kernel.moved.contains(&at) => mover(dtype),
        dtype => dtype,
    });
    let result = if kernel.moved.is_empty() { result } else { mover(result) };
    std::iter::once(result).chain(inputs).collect()
}

/// The kernels of the op table's reductions, all in one unit.
fn folds(ops: &[OpInfo]) -> Option<Unit> {
    let [before, after] = around_folds();
    let mut unit = Unit { name: "folds of rows".into(), text: before, kernels: Vec::new() };
    for (op, fold) in ops.iter().filter_map(|op| Some((op, op.fold?))) {
        let place = format!("row_{}", op.name);
        let _ = writeln!(unit.text, "namespace {place} {{ {} }}", fold_struct(&fold, "k_fold").trim_end());
        for dtype in op.dtypes {
            let kernels = ["reduce", "join_parts"].map(|name| Instance::new(name, "k_fold", &[*dtype]).expression());
            unit.kernels.extend(kernels.map(|name| name.replace("k_fold", &format!("{place}::k_fold"))));
        }
    }
    unit.text += &after;
    (!unit.kernels.is_empty()).then_some(unit)
}

/// The programs of kernels that do not belong to a single op of the op table.
pub(super) static PROGRAMS: &[KernelList] = &[
    super::copy::COPIES,
    super::copy::CASTS,
    super::copy::TRANSPOSITIONS,
    super::creation::KERNELS,
    super::indexing::GATHER_KERNELS,
    super::indexing::KERNELS,
    super::compact::KERNELS,
    super::manipulation::KERNELS,
    super::reduction::FOLDS,
    super::convolution::KERNELS,
    super::fft::KERNELS,
    super::fft::NUFFT_KERNELS,
    super::images::KERNELS,
    super::images::REGION_KERNELS,
    super::linalg::KERNELS,
    super::linalg::FACTOR_KERNELS,
    super::linalg::SPARSE_KERNELS,
    super::random::KERNELS,
    super::random::SAMPLERS,
    super::reduction::SCANS,
    super::reduction::DIFFS,
    super::sorting::KERNELS,
    super::special::KERNELS,
    super::statistics::KERNELS,
];

/// The kernels of `PROGRAMS`, with one unit per program.
pub fn programs() -> Vec<Unit> {
    let unit = |(program, instances): &KernelList| Unit {
        name: program.name.to_string(),
        text: program.text(),
        kernels: instances().iter().map(Instance::expression).collect(),
    };
    PROGRAMS.iter().map(unit).collect()
}
