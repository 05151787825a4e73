//! The results of a run. They are saved as JSON, so that a later run can report calls that became slower.

use super::{
    machine::{Limits, Machine},
    programs::{OURS, Time, WITHOUT_PAGES},
};
use crate::run::{Outcome, failed};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// A call is reported if both its minimum and its median time grew by more than this factor.
const SLOWER: f64 = 1.10;

/// The times of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub group: String,
    pub name: String,
    pub call: String,
    pub dtype: String,
    pub size: Option<usize>,
    pub threads: usize,
    pub bytes: f64,
    /// The minimum time in nanoseconds that the machine needs for the call.
    pub limit: Option<f64>,
    pub times: Vec<(String, Time)>,
}

impl Row {
    pub fn time(&self, of: &str) -> Option<Time> {
        self.times.iter().find(|(name, _)| name == of).map(|(_, time)| *time)
    }

    /// The speed of this library relative to another program, as the ratio of the minimum times. Above 1, this library
    /// is faster.
    pub fn ratio(&self, to: &str) -> Option<f64> {
        Some(self.time(to)?.least / self.time(OURS)?.least)
    }

    /// The speed of this library relative to the fastest of the other libraries.
    pub fn to_best(&self) -> Option<f64> {
        self.best_to(OURS)
    }

    /// The speed of one of this library's two programs relative to the fastest of the other libraries.
    pub fn best_to(&self, of: &str) -> Option<f64> {
        let others = self.times.iter().filter(|(name, _)| ![OURS, WITHOUT_PAGES].contains(&name.as_str()));
        let best = others.map(|(_, time)| time.least).min_by(f64::total_cmp)?;
        Some(best / self.time(of)?.least)
    }
}

/// A finished run on one machine.
pub struct Run {
    pub date: String,
    pub machine: Machine,
    pub versions: String,
    pub limits: Vec<(usize, Limits)>,
    pub rows: Vec<Row>,
}

impl Run {
    pub fn json(&self) -> Value {
        let limits: Vec<Value> = self
            .limits
            .iter()
            .map(|(threads, limits)| json!({ "threads": threads, "limits": limits.json() }))
            .collect();
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({ "date": self.date, "machine": self.machine.json(), "versions": self.versions, "limits": limits, "rows": rows })
    }
}

fn row(row: &Row) -> Value {
    let time = |(name, time): &(String, Time)| (name.clone(), json!([time.least, time.median]));
    let times: serde_json::Map<String, Value> = row.times.iter().map(time).collect();
    json!({
        "group": row.group, "name": row.name, "threads": row.threads, "bytes": row.bytes, "limit": row.limit, "times": times,
    })
}

/// The saved runs in `folder` on a processor with this name and the same `Machine::simd`, beginning with the newest
/// run.
pub fn history(folder: &Path, machine: &Machine) -> Outcome<Vec<Value>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "json"));
    // file names begin with the date
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).map_err(|why| failed(path, &why))?;
        serde_json::from_str::<Value>(&text).map_err(|why| format!("{}: {why}", path.display()))
    };
    let runs = files.iter().rev().map(read).collect::<Outcome<Vec<_>>>()?;
    Ok(runs
        .into_iter()
        .filter(|run| run["machine"]["name"] == machine.name && run["machine"]["simd"] == machine.simd)
        .collect())
}

/// A line for each call that is slower than in the last run in which it was measured.
pub fn slower(rows: &[Row], history: &[Value]) -> Vec<String> {
    let line = |row: &Row| {
        let now = row.time(OURS)?;
        let same = |of: &&Value| of["name"] == row.name && of["threads"] == row.threads;
        let last = |run: &Value| {
            let of = run["rows"].as_array()?.iter().find(same)?;
            let time = &of["times"][OURS];
            Some((run["date"].as_str()?.to_owned(), Time { least: time[0].as_f64()?, median: time[1].as_f64()? }))
        };
        let (date, before) = history.iter().find_map(last)?;
        let ratio = (now.least / before.least).min(now.median / before.median);
        let Row { name, threads, .. } = row;
        let (was, is) = (before.least / 1e3, now.least / 1e3);
        (ratio > SLOWER)
            .then(|| format!("`{name}`, threads: {threads}: {is:.2} us, {was:.2} on {date}, {ratio:.2} times as long"))
    };
    rows.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn of(name: &str, least: f64, peers: &[(&str, f64)]) -> Row {
        let time = |least| Time { least, median: least };
        let ours = [(OURS.to_owned(), time(least))];
        let times =
            ours.into_iter().chain(peers.iter().map(|(name, least)| (name.to_string(), time(*least)))).collect();
        Row { group: "g".into(), name: name.into(), call: name.into(), threads: 1, times, ..Row::default() }
    }

    #[test]
    fn ratios_are_the_others_time_over_ours() {
        let row = of("a", 2.0, &[("NumPy", 8.0), ("PyTorch", 1.0)]);
        assert_eq!((row.ratio("NumPy"), row.to_best(), row.ratio("none")), (Some(4.0), Some(0.5), None));
        assert_eq!(of("a", 2.0, &[]).to_best(), None);
    }

    #[test]
    fn what_got_slower_since_it_was_measured_last_is_named() {
        let run = |date: &str, rows: Vec<Row>| {
            let (machine, versions) = (Machine { name: "cpu".into(), ..Machine::default() }, String::new());
            Run { date: date.into(), machine, versions, limits: Vec::new(), rows }.json()
        };
        // the newest run comes first; a run need not contain every call
        let history =
            [run("3", vec![of("b", 10.0, &[])]), run("2", vec![of("a", 10.0, &[])]), run("1", vec![of("a", 1.0, &[])])];
        let lines = slower(&[of("a", 12.0, &[]), of("b", 10.5, &[]), of("c", 1.0, &[])], &history);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("`a`, threads: 1: 0.01 us") && lines[0].contains("on 2, 1.20 times"), "{lines:?}");
    }
}
