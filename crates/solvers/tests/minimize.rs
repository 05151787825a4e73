//! Tests of the minimisers: known minima, comparisons with SciPy's numbers of evaluations and with the steps of
//! PyTorch's optimisers, and functions without a minimum.

use backends::{
    Result,
    grad::{Params, grad},
    prelude::*,
    runtime::available,
};
use backends_solvers::minimize::{
    Adam, LineSearch, Method, Minimize, Sgd, clip_grad_norm, grad_norm, minimize, nelder_mead, trust_region,
};
use std::ops::ControlFlow;

const METHODS: [Method; 5] = [
    Method::Bfgs,
    Method::Lbfgs { memory: 10 },
    Method::GradientDescent { rate: 0.1 },
    Method::AdaptiveDescent { rate: 1.0 },
    Method::Adam { rate: 0.1 },
];

/// Rosenbrock's function of any number of unknowns.
fn valley<B: Backend, T: Real>(b: &B, x: &B::Array<T>) -> Result<B::Array<T>> {
    let (head, tail) = (b.getitem(x, slices![..-1])?, b.getitem(x, slices![1..])?);
    expr!(b, sum(100 * (tail - head * head) * (tail - head * head) + (1 - head) * (1 - head), ..))
}

fn beale<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    let (x, y) = (b.getitem(x, slices![0])?, b.getitem(x, slices![1])?);
    expr!(b, (1.5 - x + x * y) * *2 + (2.25 - x + x * y * *2) * *2 + (2.625 - x + x * y * *3) * *2)
}

/// Himmelblau's function, which has four minima and is not convex near the start.
fn himmelblau<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
    let (x, y) = (b.getitem(x, slices![0])?, b.getitem(x, slices![1])?);
    expr!(b, (x * *2 + y - 11) * *2 + (x + y * *2 - 7) * *2)
}

#[track_caller]
fn near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() <= tolerance, "{found:?} is not {expected:?}");
    }
}

fn finds_the_valley<B: Backend>(b: &B, starts: usize) -> Result<()> {
    // evaluations of SciPy 1.17.1 for the three starts: 39, 30, 184 (BFGS); 45, 27, 159 (L-BFGS-B with the same gtol
    // and ftol = 0); 30, 20, 132 (trust-ncg)
    let all = [vec![-1.2, 1.0], vec![1.3, 0.7, 0.8, 1.9, 1.2], [-1.2, 1.0].repeat(10)];
    let scipy = [[39, 45], [30, 27], [184, 159]];
    for (start, scipy) in all.into_iter().zip(scipy).take(starts) {
        let n = start.len();
        let start = b.asarray(start)?;
        for (method, scipy) in [Method::Bfgs, Method::Lbfgs { memory: 10 }].into_iter().zip(scipy) {
            let found = minimize(b, valley, &start, Minimize::new().method(method))?;
            println!(
                "{method:?} {n}: {} iterations, {} evaluations; SciPy {scipy}",
                found.iterations, found.evaluations
            );
            assert!(found.converged && !found.diverged, "{method:?} {n}: {}", found.message);
            assert!(found.gradient_norm.unwrap() <= 1e-5);
            near(&b.to_vec(&found.x)?, &vec![1.0; n], 1e-4);
            assert!(found.evaluations <= scipy + scipy / 4 + 5, "{method:?} {n}: {}, {scipy}", found.evaluations);
            let short = Minimize::new().method(method).line_search(LineSearch::Backtracking);
            let found = minimize(b, valley, &start, short)?;
            assert!(found.converged, "{method:?} {n} by backtracking: {}", found.message);
            near(&b.to_vec(&found.x)?, &vec![1.0; n], 1e-4);
        }
        let found = trust_region(b, valley, &start, Minimize::new())?;
        println!("trust region {n}: {} iterations, {} evaluations", found.iterations, found.evaluations);
        assert!(found.converged, "trust region {n}: {}", found.message);
        near(&b.to_vec(&found.x)?, &vec![1.0; n], 1e-4);
    }
    Ok(())
}

#[test]
fn the_valley_on_the_cpu() -> Result<()> {
    finds_the_valley(&Numpyish::new(), 3)
}

#[test]
fn the_valley_on_libtorch() -> Result<()> {
    available("torch", Torch::cpu()).map_or(Ok(()), |b| finds_the_valley(&AnyBackend::from(b), 2))
}

#[test]
fn the_valley_on_a_gpu() -> Result<()> {
    let Some(b) = available("cuda", Cuda::new(0)).map(AnyBackend::from) else { return Ok(()) };
    let start = b.asarray([-1.2, 1.0])?;
    let found = minimize(&b, valley, &start, Minimize::new())?;
    assert!(found.converged, "{}", found.message);
    near(&b.to_vec(&found.x)?, &[1.0, 1.0], 1e-4);
    Ok(())
}

