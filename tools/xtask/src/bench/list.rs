//! Reads the calls of `benches/peers.txt`, and derives further calls from the op table.

use crate::run::Outcome;
use op_table::{
    Model,
    model::{Kind, Map, Op},
};

/// The other libraries, each with its name in tables and its name in the input of the measuring programs. The Python
/// libraries come first.
pub const PEERS: [(&str, &str); 8] = [
    ("NumPy, SciPy", "numpy"),
    ("PyTorch", "torch"),
    ("numexpr", "numexpr"),
    ("ndarray", "ndarray"),
    ("candle", "candle"),
    ("faer", "faer"),
    ("burn", "burn"),
    ("rstsr", "rstsr"),
];

/// Number of Python libraries in [`PEERS`]. For each call, the list has a separate text for each Python library. For
/// the Rust libraries there are no such texts: their program receives the call as it is written for this library, and
/// reports a call that a library does not have.
pub const OF_PYTHON: usize = 3;

/// A call with its arrays, and the texts of the same call in other libraries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    pub group: String,
    /// The name shown in tables.
    pub name: String,
    pub call: String,
    /// The text of the call for each Python library in [`PEERS`].
    pub peers: [Option<String>; OF_PYTHON],
    /// The arrays to make for the call, in the format that the programs read.
    pub arrays: String,
    /// Dtype and size of the arrays; empty and `None` if the list does not state them.
    pub dtype: String,
    pub size: Option<usize>,
    pub flops: Option<f64>,
    /// True if the call is derived from the op table. Its name in other libraries is then a guess, which may fail.
    pub guessed: bool,
}

/// A line `@ dtypes | n = sizes | arrays`, which applies to all lines below it up to the next `@` line.
#[derive(Clone, Default)]
struct With<'a> {
    dtypes: Vec<&'a str>,
    letter: &'a str,
    sizes: Vec<usize>,
    arrays: Vec<&'a str>,
}

/// Parses the calls of a list, in order. Calls below one `@` line are grouped by dtype and size, so that their arrays
/// are made only once.
pub fn parse(text: &str) -> Outcome<Vec<Case>> {
    let (mut cases, mut group, mut with, mut lines) = (Vec::new(), "", With::default(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let at = |why: String| format!("line {}: {why}", number + 1);
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            expand(&mut cases, group, &with, &std::mem::take(&mut lines)).map_err(at)?;
            (group, with) = (name, With::default());
        } else if let Some(words) = line.strip_prefix('@') {
            expand(&mut cases, group, &with, &std::mem::take(&mut lines)).map_err(at)?;
            with = directive(words).map_err(at)?;
        } else if !line.is_empty() && !line.starts_with('#') {
            lines.push(line);
        }
    }
    expand(&mut cases, group, &with, &lines)?;
    Ok(cases)
}

fn directive(text: &str) -> Outcome<With<'_>> {
    let parts: Vec<&str> = text.split('|').map(str::trim).collect();
    let [dtypes, sizes, arrays] = parts[..] else {
        return match parts[..] {
            [""] => Ok(With::default()),
            _ => Err("`@ dtypes | n = sizes | arrays` is wanted".into()),
        };
    };
    let (letter, sizes) = sizes.split_once('=').unwrap_or_default();
    let size = |word: &str| match word.parse::<f64>() {
        Ok(size) if size >= 1.0 => Ok(size as usize),
        _ => Err(format!("`{word}` is no size")),
    };
    let sizes = sizes.split_whitespace().map(size).collect::<Outcome<_>>()?;
    let (dtypes, arrays) = (dtypes.split_whitespace().collect(), arrays.split_whitespace().collect());
    Ok(With { dtypes, letter: letter.trim(), sizes, arrays })
}

