//! Tests of gradients of functions through the public API.

use backends::{
    CustomGradient, LinearMap, Result,
    grad::{Diff, Var, grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp},
    prelude::*,
};

/// A network layer and the mean of its squared results, generic over the backend and without any code for gradients.
fn network<B: Backend>(b: &B, x: &B::Array<f64>, w: &B::Array<f64>, c: &B::Array<f64>) -> Result<B::Array<f64>> {
    let hidden = b.tanh(b.add(b.matmul(x, w)?, c)?)?;
    b.mean(b.square(hidden)?, ..)
}

fn close(b: &Numpyish, x: &NdArray<f64>, y: &NdArray<f64>, tolerance: f64) -> bool {
    b.allclose_with(x, y, AllcloseOptions::new().rtol(tolerance).atol(tolerance)).unwrap()
}

type NdArray<T> = <Numpyish as Arrays>::Array<T>;

#[test]
fn of_a_network_by_all_its_parameters() -> Result<()> {
    let b = Numpyish::new();
    let x = b.random_normal::<f64>([5, 3])?;
    let (w, c) = (b.random_normal::<f64>([3, 4])?, b.random_normal::<f64>([4])?);
    let (value, (by_w, by_c)) = value_and_grad(&b, |d, (w, c)| network(d, &d.constant(x.clone()), w, c), (&w, &c))?;
    assert_eq!(value, network(&b, &x, &w, &c)?);
    // the expected gradient, derived on paper
    let h = b.tanh(b.add(b.matmul(&x, &w)?, &c)?)?;
    let g = b.multiply(b.multiply(&h, 2.0 / 20.0)?, b.subtract(1.0, b.square(&h)?)?)?;
    assert!(close(&b, &by_w, &b.matmul(b.matrix_transpose(&x)?, &g)?, 1e-14));
    assert!(close(&b, &by_c, &b.sum(&g, 0)?, 1e-14));
    // passes the parameters as a list
    let grads = grad(&b, |d, p| network(d, &d.constant(x.clone()), &p[0], &p[1]), vec![&w, &c])?;
    assert_eq!(grads, [by_w, by_c]);
    Ok(())
}

#[test]
fn of_gradients() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([0.5, 1.0, 2.0])?;
    // for the sum of x^3, the gradient is 3 x^2 and the second derivative 6 x
    fn cubes<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
        b.sum(b.multiply(b.square(x)?, x)?, ..)
    }
    let h = hessian(&b, cubes, &x)?;
    assert!(close(&b, &h, &b.diag(b.multiply(&x, 6.0)?)?, 1e-14));
    let v = b.asarray([1.0, -1.0, 0.5])?;
    assert!(close(&b, &hvp(&b, cubes, &x, &v)?, &b.matmul(&h, &v)?, 1e-14));
    let third = grad(
        &b,
        |d, x| {
            let along = hvp(d, cubes, x, &d.constant(v.clone()))?;
            d.sum(along, ..)
        },
        &x,
    )?;
    assert!(close(&b, &third, &b.multiply(&v, 6.0)?, 1e-13));
    Ok(())
}

#[test]
fn jacobians_forward_and_back() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([1.0, 2.0])?;
    fn polar<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
        let (r, a) = (b.getitem(x, slices![0])?, b.getitem(x, slices![1])?);
        b.stack([b.multiply(&r, b.cos(&a)?)?, b.multiply(&r, b.sin(&a)?)?])
    }
    let j = jacobian(&b, polar, &x)?;
    let (s, c) = 2.0_f64.sin_cos();
    assert!(close(&b, &j, &b.asarray([[c, -s], [s, c]])?, 1e-15));
    let v = b.asarray([0.3, -0.7])?;
    let (y, tangent) = jvp(&b, polar, &x, &v)?;
    assert_eq!(y, polar(&b, &x)?);
    assert!(close(&b, &tangent, &b.matmul(&j, &v)?, 1e-15));
    let (_, mut back) = vjp(&b, polar, &x)?;
    for u in [b.asarray([1.0, 0.0])?, b.asarray([0.2, 5.0])?] {
        assert!(close(&b, &back.pull(&u)?, &b.matmul(&u, &j)?, 1e-15), "more than once");
    }
    Ok(())
}

#[test]
fn by_complex_numbers_it_points_uphill() -> Result<()> {
    let b = Numpyish::new();
    let z = b.asarray([Complex::new(3.0, 4.0)])?;
    let g = grad(&b, |d, z| d.sum(d.square(d.abs(z)?)?, ..), &z)?;
    // for |z|^2 = x^2 + y^2, the gradient d/dx + i d/dy is 2 z, in the same convention as PyTorch
    assert_eq!(b.to_vec(g)?, [Complex::new(6.0, 8.0)]);
    Ok(())
}

