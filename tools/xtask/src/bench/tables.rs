//! Tables of the results of a run, as Markdown.

use super::{
    list::PEERS,
    programs::{OURS, WITHOUT_PAGES},
    results::{Row, Run},
};
use std::fmt::Write;

/// Calls are listed as slow if their speed relative to the best other library is below this ratio.
const BELOW: f64 = 0.95;

/// A geometric mean, with the number of values that it is computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub mean: f64,
    pub count: usize,
}

impl Mean {
    fn of(ratios: impl Iterator<Item = f64>) -> Option<Mean> {
        let logs: Vec<f64> = ratios.map(f64::ln).collect();
        let count = logs.len();
        (count > 0).then(|| Mean { mean: (logs.iter().sum::<f64>() / count as f64).exp(), count })
    }
}

/// The mean speed of this library in these rows, relative to each of the other libraries, and then relative to the best
/// of the other libraries.
pub fn means(rows: &[&Row]) -> [Option<Mean>; PEERS.len() + 1] {
    std::array::from_fn(|place| match PEERS.get(place) {
        Some((peer, _)) => Mean::of(rows.iter().filter_map(|row| row.ratio(peer))),
        None => Mean::of(rows.iter().filter_map(|row| row.to_best())),
    })
}

/// The groups in the order of the rows, each with its rows that were measured with `threads` threads.
pub fn groups(rows: &[Row], threads: usize) -> Vec<(&str, Vec<&Row>)> {
    let mut groups: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows.iter().filter(|row| row.threads == threads) {
        match groups.iter_mut().find(|(group, _)| *group == row.group) {
            Some((_, of)) => of.push(row),
            None => groups.push((&row.group, vec![row])),
        }
    }
    groups
}

/// The page for `threads` threads. It contains the machine, the means by group, the calls that are slower than in the
/// best other library, and all rows.
pub fn page(run: &Run, threads: usize) -> String {
    let groups = groups(&run.rows, threads);
    let all: Vec<&Row> = groups.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    let s = if threads == 1 { "" } else { "s" };
    let mut out = format!(
        "# Comparison with other libraries: {threads} thread{s}\n\n{}. {}. {}.\n",
        run.date,
        run.machine.text(),
        run.versions
    );
    if let Some((_, limits)) = run.limits.iter().find(|(of, _)| *of == threads) {
        let _ = writeln!(out, "\nAt most: {}.", limits.text());
    }
    out.push_str(
        "\n`cargo xtask bench peers` measured these times. In each of several rounds, all programs make the same call, \
         one after another. Times are in microseconds: the minimum of the rounds and, for our library, also the \
         median. A ratio is the other library's time divided by our time, so a ratio above 1 means that our library \
         is faster. The column \"limit\" is the minimum time that the machine needs to move the bytes of the call, or \
         to compute its operations, divided by our time; it exceeds 1 if the arrays stay in a cache. Our program uses \
         the allocator `backends::alloc::Pages`. The column \"without `Pages`\" has our times with the system's \
         allocator, which all other programs use.\n",
    );
    let heads = PEERS.map(|(name, _)| format!("to {name}")).join(" | ");
    let _ = writeln!(
        out,
        "\n| group | {heads} | to the best | below {BELOW} | {WITHOUT_PAGES}, to the best |\n|---|{}",
        "--:|".repeat(PEERS.len() + 3)
    );
    let sums = [("all", all.clone())];
    for (group, rows) in groups.iter().chain(&sums) {
        let cell =
            |mean: &Option<Mean>| mean.map_or(String::new(), |Mean { mean, count }| format!("{mean:.2} ({count})"));
        let cells: Vec<String> = means(rows).iter().map(cell).collect();
        let (below, of) = (slow(rows).len(), rows.iter().filter(|row| row.to_best().is_some()).count());
        let without = cell(&Mean::of(rows.iter().filter_map(|row| row.best_to(WITHOUT_PAGES))));
        let _ = writeln!(out, "| {group} | {} | {below} of {of} | {without} |", cells.join(" | "));
    }
    let slow = slow(&all);
    if !slow.is_empty() {
        let _ = write!(out, "\n## Below {BELOW} of the best\n\n{}", table(&slow));
    }
    for (group, rows) in &groups {
        let _ = write!(out, "\n## {group}\n\n{}", table(rows));
    }
    out
}

