//! Measures the time for solving Poisson's equation on a square by several methods: `cargo run --release -p
//! backends-solvers --features faer --example poisson`.

use backends::{Result, prelude::*};
use backends_solvers::linear::{GridBoundary::Zero, Laplacian, Method, Multigrid, Solution, Solve};
use std::time::Instant;

/// Returns the shortest time of several runs in milliseconds, and the result of the last run.
fn timed<X>(mut run: impl FnMut() -> Result<X>) -> Result<(f64, X)> {
    let mut shortest = f64::INFINITY;
    let mut runs = 0;
    let begin = Instant::now();
    loop {
        let start = Instant::now();
        let x = run()?;
        shortest = shortest.min(1e3 * start.elapsed().as_secs_f64());
        runs += 1;
        if runs >= 5 || begin.elapsed().as_secs_f64() > 10.0 {
            return Ok((shortest, x));
        }
    }
}

fn report<B: Backend>(what: &str, n: usize, (time, found): (f64, Solution<B, f64>)) {
    let (iterations, residual) = (found.iterations[0], found.residual[0]);
    println!("{} {n}^2 {what}: {time:.2} ms, {iterations} iterations, residual {residual:.1e}", B::NAME);
}

fn compare<B: Backend>(b: &B) -> Result<()> {
    for n in [16, 64, 256] {
        b.seed(1);
        let a = Laplacian::new([Zero, Zero]);
        let y = b.random_normal::<f64>([n, n])?;
        let solve = |method| Solve::new().method(method).rtol(1e-8).max_iter(4000);
        report("CG", n, timed(|| solve(Method::Cg).solve(b, &a, &y))?);
        report("biCG-stab(2)", n, timed(|| solve(Method::BiCgStab(2)).solve(b, &a, &y))?);
        let with = |multigrid: Multigrid<B, f64>| solve(Method::Cg).preconditioner(multigrid).solve(b, &a, &y);
        report("CG with multigrid, its set-up too", n, timed(|| with(Multigrid::new(b, &a, &[n, n])?))?);
        let (matrix, rows) = (a.to_csr::<B, f64>(b, &[n, n])?, b.reshape(&y, [n * n])?);
        report("CG, sparse matrix", n, timed(|| solve(Method::Cg).solve(b, &matrix, &rows))?);
        if cfg!(feature = "faer") {
            let lu = || solve(Method::Direct).solve(b, &matrix, &rows);
            report("sparse LU", n, timed(lu)?);
            report("sparse Cholesky", n, timed(|| solve(Method::Direct).hermitian(true).solve(b, &matrix, &rows))?);
        }
    }
    // measures the overhead of a solve: a system of only ten unknowns needs little arithmetic
    let a = Laplacian::new([Zero]);
    let y = b.ones::<f64>([10])?;
    let (time, found) = timed(|| {
        let run = || Solve::new().method(Method::Cg).rtol(1e-8).solve(b, &a, &y);
        (1..1000).try_for_each(|_| run().map(drop))?;
        run()
    })?;
    println!(
        "{} 10 CG: {:.2} us for each of {} iterations",
        B::NAME,
        time / found.iterations[0] as f64,
        found.iterations[0]
    );
    Ok(())
}

fn main() -> Result<()> {
    compare(&Numpyish::new())?;
    match Torch::cpu() {
        Ok(torch) => compare(&torch),
        Err(why) => {
            println!("{why}");
            Ok(())
        }
    }
}
