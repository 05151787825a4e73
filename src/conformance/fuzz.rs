//! Random calls of every op, which one process records and another process compares: `cargo xtask fuzz`.
//!
//! With `BACKENDS_FUZZ=record:FOLDER`, the tests of a backend make random calls instead of their cases, and record the
//! outcomes in one file for each row and dtype. With `BACKENDS_FUZZ=compare:FOLDER`, the tests of another backend, or
//! of the same backend with another number of threads, repeat the calls and compare the results with the recorded ones.
//! On the same backend the results must be equal bit for bit; on another backend they may differ by twice the row's
//! accuracy, except for elements that depend on rounding ([`noise`](super::noise)). `BACKENDS_FUZZ_SEED` selects other
//! calls.
//!
//! A random call is a case of the row with other lengths, layouts, elements and options. The text of the call
//! describes the call completely, so a failure can be reproduced by adding the text to the row's cases.

use super::{
    Row, Suite, Values,
    accuracy::Tolerance,
    arguments,
    case::{Called, DTypes},
    compare::difference_beside,
    data::{self, Reader, Writer},
    noise::Noise,
    parse::{self, Arg, Args},
    random::{Chance, Content, Layout, Sample},
    settings::{MODE, Mode, seed},
};
use backend_runtime::{Arrays, DType, Error, ParamKind};
use std::{collections::BTreeMap, fs};

/// Number of random calls for each op and dtype.
const CALLS: usize = 8;

/// Maximum number of elements of a sample (test array).
const MAX_ELEMENTS: usize = 1 << 21;

/// First line of a file of recorded calls. It names the format; the name of the backend follows.
const RECORD: &[u8] = b"backends-calls-1\n";

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Results(Vec<Values>),
    Error(String),
    /// The call was refused for lack of memory, which depends on the run and the backend.
    Refused,
}

impl<B: Arrays> Suite<B> {
    /// Makes random calls of an op and returns the failures; `None` if the environment does not request random calls.
    pub(super) fn fuzz(&self, b: &B, row: &Row, dtypes: DTypes) -> Option<Vec<String>> {
        let mode = MODE.as_ref()?;
        let DTypes { of: dtype, to } = dtypes;
        let file = format!("{}.{dtype}{}", row.name, to.map_or(String::new(), |to| format!(".{to}")));
        let run = |text: &str| {
            b.seed(0);
            outcome(self.call(b, row, dtypes, text))
        };
        Some(match mode {
            Mode::Record(folder) => {
                let calls: Vec<(String, Outcome)> = texts(row, &file)
                    .into_iter()
                    .map(|text| {
                        let (outcome, _) = run(&text);
                        (text, outcome)
                    })
                    .collect();
                let written =
                    fs::create_dir_all(folder).and_then(|()| fs::write(folder.join(&file), record(B::NAME, &calls)));
                written.err().map(|why| format!("{}: {why}", folder.display())).into_iter().collect()
            }
            Mode::Compare(folder) => {
                let path = folder.join(&file);
                let read = fs::read(&path).ok();
                let Some((backend, calls)) = read.as_deref().and_then(recorded) else {
                    return Some(vec![format!("{} is not a record of calls", path.display())]);
                };
                let same = backend == B::NAME;
                let differs = |(text, expected): &(String, Outcome)| {
                    let (got, size) = run(text);
                    let noise = match same {
                        true => Noise::default(),
                        false => {
                            let tolerance = row.accuracy.tolerance(dtype, dtype, size).twice();
                            Noise::of(row, dtypes, text, tolerance, self.reference())
                        }
                    };
                    compare(row, dtype, size, &got, expected, same, &noise)
                        .map(|why| format!("`{text}`, beside {backend}: {why}"))
                };
                calls.iter().filter_map(differs).collect()
            }
        })
    }
}

/// The outcome of a call, and the number of elements of its largest sample.
fn outcome(called: std::result::Result<Called, String>) -> (Outcome, usize) {
    let size = called.as_ref().map_or(0, |called| called.size);
    let outcome = match called.map(|called| called.results) {
        // arrays without elements may have lengths that the file format cannot store
        Ok(Ok(results)) if results.iter().any(|x| x.shape.iter().any(|&n| u32::try_from(n).is_err())) => {
            Outcome::Refused
        }
        Ok(Ok(results)) => Outcome::Results(results),
        Ok(Err(Error::Unsupported { .. })) => Outcome::Error("unsupported".into()),
        Ok(Err(Error::Memory { .. })) => Outcome::Refused,
        Ok(Err(why)) => Outcome::Error(why.to_string()),
        Err(panic) => Outcome::Error(panic),
    };
    (outcome, size)
}

