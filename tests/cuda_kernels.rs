//! Tests that the real NVRTC, which needs no GPU, compiles every kernel of the op table in every dtype.

use backends::{
    OPS,
    runtime::{
        available,
        cuda::{check, nvrtc::Target},
    },
};
use std::env;

#[test]
fn kernels_of_all_rows_compile() {
    let Some(target) = available("nvrtc", Target::of((9, 0))) else { return };
    // if `BACKENDS_DTYPES` limits the tests to some dtypes, only the kernels of these dtypes and the reductions (one
    // unit for all dtypes) are compiled
    let sampled = env::var("BACKENDS_DTYPES").ok();
    let is_tried = |dtype: &str| sampled.as_ref().is_none_or(|names| names.split(',').any(|name| name == dtype));
    for unit in check::rows(OPS) {
        if unit.name.strip_prefix("rows of ").is_none_or(is_tried)
            && let Err(why) = unit.compile(&target)
        {
            panic!("{}: {why}", unit.name);
        }
    }
}
