//! Measures the calls of `peers.txt` on `Numpyish`. `cargo xtask bench peers` reads the list, and sends its calls to
//! this program and to the other libraries' programs in turn.
//!
//! For each input line `ARRAYS TAB CALL` the program prints `NANOSECONDS TAB BYTES`, or `! WHY` for an error.
//! `NANOSECONDS` is the minimum time of a call, and `BYTES` is the number of bytes that the call must at least read and
//! write. For the input line `limits`, it prints the limits of the machine.
//!
//! RAYON_NUM_THREADS sets the number of threads. With the argument `pages`, large arrays are allocated by
//! `backends::alloc::Pages`.

mod allocator;
mod limits;
mod noise;

use backends::{Result, Script, Slice, Value, Variables, prelude::*};
use noise::noise;
use std::{
    error,
    hint::black_box,
    io::{BufRead, Write, stdin, stdout},
    time::{Duration, Instant},
};

type V = Value<Numpyish>;

/// The result of a function in which a call or the parsing of a line may fail.
type Tried<T> = std::result::Result<T, Box<dyn error::Error>>;

/// Number of elements of a large array. The number is the square of an integer and the cube of another integer.
const N: usize = 1_000_000;

/// Column indices of a 5-point stencil on a grid whose rows have 450 points.
fn stencil(b: &Numpyish) -> Result<<Numpyish as Arrays>::Array<i64>> {
    let rows = b.expand_dims(b.arange::<i64>(0, 200_000, 1)?, 1)?;
    let columns = b.add(rows, b.asarray([-450_i64, -1, 0, 1, 450])?)?;
    b.reshape(b.clip(columns, 0, 199_999)?, -1)
}

/// The arrays that calls refer to by name.
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
        // `ri` and `rp` are the column indices and row pointers of a sparse matrix with 100 000 rows of 10 elements in
        // random columns; `li` and `lp` are those of a matrix with the 5 diagonals of a stencil on 200 000 points
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

/// Makes an array from a description in `peers.txt`, such as `x float32 1000,1000 100 T`, with the elements of
/// `noise(seed)`. The fourth word is the exclusive upper bound of integers. The last word is the layout: `T` for the
/// transpose of a matrix in C order, a number for the step of a slice of the last axis, or `-` for C order.
fn made(b: &Numpyish, seed: u64, item: &str) -> Tried<(String, V)> {
    let [name, dtype, dims, below, layout] = item.split(' ').collect::<Vec<_>>()[..] else {
        return Err(format!("`{item}` is no array").into());
    };
    let mut dims = dims.split(',').map(str::parse).collect::<std::result::Result<Vec<usize>, _>>()?;
    let step = layout.parse::<usize>().unwrap_or(1);
    if layout == "T" {
        dims.reverse();
    }
    *dims.last_mut().ok_or("an array has an axis")? *= step;
    let count = dims.iter().product();
    let noise = b.asarray(noise(seed, count))?;
    let mut variables = Variables::from([("x".into(), V::array::<f64>(noise))]);
    if dtype.starts_with("complex") {
        let more = b.asarray(self::noise(seed + 100, count))?;
        variables.insert("y".into(), V::array::<f64>(more));
    }
    let values = match dtype {
        "bool" => "less(x, 0.5)".into(),
        "complex64" | "complex128" => format!("astype(complex(x, y), dtype={dtype})"),
        "float16" | "float32" | "float64" => format!("astype(x, dtype={dtype})"),
        _ => format!("astype(multiply(x, {below}.0), dtype={dtype})"),
    };
    let mut text = format!("reshape({values}, {dims:?})");
    if layout == "T" {
        text = format!("matrix_transpose({text})");
    } else if step > 1 {
        text = format!("getitem({text}, [{}..;{step}])", ".., ".repeat(dims.len() - 1));
    }
    let value = text.parse::<Script>()?.run(b, &mut variables)?.ok_or("a call gives a value")?;
    Ok((name.into(), value))
}

fn bytes(b: &Numpyish, x: &V) -> usize {
    match x {
        Value::Array(x) => x.shape(b).iter().product::<usize>() * x.dtype().size(),
        Value::List(items) => items.iter().map(|x| bytes(b, x)).sum(),
        _ => 0,
    }
}

/// A prepared call. If its argument is not `None`, the call stores its result there.
type Run = Box<dyn FnMut(Option<&mut V>) -> Result<()>>;

fn no_call() -> Run {
    Box::new(|_| Ok(()))
}

