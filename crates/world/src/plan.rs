//! Predicts the messages of a program on many ranks by running one rank only. The transport sends nothing, and records
//! the amount of data that would be sent.
//!
//! One of the simulated ranks runs the program, with its own part of the arrays. Data from other ranks are replaced by
//! the elements that this rank sends, repeated as often as necessary. If this rank sends nothing, floats are replaced
//! by ones, and elements of other dtypes by zeros. A program whose control flow depends on values may therefore behave
//! differently from a real run.

use crate::{DType, Error, Join, Result, Transport, World, dtype::is_float, join};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// The record of the data that one of the simulated ranks sends; see [`World::plan`].
#[derive(Clone, Debug)]
pub struct Plan {
    record: Arc<Mutex<Record>>,
    rank: usize,
    size: usize,
}

#[derive(Debug)]
struct Record {
    op: String,
    ops: BTreeMap<String, Traffic>,
    since: Instant,
}

/// The amount of data that one rank sends and receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Number of calls.
    pub calls: u64,
    /// Number of messages that must follow one another. Each takes at least the latency of a message, even if it is
    /// short.
    pub messages: u64,
    /// Bytes that this rank sends.
    pub sent: u64,
    /// Bytes that this rank receives.
    pub received: u64,
}

impl Traffic {
    /// Estimated time in seconds. Each message takes `latency` seconds. The rank can send `bandwidth` bytes per second,
    /// and receive as many at the same time.
    pub fn seconds(&self, latency: f64, bandwidth: f64) -> f64 {
        self.messages as f64 * latency + self.sent.max(self.received) as f64 / bandwidth
    }

    fn add(&mut self, other: Traffic) {
        self.calls += other.calls;
        self.messages += other.messages;
        self.sent += other.sent;
        self.received += other.received;
    }
}

/// The traffic of a program, by op.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The number of the rank that was simulated.
    pub rank: usize,
    /// The number of ranks.
    pub size: usize,
    /// The traffic of each op, or of each call if the program calls the world directly.
    pub ops: Vec<(String, Traffic)>,
    /// Seconds since the plan was created or reset. This is the computing time of this rank on this machine, without
    /// the time for messages.
    pub seconds: f64,
}

impl Report {
    /// The traffic of all ops together.
    pub fn total(&self) -> Traffic {
        let mut total = Traffic::default();
        self.ops.iter().for_each(|(_, traffic)| total.add(*traffic));
        total
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "rank {} of {}", self.rank, self.size)?;
        writeln!(f, "{:<20} {:>8} {:>9} {:>14} {:>14}", "op", "calls", "messages", "bytes sent", "bytes received")?;
        for (op, t) in self.ops.iter().map(|(op, t)| (op.as_str(), *t)).chain([("all", self.total())]) {
            writeln!(f, "{op:<20} {:>8} {:>9} {:>14} {:>14}", t.calls, t.messages, t.sent, t.received)?;
        }
        Ok(())
    }
}

impl World {
    /// Simulates one rank of a world with `size` ranks (at least 1). The program runs as this rank, and sends nothing.
    /// The plan records, for each op, the amount of data that would be sent.
    ///
    /// ```
    /// use backends_world::{Join, DType, World, bytes};
    ///
    /// let (world, plan) = World::plan(1024);
    /// let mut x = vec![0.0_f64; 1000];
    /// world.all_reduce(bytes::of_mut(&mut x), DType::Float64, Join::Sum)?;
    /// let seconds = plan.report().total().seconds(2e-6, 10e9); // 2 microseconds a message, 10 GB/s
    /// assert!(seconds < 1e-3);
    /// # Ok::<(), backends_world::Error>(())
    /// ```
    pub fn plan(size: usize) -> (World, Plan) {
        Plan::new(size.max(1))
    }
}

