//! Describes calls as text. Ranks compare these texts, and errors contain them.

use crate::{DType, Join};

/// Returns a text such as `3 float64`.
pub(crate) fn elements(bytes: usize, dtype: DType) -> String {
    format!("{} {dtype}", bytes / dtype.size())
}

/// Returns a text such as `broadcast of 3 float64 from rank 0`.
pub(crate) fn broadcast(bytes: usize, dtype: DType, root: usize) -> String {
    format!("broadcast of {} from rank {root}", elements(bytes, dtype))
}

/// Returns a text such as `all_gather of [1, 2] float64`.
pub(crate) fn all_gather(counts: &[usize], dtype: DType) -> String {
    format!("all_gather of {counts:?} {dtype}")
}

/// Returns a text such as `gather of [1, 2] float64 to rank 0`.
pub(crate) fn gather(counts: &[usize], dtype: DType, root: usize) -> String {
    format!("gather of {counts:?} {dtype} to rank {root}")
}

/// Returns a text such as `scatter of [1, 2] float64 from rank 0`.
pub(crate) fn scatter(counts: &[usize], dtype: DType, root: usize) -> String {
    format!("scatter of {counts:?} {dtype} from rank {root}")
}

/// Returns a text such as `all_to_all of float64`. It has no counts, because the counts differ between ranks.
pub(crate) fn all_to_all(dtype: DType) -> String {
    format!("all_to_all of {dtype}")
}

/// Returns a text such as `all_reduce (sum) of 3 float64`.
pub(crate) fn all_reduce(bytes: usize, dtype: DType, join: Join) -> String {
    format!("all_reduce ({join}) of {}", elements(bytes, dtype))
}

/// Returns a text such as `reduce (sum) of 3 float64 to rank 0`.
pub(crate) fn reduce(bytes: usize, dtype: DType, join: Join, root: usize) -> String {
    format!("reduce ({join}) of {} to rank {root}", elements(bytes, dtype))
}

/// Returns a text such as `reduce_scatter (sum) of [1, 2] float64`.
pub(crate) fn reduce_scatter(counts: &[usize], dtype: DType, join: Join) -> String {
    format!("reduce_scatter ({join}) of {counts:?} {dtype}")
}

/// Returns a text such as `scan (sum) of 3 float64`.
pub(crate) fn scan(call: &str, bytes: usize, dtype: DType, join: Join) -> String {
    format!("{call} ({join}) of {}", elements(bytes, dtype))
}

/// The first pair of ranks whose counts in an all-to-all call do not match; `None` if all counts match.
///
/// `to(r)[s]` is the number of elements that rank `r` sends to rank `s`. `from(r)[s]` is the number of elements that
/// rank `r` expects from rank `s`.
pub(crate) fn unequal_counts<'a>(
    size: usize,
    to: impl Fn(usize) -> &'a [usize],
    from: impl Fn(usize) -> &'a [usize],
) -> Option<Unequal> {
    let pairs = (0..size).flat_map(|sender| (0..size).map(move |receiver| (sender, receiver)));
    pairs
        .map(|(sender, receiver)| Unequal {
            sender,
            receiver,
            sent: to(sender)[receiver],
            wanted: from(receiver)[sender],
        })
        .find(|pair| pair.sent != pair.wanted)
}

/// Two ranks whose counts in an all-to-all call do not match.
pub(crate) struct Unequal {
    sender: usize,
    receiver: usize,
    sent: usize,
    wanted: usize,
}

impl Unequal {
    /// The error that rank `rank` returns for this mismatch.
    pub(crate) fn error(&self, rank: usize) -> crate::Error {
        let sends = format!("all_to_all that sends {} elements to rank {}", self.sent, self.receiver);
        let wants = format!("all_to_all that wants {} elements of rank {}", self.wanted, self.sender);
        if rank == self.receiver {
            crate::Error::Diverged { mine: wants, theirs: sends, rank: self.sender }
        } else {
            let mine = if rank == self.sender { sends } else { "all_to_all with others".into() };
            crate::Error::Diverged { mine, theirs: wants, rank: self.receiver }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn counts_that_do_not_fit_are_found() {
        let (to, mut from) = (vec![vec![1, 2], vec![3, 4]], vec![vec![1, 3], vec![2, 4]]);
        let find = |from: &[Vec<usize>]| unequal_counts(2, |r| &to[r], |r| &from[r]).map(|pair| pair.error(1));
        assert_eq!(find(&from), None);
        from[1][0] = 5;
        let Some(Error::Diverged { mine, theirs, rank: 0 }) = find(&from) else { panic!("not found") };
        assert!(mine.contains("wants 5") && theirs.contains("sends 2"), "{mine}; {theirs}");
    }
}
