//! Checks the machine code of the CPU's kernels. A loop without vector instructions is many times slower, and no other
//! test would detect this.

use crate::run::{Outcome, cargo, root, run};
use std::{collections::BTreeMap, fs};

/// Ops whose loops have no vector instructions for a known reason: names, dtypes, and the reason.
const SCALAR: [(&str, &[&str], &str); 14] = [
    ("imag", &["f32", "f64"], "writes zeros"),
    ("isfinite isinf", &["i64"], "writes one value"),
    ("ceil", &["i64"], "copies"),
    (
        "floor_divide remainder",
        &["f32", "f64", "i64"],
        "divisions of integers, and the remainder of the standard library",
    ),
    ("pow", &["i64"], "multiplies as often as the exponent has bits"),
    ("pow", &["c64", "c128"], "special cases of both parts"),
    ("expm1", &["c64", "c128"], "a sum in two words, with special cases"),
    ("acos acosh asin asinh atan atanh", &["c64", "c128"], "AVX2 has too few registers"),
    ("cos cosh exp sin sinh tan tanh", &["c64"], "the compiler loses that no argument is far"),
    ("conj real imag", &["c64", "c128"], "moves"),
    ("fmod", &["f32", "f64"], "the remainder of the standard library"),
    (
        "beta betaln gammainc gammaincc",
        &["f32", "f64"],
        "a series or a fraction, whichever ends sooner, as long as it takes",
    ),
    ("elu kl_div rel_entr sinc", &["f32", "f64"], "the compiler branches where one of two values is chosen"),
    ("positive conj", &["f32", "f64", "c64", "c128"], "copies"),
];

/// The task `kernels`: fails if a kernel of the common dtypes has no vector instructions, or calls a function.
pub fn task() -> Outcome {
    if !cfg!(target_arch = "x86_64") {
        return Err("the code of kernels is read on x86-64 only".into());
    }
    let out = root().join("target/kernels.s");
    let mut command = cargo();
    command.args(["rustc", "--release", "--package", "backends", "--lib"]);
    command.args(["--", "-C", "codegen-units=1", "-C", "symbol-mangling-version=v0", "--emit"]);
    command.arg(format!("asm={}", out.display()));
    run(&mut command)?;
    let text = fs::read_to_string(&out).map_err(|why| format!("{}: {why}", out.display()))?;
    let kernels = kernels(&text);
    if kernels.len() < 300 {
        return Err(format!(
            "{} kernels are too few: are their names still those of `numpyish/kernel.rs`?",
            kernels.len()
        ));
    }
    let wrong: Vec<String> = kernels.iter().filter_map(|(kernel, code)| complaint(kernel, *code, &kernels)).collect();
    println!("{} kernels, {} of them without vectors or with calls, as known", kernels.len(), known(&kernels));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// One compiled loop: its op, dtype and instruction set. `near` is true for the variant for small arguments, which need
/// no range reduction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kernel {
    op: String,
    dtype: &'static str,
    set: &'static str,
    near: bool,
}

/// Counts of instructions in the code of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Code {
    /// Instructions that compute in registers of 256 or 512 bits.
    vectors: usize,
    calls: usize,
}

impl Code {
    fn is_good(self) -> bool {
        self.vectors > 0 && self.calls == 0
    }
}

/// Returns a message if a kernel has no vector instructions or calls a function. Returns `None` for the kernels listed
/// in `SCALAR`, and for kernels that are seldom used.
fn complaint(kernel: &Kernel, code: Code, all: &BTreeMap<Kernel, Code>) -> Option<String> {
    // if a kernel has a variant for small arguments (`near`), the kernel itself is seldom used
    let seldom = !kernel.near && all.contains_key(&Kernel { near: true, ..kernel.clone() });
    if code.is_good() || seldom || is_known(kernel) {
        return None;
    }
    let Kernel { op, dtype, set, .. } = kernel;
    Some(format!("{op} of {dtype} with {set}: {} instructions on vectors, {} calls", code.vectors, code.calls))
}

fn is_known(kernel: &Kernel) -> bool {
    let listed =
        |ops: &str, dtypes: &[&str]| ops.split(' ').any(|op| op == kernel.op) && dtypes.contains(&kernel.dtype);
    SCALAR.iter().any(|(ops, dtypes, _)| listed(ops, dtypes))
}

fn known(kernels: &BTreeMap<Kernel, Code>) -> usize {
    kernels.iter().filter(|(kernel, code)| !code.is_good() && is_known(kernel)).count()
}