/// Describes the difference between the recorded outcome of a call and the new one.
fn compare(
    row: &Row,
    dtype: DType,
    size: usize,
    got: &Outcome,
    expected: &Outcome,
    same: bool,
    noise: &Noise,
) -> Option<String> {
    let results = |outcome: &Outcome| match outcome {
        Outcome::Results(results) => format!("{} results", results.len()),
        Outcome::Error(why) => format!("the error `{why}`"),
        Outcome::Refused => "too little memory".into(),
    };
    let (got, expected) = match (got, expected) {
        (Outcome::Results(got), Outcome::Results(expected)) if got.len() == expected.len() => (got, expected),
        (Outcome::Error(got), _) if got.contains("panicked") => return Some(got.clone()),
        (Outcome::Refused, _) | (_, Outcome::Refused) => return None,
        (Outcome::Error(got), Outcome::Error(expected)) if !same || got == expected => return None,
        // depending on rounding, one library detects that a matrix is singular, and the other computes a result
        (Outcome::Error(why), Outcome::Results(_)) | (Outcome::Results(_), Outcome::Error(why))
            if noise.decides() && !why.contains("panicked") =>
        {
            return None;
        }
        _ => return Some(format!("{} in place of {}", results(got), results(expected))),
    };
    got.iter().zip(expected).enumerate().find_map(|(place, (g, e))| {
        let tolerance = row.accuracy.tolerance(dtype, e.dtype, size);
        // results that are not unique differ between backends, so only their shapes are compared
        let tolerance = if row.compared.is_empty() || same { tolerance } else { Tolerance::Shape };
        let has_elements = !matches!(tolerance, Tolerance::Shape | Tolerance::Ndim);
        let tolerance = if same && has_elements { Tolerance::Exact } else { tolerance.twice() };
        let [g, e] = noise.without(row, place, [g, e]);
        difference_beside(&g, &e, tolerance, !same, noise.scale)
    })
}

/// Returns the texts of the random calls of an op. `file` is the name of the record file, which includes the dtype.
fn texts(row: &Row, file: &str) -> Vec<String> {
    let name = file.bytes().fold(seed(), |seed, byte| seed.wrapping_mul(0x0100_0000_01B3) ^ u64::from(byte));
    let mut chance = Chance::new(name);
    (0..CALLS).map(|_| text(row, &mut chance)).collect()
}

/// Returns the text of a random call: one of the op's cases, with random changes.
fn text(row: &Row, chance: &mut Chance) -> String {
    let case = parse::args(chance.pick(row.cases)).expect("a case of the row");
    let mut lengths = Lengths::new(chance);
    let mut arguments = arguments_of(&case, &mut lengths, chance);
    if lengths.are_too_large {
        arguments = arguments_of(&case, &mut Lengths::small(), chance);
    }
    arguments.extend(options(row, &case, chance));
    arguments.join(", ")
}

/// Returns the arguments of a case with random changes.
fn arguments_of(case: &Args, lengths: &mut Lengths, chance: &mut Chance) -> Vec<String> {
    let in_order = [(Content::Sorted, Content::Ascending), (Content::Falling, Content::Descending)];
    // `sorter` must sort the first argument; for any other `sorter`, libraries return different results
    let sorted = case.named.iter().any(|(name, _)| name == "sorter").then(|| chance.pick(&in_order));
    let mut arguments: Vec<String> = Vec::new();
    for (i, arg) in case.positional.iter().enumerate() {
        let content = sorted.filter(|_| i == 0).map(|(values, _)| values);
        arguments.push(changed(arg, content, lengths, chance));
    }
    for (name, arg) in &case.named {
        let content = sorted.filter(|_| name == "sorter").map(|(_, order)| order);
        arguments.push(format!("{name} = {}", changed(arg, content, lengths, chance)));
    }
    arguments
}

/// Returns random values for some of the options that the case does not set.
fn options(row: &Row, case: &Args, chance: &mut Chance) -> Vec<String> {
    let given = |name: &str| case.named.iter().any(|(other, _)| other == name);
    let mut options = Vec::new();
    for param in row.params {
        let array = matches!(param.kind, ParamKind::Array(_) | ParamKind::Arrays(_));
        if param.default.is_some() && !array && !given(param.name) && chance.once_in(3) {
            options.push(format!("{} = {}", param.name, arguments::value(param.kind, chance)));
        }
    }
    options
}

