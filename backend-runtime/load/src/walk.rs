//! Walks along a path on Unix systems, and checks owner and permissions of every folder and link on the way.

use super::trust::Trust;
use std::{
    ffi::OsString,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
};

/// Maximum number of symbolic links in one path, as on Linux.
const MAX_LINKS: usize = 40;

const STICKY: u32 = 0o1000;

/// Users whose files are trusted.
pub(super) struct Users {
    me: u32,
    /// The owner of the root folder, who can replace everything. In some containers this is not user 0.
    root: u32,
}

impl Users {
    pub(super) fn new() -> Result<Users, String> {
        // SAFETY: `geteuid` has no arguments, changes nothing and cannot fail.
        let me = unsafe { libc::geteuid() };
        let root = fs::metadata("/").map_err(|why| format!("/: {why}"))?.uid();
        Ok(Users { me, root })
    }

    /// Returns an error unless `entry` belongs to this user or to the administrator (user 0, or the owner of the root
    /// folder).
    pub(super) fn owner(&self, entry: &Metadata) -> Result<(), String> {
        let owner = entry.uid();
        if [self.me, 0, self.root].contains(&owner) {
            return Ok(());
        }
        Err(format!("belongs to user {owner}, not to user {} or the administrator", self.me))
    }

    /// Returns an error unless `entry` belongs to this user or to user 0. The caller uses this check if other users can
    /// write to the folder that contains `entry`, because such an entry is only as trustworthy as its owner.
    ///
    /// Unlike [`Users::owner`], this check does not accept the owner of the root folder. In some containers, the root
    /// folder belongs to a user other than 0, and the files of all users that the container does not know appear to
    /// belong to this same user.
    fn owner_among_others(&self, entry: &Metadata) -> Result<(), String> {
        if entry.uid() == self.me || entry.uid() == 0 {
            return Ok(());
        }
        Err(format!("belongs to user {}, in a folder that all users can write", entry.uid()))
    }

    /// Returns an error if all users can write the entry. If a search found the path, also returns an error if the
    /// entry's group can write the entry, unless it is an administrators' group or this user's private group.
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

    /// Returns whether `group` is the user's private group. Many systems create such a group for each user, and let it
    /// write all files of the user.
    fn is_own_group(&self, group: u32) -> bool {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        is_group_of_one(&read("/etc/passwd"), &read("/etc/group"), self.me, group)
    }
}

/// Returns whether the group is a group of administrators, whose members can write every file in any case.
fn is_administrators(group: u32) -> bool {
    group == 0 || cfg!(target_os = "macos") && group == 80
}

/// Returns whether the group has the name of the user, is the user's primary group, and has no other member. `users`
/// and `groups` are the contents of `/etc/passwd` and `/etc/group`.
pub(super) fn is_group_of_one(users: &str, groups: &str, user: u32, group: u32) -> bool {
    fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
        text.lines().map(|line| line.split(':').collect())
    }
    let number = |fields: &[&str], i: usize| fields.get(i).and_then(|text| text.parse::<u32>().ok());
    // the fields of a line of `users` are name:password:user:group:..
    let having: Vec<_> = lines(users).filter(|fields| number(fields, 3) == Some(group)).collect();
    let [only] = &having[..] else { return false };
    let name = only[0];
    // the fields of a line of `groups` are name:password:group:members
    let is_private = |fields: Vec<&str>| {
        let mut members = fields.get(3).copied().unwrap_or_default().split(',');
        number(&fields, 2) == Some(group) && fields[0] == name && members.all(|member| ["", name].contains(&member))
    };
    number(only, 2) == Some(user) && lines(groups).any(is_private)
}

/// A walk through the file system along a path. It begins at the root folder.
pub(super) struct Walk {
    trust: Trust,
    users: Users,
    /// The part of the path that is already resolved, without links.
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
        // the components of the path that remain, in reverse order
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
                if self.links > MAX_LINKS {
                    return Err(refused("leads through too many symbolic links".into()));
                }
                let target = fs::read_link(&next).map_err(|why| refused(why.to_string()))?;
                if target.is_absolute() {
                    self.at = PathBuf::from("/");
                }
                rest.extend(parts(&target));
            } else {
                // others may be able to write to a folder on the way if only owners can replace its entries (sticky
                // bit)
                if !entry.is_dir() || entry.mode() & STICKY == 0 {
                    self.users.writers(&entry, self.trust).map_err(refused)?;
                }
                self.at = next;
            }
        }
        Ok(())
    }

    /// Returns an error if users that are not trusted can write the file or folder at which the walk has arrived.
    pub(super) fn here(&self) -> Result<(), String> {
        let entry = fs::symlink_metadata(&self.at).map_err(|why| why.to_string());
        let refused = |why| format!("{}: {why}", self.at.display());
        entry.and_then(|entry| self.users.writers(&entry, self.trust)).map_err(refused)
    }

    /// Returns an error unless the owner of `entry`, an entry of the folder at which the walk has arrived, is trusted.
    fn may_lead_to(&self, entry: &Metadata) -> Result<(), String> {
        let folder = fs::symlink_metadata(&self.at).map_err(|why| why.to_string())?;
        if self.users.writers(&folder, self.trust).is_err() {
            self.users.owner_among_others(entry)?;
        }
        if self.trust == Trust::Found { self.users.owner(entry) } else { Ok(()) }
    }
}

/// Returns the components of a path in reverse order.
fn parts(path: &Path) -> Vec<OsString> {
    let part = |component: Component<'_>| match component {
        Component::Normal(_) | Component::ParentDir => Some(component.as_os_str().to_owned()),
        _ => None,
    };
    path.components().rev().filter_map(part).collect()
}
