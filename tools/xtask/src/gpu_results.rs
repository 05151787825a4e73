//! Converts the results of a run on a GPU machine to tables for docs/gpu.md: `gpu-results FILE..`.

use crate::run::{Outcome, root, run};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
    process::Command,
};

/// Predicted times in microseconds on an H200, for benchmark cases with 2^24 elements. The predictions were made before
/// anything had been run on an H200.
const PREDICTED: [(&str, f64); 18] = [
    ("add f32", 50.0),
    ("m + row f32", 39.0),
    ("m + row f16", 28.0),
    ("transpose copied f32", 36.0),
    ("transpose copied u8", 30.0),
    ("x + y.T f32", 125.0),
    ("sum f32", 29.0),
    ("sum rows 1024", 50.0),
    ("sum rows of 3", 57.0),
    ("var f32", 57.0),
    ("softmax rows 1024", 180.0),
    ("cumsum", 87.0),
    ("sort f32", 1900.0),
    ("topk 50 of rows 65536", 2000.0),
    ("nonzero", 135.0),
    ("scatter_add 256 places", 4000.0),
    ("conv 3x3 64-64 56x56 b32 f32", 950.0),
    ("conv weight gradient f32", 4500.0),
];

/// Differences from the reference results are listed if they exceed this fraction of the largest allowed difference.
const NEAR: f64 = 0.5;

/// The task `gpu-results FILE..`: prints the tables for files that `run.sh` packed.
pub fn task(args: &[String]) -> Outcome {
    if args.is_empty() {
        return Err("usage: cargo xtask gpu-results FILE.. (correctness.tar.gz, speed.tar.gz)".into());
    }
    for file in args {
        let results = Results::of(Path::new(file))?;
        println!("{}\n{}{}{}", results.table(), results.failures(), results.speed(), results.distances());
    }
    Ok(())
}

/// The texts in an archive of results that `run.sh` has packed.
#[derive(Debug, Default)]
pub struct Results {
    pub summary: String,
    machine: String,
    planned: String,
    outcomes: String,
    ulps: String,
    /// Lines of JSON from the benchmarks of this library, CuPy and PyTorch.
    times: String,
}

