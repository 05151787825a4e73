//! Tests of files that NumPy wrote with `data/dtypes.py`, in every dtype, order of axes and byte order.

use backend_runtime::{Complex, DType, DTypeKind, DynArray, Element, Result, dispatch, numpyish::Numpyish};
use backends_npz::Npz;
use ndarray::{ArrayD, arr0, arr2};

fn file() -> Npz {
    let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
    Npz::open(format!("{folder}/tests/data/dtypes.npz")).unwrap()
}

/// The array that the file contains for each dtype, as elements of `T`.
fn numbers<T: Element>() -> ArrayD<T> {
    let (x, swapped) = (arr2(&[[0.0, 1.0, 2.0], [100.0, 5.0, 7.0]]), arr2(&[[100.0, 5.0, 7.0], [0.0, 1.0, 2.0]]));
    let parts = if T::DTYPE.kind() == DTypeKind::Complex { swapped } else { arr2(&[[0.0; 3]; 2]) };
    ndarray::Zip::from(&x).and(&parts).map_collect(|&re, &im| T::from_complex(Complex::new(re, im))).into_dyn()
}

#[test]
fn every_dtype_of_numpy() {
    let file = file();
    let mut read = 0;
    for dtype in DType::ALL {
        for order in ["C_little", "F_little", "C_big", "F_big"] {
            let name = format!("{dtype}_{order}");
            if !file.contains(&name) {
                assert!(dtype == DType::BFloat16 && order.ends_with("big"), "{name}");
                continue;
            }
            assert_eq!((file.dtype(&name).unwrap(), file.shape(&name).unwrap()), (dtype, vec![2, 3]), "{name}");
            let checked: Result<()> = dispatch!(dtype, T => {
                assert_eq!(file.get::<T>(&name).unwrap(), numbers::<T>(), "{name}");
                let value = file.value(&Numpyish::new(), &name).unwrap();
                assert_eq!(value.as_array().and_then(DynArray::get::<T>), Some(&numbers::<T>().into_shared()), "{name}");
                Ok(())
            });
            checked.unwrap();
            assert_eq!(file.get::<Complex<f64>>(&name).unwrap().mapv(|x| x.re != 0.0), numbers::<bool>(), "{name}");
            read += 1;
        }
    }
    assert_eq!(read, 58);
    assert_eq!(file.get::<f64>("scalar").unwrap(), arr0(2.5).into_dyn());
    assert_eq!(file.get::<f32>("empty").unwrap().shape(), [3, 0]);
}
