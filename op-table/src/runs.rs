//! The description of what runs on a backend for a row, and of how ranks split its arrays.

use crate::model::*;

impl Op {
    /// The way in which ranks split the arrays of the op: the word of its column `split`. Without one, it is `each` or
    /// `lanes` for ops with scalar expressions, `parts` for ops made of other ops, or else `whole`. A composition
    /// besides kernels also counts as `parts`.
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

    /// A line on what a backend runs, with names that users of the libraries know; `None` if the row has no mapping for
    /// it.
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
            Map::Generic(_) => library.unwrap_or_else(|| "code over the other ops".into()),
            Map::Call(_) if backend.aten => library.unwrap_or_else(|| "ops of libtorch".into()),
            Map::Call(_) => library.unwrap_or_else(|| "kernels of this backend".into()),
        })
    }
}

impl Aten {
    /// The name in Python: `fft_fft` is `torch.fft.fft`.
    pub fn python_name(&self) -> String {
        let aten = &self.name;
        match aten.strip_prefix("fft_").or(aten.strip_prefix("special_")).or(aten.strip_prefix("linalg_")) {
            Some(name) => format!("torch.{}.{name}", &aten[..aten.len() - name.len() - 1]),
            None => format!("torch.{aten}"),
        }
    }
}
