//! How far results are from the reference, in a file: whether a device with approximate instructions is near a row's limit.
//!
//! `BACKENDS_ULPS` names the file. Each result that is held to units in the last place adds a line: the op, its dtype, the most units
//! between two elements, and how many are allowed, between tabs. Several processes may add to one file.

use super::{Values, accuracy::Tolerance, compare::farthest};
use backend_runtime::DType;
use std::{env, fs::OpenOptions, io::Write, path::PathBuf, sync::OnceLock};

/// Adds a line. A file that cannot be written loses it, and no test.
pub(super) fn note(op: &str, dtype: DType, got: &Values, expected: &Values, tolerance: Tolerance) {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let named = || env::var_os("BACKENDS_ULPS").filter(|name| !name.is_empty()).map(PathBuf::from);
    let (Some(path), Tolerance::Ulp(allowed)) = (FILE.get_or_init(named), tolerance) else { return };
    let Some(far) = farthest(got, expected) else { return };
    let file = OpenOptions::new().append(true).create(true).open(path);
    // in one write, so that lines of several processes do not mix
    let _ = file.and_then(|mut file| file.write_all(format!("{op}\t{dtype}\t{far}\t{allowed}\n").as_bytes()));
}
