//! Tests that compare spreading and interpolation with the CPU backend.

use super::*;
use crate::{
    CudaArray,
    compare::{assert_near, host, layouts},
    testing::{device, on, typed},
};
use backend_core::{Arrays, Complex, ComplexFloat, Element, f16, numpyish::Numpyish};
use backend_numpyish::fft::nufft::typed as cpu;
use ndarray::{ArrayD, IxDyn};

const CPU: Numpyish = Numpyish::new();

/// Term `i` of a sequence of numbers that are evenly distributed between 0 and 1.
fn scattered(i: usize, seed: f64) -> f64 {
    (i as f64 * 0.618_033_988_749_895 + seed).rem_euclid(1.0)
}

fn array<T: Element>(shape: &[usize], f: impl Fn(usize) -> T) -> ArrayD<T> {
    ArrayD::from_shape_vec(IxDyn(shape), (0..shape.iter().product()).map(f).collect()).unwrap()
}

fn data<T: ComplexFloat>(shape: &[usize]) -> ArrayD<T> {
    array(shape, |i| T::from_complex(Complex::new(scattered(i, 0.1) - 0.5, scattered(3 * i, 0.7) - 0.5)))
}

/// The inputs of a test: points, a grid and a spreading function.
#[derive(Clone, Debug)]
struct Case {
    n: usize,
    /// Largest distance of the points' coordinates from 0.2.
    extent: f64,
    grid: Vec<usize>,
    width: usize,
    /// Lengths of the batch axes, which precede the grid's axes.
    front: Vec<usize>,
    axis: isize,
}

impl Case {
    fn new(n: usize, extent: f64, grid: &[usize], width: usize, front: &[usize], axis: isize) -> Case {
        Case { n, extent, grid: grid.to_vec(), width, front: front.to_vec(), axis }
    }

    fn beta(&self) -> f64 {
        2.2 * self.width as f64
    }

    fn points<T: Element>(&self) -> ArrayD<T> {
        let at = |i| self.extent * (scattered(i, 0.3) * 2.0 - 1.0) + 0.2;
        array(&[self.n, self.grid.len()], |i| T::from_f64(at(i)))
    }

    fn values<T: ComplexFloat>(&self) -> ArrayD<T> {
        data(&[&self.front[..], &[self.n]].concat())
    }

    fn grids<T: ComplexFloat>(&self) -> ArrayD<T> {
        data(&[&self.front[..], &self.grid].concat())
    }

    fn spread<T: ComplexFloat>(
        &self,
        b: &Cuda,
        points: &CudaArray<T::Real>,
        values: &CudaArray<T>,
        sorted: Option<&CudaArray<i64>>,
    ) -> Result<RawArray> {
        let (on, sorted) = (on::<T>(b, "nufft_spread"), sorted.map(|sorted| &sorted.raw));
        nufft_spread(on, &points.raw, &values.raw, &self.grid, self.width, self.beta(), 0.0, self.axis, sorted)
    }

    fn interpolate<T: ComplexFloat>(
        &self,
        b: &Cuda,
        points: &CudaArray<T::Real>,
        grids: &CudaArray<T>,
        sorted: Option<&CudaArray<i64>>,
    ) -> Result<RawArray> {
        let (on, sorted) = (on::<T>(b, "nufft_interpolate"), sorted.map(|sorted| &sorted.raw));
        nufft_interpolate(on, &points.raw, &grids.raw, self.width, self.beta(), 0.0, self.axis, sorted)
    }

    fn sorted<T: Element>(&self, b: &Cuda, points: &CudaArray<T>) -> Result<RawArray> {
        nufft_sort(on::<T>(b, "nufft_sort"), &points.raw, &self.grid, self.width)
    }

