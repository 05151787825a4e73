//! The world of this process, which all calls of `World::init` share.

use crate::{Error, World, world::WeakWorld};
use std::sync::Mutex;

/// The state of the world of this process.
pub(super) enum Slot {
    /// The world has not been requested yet.
    Empty,
    /// A world that lives as long as its handles.
    Lent(WeakWorld),
    /// A world that lives until the process ends.
    Kept(World),
    /// The world could not be created.
    Failed(Error),
}

pub(super) static WORLD: Mutex<Slot> = Mutex::new(Slot::Empty);

/// Returns whether another thread is in a call of the world.
pub(super) fn is_calling() -> bool {
    let Ok(slot) = WORLD.try_lock() else { return true };
    match &*slot {
        Slot::Kept(world) => world.is_calling(),
        Slot::Lent(lent) => lent.upgrade().is_some_and(|world| world.is_calling()),
        Slot::Empty | Slot::Failed(_) => false,
    }
}
