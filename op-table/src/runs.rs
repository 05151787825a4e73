//! What runs on a backend when a row is called, and what it does with arrays on ranks, in words.

use crate::model::*;

impl Op {
    /// What it does with arrays that are split over ranks: the word of its column `split`; without one `each` and `lanes` of what has scalar
    /// expressions, `parts` of what is made of other ops, else `whole`. A composition beside kernels is one of parts, too.
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

    /// What a backend runs, in a line, by the names that users of the libraries know; none where the row has nothing for it.
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
    /// The op as Python calls it: `fft_fft` is `torch.fft.fft`.
    pub fn python_name(&self) -> String {
        let aten = &self.name;
        match aten.strip_prefix("fft_").or(aten.strip_prefix("special_")).or(aten.strip_prefix("linalg_")) {
            Some(name) => format!("torch.{}.{name}", &aten[..aten.len() - name.len() - 1]),
            None => format!("torch.{aten}"),
        }
    }
}
