//! Errors that depend on elements, such as an index out of range or a singular matrix. A rank finds such an error only
//! in its own part, so the ranks tell each other whether they have found one.

use crate::{LayoutPlan, Sharded, failed};
use backends::{Backend, Error, Result};
use backends_world::DType;

/// The first number of a description: the call succeeded.
const SUCCESS: i64 = 0;
/// An [`Error::Index`]. The other numbers are its index, axis and length.
const INDEX: i64 = 1;
/// An [`Error::Argument`]. The second number is the length of its text.
const ARGUMENT: i64 = 2;
/// Another error. The second number is the length of its text.
const OTHER: i64 = 3;

/// Describes an error, if any, by four numbers and a text.
fn described(error: Option<&Error>) -> ([i64; 4], String) {
    let of_text = |kind: i64, text: String| ([kind, text.len() as i64, 0, 0], text);
    match error {
        None => ([SUCCESS, 0, 0, 0], String::new()),
        Some(Error::Argument { why, .. }) => of_text(ARGUMENT, why.clone()),
        Some(Error::Index { index, axis, len, .. }) if i64::try_from(*index).is_ok() => {
            ([INDEX, *index as i64, *axis as i64, *len as i64], String::new())
        }
        Some(why) => of_text(OTHER, why.to_string()),
    }
}

impl<B: Backend> Sharded<B> {
    /// Returns the result of this rank, unless the call failed on a rank. In this case, all ranks return the error of
    /// the first such rank. There is an exception for errors that do not depend on elements, such as an error of a
    /// library: each failed rank returns its own error, and the other ranks return an [`Error::Library`]. All ranks
    /// must call this method.
    pub(crate) fn agreed<R>(&self, op: &'static str, own: Result<R>) -> Result<R> {
        if self.ranks() == 1 {
            return own;
        }
        let (numbers, text) = described(own.as_ref().err());
        let all = self.gather_elements(op, &numbers)?;
        let mut of_ranks = all.chunks_exact(numbers.len()).enumerate();
        let Some((rank, found)) = of_ranks.find(|(_, found)| found[0] != SUCCESS) else { return own };
        if found[0] == INDEX {
            return Err(Error::index(op, found[1], found[2] as usize, found[3] as usize));
        }
        let mut bytes = if rank == self.rank() { text.into_bytes() } else { vec![0; found[1] as usize] };
        self.world.broadcast(&mut bytes, DType::UInt8, rank).map_err(failed(op))?;
        let text = String::from_utf8_lossy(&bytes);
        match (found[0], own) {
            (ARGUMENT, _) => Err(Error::argument(op, text)),
            (_, Err(why)) => Err(why),
            (_, Ok(_)) => Err(Error::library(op, "sharded", format!("rank {rank} has failed: {text}"))),
        }
    }

    /// Like `agreed`, for a call with a plan. If the plan splits no array, the ranks do not communicate: all ranks have
    /// the same arrays, so they also have the same error.
    #[doc(hidden)]
    pub fn agreed_on<R>(&self, op: &'static str, plan: &LayoutPlan, own: Result<R>) -> Result<R> {
        if !plan.splits() || self.ranks() == 1 {
            return own;
        }
        // on a GPU, the next call that waits for the GPU reports an index out of range
        let own = own.and_then(|result| self.within.synchronize().map(|()| result));
        self.agreed(op, own.map_err(|why| self.explained(plan, why)))
    }
}
