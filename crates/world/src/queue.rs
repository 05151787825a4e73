//! A queue of messages between two ranks of the same process.

use crate::{DType, Error, Result, describe};
use std::collections::BTreeMap;

/// The messages that were sent but not yet received, by their numbers. Receives are numbered, too: receive `n` gets
/// message `n`, regardless of the order in which the program waits for receives.
#[derive(Default)]
pub(crate) struct Queue {
    messages: BTreeMap<u64, (DType, Vec<u8>)>,
    sent: u64,
    asked: u64,
}

impl Queue {
    /// Sends a message. Returns its number.
    pub(crate) fn send(&mut self, buf: Vec<u8>, dtype: DType) -> u64 {
        self.messages.insert(self.sent, (dtype, buf));
        self.sent += 1;
        self.sent - 1
    }

    /// The number of the message that the next receive gets.
    pub(crate) fn next(&self) -> u64 {
        self.asked
    }

    /// Starts a receive and returns the number of its message.
    pub(crate) fn ask(&mut self) -> u64 {
        self.asked += 1;
        self.asked - 1
    }

    /// Returns whether message `number` was sent and not yet received.
    pub(crate) fn has(&self, number: u64) -> bool {
        self.messages.contains_key(&number)
    }

    /// Removes and returns message `number`.
    pub(crate) fn take(&mut self, number: u64) -> Option<(DType, Vec<u8>)> {
        self.messages.remove(&number)
    }
}

/// Copies a message of rank `from` into the buffer of a receive. Returns an error if the message has another dtype or
/// length.
pub(crate) fn deliver((sent_dtype, sent): (DType, Vec<u8>), buf: &mut [u8], dtype: DType, from: usize) -> Result<()> {
    if (sent_dtype, sent.len()) != (dtype, buf.len()) {
        return Err(another(buf.len(), dtype, &describe::elements(sent.len(), sent_dtype), from));
    }
    buf.copy_from_slice(&sent);
    Ok(())
}

/// The error of a receive whose message has another dtype or length; `sent` describes the message.
pub(crate) fn another(wanted: usize, dtype: DType, sent: &str, from: usize) -> Error {
    let mine = format!("recv of {}", describe::elements(wanted, dtype));
    Error::Diverged { mine, theirs: format!("send of {sent}"), rank: from }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receives_get_messages_in_the_order_in_which_they_were_begun() {
        let mut queue = Queue::default();
        let (first, second) = (queue.ask(), queue.ask());
        assert!(!queue.has(first));
        queue.send(vec![1], DType::UInt8);
        queue.send(vec![2], DType::UInt8);
        assert_eq!(queue.take(second), Some((DType::UInt8, vec![2])));
        assert!(queue.has(first) && !queue.has(second));
        assert_eq!(queue.next(), 2);
        let mut buf = [0];
        deliver(queue.take(first).unwrap(), &mut buf, DType::UInt8, 0).unwrap();
        assert_eq!(buf, [1]);
        let wrong = deliver((DType::Int8, vec![1]), &mut buf, DType::UInt8, 3).unwrap_err();
        assert_eq!(wrong.to_string(), "ranks diverged: this one calls recv of 1 uint8, rank 3 calls send of 1 int8");
    }
}