fn expand(cases: &mut Vec<Case>, group: &str, with: &With, lines: &[&str]) -> Outcome {
    let dtypes = if with.dtypes.is_empty() { &[""][..] } else { &with.dtypes };
    let sizes: Vec<_> =
        if with.sizes.is_empty() { vec![None] } else { with.sizes.iter().map(|&size| Some(size)).collect() };
    for dtype in dtypes {
        for &size in &sizes {
            let arrays = with.arrays.iter().map(|array| resolved(array, dtype, with.letter, size));
            let arrays = arrays.collect::<Outcome<Vec<_>>>()?.join(";");
            for line in lines {
                cases.push(case(line, group, with, dtype, size, &arrays)?);
            }
        }
    }
    Ok(())
}

fn case(line: &str, group: &str, with: &With, dtype: &str, size: Option<usize>, arrays: &str) -> Outcome<Case> {
    let filled = |text: &str| {
        let text = text.trim().replace("{dtype}", dtype);
        size.map_or(text.clone(), |size| text.replace(&format!("{{{}}}", with.letter), &size.to_string()))
    };
    let mut parts = line.split('|');
    let call = filled(parts.next().unwrap_or_default());
    let mut case = Case {
        group: group.into(),
        name: call.trim_start_matches("= ").into(),
        arrays: arrays.into(),
        dtype: dtype.into(),
        size,
        call,
        ..Case::default()
    };
    for peer in &mut case.peers[..2] {
        let text = filled(parts.next().ok_or_else(|| format!("`{line}` has no columns of NumPy and PyTorch"))?);
        *peer = (text != "-").then_some(text);
    }
    for more in parts {
        match more.trim().split_once(' ') {
            Some(("numexpr", text)) => case.peers[2] = Some(format!("ne.evaluate('{}')", filled(text))),
            Some(("flops", text)) => {
                let factors = filled(text);
                let flops = factors.split('*').map(|factor| factor.trim().parse::<f64>());
                let flops = flops.product::<Result<f64, _>>().map_err(|_| format!("`{factors}` is no product"))?;
                case.flops = Some(if dtype.starts_with("complex") { 4.0 * flops } else { flops });
            }
            _ => return Err(format!("`{more}` is neither `numexpr` nor `flops`")),
        }
    }
    if !dtype.is_empty() {
        case.name.push_str(&format!(", {dtype}"));
    }
    if let Some(size) = size {
        case.name.push_str(&format!(", {} = {size}", with.letter));
    }
    Ok(case)
}

/// Rewrites `i[n,1000000/n]/int64/<n/T` in the format that the programs read: `i int64 1000,1000 1000 T`.
fn resolved(array: &str, dtype: &str, letter: &str, size: Option<usize>) -> Outcome<String> {
    let bad = || format!("`{array}` is no array");
    let number = |word: &str| if word == letter { size } else { word.parse().ok() };
    let (name, rest) = array.split_once('[').ok_or_else(bad)?;
    let (dims, options) = rest.split_once(']').ok_or_else(bad)?;
    let dim = |word: &str| match word.split_once('/') {
        Some((all, part)) => Some(number(all)? / number(part)?.max(1)),
        None => number(word),
    };
    let dims = dims.split(',').map(|word| dim(word).map(|n| n.to_string()).ok_or_else(bad));
    let dims = dims.collect::<Outcome<Vec<_>>>()?.join(",");
    let (mut dtype, mut below, mut layout) = (dtype, 100, "-");
    for option in options.split('/').filter(|option| !option.is_empty()) {
        match option.strip_prefix('<') {
            Some(limit) => below = number(limit).ok_or_else(bad)?,
            None if option == "T" || option.parse::<usize>().is_ok() => layout = option,
            None => dtype = option,
        }
    }
    Ok(format!("{name} {dtype} {dims} {below} {layout}"))
}

/// Returns further calls: one for each elementwise op of the op table with at most two arrays that `list` does not
/// call, and that NumPy, SciPy or PyTorch may have. The arrays have a million elements. In NumPy and SciPy, the call
/// uses the reference function of the op's row, if the row has a single one. In PyTorch, it uses the op that the row's
/// key `aten` names.
pub fn of_table(model: &Model, list: &[Case]) -> Vec<Case> {
    let listed = |op: &&Op| {
        let called = |case: &Case| case.call.starts_with(&format!("{}(", op.name));
        !list.iter().any(called)
    };
    model.ops.iter().filter(listed).filter_map(|op| of_row(model, op)).collect()
}

