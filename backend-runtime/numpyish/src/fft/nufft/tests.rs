use super::*;
use backend_core::numpyish::{NdArray, raw::view, simd::with_each, testing::array, typed::typed};

/// A deterministic, evenly scattered number from 0 to 1.
fn scattered(i: usize, seed: f64) -> f64 {
    (i as f64 * 0.618_033_988_749_895 + seed).rem_euclid(1.0)
}

struct Case {
    points: Vec<f64>,
    grid: Vec<usize>,
    width: usize,
    beta: f64,
    batch: usize,
}

impl Case {
    fn new(n: usize, extent: f64, grid: &[usize], width: usize, batch: usize) -> Case {
        let points = (0..n * grid.len()).map(|i| extent * (scattered(i, 0.3) * 2.0 - 1.0) + 0.2).collect();
        Case { points, grid: grid.to_vec(), width, beta: 2.2 * width as f64, batch }
    }

    fn count(&self) -> usize {
        self.points.len() / self.grid.len()
    }

    fn cells(&self) -> usize {
        self.grid.iter().product()
    }

    /// Returns the kernel's weight of a cell for a point, summed over all periodic images of the cell. If `derived` is
    /// an axis, returns the derivative of the weight along this axis instead.
    fn weight(&self, kernel: &SpreadingKernel, point: usize, cell: usize, derived: Option<usize>) -> f64 {
        let axes = self.grid.len();
        let mut rest = cell;
        let mut product = 1.0;
        for axis in (0..axes).rev() {
            let length = self.grid[axis];
            let index = rest % length;
            rest /= length;
            let place = self.points[point * axes + axis] / std::f64::consts::TAU * length as f64;
            let half = self.width as f64 / 2.0;
            let at = |place: f64| -> f64 {
                let first = (place - half).floor() as i64 + 1;
                (first..first + self.width as i64)
                    .filter(|k| k.rem_euclid(length as i64) == index as i64)
                    .map(|k| kernel_value(kernel, (k as f64 - place) / half))
                    .sum()
            };
            product *= if derived == Some(axis) {
                let step = 1e-5;
                (at(place + step) - at(place - step)) / (2.0 * step) * length as f64 / std::f64::consts::TAU
            } else {
                at(place)
            };
        }
        product
    }

    fn data(&self, n: usize) -> Vec<Complex<f64>> {
        (0..n * self.batch).map(|i| Complex::new(scattered(i, 0.1) - 0.5, scattered(3 * i, 0.7) - 0.5)).collect()
    }

    fn options(&self, axis: isize) -> KernelOptions {
        KernelOptions { width: self.width, beta: self.beta, eps: 0.0, axis }
    }

    fn spread(&self, axis: isize, sorted: bool) -> Vec<Complex<f64>> {
        let (n, axes) = (self.count(), self.grid.len());
        let points = array("test", &[n, axes], self.points.clone()).unwrap();
        let values = array("test", &[self.batch, n], self.data(n)).unwrap();
        let sorted: Option<NdArray<i64>> =
            sorted.then(|| typed(nufft_sort_of(view(&points), &self.grid, self.width)).unwrap());
        let spread: NdArray<Complex<f64>> = typed(nufft_spread_of(
            view(&points),
            view(&values),
            &self.grid,
            self.options(axis),
            sorted.as_ref().map(view),
        ))
        .unwrap();
        spread.iter().copied().collect()
    }

    fn interpolate(&self, axis: isize) -> Vec<Complex<f64>> {
        let (n, axes) = (self.count(), self.grid.len());
        let points = array("test", &[n, axes], self.points.clone()).unwrap();
        let shape = [&[self.batch], &self.grid[..]].concat();
        let grid = array("test", &shape, self.data(self.cells())).unwrap();
        let values: NdArray<Complex<f64>> =
            typed(nufft_interpolate_of(view(&points), view(&grid), self.options(axis), None)).unwrap();
        values.iter().copied().collect()
    }
}

fn kernel_value(kernel: &SpreadingKernel, z: f64) -> f64 {
    use backend_core::Real;
    let width = kernel.width() as f64;
    let beta = 2.2 * width;
    let root = (1.0 - z * z).max(0.0).sqrt();
    (beta * root).i0() / beta.i0()
}

fn cases() -> Vec<Case> {
    vec![
        Case::new(1, 3.0, &[1], 2, 1),
        Case::new(40, 9.0, &[12], 5, 2),
        Case::new(33, 100.0, &[3], 16, 1),
        Case::new(50, 3.1, &[100], 7, 1),
        Case::new(60, 3.1, &[9, 14], 6, 2),
        Case::new(25, 0.02, &[70, 130], 13, 1),
        Case::new(20, 3.1, &[5, 1, 8], 3, 2),
        Case::new(15, 7.0, &[12, 9, 20], 9, 1),
    ]
}

