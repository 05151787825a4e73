//! Who may have written a file: nothing is loaded or run that another user can put in place.

use std::path::{Path, PathBuf};

/// How a path came to be looked at, and with that whom it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user named it. Whoever owns it, and whichever group may write it, is then the user's choice; a place that every
    /// user can write is refused all the same.
    Named,
    /// It was found. Only this user and the administrator may be able to write it.
    Found,
}

/// Follows `path` from the root folder and checks every folder, symbolic link and file on the way; what it leads to, as a
/// path without links, or which part was refused and why.
///
/// A folder that all users can write but whose entries only their owners can replace, as `/tmp`, may lead to an entry of
/// this user or of the administrator; it is refused as the place itself. As nobody else can then change any part of the
/// path, what was checked is what a later use of the path finds.
#[cfg(unix)]
pub fn check(path: &Path, trust: Trust) -> Result<PathBuf, String> {
    let mut walk = unix::Walk::new(trust)?;
    walk.follow(path)?;
    walk.here()?;
    Ok(walk.at)
}

/// As [`check`], of a folder on the way to an entry that is to be made in it: all users may be able to write it, where only
/// owners can replace its entries.
#[cfg(unix)]
pub fn check_way(folder: &Path, trust: Trust) -> Result<PathBuf, String> {
    let mut walk = unix::Walk::new(trust)?;
    walk.follow(folder)?;
    Ok(walk.at)
}

/// On other systems the folders of a user are closed to others by the system's own rules, which are not checked.
#[cfg(not(unix))]
pub fn check(path: &Path, _: Trust) -> Result<PathBuf, String> {
    path.canonicalize().map_err(|why| format!("{}: {why}", path.display()))
}

/// As for [`check`].
#[cfg(not(unix))]
pub fn check_way(folder: &Path, trust: Trust) -> Result<PathBuf, String> {
    check(folder, trust)
}

/// Checks a file that is open, so that nothing can come between check and use.
#[cfg(unix)]
pub fn check_open(file: &std::fs::File) -> Result<(), String> {
    let metadata = file.metadata().map_err(|why| why.to_string())?;
    if !metadata.is_file() {
        return Err("is no regular file".into());
    }
    let users = unix::Users::new()?;
    users.owner(&metadata)?;
    users.writers(&metadata, Trust::Found)
}

/// As for [`check`].
#[cfg(not(unix))]
pub fn check_open(file: &std::fs::File) -> Result<(), String> {
    let metadata = file.metadata().map_err(|why| why.to_string())?;
    if metadata.is_file() { Ok(()) } else { Err("is no regular file".into()) }
}

#[cfg(unix)]
mod unix {
    use super::Trust;
    use std::{
        ffi::OsString,
        fs::{self, Metadata},
        os::unix::fs::MetadataExt,
        path::{Component, Path, PathBuf},
    };

    /// As many symbolic links as Linux follows in one path.
    const MOST_LINKS: usize = 40;

    const STICKY: u32 = 0o1000;

    /// Whose files are trusted.
    pub(super) struct Users {
        me: u32,
        /// The owner of the root folder can replace everything. In some containers that is not user 0.
        root: u32,
    }

    impl Users {
        pub(super) fn new() -> Result<Users, String> {
            // SAFETY: it has no arguments, changes nothing and cannot fail.
            let me = unsafe { libc::geteuid() };
            let root = fs::metadata("/").map_err(|why| format!("/: {why}"))?.uid();
            Ok(Users { me, root })
        }

        /// The owner has to be this user or the administrator.
        pub(super) fn owner(&self, entry: &Metadata) -> Result<(), String> {
            let owner = entry.uid();
            if [self.me, 0, self.root].contains(&owner) {
                return Ok(());
            }
            Err(format!("belongs to user {owner}, not to user {} or the administrator", self.me))
        }

        /// In a folder that all can write, an entry is as trusted as its owner. Where user 0 is not the owner of the root
        /// folder, entries of all users that the container does not know seem to have one owner, so that is not enough.
        fn owner_among_others(&self, entry: &Metadata) -> Result<(), String> {
            if entry.uid() == self.me || entry.uid() == 0 {
                return Ok(());
            }
            Err(format!("belongs to user {}, in a folder that all users can write", entry.uid()))
        }

        /// Nobody but the owner may be able to write it.
        pub(super) fn writers(&self, entry: &Metadata, trust: Trust) -> Result<(), String> {
            if entry.mode() & 0o002 != 0 {
                return Err("can be written by all users".into());
            }
            let by_group = trust == Trust::Found && entry.mode() & 0o020 != 0;
            if by_group && !is_administrators(entry.gid()) && !self.is_own_group(entry.gid()) {
                return Err(format!("can be written by group {}", entry.gid()));
            }
            Ok(())
        }

