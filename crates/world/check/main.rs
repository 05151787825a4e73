//! Reports which MPI library is found, and tries every call of a world: `mpiexec -n 4 world_check`. The tests also run
//! this program with an argument: `speed`, or the name of a mistake that a program can make.

#[path = "../tests/calls/mod.rs"]
mod calls;
mod mistakes;
mod speed;

use backends_world::{Result, World, run};

fn main() {
    let what = std::env::args().nth(1).unwrap_or_default();
    match what.as_str() {
        "tests" | "forgets" | "drops" => without_frame(&what),
        _ => {}
    }
    run(|world: &World| -> Result<()> {
        match what.as_str() {
            "" => check(world),
            "speed" => speed::all(world),
            mistake => mistakes::make(world, mistake),
        }
    })
}

fn check(world: &World) -> Result<()> {
    if world.rank() == 0 {
        println!("{}", world.name());
    }
    calls::all(world)?;
    calls::wrong_arguments(world);
    // a second handle refers to the same world
    let again = World::init()?;
    assert_eq!((again.rank(), again.size()), (world.rank(), world.size()));
    again.barrier()?;
    drop(again);
    world.barrier()?;
    if world.rank() == 0 {
        println!("all calls on {} ranks are as they have to be", world.size());
    }
    Ok(())
}

/// Runs programs that do not use [`run`] and that end by `exit`.
fn without_frame(what: &str) -> ! {
    let begin = || {
        let world = World::init().unwrap_or_else(|why| {
            eprintln!("{why}");
            std::process::exit(1)
        });
        world.barrier().expect("all ranks come here");
        world
    };
    match what {
        "tests" => {
            drop(begin());
            drop(begin());
        }
        "forgets" => std::mem::forget(begin()),
        // the last handle is dropped on another thread; only the main thread is allowed to finalise MPI
        _ => {
            let world = begin();
            std::thread::spawn(move || drop(world)).join().expect("a thread that does not panic");
        }
    }
    std::process::exit(0)
}
