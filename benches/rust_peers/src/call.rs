//! The type of a library's prepared call, and the sum of the elements of a call's result.

use half::f16;
use ndarray::{ArrayRef, Dimension};
use num_complex::Complex;
use std::hint::black_box;

/// Makes the call and drops its result. If an argument is given, it receives the sum of the result's elements.
pub type Call = Box<dyn FnMut(Option<&mut f64>)>;

pub fn made<R: Total>(mut make: impl FnMut() -> R + 'static) -> Option<Call> {
    Some(Box::new(move |total| {
        let result = black_box(make());
        if let Some(total) = total {
            *total = result.total();
        }
    }))
}

/// Types with a sum of all elements. For complex elements, real and imaginary parts are added.
pub trait Total {
    fn total(&self) -> f64;
}

macro_rules! total {
    ($($t:ty: |$x:ident| $total:expr;)*) => {$(
        impl Total for $t {
            fn total(&self) -> f64 {
                let $x = *self;
                $total
            }
        }
    )*};
}

total! {
    f32: |x| f64::from(x);
    f64: |x| x;
    f16: |x| f64::from(x);
    u8: |x| f64::from(x);
    i64: |x| x as f64;
    u64: |x| x as f64;
    usize: |x| x as f64;
    bool: |x| f64::from(u8::from(x));
    Complex<f32>: |x| f64::from(x.re + x.im);
    Complex<f64>: |x| x.re + x.im;
}

impl<T: Total> Total for Vec<T> {
    fn total(&self) -> f64 {
        self.iter().map(Total::total).sum()
    }
}

impl<A: Total, B: Total> Total for (A, B) {
    fn total(&self) -> f64 {
        self.0.total() + self.1.total()
    }
}

impl<T: Total, D: Dimension> Total for ndarray::Array<T, D> {
    fn total(&self) -> f64 {
        let elements: &ArrayRef<T, D> = self;
        elements.iter().map(Total::total).sum()
    }
}
