//! Calls that are waited for later.

use crate::{Kind, Request, Result, World, queue, watch::Call};

/// A call that was begun, with the buffers that it works on. [`wait`](Pending::wait) gives its result.
///
/// The call may make no progress but while this rank is in some call of its world. Dropping it waits and forgets the result, but where
/// the rank unwinds: there the job is about to end.
#[must_use = "a call is complete when it was waited for"]
pub struct Pending {
    world: World,
    call: Call,
    work: Work,
}

pub(crate) enum Work {
    /// The transport's.
    Request(Box<dyn Request>),
    /// A receive of a message of this rank to itself, with the number of the message.
    Own { number: u64, buf: Vec<u8>, kind: Kind },
    /// Nothing is left to wait for.
    Done(Vec<u8>),
    /// The result was given.
    Taken,
}

impl Pending {
    pub(crate) fn new(world: &World, call: Call, work: Work) -> Pending {
        Pending { world: world.clone(), call, work }
    }

    /// Waits for the end of the call. What it gives: the buffer of a broadcast, of a reduction or of a receive, all parts of an all-gather or
    /// an all-to-all, this rank's part of a reduce-scatter; of a send the buffer that was sent, of a barrier nothing.
    ///
    /// # Errors
    /// Those of the call with the same name that waits at once.
    pub fn wait(mut self) -> Result<Vec<u8>> {
        self.finish()
    }

    /// Whether [`wait`](Pending::wait) would wait no more.
    ///
    /// # Errors
    /// Those of the call; then `wait` gives the error as well.
    pub fn is_done(&mut self) -> Result<bool> {
        match &mut self.work {
            Work::Request(request) => self.world.wait_for(self.call, |transport| request.is_done(transport)),
            Work::Own { number, .. } => Ok(self.world.own().has(*number)),
            Work::Done(_) | Work::Taken => Ok(true),
        }
    }

    fn finish(&mut self) -> Result<Vec<u8>> {
        match std::mem::replace(&mut self.work, Work::Taken) {
            Work::Request(request) => self.world.wait_for(self.call, |transport| request.wait(transport)),
            Work::Own { number, mut buf, kind } => {
                let message = self.world.own().take(number).ok_or_else(|| self.world.nothing_of_own())?;
                queue::deliver(message, &mut buf, kind, self.world.rank())?;
                Ok(buf)
            }
            Work::Done(buf) => Ok(buf),
            Work::Taken => Ok(Vec::new()),
        }
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // the memory of the request may still be written to, so it is never given back
            std::mem::forget(std::mem::replace(&mut self.work, Work::Taken));
        } else {
            // nobody is there for the error; the next call meets it again
            let _ = self.finish();
        }
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending({} of {:?})", self.call.name(), self.world)
    }
}
