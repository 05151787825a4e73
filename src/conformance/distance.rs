//! Records the distances of results from the reference, to show whether a device with approximate instructions is near
//! a row's limit.
//!
//! `BACKENDS_ULPS` names the file. Each result with a tolerance in units in the last place adds a line, separated by
//! tabs: the op, its dtype, the largest distance of an element from its reference in these units, and the allowed
//! distance. Several processes may append to one file.

use super::{Values, accuracy::Tolerance, compare::farthest};
use backend_runtime::DType;
use std::{env, fs::OpenOptions, io::Write, path::PathBuf, sync::OnceLock};

/// Appends a line. If the file cannot be written, the line is lost, but no test fails.
pub(super) fn note(op: &str, dtype: DType, got: &Values, expected: &Values, tolerance: Tolerance) {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let named = || env::var_os("BACKENDS_ULPS").filter(|name| !name.is_empty()).map(PathBuf::from);
    let (Some(path), Tolerance::Ulp(allowed)) = (FILE.get_or_init(named), tolerance) else { return };
    let Some(far) = farthest(got, expected) else { return };
    let file = OpenOptions::new().append(true).create(true).open(path);
    // a single write, so that lines of several processes do not mix
    let _ = file.and_then(|mut file| file.write_all(format!("{op}\t{dtype}\t{far}\t{allowed}\n").as_bytes()));
}
