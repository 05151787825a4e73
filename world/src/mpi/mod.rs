//! MPI.

mod launcher;

use crate::{Error, Result, World};
use launcher::launcher;
use std::time::Duration;

pub(crate) fn world() -> Result<World> {
    match launcher() {
        Some(launcher) if launcher.size > 1 => {
            Err(Error::NoLibrary { launcher: launcher.to_string(), tried: Vec::new() })
        }
        _ => Ok(World::alone()),
    }
}

/// Prints, on one rank only where a launcher says which one this is.
pub(crate) fn say_once(text: &str) {
    match launcher().and_then(|launcher| launcher.rank) {
        // rank 0 says it; the launcher may end all ranks as soon as one has failed
        Some(rank) if rank > 0 => std::thread::sleep(Duration::from_millis(500)),
        _ => eprintln!("{text}"),
    }
}
