//! Distributions that need a varying number of draws per element ([`samplers`](backend_core::random::samplers)). Each element
//! has its own stream of random numbers.

use super::super::{
    Numpyish, OpContext,
    buffer::Buffer,
    parallel::{self, COSTLY},
    raw::{RawArray, View},
    simd::versions,
};
use super::{many, words};
use backend_core::{
    DType, Real, Result, bf16, f16,
    random::{
        philox,
        samplers::{
            Beta, Binomial, Distribution, Draws, Exponential, Gamma, Poisson, Sampler, TruncatedNormal, multinomial,
            to_shares,
        },
    },
    rules,
};

/// Exponentially distributed random numbers.
pub fn random_exponential(on: OpContext<'_>, shape: &[usize], scale: f64) -> Result<RawArray> {
    rules::check_scale(on.op, scale)?;
    reals(on, Distribution::Exponential, shape, &[], [scale, 0.0])
}

/// Gamma distributed random numbers.
pub fn random_gamma(on: OpContext<'_>, shape: &[usize], alpha: View<'_>, scale: f64) -> Result<RawArray> {
    rules::check_gamma(on.op, &alpha, scale)?;
    reals(on, Distribution::Gamma, shape, &[alpha], [scale, 0.0])
}

/// Beta distributed random numbers.
pub fn random_beta(on: OpContext<'_>, shape: &[usize], alpha: View<'_>, beta: View<'_>) -> Result<RawArray> {
    rules::check_beta(on.op, &alpha, &beta)?;
    reals(on, Distribution::Beta, shape, &[alpha, beta], [0.0; 2])
}

/// Poisson distributed random counts.
pub fn random_poisson(on: OpContext<'_>, shape: &[usize], rate: View<'_>) -> Result<RawArray> {
    rules::check_poisson(on.op, &rate)?;
    sampled(on.backend, on.op, Distribution::Poisson, DType::Int64, shape, &[rate], [0.0; 2])
}

/// Binomially distributed random counts.
pub fn random_binomial(on: OpContext<'_>, shape: &[usize], n: i64, p: View<'_>) -> Result<RawArray> {
    rules::check_binomial(on.op, n, &p)?;
    sampled(on.backend, on.op, Distribution::Binomial, DType::Int64, shape, &[p], [n as f64, 0.0])
}

/// Random counts of the trials, out of `n`, that fall into each category.
pub fn random_multinomial(on: OpContext<'_>, shape: &[usize], n: i64, weights: View<'_>) -> Result<RawArray> {
    let OpContext { backend: b, op, .. } = on;
    let all = rules::check_multinomial(op, shape, n, weights.shape)?;
    let count = weights.shape[0];
    let out = Buffer::new(op, rules::count(op, &all, size_of::<i64>())?, DType::Int64)?;
    if out.len() > 0 {
        let mut pairs = rules::list(op, count)?;
        pairs.resize(count, [0.0; 2]);
        // SAFETY: `pairs` has room for all weights, of which there is at least one.
        unsafe { Parameter::new(op, weights, weights.shape)?.read(0, &mut pairs, 0) };
        let mut shares = rules::list(op, count)?;
        shares.extend(pairs.iter().map(|pair| pair[0]));
        to_shares(&mut shares);
        let rows = out.len() / count;
        let (key, first) = b.stream().take(rows as u64);
        parallel::parallel(rows, (COSTLY / count).max(1), |rows| {
            for row in rows {
                // SAFETY: the row of the buffer belongs to one task, and any bytes are a valid int64.
                let to = unsafe { std::slice::from_raw_parts_mut(out.start().cast::<i64>().add(row * count), count) };
                let block = first.wrapping_add(row as u64);
                // SAFETY: the loop has no preconditions.
                unsafe { count_trials(key, block, n as f64, &shares, to) };
            }
        });
    }
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, all, out) }
}

versions! {
    unsafe fn count_trials[][](key: u64, block: u64, n: f64, shares: &[f64], out: &mut [i64]) {
        multinomial(n, shares, &mut Draws::new(key, block, philox(key, block)), out);
    }
}

/// Normally distributed random numbers, restricted to the range between two bounds.
pub fn random_truncated_normal(
    on: OpContext<'_>,
    shape: &[usize],
    lower: View<'_>,
    upper: View<'_>,
    mean: f64,
    std: f64,
) -> Result<RawArray> {
    rules::check_truncated(on.op, &lower, &upper, mean, std)?;
    reals(on, Distribution::TruncatedNormal, shape, &[lower, upper], [mean, std])
}

