//! Builds the site: the guides as a book with search, a gallery, the index of the ops, and the reference.

use crate::{
    docs,
    run::{Outcome, create, root, run, write},
};
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Component, Path, PathBuf},
    process::Command,
};

/// The version of mdBook that builds the site.
const MDBOOK: &str = "0.5.4";

/// The chapters: headings, and pages with their titles. Pages keep their paths in the repository.
const CHAPTERS: [(&str, &[(&str, &str)]); 6] = [
    (
        "Guides",
        &[
            ("docs/guide.md", "The run-time layer"),
            ("docs/formulas.md", "Formulas"),
            ("docs/indexing.md", "Indexing"),
            ("docs/gradients.md", "Gradients"),
            ("docs/devices.md", "Devices and memory"),
            ("docs/files.md", "Files and shared memory"),
            ("docs/plots.md", "Pictures and progress"),
            ("docs/ranks.md", "Arrays over ranks"),
        ],
    ),
    (
        "Cookbook",
        &[
            ("docs/cookbook.md", "All programs"),
            ("docs/cookbook/cg_sense.md", "CG-SENSE"),
            ("docs/cookbook/dbscan.md", "DBSCAN"),
            ("docs/cookbook/deconvolution.md", "Richardson-Lucy deconvolution"),
            ("docs/cookbook/fourier_shell_correlation.md", "Fourier shell correlation"),
            ("docs/cookbook/gaussian_process.md", "Gaussian process regression"),
            ("docs/cookbook/gpt.md", "A small GPT"),
            ("docs/cookbook/gray_scott.md", "Gray-Scott model"),
            ("docs/cookbook/kalman_filter.md", "Kalman filter"),
            ("docs/cookbook/kuramoto_sivashinsky.md", "Kuramoto-Sivashinsky equation"),
            ("docs/cookbook/lattice_boltzmann.md", "Lattice Boltzmann method"),
            ("docs/cookbook/particle_filter.md", "Particle filter"),
            ("docs/cookbook/registration.md", "Registration of images"),
            ("docs/cookbook/schroedinger.md", "Schroedinger equation"),
            ("docs/cookbook/tomography.md", "Filtered back-projection"),
        ],
    ),
    (
        "Solvers",
        &[
            ("docs/solvers.md", "Linear systems"),
            ("docs/sparse.md", "Sparse matrices"),
            ("docs/minimize.md", "Minimisation and differential equations"),
        ],
    ),
    (
        "Reference",
        &[
            ("docs/ops.md", "The ops"),
            ("docs/porting.md", "Names in NumPy, CuPy and PyTorch"),
            ("docs/array-api.md", "The Array API"),
            ("docs/parity.md", "Other systems"),
            ("docs/table.md", "The op table"),
        ],
    ),
    (
        "Quality",
        &[
            ("docs/performance.md", "Performance"),
            ("docs/performance-archive.md", "Earlier measurements"),
            ("docs/gpu.md", "Tests on GPUs"),
            ("docs/security.md", "Security"),
            ("docs/audit.md", "Unsafe code"),
        ],
    ),
    (
        "Project",
        &[
            ("CHANGELOG.md", "Changes"),
            ("CONTRIBUTING.md", "Contributing"),
            ("ARCHITECTURE.md", "Architecture"),
            ("SECURITY.md", "Reporting a vulnerability"),
        ],
    ),
];

/// Further pages, to which pages in `CHAPTERS` have links.
const FURTHER: [(&str, &str); 3] = [
    ("docs/peers/threads-1.md", "Single calls on one thread"),
    ("docs/peers/threads-2.md", "Single calls on two threads"),
    ("tools/soft-cuda/README.md", "The software device"),
];

/// The task `site [--browser]`: builds the site in `target/site` and checks its links and its search index. With
/// `--browser`, also opens pages and runs a search in headless Chromium.
pub fn task(args: &[String]) -> Outcome {
    let in_browser = match args {
        [] => false,
        [option] if option == "--browser" => true,
        _ => return Err("usage: cargo xtask site [--browser]".into()),
    };
    let (source, site) = (root().join("target/site-source"), root().join("target/site"));
    let _ = fs::remove_dir_all(&source);
    let _ = fs::remove_dir_all(&site);
    write_source(&source)?;
    run(Command::new(mdbook()?).arg("build").arg(&source).arg("--dest-dir").arg(&site))?;
    docs::task()?;
    copy(&root().join("target/doc"), &site.join("reference"))?;
    let pages = html_pages(&site)?;
    let wrong = broken_links(&site, &pages)?;
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    println!("site: {} pages in {}, whose links lead to pages", pages.len(), site.display());
    if in_browser { browse(&site) } else { Ok(()) }
}

