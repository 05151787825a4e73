//! Compares formulas with the same computations made op by op, by ndarray's loops, and by libtorch. For each
//! measurement, it prints a line `peer TAB formula TAB elements TAB nanoseconds`, with the minimum time of many rounds.
//! `cargo xtask peers` runs this program together with NumPy, numexpr and PyTorch.
//!
//! RAYON_NUM_THREADS and OMP_NUM_THREADS set the number of threads.

mod measure;

use backends::{Error, Result, prelude::*};
use measure::measure;
use ndarray::{ArrayD, Zip, azip};

/// Measures each computation on a backend, op by op and as a formula.
fn on<B: Backend>(b: &B, name: &str, n: usize, x: &ArrayD<f64>, y: &ArrayD<f64>) -> Result<()> {
    let (ops, fused) = (format!("{name}, ops"), format!("{name}, expr!"));
    let (x, y) = (b.from_ndarray(x.clone().into_shared())?, b.from_ndarray(y.clone().into_shared())?);
    let (mu, s, a) = (0.3, 1.5, 1e-9);
    let half = 2.0 * s * s;
    let name = "(x + y) * x - y";
    measure(&ops, name, n, || b.subtract(b.multiply(b.add(&x, &y)?, &x)?, &y));
    measure(&fused, name, n, || expr!(b, (x + y) * x - y));
    let name = "0.5 * exp(-(x - mu)**2 / (2 s s)) + y";
    measure(&ops, name, n, || {
        let d = b.divide(b.negative(b.square(b.subtract(&x, mu)?)?)?, half)?;
        b.add(b.multiply(0.5, b.exp(d)?)?, &y)
    });
    measure(&fused, name, n, || expr!(b, 0.5 * exp(-square(x - mu) / (2.0 * s * s)) + y));
    let side = (n as f64).sqrt() as isize;
    if side * side == n as isize {
        let m = b.reshape(&x, [side, side])?;
        let row = b.reshape(b.getitem(&y, backends::slices![..side])?, [1, -1])?;
        let column = b.reshape(b.getitem(&y, backends::slices![..side])?, [-1, 1])?;
        let name = "m * row + column";
        measure(&ops, name, n, || b.add(b.multiply(&m, &row)?, &column));
        measure(&fused, name, n, || expr!(b, m * row + column));
    }
    let name = "y += a * x";
    let mut sum = b.from_ndarray(b.to_ndarray(&y)?.to_owned().into_shared())?;
    measure(&ops, name, n, || {
        sum = b.add(&sum, b.multiply(&x, a)?)?;
        Ok::<(), Error>(())
    });
    let mut sum = b.from_ndarray(b.to_ndarray(&y)?.to_owned().into_shared())?;
    measure(&fused, name, n, || expr!(b, sum += a * x));
    let name = "sum((x - y)**2)";
    measure(&ops, name, n, || b.sum(b.square(b.subtract(&x, &y)?)?, ..));
    measure(&fused, name, n, || expr!(b, sum(square(x - y), ..)));
    Ok(())
}

/// Measures ndarray's own loops, on one thread.
fn with_ndarray(n: usize, x: &ArrayD<f64>, y: &ArrayD<f64>) {
    let (mu, s, a) = (0.3, 1.5, 1e-9);
    let name = "ndarray, Zip";
    measure(name, "(x + y) * x - y", n, || Zip::from(x).and(y).map_collect(|x, y| (x + y) * x - y));
    measure(name, "0.5 * exp(-(x - mu)**2 / (2 s s)) + y", n, || {
        Zip::from(x).and(y).map_collect(|x, y| 0.5 * (-(x - mu) * (x - mu) / (2.0 * s * s)).exp() + y)
    });
    let side = (n as f64).sqrt() as usize;
    if side * side == n {
        let m = x.clone().into_shape_with_order((side, side)).expect("as many elements");
        let line = y.as_slice().map_or(&[][..], |y| &y[..side]);
        let row = ndarray::ArrayView::from_shape((1, side), line).expect("as many elements");
        let column = ndarray::ArrayView::from_shape((side, 1), line).expect("as many elements");
        measure(name, "m * row + column", n, || {
            let (row, column) =
                (row.broadcast((side, side)).expect("fits"), column.broadcast((side, side)).expect("fits"));
            Zip::from(&m).and(row).and(column).map_collect(|m, r, c| m * r + c)
        });
    }
    let mut sum = y.clone();
    measure(name, "y += a * x", n, || azip!((s in &mut sum, x in x) *s += a * x));
    measure(name, "sum((x - y)**2)", n, || Zip::from(x).and(y).fold(0.0, |sum, x, y| sum + (x - y) * (x - y)));
}

fn main() -> Result<()> {
    // `cargo bench` passes --bench, which is ignored
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10, 1000, 1_000_000, 10_000_000] } else { sizes };
    let torch = backends::runtime::available("torch", Torch::cpu());
    for n in sizes {
        let x = ArrayD::from_shape_fn(ndarray::IxDyn(&[n]), |i| (i[0] % 1000) as f64 * 1e-3);
        let y = x.mapv(|v| 1.5 - v);
        on(&Numpyish::new(), "numpyish", n, &x, &y)?;
        with_ndarray(n, &x, &y);
        if let Some(torch) = &torch {
            on(torch, "torch backend", n, &x, &y)?;
        }
    }
    Ok(())
}
