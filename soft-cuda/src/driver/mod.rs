//! The driver, `libcuda`: its exported functions, and the state they work on.
//!
//! Every exported function is a thin edge over a method of [`Driver`], which is safe and is what the tests call. One lock
//! is around it all. Work on streams is kept in queues and run as late as the order of streams allows (`queue`), so that
//! what was not waited for has not happened.
//!
//! Types are below what uses them: `error`, `config`, `counts`, `work` (streams and what is put on them), `handles`, then
//! `state` (the driver), `edge` (the driver of this process), and above these a file for each kind of function.

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
