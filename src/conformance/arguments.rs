//! A test of every op (row of the op table): with any arguments, and with or without enough memory, a call must not
//! panic. It must return a result or an error that names the op, in a time bounded by the sizes of the arguments.

use super::{
    Row, Suite,
    case::DTypes,
    extreme::{GIANTS, LARGES},
    parse,
    random::Chance,
    refusing, settings,
    watchdog::Watchdog,
};
use backend_runtime::{Arrays, DType, Earlier, ElementInfo, Error, ParamInfo, ParamKind, PlainInfo};

/// Number of random calls of each op in its first dtype. The environment variable `BACKENDS_CALLS` overrides it.
const CALLS: usize = 150;

/// In each further dtype of an op, the number of calls is divided by this number.
pub(super) const FURTHER: usize = 10;

/// The test makes additional calls during which allocations fail: one for every `REFUSED` usual calls in a dtype. Only
/// test binaries whose allocator can refuse memory make these additional calls.
const REFUSED: usize = 4;

/// Number of random calls of each op in its first dtype: `BACKENDS_CALLS` or [`CALLS`].
pub(super) fn calls() -> usize {
    std::env::var("BACKENDS_CALLS").ok().and_then(|n| n.parse().ok()).unwrap_or(CALLS)
}

/// The random generator for the calls of an op in one dtype.
pub(super) fn chance(row: &Row, dtype: DType) -> Chance {
    let seed = |seed: u64, byte: u8| seed.wrapping_mul(31).wrapping_add(byte.into());
    Chance::new(row.name.bytes().chain(dtype.name().bytes()).fold(1 + settings::seed(), seed))
}

impl<B: Arrays> Suite<B> {
    /// Calls an op with random arguments: shapes that fit each other or do not, axes and indices in and out of range,
    /// numbers at the limits of their types, empty arrays with axes of any length, and sizes beyond any memory. The
    /// arguments are the same in every run, except under `cargo xtask fuzz`.
    ///
    /// # Panics
    /// If the op panics, or if an error does not name the op. A call that does not return ends the process.
    pub fn answers(&self, row: &Row, dtypes: &[DType], to: Option<DType>) {
        let _alone = row.alone();
        self.each(|b| self.answers_on(b, row, dtypes, to));
    }

    fn answers_on(&self, b: &B, row: &Row, dtypes: &[DType], to: Option<DType>) {
        let watchdog = Watchdog::new();
        let mut calls = calls();
        let further = calls / FURTHER;
        for &dtype in dtypes {
            let mut chance = chance(row, dtype);
            let anything = anything(dtype);
            for _ in 0..calls {
                self.answer(
                    b,
                    row,
                    DTypes { of: dtype, to },
                    &anything.arguments(row.params, &mut chance),
                    false,
                    &watchdog,
                );
            }
            let refused = if refusing::is_installed() { calls / REFUSED } else { 0 };
            for _ in 0..refused {
                self.answer(
                    b,
                    row,
                    DTypes { of: dtype, to },
                    &LARGE.arguments(row.params, &mut chance),
                    true,
                    &watchdog,
                );
            }
            calls = further;
        }
    }

    /// Makes one call with the arguments that `text` describes, and checks the outcome. If `refused` is true, memory is
    /// refused during the call.
    fn answer(&self, b: &B, row: &Row, dtypes: DTypes, text: &str, refused: bool, watchdog: &Watchdog) {
        let without = if refused { " without memory" } else { "" };
        let of = format!("{} on {}, {dtypes}, called{without} with `{text}`", row.name, B::NAME);
        let called = || self.call(b, row, dtypes, text);
        let called = watchdog.over(&of, || if refused { refusing::refused(called) } else { called() });
        match called.map(|called| called.results) {
            Ok(Ok(_)) => {}
            Ok(Err(Error::Unsupported { .. })) if self.is_partial() => {}
            // copying to or from the backend may need too much memory: a broadcast view of few elements can have any
            // size
            Ok(Err(Error::Memory { op: "from_ndarray" | "to_ndarray", .. })) => {}
            // an index error that is reported only when the host waits for the device names an inner op of a composed
            // op
            Ok(Err(Error::Index { earlier: Earlier(true), .. })) => {}
            Ok(Err(why)) => {
                assert_eq!(why.op(), Some(row.name), "{of}: the error names another op: {why}");
                assert!(!matches!(why, Error::Unsupported { .. }), "{of}: {why}");
            }
            Err(panic) => panic!("{of}: {panic}"),
        }
    }
}

/// The texts from which random arguments are drawn, for each kind of parameter.
pub(super) struct Draw {
    arrays: &'static [&'static [&'static str]],
    indices: &'static [&'static str],
    axes: &'static [&'static str],
    /// The lengths for parameters that are lists of lengths, and the maximum number of items of such a list.
    lengths: (&'static [&'static str], usize),
    counts: &'static [&'static str],
    signed: &'static [&'static str],
    slices: &'static [&'static str],
    numbers: &'static [&'static str],
    scalars: &'static [&'static str],
}