/// Replacements for the lengths of the samples (test arrays). Equal lengths get equal replacements within a call, so
/// that arrays of matching shapes still match.
struct Lengths {
    new: BTreeMap<usize, usize>,
    size: Size,
    /// True if a sample has more than [`MAX_ELEMENTS`] elements: a matrix whose two axes both became long.
    are_too_large: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Size {
    /// The lengths are not changed.
    Kept,
    Small,
    /// Small lengths, except for one axis that is long enough for loops along it to be split over threads.
    OneLong,
}

impl Lengths {
    fn new(chance: &mut Chance) -> Lengths {
        let size = match chance.below(32) {
            0 => Size::OneLong,
            1..8 => Size::Kept,
            _ => Size::Small,
        };
        Lengths { size, ..Lengths::small() }
    }

    fn small() -> Lengths {
        Lengths { new: BTreeMap::new(), size: Size::Small, are_too_large: false }
    }

    fn of(&mut self, length: usize, chance: &mut Chance) -> usize {
        if self.size == Size::Kept || length < 2 {
            return length;
        }
        let first = self.new.is_empty();
        *self.new.entry(length).or_insert_with(|| match (self.size, chance.below(8)) {
            (Size::OneLong, _) if first => 40_000 + chance.below(40_000),
            (Size::OneLong, _) => 2 + chance.below(2),
            (_, 0) => chance.below(2),
            (_, 1) => 8 + chance.below(24),
            _ => 2 + chance.below(6),
        })
    }
}

/// Changes the lengths, elements and layout of an argument if it is a sample; other arguments are unchanged. `content`
/// is the kind of the new elements; by default it follows from the sample's name.
fn changed(arg: &Arg, content: Option<Content>, lengths: &mut Lengths, chance: &mut Chance) -> String {
    match arg {
        Arg::List(args) => {
            let items: Vec<String> = args.iter().map(|arg| changed(arg, content, lengths, chance)).collect();
            format!("[{}]", items.join(", "))
        }
        Arg::Quoted(text) => format!("'{text}'"),
        Arg::Number(text) => text.clone(),
        Arg::Name(name) => {
            let known = [DType::Float64, DType::Int64].into_iter().find_map(|dtype| data::sample(dtype, name));
            let Some(known) = known else { return name.clone() };
            // keeps a sample with special values half of the time
            if ["w", "wt", "wv", "wz"].contains(&name.as_str()) && chance.once_in(2) {
                return name.clone();
            }
            let content = content.unwrap_or_else(|| match name.as_str() {
                "sorted" | "fp" => Content::Sorted,
                "falling" => Content::Falling,
                "q" => Content::Unit,
                "i" | "ii" | "i0" | "iv" | "ix" => Content::Index,
                _ => chance.pick(&[Content::Integers, Content::Positive]),
            });
            let shape: Vec<usize> = known.shape.iter().map(|&length| lengths.of(length, chance)).collect();
            lengths.are_too_large |= shape.iter().product::<usize>() > MAX_ELEMENTS;
            let seed = chance.next() >> 40;
            Sample { seed, layout: chance.pick(Layout::ALL), content, shape }.to_string()
        }
    }
}

fn record(backend: &str, calls: &[(String, Outcome)]) -> Vec<u8> {
    let mut to = Writer(RECORD.to_vec());
    to.text(backend);
    for (text, outcome) in calls {
        to.text(text);
        match outcome {
            Outcome::Error(why) => {
                to.byte(0);
                to.text(why);
            }
            Outcome::Refused => to.byte(2),
            Outcome::Results(results) => {
                to.byte(1);
                to.length(results.len());
                results.iter().for_each(|values| to.values(values));
            }
        }
    }
    to.0
}

fn recorded(file: &[u8]) -> Option<(String, Vec<(String, Outcome)>)> {
    let mut from = Reader(file.strip_prefix(RECORD)?);
    let backend = from.text()?.to_owned();
    let mut calls = Vec::new();
    while !from.0.is_empty() {
        let text = from.text()?.to_owned();
        let outcome = match from.byte()? {
            0 => Outcome::Error(from.text()?.to_owned()),
            2 => Outcome::Refused,
            _ => {
                let n = from.length()?;
                Outcome::Results((0..n).map(|_| from.values()).collect::<Option<_>>()?)
            }
        };
        calls.push((text, outcome));
    }
    Some((backend, calls))
}

#[cfg(test)]
mod tests {
    use super::{super::Accuracy, *};
    use backend_runtime::{DefaultInfo, ElementInfo, ParamInfo, PlainInfo, ResultInfo};

