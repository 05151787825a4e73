//! Tests that the real NVRTC compiles the CUDA programs of the backend itself, and all functions for the expressions of
//! ops.
//!
//! The test runs in its own process, because quick compilation, once enabled, applies to everything that the process
//! compiles at the same time.

use backend_core::{DType, DTypeKind, ElementInfo, KernelInfo, OpInfo, available};
use backend_cuda::{
    check::{programs, rows},
    nvrtc::Target,
};

/// Returns the compiler in quick mode, because the tests check only that sources compile, not how fast the code runs.
fn compiler() -> Option<Target> {
    available("nvrtc", Target::of((9, 0))).map(|_| Target { quick: true, ..Target::named("compute_90") })
}

fn is_in(dtype: DType, set: &str) -> bool {
    let (bool, integer) = (dtype == DType::Bool, matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Unsigned));
    let (real, complex) = (dtype.kind() == DTypeKind::Real, dtype.kind() == DTypeKind::Complex);
    match set {
        "any" => true,
        "numeric" => !bool,
        "real_numeric" => integer || real,
        "ordered" => !complex,
        "bits" => bool || integer,
        "integer" => integer,
        "float" => real || complex,
        "real" => real,
        other => panic!("{other}"),
    }
}

/// The functions that expressions may use. An entry has the dtypes and the number of the operands, the dtype of the
/// result, and the functions' names.
const WORDS: &[(&str, usize, &str, &str)] = &[
    ("any", 2, "bool", "equal"),
    ("any", 1, "bool", "is_nonzero"),
    ("numeric", 2, "same", "plus minus times pow"),
    ("numeric", 1, "same", "negate sign conj round"),
    ("numeric", 1, "real", "abs real imag"),
    ("numeric", 1, "bool", "is_finite is_inf is_nan"),
    ("real_numeric", 2, "same", "floor_divide remainder fmod"),
    ("real_numeric", 1, "same", "ceil floor trunc"),
    ("ordered", 2, "same", "maximum minimum"),
    ("ordered", 2, "bool", "less less_equal"),
    ("bits", 2, "same", "bit_and bit_or bit_xor"),
    ("bits", 1, "same", "bit_not"),
    ("integer", 2, "same", "shift_left shift_right gcd lcm"),
    ("integer", 1, "uint8", "popcount"),
    ("float", 2, "same", "div"),
    (
        "float",
        1,
        "same",
        "reciprocal exp expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh",
    ),
    ("real", 2, "same", "atan2 hypot copysign nextafter logaddexp"),
    ("real", 1, "same", "exp2 cbrt erf erfc gamma lgamma digamma logit erfinv erfcinv j0 j1 i0 i0e i1 i1e"),
    ("real", 2, "same", "beta betaln gammainc gammaincc"),
    ("real", 1, "bool", "signbit"),
    ("real", 2, "complex", "complex"),
];

#[test]
fn the_vocabulary_compiles_for_every_dtype() {
    let Some(target) = compiler() else {
        return;
    };
    let mut all = Vec::new();
    for &(set, operands, result, words) in WORDS {
        for word in words.split(' ') {
            let text: &str = if operands == 2 { format!("op_{word}(x1, x2)") } else { format!("op_{word}(x1)") }.leak();
            let dtypes = DType::ALL.into_iter().filter(|&dtype| is_in(dtype, set)).map(|dtype| match result {
                "bool" => (dtype, DType::Bool),
                "uint8" => (dtype, DType::UInt8),
                "real" => (dtype, dtype.to_real()),
                "complex" => (dtype, dtype.to_complex()),
                _ => (dtype, dtype),
            });
            let inputs = &["x1", "x2"][..operands];
            let elements = &[ElementInfo::T, ElementInfo::T][..operands];
            let kernel = KernelInfo::new(text, text, inputs, elements, &[], dtypes.collect::<Vec<_>>().leak());
            all.push(OpInfo::new(word, "", "", "", &[], &[], "", "", "", Some(kernel)));
        }
    }
    for unit in rows(&all) {
        unit.compile(&target).unwrap_or_else(|error| panic!("{}: {error}", unit.name));
    }
}

#[test]
fn every_program_compiles() {
    let Some(target) = compiler() else {
        return;
    };
    for unit in programs() {
        unit.compile(&target).unwrap_or_else(|error| panic!("{}: {error}", unit.name));
    }
}