#[test]
fn formulas_and_changes_in_place() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([1.0, 2.0, 3.0])?;
    fn f<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
        let mut y = expr!(b, x * x + 1.0)?;
        b.set(&mut y, ix![0], 0.0)?;
        expr!(b, y *= x)?;
        b.add_at(&mut y, ix![1..], &b.getitem(x, slices![0])?)?;
        expr!(b, sum(y * 2.0, ..))
    }
    let g = grad(&b, f, &x)?;
    // the function is 2 (0 + (x1^3 + x1) + (x2^3 + x2) + 2 x0), so its gradient is (4, 6 x1^2 + 2, 6 x2^2 + 2)
    assert!(close(&b, &g, &b.asarray([4.0, 26.0, 56.0])?, 1e-14));
    assert_eq!(x, b.asarray([1.0, 2.0, 3.0])?, "what is given stays as it is");
    Ok(())
}

#[test]
fn constants_and_what_does_not_change() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([1.0, 2.0])?;
    let g = grad(&b, |d, x| d.sum(d.multiply(x, d.stop_gradient(x))?, ..), &x)?;
    assert_eq!(g, x);
    let g = grad(&b, |d, x| d.sum(d.floor(x)?, ..), &x)?;
    assert_eq!(g, b.zeros_like(&x)?);
    let g = grad(&b, |d, _| d.asarray(1.0), &x)?;
    assert_eq!(g, b.zeros_like(&x)?);
    // the gradient passes through a conversion to another dtype
    let g = grad(&b, |d, x| d.sum(d.square(d.astype::<f32, _>(x)?)?, ..), &x)?;
    assert_eq!(g, b.asarray([2.0, 4.0])?);
    Ok(())
}

#[test]
fn mistakes_are_told() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([1.0, 2.0])?;
    let why = grad(&b, |d, x| d.square(x), &x).unwrap_err();
    assert!(why.to_string().contains("grad: shape [2]") && why.to_string().contains("`jacobian`"), "{why}");
    let why = grad(&b, |d, x| d.sum(d.digamma(x)?, ..), &x).unwrap_err();
    assert!(why.to_string().starts_with("digamma:") && why.to_string().contains("trigamma"), "{why}");
    // using an array of another call of `grad` is an error
    let mut escaped: Option<Var<Numpyish, f64>> = None;
    grad(
        &b,
        |d, x| {
            escaped = Some(x.clone());
            d.sum(x, ..)
        },
        &x,
    )?;
    let escaped = escaped.unwrap();
    let why = grad(&b, |d, x| d.sum(d.multiply(x, &escaped)?, ..), &x).unwrap_err();
    assert!(why.to_string().contains("another gradient") && why.to_string().contains("constant"), "{why}");
    // levels of gradients stay separate: a constant of the inner level is a variable of the outer level
    let nested = |d: &Diff<Numpyish>, x: &Var<Numpyish, f64>| {
        let inner = grad(d, |e, y| e.sum(e.multiply(y, e.constant(x.clone()))?, ..), x)?;
        d.sum(d.multiply(inner, x)?, ..)
    };
    assert_eq!(grad(&b, nested, &x)?, b.asarray([2.0, 4.0])?);
    Ok(())
}

#[test]
fn on_the_backend_that_is_chosen_at_run_time() -> Result<()> {
    for b in [AnyBackend::from(Numpyish::new())].into_iter().chain(Torch::cpu().ok().map(AnyBackend::from)) {
        let x = b.asarray([1.0, 2.0])?;
        let g = grad(&b, |d, x| d.sum(d.exp(x)?, ..), &x)?;
        assert!(b.allclose(&g, &b.exp(&x)?)?, "{}", b.name());
    }
    Ok(())
}

/// Solves `product(x) = y` iteratively on any backend. The iterations are not recorded for the gradient.
fn by_steps<B: Backend, T: Float>(b: &B, product: &LinearMap<'_, B, T>, y: &B::Array<T>) -> Result<B::Array<T>> {
    b.implicit(
        "by_steps",
        |b| {
            let rate = b.full::<T>([0_usize; 0], T::ONE)?;
            let rate = b.divide(&rate, b.add(b.add(&rate, &rate)?, b.add(&rate, &rate)?)?)?;
            let mut x = b.zeros_like::<T>(y)?;
            for _ in 0..200 {
                x = b.add(&x, b.multiply(b.subtract(y, product(b, &x)?)?, &rate)?)?;
            }
            Ok(x)
        },
        |b, x| b.subtract(product(b, x)?, y),
        // the equation for the gradient is solved by the same method, so that the gradient can be differentiated again
        |b, transposed, g| by_steps::<B, T>(b, transposed, g),
    )
}

