//! Tests index lists on every backend: items of several kinds, assignment in place, errors, and backends that wrap
//! another backend.

use backends::{
    Error, Result, functions,
    grad::{Diff, Var, vjp},
    lazy,
    prelude::*,
    runtime::available,
    scoped,
};

/// In generic code, index lists need no type annotations.
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

    // arrays that are computed within the list, `slices!` without arrays, and a list stored in a variable
    assert_eq!(b.shape(&b.get(&x, ix![b.greater(&x, 2).unwrap()]).unwrap()), [4]);
    assert_eq!(b.shape(&b.get(&x, slices![0, 1..]).unwrap()), [2]);
    let list = ix![..., &rows];
    assert_eq!(b.shape(&b.get(&x, list).unwrap()), [2, 2]);
    assert_eq!(b.shape(&b.get(&x, &list[..1]).unwrap()), [2, 3]);

    // `where`, by the name that is not a keyword
    let (is_large, expected) = (b.greater(&x, 2).unwrap(), ndarray::arr2(&[[0, 0, 3], [4, 5, 6]]).into_dyn());
    assert_eq!(b.to_ndarray(&b.where_(&is_large, &x, 0).unwrap()).unwrap(), expected);
    assert_eq!(b.to_ndarray(&b.r#where(&is_large, &x, 0).unwrap()).unwrap(), expected);
    assert_eq!(b.to_ndarray(&b.where_(b.less_equal(&x, 2).unwrap(), 0, &x).unwrap()).unwrap(), expected);
    assert_eq!(b.to_ndarray(&lazy(&x).greater(2).where_(&x, 0).eval(b).unwrap()).unwrap(), expected);
    let mut y = b.zeros::<i32>([2, 3]).unwrap();
    b.out(&mut y).where_(&is_large, &x, 0).unwrap();
    assert_eq!(b.to_ndarray(&y).unwrap(), expected);
    let refused = b.where_(&is_large, b.zeros::<i32>([4]).unwrap(), 0).unwrap_err().to_string();
    assert!(refused.contains("where") && refused.contains("[4]"), "{refused}");
}

/// A change of an array is not visible through any other handle: a clone, a view, a broadcast array, or the array on
/// the host.
fn values<B: Backend>(b: &B) {
    let host = |x: &B::Array<f64>| b.to_ndarray(x).unwrap().into_iter().collect::<Vec<_>>();
    let mut x = b.asarray([1.0, 2.0, 3.0, 4.0]).unwrap();
    let (copy, view) = (x.clone(), b.get(&x, ix![1..]).unwrap());
    b.set(&mut x, ix![1], 9.0).unwrap();
    assert_eq!(
        (host(&x), host(&copy), host(&view)),
        (vec![1.0, 9.0, 3.0, 4.0], vec![1.0, 2.0, 3.0, 4.0], vec![2.0, 3.0, 4.0])
    );
    // the right side has the values from before the change, as in `x[1:] += x[:-1]`
    let before = b.get(&x, ix![..-1]).unwrap();
    b.add_at(&mut x, ix![1..], &before).unwrap();
    assert_eq!(host(&x), [1.0, 10.0, 12.0, 7.0]);
    // a broadcast array, whose elements share one address in memory
    let mut wide = b.broadcast_to(b.asarray([5.0]).unwrap(), [3]).unwrap();
    b.set(&mut wide, ix![0], 1.0).unwrap();
    assert_eq!(host(&wide), [1.0, 5.0, 5.0]);
    // an ndarray to which the caller keeps another handle
    let theirs = ndarray::arr1(&[1.0, 2.0]).into_dyn().into_shared();
    let mut ours = b.from_ndarray(theirs.clone()).unwrap();
    b.set(&mut ours, ix![..], 0.0).unwrap();
    assert_eq!((host(&ours), theirs.into_iter().collect::<Vec<_>>()), (vec![0.0, 0.0], vec![1.0, 2.0]));
    // an assignment that fails changes nothing
    let far = b.asarray([0_i64, 4]).unwrap();
    let refused = b.set(&mut x, ix![&far], 0.0).and_then(|()| b.to_ndarray(&x).map(|_| ()));
    assert_eq!(refused.unwrap_err().to_string(), "set: index 4 is out of range for axis 0 of length 4");
}

/// A function that selects elements of an array. A test computes its gradient.
type Selecting<'f, B> = &'f dyn Fn(&Diff<B>, &Var<B, f64>) -> Result<Var<B, f64>>;

/// Empty masks select nothing from axes of any length. The resulting shapes and the errors are the same as in NumPy.
fn masks_of_length_0<B: Backend>(b: &B) {
    let none = |shape: &[usize]| b.zeros::<bool>(shape).unwrap();
    for (x, mask, result) in [
        (&[1, 3][..], &[0, 0][..], Some(&[0][..])),
        (&[1, 3], &[0, 3], Some(&[0])),
        (&[1, 3], &[1, 0], Some(&[0])),
        (&[1, 3], &[0], Some(&[0, 3])),
        (&[2, 3], &[2, 0], Some(&[0])),
        (&[0, 3], &[0, 0], Some(&[0])),
        (&[3], &[0], Some(&[0])),
        (&[2, 0, 3], &[0, 0], Some(&[0, 3])),
        (&[2, 0, 3], &[2, 0, 0], Some(&[0])),
        (&[2, 3, 4], &[0, 3], Some(&[0, 4])),
        (&[1, 3], &[2, 0], None),
        (&[1, 3], &[0, 1], None),
        (&[0, 3], &[1, 0], None),
        (&[2, 0, 3], &[0, 3], None),
        (&[3], &[0, 0], None),
        (&[], &[0], None),
        (&[0], &[1], None),
    ] {
        let what = format!("{} of {x:?} by {mask:?}", B::NAME);
        let (array, mask) = (b.ones::<f64>(x).unwrap(), none(mask));
        let shape = |got: Result<B::Array<f64>>| got.ok().map(|got| b.shape(&got).to_vec());
        let result = result.map(<[usize]>::to_vec);
        assert_eq!(shape(b.get(&array, ix![&mask])), result, "get {what}");
        assert_eq!(shape(b.boolean_mask(&array, &mask)), result, "boolean_mask {what}");
        let mut changed = array.clone();
        assert_eq!(b.set(&mut changed, ix![&mask], 5.0).is_ok(), result.is_some(), "set {what}");
        assert_eq!(b.add_at(&mut changed, ix![&mask], 5.0).is_ok(), result.is_some(), "add_at {what}");
        assert_eq!(shape(b.index_put(&array, ix![&mask], 5.0)).is_some(), result.is_some(), "index_put {what}");
        assert_eq!(b.to_ndarray(&changed).unwrap(), b.to_ndarray(&array).unwrap(), "{what}");
        if let Some(result) = result {
            let gradient = |f: Selecting<B>| {
                let (_, mut back) = vjp(b, f, &array).unwrap();
                let g: B::Array<f64> = back.pull(&b.ones::<f64>(&result).unwrap()).unwrap();
                assert_eq!(b.to_ndarray(&g).unwrap(), HostArray::zeros(x), "{what}");
            };
            gradient(&|d, x| d.get(x, ix![&d.constant(mask.clone())]));
            gradient(&|d, x| d.boolean_mask(x, d.constant(mask.clone())));
        }
    }
    // index lists with other items besides the mask: the axis of the selected elements replaces the mask's axes; it is
    // the first axis if a slice separates the mask from an integer index
    let x = b.ones::<f64>([2, 3, 4]).unwrap();
    assert_eq!(b.shape(&b.get(&x, ix![.., &none(&[0])]).unwrap()), [2, 0, 4]);
    assert_eq!(b.shape(&b.get(&x, ix![0, .., &none(&[0])]).unwrap()), [0, 3]);
    assert_eq!(b.shape(&b.get(&x, ix![.., &none(&[3, 0])]).unwrap()), [2, 0]);
    assert_eq!(b.shape(&b.get(&x, ix![&none(&[0]), &b.asarray([1_i64]).unwrap()]).unwrap()), [0, 4]);
    assert!(b.get(&x, ix![&none(&[0]), &b.asarray([1_i64, 2]).unwrap()]).is_err());
}

/// Index lists in formulas, as operands and as targets of assignments.
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
    masks_of_length_0(&b);
    values(&b);
    in_formulas(&b);
    // an array without another handle keeps its memory
    let mut x = b.zeros::<f64>([3]).unwrap();
    let start = x.as_ptr();
    b.set(&mut x, ix![1..], 2.0).unwrap();
    b.add_at(&mut x, ix![&b.asarray([0_i64, 0]).unwrap()], 1.0).unwrap();
    assert_eq!((x.as_ptr(), x), (start, ndarray::arr1(&[2.0, 2.0, 2.0]).into_dyn().into_shared()));
}