/// Finds the kernels in an assembly file.
fn kernels(text: &str) -> BTreeMap<Kernel, Code> {
    let mut found = BTreeMap::new();
    let mut current: Option<(Kernel, Code)> = None;
    for line in text.lines() {
        if let Some(symbol) = line.strip_suffix(':').filter(|s| s.starts_with("_R")) {
            current = kernel(symbol).map(|kernel| (kernel, Code::default()));
        } else if line.trim_start().starts_with(".cfi_endproc") {
            found.extend(current.take());
        } else if let Some((_, code)) = &mut current {
            let mut words = line.split_whitespace();
            let (name, operands) = (words.next().unwrap_or_default(), line);
            code.calls += usize::from(name.starts_with("call"));
            let wide = operands.contains("%ymm") || operands.contains("%zmm");
            code.vectors += usize::from(wide && !moves(name));
        }
    }
    found
}

/// Returns whether an instruction only moves or clears data.
fn moves(name: &str) -> bool {
    const MOVES: [&str; 6] = ["vmov", "vbroadcast", "vextract", "vinsert", "vperm", "vzero"];
    MOVES.iter().any(|m| name.starts_with(m))
}

/// The kernel that a symbol names. For example, `..6kernel4avx2Kj1_dNt..3ops3expKb0_..` is the loop of `exp` over `f64`
/// for AVX2, in the variant for all arguments.
fn kernel(symbol: &str) -> Option<Kernel> {
    let rest = symbol.split_once("6kernel")?.1;
    let (set, rest) =
        ["avx2", "avx512"].iter().find_map(|set| Some((*set, rest.strip_prefix(&format!("{}{set}Kj", set.len()))?)))?;
    let types = rest.split_once('_')?.1;
    let (dtype, path) = types.split_once("3ops")?;
    let dtype = match dtype.as_bytes().first()? {
        b'd' => "f64",
        b'f' => "f32",
        b'x' => "i64",
        b'b' => "bool",
        _ if dtype.contains("Complexd") => "c128",
        _ if dtype.contains("Complexf") => "c64",
        _ => return None,
    };
    let digits = path.len() - path.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (length, path) = path.split_at(digits);
    let length: usize = length.parse().ok()?;
    let (op, path) = (path.get(..length)?, path.get(length..)?);
    Some(Kernel { op: op.to_owned(), dtype, set, near: path.starts_with("Kb1") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXP: &str = "_RINvNtNtCsa_12backend_core8numpyish6kernel4avx2Kj1_dNtNtCs7_8backends3ops3expKb0_EB1I_";

    #[test]
    fn symbols_name_kernels() {
        let expected = Kernel { op: "exp".into(), dtype: "f64", set: "avx2", near: false };
        assert_eq!(kernel(EXP), Some(expected));
        let near = "_R6kernel6avx512Kj1_INtCs5_11num_complex7ComplexfENtNtCs7_8backends3ops3sinKb1_EB1I_";
        let expected = Kernel { op: "sin".into(), dtype: "c64", set: "avx512", near: true };
        assert_eq!(kernel(near), Some(expected));
        assert_eq!(kernel("_RNvNtCsa_12backend_core8numpyish5other"), None);
    }

    #[test]
    fn vectors_and_calls_are_counted() {
        let of = |code: &str| kernels(&format!("{EXP}:\n{code}\n\t.cfi_endproc\n")).into_values().next();
        let good = of("\tvmovupd\t(%rsi), %ymm0\n\tvaddpd\t%ymm0, %ymm1, %ymm0\n\tvzeroupper");
        assert_eq!(good, Some(Code { vectors: 1, calls: 0 }));
        assert!(good.unwrap().is_good());
        let scalar = of("\tvaddsd\t%xmm0, %xmm1, %xmm0").unwrap();
        assert!(!scalar.is_good());
        let calls = of("\tvaddpd\t%ymm0, %ymm1, %ymm0\n\tcallq\tfma@PLT").unwrap();
        assert_eq!((calls.vectors, calls.calls, calls.is_good()), (1, 1, false));
    }

    #[test]
    fn what_lost_its_vectors_is_named() {
        let lost = Kernel { op: "exp".into(), dtype: "f64", set: "avx2", near: false };
        let bad = Code { vectors: 0, calls: 1 };
        let all = BTreeMap::from([(lost.clone(), bad)]);
        assert!(complaint(&lost, bad, &all).is_some_and(|c| c.contains("exp of f64 with avx2")));
        // only the loop for small arguments must be fast
        let both = BTreeMap::from([
            (lost.clone(), bad),
            (Kernel { near: true, ..lost.clone() }, Code { vectors: 9, calls: 0 }),
        ]);
        assert_eq!(complaint(&lost, bad, &both), None);
        let known = Kernel { op: "pow".into(), dtype: "i64", ..lost };
        assert_eq!(complaint(&known, bad, &all), None);
    }
}