/// Calls that are compiled into this program: formulas, which scripts do not have, and calls with few elements, because
/// looking up a script's variables would take most of their time.
fn native<T: Real>(text: &str, arrays: &Variables<Numpyish>) -> Option<Run> {
    let b = Numpyish::new();
    let of = |name: &str| arrays.get(name)?.as_array()?.get::<T>().cloned();
    macro_rules! run {
        ($r:ty, |$($x:ident),*| $call:expr) => {{
            $(let $x = of(stringify!($x))?;)*
            Box::new(move |wanted| {
                let result = black_box($call?);
                if let Some(wanted) = wanted {
                    *wanted = V::array::<$r>(result);
                }
                Ok(())
            })
        }};
    }
    let (mu, s, a) = (0.3, 1.5, 1e-9);
    Some(match text {
        "add(x, y)" => run!(T, |x, y| b.add(&x, &y)),
        "multiply(x, y)" => run!(T, |x, y| b.multiply(&x, &y)),
        "less(x, y)" => run!(bool, |x, y| b.less(&x, &y)),
        "exp(x)" => run!(T, |x| b.exp(&x)),
        "sin(x)" => run!(T, |x| b.sin(&x)),
        "sqrt(x)" => run!(T, |x| b.sqrt(&x)),
        "max(x, ..)" => run!(T, |x| b.max(&x, ..)),
        "sum(x, ..)" => run!(T, |x| b.sum(&x, ..)),
        "sort(x)" => run!(T, |x| b.sort(&x)),
        "copy(x)" => run!(T, |x| b.copy(&x)),
        "cumulative_sum(x)" => run!(T::Sum, |x| b.cumulative_sum(&x, None)),
        "median(x, ..)" => run!(T, |x| b.median(&x, ..)),
        "= (x + y) * x - y" => run!(T, |x, y| expr!(b, (x + y) * x - y)),
        "= 0.5 * exp(-(x - mu)**2 / (2 s s)) + y" => {
            run!(T, |x, y| expr!(b, 0.5 * exp(-square(x - mu) / (2.0 * s * s)) + y))
        }
        "= m * row + column" => run!(T, |m, row, column| expr!(b, m * row + column)),
        "= x + a * y" => run!(T, |x, y| expr!(b, x + a * y)),
        _ => return None,
    })
}

/// State of the program: the predefined arrays, and the arrays and the call of the last request.
struct Program {
    b: Numpyish,
    named: Variables<Numpyish>,
    items: String,
    arrays: Variables<Numpyish>,
    call: String,
    run: Run,
    bytes: usize,
}

/// Minimum duration of a measurement, which has at least two rounds.
const TIME: Duration = Duration::from_millis(15);

impl Program {
    fn prepare(&mut self, items: &str, call: &str) -> Tried<()> {
        if self.items != items || self.arrays.is_empty() {
            // frees the arrays of the last request before making new ones
            (self.arrays, self.run, self.call) = (Variables::new(), no_call(), String::new());
            self.arrays.clone_from(&self.named);
            for (seed, item) in items.split(';').filter(|item| !item.is_empty()).enumerate() {
                let (name, value) = made(&self.b, seed as u64 + 1, item)?;
                self.arrays.insert(name, value);
            }
            items.clone_into(&mut self.items);
        }
        if self.call != call {
            let native = native::<f64>(call, &self.arrays).or_else(|| native::<f32>(call, &self.arrays));
            let mut inputs = Vec::new();
            self.run = match native {
                Some(run) => {
                    // only arrays made for this call count as inputs, because a scalar in a formula may have the name
                    // of a predefined array
                    let words: Vec<&str> = call.split(|c: char| !c.is_alphanumeric()).collect();
                    let names = items.split(';').filter_map(|item| item.split(' ').next());
                    inputs.extend(names.filter(|name| words.contains(name)).map(str::to_owned));
                    run
                }
                None if call.starts_with('=') => return Err("there is no such formula".into()),
                None => {
                    let script: Script = call.parse()?;
                    inputs.extend(script.inputs().into_iter().map(str::to_owned));
                    let (b, mut variables) = (self.b.clone(), self.arrays.clone());
                    Box::new(move |wanted| {
                        let result = black_box(script.run(&b, &mut variables)?.unwrap_or(V::None));
                        if let Some(wanted) = wanted {
                            *wanted = result;
                        }
                        Ok(())
                    })
                }
            };
            let mut result = V::None;
            (self.run)(Some(&mut result))?;
            let read: usize = inputs.iter().filter_map(|name| self.arrays.get(name)).map(|x| bytes(&self.b, x)).sum();
            self.bytes = read + bytes(&self.b, &result);
            call.clone_into(&mut self.call);
        }
        Ok(())
    }

    /// Minimum time of a call in nanoseconds. Short calls are timed in groups.
    fn least(&mut self) -> Result<f64> {
        let begin = Instant::now();
        (self.run)(None)?;
        let many = (50_000 / begin.elapsed().as_nanos().max(1)).clamp(1, 1000) as u32;
        let (mut least, mut rounds) = (Duration::MAX, 0);
        let begin = Instant::now();
        while rounds < 2 || begin.elapsed() < TIME {
            let start = Instant::now();
            for _ in 0..many {
                (self.run)(None)?;
            }
            least = least.min(start.elapsed());
            rounds += 1;
        }
        Ok(least.as_nanos() as f64 / f64::from(many))
    }
}

fn main() -> Tried<()> {
    if std::env::args().any(|word| word == "pages") {
        allocator::keep_pages();
    }
    let b = Numpyish::new();
    let named = arrays(&b)?;
    let (arrays, run) = (Variables::new(), no_call());
    let (items, call) = (String::new(), String::new());
    let mut program = Program { b, named, items, arrays, call, run, bytes: 0 };
    for line in stdin().lock().lines() {
        let line = line?;
        let answer = match line.split_once('\t') {
            Some((items, call)) => {
                let time = program.prepare(items, call).and_then(|()| Ok(program.least()?));
                time.map_or_else(
                    |why| format!("! {why}").replace('\n', " "),
                    |ns| format!("{ns:.1}\t{}", program.bytes),
                )
            }
            None => {
                let threads = std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.parse().ok());
                limits::line(threads.unwrap_or(1))
            }
        };
        println!("{answer}");
        stdout().flush()?;
    }
    Ok(())
}
