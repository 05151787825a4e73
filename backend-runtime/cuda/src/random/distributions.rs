//! Random distributions whose sampling needs a varying number of draws per element. Each element has its own random
//! stream, and the results equal the CPU's bit for bit ([`samplers`](backend_core::random::samplers)).

use super::super::{
    OpContext,
    array::RawArray,
    kernel::{Argument, Grid},
    program::{Instance, KernelList, Program, ProgramSource},
    walk::Merged,
};
use backend_core::{DType, DTypeKind, Result, random::samplers::Distribution, raw::RawOperand, rules};

static PROGRAM: Program = Program {
    name: "samplers",
    source: ProgramSource::File(concat!(
        include_str!("../kernels/locate.cuh"),
        include_str!("../kernels/random.cuh"),
        include_str!("../kernels/samplers.cuh"),
    )),
};

/// The kernels of this file, for the list of all kernels in [`check`](crate::check).
pub(in super::super) const SAMPLERS: KernelList = (&PROGRAM, || {
    const COUNTS: [Distribution; 2] = [Distribution::Poisson, Distribution::Binomial];
    const REALS: [Distribution; 4] =
        [Distribution::Exponential, Distribution::Gamma, Distribution::Beta, Distribution::TruncatedNormal];
    let real = || DType::ALL.into_iter().filter(|dtype| dtype.kind() == DTypeKind::Real);
    let reals = REALS.into_iter().flat_map(|d| real().map(move |dtype| instance(d, dtype, dtype)));
    let counts = COUNTS.into_iter().flat_map(|d| real().map(move |dtype| instance(d, dtype, DType::Int64)));
    let shares = real().map(|dtype| Instance::new("to_shares", "", &[dtype]));
    reals.chain(counts).chain(shares).chain([Instance::new("multinomial", "", &[])]).collect()
});

/// The kernel for parameters of dtype `of` and results of dtype `to`.
fn instance(distribution: Distribution, of: DType, to: DType) -> Instance {
    let name = match distribution {
        Distribution::Exponential => "Exponential",
        Distribution::Gamma => "Gamma",
        Distribution::Beta => "Beta",
        Distribution::Poisson => "Poisson",
        Distribution::Binomial => "Binomial",
        Distribution::TruncatedNormal => "TruncatedNormal",
    };
    Instance::new("sampled", name, &[of, to])
}

/// A parameter of a distribution: one number for all elements, or an array that broadcasts to the shape of the result.
type Parameter<'a> = RawOperand<'a, RawArray>;

/// Exponentially distributed random numbers.
pub fn random_exponential(on: OpContext<'_>, shape: &[usize], scale: f64) -> Result<RawArray> {
    rules::check_scale(on.op, scale)?;
    sampled(on, Distribution::Exponential, on.dtype, shape, &[], [scale, 0.0])
}

/// Gamma-distributed random numbers.
pub fn random_gamma(on: OpContext<'_>, shape: &[usize], alpha: Parameter<'_>, scale: f64) -> Result<RawArray> {
    rules::check_gamma(on.op, &alpha, scale)?;
    sampled(on, Distribution::Gamma, on.dtype, shape, &[alpha], [scale, 0.0])
}

/// Beta-distributed random numbers.
pub fn random_beta(on: OpContext<'_>, shape: &[usize], alpha: Parameter<'_>, beta: Parameter<'_>) -> Result<RawArray> {
    rules::check_beta(on.op, &alpha, &beta)?;
    sampled(on, Distribution::Beta, on.dtype, shape, &[alpha, beta], [0.0; 2])
}

/// Poisson-distributed random counts.
pub fn random_poisson(on: OpContext<'_>, shape: &[usize], rate: Parameter<'_>) -> Result<RawArray> {
    rules::check_poisson(on.op, &rate)?;
    sampled(on, Distribution::Poisson, DType::Int64, shape, &[rate], [0.0; 2])
}

/// Binomially distributed random counts.
pub fn random_binomial(on: OpContext<'_>, shape: &[usize], n: i64, p: Parameter<'_>) -> Result<RawArray> {
    rules::check_binomial(on.op, n, &p)?;
    sampled(on, Distribution::Binomial, DType::Int64, shape, &[p], [n as f64, 0.0])
}

