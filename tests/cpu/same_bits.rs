//! Tests that the bits of a reduction depend neither on the number of threads nor on other lanes of the call. (A lane
//! is the set of elements that are reduced to one result.) For this, an array is cut along axes that are not reduced:
//! the results of each part must have the same bits as in the reduction of the whole array.

use backends::{Result, prelude::*};
use ndarray::ArrayD;

const B: Numpyish = Numpyish::new();

/// A generator of pseudorandom numbers, which determine the shapes and the cuts of arrays. The field is its state.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Returns a random shape: few or many elements, long and short axes, and axes of length 1.
    fn shape(&mut self) -> Vec<usize> {
        const LENGTHS: [usize; 16] = [1, 2, 3, 7, 15, 16, 31, 33, 64, 97, 130, 257, 520, 1025, 2100, 70_001];
        let most = self.pick(&[300, 2_000, 2_000, 9_000, 9_000, 200_000]);
        let mut shape: Vec<usize> = (0..1 + self.below(4)).map(|_| self.pick(&LENGTHS)).collect();
        while shape.iter().product::<usize>() > most {
            let k = self.below(shape.len());
            shape[k] = shape[k].div_ceil(2);
        }
        shape
    }

    /// Returns a random non-empty range of an axis of length `len`.
    fn part(&mut self, len: usize) -> (usize, usize) {
        let first = self.below(len);
        (first, first + 1 + self.below(len - first))
    }
}

/// Numbers whose bits are compared. All NaNs count as having the same bits.
trait Bits: Float {
    fn bits(self) -> [u64; 2];
}

macro_rules! bits {
    ($($t:ty)*) => {$(
        impl Bits for $t {
            fn bits(self) -> [u64; 2] {
                [if self.is_nan() { 1 } else { f64::from(self).to_bits() }, 0]
            }
        }
        impl Bits for Complex<$t> {
            fn bits(self) -> [u64; 2] {
                [self.re.bits()[0], self.im.bits()[0]]
            }
        }
    )*};
}
bits!(f32 f64);
impl Bits for f16 {
    fn bits(self) -> [u64; 2] {
        self.to_f64().bits()
    }
}

type Call<T> = fn(x: &HostArray<T>, y: &HostArray<T>, axes: &[isize]) -> Result<HostArray<T>>;

/// An op under test: its name, and a function that calls it with `x`, `y` and axes. The result has one element per lane
/// along the axes, or the shape of `x`. Only ops with two operands use `y`.
struct Case<T: Bits> {
    name: &'static str,
    call: Call<T>,
}

/// The ops for real and complex numbers. Their results are converted to the dtype `T` of the operands.
fn ops<T: Bits>() -> Vec<Case<T>> {
    macro_rules! cases {
        ($($name:literal: |$x:ident, $y:ident, $axes:ident| $call:expr;)*) => {
            vec![$(Case { name: $name, call: |$x, $y, $axes| { let _ = $y; $call } }),*]
        };
    }
    cases! {
        "sum": |x, y, axes| B.astype(B.sum(x, axes)?);
        "mean": |x, y, axes| B.mean(x, axes);
        "var": |x, y, axes| B.astype(B.var(x, axes)?);
        "std": |x, y, axes| B.astype(B.std_with(x, axes, StdOptions::new().correction(1.0))?);
        "prod": |x, y, axes| B.astype(B.prod(x, axes)?);
        "vector_norm": |x, y, axes| B.astype(B.vector_norm_with(x, VectorNormOptions::new().axis(axes))?);
        "vector_norm of order 3": |x, y, axes| B.astype(B.vector_norm_with(x, VectorNormOptions::new().axis(axes).ord(3.0))?);
        "sum of a formula": |x, y, axes| B.astype(expr!(B, sum(x * y - x, axes))?);
        "sum of products": |x, y, axes| B.astype(expr!(B, sum(x * y, axes))?);
        "mean of a formula": |x, y, axes| B.astype(expr!(B, mean(x * y, axes))?);
        "var of a formula": |x, y, axes| B.astype(expr!(B, var(exp(x) * y, axes))?);
        "prod of a formula": |x, y, axes| B.astype(expr!(B, prod(x + y * 0.01, axes))?);
        "vecdot": |x, y, axes| B.astype(B.vecdot_with(x, y, VecdotOptions::new().axis(axes[0]))?);
        "cumulative_sum": |x, y, axes| B.astype(B.cumulative_sum(x, axes[0])?);
        "cumulative_prod": |x, y, axes| B.astype(B.cumulative_prod(x, axes[0])?);
    }
}

