//! Every kernel that the table makes, for every dtype, through the real NVRTC: no GPU is needed for that.

use backends::{
    OPS,
    runtime::{
        available,
        cuda::{check, nvrtc::Target},
    },
};
use std::{sync::Mutex, thread};

/// How many units are compiled at a time.
const THREADS: usize = 2;

#[test]
fn kernels_of_all_rows_compile() {
    let Some(target) = available("nvrtc", Target::of((9, 0))) else { return };
    let units = Mutex::new(check::rows(OPS).into_iter());
    let next = || units.lock().unwrap().next();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(unit) = next() {
                    unit.compile(&target).unwrap_or_else(|why| panic!("{}: {why}", unit.name));
                }
            });
        }
    });
}
