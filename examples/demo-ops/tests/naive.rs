//! Tests a fourth backend, `Naive`: compares the supported ops of the base table with NumPy, and runs an op of this
//! crate that is composed of supported ops.

use backends::{DeviceKind, Error, prelude::*};
use demo_ops::naive::Naive;

// Some ops of the base table are generic functions, which run on any backend and call other ops. If a function needs an
// op that Naive lacks, the function's own op is listed here. For example, `tensordot` needs `permute_dims`, `index_put`
// needs `scatter`, `cholesky_solve` needs `solve_triangular`, and `segment_sum` needs `scatter_add`. The macro cannot
// find these ops itself: it sees in the overlay which ops Naive has, but not which ops a function calls.
backends::conformance! {
    backend = Naive, type = Naive, overlay = "naive.toml", partial = true,
    without = [
        "allclose", "argpartition", "array_split", "bartlett", "bincount", "blackman", "cdist", "center_of_mass", "cholesky_solve",
        "convolve", "convolve1d", "corrcoef", "correlate", "cov", "cross", "cross_entropy", "cumulative_trapezoid", "dct",
        "diag", "digitize", "dropout", "dst", "extract_center", "fftconvolve", "gaussian_filter", "geomspace", "gradient",
        "hamming", "hann", "histogram", "histogram2d", "histogram_weighted", "histogramdd",
        "histogramdd_weighted", "idct", "idst", "index_put", "indexed_segment_sum", "indices", "intersect1d",
        "inv", "isin", "kaiser", "lexsort", "log_softmax", "logspace", "logsumexp", "lstsq", "matrix_rank",
        "max_filter_coordinates", "max_initial", "min_initial", "nll_loss", "one_hot", "pad_stack", "pad_to", "pad_values",
        "partition", "pinv", "random_choice",
        "random_choice_weighted", "random_permutations", "random_shuffle", "random_subsets", "random_subsets_weighted",
        "ravel_multi_index", "rigid_transform", "rollaxis", "rotate", "scaled_dot_product_attention", "scatter_mean",
        "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum", "setdiff1d", "setxor1d",
        "softmax", "split", "split_at", "swapaxes", "tensordot", "tile_to", "topk", "topleft_pad", "trapezoid",
        "tril_indices", "triu_indices", "uniform_filter", "union1d", "vecdot"
    ],
    dtypes = ["float64", "int64"]
}

/// Naive itself reports only its name; all other device information describes the host.
#[test]
fn its_device_is_the_host() {
    let (info, host) = (Naive.device_info().unwrap(), Numpyish::new().device_info().unwrap());
    assert_eq!((info.backend, &info.library[..], info.kind), ("naive", "naive", DeviceKind::Cpu));
    assert_eq!((info.name, info.memory, info.processors), (host.name, host.memory, host.processors));
    assert_eq!(Naive.memory().map(|memory| memory.total), Numpyish::new().memory().map(|memory| memory.total));
    assert_eq!(Naive.free_cache(), Ok(()));
}

#[test]
fn rows_that_are_composed_run_on_it() {
    let b = Naive;
    let x = b.asarray([1.0, 2.0]).unwrap();
    assert_eq!(b.outer(&x, &x).unwrap(), b.asarray([[1.0, 2.0], [2.0, 4.0]]).unwrap());
    assert!(matches!(b.fft(&x), Err(Error::Unsupported { op: "fft", backend: "naive", .. })));
}

#[test]
fn formulas_run_over_its_memory() {
    let x = Naive.asarray([-2.0, 4.0]).unwrap();
    assert_eq!(expr!(Naive, abs(x) * 2 + x).unwrap(), Naive.asarray([2.0, 12.0]).unwrap());
}

/// Tests the ops of `my_ops.toml`. Most of them run in Naive's loops or are composed of other ops; one op is a
/// function of this crate.
mod of_ours {
    use super::*;
    use demo_ops::*;

    // the ops in `without` are generic functions that call ops which Naive lacks
    backends::conformance! {
        table = "my_ops.toml", overlay = "naive_my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
        backend = Naive, type = Naive, partial = true, dtypes = ["float32", "int64"],
        without = ["extrema", "is_sorted", "palette", "spectral_energy"]
    }

    #[test]
    fn rows_with_and_without_a_mapping_of_its_own() {
        let x = Naive.asarray([1.0_f32, -4.0]).unwrap();
        assert_eq!(
            Naive.between_with(&x, x.mapv(|v| v + 4.0).into_shared(), BetweenOptions::new().t(0.25)).unwrap(),
            x.mapv(|v| v + 1.0)
        );
        assert_eq!(Naive.leaky(&x).unwrap(), Naive.asarray([1.0, -0.04]).unwrap());
        assert_eq!(expr_my_ops!(Naive, leaky(x, slope = 0.5) + 1).unwrap(), Naive.asarray([2.0, -1.0]).unwrap());
        assert!(matches!(Naive.spectral_energy(&x), Err(Error::Unsupported { op: "fft", backend: "naive", .. })));
    }
}
