//! The rows of `my_ops.toml` on libtorch, against NumPy.

use backends::prelude::*;
use demo_ops::*;

backends::conformance! {
    table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
    backend = Torch::cpu(), type = Torch
}

/// Rows that say nothing of libtorch run over the memory of its tensors, in any layout, with the CPU backend's bits; what they are given
/// stays as it is.
#[test]
fn rows_of_expressions_alone() {
    use backends::runtime::available;
    let Some(b) = available("torch", Torch::cpu()) else { return };
    let host = Numpyish::new();
    for op in ["blend", "quantize", "power_mean", "xor_over"] {
        let op = MY_OPS_OPS.iter().find(|info| info.name == op).unwrap();
        assert!(
            op.aten.is_none() && op.backends.iter().any(|(name, runs)| *name == "torch" && !runs.contains("libtorch"))
        );
    }
    host.seed(3);
    let x = host.random_normal::<f64>([40, 50]).unwrap();
    let (cpu, there) = (host.permute_dims(&x, ..).unwrap(), b.permute_dims(&b.from_ndarray(x).unwrap(), ..).unwrap());
    let part = |low: isize| [Slice::ALL, Slice::from(low..).step(2)];
    let (cpu, there) = (host.getitem(&cpu, part(3)).unwrap(), b.getitem(&there, part(3)).unwrap());
    let before = b.to_ndarray(&there).unwrap();
    let same = |got: &<Torch as Arrays>::Array<f64>, expected: &HostArray<f64>| {
        assert_eq!(&b.to_ndarray(got).unwrap(), expected)
    };
    let (mask, row) = (b.greater(&there, 0.0).unwrap(), b.getitem(&there, [Slice::at(0)]).unwrap());
    let (cpu_mask, cpu_row) = (host.greater(&cpu, 0.0).unwrap(), host.getitem(&cpu, [Slice::at(0)]).unwrap());
    let blended = b.blend(&mask, &there, &row).unwrap();
    same(&blended, &host.blend(&cpu_mask, &cpu, &cpu_row).unwrap());
    same(&b.blend(&mask, 0.5, &there).unwrap(), &host.blend(&cpu_mask, 0.5, &cpu).unwrap());
    same(&b.power_mean(&there, 0).unwrap(), &host.power_mean(&cpu, 0).unwrap());
    same(&b.power_mean(&there, ..).unwrap(), &host.power_mean(&cpu, ..).unwrap());
    let words = b.quantize_with::<u8, _>(&there, QuantizeOptions::new().step(0.01)).unwrap();
    let cpu_words = host.quantize_with::<u8, _>(&cpu, QuantizeOptions::new().step(0.01)).unwrap();
    assert_eq!(b.to_ndarray(&b.xor_over(&words, 1).unwrap()).unwrap(), host.xor_over(&cpu_words, 1).unwrap());
    // given by value, an array that has other handles keeps its elements
    let again = b.blend(&mask, there.clone(), 7.0).unwrap();
    same(&again, &host.blend(&cpu_mask, &cpu, 7.0).unwrap());
    same(&there, &before);
    let none = b.zeros::<f64>([0, 4]).unwrap();
    assert_eq!(b.to_vec(&b.power_mean(&none, 1).unwrap()).unwrap(), [0.0; 0]);
    let why = b.blend(&b.zeros::<bool>([3]).unwrap(), &b.zeros::<f64>([2]).unwrap(), 1.0).unwrap_err();
    let cpu_why = host.blend(&host.zeros::<bool>([3]).unwrap(), &host.zeros::<f64>([2]).unwrap(), 1.0).unwrap_err();
    assert_eq!(why, cpu_why);
}