        /// Whether it is the group that many systems give each user alone, and let write all his files.
        fn is_own_group(&self, group: u32) -> bool {
            let read = |path| fs::read_to_string(path).unwrap_or_default();
            is_group_of_one(&read("/etc/passwd"), &read("/etc/group"), self.me, group)
        }
    }

    /// Whether members of the group can do everything anyway.
    fn is_administrators(group: u32) -> bool {
        group == 0 || cfg!(target_os = "macos") && group == 80
    }

    /// Whether the group has the name of the user, is the one of his files, and has no other member.
    pub(super) fn is_group_of_one(users: &str, groups: &str, user: u32, group: u32) -> bool {
        fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
            text.lines().map(|line| line.split(':').collect())
        }
        let number = |fields: &[&str], i: usize| fields.get(i).and_then(|text| text.parse::<u32>().ok());
        // name:password:user:group:..
        let having: Vec<_> = lines(users).filter(|fields| number(fields, 3) == Some(group)).collect();
        let [only] = &having[..] else { return false };
        let name = only[0];
        // name:password:group:members
        let is_private = |fields: Vec<&str>| {
            let mut members = fields.get(3).copied().unwrap_or_default().split(',');
            number(&fields, 2) == Some(group) && fields[0] == name && members.all(|member| ["", name].contains(&member))
        };
        number(only, 2) == Some(user) && lines(groups).any(is_private)
    }

    /// A way through the file system, from the root folder.
    pub(super) struct Walk {
        trust: Trust,
        users: Users,
        /// As far as it went.
        pub(super) at: PathBuf,
        links: usize,
    }

    impl Walk {
        pub(super) fn new(trust: Trust) -> Result<Walk, String> {
            let walk = Walk { trust, users: Users::new()?, at: PathBuf::from("/"), links: 0 };
            walk.here()?;
            Ok(walk)
        }

        pub(super) fn follow(&mut self, path: &Path) -> Result<(), String> {
            let path = std::path::absolute(path).map_err(|why| format!("{}: {why}", path.display()))?;
            // what is still to be followed, last part first
            let mut rest = parts(&path);
            while let Some(part) = rest.pop() {
                if part == ".." {
                    self.at.pop();
                    continue;
                }
                let next = self.at.join(&part);
                let refused = |why: String| format!("{}: {why}", next.display());
                let entry = fs::symlink_metadata(&next).map_err(|why| refused(why.to_string()))?;
                self.may_lead_to(&entry).map_err(refused)?;
                if entry.is_symlink() {
                    self.links += 1;
                    if self.links > MOST_LINKS {
                        return Err(refused("leads through too many symbolic links".into()));
                    }
                    let target = fs::read_link(&next).map_err(|why| refused(why.to_string()))?;
                    if target.is_absolute() {
                        self.at = PathBuf::from("/");
                    }
                    rest.extend(parts(&target));
                } else {
                    // what others can write leads on if only owners can replace its entries
                    if !entry.is_dir() || entry.mode() & STICKY == 0 {
                        self.users.writers(&entry, self.trust).map_err(refused)?;
                    }
                    self.at = next;
                }
            }
            Ok(())
        }

        /// Whether only the right ones can write what was come to.
        pub(super) fn here(&self) -> Result<(), String> {
            let entry = fs::symlink_metadata(&self.at).map_err(|why| why.to_string());
            let refused = |why| format!("{}: {why}", self.at.display());
            entry.and_then(|entry| self.users.writers(&entry, self.trust)).map_err(refused)
        }

        /// Whether an entry of the folder that was come to has an owner to be trusted.
        fn may_lead_to(&self, entry: &Metadata) -> Result<(), String> {
            let folder = fs::symlink_metadata(&self.at).map_err(|why| why.to_string())?;
            if self.users.writers(&folder, self.trust).is_err() {
                self.users.owner_among_others(entry)?;
            }
            if self.trust == Trust::Found { self.users.owner(entry) } else { Ok(()) }
        }
    }

    /// The parts of a path, last one first.
    fn parts(path: &Path) -> Vec<OsString> {
        let part = |component: Component<'_>| match component {
            Component::Normal(_) | Component::ParentDir => Some(component.as_os_str().to_owned()),
            _ => None,
        };
        path.components().rev().filter_map(part).collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{super::cache::Private, *};
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
    };

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A folder of this process alone, and in it `a/b/file`.
    fn tree() -> (Private, PathBuf) {
        let folder = Private::new().unwrap();
        let file = folder.path().join("a/b/file");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "content").unwrap();
        for path in file.ancestors().take(3) {
            mode(path, 0o700);
        }
        (folder, file)
    }

    fn refused(path: &Path, trust: Trust, part: &Path, why: &str) {
        let error = check(path, trust).unwrap_err();
        assert!(error.starts_with(&part.display().to_string()) && error.contains(why), "{error}");
    }

    #[test]
    fn what_others_can_write_is_refused_with_the_part_and_the_reason() {
        let (_folder, file) = tree();
        for trust in [Trust::Named, Trust::Found] {
            assert_eq!(check(&file, trust), Ok(file.clone()));
            for part in file.ancestors().take(3) {
                mode(part, 0o707);
                refused(&file, trust, part, "all users");
                mode(part, 0o700);
            }
        }
        // group 12345 is nobody's own
        for part in file.ancestors().take(3) {
            if std::os::unix::fs::chown(part, None, Some(12345)).is_ok() {
                mode(part, 0o770);
                refused(&file, Trust::Found, part, "group 12345");
                check(&file, Trust::Named).unwrap();
                mode(part, 0o700);
            }
        }
    }

    #[test]
    fn another_users_folder_is_refused() {
        let (_folder, file) = tree();
        let part = file.parent().unwrap();
        // only the administrator can give a folder away
        if std::os::unix::fs::chown(part, Some(12345), None).is_ok() {
            refused(&file, Trust::Found, part, "belongs to user 12345");
            check(&file, Trust::Named).unwrap();
        }
    }

    #[test]
    fn a_folder_of_all_users_leads_only_to_entries_of_this_one() {
        let (_folder, file) = tree();
        let (shared, inner) = (file.ancestors().nth(2).unwrap(), file.parent().unwrap());
        mode(shared, 0o1777);
        check(&file, Trust::Found).unwrap();
        refused(shared, Trust::Found, shared, "all users");
        refused(shared, Trust::Named, shared, "all users");
        refused(&inner.join(".."), Trust::Named, shared, "all users");
        if std::os::unix::fs::chown(inner, Some(12345), None).is_ok() {
            refused(&file, Trust::Named, inner, "belongs to user 12345");
            std::os::unix::fs::chown(inner, Some(0), None).unwrap();
            let link = shared.join("link");
            symlink(inner, &link).unwrap();
            check(&link.join("file"), Trust::Named).unwrap();
            std::os::unix::fs::lchown(&link, Some(12345), None).unwrap();
            refused(&link.join("file"), Trust::Named, &link, "belongs to user 12345");
        }
    }

    #[test]
    fn links_are_followed_and_what_they_lead_through_is_checked() {
        let (folder, file) = tree();
        let at = |name: &str| folder.path().join(name);
        symlink("a", at("relative")).unwrap();
        symlink(folder.path().join("relative/b/../b"), at("absolute")).unwrap();
        assert_eq!(check(&at("absolute").join("file"), Trust::Found), Ok(file.clone()));
        mode(file.ancestors().nth(2).unwrap(), 0o777);
        refused(&at("absolute").join("file"), Trust::Found, file.ancestors().nth(2).unwrap(), "all users");
        symlink("round", at("round")).unwrap();
        refused(&at("round"), Trust::Found, &at("round"), "too many");
        refused(&at("none"), Trust::Found, &at("none"), "No such file");
    }

    #[test]
    fn a_group_of_one_is_the_user_himself() {
        let users = "root:x:0:0::/:sh\nann:x:1000:1000:A:/x:sh\nbob:x:1001:100::/y:sh\neve:x:1002:100::/z:sh\nbroken";
        let groups = "root:x:0:\nann:x:1000:\nusers:x:100:\nbob:x:1001:eve";
        let alone = |user, group| super::unix::is_group_of_one(users, groups, user, group);
        assert!(alone(1000, 1000) && alone(0, 0));
        assert!(!alone(1001, 100), "the group of several");
        assert!(!alone(1001, 1001), "not his files' group, and another is in it");
        assert!(!alone(1001, 1000) && !alone(7, 7));
        assert!(!super::unix::is_group_of_one(users, "ann:x:1000:eve", 1000, 1000), "another member");
        assert!(!super::unix::is_group_of_one(users, "wheel:x:1000:", 1000, 1000), "another name");
    }
}
