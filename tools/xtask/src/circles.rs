//! Checks that files do not import each other in circles: to understand a file, it is enough to read the files that it
//! imports, not the files that import it.

use crate::run::root;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// The crates whose files must form no circles, each with a folder, or with an empty name if the whole crate is
/// checked. The crate `backends-core` is not in the list. Its files form a circle on purpose: every file imports the
/// sealed trait of the dtypes, whose methods are the functions that are compiled once for each dtype.
const FOLDERS: [(&str, &str); 11] = [
    ("backend-macros/op-table", "expr"),
    ("backend-runtime/cuda", ""),
    ("backend-runtime/load", ""),
    ("backend-runtime/torch", ""),
    ("crates/solvers", "linear"),
    ("crates/solvers", "ode"),
    (".", "conformance"),
    (".", "grad"),
    ("tools/soft-cuda", "driver"),
    ("tools/soft-cuda", "exec"),
    ("tools/soft-cuda", "ptx"),
];

/// A module's path from the root of its crate, such as `["torch", "call"]`.
type Module = Vec<String>;

/// The references of a file to other modules.
#[derive(Default)]
struct File {
    /// Paths that the file uses.
    uses: Vec<Module>,
    /// Names that the file re-exports (`pub use`), each with the path of the exported item.
    passes: BTreeMap<String, Module>,
}

/// Returns the code of a file, without comments and tests.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_test = line.starts_with("#[cfg(") && line.contains("test");
        let next = lines.peek().copied().unwrap_or_default();
        if is_test && next.ends_with('{') {
            break; // tests are at the end of every file
        }
        if is_test {
            lines.next();
            continue;
        }
        code.push_str(line.split("//").next().unwrap_or_default());
        code.push('\n');
    }
    code
}

/// Names of the modules declared in `text` that are compiled only for tests.
fn modules_of_tests(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let pairs = lines.windows(2).filter(|pair| pair[0].starts_with("#[cfg(") && pair[0].contains("test"));
    pairs.filter_map(|pair| pair[1].split_once("mod ")?.1.strip_suffix(';')).collect()
}

/// Expands `a::{b, c::d}` to `a::b` and `a::c::d`.
fn expanded(path: &str) -> Vec<String> {
    let path = path.trim();
    let Some((before, inside)) = path.split_once('{').and_then(|(b, rest)| Some((b, rest.strip_suffix('}')?))) else {
        return vec![path.split(" as ").next().unwrap_or_default().to_owned()];
    };
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (i, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inside[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    let parts = parts.into_iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| expanded(&format!("{before}{}", part.trim()))).collect()
}

/// Converts a path used in module `of` to a path from the root of the crate; `None` if it leads to another crate.
fn absolute(of: &Module, path: &str, known: &BTreeSet<Module>) -> Option<Module> {
    let mut parts = path.split("::").map(|part| part.trim().trim_start_matches("r#").to_owned()).peekable();
    let mut at = of.clone();
    match parts.peek()?.as_str() {
        "crate" => {
            at.clear();
            parts.next();
        }
        "self" => {
            parts.next();
        }
        "super" => {
            while parts.next_if(|part| part == "super").is_some() {
                at.pop();
            }
        }
        child => {
            let below: Module = at.iter().cloned().chain([child.to_owned()]).collect();
            known.contains(&below).then_some(())?;
        }
    }
    at.extend(parts);
    Some(at)
}

/// Reads the references of a file to other modules.
fn read(of: &Module, code: &str, known: &BTreeSet<Module>) -> File {
    let mut file = File::default();
    let mut rest = String::new();
    for item in code.split_inclusive(';') {
        let begin = item.rfind("use ").filter(|&at| item[..at].ends_with(['\n', ' ', ')']) || at == 0);
        let Some(begin) = begin.filter(|_| item.ends_with(';')) else {
            rest.push_str(item);
            continue;
        };
        let line = item[..begin].rsplit('\n').next().unwrap_or_default();
        rest.push_str(&item[..begin - line.len()]);
        let paths = expanded(&item[begin + 4..item.len() - 1].replace('\n', " "));
        for path in paths.iter().filter_map(|path| absolute(of, path, known)) {
            match path.last() {
                Some(name) if line.trim_start().starts_with("pub") => {
                    file.passes.insert(name.clone(), path);
                }
                _ => file.uses.push(path),
            }
        }
    }
    // adds the paths in the code outside of `use`
    let words = rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).filter(|word| word.contains("::"));
    file.uses.extend(words.filter_map(|path| absolute(of, path.trim_matches(':'), known)));
    file
}

