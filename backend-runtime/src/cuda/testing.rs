//! What the tests of this backend need: a device or the compiler, or a printed reason why the test does not run.

use super::{Cuda, nvrtc::Target};
use crate::Error;

/// Whether a missing device or compiler fails the test instead.
fn required() -> bool {
    std::env::var_os("BACKENDS_REQUIRE").is_some_and(|value| value == "1")
}

fn or_reason<T>(found: Result<T, Error>) -> Option<T> {
    match found {
        Ok(found) => Some(found),
        Err(error) if required() => panic!("BACKENDS_REQUIRE=1: {error}"),
        Err(error) => {
            println!("not run: {error}");
            None
        }
    }
}

/// A GPU, or `None` with the reason printed.
pub(crate) fn device() -> Option<Cuda> {
    or_reason(Cuda::new(0))
}

/// What the kernels are compiled for in tests, or `None` where the compiler is missing.
pub(crate) fn compiler() -> Option<Target> {
    or_reason(Target::of((9, 0), false))
}

/// As [`compiler`], for checks that the source is right, not that the code is good.
pub(crate) fn quick_compiler() -> Option<Target> {
    compiler().map(|_| Target {
        quick: true,
        ..Target::named("compute_90")
    })
}