    /// Compares spreading and interpolation with the CPU, with and without sorted points.
    fn check<T: ComplexFloat>(&self, b: &Cuda, tolerance: f64) {
        let what = format!("{} {self:?}", T::DTYPE);
        let (beta, axis, width) = (self.beta(), self.axis, self.width);
        let (points, values) = (self.points::<T::Real>(), self.values::<T>().into_shared());
        let there = upload(b, points.clone());
        let points = points.into_shared();
        let sorted = typed(self.sorted(b, &there));

        let expected = cpu::nufft_spread(&CPU, &points, &values, &self.grid, width, beta, 0.0, axis, None).unwrap();
        let values = b.from_ndarray(values).unwrap();
        let got = typed::<T>(self.spread(b, &there, &values, None));
        assert_near(b, &got, &expected, tolerance, &format!("spread: {what}"));
        let again = typed::<T>(self.spread(b, &there, &values, Some(&sorted)));
        assert_eq!(host(b, &got), host(b, &again), "the bits of spread: {what}");

        let grids = self.grids::<T>().into_shared();
        let expected = cpu::nufft_interpolate(&CPU, &points, &grids, width, beta, 0.0, axis, None).unwrap();
        let grids = b.from_ndarray(grids).unwrap();
        let got = typed::<T>(self.interpolate(b, &there, &grids, None));
        assert_near(b, &got, &expected, tolerance, &format!("interpolate: {what}"));
        let again = typed::<T>(self.interpolate(b, &there, &grids, Some(&sorted)));
        assert_eq!(host(b, &got), host(b, &again), "the bits of interpolate: {what}");
    }
}

fn upload<T: Element>(b: &Cuda, x: ArrayD<T>) -> CudaArray<T> {
    b.from_ndarray(x.into_shared()).unwrap()
}

/// Tests each number of axes with several widths, in both dtypes.
#[test]
fn sums_are_those_of_the_cpu() {
    let Some(b) = device() else { return };
    let cases = [
        Case::new(1, 3.0, &[1], 2, &[], -1),
        Case::new(40, 9.0, &[12], 7, &[2], 0),
        Case::new(33, 100.0, &[3], 16, &[], -1),
        // several tiles along an axis, whose number does not divide the length of the grid
        Case::new(90, 3.1, &[1500], 3, &[], -1),
        Case::new(60, 3.1, &[1100], 16, &[2, 3], 0),
        Case::new(60, 3.1, &[9, 14], 7, &[2], -1),
        Case::new(50, 0.02, &[70, 75], 16, &[], 1),
        Case::new(50, 3.1, &[35, 1], 2, &[], 0),
        Case::new(50, 3.1, &[33, 70], 3, &[3], -1),
        Case::new(20, 3.1, &[5, 1, 8], 3, &[2], 2),
        Case::new(25, 7.0, &[19, 9, 17], 7, &[], -1),
        Case::new(25, 7.0, &[17, 33, 20], 2, &[], 0),
        // windows that are cut into slabs, with one tile along axis 2 and with several
        Case::new(6, 7.0, &[7, 31, 6], 16, &[], -1),
        Case::new(6, 7.0, &[31, 7, 6], 16, &[], 1),
    ];
    for case in cases {
        case.check::<Complex<f64>>(&b, 1e-13);
        case.check::<Complex<f32>>(&b, 2e-6);
    }
}

/// Tiles with many points are cut into several jobs; the windows of the jobs after the first are stored in device
/// memory, and then added.
#[test]
fn many_points_in_one_place() {
    let Some(b) = device() else { return };
    Case::new(30_000, 1e-3, &[40, 50], 3, &[], -1).check::<Complex<f32>>(&b, 1e-5);
    Case::new(3_000, 3.0, &[20], 7, &[2], -1).check::<Complex<f64>>(&b, 1e-13);
    // windows that are cut into two slabs, which are handled by one block or by two blocks
    for grid in [[7, 16, 7], [16, 7, 7]] {
        let case = Case::new(5_200, 0.3, &grid, 7, &[], -1);
        let block = Block::new(&Tiles::new("test", &case.grid, case.width).unwrap(), 8);
        assert_eq!((block.slabs, block.is_whole, case.n / block.part(case.n)), (2, grid[0] == 7, 2));
        case.check::<Complex<f64>>(&b, 1e-13);
    }
    // some of the tiles are cut into several jobs, and others are not
    Case::new(2_500, 3.0, &[600], 2, &[2], 0).check::<Complex<f64>>(&b, 1e-13);
    Case::new(9_000, 1.6, &[16, 5, 16], 2, &[], -1).check::<Complex<f64>>(&b, 1e-13);
}

