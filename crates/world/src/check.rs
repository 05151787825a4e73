//! Checks arguments before a call sends anything, so that all transports have the same rules.

use crate::{DType, Error, Result};

fn refuse<T>(call: &'static str, why: String) -> Result<T> {
    Err(Error::Argument { call, why })
}

/// Checks that the length of a buffer is a whole number of elements.
pub(crate) fn whole(call: &'static str, name: &str, buf: &[u8], dtype: DType) -> Result<()> {
    if buf.len().is_multiple_of(dtype.size()) {
        return Ok(());
    }
    refuse(
        call,
        format!(
            "`{name}` has {} bytes, which is not a whole number of {dtype} elements of {} bytes",
            buf.len(),
            dtype.size()
        ),
    )
}

/// Checks that a buffer holds the given number of elements.
pub(crate) fn length(call: &'static str, name: &str, buf: &[u8], elements: usize, dtype: DType) -> Result<()> {
    if elements.checked_mul(dtype.size()) == Some(buf.len()) {
        return Ok(());
    }
    refuse(
        call,
        format!(
            "`{name}` has {} bytes, but must have {elements} {dtype} elements of {} bytes",
            buf.len(),
            dtype.size()
        ),
    )
}

/// Checks that there is one count for each rank. Returns the sum of the counts.
pub(crate) fn counts(call: &'static str, name: &str, counts: &[usize], size: usize) -> Result<usize> {
    if counts.len() != size {
        return refuse(call, format!("`{name}` has {} counts, but there are {size} ranks", counts.len()));
    }
    let sum = counts.iter().try_fold(0_usize, |sum, count| sum.checked_add(*count));
    // the limit ensures that the sum times the size of an element (at most 16 bytes) cannot overflow
    match sum.filter(|sum| *sum <= isize::MAX as usize / 16) {
        Some(sum) => Ok(sum),
        None => refuse(call, format!("`{name}` has more elements in total than memory can hold")),
    }
}

/// Checks that a rank exists.
pub(crate) fn rank(call: &'static str, name: &str, rank: usize, size: usize) -> Result<()> {
    if rank < size {
        return Ok(());
    }
    refuse(call, format!("`{name}` is rank {rank}, but the ranks are 0 to {}", size - 1))
}

/// Returns the buffer that the root must pass. An error if the root has not passed it.
pub(crate) fn given<T>(call: &'static str, name: &str, buf: Option<T>) -> Result<T> {
    buf.ok_or_else(|| Error::Argument { call, why: format!("the root gives no `{name}`") })
}

/// Checks that a rank sends as many elements to itself as it receives from itself.
pub(crate) fn own_part(to: &[usize], from: &[usize], rank: usize) -> Result<()> {
    if to[rank] == from[rank] {
        return Ok(());
    }
    let (sent, wanted) = (to[rank], from[rank]);
    refuse("all_to_all", format!("rank {rank} sends {sent} elements to itself, but expects {wanted}"))
}

/// Allocates zeros for the elements of a result; an error if there is not enough memory.
pub(crate) fn room(call: &'static str, elements: usize, dtype: DType) -> Result<Vec<u8>> {
    let bytes = elements.checked_mul(dtype.size()).filter(|bytes| *bytes <= isize::MAX as usize);
    // `try_reserve` comes first, because allocating a vector of zeros without enough memory would end the process
    match bytes.filter(|bytes| Vec::<u8>::new().try_reserve_exact(*bytes).is_ok()) {
        Some(bytes) => Ok(vec![0; bytes]),
        None => refuse(call, format!("{elements} {dtype} elements are more than memory can hold")),
    }
}
