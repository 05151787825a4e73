//! Loads each library that programs of this workspace load at run time, and prints the outcome.
//!
//! `cargo xtask attack` runs this program to check that files planted by another user of the machine are not loaded.

use backend_runtime::{cuda::nvrtc::Target, torch::Torch};
use backends_world::World;

fn main() {
    println!("mpi: {:?}", World::init().map(|world| world.name()));
    println!("torch: {:?}", Torch::cpu().map(drop));
    println!("nvrtc: {:?}", Target::of((9, 0)).map(drop));
}