/// The path of mdBook, which is installed into `target` if it is missing.
fn mdbook() -> Outcome<PathBuf> {
    let folder = root().join("target").join(format!("mdbook-{MDBOOK}"));
    let program = folder.join("bin").join(if cfg!(windows) { "mdbook.exe" } else { "mdbook" });
    if !program.is_file() {
        println!("site: installing mdBook {MDBOOK}");
        let mut install = crate::run::cargo();
        install.args(["install", "mdbook", "--locked", "--quiet", "--debug", "--no-default-features"]);
        install.args(["--features", "search", "--version", &format!("={MDBOOK}"), "--root"]).arg(&folder);
        // builds mdBook in a separate target folder, which is removed afterwards
        run(install.env("CARGO_TARGET_DIR", root().join("target/mdbook-build")))?;
        let _ = fs::remove_dir_all(root().join("target/mdbook-build"));
    }
    Ok(program)
}

/// All pages of the book, with paths relative to the root of the repository.
fn book_pages() -> Vec<&'static str> {
    let chapters = CHAPTERS.iter().flat_map(|(_, pages)| pages.iter()).chain(&FURTHER).map(|(path, _)| *path);
    ["README.md", "docs/gallery.md"].into_iter().chain(chapters).collect()
}

/// Writes the source of the book: its configuration, its table of contents, the pages and the pictures.
fn write_source(source: &Path) -> Outcome {
    let pages = book_pages();
    create(&source.join("src"))?;
    write(
        &source.join("book.toml"),
        "[book]\ntitle = \"backends\"\nlanguage = \"en\"\n\n[output.html]\ndefault-theme = \"light\"\n\
         preferred-dark-theme = \"ayu\"\n\n[output.html.search]\nlimit-results = 50\nboost-title = 3\n",
    )?;
    write(&source.join("src/SUMMARY.md"), &summary())?;
    for page in &pages {
        let text = fs::read_to_string(root().join(page)).map_err(|why| format!("{page}: {why}"))?;
        let to = source.join("src").join(page);
        create(to.parent().unwrap_or(source))?;
        write(&to, &as_page(page, &text, &pages))?;
    }
    for folder in ["docs/pictures", "docs/peers"] {
        copy(&root().join(folder), &source.join("src").join(folder))?;
    }
    Ok(())
}

/// The table of contents in mdBook's format.
fn summary() -> String {
    let mut out = String::from("# Summary\n\n[backends](README.md)\n[Gallery](docs/gallery.md)\n");
    for (heading, pages) in CHAPTERS.into_iter().chain([("Further pages", &FURTHER[..])]) {
        out += &format!("\n# {heading}\n\n");
        for (path, title) in pages {
            out += &format!("- [{title}]({path})\n");
        }
    }
    out
}

