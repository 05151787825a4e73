//! Exit statuses of ranks. 0 means that nothing failed. A launcher normally exits with the status of the rank that
//! failed. However, the launcher of Open MPI 5 sometimes ends with a segmentation fault after a rank aborts, and the
//! shell then reports 139.

/// A rank returned an error ([`run`](crate::run)).
pub const FAILED: i32 = 1;

/// The world could not be created: no library was found, or only a library of another family than the launcher
/// ([`run`](crate::run)).
pub const NOT_BEGUN: i32 = 3;

/// A rank called `exit` too early, or returned from [`run`](crate::run) while other ranks waited for it.
pub const LEFT: i32 = 70;

/// A rank panicked.
pub const PANICKED: i32 = 101;

/// A call exceeded the time limit, or all ranks waited for each other. The program `timeout` uses the same status.
pub const TIMED_OUT: i32 = 124;
