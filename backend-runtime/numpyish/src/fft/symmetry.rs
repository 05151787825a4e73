//! Conversion between two spectra of a real lane (a 1-D slice along the transformed axis): its frequencies, and the
//! spectrum of the complex lane whose numbers are pairs of neighbouring real points. The symmetry of real transforms
//! separates the frequencies of the even points from the frequencies of the odd points, as in: H. Sorensen and others,
//! "Real-valued fast Fourier transform algorithms", IEEE Transactions on Acoustics, Speech, and Signal Processing 35
//! (1987).

use super::{
    super::buffer,
    engine::Engine,
    stockham::{Complex, root},
    vector::Vector,
};
use backend_core::{Numeric, Real, Result};
use std::ops::Range;

/// The complex factors of the conversion, for a lane of `n` real points.
pub struct Symmetry<R> {
    /// Half the number of real points.
    pub half: usize,
    /// The powers of e^(-2 pi i / n) up to a quarter of a turn, as interleaved complex numbers.
    turns: Vec<R>,
}

/// Options for reading or writing the frequencies of real lanes.
#[derive(Clone, Copy)]
pub struct Frequencies<R> {
    /// True if the negative frequencies are written after the non-negative ones. A conversion that reads frequencies
    /// always reads the non-negative ones only.
    pub all: bool,
    /// True if the frequencies are the complex conjugates of a transform with exponent -2 pi i jk / n.
    pub conjugate: bool,
    /// Factor that multiplies the results.
    pub scale: R,
}

impl<R: Engine> Symmetry<R> {
    /// Computes the factors for `n` real points, an even number.
    pub fn new(op: &'static str, n: usize) -> Result<Symmetry<R>> {
        let half = n / 2;
        let mut turns = buffer::vec(op, 2 * (half / 2 + 1))?;
        turns.extend((0..=half / 2).flat_map(|k| root::<R>(k, n)));
        Ok(Symmetry { half, turns })
    }

    /// Number of pairs of a non-negative frequency and its mirror image.
    pub fn pairs(&self) -> usize {
        self.half / 2 + 1
    }
}

/// Direction of the conversion.
#[derive(Clone, Copy)]
pub enum SpectrumConversion {
    /// Converts the spectrum of the complex lane to the frequencies of the real lane. Input and result may begin at
    /// the same address.
    Apart,
    /// Converts the frequencies of the real lane to twice the spectrum of the complex lane. The imaginary parts of
    /// frequencies without a mirror image are ignored.
    Together,
}

type Run<R> = unsafe fn(SpectrumConversion, &Symmetry<R>, Range<usize>, *const R, *mut R, Frequencies<R>);

/// The loops of the conversion, compiled for the instruction set that this process uses.
#[derive(Clone, Copy)]
pub struct Kernel<R>(Run<R>);