/// The rows in which this library is slower than the best other library, the slowest first.
fn slow<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let mut slow: Vec<(f64, &Row)> = rows.iter().filter_map(|row| Some((row.to_best()?, *row))).collect();
    slow.retain(|(ratio, _)| *ratio < BELOW);
    slow.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    slow.into_iter().map(|(_, row)| row).collect()
}

fn table(rows: &[&Row]) -> String {
    let used: Vec<&str> =
        PEERS.iter().map(|(peer, _)| *peer).filter(|peer| rows.iter().any(|row| row.time(peer).is_some())).collect();
    let heads = |format: fn(&str) -> String| used.iter().map(|peer| format(peer)).collect::<String>();
    let mut out = format!(
        "| call | ours | median | {WITHOUT_PAGES} |{}{} best / ours | limit |\n|---|--:|--:|--:|--:|--:|{}\n",
        heads(|peer| format!(" {peer} |")),
        heads(|peer| format!(" x {peer} |")),
        "--:|".repeat(2 * used.len())
    );
    for row in rows {
        let Some(ours) = row.time(OURS) else { continue };
        let ratio = |ratio: Option<f64>| ratio.map_or(" |".into(), |ratio| format!(" {ratio:.2} |"));
        let _ = write!(out, "| `{}` | {} | {} |", row.name, micros(ours.least), micros(ours.median));
        for peer in [WITHOUT_PAGES].iter().chain(&used) {
            out.push_str(&row.time(peer).map_or(" |".into(), |time| format!(" {} |", micros(time.least))));
        }
        for peer in &used {
            out.push_str(&ratio(row.ratio(peer)));
        }
        let _ = writeln!(out, "{}{}", ratio(row.to_best()), ratio(row.limit.map(|limit| limit / ours.least)));
    }
    out
}

/// Converts nanoseconds to a text of microseconds with three digits, or more from 1000 on.
pub fn micros(ns: f64) -> String {
    match ns / 1e3 {
        us if us < 10.0 => format!("{us:.2}"),
        us if us < 100.0 => format!("{us:.1}"),
        us => format!("{us:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{machine::Machine, programs::Time};

    fn row(group: &str, name: &str, times: [(&str, f64); 4]) -> Row {
        let of = |(name, us): (&str, f64)| (name.to_owned(), Time { least: us * 1e3, median: us * 2e3 });
        let limit = Some(500.0);
        Row { group: group.into(), name: name.into(), threads: 1, limit, times: times.map(of).into(), ..Row::default() }
    }

    #[test]
    fn a_page_has_means_and_the_slowest_first() {
        let rows = vec![
            row("a", "fast(x)", [("ours", 1.0), (WITHOUT_PAGES, 2.0), ("NumPy, SciPy", 4.0), ("PyTorch", 9.0)]),
            row("a", "slow(x)", [("ours", 4.0), (WITHOUT_PAGES, 1.0), ("NumPy, SciPy", 4.0), ("PyTorch", 2.0)]),
            row(
                "b",
                "slower(x)",
                [("ours", 100.0), (WITHOUT_PAGES, 100.0), ("NumPy, SciPy", 25.0), ("PyTorch", 250.0)],
            ),
        ];
        let run =
            Run { date: "now".into(), machine: Machine::default(), versions: String::new(), limits: Vec::new(), rows };
        let page = page(&run, 1);
        for line in [
            "| a | 2.00 (2) | 2.12 (2) |  |  |  |  |  |  | 1.41 (2) | 1 of 2 | 2.00 (2) |",
            "| all | 1.00 (3) | 2.24 (3) |  |  |  |  |  |  | 0.79 (3) | 2 of 3 | 1.00 (3) |",
            "| `fast(x)` | 1.00 | 2.00 | 2.00 | 4.00 | 9.00 | 4.00 | 9.00 | 4.00 | 0.50 |",
            "| `slower(x)` | 100 | 200 | 100 | 25.0 | 250 | 0.25 | 2.50 | 0.25 | 0.01 |",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
        assert!(page.find("`slower(x)`") < page.find("`slow(x)`"), "{page}");
    }
}