/// A page of the repository as a page of the book: links to files that are not part of the book become plain text, and
/// the names of ops lead to the reference.
fn as_page(page: &str, text: &str, pages: &[&str]) -> String {
    let up = "../".repeat(page.matches('/').count());
    // texts and code blocks alternate
    let parts = text.split("\n```").enumerate().map(|(i, part)| match i % 2 {
        0 => with_links_of_book(page, part, pages),
        _ => part.into(),
    });
    let text = parts.collect::<Vec<_>>().join("\n```");
    if page != "docs/ops.md" {
        return text;
    }
    let lines = text.lines().map(|line| match line.strip_prefix("| `").and_then(|rest| rest.split_once('`')) {
        Some((name, rest)) => format!("| [`{name}`]({up}reference/backends/ops/struct.{name}.html){rest}\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// Replaces links to files outside the book by their text. Links between pages of the book, to pictures and to other
/// sites stay.
fn with_links_of_book(page: &str, text: &str, pages: &[&str]) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(middle) = rest.find("](") {
        let (Some(start), Some(length)) = (rest[..middle].rfind('['), rest[middle + 2..].find(')')) else { break };
        let target = &rest[middle + 2..middle + 2 + length];
        let end = middle + 2 + length + 1;
        let stays = target.contains("://") || target.starts_with('#') || {
            let path = normal(page, target.split('#').next().unwrap_or(target));
            pages.contains(&path.as_str()) || path.starts_with("docs/pictures/") || path.starts_with("docs/peers/")
        };
        out += &rest[..start];
        // mdBook renames the page of a README to `index`
        let whole = rest[start..end].replace("README.md", "index.md");
        out += if stays { &whole } else { &rest[start + 1..middle] };
        rest = &rest[end..];
    }
    out + rest
}

/// The path of a link's target relative to the root of the repository.
fn normal(page: &str, target: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in Path::new(page).parent().unwrap_or(Path::new("")).join(target).components() {
        match part {
            Component::ParentDir => _ = parts.pop(),
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) -> Outcome {
    create(to)?;
    let listed = fs::read_dir(from).map_err(|why| format!("{}: {why}", from.display()))?;
    for entry in listed.flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &to)?,
            false => _ = fs::copy(&path, &to).map_err(|why| format!("{}: {why}", path.display()))?,
        }
    }
    Ok(())
}

/// The pages that mdBook made; the pages of the reference are checked by the task `docs`.
fn html_pages(site: &Path) -> Outcome<Vec<PathBuf>> {
    let mut pages = Vec::new();
    let mut folders = vec![site.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?.flatten() {
            let path = entry.path();
            if path.is_dir() && path != site.join("reference") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// The values of the attributes `href` and `src` of a page.
fn targets(html: &str) -> BTreeSet<&str> {
    let values = ["href=\"", "src=\""].into_iter().flat_map(|attribute| html.split(attribute).skip(1));
    values.filter_map(|rest| rest.split('"').next()).collect()
}

/// Returns those links of the pages that lead to a missing file, or to a missing anchor on a page of the book.
fn broken_links(site: &Path, pages: &[PathBuf]) -> Outcome<Vec<String>> {
    let mut wrong = Vec::new();
    let read = |path: &Path| fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()));
    for page in pages {
        let html = read(page)?;
        for target in targets(&html) {
            let (path, place) = target.split_once('#').unwrap_or((target, ""));
            let is_outside = path.contains("://") || path.starts_with("data:") || path.starts_with("mailto:");
            if is_outside || (path.is_empty() && place.is_empty()) {
                continue;
            }
            let path = path.split('?').next().unwrap_or(path);
            let to = if path.is_empty() { page.clone() } else { page.parent().unwrap_or(site).join(path) };
            let to = if to.is_dir() { to.join("index.html") } else { to };
            let is_there = match place {
                "" => to.is_file(),
                _ => to.is_file() && read(&to)?.contains(&format!("id=\"{place}\"")),
            };
            // `404.html` is shown for missing addresses at any depth, so the relative links on it are not checked
            if !is_there && !page.ends_with("404.html") {
                let name = page.strip_prefix(site).unwrap_or(page).display().to_string();
                wrong.push(format!("{name}: the link `{target}` leads nowhere"));
            }
        }
    }
    Ok(wrong)
}

/// Opens pages in headless Chromium: a search must find pages, and pages must show their headings.
fn browse(site: &Path) -> Outcome {
    let program = env::var_os("CHROMIUM")
        .map(PathBuf::from)
        .or_else(found)
        .ok_or("no Chromium was found: install the package `chromium`, or name the program in the variable CHROMIUM")?;
    let shown = |page: &str| -> Outcome<String> {
        let mut command = Command::new(&program);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]);
        let address = format!("file://{}/{page}", site.display());
        let output = command.arg(address).output().map_err(|why| format!("{}: {why}", program.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (query, page) in [("total variation", "gallery"), ("cholesky", "ops"), ("overlay", "table")] {
        let html = shown(&format!("index.html?search={}", query.replace(' ', "%20")))?;
        let results = html.split("id=\"mdbook-searchresults\"").nth(1).unwrap_or_default();
        if !results.contains(&format!("docs/{page}.html")) {
            return Err(format!("site: a search for `{query}` does not find the page `{page}`"));
        }
    }
    for (page, text) in [("docs/gallery.html", "Template matching"), ("reference/backends/ops/index.html", "cholesky")]
    {
        if !shown(page)?.contains(text) {
            return Err(format!("site: the page {page} does not show `{text}`"));
        }
    }
    println!("site: the search finds pages in Chromium");
    Ok(())
}

/// The path of an installed Chromium.
fn found() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guide_is_in_the_book() {
        let pages = book_pages();
        for folder in ["docs", "docs/cookbook"] {
            for entry in fs::read_dir(root().join(folder)).unwrap().flatten() {
                let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
                assert!(
                    !path.ends_with(".md") || pages.contains(&path.as_str()),
                    "{path} is in no chapter of the site"
                );
            }
        }
    }

    #[test]
    fn links_out_of_the_book_become_text() {
        let of = |text: &str| with_links_of_book("docs/guide.md", text, &["README.md", "docs/gpu.md"]);
        assert_eq!(
            of("see [gpu](gpu.md#results) and [the readme](../README.md)."),
            "see [gpu](gpu.md#results) and [the readme](../index.md)."
        );
        assert_eq!(of("see [`src`](../src/lib.rs), [x](https://x.org)"), "see `src`, [x](https://x.org)");
        assert_eq!(of("a [broken\nlink](../README.md)"), "a [broken\nlink](../index.md)");
        assert_eq!(of("a[0] and f(x) stay"), "a[0] and f(x) stay");
    }

    #[test]
    fn ops_lead_to_the_reference() {
        let page = as_page("docs/ops.md", "| `abs` | magnitude |\n", &[]);
        assert_eq!(page, "| [`abs`](../reference/backends/ops/struct.abs.html) | magnitude |\n");
        let page = as_page("docs/guide.md", "[a](b.rs)\n```rust\nv[a](b)\n```\n", &[]);
        assert_eq!(page, "a\n```rust\nv[a](b)\n```\n");
    }

    #[test]
    fn links_of_pages_are_read() {
        let html = "<a href=\"a.html#b\">x</a><img src=\"y.png\">";
        assert_eq!(targets(html).into_iter().collect::<Vec<_>>(), ["a.html#b", "y.png"]);
    }
}
