//! Every kernel that the table makes, for every dtype, through the real NVRTC: no GPU is needed for that.

use backends::{
    OPS,
    runtime::{
        available,
        cuda::{check, nvrtc::Target},
    },
};

#[test]
fn kernels_of_all_rows_compile() {
    let Some(target) = available("nvrtc", Target::of((9, 0))) else { return };
    for unit in check::rows(OPS) {
        if let Err(why) = unit.compile(&target) {
            panic!("{}: {why}", unit.name);
        }
    }
}
