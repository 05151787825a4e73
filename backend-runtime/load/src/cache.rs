//! The cache folder. It stores code that is compiled at run time for later runs: the C++ shim of libtorch, and the
//! kernels for GPUs.
//!
//! The cached code is executed, so no other user may be able to write to the folder. If no such folder exists or can be
//! created, no code is cached.

use super::{
    check,
    create::{create_new, create_private, random_name},
    trust::Trust,
};
use std::{
    env,
    fs::{self, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

/// Returns the subfolder `part` of the cache folder, and creates it if it is missing. The error gives the reason why no
/// code can be cached.
///
/// The cache folder is `$BACKENDS_CACHE` if it is set, otherwise `backends` in `$XDG_CACHE_HOME`, and otherwise
/// `backends` in `$HOME/.cache`. A folder that other users can write is never used.
pub fn folder(part: &str) -> Result<PathBuf, String> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let chosen = choose(set).ok_or("no cache folder: neither BACKENDS_CACHE nor XDG_CACHE_HOME nor HOME names one")?;
    create(&chosen.join(part)).map_err(|why| format!("the cache folder {} is not used: {why}", chosen.display()))
}

/// Returns the cache folder that the environment names. A relative path would depend on the working folder, so it is
/// ignored, as the XDG specification requires. Only `BACKENDS_CACHE`, which the user sets for this crate, may be
/// relative.
fn choose(set: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name, rest: &str| set(name).filter(|folder| folder.is_absolute()).map(|folder| folder.join(rest));
    set("BACKENDS_CACHE")
        .or_else(|| absolute("XDG_CACHE_HOME", "backends"))
        .or_else(|| absolute("HOME", ".cache/backends"))
        .or_else(|| if cfg!(windows) { absolute("LOCALAPPDATA", "backends") } else { None })
}

/// Creates the folder and its missing parents, with access for this user alone. Returns the path without symbolic
/// links.
///
/// Before the function creates a folder, it checks the part of the path that already exists.
fn create(folder: &Path) -> Result<PathBuf, String> {
    let folder = std::path::absolute(folder).map_err(|why| why.to_string())?;
    let there = folder.ancestors().find(|path| path.symlink_metadata().is_ok()).unwrap_or(Path::new("/"));
    let missing = folder.strip_prefix(there).unwrap_or(Path::new(""));
    if missing.as_os_str().is_empty() {
        return check::path(&folder, Trust::Found);
    }
    let start = check::way(there, Trust::Found)?;
    let mut made = start;
    for part in missing {
        made.push(part);
        match create_private(&made) {
            // if the folder already exists, another process created it first
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return Err(format!("{}: {why}", made.display())),
            _ => {}
        }
    }
    check::path(&made, Trust::Found)
}

/// Prints the reason why compiled code is not cached. Without this message, the user would not know why every start of
/// the program is slow. Each reason is printed only once.
pub fn say_once(why: &str) {
    static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut said = SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !said.iter().any(|s| s == why) {
        said.push(why.into());
        let _ = writeln!(io::stderr(), "backends: {why}; compiled code is kept for this run only");
    }
}

/// Reads a file of the cache. Returns `None` unless it is a regular file that only this user can write.
pub fn read(path: &Path) -> Option<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    // a symbolic link cannot be opened; a pipe is opened without waiting for a writer, and is then refused by
    // `open_file`
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut file = options.open(path).ok()?;
    check::open_file(&file).ok()?;
    let mut content = Vec::new();
    file.read_to_end(&mut content).ok()?;
    Some(content)
}

