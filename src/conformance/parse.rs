//! Parser for the text of cases, the test calls of an op in the op table: `"m, [0, -1], keepdims = true"`.

use backend_runtime::Slice;

/// One argument of a case (test call).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Arg {
    /// The name of a sample (test array), the name of a choice, `all`, `none`, `true` or `false`.
    Name(String),
    /// A number, as written.
    Number(String),
    /// Text between quotes, such as a list of slices.
    Quoted(String),
    /// A list, `[..]`.
    List(Vec<Arg>),
}

/// The arguments of a case: positional and named ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Args {
    pub positional: Vec<Arg>,
    pub named: Vec<(String, Arg)>,
}

/// Parses the text of a case. The error is a text that describes the mistake.
pub(crate) fn args(text: &str) -> Result<Args, String> {
    let mut args = Args::default();
    for part in split(text)? {
        match part.split_once('=') {
            Some((name, value)) if !part.starts_with('\'') => args.named.push((name.trim().into(), arg(value.trim())?)),
            _ => args.positional.push(arg(part)?),
        }
    }
    Ok(args)
}

/// Splits at the commas that are outside brackets and quotes.
pub(super) fn split(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0_usize, false);
    for (i, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.checked_sub(1).ok_or_else(|| format!("`{text}`: `]` without `[`"))?,
            ',' if !quoted && depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if quoted || depth > 0 {
        return Err(format!("`{text}`: a quote or bracket is not closed"));
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    Ok(parts)
}

fn arg(text: &str) -> Result<Arg, String> {
    let inside = |open, close| text.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
    if let Some(list) = inside('[', ']') {
        return Ok(Arg::List(split(list)?.into_iter().map(arg).collect::<Result<_, _>>()?));
    }
    if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Ok(Arg::Quoted(quoted.into()));
    }
    match text.chars().next() {
        Some(c) if c.is_alphabetic() || c == '_' => Ok(Arg::Name(text.into())),
        Some(_) if text.parse::<f64>().is_ok() => Ok(Arg::Number(text.into())),
        _ => Err(format!("`{text}` is neither a name, a number, a list nor a text")),
    }
}

/// An item of a list of indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A slice or an index: `1`, `1:3`.
    Slice(Slice),
    /// A new axis: `NewAxis`.
    New,
    /// The remaining axes: `...`.
    Rest,
    /// The name of a sample.
    Name(String),
}

/// Parses a list of indices: slices in Python's notation, `...`, `NewAxis`, and names of samples.
pub(crate) fn index(text: &str) -> Result<Vec<Item>, String> {
    let one = |part: &str| {
        Ok(match part {
            "..." => Item::Rest,
            "NewAxis" => Item::New,
            name if name.starts_with(|c: char| c.is_alphabetic()) => Item::Name(name.into()),
            slice => Item::Slice(self::slice(slice, text)?),
        })
    };
    split(text)?.into_iter().map(one).collect()
}

/// Parses a list of slices in Python's notation: `"1:3, ::-1, 0"`.
pub(crate) fn slices(text: &str) -> Result<Vec<Slice>, String> {
    split(text)?.into_iter().map(|part| slice(part, text)).collect()
}

/// Parses one slice; `text` is the whole list, for the error text.
fn slice(part: &str, text: &str) -> Result<Slice, String> {
    let number = |part: &str| match part.trim() {
        "" => Ok(None),
        digits => digits.parse::<i128>().map(Some).map_err(|_| format!("`{digits}` in `{text}` is not an index")),
    };
    let ends = part.split(':').map(number).collect::<Result<Vec<_>, _>>()?;
    match ends[..] {
        [Some(index)] => Ok(Slice { start: Some(index), drop: true, ..Slice::ALL }),
        [start, stop] => Ok(Slice { start, stop, ..Slice::ALL }),
        [start, stop, step] => match isize::try_from(step.unwrap_or(1)) {
            Ok(step) => Ok(Slice { start, stop, step, drop: false }),
            Err(_) => Err(format!("`{part}` in `{text}` has no such step")),
        },
        _ => Err(format!("`{part}` in `{text}` is not a slice")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read() {
        let name = |n: &str| Arg::Name(n.into());
        let number = |n: &str| Arg::Number(n.into());
        let read = args("m, [v, u], -1e-3, '1:3, ::-1', s = [5, 6], norm = ortho").unwrap();
        let quoted = Arg::Quoted("1:3, ::-1".into());
        assert_eq!(read.positional, [name("m"), Arg::List(vec![name("v"), name("u")]), number("-1e-3"), quoted]);
        let named = [("s".into(), Arg::List(vec![number("5"), number("6")])), ("norm".into(), name("ortho"))];
        assert_eq!(read.named, named);
        assert_eq!(args("[]").unwrap().positional, [Arg::List(vec![])]);
        assert_eq!(args("").unwrap(), Args::default());
        assert!(args("[1, 2").is_err() && args("m, ?").is_err() && args("1]").is_err());
    }

    #[test]
    fn lists_of_indices_are_read() {
        let read = index("1, ::-1, ..., NewAxis, ii").unwrap();
        let slices = [Slice::at(1), Slice::ALL.step(-1)].map(Item::Slice);
        assert_eq!(read[..2], slices);
        assert_eq!(read[2..], [Item::Rest, Item::New, Item::Name("ii".into())]);
        assert!(index("").unwrap().is_empty() && index("1:2:3:4").is_err());
    }

    #[test]
    fn slices_are_read() {
        let read = slices("::-1, 1, 3:0:-2").unwrap();
        assert_eq!(
            read,
            [Slice::ALL.step(-1), Slice::at(1), Slice { start: Some(3), stop: Some(0), step: -2, drop: false }]
        );
        assert_eq!(slices("").unwrap(), []);
        assert!(slices("a:b").is_err() && slices("1:2:3:4").is_err());
    }
}
