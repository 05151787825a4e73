//! Settings of the tests with random calls, read from environment variables.

use std::{env, path::PathBuf, sync::LazyLock};

/// Maximum size in bytes of a result that is read. A larger result is, for example, a diagonal matrix made from a long
/// vector.
const MAX_READ_BYTES: usize = 1 << 24;

/// The task of the tests with random calls: to record the outcomes in files, or to compare the outcomes with recorded
/// ones. The field is the folder of the files.
pub(super) enum Mode {
    Record(PathBuf),
    Compare(PathBuf),
}

/// The mode that `BACKENDS_FUZZ` selects; `None` without this variable.
pub(super) static MODE: LazyLock<Option<Mode>> = LazyLock::new(|| {
    let given = env::var("BACKENDS_FUZZ").ok()?;
    Some(match given.split_once(':') {
        Some(("record", folder)) => Mode::Record(folder.into()),
        Some(("compare", folder)) => Mode::Compare(folder.into()),
        _ => panic!("BACKENDS_FUZZ is record:FOLDER or compare:FOLDER, not `{given}`"),
    })
});

/// Seed of the random calls of this run; 0 by default.
pub(super) fn seed() -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(|| match env::var("BACKENDS_FUZZ_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("BACKENDS_FUZZ_SEED is a number, not `{text}`")),
        Err(_) => 0,
    });
    *SEED
}

/// Returns whether a result of this size is read. Random calls skip results that are too large; other calls read all
/// results.
pub(super) fn is_read(shape: &[usize], element_size: usize) -> bool {
    MODE.is_none() || shape.iter().product::<usize>().saturating_mul(element_size) <= MAX_READ_BYTES
}
