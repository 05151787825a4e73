//! Pictures of a run as SVG: bars of the mean speeds by group, and curves of time against size.

use super::{
    list::PEERS,
    programs::OURS,
    results::{Row, Run},
    tables::{groups, means, micros},
};
use std::fmt::Write;

const COLOURS: [&str; 9] =
    ["#1b6ca8", "#e08e0b", "#3a9d5d", "#8a4fa3", "#c0392b", "#16a3b8", "#8d6e4b", "#d46aa8", "#9aa51d"];

/// The colour of a library by its index in the list. The last index stands for the best library, whose bar is grey.
fn colour(place: usize) -> &'static str {
    COLOURS.get(place).copied().unwrap_or("#777777")
}

fn framed(width: f64, height: f64, inside: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{inside}</svg>\n"
    )
}

fn text(x: f64, y: f64, anchor: &str, what: &str) -> String {
    let what = what.replace('&', "&amp;").replace('<', "&lt;");
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#222222\">{what}</text>\n")
}

fn line(from: (f64, f64), to: (f64, f64), colour: &str) -> String {
    let ((x1, y1), (x2, y2)) = (from, to);
    format!("<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>\n")
}

/// Draws coloured squares with names next to them, in a line that begins at `x`.
fn legend(mut x: f64, y: f64, names: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (name, colour) in names {
        let _ =
            writeln!(out, "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>", y - 11.0);
        out.push_str(&text(x + 17.0, y, "start", name));
        x += 40.0 + 7.5 * name.len() as f64;
    }
    out
}

/// Draws three bars for each group: this library's speed relative to NumPy and SciPy, to PyTorch, and to the best other
/// library. A bar that ends left of 1 means that this library is slower.
pub fn bars(run: &Run, threads: usize) -> String {
    let kinds = [(0, PEERS[0].0), (1, PEERS[1].0), (PEERS.len(), "the best of all")];
    let groups = groups(&run.rows, threads);
    let of: Vec<_> = groups.iter().map(|(name, rows)| (format!("{name} ({})", rows.len()), means(rows))).collect();
    // assumes that letters are seven pixels wide; hardly any letter is wider
    let longest = of.iter().map(|(name, _)| name.len()).max().unwrap_or(0) as f64;
    let (left, bar) = (30.0 + 7.0 * longest, 12.0);
    let right = left + 510.0;
    let most = of.iter().flat_map(|(_, means)| means.iter().flatten()).map(|mean| mean.mean.log2().abs());
    let most = most.fold(1.0, f64::max).ceil();
    let least = of.iter().flat_map(|(_, means)| means.iter().flatten()).map(|mean| mean.mean.log2());
    let least = least.fold(0.0, f64::min).floor();
    let at = |ratio: f64| left + (ratio.log2().clamp(least, most) - least) / (most - least) * (right - left);
    let s = if threads == 1 { "" } else { "s" };
    let mut out = text(
        12.0,
        24.0,
        "start",
        &format!("Times as fast as others, geometric means, {threads} thread{s}, {}", run.machine.name),
    );
    out.push_str(&legend(left, 46.0, &kinds.map(|(place, name)| (name, colour(place + 1)))));
    let top = 62.0;
    let bottom = top + of.len() as f64 * (bar * 3.0 + 10.0);
    for power in least as i32..=most as i32 {
        let x = at(f64::from(power).exp2());
        out.push_str(&line((x, top), (x, bottom), if power == 0 { "#222222" } else { "#dddddd" }));
        let name = if power < 0 { format!("1/{}", 1 << -power) } else { (1 << power).to_string() };
        out.push_str(&text(x, bottom + 16.0, "middle", &name));
    }
    for (place, (name, means)) in of.iter().enumerate() {
        let y = top + place as f64 * (bar * 3.0 + 10.0) + 5.0;
        out.push_str(&text(left - 10.0, y + bar * 1.5 + 5.0, "end", name));
        for (row, (kind, _)) in kinds.iter().enumerate() {
            let Some(mean) = means[*kind] else { continue };
            let (a, b) = (at(1.0).min(at(mean.mean)), at(1.0).max(at(mean.mean)));
            let y = y + row as f64 * bar;
            let _ = writeln!(
                out,
                "<rect x=\"{a:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
                (b - a).max(1.0),
                bar - 2.0,
                colour(kind + 1)
            );
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"10\">{:.2}</text>",
                b + 4.0,
                y + 9.0,
                mean.mean
            );
        }
    }
    framed(right + 60.0, bottom + 30.0, &out)
}

