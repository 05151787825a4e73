//! Records the errors of results, to show whether a device with approximate instructions comes close to the allowed
//! error of an op.
//!
//! `BACKENDS_ULPS` names the file. For each result with a tolerance in units in the last place (ulp), one line is
//! appended. Its fields are separated by tabs: the op, its dtype, the largest error of an element in ulps, and the
//! largest allowed error in ulps. Several processes may append to one file.

use super::{Values, accuracy::Tolerance, compare::farthest};
use backend_runtime::DType;
use std::{env, fs::OpenOptions, io::Write, path::PathBuf, sync::OnceLock};

/// Appends a line for one result. If the file cannot be written, the line is lost, but no test fails.
pub(super) fn note(op: &str, dtype: DType, got: &Values, expected: &Values, tolerance: Tolerance) {
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let named = || env::var_os("BACKENDS_ULPS").filter(|name| !name.is_empty()).map(PathBuf::from);
    let (Some(path), Tolerance::Ulp(allowed)) = (FILE.get_or_init(named), tolerance) else { return };
    let Some(far) = farthest(got, expected) else { return };
    let file = OpenOptions::new().append(true).create(true).open(path);
    // written in a single call, so that the lines of several processes do not mix
    let _ = file.and_then(|mut file| file.write_all(format!("{op}\t{dtype}\t{far}\t{allowed}\n").as_bytes()));
}
