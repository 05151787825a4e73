//! Compiles `shim.cpp` against the headers of the libtorch that was found, once per version, into a cache folder.

use super::locate::{library, unavailable};
use backend_core::Result;
use backend_load::{cache, check, private::Private, trust::Trust};
use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

const SOURCE: &str = include_str!("shim.cpp");

/// Compiler flags: the newest headers need C++20, and the oldest compile with it too.
const FLAGS: [&str; 6] = ["-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w"];

/// Headers that may define the version; the oldest layout is last.
const VERSION_HEADERS: [&str; 2] = ["torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"];

/// A compiled shim: a file in the cache, or a file in a temporary folder that is removed when this value is dropped.
pub(super) struct Built {
    /// Path of the compiled library.
    pub path: PathBuf,
    /// `None` if the shim is in the cache. Otherwise the reason why it is not, and the temporary folder that has the
    /// shim.
    unkept: Option<(String, Private)>,
}

impl Built {
    /// The reason why later runs cannot use this shim; `None` if it is in the cache.
    #[cfg_attr(not(unix), allow(dead_code, reason = "libtorch is loaded on Unix only"))]
    pub fn unkept(&self) -> Option<&str> {
        self.unkept.as_ref().map(|(why, _)| why.as_str())
    }
}

/// Returns the path of the shim for the libtorch in the folder `libtorch`, and compiles the shim unless the cache has
/// it.
///
/// The first use of the backend does this too; a call of this function moves the compilation to a set-up step. Without
/// a cache folder this function returns an error, whereas the first use compiles the shim for that run only, and prints
/// a message on stderr.
pub fn build_shim(libtorch: &Path) -> Result<PathBuf> {
    let torch = check::path(libtorch, Trust::Named)
        .map_err(|why| unavailable(format!("{} cannot be used: {why}", libtorch.display())))?;
    let built = shim(&torch)?;
    match built.unkept {
        None => Ok(built.path),
        Some((why, _)) => Err(unavailable(format!("the shim cannot be kept: {why}"))),
    }
}

/// Returns the shim for the libtorch in the folder `libtorch`, and compiles the shim unless the cache has it. The path
/// must not contain symbolic links.
pub(super) fn shim(libtorch: &Path) -> Result<Built> {
    let prefix = prefix(libtorch)?;
    let folder = match cache::folder("") {
        Ok(folder) => folder,
        Err(why) => return for_this_run(libtorch, why),
    };
    if let Some(path) = kept(&folder, &prefix) {
        return Ok(Built { path, unkept: None });
    }
    // the shim is compiled in a folder inside the cache folder, which only this user can write
    let work = match Private::new_in(&folder) {
        Ok(work) => work,
        Err(why) => return for_this_run(libtorch, why),
    };
    let compiled = compile(libtorch, work.path())?;
    match keep(&compiled, &folder, &prefix) {
        Ok(path) => Ok(Built { path, unkept: None }),
        Err(why) => Ok(Built { path: compiled, unkept: Some((format!("{}: {why}", folder.display()), work)) }),
    }
}

/// Compiles a shim in a temporary folder of this process.
fn for_this_run(libtorch: &Path, why: String) -> Result<Built> {
    let work = Private::new().map_err(|second| unavailable(format!("the shim cannot be compiled: {why}; {second}")))?;
    let path = compile(libtorch, work.path())?;
    Ok(Built { path, unkept: Some((why, work)) })
}

/// Prefix of the shim's file name in the cache. It has libtorch's version, and a hash of everything else from which the
/// shim is compiled.
fn prefix(libtorch: &Path) -> Result<String> {
    let headers = libtorch.join("include");
    let version = version(&headers)
        .ok_or_else(|| unavailable(format!("{} has none of the headers {VERSION_HEADERS:?}", headers.display())))?;
    Ok(format!("backends-torch-{version}-{:032x}-", key(libtorch)))
}

/// File name of a shim in the cache. It has the hash of the shim's sources, and the hash of the file's content, which
/// reveals damage.
fn name(prefix: &str, content: &[u8]) -> String {
    format!("{prefix}{:032x}{}", cache::hash(&[content]), env::consts::DLL_SUFFIX)
}

/// The cached shim whose content matches the hash in its name. Damaged files are removed.
fn kept(folder: &Path, prefix: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)));
    ours.map(|entry| entry.path()).find(|path| {
        let whole = cache::read(path).is_some_and(|content| path.ends_with(name(prefix, &content)));
        if !whole {
            let _ = fs::remove_file(path);
        }
        whole
    })
}

/// Stores the compiled shim under its name in the cache.
fn keep(compiled: &Path, folder: &Path, prefix: &str) -> io::Result<PathBuf> {
    let content = fs::read(compiled)?;
    let path = folder.join(name(prefix, &content));
    cache::write(&path, &content)?;
    Ok(path)
}