#[test]
fn other_functions() -> Result<()> {
    let b = Numpyish::new();
    for method in METHODS {
        let long = || Minimize::new().method(method).gtol(1e-4).max_iter(20_000);
        // Beale's function is so steep far from its minimum that gradient descent needs a small rate
        let method =
            if let Method::GradientDescent { .. } = method { Method::GradientDescent { rate: 0.01 } } else { method };
        let found = minimize(&b, beale, &b.ones([2])?, long().method(method))?;
        assert!(found.converged, "{method:?}: {}", found.message);
        near(&b.to_vec(&found.x)?, &[3.0, 0.5], 5e-3);
        let found = minimize(&b, himmelblau, &b.zeros([2])?, long().method(method))?;
        assert!(found.converged, "{method:?}: {}", found.message);
        near(&b.to_vec(&found.x)?, &[3.0, 2.0], 1e-3);
    }
    let found = trust_region(&b, himmelblau, &b.zeros([2])?, Minimize::new())?;
    assert!(found.converged && found.value < 1e-8, "{}", found.message);
    Ok(())
}

#[test]
fn nelder_and_mead_go_as_scipy() -> Result<()> {
    let b = Numpyish::new();
    // iterations and evaluations of SciPy 1.17.1, which counts the initial simplex as an iteration
    let cases = [(vec![-1.2, 1.0], 85, 159), (vec![1.3, 0.7, 0.8, 1.9, 1.2], 141, 243)];
    for (start, iterations, evaluations) in cases {
        let found = nelder_mead(&b, valley, &b.asarray(start)?, Minimize::new())?;
        assert!(found.converged && found.gradient_norm.is_none(), "{}", found.message);
        assert_eq!((found.iterations + 1, found.evaluations), (iterations, evaluations));
    }
    let found = nelder_mead(&b, beale, &b.ones([2])?, Minimize::new())?;
    assert_eq!((found.iterations + 1, found.evaluations), (56, 107));
    near(&b.to_vec(&found.x)?, &[3.00002489, 0.50000749], 1e-8);
    // the function is NaN where either unknown is negative
    let f = |b: &Numpyish, x: &HostArray<f64>| b.sum(b.square(b.log(x)?)?, ..);
    let found = nelder_mead(&b, f, &b.asarray([0.1, 3.0])?, Minimize::new())?;
    near(&b.to_vec(&found.x)?, &[1.0, 1.0], 1e-3);
    let nowhere = nelder_mead(&b, f, &b.asarray([-0.1, -3.0])?, Minimize::new())?;
    assert!(nowhere.diverged && !nowhere.converged, "{}", nowhere.message);
    Ok(())
}

#[derive(Params)]
struct Wave<B: Backend> {
    frequency: B::Array<f64>,
    phases: Vec<B::Array<f64>>,
    amplitude: B::Array<Complex<f64>>,
    #[constant]
    samples: usize,
}

#[test]
fn unknowns_in_structs_vectors_and_tuples() -> Result<()> {
    let b = Numpyish::new();
    let target = b.asarray([[1.0, 2.0], [3.0, 4.0]])?;
    let start = Wave::<Numpyish> {
        frequency: b.zeros([2, 2])?,
        phases: vec![b.zeros([3])?, b.asarray(0.5)?],
        amplitude: b.asarray([Complex::new(0.0, 0.0)])?,
        samples: 7,
    };
    for method in METHODS {
        let found = minimize(
            &b,
            |d, w| {
                let Wave { frequency, phases, amplitude, samples } = w;
                let (target, z) = (d.constant(target.clone()), d.constant(b.asarray(Complex::new(3.0, -4.0))?));
                let (first, second) = (&phases[0], &phases[1]);
                let distance = d.abs(d.subtract(amplitude, z)?)?;
                let n = *samples as f64;
                expr!(
                    d,
                    sum((frequency - target) * *2, ..)
                        + sum((first - n) * *2, ..)
                        + (second + 1) * *2
                        + sum(distance * *2, ..)
                )
            },
            &start,
            Minimize::new().method(method).max_iter(5000),
        )?;
        assert!(found.converged, "{method:?}: {}", found.message);
        let Wave { frequency, phases, amplitude, samples } = found.x;
        near(&b.to_vec(frequency)?, &[1.0, 2.0, 3.0, 4.0], 1e-4);
        near(&b.to_vec(&phases[0])?, &[7.0; 3], 1e-4);
        near(&b.to_vec(&phases[1])?, &[-1.0], 1e-4);
        let z = b.to_vec(amplitude)?[0];
        near(&[z.re, z.im], &[3.0, -4.0], 1e-4);
        assert_eq!(samples, 7);
    }
    let (x, y) = (b.asarray([1.0_f32, 2.0])?, b.asarray([[5.0_f32]])?);
    let found = minimize(&b, |d, (x, y)| expr!(d, sum((x - y) * *2, ..) + sum(x * *2, ..)), (&x, &y), Minimize::new())?;
    assert!(found.converged, "{}", found.message);
    assert!(b.to_vec(found.x.0)?.iter().chain(&b.to_vec(found.x.1)?).all(|x| x.abs() < 1e-3));
    let found = minimize(&b, |d, x| expr!(d, sum(({ &x[0] } - { &x[1] }) * *2, ..)), vec![&x, &x], Minimize::new())?;
    assert_eq!((found.iterations, found.value, found.x), (0, 0.0, vec![x.clone(), x]));
    Ok(())
}

