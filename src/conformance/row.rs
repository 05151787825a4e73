//! The description of an op (a row of the op table) for its conformance tests.

use super::Accuracy;
use backend_runtime::{ParamInfo, ResultInfo};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One row of an op table (one op), with the data for its tests. The fields correspond to the table's keys, with
/// defaults filled in.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name of the op.
    pub name: &'static str,
    /// Name of the op's group, which selects the file of reference results.
    pub group: &'static str,
    /// The parameters of the op.
    pub params: &'static [ParamInfo],
    /// Type of the op's result.
    pub result: ResultInfo,
    /// The row's parameters, result and reference, as text. The reference data repeat this text, so that data for
    /// another version of the row are detected.
    pub signature: &'static str,
    /// The arguments of the test calls, one text for each call.
    pub cases: &'static [&'static str],
    /// The accuracy that results must have.
    pub accuracy: Accuracy,
    /// True if 0.0 and -0.0 count as equal.
    pub any_zero: bool,
    /// Maximum number of bytes that the op may copy from the device.
    pub waits: u64,
    /// Calls that NumPy refuses.
    pub raises: &'static [&'static str],
    /// Expressions whose values are compared instead of the results.
    pub compared: &'static [&'static str],
    /// The seed of the random numbers, set before each case.
    pub seed: Option<u64>,
}

/// Locked while an op that draws random numbers is tested: tests run in parallel, but the device has only one random
/// stream.
static DRAWING: Mutex<()> = Mutex::new(());

impl Row {
    /// If this op draws random numbers, locks out the tests of all other ops that do, until the returned guard is
    /// dropped.
    pub(super) fn alone(&self) -> Option<MutexGuard<'static, ()>> {
        // the lock protects no data, so a test that failed while it held the lock does no harm
        self.seed.map(|_| DRAWING.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
