//! Who is trusted to have named a path.

/// How a path came to be looked at, and with that whom it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The user named it. Whoever owns it, and whichever group may write it, is then the user's choice; a place that every
    /// user can write is refused all the same.
    Named,
    /// It was found. Only this user and the administrator may be able to write it.
    Found,
}
