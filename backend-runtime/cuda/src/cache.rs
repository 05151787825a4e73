//! Compiled kernels on disk, so that a program compiles each kernel once per machine and not once per run.

use super::nvrtc::Compiled;
use backend_load::{
    cache::{self, hash},
    elf,
};
use std::path::PathBuf;

/// First line of every file: identifies the format and its version.
const FORM: &[u8] = b"backends kernel 2\n";

/// Size of the key, and also of the checksum, in bytes.
const HASH: usize = 16;

/// The place in the cache for the result of one compilation. One file keeps all kernels that the compilation makes.
pub(super) struct Entry {
    /// The path of the file; `None` if there is no folder for kernels.
    path: Option<PathBuf>,
    /// Hash of all the texts on which the compiled kernels depend. It is also the name of the file.
    key: [u8; HASH],
}

impl Entry {
    /// The cache entry of a compilation; `parts` are all the texts on which the compiled kernels depend.
    pub(super) fn of(parts: &[&str]) -> Entry {
        let bytes: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        let folder = cache::folder("cuda").inspect_err(|why| cache::say_once(why)).ok();
        Entry::in_folder(folder, hash(&bytes))
    }

    fn in_folder(folder: Option<PathBuf>, key: u128) -> Entry {
        Entry { path: folder.map(|folder| folder.join(format!("{key:032x}"))), key: key.to_le_bytes() }
    }

    /// Reads the stored kernels. `None` if no file exists, or if the file is damaged, has another key, or may have been
    /// written by another user.
    pub(super) fn read(&self) -> Option<Compiled> {
        let file = cache::read(self.path.as_ref()?)?;
        let (key, rest) = file.strip_prefix(FORM)?.split_at_checked(HASH)?;
        let (check, content) = rest.split_at_checked(HASH)?;
        if key != self.key || check != self.check(content) {
            return None;
        }
        let end = content.iter().position(|&byte| byte == 0)?;
        let names = std::str::from_utf8(&content[..end]).ok()?;
        let image = content[end + 1..].to_vec();
        is_image(&image).then(|| Compiled { image, names: names.lines().map(String::from).collect() })
    }

    /// Stores `compiled`. A cache that cannot be written is not an error, because the kernels are already in memory.
    pub(super) fn write(&self, compiled: &Compiled) {
        let Some(path) = &self.path else { return };
        let mut content = compiled.names.join("\n").into_bytes();
        content.push(0);
        content.extend_from_slice(&compiled.image);
        let file = [FORM, &self.key, &self.check(&content), &content].concat();
        let _ = cache::write(path, &file);
    }

    /// Checksum of the format line, the key and `content`, so that a file in another format or under another name fails
    /// the check.
    fn check(&self, content: &[u8]) -> [u8; HASH] {
        hash(&[FORM, &self.key, content]).to_le_bytes()
    }
}

/// Returns whether the image is safe to pass to the driver: a complete cubin, or PTX with its final NUL. The driver
/// gets no length, so it would read past the end of an incomplete image.
fn is_image(image: &[u8]) -> bool {
    let is_ptx = || {
        let text = image.strip_suffix(&[0]).and_then(|text| std::str::from_utf8(text).ok());
        text.is_some_and(|text| text.contains(".version") && text.contains(".target"))
    };
    if image.starts_with(b"\x7fELF") { elf::check_image(image).is_ok() } else { is_ptx() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compiler;
    use backend_load::private::Private;
    use std::fs;

    const PTX: &[u8] = b".version 9.0\n.target sm_90\n\0";

    fn compiled(image: &[u8]) -> Compiled {
        Compiled { image: image.to_vec(), names: vec!["a".into(), "b".into()] }
    }

    fn entry(folder: &Private, key: u128) -> Entry {
        Entry::in_folder(Some(folder.path().to_path_buf()), key)
    }

    #[test]
    fn what_is_written_is_read_and_damage_is_seen() {
        let folder = Private::new().unwrap();
        let entry = entry(&folder, 1);
        assert_eq!(entry.read(), None);
        entry.write(&compiled(PTX));
        assert_eq!(entry.read(), Some(compiled(PTX)));
        let path = entry.path.as_ref().unwrap();
        let file = fs::read(path).unwrap();
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            cache::write(path, &damaged).unwrap();
            assert_eq!(entry.read(), None, "byte {at}");
            cache::write(path, &file[..at]).unwrap();
            assert_eq!(entry.read(), None, "the first {at} bytes");
        }
    }

    #[test]
    fn a_file_under_the_name_of_another_is_not_run() {
        let folder = Private::new().unwrap();
        let (one, other) = (entry(&folder, 1), entry(&folder, 2));
        one.write(&compiled(PTX));
        fs::copy(one.path.as_ref().unwrap(), other.path.as_ref().unwrap()).unwrap();
        assert!(one.read().is_some());
        assert_eq!(other.read(), None);
    }

    #[test]
    fn what_is_no_image_is_refused_though_its_checksum_is_right() {
        let folder = Private::new().unwrap();
        let entry = entry(&folder, 1);
        let unending = &PTX[..PTX.len() - 1];
        for image in [&b""[..], b"\0", b"\x7fELF", &[0x7f; 200], unending, b"#!/bin/sh\0"] {
            entry.write(&compiled(image));
            assert_eq!(entry.read(), None, "{image:?}");
        }
    }

    #[test]
    fn what_the_compiler_makes_is_an_image_and_a_part_of_it_is_none() {
        let Some(target) = compiler() else { return };
        let source = "template <typename T> __global__ void fill(T* out, T x) { out[threadIdx.x] = x; }";
        for target in [target, crate::nvrtc::Target::named("compute_90")] {
            let made = crate::nvrtc::compile(source, &["fill<float>".into()], &target).unwrap();
            assert!(is_image(&made.image));
            assert!(!is_image(&made.image[..made.image.len() / 2]));
            assert!(!is_image(&made.image[..made.image.len() - 1]));
        }
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        let entry = Entry::in_folder(None, 1);
        entry.write(&compiled(PTX));
        assert_eq!(entry.read(), None);
    }
}
