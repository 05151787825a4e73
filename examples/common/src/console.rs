//! The messages that a program prints while it works.

use backends_plot::{Progress, progress};
use std::{error::Error, fmt::Display, io, io::Write, process::ExitCode};

/// Prints lines on standard output. If printing fails, because the reader has closed the pipe or the disk is full, the
/// program still does its work and writes its results.
#[derive(Default)]
pub struct Console {
    failed: Option<io::Error>,
    is_silent: bool,
}

impl Console {
    /// A console without output, for all ranks of a program except rank 0.
    pub fn silent() -> Console {
        Console { failed: None, is_silent: true }
    }

    /// Returns whether this console prints anything.
    pub fn is_heard(&self) -> bool {
        !self.is_silent
    }

    /// Prints a line, unless an earlier line could not be printed.
    pub fn say(&mut self, line: impl Display) {
        if self.failed.is_none() && self.is_heard() {
            let mut out = io::stdout().lock();
            self.failed = writeln!(out, "{line}").and_then(|()| out.flush()).err();
        }
    }

    /// A progress bar on the terminal; hidden if the console is silent.
    pub fn progress(&self, name: &'static str, steps: usize) -> Progress {
        if self.is_silent { Progress::hidden() } else { progress(name, steps) }
    }

    /// Returns the error of a line that could not be printed. A reader that stops early, such as `head`, is not an
    /// error.
    pub fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(io::Error::new(e.kind(), format!("standard output: {e}")))
            }
            _ => Ok(()),
        }
    }
}

/// Prints the reason of a failure on standard error. If this fails too, only the exit status shows the failure.
fn complain(why: impl Display) {
    let _ = writeln!(io::stderr(), "error: {why}");
}

/// The main function of a program. It prints the help, or runs the program with the parsed options, and reports errors.
pub fn main<O>(
    parsed: Result<Option<O>, impl Display>,
    help: &str,
    run: impl FnOnce(&O, &mut Console) -> Result<(), Box<dyn Error>>,
) -> ExitCode {
    let mut console = Console::default();
    let outcome = match parsed {
        Ok(Some(options)) => run(&options, &mut console),
        Ok(None) => {
            console.say(help.trim_end());
            Ok(())
        }
        Err(e) => {
            complain(format!("{e}\n\nTry --help."));
            return ExitCode::from(2);
        }
    };
    match outcome.and_then(|()| Ok(console.finish()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            complain(e);
            ExitCode::FAILURE
        }
    }
}