impl<R: Engine> Kernel<R> {
    /// The loops for the widest instruction set available.
    pub fn new() -> Kernel<R> {
        macro_rules! versions {
            ($($name:ident $vector:ident $short:ident $(#[$features:meta])?;)*) => {$(
                $(#[$features])?
                unsafe fn $name<R: Engine>(
                    conversion: SpectrumConversion,
                    symmetry: &Symmetry<R>,
                    range: Range<usize>,
                    from: *const R,
                    to: *mut R,
                    how: Frequencies<R>,
                ) {
                    // SAFETY: the caller guarantees the spectrum and the frequencies.
                    unsafe {
                        if symmetry.pairs() > <R::$vector as Vector>::LANES {
                            pairs::<R::$vector>(conversion, symmetry, range, from, to, how)
                        } else {
                            pairs::<R::$short>(conversion, symmetry, range, from, to, how)
                        }
                    }
                }
            )*};
        }
        versions! { plain Plain Single; }
        #[cfg(target_arch = "x86_64")]
        {
            versions! {
                avx2 Avx2 Single #[target_feature(enable = "avx2,fma,f16c")];
                avx512 Avx512 Avx2 #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")];
            }
            match backend_core::numpyish::simd::set() {
                2 => return Kernel(avx512::<R>),
                1 => return Kernel(avx2::<R>),
                _ => {}
            }
        }
        Kernel(plain::<R>)
    }

    /// Converts a range of [pairs](Symmetry::pairs) of a frequency and its mirror image.
    ///
    /// # Safety
    /// The spectrum must have `half` complex numbers. The frequencies must have `half + 1` complex numbers, or
    /// `2 * half` if `how.all` is true. Nobody else may write the results of the range.
    #[inline]
    pub unsafe fn run(
        self,
        conversion: SpectrumConversion,
        symmetry: &Symmetry<R>,
        range: Range<usize>,
        (from, to): (*const R, *mut R),
        how: Frequencies<R>,
    ) {
        // SAFETY: the caller guarantees both arrays, and this process supports the instruction set of the loops.
        unsafe { (self.0)(conversion, symmetry, range, from, to, how) }
    }
}

/// Converts a whole vector of pairs at a time, and the remaining pairs one by one.
#[inline(always)]
unsafe fn pairs<V: Vector<Real: Engine>>(
    conversion: SpectrumConversion,
    symmetry: &Symmetry<V::Real>,
    range: Range<usize>,
    from: *const V::Real,
    to: *mut V::Real,
    how: Frequencies<V::Real>,
) {
    // if `from` and `to` are the same memory, no number may be read after it is overwritten, so a vector must overlap
    // neither its mirror image nor another vector
    let in_place = std::ptr::eq(from, to);
    let end = if in_place { range.end.min(symmetry.half.div_ceil(2)) } else { range.end };
    let start = range.start.max(1).min(end);
    let lanes = V::LANES;
    let mut k = start;
    // Closures of iterator methods would be compiled for the baseline instruction set, so plain loops are used.
    // SAFETY: the caller guarantees the spectrum and the frequencies.
    unsafe {
        for k in range.start..start {
            one::<Single<V>>(conversion, symmetry, k, from, to, how);
        }
        while k + lanes <= end {
            one::<V>(conversion, symmetry, k, from, to, how);
            k += lanes;
        }
        if k < end && end - start >= lanes && !in_place {
            one::<V>(conversion, symmetry, end - lanes, from, to, how);
            k = end;
        }
        for k in k..range.end {
            one::<Single<V>>(conversion, symmetry, k, from, to, how);
        }
    }
}

/// A vector of one number, of the same real type as `V`.
type Single<V> = <<V as Vector>::Real as Engine>::Single;

#[inline(always)]
unsafe fn one<V: Vector<Real: Engine>>(
    conversion: SpectrumConversion,
    symmetry: &Symmetry<V::Real>,
    k: usize,
    from: *const V::Real,
    to: *mut V::Real,
    how: Frequencies<V::Real>,
) {
    // SAFETY: the caller guarantees the spectrum and the frequencies.
    unsafe {
        match conversion {
            SpectrumConversion::Apart => apart::<V>(symmetry, k, from, to, how),
            SpectrumConversion::Together => together::<V>(symmetry, k, from, to, how.conjugate),
        }
    }
}

/// Writes a vector of frequencies, beginning with index `k`, and their mirror images.
#[inline(always)]
unsafe fn apart<V: Vector<Real: Engine>>(
    symmetry: &Symmetry<V::Real>,
    k: usize,
    from: *const V::Real,
    to: *mut V::Real,
    how: Frequencies<V::Real>,
) {
    let half = symmetry.half;
    // index of the first mirror image
    let mirrored = half + 1 - k - V::LANES;
    // SAFETY: the caller guarantees the spectrum and the frequencies.
    unsafe {
        let a = Complex::<V>::load(from.add(2 * k));
        let (low, high) = if k == 0 {
            // the sum of all points, and their sum with alternating signs: both are real
            let (a, zero) = (a.scaled(V::splat(how.scale)), V::splat(V::Real::ZERO));
            (Complex { re: a.re.add(a.im), im: zero }, Complex { re: a.re.sub(a.im), im: zero })
        } else {
            let scale = V::splat(how.scale * V::Real::of(0.5));
            let (a, b) = (a.scaled(scale), Complex::<V>::load(from.add(2 * mirrored)).reversed().scaled(scale));
            let even = Complex { re: a.re.add(b.re), im: a.im.sub(b.im) };
            let odd = Complex { re: a.im.add(b.im), im: b.re.sub(a.re) };
            let turned = odd.times(Complex::load(symmetry.turns.as_ptr().add(2 * k)));
            (even.add(turned), Complex { re: even.re.sub(turned.re), im: turned.im.sub(even.im) })
        };
        let (mut values, mut conjugates) = ([low, high], [low.conjugate(), high.conjugate()]);
        if how.conjugate {
            (values, conjugates) = (conjugates, values);
        }
        values[0].store(to.add(2 * k));
        values[1].reversed().store(to.add(2 * mirrored));
        if how.all && k > 0 {
            conjugates[0].reversed().store(to.add(2 * (half + mirrored)));
            conjugates[1].store(to.add(2 * (half + k)));
        }
    }
}

/// Writes a vector of the complex lane's spectrum, beginning with index `k`, and its mirror image.
#[inline(always)]
unsafe fn together<V: Vector<Real: Engine>>(
    symmetry: &Symmetry<V::Real>,
    k: usize,
    from: *const V::Real,
    to: *mut V::Real,
    conjugate: bool,
) {
    let mirrored = symmetry.half + 1 - k - V::LANES;
    // SAFETY: the caller guarantees the spectrum and the frequencies.
    unsafe {
        let mut a = Complex::<V>::load(from.add(2 * k));
        let mut b = Complex::<V>::load(from.add(2 * mirrored)).reversed();
        if k == 0 {
            return Complex { re: a.re.add(b.re), im: a.re.sub(b.re) }.store(to);
        }
        if conjugate {
            (a, b) = (a.conjugate(), b.conjugate());
        }
        let even = Complex { re: a.re.add(b.re), im: a.im.sub(b.im) };
        let other = Complex { re: a.re.sub(b.re), im: a.im.add(b.im) };
        let odd = other.times(Complex::load(symmetry.turns.as_ptr().add(2 * k)).conjugate());
        even.add_i(odd).store(to.add(2 * k));
        even.sub_i(odd).conjugate().reversed().store(to.add(2 * mirrored));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::{NdArray, Numpyish, simd},
        typed::{fft, hfft, ifft, ihfft, irfft, rfft},
    };
    use backend_core::{Complex, Element, Norm};
    use ndarray::{Array, Axis, IxDyn};

    const B: Numpyish = Numpyish::new();

    /// Lengths whose pairs fill no vector, whole vectors, or whole vectors and single pairs; odd lengths have no pairs.
    const LENGTHS: &[usize] =
        if cfg!(miri) { &[2, 24, 50] } else { &[1, 2, 3, 18, 20, 24, 50, 64, 66, 99, 100, 128, 250, 254, 514] };

    fn points<T: Element>(n: usize) -> NdArray<T> {
        let of = |lane: usize, i: usize| (i as f64 * 0.7 + lane as f64).sin() + (i * i % 5) as f64;
        Array::from_shape_fn(IxDyn(&[3, n]), |at| T::from_f64(of(at[0], at[1]))).into_shared()
    }

    fn off<T: Element>(a: &NdArray<T>, b: &NdArray<T>) -> f64 {
        assert_eq!(a.shape(), b.shape());
        let of = |x: T| x.cast::<Complex<f64>>();
        a.iter().zip(b).map(|(&a, &b)| (of(a) - of(b)).norm()).fold(0.0, f64::max)
    }

    #[test]
    fn as_complex_lanes() {
        for &n in LENGTHS {
            let real = points::<f64>(n);
            let complex = real.mapv(|x| Complex::new(x, 0.0)).into_shared();
            let half = |x: &NdArray<Complex<f64>>| x.clone().slice_axis_move(Axis(1), (..n / 2 + 1).into());
            for norm in [Norm::Backward, Norm::Ortho, Norm::Forward] {
                let near = 1e-14 * n as f64;
                let all = fft(&B, &complex, None, 1, norm).unwrap();
                assert!(off(&fft(&B, &real, None, 1, norm).unwrap(), &all) < near, "{n}");
                assert!(off(&rfft(&B, &real, None, 1, norm).unwrap(), &half(&all)) < near, "{n}");
                let inverse = ifft(&B, &complex, None, 1, norm).unwrap();
                assert!(off(&ifft(&B, &real, None, 1, norm).unwrap(), &inverse) < near, "{n}");
                assert!(off(&ihfft(&B, &real, None, 1, norm).unwrap(), &half(&inverse)) < near, "{n}");
                assert!(off(&irfft(&B, &half(&all), Some(n), 1, norm).unwrap(), &real) < near, "{n}");
                assert!(off(&hfft(&B, &half(&inverse), Some(n), 1, norm).unwrap(), &real) < near, "{n}");
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for &n in LENGTHS {
            let (wide, narrow) = (points::<f64>(n), points::<f32>(n));
            let mut results = Vec::new();
            simd::with_each(|_| {
                let half = rfft(&B, &wide, None, 1, Norm::Ortho).unwrap();
                let back = irfft(&B, &half, Some(n), 1, Norm::Forward).unwrap();
                let all = ifft(&B, &narrow, None, 1, Norm::Backward).unwrap();
                let bits = |x: f64| x.to_bits();
                let parts = half.iter().flat_map(|z| [bits(z.re), bits(z.im)]).chain(back.iter().map(|&x| bits(x)));
                results.push(
                    parts.chain(all.iter().flat_map(|z| [bits(z.re.into()), bits(z.im.into())])).collect::<Vec<_>>(),
                );
            });
            results.dedup();
            assert_eq!(results.len(), 1, "{n}");
        }
    }

    /// Frequencies that must be real have the imaginary part 0, or -0 if conjugated, as in NumPy. Infinities stay
    /// infinite.
    #[test]
    fn what_stands_alone() {
        let of = |x: &[f64]| ndarray::arr1(x).into_dyn().into_shared();
        let signs = |x: &NdArray<Complex<f64>>| x.iter().map(|z| z.im.is_sign_negative()).collect::<Vec<_>>();
        for n in [2, 4, 5, 83, 100] {
            let x = points::<f64>(n).index_axis_move(Axis(0), 1);
            let ends = |x: &NdArray<Complex<f64>>| {
                let last = if n % 2 == 0 { vec![x[n / 2]] } else { vec![] };
                ndarray::Array1::from_iter([x[0]].into_iter().chain(last)).into_dyn().into_shared()
            };
            let half = ends(&rfft(&B, &x, None, 0, Norm::Ortho).unwrap());
            assert!(half.iter().all(|z| z.im == 0.0) && signs(&half).iter().all(|s| !s), "{n} {half}");
            let inverse = ends(&ihfft(&B, &x, None, 0, Norm::Ortho).unwrap());
            assert!(inverse.iter().all(|z| z.im == 0.0) && signs(&inverse).iter().all(|s| *s), "{n} {inverse}");
            let all = fft(&B, &x, None, 0, Norm::Ortho).unwrap();
            assert!((1..n).all(|k| all[k] == all[n - k].conj()), "{n}");
        }
        let infinite = rfft(&B, &of(&[f64::INFINITY, 1.0, 1.0, 1.0]), None, 0, Norm::Backward).unwrap();
        assert_eq!([infinite[0], infinite[2]], [Complex::new(f64::INFINITY, 0.0); 2]);
        let large =
            irfft(&B, &of(&[f64::INFINITY, 1.0, 1.0]).mapv(Complex::from).into_shared(), None, 0, Norm::Backward);
        assert_eq!(large.unwrap(), of(&[f64::INFINITY; 4]));
    }
}
