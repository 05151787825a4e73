//! Tests of out-of-range indices on a GPU. Ops do not wait for the GPU to detect these indices. The next call that
//! waits for the GPU reports the first out-of-range index, once. Nothing is read or written at an out-of-range index.

mod common;

use backends::{Earlier, Error, Result, prelude::*, runtime::available};
use common::SoftCuda;
use std::{sync::mpsc, thread};

fn cuda() -> Option<Cuda> {
    available("cuda", Cuda::new(0))
}

fn said<T: std::fmt::Debug>(outcome: Result<T>) -> String {
    outcome.unwrap_err().to_string()
}

/// Returns an array with two rows and three columns, and four indices for its last axis; two of the indices (-4 and 9)
/// are out of range.
fn samples(b: &Cuda) -> (<Cuda as Arrays>::Array<f64>, <Cuda as Arrays>::Array<i64>) {
    (b.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).unwrap(), b.asarray([2_i64, -4, 0, 9]).unwrap())
}

#[test]
fn the_next_call_that_waits_says_it_once() {
    let Some(b) = cuda() else { return };
    let soft = SoftCuda::open();
    let copied = || soft.as_ref().map_or(0, SoftCuda::copied);
    let (x, far) = samples(&b);
    let values = b.zeros::<f64>([2, 4]).unwrap();
    let of = |op: &str| format!("{op}: index -4 is out of range for axis 1 of length 3");

    let before = copied();
    let taken = b.take(&x, &far, 1).unwrap();
    // an op on the result of `take` does not wait either
    let sum = b.sum(b.exp(&taken).unwrap(), ..).unwrap();
    assert_eq!(copied(), before, "no op waits");
    assert_eq!(said(b.to_ndarray(&sum)), of("take"));
    assert_eq!(
        b.to_vec(&taken).unwrap(),
        [3.0, 0.0, 1.0, 0.0, 6.0, 0.0, 4.0, 0.0],
        "said once; 0 where the index is outside"
    );
    b.synchronize().unwrap();

    let along = b.asarray([[0_i64, 1, -4]]).unwrap();
    b.take_along_axis(&x, &along, 1).unwrap();
    assert_eq!(said(b.item(b.sum(&x, ..).unwrap())), of("take_along_axis"));
    b.scatter(&x, &far, &values, 1).unwrap();
    assert_eq!(said(b.synchronize()), of("scatter"));
    b.scatter_add(&x, &far, &values, 1).unwrap();
    assert_eq!(said(b.nonzero(&x)), of("scatter_add"), "a call that waits for a number of elements");
    b.get(&x, ix![.., &far]).unwrap();
    assert_eq!(said(b.to_ndarray(&b.zeros::<f64>([0]).unwrap())), of("get"), "nothing to copy");
    b.index_put(&x, ix![.., &far], 0.0).unwrap();
    let error = b.synchronize().unwrap_err();
    assert_eq!(error.to_string(), of("index_put"));
    assert!(matches!(error, Error::Index { earlier: Earlier(true), .. }));
    // if the call that waits is another op, its error names the earlier op `take`
    b.take(&x, &far, 1).unwrap();
    assert_eq!(said(b.repeat_each(&x, &b.asarray([2_i64]).unwrap(), 0)), of("take"));
    // if several indices are out of range, the error names the first index of the first call
    let near = b.asarray([5_i64, 0, 1, 2]).unwrap();
    b.get(&x, ix![&near, &far]).unwrap();
    b.take(&x, &far, 0).unwrap();
    assert_eq!(said(b.synchronize()), "get: index 5 is out of range for axis 0 of length 2");
    b.synchronize().unwrap();
}

#[test]
fn what_is_refused_changes_nothing() {
    let Some(b) = cuda() else { return };
    let (mut x, far) = samples(&b);
    let before = b.to_vec(&x).unwrap();
    let masked = b.asarray([true, false]).unwrap();
    b.set(&mut x, ix![.., &far], 9.0).unwrap();
    assert_eq!(said(b.to_ndarray(&x)), "set: index -4 is out of range for axis 1 of length 3");
    b.add_at(&mut x, ix![&b.asarray([0_i64, 2]).unwrap()], 9.0).unwrap();
    assert_eq!(said(b.to_ndarray(&x)), "add_at: index 2 is out of range for axis 0 of length 2");
    b.add_at(&mut x, ix![0, &far], 9.0).unwrap();
    assert_eq!(said(b.synchronize()), "add_at: index -4 is out of range for axis 1 of length 3");
    b.set(&mut x, ix![&masked, &b.asarray([3_i64]).unwrap()], 9.0).unwrap();
    assert_eq!(said(b.synchronize()), "set: index 3 is out of range for axis 1 of length 3");
    assert_eq!(b.to_vec(&x).unwrap(), before);
    // on an axis without elements no index is valid, so the error is returned before the result is allocated
    let empty = b.zeros::<f64>([2, 0]).unwrap();
    assert_eq!(said(b.take(&empty, &far, 1)), "take: index 2 is out of range for axis 1 of length 0");
    assert_eq!(said(b.get(&empty, ix![.., &far])), "get: index 2 is out of range for axis 1 of length 0");
    b.synchronize().unwrap();
}

#[test]
fn it_is_said_to_the_thread_that_called_or_that_uses_the_result() {
    let Some(b) = cuda() else { return };
    let (x, far) = samples(&b);
    let of_take = "take: index -4 is out of range for axis 1 of length 3";
    // the thread that calls `take` ends before any call waits
    let taken = thread::scope(|scope| scope.spawn(|| b.take(&x, &far, 1).unwrap()).join().unwrap());
    b.synchronize().unwrap();
    assert_eq!(said(b.exp(&taken)), of_take, "an op over the result waits");
    b.exp(&taken).unwrap();

    // a thread that waits does not receive errors of other threads
    let (bad, is_bad) = mpsc::channel();
    let (good, is_good) = mpsc::channel();
    thread::scope(|scope| {
        let (b, x, far) = (&b, &x, &far);
        let other = scope.spawn(move || {
            b.take(x, far, 1).unwrap();
            bad.send(()).unwrap();
            is_good.recv().unwrap();
            said(b.synchronize())
        });
        is_bad.recv().unwrap();
        assert_eq!(b.item(b.sum(x, ..).unwrap()).unwrap(), 21.0);
        b.synchronize().unwrap();
        good.send(()).unwrap();
        assert_eq!(other.join().unwrap(), of_take);
    });

    // the array `sum` was allocated by another thread, so `add_at` does not overwrite its memory while the error of
    // `take` is unreported, and allocates new memory for the result; a thread that reads this result gets the error
    let mut sum = thread::scope(|scope| scope.spawn(|| b.zeros::<f64>([2, 4]).unwrap()).join().unwrap());
    let taken = b.take(&x, &far, 1).unwrap();
    b.add_at(&mut sum, ix![..], &taken).unwrap();
    let read = thread::scope(|scope| scope.spawn(|| b.to_vec(&sum)).join().unwrap());
    assert_eq!(said(read), of_take);
}