fn near(found: &[Complex<f64>], expected: &[Complex<f64>], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().map(|z| z.norm()).fold(1.0, f64::max);
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).norm() <= tolerance * largest, "{what}, {i}: {found} {expected}");
    }
}

#[test]
fn sums_are_those_of_the_definition() {
    for (number, case) in cases().iter().enumerate() {
        let kernel = SpreadingKernel::new("test", case.width, case.beta).unwrap();
        let (n, cells) = (case.count(), case.cells());
        for axis in -1..case.grid.len() as isize {
            let derived = usize::try_from(axis).ok();
            // the kernel jumps at its ends, where finite differences do not approximate the derivative
            let tolerance = if derived.is_some() { 3e-3 } else { 1e-11 };
            let weights: Vec<f64> =
                (0..n * cells).map(|i| case.weight(&kernel, i / cells, i % cells, derived)).collect();
            let (values, grid) = (case.data(n), case.data(cells));
            let spread: Vec<Complex<f64>> = (0..case.batch * cells)
                .map(|i| (0..n).map(|p| values[i / cells * n + p] * weights[p * cells + i % cells]).sum())
                .collect();
            let read: Vec<Complex<f64>> = (0..case.batch * n)
                .map(|i| (0..cells).map(|c| grid[i / n * cells + c] * weights[i % n * cells + c]).sum())
                .collect();
            let what = format!("case {number}, axis {axis}");
            near(&case.spread(axis, false), &spread, tolerance, &format!("{what}, spread"));
            near(&case.interpolate(axis), &read, tolerance, &format!("{what}, interpolated"));
            assert_eq!(case.spread(axis, true), case.spread(axis, false), "{what}");
        }
    }
}

#[test]
fn bits_do_not_depend_on_threads_and_instruction_sets() {
    let bits = |z: Vec<Complex<f64>>| -> Vec<u64> { z.iter().flat_map(|z| [z.re.to_bits(), z.im.to_bits()]).collect() };
    let many = [
        Case::new(20_000, 3.0, &[40, 52], 4, 1),
        Case::new(18_000, 0.001, &[300, 200], 3, 2),
        Case::new(34_000, 3.0, &[10_000], 11, 1),
        Case::new(5_000, 3.0, &[40, 36, 70], 3, 1),
    ];
    for case in cases().into_iter().chain(many) {
        let mut results = Vec::new();
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            with_each(|_| results.push(pool.install(|| (bits(case.spread(-1, false)), bits(case.interpolate(-1))))));
        }
        assert!(results.windows(2).all(|w| w[0] == w[1]), "{:?} {}", case.grid, case.width);
    }
}

#[test]
fn numbers_that_are_not_finite_stay_in_their_neighbourhood() {
    for width in 2..=16 {
        let case = Case { points: vec![0.0, 3.0], grid: vec![64], width, beta: 2.2 * width as f64, batch: 1 };
        let points = array("test", &[2, 1], case.points.clone()).unwrap();
        let mut grid = vec![Complex::new(1.0, 0.0); 64];
        // cells between the neighbourhoods of both points are infinite; the point at 0 is in cell 0
        grid[width / 2 + 1..22].fill(Complex::new(f64::INFINITY, f64::NAN));
        let values = [Complex::new(f64::NAN, 1.0), Complex::new(1.0, 1.0)];
        with_each(|_| {
            let grid = array("test", &[64], grid.clone()).unwrap();
            let read: NdArray<Complex<f64>> =
                typed(nufft_interpolate_of(view(&points), view(&grid), case.options(-1), None)).unwrap();
            assert!(read.iter().all(|z| z.re.is_finite() && z.im == 0.0), "{width} {read}");
            let values = array("test", &[2], values.to_vec()).unwrap();
            let spread: NdArray<Complex<f64>> =
                typed(nufft_spread_of(view(&points), view(&values), &case.grid, case.options(-1), None)).unwrap();
            let bad = spread.iter().filter(|z| z.re.is_nan()).count();
            assert_eq!(bad, width, "{spread}");
        });
    }
}

