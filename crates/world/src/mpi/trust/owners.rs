//! Checks, on Unix systems, which users can have written a file.

use super::Trust;
use std::{
    ffi::OsString,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

/// The number of symbolic links that Linux follows in one path.
const MOST_LINKS: usize = 40;

/// The sticky bit. In a folder with this bit, such as `/tmp`, entries can be replaced only by their owners.
const STICKY: u32 = 0o1000;

/// Checks every folder, link and file of the path, beginning at the root folder. Returns the path with all links
/// resolved. If the check succeeds, no other user can change any component of the path, so a later use of the path
/// finds the file that was checked.
pub(super) fn check(path: &Path, trust: Trust) -> Result<PathBuf, String> {
    let path = std::path::absolute(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let (mut at, mut rest, mut links) = (PathBuf::from("/"), parts(&path), 0);
    while let Some(part) = rest.pop() {
        if part == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&part);
        let refuse = |why: String| format!("{}: {why}", next.display());
        let look = |path: &Path| fs::symlink_metadata(path).map_err(|why| refuse(why.to_string()));
        let (folder, entry) = (look(&at)?, look(&next)?);
        owner(&entry, writers(&folder, trust).is_err(), trust).map_err(refuse)?;
        if entry.is_symlink() {
            links += 1;
            if links > MOST_LINKS {
                return Err(refuse("leads through too many symbolic links".into()));
            }
            let target = fs::read_link(&next).map_err(|why| refuse(why.to_string()))?;
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            rest.extend(parts(&target));
            continue;
        }
        // a parent folder may be writable by all users if only owners can replace its entries, because the next entry
        // is checked as well
        let is_on_the_way = entry.is_dir() && entry.mode() & STICKY != 0 && !rest.is_empty();
        if !is_on_the_way {
            writers(&entry, trust).map_err(refuse)?;
        }
        at = next;
    }
    Ok(at)
}

/// The components of a path in reverse order.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(_) | Component::ParentDir => Some(component.as_os_str().to_owned()),
        _ => None,
    };
    path.components().rev().filter_map(part).collect()
}

/// Checks that the owner is this user or the administrator. For a path that the user named, this check is needed only
/// if other users can write to the folder.
fn owner(entry: &Metadata, among_others: bool, trust: Trust) -> Result<(), String> {
    if trust == Trust::Named && !among_others {
        return Ok(());
    }
    let me = this_user();
    // The owner of the root folder is the administrator, who is not user 0 in some containers. In such a container,
    // files of users unknown to the container appear to belong to this owner. So the owner of the root folder is not
    // trusted in a folder that all users can write to.
    let root = if among_others { 0 } else { fs::metadata("/").map_or(0, |root| root.uid()) };
    if [me, 0, root].contains(&entry.uid()) {
        return Ok(());
    }
    Err(format!("belongs to user {}, not to user {me} or the administrator", entry.uid()))
}

/// Checks that only the owner can write to the entry, directly or through a group without other members.
fn writers(entry: &Metadata, trust: Trust) -> Result<(), String> {
    if entry.mode() & 0o002 != 0 {
        return Err("can be written by all users".into());
    }
    let by_group = trust == Trust::Found && entry.mode() & 0o020 != 0;
    let administrators = |group| group == 0 || cfg!(target_os = "macos") && group == 80;
    if by_group && !administrators(entry.gid()) {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        if !is_group_of_one(&read("/etc/passwd"), &read("/etc/group"), this_user(), entry.gid()) {
            return Err(format!("can be written by group {}", entry.gid()));
        }
    }
    Ok(())
}

/// Returns whether the group is the private group that many systems create for each user. Such a group has the user's
/// name, is the primary group of this user only, and has no other member.
fn is_group_of_one(users: &str, groups: &str, user: u32, group: u32) -> bool {
    // the fields are name:password:user:group:.. and name:password:group:members
    let fields = |line: &'_ str, at: usize| line.split(':').nth(at).map(String::from).unwrap_or_default();
    let is = |line: &str, at: usize, number: u32| fields(line, at).parse() == Ok(number);
    let mut having = users.lines().filter(|line| is(line, 3, group));
    let (Some(only), None) = (having.next(), having.next()) else { return false };
    let name = fields(only, 0);
    let is_private = |line: &str| {
        let members = fields(line, 3);
        is(line, 2, group) && fields(line, 0) == name && members.split(',').all(|member| ["", &name].contains(&member))
    };
    is(only, 2, user) && groups.lines().any(is_private)
}