#[test]
fn on_torch() {
    let Some(b) = available("torch", Torch::cpu()).map(AnyBackend::from) else { return };
    everywhere(&b);
    masks_of_length_0(&b);
    values(&b);
    in_formulas(&b);
}

#[test]
fn on_cuda() {
    let Some(b) = available("cuda", Cuda::new(0)).map(AnyBackend::from) else { return };
    everywhere(&b);
    masks_of_length_0(&b);
    values(&b);
    in_formulas(&b);
}

#[test]
fn on_a_backend_chosen_at_run_time() {
    let b = AnyBackend::from(Numpyish::new());
    everywhere(&b);
    masks_of_length_0(&b);
    values(&b);
    in_formulas(&b);
    if let Some(other) = available("torch", Torch::cpu()) {
        let (other, mut x) = (AnyBackend::from(other), b.zeros::<f64>([2]).unwrap());
        assert!(matches!(other.set(&mut x, ix![0], 1.0), Err(Error::Backend { op: "set", .. })));
        let i = other.asarray([0_i64]).unwrap();
        assert!(matches!(b.get(&x, ix![&i]), Err(Error::Backend { op: "get", .. })));
    }
}

#[test]
fn the_function_for_where_has_a_name_that_is_not_a_keyword() -> Result<()> {
    let b = AnyBackend::from(Numpyish::new());
    let x = b.asarray([1.0, -2.0])?;
    let y: Result<AnyArray<f64>> = scoped(b.clone(), || functions::where_(functions::greater(&x, 0.0)?, &x, 0.0));
    assert_eq!(b.item(b.sum(y?, ..)?)?, 1.0);
    Ok(())
}
