//! Tests of formulas that contain `roll`. They read the array at shifted indices where the backend can do so, and must
//! give the values of the separate ops.

use backends::{
    Axes, Profile, Recorded, Result,
    grad::{Var, grad},
    prelude::*,
};

/// Calls of `roll`: the shape, the shifts and the axes.
const CALLS: [(&[usize], &[isize], &[isize]); 14] = [
    (&[40], &[1], &[0]),
    (&[40], &[-3], &[0]),
    (&[33], &[1000], &[-1]),
    (&[5, 40], &[1], &[0]),
    (&[5, 40], &[-1], &[1]),
    (&[5, 40], &[2, 39], &[0, 1]),
    (&[3, 4, 50], &[1, -1, 7], &[2, 0, 1]),
    (&[3, 4, 50], &[5], &[1]),
    (&[3, 4, 50], &[0], &[2]),
    (&[7, 3], &[1, 1], &[0, 1]),
    (&[1, 64], &[1, 1], &[0, 1]),
    (&[0, 40], &[1], &[1]),
    (&[40, 1], &[1], &[0]),
    (&[2, 200, 100], &[-1, 1], &[1, 2]),
];

/// Whole numbers, so that every backend computes the same values.
fn counting<B: Backend, T: Numeric>(b: &B, shape: &[usize], from: i64) -> Result<B::Array<T>> {
    let n = shape.iter().product::<usize>() as i64;
    let x: Vec<T> = (0..n).map(|i| T::from_i64((i * 7 + from) % 23)).collect();
    b.reshape(b.asarray(x)?, shape.to_vec())
}

fn same<B: Backend, T: Numeric>(b: &B, got: &B::Array<T>, expected: &B::Array<T>, call: &str) -> Result<()> {
    assert_eq!(b.to_ndarray(got)?, b.to_ndarray(expected)?, "{call}");
    Ok(())
}

fn in_dtype<B: Backend, T: Numeric>(b: &B) -> Result<()> {
    for (shape, shift, axes) in CALLS {
        let axes: Axes = axes.to_vec().into();
        let call = format!("roll({shape:?}, {shift:?}, {axes:?}) of {}", T::DTYPE);
        let (x, y) = (counting::<B, T>(b, shape, 3)?, counting::<B, T>(b, shape, 11)?);
        let rolled = b.roll(&x, shift, axes)?;
        let expected = b.subtract(b.multiply(&rolled, &y)?, &x)?;
        same(b, &expr!(b, roll(x, shift, axes) * y - x)?, &expected, &call)?;
        // beside a scalar, a row and another layout
        let row = counting::<B, T>(b, &shape[shape.len() - 1..], 5)?;
        let s = T::from_i64(3);
        let expected = b.add(b.multiply(&rolled, s)?, &row)?;
        same(b, &expr!(b, roll(x, shift, axes) * s + row)?, &expected, &call)?;
        let order: Vec<isize> = (0..shape.len() as isize).rev().collect();
        let other = b.permute_dims(b.copy(b.permute_dims(&y, order.clone())?)?, order)?;
        let expected = b.add(&other, b.roll(&other, shift, axes)?)?;
        same(b, &expr!(b, other + roll(other, shift, axes))?, &expected, &call)?;
        let above = b.expand_dims(&x, 0)?;
        let expected = b.add(&above, &rolled)?;
        same(b, &expr!(b, above + roll(x, shift, axes))?, &expected, &call)?;
        // assignments; the first reads and writes the same array
        let mut z = b.copy(&x)?;
        expr!(b, z = roll(z, shift, axes) + z * 2)?;
        same(b, &z, &b.add(&rolled, b.multiply(&x, T::from_i64(2))?)?, &call)?;
        let mut z = b.copy(&y)?;
        expr!(b, z += roll(x, shift, axes) * 2)?;
        same(b, &z, &b.add(&y, b.multiply(&rolled, T::from_i64(2))?)?, &call)?;
        let sum = expr!(b, sum(roll(x, shift, axes) * y, ..))?;
        assert_eq!(b.to_ndarray(&sum)?, b.to_ndarray(&b.sum(b.multiply(&rolled, &y)?, ..)?)?, "{call}");
    }
    Ok(())
}

fn every_dtype<B: Backend>(b: &B) -> Result<()> {
    in_dtype::<B, f64>(b)?;
    in_dtype::<B, f32>(b)?;
    in_dtype::<B, i32>(b)?;
    in_dtype::<B, Complex<f64>>(b)
}

#[test]
fn formulas_with_roll_have_the_values_of_the_ops() {
    on_every_backend!(every_dtype);
}

