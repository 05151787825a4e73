//! What the program says while it works.

use std::{fmt::Display, io, io::Write};

/// Lines on standard output. Whoever reads them may be gone, or the disk full: the work goes on, and its results are
/// written.
#[derive(Default)]
pub struct Console {
    failed: Option<io::Error>,
}

impl Console {
    /// Says a line, unless one could not be said before.
    pub fn say(&mut self, line: impl Display) {
        if self.failed.is_none() {
            let mut out = io::stdout().lock();
            self.failed = writeln!(out, "{line}").and_then(|()| out.flush()).err();
        }
    }

    /// The error of a line that was lost. That a reader has read enough, as `head` does, is none.
    pub fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(io::Error::new(e.kind(), format!("standard output: {e}")))
            }
            _ => Ok(()),
        }
    }
}

/// Says why there is no result. Where there is no standard error either, the exit status says that much.
pub fn complain(why: impl Display) {
    let _ = writeln!(io::stderr(), "error: {why}");
}
