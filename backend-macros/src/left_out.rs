//! Removes from the base table all backends whose libraries are not part of the build, so that the expansion does not
//! mention these backends.

use op_table::{Model, Report, SourceFile};

/// The backends that this build leaves out, by their names in the table. A backend is left out if this crate's feature
/// for it is off.
const LEFT_OUT: &[&str] = &[
    #[cfg(not(feature = "cuda"))]
    "cuda",
    #[cfg(not(feature = "torch"))]
    "torch",
];

/// Checks a table with all its columns. Then removes from the model the backends that this build leaves out.
pub fn check(source: &SourceFile, model: &mut Model, report: &mut Report) {
    check_without(LEFT_OUT, source, model, report);
}

/// Checks a table, and removes the backends `names` from the model. The rows keep their mappings for the removed
/// backends, so that the code for other backends does not depend on the build.
fn check_without(names: &[&str], source: &SourceFile, model: &mut Model, report: &mut Report) {
    op_table::check(source, model, report);
    model.backends.retain(|backend| !names.contains(&backend.name.as_str()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{expand::Expand, fuzz, input::Input};
    use op_table::{Role, parse};

    const SMALL: &str = include_str!("../op-table/testdata/small.toml");

    /// Returns the mistakes of a table, and the generated code without the given backends.
    fn without(names: &[&str], table: &str) -> (Vec<String>, String) {
        let source = SourceFile { name: "ops.toml".into(), text: table.into() };
        let (mut model, mut report) = (Model::default(), Report::default());
        parse(&source, Role::Own, &mut model, &mut report);
        check_without(names, &source, &mut model, &mut report);
        let input: Input = syn::parse_quote!(root = crate, table = "ops.toml");
        (report.into_texts(), Expand::new(&model, &input).base().to_string())
    }

    /// Texts that occur in the generated code only if the backend is not left out.
    const MARKS: [(&str, &[&str]); 2] = [
        ("cuda", &["runtime :: cuda", "(\"cuda\" ,", "KernelInfo :: new", "| Cuda |"]),
        ("torch", &["runtime :: torch", "(\"torch\" ,", "Aten :: new", "\"aten::add\"", "| Torch |"]),
    ];

    #[test]
    fn nothing_is_expanded_for_a_library_that_is_left_out() {
        let table = fuzz::slice(fuzz::BASE, &["add", "subtract", "multiply", "where", "sum", "abs"]);
        for left_out in [&[][..], &["cuda"], &["torch"], &["cuda", "torch"]] {
            let (_, expanded) = without(left_out, &table);
            assert!(expanded.contains("AnyBackend :: Numpyish (_)") && expanded.contains("fn sum <"), "{left_out:?}");
            for (name, marks) in MARKS {
                for mark in marks {
                    assert_eq!(expanded.contains(mark), !left_out.contains(&name), "{mark} without {left_out:?}");
                }
            }
        }
    }

    #[test]
    fn what_a_row_says_of_a_library_that_is_left_out_is_checked() {
        let right = "torch   = { aten = \"leaky_relu(x, slope)\", via = \"float32\" }";
        let with = |compose: &str| SMALL.replace(right, &format!("torch = {{ compose = \"{compose}\" }}"));
        assert!(SMALL.contains(right));
        assert_eq!(without(&["torch"], &with("add(x, slope)")).0, [""; 0]);
        let wrong = without(&["torch"], &with("added(x, slope)")).0;
        assert!(wrong.len() == 1 && wrong[0].contains("there is no op `added`"), "{wrong:?}");
    }
}
