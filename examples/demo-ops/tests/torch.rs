//! Compares the ops of `my_ops.toml` on libtorch with NumPy.

use backends::{Slice, prelude::*, runtime::available};
use demo_ops::*;

backends::conformance! {
    table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
    backend = Torch::cpu(), type = Torch
}

/// Imitates a GPU of libtorch: ops that libtorch does not have are computed on the host, so their arrays are copied to
/// the host.
mod copying {
    use super::*;

    backends::conformance! {
        table = "my_ops.toml", trait = MyOps, golden = "tests/golden/my_ops.golden",
        backend = Torch::cpu().map(Torch::copying), type = Torch
    }
}

/// The loops of the CPU backend compute the ops that libtorch does not have. These loops read the memory of libtorch's
/// tensors, in any layout, or copies of the tensors. The results have the same bits as on the CPU backend, and the
/// operands do not change.
#[test]
fn rows_of_expressions_alone() {
    let Some(b) = available("torch", Torch::cpu()) else { return };
    expressions_alone(&b, |x| x);
    expressions_alone(&b.copying(), |x| x.as_standard_layout().into_owned().into_shared());
}

/// `read` gives a host array the layout in which the loops of `b` read it. The layout matters, because sums are
/// computed in memory order.
fn expressions_alone(b: &Torch, read: impl Fn(HostArray<f64>) -> HostArray<f64>) {
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
    let (cpu, there) = (read(host.getitem(&cpu, part(3)).unwrap()), b.getitem(&there, part(3)).unwrap());
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
    // if an array is passed by value, but another handle to it exists, its elements do not change
    let again = b.blend(&mask, there.clone(), 7.0).unwrap();
    same(&again, &host.blend(&cpu_mask, &cpu, 7.0).unwrap());
    same(&there, &before);
    let none = b.zeros::<f64>([0, 4]).unwrap();
    assert_eq!(b.to_vec(&b.power_mean(&none, 1).unwrap()).unwrap(), [0.0; 0]);
    let why = b.blend(&b.zeros::<bool>([3]).unwrap(), &b.zeros::<f64>([2]).unwrap(), 1.0).unwrap_err();
    let cpu_why = host.blend(&host.zeros::<bool>([3]).unwrap(), &host.zeros::<f64>([2]).unwrap(), 1.0).unwrap_err();
    assert_eq!(why, cpu_why);
}

/// If libtorch lacks an op, the op's result overwrites an array that is passed by value, unless something else uses the
/// memory of this array.
#[test]
fn tensors_given_by_value_are_written_over() {
    let Some(b) = available("torch", Torch::cpu()) else { return };
    let n = 50_000;
    let start = |x: &<Torch as Arrays>::Array<f64>| x.view().unwrap().as_ptr();
    let new = |first: f64| b.linspace(first, 2.0, n).unwrap();
    let (mask, other) = (b.less(&new(1.0), 1.5).unwrap(), new(0.5));
    let expected = b.to_ndarray(&b.blend(&mask, &new(1.0), &other).unwrap()).unwrap();
    let same = |got: &<Torch as Arrays>::Array<f64>| assert_eq!(b.to_ndarray(got).unwrap(), expected);

    let x = new(1.0);
    let here = start(&x);
    let blended = b.blend(&mask, x, &other).unwrap();
    same(&blended);
    assert_eq!(start(&blended), here);
    // passes the second operand by value; then passes both operands by value, which overwrites the first one
    let (x, second) = (new(1.0), b.add(&other, 0.0).unwrap());
    let (first, here) = (start(&x), start(&second));
    let blended = b.blend(&mask, &x, second).unwrap();
    same(&blended);
    assert_eq!(start(&blended), here);
    let blended = b.blend(&mask, x, b.add(&other, 0.0).unwrap()).unwrap();
    same(&blended);
    assert_eq!(start(&blended), first);
    // tests with one operand that is broadcast
    let (x, row) = (b.reshape(new(1.0), [2, n / 2]).unwrap(), b.linspace(0.0, 1.0, n / 2).unwrap());
    let mask2 = b.reshape(&mask, [2, n / 2]).unwrap();
    let by_reference = b.to_ndarray(&b.blend(&mask2, &x, &row).unwrap()).unwrap();
    let here = start(&x);
    let blended = b.blend(&mask2, x, &row).unwrap();
    assert_eq!((start(&blended), b.to_ndarray(&blended).unwrap()), (here, by_reference));

    // the elements do not change if another handle, a view or the original owner shares the memory
    let x = new(1.0);
    let handle = x.clone();
    let blended = b.blend(&mask, x, &other).unwrap();
    assert!(start(&blended) != start(&handle) && b.item(b.max(&handle, ..).unwrap()).unwrap() == 2.0);
    let view = b.getitem(&handle, [Slice::from(1..)]).unwrap();
    let before = b.to_ndarray(&view).unwrap();
    same(&b.blend(&mask, handle, &other).unwrap());
    assert_eq!(b.to_ndarray(&view).unwrap(), before);
    let theirs = Numpyish::new().linspace(1.0, 2.0, n).unwrap();
    same(&b.blend(&mask, b.from_ndarray(theirs.clone()).unwrap(), &other).unwrap());
    assert_eq!((theirs[[0]], theirs[[n - 1]]), (1.0, 2.0));
    // the result gets new memory if the operand has repeated elements, or if its shape or dtype differs from the
    // result's
    let one = b.broadcast_to(b.asarray([1.5]).unwrap(), [n]).unwrap();
    assert_eq!(b.shape(&b.blend(&mask, one, &other).unwrap()), [n]);
    assert_eq!(b.shape(&b.blend(&mask2, row, 0.5).unwrap()), [2, n / 2]);
    let words = b.quantize_with::<i64, _>(new(1.0), QuantizeOptions::new().step(0.5)).unwrap();
    assert_eq!((b.item(b.max(&words, ..).unwrap()).unwrap(), b.item(b.min(&words, ..).unwrap()).unwrap()), (4, 2));
    // tests arrays that are copied to the host, as from a GPU
    let elsewhere = b.clone().copying();
    let x = new(1.0);
    let (handle, here) = (x.clone(), start(&x));
    let blended = elsewhere.blend(&mask, x, &other).unwrap();
    same(&blended);
    assert!(start(&blended) != here && elsewhere.item(elsewhere.max(handle, ..).unwrap()).unwrap() == 2.0);
}