/// Multinomial random counts: for each row of the result, the outcomes of `n` trials, counted by category.
pub fn random_multinomial(on: OpContext<'_>, shape: &[usize], n: i64, weights: &RawArray) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    b.check(op, weights)?;
    let all = rules::check_multinomial(op, shape, n, &weights.shape)?;
    let out = b.uninit_raw(op, DType::Int64, &all)?;
    if out.size() > 0 {
        let count = weights.shape[0] as u64;
        let rows = out.size() as u64 / count;
        let shares = b.uninit_raw(op, DType::Float64, &weights.shape)?;
        let (from, stride, to) = (weights.pointer(), weights.strides[0] as i64, shares.pointer());
        let one = Grid { blocks: [1; 3], threads: 1, shared: 0 };
        let kernel = b.kernel(op, &PROGRAM, Instance::new("to_shares", "", &[weights.dtype]))?;
        // SAFETY: the arguments match the parameters of `to_shares`; both arrays have `count` elements.
        unsafe { b.launch(op, kernel, one, &[&from, &stride, &count, &to])? };
        let kernel = b.kernel(op, &PROGRAM, Instance::new("multinomial", "", &[]))?;
        let (key, block) = b.stream().take(rows);
        let (result, position, trials) = (out.pointer(), [key, block], n as f64);
        let arguments: [&dyn Argument; 6] = [&result, &rows, &position, &to, &count, &trials];
        // SAFETY: the arguments match the parameters of `multinomial`; the result has `count` elements per row.
        unsafe { b.launch(op, kernel, Grid::over(rows as usize), &arguments)? };
    }
    Ok(out)
}

/// Normally distributed random numbers between two bounds.
pub fn random_truncated_normal(
    on: OpContext<'_>,
    shape: &[usize],
    lower: Parameter<'_>,
    upper: Parameter<'_>,
    mean: f64,
    std: f64,
) -> Result<RawArray> {
    rules::check_truncated(on.op, &lower, &upper, mean, std)?;
    sampled(on, Distribution::TruncatedNormal, on.dtype, shape, &[lower, upper], [mean, std])
}

/// Counterpart of the C++ struct `Own` in the kernel: for each of two parameters, the address of an array (or 0) and a
/// number.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct KernelOwn {
    array: [u64; 2],
    number: [f64; 2],
}

// SAFETY: the C++ struct has the same members in the same order.
unsafe impl Argument for KernelOwn {}