/// Writes a file of the cache under a temporary name, and then renames it, so that readers see either the whole file or
/// no file.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let unfinished = folder.join(random_name());
    let written = create_new(&unfinished).and_then(|mut file| file.write_all(content));
    let renamed = written.and_then(|()| fs::rename(&unfinished, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    renamed
}

/// Computes the 128-bit hash FNV-1a, which is the same in all runs and with all compilers, unlike the hash of the
/// standard library. It detects damage and mistakes, but not attacks: a person who can write a file with a chosen hash
/// can also replace the program.
pub fn hash(parts: &[&[u8]]) -> u128 {
    let mut state: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in parts {
        for byte in part.iter().chain(&(part.len() as u64).to_le_bytes()) {
            state = (state ^ *byte as u128).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use super::{super::private::Private, *};

    fn chosen(settings: &[(&str, &str)]) -> Option<PathBuf> {
        choose(|name| settings.iter().find(|(set, _)| *set == name).map(|(_, value)| PathBuf::from(value)))
    }

    #[test]
    #[cfg(unix)]
    fn the_folder_is_the_users_or_there_is_none() {
        let all = [("BACKENDS_CACHE", "own"), ("XDG_CACHE_HOME", "/xdg"), ("HOME", "/user")];
        assert_eq!(chosen(&all), Some("own".into()));
        assert_eq!(chosen(&all[1..]), Some("/xdg/backends".into()));
        assert_eq!(chosen(&all[2..]), Some("/user/.cache/backends".into()));
        assert_eq!(chosen(&[]), None, "no folder that users share");
        assert_eq!(chosen(&[("XDG_CACHE_HOME", "cache"), ("HOME", "/user")]), Some("/user/.cache/backends".into()));
        assert_eq!(chosen(&[("XDG_CACHE_HOME", "cache"), ("HOME", ".")]), None);
    }

    #[test]
    fn what_is_written_is_read_and_nothing_is_left_beside_it() {
        let folder = Private::new().unwrap();
        let path = folder.path().join("file");
        assert_eq!(read(&path), None);
        write(&path, b"content").unwrap();
        write(&path, b"other").unwrap();
        assert_eq!(read(&path).as_deref(), Some(&b"other"[..]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(read(folder.path()), None, "a folder");
        let gone = folder.path().to_path_buf();
        drop(folder);
        assert!(!gone.exists());
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

        #[test]
        fn folders_and_files_are_for_this_user_alone() {
            let folder = Private::new().unwrap();
            let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
            assert_eq!(mode(folder.path()), 0o700);
            let made = create(&folder.path().join("a/b")).unwrap();
            assert_eq!((mode(&made), mode(made.parent().unwrap())), (0o700, 0o700));
            write(&made.join("file"), b"").unwrap();
            assert_eq!(mode(&made.join("file")), 0o600);
        }

        #[test]
        fn links_pipes_and_what_others_can_write_are_not_read() {
            let folder = Private::new().unwrap();
            let at = |name| folder.path().join(name);
            write(&at("file"), b"content").unwrap();
            symlink(at("file"), at("link")).unwrap();
            assert_eq!(read(&at("link")), None);
            for mode in [0o606, 0o602] {
                fs::set_permissions(at("file"), fs::Permissions::from_mode(mode)).unwrap();
                assert_eq!(read(&at("file")), None, "{mode:o}");
            }
            let pipe = std::ffi::CString::new(at("pipe").to_str().unwrap()).unwrap();
            // SAFETY: the path ends with a NUL byte.
            assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
            assert_eq!(read(&at("pipe")), None, "and it does not wait for a writer");
        }

        #[test]
        fn writing_follows_no_link() {
            let folder = Private::new().unwrap();
            let at = |name| folder.path().join(name);
            fs::write(at("precious"), "mine").unwrap();
            symlink(at("precious"), at("file")).unwrap();
            write(&at("file"), b"content").unwrap();
            assert_eq!(fs::read(at("precious")).unwrap(), b"mine");
            assert_eq!(read(&at("file")).as_deref(), Some(&b"content"[..]));
            symlink(at("precious"), at("taken")).unwrap();
            assert!(create_new(&at("taken")).is_err());
        }

        #[test]
        fn a_folder_that_others_can_write_is_not_used() {
            let folder = Private::new().unwrap();
            let shared = folder.path().join("shared");
            create_private(&shared).unwrap();
            fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
            for folder in [shared.clone(), shared.join("backends")] {
                let why = create(&folder).unwrap_err();
                assert!(why.contains(shared.to_str().unwrap()) && why.contains("all users"), "{why}");
                assert!(!shared.join("backends").exists());
            }
        }
    }
}
