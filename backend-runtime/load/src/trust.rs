//! The users that are trusted to write the code that this program loads. They depend on the source of the file's path.

/// The source of a path: the user or a search. It determines the users whose files are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user named the path, and thereby accepts its owner and the groups that can write it. A path that all users
    /// can write is still refused.
    Named,
    /// A search found the path. Only this user and the administrator may be able to write it.
    Found,
}
