//! The calls of `peers.txt` on `Numpyish`: one line `ours TAB call TAB elements TAB nanoseconds` for each, the least of many
//! rounds. `cargo xtask peers rows` runs it, with NumPy, SciPy and PyTorch beside it. An argument is a part of the calls to run.
//!
//! The number of threads is that of RAYON_NUM_THREADS.

mod measure;

use backends::prelude::*;
use measure::measure;

type V = Value<Numpyish>;

/// Elements of the large arrays: the square and the cube of whole numbers.
const N: usize = 1_000_000;

/// Numbers in 0..1 that look random: splitmix64, as in the Python program.
fn noise(seed: u64, count: usize) -> Vec<f64> {
    let of = |i: u64| {
        let mut z = seed.wrapping_mul(0x632B_E59B_D9B4_E019).wrapping_add((i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..count as u64).map(of).collect()
}

/// The columns of a stencil of 5 places on a grid of rows of 450.
fn stencil(b: &Numpyish) -> Result<<Numpyish as Arrays>::Array<i64>> {
    let rows = b.expand_dims(b.arange::<i64>(0, 200_000, 1)?, 1)?;
    let columns = b.add(rows, b.asarray([-450_i64, -1, 0, 1, 450])?)?;
    b.reshape(b.clip(columns, 0, 199_999)?, -1)
}

/// The arrays that calls name.
fn arrays(b: &Numpyish) -> Result<Variables<Numpyish>> {
    let (x, y) = (b.asarray(noise(1, N))?, b.asarray(noise(2, N))?);
    let (a, c) =
        (b.reshape(b.asarray(noise(3, 90_000))?, [300, 300])?, b.reshape(b.asarray(noise(4, 90_000))?, [300, 300])?);
    let many = b.reshape(b.asarray(noise(5, 64_000))?, [1000, 8, 8])?;
    let spd = |x: &_, n: usize| b.add(b.matmul(x, b.matrix_transpose(x)?)?, b.eye::<f64>(n)?);
    let below = |x: &_, n: f64| b.astype::<i64, f64>(b.multiply(x, n)?);
    let mut w = b.copy(&x)?;
    b.set(&mut w, [Slice::ALL.step(100)], f64::NAN)?;
    let v = b.reshape(&x, [100, 100, 100])?;
    let places = b.astype::<f64, i64>(b.indices::<i64>([100, 100, 100])?)?;
    let (sin, cos) = 0.4_f64.sin_cos();
    let floats = [
        ("p", b.add(b.multiply(&x, 20.0)?, 0.5)?),
        ("w", w),
        ("m", b.reshape(&x, [1000, 1000])?),
        ("r", b.reshape(&y, [1000, 1000])?),
        ("spd", spd(&a, 300)?),
        ("many_spd", spd(&many, 8)?),
        ("a", a),
        ("c", c),
        ("many", many),
        ("at", b.add(places, b.multiply(&v, 0.8)?)?),
        ("v", v),
        ("q", b.linspace(0.0, 1.0, 1000)?),
        ("q2", b.reshape(b.asarray(noise(6, 9))?, [3, 3])?),
        ("pc", b.asarray([25.0, 50.0, 75.0])?),
        ("imgs", b.reshape(b.asarray(noise(7, 16 * 8 * 64 * 64))?, [16, 8, 64, 64])?),
        ("kernels", b.reshape(b.asarray(noise(8, 16 * 8 * 9))?, [16, 8, 3, 3])?),
        ("kernels_t", b.reshape(b.asarray(noise(8, 16 * 8 * 9))?, [8, 16, 3, 3])?),
        ("depthwise", b.reshape(b.asarray(noise(9, 8 * 9))?, [8, 1, 3, 3])?),
        ("n3", b.reshape(b.getitem(&x, [Slice::from(..999_999)])?, [-1, 3])?),
        ("turn", b.asarray([[cos, -sin], [sin, cos]])?),
    ];
    let sparse = [
        // 100 000 rows of 10 elements anywhere, and the 5 diagonals of a stencil of 200 000 places
        ("ri", below(&y, 100_000.0)?),
        ("rp", b.arange::<i64>(0, 1_000_001, 10)?),
        ("li", stencil(b)?),
        ("lp", b.arange::<i64>(0, 1_000_001, 5)?),
    ];
    let of_sparse = [
        ("rx", b.getitem(&x, [Slice::from(..100_000)])?),
        ("rm", b.reshape(b.getitem(&x, [Slice::from(..800_000)])?, [100_000, 8])?),
        ("lx", b.getitem(&x, [Slice::from(..200_000)])?),
    ];
    let integers =
        [("i", below(&x, N as f64)?), ("k", below(&x, 100.0)?), ("j", below(&y, 1000.0)?), ("reps", below(&y, 4.0)?)];
    let mut named = Vec::from([
        ("z", V::array::<Complex<f64>>(b.complex(&x, &y)?)),
        ("b1", V::array::<bool>(b.less(&x, 0.5)?)),
        ("low", V::array::<bool>(b.less(b.reshape(&x, [1000, 1000])?, 0.5)?)),
        ("h", V::array::<f32>(b.astype::<f32, f64>(&x)?)),
    ]);
    named.extend(floats.into_iter().map(|(name, x)| (name, V::array::<f64>(x))));
    named.extend(of_sparse.into_iter().map(|(name, x)| (name, V::array::<f64>(x))));
    named.extend(sparse.into_iter().chain(integers).map(|(name, x)| (name, V::array::<i64>(x))));
    named.extend([("x", V::array::<f64>(x)), ("y", V::array::<f64>(y))]);
    Ok(named.into_iter().map(|(name, x)| (name.to_owned(), x)).collect())
}

fn main() -> Result<()> {
    let b = Numpyish::new();
    let mut arrays = arrays(&b)?;
    let part = std::env::args().nth(1).unwrap_or_default();
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/peers.txt");
    let list = std::fs::read_to_string(list).unwrap_or_else(|why| panic!("{list}: {why}"));
    for line in list.lines() {
        let line = line.split('|').next().unwrap_or("").trim();
        if line.is_empty() || line.starts_with('#') || !line.contains(&part) {
            continue;
        }
        let script: Script = line.parse()?;
        let run = || script.run(&b, &mut arrays).unwrap_or_else(|why| panic!("{line}: {why}"));
        measure("ours", line, N, run);
    }
    Ok(())
}
