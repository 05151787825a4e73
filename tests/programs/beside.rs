//! Programs that import the prelude together with names of other crates, or pass arrays of ndarray to ops.

/// The prelude exports neither `Result` nor `Error`, so these names mean the items of std.
mod std_result {
    use backends::prelude::*;
    use std::{fmt::Error, num::ParseFloatError};

    fn parsed(text: &str) -> Result<f64, ParseFloatError> {
        text.trim().parse()
    }

    #[test]
    fn a_parsed_number_is_an_operand() {
        let b = Numpyish::new();
        let x = b.asarray([1.0, 2.0]).unwrap();
        let y = b.multiply(&x, parsed(" 2.5 ").unwrap()).unwrap();
        assert_eq!(y, b.asarray([2.5, 5.0]).unwrap());
        assert!(parsed("two").is_err());
        assert_eq!(Error.to_string(), std::fmt::Error.to_string());
    }
}

/// The prelude does not export `NewAxis`. In `s!`, `NewAxis` is the item of ndarray; `ix!` recognises the word
/// `NewAxis` without an import.
mod ndarray_prelude {
    use backends::prelude::*;
    use ndarray::prelude::*;

    #[test]
    fn both_libraries_index_one_array() {
        let b = Numpyish::new();
        let x: Array2<f64> = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let row = x.slice(s![1, NewAxis, ..]);
        assert_eq!(row.shape(), [1, 3]);
        let doubled = b.multiply(b.asarray(row.to_owned()).unwrap(), 2.0).unwrap();
        assert_eq!(doubled, b.asarray([[8.0, 10.0, 12.0]]).unwrap());
        let x = b.asarray(x).unwrap();
        assert_eq!(b.get(&x, ix![NewAxis, .., 0]).unwrap().shape(), [1, 2]);
        assert_eq!(b.sum(&x, ..).unwrap()[[]], 21.0);
        assert_eq!(x.index_axis(Axis(0), 0).iter().sum::<f64>(), 6.0);
    }
}

/// With the prelude and `num_traits` imported in one module, methods of `T: Real` and of `num_traits` can be called
/// without ambiguity.
mod num_traits_beside {
    use backends::prelude::*;
    use num_traits::*;

    fn logistic<T: Real>(x: T) -> T {
        T::ONE / (T::ONE + (-x).exp())
    }

    fn length<F: num_traits::Float>(x: F, y: F) -> F {
        (x * x + y * y).sqrt()
    }

    #[test]
    fn scalars_of_both_crates() {
        assert_eq!((logistic(0.0_f32), logistic(0.0_f64)), (0.5, 0.5));
        assert_eq!((length(3.0_f32, 4.0), 1.0_f64.exp().ln(), f64::zero()), (5.0, 1.0, 0.0));
        let b = Numpyish::new();
        let x = b.asarray([f16::one(), f16::zero()]).unwrap();
        assert_eq!(b.sum(&x, ..).unwrap()[[]], f16::one());
    }
}
