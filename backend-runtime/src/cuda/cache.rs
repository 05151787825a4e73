//! Compiled kernels on disk, so that a program compiles each kernel once per machine and not once per run.

use super::nvrtc::Compiled;
use std::{
    env, fs,
    path::PathBuf,
    process,
    sync::atomic::{AtomicU64, Ordering},
};

/// Where compiled kernels are kept: `$BACKENDS_CACHE`, else `backends` in the user's cache folder.
fn folder() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let own = set("BACKENDS_CACHE");
    let xdg = || set("XDG_CACHE_HOME").map(|folder| folder.join("backends"));
    let home = || set("HOME").map(|folder| folder.join(".cache/backends"));
    own.or_else(xdg).or_else(home).unwrap_or_else(|| env::temp_dir().join("backends")).join("cuda")
}

/// FNV-1a in 128 bits: stable between runs and compilers, which std's hasher does not promise.
fn hash(parts: &[&[u8]]) -> u128 {
    let mut state: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in parts {
        for byte in part.iter().chain(&(part.len() as u64).to_le_bytes()) {
            state = (state ^ *byte as u128).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
    state
}

/// One program's place on disk.
pub(super) struct Entry(PathBuf);

impl Entry {
    /// The entry of what is compiled from `parts`: all that the result depends on.
    pub(super) fn of(parts: &[&str]) -> Entry {
        let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        Entry(folder().join(format!("{:032x}", hash(&bytes))))
    }

    /// What was stored, unless there is nothing or the file is damaged.
    pub(super) fn read(&self) -> Option<Compiled> {
        let file = fs::read(&self.0).ok()?;
        let (check, content) = file.split_at_checked(16)?;
        if check != hash(&[content]).to_le_bytes() {
            return None;
        }
        let end = content.iter().position(|&byte| byte == 0)?;
        let names = std::str::from_utf8(&content[..end]).ok()?;
        Some(Compiled { image: content[end + 1..].to_vec(), names: names.lines().map(String::from).collect() })
    }

    /// Stores `compiled`. A cache that cannot be written is no error: the kernel is there.
    pub(super) fn write(&self, compiled: &Compiled) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut content = compiled.names.join("\n").into_bytes();
        content.push(0);
        content.extend_from_slice(&compiled.image);
        let file = [&hash(&[&content]).to_le_bytes()[..], &content].concat();
        // readers see either nothing or the whole file: it gets its name when it is complete
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.0.with_extension(format!("{}.{number}", process::id()));
        let written = self.0.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&unfinished, file));
        if written.and_then(|()| fs::rename(&unfinished, &self.0)).is_err() {
            let _ = fs::remove_file(&unfinished);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_damage_is_seen() {
        let folder = env::temp_dir().join(format!("backends-cache-test-{}", process::id()));
        let entry = Entry(folder.join("entry"));
        assert_eq!(entry.read(), None);
        let compiled = Compiled { image: vec![1, 0, 2], names: vec!["a".into(), "b".into()] };
        entry.write(&compiled);
        assert_eq!(entry.read(), Some(compiled));
        let mut file = fs::read(&entry.0).unwrap();
        *file.last_mut().unwrap() ^= 1;
        fs::write(&entry.0, file).unwrap();
        assert_eq!(entry.read(), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(hash(&[b"ab", b"c"]), hash(&[b"a", b"bc"]));
    }
}
