//! Trust in a path, depending on who named it.

/// Origin of a path, which decides whose files are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user named the path. The user then decides who owns it and which group may write it; a place that every user
    /// can write is refused all the same.
    Named,
    /// The path was found by a search. Only this user and the administrator may be able to write it.
    Found,
}
