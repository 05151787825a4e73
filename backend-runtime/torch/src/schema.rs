//! libtorch's schemas. A schema describes an op's parameters, its results, and its effects on its arguments, as in
//! `aten::zero_(Tensor(a!) self) -> Tensor(a!)`.

/// The reason why a row of the op table must not call the op with this schema; `None` if the row may call it. A row
/// must not call an op that changes an argument, because other handles may share the argument.
///
/// `(a!)` marks an argument that is written, as in `out`, `zero_`, `set_` and `resize_`. `(a)` marks an argument that
/// shares memory with the result, as in views: this is safe, because rows call no op that writes to its arguments.
pub fn written(text: &str) -> Option<String> {
    if !text.starts_with("aten::") {
        return Some("is not one of libtorch's own ops; only their schemas say which arguments an op changes".into());
    }
    let (params, _) = parts(text);
    let changed = params.iter().find(|param| param.contains('!') || WRITTEN_UNSAID.contains(&name(param)));
    changed.map(|param| {
        format!(
            "changes its argument `{}`, which other arrays may share; call the op that returns a new tensor",
            name(param)
        )
    })
}

/// Arguments that some ops write although their schemas do not mark them: the statistics that training updates, and the
/// noise that `rrelu_with_noise` stores.
const WRITTEN_UNSAID: [&str; 3] = ["running_mean", "running_var", "noise"];

/// The reason why a call with this number of arguments does not fit the schema; `None` if it fits.
pub fn mismatch(text: &str, args: usize) -> Option<&'static str> {
    let (params, returns) = parts(text);
    if params.len() < args {
        return Some("takes fewer arguments");
    }
    if params[args..].iter().any(|param| !param.contains('=')) {
        return Some("needs more arguments");
    }
    let tensors = returns.trim_matches(['(', ')']).split(", ").all(|r| r.starts_with("Tensor"));
    (!tensors).then_some("does not return tensors")
}

/// The parameters of a schema, and its return type.
fn parts(text: &str) -> (Vec<&str>, &str) {
    let (params, returns) = text.rsplit_once(" -> ").unwrap_or((text, ""));
    let params = params.split_once('(').map_or("", |(_, p)| p.strip_suffix(')').unwrap_or(p));
    (split(params).into_iter().filter(|p| !p.is_empty() && *p != "*").collect(), returns)
}

/// Splits at commas outside brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// The name of a parameter: `other` for `Tensor(a -> *) other=None`.
fn name(param: &str) -> &str {
    param.split('=').next().unwrap_or_default().trim().rsplit(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_split_at_their_own_commas() {
        assert_eq!(
            split("Tensor self, int[1]? dim=None, *, bool[2] x=[0, 1]"),
            ["Tensor self", "int[1]? dim=None", "*", "bool[2] x=[0, 1]"]
        );
        let (params, returns) = parts("aten::split(Tensor(a -> *) self, int n, *, str mode=\"a -> b\") -> Tensor(a)[]");
        assert_eq!(params.iter().map(|p| name(p)).collect::<Vec<_>>(), ["self", "n", "mode"]);
        assert_eq!(returns, "Tensor(a)[]");
    }

    #[test]
    fn what_is_written_is_seen() {
        for (text, argument) in [
            ("aten::zero_(Tensor(a!) self) -> Tensor(a!)", "self"),
            ("aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)", "out"),
            ("aten::unbind_(Tensor(a! -> *) x, int dim=0) -> Tensor(a)[]", "x"),
            ("aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", "self"),
            ("aten::f(Tensor x, Tensor(a!)? given=None) -> Tensor", "given"),
            ("aten::batch_norm(Tensor input, Tensor? running_mean, bool training) -> Tensor", "running_mean"),
        ] {
            let why = written(text).unwrap_or_else(|| panic!("{text}"));
            assert!(why.contains(&format!("`{argument}`")), "{why}");
        }
        assert_eq!(written("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)"), None);
        assert_eq!(written("aten::ne.Tensor(Tensor self, Tensor other) -> Tensor"), None);
        assert!(written("inductor::_reinterpret_tensor(Tensor self, int[] size) -> Tensor").is_some());
    }
}