impl Results {
    /// Reads a file that `run.sh` packed. Fields whose content is missing in the file are empty.
    pub fn of(file: &Path) -> Outcome<Results> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = name.split('.').next().unwrap_or_default().to_owned();
        let folder = root().join("target/gpu-results").join(format!("{}-{part}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        let unpacked = run(Command::new("tar").arg("-C").arg(&folder).arg("-xzf").arg(file));
        let read = |name: &str| fs::read(folder.join(&part).join(name)).unwrap_or_default();
        let text = |name: &str| String::from_utf8_lossy(&read(name)).into_owned();
        let results = Results {
            summary: text("summary.txt"),
            machine: text("machine.log"),
            planned: text("planned.tsv"),
            outcomes: text("results.tsv"),
            ulps: text("ulps.tsv"),
            times: ["ours.jsonl", "cupy.jsonl", "torch.jsonl"].map(text).concat(),
        };
        let _ = fs::remove_dir_all(&folder);
        unpacked?;
        if results.summary.is_empty() {
            return Err(format!("{}: this is no file of `run.sh`: it has no {part}/summary.txt", file.display()));
        }
        Ok(results)
    }

    /// The value of a key, such as `device`, in the log about the machine; "?" if the log does not have the key.
    fn said(&self, what: &str) -> &str {
        let value = |line: &'_ str| Some(line.strip_prefix(what)?.strip_prefix(": ")?.len());
        self.machine.lines().find(|line| value(line).is_some()).map_or("?", |line| &line[what.len() + 2..])
    }

    /// Returns whether the results contain a time measured with the library `library`.
    pub fn has_times_of(&self, library: &str) -> bool {
        let lines = self.times.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.into_iter().any(|line| line["lib"] == library && line["ns"].is_number())
    }

    /// A table with date, device and driver, and, for each test program, the number of passed tests.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{}, {}, driver {}, CuPy {}, PyTorch {}\n",
            ["date", "device"].map(|what| self.said(what)).join(", "),
            self.said("memory"),
            self.said("driver"),
            self.said("cupy"),
            self.said("torch")
        );
        if let Some(kernels) = self.summary.lines().rfind(|line| line.contains("kernels were compiled here")) {
            let _ = writeln!(text, "{}", kernels.split_once("] ").map_or(kernels, |(_, said)| said));
        }
        let mut counts: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
        for program in self.planned.lines().filter_map(|line| line.split('\t').next()) {
            counts.entry(program).or_default()[4] += 1;
        }
        for line in self.outcomes.lines() {
            let [outcome, program, _] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
            let Some(kind) = ["passed", "failed", "hung", "crashed"].iter().position(|kind| *kind == outcome) else {
                continue;
            };
            let count = counts.entry(program).or_default();
            count[kind] += 1;
            count[4] = count[4].saturating_sub(1);
        }
        if !counts.is_empty() {
            text += "\n| tests | passed | failed | hung | crashed | not run |\n|---|--:|--:|--:|--:|--:|\n";
        }
        for (program, [passed, failed, hung, crashed, left]) in counts {
            let _ = writeln!(text, "| {program} | {passed} | {failed} | {hung} | {crashed} | {left} |");
        }
        text
    }

    /// A line for each failure in the summary.
    fn failures(&self) -> String {
        let is_failure = |said: &str| ["failed: ", "hung: ", "crashed: "].iter().any(|kind| said.starts_with(kind));
        let said =
            self.summary.lines().filter_map(|line| Some(line.split_once("] ")?.1)).filter(|said| is_failure(said));
        said.map(|said| format!("- {said}\n")).collect()
    }

    /// A table with a line for each benchmark case: the time of this library, the times of other libraries, and the
    /// predicted time.
    fn speed(&self) -> String {
        let mut rows: BTreeMap<(String, String), BTreeMap<String, f64>> = BTreeMap::new();
        let mut errors = BTreeSet::new();
        for line in self.times.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let of = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Some(ns) = line.get("ns").and_then(Value::as_f64) {
                rows.entry((of("size"), of("row"))).or_default().insert(of("lib"), ns / 1e3);
            } else {
                errors.insert(format!("- {} {} on {}: {}\n", of("size"), of("row"), of("lib"), of("error")));
            }
        }
        if rows.is_empty() && errors.is_empty() {
            return String::new();
        }
        let mut text = String::from(
            "\nMicroseconds a call:\n\n| size | row | ours | CuPy | PyTorch | ours / best | predicted |\n|---|---|--:|--:|--:|--:|--:|\n",
        );
        for ((size, row), libraries) in rows {
            let time = |library: &str| libraries.get(library).copied();
            let cell = |time: Option<f64>| time.map_or("-".into(), |time| format!("{time:.1}"));
            let best = ["cupy", "torch"].iter().filter_map(|library| time(library)).reduce(f64::min);
            let ratio = time("ours").zip(best).map_or("-".into(), |(ours, best)| format!("{:.2}", ours / best));
            let predicted = PREDICTED.iter().find(|(known, _)| size == "large" && *known == row).map(|(_, time)| *time);
            let [ours, cupy, torch] = ["ours", "cupy", "torch"].map(|library| cell(time(library)));
            let _ = writeln!(text, "| {size} | {row} | {ours} | {cupy} | {torch} | {ratio} | {} |", cell(predicted));
        }
        text + &errors.into_iter().collect::<String>()
    }

    /// The ops and dtypes whose results differ from the reference by more than `NEAR` times the allowed difference.
    fn distances(&self) -> String {
        let mut most: BTreeMap<(&str, &str), (f64, f64)> = BTreeMap::new();
        for line in self.ulps.lines() {
            let [op, dtype, far, allowed] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
            let (Ok(far), Ok(allowed)) = (far.parse::<f64>(), allowed.parse::<f64>()) else { continue };
            let entry = most.entry((op, dtype)).or_insert((far, allowed));
            if far / allowed > entry.0 / entry.1 {
                *entry = (far, allowed);
            }
        }
        let near: Vec<_> = most.iter().filter(|(_, (far, allowed))| *far > NEAR * allowed).collect();
        if most.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "\n{} of {} rows and dtypes that are held to units in the last place use more than half of what they are allowed:\n",
            near.len(),
            most.len()
        );
        if !near.is_empty() {
            text += "\n| op | dtype | ulp | allowed |\n|---|---|--:|--:|\n";
        }
        for ((op, dtype), (far, allowed)) in near {
            let _ = writeln!(text, "| {op} | {dtype} | {far:.1} | {allowed} |");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        Results {
            summary: "[9 s] 0 of 7 kernels were compiled here\n[9 s] failed: cuda add::int8: expected 1, got 2\n"
                .into(),
            machine: "date: 2026-01-02\ndevice: H200\ndriver: 580.1\ncupy: 14.2\n".into(),
            planned: "cuda\ta\ncuda\tb\ncuda\tc\nmlp\tx\n".into(),
            outcomes: "passed\tcuda\ta\nfailed\tcuda\tb\npassed\tmlp\tx\nbroken line\n".into(),
            ulps: "pow\tfloat32\t1\t4\npow\tfloat32\t3.5\t4\nexp\tfloat32\t1\t4\nhalf a line".into(),
            times: concat!(
                "{\"lib\":\"ours\",\"row\":\"add f32\",\"size\":\"large\",\"ns\":60000}\n",
                "{\"lib\":\"torch\",\"row\":\"add f32\",\"size\":\"large\",\"ns\":50000}\n",
                "{\"lib\":\"cupy\",\"row\":\"sort f32\",\"size\":\"small\",\"error\":\"no memory\"}\n{\"lib\":\"cu"
            )
            .into(),
        }
    }

    #[test]
    fn tests_are_counted_and_the_machine_is_named() {
        let table = results().table();
        for line in [
            "2026-01-02, H200, ?, driver 580.1, CuPy 14.2, PyTorch ?",
            "0 of 7 kernels were compiled here",
            "| cuda | 1 | 1 | 0 | 0 | 1 |",
            "| mlp | 1 | 0 | 0 | 0 | 0 |",
        ] {
            assert!(table.contains(line), "{line}:\n{table}");
        }
        assert_eq!(results().failures(), "- failed: cuda add::int8: expected 1, got 2\n");
    }

    #[test]
    fn times_are_beside_each_other() {
        let speed = results().speed();
        assert!(speed.contains("| large | add f32 | 60.0 | - | 50.0 | 1.20 | 50.0 |"), "{speed}");
        assert!(speed.contains("- small sort f32 on cupy: no memory"), "{speed}");
        assert_eq!(Results::default().speed(), "");
    }

    #[test]
    fn the_farthest_of_a_row_counts() {
        let distances = results().distances();
        assert!(distances.contains("1 of 2 rows"), "{distances}");
        assert!(distances.contains("| pow | float32 | 3.5 | 4 |") && !distances.contains("| exp |"), "{distances}");
    }

    #[test]
    fn the_bench_and_its_peers_have_the_same_rows() {
        let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
        let quoted = |text: &str| Some(text.strip_prefix('"')?.split('"').next()?.to_owned());
        let ours: BTreeSet<String> =
            read("benches/gpu.rs").split("row!(").skip(1).filter_map(|rest| quoted(rest.trim_start())).collect();
        let peers = read("tools/xtask/peers_gpu.py");
        let (_, list) = peers.split_once("CALLS = {").unwrap();
        let lines = list.lines().take_while(|line| *line != "}");
        let theirs: BTreeSet<String> = lines.filter_map(|line| quoted(line.strip_prefix("    ")?)).collect();
        assert_eq!(ours.len(), 53, "{ours:?}");
        assert_eq!(ours, theirs);
        for (row, _) in PREDICTED {
            assert!(ours.contains(row), "{row}");
        }
    }

    #[test]
    fn another_file_is_refused() {
        let why = Results::of(&root().join("Cargo.toml")).unwrap_err();
        assert!(why.contains("tar"), "{why}");
    }
}
