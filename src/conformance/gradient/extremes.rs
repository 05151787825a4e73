//! Tests of gradients near the limits of a dtype, where squares and counts overflow, and at points where derivatives
//! jump.

use super::{Gradients, Host, on_host, point::Point};
use crate::{
    Backend, DType, Error, Result,
    conformance::{Call, Row, Suite},
    grad::Diff,
};

/// Magnitudes of the inputs. The squares of the smallest and the largest magnitude are out of the dtype's range.
fn magnitudes(dtype: DType) -> &'static [f64] {
    match dtype {
        DType::Float16 => &[1e-3, 1.0, 300.0, 6e4],
        DType::Float32 => &[1e-25, 1.0, 1e25],
        _ => &[],
    }
}

/// For a dtype: the unit in the last place of 1, the smallest positive number, and the largest number.
fn limits(dtype: DType) -> (f64, f64, f64) {
    match dtype {
        DType::Float16 => (2.0_f64.powi(-10), 2.0_f64.powi(-24), 65504.0),
        _ => (2.0_f64.powi(-23), 2.0_f64.powi(-149), f64::from(f32::MAX)),
    }
}

/// Largest allowed difference of two gradients, in units in the last place of the largest gradient.
const MAX_ULPS: f64 = 32.0;

impl<B: Backend> Suite<B> {
    /// Compares the gradients of an op in `dtype`, at inputs near the limits of this dtype, with the float64 gradients
    /// at the same inputs.
    pub(super) fn extremes(&self, row: &Row, dtype: DType, given: Gradients, call: Call<Diff<B>>) {
        let Some(b) = self.backend() else { return };
        // ops that draw random numbers are left out, because their values differ between dtypes
        if row.seed.is_some() || !given.extremes {
            return;
        }
        let (mut wrong, all) = (Vec::new(), magnitudes(dtype));
        // cases without options differ only in the layouts of arrays, which do not change the function, so one of them
        // is enough
        let cases = row.cases.iter().enumerate().filter(|(k, text)| *k == 0 || text.contains('='));
        for (_, text) in cases {
            let point = Point::of(b, row, DType::Float64, text, given.without, given.domain);
            let Ok(Some(point)) = point else { continue };
            // combines each magnitude of the first input, with both signs, with each magnitude of the other inputs
            let several = point.inputs.len() > 1;
            let firsts = all.iter().flat_map(|&size| [size, -size]);
            let pairs = firsts.flat_map(|first| all.iter().map(move |&others| (first, others)));
            for (k, (first, others)) in pairs.enumerate() {
                if !several && k % all.len() > 0 {
                    continue;
                }
                let Ok(Some(mut at)) = Point::of(b, row, DType::Float64, text, given.without, given.domain) else {
                    break;
                };
                at.scale_to(first, others);
                // the output gradients are ones: with other values, the product with a derivative beyond the range of
                // the dtype would be infinite, even if the exact product is within the range
                at.of_sum = true;
                if let Err(why) = at.round(dtype).and_then(|()| rounded_as(b, row, dtype, &at, call)) {
                    wrong.push(format!("{}({text}) in {dtype} at {first:e}, {others:e}: {why}", row.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Checks that the gradients in `dtype` equal the float64 gradients up to rounding.
fn rounded_as<B: Backend>(b: &B, row: &Row, dtype: DType, point: &Point, call: Call<Diff<B>>) -> Result<()> {
    let in_dtype = |dtype| on_host(b, point, &point.pull(b, dtype, call, &point.put(b, dtype, &point.at(0.0))?)?);
    // inputs that are refused in float64 are refused in `dtype` too
    let Ok(wide) = in_dtype(DType::Float64) else { return Ok(()) };
    let narrow = in_dtype(dtype)?;
    let (unit, least, most) = limits(dtype);
    for (narrow, wide) in narrow.iter().zip(&wide) {
        let parts = |x: &Host| x.iter().flat_map(|z| [z.re, z.im]).collect::<Vec<f64>>();
        let (narrow, wide) = (parts(narrow), parts(wide));
        let largest = wide.iter().map(|x| x.abs()).filter(|&x| x <= most).fold(0.0, f64::max);
        let tolerance = MAX_ULPS * (unit * largest + least);
        let far = |(&a, &b): (&f64, &f64)| match b.abs() > most * (1.0 - MAX_ULPS * unit) {
            // the exact value is near the largest number of the dtype, or larger, so the narrow dtype may round it to
            // infinity
            true => a != b && (a * b.signum()) < most * (1.0 - 2.0 * MAX_ULPS * unit),
            false => !(b.is_nan() && a.is_nan() || (a - b).abs() <= tolerance),
        };
        if let Some((a, b)) = narrow.iter().zip(&wide).find(|&(a, b)| far((a, b))) {
            return Err(Error::argument(row.name, format!("{a:e} in {dtype}, {b:e} in float64")));
        }
    }
    Ok(())
}