fn this_user() -> u32 {
    // SAFETY: `geteuid` has no arguments, changes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder for one test, which is deleted when the value is dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("backends-world-{name}-{}", std::process::id()));
            fs::create_dir_all(path.join("a/b")).unwrap();
            fs::write(path.join("a/b/file"), "content").unwrap();
            for part in ["", "a", "a/b", "a/b/file"] {
                mode(&path.join(part), 0o700);
            }
            Folder(path.canonicalize().unwrap())
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.join(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_can_write_is_refused_with_the_part_and_the_reason() {
        let folder = Folder::new("writers");
        let file = folder.at("a/b/file");
        for trust in [Trust::Named, Trust::Found] {
            assert_eq!(check(&file, trust), Ok(file.clone()));
            for part in ["a", "a/b", "a/b/file"].map(|part| folder.at(part)) {
                mode(&part, 0o707);
                let why = check(&file, trust).unwrap_err();
                assert_eq!(why, format!("{}: can be written by all users", part.display()));
                mode(&part, 0o700);
            }
        }
        // a folder in which only owners can replace entries is allowed as a parent folder, but not as the library
        // itself
        mode(&folder.at("a"), 0o1777);
        assert_eq!(check(&file, Trust::Found), Ok(file));
        assert!(check(&folder.at("a"), Trust::Found).is_err());
    }

    #[test]
    fn links_are_followed_and_looked_at() {
        let folder = Folder::new("links");
        let file = folder.at("a/b/file");
        symlink("b/file", folder.at("a/relative")).unwrap();
        symlink(folder.at("a/../a/relative"), folder.at("absolute")).unwrap();
        assert_eq!(check(&folder.at("absolute"), Trust::Found), Ok(file.clone()));
        mode(&folder.at("a/b"), 0o702);
        assert!(check(&folder.at("absolute"), Trust::Found).unwrap_err().contains("a/b: can be written by all"));
        symlink("circle", folder.at("circle")).unwrap();
        assert!(check(&folder.at("circle"), Trust::Named).unwrap_err().contains("too many symbolic links"));
        assert!(check(&folder.at("missing"), Trust::Named).unwrap_err().contains("missing: "));
    }

    #[test]
    fn files_of_other_users_are_refused() {
        let folder = Folder::new("owners");
        let file = folder.at("a/b/file");
        // only the administrator can change the owner of a file
        if std::os::unix::fs::chown(&file, Some(65534), Some(65534)).is_err() {
            return;
        }
        assert!(check(&file, Trust::Found).unwrap_err().contains("belongs to user 65534"));
        assert_eq!(check(&file, Trust::Named), Ok(file.clone()), "the user's choice");
        mode(&folder.at("a/b"), 0o1777);
        assert!(check(&file, Trust::Named).unwrap_err().contains("belongs to user 65534"), "anybody's");
        std::os::unix::fs::chown(&file, Some(0), Some(65534)).unwrap();
        mode(&folder.at("a/b"), 0o700);
        mode(&file, 0o720);
        assert!(check(&file, Trust::Found).unwrap_err().contains("can be written by group 65534"));
    }

    #[test]
    fn a_group_of_one_is_the_users_own() {
        let users = "ann:x:1000:1000::/:sh\nbob:x:1001:1001::/:sh\ncid:x:1002:1001::/:sh\n";
        let groups = "ann:x:1000:\nbob:x:1001:\nstaff:x:50:ann\n";
        assert!(is_group_of_one(users, groups, 1000, 1000));
        assert!(!is_group_of_one(users, groups, 1001, 1001), "of two users");
        assert!(!is_group_of_one(users, groups, 1000, 50), "not that of his files");
        assert!(!is_group_of_one(users, "ann:x:1000:bob\n", 1000, 1000), "another member");
        assert!(!is_group_of_one("", groups, 1000, 1000));
    }
}