/// Compiles the shim in `folder`, which must belong to this process alone.
fn compile(libtorch: &Path, folder: &Path) -> Result<PathBuf> {
    let (source, output) = (folder.join("shim.cpp"), folder.join(format!("shim{}", env::consts::DLL_SUFFIX)));
    fs::write(&source, SOURCE).map_err(|why| unavailable(format!("{}: {why}", source.display())).caused_by(why))?;
    let headers = libtorch.join("include");
    let given = env::var("CXX").ok().filter(|c| !c.is_empty());
    let compilers: Vec<&str> = given.iter().map(String::as_str).chain(["g++", "c++", "clang++"]).collect();
    for compiler in &compilers {
        // `CXX` may contain arguments: "ccache g++"
        let mut words = compiler.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("g++"));
        command.args(words).args(FLAGS);
        command.arg(format!("-D_GLIBCXX_USE_CXX11_ABI={}", u8::from(!has_old_strings(libtorch))));
        if cfg!(target_os = "macos") {
            command.args(["-undefined", "dynamic_lookup"]);
        }
        command.arg("-I").arg(&headers).arg("-I").arg(headers.join("torch/csrc/api/include"));
        match command.arg(&source).arg("-o").arg(&output).output() {
            Ok(out) if out.status.success() => return Ok(output),
            Ok(out) => {
                let text = String::from_utf8_lossy(&out.stderr);
                let first = text.lines().find(|l| l.contains("error")).or(text.lines().next()).unwrap_or("no message");
                return Err(unavailable(format!(
                    "{compiler} cannot compile the shim for {}: {first}",
                    libtorch.display()
                )));
            }
            Err(_) => {}
        }
    }
    Err(unavailable(format!("no C++20 compiler: tried {}; CXX names another", compilers.join(", "))))
}

/// Returns whether libtorch was built with the pre-C++11 string ABI, as its older wheels were.
fn has_old_strings(libtorch: &Path) -> bool {
    const OLD: &[u8] = b"torchCheckFailEPKcS2_jRKSs";
    fs::read(library(libtorch, "c10")).is_ok_and(|bytes| bytes.windows(OLD.len()).any(|w| w == OLD))
}

/// libtorch's version, such as "2.11.0", from the headers.
fn version(headers: &Path) -> Option<String> {
    let text = VERSION_HEADERS.iter().find_map(|h| {
        fs::read_to_string(headers.join(h)).ok().filter(|text| text.contains("define TORCH_VERSION_MAJOR"))
    })?;
    let number = |name: &str| {
        let line = text.lines().find(|l| l.starts_with(&format!("#define TORCH_VERSION_{name} ")))?;
        line.split_whitespace().nth(2)?.parse::<u32>().ok()
    };
    Some(format!("{}.{}.{}", number("MAJOR")?, number("MINOR")?, number("PATCH")?))
}

/// Hash of the shim's inputs besides libtorch's version: its source, flags and compiler, and the build of libtorch.
fn key(libtorch: &Path) -> u128 {
    let length = fs::metadata(library(libtorch, "c10")).map(|m| m.len()).unwrap_or(0).to_le_bytes();
    let compiler = env::var_os("CXX").unwrap_or_default();
    let flags = FLAGS.join(" ");
    let [path, compiler] = [libtorch.as_os_str(), &compiler].map(|text| text.as_encoded_bytes());
    cache::hash(&[SOURCE.as_bytes(), flags.as_bytes(), path, compiler, &length])
}

/// Replaces the cached shim by another library, for a test.
#[cfg(test)]
pub(super) fn plant(libtorch: &Path, library: &Path) {
    let prefix = prefix(libtorch).unwrap();
    keep(library, &cache::folder("").unwrap(), &prefix).unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;
    use backend_core::Error;

    #[test]
    fn versions_come_from_the_headers() {
        let headers = Private::new().unwrap();
        let headers = headers.path();
        let file = headers.join(VERSION_HEADERS[1]);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        assert_eq!(version(headers), None);
        fs::write(
            &file,
            "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 5\n#define TORCH_VERSION_PATCH 1\n",
        )
        .unwrap();
        assert_eq!(version(headers).as_deref(), Some("2.5.1"));
    }

    #[test]
    fn a_folder_without_headers_is_a_typed_error() {
        let error = build_shim(Path::new("/no/such/folder")).unwrap_err();
        assert!(
            matches!(&error, Error::Unavailable { backend: "torch", why, .. } if why.contains("/no/such/folder") && why.contains("LIBTORCH"))
        );
    }

    #[test]
    fn a_damaged_shim_is_not_used_and_goes() {
        let folder = Private::new().unwrap();
        let (folder, source) = (folder.path(), folder.path().join("compiled"));
        fs::write(&source, "content").unwrap();
        assert_eq!(kept(folder, "shim-"), None);
        let path = keep(&source, folder, "shim-").unwrap();
        assert_eq!(kept(folder, "shim-"), Some(path.clone()));
        assert_eq!(kept(folder, "other-"), None);
        for damaged in ["conten", "", "contenT"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(kept(folder, "shim-"), None, "{damaged}");
            assert!(!path.exists());
        }
        // the file is renamed to the name of another shim
        keep(&source, folder, "shim-").unwrap();
        fs::rename(&path, folder.join(path.file_name().unwrap().to_str().unwrap().replace("shim-", "shim-0"))).unwrap();
        assert_eq!(kept(folder, "shim-"), None);
    }
}
