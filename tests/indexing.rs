//! Lists of indices on every backend: kinds in one list, in place, errors, backends around others.

use backends::{expr, ix, prelude::*, runtime::available, slices};

/// Nothing is annotated, whatever the backend and the dtype.
fn corners<B: Backend, T: Numeric>(
    b: &B,
    x: &B::Array<T>,
    rows: &B::Array<i64>,
    keep: &B::Array<bool>,
) -> Result<B::Array<T>> {
    let last = -1_i8;
    let list = ix![rows, ..;last];
    let mut part = b.get(x, list)?;
    b.set(&mut part, ix![0, keep], T::default())?;
    b.add_at(&mut part, ix![&rows, NewAxis, ..2_usize], b.get(x, ix![..1, ..2])?)?;
    b.get(&part, ix![])
}

fn everywhere<B: Backend>(b: &B) {
    let x = b.asarray([[1, 2, 3], [4, 5, 6]]).unwrap();
    let (rows, keep) = (b.asarray([1_i64, 0]).unwrap(), b.asarray([true, false, true]).unwrap());
    let got = corners(b, &x, &rows, &keep).unwrap();
    assert_eq!(b.to_ndarray(&got).unwrap(), ndarray::arr2(&[[1, 7, 0], [4, 4, 1]]).into_dyn());

    // arrays that are computed, slices of `slices!`, lists that are kept
    assert_eq!(b.shape(&b.get(&x, ix![b.greater(&x, 2).unwrap()]).unwrap()), [4]);
    assert_eq!(b.shape(&b.get(&x, slices![0, 1..]).unwrap()), [2]);
    let list = ix![..., &rows];
    assert_eq!(b.shape(&b.get(&x, list).unwrap()), [2, 2]);
    assert_eq!(b.shape(&b.get(&x, &list[..1]).unwrap()), [2, 3]);
}

/// No other handle sees a change, wherever handles come from.
fn values<B: Backend>(b: &B) {
    let host = |x: &B::Array<f64>| b.to_ndarray(x).unwrap().into_iter().collect::<Vec<_>>();
    let mut x = b.asarray([1.0, 2.0, 3.0, 4.0]).unwrap();
    let (copy, view) = (x.clone(), b.get(&x, ix![1..]).unwrap());
    b.set(&mut x, ix![1], 9.0).unwrap();
    assert_eq!(
        (host(&x), host(&copy), host(&view)),
        (vec![1.0, 9.0, 3.0, 4.0], vec![1.0, 2.0, 3.0, 4.0], vec![2.0, 3.0, 4.0])
    );
    // old values are read: `x[1:] += x[:-1]`
    let before = b.get(&x, ix![..-1]).unwrap();
    b.add_at(&mut x, ix![1..], &before).unwrap();
    assert_eq!(host(&x), [1.0, 10.0, 12.0, 7.0]);
    // a handle whose elements have no places of their own
    let mut wide = b.broadcast_to(b.asarray([5.0]).unwrap(), [3]).unwrap();
    b.set(&mut wide, ix![0], 1.0).unwrap();
    assert_eq!(host(&wide), [1.0, 5.0, 5.0]);
    // memory of the host that somebody else holds
    let theirs = ndarray::arr1(&[1.0, 2.0]).into_dyn().into_shared();
    let mut ours = b.from_ndarray(theirs.clone()).unwrap();
    b.set(&mut ours, ix![..], 0.0).unwrap();
    assert_eq!((host(&ours), theirs.into_iter().collect::<Vec<_>>()), (vec![0.0, 0.0], vec![1.0, 2.0]));
    // what is refused changes nothing
    let far = b.asarray([0_i64, 4]).unwrap();
    let refused = b.set(&mut x, ix![&far], 0.0).and_then(|()| b.to_ndarray(&x).map(|_| ()));
    assert_eq!(refused.unwrap_err().to_string(), "set: index 4 is out of range for axis 0 of length 4");
}

/// Parts in formulas, and parts that are assigned to.
fn formulas<B: Backend, T: Real>(b: &B, x: &B::Array<T>, i: &B::Array<i64>, scale: T) -> Result<B::Array<T>> {
    let y = expr!(b, 2.0 * x[1.., i] + x[..;-1, NewAxis, 0][1.., 0])?;
    let mut z = x.clone();
    expr!(b, z[1.., &i] += scale * y[.., ..])?;
    expr!(b, z[0] = x[1, ..;-1])?;
    expr!(b, z[.., -1] *= scale)?;
    expr!(b, z[b.less(&z, 0.0)?] = 0.0)?;
    expr!(b, z[1, 1] = scale)?;
    expr!(b, z[..1] -= z[1..])?;
    let by_reference = &mut z;
    expr!(b, *by_reference[1, ..1] **= 2)?;
    Ok(z)
}

fn in_formulas<B: Backend>(b: &B) {
    let x = b.asarray([[1.0, -2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap();
    let got = formulas(b, &x, &b.asarray([2_i64, 0]).unwrap(), 10.0).unwrap();
    let (z, row) = ([[6.0, 5.0, 40.0], [94.0, 10.0, 1360.0]], [94.0, 10.0, 1360.0]);
    let first: Vec<f64> = z[0].iter().zip(row).map(|(a, b)| a - b).collect();
    let expected = ndarray::arr2(&[[first[0], first[1], first[2]], [94.0 * 94.0, 10.0, 1360.0]]).into_dyn();
    assert_eq!(b.to_ndarray(&got).unwrap(), expected);
    assert_eq!(b.to_ndarray(&x).unwrap()[[0, 1]], -2.0);
}

#[test]
fn on_numpyish() {
    let b = Numpyish::new();
    everywhere(&b);
    values(&b);
    in_formulas(&b);
    // the only handle keeps its memory
    let mut x = b.zeros::<f64>([3]).unwrap();
    let start = x.as_ptr();
    b.set(&mut x, ix![1..], 2.0).unwrap();
    b.add_at(&mut x, ix![&b.asarray([0_i64, 0]).unwrap()], 1.0).unwrap();
    assert_eq!((x.as_ptr(), x), (start, ndarray::arr1(&[2.0, 2.0, 2.0]).into_dyn().into_shared()));
}

#[test]
fn on_torch() {
    let Some(b) = available("torch", Torch::cpu()) else { return };
    everywhere(&b);
    values(&b);
    in_formulas(&b);
}

#[test]
fn on_cuda() {
    let Some(b) = available("cuda", Cuda::new(0)) else { return };
    everywhere(&b);
    values(&b);
    in_formulas(&b);
}

#[test]
fn on_a_backend_chosen_at_run_time() {
    let b = AnyBackend::from(Numpyish::new());
    everywhere(&b);
    values(&b);
    in_formulas(&b);
    if let Some(other) = available("torch", Torch::cpu()) {
        let (other, mut x) = (AnyBackend::from(other), b.zeros::<f64>([2]).unwrap());
        assert!(matches!(other.set(&mut x, ix![0], 1.0), Err(Error::Backend { op: "set", .. })));
        let i = other.asarray([0_i64]).unwrap();
        assert!(matches!(b.get(&x, ix![&i]), Err(Error::Backend { op: "get", .. })));
    }
}
