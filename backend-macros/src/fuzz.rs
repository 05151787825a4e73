//! Tests the macro with tables whose bytes, tokens or structure are randomly damaged. For every table, the macro must
//! end within the time limit, on a stack no larger than rustc's, and return Rust code or errors with a position in the
//! table.
//!
//! `FUZZ_SECONDS=600 FUZZ_SEED=7 cargo test -p backends-macros fuzz` tries more tables, generated from another seed.

use super::*;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    time::{Duration, Instant},
};

pub(crate) const BASE: &str = include_str!("../../ops.toml");
const USER: &str = include_str!("../../examples/demo-ops/my_ops.toml");
const OVERLAY: &str = include_str!("../../examples/demo-ops/naive.toml");

/// Rows of the base table: the rows to which the two other tables refer, and rows with various mappings and parameters.
/// The list is short, so that many tables can be tried.
const ROWS: [&str; 28] = [
    "reshape",
    "flatten",
    "less",
    "ones_like",
    "full_like",
    "asarray",
    "full",
    "sum",
    "matmul",
    "transpose",
    "expand_dims",
    "squeeze",
    "quantile",
    "median",
    "mean",
    "square",
    "sqrt",
    "multiply",
    "subtract",
    "add",
    "divide",
    "erf",
    "where",
    "less_equal",
    "sigmoid",
    "clip",
    "argmax",
    "fftn",
];

/// Stack size in bytes. It is smaller than rustc's 8 MiB, because the compiler itself has already used some of them.
const STACK: usize = 4 << 20;

/// Time limit of one expansion. An expansion usually takes a few milliseconds, and much longer on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Returns a shorter table: the sections before the first row, and the rows in `names`. References to other rows are
/// removed from these sections.
pub(crate) fn slice(table: &str, names: &[&str]) -> String {
    let mut rows = table.split("\n[op.");
    let without_op = |line: &str| match line.split_once(", op = \"").and_then(|(a, b)| Some((a, b.split_once('"')?))) {
        Some((before, (op, after))) if !names.contains(&op) => format!("{before}{after}\n"),
        _ => format!("{line}\n"),
    };
    let head = rows.next().and_then(|head| head.split("[related]").next()).unwrap_or("");
    let head = format!("{}[related]\nrows = {names:?}\n", head.lines().map(without_op).collect::<String>());
    let wanted = rows.filter(|row| names.iter().any(|name| row.starts_with(&format!("{name}]"))));
    wanted.fold(head, |table, row| table + "\n[op." + row)
}

/// The role of a table in the test.
#[derive(Clone, Copy, Debug)]
enum As {
    Base,
    User,
    Overlay,
}

/// Expands a table in the given role. Returns the expansion, parsed as Rust, and the errors in it.
fn expand(table: &str, role: As, base: &str) -> Result<(syn::File, Vec<String>), String> {
    let source = SourceFile { name: "t.toml".into(), text: table.into() };
    let input: Input = match role {
        As::Base => syn::parse_quote!(root = crate, table = "t.toml"),
        As::User => syn::parse_quote!(root = backends, base = #base, table = "t.toml", trait = Ops),
        As::Overlay => syn::parse_quote!(root = backends, base = #base, overlay = "t.toml", partial = true),
    };
    let tokens = expand_source(&input, &source, "t.toml").unwrap_or_else(|errors| errors);
    let file = syn::parse2::<syn::File>(tokens).map_err(|why| format!("the expansion is not Rust: {why}"))?;
    let error = |item: &syn::Item| match item {
        syn::Item::Macro(call) if call.mac.path.segments.last()?.ident == "compile_error" => {
            Some(syn::parse2::<syn::LitStr>(call.mac.tokens.clone()).ok()?.value())
        }
        _ => None,
    };
    let errors = file.items.iter().filter_map(error).collect();
    Ok((file, errors))
}

/// Returns whether a table has no mistakes. Fails if the expansion is not valid Rust, or contains an error without a
/// position in the table.
fn try_table(table: &str, role: As, base: &str) -> Result<bool, String> {
    let (_, errors) = catch_unwind(AssertUnwindSafe(|| expand(table, role, base)))
        .unwrap_or_else(|_| Err("the macro panics".into()))?;
    match errors.iter().find(|e| !e.starts_with("t.toml:") && !e.ends_with("more mistakes in this table")) {
        Some(lost) => Err(format!("an error without a place: {lost}")),
        None => Ok(errors.is_empty()),
    }
}

/// Expands tables on a small stack, each within the time limit. Returns the number of correct tables and the number of
/// incorrect tables.
fn run(mut next: impl FnMut() -> Option<(String, As)> + Send + 'static, base: String) -> (usize, usize) {
    let (send, seen) = mpsc::channel::<Result<(String, As), (usize, usize)>>();
    let work = move || {
        let (mut good, mut bad) = (0, 0);
        while let Some((table, role)) = next() {
            let _ = send.send(Ok((table.clone(), role)));
            match try_table(&table, role, &base) {
                Ok(true) => good += 1,
                Ok(false) => bad += 1,
                Err(why) => panic!("{why}; as {role:?} the table\n{table}"),
            }
        }
        let _ = send.send(Err((good, bad)));
    };
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap();
    let mut last = None;
    loop {
        match seen.recv_timeout(TIME_LIMIT) {
            Ok(Ok(table)) => last = Some(table),
            Ok(Err(counts)) => return counts,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("no end within {TIME_LIMIT:?}: {last:?}"),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                std::panic::resume_unwind(worker.join().expect_err("the channel is closed at the end only"));
            }
        }
    }
}

/// The random number generator SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn of<'t, T: ?Sized>(&mut self, items: &[&'t T]) -> &'t T {
        items[self.below(items.len())]
    }
}

