//! Memory limits of the Linux control groups (cgroups) of this process. Containers, batch jobs and services set such
//! limits.
//!
//! A group is a folder in a virtual file system of the kernel, and the limits of its parent folders also apply. There
//! are two versions of control groups, with different file names (cgroups(7), and "Memory Resource Controller" and
//! "Control Group v2" of the kernel's documentation). A system may use both versions.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The memory limit of a control group, and the memory that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Maximum number of bytes that all processes of the group together may use.
    pub limit: u64,
    /// Bytes in use, without file caches that the kernel can drop when it needs memory.
    pub used: u64,
}

/// The file names in one version of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Files {
    limit: &'static str,
    used: &'static str,
    /// The first word of a line in the file `memory.stat`. The line has the size in bytes of the file caches that were
    /// not used recently. The kernel can drop these caches.
    droppable: &'static str,
}

const FIRST: Files =
    Files { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", droppable: "total_inactive_file" };
const SECOND: Files = Files { limit: "memory.max", used: "memory.current", droppable: "inactive_file" };

/// Returns the control groups of this process that have a limit. The list is empty on a system without control groups.
pub(super) fn of_this_process() -> Vec<Group> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let folders = folders(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
    folders.iter().filter_map(|(files, folder)| group(*files, folder)).collect()
}

/// Returns the folders of a process's groups and of all groups above them. `mounts` and `groups` are the contents of
/// the files `/proc/self/mountinfo` and `/proc/self/cgroup`.
fn folders(mounts: &str, groups: &str) -> Vec<(Files, PathBuf)> {
    let mut folders = Vec::new();
    for line in mounts.lines() {
        // a line of `mounts` has the form "31 23 0:28 ROOT PLACE rw,relatime - KIND SOURCE OPTIONS"
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let before: Vec<&str> = before.split(' ').collect();
        let (Some(&root), Some(&place)) = (before.get(3), before.get(4)) else { continue };
        let mut after = after.split(' ');
        let files = match (after.next(), after.nth(1)) {
            (Some("cgroup2"), _) => SECOND,
            (Some("cgroup"), Some(options)) if options.split(',').any(|option| option == "memory") => FIRST,
            _ => continue,
        };
        // a line of `groups` has the form "4:memory:/GROUP" in version 1 of control groups, and "0::/GROUP" in version
        // 2
        let of = |line: &'_ str| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (names, path) = (parts.next()?, parts.next()?);
            let ours = if files == SECOND { names.is_empty() } else { names.split(',').any(|name| name == "memory") };
            ours.then(|| path.to_owned())
        };
        let path = groups.lines().find_map(of).unwrap_or_default();
        // in a container, the mounted folder may be a group below the root group
        let below = Path::new(&path).strip_prefix(root).unwrap_or(Path::new(""));
        let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        let below = if plain { below } else { Path::new("") };
        folders.extend(below.ancestors().map(|below| (files, Path::new(place).join(below))));
    }
    folders
}

/// Reads the limit and the use of the group in a folder. Returns `None` if the group has no limit.
fn group(files: Files, folder: &Path) -> Option<Group> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    // if there is no limit, the file contains "max", or in the first version a number larger than any memory
    let limit = read(files.limit)?.trim().parse().ok()?;
    let used: u64 = read(files.used)?.trim().parse().ok()?;
    let stat = read("memory.stat").unwrap_or_default();
    let droppable = stat.lines().find_map(|line| line.strip_prefix(files.droppable)?.trim().parse().ok()).unwrap_or(0);
    Some(Group { limit, used: used.saturating_sub(droppable) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST_MOUNT: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
                               32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n";

    fn paths(mounts: &str, groups: &str) -> Vec<String> {
        folders(mounts, groups).iter().map(|(_, path)| path.display().to_string()).collect()
    }

    #[test]
    fn folders_of_both_versions() {
        let groups = "5:cpu:/other\n4:memory,hugetlb:/jobs/7\n0::/unified\n";
        let memory = "/sys/fs/cgroup/memory";
        assert_eq!(
            paths(FIRST_MOUNT, groups),
            [format!("{memory}/jobs/7"), format!("{memory}/jobs"), format!("{memory}/")]
        );
        assert!(folders(FIRST_MOUNT, groups).iter().all(|(files, _)| *files == FIRST));
        let second = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate";
        assert_eq!(paths(second, groups), ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/"]);
        // a container that sees only its own group; and a process in a group that its container does not see
        let shown = "30 23 0:26 /pods/a /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        assert_eq!(paths(shown, "0::/pods/a/b"), ["/sys/fs/cgroup/b", "/sys/fs/cgroup/"]);
        assert_eq!(paths(second, "0::/../x"), ["/sys/fs/cgroup/"]);
        assert_eq!(paths("nonsense\n1 2 - cgroup2\n", ""), [""; 0]);
    }

    #[test]
    fn limits_of_both_versions() {
        let folder = backend_load::private::Private::new().unwrap();
        let folder = folder.path();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        assert_eq!(group(SECOND, folder), None);
        write("memory.max", "max\n");
        write("memory.current", "5000\n");
        assert_eq!(group(SECOND, folder), None);
        write("memory.max", "8000\n");
        assert_eq!(group(SECOND, folder), Some(Group { limit: 8000, used: 5000 }));
        write("memory.stat", "active_file 7\ninactive_file 1000\ntotal_inactive_file 4000\n");
        assert_eq!(group(SECOND, folder), Some(Group { limit: 8000, used: 4000 }));
        write("memory.limit_in_bytes", "9223372036854771712\n");
        write("memory.usage_in_bytes", "6000\n");
        assert_eq!(group(FIRST, folder), Some(Group { limit: 9_223_372_036_854_771_712, used: 2000 }));
    }
}
