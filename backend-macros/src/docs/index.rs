//! Generates the front page of the module of ops, which lists all ops by group.

use super::*;
use std::fmt::Write;

/// Generates the index of `ops`. `trait_name` is the trait of a user's ops, or `None` for the ops of the base table.
pub fn index(ops: &[&Op], trait_name: Option<&str>, model: &Model) -> String {
    let mut s = match trait_name {
        None => String::from("Reference of all ops, with a page for each op.\n\n"),
        Some(name) => format!("Reference of the ops of [`{name}`](super::{name}), with a page for each op.\n\n"),
    };
    s += "Each op is a method of its name on every backend: `b.sum(&x, 0)`. The items of this module stand for the \
        ops themselves: `INFO` describes the parameters and results of an op, and `call` calls the op with values \
        whose dtypes are known at run time.\n\n";
    let backends: Vec<&str> = model.backends.iter().map(|b| b.ty.as_str()).collect();
    let _ = write!(s, "The backends of the table are {}.\n\n", backends.join(", "));
    if trait_name.is_some() {
        s += &table(ops, model);
        return s;
    }
    s += "The pages name the function behind each op. In the repository, the function `cuda::fft::fft` of a backend \
        is in `backend-runtime/cuda/src/fft/`. On the CPU, functions that formulas use too (most of \
        `elementwise`, `reduction` and `casting`) are in `backend-runtime/core/src/numpyish/`, and all others in \
        `backend-runtime/numpyish/src/`. A function over other ops, such as `fft::dct`, is in `src/`.\n\n";
    for group in &model.groups {
        let of_group: Vec<&Op> = ops.iter().copied().filter(|op| op.group == group.name).collect();
        if !of_group.is_empty() {
            let name = camel(&group.name);
            let _ = write!(s, "# [{name}](super::{name})\n\n{}\n\n", text(&group.summary));
            s += &table(&of_group, model);
            s.push('\n');
        }
    }
    s
}

fn table(ops: &[&Op], model: &Model) -> String {
    let mut s = String::from("| op | does | dtypes | backends |\n|---|---|---|---|\n");
    for op in ops {
        let has = |b: &&op_table::model::Backend| op.maps.contains_key(&b.name);
        let backends: Vec<&str> = model.backends.iter().filter(has).map(|b| b.ty.as_str()).collect();
        let backends = if backends.len() == model.backends.len() { "all".into() } else { backends.join(", ") };
        // uses a link by address: for a link by path, rustdoc would repeat the path as a title, for every op on the
        // page
        let _ = writeln!(
            s,
            "| [`{0}`](struct.{0}.html) | {1} | {2} | {backends} |",
            op.name,
            cell(&op.summary),
            dtypes(op, model)
        );
    }
    s
}

/// The dtypes of an op: the names of their kinds if the set has all dtypes of these kinds, otherwise a list.
fn dtypes(op: &Op, model: &Model) -> String {
    let kinds = ["bool", "integer", "real", "complex"];
    let members = |set: &str| if set == "bool" { vec!["bool".into()] } else { model.dtypes_of(set).to_vec() };
    let has = model.dtypes_of(&op.set);
    let whole: Vec<&str> = kinds
        .into_iter()
        .filter(|kind| {
            let members = members(kind);
            !members.is_empty() && members.iter().all(|dtype| has.contains(dtype))
        })
        .collect();
    let said: usize = whole.iter().map(|kind| members(kind).len()).sum();
    if said == has.len() && !whole.is_empty() { whole.join(", ") } else { has.join(", ") }
}
