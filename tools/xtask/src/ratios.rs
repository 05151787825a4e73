//! Converts criterion's measurements of several backends to a table of times and ratios.

use crate::run::Outcome;
use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

/// Pairs of a backend of this library and another backend with which it is compared. The ratio is the second backend's
/// time divided by the first backend's time.
const PEERS: [(&str, &str); 2] = [("numpyish cpu", "torch cpu"), ("cuda cuda:0", "torch cuda:0")];

/// For each benchmark and backend, the median time in nanoseconds.
type Times = BTreeMap<String, BTreeMap<String, f64>>;

/// Reads the times in criterion's folder. Returns a table with a line for each benchmark, and the geometric mean of the
/// ratios.
pub fn table(folder: &Path) -> Outcome<String> {
    Ok(text(&read(folder)?))
}

fn text(times: &Times) -> String {
    let mut out = String::new();
    for (ours, peer) in PEERS {
        let both = |of: &BTreeMap<String, f64>| Some((*of.get(ours)?, *of.get(peer)?));
        let rows: Vec<_> = times.iter().filter_map(|(bench, of)| Some((bench, both(of)?))).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n| bench | {ours}, us | {peer}, us | ratio |\n|---|--:|--:|--:|");
        for (bench, (own, other)) in &rows {
            let _ = writeln!(out, "| {bench} | {:.2} | {:.2} | {:.2} |", own / 1e3, other / 1e3, other / own);
        }
        let logs: f64 = rows.iter().map(|(_, (own, other))| (other / own).ln()).sum();
        let _ = writeln!(out, "\ngeometric mean of the ratios: {:.2}", (logs / rows.len() as f64).exp());
    }
    out
}

fn read(folder: &Path) -> Outcome<Times> {
    let mut times = Times::new();
    for bench in children(folder)? {
        for backend in children(&bench)? {
            let file = |name: &str| fs::read_to_string(backend.join("new").join(name));
            let (Ok(what), Ok(estimates)) = (file("benchmark.json"), file("estimates.json")) else { continue };
            let names = (string(&what, "group_id"), string(&what, "value_str"));
            if let ((Some(group), Some(value)), Some(median)) = (names, median(&estimates)) {
                times.entry(group.into()).or_default().insert(value.into(), median);
            }
        }
    }
    Ok(times)
}

fn children(folder: &Path) -> Outcome<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect())
}

/// The value of a key in criterion's JSON files, if the value is a string without escapes.
fn string<'t>(json: &'t str, key: &str) -> Option<&'t str> {
    json.split_once(&format!("\"{key}\":\""))?.1.split('"').next()
}

fn median(json: &str) -> Option<f64> {
    let after = json.split_once("\"median\":")?.1.split_once("\"point_estimate\":")?.1;
    after.split([',', '}']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_the_peers_time_over_ours() {
        let of = |pairs: &[(&str, f64)]| pairs.iter().map(|(name, time)| (name.to_string(), *time)).collect();
        let times = Times::from([
            ("add".to_string(), of(&[("numpyish cpu", 1e3), ("torch cpu", 4e3)])),
            ("exp".to_string(), of(&[("numpyish cpu", 4e3), ("torch cpu", 4e3)])),
            ("sum".to_string(), of(&[("numpyish cpu", 1.0)])),
        ]);
        let text = text(&times);
        assert!(text.contains("| add | 1.00 | 4.00 | 4.00 |") && text.contains("ratios: 2.00"), "{text}");
        assert!(!text.contains("sum") && !text.contains("cuda"), "{text}");
    }

    #[test]
    fn criterions_files_are_read() {
        let json =
            r#"{"mean":{"point_estimate":1.0},"median":{"confidence_interval":{"x":2},"point_estimate":3.5,"e":1}}"#;
        assert_eq!(median(json), Some(3.5));
        assert_eq!(
            string(r#"{"group_id":"a, n = 1","function_id":null,"value_str":"torch cpu"}"#, "value_str"),
            Some("torch cpu")
        );
    }
}
