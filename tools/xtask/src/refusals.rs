//! Checks the texts of errors. A text must be one sentence that states the wrong value and the requirement.

use crate::tidy::files;

/// Folders whose code makes errors of ops. The crates of the solvers and of the ranks are not in the list, because
/// their errors have another style.
const FOLDERS: [&str; 4] = ["backend-runtime/", "src/", "examples/epr/src/", "crates/sharded/src/"];

/// Phrases that error texts must not contain. Most of them state a requirement as if it were a fact, as in "p is 1.5;
/// it is between 0 and 1".
const CONTRADICTIONS: [&str; 12] = [
    "; it is",
    "; it has",
    "; it lies",
    "; it must",
    "; both ",
    "; neither",
    "has to be",
    "has to lie",
    "has not ",
    ", and not ",
    "is not that of",
    "is that of no",
];

/// Allowed first words of the text of an `Error::Shape`. The text follows "shape [2, 3] ".
const VERBS: [&str; 9] = ["must ", "has ", "of ", "needs ", "does ", "cannot ", "gives ", "with ", "is "];

/// The error texts in a file, without its tests. Each comes with a flag that is true for errors about shapes, and with
/// its line.
fn refusals(text: &str) -> Vec<(bool, usize, String)> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or(text);
    let mut found = Vec::new();
    for (call, of_shape) in [("Error::shape(", true), ("Error::argument(", false), ("let why = ", false)] {
        for (at, _) in text.match_indices(call) {
            let statement = text[at..].split(';').next().unwrap_or("");
            // if the semicolon is within the text, the statement goes on
            let open = statement.matches('"').count() % 2 == 1;
            let rest =
                if open { text[at..].splitn(3, '"').take(2).collect::<Vec<_>>().join("\"") } else { statement.into() };
            // the message is the first string that contains a space; strings before it are names of ops
            let message = rest.split('"').skip(1).step_by(2).find(|text| text.contains(' '));
            found.extend(message.map(|m| (of_shape, text[..at].matches('\n').count() + 1, m.to_owned())));
        }
    }
    found
}

fn complaint(of_shape: bool, message: &str) -> Option<String> {
    match CONTRADICTIONS.iter().find(|words| message.contains(**words)) {
        Some(words) => Some(format!("`{words}` in \"{message}\": say what must hold")),
        None if of_shape && !VERBS.iter().any(|verb| message.starts_with(verb)) => {
            Some(format!("\"shape [..] {message}\" is no sentence"))
        }
        None => None,
    }
}

#[test]
fn refusals_say_what_must_hold() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (name, text) in files() {
        let is_meant = name.ends_with(".rs") && !name.contains("/tests") && !name.ends_with("tests.rs");
        if !is_meant || !FOLDERS.iter().any(|folder| name.starts_with(folder)) {
            continue;
        }
        for (of_shape, line, message) in refusals(&text) {
            seen += 1;
            wrong.extend(complaint(of_shape, &message).map(|why| format!("{name}:{line}: {why}")));
        }
    }
    assert!(seen > 150, "only {seen} texts are found");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn contradictions_are_found() {
    let of = |code: &str| refusals(code).into_iter().filter_map(|(shape, _, text)| complaint(shape, &text)).count();
    assert_eq!(of("Err(Error::argument(op, format!(\"p is {p}; it is between 0 and 1\")));"), 1);
    assert_eq!(of("Err(Error::argument(op, format!(\"p is {p}, but must be between 0 and 1\")));"), 0);
    assert_eq!(of("Error::shape(\"pad\", shape, \"axis 1 does not have length 1\");"), 1);
    assert_eq!(of("Error::shape(\"pad\", shape, \"must have length 1 along axis 1\");"), 0);
    assert_eq!(of("#[cfg(test)]\nmod tests { Error::shape(op, shape, \"has not 2 axes\"); }"), 0);
}