/// Further ops, for real numbers only. Their operands contain zeros of both signs.
fn ordered<T: Bits + Real>() -> Vec<Case<T>> {
    vec![
        Case { name: "max", call: |x, _, axes| B.max(x, axes) },
        Case { name: "min", call: |x, _, axes| B.min(x, axes) },
        Case { name: "logsumexp", call: |x, _, axes| B.astype(B.logsumexp(x, axes)?) },
        Case { name: "softmax", call: |x, _, axes| B.astype(B.softmax(x, axes)?) },
        Case { name: "log_softmax", call: |x, _, axes| B.astype(B.log_softmax(x, axes)?) },
    ]
}

fn all_bits<T: Bits>(x: &HostArray<T>) -> (Vec<usize>, Vec<[u64; 2]>) {
    (x.shape().to_vec(), x.iter().map(|&x| x.bits()).collect())
}

/// Selects the range `first..end` along one axis of `x`.
fn cut<T: Bits>(x: &HostArray<T>, axis: usize, (first, end): (usize, usize)) -> HostArray<T> {
    x.clone().slice_axis_move(ndarray::Axis(axis), (first..end).into())
}

/// Copies the elements, in C order, to new memory.
fn compact<T: Bits>(x: &HostArray<T>) -> HostArray<T> {
    ArrayD::from_shape_vec(x.shape(), x.iter().copied().collect()).unwrap().into_shared()
}

/// Memory layouts of the arrays under test.
#[derive(Clone, Copy, Debug)]
enum Layout {
    C,
    Fortran,
    /// Every second element along the last axis of a larger array.
    Spread,
    /// An array whose first and last axes are swapped.
    Swapped,
}

impl Layout {
    fn array<T: Bits>(self, shape: &[usize], seed: u64, of: fn(f64) -> T) -> HostArray<T> {
        let numbers = |shape: &[usize]| -> HostArray<T> {
            let b = Numpyish::seeded(seed);
            let x = b.random_normal_with::<f64>(shape, RandomNormalOptions::new().std(0.7)).unwrap();
            x.mapv(of).into_shared()
        };
        let last = shape.len() - 1;
        let mut shape = shape.to_vec();
        match self {
            Layout::C => numbers(&shape),
            Layout::Fortran => {
                shape.reverse();
                numbers(&shape).reversed_axes()
            }
            Layout::Spread => {
                shape[last] *= 2;
                let whole = numbers(&shape);
                whole.slice_axis_move(ndarray::Axis(last), ndarray::Slice::new(0, None, 2))
            }
            Layout::Swapped => {
                shape.swap(0, last);
                let mut x = numbers(&shape);
                x.swap_axes(0, last);
                x
            }
        }
    }
}

