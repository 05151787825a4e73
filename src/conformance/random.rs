//! Samples (test arrays) for random calls. A sample is generated from its name, so that `random_7_swapped_positive_3x4`
//! is the same array on every backend.

use super::Values;
use backend_runtime::{DType, Element, HostArray, dispatch};
use ndarray::{ArrayD, Axis, IxDyn, Slice as Range};
use std::fmt;

/// A generator of pseudo-random numbers from a seed (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A random number below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Returns true once in `n` times on average.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A number in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * f64::EPSILON / 2.0
    }
}

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant),*];

            fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            fn of(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|known| known.name() == name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! {
    /// Memory layout of an array.
    Layout {
        /// C order.
        Packed = "packed",
        /// The order of the axes is reversed in memory, as in Fortran order.
        Swapped = "swapped",
        /// The elements along every axis are reversed in memory.
        Reversed = "reversed",
        /// The array is every second element along the last axis of a larger array.
        Stepped = "stepped",
    }
}

names! {
    /// Kind of the elements.
    Content {
        /// Integers from -4 to 4 (0 to 8 for unsigned dtypes): many are equal, and their sums are exact.
        Integers = "integers",
        /// Numbers from 0.5 to 2 in float dtypes, integers from 1 to 9 in other dtypes.
        Positive = "positive",
        /// Numbers from 0 to 1.
        Unit = "unit",
        /// Like `Integers`, in ascending order.
        Sorted = "sorted",
        /// Like `Integers`, in descending order.
        Falling = "falling",
        /// 0, 1, 2 and so on, in C order: the indices that sort a `Sorted` sample.
        Ascending = "ascending",
        /// ..., 2, 1, 0 in C order: the indices that sort a `Falling` sample.
        Descending = "descending",
        /// 0 or 1, which are valid indices for every axis with two elements.
        Index = "index",
    }
}

/// A sample described by its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub seed: u64,
    pub layout: Layout,
    pub content: Content,
    pub shape: Vec<usize>,
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "random_{}_{}_{}", self.seed, self.layout, self.content)?;
        let lengths: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        if lengths.is_empty() { Ok(()) } else { write!(f, "_{}", lengths.join("x")) }
    }
}

impl Sample {
    /// Parses the name of a sample; `None` for any other name.
    pub fn of(name: &str) -> Option<Sample> {
        let mut parts = name.strip_prefix("random_")?.split('_');
        let seed = parts.next()?.parse().ok()?;
        let (layout, content) = (Layout::of(parts.next()?)?, Content::of(parts.next()?)?);
        let lengths = parts.next().map(|text| text.split('x').map(str::parse).collect::<Result<Vec<_>, _>>());
        Some(Sample { seed, layout, content, shape: lengths.transpose().ok()?.unwrap_or_default() })
    }

    /// The elements, in C order.
    pub fn values(&self, dtype: DType) -> Values {
        let mut chance = Chance::new(self.seed);
        let count = self.shape.iter().product();
        let mut numbers: Vec<f64> = (0..2 * count).map(|_| self.number(dtype, &mut chance)).collect();
        if matches!(self.content, Content::Sorted | Content::Falling) {
            numbers[..count].sort_by(f64::total_cmp);
            // with zero imaginary parts, bools are sorted too: a number converts to false only if both its parts are 0
            numbers[count..].fill(0.0);
        }
        if matches!(self.content, Content::Ascending | Content::Descending) {
            numbers = (0..2 * count).map(|i| if i < count { i as f64 } else { 0.0 }).collect();
        }
        if matches!(self.content, Content::Falling | Content::Descending) {
            numbers[..count].reverse();
        }
        let values: backend_runtime::Result<Values> = dispatch!(dtype, T => {
            let (re, im) = numbers.split_at(count);
            let pairs = re.iter().zip(im);
            let elements = pairs.map(|(&re, &im)| T::from_complex(backend_runtime::Complex::new(re, im))).collect();
            let array = ArrayD::<T>::from_shape_vec(IxDyn(&self.shape), elements).expect("as many as the shape has");
            Ok(Values::of(&array.into_shared()))
        });
        values.expect("every dtype is dispatched")
    }

