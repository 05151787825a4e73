//! Measures compile times of a user's crate. Small programs are written to a temporary folder, built, and run.

mod speeds;
mod user;

use crate::run::{Outcome, root};
use std::{fmt::Write as _, fs, path::PathBuf};
use user::User;

/// Calls on arrays `x` and `y` of shape (4, 4), for real dtypes. Every program makes the calls in this order.
const REAL: [&str; 60] = [
    "add(&x, &y)",
    "subtract(&x, 2.0)",
    "less(&x, &y)",
    "clip(&x, 0.0, 1.0)",
    "exp(&x)",
    "sin(&x)",
    "log(&x)",
    "pow(&x, &y)",
    "sqrt(&x)",
    "tanh(&x)",
    "sum(&x, 0)",
    "max(&x, ..)",
    "mean(&x, 1)",
    "std(&x, ..)",
    "cumulative_sum(&x, 0)",
    "sort(&x)",
    "matmul(&x, &y)",
    "flip(&x, 0)",
    "tril(&x)",
    "concat(&[&x, &y])",
    "multiply(&x, &y)",
    "divide(&x, &y)",
    "maximum(&x, &y)",
    "minimum(&x, 0.5)",
    "atan2(&x, &y)",
    "hypot(&x, &y)",
    "equal(&x, &y)",
    "greater(&x, &y)",
    "negative(&x)",
    "abs(&x)",
    "sign(&x)",
    "square(&x)",
    "round(&x)",
    "floor(&x)",
    "expm1(&x)",
    "log1p(&x)",
    "cos(&x)",
    "tan(&x)",
    "atan(&x)",
    "erf(&x)",
    "isnan(&x)",
    "logical_and(&x, &y)",
    "prod(&x, 0)",
    "min(&x, ..)",
    "var(&x, ..)",
    "any(&x, ..)",
    "argmax(&x, 0)",
    "median(&x, ..)",
    "diff(&x)",
    "argsort(&x)",
    "unique_values(&x)",
    "reshape(&x, [2, 8])",
    "permute_dims(&x, [1, 0])",
    "stack(&[&x, &y])",
    "tile(&x, [2])",
    "roll(&x, [1], 0)",
    "pad(&x, [1, 1, 1, 1])",
    "r#where(&b.less(&x, &y)?, &x, &y)",
    "fft(&x)",
    "rfft(&x)",
];

/// Calls that exist for every numeric dtype.
const NUMERIC: [&str; 20] = [
    "add(&x, &y)",
    "subtract(&x, &y)",
    "multiply(&x, &y)",
    "equal(&x, &y)",
    "logical_and(&x, &y)",
    "negative(&x)",
    "abs(&x)",
    "sign(&x)",
    "square(&x)",
    "pow(&x, &y)",
    "sum(&x, 0)",
    "prod(&x, ..)",
    "cumulative_sum(&x, 0)",
    "diff(&x)",
    "matmul(&x, &y)",
    "flip(&x, 0)",
    "tril(&x)",
    "concat(&[&x, &y])",
    "repeat(&x, 2, 0)",
    "nonzero(&x)",
];

/// Functions in the formulas `f(x - y) * z + g(y * 3.5)`. There is a formula for each pair of an `f` from the first
/// list and a `g` from the second list.
const FORMULAS: ([&str; 8], [&str; 5]) =
    (["exp", "sin", "cos", "tanh", "sqrt", "log", "atan", "sinh"], ["sin", "cos", "expm1", "log1p", "tan"]);

const SIX: [&str; 6] = ["i32", "i64", "f32", "f64", "Complex<f32>", "Complex<f64>"];

const USAGE: &str = "usage: cargo xtask build-cost [--of CHECKOUT] [--in FOLDER] [--only PROGRAM | --speeds]";

