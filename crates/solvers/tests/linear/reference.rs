//! Tests of linear solves against recorded results of Phi-ML and SciPy.

use crate::{common::*, on_every_backend};
use backends::prelude::*;
use backends_solvers::linear::{GridBoundary, Laplacian, LinearOperator, Method, Solve};

/// For each file of recorded results: its name, the operator `laplace(v) - shift v` (with spacing 1) of its system,
/// and the tolerance of the solves.
fn grids() -> [(&'static str, Laplacian, f64); 3] {
    use GridBoundary::{Periodic, Zero};
    [
        ("phiml_poisson_16", Laplacian::new([Zero, Zero]), 1e-8),
        ("phiml_poisson_64", Laplacian::new([Zero, Zero]), 1e-8),
        ("phiml_helmholtz_12x18_periodic", Laplacian::new([Periodic, Periodic]).shift(0.3), 1e-9),
    ]
}

fn solve<'a, B: Backend>(method: Method, tolerance: f64) -> Solve<'a, B, f64> {
    Solve::new().method(method).rtol(tolerance).atol(tolerance).max_iter(4000).history(true)
}

fn cg<B: Backend>(b: &B) -> Checked {
    for (name, a, tolerance) in grids() {
        let data = data(name);
        let array = |key: &str| b.asarray(data.get::<f64>(key).unwrap()).unwrap();
        let y = array("y");
        let found = solve(Method::Cg, tolerance).solve(b, &a, &y)?.checked()?;
        assert_eq!(found.iterations, [data.scalar("iterations_CG")? as usize], "{name}");
        // there is one evaluation more than iterations, because the last evaluation computes the true residual
        assert_eq!((found.evaluations, found.method.as_str()), (found.iterations[0] + 1, "CG"));
        near(b, name, &found.x, &array("x_CG"), 1e-11);
        near(b, name, &found.x, &array("x_direct"), 1e3 * tolerance);
        let history = data.vector("residual_sq_history_CG")?;
        assert_eq!(found.history[0].len(), history.len());
        // rounding errors grow with the iterations, and so does the allowed difference
        for (k, (r, squared)) in found.history[0].iter().zip(&history).enumerate() {
            let allowed = 1e-13 * (1 << (k / 8).min(24)) as f64;
            assert!((r * r / squared - 1.0).abs() <= allowed, "{name}: {k}: {} and {squared}", r * r);
        }
        // the file stores the largest element of the true residual
        let r = b.subtract(&y, a.apply(b, &found.x)?)?;
        let largest = b.item(b.max(b.abs(r)?, ..)?)?;
        assert!((largest / data.scalar("max_residual_CG")? - 1.0).abs() < 0.01, "{name}: {largest}");

        if let Ok(iterations) = data.scalar("iterations_CG_adaptive") {
            let found = solve(Method::CgAdaptive, tolerance).solve(b, &a, &y)?.checked()?;
            assert_eq!(found.iterations, [iterations as usize], "{name}");
            near(b, name, &found.x, &array("x_CG_adaptive"), 1e-10);
        }
    }
    Ok(())
}

#[test]
fn conjugate_gradients_take_the_recorded_steps() {
    on_every_backend!(cg);
}

fn bicgstab<B: Backend>(b: &B) -> Checked {
    for (name, a, tolerance) in grids() {
        let data = data(name);
        let array = |key: &str| b.asarray(data.get::<f64>(key).unwrap()).unwrap();
        let y = array("y");
        for (l, key) in [(1, "iterations_biCG_stab"), (2, "iterations_biCG_stab2"), (4, "")] {
            let found = solve(Method::BiCgStab(l), tolerance).solve(b, &a, &y)?.checked()?;
            near(b, name, &found.x, &array("x_direct"), 1e4 * tolerance);
            assert!(found.evaluations > 2 * l * found.iterations[0]);
            // iteration counts depend on rounding, especially in long runs
            if let Ok(recorded) = data.scalar(key) {
                let (n, recorded) = (found.iterations[0] as f64, recorded);
                let allowed = if recorded < 25.0 { 0.0 } else { 0.08 * recorded };
                assert!(
                    (n - recorded).abs() <= allowed,
                    "{name}: {n} iterations of biCG-stab({l}), {recorded} recorded"
                );
            }
        }
    }
    Ok(())
}

#[test]
fn bicg_stab_finds_the_recorded_solutions() {
    on_every_backend!(bicgstab);
}

fn dense<B: Backend>(b: &B) -> Checked {
    let data = data("phiml_linear_solve");
    let array = |key: &str| b.asarray(data.get::<f64>(key).unwrap()).unwrap();
    let (a, s, y) = (array("A"), array("S"), array("b"));
    let tight = |method| Solve::new().method(method).rtol(1e-12).atol(1e-12);
    let check = |what: &str, method, matrix: &B::Array<f64>, key: &str, tolerance| -> Checked {
        let x = tight(method).solve(b, matrix, &y)?.into_x()?;
        near(b, what, &x, &array(key), tolerance);
        Ok(())
    };
    check("direct", Method::Direct, &a, "x_scipy_direct", 1e-12)?;
    check("auto", Method::Auto, &a, "x_numpy_A", 1e-12)?;
    check("direct, symmetric", Method::Direct, &s, "x_numpy_S", 1e-12)?;
    check("CG", Method::Cg, &s, "x_CG", 1e-10)?;
    check("CG-adaptive", Method::CgAdaptive, &s, "x_CG", 1e-10)?;
    check("biCG", Method::BiCg, &a, "x_numpy_A", 1e-10)?;
    check("biCG-stab(1)", Method::BiCgStab(1), &a, "x_numpy_A", 1e-10)?;
    check("biCG-stab(2)", Method::BiCgStab(2), &a, "x_biCG_stab2", 1e-10)?;
    check("GMRES", Method::Gmres, &a, "x_scipy_GMres", 1e-10)?;
    // the file has one right side per column; `Solve` takes one right side per row
    let found = Solve::new().solve(b, &array("rect"), &b.matrix_transpose(array("rect_b"))?)?.checked()?;
    near(b, "least squares", &b.matrix_transpose(found.x)?, &array("lstsq_x"), 1e-10);
    assert_eq!((found.residual.len(), found.method.as_str()), (2, "least squares"));
    Ok(())
}

#[test]
fn small_dense_systems_are_as_recorded() {
    on_every_backend!(dense);
}
