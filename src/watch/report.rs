//! Reports of a profile: a table of calls, totals per op, and a trace for trace viewers.

use super::{Event, Profile};
use std::{collections::BTreeMap, fmt::Write, io, path::Path, time::Duration};

/// The times of all calls of one op.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Average {
    /// Name of the op or the span; for a formula its whole text.
    pub name: String,
    /// Number of calls.
    pub calls: usize,
    /// Total time of the calls, including the calls nested in them.
    pub total: Duration,
    /// Total time of the calls without the calls nested in them.
    pub own: Duration,
    /// Time of the longest call.
    pub longest: Duration,
}

impl Average {
    /// The mean time of a call, including nested calls.
    #[must_use]
    pub fn mean(&self) -> Duration {
        let calls = u32::try_from(self.calls).unwrap_or(u32::MAX);
        self.total.checked_div(calls).unwrap_or_default()
    }
}

impl Profile {
    /// The time from the start of the first event to the end of the last event.
    #[must_use]
    pub fn duration(&self) -> Duration {
        let events = self.events();
        let first = events.iter().map(|event| event.start).min().unwrap_or_default();
        let last = events.iter().map(|event| event.start + event.duration).max().unwrap_or_default();
        last.saturating_sub(first)
    }

    /// The times of each op, sorted by their time without nested calls, in descending order.
    #[must_use]
    pub fn averages(&self) -> Vec<Average> {
        let events = self.events();
        let mut own: Vec<Duration> = events.iter().map(|event| event.duration).collect();
        for event in &events {
            if let Some(parent) = event.parent.and_then(|parent| own.get_mut(parent)) {
                *parent = parent.saturating_sub(event.duration);
            }
        }
        let mut averages = BTreeMap::new();
        for (event, own) in events.iter().zip(own) {
            let new = || Average {
                name: event.name.clone(),
                calls: 0,
                total: Duration::ZERO,
                own: Duration::ZERO,
                longest: Duration::ZERO,
            };
            let of_op = averages.entry(&event.name).or_insert_with(new);
            of_op.calls += 1;
            of_op.total += event.duration;
            of_op.own += own;
            of_op.longest = of_op.longest.max(event.duration);
        }
        let mut averages: Vec<Average> = averages.into_values().collect();
        averages.sort_by_key(|average| std::cmp::Reverse(average.own));
        averages
    }

    /// A table with the time of each op, in milliseconds: without nested calls, in total, and on average.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut out = format!("{:>10} {:>10} {:>10} {:>8}  op\n", "own ms", "total ms", "mean ms", "calls");
        for average in self.averages() {
            let (own, total, mean) = (ms(average.own), ms(average.total), ms(average.mean()));
            let _ =
                writeln!(out, "{own:>10} {total:>10} {mean:>10} {:>8}  {}", average.calls, shortened(&average.name));
        }
        out
    }

    /// A table of the calls that took at least `least`, with times in milliseconds. Nested calls are indented.
    #[must_use]
    pub fn table(&self, least: Duration) -> String {
        let events = self.events();
        let mut out = format!("{:>10} {:>10}  call\n", "start ms", "ms");
        for event in events.iter().filter(|event| event.duration >= least) {
            let depth = std::iter::successors(event.parent, |parent| events.get(*parent)?.parent).count();
            let Event { args, results, .. } = event;
            let name = shortened(&event.name);
            // a space separates a formula from the list of its arguments
            let space = if event.is_span || event.name == event.op { "" } else { " " };
            let arrow = if results.is_empty() { "" } else { " -> " };
            let (start, duration) = (ms(event.start), ms(event.duration));
            let _ = writeln!(
                out,
                "{start:>10} {duration:>10}  {:indent$}{name}{space}{args}{arrow}{results}",
                "",
                indent = 2 * depth
            );
        }
        out
    }

    /// The calls as JSON in Chrome's trace event format, for `chrome://tracing` and Perfetto. Format:
    /// <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.
    #[must_use]
    pub fn trace(&self) -> String {
        let events = self.events();
        let threads = events.iter().map(|event| event.thread + 1).max().unwrap_or_default();
        let named = (0..threads).map(|thread| {
            format!("{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":0,\"tid\":{thread},\"args\":{{\"name\":\"thread {thread}\"}}}}")
        });
        let calls = events.iter().map(|event| {
            let us = |time: Duration| time.as_nanos() as f64 / 1e3;
            let group = if event.is_span { "span" } else { event.group };
            format!(
                "{{\"name\":{},\"cat\":{},\"ph\":\"X\",\"pid\":0,\"tid\":{},\"ts\":{:?},\"dur\":{:?},\"args\":{{\"inputs\":{},\"outputs\":{}}}}}",
                json(&event.name),
                json(group),
                event.thread,
                us(event.start),
                us(event.duration),
                json(&event.args),
                json(&event.results)
            )
        });
        let lines: Vec<String> = named.chain(calls).collect();
        format!("{{\"traceEvents\":[\n{}\n],\"displayTimeUnit\":\"ms\"}}\n", lines.join(",\n"))
    }

    /// Writes [`Profile::trace`] to a file.
    ///
    /// # Errors
    /// The errors of the file system.
    pub fn save_trace(&self, path: impl AsRef<Path>) -> io::Result<()> {
        std::fs::write(path, self.trace())
    }
}

/// Formats a time in milliseconds, with three digits after the point.
fn ms(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

/// Maximum length of a formula's text in a table, in characters.
const LONGEST: usize = 64;

/// Shortens a long text to its beginning and its end.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.into();
    }
    let end = LONGEST / 4;
    let beginning = text.chars().take(LONGEST - end - 4);
    beginning.chain(" .. ".chars()).chain(text.chars().skip(count - end)).collect()
}

/// Formats a text as a JSON string.
fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Creation, Elementwise, Numpyish};

    #[test]
    fn tables() {
        let profile = Profile::new();
        let b = profile.watch(Numpyish::new());
        profile.span("step \"one\"", || b.exp(b.ones::<f32>([2]).unwrap()).unwrap());
        let table = profile.table(Duration::ZERO);
        let lines: Vec<&str> = table.lines().map(|line| line.get(23..).unwrap_or_default()).collect();
        assert_eq!(
            lines,
            ["call", "step \"one\"", "  ones([2]) -> float32[2]", "  exp(float32[2]) -> float32[2]"],
            "{table}"
        );
        assert_eq!(profile.table(Duration::MAX).lines().count(), 1);
        let averages = profile.averages();
        let total: Duration = averages.iter().map(|average| average.own).sum();
        let span = averages.iter().find(|average| average.name.starts_with("step")).unwrap();
        assert_eq!(total, span.total, "every moment is of one call");
        assert_eq!(profile.summary().lines().count(), 4);
    }

    #[test]
    fn a_text_of_any_kind_stays_json() {
        assert_eq!(json("a\"b\\c\n\u{1}é"), "\"a\\\"b\\\\c\\u000a\\u0001é\"");
    }
}