#[test]
fn complex_unknowns_go_downhill() -> Result<()> {
    let b = Numpyish::new();
    let start = b.asarray([Complex::new(1.0, 1.0), Complex::new(-2.0, 0.5)])?;
    for method in METHODS {
        // |z^2 - i|^2 has minima at the square roots of i
        let found = minimize(
            &b,
            |d, z| {
                let i = d.constant(b.asarray(Complex::new(0.0, 1.0))?);
                d.sum(d.square(d.abs(d.subtract(d.multiply(z, z)?, i)?)?)?, ..)
            },
            &start,
            Minimize::new().method(if let Method::GradientDescent { .. } = method {
                Method::GradientDescent { rate: 0.02 }
            } else {
                method
            }),
        )?;
        assert!(found.converged, "{method:?}: {}", found.message);
        for z in b.to_vec(&found.x)? {
            assert!((z * z - Complex::new(0.0, 1.0)).norm() < 1e-4, "{method:?}: {z}");
        }
    }
    Ok(())
}

#[test]
fn single_precision() -> Result<()> {
    let b = Numpyish::new();
    let start = b.asarray([-1.2_f32, 1.0])?;
    for method in [Method::Bfgs, Method::Lbfgs { memory: 5 }] {
        let found = minimize(&b, valley, &start, Minimize::new().method(method))?;
        assert!(found.converged, "{method:?}: {}", found.message);
        assert!(b.to_vec(&found.x)?.iter().all(|x| (x - 1.0).abs() < 2e-3), "{method:?}: {}", found.x);
        // the precision cannot reach this gtol, so the method must end soon
        let found = minimize(&b, valley, &start, Minimize::new().method(method).gtol(0.0))?;
        assert!(!found.diverged && found.evaluations < 500, "{method:?}: {} evaluations", found.evaluations);
    }
    let found = trust_region(&b, valley, &start, Minimize::new())?;
    assert!(found.converged, "{}", found.message);
    let found = trust_region(&b, valley, &start, Minimize::new().gtol(0.0))?;
    assert!(!found.diverged && found.evaluations < 500);
    Ok(())
}

#[test]
fn where_there_is_no_minimum() -> Result<()> {
    let b = Numpyish::new();
    let start = b.asarray([1.0, 2.0])?;
    for method in METHODS {
        let options = || Minimize::new().method(method).max_iter(3000);
        // a function that is NaN at the start
        let found = minimize(&b, |d, x| d.sum(d.sqrt(d.negative(x)?)?, ..), &start, options())?;
        assert!(found.diverged && !found.converged && found.iterations == 0, "{method:?}: {}", found.message);
        // functions without a lower bound
        let found = minimize(&b, |d, x| d.sum(x, ..), &start, options())?;
        assert!(!found.converged && found.value < -200.0, "{method:?}: {} {}", found.message, found.value);
        // methods with steps of a fixed length do not go far enough to detect that the function is unbounded
        let is_fixed = matches!(method, Method::GradientDescent { .. } | Method::Adam { .. });
        assert_eq!(found.diverged, !is_fixed, "{method:?}: {} {}", found.message, found.value);
        let found = minimize(&b, |d, x| d.negative(d.sum(d.square(x)?, ..)?), &start, options())?;
        assert!(!found.converged && found.value < -1e3, "{method:?}: {} {}", found.message, found.value);
        // the start is a maximum, where the gradient is 0
        let zero = b.zeros::<f64>([2])?;
        let found = minimize(&b, |d, x| d.negative(d.sum(d.square(x)?, ..)?), &zero, options())?;
        assert!(found.converged && found.iterations == 0 && found.evaluations == 1, "{method:?}: {}", found.message);
        // three cases: no iterations are allowed, there are no unknowns, and at most 7 evaluations are allowed
        let found = minimize(&b, valley, &start, options().max_iter(0))?;
        assert!(!found.converged && found.evaluations == 1 && found.x == start && found.value == 100.0, "{method:?}");
        let none = b.zeros::<f64>([0, 3])?;
        let found = minimize(&b, |d, x| d.sum(x, ..), &none, options())?;
        assert!(found.converged && found.x.shape() == [0, 3], "{method:?}");
        let found = minimize(&b, valley, &start, options().max_evaluations(7))?;
        assert!(!found.converged && found.evaluations <= 8, "{method:?}: {}", found.evaluations);
    }
    let minus = |d: &backends::grad::Diff<backends::grad::Diff<Numpyish>>, x: &_| d.negative(d.sum(d.square(x)?, ..)?);
    let found = trust_region(&b, minus, &start, Minimize::new())?;
    assert!(!found.converged && found.value < -1e6, "{}", found.message);
    let found = trust_region(&b, minus, &b.zeros([2])?, Minimize::new())?;
    assert!(found.converged && found.iterations == 0);
    let found = trust_region(&b, |d, x| d.sum(d.sqrt(d.negative(x)?)?, ..), &start, Minimize::new())?;
    assert!(found.diverged, "{}", found.message);
    // a step may make the logarithm's argument negative; the line search shortens the step
    for method in [Method::Bfgs, Method::Lbfgs { memory: 10 }, Method::AdaptiveDescent { rate: 8.0 }] {
        let f = |d: &backends::grad::Diff<Numpyish>, x: &_| expr!(d, sum(x - 2 * log(x), ..));
        let found = minimize(&b, f, &b.asarray([0.01, 9.0])?, Minimize::new().method(method))?;
        assert!(found.converged, "{method:?}: {}", found.message);
        near(&b.to_vec(&found.x)?, &[2.0, 2.0], 1e-4);
    }
    let found = trust_region(&b, |d, x| expr!(d, sum(x - 2 * log(x), ..)), &b.asarray([0.01, 9.0])?, Minimize::new())?;
    assert!(found.converged, "{}", found.message);
    Ok(())
}