/// Draws random reals of a distribution, in the dtype of the call.
fn reals(
    on: OpContext<'_>,
    distribution: Distribution,
    shape: &[usize],
    own: &[View<'_>],
    shared: [f64; 2],
) -> Result<RawArray> {
    sampled(on.backend, on.op, distribution, on.dtype, shape, own, shared)
}

/// Draws random numbers of a distribution, as reals of `dtype` or as counts. `own` has up to two parameters that
/// broadcast to the shape, so they may differ between elements. `shared` has the parameters that are the same for all
/// elements.
pub fn sampled(
    b: &Numpyish,
    op: &'static str,
    distribution: Distribution,
    dtype: DType,
    shape: &[usize],
    own: &[View<'_>],
    shared: [f64; 2],
) -> Result<RawArray> {
    let own = own.iter().map(|x| Parameter::new(op, *x, shape)).collect::<Result<Vec<_>>>()?;
    let out = Buffer::new(op, rules::count(op, shape, dtype.size())?, dtype)?;
    let n = out.len();
    if n > 0 {
        let (key, first) = b.stream().take(n as u64);
        let draw = loop_of(distribution);
        let all_alike = own.iter().all(|parameter| parameter.is_one());
        parallel::parallel(n.div_ceil(PART), (COSTLY / PART).max(1), |parts| {
            let (mut values, mut made) = ([[0.0; 2]; PART], [0.0; PART]);
            for part in parts {
                let start = part * PART;
                let count = PART.min(n - start);
                for (which, parameter) in own.iter().enumerate() {
                    // SAFETY: these elements are within the shape.
                    unsafe { parameter.read(start, &mut values[..count], which) };
                }
                let block = first.wrapping_add(start as u64);
                if !(all_alike && many::make(distribution, key, block, values[0], shared, &mut made[..count])) {
                    // SAFETY: the loops have no preconditions.
                    unsafe { draw(key, block, &values[..count], shared, &mut made[..count]) };
                }
                // SAFETY: this part of the buffer belongs to one task.
                unsafe { store(&made[..count], dtype, out.start().add(start * dtype.size())) };
            }
        });
    }
    // SAFETY: every element has been written.
    unsafe { RawArray::new(op, shape.to_vec(), out) }
}

/// Number of elements that are drawn at a time.
const PART: usize = many::MAX_BATCH;

/// Draws one element for each pair of parameters. The arguments are the key of the random stream, the first block,
/// the pairs, the parameters that all elements share, and the output.
type Loop = unsafe fn(u64, u64, &[[f64; 2]], [f64; 2], &mut [f64]);

fn loop_of(distribution: Distribution) -> Loop {
    match distribution {
        Distribution::Exponential => draw::<Exponential>,
        Distribution::Gamma => draw::<Gamma>,
        Distribution::Beta => draw::<Beta>,
        Distribution::Poisson => draw::<Poisson>,
        Distribution::Binomial => draw::<Binomial>,
        Distribution::TruncatedNormal => draw::<TruncatedNormal>,
    }
}

versions! {
    /// Draws one element per block of the random stream, from block `first` on. A new sampler is made only when the
    /// parameters change.
    unsafe fn draw[S: Sampler][S](key: u64, first: u64, own: &[[f64; 2]], shared: [f64; 2], out: &mut [f64]) {
        let Some(&last) = own.first() else { return };
        let (mut last, mut sampler) = (last, S::new(last, shared));
        let mut words = [0; 2 * PART];
        let words = &mut words[..2 * out.len()];
        words::fill(key, first, words);
        for (i, ((&own, out), words)) in own.iter().zip(out).zip(words.as_chunks::<2>().0).enumerate() {
            if own.map(f64::to_bits) != last.map(f64::to_bits) {
                (last, sampler) = (own, S::new(own, shared));
            }
            let words = [(words[0] >> 32) as u32, words[0] as u32, (words[1] >> 32) as u32, words[1] as u32];
            *out = sampler.draw(&mut Draws::new(key, first.wrapping_add(i as u64), words));
        }
    }
}

/// Converts the numbers `made` to a dtype, and writes them to `to`. If the dtype is int64, the numbers are counts, and
/// NaN becomes -1.
///
/// # Safety
/// `to` must have room for `made.len()` elements.
unsafe fn store(made: &[f64], dtype: DType, to: *mut u8) {
    /// # Safety
    /// `to` must have room for `made.len()` elements.
    unsafe fn each<T>(made: &[f64], to: *mut u8, of: impl Fn(f64) -> T) {
        for (i, &x) in made.iter().enumerate() {
            // SAFETY: the caller guarantees enough room.
            unsafe { to.cast::<T>().add(i).write(of(x)) };
        }
    }
    // SAFETY: the caller guarantees enough room, and each type matches the dtype.
    unsafe {
        match dtype {
            DType::Float16 => each(made, to, f16::of),
            DType::BFloat16 => each(made, to, bf16::of),
            DType::Float32 => each(made, to, f32::of),
            DType::Int64 => each(made, to, |x| if x.is_nan() { -1 } else { x as i64 }),
            _ => each(made, to, |x| x),
        }
    }
}

/// A parameter of a distribution, with a value for each element of a shape in C order.
struct Parameter<'a> {
    x: View<'a>,
    shape: &'a [usize],
    /// Strides of `x` along the axes of the shape, which are 0 for broadcast axes.
    strides: Vec<isize>,
}

// SAFETY: the parameter only has fields that are `Sync`: a view and lists.
unsafe impl Sync for Parameter<'_> {}

impl<'a> Parameter<'a> {
    fn new(op: &'static str, x: View<'a>, shape: &'a [usize]) -> Result<Parameter<'a>> {
        rules::check_broadcast_to(op, x.shape, shape)?;
        let mut strides = vec![0; shape.len() - x.shape.len()];
        strides.extend(x.shape.iter().zip(x.strides).map(|(&len, &stride)| if len == 1 { 0 } else { stride }));
        Ok(Parameter { x, shape, strides })
    }

    /// Returns whether all elements share one value of the parameter.
    fn is_one(&self) -> bool {
        self.strides.iter().all(|&stride| stride == 0)
    }

    /// Reads the values of the parameter for the elements from `start` on. Writes them to entry `which` of the pairs in
    /// `to`.
    ///
    /// # Safety
    /// All these elements must exist, and the shape must have no axis of length 0.
    unsafe fn read(&self, start: usize, to: &mut [[f64; 2]], which: usize) {
        // SAFETY: the caller guarantees the elements, and each type matches the dtype.
        unsafe {
            match self.x.dtype {
                DType::Float16 => self.read_as::<f16>(start, to, which),
                DType::BFloat16 => self.read_as::<bf16>(start, to, which),
                DType::Float32 => self.read_as::<f32>(start, to, which),
                _ => self.read_as::<f64>(start, to, which),
            }
        }
    }

    /// # Safety
    /// The conditions of `read` hold, and `T` must be the type of the dtype.
    unsafe fn read_as<T: Real>(&self, start: usize, to: &mut [[f64; 2]], which: usize) {
        let (inner, stride) = match (self.shape.last(), self.strides.last()) {
            (Some(&len), Some(&stride)) => (len, stride),
            _ => (1, 0),
        };
        let mut done = 0;
        // goes row by row along the last axis; `start` may be in the middle of the first row
        while done < to.len() {
            let place = start + done;
            let within = place % inner;
            let mut rest = place / inner;
            let mut at = within as isize * stride;
            let outer = self.shape.iter().zip(&self.strides).rev().skip(1);
            for (&len, &stride) in outer {
                at += (rest % len) as isize * stride;
                rest /= len;
            }
            let count = (inner - within).min(to.len() - done);
            for (k, values) in to[done..done + count].iter_mut().enumerate() {
                // SAFETY: the offset belongs to an index of the shape, to which the view broadcasts.
                values[which] = unsafe { *self.x.at(at + k as isize * stride).cast::<T>() }.to_f64();
            }
            done += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::typed::{
            random_beta, random_binomial, random_exponential, random_gamma, random_multinomial, random_poisson,
            random_truncated_normal,
        },
        *,
    };
    use backend_core::{
        Error,
        numpyish::{NdArray, Operand, simd::with_each, typed::typed},
    };
    use ndarray::{ArrayD, IxDyn, ShapeBuilder, arr1};

    /// A distribution and its parameters. SciPy computed its mean, its standard deviation, and the probabilities of
    /// some bins.
    struct Known {
        name: &'static str,
        distribution: Distribution,
        own: [f64; 2],
        shared: [f64; 2],
        mean: f64,
        std: f64,
        edges: Vec<f64>,
        probabilities: Vec<f64>,
    }

    fn known() -> Vec<Known> {
        let text = include_str!("testdata/distributions.txt");
        let line = |line: &'static str| {
            let mut parts = line.split(" | ");
            let name = parts.next().unwrap();
            let mut numbers = parts.map(|part| part.split(' ').map(|x| x.parse().unwrap()).collect::<Vec<f64>>());
            let mut next = || numbers.next().unwrap();
            let (own, shared, moments) = (next(), next(), next());
            let distribution = match name {
                "exponential" => Distribution::Exponential,
                "gamma" => Distribution::Gamma,
                "beta" => Distribution::Beta,
                "poisson" => Distribution::Poisson,
                "binomial" => Distribution::Binomial,
                "truncated_normal" => Distribution::TruncatedNormal,
                other => panic!("{other}"),
            };
            Known {
                name: line.split(" | ").next().unwrap(),
                distribution,
                own: [own[0], own[1]],
                shared: [shared[0], shared[1]],
                mean: moments[0],
                std: moments[1],
                edges: next(),
                probabilities: next(),
            }
        };
        text.lines().map(line).collect()
    }

    fn numbers(known: &Known, n: usize) -> Vec<f64> {
        let own = known.own.each_ref().map(View::scalar);
        let Known { distribution, shared, .. } = *known;
        let of = |dtype| sampled(&Numpyish::seeded(42), "random", distribution, dtype, &[n], &own, shared);
        if matches!(distribution, Distribution::Poisson | Distribution::Binomial) {
            let counts: NdArray<i64> = typed(of(DType::Int64)).unwrap();
            return counts.iter().map(|&k| k as f64).collect();
        }
        let reals: NdArray<f64> = typed(of(DType::Float64)).unwrap();
        reals.iter().copied().collect()
    }

    #[test]
    fn numbers_have_their_distributions() {
        const N: usize = 100_000;
        let all = known();
        assert!(all.len() > 40);
        for known in all {
            let what = format!("{} {:?} {:?}", known.name, known.own, known.shared);
            let x = numbers(&known, N);
            let mut counts = vec![0.0; known.probabilities.len()];
            for x in &x {
                assert!(x.is_finite(), "{what}");
                counts[known.edges.partition_point(|edge| edge < x)] += 1.0;
            }
            let far = |(&count, &p): (&f64, &f64)| (count - p * N as f64) * (count - p * N as f64) / (p * N as f64);
            let chi: f64 = counts.iter().zip(&known.probabilities).map(far).sum();
            let degrees = (known.probabilities.len() - 1) as f64;
            assert!(chi < degrees + 6.0 * (2.0 * degrees).sqrt() + 6.0, "{what}: {chi} of {degrees}");
            let mean = x.iter().map(|x| (x - known.mean) / N as f64).sum::<f64>();
            assert!(mean.abs() < 5.0 * known.std / (N as f64).sqrt(), "{what}: mean off by {mean}");
            let square = x.iter().map(|x| (x - known.mean) * (x - known.mean) / N as f64).sum::<f64>().sqrt();
            // the fourth moment is large for small shape parameters, so the deviation of the numbers is less certain
            let is_heavy = matches!(known.distribution, Distribution::Gamma | Distribution::Beta) && known.own[0] < 1.0;
            let heavy = if is_heavy { 0.1 } else { 0.02 };
            assert!((square / known.std - 1.0).abs() < heavy, "{what}: deviation {square}");
        }
    }

    #[test]
    fn bounds_hold_in_the_far_tail() {
        let b = Numpyish::seeded(1);
        for (lower, upper) in
            [(1e8, 2e8), (40.0, f64::INFINITY), (1e300, f64::INFINITY), (3.0, 3.0), (5.0, 5.0 + 1e-14)]
        {
            let of = |lower, upper| {
                let (lower, upper) = (Operand::Scalar(lower), Operand::Scalar(upper));
                random_truncated_normal::<f64>(&b, &[1000], lower, upper, 0.0, 1.0).unwrap()
            };
            for x in of(lower, upper) {
                assert!(x >= lower && x <= upper && x <= lower + 1.0 && x.is_finite(), "{x} from {lower}");
            }
            assert!(of(-upper, -lower).iter().all(|&x| x <= -lower && x >= -upper && x.is_finite()));
        }
    }

    /// A number depends only on its index, not on its neighbours or on the instruction set.
    #[test]
    fn an_element_depends_on_its_place_alone() {
        for known in known() {
            let whole = numbers(&known, 5003);
            assert_eq!(numbers(&known, 17), whole[..17], "{}", known.name);
            with_each(|_| assert_eq!(numbers(&known, 5003), whole, "{}", known.name));
        }
    }

    /// Elements that share parameters have the same bits whether they are drawn together or one by one.
    #[test]
    fn many_elements_are_those_made_one_by_one() {
        let alike = |of: Distribution, own: [f64; 2], shared: [f64; 2]| {
            let mut made = [0.0; many::MAX_BATCH - 3];
            with_each(|_| {
                for block in [0, u64::MAX - 7] {
                    let mut one_by_one = made;
                    // SAFETY: the loops have no preconditions.
                    unsafe { loop_of(of)(42, block, &[own; many::MAX_BATCH - 3], shared, &mut one_by_one) };
                    if many::make(of, 42, block, own, shared, &mut made) {
                        assert_eq!(made.map(f64::to_bits), one_by_one.map(f64::to_bits), "{of:?} {own:?}");
                    }
                }
            });
            many::make(of, 42, 0, own, shared, &mut made)
        };
        let gain = known().iter().filter(|known| alike(known.distribution, known.own, known.shared)).count();
        assert!(gain > 10, "{gain}");
        for shapes in [[1.0, 1.0], [1.5, 300.0], [1e10, 2.5]] {
            assert!(alike(Distribution::Gamma, shapes, [2.0, 0.0]) && alike(Distribution::Beta, shapes, [0.0; 2]));
        }
        assert!(alike(Distribution::TruncatedNormal, [-1.0, f64::INFINITY], [0.5, 2.0]));
        assert!(!alike(Distribution::Gamma, [f64::NAN, 0.0], [1.0, 0.0]));
    }

    #[test]
    fn parameters_broadcast() {
        let b = || Numpyish::seeded(3);
        let array =
            |shape: &[usize], values: Vec<f64>| ArrayD::from_shape_vec(IxDyn(shape), values).unwrap().into_shared();
        let rates: Vec<f64> = (0..7).map(|i| f64::from(i * i * 5)).collect();
        let row: NdArray<i64> =
            random_poisson(&b(), &[600, 7], Operand::Array(std::borrow::Cow::Owned(array(&[7], rates.clone()))))
                .unwrap();
        for (j, &rate) in rates.iter().enumerate() {
            let same: NdArray<i64> = random_poisson(&b(), &[600, 7], Operand::Scalar(rate)).unwrap();
            for i in 0..600 {
                assert_eq!(row[[i, j]], same[[i, j]], "{i} {j}");
            }
        }
        let column = array(&[7, 1], rates.clone());
        let turned = ArrayD::from_shape_fn(IxDyn(&[7, 600]).f(), |i| rates[i[0]]).into_shared();
        let of = |x: &NdArray<f64>| random_gamma::<f64>(&b(), &[7, 600], Operand::array(x), 2.0).unwrap();
        assert_eq!(of(&column), of(&turned));
        assert!(of(&column).iter().take(600).all(|&x| x == 0.0), "a shape of 0");
        let wrong = random_gamma::<f64>(&b(), &[7, 600], Operand::array(&array(&[600, 1], vec![1.0; 600])), 2.0);
        assert!(matches!(wrong, Err(Error::Shapes { op: "random_gamma", .. })));
        let none = random_gamma::<f64>(&b(), &[0, 7], Operand::array(&array(&[7], rates)), 2.0).unwrap();
        assert_eq!(none.shape(), [0, 7]);
    }

    #[test]
    fn counts_of_categories_are_binomial_and_sum_up() {
        const ROWS: usize = 20_000;
        let weights = [3.0, 0.0, 1.0, 4.0, 2.0, 0.0];
        let given = arr1(&weights).into_dyn().into_shared();
        for n in [0_i64, 1, 7, 100, 1_000_000] {
            let x = random_multinomial(&Numpyish::seeded(5), &[ROWS], n, &given).unwrap();
            assert_eq!(x.shape(), [ROWS, 6]);
            assert!(x.rows().into_iter().all(|row| row.sum() == n && row.iter().all(|&k| k >= 0)));
            for (j, w) in weights.iter().enumerate() {
                let (p, n) = (w / 10.0, n as f64);
                let column = x.view().into_shape_with_order((ROWS, 6)).unwrap();
                let mean = column.column(j).iter().map(|&k| k as f64).sum::<f64>() / ROWS as f64;
                let std = (n * p * (1.0 - p)).sqrt();
                assert!((mean - n * p).abs() <= 5.0 * std / (ROWS as f64).sqrt(), "{n} {j}: {mean}");
                let square = column.column(j).iter().map(|&k| (k as f64 - n * p).powi(2)).sum::<f64>() / ROWS as f64;
                assert!((square - std * std).abs() <= 0.05 * std * std, "{n} {j}: {square}");
            }
        }
        for bad in [[1.0, -1.0], [f64::NAN, 1.0], [f64::INFINITY, 1.0], [0.0, 0.0], [f64::MAX, f64::MAX]] {
            let bad = arr1(&bad).into_dyn().into_shared();
            assert_eq!(random_multinomial(&Numpyish::seeded(5), &[], 3, &bad).unwrap().as_slice().unwrap(), [-1, -1]);
        }
        let none = NdArray::<f64>::zeros(IxDyn(&[0]));
        assert_eq!(random_multinomial(&Numpyish::seeded(5), &[3], 0, &none).unwrap().shape(), [3, 0]);
        assert!(matches!(random_multinomial(&Numpyish::seeded(5), &[3], 1, &none), Err(Error::Argument { .. })));
        let square = NdArray::<f64>::ones(IxDyn(&[2, 2]));
        assert!(matches!(random_multinomial(&Numpyish::seeded(5), &[3], 1, &square), Err(Error::Shape { .. })));
    }

    #[test]
    fn parameters_out_of_range() {
        let b = Numpyish::seeded(3);
        let bad = arr1(&[-1.0, f64::NAN, f64::INFINITY, 2.0]).into_dyn().into_shared();
        let x = || Operand::array(&bad);
        assert_eq!(random_poisson(&b, &[4], x()).unwrap().as_slice().unwrap()[..3], [-1; 3]);
        assert_eq!(random_binomial(&b, &[4], 9, x()).unwrap().as_slice().unwrap(), [-1; 4]);
        assert!(random_gamma::<f64>(&b, &[4], x(), 1.0).unwrap().iter().take(3).all(|x| x.is_nan()));
        assert!(random_beta::<f64>(&b, &[4], x(), Operand::Scalar(1.0)).unwrap().iter().take(3).all(|x| x.is_nan()));
        let cut = random_truncated_normal::<f64>(&b, &[4], x(), Operand::Scalar(1.0), 0.0, 1.0).unwrap();
        assert_eq!(cut.iter().map(|x| x.is_nan()).collect::<Vec<_>>(), [false, true, true, true]);
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            let x = || Operand::Scalar(wrong);
            assert!(matches!(random_poisson::<f64>(&b, &[4], x()), Err(Error::Argument { op: "random_poisson", .. })));
            assert!(random_binomial::<f64>(&b, &[4], 9, x()).is_err());
            assert!(random_gamma::<f64>(&b, &[4], x(), 1.0).is_err());
            assert!(random_gamma::<f64>(&b, &[4], Operand::Scalar(1.0), wrong).is_err());
            assert!(random_beta::<f64>(&b, &[4], Operand::Scalar(1.0), x()).is_err());
            assert!(random_exponential::<f64>(&b, &[4], wrong).is_err());
        }
        // an array without axes is no number
        let one = ArrayD::from_elem(IxDyn(&[]), -1.0).into_shared();
        assert!(random_gamma::<f64>(&b, &[4], Operand::array(&one), 1.0).unwrap().iter().all(|x| x.is_nan()));
        assert!(random_binomial::<f64>(&b, &[4], -1, Operand::Scalar(0.5)).is_err());
        assert!(random_binomial::<f64>(&b, &[4], i64::MAX, Operand::Scalar(0.5)).is_err());
        let cut = |lower, upper, std| {
            random_truncated_normal::<f64>(&b, &[4], Operand::Scalar(lower), Operand::Scalar(upper), 0.0, std)
        };
        assert!(cut(1.0, 0.0, 1.0).is_err() && cut(0.0, 1.0, 0.0).is_err() && cut(f64::NAN, 1.0, 1.0).is_err());
        assert!(matches!(random_exponential::<f64>(&b, &[usize::MAX, 2], 1.0), Err(Error::Memory { .. })));
    }
}
