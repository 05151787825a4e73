//! Every op takes its arrays by reference or by value, on every backend.

mod common;

use backends::prelude::*;

fn nested<B: Backend>(b: &B) -> Result<()> {
    let x = b.asarray([1.0, 4.0, 9.0])?;
    let y = b.exp(b.square(b.square(b.sqrt(&x)?)?)?)?;
    assert_eq!(b.to_ndarray(&y)?, b.to_ndarray(&b.exp(b.square(&x)?)?)?);
    // reductions, views, lists, options, a scalar of another float dtype
    let s: B::Array<f64> = b.sum(b.add(b.flip(&x, 0)?, x.clone())?, ..)?;
    assert_eq!(b.to_ndarray(&s)?.first(), Some(&28.0));
    for joined in [
        b.concat([&x, &y])?,
        b.concat([x.clone(), y.clone()])?,
        b.concat([&x, &y])?,
        b.concat(vec![x.clone(), y.clone()])?,
        b.concat(vec![&x, &y])?,
        b.concat([&x, &y].as_slice())?,
    ] {
        assert_eq!(b.shape(&joined), [6]);
    }
    let wide = b.astype::<f64, _>(b.multiply(b.astype::<f32, _>(&x)?, 0.5)?)?;
    assert_eq!(b.to_ndarray(&wide)?.as_slice(), Some(&[0.5, 2.0, 4.5][..]));
    let all = [&x, &y];
    let sums: Vec<B::Array<f64>> = all.iter().map(|x| b.sum(x, ..)).collect::<Result<_>>()?;
    assert_eq!(sums.len(), 2);
    Ok(())
}

/// By value or by reference, the result is one, whatever other handles there are; and no other handle sees a change.
fn values_stay<B: Backend>(b: &B) -> Result<()> {
    for n in [3, 100_000] {
        let x = b.linspace(0.5, 7.0, n)?;
        let before = b.to_ndarray(&x)?.to_owned();
        let handle = x.clone();
        let plain = b.exp(&x)?;
        assert_eq!(b.to_ndarray(&b.exp(x)?)?, b.to_ndarray(&plain)?, "another handle is left");
        assert_eq!(b.to_ndarray(&handle)?, before);
        let part = b.getitem(&handle, backends::slices![1..])?;
        assert_eq!(b.to_ndarray(&b.exp(handle)?)?, b.to_ndarray(&plain)?, "a view is left");
        assert_eq!(b.to_ndarray(&part)?, before.slice(ndarray::s![1..]).into_dyn());
        // one handle: of a part of its memory, of all of it
        let of_part = b.exp(part)?;
        assert_eq!(b.to_ndarray(&of_part)?, b.to_ndarray(&plain)?.slice(ndarray::s![1..]).into_dyn());
        let y = b.from_ndarray(before.clone().into_shared())?;
        assert_eq!(b.to_ndarray(&b.add(y.clone(), y)?)?, before.mapv(|v| v + v).into_dyn());
        let y = b.from_ndarray(before.clone().into_shared())?;
        assert_eq!(b.to_ndarray(&b.subtract(1.0, y)?)?, before.mapv(|v| 1.0 - v).into_dyn());
        let (y, z) = (b.from_ndarray(before.clone().into_shared())?, b.flip(&plain, 0)?);
        let expected = &before - &b.to_ndarray(&z)?;
        assert_eq!(b.to_ndarray(&b.subtract(y, z)?)?, expected.into_dyn());
        // results of another dtype, and of more elements
        let y = b.from_ndarray(before.clone().into_shared())?;
        assert_eq!(b.to_ndarray(&b.less(y, 3.0)?)?, before.mapv(|v| v < 3.0).into_dyn());
        let row = b.from_ndarray(before.clone().into_shared())?;
        let sum = b.add(row, b.asarray([[1.0], [2.0]])?)?;
        assert_eq!(b.shape(&sum), [2, n]);
    }
    Ok(())
}

#[test]
fn arrays_by_reference_or_by_value() {
    on_every_backend!(nested);
}

#[test]
fn no_other_handle_sees_a_change() {
    on_every_backend!(values_stay);
}
