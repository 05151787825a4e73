//! Describes, for the documentation, the code that a backend runs for a row of the op table, and how the row's arrays
//! are split over ranks, the processes of a parallel program.

use crate::model::*;

impl Op {
    /// The value of the row's column `split`, which describes the split of the op's arrays over ranks. If a row does
    /// not have this column, the value is `each` for a scalar expression, `lanes` for a reduction of scalar
    /// expressions, `parts` if the op calls other ops (`compose` or `generic`) on at least one library, and `whole`
    /// otherwise.
    pub fn split(&self) -> &str {
        let is = |kind: fn(&Map) -> bool| self.maps.values().any(kind);
        match self.columns.iter().find(|(column, _)| column == "split") {
            Some((_, word)) => word,
            None if is(|map| matches!(map, Map::Each { .. })) => "each",
            None if is(|map| matches!(map, Map::Fold(_))) => "lanes",
            None if is(Map::is_free) => "parts",
            None => "whole",
        }
    }

    /// A line that describes the code that a backend runs, with names that users of the libraries know; `None` if the
    /// row has no mapping for the backend.
    pub fn runs(&self, backend: &Backend) -> Option<String> {
        let map = self.maps.get(&backend.name)?;
        let library =
            self.reference.runs.iter().find(|(name, _)| *name == backend.name).map(|(_, library)| library.clone());
        Some(match map {
            Map::Each { real, complex: None } => format!("`{}` per element", real.text),
            Map::Each { real, complex: Some(complex) } => {
                format!("`{}` per element; complex: `{}`", real.text, complex.text)
            }
            Map::Fold(fold) => {
                let of = fold.map.as_ref().map_or("each element".into(), |map| format!("`{}`", map.text));
                let finish = fold.finish.as_ref().map_or(String::new(), |form| format!("; at the end `{}`", form.text));
                format!("`{}` of {of}, from `{}` on{finish}", fold.join.text, fold.identity.text)
            }
            Map::Compose(form) => format!("`{}`", form.text),
            Map::Aten(aten) => format!("`{}`", aten.python_name()),
            Map::Generic(path) => library.unwrap_or_else(|| format!("other ops, in `{path}`")),
            Map::Call(path) => library.unwrap_or_else(|| {
                let of = if backend.aten { "ops of libtorch" } else { "kernels" };
                let module = if path.starts_with("crate::") { String::new() } else { format!("{}::", backend.name) };
                format!("{of}, in `{module}{path}`")
            }),
        })
    }
}

impl Aten {
    /// The name of the op in Python. For example, `fft_fft` is `torch.fft.fft`.
    pub fn python_name(&self) -> String {
        let aten = &self.name;
        match aten.strip_prefix("fft_").or(aten.strip_prefix("special_")).or(aten.strip_prefix("linalg_")) {
            Some(name) => format!("torch.{}.{name}", &aten[..aten.len() - name.len() - 1]),
            None => format!("torch.{aten}"),
        }
    }
}