/// The right-hand side of the Gray-Scott model: more arrays than one pass reads.
fn reaction<B: Backend>(b: &B) -> Result<()> {
    let (u, v) = (counting::<B, f64>(b, &[48, 64], 1)?, counting::<B, f64>(b, &[48, 64], 9)?);
    let (du, feed, dt) = (2.0, 4.0, 0.5);
    let got = expr!(
        b,
        u + dt
            * (du * (roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u) - u * v * v
                + feed * (1 - u))
    )?;
    let rolls = [(1, 0), (-1, 0), (1, 1), (-1, 1)];
    let mut sum = b.multiply(&u, -4.0)?;
    for (shift, axis) in rolls {
        sum = b.add(sum, b.roll(&u, shift, axis)?)?;
    }
    let change = b.subtract(b.multiply(sum, du)?, b.multiply(b.multiply(&u, &v)?, &v)?)?;
    let change = b.add(change, b.multiply(b.subtract(1.0, &u)?, feed)?)?;
    same(b, &got, &b.add(&u, b.multiply(change, dt)?)?, "reaction")
}

#[test]
fn a_formula_with_many_rolls() {
    on_every_backend!(reaction);
}

fn refusals<B: Backend>(b: &B) -> Result<()> {
    let x = counting::<B, f64>(b, &[5, 40], 0)?;
    let text = |result: Result<B::Array<f64>>| result.unwrap_err().to_string();
    let without_place = |text: String| text.split(" (at ").next().unwrap_or_default().to_string();
    for (shift, axes) in [(vec![1], vec![2]), (vec![1, 2, 3], vec![0, 1])] {
        let (got, expected) = (text(expr!(b, roll(x, &shift, axes.clone()) + 1)), text(b.roll(&x, &shift, axes)));
        assert_eq!(without_place(got), without_place(expected));
    }
    let y = counting::<B, f64>(b, &[5, 41], 0)?;
    let why = text(expr!(b, roll(x, 1, 0) + y));
    assert!(why.contains("[5, 40]") && why.contains("[5, 41]"), "{why}");
    let mut z = counting::<B, f64>(b, &[40], 0)?;
    assert!(expr!(b, z += roll(x, 1, 0)).is_err());
    assert_eq!(b.shape(&z), [40]);
    Ok(())
}

#[test]
fn wrong_rolls_are_refused_as_by_the_op() {
    on_every_backend!(refusals);
}

#[test]
fn results_overwrite_their_target() {
    let b = Numpyish::new();
    let (x, mut y) = (counting::<_, f64>(&b, &[200, 300], 1).unwrap(), counting::<_, f64>(&b, &[200, 300], 2).unwrap());
    let (start, expected) = (y.as_ptr(), b.add(&y, b.roll(&x, 1, 1).unwrap()).unwrap());
    expr!(b, y += roll(x, 1, 1)).unwrap();
    assert_eq!((y.as_ptr(), &y), (start, &expected));
    // another handle of the same memory keeps its elements
    let (old, kept) = (y.clone(), b.copy(&y).unwrap());
    expr!(b, y = roll(old, 1, 0) - y).unwrap();
    assert_eq!(old, kept);
    assert_eq!(y, b.subtract(b.roll(&kept, 1, 0).unwrap(), &kept).unwrap());
}

#[test]
fn observers_get_the_op() {
    let profile = Profile::new();
    let b = profile.watch(Numpyish::new());
    let x = counting::<_, f64>(&b, &[4, 40], 0).unwrap();
    profile.reset();
    let y = expr!(b, roll(x, 1, 0) + x).unwrap();
    assert_eq!(profile.events().iter().map(|e| e.name.as_str()).collect::<Vec<_>>(), ["roll", "roll(x, 1, 0) + x"]);
    let recorded = Recorded::new(Numpyish::new());
    let x = recorded.from_ndarray(x).unwrap();
    let again = expr!(recorded, roll(x, 1, 0) + x).unwrap();
    assert_eq!(again.array(), &y);
    assert!(recorded.text().contains("roll("), "{}", recorded.text());
}

#[test]
fn gradients_pass_through_rolls() {
    let b = Numpyish::new();
    let (x, y) = (counting::<_, f64>(&b, &[5, 40], 1).unwrap(), counting::<_, f64>(&b, &[5, 40], 4).unwrap());
    let g = grad(
        &b,
        |d, x: &Var<Numpyish, f64>| {
            let value = expr!(d, roll(x, [1, 2], [0, 1]) * { &d.constant(y.clone()) } + x)?;
            d.sum_as::<f64, f64>(value, ..)
        },
        &x,
    )
    .unwrap();
    assert_eq!(g, b.add(b.roll(&y, [-1, -2], [0, 1]).unwrap(), 1.0).unwrap());
}