/// Replacements for tokens: words that occur in tables, and words that are likely to cause errors.
const TOKENS: [&str; 74] = [
    "x",
    "x1",
    "self",
    "Self",
    "crate",
    "_",
    "",
    "é",
    "\u{202e}",
    "double",
    "where",
    "type",
    "b",
    "options",
    "new",
    "array",
    "operand",
    "array<real>",
    "arrays",
    "axes",
    "axis",
    "shape",
    "scalar",
    "host",
    "bytes",
    "f64",
    "usize",
    "isize?",
    "norm",
    "T",
    "U",
    "real",
    "complex",
    "any",
    "numeric",
    "float",
    "integer",
    "each",
    "call",
    "compose",
    "generic",
    "aten",
    "via",
    "torch",
    "naive",
    "1e400",
    "inf",
    "nan",
    "-0",
    "9007199254740993",
    "18446744073709551616",
    "-1.5",
    "0x1F",
    "true",
    "none",
    "all",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "\"\"\"",
    "=",
    ".",
    ",",
    "#",
    "if x { x } else { x }",
    "x.exp()",
    "zero_(x)",
    "\\u0000",
    "\u{0}",
];

fn damage(text: &str, random: &mut Random) -> String {
    let mut text = text.to_string();
    for _ in 0..=random.below(4) {
        text = match random.below(3) {
            0 => damage_bytes(&text, random),
            1 => damage_token(&text, random),
            _ => damage_lines(&text, random),
        };
    }
    text
}

fn damage_bytes(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = random.below(bytes.len());
    match random.below(4) {
        _ if bytes.is_empty() => {}
        0 => bytes[at] ^= 1 << random.below(8),
        1 => _ = bytes.remove(at),
        2 => bytes.insert(at, random.next() as u8),
        _ => bytes.truncate(at),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte offsets at which tokens begin, followed by the end of the text.
fn tokens(text: &str) -> Vec<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut before = ' ';
    let mut starts: Vec<usize> = Vec::new();
    for (at, c) in text.char_indices() {
        if !(word(c) && word(before)) {
            starts.push(at);
        }
        before = c;
    }
    starts.push(text.len());
    starts
}

fn damage_token(text: &str, random: &mut Random) -> String {
    let starts = tokens(text);
    let token = |random: &mut Random| {
        let at = random.below(starts.len().saturating_sub(1));
        starts[at]..starts.get(at + 1).copied().unwrap_or(text.len())
    };
    let at = token(random);
    let nested = ["(", "-", "!", "[", "x + ", "x.abs().", "add(", "{", "if x {"][random.below(9)];
    let with = match random.below(8) {
        0 => String::new(),
        1 => nested.repeat(1 << random.below(15)),
        2 | 3 => text[token(random)].to_string(),
        4 => text[at.clone()].repeat(2),
        _ => random.of(&TOKENS).to_string(),
    };
    format!("{}{with}{}", &text[..at.start], &text[at.end..])
}

fn damage_lines(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let (i, j) = (random.below(lines.len()), random.below(lines.len()));
    if lines.is_empty() {
        return String::new();
    }
    match random.below(6) {
        0 => _ = lines.remove(i),
        1 => lines.insert(i, lines[j].clone()),
        2 => lines.swap(i, j),
        3 => {
            // replaces the value of one key by the value of another key
            let value = lines[j].split_once('=').map_or("", |(_, value)| value).to_string();
            let key = lines[i].split_once('=').map_or(lines[i].as_str(), |(key, _)| key).to_string();
            lines[i] = format!("{key}={value}");
        }
        4 => {
            let wrapped = ["[", "]", "{ real = ", "}", "[[", "]]", "\"", "\"", "'''", "'''"];
            let k = 2 * random.below(wrapped.len() / 2);
            if let Some((key, value)) = lines[i].clone().split_once('=') {
                lines[i] = format!("{key}= {}{value}{}", wrapped[k], wrapped[k + 1]);
            }
        }
        _ => {
            let of = random.below(1 << 12);
            lines[i] = lines[i].repeat(1 + of / lines[i].len().max(1));
        }
    }
    lines.join("\n")
}

#[test]
fn damaged_tables_end_in_rust_or_in_errors_with_a_place() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let (seconds, mut random) = (number("FUZZ_SECONDS"), Random(number("FUZZ_SEED").unwrap_or(1)));
    let base = slice(BASE, &ROWS);
    let tables = [(USER.to_string(), As::User), (base.clone(), As::Base), (OVERLAY.to_string(), As::Overlay)];
    for (table, role) in &tables {
        assert_eq!(try_table(table, *role, &base), Ok(true), "{role:?}");
    }
    let start = Instant::now();
    let mut rounds = 0;
    let next = move || {
        rounds += 1;
        let more = match seconds {
            Some(seconds) => rounds <= 100 || start.elapsed() < Duration::from_secs(seconds),
            None => rounds <= 300,
        };
        // three of five tables are tables of users
        let (table, role) = &tables[[0, 0, 0, 1, 2][rounds % 5]];
        more.then(|| (damage(table, &mut random), *role))
    };
    let (good, bad) = run(next, base);
    println!("{good} tables expanded, {bad} were refused");
    assert!(good > 0 && bad > 0, "the mutations are of one kind: {good} good, {bad} bad");
}