fn check<T: Bits>(seed: u64, rounds: usize, cases: &[Case<T>], of: fn(f64) -> T) {
    let mut dice = Dice(seed);
    let pools: Vec<rayon::ThreadPool> =
        [1, 2, 5].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap()).into();
    let mut compared = 0;
    for round in 0..rounds {
        let shape = dice.shape();
        let layout = dice.pick(&[Layout::C, Layout::C, Layout::C, Layout::Fortran, Layout::Spread, Layout::Swapped]);
        let [x, y] = [0, 1].map(|k| layout.array(&shape, 2 * round as u64 + k, of));
        let case = &cases[dice.below(cases.len())];
        let runs = case.name.starts_with("cumulative");
        let keeps_shape = runs || case.name.ends_with("softmax");
        let one_axis = runs || case.name == "vecdot";
        let first = dice.below(shape.len());
        let mut axes: Vec<usize> =
            (0..shape.len()).filter(|&k| k == first || !one_axis && dice.below(2) == 0).collect();
        if dice.below(12) == 0 && !one_axis {
            axes = (0..shape.len()).collect();
        }
        let by: Vec<isize> = axes.iter().map(|&k| k as isize).collect();
        let what = format!("{} of {shape:?}, {layout:?}, over {axes:?} in {}", case.name, T::DTYPE);
        let call =
            |x: &HostArray<T>, y: &HostArray<T>| (case.call)(x, y, &by).unwrap_or_else(|why| panic!("{what}: {why}"));
        let whole = call(&x, &y);
        for pool in &pools {
            let on = pool.install(|| call(&x, &y));
            assert!(all_bits(&on) == all_bits(&whole), "{what}: on {} threads", pool.current_num_threads());
        }
        for axis in (0..shape.len()).filter(|k| !axes.contains(k)) {
            let place = if keeps_shape { axis } else { axis - axes.iter().filter(|&&k| k < axis).count() };
            for _ in 0..3 {
                let range = dice.part(shape[axis]);
                let expected = all_bits(&cut(&whole, place, range));
                let [x, y] = [&x, &y].map(|x| cut(x, axis, range));
                let part = call(&x, &y);
                assert!(all_bits(&part) == expected, "{what}: {range:?} of axis {axis}, where it lies");
                if let Layout::C = layout {
                    let part = call(&compact(&x), &compact(&y));
                    assert!(all_bits(&part) == expected, "{what}: {range:?} of axis {axis}, in memory of its own");
                }
                compared += 1;
            }
        }
    }
    assert!(compared > rounds, "{compared} parts");
}

#[test]
fn parts_have_the_bits_of_the_whole_in_double_precision() {
    check::<f64>(1, 250, &ops(), |x| x);
    check::<Complex<f64>>(2, 150, &ops(), |x| Complex::new(x, x * x - 0.5));
}

#[test]
fn parts_have_the_bits_of_the_whole_in_single_precision() {
    check::<f32>(3, 250, &ops(), |x| x as f32);
    check::<Complex<f32>>(4, 150, &ops(), |x| Complex::new(x as f32, (1.0 - x) as f32));
    check::<f16>(5, 150, &ops(), f16::from_f64);
}

#[test]
fn extremes_of_parts_are_those_of_the_whole() {
    // the elements include many equal values, zeros of both signs, and some NaNs
    let few = |x: f64| if x > 2.3 { f64::NAN } else { (x * 0.8).round() };
    check::<f64>(6, 150, &ordered(), few);
    check::<f32>(7, 150, &ordered(), |x| if x > 2.3 { f32::NAN } else { (x * 0.8).round() as f32 });
}

/// Sums along axis 0 of an array have the same bits as sums along axis 1 of a contiguous copy of its transpose.
#[test]
fn lanes_and_rows_are_summed_in_one_order() {
    for (n, many) in
        [(5, 40), (16, 3), (31, 9), (32, 9), (100, 1), (257, 33), (600, 70), (1025, 5), (5000, 40), (70_001, 2)]
    {
        let rows = Layout::C.array::<f32>(&[n, many], n as u64, |x| x as f32);
        let lanes = compact(&rows.clone().reversed_axes());
        assert_eq!(all_bits(&B.sum(&rows, 0).unwrap()), all_bits(&B.sum(&lanes, 1).unwrap()), "{n} x {many}");
        assert_eq!(all_bits(&B.var(&rows, 0).unwrap()), all_bits(&B.var(&lanes, 1).unwrap()), "{n} x {many}");
        let (down, along) = (B.cumulative_sum(&rows, 0).unwrap(), B.cumulative_sum(&lanes, 1).unwrap());
        assert_eq!(all_bits(&down), all_bits(&along.reversed_axes()), "{n} x {many}");
    }
}
