//! The driver, `libcuda`: its exported functions, and the state they work on.
//!
//! Every exported function is a thin edge over a method of [`Driver`], which is safe and is what the tests call. One lock
//! is around it all. Work on streams is kept in queues and run as late as the order of streams allows (`queue`), so that
//! what was not waited for has not happened.

pub mod config;
pub mod context;
pub mod copy;
pub mod counts;
pub mod device;
mod edge;
pub mod error;
pub mod event;
pub mod launch;
pub mod memory;
pub mod module;
pub(crate) mod queue;
mod state;
pub mod stream;

pub(crate) use edge::{current, lock, put};
pub(crate) use queue::Work;
pub use state::Driver;

#[cfg(test)]
mod tests;
