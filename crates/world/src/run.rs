//! `run`: runs a program on all ranks, and ends all ranks if one fails.

use crate::{World, mpi, say::say, status};
use std::{
    any::Any,
    fmt,
    panic::{self, AssertUnwindSafe},
    process,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

/// Runs a program on all ranks and then ends the process. All ranks must call this function, on the main thread.
///
/// If `f` succeeds on all ranks, MPI is finalised and the exit status is 0. If a rank returns an error or panics, the
/// message is printed with the number of the rank, and all ranks end at once, because other ranks may be waiting for
/// this rank. In this case the exit status is not 0.
pub fn run<E: fmt::Display>(f: impl FnOnce(&World) -> Result<(), E>) -> ! {
    let world = World::init().unwrap_or_else(|why| {
        mpi::say_once(&why.to_string());
        process::exit(status::NOT_BEGUN)
    });
    let (rank, size) = (world.rank(), world.size());
    watch_panics((size > 1).then_some(rank));
    let prefix = if size > 1 { format!("rank {rank}: ") } else { String::new() };
    match panic::catch_unwind(AssertUnwindSafe(|| f(&world))) {
        Ok(Ok(())) => {
            // dropping the last handle finalises MPI on this thread
            drop(world);
            mpi::done();
            process::exit(0)
        }
        Ok(Err(why)) => {
            say(&format!("{prefix}{why}"));
            world.abort(status::FAILED)
        }
        Err(why) => {
            // prints the panic here if the panic hook has not seen it, for example because the panic was passed on from
            // another thread
            if !SAID.load(Relaxed) {
                say(&format!("{prefix}panicked: {}", text_of(&*why)));
            }
            world.abort(status::PANICKED)
        }
    }
}

/// True if a panic has been printed.
static SAID: AtomicBool = AtomicBool::new(false);

/// Installs a panic hook that prints the rank's number before the message, and records that a panic was printed.
fn watch_panics(rank: Option<usize>) {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        SAID.store(true, Relaxed);
        if let Some(rank) = rank {
            say(&format!("rank {rank} panicked:"));
        }
        usual(info);
    }));
}

fn text_of(why: &(dyn Any + Send)) -> &str {
    let text = why.downcast_ref::<&str>().copied();
    text.or_else(|| why.downcast_ref::<String>().map(String::as_str)).unwrap_or("with a value that is not a text")
}