    const ROW: Row = Row {
        name: "add",
        group: "elementwise",
        params: &[
            ParamInfo::new("x1", ParamKind::Operand(ElementInfo::T), None),
            ParamInfo::new("x2", ParamKind::Operand(ElementInfo::T), None),
            ParamInfo::new("axis", ParamKind::Axis, Some(DefaultInfo::Integer(0))),
            ParamInfo::new("keepdims", ParamKind::Plain(PlainInfo::Bool), Some(DefaultInfo::Bool(false))),
        ],
        result: ResultInfo::One(ElementInfo::T),
        signature: "",
        cases: &["m, row", "mat, 2", "[v, u], s, axis = -1"],
        accuracy: Accuracy::EXACT,
        any_zero: false,
        waits: 0,
        raises: &[],
        compared: &[],
        seed: None,
    };

    #[test]
    fn random_calls_are_cases_of_the_row_and_lengths_still_fit() {
        let shape = |arg: &Arg| match arg {
            Arg::Name(name) => Some(Sample::of(name)?.shape),
            _ => None,
        };
        let mut chance = Chance::new(3);
        let mut drawn = Vec::new();
        for _ in 0..1500 {
            let text = text(&ROW, &mut chance);
            let case = parse::args(&text).unwrap();
            assert_eq!(case.positional.len(), 2, "{text}");
            if let (Some(x1), Some(x2)) = (shape(&case.positional[0]), shape(&case.positional[1])) {
                if x1.len() == 2 && x2.len() == 1 {
                    assert_eq!(x1[1], x2[0], "m and row have one last length: {text}");
                }
                drawn.push(x1);
            }
        }
        let small = drawn.iter().filter(|shape| shape.iter().all(|&d| d < 9)).count();
        let large = drawn.iter().filter(|shape| shape.iter().any(|&d| d >= 40_000)).count();
        let empty = drawn.iter().filter(|shape| shape.contains(&0)).count();
        assert!(small > 20 && large > 2 && empty > 2, "{small} small, {large} large, {empty} empty");
        assert_eq!(texts(&ROW, "add.float32"), texts(&ROW, "add.float32"), "one seed gives one list of calls");
        assert_ne!(texts(&ROW, "add.float32"), texts(&ROW, "add.int32"));
    }

    #[test]
    fn square_samples_are_not_long_along_both_axes() {
        let row = Row { cases: &["sq, sq"], ..ROW };
        let mut chance = Chance::new(4);
        let mut longest = 0;
        for _ in 0..500 {
            let case = parse::args(&text(&row, &mut chance)).unwrap();
            let Arg::Name(name) = &case.positional[0] else { panic!("a sample") };
            let Some(sample) = Sample::of(name) else { continue };
            assert!(sample.shape.iter().product::<usize>() <= MAX_ELEMENTS, "{name}");
            longest = longest.max(sample.shape[0]);
        }
        assert!(longest > 4, "lengths change: {longest}");
    }

    #[test]
    fn records_are_read_back_and_differences_found() {
        let of = |x: f64| Values::of(&ndarray::arr1(&[x, 1.0]).into_dyn().into_shared());
        let results = |x: f64| Outcome::Results(vec![of(x)]);
        let calls: Vec<_> = [results(0.5), Outcome::Error("no".into()), Outcome::Refused, results(1.5)]
            .map(|outcome| ("m, n".to_owned(), outcome))
            .into();
        assert_eq!(recorded(&record("numpyish", &calls)).unwrap(), ("numpyish".into(), calls));
        assert_eq!(recorded(b"something else"), None);

        let differs = |got: &Outcome, expected: &Outcome, same| {
            compare(&ROW, DType::Float64, 2, got, expected, same, &Noise::default())
        };
        assert_eq!(differs(&results(0.5), &results(0.5), true), None);
        assert!(differs(&results(0.5), &results(0.5_f64.next_up()), true).is_some());
        assert_eq!(differs(&results(0.0), &results(-0.0), false), None, "backends may choose a zero's sign");
        assert!(differs(&results(0.0), &results(-0.0), true).is_some());
        assert!(differs(&results(0.5), &Outcome::Error("no".into()), false).is_some());
        assert!(differs(&Outcome::Error("it panicked: x".into()), &Outcome::Error("no".into()), false).is_some());
    }
}
