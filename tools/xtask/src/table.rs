//! Reads the op tables, and prints them as data for `golden.py` and for other tools.

use crate::run::{Outcome, root};
use op_table::{
    INDICES, Model, Report, Role, SAMPLES, SourceFile, check,
    model::{Kind, Op, Out, Param},
    parse,
};
use serde_json::{Value, json};
use std::{fs, io::Write, path::Path};

/// The task `table [--json] [--table T]`: prints an op table.
pub fn task(args: &[String]) -> Outcome {
    let (mut table, mut as_json) = (None, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => as_json = true,
            "--table" => table = Some(args.next().ok_or("`--table` names a file")?),
            other => return Err(format!("`{other}` is not an argument of `table`")),
        }
    }
    let model = read(table.map(Path::new))?;
    let text = if as_json {
        format!("{}\n", json(&model))
    } else {
        let signature = |op: &Op| {
            let params: Vec<&str> = op.params.iter().map(|p| p.text.as_str()).collect();
            format!("{}({}) -> {}\n", op.name, params.join(", "), op.result_text)
        };
        model.ops.iter().filter(|op| op.own).map(signature).collect()
    };
    // the reader may close the pipe early, which is not an error
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// Reads the base table, or the table of another crate together with the base table. If a table has mistakes, the error
/// lists all of them.
pub fn read(table: Option<&Path>) -> Result<Model, String> {
    let source = |path: &Path| {
        let text = fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
        Ok::<_, String>(SourceFile { name: path.display().to_string(), text })
    };
    let (mut model, mut report) = (Model::default(), Report::default());
    let base = source(&root().join("ops.toml"))?;
    let own = match table {
        None => base,
        Some(path) => {
            parse(&base, Role::Context, &mut model, &mut report);
            source(path)?
        }
    };
    parse(&own, Role::Own, &mut model, &mut report);
    check(&own, &mut model, &mut report);
    if report.is_empty() { Ok(model) } else { Err(report.into_texts().join("\n\n")) }
}

/// The ops of a table as JSON, with the key names that `golden.py` expects.
pub fn json(model: &Model) -> Value {
    let rows: Vec<Value> = model.ops.iter().filter(|op| op.own).map(|op| row(op, model)).collect();
    let groups: Vec<&str> = model.groups.iter().map(|g| g.name.as_str()).collect();
    json!({ "groups": groups, "rows": rows, "samples": SAMPLES, "indices": INDICES })
}

fn row(op: &Op, model: &Model) -> Value {
    let params: Vec<Value> = op.params.iter().map(param).collect();
    let results: Vec<&str> = match &op.result {
        Out::Plain(plain) => vec![plain.dtype()],
        arrays => arrays.elems().iter().map(|e| e.name()).collect(),
    };
    let fields: Vec<&str> = match &op.result {
        Out::Fields(fields) => fields.iter().map(|field| field.name.as_str()).collect(),
        _ => Vec::new(),
    };
    let is_list = matches!(op.result, Out::List(_));
    let accuracy = model.accuracies.iter().find(|a| a.name == op.accuracy);
    let shape_only = accuracy.is_some_and(|a| a.shape);
    let exact = accuracy.is_none_or(|a| !a.shape && a.rtol.is_empty() && a.ulp.unwrap_or(0.0) == 0.0);
    let cases = model.cases_of(op);
    json!({
        "name": op.name,
        "group": op.group,
        "params": params,
        "results": results,
        "is_list": is_list,
        "dtypes": model.dtypes_of(&op.set),
        "types": op.second_set.as_ref().map(|set| model.dtypes_of(set)),
        // `cases` is null if the row has neither cases, nor default cases, nor an empty list of cases
        "cases": (op.cases.is_some() || !cases.is_empty()).then_some(&cases),
        "raises": op.facts.raises.iter().flatten().map(|case| case.text.as_str()).collect::<Vec<_>>(),
        "seed": op.facts.seed,
        "compared": op.facts.compared.iter().flatten().map(|part| part.text.as_str()).collect::<Vec<_>>(),
        "fields": fields,
        "shape_only": shape_only,
        "exact": exact,
        "golden": (!op.golden.is_empty()).then_some(&op.golden),
        "reference": model.reference_of(op),
        "signature": model.signature_of(op),
    })
}

fn param(p: &Param) -> Value {
    let is_array = matches!(p.kind, Kind::Array(_) | Kind::Operand(..) | Kind::Arrays(_) | Kind::Target(_));
    let of = p.kind.elem().filter(|_| is_array).map(|e| e.name());
    let kind = p.kind.word(&p.ty);
    let default = p.default.is_some().then_some(&p.default_text);
    json!({ "name": p.name, "kind": kind, "of": of, "default": default })
}