impl Plan {
    fn new(size: usize) -> (World, Plan) {
        // runs a rank in the middle, which has neighbours on both sides
        let rank = size / 2;
        let record = Record { op: String::new(), ops: BTreeMap::new(), since: Instant::now() };
        let plan = Plan { record: Arc::new(Mutex::new(record)), rank, size };
        (World::new(Box::new(plan.clone())), plan)
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the traffic of each op so far.
    pub fn report(&self) -> Report {
        let record = self.record();
        let ops = record.ops.iter().map(|(op, traffic)| (op.clone(), *traffic)).collect();
        Report { rank: self.rank, size: self.size, ops, seconds: record.since.elapsed().as_secs_f64() }
    }

    /// Discards the traffic recorded so far, for example the traffic of the set-up.
    pub fn reset(&self) {
        let mut record = self.record();
        record.ops.clear();
        record.since = Instant::now();
    }

    fn note_call(&self, call: &str, messages: usize, sent: usize, received: usize) {
        let mut record = self.record();
        let op = std::mem::take(&mut record.op);
        let op = if op.is_empty() { call.to_string() } else { op };
        // a single rank sends nothing
        let [messages, sent, received] = if self.size == 1 { [0; 3] } else { [messages, sent, received] };
        record.ops.entry(op).or_default().add(Traffic {
            calls: 1,
            messages: messages as u64,
            sent: sent as u64,
            received: received as u64,
        });
    }

    /// The number of steps of a call whose steps double the number of ranks with the data: the logarithm of `size` to
    /// base 2, rounded up.
    fn steps(&self) -> usize {
        self.size.next_power_of_two().trailing_zeros() as usize
    }
}

/// Fills `recv`, because no other rank sends data. `counts` are the numbers of elements of the parts of `recv`. A part
/// is filled with `own` if `own` has the length of the part, and otherwise with `all`, repeated from its beginning. If
/// `own` or `all` is needed but empty, floats are filled with ones, and other dtypes with zeros.
fn fill(recv: &mut [u8], own: &[u8], all: &[u8], counts: &[usize], dtype: DType) {
    let mut at = 0;
    for len in counts.iter().map(|count| count * dtype.size()) {
        let part = &mut recv[at..at + len];
        let from = if len == own.len() { own } else { all };
        if from.is_empty() && is_float(dtype) {
            join::fill_identity(part, dtype, Join::Prod);
        } else if from.is_empty() {
            part.fill(0);
        } else {
            part.chunks_mut(from.len()).for_each(|chunk| chunk.copy_from_slice(&from[..chunk.len()]));
        }
        at += len;
    }
}

impl Transport for Plan {
    fn name(&self) -> String {
        format!("a plan of {} ranks", self.size)
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn has_tags(&self) -> bool {
        false
    }

    fn note(&self, op: &str) {
        self.record().op = op.into();
    }

    fn all_to_all(&self, send: &[u8], to: &[usize], recv: &mut [u8], from: &[usize], dtype: DType) -> Result<()> {
        let start: usize = to[..self.rank].iter().sum();
        let own = &send[start * dtype.size()..(start + to[self.rank]) * dtype.size()];
        let others = |counts: &[usize]| counts.iter().sum::<usize>() - counts[self.rank];
        let messages = (0..self.size).filter(|&r| r != self.rank && to[r] + from[r] > 0).count();
        self.note_call("all_to_all", messages, others(to) * dtype.size(), others(from) * dtype.size());
        fill(recv, own, send, from, dtype);
        Ok(())
    }

    fn all_gather(&self, send: &[u8], recv: &mut [u8], counts: &[usize], dtype: DType) -> Result<()> {
        let others = (counts.iter().sum::<usize>() - counts[self.rank]) * dtype.size();
        // counts the traffic of an exchange in which each rank passes on all data that it has received: the data on a
        // rank double with each message
        self.note_call("all_gather", self.steps(), others, others);
        fill(recv, send, send, counts, dtype);
        Ok(())
    }

    fn broadcast(&self, buf: &mut [u8], _: DType, root: usize) -> Result<()> {
        let is_root = self.rank == root;
        self.note_call("broadcast", self.steps(), buf.len(), if is_root { 0 } else { buf.len() });
        Ok(())
    }

    fn all_reduce(&self, buf: &mut [u8], _: DType, _: Join) -> Result<()> {
        self.note_call("all_reduce", 2 * self.steps(), 2 * buf.len(), 2 * buf.len());
        Ok(())
    }

    fn exscan(&self, buf: &mut [u8], dtype: DType, join: Join) -> Result<()> {
        self.note_call("exscan", self.steps(), buf.len(), buf.len());
        if self.rank == 0 {
            join::fill_identity(buf, dtype, join);
        }
        Ok(())
    }

    fn scan(&self, buf: &mut [u8], _: DType, _: Join) -> Result<()> {
        self.note_call("scan", self.steps(), buf.len(), buf.len());
        Ok(())
    }

    fn barrier(&self) -> Result<()> {
        self.note_call("barrier", self.steps(), 0, 0);
        Ok(())
    }

    fn send(&self, buf: &[u8], _: DType, _: usize) -> Result<()> {
        self.note_call("send", 1, buf.len(), 0);
        Ok(())
    }

    fn recv(&self, buf: &mut [u8], _: DType, _: usize) -> Result<()> {
        self.note_call("recv", 1, 0, buf.len());
        buf.fill(0);
        Ok(())
    }

    fn split(&self, number: Option<usize>, members: &[usize]) -> Result<Option<Box<dyn Transport>>> {
        let Some(_) = number else { return Ok(None) };
        let rank = members.iter().position(|&member| member == self.rank).ok_or(Error::Gone {
            call: "group",
            rank: self.rank,
            why: "it is no member of its own group".into(),
        })?;
        Ok(Some(Box::new(Plan { record: self.record.clone(), rank, size: members.len() })))
    }

    fn local(&self) -> Result<(usize, usize)> {
        Ok((0, 1))
    }

    fn abort(&self, code: i32) -> ! {
        std::process::exit(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes;

    #[test]
    fn what_is_sent_is_written_down() {
        let (world, plan) = World::plan(8);
        assert_eq!((world.rank(), world.size()), (4, 8));
        let mut all = [0_i32; 8];
        world.agree("sum", String::new).unwrap();
        world.all_gather(bytes::of(&[7_i32]), bytes::of_mut(&mut all), &[1; 8], DType::Int32).unwrap();
        assert_eq!(all, [7; 8], "what others give is taken to be the same");
        let (mut recv, to) = ([1.5_f64; 3], [0, 0, 0, 2, 1, 2, 0, 0]);
        let from = [0, 0, 0, 1, 1, 1, 0, 0];
        world.all_to_all(bytes::of(&[1.0_f64; 5]), &to, bytes::of_mut(&mut recv), &from, DType::Float64).unwrap();
        assert_eq!(recv, [1.0; 3], "what comes is not what a real run would bring, but numbers like its own");
        let report = plan.report();
        assert_eq!(report.ops[0].0, "all_to_all");
        assert_eq!(report.ops[0].1, Traffic { calls: 1, messages: 2, sent: 32, received: 16 });
        assert_eq!(report.ops[1], ("sum".into(), Traffic { calls: 1, messages: 3, sent: 28, received: 28 }));
        assert_eq!(report.total().sent, 60);
        assert!((report.total().seconds(1e-6, 1e9) - (5e-6 + 60e-9)).abs() < 1e-12);
        assert!(report.to_string().contains("rank 4 of 8"));
        plan.reset();
        assert_eq!(plan.report().ops, []);
    }
}
