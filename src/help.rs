//! The op reference at run time: the pages of ops, and a search by words.

use crate::{OPS, OpInfo, Result, runtime::by_name};

/// The entry of an op, found by its name or an alias. Displaying the entry prints the op's reference page.
///
/// ```
/// use backends::{DType, help};
///
/// let page = help("sum")?.to_string();
/// assert!(page.starts_with("sum(x: array, axis: axes, keepdims: bool = false) -> array<sum>"));
/// assert_eq!(help("variance")?.name, "var");
/// assert!(help("sum")?.supports("cuda", DType::Float32));
/// assert!(help("smu").unwrap_err().to_string().contains("did you mean `sum`?"));
/// # Ok::<(), backends::Error>(())
/// ```
///
/// # Errors
/// [`Argument`](crate::Error::Argument) for an unknown name; the text suggests the nearest name, if any is near.
pub fn help(name: &str) -> Result<&'static OpInfo> {
    let of_numpy = name.strip_prefix("numpy.").or(name.strip_prefix("np.")).and_then(|name| name.rsplit('.').next());
    let own = OPS.iter().find(|op| op.name == name || Some(op.name) == of_numpy);
    let found = own.or_else(|| OPS.iter().find(|op| op.aliases.contains(&name) || is_numpys(op, name)));
    found.ok_or_else(|| by_name::unknown(name, &[OPS]))
}

/// Returns whether `name` is the op's NumPy name, such as `np.linalg.norm`, or the last part of that name.
fn is_numpys(op: &OpInfo, name: &str) -> bool {
    let full = name.strip_prefix("numpy.").or(name.strip_prefix("np.")).unwrap_or(name);
    let numpys = op.numpy.strip_prefix("np.").unwrap_or(op.numpy);
    !full.is_empty() && (numpys == full || numpys.rsplit('.').next() == Some(full))
}

/// The ops whose names, aliases or summaries contain all words of `text`, regardless of case. Ops whose name equals a
/// word or begins with it are first.
///
/// ```
/// let found: Vec<&str> = backends::search("cumulative").iter().map(|op| op.name).collect();
/// assert!(found.contains(&"cumulative_sum") && found.contains(&"cumulative_prod"));
/// ```
#[must_use]
pub fn search(text: &str) -> Vec<&'static OpInfo> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found: Vec<(u8, &OpInfo)> = OPS.iter().filter_map(|op| Some((rank(op, &words)?, op))).collect();
    found.sort_by_key(|(rank, op)| (*rank, op.name));
    found.into_iter().map(|(_, op)| op).collect()
}

/// Rank of an op in a search; a lower rank is a better match. `None` if the op does not match all words.
fn rank(op: &OpInfo, words: &[&str]) -> Option<u8> {
    let names = || std::iter::once(op.name).chain(op.aliases.iter().copied()).chain([op.numpy]);
    let of_word = |word: &&str| {
        let any = |is: &dyn Fn(&str) -> bool| names().any(|name| is(&name.to_lowercase()));
        if op.name == *word {
            Some(0)
        } else if any(&|name| name == *word) {
            Some(1)
        } else if any(&|name| name.starts_with(word)) {
            Some(2)
        } else if any(&|name| name.contains(word)) {
            Some(3)
        } else {
            let says = op.summary.to_lowercase().contains(word) || op.group == *word;
            says.then_some(4)
        }
    };
    words.iter().map(of_word).try_fold(0, |worst, rank| Some(rank?.max(worst)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_row() {
        for op in OPS {
            assert_eq!(help(op.name).unwrap().name, op.name);
            for alias in op.aliases {
                assert!(help(alias).is_ok() && search(alias).iter().any(|found| found.name == op.name), "{alias}");
            }
            assert_eq!(search(op.name)[0].name, op.name);
        }
        assert_eq!(help("np.linalg.qr").unwrap().name, "qr");
        assert_eq!(help("numpy.expand_dims").unwrap().name, "expand_dims");
        assert!(help("").is_err());
        assert_eq!(search("").len(), OPS.len());
        assert!(search("no such thing at all").is_empty());
    }

    #[test]
    fn the_words_of_a_search_may_be_in_the_summary() {
        let found = search("Standard DEVIATION");
        assert!(found.iter().any(|op| op.name == "std"), "{found:?}");
    }
}