#[test]
fn launches_are_bounded() {
    assert_eq!(together(10, 4, 0), 10);
    assert_eq!(together(10, 4, MAX_WINDOW_BYTES / 3), 3);
    assert_eq!(together(10, 4, usize::MAX), 1);
    assert_eq!(together(10, 1 << 30, 1), 2);
    let tiles = Tiles::new("test", &[64, 1, 64], 4).unwrap();
    assert_eq!(tiles.tiles, [8, 1, 8]);
    assert_eq!(colours(&tiles, 3).collect::<Vec<_>>(), [(LATER, 3), (0, 16), (1, 16), (4, 16), (5, 16)]);
    assert_eq!(colours(&Tiles::new("test", &[3], 4).unwrap(), 0).collect::<Vec<_>>(), [(0, 1)]);
}

#[test]
fn every_layout_gives_the_same_bits() {
    let Some(b) = device() else { return };
    let case = Case::new(12, 3.0, &[20, 9], 4, &[2], -1);
    let (points, values, grids) = (case.points::<f32>(), case.values::<Complex<f32>>(), case.grids::<Complex<f32>>());
    let flat = |x: &RawArray| host(&b, &CudaArray::<Complex<f32>>::of(x.clone()));
    let spread = |p: &CudaArray<f32>, v: &CudaArray<_>| flat(&case.spread(&b, p, v, None).unwrap());
    let read = |p: &CudaArray<f32>, g: &CudaArray<_>| flat(&case.interpolate(&b, p, g, None).unwrap());
    let (points, values, grids) = (layouts(&b, &points), layouts(&b, &values), layouts(&b, &grids));
    for ((p, v), g) in points.iter().zip(&values).zip(&grids) {
        assert_eq!(spread(p, v), spread(&points[0], &values[0]));
        assert_eq!(read(p, g), read(&points[0], &grids[0]));
    }
}

#[test]
fn numbers_that_are_not_finite_stay_in_their_neighbourhood() {
    let Some(b) = device() else { return };
    for width in [2, 3, 7, 16] {
        let case = Case::new(2, 0.0, &[64], width, &[], -1);
        let points = upload(&b, array(&[2, 1], |i| 3.0 * i as f64));
        // the first cells outside the neighbourhood of the point at 0, which is in cell 0
        let bad = Complex::new(f64::INFINITY, f64::NAN);
        let beyond = width / 2 + 1..22;
        let grid = array(&[64], |cell| if beyond.contains(&cell) { bad } else { Complex::new(1.0, 0.0) });
        let read = typed::<Complex<f64>>(case.interpolate(&b, &points, &upload(&b, grid), None));
        assert!(host(&b, &read).iter().all(|z| z.re.is_finite() && z.im == 0.0), "{width}");
        let values = array(&[2], |i| Complex::new(if i == 0 { f64::NAN } else { 1.0 }, 1.0));
        let spread = typed::<Complex<f64>>(case.spread(&b, &points, &upload(&b, values), None));
        assert_eq!(host(&b, &spread).iter().filter(|z| z.re.is_nan()).count(), width);
    }
}

