//! Checks that need several rows (definitions of ops): types in expressions, name clashes, and compositions that call
//! themselves.

mod cases;
mod circles;
pub mod gradients;
mod names;

use crate::{
    expr::{compose, each},
    fold,
    model::{Absent, Elem, Kind, Map, Model, Op},
    related,
    report::{Mistake, Report, SourceFile},
};

/// Checks every row, and determines the types in its expressions. Mistakes are reported for rows and columns of the
/// table being read, but not for rows of its base table.
pub fn check(source: &SourceFile, model: &mut Model, report: &mut Report) {
    for index in 0..model.ops.len() {
        let mut maps = std::mem::take(&mut model.ops[index].maps);
        let op = &model.ops[index];
        let mut seen: Vec<Mistake> = Vec::new();
        for (column, map) in &mut maps {
            let own = op.own || model.backends.iter().any(|b| b.own && b.name == *column);
            let mistakes = if op.params_are_whole { map_of(op, map, model) } else { Vec::new() };
            if own {
                // if several libraries share a mapping, a mistake in it is reported once
                seen.extend(
                    mistakes.into_iter().filter(|m| !seen.iter().any(|s| s.span == m.span)).collect::<Vec<_>>(),
                );
            }
        }
        let name = op.name.clone();
        model.ops[index].maps = maps;
        if !seen.is_empty() {
            model.broken.insert(name);
        }
        seen.into_iter().for_each(|mistake| report.add(source, mistake));
    }
    gradients::gradients(source, model, report);
    bounds(source, model, report);
    names::names(source, model, report);
    cases::cases(source, model, report);
    circles::circles(source, model, report);
    related::check(source, model, report);
}

fn map_of(op: &Op, map: &mut Map, model: &Model) -> Vec<Mistake> {
    match map {
        Map::Each { real, complex } => {
            let mistakes = each::check_params(op);
            if !mistakes.is_empty() {
                return mistakes;
            }
            if let Some(complex) = complex.as_ref().filter(|_| op.mixes_dtypes() || op.second.is_some()) {
                let message =
                    "a row with a second dtype, or with arrays of several dtypes, must have a single expression"
                        .to_string();
                return vec![Mistake { span: complex.expr.span.clone(), message, help: None }];
            }
            let all = model.dtypes_of(&op.set);
            let of = |is_complex: bool| -> Vec<String> {
                let wanted = |d: &&String| complex_form(d) == is_complex;
                all.iter().filter(wanted).cloned().collect()
            };
            let real_dtypes = if complex.is_some() { of(false) } else { all.to_vec() };
            let forms = [(Some(real), real_dtypes), (complex.as_mut(), of(true))];
            let check = |(form, dtypes): (Option<&mut crate::model::Form>, Vec<String>)| {
                each::check(&mut form?.expr, op, &dtypes, model).err()
            };
            forms.into_iter().filter_map(check).collect()
        }
        Map::Fold(fold) => {
            // removes a `map` that returns the element unchanged, so that the reduction joins the elements directly
            fold.map = fold.map.take().filter(|map| !fold::is_element(&map.expr, op));
            fold::check(fold, op, model)
        }
        Map::Compose(form) => compose::check(&mut form.expr, op, model),
        Map::Call(_) | Map::Generic(_) | Map::Aten(_) => Vec::new(),
    }
}

/// Reports a parameter that is a lower or an upper bound, unless it has the row's dtype and all dtypes of the row are
/// ordered. Complex dtypes have no order.
fn bounds(source: &SourceFile, model: &mut Model, report: &mut Report) {
    let mut broken = Vec::new();
    for op in model.ops.iter().filter(|op| op.own) {
        let is_bound = |kind: &Kind| matches!(kind, Kind::Operand(_, absent) if *absent != Absent::Refused);
        let Some(param) = op.params.iter().find(|p| is_bound(&p.kind)) else { continue };
        if param.kind.elem() != Some(Elem::T) || model.dtypes_of(&op.set).iter().any(|d| complex_form(d)) {
            let message = format!("`{}` is a bound, but the dtypes of its elements have no order", param.name);
            let help = Some(
                "a bound must have the row's dtype, and the row's dtypes must be a part of the set `ordered`".into(),
            );
            report.at(source, param.span.clone(), message, help);
            broken.push(op.name.clone());
        }
    }
    model.broken.extend(broken);
}

/// Returns whether rows compute this dtype by their expression for complex dtypes.
fn complex_form(dtype: &str) -> bool {
    dtype.starts_with("complex")
}