/// A valid user table with one row, in which the text `from` is replaced by `to`.
fn row_with(from: &str, to: &str) -> String {
    let row = "[op.mine]\nsummary = \"s\"\nparams = [\"x: array\", \"p: f64 = 1\"]\ndtypes = \"real\"\n\
               each = \"x * p\"\ntorch = { compose = \"multiply(x, 2.0)\" }\n";
    assert_eq!(row.matches(from).count(), 1, "{from}");
    row.replace(from, to)
}

/// Expands a user's table on a small stack within the time limit, and returns the errors.
fn errors(table: String) -> Vec<String> {
    let base = slice(BASE, &["multiply", "sqrt"]);
    let (send, result) = mpsc::channel();
    let work = move || send.send(expand(&table, As::User, &base).map(|(_, errors)| errors));
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap();
    let result = result.recv_timeout(TIME_LIMIT).expect("an answer in time");
    _ = worker.join();
    result.unwrap()
}

#[test]
fn what_is_nested_too_deep_is_one_error_at_the_row() {
    let deep = |open: &str, close: &str, n: usize| format!("{}x{}", open.repeat(n), close.repeat(n));
    let each = |text: String| ("x * p", text);
    let compose = |text: String| ("multiply(x, 2.0)", text);
    let key = |text: &str| ("summary = \"s\"", format!("summary = \"s\"\n{text}"));
    let message = "operators and brackets within each other";
    for ((from, to), message) in [
        (each(deep("(", ")", 800)), message),
        (each(deep("-", "", 10_000)), message),
        (each(deep("x + ", "", 10_000)), message),
        (each("if x < p { x } else ".repeat(2000) + "{ x }"), message),
        (each(deep("", ".abs()", 5000)), message),
        (compose(deep("sqrt(", ")", 800)), message),
        (compose(deep("{", "}", 800)), message),
        (compose(deep("[", "]", 800)), message),
        (key(&format!("alias = {}{}", "[".repeat(5000), "]".repeat(5000))), "recursion"),
        (("summary = \"s\"", format!("alias{} = 1", ".a".repeat(5000))), "recursion limit"),
    ] {
        let said = errors(row_with(from, &to));
        let shown: String = to.chars().take(60).collect();
        assert!(said.len() == 1 && said[0].contains(message) && said[0].starts_with("t.toml:"), "{shown}: {said:#?}");
    }
}

#[test]
fn what_a_row_says_twice_is_read_once() {
    // each variable is the product of the previous variable with itself, and each set of dtypes contains the previous
    // set twice
    let variables: String = (1..60).map(|i| format!("let a{i} = multiply(a{0}, a{0}); ", i - 1)).collect();
    let expression = format!("{{ let a0 = multiply(x, 2.0); {variables}a59 }}");
    assert_eq!(errors(row_with("multiply(x, 2.0)", &expression)), [""; 0]);
    let sets = (1..200).map(|i| format!("s{i} = {{ bound = \"Real\", of = [\"s{0}\", \"s{0}\"] }}\n", i - 1));
    let sets =
        format!("[dtypes]\ns0 = {{ bound = \"Real\", of = [\"float32\"] }}\n{}[op.mine]", sets.collect::<String>());
    assert_eq!(errors(row_with("[op.mine]", &sets).replace("\"real\"", "\"s199\"")), [""; 0]);
}