fn by_matrix<B: Backend, T: Float>(b: &B, matrix: &B::Array<T>, y: &B::Array<T>) -> Result<B::Array<T>> {
    by_steps::<B, T>(b, &|b, x| b.matmul(matrix, x), y)
}

#[test]
fn solutions_of_equations_are_differentiated_by_the_equation() -> Result<()> {
    let b = Numpyish::new();
    let matrix = b.asarray([[3.0, 1.0, 0.0], [0.5, 2.0, -0.5], [0.0, 0.25, 4.0]])?;
    let y = b.asarray([1.0, -2.0, 0.5])?;
    let (steps, direct) = (
        value_and_grad(&b, |d, (m, y)| d.sum(d.sin(by_matrix::<_, f64>(d, m, y)?)?, ..), (&matrix, &y))?,
        value_and_grad(&b, |d, (m, y)| d.sum(d.sin(d.solve(m, y)?)?, ..), (&matrix, &y))?,
    );
    assert!(close(&b, &steps.0, &direct.0, 1e-12));
    assert!(close(&b, &steps.1.0, &direct.1.0, 1e-12) && close(&b, &steps.1.1, &direct.1.1, 1e-12));
    // second derivatives of the iterative solve and of the op `solve`
    let h = hessian(
        &b,
        |d, y| d.sum(d.sin(by_matrix::<_, f64>(d, &d.constant(d.within().constant(matrix.clone())), y)?)?, ..),
        &y,
    )?;
    let direct =
        hessian(&b, |d, y| d.sum(d.sin(d.solve(d.constant(d.within().constant(matrix.clone())), y)?)?, ..), &y)?;
    assert!(close(&b, &h, &direct, 1e-11), "{h:?} {direct:?}");
    let h = hessian(
        &b,
        |d, m| d.sum(d.sin(by_matrix::<_, f64>(d, m, &d.constant(d.within().constant(y.clone())))?)?, ..),
        &matrix,
    )?;
    let direct =
        hessian(&b, |d, m| d.sum(d.sin(d.solve(m, d.constant(d.within().constant(y.clone())))?)?, ..), &matrix)?;
    assert!(close(&b, &h, &direct, 1e-10), "{h:?} {direct:?}");
    // a function with two solves, the second of which uses the result of the first
    let twice = |d: &Diff<Numpyish>, m: &Var<Numpyish, f64>, y: &Var<Numpyish, f64>| {
        let x = by_matrix::<_, f64>(d, m, y)?;
        d.sum(d.multiply(by_matrix::<_, f64>(d, m, &x)?, y)?, ..)
    };
    let steps = grad(&b, |d, (m, y)| twice(d, m, y), (&matrix, &y))?;
    let direct = grad(&b, |d, (m, y)| d.sum(d.multiply(d.solve(m, d.solve(m, y)?)?, y)?, ..), (&matrix, &y))?;
    assert!(close(&b, &steps.0, &direct.0, 1e-11) && close(&b, &steps.1, &direct.1, 1e-11));
    // solves with complex numbers
    let (matrix, y) = (b.complex(&matrix, 0.5)?, b.complex(&y, b.asarray([0.0, 1.0, 2.0])?)?);
    let steps = grad(&b, |d, (m, y)| d.sum(d.abs(by_matrix::<_, Complex<f64>>(d, m, y)?)?, ..), (&matrix, &y))?;
    let direct = grad(&b, |d, (m, y)| d.sum(d.abs(d.solve(m, y)?)?, ..), (&matrix, &y))?;
    assert!(b.allclose(&steps.0, &direct.0)? && b.allclose(&steps.1, &direct.1)?);
    Ok(())
}

