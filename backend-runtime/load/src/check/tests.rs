//! Tests of the checks of files: a file that other users can write is refused.

use super::*;
use crate::check;
use crate::private::Private;
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns a private folder that contains the file `a/b/file`, and the path of this file.
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
    let error = check::path(path, trust).unwrap_err();
    assert!(error.starts_with(&part.display().to_string()) && error.contains(why), "{error}");
}

#[test]
fn what_others_can_write_is_refused_with_the_part_and_the_reason() {
    let (_folder, file) = tree();
    for trust in [Trust::Named, Trust::Found] {
        assert_eq!(check::path(&file, trust), Ok(file.clone()));
        for part in file.ancestors().take(3) {
            mode(part, 0o707);
            refused(&file, trust, part, "all users");
            mode(part, 0o700);
        }
    }
    // group 12345 is nobody's private group
    for part in file.ancestors().take(3) {
        if std::os::unix::fs::chown(part, None, Some(12345)).is_ok() {
            mode(part, 0o770);
            refused(&file, Trust::Found, part, "group 12345");
            check::path(&file, Trust::Named).unwrap();
            mode(part, 0o700);
        }
    }
}

#[test]
fn another_users_folder_is_refused() {
    let (_folder, file) = tree();
    let part = file.parent().unwrap();
    // only the administrator can change the owner of a folder
    if std::os::unix::fs::chown(part, Some(12345), None).is_ok() {
        refused(&file, Trust::Found, part, "belongs to user 12345");
        check::path(&file, Trust::Named).unwrap();
    }
}

#[test]
fn a_folder_of_all_users_leads_only_to_entries_of_this_one() {
    let (_folder, file) = tree();
    let (shared, inner) = (file.ancestors().nth(2).unwrap(), file.parent().unwrap());
    mode(shared, 0o1777);
    check::path(&file, Trust::Found).unwrap();
    refused(shared, Trust::Found, shared, "all users");
    refused(shared, Trust::Named, shared, "all users");
    refused(&inner.join(".."), Trust::Named, shared, "all users");
    if std::os::unix::fs::chown(inner, Some(12345), None).is_ok() {
        refused(&file, Trust::Named, inner, "belongs to user 12345");
        std::os::unix::fs::chown(inner, Some(0), None).unwrap();
        let link = shared.join("link");
        symlink(inner, &link).unwrap();
        check::path(&link.join("file"), Trust::Named).unwrap();
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
    assert_eq!(check::path(&at("absolute").join("file"), Trust::Found), Ok(file.clone()));
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
    let alone = |user, group| super::super::walk::is_group_of_one(users, groups, user, group);
    assert!(alone(1000, 1000) && alone(0, 0));
    assert!(!alone(1001, 100), "the group of several");
    assert!(!alone(1001, 1001), "not his files' group, and another is in it");
    assert!(!alone(1001, 1000) && !alone(7, 7));
    assert!(!super::super::walk::is_group_of_one(users, "ann:x:1000:eve", 1000, 1000), "another member");
    assert!(!super::super::walk::is_group_of_one(users, "wheel:x:1000:", 1000, 1000), "another name");
}
