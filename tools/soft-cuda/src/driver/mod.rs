//! The driver, `libcuda`: the exported functions, and the state that they share.
//!
//! Every exported function is a thin layer over a safe method of [`Driver`]; the tests call these methods. One lock
//! protects the whole state. Work on streams is queued, and runs as late as possible: usually only when the host waits
//! for it, or when other running work depends on it (`queue`).
//!
//! The modules depend on each other in this order: `error`, `config`, `counts`, `work` (streams and their work),
//! `handles`, then `state` (the driver), `edge` (the driver of this process), and a file for each kind of function.

pub mod config;
pub mod context;
pub mod copy;
pub mod counts;
pub mod device;
mod edge;
pub mod error;
pub mod event;
mod handles;
pub mod launch;
pub mod memory;
pub mod module;
pub mod pinned;
mod queue;
pub mod report;
mod state;
pub mod stream;
mod work;

pub(crate) use edge::{advance, current, finish_device, lock};
pub(crate) use error::put;
pub use state::Driver;
pub(crate) use work::{Remote, Work};

#[cfg(test)]
mod tests;