#[test]
fn sorted_points_of_every_dtype() {
    let Some(b) = device() else { return };
    // for these grids, the sort keys have 8, 16 and 32 bits
    for grid in [&[12][..], &[8, 5_000], &[65_600, 256]] {
        let case = Case::new(37, 20.0, grid, 6, &[], -1);
        for_dtype::<f64>(&b, &case);
        for_dtype::<f32>(&b, &case);
        for_dtype::<f16>(&b, &case);
        for_dtype::<backend_core::bf16>(&b, &case);
    }
    fn for_dtype<T: backend_core::Real>(b: &Cuda, case: &Case) {
        let points = case.points::<T>();
        let got = host(b, &typed::<i64>(case.sorted(b, &upload(b, points.clone()))));
        let expected = cpu::nufft_sort(&CPU, &points.into_shared(), &case.grid, case.width).unwrap();
        let tiles = Tiles::new("test", &case.grid, case.width).unwrap();
        let (axes, n) = (case.grid.len(), case.n);
        // the positions equal the CPU's, and each point occurs once
        let records = |x: &[i64]| {
            let mut records: Vec<Vec<i64>> = x[..n * (axes + 1)].chunks(axes + 1).map(<[i64]>::to_vec).collect();
            records.sort_by_key(|record| record[axes]);
            records
        };
        assert_eq!(records(got.as_slice().unwrap()), records(expected.as_slice().unwrap()));
        // the points are sorted by tile
        let (sorted, starts) = got.as_slice().unwrap().split_at(n * (axes + 1));
        assert_eq!((starts.len(), starts[0], starts[starts.len() - 1]), (tiles.count() + 1, 0, n as i64));
        for (i, record) in sorted.chunks(axes + 1).enumerate() {
            let tile = (0..axes).rev().fold(0, |tile, axis| {
                let (length, count) = (u64::from(tiles.length[axis]), u64::from(tiles.tiles[axis]));
                let cell = f64::from_bits(record[axis] as u64) as u64;
                tile * count + (0..count).rfind(|t| t * length / count <= cell).unwrap()
            }) as usize;
            assert!((starts[tile]..starts[tile + 1]).contains(&(i as i64)));
            let previous = if i > starts[tile] as usize { sorted[i * (axes + 1) - 1] } else { -1 };
            assert!(previous < record[axes], "points of a tile keep their order");
        }
    }
}

/// Tests wrong records and wrong starts of tiles: no kernel may access memory out of bounds. The software device checks
/// every access.
#[test]
fn sorted_points_of_another_plan_are_refused_or_harmless() {
    let Some(b) = device() else { return };
    type C = Complex<f32>;
    for (n, grid) in [(30, &[90, 40][..]), (1100, &[300]), (20, &[20, 9, 40])] {
        let case = Case::new(n, 3.0, grid, 6, &[], 0);
        let (points, values) = (upload(&b, case.points::<f32>()), upload(&b, case.values::<C>()));
        let grids = upload(&b, case.grids::<C>());
        let right = host(&b, &typed::<i64>(case.sorted(&b, &points)));
        let run = |sorted: Vec<i64>| {
            let sorted = upload(&b, array(&[sorted.len()], |i| sorted[i]));
            let spread = case.spread(&b, &points, &values, Some(&sorted));
            let read = case.interpolate(&b, &points, &grids, Some(&sorted));
            let spread = spread.map(|x| drop(host(&b, &CudaArray::<C>::of(x))));
            assert_eq!(spread.is_ok(), read.map(|x| drop(host(&b, &CudaArray::<C>::of(x)))).is_ok());
            spread
        };
        let records = n * (grid.len() + 1);
        let wrong = run(right.iter().copied().skip(1).collect()).unwrap_err().to_string();
        let why = "`sorted` is not the result of `nufft_sort` for these points, grid and width";
        assert_eq!(wrong, format!("nufft_spread: {why}"));
        let nan = f64::NAN.to_bits() as i64;
        for bad in [i64::MIN, -1, i64::MAX, nan, f64::INFINITY.to_bits() as i64, 1 << 40, n as i64] {
            run(right.iter().enumerate().map(|(i, &x)| if i < records { bad } else { x }).collect()).unwrap();
            run(right.iter().enumerate().map(|(i, &x)| if i < records { x } else { bad }).collect()).unwrap();
            run(vec![bad; right.len()]).unwrap();
        }
        // the starts alternately rise and fall, so that tiles share points
        let turns = |i: usize| if i.is_multiple_of(2) { 0 } else { n as i64 };
        run(right.iter().enumerate().map(|(i, &x)| if i < records { x } else { turns(i) }).collect()).unwrap();
    }
}

