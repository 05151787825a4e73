//! The arrays that calls refer to by name. They equal the arrays of `tools/xtask/peers_rows.py`.

use crate::noise::noise;
use half::f16;
use num_complex::Complex;
use std::{any::Any, collections::BTreeMap};

/// Layout of an array in memory: C order, the transpose of a C-order array, or every n-th element of its last axis.
#[derive(Clone, Copy, PartialEq)]
pub enum Layout {
    C,
    Transposed,
    Step(usize),
}

/// An array with its elements in C order, and the memory layout in which calls use it.
struct Made {
    /// A `Vec` whose item type is the element type.
    elements: Box<dyn Any>,
    dims: Vec<usize>,
    layout: Layout,
}

/// Arrays by name: the predefined arrays, and the arrays of the current line of `peers.txt`.
pub struct Arrays {
    named: BTreeMap<String, Made>,
    own: BTreeMap<String, Made>,
}

impl Arrays {
    /// Makes the predefined arrays.
    pub fn named() -> Arrays {
        const N: usize = 1_000_000;
        let (x, y) = (noise(1, N), noise(2, N));
        let integers = |x: &[f64], below: f64| x.iter().map(|x| (x * below) as i64).collect::<Vec<_>>();
        let (a, many) = (noise(3, 90_000), noise(5, 64_000));
        let mut named = BTreeMap::new();
        let mut add = |name: &str, elements: Box<dyn Any>, dims: &[usize]| {
            named.insert(name.to_owned(), Made { elements, dims: dims.into(), layout: Layout::C });
        };
        add("p", Box::new(x.iter().map(|x| 20.0 * x + 0.5).collect::<Vec<_>>()), &[N]);
        add("i", Box::new(integers(&x, N as f64)), &[N]);
        add("k", Box::new(integers(&x, 100.0)), &[N]);
        add("j", Box::new(integers(&y, 1000.0)), &[N]);
        add("b1", Box::new(x.iter().map(|x| *x < 0.5).collect::<Vec<_>>()), &[N]);
        add("h", Box::new(x.iter().map(|x| *x as f32).collect::<Vec<_>>()), &[N]);
        add("z", Box::new(x.iter().zip(&y).map(|(x, y)| Complex::new(*x, *y)).collect::<Vec<_>>()), &[N]);
        add("q", Box::new((0..1000).map(|i| f64::from(i) / 999.0).collect::<Vec<_>>()), &[1000]);
        add("q2", Box::new(noise(6, 9)), &[3, 3]);
        add("n3", Box::new(x[..999_999].to_vec()), &[333_333, 3]);
        add("spd", Box::new(positive_definite(&a, 300)), &[300, 300]);
        add("many_spd", Box::new(positive_definite(&many, 8)), &[1000, 8, 8]);
        add("a", Box::new(a), &[300, 300]);
        add("c", Box::new(noise(4, 90_000)), &[300, 300]);
        add("many", Box::new(many), &[1000, 8, 8]);
        add("imgs", Box::new(noise(7, 16 * 8 * 64 * 64)), &[16, 8, 64, 64]);
        add("kernels", Box::new(noise(8, 16 * 8 * 9)), &[16, 8, 3, 3]);
        add("kernels_t", Box::new(noise(8, 16 * 8 * 9)), &[8, 16, 3, 3]);
        add("depthwise", Box::new(noise(9, 8 * 9)), &[8, 1, 3, 3]);
        add("v", Box::new(x.clone()), &[100, 100, 100]);
        add("m", Box::new(x.clone()), &[1000, 1000]);
        add("r", Box::new(y.clone()), &[1000, 1000]);
        add("x", Box::new(x), &[N]);
        add("y", Box::new(y), &[N]);
        Arrays { named, own: BTreeMap::new() }
    }

    /// Replaces the arrays of the previous line by the arrays that `items` describes, for example
    /// `x float32 1000,1000 100 T;..`.
    pub fn made(&mut self, items: &str) -> Result<(), String> {
        self.own.clear();
        for (seed, item) in items.split(';').filter(|item| !item.is_empty()).enumerate() {
            let (name, made) = made(seed as u64 + 1, item).ok_or_else(|| format!("`{item}` is no array"))?;
            self.own.insert(name.into(), made);
        }
        Ok(())
    }

    /// Returns the elements in C order, the lengths of the axes, and the layout of the named array; `None` if no array
    /// has this name and element type.
    pub fn get<T: Clone + 'static>(&self, name: &str) -> Option<(Vec<T>, Vec<usize>, Layout)> {
        let made = self.own.get(name).or_else(|| self.named.get(name))?;
        Some((made.elements.downcast_ref::<Vec<T>>()?.clone(), made.dims.clone(), made.layout))
    }
}

/// Returns, for each square matrix, the product of the matrix with its transpose, plus the identity.
fn positive_definite(matrices: &[f64], n: usize) -> Vec<f64> {
    let of = |m: &[f64], i: usize, j: usize| (0..n).map(|k| m[i * n + k] * m[j * n + k]).sum::<f64>();
    let element = |m: &[f64], at: usize| of(m, at / n, at % n) + f64::from(u8::from(at / n == at % n));
    matrices.chunks(n * n).flat_map(|m| (0..n * n).map(|at| element(m, at)).collect::<Vec<_>>()).collect()
}

fn made(seed: u64, item: &str) -> Option<(&str, Made)> {
    let [name, dtype, dims, below, layout] = item.split(' ').collect::<Vec<_>>()[..] else { return None };
    let mut dims = dims.split(',').map(|n| n.parse().ok()).collect::<Option<Vec<usize>>>()?;
    let layout = match layout {
        "-" => Layout::C,
        "T" => Layout::Transposed,
        step => Layout::Step(step.parse().ok()?),
    };
    match layout {
        Layout::C => {}
        Layout::Transposed => dims.reverse(),
        Layout::Step(step) => *dims.last_mut()? *= step,
    }
    let (count, below) = (dims.iter().product(), below.parse::<f64>().ok()?);
    let x = noise(seed, count);
    let complex = || x.iter().zip(noise(seed + 100, count)).map(|(re, im)| Complex::new(*re, im));
    let elements: Box<dyn Any> = match dtype {
        "float64" => Box::new(x),
        "float32" => Box::new(x.iter().map(|x| *x as f32).collect::<Vec<_>>()),
        "float16" => Box::new(x.iter().map(|x| f16::from_f64(*x)).collect::<Vec<_>>()),
        "int64" => Box::new(x.iter().map(|x| (x * below) as i64).collect::<Vec<_>>()),
        "uint8" => Box::new(x.iter().map(|x| (x * below) as u8).collect::<Vec<_>>()),
        "bool" => Box::new(x.iter().map(|x| *x < 0.5).collect::<Vec<_>>()),
        "complex128" => Box::new(complex().collect::<Vec<_>>()),
        "complex64" => Box::new(complex().map(|z| Complex::new(z.re as f32, z.im as f32)).collect::<Vec<_>>()),
        _ => return None,
    };
    Some((name, Made { elements, dims, layout }))
}