/// Returns the module that contains the item of a path. If a module re-exports the item, returns the module from which
/// the item comes.
fn target(path: &[String], files: &BTreeMap<Module, File>, depth: usize) -> Option<Module> {
    let length = (0..=path.len()).rev().find(|&length| files.contains_key(&path[..length]))?;
    let passed = path.get(length).and_then(|name| files[&path[..length]].passes.get(name)).filter(|_| depth < 8);
    match passed {
        Some(from) => target(&[&from[..], &path[length + 1..]].concat(), files, depth + 1),
        None => Some(path[..length].to_vec()),
    }
}

/// Returns a map from each module in a circle to its imports that are part of a circle, too. The map is empty if there
/// are no circles.
fn circles(sources: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let tests = sources.iter().flat_map(|(module, text)| {
        modules_of_tests(text).into_iter().map(move |name| module.iter().cloned().chain([name.to_owned()]).collect())
    });
    let tests: Vec<Module> = tests.collect();
    let known: BTreeSet<Module> =
        sources.keys().filter(|module| !tests.iter().any(|test| module.starts_with(test))).cloned().collect();
    let files: BTreeMap<Module, File> =
        known.iter().map(|module| (module.clone(), read(module, &code_of(&sources[module]), &known))).collect();
    let mut imports: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, file) in &files {
        let targets = file.uses.iter().filter_map(|path| target(path, &files, 0)).filter(|found| found != module);
        imports.insert(module.clone(), targets.collect());
    }
    let in_circle = |module: &Module| {
        let (mut reached, mut waiting) = (BTreeSet::new(), vec![module]);
        while let Some(next) = waiting.pop() {
            waiting.extend(imports[next].iter().filter(|import| reached.insert(*import)));
        }
        reached.contains(module)
    };
    let circles: BTreeSet<Module> = imports.keys().filter(|module| in_circle(module)).cloned().collect();
    imports.retain(|module, _| circles.contains(module));
    imports.values_mut().for_each(|of| of.retain(|module| circles.contains(module)));
    imports
}

/// Reads the files below a folder into `found`, by module.
fn sources(folder: &Path, module: &[String], found: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).expect("the folder is there").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let child = |name: &str| module.iter().cloned().chain([name.to_owned()]).collect::<Module>();
        if path.is_dir() {
            sources(&path, &child(&name), found);
        } else if let Some(name) = name.strip_suffix(".rs") {
            let module = if ["mod", "lib", "main"].contains(&name) { module.to_vec() } else { child(name) };
            found.insert(module, fs::read_to_string(&path).expect("the file is there"));
        }
    }
}

#[test]
fn files_import_each_other_in_no_circles() {
    for (name, folder) in FOLDERS {
        let mut all = BTreeMap::new();
        sources(&root().join(name).join("src"), &[], &mut all);
        let in_folder = |module: &Module| folder.is_empty() || module.first().is_some_and(|first| first == folder);
        let circles: Vec<String> = circles(&all)
            .into_iter()
            .filter(|(module, _)| in_folder(module))
            .map(|(module, imports)| {
                let imports: Vec<String> = imports.iter().map(|module| module.join("::")).collect();
                format!("{} imports {}", module.join("::"), imports.join(", "))
            })
            .collect();
        assert!(circles.is_empty(), "{name}:\n{}", circles.join("\n"));
    }
}

#[test]
fn circles_are_found() {
    let crate_of = |files: &[(&str, &str)]| {
        let module = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(String::from).collect();
        files.iter().map(|(name, text)| (module(name), text.to_string())).collect::<BTreeMap<Module, String>>()
    };
    let names = |files: &[(&str, &str)]| {
        circles(&crate_of(files)).into_keys().map(|module| module.join("::")).collect::<Vec<_>>()
    };
    let line = [("", "mod a;\nmod b;\npub use a::A;"), ("a", "pub struct A;"), ("b", "use crate::A;\nfn f() {}")];
    assert_eq!(names(&line), [] as [&str; 0], "a name that is passed on is not an import");
    let circle = [
        ("a", "use crate::{b::{B, C}, d};\n"),
        ("b", "fn f() { super::c::g(); }"),
        ("c", "use super::a::A;"),
        ("d", ""),
    ];
    assert_eq!(names(&circle), ["a", "b", "c"]);
    let tests = [("a", "use super::b::B;"), ("b", "struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}")];
    assert_eq!(names(&tests), [] as [&str; 0], "tests may use everything");
    let helper = [
        ("", "#[cfg(test)]\nmod help;"),
        ("a", "struct A;\n#[cfg(test)]\nuse super::help::h;"),
        ("help", "use crate::a;"),
    ];
    assert_eq!(names(&helper), [] as [&str; 0]);
}