#[test]
fn what_is_told_meanwhile() -> Result<()> {
    let b = Numpyish::new();
    let start = b.asarray([-1.2, 1.0])?;
    let mut values = Vec::new();
    let options = Minimize::new().trajectory(true).callback(|at| {
        values.push(at.value);
        if at.iterations == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let found = minimize(&b, valley, &start, options)?;
    assert!(!found.converged && found.message.contains("callback"), "{}", found.message);
    assert_eq!((found.iterations, found.trajectory.len(), values.len()), (5, 6, 6));
    assert_eq!(found.trajectory[0], start);
    assert_eq!(found.trajectory[5], found.x);
    assert!(values.windows(2).all(|v| v[1] < v[0]), "{values:?}");
    // searches that stop by `ftol` and by `xtol`
    let by_value = minimize(&b, valley, &start, Minimize::new().gtol(0.0).ftol(1e-9))?;
    assert!(by_value.converged && by_value.message.contains("ftol"), "{}", by_value.message);
    let by_step = minimize(&b, valley, &start, Minimize::new().gtol(0.0).xtol(1e-6))?;
    assert!(by_step.converged && by_step.message.contains("xtol"), "{}", by_step.message);
    Ok(())
}

#[test]
fn mistakes_are_errors() -> Result<()> {
    let b = Numpyish::new();
    let x = b.ones::<f64>([2])?;
    let f = |options| minimize(&b, valley, &x, options).unwrap_err().to_string();
    assert!(f(Minimize::new().gtol(-1.0)).contains("gtol is -1"));
    assert!(f(Minimize::new().ftol(f64::NAN)).contains("ftol is NaN"));
    assert!(f(Minimize::new().method(Method::Adam { rate: 0.0 })).contains("the rate is 0"));
    let several = minimize(&b, |d, x| d.square(x), &x, Minimize::new()).unwrap_err().to_string();
    assert!(several.contains("[2]") && several.contains("one number"), "{several}");
    let (mut adam, mut sgd) = (Adam::new(0.1), Sgd::new(0.1).momentum(0.9));
    let mut y = x.clone();
    assert!(adam.step(&b, &mut y, &b.ones([3])?).is_err_and(|e| e.to_string().contains("[3]")));
    adam.step(&b, &mut y, &x)?;
    sgd.step(&b, &mut y, &x)?;
    let mut z = b.ones::<f32>([2])?;
    let g = z.clone();
    assert!(adam.step(&b, &mut z, &g).is_err_and(|e| e.to_string().contains("other dtypes")));
    assert!(sgd.step(&b, &mut z, &g).is_err_and(|e| e.to_string().contains("other dtypes")));
    let (mut list, short) = (vec![x.clone(), x.clone()], vec![x.clone()]);
    assert!(Sgd::new(0.1).step(&b, &mut list, &short).is_err_and(|e| e.to_string().contains("2 parameters")));
    Ok(())
}

/// Five steps of each optimizer equal the steps of torch.optim (PyTorch 2.11), on a function of real and complex
/// parameters.
#[test]
fn steps_are_those_of_pytorch() -> Result<()> {
    type Pair = (HostArray<f64>, HostArray<Complex<f64>>);
    fn check(mut step: impl FnMut(&Numpyish, &mut Pair, &Pair) -> Result<()>, a: [f64; 3], z: [f64; 4]) -> Result<()> {
        let b = Numpyish::new();
        let mut params: Pair =
            (b.asarray([1.0, -2.0, 3.0])?, b.asarray([Complex::new(1.0, 2.0), Complex::new(0.0, -0.5)])?);
        for _ in 0..5 {
            let g = grad(
                &b,
                |d, (a, z)| {
                    let (re, length) = (d.real(z)?, d.abs(z)?);
                    let (part, square) = (d.getitem(a, slices![..2])?, d.real(d.multiply(z, z)?)?);
                    expr!(
                        d,
                        sum(a * *2, ..)
                            + 0.1 * sum(a * *4, ..)
                            + sum(length * *2, ..)
                            + 0.3 * sum(square, ..)
                            + sum(part * re, ..)
                    )
                },
                &params,
            )?;
            step(&b, &mut params, &g)?;
        }
        near(&b.to_vec(&params.0)?, &a, 1e-12);
        let found: Vec<f64> = b.to_vec(&params.1)?.into_iter().flat_map(|z| [z.re, z.im]).collect();
        near(&found, &z, 1e-12);
        Ok(())
    }
    let mut sgd = Sgd::new(0.05);
    check(
        |b, p, g| sgd.step(b, p, g),
        [0.42047625002333894, -0.9448809715609222, 1.0888444695852004],
        [0.36598114179349034, 1.3913767386, 0.26967675670151126, -0.34784418465],
    )?;
    let mut sgd = Sgd::new(0.05).momentum(0.9).dampening(0.1).weight_decay(0.01);
    check(
        |b, p, g| sgd.step(b, p, g),
        [-0.36435508199739014, 0.5669498286644021, -1.8991202250476198],
        [-0.4654155101127562, 0.525411722298482, 0.5609505044041938, -0.1313529305746205],
    )?;
    let mut sgd = Sgd::new(0.05).momentum(0.9).nesterov(true).weight_decay(0.01);
    check(
        |b, p, g| sgd.step(b, p, g),
        [-0.340574021650376, 0.4966674080758755, -1.460698730192138],
        [-0.4176953462594324, 0.23156571978345053, 0.34469471636516297, -0.05789142994586263],
    )?;
    let mut adam = Adam::new(0.1);
    check(
        |b, p, g| adam.step(b, p, g),
        [0.5098060581016159, -1.5077451240464304, 2.5046333017190454],
        [0.5079576334413082, 1.5029557818512866, 0.47736468331663856, -0.027814453582095874],
    )?;
    let mut adam = Adam::new(0.1).betas(0.8, 0.95).eps(1e-6).weight_decay(0.02);
    check(
        |b, p, g| adam.step(b, p, g),
        [0.5135165356613409, -1.5108106586671943, 2.5067112249483943],
        [0.511164435508011, 1.5044183490679692, 0.47019762719348834, -0.03566908503036842],
    )?;
    let mut adam = Adam::new(0.1).weight_decay(0.02).decoupled(true);
    check(
        |b, p, g| adam.step(b, p, g),
        [0.5020992593054849, -1.4901639281400234, 2.4770923849562987],
        [0.5002087188598274, 1.4851739528259411, 0.47499306968053184, -0.025250446990094363],
    )
}

#[test]
fn norms_of_gradients() -> Result<()> {
    let b = Numpyish::new();
    let g = (b.asarray([3.0, 0.0])?, b.asarray([Complex::new(0.0, 4.0)])?);
    assert_eq!(grad_norm(&b, &g)?, 5.0);
    let short = clip_grad_norm(&b, &g, 1.0)?;
    assert!((grad_norm(&b, &short)? - 1.0).abs() < 1e-6);
    assert_eq!(clip_grad_norm(&b, &g, 10.0)?, g);
    Ok(())
}

/// Negative log likelihood of a Gaussian process with a squared exponential kernel. The unknowns are the logarithms of
/// the kernel's height and length.
fn likelihood<B: Backend, T: Precision>(b: &B, unknowns: &B::Array<T>, noise: f64) -> Result<B::Array<T>> {
    let n = 50;
    let x = b.linspace(T::ZERO, T::of(5.0), n)?;
    let y = expr!(b, sin(2 * x) + 0.1 * cos(17 * x))?;
    let (column, identity) = (b.expand_dims(&x, 1)?, b.eye::<T>(n)?);
    let (height, length) = (b.getitem(unknowns, slices![0])?, b.getitem(unknowns, slices![1])?);
    let kernel = expr!(b, exp(height - (column - x) * *2 / (2 * exp(2 * length))) + noise * identity)?;
    let factor = b.cholesky(&kernel)?;
    let weights = b.solve(&kernel, &y)?;
    let logs = b.log(b.diagonal(&factor)?)?;
    expr!(b, 0.5 * sum(y * weights, ..) + sum(logs, ..))
}

/// Finds the maximum of the likelihood. The expected values come from SciPy 1.17.1, whose methods take 7 to 13
/// iterations and 9 to 19 evaluations from these starts.
#[test]
fn a_gaussian_process_ends() -> Result<()> {
    let b = Numpyish::new();
    for method in [Method::Bfgs, Method::Lbfgs { memory: 10 }] {
        for start in [[0.0, 0.0], [-1.0, -1.0], [1.0, -2.0]] {
            let at = |gtol| {
                let options = Minimize::new().method(method);
                let options = if gtol > 0.0 { options } else { options.gtol(gtol) };
                minimize(&b, |d, x| likelihood(d, x, 0.01), &b.asarray(start)?, options)
            };
            let found = at(1.0)?;
            println!("{method:?} {start:?}: {} {} {}", found.iterations, found.evaluations, found.message);
            assert!(found.converged && found.evaluations <= 40, "{method:?} {start:?}: {}", found.message);
            near(&b.to_vec(&found.x)?, &[0.5560286, 0.0813981], 1e-5);
            // rounding makes gtol = 0 unreachable
            let found = at(0.0)?;
            println!("{method:?} {start:?}: {} {} {}", found.iterations, found.evaluations, found.message);
            assert!(!found.diverged && found.evaluations <= 400, "{method:?} {start:?}: {}", found.evaluations);
            assert!(found.converged || found.message.contains("no lower value"), "{}", found.message);
            near(&b.to_vec(&found.x)?, &[0.5560286, 0.0813981], 1e-5);
        }
        // in single precision the gradient is less accurate than gtol requires
        let start = b.asarray([0.0_f32, 0.0])?;
        let found = minimize(&b, |d, x| likelihood(d, x, 0.01), &start, Minimize::new().method(method))?;
        println!("{method:?} f32: {} {} {}", found.iterations, found.evaluations, found.message);
        assert!(!found.diverged && found.evaluations <= 400, "{method:?}: {}", found.evaluations);
        let found: Vec<f64> = b.to_vec(&found.x)?.into_iter().map(f64::from).collect();
        near(&found, &[0.5560286, 0.0813981], 2e-2);
    }
    Ok(())
}

/// A step to a point at which the factorization fails is repeated with a shorter length. In these functions, the
/// factorization fails if an unknown is negative, because the matrix is then indefinite.
#[test]
fn a_matrix_without_factors_is_a_step_too_long() -> Result<()> {
    let b = Numpyish::new();
    /// The sum of `x - log(x)`, with the logarithm computed from a Cholesky factor.
    fn barrier<B: Backend>(b: &B, x: &B::Array<f64>) -> Result<B::Array<f64>> {
        let matrix = b.diag(x)?;
        let logs = b.log(b.diagonal(b.cholesky(matrix)?)?)?;
        expr!(b, sum(x, ..) - 2 * sum(logs, ..))
    }
    let start = b.asarray([0.01, 9.0])?;
    for method in [Method::Bfgs, Method::Lbfgs { memory: 10 }, Method::AdaptiveDescent { rate: 8.0 }] {
        for line_search in [LineSearch::StrongWolfe, LineSearch::Backtracking] {
            let options = Minimize::new().method(method).line_search(line_search);
            let found = minimize(&b, barrier, &start, options)?;
            assert!(found.converged, "{method:?}: {}", found.message);
            near(&b.to_vec(&found.x)?, &[1.0, 1.0], 1e-4);
        }
    }
    let found = trust_region(&b, barrier, &start, Minimize::new())?;
    assert!(found.converged, "{}", found.message);
    near(&b.to_vec(&found.x)?, &[1.0, 1.0], 1e-4);
    let found = nelder_mead(&b, barrier, &start, Minimize::new())?;
    assert!(found.converged, "{}", found.message);
    near(&b.to_vec(&found.x)?, &[1.0, 1.0], 1e-3);
    // a failed factorization is an error only at the start; an invalid call is an error at any point
    let refused = minimize(&b, barrier, &b.asarray([-1.0, 1.0])?, Minimize::new()).unwrap_err().to_string();
    assert!(refused.contains("not positive definite"), "{refused}");
    let mut calls = 0;
    let mistaken = |d: &backends::grad::Diff<Numpyish>, x: &_| {
        calls += 1;
        if calls > 1 { d.sum(d.reshape(x, [7])?, ..) } else { d.sum(d.square(x)?, ..) }
    };
    assert!(minimize(&b, mistaken, &start, Minimize::new()).is_err());
    Ok(())
}

#[test]
fn scales_and_flat_bottoms_end() -> Result<()> {
    let b = Numpyish::new();
    let start = b.asarray([-1.2, 1.0])?;
    for method in [Method::Bfgs, Method::Lbfgs { memory: 10 }] {
        for scale in [1e-150, 1e-10, 1e10, 1e100] {
            let f = |d: &backends::grad::Diff<Numpyish>, x: &_| d.multiply(valley(d, x)?, scale);
            let found = minimize(&b, f, &start, Minimize::new().method(method).gtol(1e-5 * scale))?;
            assert!(found.converged && found.evaluations < 100, "{method:?} {scale}: {}", found.message);
            near(&b.to_vec(&found.x)?, &[1.0, 1.0], 1e-4);
            let found = minimize(&b, f, &start, Minimize::new().method(method).gtol(0.0))?;
            assert!(!found.diverged && found.evaluations < 300, "{method:?} {scale}: {}", found.evaluations);
            near(&b.to_vec(&found.x)?, &[1.0, 1.0], 1e-6);
        }
        // with a large offset, the changes of the value have few digits, but the gradient is as exact as without the
        // offset
        let f = |d: &backends::grad::Diff<Numpyish>, x: &_| d.add(valley(d, x)?, 1e9);
        let found = minimize(&b, f, &start, Minimize::new().method(method))?;
        assert!(found.evaluations < 300, "{method:?}: {}", found.evaluations);
        near(&b.to_vec(&found.x)?, &[1.0, 1.0], 1e-2);
        // the squares of the gradient's elements overflow or underflow in single precision
        for scale in [1e-22, 1e22] {
            let start = b.asarray([3.0_f32, -2.0, 1.0])?;
            let f = |d: &backends::grad::Diff<Numpyish>, x: &_| {
                let weights = d.constant(b.asarray([1.0_f32, 2.0, 5.0])?);
                expr!(d, scale * sum(weights * (x - 1) * *2, ..))
            };
            let found = minimize(&b, f, &start, Minimize::new().method(method).gtol(1e-3 * scale))?;
            assert!(found.converged && found.evaluations < 60, "{method:?} {scale}: {}", found.message);
            assert!(b.to_vec(&found.x)?.iter().all(|x| (x - 1.0).abs() < 1e-3), "{}", found.x);
        }
        // the offset `big` leaves few digits for the changes of the value, so the search must end soon
        let rough = |d: &backends::grad::Diff<Numpyish>, x: &_| {
            let big = 1e5;
            expr!(d, sum((x - 1) * *2 + big, ..))
        };
        let found = minimize(&b, rough, &b.asarray([3.0_f32, -2.0])?, Minimize::new().method(method).gtol(0.0))?;
        assert!(!found.diverged && found.evaluations < 200, "{method:?}: {}", found.evaluations);
        // this gradient is wrong: it belongs to another function
        let lies = |d: &backends::grad::Diff<Numpyish>, x: &_| {
            let fixed = d.stop_gradient(x);
            expr!(d, sum(fixed * *2 + (x - fixed), ..))
        };
        let found = minimize(&b, lies, &b.asarray([-3.0, -2.0])?, Minimize::new().method(method))?;
        assert!(!found.converged && found.evaluations < 600, "{method:?}: {}", found.evaluations);
        assert!(found.message.contains("no lower value"), "{}", found.message);
    }
    Ok(())
}

/// Functions without a lower bound. `shape` is the number of the function, from 0 to 5.
fn falls<B: Backend, T: Real>(b: &B, x: &B::Array<T>, shape: usize) -> Result<B::Array<T>> {
    match shape {
        0 => b.sum(x, ..),
        1 => expr!(b, -sum(exp(x), ..)),
        2 => expr!(b, sum(x * x * x, ..)),
        3 => expr!(b, -sum(x * x, ..)),
        4 => expr!(b, 1e-3 * sum(x, ..) - 1),
        _ => expr!(b, sum(x * x, ..) - 2 * sum(x, ..) * sum(x, ..)),
    }
}

#[test]
fn falls_without_end_are_told() -> Result<()> {
    let b = Numpyish::new();
    for shape in 0..6 {
        let (start, single) = (b.asarray([-1.0, -2.0])?, b.asarray([-1.0_f32, -2.0])?);
        let flip = if shape == 1 { -1.0 } else { 1.0 };
        let (start, single) = (b.multiply(start, flip)?, b.multiply(single, flip as f32)?);
        let told = |what: &str, diverged: bool, message: &str, evaluations: usize| {
            println!("{what} {shape}: {message} {evaluations}");
            assert!(diverged && evaluations < 10_000, "{what} {shape}: {message}, {evaluations} evaluations");
        };
        for method in [Method::Bfgs, Method::Lbfgs { memory: 10 }, Method::AdaptiveDescent { rate: 1.0 }] {
            for line_search in [LineSearch::StrongWolfe, LineSearch::Backtracking] {
                let options = || Minimize::new().method(method).line_search(line_search).gtol(1e-6).max_iter(2500);
                let found = minimize(&b, |d, x| falls(d, x, shape), &start, options())?;
                told(&format!("{method:?} {line_search:?}"), found.diverged, found.message, found.evaluations);
                let found = minimize(&b, |d, x| falls(d, x, shape), &single, options())?;
                told(&format!("{method:?} {line_search:?} f32"), found.diverged, found.message, found.evaluations);
            }
        }
        let found = trust_region(&b, |d, x| falls(d, x, shape), &start, Minimize::new().gtol(1e-6))?;
        told("trust region", found.diverged, found.message, found.evaluations);
        let found = trust_region(&b, |d, x| falls(d, x, shape), &single, Minimize::new().gtol(1e-6))?;
        told("trust region f32", found.diverged, found.message, found.evaluations);
        let options = Minimize::new().max_iter(5000);
        let found = nelder_mead(&b, |b, x| falls(b, x, shape), &start, options)?;
        told("simplex", found.diverged, found.message, found.evaluations);
    }
    Ok(())
}

/// Optimisers that get the state of others make the same steps from then on.
#[test]
fn training_continues_from_a_state() -> Result<()> {
    type Pair = (HostArray<f32>, HostArray<Complex<f64>>);
    let b = Numpyish::new();
    let start: Pair = (b.asarray([1.0_f32, -2.0, 3.0])?, b.asarray([Complex::new(1.0, 2.0), Complex::new(-1.0, 0.5)])?);
    let grads: Pair = (b.asarray([0.3_f32, -1.0, 0.1])?, b.asarray([Complex::new(0.2, -2.0), Complex::new(4.0, 0.0)])?);

    let adam = || Adam::new(0.1).weight_decay(0.01);
    let (mut first, mut x) = (adam(), start.clone());
    assert_eq!(first.state_dict(&b, &x)?.keys().collect::<Vec<_>>(), ["steps"]);
    (0..3).try_for_each(|_| first.step(&b, &mut x, &grads))?;
    let state = first.state_dict(&b, &x)?;
    let names: Vec<&str> = state.keys().map(String::as_str).collect();
    let moments = |kind: &str| ["0", "1.imag", "1.real"].map(|name| format!("{kind}.{name}"));
    assert_eq!(names, [moments("mean").to_vec(), moments("square").to_vec(), vec!["steps".into()]].concat());
    let (mut second, mut y) = (adam(), x.clone());
    second.step(&b, &mut start.clone(), &grads)?;
    second.load_state_dict(&b, &x, &state)?;
    for _ in 0..2 {
        first.step(&b, &mut x, &grads)?;
        second.step(&b, &mut y, &grads)?;
        assert_eq!(x, y);
    }
    let mut broken = state.clone();
    broken.remove("mean.1.imag");
    let why = second.load_state_dict(&b, &x, &broken).unwrap_err().to_string();
    assert!(why.contains("no array `mean.1.imag`"), "{why}");
    let mut fresh = adam();
    fresh.load_state_dict(&b, &x, &adam().state_dict(&b, &x)?)?;
    let (mut z, mut w) = (start.clone(), start.clone());
    fresh.step(&b, &mut z, &grads)?;
    adam().step(&b, &mut w, &grads)?;
    assert_eq!(z, w);

    let sgd = || Sgd::new(0.05).momentum(0.9).dampening(0.1);
    let (mut first, mut x) = (sgd(), start.clone());
    assert!(first.state_dict(&b, &x)?.is_empty());
    (0..3).try_for_each(|_| first.step(&b, &mut x, &grads))?;
    let state = first.state_dict(&b, &x)?;
    assert_eq!(state.keys().collect::<Vec<_>>(), ["velocity.0", "velocity.1"]);
    let (mut second, mut y) = (sgd(), x.clone());
    second.load_state_dict(&b, &x, &state)?;
    first.step(&b, &mut x, &grads)?;
    second.step(&b, &mut y, &grads)?;
    assert_eq!(x, y);
    let shorter: Pair = (b.asarray([1.0_f32])?, start.1.clone());
    let why = second.load_state_dict(&b, &shorter, &state).unwrap_err().to_string();
    assert!(why.contains("`velocity.0` has the shape [3] instead of [1]"), "{why}");
    assert!(first.state_dict(&b, &vec![b.ones::<f64>(2)?]).is_err());
    Ok(())
}
