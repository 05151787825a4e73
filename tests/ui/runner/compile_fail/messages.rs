//! Messages of the compiler without the parts that depend on the machine, or on unrelated changes of the library.

use std::collections::HashSet;

/// The folder of the programs, as the compiler writes it.
const FOLDER: &str = "tests/ui/";

/// The beginnings of lines that are left out.
const LEFT_OUT: [&str; 7] = [
    // counts of errors
    "error: aborting due to",
    "Some errors have detailed explanations",
    "For more information about",
    // types that are too long for a message
    "= note: the full name for the type has been written to",
    "= note: consider using `--verbose` to print the full type name",
    // these two appear only if cargo compiles the library with the feature `ndarray-016` of another package's tests
    "= note: there are multiple different versions of crate `ndarray`",
    "= help: you can use `cargo tree` to explore your dependency tree",
];

/// The messages, each only once, as cargo shows them. The path of a program is its file name, and other paths begin with
/// `$WORKSPACE`, `$RUST` or `$CARGO`. Only lines of programs keep their numbers.
pub fn normalized(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let is_kept = |line: &&str| !LEFT_OUT.iter().any(|begin| line.trim_start().starts_with(begin));
    let mut seen = HashSet::new();
    let messages: Vec<String> = text
        .split("\n\n")
        .map(|message| one(message.lines().filter(is_kept)))
        .filter(|message| !message.is_empty() && seen.insert(message.clone()))
        .collect();
    messages.join("\n")
}

/// One message. Its margin becomes as narrow as the program's line numbers allow, because the compiler makes the margin
/// as wide as the largest line number of any file.
fn one<'a>(message: impl Iterator<Item = &'a str>) -> String {
    let mut lines = Vec::new();
    // the width of the margin
    let (mut before, mut after) = (0, 1);
    let mut is_elsewhere = false;
    for line in message {
        let (margin, rest) = line.split_at(line.find(|c: char| c != ' ' && !c.is_ascii_digit()).unwrap_or(line.len()));
        if let Some(place) = rest.strip_prefix("--> ").or(rest.strip_prefix("::: ")) {
            before = margin.len();
            let place = place.replace('\\', "/");
            let own = place.strip_prefix(FOLDER);
            is_elsewhere = own.is_none();
            lines.push(format!("{margin}{}{}", &rest[..4], own.map_or_else(|| elsewhere(&place), str::to_owned)));
            continue;
        }
        let number = margin.trim();
        is_elsewhere &= !number.is_empty() || rest.starts_with(['|', '.']);
        if is_elsewhere {
            lines.push(" ".repeat(margin.len()) + rest);
        } else {
            after = after.max(number.len());
            lines.push(line.to_owned());
        }
    }
    lines.iter().map(|line| with_margin(line, before, after.min(before)).trim_end().to_owned() + "\n").collect()
}

/// The path of a file that is not one of the programs, without the line number and the part that depends on the
/// machine.
fn elsewhere(place: &str) -> String {
    let path = place.trim_end_matches(|c: char| c == ':' || c.is_ascii_digit());
    if let Some((_, path)) = path.split_once("/library/") {
        format!("$RUST/{path}")
    } else if let Some((_, path)) = path.split_once("/registry/src/") {
        format!("$CARGO/{path}")
    } else {
        format!("$WORKSPACE/{path}")
    }
}

/// The line with a margin of another width. Headings, and lines that continue them, have no margin and stay.
fn with_margin(line: &str, before: usize, after: usize) -> String {
    if let Some(rest) = line.strip_prefix("...").filter(|rest| rest.starts_with(' ')) {
        return format!("...{}{}", " ".repeat(after), rest.trim_start());
    }
    let Some((margin, rest)) = line.split_at_checked(before) else { return line.to_owned() };
    let begins = ["-->", ":::", " |", " =", " +", " -", " ~", "          "];
    if margin.bytes().all(|byte| byte == b' ' || byte.is_ascii_digit()) && begins.iter().any(|b| rest.starts_with(b)) {
        format!("{:>after$}{rest}", margin.trim())
    } else {
        line.to_owned()
    }
}