#[test]
fn equations_of_constants_record_nothing_and_mistakes_in_them_are_told() -> Result<()> {
    let b = Numpyish::new();
    let (matrix, y) = (b.asarray([[2.0]])?, b.asarray([3.0])?);
    // defines the square root of `a` by the equation x^2 - a = 0
    let root = |d: &Diff<Numpyish>, a: &Var<Numpyish, f64>| {
        d.implicit::<f64>(
            "root",
            |d| d.sqrt(a),
            |d, x| d.subtract(d.square(x)?, a),
            |d, t, g| d.divide(g, t(d, &d.ones_like::<f64>(g)?)?),
        )
    };
    let g = grad(&b, |d, a| d.sum(root(d, a)?, ..), &b.asarray([4.0, 9.0])?)?;
    assert!(close(&b, &g, &b.asarray([0.25, 1.0 / 6.0])?, 1e-15));
    let g = grad(
        &b,
        |d, x| d.sum(d.multiply(x, by_matrix::<_, f64>(d, &d.constant(matrix.clone()), &d.constant(y.clone()))?)?, ..),
        &y,
    )?;
    assert!(close(&b, &g, &b.asarray([1.5])?, 1e-12));
    // the residual must call the backend that it receives; it is an error to call the backend `d` of the enclosing
    // function
    let wrong = grad(
        &b,
        |d, a| d.sum(d.implicit::<f64>("root", |d| d.sqrt(a), |_, x| d.subtract(x, a), |_, _, g| Ok(g.clone()))?, ..),
        &y,
    );
    assert!(wrong.unwrap_err().to_string().contains("another"));
    let wrong = grad(
        &b,
        |d, a| {
            d.sum(
                d.implicit::<f64>("root", |d| d.sqrt(a), |d, x| d.subtract(d.square(x)?, a), |d, _, _| d.zeros([7]))?,
                ..,
            )
        },
        &y,
    );
    assert!(wrong.unwrap_err().to_string().contains("root"));
    Ok(())
}

/// The identity, with a gradient that is clipped to the range -`most` to `most`. Works on any backend.
fn cut<B: Backend>(b: &B, x: &B::Array<f64>, most: f64) -> Result<B::Array<f64>> {
    let pull =
        move |b: &B, _: &[&B::Array<f64>], _: &B::Array<f64>, g: &B::Array<f64>| Ok(vec![b.clip(g, -most, most)?]);
    b.custom::<f64, f64>("cut", &[x], |_, x| Ok(x[0].clone()), pull)
}

/// The gradient of the cube root `y`, as an implementation of the trait [`CustomGradient`]. Because `x = y^3`, the
/// derivative is `1 / (3 y^2)`.
struct CubeRoot;

impl<B: Backend> CustomGradient<B, f64, f64> for CubeRoot {
    fn pull(&self, b: &B, _: &[&B::Array<f64>], y: &B::Array<f64>, g: &B::Array<f64>) -> Result<Vec<B::Array<f64>>> {
        Ok(vec![expr!(b, g / (3.0 * y * y))?])
    }
}

#[test]
fn gradients_of_ones_own_in_code_over_any_backend() -> Result<()> {
    let b = Numpyish::new();
    let x = b.asarray([1.0, 8.0])?;
    assert_eq!(cut(&b, &x, 1.0)?, x);
    let g = grad(&b, |d, x| d.sum(d.square(cut(d, x, 3.0)?)?, ..), &x)?;
    assert_eq!(g, b.asarray([2.0, 3.0])?);
    let root = |d: &Diff<Numpyish>, x: &Var<Numpyish, f64>| d.custom("root", &[x], |d, x| d.cbrt(x[0]), CubeRoot);
    let g = grad(&b, |d, x| d.sum(root(d, x)?, ..), &x)?;
    assert!(close(&b, &g, &b.asarray([1.0 / 3.0, 1.0 / 12.0])?, 1e-15));
    // the second derivative is 0 where the gradient is clipped, because a clipped gradient is constant
    let h = hessian(&b, |d, x| d.sum(d.square(cut(d, x, 3.0)?)?, ..), &x)?;
    assert_eq!(h, b.asarray([[2.0, 0.0], [0.0, 0.0]])?);
    let h = hessian(
        &b,
        |d, x| d.sum(d.square(d.custom::<f64, f64>("root", &[x], |d, x| d.cbrt(x[0]), CubeRoot)?)?, ..),
        &x,
    )?;
    // the expected values are second derivatives of x^(2/3)
    assert!(close(&b, &h, &b.diag(b.asarray([-2.0 / 9.0, -2.0 / 9.0 / 16.0])?)?, 1e-14), "{h:?}");
    // errors in the definition of a gradient
    let wrong = grad(
        &b,
        |d, x| {
            d.sum(
                d.custom::<f64, f64>(
                    "mine",
                    &[x],
                    |_, x| Ok(x[0].clone()),
                    |_: &Diff<Numpyish>, _: &[&Var<Numpyish, f64>], _: &Var<Numpyish, f64>, _: &Var<Numpyish, f64>| {
                        Ok(vec![])
                    },
                )?,
                ..,
            )
        },
        &x,
    );
    assert!(wrong.unwrap_err().to_string().contains("mine"));
    let wrong = jvp(&b, |j, x| cut(j, x, 1.0), &x, &x);
    assert!(wrong.unwrap_err().to_string().contains("vjp"));
    Ok(())
}
