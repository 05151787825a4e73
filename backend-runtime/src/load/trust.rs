//! Which users are trusted to have written a file. This depends on how the path of the file was found.

/// How a path was found. This determines the users whose files are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user named the path, and thereby accepts its owner and the groups that can write it. A path that all users
    /// can write is still refused.
    Named,
    /// A search found the path. Only this user and the administrator may be able to write it.
    Found,
}
