//! Runs the queued work of streams only when a caller waits for it, and as late as the order of streams allows.

use super::{
    config::Plant,
    error::Result,
    state::{Driver, Lifetime},
    work::{Entry, Mark, Stream, Waited, Work},
};
use crate::{
    exec,
    fault::{Access, Fault},
    memory::Hint,
};
use std::{borrow::Cow, time::Instant};

/// The number of queued entries above which a stream runs its oldest entries.
const MAX_QUEUED_ENTRIES: usize = 4096;

/// The number of bytes of host memory in all queued copies above which a stream runs its oldest entries.
const MAX_STAGED_BYTES: usize = 256 << 20;

/// Makes a planted mistake instead of doing the work.
fn go_wrong(plant: Plant) -> std::result::Result<(), Fault> {
    match plant {
        Plant::Wrong => Ok(()),
        Plant::Bounds => {
            let near = "this fault is planted".into();
            Err(Fault::Illegal { access: Access::Write, address: 0x10, bytes: 4, near })
        }
        Plant::Hang => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
    }
}

impl Driver {
    /// Enqueues work on a stream; `what` names the work in messages. `staged` is the host memory in bytes that the work
    /// holds.
    pub(crate) fn put_on(
        &mut self,
        stream: u64,
        what: impl Into<Cow<'static, str>>,
        work: Work,
        staged: usize,
    ) -> Result<()> {
        let what = what.into();
        let planted = self.config.plants.iter().find(|(_, part)| what.contains(part.as_str())).map(|(plant, _)| *plant);
        let work = match (planted, self.streams.get(&stream)) {
            (Some(plant), Some(on)) => Work::On(on.device, Box::new(move |_| go_wrong(plant))),
            _ => work,
        };
        self.push(stream, what, work, staged);
        let Some(state) = self.streams.get(&stream) else {
            return Ok(());
        };
        let device = state.device;
        while let Some(state) = self.streams.get(&stream)
            && let Some(order) = state.front()
            && (state.queue.len() > MAX_QUEUED_ENTRIES || self.staged > MAX_STAGED_BYTES)
        {
            let mark = Mark { stream, order };
            self.finish(vec![mark]);
            if self.pending(mark) {
                break; // the work waits for another device
            }
        }
        self.check(device)
    }

    /// Enqueues work on a stream; returns its position.
    pub(super) fn push(&mut self, stream: u64, what: Cow<'static, str>, work: Work, staged: usize) -> Mark {
        let order = self.next_order;
        self.next_order += 1;
        self.staged += staged;
        let state = self.streams.get_mut(&stream).expect("a stream was looked up before work is put on it");
        state.queue.push_back(Entry { order, what, work, staged });
        Mark { stream, order }
    }

    /// Returns whether the stream of `mark` still has work to do up to this position.
    pub(super) fn pending(&self, mark: Mark) -> bool {
        self.streams.get(&mark.stream).and_then(Stream::front).is_some_and(|front| front <= mark.order)
    }

    /// Returns whether the stream has pending work.
    pub(super) fn is_busy(&self, stream: u64) -> bool {
        self.pending(Mark { stream, order: u64::MAX })
    }

    /// Returns a position that includes all work that is now on the stream.
    pub(super) fn goals_of_stream(&self, stream: u64) -> Vec<Mark> {
        vec![Mark { stream, order: self.next_order - 1 }]
    }

    /// Like `goals_of_stream`. Also returns the positions of the other streams for which new work on this stream would
    /// wait.
    pub(super) fn goals_of_wait(&self, stream: u64) -> Vec<Mark> {
        let mut goals = self.goals_of_stream(stream);
        if let Some(other) = self.streams.get(&stream).and_then(|state| state.kind.ordered_against()) {
            let others =
                self.streams.iter().filter(|(_, s)| s.device == self.streams[&stream].device && s.kind == other);
            goals.extend(others.flat_map(|(&stream, _)| self.goals_of_stream(stream)));
        }
        goals
    }

    /// Returns a position in each stream of a device, which includes all work that is now on the stream. The stream
    /// that was created last is last in the list.
    pub(super) fn goals_of_device(&self, device: usize) -> Vec<Mark> {
        let of_device = self.streams.iter().filter(|(_, stream)| stream.device == device);
        of_device.map(|(&stream, _)| Mark { stream, order: self.next_order - 1 }).collect()
    }

    /// Runs each stream up to its last [`Work::Remote`] that has not begun. Other devices wait for this work, even if
    /// this process does not.
    pub(crate) fn advance(&mut self) {
        let last = |(&stream, state): (&u64, &Stream)| {
            let waits = |entry: &&Entry| matches!(entry.work, Work::Remote { begun: false, .. });
            state.queue.iter().rev().find(waits).map(|entry| Mark { stream, order: entry.order })
        };
        let goals: Vec<Mark> = self.streams.iter().filter_map(last).collect();
        for goal in goals {
            self.finish(vec![goal]);
        }
    }

    /// Runs all work of a stream up to the first work that waits for other devices.
    pub(super) fn finish_stream(&mut self, stream: u64) {
        self.finish(vec![Mark { stream, order: u64::MAX }]);
    }