    fn number(&self, dtype: DType, chance: &mut Chance) -> f64 {
        use backend_runtime::DTypeKind;
        let least =
            if matches!(dtype.kind(), DTypeKind::Signed | DTypeKind::Real | DTypeKind::Complex) { -4.0 } else { 0.0 };
        // small elements keep the sums over long axes far below the largest 16-bit float
        let unit = if dtype.size() == 2 && self.shape.iter().any(|&d| d > 1000) { 1.0 / 64.0 } else { 1.0 };
        match (self.content, dtype.kind()) {
            (Content::Positive, DTypeKind::Real | DTypeKind::Complex) => unit * (0.5 + 1.5 * chance.unit()),
            (Content::Positive, _) => 1.0 + chance.below(9) as f64,
            (Content::Integers | Content::Sorted | Content::Falling, DTypeKind::Bool) | (Content::Index, _) => {
                chance.below(2) as f64
            }
            (Content::Integers | Content::Sorted | Content::Falling, _) => least + chance.below(9) as f64,
            (Content::Unit, _) => chance.unit(),
            // `values` replaces these zeros by the sequence
            (Content::Ascending | Content::Descending, _) => 0.0,
        }
    }
}

/// Returns the array in another memory layout. The gaps between the elements are filled with the elements of the array
/// in another order, so that code that reads the gaps by mistake returns a wrong result.
pub(crate) fn laid_out<T: Element>(layout: Layout, x: HostArray<T>) -> HostArray<T> {
    let mut flipped = x.clone();
    (0..x.ndim()).for_each(|axis| flipped.invert_axis(Axis(axis)));
    match layout {
        Layout::Packed => x,
        Layout::Swapped => {
            let columns = x.view().reversed_axes().as_standard_layout().into_owned();
            columns.reversed_axes().into_shared()
        }
        Layout::Reversed => {
            let mut reversed = flipped.as_standard_layout().into_owned().into_shared();
            (0..x.ndim()).for_each(|axis| reversed.invert_axis(Axis(axis)));
            reversed
        }
        Layout::Stepped => {
            let Some(last) = x.ndim().checked_sub(1).map(Axis) else { return x };
            let mut wide = ndarray::concatenate(last, &[flipped.view(), flipped.view()])
                .unwrap_or_else(|_| ArrayD::default(x.shape()));
            let every_second = Range::new(0, None, 2);
            wide.slice_axis_mut(last, every_second).assign(&x);
            wide.slice_axis_inplace(last, every_second);
            wide.into_shared()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_what_its_name_says() {
        for &layout in Layout::ALL {
            for &content in Content::ALL {
                for shape in [vec![], vec![3, 0], vec![2, 1, 5]] {
                    let sample = Sample { seed: 7, layout, content, shape };
                    assert_eq!(Sample::of(&sample.to_string()).as_ref(), Some(&sample));
                    let values = sample.values(DType::Complex64);
                    assert_eq!((values.dtype, &values.shape), (DType::Complex64, &sample.shape));
                }
            }
        }
        for name in ["random", "random_1_packed_unit_3xx", "random_1_odd_unit", "m", "random_x_packed_unit_3"] {
            assert_eq!(Sample::of(name), None, "{name}");
        }
    }

    #[test]
    fn samples_in_order_are_in_order() {
        for seed in 0..20 {
            let of = |content| Sample { seed, layout: Layout::Packed, content, shape: vec![9] };
            let bools = |content| of(content).values(DType::Bool).array::<bool>().unwrap();
            assert!(bools(Content::Sorted).iter().is_sorted());
            assert!(bools(Content::Falling).iter().is_sorted_by(|a, b| a >= b));
            let elements = |content| of(content).values(DType::Int64).array::<i64>().unwrap();
            for (values, order) in [(Content::Sorted, Content::Ascending), (Content::Falling, Content::Descending)] {
                let (values, order) = (elements(values), elements(order));
                assert!(order.iter().map(|&i| values[[i as usize]]).is_sorted(), "{values:?} {order:?}");
            }
        }
    }

    #[test]
    fn layouts_keep_the_elements() {
        let sample = Sample { seed: 1, layout: Layout::Packed, content: Content::Positive, shape: vec![3, 4] };
        let plain: HostArray<f32> = sample.values(DType::Float32).array().unwrap();
        for &layout in &Layout::ALL[1..] {
            let strided = laid_out(layout, plain.clone());
            assert_eq!(strided, plain);
            assert!(!strided.is_standard_layout(), "{layout} is not C order");
        }
        let scalar = ndarray::arr0(1.5).into_dyn().into_shared();
        Layout::ALL.iter().for_each(|&layout| assert_eq!(laid_out(layout, scalar.clone()), scalar));
    }
}
