//! Builds the reference documentation and checks what rustdoc does not check: links in text that a macro makes, and the
//! size of pages.

use crate::run::{Outcome, cargo, root, run};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Maximum size of a page in bytes.
const MAX_PAGE_BYTES: usize = 200_000;

/// Additional bytes per method on pages that list the ops as methods. Each op also has a page of its own, so these
/// lists may be long.
const MAX_METHOD_BYTES: usize = 1_500;

/// Pages that list the ops as methods.
const LISTS: [&str; 2] = ["struct.Out.html", "struct.Lazy.html"];

/// The task `docs`: builds the reference. Fails if a link leads nowhere or a page is too large.
pub fn task() -> Outcome {
    let folder = root().join("target/doc");
    // removes the old pages, which would otherwise include items that no longer exist
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    }
    // rustdoc links to another crate only if that crate's folder exists, so all folders are created first. Cargo empties
    // the folder of a crate while it documents this crate, so it documents one crate at a time (`--jobs 1`).
    for name in libraries()? {
        let path = folder.join(name);
        fs::create_dir_all(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    }
    let mut command = cargo();
    run(command.env("RUSTDOCFLAGS", "-Dwarnings").args(["doc", "--workspace", "--no-deps", "--jobs", "1"]))?;
    let mut pages = Vec::new();
    find(&folder, &mut pages).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut wrong = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).map_err(|why| format!("{}: {why}", page.display()))?;
        let name = page.strip_prefix(&folder).unwrap_or(page).display();
        let is_list = LISTS.iter().any(|list| page.ends_with(list));
        let methods = if is_list { text.matches("id=\"method.").count() } else { 0 };
        let most = MAX_PAGE_BYTES + methods * MAX_METHOD_BYTES;
        wrong.extend(mistakes(&text, most).into_iter().map(|mistake| format!("{name}: {mistake}")));
    }
    println!("{} pages in {}", pages.len(), folder.display());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The names of the workspace's library crates, as written in code.
fn libraries() -> Outcome<Vec<String>> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output();
    let output = output.map_err(|why| format!("cargo metadata: {why}"))?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|why| format!("cargo metadata: {why}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    let is_library = |target: &&serde_json::Value| {
        let kinds = target["kind"].as_array().into_iter().flatten();
        kinds.filter_map(|kind| kind.as_str()).any(|kind| matches!(kind, "lib" | "proc-macro"))
    };
    let names = targets.filter(is_library).filter_map(|target| target["name"].as_str());
    Ok(names.map(|name| name.replace('-', "_")).collect())
}

/// Finds all pages, except pages with source code.
fn find(folder: &Path, pages: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("src" | "static.files") => {}
            _ if path.is_dir() => find(&path, pages)?,
            Some(name) if name.ends_with(".html") => pages.push(path),
            _ => {}
        }
    }
    Ok(())
}

fn mistakes(page: &str, most: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    if page.len() > most {
        wrong.push(format!("{} bytes, but at most {most} are allowed", page.len()));
    }
    // This section repeats the methods of traits, whose own pages are checked. If a trait belongs to another crate, the
    // links in its text lead to pages that are not built.
    let page = page.split("id=\"blanket-implementations\"").next().unwrap_or(page);
    let up_to = |text: &str, end: char| text.split(end).next().unwrap_or(text).to_owned();
    // a link that rustdoc cannot resolve remains in the text with its brackets
    for (at, _) in page.match_indices("[<code>") {
        wrong.push(format!("no link: {}", up_to(&page[at + "[<code>".len()..], '<')));
    }
    for (at, _) in page.match_indices("href=\"") {
        let target = up_to(&page[at + "href=\"".len()..], '"');
        if target.contains("::") && !target.contains(['/', '#']) {
            wrong.push(format!("the link `{target}` leads nowhere"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_and_long_pages_are_found() {
        let good = "<a href=\"../backends/trait.Arrays.html\">x</a> <code>[0, 2]</code> <a href=\"#a::b\">y</a>";
        assert_eq!(mistakes(good, MAX_PAGE_BYTES), [""; 0]);
        assert_eq!(mistakes("see [<code>concat</code>]", MAX_PAGE_BYTES), ["no link: concat"]);
        assert_eq!(mistakes("<a href=\"super::Fft\">x</a>", MAX_PAGE_BYTES), ["the link `super::Fft` leads nowhere"]);
        let blanket = "<h2 id=\"blanket-implementations\"></h2> see [<code>Span</code>]";
        assert_eq!(mistakes(blanket, MAX_PAGE_BYTES), [""; 0]);
        assert!(mistakes(&" ".repeat(MAX_PAGE_BYTES + 1), MAX_PAGE_BYTES)[0].starts_with("200001 bytes"));
    }
}