    /// Like `finish_stream`, for all streams of a device, the newest streams first.
    pub(super) fn finish_device(&mut self, device: usize) {
        let goals = self.goals_of_device(device);
        self.finish(goals);
    }

    /// Runs the work up to the positions `goals`, beginning with the last position. In other streams, runs only the
    /// work on which this work depends. Work that waits for other devices stays in its queue, with all work after it.
    pub(super) fn finish(&mut self, mut goals: Vec<Mark>) {
        let mut goal = goals.pop();
        while let Some(top) = goal {
            // the first mark of the path is a goal; each further mark must be reached before the mark in front of it
            let mut path = vec![top];
            while let Some(&next) = path.last() {
                if !self.pending(next) {
                    path.pop();
                    continue;
                }
                // the loop ends, because work waits only for work that was enqueued earlier
                match self.blocker(next.stream) {
                    Some(mark) => path.push(mark),
                    None if self.run_first(next.stream) => {}
                    None => break,
                }
            }
            goal = goals.pop();
        }
    }

    /// Returns the position up to which another stream must be done before the first work of this stream can run;
    /// `None` if the first work can run now.
    fn blocker(&self, stream: u64) -> Option<Mark> {
        let state = self.streams.get(&stream)?;
        let first = state.queue.front()?;
        if let Work::Wait(Some(Waited(mark))) = first.work
            && self.pending(mark)
        {
            return Some(mark);
        }
        let before = first.order - 1;
        let other = state.kind.ordered_against()?;
        let others = self.streams.iter().filter(|(_, s)| s.device == state.device && s.kind == other);
        others.map(|(&stream, _)| Mark { stream, order: before }).find(|&mark| self.pending(mark))
    }

    /// Runs the first work of a stream. Returns false if that work waits for other devices and stays first.
    fn run_first(&mut self, stream: u64) -> bool {
        let Some(state) = self.streams.get_mut(&stream) else {
            return true;
        };
        let device = state.device;
        let mut has_ended = true;
        if let Some(Entry { order, what, work, staged }) = state.queue.pop_front() {
            // work that was enqueued after a free must not use the freed memory, even if the free is on another stream
            // and has not run yet
            let freed: Vec<(usize, u64)> = self.freeing.range(..order).map(|(_, &freed)| freed).collect();
            let hide = |(device, address): (usize, u64)| (device, self.devices[device].memory.hide(address));
            let hidden: Vec<_> = freed.into_iter().map(hide).collect();
            let result = self.perform(order, work);
            for (device, hidden) in hidden {
                hidden.into_iter().for_each(|hidden| self.devices[device].memory.show(hidden));
            }
            has_ended = !matches!(result, Ok(Some(_)));
            match result {
                Ok(None) => self.staged -= staged,
                Ok(Some(work)) => {
                    if let Some(state) = self.streams.get_mut(&stream) {
                        state.queue.push_front(Entry { order, what, work, staged });
                    }
                }
                Err(fault) => {
                    self.staged -= staged;
                    self.fail(device, &what, &fault);
                }
            }
        }
        self.bury(stream);
        has_ended
    }

    /// Performs the work. Returns the work if it has not ended, because it waits for other devices.
    fn perform(&mut self, order: u64, work: Work) -> std::result::Result<Option<Work>, Fault> {
        match work {
            Work::On(device, job) => job(&mut self.devices[device].memory)?,
            Work::Launch(device, module, kernel, launch) => {
                exec::run(&module, kernel, &launch, &mut self.devices[device].memory, &mut self.order)?;
            }
            Work::Copy { from, to, bytes } => {
                let source = &self.devices[from.0].memory;
                let content = source.read(&mut Hint::default(), from.1, bytes)?.to_vec();
                let target = &mut self.devices[to.0].memory;
                target.write(&mut Hint::default(), to.1, bytes)?.copy_from_slice(&content);
            }
            Work::Free(device, address) => {
                self.freeing.remove(&order);
                let device = &mut self.devices[device];
                device.allocated.remove(&address);
                device.memory.free(address);
            }
            Work::Record(event) => {
                if let Some(event) = self.events.get_mut(&event) {
                    event.happened = Some(Instant::now());
                }
            }
            Work::Wait(_) => {}
            Work::Remote { device, mut remote, begun } => {
                let memory = &mut self.devices[device].memory;
                if !begun {
                    remote.begin(memory)?;
                }
                if !remote.end(memory)? {
                    return Ok(Some(Work::Remote { device, remote, begun: true }));
                }
            }
        }
        Ok(None)
    }

    /// Discards the queued work of a device whose context has failed or is destroyed. Allocations whose free was queued
    /// stay allocated.
    pub(super) fn drop_work(&mut self, device: usize) {
        for stream in self.streams.values_mut().filter(|stream| stream.device == device) {
            for entry in std::mem::take(&mut stream.queue) {
                self.staged -= entry.staged;
                if let Work::Free(on, address) = entry.work {
                    self.freeing.remove(&entry.order);
                    self.devices[on].allocated.insert(address, Lifetime::Live);
                }
            }
        }
    }

    /// Removes a stream that was destroyed and has no work left.
    pub(super) fn bury(&mut self, stream: u64) {
        if self.streams.get(&stream).is_some_and(|stream| stream.destroyed && stream.queue.is_empty()) {
            self.streams.remove(&stream);
        }
    }
}