/// Lengths for random arguments. They are either small or beyond any memory: arrays of lengths in between would really
/// be allocated.
const LENGTHS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "281474976710656",
    "1152921504606846976",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
];

/// Values of text parameters: valid and invalid subscripts for `einsum`.
const TEXTS: &[&str] = &[
    "ij->ji",
    "...",
    "i",
    "ij",
    "...i->i...",
    "i,i",
    "i,j",
    "ij,jk",
    "ij,jk->ki",
    "...i,...i->...",
    "ij,ij,ij->ij",
    "i,j,k->kji",
    "ii",
    "ij->ii",
    "ij->k",
    "i...j...",
    "...i->i",
    "",
    ",",
    "->",
    "i?",
];

/// Random arguments of all kinds, whose shapes need not fit each other.
const ANYTHING: Draw = Draw {
    arrays: &[
        &["m", "n", "v", "u", "row", "col", "t", "mat", "tmat", "s", "e", "mt", "mstep", "mrev", "w", "dup", "sorted"],
        GIANTS,
    ],
    indices: &["i", "ii", "i0", "iv", "ix", "giant0", "giant1"],
    axes: &["0", "1", "2", "-1", "-2", "-3", "5", "-9", "128", "-129", "9223372036854775807", "-9223372036854775808"],
    lengths: (LENGTHS, 4),
    counts: LENGTHS,
    signed: &[
        "-1",
        "0",
        "1",
        "2",
        "3",
        "4",
        "6",
        "-5",
        "281474976710656",
        "-4611686018427387904",
        "9223372036854775806",
        "9223372036854775807",
        "-9223372036854775807",
        "-9223372036854775808",
    ],
    slices: &[
        ":",
        "1:3",
        "::-1",
        "0",
        "-1",
        "5",
        "2:0",
        "::2",
        "-100:100",
        "1:1",
        "::0",
        "9223372036854775807",
        "-9223372036854775808",
        "1:9223372036854775807",
        "-9223372036854775808:-9223372036854775808",
        "9223372036854775807:-9223372036854775808:-1",
        "::9223372036854775807",
        "::-9223372036854775808",
    ],
    numbers: &["0", "-0.0", "1", "-1", "0.5", "3", "5e-324", "1e-9", "1e300", "-1e300", "NaN", "inf", "-inf"],
    scalars: &["0", "1", "2", "5", "-3", "4611686018427387904", "9223372036854775807", "-9223372036854775808"],
};

/// Random arguments of all kinds for an op in this dtype. For uint32 the scalars are replaced by smaller ones, because
/// an op may use a scalar as a length and allocate an array of that length.
pub(super) fn anything(dtype: DType) -> Draw {
    if dtype == DType::UInt32 { Draw { scalars: LARGE.scalars, ..ANYTHING } } else { ANYTHING }
}

/// Arguments that mostly fit each other. Their arrays are large enough that ops must allocate memory, but small enough
/// for quick calls in libraries whose allocations are not refused.
const LARGE: Draw = Draw {
    arrays: &[LARGES],
    indices: &["large1", "large2", "i"],
    axes: &["0", "1", "-1"],
    lengths: (&["0", "2", "20", "21"], 2),
    counts: &["0", "3", "90", "997"],
    signed: &["-1", "1", "90", "91", "8190", "8209"],
    slices: &[":", "1:3", "::-1", "::2", "4"],
    numbers: &["0", "1", "0.5", "1e-3"],
    scalars: &["0", "1", "3", "8209"],
};

/// Returns a random argument for a parameter of this type. The argument is often invalid.
pub(super) fn value(kind: ParamKind, chance: &mut Chance) -> String {
    ANYTHING.value(kind, chance)
}

/// Returns the cases (test calls) of an op, with all arrays replaced by 0-dimensional arrays. A library may determine
/// the dtype of a result by other rules if an array has no axes.
pub(super) fn without_axes(row: &Row) -> Vec<String> {
    let is_array = |i: usize| {
        let kind = row.params.get(i).map(|param| param.kind);
        matches!(kind, Some(ParamKind::Array(e) | ParamKind::Operand(e) | ParamKind::Target(e)) if e != ElementInfo::Int64)
    };
    let is_name = |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic()) && !part.contains('=');
    let of_case = |case: &&str| {
        let parts = parse::split(case).expect("a case of the row");
        let parts = parts.iter().enumerate().map(|(i, part)| if is_array(i) && is_name(part) { "s" } else { part });
        parts.collect::<Vec<_>>().join(", ")
    };
    let mut calls: Vec<String> = row.cases.iter().map(of_case).collect();
    calls.dedup();
    calls
}

