//! What a job says of its end to who started it: the exit statuses of ranks. 0 is a job in which nothing failed.

/// A rank gave an error ([`run`](crate::run)).
pub const FAILED: i32 = 1;

/// There is no world: no library, or one that is not the launcher's ([`run`](crate::run)).
pub const NOT_BEGUN: i32 = 3;

/// A rank called `exit` before its end, or returned from [`run`](crate::run) while others waited for it.
pub const LEFT: i32 = 70;

/// A rank panicked.
pub const PANICKED: i32 = 101;

/// A call took longer than the time limit, or all ranks waited for each other. That of the program `timeout`, too.
pub const TIMED_OUT: i32 = 124;