#[test]
fn names_that_other_languages_keep_are_names() {
    for name in ["double", "register", "op_exp", "template", "fn", "typename", "half", "x1", "p0", "k_row"] {
        let table = row_with("x: array", &format!("{name}: array")).replace("x * p", &format!("{name} * p"));
        let table = table.replace("multiply(x", &format!("multiply({name}"));
        let said = errors(table);
        // a keyword of Rust is not allowed as a name in an expression
        assert_eq!(said.is_empty(), name != "fn", "{name}: {said:?}");
    }
    let table = row_with("x: array", "double: array").replace("x * p", "double * p");
    let table = table.replace("multiply(x", "multiply(double");
    let (file, said) = expand(&table, As::User, &slice(BASE, &ROWS)).unwrap();
    assert_eq!(said, [""; 0]);
    let text = prettyplease::unparse(&file);
    assert!(
        text.contains("\"op_times(Widened<T>(x0), op_of<Widened<T>>(p0))\"") && !text.contains("op_times(double"),
        "{text}"
    );
}

#[test]
fn paths_of_functions_end_in_a_name() {
    let base = slice(BASE, &ROWS);
    let with = |path: &str| expand(&USER.replace("crate::kernels::between", path), As::User, &base).unwrap().1;
    assert_eq!(with("crate::kernels::r"), [""; 0]);
    for path in ["crate", "self", "super::between", "Self", "kernels::crate", "crate::crate", "kernels::self"] {
        let said = with(path);
        assert!(said.len() == 1 && said[0].contains("is not a path such as"), "{path}: {said:?}");
    }
}

#[test]
fn several_operations_on_16_bit_floats_are_rounded_once() {
    let is_wide = |dtypes: &str, each: &str| {
        let table = row_with("\"real\"", &format!("\"{dtypes}\"")).replace("x * p", each);
        let (file, said) = expand(&table, As::User, &slice(BASE, &ROWS)).unwrap();
        assert_eq!(said, [""; 0], "{each}");
        let text = prettyplease::unparse(&file);
        assert_eq!(text.contains("Real::narrowed"), text.contains("Widened<T>"), "Rust and C++ agree: {each}");
        text.contains("Real::narrowed")
    };
    for each in ["x * x + x", "x * p", "x * 0.1", "(x + 1.0).exp()"] {
        assert!(is_wide("real", each), "{each}");
    }
    for each in ["x", "x * x", "x * 2", "x.exp()", "if x < 0.5 { x } else { -x }", "x.nextafter(x + 1) * x"] {
        assert!(!is_wide("real", each), "{each}");
    }
    for dtypes in ["float", "precision"] {
        assert!(!is_wide(dtypes, "x * x + x"), "{dtypes}");
    }
}

#[test]
fn numbers_are_exact_or_refused() {
    let of = |dtypes: &str, each: &str| {
        let table = row_with("\"real\"", &format!("\"{dtypes}\"")).replace("x * p", each);
        let table = table.replace(", \"p: f64 = 1\"", "").replace("multiply(x, 2.0)", "multiply(x, x)");
        let (file, said) = expand(&table, As::User, &slice(BASE, &ROWS)).unwrap();
        if said.is_empty() { Ok(prettyplease::unparse(&file)) } else { Err(said.concat()) }
    };
    // an integer dtype represents the number exactly, and a float dtype rounds it to the nearest value
    let said = of("precision", "x + 9007199254740993").unwrap();
    assert!(said.contains("from_i64(9007199254740993i64)"), "{said}");
    assert!(said.contains("\"op_plus(x0, cast<T>(9007199254740993LL))\""), "{said}");
    assert!(of("precision", "x + 18446744073709551615").unwrap().contains("cast<T>(18446744073709551615ULL)"));
    assert!(of("precision", "x + -9223372036854775808").unwrap().contains("cast<T>(-9223372036854775807LL - 1)"));
    assert!(of("integer", "x + 127").is_ok());
    for (each, message) in [
        ("x + 128", "`128` is not in int8"),
        ("x - -1", "`-1` is not in uint8"),
        ("x * 0.5", "`0.5` is not a number of int8"),
        ("x * 2.0", "`2.0` is not a number of int8"),
    ] {
        let said = of("integer", each).unwrap_err();
        assert!(said.contains(message), "{each}: {said}");
    }
}
