//! Trust in the owner of a path, which depends on the origin of the path.

/// Origin of a path, which determines the users whose files are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user named the path, and so accepts its owner and the groups that can write it. A path that every user can
    /// write is still refused.
    Named,
    /// A search found the path. Only this user and the administrator may be able to write it.
    Found,
}
