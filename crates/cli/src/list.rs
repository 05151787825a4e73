//! The commands `devices` and `ops`, which list devices and ops.

use backends::{libraries, prelude::*, search};
use std::fmt::Write;

/// The devices with their properties, and each library that cannot be used, with the reason.
pub fn devices() -> String {
    let mut out = String::new();
    for b in backends::devices() {
        let _ = match b.device_info() {
            Ok(info) => writeln!(out, "{info}"),
            Err(why) => writeln!(out, "{} of {}: {why}", b.device(), b.name()),
        };
        if let Ok(memory) = b.memory() {
            let _ = writeln!(out, "    {memory}");
        }
    }
    for (library, found) in libraries() {
        if let Err(why) = found {
            let _ = writeln!(out, "{library}: {why}");
        }
    }
    out
}

/// Returns one line for each op that matches the words, or for every op if there are no words.
pub fn ops(words: &str) -> String {
    let found = search(words);
    if found.is_empty() {
        return format!("no op has `{words}` in its names or its summary");
    }
    let width = found.iter().map(|op| op.name.len()).max().unwrap_or_default();
    found.iter().fold(String::new(), |mut out, op| {
        let _ = writeln!(out, "{:width$}  {}", op.name, op.summary);
        out
    })
}