/// Draws random numbers of a distribution, in the dtype `to`. `own` has up to two parameters that may be arrays, which
/// broadcast to the shape. `shared` has parameters that are numbers.
fn sampled(
    on: OpContext<'_>,
    distribution: Distribution,
    to: DType,
    shape: &[usize],
    own: &[Parameter<'_>],
    shared: [f64; 2],
) -> Result<RawArray> {
    let (b, op) = (on.backend, on.op);
    // shape errors take precedence over the error for a result that is too large
    for own in own {
        if let Parameter::Array(x) = own {
            on.require(&[x])?;
            rules::check_broadcast_to(op, &x.shape, shape)?;
        }
    }
    let mut given = KernelOwn::default();
    let mut arrays = [None, None];
    for (k, own) in own.iter().enumerate() {
        match own {
            Parameter::Scalar(x) => given.number[k] = x.to_f64(),
            Parameter::Array(x) => {
                b.check(op, x)?;
                arrays[k] = Some(x.broadcast(op, shape)?);
            }
        }
    }
    let out = b.uninit_raw(op, to, shape)?;
    let n = out.size();
    if n == 0 {
        return Ok(out);
    }
    for (address, array) in given.array.iter_mut().zip(&arrays) {
        *address = array.as_ref().map_or(0, RawArray::pointer);
    }
    // for a parameter without an array, `out` is passed instead, and the kernel does not read it
    let [first, second] = arrays.each_ref().map(|array| array.as_ref().unwrap_or(&out));
    let walk = Merged::new(&[first, second]).walk::<2>(op)?;
    let kernel = b.kernel(op, &PROGRAM, instance(distribution, on.dtype, to))?;
    let (key, block) = b.stream().take(n as u64);
    let (to, from) = (out.pointer(), [key, block]);
    // SAFETY: the arguments match the parameters of `sampled`; the arrays have an element for each of the `n` elements
    // of `out`.
    unsafe { b.launch(op, kernel, Grid::over(n), &[&to, &from, &given, &walk, &shared[0], &shared[1]])? };
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cuda, CudaArray, testing::device};
    use backend_core::{
        Arrays, Element, HostArray, Real, bf16, f16,
        numpyish::Numpyish,
        raw::{RawElement, TypedArray},
    };
    use backend_numpyish::random::typed as cpu;
    use ndarray::{ArrayD, IxDyn};

    /// Copies `got` to the host, and panics unless `got` has the dtype of `_expected`.
    fn host<T: Element>(b: &Cuda, _expected: &HostArray<T>, got: RawArray) -> HostArray<T> {
        b.to_ndarray(&CudaArray::from_raw("random", got).unwrap()).unwrap()
    }

    /// The random numbers equal the CPU's bit for bit. The parameters are chosen so that every branch is taken.
    #[test]
    fn numbers_are_those_of_the_cpu() {
        let Some(b) = device() else { return };
        let b = Cuda { random: backend_core::random::Stream::new(7), ..b };
        let c = Numpyish::seeded(7);
        macro_rules! same {
            ($f:ident::<$t:ty>($shape:expr $(, $n:expr)?; $($name:ident: $x:expr),*; $($arg:expr),*)) => {{
                $(let $name = $x.into_shared();)*
                let expected =
                    cpu::$f::<$t>(&c, $shape, $($n,)? $(backend_core::Operand::array(&$name),)* $($arg),*).unwrap();
                $(let $name = b.from_ndarray($name).unwrap();)*
                let on = OpContext::new(&b, stringify!($f), <$t>::DTYPE);
                let got = $f(on, $shape, $($n,)? $(RawOperand::Array($name.raw()),)* $($arg),*).unwrap();
                // texts are compared: all NaN have the same text, and two other numbers have the same text only if
                // their bits are equal
                let text = |x: &dyn std::fmt::Debug| format!("{x:?}");
                let got = host(&b, &expected, got).mapv(|x| text(&x));
                assert_eq!(got, expected.mapv(|x| text(&x)), stringify!($f::<$t>));
            }};
        }
        let column = |values: &[f64]| ArrayD::from_shape_vec(IxDyn(&[values.len(), 1]), values.to_vec()).unwrap();
        let row = |values: &[f64]| ArrayD::from_shape_vec(IxDyn(&[values.len()]), values.to_vec()).unwrap();
        let alphas = column(&[0.0, 1e-3, 0.2, 0.999, 1.0, 2.5, 30.0, 1e6, 1e15, -1.0, f64::NAN]);
        same!(random_gamma::<f64>(&[11, 97]; x: alphas.clone(); 1.5));
        same!(random_gamma::<f32>(&[11, 17]; x: alphas.mapv(|x| x as f32); 1.0));
        same!(random_gamma::<bf16>(&[3, 11, 17]; x: alphas.mapv(bf16::of); 1.0));
        let betas = row(&[1e-300, 1e-3, 0.5, 1.0, 3.0, 1e5]);
        same!(random_beta::<f64>(&[40, 11, 6]; x: alphas.clone(), y: betas.clone(); ));
        same!(random_beta::<f16>(&[11, 6]; x: alphas.mapv(f16::of), y: betas.mapv(f16::of); ));
        let rates = column(&[0.0, 1e-3, 3.3, 9.99, 10.0, 10.1, 37.0, 1e3, 1e6, 1e9, 9e18, 1e19, -1.0, f64::NAN]);
        same!(random_poisson::<f64>(&[14, 97]; x: rates.clone(); ));
        same!(random_poisson::<f32>(&[14, 17]; x: rates.mapv(|x| x as f32); ));
        let lower = column(&[f64::NEG_INFINITY, -40.0, -1.0, -1e-3, 0.0, 4.0, 30.0, 1e8]);
        let upper = row(&[-20.0, 0.0, 1e-3, 1.0, 4.0, 31.0, 1e9, f64::INFINITY]);
        same!(random_truncated_normal::<f64>(&[30, 8, 8]; x: lower.clone(), y: upper.clone(); 0.0, 1.0));
        same!(random_truncated_normal::<f32>(&[8, 8]; x: lower.mapv(|x| x as f32), y: upper.mapv(|x| x as f32); 2.0, 3.0));
        let ps = column(&[0.0, 1e-10, 3e-9, 2e-8, 0.21, 0.5, 0.7, 0.999, 1.0, 1.1, f64::NAN]);
        for n in [0, 1, 19, 21, 50, 1000, 1_000_000_000, 1 << 53] {
            same!(random_binomial::<f64>(&[11, 61], n; x: ps.clone(); ));
        }
        same!(random_exponential::<f64>(&[999]; ; 2.0));
        same!(random_poisson::<f32>(&[];  x: ArrayD::from_elem(IxDyn(&[]), 55.0); ));
        let weights = row(&[3.0, 0.0, 1.0, 0.1, 4.0, 1e-5]).into_shared();
        for n in [0, 7, 1000, 1 << 40] {
            let expected = cpu::random_multinomial(&c, &[3, 33], n, &weights).unwrap();
            let given = b.from_ndarray(weights.clone()).unwrap();
            let on = OpContext::new(&b, "random_multinomial", DType::Float64);
            let got = random_multinomial(on, &[3, 33], n, given.raw()).unwrap();
            assert_eq!(host(&b, &expected, got), expected, "{n}");
        }
        let on = OpContext::new(&b, "random_poisson", DType::Float32);
        let given = random_poisson(on, &[99], RawOperand::Scalar(RawElement::of(55.0_f32))).unwrap();
        let expected = cpu::random_poisson::<f32>(&c, &[99], backend_core::Operand::Scalar(55.0)).unwrap();
        assert_eq!(host(&b, &expected, given), expected);
    }
}
