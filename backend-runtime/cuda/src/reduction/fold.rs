//! The reductions ("folds") that are built into the CUDA kernels.

use crate::program::{Instance, KernelList, Program, ProgramSource};
use backend_core::{DType, DTypeKind};

/// Size in bytes of the largest accumulator of a fold.
pub(super) const ACCUMULATOR: usize = 16;

/// A reduction of many elements to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Sum,
    Product,
    Mean,
    /// The mean in the accumulator's dtype, which is float32 if the elements are 16-bit floats.
    WideMean,
    /// The variance. The means are an argument of the kernel.
    Variance,
    /// The standard deviation. The means are an argument of the kernel.
    Deviation,
    Maximum,
    Minimum,
    Any,
    All,
    Largest,
    Smallest,
}

impl Fold {
    const ALL: [Fold; 12] = [
        Fold::Sum,
        Fold::Product,
        Fold::Mean,
        Fold::WideMean,
        Fold::Variance,
        Fold::Deviation,
        Fold::Maximum,
        Fold::Minimum,
        Fold::Any,
        Fold::All,
        Fold::Largest,
        Fold::Smallest,
    ];

    /// The fold's name in the kernels.
    pub(crate) const fn name(self) -> &'static str {
        self.names().fold
    }

    /// The fold's template arguments in the kernels, for arrays and for formulas.
    pub(crate) const fn names(self) -> Names {
        macro_rules! names {
            ($($fold:ident)*) => {
                match self {
                    $(Fold::$fold => Names { fold: stringify!($fold), of_formula: concat!(stringify!($fold), ", k_row") }),*
                }
            };
        }
        names!(Sum Product Mean WideMean Variance Deviation Maximum Minimum Any All Largest Smallest)
    }

    /// Returns the fold that computes the same result as the CPU function with this name; `None` if there is no such
    /// fold.
    pub(crate) fn of_function(name: &str) -> Option<Fold> {
        Some(match name {
            "reduction::sum_of" => Fold::Sum,
            "reduction::mean_of" => Fold::Mean,
            "reduction::max_of" => Fold::Maximum,
            "reduction::min_of" => Fold::Minimum,
            "reduction::any_of" => Fold::Any,
            "reduction::all_of" => Fold::All,
            "reduction::var_of" => Fold::Variance,
            "reduction::std_of" => Fold::Deviation,
            "reduction::argmax_of" => Fold::Largest,
            "reduction::argmin_of" => Fold::Smallest,
            _ => return None,
        })
    }

    /// Dtype of the result if the elements have dtype `of`.
    pub(crate) fn result(self, of: DType) -> DType {
        match self {
            Fold::Sum | Fold::Product => of.to_sum(),
            Fold::WideMean => wide(of),
            Fold::Mean | Fold::Maximum | Fold::Minimum => of,
            Fold::Variance | Fold::Deviation => of.to_real(),
            Fold::Any | Fold::All => DType::Bool,
            Fold::Largest | Fold::Smallest => DType::Int64,
        }
    }

    /// Returns whether an empty axis is an error, because the reduction has no identity.
    pub(crate) fn needs_elements(self) -> bool {
        matches!(self, Fold::Maximum | Fold::Minimum | Fold::Largest | Fold::Smallest)
    }

    fn is_for(self, dtype: DType) -> bool {
        let (real, complex) = (dtype.kind() == DTypeKind::Real, dtype.kind() == DTypeKind::Complex);
        match self {
            Fold::Sum | Fold::Product | Fold::Any | Fold::All => true,
            Fold::Mean | Fold::WideMean | Fold::Variance | Fold::Deviation => real || complex,
            Fold::Maximum | Fold::Minimum | Fold::Largest | Fold::Smallest => !complex,
        }
    }
}

/// A fold's template arguments in the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    /// The argument for a fold of an array.
    pub(crate) fold: &'static str,
    /// The arguments for a fold of a formula's values: the fold and the formula.
    pub(crate) of_formula: &'static str,
}

/// The template arguments in programs with a reduction that an op of the op table defines.
pub(crate) const OF_ROW: Names = Names { fold: "k_fold", of_formula: "k_fold, k_row" };

/// Returns the dtype in which floats of a dtype are summed.
pub(crate) fn wide(dtype: DType) -> DType {
    match dtype {
        DType::Float16 | DType::BFloat16 => DType::Float32,
        other => other,
    }
}

/// The kernels that reduce arrays over axes.
pub(super) static REDUCE: Program = Program {
    name: "reduce",
    source: ProgramSource::File(concat!(
        include_str!("../kernels/locate.cuh"),
        include_str!("../kernels/fold.cuh"),
        include_str!("../kernels/reduce.cuh")
    )),
};

/// The instances of the `REDUCE` kernels, for the list of all kernels in [`check`](crate::check).
pub(crate) const FOLDS: KernelList = (&REDUCE, || {
    let mut instances = Vec::new();
    for fold in Fold::ALL {
        for dtype in DType::ALL.into_iter().filter(|&dtype| fold.is_for(dtype)) {
            instances.extend(["reduce", "join_parts"].map(|kernel| Instance::new(kernel, fold.name(), &[dtype])));
        }
    }
    instances
});