/// The task `build-cost [--of CHECKOUT] [--in FOLDER] [--only PROGRAM | --speeds]`. PROGRAM is a substring of the names
/// of the measured programs.
pub fn task(args: &[String]) -> Outcome {
    let (mut of, mut folder) = (root(), std::env::temp_dir().join("backends-build-cost"));
    let mut only = None;
    let is_of_speeds = args.last().is_some_and(|last| last == "--speeds");
    let mut args = args[..args.len() - usize::from(is_of_speeds)].iter();
    while let Some(arg) = args.next() {
        let value = args.next().ok_or(USAGE)?;
        match arg.as_str() {
            "--of" => of = PathBuf::from(value),
            "--in" => folder = PathBuf::from(value),
            "--only" => only = Some(value),
            _ => return Err(USAGE.into()),
        }
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|why| format!("{} cannot be removed: {why}", folder.display()))?;
    }
    println!("{}", processor());
    if is_of_speeds {
        return speeds::table(&folder, &of);
    }
    println!("Seconds of processor time, one job at a time.\n");
    let programs = [
        ("1 op in f64", source(false, &REAL[..1], &["f64"])),
        ("20 ops in f64", source(false, &REAL[..20], &["f64"])),
        ("60 ops in f64", source(false, &REAL, &["f64"])),
        ("60 ops in f64 on AnyBackend", source(true, &REAL, &["f64"])),
        ("20 ops in six dtypes", source(false, &NUMERIC, &SIX)),
        ("40 formulas of six ops in f64", formulas(true)),
        ("the ops of 40 formulas, one by one", formulas(false)),
    ];
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only.as_str()));
    if !programs.iter().any(|(name, _)| wanted(name)) {
        let names = programs.map(|(name, _)| name);
        return Err(format!("there is no such program; there are: {}", names.join("; ")));
    }
    let (mut rows, mut clean) = (String::new(), String::new());
    for (name, source) in programs.iter().filter(|(name, _)| wanted(name)) {
        let user = User::new(&folder, &of, source, "")?;
        let mut cells = Vec::new();
        for release in [false, true] {
            let profile = if release { "release" } else { "dev" };
            let first = user.build(release)?;
            if !user.rest_is_built(release) {
                let _ = writeln!(clean, "| everything, {profile} | {first:.0} |");
                user.mark(release)?;
            }
            cells.push(format!("{:.2}", user.rebuild(source, release)?));
        }
        let (lines, functions) = user.lines()?;
        let size = fs::metadata(user.program(true)).map_or(0, |m| m.len());
        let _ = writeln!(
            rows,
            "| {name} | {} | {} | {lines} | {functions} | {:.2} |",
            cells[0],
            cells[1],
            size as f64 / 1e6
        );
    }
    println!("| the user's crate | dev, again | release, again | LLVM lines | functions | program, MB |");
    println!("|---|--:|--:|--:|--:|--:|\n{rows}");
    println!("| clean build | s |\n|---|--:|\n{clean}");
    if only.is_some() { Ok(()) } else { speeds::table(&folder, &of) }
}

/// The source of a program that makes every call in every dtype, on `AnyBackend` or on `Numpyish`.
fn source(any: bool, calls: &[&str], dtypes: &[&str]) -> String {
    let (backend, array, new) = match any {
        true => ("AnyBackend", "AnyArray", "AnyBackend::from(Numpyish::new())"),
        false => ("Numpyish", "HostArray", "Numpyish::new()"),
    };
    let mut source = String::from("use backends::{Result, prelude::*};\n\n");
    let mut main = format!("fn main() -> Result<()> {{\n    let b = {new};\n");
    for (i, dtype) in dtypes.iter().enumerate() {
        let _ = write!(
            source,
            "fn ops_{i}(b: &{backend}, x: {array}<{dtype}>, y: {array}<{dtype}>) -> Result<()> {{\n{}    Ok(())\n}}\n\n",
            calls.iter().map(|call| format!("    println!(\"{{:p}}\", &b.{call}?);\n")).collect::<String>()
        );
        let _ = writeln!(main, "    ops_{i}(&b, b.ones([4, 4])?, b.ones([4, 4])?)?;");
    }
    source + &main + "    println!(\"run 0\");\n    Ok(())\n}\n"
}

/// The source of a program that computes 40 formulas of three f64 arrays, with `expr!` or op by op.
fn formulas(by_expr: bool) -> String {
    let (outer, inner) = FORMULAS;
    let all = outer.into_iter().flat_map(|f| inner.map(|g| (f, g)));
    let calls: String = all
        .map(|(f, g)| {
            let formula = match by_expr {
                true => format!("expr!(b, {f}(x - y) * z + {g}(y * 3.5))"),
                false => format!("b.add(b.multiply(b.{f}(b.subtract(x, y)?)?, z)?, b.{g}(b.multiply(y, 3.5)?)?)"),
            };
            format!("    println!(\"{{:p}}\", &{formula}?);\n")
        })
        .collect();
    let import = if by_expr { "expr, " } else { "" };
    format!(
        "use backends::{{Result, {import}prelude::*}};\n\n\
         type A = HostArray<f64>;\n\nfn formulas(b: &Numpyish, x: &A, y: &A, z: &A) -> Result<()> {{\n{calls}    Ok(())\n}}\n\n\
         fn main() -> Result<()> {{\n    let b = Numpyish::new();\n    \
         formulas(&b, &b.ones([4, 4])?, &b.ones([4, 4])?, &b.ones([4, 4])?)?;\n    println!(\"run 0\");\n    Ok(())\n}}\n"
    )
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = info.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or(": unknown");
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    format!("Processor: {}, {cores} cores.", line.trim_start_matches(['\t', ' ', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_make_every_call_in_every_dtype() {
        let text = source(false, &["add(&x, &y)", "exp(&x)"], &["f32", "f64"]);
        assert_eq!((text.matches("b.add(").count(), text.matches("b.exp(").count()), (2, 2));
        assert!(text.contains("HostArray<f32>") && text.contains("HostArray<f64>"));
    }

    #[test]
    fn formulas_are_40_of_six_ops() {
        let (by_expr, by_ops) = (formulas(true), formulas(false));
        assert_eq!(by_expr.matches("expr!(").count(), 40);
        assert_eq!((by_ops.matches("expr!(").count(), by_ops.matches("b.").count()), (0, 40 * 6 + 3));
    }
}
