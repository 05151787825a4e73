//! Compiles `shim.cpp` against the headers of the libtorch found, once per version, into a cache folder.

use super::locate::{library, unavailable};
use crate::Result;
use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
    process::{self, Command},
};

const SOURCE: &str = include_str!("shim.cpp");

/// The newest headers are in C++20, and the oldest take it too.
const FLAGS: [&str; 6] = ["-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-w"];

/// Where headers with the version are, oldest layout last.
const VERSION_HEADERS: [&str; 2] = ["torch/headeronly/version.h", "torch/csrc/api/include/torch/version.h"];

/// The shim for this libtorch (its folder `torch`), compiled unless the cache has it.
///
/// It is done by itself at first use; calling it before moves the wait to a set-up step.
pub fn build_shim(libtorch: &Path) -> Result<PathBuf> {
    let libtorch = &libtorch.canonicalize().unwrap_or_else(|_| libtorch.to_path_buf());
    let headers = libtorch.join("include");
    let version = version(&headers)
        .ok_or_else(|| unavailable(format!("{} has none of the headers {VERSION_HEADERS:?}", headers.display())))?;
    let folder = cache_folder();
    let name = format!("backends-torch-{version}-{:016x}{}", key(libtorch), env::consts::DLL_SUFFIX);
    let shim = folder.join(&name);
    if shim.is_file() {
        return Ok(shim);
    }
    let failed =
        |e: io::Error| unavailable(format!("the shim for libtorch cannot be kept in {}: {e}", folder.display()));
    fs::create_dir_all(&folder).map_err(failed)?;
    // written under a name of its own and renamed: another process sees all of it or nothing
    let temporary = folder.join(format!("{name}.{}", process::id()));
    let source = temporary.with_extension(format!("{}.cpp", process::id()));
    fs::write(&source, SOURCE).map_err(failed)?;
    let compiled = compile(libtorch, &source, &temporary);
    let _ = fs::remove_file(&source);
    compiled?;
    fs::rename(&temporary, &shim).map_err(failed)?;
    Ok(shim)
}

fn compile(libtorch: &Path, source: &Path, output: &Path) -> Result<()> {
    let headers = libtorch.join("include");
    let given = env::var("CXX").ok().filter(|c| !c.is_empty());
    let compilers: Vec<&str> = given.iter().map(String::as_str).chain(["g++", "c++", "clang++"]).collect();
    for compiler in &compilers {
        // `CXX` may hold options: "ccache g++"
        let mut words = compiler.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or("g++"));
        command.args(words).args(FLAGS);
        command.arg(format!("-D_GLIBCXX_USE_CXX11_ABI={}", u8::from(!has_old_strings(libtorch))));
        if cfg!(target_os = "macos") {
            command.args(["-undefined", "dynamic_lookup"]);
        }
        command.arg("-I").arg(&headers).arg("-I").arg(headers.join("torch/csrc/api/include"));
        match command.arg(source).arg("-o").arg(output).output() {
            Ok(out) if out.status.success() => return Ok(()),
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

/// Whether libtorch was built with the strings from before C++11, as its older wheels were.
fn has_old_strings(libtorch: &Path) -> bool {
    const OLD: &[u8] = b"torchCheckFailEPKcS2_jRKSs";
    fs::read(library(libtorch, "c10")).is_ok_and(|bytes| bytes.windows(OLD.len()).any(|w| w == OLD))
}

/// "2.11.0", out of the headers.
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

/// What the shim depends on besides the version: its source, and which build of libtorch it is.
fn key(libtorch: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    (SOURCE, FLAGS, libtorch, env::var_os("CXX")).hash(&mut hasher);
    fs::metadata(library(libtorch, "c10")).map(|m| m.len()).unwrap_or(0).hash(&mut hasher);
    hasher.finish()
}

/// `$BACKENDS_CACHE`, else `backends` in the user's cache folder, else in the folder of temporary files.
fn cache_folder() -> PathBuf {
    let set = |name| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("BACKENDS_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|f| f.join("backends")))
        .or_else(|| set("HOME").map(|f| f.join(".cache").join("backends")))
        .unwrap_or_else(|| env::temp_dir().join("backends"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn versions_come_from_the_headers() {
        let headers = env::temp_dir().join(format!("backends-version-{}", process::id()));
        let file = headers.join(VERSION_HEADERS[1]);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        assert_eq!(version(&headers), None);
        fs::write(
            &file,
            "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 5\n#define TORCH_VERSION_PATCH 1\n",
        )
        .unwrap();
        assert_eq!(version(&headers).as_deref(), Some("2.5.1"));
        fs::remove_dir_all(headers).unwrap();
    }

    #[test]
    fn a_folder_without_headers_is_a_typed_error() {
        let error = build_shim(Path::new("/no/such/folder")).unwrap_err();
        assert!(
            matches!(&error, Error::Unavailable { backend: "torch", why } if why.contains("/no/such/folder") && why.contains("LIBTORCH"))
        );
    }
}