impl Draw {
    /// Returns random arguments for an op with these parameters, in the text format of the test cases.
    pub fn arguments(&self, params: &[ParamInfo], chance: &mut Chance) -> String {
        let mut parts = Vec::new();
        for param in params {
            let value = self.value(param.kind, chance);
            match param.default {
                None => parts.push(value),
                Some(_) if chance.below(3) == 0 => {}
                Some(_) => parts.push(format!("{} = {value}", param.name)),
            }
        }
        parts.join(", ")
    }

    fn value(&self, kind: ParamKind, chance: &mut Chance) -> String {
        let array = |chance: &mut Chance| {
            // two times in three, the name is drawn from the first list of names only
            let last = if chance.below(3) == 0 { self.arrays.len() } else { 1 };
            let list = chance.below(last);
            chance.pick(self.arrays[list])
        };
        let list = |of: &[&str], most: usize, chance: &mut Chance| {
            let items: Vec<&str> = (0..chance.below(most + 1)).map(|_| chance.pick(of)).collect();
            format!("[{}]", items.join(", "))
        };
        match kind {
            ParamKind::Array(ElementInfo::Int64) => chance.pick(self.indices).into(),
            ParamKind::LowerBound(_) | ParamKind::UpperBound(_) if chance.below(4) == 0 => "all".into(),
            ParamKind::Operand(ElementInfo::T)
            | ParamKind::LowerBound(ElementInfo::T)
            | ParamKind::UpperBound(ElementInfo::T)
                if chance.below(4) == 0 =>
            {
                chance.pick(self.scalars).into()
            }
            ParamKind::Arrays(_) => {
                let items: Vec<&str> = (0..chance.below(4)).map(|_| array(chance)).collect();
                format!("[{}]", items.join(", "))
            }
            ParamKind::Array(_) | ParamKind::Operand(_) | ParamKind::LowerBound(_) | ParamKind::UpperBound(_) => {
                array(chance).into()
            }
            ParamKind::Target(_) | ParamKind::Host | ParamKind::Bytes => array(chance).into(),
            ParamKind::Axes if chance.below(4) == 0 => "all".into(),
            ParamKind::Axes if chance.below(2) == 0 => list(self.axes, 3, chance),
            ParamKind::AxisOrAll if chance.below(4) == 0 => "all".into(),
            ParamKind::Axes | ParamKind::Axis | ParamKind::AxisOrAll => chance.pick(self.axes).into(),
            ParamKind::Shape | ParamKind::Lengths => list(self.lengths.0, self.lengths.1, chance),
            ParamKind::Widths if chance.below(2) == 0 => {
                let pair =
                    |chance: &mut Chance| format!("[{}, {}]", chance.pick(self.lengths.0), chance.pick(self.lengths.0));
                let pairs: Vec<String> = (0..chance.below(4)).map(|_| pair(chance)).collect();
                format!("[{}]", pairs.join(", "))
            }
            ParamKind::Widths => list(self.lengths.0, self.lengths.1, chance),
            ParamKind::Number if chance.below(2) == 0 => chance.pick(self.scalars).into(),
            ParamKind::Number => chance.pick(self.numbers).into(),
            ParamKind::Signed => list(self.signed, 3, chance),
            ParamKind::Slices => {
                let slices: Vec<&str> = (0..chance.below(4)).map(|_| chance.pick(self.slices)).collect();
                format!("'{}'", slices.join(", "))
            }
            ParamKind::Index => {
                let item = |chance: &mut Chance| match chance.below(8) {
                    0 => "NewAxis",
                    1 => "...",
                    2 => chance.pick(self.indices),
                    3 => array(chance),
                    _ => chance.pick(self.slices),
                };
                let items: Vec<&str> = (0..chance.below(5)).map(|_| item(chance)).collect();
                format!("'{}'", items.join(", "))
            }
            ParamKind::Text => format!("'{}'", chance.pick(TEXTS)),
            ParamKind::Scalar => chance.pick(self.scalars).into(),
            ParamKind::Plain(plain) | ParamKind::Maybe(plain) => match plain {
                PlainInfo::F64 => chance.pick(self.numbers).into(),
                PlainInfo::Usize | PlainInfo::U64 => chance.pick(self.counts).into(),
                PlainInfo::Isize | PlainInfo::I64 => chance.pick(self.signed).into(),
                PlainInfo::Bool => chance.pick(&["true", "false"]).into(),
                other => panic!("no arguments are known for a parameter of type {other:?}"),
            },
            ParamKind::Choice(names) => chance.pick(names).into(),
            other => panic!("no arguments are known for a parameter of type {other:?}"),
        }
    }
}
