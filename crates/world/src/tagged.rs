//! Exchanges between ranks in which each rank also sends a tag. Tags detect mistakes: if two ranks make the same
//! exchange for different ops, their tags differ.
//!
//! In a short exchange, a tag precedes each part of the message. For a long exchange, the tags are sent before it in a
//! separate message. The tags take almost no time compared with the exchange.

use crate::{DType, Error, Result, Transport};

/// Maximum size in bytes of an all-gather (all parts together) whose parts carry tags.
const SHORT: usize = 8 << 10;

/// Maximum size in bytes of the parts that carry a tag in an all-to-all.
const SHORT_PART: usize = 4 << 10;

/// Length of a tag in bytes.
const LEN: usize = 32;

/// The purpose of an exchange. It consists of the beginning of the op's name, and a hash of the values that must be the
/// same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag([u8; LEN]);

impl Tag {
    /// The tag of an exchange for an op. `numbers` are the values that must be the same on all ranks.
    pub fn new(op: &str, numbers: &[usize]) -> Tag {
        // the hash is FNV-1a over the bytes of the name; then each number is added as a whole, after a rotation
        let step = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3);
        let hash = op.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| step(hash, u64::from(byte)));
        let hash = numbers.iter().fold(hash, |hash, number| step(hash.rotate_left(23), *number as u64));
        let mut tag = [0; LEN];
        tag[..8].copy_from_slice(&hash.to_le_bytes());
        let len = op.len().min(LEN - 8);
        tag[8..8 + len].copy_from_slice(&op.as_bytes()[..len]);
        Tag(tag)
    }

    /// Returns an error if the tag of another rank differs from this tag.
    fn same(&self, tag: &[u8], rank: usize) -> Result<()> {
        if tag == self.0 {
            return Ok(());
        }
        let name = |tag: &[u8]| String::from_utf8_lossy(&tag[8..]).trim_end_matches('\0').to_owned();
        let (mine, theirs) = (name(&self.0), name(tag));
        match mine == theirs {
            true => {
                let theirs = format!("{theirs} of other lengths or another dtype");
                Err(Error::Diverged { mine, theirs, rank })
            }
            false => Err(Error::Diverged { mine, theirs, rank }),
        }
    }

    /// Gathers like [`Transport::all_gather`], and compares the tags of all ranks with this tag.
    pub(crate) fn all_gather(
        &self,
        transport: &dyn Transport,
        send: &[u8],
        recv: &mut [u8],
        counts: &[usize],
        dtype: DType,
    ) -> Result<()> {
        let size = transport.size();
        if recv.len() > SHORT {
            let mut tags = vec![0; LEN * size];
            transport.all_gather(&self.0, &mut tags, &vec![LEN; size], DType::UInt8)?;
            tags.chunks_exact(LEN).enumerate().try_for_each(|(rank, tag)| self.same(tag, rank))?;
            return transport.all_gather(send, recv, counts, dtype);
        }
        let lengths: Vec<usize> = counts.iter().map(|count| LEN + count * dtype.size()).collect();
        let own = [&self.0, send].concat();
        let mut all = vec![0; lengths.iter().sum()];
        transport.all_gather(&own, &mut all, &lengths, DType::UInt8)?;
        let (mut rest, mut to) = (&all[..], recv);
        for (rank, length) in lengths.iter().enumerate() {
            let (part, after) = rest.split_at(*length);
            self.same(&part[..LEN], rank)?;
            let (into, later) = to.split_at_mut(length - LEN);
            into.copy_from_slice(&part[LEN..]);
            (rest, to) = (after, later);
        }
        Ok(())
    }

    /// Exchanges like [`Transport::all_to_all`]. Each short part carries a tag, which the receiving rank compares with
    /// its own tag. Long parts and empty parts carry none.
    pub(crate) fn all_to_all(
        &self,
        transport: &dyn Transport,
        (send, to): (&[u8], &[usize]),
        (recv, from): (&mut [u8], &[usize]),
        dtype: DType,
    ) -> Result<()> {
        let (mine, size) = (transport.rank(), dtype.size());
        // both ranks of a pair know the length of the part that they exchange
        let room = |rank: usize, count: usize| {
            let has_tag = rank != mine && count > 0 && count * size <= SHORT_PART;
            // the length is in elements: a tag is a whole number of elements of every dtype
            if has_tag { LEN / size } else { 0 }
        };
        let lengths = |counts: &[usize]| -> Vec<usize> {
            counts.iter().enumerate().map(|(rank, &count)| room(rank, count) + count).collect()
        };
        let (sent, come) = (lengths(to), lengths(from));
        let (sent_len, come_len) = (sent.iter().sum::<usize>() * size, come.iter().sum::<usize>() * size);
        if sent_len == send.len() && come_len == recv.len() {
            return transport.all_to_all(send, to, recv, from, dtype);
        }
        let (mut own, mut rest) = (Vec::with_capacity(sent_len), send);
        for (rank, &count) in to.iter().enumerate() {
            let (part, after) = rest.split_at(count * size);
            own.extend_from_slice(&self.0[..room(rank, count) * size]);
            own.extend_from_slice(part);
            rest = after;
        }
        let mut all = vec![0; come_len];
        transport.all_to_all(&own, &sent, &mut all, &come, dtype)?;
        let (mut rest, mut into) = (&all[..], recv);
        for (rank, &count) in from.iter().enumerate() {
            let (tag, after) = rest.split_at(room(rank, count) * size);
            if !tag.is_empty() {
                self.same(tag, rank)?;
            }
            let (part, after) = after.split_at(count * size);
            let (here, later) = into.split_at_mut(part.len());
            here.copy_from_slice(part);
            (rest, into) = (after, later);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_those_of_the_op_and_its_numbers() {
        assert_eq!(Tag::new("sum", &[1, 2]), Tag::new("sum", &[1, 2]));
        for other in [Tag::new("prod", &[1, 2]), Tag::new("sum", &[2, 1]), Tag::new("sum", &[1])] {
            assert_ne!(other, Tag::new("sum", &[1, 2]));
            assert!(matches!(other.same(&Tag::new("sum", &[1, 2]).0, 3), Err(Error::Diverged { rank: 3, .. })));
        }
        let long = "a_name_that_is_longer_than_the_room_for_it";
        assert_ne!(Tag::new(long, &[]), Tag::new(&format!("{long}_too"), &[]));
    }
}