#[test]
fn no_points_and_no_grids() {
    let Some(b) = device() else { return };
    type C = Complex<f64>;
    let case = Case::new(0, 3.0, &[4, 5], 4, &[3], -1);
    let points = upload(&b, case.points::<f64>());
    let spread = typed::<C>(case.spread(&b, &points, &upload(&b, case.values::<C>()), None));
    let sums = host(&b, &spread);
    assert!(sums.shape() == [3, 4, 5] && sums.iter().all(|z| *z == C::new(0.0, 0.0)));
    assert_eq!(case.interpolate(&b, &points, &spread, None).unwrap().shape, [3, 0]);
    let sorted = typed::<i64>(case.sorted(&b, &points));
    assert!(host(&b, &sorted).iter().all(|&x| x == 0));
    assert_eq!(case.interpolate(&b, &points, &spread, Some(&sorted)).unwrap().shape, [3, 0]);
    let case = Case::new(2, 3.0, &[4, 5], 4, &[0], -1);
    let points = upload(&b, case.points::<f64>());
    assert_eq!(case.spread(&b, &points, &upload(&b, case.values::<C>()), None).unwrap().shape, [0, 4, 5]);
    assert_eq!(case.interpolate(&b, &points, &upload(&b, case.grids::<C>()), None).unwrap().shape, [0, 2]);
}

/// Tests that wrong arguments give the same errors as on the CPU backend.
#[test]
fn refusals() {
    let Some(b) = device() else { return };
    let sort = |points: &ArrayD<f64>, grid: &[usize], width| {
        let got = nufft_sort(on::<f64>(&b, "nufft_sort"), &upload(&b, points.clone()).raw, grid, width).map(drop);
        let expected = cpu::nufft_sort(&CPU, &points.clone().into_shared(), grid, width).map(drop);
        assert_eq!(got, expected);
        got.unwrap_err().to_string()
    };
    let fine = array(&[2, 1], |i| i as f64);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let points = array(&[700, 2], |i| if i == 1399 { bad } else { 0.5 });
        assert_eq!(sort(&points, &[8, 9], 4), "nufft_sort: a coordinate is not finite");
    }
    sort(&fine, &[8], 17);
    sort(&fine, &[8, 8], 4);
    sort(&fine, &[0], 4);
    sort(&fine, &[1 << 40], 4);
    sort(&array(&[2], |i| i as f64), &[8], 4);
    let values = data::<Complex<f64>>(&[2]);
    for (points, width, beta, eps, axis) in [
        (&fine, 4, f64::NAN, 0.0, -1),
        (&fine, 4, 9.0, f64::NAN, -1),
        (&fine, 4, 9.0, 0.0, 1),
        (&fine, 1, 9.0, 0.0, 0),
        (&array(&[3, 1], |i| i as f64), 4, 9.0, 0.0, 0),
        (&array(&[2, 1], |_| f64::NAN), 4, 9.0, 0.0, 0),
    ] {
        let (there, on) = (upload(&b, points.clone()).raw, on::<Complex<f64>>(&b, "nufft_spread"));
        let got = nufft_spread(on, &there, &upload(&b, values.clone()).raw, &[8], width, beta, eps, axis, None);
        let (points, values) = (points.clone().into_shared(), values.clone().into_shared());
        let expected = cpu::nufft_spread(&CPU, &points, &values, &[8], width, beta, eps, axis, None);
        assert_eq!(got.map(drop), expected.map(drop));
    }
}
