//! Functions that a GPU computes only approximately. Here most of their results are as exact as the number format
//! allows.

use super::{
    function::{Pure, one, two},
    value::{Float, Value},
};

/// Finds the Rust function that computes an approximate instruction; `None` if there is no such instruction.
pub(crate) fn find(name: &str, modifiers: &[&str]) -> Option<Pure> {
    macro_rules! single {
        (|$x:ident| $result:expr) => {
            one(|a, _| {
                let $x = f64::from(f32::get(a));
                (($result) as f32).result()
            })
        };
    }
    match (name, modifiers) {
        ("ex2", ["approx", "f32"]) => single!(|x| x.exp2()),
        ("lg2", ["approx", "f32"]) => single!(|x| x.log2()),
        ("rcp", ["approx", "f32"]) => single!(|x| 1.0 / x),
        ("rsqrt", ["approx", "f32"]) => single!(|x| 1.0 / x.sqrt()),
        ("sqrt", ["approx", "f32"]) => single!(|x| x.sqrt()),
        ("sin", ["approx", "f32"]) => single!(|x| x.sin()),
        ("cos", ["approx", "f32"]) => single!(|x| x.cos()),
        ("tanh", ["approx", "f32"]) => single!(|x| x.tanh()),
        ("div", ["approx" | "full", "f32"]) => two(|a, b| (f32::get(a) / f32::get(b)).result()),
        ("rcp", ["approx", "ftz", "f64"]) => one(|a, _| upper(1.0 / upper(f64::get(a))).result()),
        ("rsqrt", ["approx", "ftz", "f64"]) => one(|a, _| upper(1.0 / upper(f64::get(a)).sqrt()).result()),
        ("rsqrt", ["approx", "f64"]) => one(|a, _| (1.0 / f64::get(a).sqrt()).result()),
        _ => None,
    }
}

/// Clears the lower 32 bits of a double, and replaces subnormal numbers by 0. This is the precision of approximate
/// instructions on doubles.
fn upper(x: f64) -> f64 {
    let x = if x.is_subnormal() { 0.0_f64.copysign(x) } else { x };
    // a NaN is not reduced, because its payload may be in the lower half
    if x.is_nan() { x } else { f64::from_bits(x.to_bits() & !0xffff_ffff) }
}

#[cfg(test)]
mod tests {
    use crate::exec::alu::testing::{apply_f32, apply_f64};

    #[test]
    fn approximations_are_near() {
        assert_eq!(apply_f32("ex2.approx.f32", &[3.0]), 8.0);
        assert_eq!(apply_f32("lg2.approx.f32", &[0.0]), f32::NEG_INFINITY);
        assert_eq!(apply_f32("rsqrt.approx.f32", &[4.0]), 0.5);
        assert_eq!(apply_f32("div.full.f32", &[1.0, 4.0]), 0.25);
        assert!(apply_f32("sqrt.approx.f32", &[-1.0]).is_nan());
        let third = apply_f64("rcp.approx.ftz.f64", &[3.0]);
        assert!((third * 3.0 - 1.0).abs() < 1e-5 && third != 1.0 / 3.0);
        assert_eq!(apply_f64("rcp.approx.ftz.f64", &[1e-310]), f64::INFINITY);
        assert_eq!(apply_f64("rsqrt.approx.ftz.f64", &[0.25]), 2.0);
    }
}
