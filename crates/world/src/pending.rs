//! Calls that are started now and waited for later.

use crate::{Kind, Request, Result, World, queue, watch::Call};

/// A started call and its buffers. [`wait`](Pending::wait) returns its result.
///
/// The call may progress only while this rank is in some call of its world. Dropping the `Pending` waits for the call
/// and discards its result. On a rank that unwinds, dropping does not wait, because the job is about to end.
#[must_use = "a call is complete when it was waited for"]
pub struct Pending {
    world: World,
    call: Call,
    work: Work,
}

pub(crate) enum Work {
    /// A request of the transport.
    Request(Box<dyn Request>),
    /// A receive of a message that this rank sends to itself; `number` identifies the message.
    Own { number: u64, buf: Vec<u8>, kind: Kind },
    /// A finished call.
    Done(Vec<u8>),
    /// The result has been returned.
    Taken,
}

impl Pending {
    pub(crate) fn new(world: &World, call: Call, work: Work) -> Pending {
        Pending { world: world.clone(), call, work }
    }

    /// Waits for the call and returns its result:
    /// - broadcast, reduction or receive: the buffer
    /// - all-gather or all-to-all: all parts
    /// - reduce-scatter: this rank's part
    /// - send: the sent buffer
    /// - barrier: an empty buffer
    ///
    /// # Errors
    /// Errors of the blocking call with the same name.
    pub fn wait(mut self) -> Result<Vec<u8>> {
        self.finish()
    }

    /// Returns whether [`wait`](Pending::wait) would return immediately.
    ///
    /// # Errors
    /// Errors of the call, which `wait` then returns as well.
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
            // the library may still write to the memory of the request, so the memory is never freed
            std::mem::forget(std::mem::replace(&mut self.work, Work::Taken));
        } else {
            // `drop` cannot return the error; the next call encounters the same error again
            let _ = self.finish();
        }
    }
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending({} of {:?})", self.call.name(), self.world)
    }
}
