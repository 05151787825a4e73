//! Measures the cost of the abstraction on the CPU. The same expressions are written in three forms: with the functions
//! of the CPU library, generic over `B: Backend`, and through `AnyBackend`.
//!
//! `cargo xtask bench zero_cost` times them. `cargo xtask zero-cost` counts their instructions by running `zero_cost
//! count NAME CALLS` under callgrind, and fails if the abstraction costs more than promised.

use backends::{
    Error, Result, Slice, ops,
    prelude::*,
    runtime::{Operand, numpyish::elementwise::each2},
};
use criterion::Criterion;
use std::{borrow::Cow, hint::black_box};

/// One op, written with the CPU library's function.
#[inline(never)]
fn add_by_hand(b: &Numpyish, x: &HostArray<f64>, y: &HostArray<f64>) -> Result<HostArray<f64>> {
    each2(b, &ops::add {}, Operand::array(x), Operand::array(y))
}

/// The same op, generic over the backend.
#[inline(never)]
fn add_generic<B: Backend>(b: &B, x: &B::Array<f64>, y: &B::Array<f64>) -> Result<B::Array<f64>> {
    b.add(x, y)
}

/// Three ops, written with the CPU library's functions: `(x + y) * x - y`.
#[inline(never)]
fn expression_by_hand(b: &Numpyish, x: &HostArray<f64>, y: &HostArray<f64>) -> Result<HostArray<f64>> {
    let sum = each2(b, &ops::add {}, Operand::array(x), Operand::array(y))?;
    let product = each2(b, &ops::multiply {}, Operand::Array(Cow::Owned(sum)), Operand::array(x))?;
    each2(b, &ops::subtract {}, Operand::Array(Cow::Owned(product)), Operand::array(y))
}

/// The same three ops, generic over the backend.
#[inline(never)]
fn expression_generic<B: Backend>(b: &B, x: &B::Array<f64>, y: &B::Array<f64>) -> Result<B::Array<f64>> {
    b.subtract(b.multiply(b.add(x, y)?, x)?, y)
}

/// The same three ops as a formula, in one pass.
#[inline(never)]
fn expression_formula<B: Backend>(b: &B, x: &B::Array<f64>, y: &B::Array<f64>) -> Result<B::Array<f64>> {
    expr!(b, (x + y) * x - y)
}

struct Inputs {
    b: Numpyish,
    any: AnyBackend,
    x: HostArray<f64>,
    y: HostArray<f64>,
    any_x: AnyArray<f64>,
    any_y: AnyArray<f64>,
    /// The elements of `x` as a matrix with rows of ten elements.
    lanes: HostArray<f64>,
}

impl Inputs {
    fn new(n: usize) -> Result<Inputs> {
        let b = Numpyish::new();
        let any = AnyBackend::from(b.clone());
        let (x, y) = (b.linspace(0.0, 1.0, n)?, b.linspace(1.0, 2.0, n)?);
        let (any_x, any_y) = (AnyArray::from(x.clone()), AnyArray::from(y.clone()));
        let lanes = b.reshape(&x, [-1, 10])?;
        Ok(Inputs { b, any, x, y, any_x, any_y, lanes })
    }

    /// Makes the call of the given name.
    fn call(&self, name: &str) -> Result<()> {
        let Inputs { b, any, x, y, any_x, any_y, .. } = black_box(self);
        match name {
            "add_by_hand" => drop(black_box(add_by_hand(b, x, y)?)),
            "add_generic" => drop(black_box(add_generic(b, x, y)?)),
            "add_any" => drop(black_box(add_generic(any, any_x, any_y)?)),
            "expression_by_hand" => drop(black_box(expression_by_hand(b, x, y)?)),
            "expression_generic" => drop(black_box(expression_generic(b, x, y)?)),
            "expression_formula" => drop(black_box(expression_formula(b, x, y)?)),
            "expression_any" => drop(black_box(expression_generic(any, any_x, any_y)?)),
            other => self.small(other)?,
        }
        Ok(())
    }

    /// Makes a call whose instructions are counted, but whose time is not measured.
    #[inline(never)]
    fn small(&self, name: &str) -> Result<()> {
        let Inputs { b, x, y, lanes, .. } = black_box(self);
        match name {
            "reshape" => drop(black_box(b.reshape(x, [-1, 1])?)),
            "permute_dims" => drop(black_box(b.permute_dims(x, [0])?)),
            "expand_dims" => drop(black_box(b.expand_dims(x, 0)?)),
            "getitem" => drop(black_box(b.getitem(x, [Slice::from(1..)])?)),
            "stack" => drop(black_box(b.stack([x, y])?)),
            "nonzero" => drop(black_box(b.nonzero(x)?)),
            "argwhere" => drop(black_box(b.argwhere(x)?)),
            "argmax" => drop(black_box(b.argmax(x, 0)?)),
            "argmax_lanes" => drop(black_box(b.argmax(lanes, 1)?)),
            "sum" => drop(black_box(b.sum(x, ..)?)),
            other => return Err(Error::argument("zero_cost", format!("no bench `{other}`"))),
        }
        Ok(())
    }
}

const NAMES: [&str; 7] = [
    "add_by_hand",
    "add_generic",
    "add_any",
    "expression_by_hand",
    "expression_generic",
    "expression_formula",
    "expression_any",
];

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, count, name, elements, calls] = &args[..]
        && count == "count"
    {
        let parse = |text: &String| text.parse().map_err(|e| Error::argument("zero_cost", format!("`{text}`: {e}")));
        let inputs = Inputs::new(parse(elements)?)?;
        return (0..parse(calls)?).try_for_each(|_| inputs.call(name));
    }
    let mut criterion = Criterion::default().configure_from_args();
    for n in [10, 1_000_000] {
        let inputs = Inputs::new(n)?;
        let mut group = criterion.benchmark_group(format!("zero_cost/{n}"));
        for name in NAMES {
            group.bench_function(name, |bench| bench.iter(|| inputs.call(name)));
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}