#[test]
fn sorted_points_of_another_plan_are_refused_or_harmless() {
    let case = Case::new(30, 3.0, &[200, 150], 6, 1);
    let points = array("test", &[30, 2], case.points.clone()).unwrap();
    let values = array("test", &[30], case.data(30)).unwrap();
    let grid = array("test", &[200, 150], case.data(200 * 150)).unwrap();
    let right: NdArray<i64> = typed(nufft_sort_of(view(&points), &case.grid, 6)).unwrap();
    let run = |sorted: &NdArray<i64>| {
        let spread = nufft_spread_of(view(&points), view(&values), &case.grid, case.options(-1), Some(view(sorted)));
        let read = nufft_interpolate_of(view(&points), view(&grid), case.options(1), Some(view(sorted)));
        assert_eq!(spread.is_ok(), read.is_ok());
        spread.map(drop)
    };
    assert!(run(&right).is_ok());
    assert!(run(&array("test", &[3], vec![0, 0, 30]).unwrap()).is_err());
    for bad in [i64::MIN, -1, i64::MAX, f64::NAN.to_bits() as i64, f64::INFINITY.to_bits() as i64, 1 << 40] {
        // all numbers of all records are wrong, but the starts of the tiles are right
        let numbers: Vec<i64> = right.iter().enumerate().map(|(i, &x)| if i < 90 { bad } else { x }).collect();
        assert!(run(&array("test", right.shape(), numbers).unwrap()).is_ok());
        let mut numbers: Vec<i64> = right.iter().copied().collect();
        numbers[91] = bad;
        assert!(run(&array("test", right.shape(), numbers).unwrap()).is_err(), "{bad}");
    }
}

#[test]
fn float32_is_the_same_transform() {
    for case in cases() {
        let (n, axes) = (case.count(), case.grid.len());
        let points = array("test", &[n, axes], case.points.iter().map(|&x| x as f32).collect()).unwrap();
        let narrow = |z: Vec<Complex<f64>>| z.iter().map(|z| Complex::new(z.re as f32, z.im as f32)).collect();
        let values = array("test", &[case.batch, n], narrow(case.data(n))).unwrap();
        let mut results = Vec::new();
        with_each(|_| {
            let spread: NdArray<Complex<f32>> =
                typed(nufft_spread_of(view(&points), view(&values), &case.grid, case.options(-1), None)).unwrap();
            results.push(spread);
        });
        assert!(results.windows(2).all(|w| w[0] == w[1]));
        let found: Vec<_> = results[0].iter().map(|z| Complex::new(f64::from(z.re), f64::from(z.im))).collect();
        // the tolerance is large because the points are rounded, too
        near(&found, &case.spread(-1, false), 1e-4, "float32");
    }
}

#[test]
fn refusals() {
    let points = array("test", &[2, 1], vec![0.0, f64::NAN]).unwrap();
    let sort = |grid: &[usize], width| nufft_sort_of(view(&points), grid, width).unwrap_err().to_string();
    assert_eq!(sort(&[8], 4), "nufft_sort: a coordinate is not finite");
    assert!(sort(&[8], 17).contains("`width` is 17, but must be between 2 and 16"));
    assert!(sort(&[8, 8], 4).contains("[2, 1]"));
    assert!(sort(&[0], 4).contains("must have elements"));
    assert!(sort(&[1 << 40], 4).contains("2147483647"));
    let fine = array("test", &[2, 1], vec![0.0, 1.0]).unwrap();
    let values = array("test", &[2], vec![Complex::new(1.0, 0.0); 2]).unwrap();
    let spread = |width, beta, eps, axis| {
        nufft_spread_of(view(&fine), view(&values), &[8], KernelOptions { width, beta, eps, axis }, None)
            .unwrap_err()
            .to_string()
    };
    assert!(spread(4, f64::NAN, 0.0, -1).contains("`beta`"));
    assert!(spread(4, 9.0, f64::NAN, -1).contains("`eps`"));
    assert!(spread(4, 9.0, 0.0, 1).contains("`axis` is 1"));
    assert!(spread(4, 9.0, 0.0, -2).contains("`axis` is -2"));
}

#[test]
fn no_points_and_no_grids() {
    let points = array("test", &[0, 2], Vec::<f64>::new()).unwrap();
    let values = array("test", &[3, 0], Vec::<Complex<f64>>::new()).unwrap();
    let options = KernelOptions { width: 4, beta: 9.0, eps: 0.0, axis: -1 };
    let spread: NdArray<Complex<f64>> =
        typed(nufft_spread_of(view(&points), view(&values), &[4, 5], options, None)).unwrap();
    assert!(spread.shape() == [3, 4, 5] && spread.iter().all(|z| *z == Complex::new(0.0, 0.0)));
    let read: NdArray<Complex<f64>> = typed(nufft_interpolate_of(view(&points), view(&spread), options, None)).unwrap();
    assert_eq!(read.shape(), [3, 0]);
    let points = array("test", &[2, 2], vec![0.0, 1.0, 2.0, 3.0]).unwrap();
    let none = array("test", &[0, 2], Vec::<Complex<f64>>::new()).unwrap();
    let spread: NdArray<Complex<f64>> =
        typed(nufft_spread_of(view(&points), view(&none), &[4, 5], options, None)).unwrap();
    assert_eq!(spread.shape(), [0, 4, 5]);
}