/// Draws a small picture for each call that was measured at several sizes in float64. It shows the time in microseconds
/// against the number of elements (for calls on rows, the number of elements of a row). Both axes are logarithmic.
pub fn curves(run: &Run, threads: usize) -> String {
    const WIDE: (f64, f64) = (300.0, 210.0);
    const COLUMNS: usize = 3;
    let mut calls: Vec<(&str, Vec<&Row>)> = Vec::new();
    let sized =
        |row: &&Row| row.threads == threads && row.size.is_some() && ["float64", ""].contains(&row.dtype.as_str());
    for row in run.rows.iter().filter(sized) {
        match calls.iter_mut().find(|(call, _)| *call == row.call) {
            Some((_, rows)) => rows.push(row),
            None => calls.push((&row.call, vec![row])),
        }
    }
    calls.retain(|(_, rows)| rows.len() > 2);
    let programs: Vec<&str> = [OURS].into_iter().chain(PEERS.map(|(name, _)| name)).collect();
    let s = if threads == 1 { "" } else { "s" };
    let mut out = text(
        12.0,
        24.0,
        "start",
        &format!(
            "Microseconds against elements, or the length of rows, float64, {threads} thread{s}, {}",
            run.machine.name
        ),
    );
    let names: Vec<_> = programs.iter().enumerate().map(|(place, name)| (*name, colour(place))).collect();
    out.push_str(&legend(12.0, 46.0, &names));
    for (place, (call, rows)) in calls.iter().enumerate() {
        let origin = ((place % COLUMNS) as f64 * WIDE.0 + 55.0, (place / COLUMNS) as f64 * WIDE.1 + 85.0);
        out.push_str(&panel(call, rows, &programs, origin, (WIDE.0 - 75.0, WIDE.1 - 65.0)));
    }
    let lines = calls.len().div_ceil(COLUMNS) as f64;
    framed(WIDE.0 * COLUMNS as f64 + 20.0, WIDE.1 * lines + 75.0, &out)
}

/// A short text for a number of elements. Powers of ten from a thousand on are written as `1e3`.
fn count(n: usize) -> String {
    if n >= 1000 && 10_usize.pow(n.ilog10()) == n { format!("1e{}", n.ilog10()) } else { n.to_string() }
}

fn panel(call: &str, rows: &[&Row], programs: &[&str], (left, top): (f64, f64), (width, height): (f64, f64)) -> String {
    let sizes = rows.iter().filter_map(|row| row.size);
    let times = rows.iter().flat_map(|row| &row.times).map(|(_, time)| time.least.max(1.0).log10());
    let ends = |of: &mut dyn Iterator<Item = f64>| {
        of.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
    };
    let (x0, x1) = ends(&mut sizes.clone().map(|n| (n as f64).log10()));
    let (y0, y1) = ends(&mut times.clone());
    let (y0, y1) = (y0.floor(), y1.ceil().max(y0.floor() + 1.0));
    let x = |log: f64| left + (log - x0) / (x1 - x0).max(1e-9) * width;
    let y = |log: f64| top + height - (log - y0) / (y1 - y0) * height;
    let mut out = text(left, top - 8.0, "start", call.trim_start_matches("= "));
    for power in (y0 as i32..=y1 as i32).step_by(if y1 - y0 > 5.0 { 2 } else { 1 }) {
        let at = y(f64::from(power));
        out.push_str(&line((left, at), (left + width, at), "#dddddd"));
        let name = if power < 6 { format!("{}", 10_f64.powi(power - 3)) } else { format!("1e{}", power - 3) };
        out.push_str(&text(left - 6.0, at + 4.0, "end", &name));
    }
    for n in sizes {
        let at = x((n as f64).log10());
        out.push_str(&line((at, top), (at, top + height), "#eeeeee"));
        out.push_str(&text(at, top + height + 17.0, "middle", &count(n)));
    }
    for (place, program) in programs.iter().enumerate().rev() {
        let mut points: Vec<(f64, f64)> =
            rows.iter().filter_map(|row| Some(((row.size? as f64).log10(), row.time(program)?.least))).collect();
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let places: Vec<_> = points.iter().map(|(log, ns)| (x(*log), y(ns.max(1.0).log10()), *ns)).collect();
        let path: Vec<String> = places.iter().map(|(x, y, _)| format!("{x:.1},{y:.1}")).collect();
        let (colour, wide) = (colour(place), if place == 0 { 2.5 } else { 1.5 });
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{wide}\"/>",
            path.join(" ")
        );
        for (x, y, ns) in places {
            let us = micros(ns);
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"><title>{program}: {us} us</title></circle>"
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{machine::Machine, programs::Time};

    fn run() -> Run {
        let row = |size: usize| {
            let time = |ns: f64| Time { least: ns, median: ns };
            let times = vec![(OURS.into(), time(size as f64)), ("PyTorch".into(), time(size as f64 * 3.0 + 900.0))];
            let (group, call) = ("a < b".into(), "add(x, y)".into());
            Row { group, call, size: Some(size), dtype: "float64".into(), threads: 1, times, ..Row::default() }
        };
        let rows = [10, 1000, 1_000_000].map(row).into();
        Run { date: String::new(), machine: Machine::default(), versions: String::new(), limits: Vec::new(), rows }
    }

    #[test]
    fn pictures_have_a_bar_for_each_mean_and_a_curve_for_each_program() {
        let bars = bars(&run(), 1);
        // the frame, three squares of the legend, and two bars (for PyTorch and for the best library)
        assert_eq!(bars.matches("<rect").count(), 6, "{bars}");
        assert!(bars.contains("a &lt; b (3)") && bars.ends_with("</svg>\n"), "{bars}");
        let curves = curves(&run(), 1);
        assert_eq!((curves.matches("<circle").count(), curves.matches(">add(x, y)<").count()), (6, 1), "{curves}");
        assert!(!curves.contains("NaN") && !curves.contains("inf"), "{curves}");
        assert_eq!(
            [3, 10, 100, 256, 1000, 65536, 10_000_000].map(count),
            ["3", "10", "100", "256", "1e3", "65536", "1e7"]
        );
    }
}
