//! Helpers for the tests of this backend.

mod elementwise;
mod errors;
mod loading;
mod loops;
mod untrusted;

use super::{OpContext, Torch, ops};
use backend_core::{Arrays, DType, Element, Error, HostArray, IntoHost, available};

/// libtorch on the CPU; `None` if it is missing and not required.
pub fn torch() -> Option<Torch> {
    available("torch", Torch::cpu())
}

/// Copies an array of this backend to the host.
pub fn host<T: Element>(b: &Torch, x: &super::TorchArray<T>) -> HostArray<T> {
    b.to_ndarray(x).unwrap()
}

/// An array of this backend from a host array.
pub fn array<T: Element>(b: &Torch, x: impl IntoHost<T>) -> super::TorchArray<T> {
    b.from_ndarray(x.into_host().unwrap()).unwrap()
}

#[test]
fn every_op_that_is_named_exists() {
    let Some(_) = torch() else { return };
    for schema in ops::EVERY {
        schema.text("test").unwrap();
    }
}

#[test]
fn devices_have_names() {
    assert_eq!(super::backend::device_index("cpu"), Ok(-1));
    assert_eq!(super::backend::device_index("cuda"), Ok(0));
    assert_eq!(super::backend::device_index("cuda:12"), Ok(12));
    for bad in ["", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:+1", "cuda:1000", "CPU"] {
        assert!(matches!(super::backend::device_index(bad), Err(Error::Argument { .. })), "{bad}");
    }
}

#[test]
fn arrays_go_in_and_out_without_change() {
    let Some(b) = torch() else { return };
    let m = ndarray::array![[1.0_f64, 2.0, 3.0], [4.0, 5.0, 6.0]].into_dyn().into_shared();
    for x in [m.clone(), m.clone().reversed_axes(), m.slice(ndarray::s![..;-1, ..;2]).to_shared().into_dyn()] {
        let t = array(&b, &x);
        assert_eq!(b.shape(&t), x.shape());
        assert_eq!(host(&b, &t), x);
        assert_eq!(t.view().unwrap(), x);
    }
    let reversed = m.slice_move(ndarray::s![..;-1, ..]).into_dyn();
    assert_eq!(host(&b, &array(&b, &reversed)), reversed);
}

#[test]
fn host_memory_is_shared_and_outlives_its_owner() {
    let Some(b) = torch() else { return };
    let x = HostArray::from_elem(&[3, 2][..], 7_u16);
    let pointer = x.as_ptr();
    let t = b.from_ndarray(x.clone()).unwrap();
    assert_eq!(t.view().unwrap().as_ptr(), pointer, "no copy");
    let mut mine = x;
    mine.fill(1);
    assert_eq!(host(&b, &t), HostArray::from_elem(&[3, 2][..], 7), "the other owner copied before it wrote");
    let clone = t.clone();
    drop(t);
    assert_eq!(clone.view().unwrap().sum(), 42);
}

#[test]
fn empty_and_scalar_arrays() {
    let Some(b) = torch() else { return };
    for shape in [&[0_usize, 4][..], &[], &[0]] {
        let x = HostArray::from_elem(shape, true);
        let t = b.from_ndarray(x.clone()).unwrap();
        assert_eq!((b.shape(&t), host(&b, &t), t.view().unwrap().to_owned()), (shape, x.clone(), x.to_owned()));
    }
}

#[test]
fn devices_that_are_not_there_are_typed_errors() {
    let Some(_) = torch() else { return };
    assert!(matches!(Torch::new("tpu"), Err(Error::Argument { .. })));
    let missing = Torch::new("cuda:255").unwrap_err();
    assert!(matches!(&missing, Error::Unavailable { why, .. } if why.contains("cuda:255")), "{missing}");
    if !cfg!(target_os = "macos") {
        let missing = Torch::new("mps").unwrap_err();
        assert!(matches!(&missing, Error::Unavailable { why, .. } if why.contains("mps")), "{missing}");
    }
}

#[test]
fn a_seed_gives_the_numbers_of_every_backend() {
    let Some(b) = torch() else { return };
    let numpyish = backend_core::numpyish::Numpyish::seeded(5);
    let want = backend_numpyish::random::typed::random_normal::<f64>(&numpyish, &[7], 0.0, 1.0).unwrap();
    let on = b.on::<f64>("random_normal");
    let next = || host::<f64>(&b, &on.array(super::random::random_normal(on, &[7], 0.0, 1.0).unwrap()).unwrap());
    b.seed(5);
    assert_eq!(next(), want);
    assert_ne!(next(), want, "the stream goes on");
    b.clone().seed(5);
    assert_eq!(next(), want, "clones share the stream");
}

#[test]
fn arrays_show_their_elements_and_cross_threads() {
    let Some(b) = torch() else { return };
    let x = array(&b, vec![1.5_f32, 2.5]);
    let text = format!("{x:?}");
    assert!(text.contains("1.5") && text.contains("float32") && text.contains("cpu"), "{text}");
    let sums: Vec<f32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let on = OpContext::new(&b, "sum", DType::Float32);
                    let sum = super::reduction::sum(on, x.clone().tensor(), backend_core::Axes::All, false).unwrap();
                    host::<f32>(&b, &on.array(sum).unwrap())[[]]
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(sums, [4.0; 4]);
}
