//! Tests the exchange of arrays between any two backends of this machine, directly and through DLPack. The backends are
//! chosen at run time.

use backends::{Result, dlpack::CopyMode, prelude::*};

/// Returns the address of the first element.
fn address<T: Element>(b: &AnyBackend, x: &AnyArray<T>) -> usize {
    b.to_dlpack_with(x, CopyMode::Never).unwrap().data().addr()
}

/// Moves arrays between two backends. On the same device the two arrays share memory, but a later change of one array
/// must not change the other.
fn between<T: Numeric>(from: &AnyBackend, to: &AnyBackend) -> Result<()> {
    let pair = format!("{} on {} to {} on {}", from.name(), from.device(), to.name(), to.device());
    let one_memory = from.dlpack_device() == to.dlpack_device();
    let of = |x: &AnyArray<T>| from.to_ndarray(x).map(|x| x.to_owned());
    let x = from.reshape(from.astype::<T, _>(from.arange(0, 12_000, 1)?)?, [60, 200])?;
    for x in [&x, &from.transpose(&x)?, &from.get(&x, ix![1..;2, ..;3])?, &from.flip(&x, 0)?, &x] {
        let wanted = of(x)?;
        let mut y = from.to_backend(x, to)?;
        assert_eq!((y.device(), to.to_ndarray(&y)?.view()), (to.device(), wanted.view()), "{pair}");
        // libtorch has no negative strides, so an array with negative strides is copied
        let copied =
            to.name() == "torch" && from.to_dlpack_with(x, CopyMode::Never)?.strides().iter().any(|stride| *stride < 0);
        assert!(!one_memory || copied || address(to, &y) == address(from, x), "{pair}: an element was copied");
        // a change of one array does not affect the other
        let z = to.negative(y.clone())?;
        to.set(&mut y, ix![0, 0], T::from_i64(77))?;
        assert!(
            of(x)? == wanted && to.to_ndarray(&z)? == to.to_ndarray(&to.negative(from.to_backend(x, to)?)?)?,
            "{pair}"
        );
        let mut changed = x.clone();
        let y = from.to_backend(x, to)?;
        from.set(&mut changed, ix![0, 0], T::from_i64(78))?;
        drop(changed);
        assert_eq!(to.to_ndarray(&y)?, wanted, "{pair}");
    }
    // drops the array on the source backend before the array on the target backend is read
    let y = {
        let x = from.full([100, 100], T::from_i64(3))?;
        from.to_backend(&x, to)?
    };
    let other = to.full([100, 100], T::from_i64(4))?;
    assert!(
        to.to_vec(&y)?.iter().all(|v| *v == T::from_i64(3)),
        "{pair}: memory went with the backend that it came from"
    );
    assert!(to.to_vec(to.add(y, other)?)?.iter().all(|v| *v == T::from_i64(7)), "{pair}");
    backends::dlpack::release_unused();
    Ok(())
}

#[test]
fn arrays_go_between_any_two_devices() {
    let devices = backends::devices();
    for from in &devices {
        for to in &devices {
            between::<f64>(from, to).unwrap_or_else(|why| panic!("{from:?} to {to:?}: {why}"));
            between::<i32>(from, to).unwrap_or_else(|why| panic!("{from:?} to {to:?}: {why}"));
        }
    }
}

#[test]
fn tensors_go_in_and_out_of_a_backend_chosen_at_run_time() -> Result<()> {
    for b in backends::devices() {
        let x = b.asarray((0..5000).map(f64::from).collect::<Vec<_>>())?;
        let tensor = b.to_dlpack(&x)?;
        assert_eq!((tensor.device(), tensor.is_read_only()), (b.dlpack_device(), true));
        let start = tensor.data();
        let y = b.from_dlpack::<f64>(tensor)?;
        assert_eq!((b.to_dlpack(&y)?.data(), b.to_vec(&y)?), (start, b.to_vec(&x)?));
        let copy = b.from_dlpack_with::<f64>(b.to_dlpack(&x)?, CopyMode::Always)?;
        assert!(b.to_dlpack(&copy)?.data() != start && b.to_vec(&copy)? == b.to_vec(&x)?);
        let given = b.to_dlpack(copy)?;
        assert!(!given.is_read_only(), "{b:?}: nobody else has it");
        let any = DynArray::from_dlpack(&b, given, CopyMode::Never)?;
        assert_eq!((any.dtype(), any.shape(&b)), (DType::Float64, &[5000][..]));
        assert!(any.to_dlpack(&b, CopyMode::IfNeeded)?.is_read_only());
        let refused = b.from_dlpack::<i8>(b.to_dlpack(&x)?).unwrap_err().to_string();
        assert_eq!(refused, "from_dlpack: the tensor has the dtype float64, but an array of int8 is requested");
    }
    Ok(())
}