fn of_row(model: &Model, op: &Op) -> Option<Case> {
    op.maps.values().any(|map| matches!(map, Map::Each { .. })).then_some(())?;
    let is_array = |kind: &Kind| matches!(kind, Kind::Array(_) | Kind::Operand(..));
    let params: Vec<&str> = op.params.iter().filter(|p| p.default.is_none()).map(|p| p.name.as_str()).collect();
    (op.params.iter().all(|p| p.default.is_some() || is_array(&p.kind)) && params.len() < 3).then_some(())?;
    let has = |dtype: &str| model.dtypes_of(&op.set).iter().any(|of| of == dtype);
    let names = [("float64", ["x", "y"]), ("int64", ["i", "k"]), ("bool", ["b1", "b1"]), ("complex128", ["z", "z"])];
    let (dtype, names) = names.into_iter().find(|(dtype, _)| has(dtype))?;
    let args = names[..params.len()].join(", ");
    let reference = model.reference_of(op);
    let plain = reference.split_once('.').is_some_and(|(module, name)| {
        ["np", "sp"].contains(&module) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    let aten = op.maps.values().find_map(|map| if let Map::Aten(aten) = map { Some(&aten.name) } else { None });
    let peers = [
        plain.then(|| format!("{reference}({args})")),
        aten.map(|name| format!("torch.ops.aten.{name}({args})")),
        None,
    ];
    peers.iter().any(Option::is_some).then_some(())?;
    let call = format!("{}({args})", op.name);
    let name = if dtype == "float64" { call.clone() } else { format!("{call}, {dtype}") };
    let group = "elementwise".into();
    Some(Case { group, name, call, peers, dtype: dtype.into(), guessed: true, ..Case::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{run::root, table};
    use std::{collections::BTreeSet, fs};

    #[test]
    fn a_line_stands_for_each_dtype_and_size() {
        let text = "[sums]\n@ float32 complex64 | n = 10 1e3 | m[n,4000/n]/T i[n]/int64/<n\n\
                    sum(m, {n}) | m.sum({n}) | - | flops 2 * {n} | numexpr sum(m)\n@\n# of people\nabs(p) | - | p.abs()";
        let cases = parse(text).expect("a list");
        assert_eq!(cases.len(), 5);
        assert_eq!(cases[1].name, "sum(m, 1000), float32, n = 1000");
        assert_eq!(cases[1].arrays, "m float32 1000,4 100 T;i int64 1000 1000 -");
        assert_eq!(cases[1].peers, [Some("m.sum(1000)".into()), None, Some("ne.evaluate('sum(m)')".into())]);
        assert_eq!((cases[1].flops, cases[3].flops), (Some(2000.0), Some(8000.0)));
        assert_eq!((cases[4].name.as_str(), cases[4].arrays.as_str(), cases[4].group.as_str()), ("abs(p)", "", "sums"));
    }

    #[test]
    fn mistakes_are_named() {
        for text in
            ["a(x) | x", "a(x) | x | x | y", "@ float32 | n = few | x[n]\n", "@ f | n = 1 | x\na(x) | - | -", "@ a"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_call_of_the_list_is_there_twice() {
        let text = fs::read_to_string(root().join("benches/peers.txt")).expect("the list");
        let model = table::read(None).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        let mut cases = parse(&text).unwrap_or_else(|why| panic!("{why}"));
        cases.extend(of_table(&model, &cases));
        let mut names = BTreeSet::new();
        for case in &cases {
            assert!(names.insert(&case.name), "`{}` twice", case.name);
            assert!(case.peers.iter().any(Option::is_some) && !case.group.is_empty(), "{case:?}");
        }
        assert!(cases.iter().filter(|case| case.guessed).count() > 20, "rows of the table");
    }
}
