//! Tests that every op takes its arrays by reference or by value, on every backend.

use backends::{Result, Value, prelude::*};

fn nested<B: Backend>(b: &B) -> Result<()> {
    let x = b.asarray([1.0, 4.0, 9.0])?;
    let y = b.exp(b.square(b.square(b.sqrt(&x)?)?)?)?;
    assert_eq!(b.to_ndarray(&y)?, b.to_ndarray(&b.exp(b.square(&x)?)?)?);
    // covers reductions, views, lists, options, and a scalar of another float dtype
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

/// An op gives the same result whether its arrays are passed by value or by reference, and whether or not other handles
/// exist. A change is not visible through any other handle.
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
        // arguments without other handles: first an array in a part of its memory, and then arrays in their whole
        // memory (`add` gets one array twice)
        let of_part = b.exp(part)?;
        assert_eq!(b.to_ndarray(&of_part)?, b.to_ndarray(&plain)?.slice(ndarray::s![1..]).into_dyn());
        let y = b.from_ndarray(before.clone().into_shared())?;
        assert_eq!(b.to_ndarray(&b.add(y.clone(), y)?)?, before.mapv(|v| v + v).into_dyn());
        let y = b.from_ndarray(before.clone().into_shared())?;
        assert_eq!(b.to_ndarray(&b.subtract(1.0, y)?)?, before.mapv(|v| 1.0 - v).into_dyn());
        let (y, z) = (b.from_ndarray(before.clone().into_shared())?, b.flip(&plain, 0)?);
        let expected = &before - &b.to_ndarray(&z)?;
        assert_eq!(b.to_ndarray(&b.subtract(y, z)?)?, expected.into_dyn());
        // the memory cannot be reused: the first result has another dtype, the second has more elements
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

/// If an op with a target is called by name, it does not change the array that is passed as the target, and returns a
/// changed copy.
fn arguments_of_calls_stay<B: Backend>(b: &B) -> Result<()> {
    for n in [3, 50_000] {
        let values = [Value::<B>::array::<f64>(b.ones([n])?), Value::Integer(0), Value::Float(5.0)];
        for changed in [backends::ops::set::call(b, &values, &[])?, backends::ops::add_at::call(b, &values, &[])?] {
            let first = |value: &Value<B>| {
                let x = value.as_array().and_then(DynArray::get::<f64>).expect("an array of float64");
                b.to_ndarray(x).map(|x| x[0])
            };
            assert_eq!(first(&values[0])?, 1.0);
            assert!(first(&changed)? > 4.0);
        }
    }
    Ok(())
}

#[test]
fn calls_by_name_do_not_change_their_arguments() {
    on_every_backend!(arguments_of_calls_stay);
}

/// If `out` writes a result to an existing array, other handles to this array keep the old elements.
fn written_to<B: Backend>(b: &B) -> Result<()> {
    for n in [3, 50_000] {
        let x = b.linspace(0.5, 7.0, n)?;
        let host = b.to_ndarray(&x)?.to_owned();
        let new = || b.from_ndarray(host.clone().into_shared());
        let mut y = new()?;
        b.out(&mut y).square(&x)?;
        let squares = host.mapv(|v| v * v).into_dyn();
        assert_eq!(b.to_ndarray(&y)?, squares);
        // scalars on either side, an operand by value, several dtypes, and a conversion
        b.out(&mut y).add(&x, 2)?;
        assert_eq!(b.to_ndarray(&y)?, host.mapv(|v| v + 2.0).into_dyn());
        b.out(&mut y).subtract(1.0, b.negative(&x)?)?;
        assert_eq!(b.to_ndarray(&y)?, host.mapv(|v| 1.0 + v).into_dyn());
        b.out(&mut y).r#where(b.less(&x, 1.0)?, 0.0, &x)?;
        assert_eq!(b.to_ndarray(&y)?, host.mapv(|v| if v < 1.0 { 0.0 } else { v }).into_dyn());
        let mut narrow = b.zeros::<f32>([n])?;
        b.out(&mut narrow).astype(&x)?;
        assert_eq!(b.to_ndarray(&narrow)?, host.mapv(|v| v as f32).into_dyn());
        b.out(&mut narrow).multiply(b.full([n], 2.0_f32)?, 0.25)?;
        assert_eq!(b.to_ndarray(&narrow)?.first(), Some(&0.5));
        let mut flags = b.zeros::<bool>([n])?;
        b.out(&mut flags).less(&x, 3.0)?;
        assert_eq!(b.to_ndarray(&flags)?, host.mapv(|v| v < 3.0).into_dyn());
        b.out(&mut y).abs(b.complex(&x, 0.0)?)?;
        assert_eq!(b.to_ndarray(&y)?, host.clone().into_dyn());
        // ops that are not elementwise, some with options
        b.out(&mut y).flip(&x, 0)?;
        assert_eq!(b.to_ndarray(&y)?.first(), Some(&7.0));
        b.out(&mut y).sum_with(b.reshape(&x, [1, -1])?, 0, SumOptions::new())?;
        assert_eq!(b.to_ndarray(&y)?, host.clone().into_dyn());
        let mut index = b.zeros::<i64>([])?;
        b.out(&mut index).argmax(&x, 0)?;
        assert_eq!(b.item(&index)?, n as i64 - 1);
        b.out(&mut y).ones([n])?;
        assert_eq!(b.item(b.sum(&y, ..)?)?, n as f64);
        // another handle and a view, made before the result is written, keep their elements
        let (handle, view) = (y.clone(), b.flip(&y, 0)?);
        b.out(&mut y).exp(&x)?;
        assert!(b.to_vec(&handle)?.iter().chain(&b.to_vec(&view)?).all(|v| *v == 1.0));
        let handle = y.clone();
        b.out(&mut y).square(&handle)?;
        assert_eq!(b.to_ndarray(&y)?, b.to_ndarray(&b.square(&handle)?)?);
        // a result of another shape is an error, and so are operands that do not fit; both change nothing
        let before = b.to_ndarray(&y)?.to_owned();
        let row = b.zeros::<f64>([2, 1])?;
        let refused = b.out(&mut y).add(&x, &row).unwrap_err().to_string();
        let wanted = format!("add: shape [2, {n}] does not fit the array that it is written to, whose shape is [{n}]");
        assert_eq!(refused, wanted);
        assert!(b.out(&mut y).square(&row).unwrap_err().to_string().starts_with("square: shape [2, 1]"));
        assert_eq!(b.out(&mut y).sum(&x, 1).unwrap_err(), b.sum(&x, 1).unwrap_err());
        let refused = b.out(&mut y).sum(&x, 0).unwrap_err().to_string();
        assert_eq!(
            refused,
            format!("sum: shape [] does not fit the array that it is written to, whose shape is [{n}]")
        );
        let short = b.zeros::<f64>([n - 1])?;
        assert_eq!(b.out(&mut y).add(&x, &short).unwrap_err(), b.add(&x, &short).unwrap_err());
        assert_eq!(b.to_ndarray(&y)?, before.into_dyn());
    }
    Ok(())
}

#[test]
fn results_go_to_arrays_that_are_there() {
    on_every_backend!(written_to);
    written_to(&AnyBackend::from(Numpyish::new())).unwrap();
}

#[test]
fn memory_that_nothing_else_uses_takes_results() -> Result<()> {
    let b = Numpyish::new();
    let n = 50_000;
    let (x, mut y) = (b.linspace(0.5, 7.0, n)?, b.zeros::<f64>([n])?);
    let start = y.as_ptr();
    b.out(&mut y).exp(&x)?;
    b.out(&mut y).add(&x, 2)?;
    b.out(&mut y).r#where(b.less(&x, 1.0)?, 0.0, &x)?;
    b.out(&mut y).astype(b.ones::<i32>([n])?)?;
    assert_eq!((y.as_ptr(), y[[7]]), (start, 1.0));
    let any = AnyBackend::from(b.clone());
    let mut z = AnyArray::from(y);
    any.out(&mut z).sqrt(AnyArray::from(x.clone()))?;
    let Ok(mut y) = z.downcast::<Numpyish>() else { unreachable!() };
    assert_eq!((y.as_ptr(), y[[0]]), (start, 0.5_f64.sqrt()));
    // in the first call another handle to the memory exists, in the second call a view of it
    let handle = y.clone();
    b.out(&mut y).exp(&x)?;
    assert!(y.as_ptr() != start && handle.as_ptr() == start && handle[[0]] == 0.5_f64.sqrt());
    let (start, view) = (y.as_ptr(), b.flip(&y, 0)?);
    b.out(&mut y).negative(&x)?;
    assert!(y.as_ptr() != start && view[[n - 1]] == 0.5_f64.exp() && y[[0]] == -0.5);
    // if the operand has another memory order, the array is not overwritten
    let start = y.as_ptr();
    let m = b.permute_dims(b.reshape(&x, [10, n / 10])?, ..)?;
    let mut y = b.reshape(y, [n / 10, 10])?;
    b.out(&mut y).add(&m, 0.0)?;
    assert!(y.as_ptr() != start && y == m);
    Ok(())
}

/// Combines an array passed by value with an operand of any layout that broadcasts to the array's shape. The array
/// passed by value is the first or the second operand.
#[test]
fn results_over_memory_beside_operands_of_any_layout() -> Result<()> {
    let b = Numpyish::new();
    let (rows, columns) = (300, 400);
    let fresh = |start: f64| -> Result<_> { b.reshape(b.linspace(start, 7.0, rows * columns)?, [rows, columns]) };
    let row = b.linspace(1.0, 2.0, columns)?;
    let column = b.reshape(b.linspace(3.0, 4.0, rows)?, [rows, 1])?;
    let transposed = b.transpose(b.reshape(fresh(0.3)?, [columns, rows])?)?;
    let (flipped, whole) = (b.flip(fresh(0.4)?, 0)?, fresh(0.6)?);
    for other in [&row, &column, &transposed, &flipped, &whole] {
        let by_reference = [b.subtract(&fresh(0.5)?, other)?, b.subtract(other, &fresh(0.5)?)?];
        let (first, second) = (fresh(0.5)?, fresh(0.5)?);
        let memory = [first.as_ptr(), second.as_ptr()];
        let by_value = [b.subtract(first, other)?, b.subtract(other, second)?];
        assert_eq!(by_value, by_reference, "{:?}", other.strides());
        // if the first operand is the transposed one, the result takes its layout, and then cannot use the memory of
        // the other operand; so at least one of the two results uses the memory of the array passed by value
        let kept = by_value.each_ref().map(|x| memory.contains(&x.as_ptr()));
        assert!(kept.iter().filter(|kept| **kept).count() >= 1, "{:?} {kept:?}", other.strides());
    }
    // three operands; a sine, which is computed block by block; and a result that is larger than the array passed by
    // value
    let by_reference = b.clip(&fresh(0.5)?, &row, &column)?;
    assert_eq!(b.clip(fresh(0.5)?, &row, column.clone())?, by_reference);
    let plain = expr!(&b, sin(whole) * row + column)?;
    let mut y = fresh(0.6)?;
    let memory = y.as_ptr();
    expr!(&b, y = sin(y) * row + column)?;
    assert_eq!((y.as_ptr(), &y), (memory, &plain));
    expr!(&b, y += column)?;
    assert_eq!((y.as_ptr(), &y), (memory, &b.add(&plain, &column)?));
    let part = b.copy(b.getitem(&whole, backends::slices![..1])?)?;
    assert_eq!(b.add(part.clone(), &whole)?, b.add(&part, &whole)?);
    Ok(())
}
